/* SPDX-License-Identifier: MIT */
/*
 * The descriptor check against the oracle: every bit of valid descriptors one
 * by one, the border of every field, and random extents found by trying.
 */
#include "dma/tdma_check.h"
#include "oracle.h"
#include "test.h"

static const struct tdma_check_limits all = {
    .dims = TDMA_MAX_DIMS,
    .opcodes = 0x1f,
    .types = 0x3e,
    .flags = TDMA_DESC_FLAGS,
};

static struct tdma_desc base_desc(unsigned opcode)
{
    struct tdma_desc d = {
        .version = 1,
        .opcode = opcode,
        .ndims = 2,
        .elem_bytes = 4,
        .steps = { 3, 5 },
    };
    unsigned i;

    if (opcode == TDMA_OP_NOP) {
        return (struct tdma_desc) { .version = 1 };
    }
    if (opcode == TDMA_OP_ACCUMULATE) {
        d.type = TDMA_TYPE_F32;
    }
    if (opcode == TDMA_OP_MEMSET) {
        d.type = 2;
        d.fill[0] = 1;
    } else {
        d.src_segment = 1;
        d.src_offset = 64;
    }
    if (opcode != TDMA_OP_READ) {
        d.dst_segment = 2;
        d.dst_offset = 128;
    }
    for (i = 0; i < 2; i++) {
        d.src_stride[i] = opcode == TDMA_OP_MEMSET ? 0 : 4 << i;
        d.dst_stride[i] = opcode == TDMA_OP_READ ? 0 : 8 << i;
    }
    return d;
}

static struct tdma_desc_ext base_ext(unsigned opcode)
{
    struct tdma_desc_ext e = {
        .version = 1,
        .naxes = 2,
        .axis_side = { opcode == TDMA_OP_MEMSET, opcode != TDMA_OP_READ },
        .axis_start = { -1, 2 },
        .axis_extent = { 3, 9 },
    };

    if (opcode == TDMA_OP_COPY || opcode == TDMA_OP_ACCUMULATE) {
        e.fill_bytes = 2;
    }
    if (e.axis_side[0]) {
        e.dst_axis[0] = 1;
        e.dst_coef[0] = 1;
    } else {
        e.src_axis[0] = 1;
        e.src_coef[0] = 1;
    }
    if (e.axis_side[1]) {
        e.dst_axis[1] = 2;
        e.dst_coef[1] = -2;
    }
    return e;
}

static void print_bit(const char *what, unsigned opcode, unsigned bit,
                      uint32_t status, oracle_faults faults)
{
    fprintf(stderr, "# opcode %u, %s bit %u: status %u, oracle %#llx\n",
            opcode, what, bit, status, (unsigned long long)faults);
}

/* Check and oracle agree; a refusal is one the oracle sees. */
static void agree(const struct tdma_desc *d, const struct tdma_desc_ext *e,
                  const char *what, unsigned bit, struct tdma_verdict *v)
{
    oracle_faults faults = oracle_desc(d, e, all.dims);
    struct tdma_shape shape;
    bool ok = tdma_check_desc(&all, d, e, &shape, v);
    bool good = ok ? !faults : faults >> v->status & 1;

    if (!good) {
        print_bit(what, d->opcode, bit, ok ? TDMA_STATUS_OK : v->status,
                  faults);
    }
    assert_true(good);
}

/* Names of refusals that blame exactly the field that was changed */
static bool blames_itself(uint32_t status)
{
    return status != TDMA_STATUS_BAD_STEPS && status != TDMA_STATUS_BAD_TOTAL &&
           status != TDMA_STATUS_BAD_AXIS && status != TDMA_STATUS_BAD_ELEM &&
           status != TDMA_STATUS_BAD_TYPE && status != TDMA_STATUS_OK;
}

static void test_every_bit(void **state)
{
    unsigned opcode, bit;

    (void)state;
    for (opcode = TDMA_OP_NOP; opcode <= TDMA_OP_READ; opcode++) {
        for (bit = 0; bit < 8 * sizeof(struct tdma_desc); bit++) {
            struct tdma_desc d = base_desc(opcode);
            struct tdma_verdict v;

            ((uint8_t *)&d)[bit / 8] ^= 1 << bit % 8;
            if (d.flags & TDMA_DESC_EXT) {
                continue;       /* without the block that is another test */
            }
            agree(&d, NULL, "descriptor", bit, &v);
            /* Reserved bits and unused fields: the very field is named. */
            if (v.status == TDMA_STATUS_BAD_RESERVED && bit / 8 >= 64) {
                assert_true(v.field <= bit / 8 && bit / 8 < v.field + 16U);
            }
        }
    }
}

static void test_every_bit_of_extension(void **state)
{
    unsigned opcode, bit;

    (void)state;
    for (opcode = TDMA_OP_COPY; opcode <= TDMA_OP_READ; opcode++) {
        struct tdma_desc d = base_desc(opcode);

        d.flags |= TDMA_DESC_EXT;
        for (bit = 0; bit < 8 * sizeof(struct tdma_desc_ext); bit++) {
            struct tdma_desc_ext e = base_ext(opcode);
            struct tdma_verdict v;

            ((uint8_t *)&e)[bit / 8] ^= 1 << bit % 8;
            agree(&d, &e, "extension", bit, &v);
            if (blames_itself(v.status)) {
                assert_true(v.field >= 256);
            }
        }
    }
}

/* One reserved flag after the other, and every flag an opcode does not take */
static void test_every_flag(void **state)
{
    unsigned opcode, bit;

    (void)state;
    for (opcode = TDMA_OP_NOP; opcode <= TDMA_OP_READ; opcode++) {
        for (bit = 0; bit < 32; bit++) {
            struct tdma_desc d = base_desc(opcode);
            struct tdma_desc_ext e = base_ext(opcode);
            struct tdma_verdict v;

            d.flags = 1U << bit;
            if (d.flags == TDMA_DESC_TOTAL && d.ndims) {
                d.steps[1] = 0;
            }
            d.src_sync_interval = d.flags & TDMA_DESC_SRC_PER_MILLE ? 5 : 0;
            d.dst_sync_interval = d.flags & TDMA_DESC_DST_PER_MILLE ? 5 : 0;
            agree(&d, d.flags & TDMA_DESC_EXT ? &e : NULL, "flag", bit, &v);
            if (bit >= 10) {
                assert_int_equal(v.status, TDMA_STATUS_BAD_FLAGS);
                assert_int_equal(v.field, offsetof(struct tdma_desc, flags));
            }
        }
    }
}

/* Status of a descriptor as the check sees it */
static uint32_t status_of(const struct tdma_desc *d)
{
    struct tdma_shape shape;
    struct tdma_verdict v;

    return tdma_check_desc(&all, d, NULL, &shape, &v) ? TDMA_STATUS_OK
                                                      : v.status;
}

static void test_version(void **state)
{
    struct tdma_desc d = base_desc(TDMA_OP_COPY);
    unsigned version;

    (void)state;
    for (version = 0; version < 256; version++) {
        d.version = version;
        assert_int_equal(status_of(&d), version == 1
                         ? TDMA_STATUS_OK : TDMA_STATUS_BAD_VERSION);
    }
}

static void test_unknown_opcode(void **state)
{
    struct tdma_desc d = base_desc(TDMA_OP_COPY);
    unsigned opcode;

    (void)state;
    for (opcode = 5; opcode < 256; opcode++) {
        d.opcode = opcode;
        assert_int_equal(status_of(&d), TDMA_STATUS_BAD_OPCODE);
    }
}

static void test_opcode_not_offered(void **state)
{
    struct tdma_desc d = base_desc(TDMA_OP_ACCUMULATE);
    struct tdma_check_limits some = all;
    struct tdma_shape shape;
    struct tdma_verdict v;

    (void)state;
    some.opcodes &= ~(1U << TDMA_OP_ACCUMULATE);
    assert_false(tdma_check_desc(&some, &d, NULL, &shape, &v));
    assert_int_equal(v.status, TDMA_STATUS_BAD_OPCODE);
}

static void test_ndims_border(void **state)
{
    struct tdma_check_limits some = all;
    struct tdma_shape shape;
    struct tdma_verdict v;
    unsigned dims, ndims, i;

    (void)state;
    for (dims = 1; dims <= 8; dims++) {
        for (ndims = 0; ndims <= 9; ndims++) {
            struct tdma_desc d = base_desc(TDMA_OP_COPY);
            bool ok;

            some.dims = dims;
            d.ndims = ndims;
            for (i = 0; i < 8; i++) {
                d.steps[i] = i < ndims;
                d.src_stride[i] = 0;
                d.dst_stride[i] = 0;
            }
            ok = tdma_check_desc(&some, &d, NULL, &shape, &v);
            assert_int_equal(ok, ndims <= dims);
            if (!ok) {
                assert_int_equal(v.status, TDMA_STATUS_BAD_NDIMS);
                assert_int_equal(v.field, offsetof(struct tdma_desc, ndims));
            }
        }
    }
}

static void test_element_border(void **state)
{
    static const uint32_t bad[] = { 0, 65537, UINT32_MAX };
    struct tdma_desc d = base_desc(TDMA_OP_COPY);
    unsigned i;

    (void)state;
    for (i = 0; i < TEST_COUNT(bad); i++) {
        d.elem_bytes = bad[i];
        assert_int_equal(status_of(&d), TDMA_STATUS_BAD_ELEM);
    }
    d.elem_bytes = 1;
    assert_int_equal(status_of(&d), TDMA_STATUS_OK);
    d.elem_bytes = 65536;
    assert_int_equal(status_of(&d), TDMA_STATUS_OK);
}

static void test_accumulate_types(void **state)
{
    static const unsigned bytes[] = { 0, 2, 4, 2, 2, 4 };
    struct tdma_desc d = base_desc(TDMA_OP_ACCUMULATE);
    unsigned type, elem;

    (void)state;
    for (type = 0; type < 256; type++) {
        for (elem = 1; elem <= 8; elem++) {
            bool known = type >= 1 && type <= 5;

            d.type = type;
            d.elem_bytes = elem;
            assert_int_equal(status_of(&d),
                             !known ? TDMA_STATUS_BAD_TYPE
                             : elem != bytes[type] ? TDMA_STATUS_BAD_ELEM
                                                   : TDMA_STATUS_OK);
        }
    }
}

static void test_pattern_border(void **state)
{
    struct tdma_desc d = base_desc(TDMA_OP_MEMSET);
    unsigned type;

    (void)state;
    d.elem_bytes = 720;         /* divisible by 1..6, 8..10, 12, 15, 16 */
    for (type = 0; type < 256; type++) {
        bool ok = type >= 1 && type <= 16 && 720 % type == 0;

        d.type = type;
        assert_int_equal(status_of(&d), ok ? TDMA_STATUS_OK
                                           : TDMA_STATUS_BAD_TYPE);
    }
}

static void test_pattern_tail_must_be_zero(void **state)
{
    unsigned type, i;

    (void)state;
    for (type = 1; type <= 16; type++) {
        for (i = 0; i < 16; i++) {
            struct tdma_desc d = base_desc(TDMA_OP_MEMSET);

            d.type = type;
            d.elem_bytes = type;
            memset(d.fill, 0, sizeof(d.fill));
            d.fill[i] = 1;
            assert_int_equal(status_of(&d), i < type ? TDMA_STATUS_OK
                             : TDMA_STATUS_BAD_RESERVED);
        }
    }
}

static void test_steps_product_border(void **state)
{
    struct tdma_desc d = base_desc(TDMA_OP_COPY);
    struct tdma_shape shape;
    struct tdma_verdict v;

    (void)state;
    d.ndims = 3;
    d.steps[0] = 1U << 31;
    d.steps[1] = 1U << 31;
    d.steps[2] = 2;             /* 2^63 */
    assert_true(tdma_check_desc(&all, &d, NULL, &shape, &v));
    assert_true(shape.elements == 1ULL << 63);
    d.steps[2] = 3;
    assert_false(tdma_check_desc(&all, &d, NULL, &shape, &v));
    assert_int_equal(v.status, TDMA_STATUS_BAD_STEPS);
    assert_int_equal(v.field, offsetof(struct tdma_desc, steps[2]));
    assert_int_equal(v.dim, 2);
    d.steps[0] = UINT32_MAX;    /* just below: (2^32 - 1) (2^31 - 1) 1 */
    d.steps[1] = INT32_MAX;
    d.steps[2] = 1;
    assert_true(tdma_check_desc(&all, &d, NULL, &shape, &v));
    d.steps[1] = UINT32_MAX;    /* above, and 64 bits would still do */
    d.steps[2] = 0;
    assert_true(tdma_check_desc(&all, &d, NULL, &shape, &v));
    assert_true(shape.elements == 0);
    d.steps[2] = 1;
    assert_int_equal(status_of(&d), TDMA_STATUS_BAD_STEPS);
    d.ndims = 8;
    for (int i = 0; i < 8; i++) {
        d.steps[i] = UINT32_MAX;
    }
    assert_int_equal(status_of(&d), TDMA_STATUS_BAD_STEPS);
}

static void test_total_border(void **state)
{
    struct tdma_desc d = base_desc(TDMA_OP_COPY);
    struct tdma_shape shape;
    struct tdma_verdict v;

    (void)state;
    d.flags = TDMA_DESC_TOTAL;
    d.steps[1] = 0;
    d.total = 3ULL * INT32_MAX;
    assert_true(tdma_check_desc(&all, &d, NULL, &shape, &v));
    assert_int_equal(shape.steps[1], INT32_MAX);
    d.total++;
    assert_int_equal(status_of(&d), TDMA_STATUS_BAD_TOTAL);
    d.steps[0] = 0;             /* an inner zero: nothing can be reached */
    d.total = 0;
    assert_int_equal(status_of(&d), TDMA_STATUS_OK);
    d.total = 1;
    assert_int_equal(status_of(&d), TDMA_STATUS_BAD_TOTAL);
    d.ndims = 3;                /* 2^62 inner elements */
    d.steps[0] = 1U << 31;
    d.steps[1] = 1U << 31;
    d.total = 1ULL << 63;
    assert_int_equal(status_of(&d), TDMA_STATUS_OK);
    d.total++;
    assert_int_equal(status_of(&d), TDMA_STATUS_BAD_TOTAL);
    d = base_desc(TDMA_OP_COPY);
    d.flags = TDMA_DESC_TOTAL;  /* the implied count must be left open */
    assert_int_equal(status_of(&d), TDMA_STATUS_BAD_RESERVED);
    d.ndims = 0;
    memset(d.steps, 0, sizeof(d.steps));
    memset(d.src_stride, 0, sizeof(d.src_stride));
    memset(d.dst_stride, 0, sizeof(d.dst_stride));
    d.total = 1;
    assert_int_equal(status_of(&d), TDMA_STATUS_OK);
    d.total = 2;
    assert_int_equal(status_of(&d), TDMA_STATUS_BAD_TOTAL);
}

static void test_sync_border(void **state)
{
    struct tdma_desc d = base_desc(TDMA_OP_COPY);
    unsigned per_mille;

    (void)state;
    d.flags = TDMA_DESC_DST_PER_MILLE;
    for (per_mille = 0; per_mille <= 1001; per_mille++) {
        d.dst_sync_interval = per_mille;
        assert_int_equal(status_of(&d),
                         per_mille >= 1 && per_mille <= 1000
                         ? TDMA_STATUS_OK : TDMA_STATUS_BAD_SYNC);
    }
    d.flags = 0;
    d.dst_sync_interval = UINT32_MAX;
    assert_int_equal(status_of(&d), TDMA_STATUS_OK);
}

static void test_record_alignment(void **state)
{
    struct tdma_desc d = base_desc(TDMA_OP_COPY);
    unsigned at;

    (void)state;
    d.flags = TDMA_DESC_RECORD;
    for (at = 0; at <= 129; at++) {
        d.record_offset = at;
        assert_int_equal(status_of(&d), at % 64 ? TDMA_STATUS_BAD_ALIGN
                                                : TDMA_STATUS_OK);
    }
}

static void test_record_segment(void **state)
{
    struct tdma_desc d = base_desc(TDMA_OP_COPY);
    struct tdma_segment seg = {
        .space = TDMA_SPACE_HOST, .flags = TDMA_SEG_WRITE, .length = 127,
    };
    struct tdma_verdict v;

    (void)state;
    d.flags = TDMA_DESC_RECORD;
    d.record_offset = 64;
    assert_false(tdma_check_record(&d, &seg, &v));
    assert_int_equal(v.status, TDMA_STATUS_BAD_EXTENT);
    assert_int_equal(v.side, TDMA_SIDE_RECORD);
    seg.length = 128;
    assert_true(tdma_check_record(&d, &seg, &v));
    d.record_offset = UINT64_MAX - 63;
    assert_false(tdma_check_record(&d, &seg, &v));
    assert_int_equal(v.status, TDMA_STATUS_BAD_EXTENT);
    d.record_offset = 64;
    seg.flags = TDMA_SEG_READ;
    assert_false(tdma_check_record(&d, &seg, &v));
    assert_int_equal(v.status, TDMA_STATUS_BAD_ACCESS);
    assert_false(tdma_check_record(&d, NULL, &v));
    assert_int_equal(v.status, TDMA_STATUS_BAD_SEGMENT);
}

static void test_axis_borders(void **state)
{
    struct tdma_desc d = base_desc(TDMA_OP_COPY);
    struct tdma_desc_ext e;
    struct tdma_verdict v;
    int n;

    (void)state;
    d.flags = TDMA_DESC_EXT;
    for (n = 0; n <= 9; n++) {
        e = base_ext(TDMA_OP_COPY);
        e.naxes = n;
        agree(&d, &e, "naxes", n, &v);
    }
    e = base_ext(TDMA_OP_COPY);
    e.axis_extent[0] = INT64_MAX;
    agree(&d, &e, "extent", 0, &v);
    assert_int_equal(v.status, TDMA_STATUS_OK);
    e.axis_extent[0]++;
    agree(&d, &e, "extent", 1, &v);
    assert_int_equal(v.status, TDMA_STATUS_BAD_AXIS);
    e.axis_extent[0] = 0;
    agree(&d, &e, "extent", 2, &v);
    assert_int_equal(v.status, TDMA_STATUS_OK);
    e.axis_start[0] = INT64_MAX - 2;
    agree(&d, &e, "start", 0, &v);
    assert_int_equal(v.status, TDMA_STATUS_OK);
    e.axis_start[0]++;
    agree(&d, &e, "start", 1, &v);
    assert_int_equal(v.status, TDMA_STATUS_BAD_AXIS);
    e.axis_start[1] = INT64_MIN + 8;
    e.axis_start[0] = 0;
    agree(&d, &e, "start", 2, &v);
    assert_int_equal(v.status, TDMA_STATUS_OK);
    e.axis_start[1]--;
    agree(&d, &e, "start", 3, &v);
    assert_int_equal(v.status, TDMA_STATUS_BAD_AXIS);
    for (n = 0; n <= 17; n++) {
        e = base_ext(TDMA_OP_COPY);
        e.fill_bytes = n;
        agree(&d, &e, "fill", n, &v);
    }
}

static void random_walk(struct rng *rng, struct tdma_desc *d,
                        struct tdma_desc_ext *e)
{
    uint64_t room = 2000;
    unsigned i;

    *d = (struct tdma_desc) {
        .version = 1,
        .opcode = TDMA_OP_COPY,
        .ndims = rng_below(rng, 9),
        .elem_bytes = 1,
        .src_offset = rng_below(rng, 1000) - 300,
    };
    *e = (struct tdma_desc_ext) {
        .version = 1, .fill_bytes = 1, .naxes = 1 + rng_below(rng, 3),
    };
    for (i = 0; i < e->naxes; i++) {
        e->axis_start[i] = (int64_t)rng_below(rng, 30) - 15;
        e->axis_extent[i] = rng_below(rng, 25);
    }
    for (i = 0; i < d->ndims; i++) {
        d->steps[i] = 1 + rng_below(rng, room < 14 ? room : 14);
        room /= d->steps[i];
        d->src_stride[i] = (int64_t)rng_below(rng, 101) - 50;
        if (rng_one_in(rng, 2)) {
            e->src_axis[i] = 1 + rng_below(rng, e->naxes);
            e->src_coef[i] = (int32_t)rng_below(rng, 9) - 4;
        }
        /* Often the offset follows the coordinate, as in real padding. */
        if (rng_one_in(rng, 2)) {
            d->src_stride[i] = e->src_coef[i] * 10;
        }
    }
    if (d->ndims && rng_one_in(rng, 3)) {
        uint64_t all_of = 1;

        for (i = 0; i < d->ndims; i++) {
            all_of *= d->steps[i];
        }
        d->flags |= TDMA_DESC_TOTAL;
        d->total = rng_below(rng, all_of + 1);
        d->steps[d->ndims - 1] = 0;
    }
}

static void print_walk(const struct tdma_desc *d, const struct tdma_desc_ext *e)
{
    unsigned i;

    fprintf(stderr, "# offset %llu total %llu flags %#x\n",
            (unsigned long long)d->src_offset, (unsigned long long)d->total,
            d->flags);
    for (i = 0; i < d->ndims; i++) {
        fprintf(stderr, "#  %u x %lld, axis %u coef %d\n", d->steps[i],
                (long long)d->src_stride[i], e->src_axis[i], e->src_coef[i]);
    }
    for (i = 0; i < e->naxes; i++) {
        fprintf(stderr, "#  axis from %lld, %llu\n",
                (long long)e->axis_start[i],
                (unsigned long long)e->axis_extent[i]);
    }
}

/* Exact in both directions: neither a byte too many nor too few */
static void test_random_extents(void **state)
{
    uint64_t seed = test_env("TDMA_SEED", 7), jobs, i;
    struct rng rng = { seed };

    (void)state;
    jobs = 20 * test_env("TDMA_JOBS", 1000);
    printf("# TDMA_SEED=%llu\n", (unsigned long long)seed);
    for (i = 0; i < jobs; i++) {
        bool with_axes = rng_one_in(&rng, 2), any, want;
        __int128 min = 0, max = 0, want_min = 0, want_max = 0;
        struct tdma_desc d;
        struct tdma_desc_ext e;
        struct tdma_shape shape;
        struct tdma_verdict v;
        struct tdma_walk walk;

        random_walk(&rng, &d, &e);
        d.flags |= with_axes ? TDMA_DESC_EXT : 0;
        d.src_offset += with_axes ? 0 : 300;
        assert_true(tdma_check_desc(&all, &d, with_axes ? &e : NULL, &shape,
                                    &v));
        tdma_walk_init(&walk, &d, with_axes ? &e : NULL, 0);
        any = shape.elements && tdma_walk_range(&walk, &shape, &min, &max);
        want = oracle_range(&d, with_axes ? &e : NULL, 0, &want_min,
                            &want_max);
        if (any != want || min != want_min || max != want_max) {
            print_walk(&d, &e);
        }
        assert_int_equal(any, want);
        assert_true(min == want_min && max == want_max);
    }
}

/* Too many combinations to try, but evenly spaced: still exact */
static void test_large_padded_extent(void **state)
{
    struct tdma_desc d = base_desc(TDMA_OP_COPY);
    struct tdma_desc_ext e = {
        .version = 1, .naxes = 1, .fill_bytes = 1,
        .axis_start = { -5 }, .axis_extent = { 999984 },
    };
    struct tdma_segment seg = {
        .space = TDMA_SPACE_HOST, .flags = TDMA_SEG_READ,
        .length = 999984 * 4,
    };
    struct tdma_shape shape;
    struct tdma_verdict v;
    uint64_t lo, hi;

    (void)state;
    d.flags = TDMA_DESC_EXT;
    d.ndims = 3;
    d.steps[0] = 100;
    d.steps[1] = 100;
    d.steps[2] = 100;
    d.src_offset = (uint64_t)(-5 * 4);
    for (int i = 0; i < 3; i++) {
        static const int32_t coef[] = { 1, 100, 10000 };

        e.src_axis[i] = 1;
        e.src_coef[i] = coef[i];
        d.src_stride[i] = 4 * coef[i];
        d.dst_stride[i] = 0;
    }
    assert_true(tdma_check_desc(&all, &d, &e, &shape, &v));
    /* Coordinates -5..999994, of which 0..999983 are inside */
    assert_true(tdma_check_side(&d, &e, &shape, 0, &seg, &lo, &hi, &v));
    assert_int_equal(lo, 0);
    assert_int_equal(hi, 999984 * 4);
    seg.length--;
    assert_false(tdma_check_side(&d, &e, &shape, 0, &seg, &lo, &hi, &v));
    assert_int_equal(v.status, TDMA_STATUS_BAD_EXTENT);
}

/* Three dimensions on one axis, too many combinations to try */
static void random_crowd(struct rng *rng, bool equal, struct tdma_desc *d,
                         struct tdma_desc_ext *e)
{
    int32_t step = 1 + rng_below(rng, 3);

    *d = (struct tdma_desc) {
        .version = 1, .opcode = TDMA_OP_COPY, .flags = TDMA_DESC_EXT,
        .ndims = 3, .elem_bytes = 1,
    };
    *e = (struct tdma_desc_ext) {
        .version = 1, .fill_bytes = 1, .naxes = 1,
        .axis_start = { (int64_t)rng_below(rng, 200) - 150 },
        .axis_extent = { 1 + rng_below(rng, 100) },
    };
    for (unsigned i = 0; i < 3; i++) {
        int32_t other = 1 + (int32_t)rng_below(rng, 6);

        d->steps[i] = 65 + rng_below(rng, 5);
        d->src_stride[i] = (int64_t)rng_below(rng, 2001) - 1000;
        e->src_axis[i] = 1;
        e->src_coef[i] = rng_one_in(rng, 2) ? 1 : -1;
        e->src_coef[i] *= equal ? step : other;
    }
}

/*
 * Where strides are not proportional: never too few bytes, and exact if the
 * coefficients are equal.
 */
static void test_crowded_axis(void **state)
{
    uint64_t seed = test_env("TDMA_SEED", 11), i, exact = 0;
    struct rng rng = { seed };

    (void)state;
    printf("# TDMA_SEED=%llu\n", (unsigned long long)seed);
    for (i = 0; i < 60; i++) {
        __int128 min = 0, max = 0, want_min = 0, want_max = 0;
        struct tdma_shape shape;
        struct tdma_verdict v;
        struct tdma_walk walk;
        struct tdma_desc_ext e;
        struct tdma_desc d;
        bool equal = i % 2, any, want;

        random_crowd(&rng, equal, &d, &e);
        assert_true(tdma_check_desc(&all, &d, &e, &shape, &v));
        tdma_walk_init(&walk, &d, &e, 0);
        any = tdma_walk_range(&walk, &shape, &min, &max);
        want = oracle_range(&d, &e, 0, &want_min, &want_max);
        assert_true(any || !want);
        if (!want) {
            continue;
        }
        exact += min == want_min && max == want_max;
        if (min > want_min || max < want_max ||
            (equal && (min != want_min || max != want_max))) {
            print_walk(&d, &e);
        }
        assert_true(min <= want_min && max >= want_max);
        assert_true(!equal || (min == want_min && max == want_max));
    }
    printf("# %llu of %llu exact\n", (unsigned long long)exact,
           (unsigned long long)i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_bit),
        cmocka_unit_test(test_every_bit_of_extension),
        cmocka_unit_test(test_every_flag),
        cmocka_unit_test(test_version),
        cmocka_unit_test(test_unknown_opcode),
        cmocka_unit_test(test_opcode_not_offered),
        cmocka_unit_test(test_ndims_border),
        cmocka_unit_test(test_element_border),
        cmocka_unit_test(test_accumulate_types),
        cmocka_unit_test(test_pattern_border),
        cmocka_unit_test(test_pattern_tail_must_be_zero),
        cmocka_unit_test(test_steps_product_border),
        cmocka_unit_test(test_total_border),
        cmocka_unit_test(test_sync_border),
        cmocka_unit_test(test_record_alignment),
        cmocka_unit_test(test_record_segment),
        cmocka_unit_test(test_axis_borders),
        cmocka_unit_test(test_random_extents),
        cmocka_unit_test(test_large_padded_extent),
        cmocka_unit_test(test_crowded_axis),
    };

    return cmocka_run_group_tests_name("check", tests, NULL, NULL);
}
