// SPDX-License-Identifier: MIT
/* Tensors and views of them. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "error.h"
#include "tensor.h"

static int check_ndim(int ndim, struct tensordma_error *err)
{
	if (ndim < 0 || ndim > TENSORDMA_MAX_DIMS)
		return tdl_fail(err, -EINVAL, "ndim", TENSORDMA_NO_DIM,
				"%d dimensions, at most %d are possible", ndim,
				TENSORDMA_MAX_DIMS);
	return 0;
}

static int check_dim(const struct tensordma_tensor *t, int dim,
		     struct tensordma_error *err)
{
	if (dim < 0 || dim >= t->ndim)
		return tdl_fail(err, -EINVAL, "axes", dim,
				"no dimension %d: there are %d", dim, t->ndim);
	return 0;
}

/* Elements, zero if any dimension has none, whatever the others are */
static int count(int ndim, const int64_t *shape, uint64_t *elements,
		 struct tensordma_error *err)
{
	bool overflow = false, empty = false;
	uint64_t n = 1;
	int at = 0;

	for (int i = 0; i < ndim; i++) {
		if (shape[i] < 0)
			return tdl_fail(err, -EINVAL, "shape", i,
					"dimension %d has %" PRId64
					" elements", i, shape[i]);
		empty |= !shape[i];
		if (!overflow && !empty &&
		    __builtin_mul_overflow(n, (uint64_t)shape[i], &n)) {
			overflow = true;
			at = i;
		}
	}
	if (overflow && !empty)
		return tdl_fail(err, -EOVERFLOW, "shape", at,
				"more elements than 64 bits can count, from dimension %d on",
				at);
	*elements = empty ? 0 : n;
	return 0;
}

uint64_t tensordma_elements(const struct tensordma_tensor *t)
{
	uint64_t n;

	return count(t->ndim, t->shape, &n, NULL) ? 0 : n;
}

/* Bytes from the first to the last element of a dimension; false: too many */
static bool reach(const struct tensordma_tensor *t, int dim, int64_t *far)
{
	int64_t bytes = tensordma_dtype_bytes(t->dtype);

	*far = 0;
	return t->shape[dim] == 1 ||
	       (!__builtin_mul_overflow(t->strides[dim], bytes, far) &&
		!__builtin_mul_overflow(*far, t->shape[dim] - 1, far));
}

int tensordma_range(const struct tensordma_tensor *t, int64_t *lo, int64_t *hi,
		    struct tensordma_error *err)
{
	int64_t min = 0, max = tensordma_dtype_bytes(t->dtype), far;
	uint64_t elements;
	int ret;

	ret = count(t->ndim, t->shape, &elements, err);
	if (ret)
		return ret;
	for (int i = 0; elements && i < t->ndim; i++) {
		if (!reach(t, i, &far) ||
		    __builtin_add_overflow(far < 0 ? min : max, far,
					   far < 0 ? &min : &max))
			return tdl_fail(err, -EOVERFLOW, "strides", i,
					"dimension %d: %" PRId64
					" elements at stride %" PRId64
					" leave 64 bits", i, t->shape[i],
					t->strides[i]);
	}
	*lo = elements ? min : 0;
	*hi = elements ? max : 0;
	return 0;
}

void tdl_row_major(struct tensordma_tensor *t)
{
	int64_t stride = 1;

	for (int i = t->ndim - 1; i >= 0; i--) {
		t->strides[i] = stride;
		/* Only empty tensors overflow, whose strides say nothing. */
		if (t->shape[i] &&
		    __builtin_mul_overflow(stride, t->shape[i], &stride))
			stride = 0;
	}
}

int tensordma_tensor_init(struct tensordma_tensor *t, void *data,
			  struct tensordma_dtype dtype, int ndim,
			  const int64_t *shape, const int64_t *strides,
			  struct tensordma_error *err)
{
	struct tensordma_tensor new = { .data = data, .dtype = dtype };
	int64_t lo, hi;
	int ret;

	ret = check_ndim(ndim, err);
	if (ret)
		return ret;
	if (dtype.bits % 8)
		return tdl_fail(err, -EOPNOTSUPP, "dtype", TENSORDMA_NO_DIM,
				"elements of %u bits share bytes", dtype.bits);
	if (!tensordma_dtype_bytes(dtype))
		return tdl_fail(err, -EINVAL, "dtype", TENSORDMA_NO_DIM,
				"elements of no bytes");
	new.ndim = ndim;
	for (int i = 0; i < ndim; i++)
		new.shape[i] = shape[i];
	if (strides)
		for (int i = 0; i < ndim; i++)
			new.strides[i] = strides[i];
	else
		tdl_row_major(&new);
	ret = tensordma_range(&new, &lo, &hi, err);
	if (ret)
		return ret;
	*t = new;
	return 0;
}

int tensordma_permute(struct tensordma_tensor *out,
		      const struct tensordma_tensor *in, const int *axes,
		      struct tensordma_error *err)
{
	struct tensordma_tensor new = *in;
	uint64_t seen = 0;

	for (int i = 0; i < in->ndim; i++) {
		int ret = check_dim(in, axes[i], err);

		if (ret)
			return ret;
		if (seen & 1ULL << axes[i])
			return tdl_fail(err, -EINVAL, "axes", i,
					"dimension %d is named twice", axes[i]);
		seen |= 1ULL << axes[i];
		new.shape[i] = in->shape[axes[i]];
		new.strides[i] = in->strides[axes[i]];
	}
	*out = new;
	return 0;
}

/* Move data by @index elements of a dimension; valid ones cannot overflow. */
static void advance(struct tensordma_tensor *t, int dim, int64_t index)
{
	int64_t bytes = tensordma_dtype_bytes(t->dtype);

	t->data = (char *)t->data + index * t->strides[dim] * bytes;
}

int tensordma_slice(struct tensordma_tensor *out,
		    const struct tensordma_tensor *in, int dim, int64_t start,
		    int64_t number, int64_t step, struct tensordma_error *err)
{
	struct tensordma_tensor new = *in;
	__int128 last = (__int128)start + (__int128)step * (number - 1);
	int ret = check_dim(in, dim, err);

	if (ret)
		return ret;
	if (number < 0)
		return tdl_fail(err, -EINVAL, "shape", dim,
				"%" PRId64 " elements of dimension %d", number,
				dim);
	if (number && (start < 0 || start >= in->shape[dim] || last < 0 ||
		       last >= in->shape[dim]))
		return tdl_fail(err, -EINVAL, "shape", dim,
				"slice leaves dimension %d of %" PRId64
				" elements", dim, in->shape[dim]);
	if (number && tensordma_elements(in))
		advance(&new, dim, start);
	new.shape[dim] = number;
	/* Of tensors without elements strides may be anything. */
	if (number > 1 &&
	    __builtin_mul_overflow(new.strides[dim], step, &new.strides[dim]))
		new.strides[dim] = 0;
	*out = new;
	return 0;
}

int tensordma_broadcast(struct tensordma_tensor *out,
			const struct tensordma_tensor *in, int ndim,
			const int64_t *shape, struct tensordma_error *err)
{
	struct tensordma_tensor new = *in;
	int ret = check_ndim(ndim, err), more = ndim - in->ndim;

	if (ret)
		return ret;
	if (more < 0)
		return tdl_fail(err, -EINVAL, "ndim", TENSORDMA_NO_DIM,
				"%d dimensions cannot become %d", in->ndim,
				ndim);
	new.ndim = ndim;
	for (int i = 0; i < ndim; i++) {
		int64_t size = i < more ? 1 : in->shape[i - more];

		new.shape[i] = shape[i];
		new.strides[i] = i < more ? 0 : in->strides[i - more];
		if (size == shape[i])
			continue;
		if (size != 1 || shape[i] < 0)
			return tdl_fail(err, -EINVAL, "shape", i,
					"dimension %d: %" PRId64
					" elements cannot become %" PRId64, i,
					size, shape[i]);
		new.strides[i] = 0;
	}
	*out = new;
	return 0;
}

/* The size that is -1 is what is left; elements must be as many. */
static int resolve(const struct tensordma_tensor *in, int ndim,
		   const int64_t *shape, int64_t *resolved,
		   struct tensordma_error *err)
{
	uint64_t elements, wanted = tensordma_elements(in);
	int open = -1, ret;

	for (int i = 0; i < ndim; i++) {
		resolved[i] = shape[i];
		if (shape[i] != -1)
			continue;
		if (open >= 0)
			return tdl_fail(err, -EINVAL, "shape", i,
					"more than one size is open");
		open = i;
		resolved[i] = 1;
	}
	ret = count(ndim, resolved, &elements, err);
	if (ret)
		return ret;
	if (open >= 0 && elements && wanted % elements == 0) {
		resolved[open] = wanted / elements;
		elements = wanted;
	}
	if (elements != wanted)
		return tdl_fail(err, -EINVAL, "shape", open,
				"%" PRIu64 " elements do not fill the new shape",
				wanted);
	return 0;
}

/*
 * Dimensions of @in that are one in memory, joined: how many, outermost first.
 */
static int join(const struct tensordma_tensor *in, int64_t *size,
		int64_t *stride)
{
	int n = 0;

	for (int i = 0; i < in->ndim; i++) {
		if (in->shape[i] == 1)
			continue;
		if (n && stride[n - 1] ==
			 (__int128)in->strides[i] * in->shape[i]) {
			size[n - 1] *= in->shape[i];
			stride[n - 1] = in->strides[i];
			continue;
		}
		size[n] = in->shape[i];
		stride[n++] = in->strides[i];
	}
	return n;
}

int tensordma_reshape(struct tensordma_tensor *out,
		      const struct tensordma_tensor *in, int ndim,
		      const int64_t *shape, struct tensordma_error *err)
{
	int64_t size[TENSORDMA_MAX_DIMS], stride[TENSORDMA_MAX_DIMS];
	struct tensordma_tensor new = *in;
	int64_t inside = 1;	/* elements of size[n] that are given out */
	int n, ret = check_ndim(ndim, err);

	if (ret)
		return ret;
	ret = resolve(in, ndim, shape, new.shape, err);
	if (ret)
		return ret;
	new.ndim = ndim;
	if (!tensordma_elements(in)) {
		tdl_row_major(&new);
		*out = new;
		return 0;
	}
	n = join(in, size, stride) - 1;
	for (int i = ndim - 1; i >= 0; i--) {
		new.strides[i] = n < 0 ? 1 : stride[n] * inside;
		if (new.shape[i] == 1)
			continue;
		/* Elements match in number, so there is a dimension left. */
		inside *= new.shape[i];
		if (size[n] % inside)
			return tdl_fail(err, -EXDEV, "shape", i,
					"no view has this shape: dimension %d would need two strides",
					i);
		if (inside == size[n]) {
			inside = 1;
			n--;
		}
	}
	*out = new;
	return 0;
}
