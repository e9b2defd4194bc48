/* SPDX-License-Identifier: MIT */
/*
 * Random descriptors that are valid in an arena.
 */
#include "random_desc.h"

enum { ELEMENTS_MAX = 4000 };

static const uint32_t elem_sizes[] = {
    1, 1, 2, 2, 3, 4, 4, 5, 6, 8, 8, 12, 16, 24, 32, 48, 64, 100, 512,
};

static uint32_t random_elem(struct rng *rng)
{
    return elem_sizes[rng_below(rng, TEST_COUNT(elem_sizes))];
}

static void random_steps(struct rng *rng, struct tdma_desc *d)
{
    uint64_t room = ELEMENTS_MAX;
    unsigned i;

    for (i = 0; i < d->ndims; i++) {
        uint64_t most = rng_one_in(rng, 3) ? 64 : 5;

        if (rng_one_in(rng, 6)) {
            most = room;
        }
        if (most > room) {
            most = room;
        }
        d->steps[i] = 1 + rng_below(rng, most);
        room /= d->steps[i];
    }
    if (d->ndims && rng_one_in(rng, 60)) {
        d->steps[rng_below(rng, d->ndims)] = 0;
    }
}

static void shuffle(struct rng *rng, unsigned *order, unsigned n)
{
    unsigned i;

    for (i = 0; i < n; i++) {
        unsigned j = rng_below(rng, i + 1);

        order[i] = order[j];
        order[j] = i;
    }
}

/* Dense in a random order of dimensions, with the odd gap, turn or repeat */
static void random_strides(struct rng *rng, const struct tdma_desc *d,
                           int64_t *stride)
{
    unsigned order[TDMA_MAX_DIMS], i;
    int64_t next = d->elem_bytes;
    bool wild = rng_one_in(rng, 5);

    shuffle(rng, order, d->ndims);
    if (rng_one_in(rng, 3)) {
        for (i = 0; i < d->ndims; i++) {
            order[i] = i;
        }
    }
    for (i = 0; i < d->ndims; i++) {
        unsigned dim = order[i];

        stride[dim] = next;
        if (wild && rng_one_in(rng, 3)) {
            stride[dim] = rng_below(rng, 2 * d->elem_bytes + 9);
        }
        if (rng_one_in(rng, 8)) {
            stride[dim] += rng_below(rng, 3 * d->elem_bytes + 1);
        }
        next = stride[dim] * d->steps[dim];
        if (next < d->elem_bytes) {
            next = d->elem_bytes;
        }
        if (rng_one_in(rng, 6)) {
            stride[dim] = -stride[dim];
        }
        if (rng_one_in(rng, 20)) {
            stride[dim] = 0;
        }
    }
}

/* Lowest and highest offset of the nest, relative to element 0 */
static void span(const struct tdma_desc *d, const int64_t *stride, int64_t *lo,
                 int64_t *hi)
{
    unsigned i;

    *lo = 0;
    *hi = d->elem_bytes;
    for (i = 0; i < d->ndims; i++) {
        int64_t far = d->steps[i] ? stride[i] * (d->steps[i] - 1) : 0;

        *lo += far < 0 ? far : 0;
        *hi += far > 0 ? far : 0;
    }
}

/* Where to begin so that everything is inside; false if it cannot be */
static bool place(struct rng *rng, const struct tdma_desc *d,
                  const int64_t *stride, uint64_t *offset)
{
    int64_t lo, hi;

    span(d, stride, &lo, &hi);
    if (hi - lo > RANDOM_DESC_BYTES) {
        return false;
    }
    *offset = (uint64_t)-lo + (rng_one_in(rng, 4) ? 0
              : rng_one_in(rng, 4) ? (uint64_t)(RANDOM_DESC_BYTES - (hi - lo))
              : rng_below(rng, RANDOM_DESC_BYTES - (hi - lo) + 1));
    return true;
}

static unsigned random_segment(struct rng *rng)
{
    return SEG_HOST + rng_below(rng, SEG_DATA_END - SEG_HOST);
}

static void random_fill(struct rng *rng, struct tdma_desc *d, unsigned bytes)
{
    unsigned i;

    for (i = 0; i < bytes; i++) {
        d->fill[i] = rng_next(rng);
    }
}

/* A length of pattern that divides the element */
static unsigned random_pattern(struct rng *rng, uint32_t elem)
{
    unsigned n = 1 + rng_below(rng, TDMA_MAX_FILL_BYTES);

    while (elem % n) {
        n--;
    }
    return n;
}

static void random_type(struct rng *rng, struct tdma_desc *d)
{
    static const struct {
        uint8_t type, bytes;
    } types[] = {
        { TDMA_TYPE_S16, 2 }, { TDMA_TYPE_S32, 4 }, { TDMA_TYPE_F16, 2 },
        { TDMA_TYPE_BF16, 2 }, { TDMA_TYPE_F32, 4 },
    };
    unsigned i = rng_below(rng, TEST_COUNT(types));

    d->type = types[i].type;
    d->elem_bytes = types[i].bytes;
}

static void random_sync(struct rng *rng, struct tdma_desc *d, bool src,
                        bool dst)
{
    if (src && rng_one_in(rng, 2)) {
        d->src_sync_interval = 1 + rng_below(rng, 500);
        if (rng_one_in(rng, 2)) {
            d->flags |= TDMA_DESC_SRC_PER_MILLE;
        }
    }
    if (dst && rng_one_in(rng, 2)) {
        d->dst_sync_interval = 1 + rng_below(rng, 500);
        if (rng_one_in(rng, 2)) {
            d->flags |= TDMA_DESC_DST_PER_MILLE;
        }
    }
}

/* The outermost bound is left to the count. */
static void random_total(struct rng *rng, struct tdma_desc *d)
{
    uint64_t inner = 1, outer = d->steps[d->ndims - 1];
    unsigned i;

    for (i = 0; i + 1 < d->ndims; i++) {
        inner *= d->steps[i];
    }
    d->flags |= TDMA_DESC_TOTAL;
    d->total = inner && outer ? rng_below(rng, inner * outer + 1) : 0;
    d->steps[d->ndims - 1] = 0;
}

bool random_desc(struct rng *rng, struct tdma_desc *d)
{
    static const uint8_t ops[] = {
        TDMA_OP_COPY, TDMA_OP_COPY, TDMA_OP_COPY, TDMA_OP_COPY, TDMA_OP_COPY,
        TDMA_OP_MEMSET, TDMA_OP_MEMSET, TDMA_OP_ACCUMULATE,
        TDMA_OP_ACCUMULATE, TDMA_OP_READ,
    };
    bool src, dst;

    *d = (struct tdma_desc) {
        .version = TDMA_DESC_VERSION,
        .opcode = ops[rng_below(rng, TEST_COUNT(ops))],
        .ndims = rng_below(rng, TDMA_MAX_DIMS + 1),
        .elem_bytes = random_elem(rng),
        .tag = rng_next(rng),
    };
    src = d->opcode != TDMA_OP_MEMSET;
    dst = d->opcode != TDMA_OP_READ;
    if (d->opcode == TDMA_OP_ACCUMULATE) {
        random_type(rng, d);
    }
    if (d->opcode == TDMA_OP_MEMSET) {
        d->type = random_pattern(rng, d->elem_bytes);
        random_fill(rng, d, d->type);
    }
    random_steps(rng, d);
    if (src) {
        d->src_segment = random_segment(rng);
        random_strides(rng, d, (int64_t *)d->src_stride);
        if (!place(rng, d, (int64_t *)d->src_stride,
                   (uint64_t *)&d->src_offset)) {
            return false;
        }
    }
    if (dst) {
        d->dst_segment = random_segment(rng);
        random_strides(rng, d, (int64_t *)d->dst_stride);
        if (!place(rng, d, (int64_t *)d->dst_stride,
                   (uint64_t *)&d->dst_offset)) {
            return false;
        }
    }
    random_sync(rng, d, src, dst);
    if (d->ndims && rng_one_in(rng, 8)) {
        random_total(rng, d);
    }
    return true;
}

void random_axes(struct rng *rng, struct tdma_desc *d,
                 struct tdma_desc_ext *e)
{
    bool src = d->opcode != TDMA_OP_MEMSET, dst = d->opcode != TDMA_OP_READ;
    unsigned i;

    *e = (struct tdma_desc_ext) {
        .version = TDMA_DESC_VERSION,
        .naxes = 1 + rng_below(rng, 4),
    };
    d->flags |= TDMA_DESC_EXT;
    if (src && dst) {
        e->fill_bytes = random_pattern(rng, d->elem_bytes);
        random_fill(rng, d, e->fill_bytes);
    }
    for (i = 0; i < e->naxes; i++) {
        e->axis_side[i] = !src || (dst && rng_one_in(rng, 3));
        e->axis_extent[i] = rng_below(rng, 20);
        e->axis_start[i] = (int64_t)rng_below(rng, 16) - 8;
    }
    for (i = 0; i < d->ndims; i++) {
        unsigned axis = rng_below(rng, e->naxes);
        int32_t coef = (int32_t)rng_below(rng, 7) - 3;

        if (rng_one_in(rng, 3)) {
            continue;
        }
        if (e->axis_side[axis]) {
            e->dst_axis[i] = axis + 1;
            e->dst_coef[i] = coef;
        } else {
            e->src_axis[i] = axis + 1;
            e->src_coef[i] = coef;
        }
    }
}
