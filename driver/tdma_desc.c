// SPDX-License-Identifier: GPL-2.0-only
/*
 * Descriptor validation: what the device would refuse is refused here first,
 * where the program can be told which descriptor and why.
 *
 * All sums are of magnitudes in 64 bits, with overflow checked: an address
 * that needs more is outside of any segment. Only one thing is left to the
 * device alone: the extent of a side whose elements are clipped by the axes of
 * an extension block.
 */
#include "tdma_desc.h"

#define FIELD(member)		offsetof(struct tdma_desc, member)
#define EXT_FIELD(member) \
	(sizeof(struct tdma_desc) + offsetof(struct tdma_desc_ext, member))
#define STEPS_FIELD(dim)	(FIELD(steps) + (dim) * sizeof(__u32))

/* Flags of every opcode, and of those that move something */
#define TDMA_COMMON_FLAGS \
	(TDMA_DESC_RECORD | TDMA_DESC_IRQ | TDMA_DESC_FENCE)
#define TDMA_MOVE_FLAGS \
	(TDMA_COMMON_FLAGS | TDMA_DESC_EXT | TDMA_DESC_TOTAL | \
	 TDMA_DESC_SYNC_IRQ)
#define TDMA_SRC_FLAGS \
	(TDMA_DESC_SRC_PER_MILLE | TDMA_DESC_SRC_SYNC_FLAG)
#define TDMA_DST_FLAGS \
	(TDMA_DESC_DST_PER_MILLE | TDMA_DESC_DST_SYNC_FLAG)

/* Largest loop bound that may be implied (A5) */
#define TDMA_MAX_IMPLIED	0x7fffffffU

/* Elements that the driver's own linear descriptors are cut into */
#define TDMA_LINEAR_BYTES	4096

/* What an opcode does with the two sides: TDMA_SEG_* it needs, 0 = none */
struct tdma_op_traits {
	__u32 flags;
	__u32 access[2];
};

static const struct tdma_op_traits tdma_op_traits[] = {
	[TDMA_OP_NOP] = {
		.flags = TDMA_COMMON_FLAGS,
	},
	[TDMA_OP_COPY] = {
		.flags = TDMA_MOVE_FLAGS | TDMA_SRC_FLAGS | TDMA_DST_FLAGS,
		.access = { TDMA_SEG_READ, TDMA_SEG_WRITE },
	},
	[TDMA_OP_MEMSET] = {
		.flags = TDMA_MOVE_FLAGS | TDMA_DST_FLAGS,
		.access = { 0, TDMA_SEG_WRITE },
	},
	[TDMA_OP_ACCUMULATE] = {
		.flags = TDMA_MOVE_FLAGS | TDMA_SRC_FLAGS | TDMA_DST_FLAGS,
		.access = { TDMA_SEG_READ, TDMA_SEG_READ | TDMA_SEG_WRITE },
	},
	[TDMA_OP_READ] = {
		.flags = TDMA_MOVE_FLAGS | TDMA_SRC_FLAGS,
		.access = { TDMA_SEG_READ, 0 },
	},
};

static const __u8 tdma_type_bytes[] = {
	[TDMA_TYPE_S16] = 2,
	[TDMA_TYPE_S32] = 4,
	[TDMA_TYPE_F16] = 2,
	[TDMA_TYPE_BF16] = 2,
	[TDMA_TYPE_F32] = 4,
};

/* The fields of one side, by value and by where they are */
struct tdma_side {
	__u8 side;
	__u32 access;
	__u32 segment;
	__u64 offset;
	const __s64 *stride;
	__u32 interval;
	__u32 sync_flag;
	bool per_mille;
	bool has_sync_flag;
	__u16 segment_field;
	__u16 offset_field;
	__u16 stride_field;
	__u16 interval_field;
	__u16 sync_flag_field;
};

/* A check under way */
struct tdma_check {
	const struct tdma_desc *desc;
	const struct tdma_desc_ext *ext;
	const struct tdma_desc_limits *limits;
	const struct tdma_op_traits *op;
	struct tdma_side side[2];
	__u32 steps[TDMA_MAX_DIMS];	/* an implied bound resolved */
	__u64 elements;
	struct tdma_desc_report *report;
};

static int tdma_refuse_at(struct tdma_check *c, int error, __u32 status,
			  size_t field, __u8 dim, __u8 side)
{
	*c->report = (struct tdma_desc_report) {
		.error = error,
		.status = status,
		.field = field,
		.dim = dim,
		.side = side,
	};
	return error;
}

static int tdma_refuse(struct tdma_check *c, int error, __u32 status,
		       size_t field)
{
	return tdma_refuse_at(c, error, status, field, TDMA_DIM_NONE,
			      TDMA_SIDE_NONE);
}

static int tdma_not_zero(struct tdma_check *c, size_t field, __u8 dim,
			 __u8 side)
{
	return tdma_refuse_at(c, -EINVAL, TDMA_STATUS_BAD_RESERVED, field, dim,
			      side);
}

static const struct tdma_op_traits *tdma_traits(const struct tdma_desc *desc)
{
	if (desc->opcode >= ARRAY_SIZE(tdma_op_traits))
		return NULL;
	return &tdma_op_traits[desc->opcode];
}

/**
 * tdma_desc_access - permissions that a descriptor needs on one side
 * @desc: the descriptor, not checked
 * @side: the side
 *
 * Return: TDMA_SEG_*, 0 if the side is not used.
 */
unsigned int tdma_desc_access(const struct tdma_desc *desc,
			      enum tdma_desc_side side)
{
	const struct tdma_op_traits *op = tdma_traits(desc);

	if (side == TDMA_DESC_RECORD_SIDE)
		return desc->flags & TDMA_DESC_RECORD ? TDMA_SEG_WRITE : 0;
	return op ? op->access[side] : 0;
}

/**
 * tdma_desc_uses - does a descriptor use a side?
 * @desc: the descriptor, not checked
 * @side: the side
 *
 * Return: true if it does.
 */
bool tdma_desc_uses(const struct tdma_desc *desc, enum tdma_desc_side side)
{
	return tdma_desc_access(desc, side);
}

/* ---- fields by themselves ---- */

static int tdma_check_header(struct tdma_check *c)
{
	const struct tdma_desc *d = c->desc;

	if (d->version != TDMA_DESC_VERSION)
		return tdma_refuse(c, -EINVAL, TDMA_STATUS_BAD_VERSION,
				   FIELD(version));
	c->op = tdma_traits(d);
	if (!c->op)
		return tdma_refuse(c, -EINVAL, TDMA_STATUS_BAD_OPCODE,
				   FIELD(opcode));
	if (!(c->limits->opcodes & 1U << d->opcode))
		return tdma_refuse(c, -EOPNOTSUPP, TDMA_STATUS_BAD_OPCODE,
				   FIELD(opcode));
	if (d->flags & ~c->op->flags)
		return tdma_refuse(c, -EINVAL, TDMA_STATUS_BAD_FLAGS,
				   FIELD(flags));
	if (d->flags & ~c->limits->flags)
		return tdma_refuse(c, -EOPNOTSUPP, TDMA_STATUS_BAD_FLAGS,
				   FIELD(flags));
	if (d->flags & TDMA_DESC_EXT && !c->ext)
		return tdma_refuse(c, -EINVAL, TDMA_STATUS_BAD_FLAGS,
				   FIELD(flags));
	if (d->ndims > c->limits->dims)
		return tdma_refuse(c, d->ndims > TDMA_MAX_DIMS ?
				   -EINVAL : -EOPNOTSUPP,
				   TDMA_STATUS_BAD_NDIMS, FIELD(ndims));
	return 0;
}

static int tdma_check_number(struct tdma_check *c)
{
	const struct tdma_desc *d = c->desc;

	if (d->type >= ARRAY_SIZE(tdma_type_bytes) || !tdma_type_bytes[d->type])
		return tdma_refuse(c, -EINVAL, TDMA_STATUS_BAD_TYPE,
				   FIELD(type));
	if (!(c->limits->types & 1U << d->type))
		return tdma_refuse(c, -EOPNOTSUPP, TDMA_STATUS_BAD_TYPE,
				   FIELD(type));
	if (d->elem_bytes != tdma_type_bytes[d->type])
		return tdma_refuse(c, -EINVAL, TDMA_STATUS_BAD_ELEM,
				   FIELD(elem_bytes));
	return 0;
}

static int tdma_check_element(struct tdma_check *c)
{
	const struct tdma_desc *d = c->desc;
	bool valid;

	if (d->opcode != TDMA_OP_NOP &&
	    (!d->elem_bytes || d->elem_bytes > TDMA_MAX_ELEM_BYTES))
		return tdma_refuse(c, -EINVAL, TDMA_STATUS_BAD_ELEM,
				   FIELD(elem_bytes));
	if (d->opcode == TDMA_OP_ACCUMULATE)
		return tdma_check_number(c);
	if (d->opcode == TDMA_OP_MEMSET)
		valid = d->type && d->type <= TDMA_MAX_FILL_BYTES &&
			d->elem_bytes % d->type == 0;
	else
		valid = !d->type;
	return valid ? 0 : tdma_refuse(c, -EINVAL, TDMA_STATUS_BAD_TYPE,
				       FIELD(type));
}

/* Bytes of the fill pattern that count */
static unsigned int tdma_fill_bytes(const struct tdma_check *c)
{
	if (c->desc->opcode == TDMA_OP_MEMSET)
		return c->desc->type;
	if (c->ext && c->ext->fill_bytes <= TDMA_MAX_FILL_BYTES)
		return c->ext->fill_bytes;
	return 0;
}

static int tdma_check_unused(struct tdma_check *c)
{
	const struct tdma_desc *d = c->desc;
	bool nop = d->opcode == TDMA_OP_NOP;
	bool record = d->flags & TDMA_DESC_RECORD;
	bool total = d->flags & TDMA_DESC_TOTAL;
	unsigned int fill = tdma_fill_bytes(c);
	size_t field;

	if (nop && d->ndims)
		field = FIELD(ndims);
	else if (nop && d->elem_bytes)
		field = FIELD(elem_bytes);
	else if (!record && d->record_segment)
		field = FIELD(record_segment);
	else if (!record && d->record_offset)
		field = FIELD(record_offset);
	else if (!total && d->total)
		field = FIELD(total);
	else if (memchr_inv(d->fill + fill, 0, sizeof(d->fill) - fill))
		field = FIELD(fill);
	else
		return 0;
	return tdma_not_zero(c, field, TDMA_DIM_NONE, TDMA_SIDE_NONE);
}

static int tdma_check_unused_steps(struct tdma_check *c)
{
	const struct tdma_desc *d = c->desc;
	unsigned int i;

	for (i = d->ndims; i < TDMA_MAX_DIMS; i++)
		if (d->steps[i])
			return tdma_not_zero(c, STEPS_FIELD(i), i,
					     TDMA_SIDE_NONE);
	i = d->ndims - 1;
	if (d->flags & TDMA_DESC_TOTAL && d->ndims && d->steps[i])
		return tdma_not_zero(c, STEPS_FIELD(i), i, TDMA_SIDE_NONE);
	return 0;
}

/* ---- sides ---- */

static void tdma_get_sides(struct tdma_check *c)
{
	const struct tdma_desc *d = c->desc;

	c->side[0] = (struct tdma_side) {
		.side = TDMA_SIDE_SRC,
		.access = c->op->access[0],
		.segment = d->src_segment,
		.offset = d->src_offset,
		.stride = d->src_stride,
		.interval = d->src_sync_interval,
		.sync_flag = d->src_sync_flag,
		.per_mille = d->flags & TDMA_DESC_SRC_PER_MILLE,
		.has_sync_flag = d->flags & TDMA_DESC_SRC_SYNC_FLAG,
		.segment_field = FIELD(src_segment),
		.offset_field = FIELD(src_offset),
		.stride_field = FIELD(src_stride),
		.interval_field = FIELD(src_sync_interval),
		.sync_flag_field = FIELD(src_sync_flag),
	};
	c->side[1] = (struct tdma_side) {
		.side = TDMA_SIDE_DST,
		.access = c->op->access[1],
		.segment = d->dst_segment,
		.offset = d->dst_offset,
		.stride = d->dst_stride,
		.interval = d->dst_sync_interval,
		.sync_flag = d->dst_sync_flag,
		.per_mille = d->flags & TDMA_DESC_DST_PER_MILLE,
		.has_sync_flag = d->flags & TDMA_DESC_DST_SYNC_FLAG,
		.segment_field = FIELD(dst_segment),
		.offset_field = FIELD(dst_offset),
		.stride_field = FIELD(dst_stride),
		.interval_field = FIELD(dst_sync_interval),
		.sync_flag_field = FIELD(dst_sync_flag),
	};
}

static size_t tdma_stride_field(const struct tdma_side *s, unsigned int dim)
{
	return s->stride_field + dim * sizeof(*s->stride);
}

static int tdma_check_unused_side(struct tdma_check *c,
				  const struct tdma_side *s)
{
	unsigned int i = s->access ? c->desc->ndims : 0;
	size_t field;

	for (; i < TDMA_MAX_DIMS; i++)
		if (s->stride[i])
			return tdma_not_zero(c, tdma_stride_field(s, i), i,
					     s->side);
	if (!s->access && s->segment)
		field = s->segment_field;
	else if (!s->access && s->offset)
		field = s->offset_field;
	else if (!s->access && s->interval)
		field = s->interval_field;
	else if (!s->has_sync_flag && s->sync_flag)
		field = s->sync_flag_field;
	else
		return 0;
	return tdma_not_zero(c, field, TDMA_DIM_NONE, s->side);
}

static int tdma_check_sync(struct tdma_check *c, const struct tdma_side *s)
{
	size_t field;

	if (s->per_mille && (!s->interval || s->interval > TDMA_MAX_PER_MILLE))
		field = s->interval_field;
	else if (s->has_sync_flag && s->sync_flag >= c->limits->sync_flags)
		field = s->sync_flag_field;
	else
		return 0;
	return tdma_refuse_at(c, -EINVAL, TDMA_STATUS_BAD_SYNC, field,
			      TDMA_DIM_NONE, s->side);
}

/* ---- how many elements ---- */

/*
 * Product of the first @count loop bounds, at most 2^63. Returns the first
 * dimension that exceeds it, or @count. A zero makes the tensor empty,
 * whatever the other bounds are.
 */
static unsigned int tdma_steps_product(const struct tdma_desc *d,
				       unsigned int count, __u64 *product)
{
	unsigned int i;

	*product = 0;
	for (i = 0; i < count; i++)
		if (!d->steps[i])
			return count;
	*product = 1;
	for (i = 0; i < count; i++)
		if (check_mul_overflow(*product, (__u64)d->steps[i], product) ||
		    *product > TDMA_MAX_ELEMENTS)
			break;
	return i;
}

static int tdma_check_product(struct tdma_check *c, unsigned int count,
			      __u64 *product)
{
	unsigned int dim = tdma_steps_product(c->desc, count, product);

	if (dim == count)
		return 0;
	return tdma_refuse_at(c, -EOVERFLOW, TDMA_STATUS_BAD_STEPS,
			      STEPS_FIELD(dim), dim, TDMA_SIDE_NONE);
}

/* Resolve an implied outermost bound: enough rows for the total. */
static int tdma_check_total(struct tdma_check *c)
{
	unsigned int ndims = c->desc->ndims;
	__u64 total = c->desc->total;
	__u64 row, rows = 0;
	int ret;

	ret = tdma_check_product(c, ndims ? ndims - 1 : 0, &row);
	if (ret)
		return ret;
	if (row)
		rows = total / row + (total % row ? 1 : 0);
	if (total > TDMA_MAX_ELEMENTS || (total && !row) ||
	    rows > (ndims ? TDMA_MAX_IMPLIED : 1))
		return tdma_refuse(c, -EINVAL, TDMA_STATUS_BAD_TOTAL,
				   FIELD(total));
	if (ndims)
		c->steps[ndims - 1] = rows;
	c->elements = total;
	return 0;
}

static int tdma_check_shape(struct tdma_check *c)
{
	memcpy(c->steps, c->desc->steps, sizeof(c->steps));
	if (c->desc->opcode == TDMA_OP_NOP)
		return 0;
	if (c->desc->flags & TDMA_DESC_TOTAL)
		return tdma_check_total(c);
	return tdma_check_product(c, c->desc->ndims, &c->elements);
}

/* ---- extension block ---- */

static int tdma_bad_axis(struct tdma_check *c, size_t field, __u8 dim,
			 __u8 side)
{
	return tdma_refuse_at(c, -EINVAL, TDMA_STATUS_BAD_AXIS, field, dim,
			      side);
}

/* Which axis each dimension moves on one side, and by how much */
static int tdma_check_axis_use(struct tdma_check *c, unsigned int side)
{
	const struct tdma_desc_ext *e = c->ext;
	const __u8 *axis = side ? e->dst_axis : e->src_axis;
	const __s32 *coef = side ? e->dst_coef : e->src_coef;
	size_t axis_field = side ? EXT_FIELD(dst_axis) : EXT_FIELD(src_axis);
	size_t coef_field = side ? EXT_FIELD(dst_coef) : EXT_FIELD(src_coef);
	unsigned int i, ndims = c->op->access[side] ? c->desc->ndims : 0;

	for (i = 0; i < TDMA_MAX_DIMS; i++) {
		if (!axis[i] && !coef[i])
			continue;
		if (!axis[i])
			return tdma_bad_axis(c, coef_field + i * sizeof(*coef),
					     i, side + 1);
		if (i >= ndims || axis[i] > e->naxes ||
		    e->axis_side[axis[i] - 1] != side)
			return tdma_bad_axis(c, axis_field + i, i, side + 1);
	}
	return 0;
}

/* Every coordinate must fit 64 bits, signed. */
static int tdma_check_axis_range(struct tdma_check *c, unsigned int axis)
{
	const struct tdma_desc_ext *e = c->ext;
	unsigned int i, side = e->axis_side[axis];
	const __u8 *used = side ? e->dst_axis : e->src_axis;
	const __s32 *coef = side ? e->dst_coef : e->src_coef;
	__s64 lo = e->axis_start[axis], hi = lo;

	if (e->axis_extent[axis] >> 63)
		return tdma_bad_axis(c, EXT_FIELD(axis_extent) +
				     axis * sizeof(__u64),
				     TDMA_DIM_NONE, side + 1);
	for (i = 0; i < c->desc->ndims; i++) {
		__s64 far;

		if (used[i] != axis + 1 || !c->steps[i])
			continue;
		/* 32 times 31 bits and a sign: cannot overflow */
		far = (__s64)coef[i] * (c->steps[i] - 1);
		if (check_add_overflow(far < 0 ? lo : hi, far,
				       far < 0 ? &lo : &hi))
			return tdma_bad_axis(c, EXT_FIELD(axis_start) +
					     axis * sizeof(__s64),
					     TDMA_DIM_NONE, side + 1);
	}
	return 0;
}

static int tdma_check_axes(struct tdma_check *c)
{
	const struct tdma_desc_ext *e = c->ext;
	unsigned int i;
	int ret;

	if (!e->naxes || e->naxes > TDMA_MAX_AXES)
		return tdma_bad_axis(c, EXT_FIELD(naxes), TDMA_DIM_NONE,
				     TDMA_SIDE_NONE);
	for (i = 0; i < e->naxes; i++)
		if (e->axis_side[i] > 1 || !c->op->access[e->axis_side[i]])
			return tdma_bad_axis(c, EXT_FIELD(axis_side) + i,
					     TDMA_DIM_NONE, TDMA_SIDE_NONE);
	ret = tdma_check_axis_use(c, 0);
	if (!ret)
		ret = tdma_check_axis_use(c, 1);
	for (i = 0; !ret && i < e->naxes; i++)
		ret = tdma_check_axis_range(c, i);
	return ret;
}

static int tdma_check_unused_ext(struct tdma_check *c)
{
	const struct tdma_desc_ext *e = c->ext;
	size_t field = 0;
	unsigned int i;

	if (memchr_inv(e->reserved0, 0, sizeof(e->reserved0)))
		field = EXT_FIELD(reserved0);
	else if (memchr_inv(e->reserved1, 0, sizeof(e->reserved1)))
		field = EXT_FIELD(reserved1);
	for (i = e->naxes; !field && i < TDMA_MAX_AXES; i++) {
		if (e->axis_side[i])
			field = EXT_FIELD(axis_side) + i;
		else if (e->axis_start[i])
			field = EXT_FIELD(axis_start) + i * sizeof(__s64);
		else if (e->axis_extent[i])
			field = EXT_FIELD(axis_extent) + i * sizeof(__u64);
	}
	if (!field)
		return 0;
	return tdma_not_zero(c, field, TDMA_DIM_NONE, TDMA_SIDE_NONE);
}

static int tdma_check_ext(struct tdma_check *c)
{
	const struct tdma_desc_ext *e = c->ext;
	/* Elements outside of the source need a value. */
	bool fills = c->op->access[0] && c->op->access[1];
	int ret;

	if (e->version != TDMA_DESC_VERSION)
		return tdma_refuse(c, -EINVAL, TDMA_STATUS_BAD_VERSION,
				   EXT_FIELD(version));
	if (!fills && e->fill_bytes)
		return tdma_not_zero(c, EXT_FIELD(fill_bytes), TDMA_DIM_NONE,
				     TDMA_SIDE_NONE);
	if (fills && (!e->fill_bytes || e->fill_bytes > TDMA_MAX_FILL_BYTES ||
		      c->desc->elem_bytes % e->fill_bytes))
		return tdma_refuse(c, -EINVAL, TDMA_STATUS_BAD_TYPE,
				   EXT_FIELD(fill_bytes));
	ret = tdma_check_axes(c);
	if (ret)
		return ret;
	return tdma_check_unused_ext(c);
}

/* ---- extents ---- */

/*
 * Bytes that a side reaches below and above its offset. They are sums of
 * magnitudes; one that does not fit is beyond every segment.
 */
struct tdma_reach {
	__u64 below;
	__u64 above;
};

static bool tdma_reach_add(struct tdma_reach *r, __s64 stride, __u64 index)
{
	__u64 magnitude = stride < 0 ? -(__u64)stride : (__u64)stride;
	__u64 *sum = stride < 0 ? &r->below : &r->above;

	return !check_mul_overflow(magnitude, index, &magnitude) &&
	       !check_add_overflow(*sum, magnitude, sum);
}

static bool tdma_reach_fits(const struct tdma_reach *r, __u64 offset,
			    __u32 elem_bytes, __u64 length)
{
	__u64 end;

	return r->below <= offset &&
	       !check_add_overflow(offset, r->above, &end) &&
	       !check_add_overflow(end, (__u64)elem_bytes, &end) &&
	       end <= length;
}

/* Do all elements with the given largest indices lie in the segment? */
static bool tdma_box_fits(const struct tdma_check *c,
			  const struct tdma_side *s, const __u64 *last,
			  unsigned int ndims, __u64 length)
{
	struct tdma_reach reach = { 0, 0 };
	unsigned int i;

	for (i = 0; i < ndims; i++)
		if (!tdma_reach_add(&reach, s->stride[i], last[i]))
			return false;
	return tdma_reach_fits(&reach, s->offset, c->desc->elem_bytes, length);
}

/*
 * The first @elements of the nest are a union of boxes, one for each digit of
 * @elements in the mixed radix of the loop bounds. With every element the
 * union holds the one that has smaller indices throughout; so its extremes are
 * the extremes of sums of magnitudes over the boxes, also where strides of
 * both signs meet.
 */
static bool tdma_nest_fits(const struct tdma_check *c,
			   const struct tdma_side *s, __u64 length)
{
	__u64 last[TDMA_MAX_DIMS], row[TDMA_MAX_DIMS];
	unsigned int ndims = c->desc->ndims;
	__u64 left = c->elements, size = 1, digit;
	unsigned int i;

	for (i = 0; i < ndims; i++) {
		row[i] = size;
		size *= c->steps[i];
		last[i] = c->steps[i] - 1;
	}
	if (left == size)
		return tdma_box_fits(c, s, last, ndims, length);
	for (i = ndims; i-- && left;) {
		digit = left / row[i];
		left %= row[i];
		if (digit) {
			last[i] = digit - 1;
			if (!tdma_box_fits(c, s, last, ndims, length))
				return false;
		}
		last[i] = digit;
	}
	return true;
}

/* Outermost dimension that the first element outside has moved in */
static __u8 tdma_dim_at_fault(const struct tdma_check *c,
			      const struct tdma_side *s, __u64 length)
{
	__u64 last[TDMA_MAX_DIMS];
	unsigned int i;

	for (i = 0; i <= c->desc->ndims; i++) {
		if (!tdma_box_fits(c, s, last, i, length))
			return i ? i - 1 : TDMA_DIM_NONE;
		if (i < c->desc->ndims)
			last[i] = c->steps[i] - 1;
	}
	return TDMA_DIM_NONE;
}

static bool tdma_side_has_axes(const struct tdma_check *c, unsigned int side)
{
	unsigned int i;

	for (i = 0; c->ext && i < c->ext->naxes; i++)
		if (c->ext->axis_side[i] == side)
			return true;
	return false;
}

static int tdma_check_segment(struct tdma_check *c,
			      const struct tdma_segment *seg, __u32 access,
			      size_t field, __u8 side)
{
	if (!seg)
		return tdma_refuse_at(c, -ENOENT, TDMA_STATUS_BAD_SEGMENT,
				      field, TDMA_DIM_NONE, side);
	if (access & ~seg->flags)
		return tdma_refuse_at(c, -EACCES, TDMA_STATUS_BAD_ACCESS,
				      field, TDMA_DIM_NONE, side);
	return 0;
}

static int tdma_check_side(struct tdma_check *c, unsigned int side,
			   const struct tdma_segment *seg)
{
	const struct tdma_side *s = &c->side[side];
	size_t field = s->offset_field;
	__u8 dim;
	int ret;

	if (!s->access)
		return 0;
	ret = tdma_check_segment(c, seg, s->access, s->segment_field, s->side);
	if (ret || !c->elements || tdma_side_has_axes(c, side) ||
	    tdma_nest_fits(c, s, seg->length))
		return ret;
	dim = tdma_dim_at_fault(c, s, seg->length);
	if (dim != TDMA_DIM_NONE)
		field = tdma_stride_field(s, dim);
	return tdma_refuse_at(c, -EINVAL, TDMA_STATUS_BAD_EXTENT, field, dim,
			      s->side);
}

static int tdma_check_record_form(struct tdma_check *c)
{
	if (c->desc->record_offset % sizeof(struct tdma_record))
		return tdma_refuse_at(c, -EINVAL, TDMA_STATUS_BAD_ALIGN,
				      FIELD(record_offset), TDMA_DIM_NONE,
				      TDMA_SIDE_RECORD);
	return 0;
}

static int tdma_check_record(struct tdma_check *c,
			     const struct tdma_segment *seg)
{
	__u64 end;
	int ret;

	if (!(c->desc->flags & TDMA_DESC_RECORD))
		return 0;
	ret = tdma_check_segment(c, seg, TDMA_SEG_WRITE, FIELD(record_segment),
				 TDMA_SIDE_RECORD);
	if (ret)
		return ret;
	if (check_add_overflow(c->desc->record_offset,
			       (__u64)sizeof(struct tdma_record), &end) ||
	    end > seg->length)
		return tdma_refuse_at(c, -EINVAL, TDMA_STATUS_BAD_EXTENT,
				      FIELD(record_offset), TDMA_DIM_NONE,
				      TDMA_SIDE_RECORD);
	return 0;
}

/* Everything that can be said without the segments */
static int tdma_check_form(struct tdma_check *c)
{
	int ret;

	ret = tdma_check_header(c);
	if (ret)
		return ret;
	tdma_get_sides(c);
	ret = tdma_check_element(c);
	if (!ret)
		ret = tdma_check_unused(c);
	if (!ret)
		ret = tdma_check_unused_steps(c);
	if (!ret)
		ret = tdma_check_unused_side(c, &c->side[0]);
	if (!ret)
		ret = tdma_check_unused_side(c, &c->side[1]);
	if (!ret)
		ret = tdma_check_shape(c);
	if (!ret)
		ret = tdma_check_sync(c, &c->side[0]);
	if (!ret)
		ret = tdma_check_sync(c, &c->side[1]);
	if (!ret && c->ext)
		ret = tdma_check_ext(c);
	if (!ret)
		ret = tdma_check_record_form(c);
	return ret;
}

/**
 * tdma_desc_check - is a descriptor valid?
 * @desc: the descriptor; a copy that nobody else can write
 * @ext: its extension block; NULL if there is none
 * @limits: what is on offer
 * @seg: the segments that @desc names, by &enum tdma_desc_side; NULL for those
 *	that do not exist. Entries of sides that are not used are ignored
 * @report: filled in if the descriptor is refused
 *
 * Return: 0, or a negative errno, also in @report.
 */
int tdma_desc_check(const struct tdma_desc *desc,
		    const struct tdma_desc_ext *ext,
		    const struct tdma_desc_limits *limits,
		    const struct tdma_segment *const seg[TDMA_DESC_SIDES],
		    struct tdma_desc_report *report)
{
	struct tdma_check c = {
		.desc = desc,
		.ext = desc->flags & TDMA_DESC_EXT ? ext : NULL,
		.limits = limits,
		.report = report,
	};
	int ret;

	ret = tdma_check_form(&c);
	if (!ret)
		ret = tdma_check_side(&c, 0, seg[TDMA_DESC_SRC]);
	if (!ret)
		ret = tdma_check_side(&c, 1, seg[TDMA_DESC_DST]);
	if (!ret)
		ret = tdma_check_record(&c, seg[TDMA_DESC_RECORD_SIDE]);
	return ret;
}

/**
 * tdma_desc_elements - number of elements that a valid descriptor moves
 * @desc: the descriptor, checked
 *
 * Return: the number, at most 2^63.
 */
__u64 tdma_desc_elements(const struct tdma_desc *desc)
{
	__u64 product;

	if (desc->opcode == TDMA_OP_NOP)
		return 0;
	if (desc->flags & TDMA_DESC_TOTAL)
		return desc->total;
	tdma_steps_product(desc, desc->ndims, &product);
	return product;
}

/* ---- encoding of linear moves ---- */

/*
 * Cut @len bytes into equal elements: one if it is short, otherwise the
 * largest power of two that divides it. Progress is counted in elements.
 */
static void tdma_linear(struct tdma_desc *desc, __u64 len)
{
	__u32 elem = TDMA_LINEAR_BYTES;

	if (len <= TDMA_LINEAR_BYTES) {
		desc->elem_bytes = len;
		return;
	}
	while (len % elem)
		elem /= 2;
	desc->elem_bytes = elem;
	desc->ndims = 1;
	desc->steps[0] = len / elem;
}

/**
 * tdma_desc_copy - descriptor that copies consecutive bytes
 * @desc: filled in
 * @dst: where to
 * @src: where from
 * @len: bytes, 1 to 2^32-1
 */
void tdma_desc_copy(struct tdma_desc *desc, struct tdma_place dst,
		    struct tdma_place src, __u64 len)
{
	*desc = (struct tdma_desc) {
		.version = TDMA_DESC_VERSION,
		.opcode = TDMA_OP_COPY,
		.src_segment = src.segment,
		.src_offset = src.offset,
		.dst_segment = dst.segment,
		.dst_offset = dst.offset,
	};
	tdma_linear(desc, len);
	if (desc->ndims) {
		desc->src_stride[0] = desc->elem_bytes;
		desc->dst_stride[0] = desc->elem_bytes;
	}
}

/**
 * tdma_desc_memset - descriptor that fills consecutive bytes
 * @desc: filled in
 * @dst: where to
 * @value: the byte
 * @len: bytes, 1 to 2^32-1
 */
void tdma_desc_memset(struct tdma_desc *desc, struct tdma_place dst,
		      __u8 value, __u64 len)
{
	*desc = (struct tdma_desc) {
		.version = TDMA_DESC_VERSION,
		.opcode = TDMA_OP_MEMSET,
		.type = 1,
		.dst_segment = dst.segment,
		.dst_offset = dst.offset,
		.fill = { value },
	};
	tdma_linear(desc, len);
	if (desc->ndims)
		desc->dst_stride[0] = desc->elem_bytes;
}
