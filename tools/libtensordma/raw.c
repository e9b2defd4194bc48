// SPDX-License-Identifier: MIT
/* Descriptors of the caller's own. */
#include <errno.h>
#include <string.h>

#include "error.h"
#include "machine.h"
#include "plan.h"
#include "dma/tdma_check.h"

static void put_axes(struct tdl_nest *nest, const struct tdma_desc *d,
		     const struct tdma_desc_ext *e)
{
	for (int i = 0; i < e->naxes; i++)
		tdl_nest_axis(nest, e->axis_side[i], e->axis_start[i],
			      e->axis_extent[i]);
	for (int i = 0; i < d->ndims; i++) {
		struct tdl_dim *dim = &nest->dim[i];

		dim->axis[TDL_SRC] = e->src_axis[i] - 1;
		dim->axis[TDL_DST] = e->dst_axis[i] - 1;
		dim->coef[TDL_SRC] = e->src_coef[i];
		dim->coef[TDL_DST] = e->dst_coef[i];
	}
}

/* The loop nest of a valid descriptor */
static void nest_of(const struct tdma_desc *d, const struct tdma_desc_ext *e,
		    struct tdl_nest *nest)
{
	*nest = (struct tdl_nest) {
		.opcode = d->opcode,
		.type = d->opcode == TDMA_OP_ACCUMULATE ? d->type : 0,
		.elem = d->elem_bytes,
		.fill_bytes = d->opcode == TDMA_OP_MEMSET ? d->type :
			      e ? e->fill_bytes : 0,
		.offset = { d->src_offset, d->dst_offset },
		.memory = { d->src_segment, d->dst_segment },
	};
	memcpy(nest->fill, d->fill, sizeof(nest->fill));
	for (int i = 0; i < d->ndims; i++)
		tdl_nest_wrap(nest, d->steps[i], d->src_stride[i],
			      d->dst_stride[i]);
	if (e)
		put_axes(nest, d, e);
}

static int add_emitted(void *arg, const struct tdma_desc *desc,
		       const struct tdma_desc_ext *ext)
{
	return tdl_add_slot(arg, desc, ext);
}

/*
 * Order of elements matters where they overlap; counts, flags and the end of
 * the loop are not those of other descriptors.
 */
static bool may_optimize(const struct tdma_desc *d, const struct tdl_nest *nest,
			 bool one_memory)
{
	struct tdl_nest simple = *nest;
	__int128 lo, hi;

	if (d->flags & ~TDMA_DESC_EXT || d->src_sync_interval ||
	    d->dst_sync_interval || d->opcode == TDMA_OP_NOP || one_memory)
		return false;
	for (int i = 0; i < d->ndims; i++)
		if (!d->steps[i] || nest->dim[i].axis[TDL_DST] != TDL_NO_AXIS)
			return false;
	for (int side = 0; side < 2; side++) {
		tdl_nest_bounds(nest, side, &lo, &hi);
		if (lo < INT64_MIN / 2 || hi > INT64_MAX / 2)
			return false;
	}
	tdl_nest_simplify(&simple);
	return d->opcode == TDMA_OP_READ || !tdl_nest_self_overlap(&simple);
}

static int add_optimized(struct tdl_operation *op, struct tdl_nest *nest)
{
	struct tdl_limits limits = {
		.dims = op->plan->machine->info.max_dims,
		.elem = op->plan->max_elem,
	};

	tdl_nest_simplify(nest);
	return tdl_nest_emit(nest, &limits, add_emitted, op);
}

static int name_memory(struct tdl_operation *op,
		       const struct tensordma_memory *memory, uint32_t *number)
{
	int ret;

	if (!memory || !memory->data || !memory->length)
		return tdl_fail(op->err, -EINVAL, "memory", TENSORDMA_NO_DIM,
				"the descriptor needs memory that is not given");
	ret = tdl_memory(op, memory->data, memory->length);
	*number = ret;
	return ret < 0 ? ret : 0;
}

static int check(struct tdl_operation *op, const struct tdma_desc *desc,
		 const struct tdma_desc_ext *ext, struct tdma_shape *shape)
{
	const struct tensordma_info *info = &op->plan->machine->info;
	struct tdma_check_limits limits = {
		.dims = info->max_dims,
		.opcodes = info->opcodes,
		.types = info->types,
		.flags = info->padding ? TDMA_DESC_FLAGS :
					 TDMA_DESC_FLAGS & ~TDMA_DESC_EXT,
	};
	struct tdma_verdict v;

	/* Sync flags and records are the machine's, which is not ours alone. */
	if (desc->flags & (TDMA_DESC_RECORD | TDMA_DESC_SRC_SYNC_FLAG |
			   TDMA_DESC_DST_SYNC_FLAG))
		return tdl_fail(op->err, -EOPNOTSUPP, "flags", TENSORDMA_NO_DIM,
				"RECORD and SYNC_FLAG have no memory here");
	if (!!(desc->flags & TDMA_DESC_EXT) != !!ext)
		return tdl_fail(op->err, -EINVAL, "flags", TENSORDMA_NO_DIM,
				"EXT and an extension block go together");
	if (tdma_check_desc(&limits, desc, ext, shape, &v))
		return 0;
	return tdl_fail_status(op->err, -EINVAL, op->plan->count, v.status,
			       v.field, v.dim, v.side);
}

static int add(struct tdl_operation *op, struct tdma_desc *d,
	       const struct tdma_desc_ext *ext,
	       const struct tensordma_memory *dst,
	       const struct tensordma_memory *src, bool optimize)
{
	const struct tdma_opcode_traits *traits;
	struct tdma_shape shape;
	struct tdl_nest nest;
	uint64_t bytes;
	int ret;

	ret = check(op, d, ext, &shape);
	if (ret)
		return ret;
	traits = tdma_opcode_traits(d->opcode);
	if (traits->side[TDL_SRC])
		ret = name_memory(op, src, &d->src_segment);
	if (!ret && traits->side[TDL_DST])
		ret = name_memory(op, dst, &d->dst_segment);
	if (ret)
		return ret;
	if (__builtin_mul_overflow(shape.elements, d->elem_bytes, &bytes) ||
	    __builtin_add_overflow(bytes, op->plan->bytes, &op->plan->bytes))
		return -EOVERFLOW;
	nest_of(d, ext, &nest);
	if (optimize && may_optimize(d, &nest, traits->side[TDL_SRC] &&
				     traits->side[TDL_DST] &&
				     d->src_segment == d->dst_segment))
		return add_optimized(op, &nest);
	return tdl_add_slot(op, d, ext);
}

int tensordma_plan_desc(struct tensordma_plan *plan,
			const struct tdma_desc *desc,
			const struct tdma_desc_ext *ext,
			const struct tensordma_memory *dst,
			const struct tensordma_memory *src, bool optimize,
			struct tensordma_error *err)
{
	struct tdl_operation op = tdl_begin(plan, err);
	struct tdma_desc d = *desc;

	d.src_segment = 0;
	d.dst_segment = 0;
	return tdl_end(&op, add(&op, &d, ext, dst, src, optimize));
}
