/* SPDX-License-Identifier: MIT */
/*
 * The layouts on the bus are fixed for good: every offset and size, written
 * down a second time.
 */
#include <linux/tensordma_desc.h>
#include <linux/tensordma_regs.h>
#include "test.h"

struct field {
    const char *name;
    size_t offset, size, want_offset, want_size;
};

#define FIELD(type, name, at, bytes)                                        \
    { #type "." #name, offsetof(struct type, name),                         \
      sizeof(((struct type *)0)->name), at, bytes }

/* In order, without holes, up to the end of the structure */
static void check(const struct field *field, size_t count, size_t total)
{
    size_t i, at = 0;

    for (i = 0; i < count; i++) {
        if (field[i].offset != field[i].want_offset ||
            field[i].size != field[i].want_size || field[i].offset != at) {
            fprintf(stderr, "# %s is at %zu, %zu bytes\n", field[i].name,
                    field[i].offset, field[i].size);
        }
        assert_int_equal(field[i].offset, field[i].want_offset);
        assert_int_equal(field[i].size, field[i].want_size);
        assert_int_equal(field[i].offset, at);
        at += field[i].size;
    }
    assert_int_equal(at, total);
}

static void test_desc(void **state)
{
    static const struct field fields[] = {
        FIELD(tdma_desc, version, 0, 1),
        FIELD(tdma_desc, opcode, 1, 1),
        FIELD(tdma_desc, ndims, 2, 1),
        FIELD(tdma_desc, type, 3, 1),
        FIELD(tdma_desc, flags, 4, 4),
        FIELD(tdma_desc, elem_bytes, 8, 4),
        FIELD(tdma_desc, src_segment, 12, 4),
        FIELD(tdma_desc, dst_segment, 16, 4),
        FIELD(tdma_desc, record_segment, 20, 4),
        FIELD(tdma_desc, src_offset, 24, 8),
        FIELD(tdma_desc, dst_offset, 32, 8),
        FIELD(tdma_desc, record_offset, 40, 8),
        FIELD(tdma_desc, total, 48, 8),
        FIELD(tdma_desc, tag, 56, 8),
        FIELD(tdma_desc, steps, 64, 32),
        FIELD(tdma_desc, src_stride, 96, 64),
        FIELD(tdma_desc, dst_stride, 160, 64),
        FIELD(tdma_desc, fill, 224, 16),
        FIELD(tdma_desc, src_sync_interval, 240, 4),
        FIELD(tdma_desc, dst_sync_interval, 244, 4),
        FIELD(tdma_desc, src_sync_flag, 248, 4),
        FIELD(tdma_desc, dst_sync_flag, 252, 4),
    };

    (void)state;
    check(fields, TEST_COUNT(fields), 256);
    assert_int_equal(sizeof(struct tdma_desc), 256);
}

static void test_ext(void **state)
{
    static const struct field fields[] = {
        FIELD(tdma_desc_ext, version, 0, 1),
        FIELD(tdma_desc_ext, naxes, 1, 1),
        FIELD(tdma_desc_ext, fill_bytes, 2, 1),
        FIELD(tdma_desc_ext, reserved0, 3, 5),
        FIELD(tdma_desc_ext, axis_side, 8, 8),
        FIELD(tdma_desc_ext, src_axis, 16, 8),
        FIELD(tdma_desc_ext, dst_axis, 24, 8),
        FIELD(tdma_desc_ext, src_coef, 32, 32),
        FIELD(tdma_desc_ext, dst_coef, 64, 32),
        FIELD(tdma_desc_ext, axis_start, 96, 64),
        FIELD(tdma_desc_ext, axis_extent, 160, 64),
        FIELD(tdma_desc_ext, reserved1, 224, 32),
    };

    (void)state;
    check(fields, TEST_COUNT(fields), 256);
    assert_int_equal(sizeof(struct tdma_desc_ext), 256);
}

static void test_record(void **state)
{
    static const struct field fields[] = {
        FIELD(tdma_record, tag, 0, 8),
        FIELD(tdma_record, src_done, 8, 8),
        FIELD(tdma_record, dst_done, 16, 8),
        FIELD(tdma_record, cycles, 24, 8),
        FIELD(tdma_record, fault_offset, 32, 8),
        FIELD(tdma_record, stall_backpressure, 40, 4),
        FIELD(tdma_record, stall_throttle, 44, 4),
        FIELD(tdma_record, stall_ids, 48, 4),
        FIELD(tdma_record, fault_field, 52, 2),
        FIELD(tdma_record, fault_side, 54, 1),
        FIELD(tdma_record, fault_dim, 55, 1),
        FIELD(tdma_record, status, 56, 4),
        FIELD(tdma_record, sequence, 60, 4),
    };

    (void)state;
    check(fields, TEST_COUNT(fields), 64);
    assert_int_equal(sizeof(struct tdma_record), 64);
}

static void test_segment(void **state)
{
    static const struct field fields[] = {
        FIELD(tdma_segment, space, 0, 4),
        FIELD(tdma_segment, flags, 4, 4),
        FIELD(tdma_segment, page_shift, 8, 4),
        FIELD(tdma_segment, page_offset, 12, 4),
        FIELD(tdma_segment, length, 16, 8),
        FIELD(tdma_segment, base, 24, 8),
    };

    (void)state;
    check(fields, TEST_COUNT(fields), 32);
    assert_int_equal(sizeof(struct tdma_segment), 32);
}

/* Regions of BAR0 do not meet. */
static void test_bar0(void **state)
{
    static const struct {
        uint64_t base, stride, count;
    } regions[] = {
        { TDMA_GLOBAL_BASE, 0x1000, 1 },
        { TDMA_THREAD_BASE, TDMA_THREAD_STRIDE, TDMA_MAX_THREADS },
        { TDMA_CONTEXT_BASE, TDMA_CONTEXT_STRIDE, TDMA_MAX_CONTEXTS },
        { TDMA_QUEUE_BASE, TDMA_QUEUE_STRIDE, TDMA_MAX_QUEUES },
        { TDMA_SYNC_BASE, TDMA_SYNC_STRIDE, TDMA_MAX_SYNC_FLAGS },
        { TDMA_DOORBELL_BASE, TDMA_DOORBELL_STRIDE, TDMA_MAX_QUEUES },
    };
    uint64_t end = 0;
    size_t i;

    (void)state;
    for (i = 0; i < TEST_COUNT(regions); i++) {
        assert_true(regions[i].base >= end);
        end = regions[i].base + regions[i].stride * regions[i].count;
    }
    assert_int_equal(end, TDMA_BAR0_SIZE);
    assert_true(TDMA_THREAD_DST_COUNTERS + TDMA_COUNTER_OUTSTANDING_MAX + 8 <=
                TDMA_THREAD_STRIDE);
    assert_true(TDMA_THREAD_SRC_COUNTERS + TDMA_COUNTER_OUTSTANDING_MAX + 8 <=
                TDMA_THREAD_DST_COUNTERS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_desc),
        cmocka_unit_test(test_ext),
        cmocka_unit_test(test_record),
        cmocka_unit_test(test_segment),
        cmocka_unit_test(test_bar0),
    };

    return cmocka_run_group_tests_name("layout", tests, NULL, NULL);
}
