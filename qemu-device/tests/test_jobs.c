/* SPDX-License-Identifier: MIT */
/*
 * Single descriptors: the shapes that are easy to get wrong, each compared
 * with the reference in every kind of memory, whichever way it is reached.
 */
#include "arena.h"

enum { BYTES = 1 << 15 };

/* Kinds of source and destination, and ways to reach memory, of one run */
static const unsigned segments[] = {
    SEG_HOST, SEG_PAGED, SEG_PAGED2, SEG_HBM,
};

static struct arena *make_arena(enum machine_windows windows, bool small)
{
    struct tdma_properties props = machine_properties();

    if (small) {
        props.quantum_bytes = 4096;
        props.quantum_steps = 64;
    }
    return arena_new(&props, windows, BYTES, windows + 1);
}

/* One machine per way to reach memory, used by many tests */
static struct arena *shared[WINDOWS_SOME + 1];

static int make_shared(void **state)
{
    unsigned windows;

    (void)state;
    for (windows = WINDOWS_NONE; windows <= WINDOWS_SOME; windows++) {
        shared[windows] = make_arena(windows, windows & 1);
    }
    return 0;
}

static int free_shared(void **state)
{
    unsigned windows;

    (void)state;
    for (windows = WINDOWS_NONE; windows <= WINDOWS_SOME; windows++) {
        arena_free(shared[windows]);
    }
    return 0;
}

/* The descriptor as it is, from every kind of segment to every kind */
static void everywhere(const struct tdma_desc *desc,
                       const struct tdma_desc_ext *ext)
{
    unsigned windows, s, d;

    for (windows = WINDOWS_NONE; windows <= WINDOWS_SOME; windows++) {
        struct arena *a = shared[windows];

        for (s = 0; s < TEST_COUNT(segments); s++) {
            for (d = 0; d < TEST_COUNT(segments); d++) {
                struct tdma_desc job = *desc;
                bool both = desc->opcode == TDMA_OP_COPY ||
                            desc->opcode == TDMA_OP_ACCUMULATE;

                if (desc->opcode != TDMA_OP_MEMSET) {
                    job.src_segment = segments[s];
                }
                if (desc->opcode != TDMA_OP_READ) {
                    job.dst_segment = segments[d];
                }
                if (both && s == d) {
                    job.dst_segment = segments[s] == SEG_HBM ? SEG_HBM2
                                                             : SEG_HOST2;
                }
                arena_run(a, &job, ext);
            }
        }
    }
}

static void test_contiguous(void **state)
{
    struct tdma_desc d = desc_copy(1, 2, 1, BYTES);

    (void)state;
    everywhere(&d, NULL);
}

static void test_zero_in_any_step(void **state)
{
    struct arena *a = make_arena(WINDOWS_ALL, false);
    struct tdma_desc d = desc_copy(SEG_HOST, SEG_HOST2, 4, 3), next;
    struct tdma_record r;
    unsigned i;

    (void)state;
    d.ndims = 8;
    for (i = 1; i < 8; i++) {
        d.steps[i] = 2;
        /* Far outside: an empty tensor touches nothing. */
        d.src_stride[i] = INT64_MAX;
        d.dst_stride[i] = INT64_MIN;
    }
    for (i = 0; i < 8; i++) {
        uint32_t was = d.steps[i];

        d.steps[i] = 0;
        r = arena_run(a, &d, NULL);
        assert_int_equal(r.cycles, 0);
        next = desc_copy(SEG_HOST, SEG_HOST2, 4, 3);
        arena_run(a, &next, NULL);
        d.steps[i] = was;
    }
    arena_free(a);
}

/* A zero wins over a product that would be too large. */
static void test_zero_beside_huge_steps(void **state)
{
    struct arena *a = make_arena(WINDOWS_ALL, false);
    struct tdma_desc d = desc_copy(SEG_HOST, SEG_HOST2, 4, 0xffffffff);
    unsigned i;

    (void)state;
    d.ndims = 8;
    for (i = 1; i < 7; i++) {
        d.steps[i] = 0xffffffff;
    }
    arena_run(a, &d, NULL);
    arena_free(a);
}

static void test_all_ones(void **state)
{
    struct tdma_desc d = desc_copy(1, 2, 4, 1);
    unsigned i;

    (void)state;
    d.ndims = 8;
    for (i = 0; i < 8; i++) {
        d.steps[i] = 1;
    }
    everywhere(&d, NULL);
}

static void test_no_dimensions(void **state)
{
    struct tdma_desc d = desc_copy(1, 2, 16, 0);

    (void)state;
    d.ndims = 0;
    d.src_stride[0] = 0;
    d.dst_stride[0] = 0;
    everywhere(&d, NULL);
}

static void test_size_one_absurd_stride(void **state)
{
    struct tdma_desc d = desc_copy(1, 2, 4, 7);

    (void)state;
    d.ndims = 3;
    d.steps[1] = 1;
    d.src_stride[1] = INT64_MAX;
    d.dst_stride[1] = INT64_MIN;
    d.steps[2] = 5;
    d.src_stride[2] = 28;
    d.dst_stride[2] = 28;
    everywhere(&d, NULL);
}

static void test_stride_zero_source(void **state)
{
    struct tdma_desc d = desc_copy(1, 2, 4, 9);

    (void)state;
    d.ndims = 3;
    d.steps[1] = 5;
    d.steps[2] = 3;
    d.src_stride[0] = 0;
    d.src_stride[1] = 4;
    d.dst_stride[1] = 36;
    d.dst_stride[2] = 180;
    everywhere(&d, NULL);
}

/* The last element that goes to a place stays there. */
static void test_stride_zero_destination(void **state)
{
    struct tdma_desc d = desc_copy(1, 2, 4, 9);

    (void)state;
    d.ndims = 2;
    d.steps[1] = 5;
    d.src_stride[1] = 36;
    d.dst_stride[0] = 0;
    d.dst_stride[1] = 4;
    everywhere(&d, NULL);
    d.dst_stride[0] = 4;
    d.dst_stride[1] = 0;
    everywhere(&d, NULL);
}

/* Destination elements that overlap each other in part */
static void test_destination_overlaps_itself(void **state)
{
    struct tdma_desc d = desc_copy(1, 2, 8, 40);

    (void)state;
    d.dst_stride[0] = 3;
    everywhere(&d, NULL);
    d.ndims = 2;
    d.steps[1] = 4;
    d.src_stride[1] = 400;
    d.dst_stride[0] = 8;
    d.dst_stride[1] = 100;
    everywhere(&d, NULL);
    d.dst_offset = 500;
    d.dst_stride[0] = -5;
    everywhere(&d, NULL);
}

static void test_negative_strides(void **state)
{
    struct tdma_desc d = desc_copy(1, 2, 4, 16);

    (void)state;
    d.src_offset = 60;
    d.src_stride[0] = -4;
    everywhere(&d, NULL);
    d.ndims = 3;
    d.steps[1] = 10;
    d.src_stride[1] = 64;
    d.dst_offset = 64 * 9 + 640 * 4;
    d.dst_stride[1] = -64;
    d.steps[2] = 5;
    d.src_stride[2] = 640;
    d.dst_stride[2] = -640;
    everywhere(&d, NULL);
}

static void test_stride_no_multiple_of_element(void **state)
{
    struct tdma_desc d = desc_copy(1, 2, 4, 100);

    (void)state;
    d.src_offset = 1;
    d.src_stride[0] = 7;
    d.dst_offset = 3;
    d.dst_stride[0] = 13;
    everywhere(&d, NULL);
}

static void element_size(uint32_t bytes)
{
    uint32_t n = BYTES / bytes / 4;
    struct tdma_desc d = desc_copy(1, 2, bytes, n ? n : 1);

    everywhere(&d, NULL);
    d = desc_copy(1, 2, bytes, bytes >= 4096 ? 2 : 6);
    d.ndims = 2;
    d.steps[1] = bytes >= 4096 ? 3 : 5;
    d.src_stride[0] = (int64_t)bytes * 2;
    d.src_stride[1] = bytes;
    d.dst_stride[1] = (int64_t)bytes * d.steps[0];
    everywhere(&d, NULL);
}

#define ELEMENT_SIZE_TEST(bytes)                                            \
    static void test_element_##bytes(void **state)                          \
    {                                                                       \
        (void)state;                                                        \
        element_size(bytes);                                                \
    }

ELEMENT_SIZE_TEST(1)
ELEMENT_SIZE_TEST(2)
ELEMENT_SIZE_TEST(3)
ELEMENT_SIZE_TEST(4)
ELEMENT_SIZE_TEST(8)
ELEMENT_SIZE_TEST(16)
ELEMENT_SIZE_TEST(512)
ELEMENT_SIZE_TEST(4096)

static void test_element_largest(void **state)
{
    struct tdma_properties props = machine_properties();
    unsigned windows;

    (void)state;
    props.quantum_bytes = 4096; /* less than an element */
    for (windows = WINDOWS_NONE; windows <= WINDOWS_SOME; windows++) {
        struct arena *a = arena_new(&props, windows,
                                    2 * TDMA_MAX_ELEM_BYTES + 2, 1);
        struct tdma_desc d = desc_copy(SEG_PAGED, SEG_HOST,
                                       TDMA_MAX_ELEM_BYTES, 2);

        arena_run(a, &d, NULL);
        d.src_segment = SEG_HBM;
        d.dst_segment = SEG_PAGED2;
        d.dst_stride[0]++;
        arena_run(a, &d, NULL);
        d = desc_memset(SEG_PAGED, TDMA_MAX_ELEM_BYTES, 2, 0x5a);
        d.type = 16;
        arena_run(a, &d, NULL);
        arena_free(a);
    }
}

/* Reversal of all eight dimensions */
static void test_eight_dimensions(void **state)
{
    static const uint32_t steps[8] = { 3, 2, 4, 2, 3, 2, 3, 2 };
    struct tdma_desc d = desc_copy(1, 2, 4, 0);
    int64_t in = 4, out = 4;
    unsigned i;

    (void)state;
    d.ndims = 8;
    for (i = 0; i < 8; i++) {
        d.steps[i] = steps[i];
        d.src_stride[i] = in;
        in *= steps[i];
        d.dst_stride[7 - i] = out;
        out *= steps[7 - i];
    }
    everywhere(&d, NULL);
}

static void test_transpose(void **state)
{
    static const uint32_t sizes[] = { 1, 2, 3, 4, 8, 16 };
    unsigned i;

    (void)state;
    for (i = 0; i < TEST_COUNT(sizes); i++) {
        struct tdma_desc d = desc_copy(1, 2, sizes[i], 41);

        d.ndims = 2;
        d.steps[1] = 39;
        d.src_stride[0] = 39 * sizes[i];
        d.src_stride[1] = sizes[i];
        d.dst_stride[1] = 41 * sizes[i];
        everywhere(&d, NULL);
    }
}

/* Planes, apart or interleaved, of lengths around those that go at once */
static void test_planes(void **state)
{
    struct tdma_properties props = machine_properties();
    struct arena *a = arena_new(&props, WINDOWS_ALL, 1 << 16, 1);
    unsigned size, planes, length;

    (void)state;
    for (size = 1; size <= 16; size *= 2) {
        for (planes = 2; planes <= 5; planes++) {
            for (length = 1020 / size; length <= 1041 / size; length++) {
                struct tdma_desc d = desc_copy(SEG_HOST, SEG_HBM, size, length);
                struct tdma_desc back;

                d.ndims = 3;    /* along planes, planes, many of both */
                d.steps[1] = planes;
                d.steps[2] = 3;
                d.src_stride[0] = planes * size;
                d.src_stride[1] = size;
                d.src_stride[2] = planes * length * size;
                d.dst_stride[1] = length * size + 3;
                d.dst_stride[2] = d.dst_stride[1] * planes;
                arena_run(a, &d, NULL);
                back = d;
                memcpy(back.src_stride, d.dst_stride, sizeof(d.src_stride));
                memcpy(back.dst_stride, d.src_stride, sizeof(d.src_stride));
                arena_run(a, &back, NULL);
                /* the same with the planes innermost */
                back.steps[0] = planes;
                back.steps[1] = length;
                back.src_stride[0] = d.dst_stride[1];
                back.src_stride[1] = size;
                back.dst_stride[0] = size;
                back.dst_stride[1] = planes * size;
                arena_run(a, &back, NULL);
            }
        }
    }
    arena_free(a);
}

/* Rows of a dimension longer than any buffer, over pages and back */
static void test_large_transpose(void **state)
{
    static const unsigned pairs[][2] = {
        { SEG_PAGED, SEG_PAGED2 }, { SEG_PAGED, SEG_HBM },
        { SEG_HBM, SEG_PAGED2 },
    };
    struct tdma_properties props = machine_properties();
    unsigned windows, i;

    (void)state;
    for (windows = WINDOWS_NONE; windows <= WINDOWS_SOME; windows++) {
        struct arena *a = arena_new(&props, windows, 1 << 18, 1);

        for (i = 0; i < TEST_COUNT(pairs); i++) {
            struct tdma_desc d = desc_copy(pairs[i][0], pairs[i][1], 2, 16);

            d.ndims = 3;        /* channels, places, blocks of channels */
            d.steps[1] = 2500;
            d.steps[2] = 3;
            d.src_stride[0] = 5000;
            d.src_stride[1] = 2;
            d.src_stride[2] = 80000;
            d.dst_stride[1] = 32;
            d.dst_stride[2] = 80000;
            arena_run(a, &d, NULL);
            d = desc_copy(pairs[i][0], pairs[i][1], 1, 80000);
            d.ndims = 2;        /* colours apart, upside down */
            d.steps[1] = 3;
            d.src_stride[0] = 3;
            d.src_stride[1] = 1;
            d.dst_offset = 79999;
            d.dst_stride[0] = -1;
            d.dst_stride[1] = 80000;
            arena_run(a, &d, NULL);
        }
        arena_free(a);
    }
}

/* Extents that end exactly with the segment, and one byte later */
static void test_extent_ends_on_segment(void **state)
{
    struct arena *a = make_arena(WINDOWS_ALL, false);
    struct tdma_desc d = desc_copy(SEG_HOST, SEG_PAGED, 4, 100);
    struct tdma_record r;

    (void)state;
    d.src_offset = BYTES - 400;
    d.dst_offset = BYTES - 400;
    arena_run(a, &d, NULL);
    d.src_offset++;
    r = arena_refuse(a, &d, NULL, TDMA_STATUS_BAD_EXTENT);
    assert_int_equal(r.fault_side, TDMA_SIDE_SRC);
    assert_int_equal(r.fault_dim, 0);
    assert_int_equal(r.fault_field, offsetof(struct tdma_desc, src_stride));
    assert_int_equal(r.fault_offset, BYTES - 3);
    d.src_offset--;
    d.dst_offset++;
    r = arena_refuse(a, &d, NULL, TDMA_STATUS_BAD_EXTENT);
    assert_int_equal(r.fault_side, TDMA_SIDE_DST);
    assert_int_equal(r.fault_field, offsetof(struct tdma_desc, dst_stride));
    arena_free(a);
}

static void test_extent_below_segment(void **state)
{
    struct arena *a = make_arena(WINDOWS_ALL, false);
    struct tdma_desc d = desc_copy(SEG_HOST, SEG_PAGED, 4, 100);
    struct tdma_record r;

    (void)state;
    d.src_offset = 99 * 4;
    d.src_stride[0] = -4;
    arena_run(a, &d, NULL);
    d.src_offset--;
    r = arena_refuse(a, &d, NULL, TDMA_STATUS_BAD_EXTENT);
    assert_int_equal(r.fault_offset, UINT64_MAX);
    arena_free(a);
}

static void test_extent_far_past_segment(void **state)
{
    struct arena *a = make_arena(WINDOWS_ALL, false);
    struct tdma_desc d = desc_copy(SEG_HOST, SEG_HOST2, 4, 3);
    struct tdma_record r;

    (void)state;
    d.ndims = 2;
    d.steps[1] = 2;
    d.dst_stride[1] = INT64_MAX;
    r = arena_refuse(a, &d, NULL, TDMA_STATUS_BAD_EXTENT);
    assert_int_equal(r.fault_dim, 1);
    d.dst_stride[1] = INT64_MIN;
    arena_refuse(a, &d, NULL, TDMA_STATUS_BAD_EXTENT);
    /* Sums that come back to 0 modulo 2^64 */
    d.steps[1] = 3;
    arena_refuse(a, &d, NULL, TDMA_STATUS_BAD_EXTENT);
    d.dst_stride[1] = 0;
    d.dst_offset = 1ULL << 63;
    r = arena_refuse(a, &d, NULL, TDMA_STATUS_BAD_EXTENT);
    assert_int_equal(r.fault_field, offsetof(struct tdma_desc, dst_offset));
    assert_int_equal(r.fault_dim, TDMA_DIM_NONE);
    d.dst_offset = UINT64_MAX;
    arena_refuse(a, &d, NULL, TDMA_STATUS_BAD_EXTENT);
    arena_free(a);
}

/* Source and destination in one buffer, at every small distance */
static void test_same_buffer(void **state)
{
    static const uint32_t sizes[] = { 1, 2, 4, 8, 24 };
    unsigned windows, s, i;
    int shift;

    (void)state;
    for (windows = WINDOWS_NONE; windows <= WINDOWS_SOME; windows++) {
        struct arena *a = shared[windows];

        for (s = 0; s < TEST_COUNT(segments); s++) {
            for (i = 0; i < TEST_COUNT(sizes); i++) {
                for (shift = -9; shift <= 9; shift++) {
                    struct tdma_desc d = desc_copy(segments[s], segments[s],
                                                   sizes[i], 300);

                    d.src_offset = 4000;
                    d.dst_offset = 4000 + shift;
                    arena_run(a, &d, NULL);
                }
            }
        }
    }
}

/* An in-place transpose, and one that is only next to its source */
static void test_same_buffer_transpose(void **state)
{
    struct arena *a = make_arena(WINDOWS_ALL, false);
    struct tdma_desc d = desc_copy(SEG_HOST, SEG_HOST, 2, 20);

    (void)state;
    d.ndims = 2;
    d.steps[1] = 20;
    d.src_stride[1] = 40;
    d.dst_stride[0] = 40;
    d.dst_stride[1] = 2;
    arena_run(a, &d, NULL);
    d.dst_offset = 800;
    arena_run(a, &d, NULL);
    arena_free(a);
}

static void test_memset(void **state)
{
    unsigned type;

    (void)state;
    for (type = 1; type <= TDMA_MAX_FILL_BYTES; type++) {
        struct tdma_desc d = desc_memset(1, type * 3, 50, 0);
        unsigned i;

        d.type = type;
        for (i = 0; i < type; i++) {
            d.fill[i] = 0x80 + i;
        }
        everywhere(&d, NULL);
        d.dst_stride[0] = type * 3 + 5;
        d.dst_offset = 7;
        everywhere(&d, NULL);
    }
}

static void test_memset_large(void **state)
{
    struct tdma_desc d = desc_memset(1, 1, BYTES, 0x5a);

    (void)state;
    everywhere(&d, NULL);
}

static void test_read(void **state)
{
    struct tdma_desc d = desc_copy(1, 0, 4, 1000);

    (void)state;
    d.opcode = TDMA_OP_READ;
    d.dst_stride[0] = 0;
    everywhere(&d, NULL);
    d.src_stride[0] = 12;
    everywhere(&d, NULL);
}

static void test_nop(void **state)
{
    struct arena *a = make_arena(WINDOWS_ALL, false);
    struct tdma_desc d = desc_nop();

    (void)state;
    d.tag = 0x1122334455667788;
    d.flags = TDMA_DESC_IRQ | TDMA_DESC_FENCE;
    arena_run(a, &d, NULL);
    assert_int_equal(a->m->irqs[0], 1);
    arena_free(a);
}

/* The count, not the loop bounds, says where it ends (A5). */
static void test_total(void **state)
{
    struct tdma_desc d = desc_copy(1, 2, 4, 7);
    uint64_t total;

    (void)state;
    d.flags = TDMA_DESC_TOTAL;
    d.ndims = 2;
    d.src_stride[1] = 40;
    d.dst_stride[1] = 28;
    for (total = 0; total < 30; total += total < 16 ? 1 : 5) {
        d.total = total;
        everywhere(&d, NULL);
    }
}

/* The prefix ends exactly with the segment; the last row would not. */
static void test_total_extent_is_exact(void **state)
{
    struct arena *a = make_arena(WINDOWS_ALL, false);
    struct tdma_desc d = desc_copy(SEG_HOST, SEG_HOST2, 4, 8);
    struct tdma_record r;

    (void)state;
    d.flags = TDMA_DESC_TOTAL;
    d.ndims = 2;
    d.steps[1] = 0;
    d.src_stride[1] = 32;
    d.dst_stride[1] = 32;
    d.total = 19;
    d.src_offset = BYTES - 19 * 4;
    arena_run(a, &d, NULL);
    d.total = 20;
    r = arena_refuse(a, &d, NULL, TDMA_STATUS_BAD_EXTENT);
    assert_int_equal(r.fault_offset, BYTES);
    arena_free(a);
}

/* More than one quantum can do, one element at a time */
static void test_many_quanta(void **state)
{
    struct arena *a = make_arena(WINDOWS_ALL, true);
    struct tdma_desc d = desc_copy(SEG_HOST, SEG_HBM, 1, 16);
    unsigned i;

    (void)state;
    d.ndims = 4;
    for (i = 1; i < 4; i++) {
        d.steps[i] = 12;
    }
    d.src_stride[0] = 2;
    d.src_stride[1] = 33;
    d.src_stride[2] = 400;
    d.src_stride[3] = 2000;
    d.dst_stride[0] = 1800;
    d.dst_stride[1] = 144;
    d.dst_stride[2] = 12;
    d.dst_stride[3] = 1;
    arena_run(a, &d, NULL);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contiguous),
        cmocka_unit_test(test_zero_in_any_step),
        cmocka_unit_test(test_zero_beside_huge_steps),
        cmocka_unit_test(test_all_ones),
        cmocka_unit_test(test_no_dimensions),
        cmocka_unit_test(test_size_one_absurd_stride),
        cmocka_unit_test(test_stride_zero_source),
        cmocka_unit_test(test_stride_zero_destination),
        cmocka_unit_test(test_destination_overlaps_itself),
        cmocka_unit_test(test_negative_strides),
        cmocka_unit_test(test_stride_no_multiple_of_element),
        cmocka_unit_test(test_element_1),
        cmocka_unit_test(test_element_2),
        cmocka_unit_test(test_element_3),
        cmocka_unit_test(test_element_4),
        cmocka_unit_test(test_element_8),
        cmocka_unit_test(test_element_16),
        cmocka_unit_test(test_element_512),
        cmocka_unit_test(test_element_4096),
        cmocka_unit_test(test_element_largest),
        cmocka_unit_test(test_eight_dimensions),
        cmocka_unit_test(test_transpose),
        cmocka_unit_test(test_planes),
        cmocka_unit_test(test_large_transpose),
        cmocka_unit_test(test_extent_ends_on_segment),
        cmocka_unit_test(test_extent_below_segment),
        cmocka_unit_test(test_extent_far_past_segment),
        cmocka_unit_test(test_same_buffer),
        cmocka_unit_test(test_same_buffer_transpose),
        cmocka_unit_test(test_memset),
        cmocka_unit_test(test_memset_large),
        cmocka_unit_test(test_read),
        cmocka_unit_test(test_nop),
        cmocka_unit_test(test_total),
        cmocka_unit_test(test_total_extent_is_exact),
        cmocka_unit_test(test_many_quanta),
    };

    return cmocka_run_group_tests_name("jobs", tests, make_shared, free_shared);
}
