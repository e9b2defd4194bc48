// SPDX-License-Identifier: GPL-2.0
/* tensordma selftests: from a row of cases/cases.tsv to its descriptor. */
#include <string.h>

#include "tdma_table.h"

/* Untouched bytes in front of each side, to catch writes that go too low. */
#define GUARD_BYTES	256
/* Offsets, in elements, are kept modulo this when they are beyond the span. */
#define OFFSET_WRAP	4096

/* Dimensions of an im2col row, innermost first. */
enum im2col_dim {
	CHANNEL, KERNEL_W, KERNEL_H, OUT_W, OUT_H, BATCH, IM2COL_DIMS,
};

static bool op_is(const struct tdma_row *row, const char *op)
{
	return !strcmp(row->op, op);
}

static __u64 payload(const struct tdma_row *row)
{
	__u64 bytes = row->elem_bytes;

	for (int i = 0; i < row->ndims; i++)
		bytes *= row->size[i];
	return bytes;
}

static __u64 reach(const struct tdma_row *row, const __s64 *stride, int dim)
{
	__s64 elements = (row->size[dim] - 1) * stride[dim];

	return (elements < 0 ? -elements : elements) * row->elem_bytes;
}

static __u64 span(const struct tdma_row *row, const __s64 *stride)
{
	__u64 bytes = row->elem_bytes;

	for (int i = 0; i < row->ndims; i++)
		bytes += reach(row, stride, i);
	return bytes;
}

/* Outermost first, each dimension down to what fits but no further than 2. */
static void shrink_payload(struct tdma_row *row, __u64 limit)
{
	for (int i = row->ndims - 1; i >= 0; i--) {
		__u64 others = payload(row) / row->size[i];
		__s64 fits = limit / others;

		if (payload(row) <= limit || row->size[i] <= 2)
			continue;
		if (fits < row->size[i])
			row->size[i] = fits < 2 ? 2 : fits;
	}
}

/* Halve whatever reaches furthest until the side fits. */
static void shrink_span(struct tdma_row *row, const __s64 *stride, __u64 limit)
{
	while (span(row, stride) > limit) {
		int far = 0;

		for (int i = 1; i < row->ndims; i++)
			if (reach(row, stride, i) > reach(row, stride, far))
				far = i;
		row->size[far] = (row->size[far] + 1) / 2;
	}
}

static void scale(struct tdma_row *row, const struct tdma_row_limits *limits)
{
	__u64 room = limits->span - 2 * GUARD_BYTES -
		     2 * OFFSET_WRAP * row->elem_bytes;

	shrink_payload(row, limits->payload);
	shrink_span(row, row->src_stride, room);
	shrink_span(row, row->dst_stride, room);
	if (span(row, row->src_stride) + row->src_offset * row->elem_bytes >
	    room)
		row->src_offset %= OFFSET_WRAP;
	if (span(row, row->dst_stride) + row->dst_offset * row->elem_bytes >
	    room)
		row->dst_offset %= OFFSET_WRAP;
}

static void affine(const struct tdma_row *row, struct tdma_desc *d)
{
	__s64 size = row->elem_bytes;

	*d = tdma_desc_copy(0, 0, size);
	for (int i = 0; i < row->ndims; i++)
		tdma_dim(d, row->size[i], row->src_stride[i] * size,
			 row->dst_stride[i] * size);
	d->src_offset = row->src_offset * size + GUARD_BYTES;
	d->dst_offset = row->dst_offset * size + GUARD_BYTES;
}

static int add_axis(struct tdma_desc_ext *ext, __s64 start, __u64 extent)
{
	ext->axis_start[ext->naxes] = start;
	ext->axis_extent[ext->naxes] = extent;
	return ++ext->naxes;
}

static void move_axis(struct tdma_desc_ext *ext, int dim, int axis, __s32 coef)
{
	ext->src_axis[dim] = axis;
	ext->src_coef[dim] = coef;
}

/* Zeros outside the axes still to be added. */
static void zero_fill(union tdma_slot *slots)
{
	slots[0].desc.flags |= TDMA_DESC_EXT;
	slots[1].ext.version = TDMA_DESC_VERSION;
	slots[1].ext.fill_bytes = 1;
}

/*
 * One image axis of an im2col row: @out steps by @stride, @kernel by one. The
 * extent follows the (scaled) output size, so that both borders are padded.
 */
static const char *im2col_axis(const struct tdma_row *row,
			       struct tdma_desc_ext *ext, int out, int kernel,
			       const char *range)
{
	__s64 stride = row->src_stride[out] / row->src_stride[kernel];
	long pad;
	__s64 extent;
	int axis;

	if (!range || sscanf(range + 2, "-%ld..", &pad) != 1)
		return "padding as 'h:-P..Q,w:-P..Q'";
	extent = (row->size[out] - 1) * stride + row->size[kernel] - 2 * pad;
	if (extent < 1)
		extent = 1;
	axis = add_axis(ext, -pad, extent);
	move_axis(ext, out, axis, stride);
	move_axis(ext, kernel, axis, 1);
	return NULL;
}

static const char *plan_im2col(struct tdma_row *row,
			       const struct tdma_row_limits *limits,
			       union tdma_slot *slots)
{
	struct tdma_desc_ext *ext = &slots[1].ext;
	const char *why;

	if (row->ndims != IM2COL_DIMS)
		return "six dimensions";
	scale(row, limits);
	affine(row, &slots[0].desc);
	/* 1x1 kernels read no padding. */
	if (!*row->fill_pad)
		return NULL;
	zero_fill(slots);
	why = im2col_axis(row, ext, OUT_H, KERNEL_H,
			  strstr(row->fill_pad, "h:"));
	if (!why)
		why = im2col_axis(row, ext, OUT_W, KERNEL_W,
				  strstr(row->fill_pad, "w:"));
	return why;
}

/* The destination with its border is what is walked. */
static const char *plan_pad_copy(struct tdma_row *row, union tdma_slot *slots)
{
	struct tdma_desc_ext *ext = &slots[1].ext;
	int before[2], after[2];

	if (row->ndims != 2 ||
	    sscanf(row->fill_pad, "before %d,%d after %d,%d zero", &before[1],
		   &before[0], &after[1], &after[0]) != 4)
		return "padding as 'before Y,X after Y,X zero'";
	for (int i = 0; i < 2; i++) {
		int axis = add_axis(ext, -before[i], row->size[i]);

		move_axis(ext, i, axis, 1);
		row->size[i] += before[i] + after[i];
		row->src_offset -= before[i] * row->src_stride[i];
		row->dst_offset -= before[i] * row->dst_stride[i];
	}
	affine(row, &slots[0].desc);
	zero_fill(slots);
	return NULL;
}

static const char *plan_box_oob(const struct tdma_row *row,
				union tdma_slot *slots)
{
	struct tdma_desc_ext *ext = &slots[1].ext;
	long columns;
	int axis;

	if (sscanf(row->fill_pad, "columns %ld.. of row", &columns) != 1)
		return "bound as 'columns N.. of row'";
	affine(row, &slots[0].desc);
	zero_fill(slots);
	axis = add_axis(ext, row->src_offset % row->src_stride[1], columns);
	move_axis(ext, 0, axis, 1);
	return NULL;
}

static bool is_affine(const struct tdma_row *row)
{
	static const char *const ops[] = {
		"permute", "copy", "copy_nd", "strided", "broadcast", "box",
	};

	for (size_t i = 0; i < ARRAY_SIZE(ops); i++)
		if (op_is(row, ops[i]))
			return true;
	return false;
}

static const char *unit_missing(const struct tdma_row *row)
{
	if (op_is(row, "sort") || op_is(row, "prefix_sum"))
		return "cross-lane unit";
	return "indirect streams";
}

/* Padding may reach below offset 0: move the source up. */
static void lift_source(struct tdma_desc *d)
{
	if ((__s64)d->src_offset < 0)
		d->src_offset = GUARD_BYTES;
}

const char *tdma_row_plan(const struct tdma_row *row,
			  const struct tdma_row_limits *limits,
			  union tdma_slot slots[2])
{
	struct tdma_row scaled = *row;
	const char *why = NULL;

	memset(slots, 0, 2 * sizeof(*slots));
	if (op_is(row, "im2col")) {
		why = plan_im2col(&scaled, limits, slots);
	} else if (op_is(row, "pad_copy")) {
		why = plan_pad_copy(&scaled, slots);
	} else if (op_is(row, "box_oob")) {
		why = plan_box_oob(&scaled, slots);
	} else if (is_affine(row)) {
		scale(&scaled, limits);
		affine(&scaled, &slots[0].desc);
	} else {
		return unit_missing(row);
	}
	lift_source(&slots[0].desc);
	return why;
}
