/* SPDX-License-Identifier: MIT */
/*
 * Adding: every pair of interesting numbers in every format, and sums into one
 * place, against a reference that finds the nearest number by search.
 */
#include "arena.h"
#include "dma/tdma_engine.h"

enum { BYTES = 1 << 16 };

static const uint16_t f16[] = {
    0x0000, 0x8000, 0x0001, 0x8001, 0x0002, 0x03ff, 0x83ff, 0x0400, 0x8400,
    0x0401, 0x07ff, 0x0800, 0x3c00, 0xbc00, 0x3c01, 0x3bff, 0x1400, 0x9400,
    0x1001, 0x6800, 0x7bff, 0xfbff, 0x7bfe, 0x4c00, 0x4bff, 0x5000, 0x7c00,
    0xfc00, 0x7c01, 0x7e00, 0xfe01, 0x3555, 0x2e66, 0x6bff, 0x0c00,
};

static const uint16_t bf16[] = {
    0x0000, 0x8000, 0x0001, 0x8001, 0x007f, 0x0080, 0x8080, 0x0081, 0x3f80,
    0xbf80, 0x3f81, 0x3f7f, 0x3b80, 0xbb80, 0x3b81, 0x3c00, 0x7f7f, 0xff7f,
    0x7f7e, 0x7b7f, 0x7b00, 0x7f80, 0xff80, 0x7f81, 0x7fc0, 0xffff, 0x4049,
};

static const uint32_t f32[] = {
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x00800000,
    0x3f800000, 0xbf800000, 0x33800000, 0x33800001, 0xb3800000, 0x34000000,
    0x7f7fffff, 0xff7fffff, 0x73000000, 0x72ffffff, 0x7f800000, 0xff800000,
    0x7f800001, 0x7fc00000, 0xffffffff, 0x40490fdb, 0x4b800000,
};

static const uint32_t s32[] = {
    0, 1, 0xffffffff, 0x7fffffff, 0x80000000, 0x80000001, 12345, 0xffff0000,
};

static const uint16_t s16[] = {
    0, 1, 0xffff, 0x7fff, 0x8000, 0x8001, 12345, 0xff00,
};

static void check_pair(unsigned type, const void *a, const void *b,
                       size_t bytes)
{
    uint32_t got = 0, want = 0;

    memcpy(&got, a, bytes);
    memcpy(&want, a, bytes);
    tdma_accumulate(type, &got, b, 1);
    reference_add(type, (uint8_t *)&want, b);
    if (got != want) {
        uint32_t x = 0, y = 0;

        memcpy(&x, a, bytes);
        memcpy(&y, b, bytes);
        fprintf(stderr, "# type %u: %#x + %#x = %#x, should be %#x\n", type, x,
                y, got, want);
    }
    assert_int_equal(got, want);
}

static void check_all(unsigned type, const void *numbers, size_t count,
                      size_t bytes)
{
    const uint8_t *n = numbers;
    size_t i, j;

    for (i = 0; i < count; i++) {
        for (j = 0; j < count; j++) {
            check_pair(type, n + i * bytes, n + j * bytes, bytes);
        }
    }
}

static void random_pairs(unsigned type, size_t bytes)
{
    struct rng rng = { test_env("TDMA_SEED", type) };
    unsigned i;

    for (i = 0; i < 100000; i++) {
        uint64_t pair = rng_next(&rng), near = rng_next(&rng);

        check_pair(type, (uint8_t *)&pair, (uint8_t *)&pair + bytes, bytes);
        /* Exponents close to each other round more often. */
        if (bytes == 2) {
            pair = (pair & 0xffff) | ((pair & 0x7c00) ^ (near & 0x8fff)) << 16;
            check_pair(type, (uint8_t *)&pair, (uint8_t *)&pair + 2, 2);
        }
    }
}

static void test_f16(void **state)
{
    (void)state;
    check_all(TDMA_TYPE_F16, f16, TEST_COUNT(f16), 2);
    random_pairs(TDMA_TYPE_F16, 2);
}

static void test_bf16(void **state)
{
    (void)state;
    check_all(TDMA_TYPE_BF16, bf16, TEST_COUNT(bf16), 2);
    random_pairs(TDMA_TYPE_BF16, 2);
}

static void test_f32(void **state)
{
    (void)state;
    check_all(TDMA_TYPE_F32, f32, TEST_COUNT(f32), 4);
    random_pairs(TDMA_TYPE_F32, 4);
}

static void test_integers_wrap(void **state)
{
    (void)state;
    check_all(TDMA_TYPE_S16, s16, TEST_COUNT(s16), 2);
    check_all(TDMA_TYPE_S32, s32, TEST_COUNT(s32), 4);
    random_pairs(TDMA_TYPE_S16, 2);
    random_pairs(TDMA_TYPE_S32, 4);
}

/* Every number of a 16-bit format plus zero is itself. */
static void test_zero_is_neutral(void **state)
{
    uint32_t bits;

    (void)state;
    for (bits = 0; bits < 0x10000; bits++) {
        uint16_t zero = 0, sum = bits;
        bool nan16 = (bits & 0x7fff) > 0x7c00, nanb = (bits & 0x7fff) > 0x7f80;

        tdma_accumulate(TDMA_TYPE_F16, &sum, &zero, 1);
        assert_int_equal(sum, nan16 ? 0x7e00 : bits == 0x8000 ? 0 : bits);
        sum = bits;
        tdma_accumulate(TDMA_TYPE_BF16, &sum, &zero, 1);
        assert_int_equal(sum, nanb ? 0x7fc0 : bits == 0x8000 ? 0 : bits);
    }
}

/* Into one place, in element order: rounding makes the order visible. */
static void test_reduction_order(void **state)
{
    static const struct {
        uint8_t type, bytes;
    } types[] = {
        { TDMA_TYPE_S16, 2 }, { TDMA_TYPE_S32, 4 }, { TDMA_TYPE_F16, 2 },
        { TDMA_TYPE_BF16, 2 }, { TDMA_TYPE_F32, 4 },
    };
    unsigned windows, i;

    (void)state;
    for (windows = WINDOWS_NONE; windows <= WINDOWS_SOME; windows++) {
        struct tdma_properties props = machine_properties();
        struct arena *a = arena_new(&props, windows, BYTES, 6);

        for (i = 0; i < TEST_COUNT(types); i++) {
            struct tdma_desc d = desc_copy(SEG_PAGED, SEG_HOST, types[i].bytes,
                                           50);

            d.opcode = TDMA_OP_ACCUMULATE;
            d.type = types[i].type;
            d.ndims = 2;
            d.steps[1] = 40;
            d.src_stride[1] = 50 * types[i].bytes;
            arena_run(a, &d, NULL);     /* 40 rows into one */
            d.dst_stride[0] = 0;
            arena_run(a, &d, NULL);     /* all into one */
            d.dst_stride[1] = types[i].bytes;
            arena_run(a, &d, NULL);     /* rows into 40 sums */
        }
        arena_free(a);
    }
}

/* A running sum: each element adds to the next. */
static void test_prefix_sum_in_place(void **state)
{
    struct tdma_properties props = machine_properties();
    struct arena *a = arena_new(&props, WINDOWS_ALL, BYTES, 6);
    struct tdma_desc d = desc_copy(SEG_HOST, SEG_HOST, 4, 1000);

    (void)state;
    d.opcode = TDMA_OP_ACCUMULATE;
    d.type = TDMA_TYPE_S32;
    d.dst_offset = 4;
    arena_run(a, &d, NULL);
    d.dst_offset = 2;
    arena_run(a, &d, NULL);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_f16),
        cmocka_unit_test(test_bf16),
        cmocka_unit_test(test_f32),
        cmocka_unit_test(test_integers_wrap),
        cmocka_unit_test(test_zero_is_neutral),
        cmocka_unit_test(test_reduction_order),
        cmocka_unit_test(test_prefix_sum_in_place),
    };

    return cmocka_run_group_tests_name("accumulate", tests, NULL, NULL);
}
