/* SPDX-License-Identifier: MIT */
/*
 * What is wrong with a descriptor, by its documentation.
 */
#include <stddef.h>
#include "oracle.h"

#define FAULT(name) ORACLE_FAULT(TDMA_STATUS_BAD_##name)

static bool has_src(const struct tdma_desc *d)
{
    return d->opcode == TDMA_OP_COPY || d->opcode == TDMA_OP_ACCUMULATE ||
           d->opcode == TDMA_OP_READ;
}

static bool has_dst(const struct tdma_desc *d)
{
    return d->opcode == TDMA_OP_COPY || d->opcode == TDMA_OP_ACCUMULATE ||
           d->opcode == TDMA_OP_MEMSET;
}

static oracle_faults flag_faults(const struct tdma_desc *d)
{
    uint32_t src = TDMA_DESC_SRC_PER_MILLE | TDMA_DESC_SRC_SYNC_FLAG;
    uint32_t dst = TDMA_DESC_DST_PER_MILLE | TDMA_DESC_DST_SYNC_FLAG;
    uint32_t nop = TDMA_DESC_RECORD | TDMA_DESC_IRQ | TDMA_DESC_FENCE;
    oracle_faults f = 0;

    if (d->flags >> 10) {
        f |= FAULT(FLAGS);
    }
    if ((d->flags & src && !has_src(d)) || (d->flags & dst && !has_dst(d))) {
        f |= FAULT(FLAGS);
    }
    if (d->opcode == TDMA_OP_NOP && d->flags & ~nop) {
        f |= FAULT(FLAGS);
    }
    return f;
}

static oracle_faults type_faults(const struct tdma_desc *d)
{
    static const unsigned bytes[] = { 0, 2, 4, 2, 2, 4 };

    switch (d->opcode) {
    case TDMA_OP_MEMSET:
        return d->type < 1 || d->type > 16 || d->elem_bytes % d->type
               ? FAULT(TYPE) : 0;
    case TDMA_OP_ACCUMULATE:
        if (d->type < 1 || d->type > 5) {
            return FAULT(TYPE);
        }
        return d->elem_bytes != bytes[d->type] ? FAULT(ELEM) : 0;
    default:
        return d->type ? FAULT(TYPE) : 0;
    }
}

static oracle_faults size_faults(const struct tdma_desc *d)
{
    if (d->opcode == TDMA_OP_NOP) {
        return d->elem_bytes || d->ndims ? FAULT(RESERVED) : 0;
    }
    return d->elem_bytes < 1 || d->elem_bytes > 65536 ? FAULT(ELEM) : 0;
}

static unsigned fill_used(const struct tdma_desc *d,
                          const struct tdma_desc_ext *e)
{
    if (d->opcode == TDMA_OP_MEMSET) {
        return d->type;
    }
    return e ? e->fill_bytes : 0;
}

static oracle_faults zero_faults(const struct tdma_desc *d,
                                 const struct tdma_desc_ext *e)
{
    bool record = d->flags & TDMA_DESC_RECORD, bad = false;
    unsigned i;

    for (i = 0; i < 8; i++) {
        bad |= i >= d->ndims && d->steps[i];
        bad |= (i >= d->ndims || !has_src(d)) && d->src_stride[i];
        bad |= (i >= d->ndims || !has_dst(d)) && d->dst_stride[i];
        bad |= d->flags & TDMA_DESC_TOTAL && i + 1 == d->ndims && d->steps[i];
    }
    for (i = fill_used(d, e); i < 16; i++) {
        bad |= d->fill[i];
    }
    bad |= !has_src(d) && (d->src_segment || d->src_offset ||
                           d->src_sync_interval);
    bad |= !has_dst(d) && (d->dst_segment || d->dst_offset ||
                           d->dst_sync_interval);
    bad |= !record && (d->record_segment || d->record_offset);
    bad |= !(d->flags & TDMA_DESC_TOTAL) && d->total;
    bad |= !(d->flags & TDMA_DESC_SRC_SYNC_FLAG) && d->src_sync_flag;
    bad |= !(d->flags & TDMA_DESC_DST_SYNC_FLAG) && d->dst_sync_flag;
    return bad ? FAULT(RESERVED) : 0;
}

static oracle_faults count_faults(const struct tdma_desc *d)
{
    bool total = d->flags & TDMA_DESC_TOTAL, empty = false, large = false;
    unsigned dims = d->ndims < 8 ? d->ndims : 8, i;
    unsigned __int128 product = 1, limit = (unsigned __int128)1 << 63;
    oracle_faults f = 0;

    if (d->opcode == TDMA_OP_NOP) {
        return 0;
    }
    for (i = 0; i < dims - (total && dims ? 1 : 0); i++) {
        empty |= !d->steps[i];
        product *= d->steps[i] ? d->steps[i] : 1;
        large |= product > limit;
        product = product > limit ? limit : product;
    }
    if (large && !empty) {
        f |= FAULT(STEPS);
    }
    if (total) {
        unsigned __int128 reach = empty ? 0
                                  : product * (dims ? 0x7fffffff : 1);

        if (d->total > reach || d->total > limit) {
            f |= FAULT(TOTAL);
        }
    }
    return f;
}

static oracle_faults sync_faults(const struct tdma_desc *d)
{
    oracle_faults f = 0;

    if (d->flags & TDMA_DESC_SRC_PER_MILLE &&
        (d->src_sync_interval < 1 || d->src_sync_interval > 1000)) {
        f |= FAULT(SYNC);
    }
    if (d->flags & TDMA_DESC_DST_PER_MILLE &&
        (d->dst_sync_interval < 1 || d->dst_sync_interval > 1000)) {
        f |= FAULT(SYNC);
    }
    return f;
}

/* Steps of dimension @i, an implied bound worked out */
static uint64_t steps_of(const struct tdma_desc *d, unsigned i)
{
    uint64_t inner = 1;
    unsigned j;

    if (!(d->flags & TDMA_DESC_TOTAL) || i + 1 != d->ndims) {
        return d->steps[i];
    }
    for (j = 0; j < i; j++) {
        inner *= d->steps[j];
    }
    return inner ? (d->total + inner - 1) / inner : 0;
}

static bool coordinates_fit(const struct tdma_desc *d,
                            const struct tdma_desc_ext *e, unsigned axis)
{
    __int128 lo = e->axis_start[axis], hi = lo;
    unsigned i;

    for (i = 0; i < d->ndims && i < 8; i++) {
        unsigned used = e->axis_side[axis] ? e->dst_axis[i] : e->src_axis[i];
        __int128 coef = e->axis_side[axis] ? e->dst_coef[i] : e->src_coef[i];
        uint64_t steps = steps_of(d, i);

        if (used == axis + 1 && steps) {
            lo += coef < 0 ? coef * (steps - 1) : 0;
            hi += coef > 0 ? coef * (steps - 1) : 0;
        }
    }
    return lo >= INT64_MIN && hi <= INT64_MAX;
}

static bool axis_use_ok(const struct tdma_desc *d,
                        const struct tdma_desc_ext *e, unsigned side,
                        unsigned dim)
{
    unsigned axis = side ? e->dst_axis[dim] : e->src_axis[dim];
    int32_t coef = side ? e->dst_coef[dim] : e->src_coef[dim];

    if (!axis) {
        return !coef;
    }
    return dim < d->ndims && axis <= e->naxes && axis <= 8 &&
           e->axis_side[axis - 1] == side && (side ? has_dst(d) : has_src(d));
}

static oracle_faults axis_faults(const struct tdma_desc *d,
                                 const struct tdma_desc_ext *e)
{
    oracle_faults f = 0;
    unsigned i;

    if (e->naxes < 1 || e->naxes > 8) {
        return FAULT(AXIS);
    }
    for (i = 0; i < 8; i++) {
        if (!axis_use_ok(d, e, 0, i) || !axis_use_ok(d, e, 1, i)) {
            f |= FAULT(AXIS);
        }
        if (i >= e->naxes) {
            if (e->axis_side[i] || e->axis_start[i] || e->axis_extent[i]) {
                f |= FAULT(RESERVED);
            }
            continue;
        }
        if (e->axis_side[i] > 1 || (e->axis_side[i] == 0 && !has_src(d)) ||
            (e->axis_side[i] == 1 && !has_dst(d)) ||
            e->axis_extent[i] > INT64_MAX || !coordinates_fit(d, e, i)) {
            f |= FAULT(AXIS);
        }
    }
    return f;
}

static oracle_faults ext_faults(const struct tdma_desc *d,
                                const struct tdma_desc_ext *e)
{
    bool fills = has_src(d) && has_dst(d);
    oracle_faults f = axis_faults(d, e);
    unsigned i;

    if (e->version != 1) {
        f |= FAULT(VERSION);
    }
    for (i = 0; i < sizeof(e->reserved0); i++) {
        f |= e->reserved0[i] ? FAULT(RESERVED) : 0;
    }
    for (i = 0; i < sizeof(e->reserved1); i++) {
        f |= e->reserved1[i] ? FAULT(RESERVED) : 0;
    }
    if (!fills && e->fill_bytes) {
        f |= FAULT(RESERVED);
    }
    if (fills && (e->fill_bytes < 1 || e->fill_bytes > 16 ||
                  d->elem_bytes % e->fill_bytes)) {
        f |= FAULT(TYPE);
    }
    return f;
}

oracle_faults oracle_desc(const struct tdma_desc *d,
                          const struct tdma_desc_ext *e, unsigned dims)
{
    oracle_faults f = 0;

    if (d->version != 1) {
        f |= FAULT(VERSION);
    }
    if (d->opcode > 4) {
        return f | FAULT(OPCODE);
    }
    if (d->ndims > dims) {
        f |= FAULT(NDIMS);
    }
    if (d->flags & TDMA_DESC_RECORD && d->record_offset % 64) {
        f |= FAULT(ALIGN);
    }
    f |= flag_faults(d) | type_faults(d) | size_faults(d) |
         zero_faults(d, e) | count_faults(d) | sync_faults(d);
    if (e) {
        f |= ext_faults(d, e);
    }
    return f;
}

static bool is_inside(const struct tdma_desc *d, const struct tdma_desc_ext *e,
                      unsigned side, const uint64_t *index)
{
    unsigned a, i;

    for (a = 0; e && a < e->naxes; a++) {
        __int128 at = e->axis_start[a];

        for (i = 0; i < d->ndims; i++) {
            if ((side ? e->dst_axis[i] : e->src_axis[i]) == a + 1) {
                at += (__int128)(side ? e->dst_coef[i] : e->src_coef[i]) *
                      index[i];
            }
        }
        if (e->axis_side[a] == side &&
            (at < 0 || at >= (__int128)e->axis_extent[a])) {
            return false;
        }
    }
    return true;
}

static bool has_axis(const struct tdma_desc_ext *e, unsigned side)
{
    unsigned a;

    for (a = 0; e && a < e->naxes; a++) {
        if (e->axis_side[a] == side) {
            return true;
        }
    }
    return false;
}

bool oracle_range(const struct tdma_desc *d, const struct tdma_desc_ext *e,
                  unsigned side, __int128 *min, __int128 *max)
{
    uint64_t index[8] = { 0 }, done = 0, limit = UINT64_MAX;
    bool any = false;
    unsigned i;

    if (d->flags & TDMA_DESC_TOTAL) {
        limit = d->total;
    }
    for (i = 0; i < d->ndims; i++) {
        if (!steps_of(d, i)) {
            return false;
        }
    }
    do {
        uint64_t offset = side ? d->dst_offset : d->src_offset;
        __int128 at = has_axis(e, side) ? (__int128)(int64_t)offset : offset;

        if (done++ == limit) {
            break;
        }
        for (i = 0; i < d->ndims; i++) {
            at += (__int128)(side ? d->dst_stride[i] : d->src_stride[i]) *
                  index[i];
        }
        if (is_inside(d, e, side, index)) {
            *min = !any || at < *min ? at : *min;
            *max = !any || at > *max ? at : *max;
            any = true;
        }
        for (i = 0; i < d->ndims; i++) {
            if (++index[i] < steps_of(d, i)) {
                break;
            }
            index[i] = 0;
        }
    } while (i < d->ndims);
    return any;
}
