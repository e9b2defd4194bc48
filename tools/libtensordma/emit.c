// SPDX-License-Identifier: MIT
/*
 * From a simplified loop nest to descriptors: the size of elements, and what
 * does not fit into one descriptor.
 */
#include <errno.h>
#include <string.h>

#include "nest.h"

#define MOST_DESCRIPTORS	(1UL << 20)
/* A run that only elements smaller than this divide is done in two parts. */
#define SMALL_ELEM	1024
/* What an oversized loop is cut into */
#define STEPS		(1ULL << 31)

struct emitter {
	const struct tdl_limits *limits;
	tdl_emit_fn *emit;
	void *arg;
};

/* One descriptor: everything is within limits. */
static int emit_one(const struct tdl_nest *n, const struct emitter *e)
{
	struct tdma_desc_ext ext = { .version = TDMA_DESC_VERSION };
	struct tdma_desc d = {
		.version = TDMA_DESC_VERSION,
		.opcode = n->opcode,
		.ndims = n->ndims,
		.type = n->opcode == TDMA_OP_MEMSET ? n->fill_bytes : n->type,
		.elem_bytes = n->elem,
	};

	if (tdl_nest_has_side(n, TDL_SRC)) {
		d.src_segment = n->memory[TDL_SRC];
		d.src_offset = n->offset[TDL_SRC];
	}
	if (tdl_nest_has_side(n, TDL_DST)) {
		d.dst_segment = n->memory[TDL_DST];
		d.dst_offset = n->offset[TDL_DST];
	}
	if (n->opcode == TDMA_OP_MEMSET)
		memcpy(d.fill, n->fill, n->fill_bytes);
	for (int i = 0; i < n->ndims; i++) {
		const struct tdl_dim *dim = &n->dim[i];

		d.steps[i] = dim->size;
		d.src_stride[i] = tdl_nest_has_side(n, TDL_SRC) ?
			dim->stride[TDL_SRC] : 0;
		d.dst_stride[i] = tdl_nest_has_side(n, TDL_DST) ?
			dim->stride[TDL_DST] : 0;
		ext.src_axis[i] = dim->axis[TDL_SRC] + 1;
		ext.dst_axis[i] = dim->axis[TDL_DST] + 1;
		ext.src_coef[i] = dim->coef[TDL_SRC];
		ext.dst_coef[i] = dim->coef[TDL_DST];
		if (ext.src_coef[i] != dim->coef[TDL_SRC] ||
		    ext.dst_coef[i] != dim->coef[TDL_DST])
			return -EOVERFLOW;
	}
	if (!n->naxes)
		return e->emit(e->arg, &d, NULL);
	d.flags = TDMA_DESC_EXT;
	ext.naxes = n->naxes;
	for (int i = 0; i < n->naxes; i++) {
		ext.axis_side[i] = n->axis[i].side;
		ext.axis_start[i] = n->axis[i].start;
		ext.axis_extent[i] = n->axis[i].extent;
	}
	if (n->opcode == TDMA_OP_COPY || n->opcode == TDMA_OP_ACCUMULATE) {
		ext.fill_bytes = n->fill_bytes ? n->fill_bytes : 1;
		memcpy(d.fill, n->fill, n->fill_bytes);
	}
	return e->emit(e->arg, &d, &ext);
}

/* Step @index of a loop, and the loop is gone. */
static void fix(struct tdl_nest *n, int dim, uint64_t index)
{
	struct tdl_dim d = n->dim[dim];

	for (int side = 0; side < 2; side++) {
		n->offset[side] += (int64_t)index * d.stride[side];
		if (d.axis[side] != TDL_NO_AXIS)
			n->axis[d.axis[side]].start +=
				(int64_t)index * d.coef[side];
	}
	n->ndims--;
	memmove(&n->dim[dim], &n->dim[dim + 1],
		(n->ndims - dim) * sizeof(n->dim[0]));
}

static int smallest(const struct tdl_nest *n)
{
	int dim = 0;

	for (int i = 1; i < n->ndims; i++)
		if (n->dim[i].size <= n->dim[dim].size)
			dim = i;
	return dim;
}

/* Loops that are too many become descriptors, those with the fewest steps. */
static int emit_dims(const struct tdl_nest *n, const struct emitter *e)
{
	int dim = smallest(n);

	if ((unsigned int)n->ndims <= e->limits->dims)
		return emit_one(n, e);
	if (n->dim[dim].size > MOST_DESCRIPTORS)
		return -E2BIG;
	for (uint64_t i = 0; i < n->dim[dim].size; i++) {
		struct tdl_nest part = *n;
		int ret;

		fix(&part, dim, i);
		ret = emit_dims(&part, e);
		if (ret)
			return ret;
	}
	return 0;
}

/* The last steps of a loop, from @first on */
static void tail(struct tdl_nest *n, int dim, uint64_t first)
{
	struct tdl_dim *d = &n->dim[dim];

	for (int side = 0; side < 2; side++) {
		n->offset[side] += (int64_t)first * d->stride[side];
		if (d->axis[side] != TDL_NO_AXIS)
			n->axis[d->axis[side]].start +=
				(int64_t)first * d->coef[side];
	}
	d->size -= first;
}

/* A loop of more steps than a field holds becomes two loops, and a rest. */
static int emit_steps(const struct tdl_nest *n, const struct emitter *e)
{
	for (int i = 0; i < n->ndims; i++) {
		const struct tdl_dim *d = &n->dim[i];
		uint64_t whole = d->size / STEPS * STEPS;
		struct tdl_nest part = *n;
		int ret;

		if (d->size <= UINT32_MAX)
			continue;
		if (n->ndims == TDL_NEST_DIMS)
			return -EOPNOTSUPP;
		part.dim[i].size = STEPS;
		part.dim[part.ndims] = *d;
		part.dim[part.ndims].size = whole / STEPS;
		for (int side = 0; side < 2; side++) {
			part.dim[part.ndims].stride[side] *= STEPS;
			part.dim[part.ndims].coef[side] *= STEPS;
		}
		part.ndims++;
		ret = emit_steps(&part, e);
		if (ret || d->size == whole)
			return ret;
		part = *n;
		tail(&part, i, whole);
		return emit_steps(&part, e);
	}
	return emit_dims(n, e);
}

/* Can the innermost loop become part of the element? */
static bool widens(const struct tdl_nest *n)
{
	const struct tdl_dim *d = &n->dim[0];

	if (!n->ndims || n->opcode == TDMA_OP_ACCUMULATE)
		return false;
	for (int side = 0; side < 2; side++)
		if (tdl_nest_has_side(n, side) &&
		    (d->stride[side] != (int64_t)n->elem ||
		     d->axis[side] != TDL_NO_AXIS))
			return false;
	return true;
}

/* The innermost loop in steps of @times elements, which is a divisor */
static void widen(struct tdl_nest *n, uint64_t times)
{
	struct tdl_dim *d = &n->dim[0];

	n->elem *= times;
	d->size /= times;
	d->stride[TDL_SRC] *= times;
	d->stride[TDL_DST] *= times;
	if (d->size == 1)
		fix(n, 0, 0);
}

static uint64_t largest_divisor(uint64_t n, uint64_t limit)
{
	for (uint64_t d = limit < n ? limit : n; d > 1; d--)
		if (n % d == 0)
			return d;
	return 1;
}

int tdl_nest_emit(const struct tdl_nest *nest, const struct tdl_limits *limits,
		  tdl_emit_fn *emit, void *arg)
{
	struct emitter e = { limits, emit, arg };
	struct tdl_nest body = *nest, rest = *nest;
	uint64_t most, times, whole;
	int ret;

	if (nest->naxes > TDMA_MAX_AXES)
		return -EOPNOTSUPP;
	most = nest->elem ? limits->elem / nest->elem : 0;
	if (!widens(nest) || most < 2)
		return emit_steps(nest, &e);
	times = largest_divisor(nest->dim[0].size, most);
	if (times == nest->dim[0].size || times * nest->elem >= SMALL_ELEM ||
	    nest->dim[0].size < most) {
		widen(&body, times);
		return emit_steps(&body, &e);
	}
	whole = nest->dim[0].size / most * most;
	body.dim[0].size = whole;
	widen(&body, most);
	ret = emit_steps(&body, &e);
	if (ret)
		return ret;
	tail(&rest, 0, whole);
	return tdl_nest_emit(&rest, limits, emit, arg);
}
