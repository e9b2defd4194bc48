/* SPDX-License-Identifier: MIT */
/*
 * The reference: the loop nest of a descriptor, with none of the core's code.
 */
#include <math.h>
#include <stdlib.h>
#include "reference.h"
#include "test.h"

/* An index per dimension, outermost counted by division: slow and plain */
static void element_index(const struct reference *r, uint64_t element,
                          uint64_t index[TDMA_MAX_DIMS])
{
    const struct tdma_desc *d = r->desc;
    unsigned i, n = d->ndims;

    for (i = 0; i < n; i++) {
        bool implied = d->flags & TDMA_DESC_TOTAL && i == n - 1;

        index[i] = implied ? element : element % d->steps[i];
        element = implied ? 0 : element / d->steps[i];
    }
}

uint64_t reference_elements(const struct reference *r)
{
    const struct tdma_desc *d = r->desc;
    uint64_t product = 1;
    unsigned i;

    if (d->opcode == TDMA_OP_NOP) {
        return 0;
    }
    if (d->flags & TDMA_DESC_TOTAL) {
        return d->total;
    }
    for (i = 0; i < d->ndims; i++) {
        product *= d->steps[i];
    }
    return product;
}

static bool inside(const struct reference *r, unsigned side,
                   const uint64_t index[TDMA_MAX_DIMS])
{
    unsigned axis, i;

    for (axis = 0; r->ext && axis < r->ext->naxes; axis++) {
        __int128 at = r->ext->axis_start[axis];

        if (r->ext->axis_side[axis] != side) {
            continue;
        }
        for (i = 0; i < r->desc->ndims; i++) {
            unsigned used = side ? r->ext->dst_axis[i] : r->ext->src_axis[i];
            int32_t coef = side ? r->ext->dst_coef[i] : r->ext->src_coef[i];

            if (used == axis + 1) {
                at += (__int128)coef * index[i];
            }
        }
        if (at < 0 || at >= (__int128)r->ext->axis_extent[axis]) {
            return false;
        }
    }
    return true;
}

static bool side_has_axis(const struct reference *r, unsigned side)
{
    unsigned axis;

    for (axis = 0; r->ext && axis < r->ext->naxes; axis++) {
        if (r->ext->axis_side[axis] == side) {
            return true;
        }
    }
    return false;
}

static uint8_t *byte_at(const struct reference *r, unsigned side,
                        const uint64_t index[TDMA_MAX_DIMS], uint32_t byte)
{
    const struct tdma_desc *d = r->desc;
    uint64_t offset = side ? d->dst_offset : d->src_offset;
    __int128 at = side_has_axis(r, side) ? (__int128)(int64_t)offset : offset;
    unsigned i;

    for (i = 0; i < d->ndims; i++) {
        at += (__int128)(side ? d->dst_stride[i] : d->src_stride[i]) *
              index[i];
    }
    at += byte;
    assert_true(at >= 0);
    return machine_byte(r->m, r->context,
                        side ? d->dst_segment : d->src_segment, (uint64_t)at);
}

static double f16_value(uint16_t h)
{
    int exponent = h >> 10 & 31, fraction = h & 1023;
    double v = exponent == 31 ? (fraction ? NAN : INFINITY)
               : exponent ? ldexp(1024 + fraction, exponent - 25)
                          : ldexp(fraction, -24);

    return h & 0x8000 ? -v : v;
}

static double bf16_value(uint16_t h)
{
    uint32_t bits = (uint32_t)h << 16;
    float f;

    memcpy(&f, &bits, sizeof(f));
    return f;
}

/*
 * The format's number nearest to @v, ties to the even one, found by trying
 * neighbours: the magnitude patterns of such a format grow with the number.
 */
static uint16_t nearest(double v, double (*value)(uint16_t), uint16_t inf,
                        uint16_t quiet)
{
    uint16_t sign = signbit(v) ? 0x8000 : 0, lo = 0, hi = inf;
    double a = fabs(v), below, above;

    if (isnan(v)) {
        return quiet;
    }
    /* Largest pattern not above a */
    while (hi - lo > 1) {
        uint16_t mid = lo + (hi - lo) / 2;

        if (value(mid) <= a) {
            lo = mid;
        } else {
            hi = mid;
        }
    }
    if (isinf(a)) {
        return sign | inf;
    }
    below = value(lo);
    /* Beyond the largest number, go on as if the range had no end. */
    above = hi == inf ? below + (below - value(lo - 1)) : value(hi);
    if (a - below > above - a || (a - below == above - a && lo & 1)) {
        lo = hi;
    }
    return sign | lo;
}

static void add_16(unsigned type, uint8_t *a, const uint8_t *b)
{
    uint16_t x, y;

    memcpy(&x, a, 2);
    memcpy(&y, b, 2);
    switch (type) {
    case TDMA_TYPE_S16:
        x = (uint16_t)((uint32_t)x + y);
        break;
    case TDMA_TYPE_F16:
        x = nearest(f16_value(x) + f16_value(y), f16_value, 0x7c00, 0x7e00);
        break;
    default:
        x = nearest(bf16_value(x) + bf16_value(y), bf16_value, 0x7f80, 0x7fc0);
        break;
    }
    memcpy(a, &x, 2);
}

static void add_32(unsigned type, uint8_t *a, const uint8_t *b)
{
    uint32_t x, y;
    float f, g;

    memcpy(&x, a, 4);
    memcpy(&y, b, 4);
    if (type == TDMA_TYPE_S32) {
        x = (uint32_t)((uint64_t)x + y);
    } else {
        memcpy(&f, &x, 4);
        memcpy(&g, &y, 4);
        f = (float)((double)f + (double)g);
        memcpy(&x, &f, 4);
        x = isnan(f) ? 0x7fc00000 : x;
    }
    memcpy(a, &x, 4);
}

void reference_add(unsigned type, uint8_t *a, const uint8_t *b)
{
    if (type == TDMA_TYPE_S32 || type == TDMA_TYPE_F32) {
        add_32(type, a, b);
    } else {
        add_16(type, a, b);
    }
}

/* What is to be written, or added, for one element */
static void fetch(const struct reference *r,
                  const uint64_t index[TDMA_MAX_DIMS], uint8_t *element)
{
    const struct tdma_desc *d = r->desc;
    bool fill = d->opcode == TDMA_OP_MEMSET || !inside(r, 0, index);
    unsigned len = d->opcode == TDMA_OP_MEMSET ? d->type
                   : fill ? r->ext->fill_bytes : 0;
    uint32_t i;

    for (i = 0; i < d->elem_bytes; i++) {
        element[i] = fill ? d->fill[i % len] : *byte_at(r, 0, index, i);
    }
}

static void store(const struct reference *r,
                  const uint64_t index[TDMA_MAX_DIMS], const uint8_t *element)
{
    const struct tdma_desc *d = r->desc;
    uint8_t sum[4];
    uint32_t i;

    if (d->opcode == TDMA_OP_ACCUMULATE) {
        for (i = 0; i < d->elem_bytes; i++) {
            sum[i] = *byte_at(r, 1, index, i);
        }
        reference_add(d->type, sum, element);
        element = sum;
    }
    for (i = 0; i < d->elem_bytes; i++) {
        *byte_at(r, 1, index, i) = element[i];
    }
}

void reference_run(const struct reference *r, uint64_t first, uint64_t count)
{
    static _Thread_local uint8_t element[TDMA_MAX_ELEM_BYTES];
    uint64_t index[TDMA_MAX_DIMS] = { 0 };
    uint64_t i;

    if (r->desc->opcode == TDMA_OP_READ || r->desc->opcode == TDMA_OP_NOP) {
        return;
    }
    for (i = first; i < first + count; i++) {
        element_index(r, i, index);
        if (inside(r, 1, index)) {
            fetch(r, index, element);
            store(r, index, element);
        }
    }
}
