// SPDX-License-Identifier: MIT
/* Loop nests: made, measured, and brought into their simplest form. */
#include <stdlib.h>
#include <string.h>

#include "nest.h"

bool tdl_nest_wrap(struct tdl_nest *nest, uint64_t size, int64_t src,
		   int64_t dst)
{
	if (nest->ndims == TDL_NEST_DIMS)
		return false;
	nest->dim[nest->ndims++] = (struct tdl_dim) {
		.size = size,
		.stride = { src, dst },
		.axis = { TDL_NO_AXIS, TDL_NO_AXIS },
	};
	return true;
}

void tdl_nest_move(struct tdl_nest *nest, int side, int axis, int64_t coef)
{
	nest->dim[nest->ndims - 1].axis[side] = axis;
	nest->dim[nest->ndims - 1].coef[side] = coef;
}

int tdl_nest_axis(struct tdl_nest *nest, int side, int64_t start,
		  uint64_t extent)
{
	nest->axis[nest->naxes] = (struct tdl_axis) { side, start, extent };
	return nest->naxes++;
}

bool tdl_nest_has_side(const struct tdl_nest *nest, int side)
{
	switch (nest->opcode) {
	case TDMA_OP_COPY:
	case TDMA_OP_ACCUMULATE:
		return true;
	case TDMA_OP_MEMSET:
		return side == TDL_DST;
	case TDMA_OP_READ:
		return side == TDL_SRC;
	}
	return false;
}

bool tdl_nest_elements(const struct tdl_nest *nest, uint64_t *elements)
{
	bool fits = true;
	uint64_t n = 1;

	for (int i = 0; i < nest->ndims; i++) {
		if (!nest->dim[i].size) {
			*elements = 0;
			return true;
		}
		fits = fits && !__builtin_mul_overflow(n, nest->dim[i].size,
						       &n);
	}
	*elements = n;
	return fits;
}

static void remove_dim(struct tdl_nest *nest, int dim)
{
	nest->ndims--;
	memmove(&nest->dim[dim], &nest->dim[dim + 1],
		(nest->ndims - dim) * sizeof(nest->dim[0]));
}

static void drop_single(struct tdl_nest *nest)
{
	for (int i = nest->ndims - 1; i >= 0; i--)
		if (nest->dim[i].size == 1)
			remove_dim(nest, i);
}

/* Walk a loop from its other end. */
static void flip(struct tdl_nest *nest, struct tdl_dim *d)
{
	for (int side = 0; side < 2; side++) {
		int64_t last = d->size - 1;

		nest->offset[side] += last * d->stride[side];
		d->stride[side] = -d->stride[side];
		if (d->axis[side] == TDL_NO_AXIS)
			continue;
		nest->axis[d->axis[side]].start += last * d->coef[side];
		d->coef[side] = -d->coef[side];
	}
}

/* Elements may come in any order, unless nothing says which side leads. */
static void walk_upwards(struct tdl_nest *nest)
{
	int lead = tdl_nest_has_side(nest, TDL_DST) ? TDL_DST : TDL_SRC;

	for (int i = 0; i < nest->ndims; i++)
		if (nest->dim[i].stride[lead] < 0)
			flip(nest, &nest->dim[i]);
}

static int compare_dst(const void *a, const void *b)
{
	const struct tdl_dim *x = a, *y = b;

	for (int side = TDL_DST; side >= TDL_SRC; side--) {
		int64_t p = llabs(x->stride[side]), q = llabs(y->stride[side]);

		if (p != q)
			return p < q ? -1 : 1;
	}
	return 0;
}

/* One step of the outer loop is all steps of the inner one, on one side. */
static bool continues(const struct tdl_dim *inner, const struct tdl_dim *outer,
		      int side)
{
	if ((__int128)inner->stride[side] * inner->size != outer->stride[side])
		return false;
	if (inner->axis[side] != outer->axis[side])
		return false;
	return inner->axis[side] == TDL_NO_AXIS ||
	       (__int128)inner->coef[side] * inner->size == outer->coef[side];
}

static void join(struct tdl_nest *nest)
{
	for (int i = 0; i + 1 < nest->ndims;) {
		struct tdl_dim *d = &nest->dim[i];
		uint64_t size;

		if (continues(d, d + 1, TDL_SRC) &&
		    continues(d, d + 1, TDL_DST) &&
		    !__builtin_mul_overflow(d->size, d[1].size, &size)) {
			d->size = size;
			remove_dim(nest, i + 1);
		} else {
			i++;
		}
	}
}

/* Are all coordinates of an axis inside? */
static bool always_inside(const struct tdl_nest *nest, int axis)
{
	const struct tdl_axis *a = &nest->axis[axis];
	__int128 min = a->start, max = min;

	for (int i = 0; i < nest->ndims; i++) {
		const struct tdl_dim *d = &nest->dim[i];
		__int128 far;

		if (d->axis[a->side] != axis)
			continue;
		far = (__int128)d->coef[a->side] * (d->size - 1);
		if (far < 0)
			min += far;
		else
			max += far;
	}
	return min >= 0 && max < (__int128)a->extent;
}

static void remove_axis(struct tdl_nest *nest, int axis)
{
	nest->naxes--;
	memmove(&nest->axis[axis], &nest->axis[axis + 1],
		(nest->naxes - axis) * sizeof(nest->axis[0]));
	for (int i = 0; i < nest->ndims; i++)
		for (int side = 0; side < 2; side++) {
			int *at = &nest->dim[i].axis[side];

			if (*at == axis) {
				*at = TDL_NO_AXIS;
				nest->dim[i].coef[side] = 0;
			} else if (*at > axis) {
				(*at)--;
			}
		}
}

static bool empty(const struct tdl_nest *nest)
{
	for (int i = 0; i < nest->ndims; i++)
		if (!nest->dim[i].size)
			return true;
	return false;
}

void tdl_nest_simplify(struct tdl_nest *nest)
{
	if (empty(nest))
		return;
	drop_single(nest);
	walk_upwards(nest);
	for (int i = nest->naxes - 1; i >= 0; i--)
		if (always_inside(nest, i))
			remove_axis(nest, i);
	qsort(nest->dim, nest->ndims, sizeof(nest->dim[0]), compare_dst);
	join(nest);
}
