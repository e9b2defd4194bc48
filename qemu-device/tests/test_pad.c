/* SPDX-License-Identifier: MIT */
/*
 * Extension blocks: padding, cropping and im2col, where what is outside lies
 * outside of the segment, too.
 */
#include "arena.h"

enum { BYTES = 1 << 14 };

static const unsigned segments[] = { SEG_HOST, SEG_PAGED2, SEG_HBM };

/* Segment to exactly @bytes, so that one byte too many would be noticed */
static void trim(struct arena *a, unsigned segment, uint64_t bytes)
{
    struct tdma_segment seg = a->m->table[1][segment];

    seg.length = bytes;
    machine_segment(a->m, 1, segment, &seg);
}

/* In every kind of memory, segments just as long as the inside */
static void everywhere(const struct tdma_desc *desc,
                       const struct tdma_desc_ext *ext, uint64_t src_bytes,
                       uint64_t dst_bytes)
{
    struct tdma_properties props = machine_properties();
    unsigned windows, s;

    for (windows = WINDOWS_NONE; windows <= WINDOWS_SOME; windows++) {
        for (s = 0; s < TEST_COUNT(segments); s++) {
            struct arena *a = arena_new(&props, windows, BYTES, s);
            struct tdma_desc d = *desc;
            unsigned dst = segments[s] == SEG_HBM ? SEG_HOST : SEG_HBM2;

            if (d.opcode != TDMA_OP_MEMSET) {
                d.src_segment = segments[s];
                trim(a, d.src_segment, src_bytes);
            }
            if (d.opcode != TDMA_OP_READ) {
                d.dst_segment = dst;
                trim(a, dst, dst_bytes);
            }
            arena_run(a, &d, ext);
            if (d.opcode != TDMA_OP_MEMSET && src_bytes) {
                trim(a, d.src_segment, src_bytes - 1);
                arena_refuse(a, &d, ext, TDMA_STATUS_BAD_EXTENT);
                trim(a, d.src_segment, src_bytes);
            }
            if (d.opcode != TDMA_OP_READ && dst_bytes) {
                trim(a, dst, dst_bytes - 1);
                arena_refuse(a, &d, ext, TDMA_STATUS_BAD_EXTENT);
            }
            arena_free(a);
        }
    }
}

static struct tdma_desc_ext new_ext(unsigned fill_bytes)
{
    return (struct tdma_desc_ext) {
        .version = 1, .fill_bytes = fill_bytes,
    };
}

/* Axis @axis of @side, moved by dimension @dim */
static void add_axis(struct tdma_desc_ext *e, unsigned side, int64_t start,
                     uint64_t extent)
{
    e->axis_side[e->naxes] = side;
    e->axis_start[e->naxes] = start;
    e->axis_extent[e->naxes] = extent;
    e->naxes++;
}

static void use_axis(struct tdma_desc_ext *e, unsigned side, unsigned dim,
                     unsigned axis, int32_t coef)
{
    if (side) {
        e->dst_axis[dim] = axis + 1;
        e->dst_coef[dim] = coef;
    } else {
        e->src_axis[dim] = axis + 1;
        e->src_coef[dim] = coef;
    }
}

/* 7 x 5 padded by 2, 1 | 3, 4 to 10 x 12 */
static void test_pad_both_dimensions(void **state)
{
    struct tdma_desc d = desc_copy(0, 0, 2, 12);
    struct tdma_desc_ext e = new_ext(2);

    (void)state;
    d.flags = TDMA_DESC_EXT;
    d.ndims = 2;
    d.steps[1] = 10;
    d.src_stride[1] = 10;
    d.src_offset = (uint64_t)(-(2 * 10 + 3 * 2));
    d.dst_stride[1] = 24;
    d.fill[0] = 0xab;
    d.fill[1] = 0xcd;
    add_axis(&e, 0, -3, 5);
    add_axis(&e, 0, -2, 7);
    use_axis(&e, 0, 0, 0, 1);
    use_axis(&e, 0, 1, 1, 1);
    everywhere(&d, &e, 7 * 10, 10 * 24);
}

/* The other way round: what falls outside of the destination is dropped. */
static void test_crop(void **state)
{
    struct tdma_desc d = desc_copy(0, 0, 2, 12);
    struct tdma_desc_ext e = new_ext(1);

    (void)state;
    d.flags = TDMA_DESC_EXT;
    d.ndims = 2;
    d.steps[1] = 10;
    d.src_stride[1] = 24;
    d.dst_stride[1] = 10;
    d.dst_offset = (uint64_t)(-(2 * 10 + 3 * 2));
    add_axis(&e, 1, -3, 5);
    add_axis(&e, 1, -2, 7);
    use_axis(&e, 1, 0, 0, 1);
    use_axis(&e, 1, 1, 1, 1);
    everywhere(&d, &e, 10 * 24, 7 * 10);
}

/* Source and destination both have an outside. */
static void test_both_sides(void **state)
{
    struct tdma_desc d = desc_copy(0, 0, 4, 20);
    struct tdma_desc_ext e = new_ext(4);

    (void)state;
    d.flags = TDMA_DESC_EXT;
    d.src_offset = (uint64_t)-16;
    d.fill[0] = 1;
    d.fill[3] = 2;
    add_axis(&e, 0, -4, 10);
    add_axis(&e, 1, 0, 17);
    use_axis(&e, 0, 0, 0, 1);
    use_axis(&e, 1, 0, 1, 1);
    everywhere(&d, &e, 40, 68);
}

/* 3 x 3 windows, stride 2, padding 1, 6 channels: one descriptor (A4) */
static void im2col(unsigned size, unsigned kernel, unsigned step, unsigned pad,
                   unsigned channels)
{
    unsigned out = (size + 2 * pad - kernel) / step + 1, row = channels * 2;
    struct tdma_desc d = desc_copy(0, 0, 2, channels);
    struct tdma_desc_ext e = new_ext(2);
    int64_t in_row = (int64_t)size * row;

    d.flags = TDMA_DESC_EXT;
    d.ndims = 5;
    d.steps[1] = kernel;
    d.steps[2] = kernel;
    d.steps[3] = out;
    d.steps[4] = out;
    d.src_offset = (uint64_t)-(int64_t)(pad * (in_row + row));
    d.src_stride[1] = row;
    d.src_stride[2] = in_row;
    d.src_stride[3] = (int64_t)step * row;
    d.src_stride[4] = step * in_row;
    d.dst_stride[1] = row;
    d.dst_stride[2] = (int64_t)kernel * row;
    d.dst_stride[3] = (int64_t)kernel * kernel * row;
    d.dst_stride[4] = (int64_t)out * kernel * kernel * row;
    add_axis(&e, 0, -(int64_t)pad, size);
    add_axis(&e, 0, -(int64_t)pad, size);
    use_axis(&e, 0, 1, 0, 1);
    use_axis(&e, 0, 3, 0, step);
    use_axis(&e, 0, 2, 1, 1);
    use_axis(&e, 0, 4, 1, step);
    everywhere(&d, &e, (uint64_t)size * in_row,
               (uint64_t)out * out * kernel * kernel * row);
}

static void test_im2col(void **state)
{
    (void)state;
    im2col(9, 3, 1, 1, 6);
    im2col(9, 3, 2, 1, 6);
    im2col(11, 5, 2, 2, 3);
    im2col(7, 1, 2, 0, 8);
}

/* 10 channels in blocks of 8: the tail of the last block reads as zero. */
static void test_blocked_tail(void **state)
{
    struct tdma_desc d = desc_copy(0, 0, 2, 8);
    struct tdma_desc_ext e = new_ext(1);

    (void)state;
    d.flags = TDMA_DESC_EXT;
    d.ndims = 3;                /* channel in block, place, block */
    d.steps[1] = 25;
    d.steps[2] = 2;
    d.src_stride[0] = 50;
    d.src_stride[1] = 2;
    d.src_stride[2] = 400;
    d.dst_stride[1] = 16;
    d.dst_stride[2] = 400;
    add_axis(&e, 0, 0, 10);
    use_axis(&e, 0, 0, 0, 1);
    use_axis(&e, 0, 2, 0, 8);
    everywhere(&d, &e, 500, 800);
}

static void test_backwards(void **state)
{
    struct tdma_desc d = desc_copy(0, 0, 4, 30);
    struct tdma_desc_ext e = new_ext(4);

    (void)state;
    d.flags = TDMA_DESC_EXT;
    d.src_offset = 25 * 4;
    d.src_stride[0] = -4;
    d.fill[0] = 9;
    add_axis(&e, 0, 25, 20);
    use_axis(&e, 0, 0, 0, -1);
    everywhere(&d, &e, 80, 120);
}

/* Every other element of the source, from outside to outside */
static void test_coefficient_skips(void **state)
{
    struct tdma_desc d = desc_copy(0, 0, 2, 20);
    struct tdma_desc_ext e = new_ext(2);

    (void)state;
    d.flags = TDMA_DESC_EXT;
    d.src_offset = (uint64_t)(-7 * 2);
    d.src_stride[0] = 4;
    add_axis(&e, 0, -7, 20);
    use_axis(&e, 0, 0, 0, 2);
    /* Coordinates -7, -5 .. 31: 1 to 19 are inside. */
    everywhere(&d, &e, 40, 40);
}

/* All of it outside: fill only, and the source may be anywhere. */
static void test_nothing_inside(void **state)
{
    struct tdma_desc d = desc_copy(0, 0, 4, 30);
    struct tdma_desc_ext e = new_ext(4);

    (void)state;
    d.flags = TDMA_DESC_EXT;
    d.src_offset = 1ULL << 62;
    add_axis(&e, 0, 5, 5);
    everywhere(&d, &e, 0, 120);
    d.src_offset = 0;
    d.dst_offset = 1ULL << 62;
    e.axis_side[0] = 1;
    everywhere(&d, &e, 120, 0);
}

static void test_memset_cropped(void **state)
{
    struct tdma_desc d = desc_memset(0, 3, 20, 0x11);
    struct tdma_desc_ext e = new_ext(0);

    (void)state;
    d.flags = TDMA_DESC_EXT;
    d.dst_offset = (uint64_t)(-5 * 3);
    add_axis(&e, 1, -5, 12);
    use_axis(&e, 1, 0, 0, 1);
    everywhere(&d, &e, 0, 36);
}

static void test_read_cropped(void **state)
{
    struct tdma_desc d = desc_copy(0, 0, 3, 20);
    struct tdma_desc_ext e = new_ext(0);

    (void)state;
    d.opcode = TDMA_OP_READ;
    d.dst_stride[0] = 0;
    d.flags = TDMA_DESC_EXT;
    d.src_offset = (uint64_t)(-5 * 3);
    add_axis(&e, 0, -5, 12);
    use_axis(&e, 0, 0, 0, 1);
    everywhere(&d, &e, 36, 0);
}

/* Adding the fill where the source ends */
static void test_accumulate_padded(void **state)
{
    struct tdma_desc d = desc_copy(0, 0, 4, 20);
    struct tdma_desc_ext e = new_ext(4);

    (void)state;
    d.opcode = TDMA_OP_ACCUMULATE;
    d.type = TDMA_TYPE_S32;
    d.flags = TDMA_DESC_EXT;
    d.fill[0] = 5;
    add_axis(&e, 0, 0, 13);
    use_axis(&e, 0, 0, 0, 1);
    everywhere(&d, &e, 52, 80);
}

/* The slots of a ring that ends between descriptor and block */
static void test_block_wraps_around_ring(void **state)
{
    struct tdma_properties props = machine_properties();
    struct arena *a = arena_new(&props, WINDOWS_ALL, BYTES, 4);
    struct tdma_desc nop = desc_nop(), d = desc_copy(SEG_HOST, SEG_HBM, 1, 9);
    struct tdma_desc_ext e = new_ext(1);
    unsigned i;

    (void)state;
    add_axis(&e, 0, 0, 4);
    use_axis(&e, 0, 0, 0, 1);
    d.flags = TDMA_DESC_EXT;
    d.fill[0] = 0x33;
    arena_run(a, &nop, NULL);
    for (i = 0; i < 100; i++) {
        arena_run(a, &d, &e);
        assert_int_equal(queue_done(&a->q), 3 + 2 * i);
    }
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pad_both_dimensions),
        cmocka_unit_test(test_crop),
        cmocka_unit_test(test_both_sides),
        cmocka_unit_test(test_im2col),
        cmocka_unit_test(test_blocked_tail),
        cmocka_unit_test(test_backwards),
        cmocka_unit_test(test_coefficient_skips),
        cmocka_unit_test(test_nothing_inside),
        cmocka_unit_test(test_memset_cropped),
        cmocka_unit_test(test_read_cropped),
        cmocka_unit_test(test_accumulate_padded),
        cmocka_unit_test(test_block_wraps_around_ring),
    };

    return cmocka_run_group_tests_name("padding", tests, NULL, NULL);
}
