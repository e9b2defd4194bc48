// SPDX-License-Identifier: GPL-2.0-only
/*
 * Jobs with more dimensions than a descriptor of the device.
 *
 * A part has the inner dimensions, as many as the device knows; the outer ones
 * choose where it begins. Parts are made in the order of the loop nest and one
 * is in the ring at a time, so that the same bytes move in the same order, and
 * nothing moves behind an element that failed.
 */
#include <linux/string.h>

#include "tdma_desc.h"
#include "tdma_split.h"

/**
 * tdma_split_init - begin with the first part
 * @split: filled in
 * @desc: the job, checked, with more dimensions than @dims
 * @ext: its extension block; used if the descriptor says so
 * @dims: dimensions of a part, at least 1
 */
void tdma_split_init(struct tdma_split *split, const struct tdma_desc *desc,
		     const struct tdma_desc_ext *ext, u32 dims)
{
	u32 i;

	*split = (struct tdma_split) {
		.desc = *desc,
		.dims = dims,
		.size = 1,
		.left = tdma_desc_elements(desc),
		.first = true,
	};
	/* The end of each part tells of progress. */
	split->desc.flags &= ~TDMA_DESC_SYNC_IRQ;
	if (desc->flags & TDMA_DESC_EXT)
		split->ext = *ext;
	/* If there is no element a step may be anything; no part is full. */
	for (i = 0; split->left && i < dims; i++)
		split->size *= desc->steps[i];
}

/* Where element 0 of the part lies on a side */
static void tdma_split_place(const struct tdma_split *split,
			     const s64 *stride, u64 *offset)
{
	u32 i;

	/* Within the segment, or of a padded tensor: wraps as its sum does. */
	for (i = split->dims; i < split->desc.ndims; i++)
		*offset += (u64)stride[i] * split->index[i];
}

/* What the outer dimensions move on an axis is where the part begins. */
static void tdma_split_axes(const struct tdma_split *split,
			    struct tdma_desc_ext *ext, u8 *axis, s32 *coef)
{
	u32 i;

	for (i = split->dims; i < split->desc.ndims; i++) {
		if (axis[i])
			ext->axis_start[axis[i] - 1] += (s64)coef[i] *
							split->index[i];
		axis[i] = 0;
		coef[i] = 0;
	}
}

static void tdma_split_advance(struct tdma_split *split)
{
	u32 i;

	/* The outermost never wraps: there is no part behind its last. */
	for (i = split->dims; i < split->desc.ndims; i++) {
		if (++split->index[i] < split->desc.steps[i] ||
		    i == split->desc.ndims - 1U)
			return;
		split->index[i] = 0;
	}
}

static void tdma_split_shape(const struct tdma_split *split,
			     struct tdma_desc *desc)
{
	u32 i;

	desc->ndims = split->dims;
	for (i = split->dims; i < TDMA_MAX_DIMS; i++) {
		desc->steps[i] = 0;
		desc->src_stride[i] = 0;
		desc->dst_stride[i] = 0;
	}
	desc->flags &= ~TDMA_DESC_TOTAL;
	desc->total = 0;
	if (!split->first)
		desc->flags &= ~TDMA_DESC_FENCE;
	if (!split->left) {
		/* No element at all: the only part */
		memset(desc->steps, 0, sizeof(desc->steps));
	} else if (split->left < split->size) {
		/* The last part of a job with a total */
		desc->flags |= TDMA_DESC_TOTAL;
		desc->total = split->left;
		desc->steps[split->dims - 1] = 0;
	}
}

/**
 * tdma_split_next - the next part
 * @split: the job, with parts left
 * @desc: descriptor of the part
 * @ext: its extension block, if it has %TDMA_DESC_EXT
 *
 * Return: true if there is a part behind this one.
 */
bool tdma_split_next(struct tdma_split *split, struct tdma_desc *desc,
		     struct tdma_desc_ext *ext)
{
	*desc = split->desc;
	tdma_split_shape(split, desc);
	tdma_split_place(split, split->desc.src_stride, &desc->src_offset);
	tdma_split_place(split, split->desc.dst_stride, &desc->dst_offset);
	if (desc->flags & TDMA_DESC_EXT) {
		*ext = split->ext;
		tdma_split_axes(split, ext, ext->src_axis, ext->src_coef);
		tdma_split_axes(split, ext, ext->dst_axis, ext->dst_coef);
	}
	tdma_split_advance(split);
	split->first = false;
	split->left -= min(split->left, split->size);
	return split->left;
}

static void tdma_add_saturating(u32 *sum, u32 value)
{
	if (check_add_overflow(*sum, value, sum))
		*sum = U32_MAX;
}

/**
 * tdma_split_add - add what a part has done
 * @sum: of the parts so far
 * @part: record of a part
 */
void tdma_split_add(struct tdma_record *sum, const struct tdma_record *part)
{
	sum->src_done += part->src_done;
	sum->dst_done += part->dst_done;
	sum->cycles += part->cycles;
	tdma_add_saturating(&sum->stall_backpressure,
			    part->stall_backpressure);
	tdma_add_saturating(&sum->stall_throttle, part->stall_throttle);
	tdma_add_saturating(&sum->stall_ids, part->stall_ids);
}

/**
 * tdma_split_over - a part is over
 * @split: the job
 * @record: final record of the part; becomes that of the job
 *
 * Return: true if the job is over, too.
 */
bool tdma_split_over(struct tdma_split *split, struct tdma_record *record)
{
	tdma_split_add(&split->sum, record);
	split->running = false;
	if (split->left && record->status == TDMA_STATUS_OK)
		return false;
	record->src_done = split->sum.src_done;
	record->dst_done = split->sum.dst_done;
	record->cycles = split->sum.cycles;
	record->stall_backpressure = split->sum.stall_backpressure;
	record->stall_throttle = split->sum.stall_throttle;
	record->stall_ids = split->sum.stall_ids;
	return true;
}
