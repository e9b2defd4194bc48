/* SPDX-License-Identifier: MIT */
/*
 * Sync flags and partial updates (A36-A38, B20, B23).
 */
#include "arena.h"
#include "mem/tdma_syncflag.h"

enum { BYTES = 1 << 16 };

static struct arena *new_arena(void)
{
    struct tdma_properties props = machine_properties();

    return arena_new(&props, WINDOWS_ALL, BYTES, 31);
}

static uint64_t flag_reg(unsigned flag, uint64_t reg)
{
    return TDMA_SYNC_BASE + (uint64_t)flag * TDMA_SYNC_STRIDE + reg;
}

static uint32_t flag_value(struct machine *m, unsigned flag)
{
    return machine_read(m, flag_reg(flag, TDMA_SYNC_VALUE));
}

static uint32_t flag_control(struct machine *m, unsigned flag)
{
    return machine_read(m, flag_reg(flag, TDMA_SYNC_CONTROL));
}

static void publish(struct machine *m, unsigned flag)
{
    machine_write(m, flag_reg(flag, TDMA_SYNC_CONTROL), TDMA_SYNC_PUBLIC);
}

static void test_registers(void **state)
{
    struct arena *a = new_arena();
    struct machine *m = a->m;

    (void)state;
    machine_write(m, flag_reg(3, TDMA_SYNC_VALUE), 0xdeadbeef);
    machine_write(m, flag_reg(3, TDMA_SYNC_CONTROL), UINT32_MAX);
    assert_int_equal(flag_value(m, 3), 0xdeadbeef);
    assert_int_equal(flag_control(m, 3), TDMA_SYNC_DONE | TDMA_SYNC_PUBLIC);
    machine_write(m, flag_reg(3, TDMA_SYNC_VALUE), 1);
    assert_int_equal(flag_control(m, 3), TDMA_SYNC_DONE | TDMA_SYNC_PUBLIC);
    assert_int_equal(flag_value(m, 2), 0);
    assert_int_equal(flag_value(m, 4), 0);
    machine_write(m, TDMA_REG_CONTROL, TDMA_CONTROL_RESET);
    assert_int_equal(flag_value(m, 3), 0);
    assert_int_equal(flag_control(m, 3), 0);
    arena_free(a);
}

/* Each side adds what it has done to its own flag; done comes last. */
struct watch {
    unsigned updates;
    uint32_t src, dst;
};

static void watch_flags(struct machine *m, unsigned queue, uint32_t index)
{
    struct watch *w = m->progress_opaque;

    (void)queue;
    (void)index;
    assert_true(flag_value(m, 5) - 100 >= w->src);
    assert_true(flag_value(m, 6) >= w->dst);
    w->src = flag_value(m, 5) - 100;
    w->dst = flag_value(m, 6);
    assert_int_equal(flag_control(m, 5) & TDMA_SYNC_DONE, 0);
    assert_int_equal(flag_control(m, 6) & TDMA_SYNC_DONE, 0);
    w->updates++;
}

static void test_both_sides(void **state)
{
    struct arena *a = new_arena();
    struct tdma_desc d = desc_copy(SEG_HOST, SEG_HOST2, 4, 1000);
    struct watch w = { 0 };

    (void)state;
    publish(a->m, 5);
    publish(a->m, 6);
    machine_write(a->m, flag_reg(5, TDMA_SYNC_VALUE), 100);
    d.flags = TDMA_DESC_SRC_SYNC_FLAG | TDMA_DESC_DST_SYNC_FLAG |
              TDMA_DESC_DST_PER_MILLE;
    d.src_sync_interval = 300;
    d.dst_sync_interval = 100;
    d.src_sync_flag = 5;
    d.dst_sync_flag = 6;
    a->m->on_progress = watch_flags;
    a->m->progress_opaque = &w;
    arena_run(a, &d, NULL);
    /* At 100, 200 ... 900 */
    assert_int_equal(w.updates, 9);
    assert_int_equal(w.src, 900);
    assert_int_equal(w.dst, 900);
    assert_int_equal(flag_value(a->m, 5), 1100);
    assert_int_equal(flag_value(a->m, 6), 1000);
    assert_int_equal(flag_control(a->m, 5),
                     TDMA_SYNC_DONE | TDMA_SYNC_PUBLIC);
    assert_int_equal(flag_control(a->m, 6),
                     TDMA_SYNC_DONE | TDMA_SYNC_PUBLIC);
    arena_free(a);
}

static void test_value_wraps(void **state)
{
    struct arena *a = new_arena();
    struct tdma_desc d = desc_memset(SEG_HOST, 1, 10, 0);

    (void)state;
    publish(a->m, 9);
    machine_write(a->m, flag_reg(9, TDMA_SYNC_VALUE), UINT32_MAX - 3);
    d.flags = TDMA_DESC_DST_SYNC_FLAG;
    d.dst_sync_flag = 9;
    arena_run(a, &d, NULL);
    assert_int_equal(flag_value(a->m, 9), 6);
    assert_int_equal(flag_control(a->m, 9),
                     TDMA_SYNC_DONE | TDMA_SYNC_PUBLIC);
    arena_free(a);
}

/* Nothing is carried from the value into the bits above it. */
static void test_no_carry(void **state)
{
    uint64_t word[2] = { UINT32_MAX, 0 };
    struct tdma_sync_flags flags = { .count = 2, .word = word };

    (void)state;
    tdma_sync_flag_add(&flags, 0, 5, false);
    assert_int_equal(tdma_sync_flag_value(&flags, 0), 4);
    assert_int_equal(tdma_sync_flag_control(&flags, 0), 0);
    assert_int_equal(word[1], 0);
}

static void test_empty_tensor_is_done(void **state)
{
    struct arena *a = new_arena();
    struct tdma_desc d = desc_memset(SEG_HOST, 1, 0, 0);

    (void)state;
    publish(a->m, 9);
    d.flags = TDMA_DESC_DST_SYNC_FLAG;
    d.dst_sync_flag = 9;
    arena_run(a, &d, NULL);
    assert_int_equal(flag_value(a->m, 9), 0);
    assert_true(flag_control(a->m, 9) & TDMA_SYNC_DONE);
    arena_free(a);
}

/* A flag without public access is out of reach for a user's descriptor. */
static void test_access(void **state)
{
    struct arena *a = new_arena();
    struct queue_config kernel = { .context = 0 };
    struct queue q = machine_queue(a->m, 2, &kernel);
    struct tdma_desc d = desc_memset(SEG_HOST, 1, 10, 0);
    struct tdma_record r;

    (void)state;
    d.flags = TDMA_DESC_DST_SYNC_FLAG;
    d.dst_sync_flag = 7;
    r = arena_refuse(a, &d, NULL, TDMA_STATUS_BAD_SYNC);
    assert_int_equal(r.fault_field,
                     offsetof(struct tdma_desc, dst_sync_flag));
    assert_int_equal(flag_value(a->m, 7), 0);
    assert_int_equal(flag_control(a->m, 7), 0);
    machine_segment(a->m, 0, SEG_HOST, &a->m->table[1][SEG_HOST]);
    assert_int_equal(queue_do(&q, &d, NULL).status, TDMA_STATUS_OK);
    assert_int_equal(flag_value(a->m, 7), 10);
    arena_free(a);
}

static void test_number_border(void **state)
{
    static const uint32_t bad[] = { 1024, 1025, UINT32_MAX };
    struct arena *a = new_arena();
    struct tdma_desc d = desc_copy(SEG_HOST, 0, 1, 10);
    struct tdma_record r;
    unsigned i;

    (void)state;
    d.opcode = TDMA_OP_READ;
    d.dst_stride[0] = 0;
    d.flags = TDMA_DESC_SRC_SYNC_FLAG;
    publish(a->m, 1023);
    d.src_sync_flag = 1023;
    arena_run(a, &d, NULL);
    for (i = 0; i < TEST_COUNT(bad); i++) {
        d.src_sync_flag = bad[i];
        r = arena_refuse(a, &d, NULL, TDMA_STATUS_BAD_SYNC);
        assert_int_equal(r.fault_field,
                         offsetof(struct tdma_desc, src_sync_flag));
        assert_int_equal(r.fault_side, TDMA_SIDE_SRC);
    }
    arena_free(a);
}

/* After a fault the flag holds what is true, and is not done. */
static void test_fault_is_not_done(void **state)
{
    struct arena *a = new_arena();
    struct tdma_desc d = desc_copy(SEG_HBM, SEG_HOST2, 4, 1000);
    uint64_t addr = a->m->table[1][SEG_HOST2].base + 700 * 4;
    struct tdma_record r;

    (void)state;
    publish(a->m, 8);
    d.flags = TDMA_DESC_DST_SYNC_FLAG;
    d.dst_sync_flag = 8;
    d.dst_sync_interval = 300;
    machine_fault(a->m, addr, addr + 1);
    r = queue_do(&a->q, &d, NULL);
    assert_int_equal(r.status, TDMA_STATUS_BUS_ERROR);
    assert_int_equal(r.dst_done, 700);
    assert_int_equal(flag_value(a->m, 8), 700);
    assert_int_equal(flag_control(a->m, 8), TDMA_SYNC_PUBLIC);
    arena_free(a);
}

/*
 * Every interval from 1 on and every share: the updates come where they are.
 * The cycle engine pops several responses at a time: an update comes with the
 * ones that complete an interval, and those popped with them count.
 */
struct exact {
    uint64_t step, seen;
    uint64_t pop_max;           /* 1: updates are exact */
    struct arena *a;
};

static void watch_exact(struct machine *m, unsigned queue, uint32_t index)
{
    struct exact *w = m->progress_opaque;
    uint64_t done = queue_record(&w->a->q, index).dst_done;

    (void)queue;
    assert_true(done / w->step > w->seen / w->step);
    assert_true(done - w->seen / w->step * w->step < w->step + w->pop_max);
    w->seen = done;
}

/* The last update before the end */
static void check_exact(const struct exact *w, uint64_t elements)
{
    assert_int_equal(w->seen / w->step, (elements - 1) / w->step);
    assert_true(w->pop_max > 1 || w->seen % w->step == 0);
}

static void test_interval_positions(void **state)
{
    struct arena *a = new_arena();
    struct tdma_desc d = desc_copy(SEG_HOST, SEG_HOST2, 3, 17);
    struct exact w = { .a = a, .pop_max = 1 };
    uint64_t n = 17 * 5;
    uint32_t i;

    (void)state;
    d.ndims = 2;
    d.steps[1] = 5;
    d.src_stride[1] = 60;
    d.dst_stride[1] = 70;
    if (a->m->props.fidelity == TDMA_FIDELITY_CYCLE) {
        w.pop_max = a->m->props.pop_max;
    }
    a->m->on_progress = watch_exact;
    a->m->progress_opaque = &w;
    for (i = 1; i <= 2 * n; i++) {
        d.flags = 0;
        d.dst_sync_interval = i;
        w.step = i;
        w.seen = 0;
        arena_run(a, &d, NULL);
        check_exact(&w, n);
    }
    for (i = 1; i <= 1000; i++) {
        d.flags = TDMA_DESC_DST_PER_MILLE;
        d.dst_sync_interval = i;
        w.step = (n * i + 999) / 1000;
        w.seen = 0;
        arena_run(a, &d, NULL);
        check_exact(&w, n);
    }
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_registers),
        cmocka_unit_test(test_both_sides),
        cmocka_unit_test(test_value_wraps),
        cmocka_unit_test(test_no_carry),
        cmocka_unit_test(test_empty_tensor_is_done),
        cmocka_unit_test(test_access),
        cmocka_unit_test(test_number_border),
        cmocka_unit_test(test_fault_is_not_done),
        cmocka_unit_test(test_interval_positions),
    };

    return cmocka_run_group_tests_name("sync", tests, NULL, NULL);
}
