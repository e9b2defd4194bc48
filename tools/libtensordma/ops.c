// SPDX-License-Identifier: MIT
/* Operations on whole tensors, as loop nests. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "error.h"
#include "plan.h"
#include "tensor.h"

static struct tdl_nest new_nest(unsigned int opcode,
				const struct tensordma_tensor *dst)
{
	return (struct tdl_nest) {
		.opcode = opcode,
		.elem = tensordma_dtype_bytes(dst->dtype),
	};
}

static int64_t bytes(const struct tensordma_tensor *t, int dim)
{
	return t->strides[dim] * (int64_t)tensordma_dtype_bytes(t->dtype);
}

/* Valid tensors only have such strides where they matter. */
static int64_t stride_of(const struct tensordma_tensor *t, int dim)
{
	return t->shape[dim] == 1 || !tensordma_elements(t) ? 0 : bytes(t, dim);
}

static int same_size(struct tdl_operation *op,
		     const struct tensordma_tensor *dst,
		     const struct tensordma_tensor *src)
{
	size_t d = tensordma_dtype_bytes(dst->dtype);
	size_t s = tensordma_dtype_bytes(src->dtype);

	if (!d || d != s)
		return tdl_fail(op->err, -EINVAL, "dtype", TENSORDMA_NO_DIM,
				"elements of %zu bytes do not fit into those of %zu",
				s, d);
	return 0;
}

static int same_ndim(struct tdl_operation *op,
		     const struct tensordma_tensor *t, int ndim,
		     const char *what)
{
	if (t->ndim != ndim)
		return tdl_fail(op->err, -EINVAL, "ndim", TENSORDMA_NO_DIM,
				"%s has %d dimensions, not %d", what, t->ndim,
				ndim);
	return 0;
}

static int same_dim(struct tdl_operation *op, const struct tensordma_tensor *t,
		    int dim, int64_t size, const char *what)
{
	if (t->shape[dim] != size)
		return tdl_fail(op->err, -EINVAL, "shape", dim,
				"dimension %d of %s has %" PRId64
				" elements, not %" PRId64, dim, what,
				t->shape[dim], size);
	return 0;
}

/* The value that elements get which have no source; NULL: zero */
static int set_fill(struct tdl_operation *op, struct tdl_nest *nest,
		    const void *value)
{
	static const unsigned char zero;

	nest->fill_bytes = value ? nest->elem : 1;
	if (nest->fill_bytes > TENSORDMA_MAX_FILL)
		return tdl_fail(op->err, -EOPNOTSUPP, "dtype",
				TENSORDMA_NO_DIM,
				"values of %" PRIu64 " bytes, %d can be filled in",
				nest->elem, TENSORDMA_MAX_FILL);
	memcpy(nest->fill, value ? value : &zero, nest->fill_bytes);
	return 0;
}

/* Same shape, elements one by one: copy and accumulate */
static int move(struct tdl_operation *op, unsigned int opcode,
		unsigned int type, const struct tensordma_tensor *dst,
		const struct tensordma_tensor *src)
{
	struct tdl_nest nest = new_nest(opcode, dst);
	struct tensordma_tensor s;
	int ret;

	nest.type = type;
	ret = same_size(op, dst, src);
	if (!ret)
		ret = tensordma_broadcast(&s, src, dst->ndim, dst->shape,
					  op->err);
	if (!ret)
		ret = tdl_side(op, &nest, TDL_SRC, &s, 0);
	if (!ret)
		ret = tdl_side(op, &nest, TDL_DST, dst, 0);
	for (int i = dst->ndim - 1; i >= 0 && !ret; i--)
		tdl_nest_wrap(&nest, dst->shape[i], stride_of(&s, i),
			      stride_of(dst, i));
	return ret ? ret : tdl_add(op, &nest);
}

int tensordma_plan_copy(struct tensordma_plan *plan,
			const struct tensordma_tensor *dst,
			const struct tensordma_tensor *src,
			struct tensordma_error *err)
{
	struct tdl_operation op = tdl_begin(plan, err);

	return tdl_end(&op, move(&op, TDMA_OP_COPY, 0, dst, src));
}

static unsigned int accumulate_type(struct tensordma_dtype t)
{
	if (t.lanes != 1)
		return TDMA_TYPE_NONE;
	switch (t.code << 8 | t.bits) {
	case TENSORDMA_INT << 8 | 16:
		return TDMA_TYPE_S16;
	case TENSORDMA_INT << 8 | 32:
		return TDMA_TYPE_S32;
	case TENSORDMA_FLOAT << 8 | 16:
		return TDMA_TYPE_F16;
	case TENSORDMA_BFLOAT << 8 | 16:
		return TDMA_TYPE_BF16;
	case TENSORDMA_FLOAT << 8 | 32:
		return TDMA_TYPE_F32;
	}
	return TDMA_TYPE_NONE;
}

static int accumulate(struct tdl_operation *op,
		      const struct tensordma_tensor *dst,
		      const struct tensordma_tensor *src)
{
	unsigned int type = accumulate_type(dst->dtype);

	if (accumulate_type(src->dtype) != type)
		return tdl_fail(op->err, -EINVAL, "dtype", TENSORDMA_NO_DIM,
				"%s is not added to %s",
				tensordma_dtype_name(src->dtype),
				tensordma_dtype_name(dst->dtype));
	if (type == TDMA_TYPE_NONE)
		return tdl_fail(op->err, -EOPNOTSUPP, "dtype",
				TENSORDMA_NO_DIM, "%s cannot be added",
				tensordma_dtype_name(dst->dtype));
	return move(op, TDMA_OP_ACCUMULATE, type, dst, src);
}

int tensordma_plan_accumulate(struct tensordma_plan *plan,
			      const struct tensordma_tensor *dst,
			      const struct tensordma_tensor *src,
			      struct tensordma_error *err)
{
	struct tdl_operation op = tdl_begin(plan, err);

	return tdl_end(&op, accumulate(&op, dst, src));
}

static int fill(struct tdl_operation *op, const struct tensordma_tensor *dst,
		const void *value)
{
	struct tdl_nest nest = new_nest(TDMA_OP_MEMSET, dst);
	int ret;

	ret = set_fill(op, &nest, value);
	if (!ret)
		ret = tdl_side(op, &nest, TDL_DST, dst, 0);
	for (int i = dst->ndim - 1; i >= 0 && !ret; i--)
		tdl_nest_wrap(&nest, dst->shape[i], 0, stride_of(dst, i));
	return ret ? ret : tdl_add(op, &nest);
}

int tensordma_plan_fill(struct tensordma_plan *plan,
			const struct tensordma_tensor *dst, const void *value,
			struct tensordma_error *err)
{
	struct tdl_operation op = tdl_begin(plan, err);

	return tdl_end(&op, fill(&op, dst, value));
}

/* dst[i] = src[i - before], or the fill; a tensor without source is filled */
static int pad(struct tdl_operation *op, const struct tensordma_tensor *dst,
	       const struct tensordma_tensor *src, const int64_t *before,
	       const void *value)
{
	struct tdl_nest nest = new_nest(TDMA_OP_COPY, dst);
	__int128 shift = 0;
	int ret;

	ret = same_size(op, dst, src);
	if (!ret)
		ret = same_ndim(op, src, dst->ndim, "the source");
	if (ret)
		return ret;
	if (!tensordma_elements(src))
		return fill(op, dst, value);
	ret = set_fill(op, &nest, value);
	for (int i = dst->ndim - 1; i >= 0 && !ret; i--) {
		int64_t stride = stride_of(src, i);
		int axis = tdl_nest_axis(&nest, TDL_SRC, -before[i],
					 src->shape[i]);

		if (before[i] == INT64_MIN)
			return tdl_fail(op->err, -EOVERFLOW, "before", i,
					"padding leaves 64 bits");
		tdl_nest_wrap(&nest, dst->shape[i], stride, stride_of(dst, i));
		tdl_nest_move(&nest, TDL_SRC, axis, 1);
		shift -= (__int128)before[i] * stride;
	}
	if (shift != (int64_t)shift || shift > INT64_MAX / 2 ||
	    shift < INT64_MIN / 2)
		return tdl_fail(op->err, -EOVERFLOW, "before",
				TENSORDMA_NO_DIM, "padding leaves 64 bits");
	if (!ret)
		ret = tdl_side(op, &nest, TDL_SRC, src, shift);
	if (!ret)
		ret = tdl_side(op, &nest, TDL_DST, dst, 0);
	return ret ? ret : tdl_add(op, &nest);
}

int tensordma_plan_pad(struct tensordma_plan *plan,
		       const struct tensordma_tensor *dst,
		       const struct tensordma_tensor *src,
		       const int64_t *before, const void *value,
		       struct tensordma_error *err)
{
	struct tdl_operation op = tdl_begin(plan, err);

	return tdl_end(&op, pad(&op, dst, src, before, value));
}

/* Parts along an axis, one after the other */
static int concat(struct tdl_operation *op, const struct tensordma_tensor *dst,
		  const struct tensordma_tensor *src, size_t count, int axis)
{
	int64_t at = 0;

	if (axis < 0 || axis >= dst->ndim)
		return tdl_fail(op->err, -EINVAL, "axes", axis,
				"no dimension %d: there are %d", axis,
				dst->ndim);
	for (size_t i = 0; i < count; i++) {
		struct tensordma_tensor part;
		int ret = same_ndim(op, &src[i], dst->ndim, "a part");

		for (int d = 0; d < dst->ndim && !ret; d++)
			if (d != axis)
				ret = same_dim(op, &src[i], d, dst->shape[d],
					       "a part");
		if (!ret)
			ret = tensordma_slice(&part, dst, axis, at,
					      src[i].shape[axis], 1, op->err);
		if (!ret)
			ret = move(op, TDMA_OP_COPY, 0, &part, &src[i]);
		if (ret)
			return ret;
		at += src[i].shape[axis];
	}
	return same_dim(op, dst, axis, at, "the destination");
}

int tensordma_plan_concat(struct tensordma_plan *plan,
			  const struct tensordma_tensor *dst,
			  const struct tensordma_tensor *src, size_t count,
			  int axis, struct tensordma_error *err)
{
	struct tdl_operation op = tdl_begin(plan, err);

	return tdl_end(&op, concat(&op, dst, src, count, axis));
}

/* Both shapes cut where either of them is; false: they do not fit together */
static bool refine(struct tdl_nest *nest, const struct tensordma_tensor *dst,
		   const struct tensordma_tensor *src)
{
	int d = dst->ndim - 1, s = src->ndim - 1;
	int64_t dsize = 1, ssize = 1, dstride = 0, sstride = 0;

	for (;;) {
		int64_t size;

		while (dsize == 1 && d >= 0) {
			dsize = dst->shape[d];
			dstride = stride_of(dst, d--);
		}
		while (ssize == 1 && s >= 0) {
			ssize = src->shape[s];
			sstride = stride_of(src, s--);
		}
		size = dsize < ssize ? dsize : ssize;
		if (size == 1)
			return true;
		if (dsize % size || ssize % size ||
		    !tdl_nest_wrap(nest, size, sstride, dstride))
			return false;
		dsize /= size;
		ssize /= size;
		dstride *= size;
		sstride *= size;
	}
}

/* What is one in memory, as one: joined shapes fit together more often. */
static void joined(struct tensordma_tensor *t)
{
	int n = 0;

	for (int i = 0; i < t->ndim; i++) {
		if (t->shape[i] == 1)
			continue;
		if (n && t->strides[n - 1] ==
			 (__int128)t->strides[i] * t->shape[i]) {
			t->shape[n - 1] *= t->shape[i];
			t->strides[n - 1] = t->strides[i];
			continue;
		}
		t->shape[n] = t->shape[i];
		t->strides[n++] = t->strides[i];
	}
	t->ndim = n;
}

/* By way of memory in which all elements follow each other */
static int reshape_twice(struct tdl_operation *op,
			 const struct tensordma_tensor *dst,
			 const struct tensordma_tensor *src)
{
	struct tensordma_tensor s = *src, d = *dst;
	size_t size, elem = tensordma_dtype_bytes(src->dtype);
	struct tdl_operation first = tdl_begin(op->plan, op->err), second;
	int ret;

	if (__builtin_mul_overflow(tensordma_elements(src), elem, &size))
		return -EOVERFLOW;
	s.data = tdl_own_memory(&first, size);
	d.data = s.data;
	if (!s.data)
		return -ENOMEM;
	tdl_row_major(&s);
	tdl_row_major(&d);
	ret = tdl_end(&first, move(&first, TDMA_OP_COPY, 0, &s, src));
	if (ret)
		return ret;
	second = tdl_begin(op->plan, op->err);
	return tdl_end(&second, move(&second, TDMA_OP_COPY, 0, dst, &d));
}

static int reshape(struct tdl_operation *op,
		   const struct tensordma_tensor *dst,
		   const struct tensordma_tensor *src)
{
	struct tdl_nest nest = new_nest(TDMA_OP_COPY, dst);
	struct tensordma_tensor d = *dst, s = *src;
	int ret;

	ret = same_size(op, dst, src);
	if (ret)
		return ret;
	if (tensordma_elements(dst) != tensordma_elements(src))
		return tdl_fail(op->err, -EINVAL, "shape", TENSORDMA_NO_DIM,
				"%" PRIu64 " elements do not fill %" PRIu64,
				tensordma_elements(src),
				tensordma_elements(dst));
	if (!tensordma_elements(dst))
		return 0;
	joined(&d);
	joined(&s);
	if (!refine(&nest, &d, &s))
		return reshape_twice(op, dst, src);
	ret = tdl_side(op, &nest, TDL_SRC, src, 0);
	if (!ret)
		ret = tdl_side(op, &nest, TDL_DST, dst, 0);
	return ret ? ret : tdl_add(op, &nest);
}

int tensordma_plan_reshape(struct tensordma_plan *plan,
			   const struct tensordma_tensor *dst,
			   const struct tensordma_tensor *src,
			   struct tensordma_error *err)
{
	struct tdl_operation op = tdl_begin(plan, err);

	return tdl_end(&op, reshape(&op, dst, src));
}

int tensordma_copy(struct tensordma *machine,
		   const struct tensordma_tensor *dst,
		   const struct tensordma_tensor *src,
		   struct tensordma_error *err)
{
	struct tensordma_plan *plan = tensordma_plan_new(machine);
	int ret;

	if (!plan)
		return tdl_fail(err, -ENOMEM, "", TENSORDMA_NO_DIM,
				"out of memory");
	ret = tensordma_plan_copy(plan, dst, src, err);
	if (!ret)
		ret = tensordma_run(machine, plan, NULL, err);
	tensordma_plan_free(plan);
	return ret;
}
