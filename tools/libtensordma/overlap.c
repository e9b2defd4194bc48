// SPDX-License-Identifier: MIT
/*
 * Do elements overlap? Of the usual tensors the strides tell; for the rest all
 * elements are looked at, as long as they are not too many.
 */
#include <errno.h>
#include <stdlib.h>

#include "nest.h"

#define MOST_ELEMENTS	(1UL << 18)

/* Each loop steps over all that is inside of it: nothing can overlap. */
static bool nested(const struct tdl_nest *nest)
{
	__int128 inner = nest->elem;

	for (int i = 0; i < nest->ndims; i++) {
		const struct tdl_dim *d = &nest->dim[i];

		if (d->stride[TDL_DST] < inner)
			return false;
		inner += (__int128)d->stride[TDL_DST] * (d->size - 1);
	}
	return true;
}

/* Offsets of all elements of a side, from element 0 */
static int64_t *offsets(const struct tdl_nest *nest, int side, size_t *count)
{
	uint64_t elements;
	int64_t *list;
	size_t n = 1;

	*count = 0;
	if (!tdl_nest_elements(nest, &elements) || elements > MOST_ELEMENTS)
		return NULL;
	list = malloc(elements * sizeof(*list));
	if (!list)
		return NULL;
	list[0] = 0;
	for (int i = 0; i < nest->ndims; i++) {
		const struct tdl_dim *d = &nest->dim[i];
		size_t inner = n;

		for (uint64_t step = 1; step < d->size; step++)
			for (size_t e = 0; e < inner; e++)
				list[n++] = list[e] +
					    (int64_t)step * d->stride[side];
	}
	*count = n;
	return list;
}

static int ascending(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

int tdl_nest_self_overlap(const struct tdl_nest *nest)
{
	int64_t *list;
	size_t count;
	int found = 0;

	if (nested(nest))
		return 0;
	list = offsets(nest, TDL_DST, &count);
	if (!list)
		return 1;
	qsort(list, count, sizeof(*list), ascending);
	for (size_t i = 1; i < count && !found; i++)
		found = list[i] - list[i - 1] < (int64_t)nest->elem;
	free(list);
	return found;
}

void tdl_nest_bounds(const struct tdl_nest *nest, int side, __int128 *lo,
		     __int128 *hi)
{
	*lo = nest->offset[side];
	*hi = *lo + nest->elem;
	for (int i = 0; i < nest->ndims; i++) {
		__int128 far = (__int128)nest->dim[i].stride[side] *
			       (nest->dim[i].size - 1);

		if (far < 0)
			*lo += far;
		else
			*hi += far;
	}
}

static int any_overlap(int64_t *a, size_t a_count, int64_t *b, size_t b_count,
		       int64_t gap, int64_t elem)
{
	size_t i = 0, j = 0;

	qsort(a, a_count, sizeof(*a), ascending);
	qsort(b, b_count, sizeof(*b), ascending);
	while (i < a_count && j < b_count) {
		int64_t distance = b[j] + gap - a[i];

		if (distance > -elem && distance < elem)
			return 1;
		if (distance > 0)
			i++;
		else
			j++;
	}
	return 0;
}

int tdl_nest_cross_overlap(const struct tdl_nest *a, const struct tdl_nest *b,
			   int64_t gap)
{
	__int128 a_lo, a_hi, b_lo, b_hi;
	size_t a_count, b_count;
	int64_t *as, *bs;
	int found = 1;

	tdl_nest_bounds(a, TDL_DST, &a_lo, &a_hi);
	tdl_nest_bounds(b, TDL_DST, &b_lo, &b_hi);
	if (b_lo + gap >= a_hi || a_lo >= b_hi + gap)
		return 0;
	as = offsets(a, TDL_DST, &a_count);
	bs = offsets(b, TDL_DST, &b_count);
	if (as && bs)
		found = any_overlap(as, a_count, bs, b_count, gap +
				    b->offset[TDL_DST] - a->offset[TDL_DST],
				    a->elem);
	free(as);
	free(bs);
	return found;
}
