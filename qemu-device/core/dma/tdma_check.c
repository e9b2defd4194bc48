/* SPDX-License-Identifier: MIT */
/*
 * tensordma core: is a descriptor valid?
 */
#include <stddef.h>
#include <string.h>
#include "dma/tdma_check.h"

#define FIELD(f) offsetof(struct tdma_desc, f)
#define EXT_FIELD(f) (sizeof(struct tdma_desc) + \
                      offsetof(struct tdma_desc_ext, f))

#define COMMON_FLAGS (TDMA_DESC_RECORD | TDMA_DESC_IRQ | TDMA_DESC_FENCE)
#define MOVE_FLAGS (COMMON_FLAGS | TDMA_DESC_EXT | TDMA_DESC_TOTAL | \
                    TDMA_DESC_SYNC_IRQ)
#define SRC_FLAGS (TDMA_DESC_SRC_PER_MILLE | TDMA_DESC_SRC_SYNC_FLAG)
#define DST_FLAGS (TDMA_DESC_DST_PER_MILLE | TDMA_DESC_DST_SYNC_FLAG)

#define RECORD_BYTES sizeof(struct tdma_record)

static const struct tdma_opcode_traits opcodes[] = {
    [TDMA_OP_NOP] = {
        .flags = COMMON_FLAGS,
    },
    [TDMA_OP_COPY] = {
        .side = { true, true },
        .access = { TDMA_SEG_READ, TDMA_SEG_WRITE },
        .flags = MOVE_FLAGS | SRC_FLAGS | DST_FLAGS,
        .fills = true,
    },
    [TDMA_OP_MEMSET] = {
        .side = { false, true },
        .access = { 0, TDMA_SEG_WRITE },
        .flags = MOVE_FLAGS | DST_FLAGS,
    },
    [TDMA_OP_ACCUMULATE] = {
        .side = { true, true },
        .access = { TDMA_SEG_READ, TDMA_SEG_READ | TDMA_SEG_WRITE },
        .flags = MOVE_FLAGS | SRC_FLAGS | DST_FLAGS,
        .fills = true,
    },
    [TDMA_OP_READ] = {
        .side = { true, false },
        .access = { TDMA_SEG_READ, 0 },
        .flags = MOVE_FLAGS | SRC_FLAGS,
    },
};

static const uint8_t type_bytes[] = {
    [TDMA_TYPE_S16] = 2,
    [TDMA_TYPE_S32] = 4,
    [TDMA_TYPE_F16] = 2,
    [TDMA_TYPE_BF16] = 2,
    [TDMA_TYPE_F32] = 4,
};

/* Where one side's fields are */
struct side_fields {
    uint8_t side;
    uint16_t segment;
    uint16_t offset;
    uint16_t stride;
    uint16_t interval;
    uint16_t flag;
    uint16_t axis;
    uint16_t coef;
    uint32_t per_mille;
    uint32_t sync_flag;
};

static const struct side_fields side_fields[2] = {
    {
        TDMA_SIDE_SRC, FIELD(src_segment), FIELD(src_offset),
        FIELD(src_stride), FIELD(src_sync_interval), FIELD(src_sync_flag),
        EXT_FIELD(src_axis), EXT_FIELD(src_coef),
        TDMA_DESC_SRC_PER_MILLE, TDMA_DESC_SRC_SYNC_FLAG,
    }, {
        TDMA_SIDE_DST, FIELD(dst_segment), FIELD(dst_offset),
        FIELD(dst_stride), FIELD(dst_sync_interval), FIELD(dst_sync_flag),
        EXT_FIELD(dst_axis), EXT_FIELD(dst_coef),
        TDMA_DESC_DST_PER_MILLE, TDMA_DESC_DST_SYNC_FLAG,
    },
};

const struct tdma_opcode_traits *tdma_opcode_traits(unsigned opcode)
{
    return opcode < sizeof(opcodes) / sizeof(opcodes[0]) ? &opcodes[opcode]
                                                         : NULL;
}

unsigned tdma_type_bytes(unsigned type)
{
    return type < sizeof(type_bytes) ? type_bytes[type] : 0;
}

static bool refuse_at(struct tdma_verdict *v, uint32_t status, uint16_t field,
                      uint8_t dim, uint8_t side)
{
    *v = (struct tdma_verdict) {
        .status = status,
        .field = field,
        .dim = dim,
        .side = side,
    };
    return false;
}

static bool refuse(struct tdma_verdict *v, uint32_t status, uint16_t field)
{
    return refuse_at(v, status, field, TDMA_DIM_NONE, TDMA_SIDE_NONE);
}

static bool all_zero(const void *bytes, size_t len)
{
    const uint8_t *b = bytes;

    return !len || (!b[0] && !memcmp(b, b + 1, len - 1));
}

static bool check_header(const struct tdma_check_limits *limits,
                         const struct tdma_desc *d, struct tdma_verdict *v)
{
    const struct tdma_opcode_traits *op = tdma_opcode_traits(d->opcode);

    if (d->version != TDMA_DESC_VERSION) {
        return refuse(v, TDMA_STATUS_BAD_VERSION, FIELD(version));
    }
    if (!op || !(limits->opcodes & 1U << d->opcode)) {
        return refuse(v, TDMA_STATUS_BAD_OPCODE, FIELD(opcode));
    }
    if (d->flags & ~(op->flags & limits->flags)) {
        return refuse(v, TDMA_STATUS_BAD_FLAGS, FIELD(flags));
    }
    if (d->ndims > limits->dims) {
        return refuse(v, TDMA_STATUS_BAD_NDIMS, FIELD(ndims));
    }
    return true;
}

static bool check_element(const struct tdma_check_limits *limits,
                          const struct tdma_desc *d, struct tdma_verdict *v)
{
    bool moves = d->opcode != TDMA_OP_NOP;

    if (moves && (!d->elem_bytes || d->elem_bytes > TDMA_MAX_ELEM_BYTES)) {
        return refuse(v, TDMA_STATUS_BAD_ELEM, FIELD(elem_bytes));
    }
    switch (d->opcode) {
    case TDMA_OP_MEMSET:
        if (!d->type || d->type > TDMA_MAX_FILL_BYTES ||
            d->elem_bytes % d->type) {
            return refuse(v, TDMA_STATUS_BAD_TYPE, FIELD(type));
        }
        return true;
    case TDMA_OP_ACCUMULATE:
        if (!tdma_type_bytes(d->type) || !(limits->types & 1U << d->type)) {
            return refuse(v, TDMA_STATUS_BAD_TYPE, FIELD(type));
        }
        if (d->elem_bytes != tdma_type_bytes(d->type)) {
            return refuse(v, TDMA_STATUS_BAD_ELEM, FIELD(elem_bytes));
        }
        return true;
    default:
        if (d->type) {
            return refuse(v, TDMA_STATUS_BAD_TYPE, FIELD(type));
        }
        return true;
    }
}

/* Refuse @field if a value that must be zero is not. */
static bool must_be_zero(bool zero, uint16_t field, struct tdma_verdict *v)
{
    return zero || refuse(v, TDMA_STATUS_BAD_RESERVED, field);
}

static bool check_unused(const struct tdma_desc *d,
                         const struct tdma_desc_ext *e, struct tdma_verdict *v)
{
    bool record = d->flags & TDMA_DESC_RECORD;
    unsigned fill = d->opcode == TDMA_OP_MEMSET ? d->type
                    : e && e->fill_bytes <= TDMA_MAX_FILL_BYTES
                    ? e->fill_bytes : 0;

    if (d->opcode == TDMA_OP_NOP &&
        (!must_be_zero(!d->ndims, FIELD(ndims), v) ||
         !must_be_zero(!d->elem_bytes, FIELD(elem_bytes), v))) {
        return false;
    }
    return must_be_zero(record || !d->record_segment, FIELD(record_segment),
                        v) &&
           must_be_zero(record || !d->record_offset, FIELD(record_offset), v) &&
           must_be_zero(d->flags & TDMA_DESC_TOTAL || !d->total, FIELD(total),
                        v) &&
           must_be_zero(all_zero(d->fill + fill, TDMA_MAX_FILL_BYTES - fill),
                        FIELD(fill), v);
}

static uint32_t side_segment(const struct tdma_desc *d, unsigned side)
{
    return side ? d->dst_segment : d->src_segment;
}

static uint64_t side_offset(const struct tdma_desc *d, unsigned side)
{
    return side ? d->dst_offset : d->src_offset;
}

static const __s64 *side_stride(const struct tdma_desc *d, unsigned side)
{
    return side ? d->dst_stride : d->src_stride;
}

static uint32_t side_interval(const struct tdma_desc *d, unsigned side)
{
    return side ? d->dst_sync_interval : d->src_sync_interval;
}

static uint32_t side_flag(const struct tdma_desc *d, unsigned side)
{
    return side ? d->dst_sync_flag : d->src_sync_flag;
}

static bool reserved_at(struct tdma_verdict *v, uint16_t field, uint8_t dim,
                        uint8_t side)
{
    return refuse_at(v, TDMA_STATUS_BAD_RESERVED, field, dim, side);
}

static bool check_side_unused(const struct tdma_desc *d, unsigned side,
                              struct tdma_verdict *v)
{
    const struct side_fields *f = &side_fields[side];
    bool used = tdma_opcode_traits(d->opcode)->side[side];
    unsigned i;

    for (i = used ? d->ndims : 0; i < TDMA_MAX_DIMS; i++) {
        if (side_stride(d, side)[i]) {
            return reserved_at(v, f->stride + i * sizeof(__s64), i, f->side);
        }
    }
    if (!used && side_segment(d, side)) {
        return reserved_at(v, f->segment, TDMA_DIM_NONE, f->side);
    }
    if (!used && side_offset(d, side)) {
        return reserved_at(v, f->offset, TDMA_DIM_NONE, f->side);
    }
    if (!used && side_interval(d, side)) {
        return reserved_at(v, f->interval, TDMA_DIM_NONE, f->side);
    }
    if (!(d->flags & f->sync_flag) && side_flag(d, side)) {
        return reserved_at(v, f->flag, TDMA_DIM_NONE, f->side);
    }
    return true;
}

static uint16_t steps_field(unsigned dim)
{
    return FIELD(steps) + dim * sizeof(__u32);
}

static bool check_steps_unused(const struct tdma_desc *d,
                               struct tdma_verdict *v)
{
    unsigned i;

    for (i = d->ndims; i < TDMA_MAX_DIMS; i++) {
        if (d->steps[i]) {
            return reserved_at(v, steps_field(i), i, TDMA_SIDE_NONE);
        }
    }
    if (d->flags & TDMA_DESC_TOTAL && d->ndims && d->steps[d->ndims - 1]) {
        return reserved_at(v, steps_field(d->ndims - 1), d->ndims - 1,
                           TDMA_SIDE_NONE);
    }
    return true;
}

/*
 * Product of the first @count step counts; a zero wins over an overflow,
 * because an empty tensor is valid whatever its other bounds are.
 */
static bool steps_product(const struct tdma_desc *d, unsigned count,
                          uint64_t *product, struct tdma_verdict *v)
{
    uint64_t p = 1;
    unsigned i;

    *product = 0;
    for (i = 0; i < count; i++) {
        if (!d->steps[i]) {
            return true;
        }
    }
    for (i = 0; i < count; i++) {
        if (__builtin_mul_overflow(p, (uint64_t)d->steps[i], &p) ||
            p > TDMA_MAX_ELEMENTS) {
            return refuse_at(v, TDMA_STATUS_BAD_STEPS, steps_field(i), i,
                             TDMA_SIDE_NONE);
        }
    }
    *product = p;
    return true;
}

/*
 * An implied outermost bound is at most the largest signed 32-bit number (A5);
 * without dimensions there is one element at most.
 */
static bool shape_total(const struct tdma_desc *d, struct tdma_shape *shape,
                        struct tdma_verdict *v)
{
    unsigned inner = d->ndims ? d->ndims - 1 : 0;
    uint64_t limit = d->ndims ? INT32_MAX : 1;
    uint64_t product, outer;

    if (!steps_product(d, inner, &product, v)) {
        return false;
    }
    outer = product ? d->total / product + (d->total % product != 0)
                    : d->total ? limit + 1 : 0;
    if (outer > limit || d->total > TDMA_MAX_ELEMENTS) {
        return refuse(v, TDMA_STATUS_BAD_TOTAL, FIELD(total));
    }
    if (d->ndims) {
        shape->steps[inner] = outer;
    }
    shape->elements = d->total;
    return true;
}

static bool make_shape(const struct tdma_desc *d, struct tdma_shape *shape,
                       struct tdma_verdict *v)
{
    unsigned i;

    shape->ndims = d->ndims;
    for (i = 0; i < TDMA_MAX_DIMS; i++) {
        shape->steps[i] = i < d->ndims ? d->steps[i] : 1;
    }
    if (d->opcode == TDMA_OP_NOP) {
        shape->elements = 0;
        return true;
    }
    if (d->flags & TDMA_DESC_TOTAL) {
        return shape_total(d, shape, v);
    }
    return steps_product(d, d->ndims, &shape->elements, v);
}

static bool check_sync(const struct tdma_desc *d, unsigned side,
                       struct tdma_verdict *v)
{
    const struct side_fields *f = &side_fields[side];
    uint32_t interval = side_interval(d, side);

    if (d->flags & f->per_mille &&
        (!interval || interval > TDMA_MAX_PER_MILLE)) {
        return refuse_at(v, TDMA_STATUS_BAD_SYNC, f->interval, TDMA_DIM_NONE,
                         f->side);
    }
    return true;
}

static bool refuse_axis(struct tdma_verdict *v, uint16_t field, uint8_t dim,
                        uint8_t side)
{
    return refuse_at(v, TDMA_STATUS_BAD_AXIS, field, dim, side);
}

/* Which axis each dimension moves on one side, and by how much */
static bool check_axis_use(const struct tdma_desc *d,
                           const struct tdma_desc_ext *e, unsigned side,
                           struct tdma_verdict *v)
{
    const struct side_fields *f = &side_fields[side];
    const __u8 *axis = side ? e->dst_axis : e->src_axis;
    const __s32 *coef = side ? e->dst_coef : e->src_coef;
    bool used = tdma_opcode_traits(d->opcode)->side[side];
    unsigned i;

    for (i = 0; i < TDMA_MAX_DIMS; i++) {
        bool allowed = used && i < d->ndims && axis[i] <= e->naxes;

        if (axis[i] && (!allowed || e->axis_side[axis[i] - 1] != side)) {
            return refuse_axis(v, f->axis + i, i, f->side);
        }
        if (!axis[i] && coef[i]) {
            return refuse_axis(v, f->coef + i * sizeof(__s32), i, f->side);
        }
    }
    return true;
}

/* Coordinates must fit in 64 bits, with room to tell outside from inside. */
static bool check_axis_range(const struct tdma_desc_ext *e,
                             const struct tdma_shape *shape, unsigned axis,
                             struct tdma_verdict *v)
{
    const __u8 *used = e->axis_side[axis] ? e->dst_axis : e->src_axis;
    const __s32 *coef = e->axis_side[axis] ? e->dst_coef : e->src_coef;
    tdma_wide min = e->axis_start[axis], max = min;
    uint8_t side = side_fields[e->axis_side[axis]].side;
    unsigned i;

    if (e->axis_extent[axis] > INT64_MAX) {
        return refuse_axis(v, EXT_FIELD(axis_extent) + axis * sizeof(__u64),
                           TDMA_DIM_NONE, side);
    }
    for (i = 0; i < shape->ndims; i++) {
        if (used[i] == axis + 1 && shape->steps[i]) {
            tdma_wide far = (tdma_wide)coef[i] * (shape->steps[i] - 1);

            min += far < 0 ? far : 0;
            max += far > 0 ? far : 0;
        }
    }
    if (min < INT64_MIN || max > INT64_MAX) {
        return refuse_axis(v, EXT_FIELD(axis_start) + axis * sizeof(__s64),
                           TDMA_DIM_NONE, side);
    }
    return true;
}

static bool check_axes(const struct tdma_desc *d,
                       const struct tdma_desc_ext *e,
                       const struct tdma_shape *shape, struct tdma_verdict *v)
{
    const struct tdma_opcode_traits *op = tdma_opcode_traits(d->opcode);
    unsigned i;

    if (!e->naxes || e->naxes > TDMA_MAX_AXES) {
        return refuse_axis(v, EXT_FIELD(naxes), TDMA_DIM_NONE, TDMA_SIDE_NONE);
    }
    for (i = 0; i < e->naxes; i++) {
        if (e->axis_side[i] > 1 || !op->side[e->axis_side[i]]) {
            return refuse_axis(v, EXT_FIELD(axis_side) + i, TDMA_DIM_NONE,
                               TDMA_SIDE_NONE);
        }
    }
    if (!check_axis_use(d, e, 0, v) || !check_axis_use(d, e, 1, v)) {
        return false;
    }
    for (i = 0; i < e->naxes; i++) {
        if (!check_axis_range(e, shape, i, v)) {
            return false;
        }
    }
    return true;
}

static bool check_ext_unused(const struct tdma_desc_ext *e,
                             struct tdma_verdict *v)
{
    unsigned i;

    if (!must_be_zero(all_zero(e->reserved0, sizeof(e->reserved0)),
                      EXT_FIELD(reserved0), v) ||
        !must_be_zero(all_zero(e->reserved1, sizeof(e->reserved1)),
                      EXT_FIELD(reserved1), v)) {
        return false;
    }
    for (i = e->naxes; i < TDMA_MAX_AXES; i++) {
        if (!must_be_zero(!e->axis_side[i], EXT_FIELD(axis_side) + i, v) ||
            !must_be_zero(!e->axis_start[i],
                          EXT_FIELD(axis_start) + i * sizeof(__s64), v) ||
            !must_be_zero(!e->axis_extent[i],
                          EXT_FIELD(axis_extent) + i * sizeof(__u64), v)) {
            return false;
        }
    }
    return true;
}

static bool check_ext(const struct tdma_desc *d, const struct tdma_desc_ext *e,
                      const struct tdma_shape *shape, struct tdma_verdict *v)
{
    unsigned fill = e->fill_bytes;

    if (e->version != TDMA_DESC_VERSION) {
        return refuse(v, TDMA_STATUS_BAD_VERSION, EXT_FIELD(version));
    }
    if (!tdma_opcode_traits(d->opcode)->fills) {
        if (!must_be_zero(!fill, EXT_FIELD(fill_bytes), v)) {
            return false;
        }
    } else if (!fill || fill > TDMA_MAX_FILL_BYTES || d->elem_bytes % fill) {
        return refuse(v, TDMA_STATUS_BAD_TYPE, EXT_FIELD(fill_bytes));
    }
    return check_axes(d, e, shape, v) && check_ext_unused(e, v);
}

bool tdma_check_desc(const struct tdma_check_limits *limits,
                     const struct tdma_desc *d, const struct tdma_desc_ext *e,
                     struct tdma_shape *shape, struct tdma_verdict *v)
{
    *v = (struct tdma_verdict) { .status = TDMA_STATUS_OK };

    if (!check_header(limits, d, v) || !check_element(limits, d, v) ||
        !check_unused(d, e, v) || !check_steps_unused(d, v) ||
        !check_side_unused(d, 0, v) || !check_side_unused(d, 1, v) ||
        !make_shape(d, shape, v) || !check_sync(d, 0, v) ||
        !check_sync(d, 1, v)) {
        return false;
    }
    if (e && !check_ext(d, e, shape, v)) {
        return false;
    }
    if (d->flags & TDMA_DESC_RECORD && d->record_offset % RECORD_BYTES) {
        return refuse_at(v, TDMA_STATUS_BAD_ALIGN, FIELD(record_offset),
                         TDMA_DIM_NONE, TDMA_SIDE_RECORD);
    }
    return true;
}

static bool check_segment(const struct tdma_segment *seg, uint32_t access,
                          uint16_t field, uint8_t side, struct tdma_verdict *v)
{
    if (!seg) {
        return refuse_at(v, TDMA_STATUS_BAD_SEGMENT, field, TDMA_DIM_NONE,
                         side);
    }
    if (access & ~seg->flags) {
        return refuse_at(v, TDMA_STATUS_BAD_ACCESS, field, TDMA_DIM_NONE,
                         side);
    }
    return true;
}

static bool refuse_extent(const struct tdma_walk *walk,
                          const struct tdma_shape *shape, unsigned side,
                          tdma_wide limit, struct tdma_verdict *v)
{
    const struct side_fields *f = &side_fields[side];
    uint8_t dim = TDMA_DIM_NONE;
    tdma_wide at = walk->offset;

    if (!walk->axes) {
        at = tdma_walk_first_outside(walk, shape, limit, &dim);
    }
    refuse_at(v, TDMA_STATUS_BAD_EXTENT,
              dim == TDMA_DIM_NONE ? f->offset
                                   : f->stride + dim * sizeof(__s64),
              dim, f->side);
    v->offset = (uint64_t)at;
    return false;
}

bool tdma_check_side(const struct tdma_desc *d, const struct tdma_desc_ext *e,
                     const struct tdma_shape *shape, unsigned side,
                     const struct tdma_segment *seg, uint64_t *lo,
                     uint64_t *hi, struct tdma_verdict *v)
{
    const struct side_fields *f = &side_fields[side];
    struct tdma_walk walk;
    tdma_wide min, max, limit;

    *lo = 0;
    *hi = 0;
    if (!check_segment(seg, tdma_opcode_traits(d->opcode)->access[side],
                       f->segment, f->side, v)) {
        return false;
    }
    tdma_walk_init(&walk, d, e, side);
    if (!shape->elements || !tdma_walk_range(&walk, shape, &min, &max)) {
        return true;
    }
    limit = (tdma_wide)seg->length - d->elem_bytes;
    if (min < 0 || max > limit) {
        return refuse_extent(&walk, shape, side, limit, v);
    }
    *lo = (uint64_t)min;
    *hi = (uint64_t)max + d->elem_bytes;
    return true;
}

bool tdma_check_record(const struct tdma_desc *d,
                       const struct tdma_segment *seg, struct tdma_verdict *v)
{
    if (!check_segment(seg, TDMA_SEG_WRITE, FIELD(record_segment),
                       TDMA_SIDE_RECORD, v)) {
        return false;
    }
    if (d->record_offset > seg->length ||
        seg->length - d->record_offset < RECORD_BYTES) {
        refuse_at(v, TDMA_STATUS_BAD_EXTENT, FIELD(record_offset),
                  TDMA_DIM_NONE, TDMA_SIDE_RECORD);
        v->offset = d->record_offset;
        return false;
    }
    return true;
}
