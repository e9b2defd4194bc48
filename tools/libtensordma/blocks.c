// SPDX-License-Identifier: MIT
/* Operations with windows and blocks: im2col, tile, untile. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "error.h"
#include "plan.h"

/* So that products of two stay far from the end of 64 bits */
#define MOST	INT32_MAX

static int64_t stride_of(const struct tensordma_tensor *t, int dim)
{
	return t->shape[dim] == 1 || !tensordma_elements(t) ? 0 :
	       t->strides[dim] * (int64_t)tensordma_dtype_bytes(t->dtype);
}

/* Overflow shows as a stride that no memory is large enough for. */
static int64_t times(int64_t stride, int64_t coef)
{
	int64_t product;

	return __builtin_mul_overflow(stride, coef, &product) ? INT64_MAX :
								product;
}

static int check_shape(const struct tensordma_tensor *t, const int64_t *shape,
		       int ndim, const char *what, struct tensordma_error *err)
{
	if (t->ndim != ndim)
		return tdl_fail(err, -EINVAL, "ndim", TENSORDMA_NO_DIM,
				"%s has %d dimensions, not %d", what, t->ndim,
				ndim);
	for (int i = 0; i < ndim; i++)
		if (t->shape[i] != shape[i])
			return tdl_fail(err, -EINVAL, "shape", i,
					"dimension %d of %s has %" PRId64
					" elements, not %" PRId64, i, what,
					t->shape[i], shape[i]);
	return 0;
}

static int check_elem(const struct tensordma_tensor *dst,
		      const struct tensordma_tensor *src,
		      struct tensordma_error *err)
{
	size_t d = tensordma_dtype_bytes(dst->dtype);
	size_t s = tensordma_dtype_bytes(src->dtype);

	if (!d || d != s)
		return tdl_fail(err, -EINVAL, "dtype", TENSORDMA_NO_DIM,
				"elements of %zu bytes do not fit into those of %zu",
				s, d);
	return 0;
}

static struct tdl_nest zero_filled(const struct tensordma_tensor *dst)
{
	return (struct tdl_nest) {
		.opcode = TDMA_OP_COPY,
		.elem = tensordma_dtype_bytes(dst->dtype),
		.fill_bytes = 1,
	};
}

static bool valid_window(const struct tensordma_im2col *p, int i)
{
	return p->kernel[i] >= 1 && p->kernel[i] <= MOST &&
	       p->stride[i] >= 1 && p->stride[i] <= MOST &&
	       p->dilation[i] >= 1 && p->dilation[i] <= MOST &&
	       p->pad_before[i] >= 0 && p->pad_before[i] <= MOST &&
	       p->pad_after[i] >= 0 && p->pad_after[i] <= MOST;
}

int tensordma_im2col_shape(const struct tensordma_im2col *p, int64_t height,
			   int64_t width, int64_t out[2],
			   struct tensordma_error *err)
{
	const int64_t image[2] = { height, width };

	for (int i = 0; i < 2; i++) {
		int64_t span, room;

		if (!valid_window(p, i) || image[i] < 0 || image[i] > MOST)
			return tdl_fail(err, -EINVAL, "im2col", i,
					"%s: kernel, stride, dilation or padding is not valid",
					i ? "width" : "height");
		span = p->dilation[i] * (p->kernel[i] - 1) + 1;
		room = image[i] + p->pad_before[i] + p->pad_after[i] - span;
		if (room < 0)
			return tdl_fail(err, -EINVAL, "im2col", i,
					"%s: a window of %" PRId64
					" does not fit into %" PRId64,
					i ? "width" : "height", span,
					span + room);
		out[i] = room / p->stride[i] + 1;
	}
	return 0;
}

static int im2col(struct tdl_operation *op, const struct tensordma_tensor *dst,
		  const struct tensordma_tensor *src,
		  const struct tensordma_im2col *p)
{
	struct tdl_nest nest = zero_filled(dst);
	int64_t shape[6], out[2], shift = 0;
	int ret, axis[2];

	ret = check_elem(dst, src, op->err);
	if (!ret && src->ndim != 4)
		ret = tdl_fail(op->err, -EINVAL, "ndim", TENSORDMA_NO_DIM,
			       "the image has %d dimensions, not 4", src->ndim);
	if (!ret)
		ret = tensordma_im2col_shape(p, src->shape[1], src->shape[2],
					     out, op->err);
	if (ret)
		return ret;
	shape[0] = src->shape[0];
	shape[1] = out[0];
	shape[2] = out[1];
	shape[3] = p->kernel[0];
	shape[4] = p->kernel[1];
	shape[5] = src->shape[3];
	ret = check_shape(dst, shape, 6, "the destination", op->err);
	if (ret)
		return ret;
	for (int i = 0; i < 2; i++) {
		axis[i] = tdl_nest_axis(&nest, TDL_SRC, -p->pad_before[i],
					src->shape[1 + i]);
		if (__builtin_mul_overflow(p->pad_before[i],
					   -stride_of(src, 1 + i), &out[i]) ||
		    __builtin_add_overflow(shift, out[i], &shift))
			return -EOVERFLOW;
	}
	tdl_nest_wrap(&nest, shape[5], stride_of(src, 3), stride_of(dst, 5));
	for (int i = 1; i >= 0; i--) {
		tdl_nest_wrap(&nest, shape[3 + i],
			      times(stride_of(src, 1 + i), p->dilation[i]),
			      stride_of(dst, 3 + i));
		tdl_nest_move(&nest, TDL_SRC, axis[i], p->dilation[i]);
	}
	for (int i = 1; i >= 0; i--) {
		tdl_nest_wrap(&nest, shape[1 + i],
			      times(stride_of(src, 1 + i), p->stride[i]),
			      stride_of(dst, 1 + i));
		tdl_nest_move(&nest, TDL_SRC, axis[i], p->stride[i]);
	}
	tdl_nest_wrap(&nest, shape[0], stride_of(src, 0), stride_of(dst, 0));
	ret = tdl_side(op, &nest, TDL_SRC, src, shift);
	if (!ret)
		ret = tdl_side(op, &nest, TDL_DST, dst, 0);
	return ret ? ret : tdl_add(op, &nest);
}

int tensordma_plan_im2col(struct tensordma_plan *plan,
			  const struct tensordma_tensor *dst,
			  const struct tensordma_tensor *src,
			  const struct tensordma_im2col *p,
			  struct tensordma_error *err)
{
	struct tdl_operation op = tdl_begin(plan, err);

	return tdl_end(&op, im2col(&op, dst, src, p));
}

int tensordma_tile_shape(const struct tensordma_tensor *t,
			 const int64_t *block, int64_t *shape,
			 struct tensordma_error *err)
{
	int ndim = t->ndim;

	for (int i = 0; i < t->ndim; i++) {
		int64_t b = block[i] ? block[i] : 1;

		if (b < 0 || b > MOST)
			return tdl_fail(err, -EINVAL, "block", i,
					"dimension %d: a block of %" PRId64, i,
					b);
		shape[i] = t->shape[i] / b + (t->shape[i] % b != 0);
		if (b == 1)
			continue;
		if (ndim == TENSORDMA_MAX_DIMS)
			return tdl_fail(err, -EINVAL, "block", i,
					"more than %d dimensions", ndim);
		shape[ndim++] = b;
	}
	return ndim;
}

/*
 * Loops over blocks, then over what is in them. @plain and @tiled are the two
 * tensors, wherever they are; the axis of a dimension bounds the plain one.
 */
static void wrap_blocks(struct tdl_nest *nest,
			const struct tensordma_tensor *plain,
			const struct tensordma_tensor *tiled,
			const int64_t *block, int side)
{
	int inner = tiled->ndim;

	for (int i = plain->ndim - 1; i >= 0; i--) {
		int64_t b = block[i] > 1 ? block[i] : 1;
		int64_t stride[2] = { 0, 0 };
		int axis = TDL_NO_AXIS;

		if (b > 1) {
			axis = tdl_nest_axis(nest, side, 0, plain->shape[i]);
			inner--;
			stride[side] = stride_of(plain, i);
			stride[!side] = stride_of(tiled, inner);
			tdl_nest_wrap(nest, b, stride[0], stride[1]);
			tdl_nest_move(nest, side, axis, 1);
		}
		stride[side] = times(stride_of(plain, i), b);
		stride[!side] = stride_of(tiled, i);
		tdl_nest_wrap(nest, tiled->shape[i], stride[0], stride[1]);
		if (axis != TDL_NO_AXIS)
			tdl_nest_move(nest, side, axis, b);
	}
}

/* @side of the plain tensor: the source to tile, the destination to untile */
static int blocks(struct tdl_operation *op, const struct tensordma_tensor *dst,
		  const struct tensordma_tensor *src, const int64_t *block,
		  int side)
{
	const struct tensordma_tensor *plain = side == TDL_SRC ? src : dst;
	const struct tensordma_tensor *tiled = side == TDL_SRC ? dst : src;
	struct tdl_nest nest = zero_filled(dst);
	int64_t shape[TENSORDMA_MAX_DIMS];
	int ret = check_elem(dst, src, op->err);

	if (ret)
		return ret;
	ret = tensordma_tile_shape(plain, block, shape, op->err);
	if (ret >= 0)
		ret = check_shape(tiled, shape, ret, "the tiled tensor",
				  op->err);
	if (ret)
		return ret;
	wrap_blocks(&nest, plain, tiled, block, side);
	ret = tdl_side(op, &nest, TDL_SRC, src, 0);
	if (!ret)
		ret = tdl_side(op, &nest, TDL_DST, dst, 0);
	return ret ? ret : tdl_add(op, &nest);
}

int tensordma_plan_tile(struct tensordma_plan *plan,
			const struct tensordma_tensor *dst,
			const struct tensordma_tensor *src,
			const int64_t *block, struct tensordma_error *err)
{
	struct tdl_operation op = tdl_begin(plan, err);

	return tdl_end(&op, blocks(&op, dst, src, block, TDL_SRC));
}

int tensordma_plan_untile(struct tensordma_plan *plan,
			  const struct tensordma_tensor *dst,
			  const struct tensordma_tensor *src,
			  const int64_t *block, struct tensordma_error *err)
{
	struct tdl_operation op = tdl_begin(plan, err);

	return tdl_end(&op, blocks(&op, dst, src, block, TDL_DST));
}
