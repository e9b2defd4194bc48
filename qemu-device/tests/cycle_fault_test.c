/* SPDX-License-Identifier: MIT */
/*
 * The cycle engine when things go wrong or stop: refused, poisoned, stray and
 * repeated responses, pause and abort at any moment. Whatever happens, what
 * the record counts is done, nothing else in memory changes, no ID is lost and
 * the next descriptor runs.
 */
#include "cycle_test.h"
#include "cycle_rig.h"
#include "dma/cycle_chain.h"

enum { ELEMENTS = 600, SIZE = 4, HALF = RIG_DATA / 2 };

static struct tdma_properties random_properties(void)
{
    struct tdma_properties p = rig_properties();

    p.inject = 1;
    p.lanes = 1 + test_random() % TDMA_MAX_LANES;
    p.chains = 1 + test_random() % 2;
    p.ids = 20 + test_random() % 300;
    p.pop_max = 1 + test_random() % 8;
    p.release_threshold = 1 + test_random() % 30;
    p.latency_min = test_random() % 60;
    p.latency_max = p.latency_min + test_random() % 100;
    p.hbm_bandwidth = 1 + test_random() % 16;
    p.seed = test_random();
    p.quantum_steps = 64;
    return p;
}

static struct rig *random_rig(void)
{
    struct tdma_properties p = random_properties();
    struct rig *rig = rig_new(&p);

    for (unsigned i = 0; i < ELEMENTS * SIZE; i++) {
        rig->hbm[i] = 1 + test_random() % 255;
    }
    return rig;
}

/* Elements of the destination that have been written. */
static unsigned written(const struct rig *rig)
{
    unsigned n = 0;

    for (unsigned i = 0; i < ELEMENTS; i++) {
        const uint8_t *to = rig->hbm + HALF + i * SIZE;

        if (!memcmp(to, rig->hbm + i * SIZE, SIZE)) {
            n++;
        } else {
            assert_memory_equal(to, "\0\0\0\0", SIZE);
        }
    }
    return n;
}

/* Elements before @count are written, and none but those of the job. */
static void expect_prefix(const struct rig *rig, uint64_t count)
{
    assert_memory_equal(rig->hbm, rig->hbm + HALF, count * SIZE);
    assert_true(written(rig) >= count);
    for (unsigned i = HALF + ELEMENTS * SIZE; i < RIG_DATA; i++) {
        assert_int_equal(rig->hbm[i], 0);
    }
}

/* All IDs can be outstanding again, and a whole job runs. */
static void expect_healthy(struct rig *rig)
{
    struct tdma_desc d = rig_copy(ELEMENTS, SIZE);
    unsigned ids = rig->core->props.ids;
    uint32_t index;

    rig_write(rig, TDMA_THREAD_BASE + TDMA_THREAD_COUNTER_CLEAR, 1);
    memset(rig->hbm + HALF, 0, ELEMENTS * SIZE);
    index = rig_submit(rig, 0, &d, NULL);
    rig_run(rig);
    assert_int_equal(rig_record(rig, 0, index)->status, TDMA_STATUS_OK);
    assert_int_equal(written(rig), ELEMENTS);
    for (unsigned s = 0; s < TDMA_SIDES; s++) {
        const struct tdma_progress *p = rig_progress(rig, s);

        assert_int_equal(p->reorder.issued, 0);
        assert_int_equal(p->credit.available + p->credit.returning +
                         p->reorder.items, ids);
    }
}

static void inject(struct rig *rig, unsigned kind, unsigned side,
                   uint64_t element)
{
    rig_write(rig, TDMA_THREAD_BASE + TDMA_THREAD_INJECT_SIDE, side);
    rig_write(rig, TDMA_THREAD_BASE + TDMA_THREAD_INJECT_ELEMENT, element);
    rig_write(rig, TDMA_THREAD_BASE + TDMA_THREAD_INJECT, kind);
}

static unsigned some_element(void)
{
    switch (test_random() % 4) {
    case 0:
        return 0;
    case 1:
        return ELEMENTS - 1;
    default:
        return test_random() % ELEMENTS;
    }
}

/* One error, the record that tells of it, and life after it. */
static void one_error(unsigned kind, unsigned side, uint32_t status)
{
    struct rig *rig = random_rig();
    struct tdma_desc d = rig_copy(ELEMENTS, SIZE);
    unsigned element = some_element();
    const struct tdma_record *r;

    inject(rig, kind, side, element);
    assert_int_equal(rig_read(rig, TDMA_THREAD_BASE + TDMA_THREAD_INJECT),
                     kind);
    rig_submit(rig, 0, &d, NULL);
    rig_run(rig);
    assert_int_equal(rig_read(rig, TDMA_THREAD_BASE + TDMA_THREAD_INJECT),
                     TDMA_INJECT_NONE);
    r = rig_record(rig, 0, 0);
    assert_int_equal(r->status, status);
    assert_int_equal(r->src_done, r->dst_done);
    assert_int_equal(r->fault_side, side == TDMA_SRC ? TDMA_SIDE_SRC
                                                     : TDMA_SIDE_DST);
    assert_int_equal(r->fault_offset,
                     (side == TDMA_SRC ? 0 : HALF) + element * SIZE);
    assert_int_equal(r->dst_done, element);
    assert_int_equal(written(rig), element);
    expect_prefix(rig, r->dst_done);
    expect_healthy(rig);
    rig_free(rig);
}

static void test_bus_error(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 60; i++) {
        one_error(TDMA_INJECT_BUS_ERROR, i % 2, TDMA_STATUS_BUS_ERROR);
    }
}

static void test_poison(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 30; i++) {
        one_error(TDMA_INJECT_POISON, TDMA_SRC, TDMA_STATUS_POISONED);
    }
}

static void test_unknown_id(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 60; i++) {
        one_error(TDMA_INJECT_UNKNOWN_ID, i % 2, TDMA_STATUS_BAD_RESPONSE);
    }
}

static void test_duplicate_id(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 60; i++) {
        one_error(TDMA_INJECT_DUPLICATE_ID, i % 2, TDMA_STATUS_BAD_RESPONSE);
    }
}

/* The ones before and behind the descriptor at fault are not affected. */
static void test_neighbours(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 60; i++) {
        struct rig *rig = random_rig();
        unsigned kind = 1 + i % TDMA_INJECT_DUPLICATE_ID;
        unsigned side = kind == TDMA_INJECT_POISON ? TDMA_SRC : i / 4 % 2;

        inject(rig, kind, side, 100);
        for (unsigned k = 0; k < 5; k++) {
            /* only the middle one has an element 100 */
            struct tdma_desc d = rig_copy(k == 2 ? 200 : 100, SIZE);

            d.dst_offset += k * 1000;
            rig_submit(rig, 0, &d, NULL);
        }
        rig_run(rig);
        for (unsigned k = 0; k < 5; k++) {
            const struct tdma_record *r = rig_record(rig, 0, k);

            assert_int_equal(r->status == TDMA_STATUS_OK, k != 2);
            assert_memory_equal(rig->hbm, rig->hbm + HALF + k * 1000,
                                r->dst_done * SIZE);
            if (k != 2) {
                assert_int_equal(r->dst_done, 100);
            }
        }
        rig_free(rig);
    }
}

/* A fault of either side while the other one is far ahead of it */
static void test_fault_behind_lead(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 20; i++) {
        struct tdma_properties p = random_properties();
        struct tdma_desc d = rig_copy(ELEMENTS, SIZE);
        const struct tdma_record *r;
        struct rig *rig;

        /* requests of one space, one per cycle: the other side waits */
        p.hbm_bandwidth = 16;
        p.host_bandwidth = 1;
        rig = rig_new(&p);
        memset(rig->hbm, 7, ELEMENTS * SIZE);
        memset(rig->host, 7, ELEMENTS * SIZE);
        d.src_segment = i % 2 ? RIG_SEGMENT_HOST : RIG_SEGMENT_HBM;
        d.dst_segment = i % 2 ? RIG_SEGMENT_HBM : RIG_SEGMENT_HOST;
        inject(rig, TDMA_INJECT_BUS_ERROR, i / 2 % 2, 300);
        rig_submit(rig, 0, &d, NULL);
        rig_run(rig);
        r = rig_record(rig, 0, 0);
        assert_int_equal(r->status, TDMA_STATUS_BUS_ERROR);
        assert_int_equal(r->src_done, 300);
        assert_int_equal(r->dst_done, 300);
        expect_healthy(rig);
        rig_free(rig);
    }
}

/* Memory that is not there, not injected */
static void test_real_bus_error(void **state)
{
    struct tdma_properties p = rig_properties();
    struct tdma_desc d = rig_copy(512, SIZE);
    const struct tdma_record *r;
    struct rig *rig;

    (void)state;
    p.latency_max = 200;
    for (unsigned side = 0; side < TDMA_SIDES; side++) {
        rig = rig_new(&p);
        d.src_segment = side == TDMA_SRC ? RIG_SEGMENT_BAD : RIG_SEGMENT_HBM;
        d.dst_segment = side == TDMA_DST ? RIG_SEGMENT_BAD : RIG_SEGMENT_HBM;
        d.dst_offset = 0;
        rig_submit(rig, 0, &d, NULL);
        rig_run(rig);
        r = rig_record(rig, 0, 0);
        assert_int_equal(r->status, TDMA_STATUS_BUS_ERROR);
        assert_int_equal(r->src_done, 256);
        assert_int_equal(r->dst_done, 256);
        assert_int_equal(r->fault_offset, 1024);
        expect_healthy(rig);
        rig_free(rig);
    }
}

/* An element that needs no request cannot be struck; the next one is. */
static void test_no_request_no_error(void **state)
{
    struct tdma_properties p = rig_properties();
    struct tdma_desc d = rig_copy(100, 1), next = rig_copy(100, 1);
    struct tdma_desc_ext e = {
        .version = TDMA_DESC_VERSION, .naxes = 1, .fill_bytes = 1,
        .src_axis = { 1 }, .src_coef = { 1 }, .axis_extent = { 60 },
    };
    struct rig *rig;

    (void)state;
    p.inject = 1;
    rig = rig_new(&p);
    memset(rig->hbm, 1, 100);
    d.flags = TDMA_DESC_EXT;
    d.fill[0] = 9;
    inject(rig, TDMA_INJECT_BUS_ERROR, TDMA_SRC, 70);
    rig_submit(rig, 0, &d, &e);
    rig_run(rig);
    assert_int_equal(rig_record(rig, 0, 0)->status, TDMA_STATUS_OK);
    assert_int_equal(rig_counters(rig, TDMA_SRC)->requests, 60);
    assert_int_equal(rig_counters(rig, TDMA_DST)->requests, 100);
    assert_int_equal(rig->hbm[HALF + 59], 1);
    assert_int_equal(rig->hbm[HALF + 60], 9);
    rig_submit(rig, 0, &next, NULL);
    rig_run(rig);
    assert_int_equal(rig_record(rig, 0, 2)->status, TDMA_STATUS_BUS_ERROR);
    assert_int_equal(rig_record(rig, 0, 2)->dst_done, 70);
    rig_free(rig);
}

/* Without the property the registers are not there. */
static void test_off_by_default(void **state)
{
    struct tdma_properties p = rig_properties();
    struct tdma_desc d = rig_copy(100, 1);
    struct rig *rig = rig_new(&p);

    (void)state;
    assert_int_equal(p.inject, 0);
    inject(rig, TDMA_INJECT_BUS_ERROR, TDMA_SRC, 5);
    assert_int_equal(rig_read(rig, TDMA_THREAD_BASE + TDMA_THREAD_INJECT), 0);
    rig_submit(rig, 0, &d, NULL);
    rig_run(rig);
    assert_int_equal(rig_record(rig, 0, 0)->status, TDMA_STATUS_OK);
    rig_free(rig);
}

static void control(struct rig *rig, unsigned queue, uint32_t value)
{
    rig_write(rig, TDMA_QUEUE_BASE + queue * TDMA_QUEUE_STRIDE +
              TDMA_QUEUE_CONTROL, TDMA_QCTL_ENABLE | value);
}

static void run_quanta(struct rig *rig, unsigned count)
{
    while (count && rig_quantum(rig)) {
        count--;
    }
}

/* What is in flight drains; then the queue is paused. */
static void pause_queue(struct rig *rig, unsigned queue)
{
    uint64_t state = TDMA_QUEUE_BASE + queue * TDMA_QUEUE_STRIDE +
                     TDMA_QUEUE_STATE;
    unsigned quanta = 0;

    control(rig, queue, TDMA_QCTL_PAUSE);
    while (rig_read(rig, state) != TDMA_QSTATE_PAUSED) {
        rig_quantum(rig);
        assert_true(quanta++ < 100);
    }
}

/* Nobody has anything to do, and cycles do not go by either. */
static void expect_asleep(struct rig *rig)
{
    uint64_t cycles = rig_cycles(rig);

    for (unsigned i = 0; i < 20; i++) {
        assert_false(rig_quantum(rig));
    }
    assert_int_equal(rig_cycles(rig), cycles);
}

/* While paused memory does not change; resumed, it all comes. */
static void test_pause(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 40; i++) {
        struct tdma_desc d = rig_copy(ELEMENTS, SIZE);
        struct rig *rig = random_rig();
        unsigned before;

        rig_submit(rig, 0, &d, NULL);
        rig_ring(rig);
        for (unsigned k = 0; k < 3; k++) {
            run_quanta(rig, test_random() % 4);
            pause_queue(rig, 0);
            before = written(rig);
            expect_asleep(rig);
            assert_int_equal(written(rig), before);
            control(rig, 0, 0);
        }
        rig_run(rig);
        assert_int_equal(rig_record(rig, 0, 0)->status, TDMA_STATUS_OK);
        assert_int_equal(written(rig), ELEMENTS);
        expect_healthy(rig);
        rig_free(rig);
    }
}

/*
 * A bad response to a write of the fill pattern: nothing is read for it, so that
 * the source may be far behind. The descriptor ends there.
 */
static void test_bad_response_to_padding(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 100; i++) {
        struct tdma_properties p = random_properties();
        struct tdma_desc d = rig_copy(ELEMENTS, SIZE);
        unsigned inside = test_random() % ELEMENTS;
        unsigned element = inside + test_random() % (ELEMENTS - inside);
        struct tdma_desc_ext e = {
            .version = 1, .naxes = 1, .fill_bytes = 1,
            .axis_side = { TDMA_SRC }, .axis_extent = { inside },
            .src_axis = { 1 }, .src_coef = { 1 },
        };
        const struct tdma_record *r;
        struct rig *rig;

        p.host_bandwidth = 1 + test_random() % 2;
        rig = rig_new(&p);
        for (unsigned k = 0; k < ELEMENTS * SIZE; k++) {
            rig->hbm[k] = 1 + test_random() % 254;
        }
        d.flags |= TDMA_DESC_EXT;
        d.fill[0] = 0xff;
        inject(rig, i % 2 ? TDMA_INJECT_UNKNOWN_ID : TDMA_INJECT_DUPLICATE_ID,
               TDMA_DST, element);
        rig_submit(rig, 0, &d, &e);
        rig_run(rig);
        r = rig_record(rig, 0, 0);
        assert_int_equal(r->status, TDMA_STATUS_BAD_RESPONSE);
        assert_true(r->dst_done <= element);
        assert_int_equal(r->src_done, r->dst_done);
        for (unsigned k = 0; k < ELEMENTS; k++) {
            const uint8_t *to = rig->hbm + HALF + k * SIZE;

            assert_memory_equal(to, k >= r->dst_done ? (void *)"\0\0\0\0" :
                                k < inside ? (void *)(rig->hbm + k * SIZE) :
                                (void *)"\377\377\377\377", SIZE);
        }
        expect_healthy(rig);
        rig_free(rig);
    }
}

/* A bad response to a job that is just stepping aside is not forgotten. */
static void test_bad_response_while_pausing(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 200; i++) {
        unsigned kind = i % 2 ? TDMA_INJECT_UNKNOWN_ID
                              : TDMA_INJECT_DUPLICATE_ID;
        struct tdma_desc d = rig_copy(ELEMENTS, SIZE);
        struct rig *rig = random_rig();
        unsigned element = some_element();

        inject(rig, kind, i / 2 % 2, element);
        rig_submit(rig, 0, &d, NULL);
        rig_ring(rig);
        run_quanta(rig, test_random() % 20);
        pause_queue(rig, 0);
        control(rig, 0, 0);
        rig_run(rig);
        assert_int_equal(rig_record(rig, 0, 0)->status,
                         TDMA_STATUS_BAD_RESPONSE);
        /* it stepped aside before that element, or ends there */
        assert_true(rig_record(rig, 0, 0)->dst_done <= element);
        assert_int_equal(written(rig), rig_record(rig, 0, 0)->dst_done);
        expect_healthy(rig);
        rig_free(rig);
    }
}

/*
 * A paused queue stands aside: another one's job behind it in the pipeline goes
 * on, whether it came before the pause or after; then the thread sleeps. What
 * had been issued is done, what had not is not, and in the end all is.
 */
static void test_pause_holds_its_own_queue(void **state)
{
    unsigned partial = 0;

    (void)state;
    for (unsigned i = 0; i < 60; i++) {
        struct tdma_desc d = rig_copy(ELEMENTS, SIZE), other = d;
        struct rig *rig = random_rig();
        unsigned done;

        for (unsigned k = 0; k < 3; k++) {
            rig_submit(rig, 0, &d, NULL);
        }
        other.dst_offset += 100000;
        if (i % 3) {
            rig_submit(rig, 1, &other, NULL);
        }
        rig_ring(rig);
        run_quanta(rig, 3 + test_random() % 6);
        control(rig, 0, TDMA_QCTL_PAUSE);
        if (i % 3 == 0) {
            rig_submit(rig, 1, &other, NULL);
        }
        rig_run(rig);
        pause_queue(rig, 0);
        assert_int_equal(rig_record(rig, 1, 0)->status, TDMA_STATUS_OK);
        expect_asleep(rig);
        done = written(rig);
        partial += done && done < ELEMENTS;
        control(rig, 0, i % 2 ? TDMA_QCTL_ABORT : 0);
        rig_run(rig);
        for (unsigned k = 0; k < 3; k++) {
            const struct tdma_record *r = rig_record(rig, 0, k);

            assert_int_equal(r->src_done, r->dst_done);
            assert_true(r->status == TDMA_STATUS_OK ||
                        (i % 2 && r->status == TDMA_STATUS_ABORTED));
        }
        if (i % 2 && done < ELEMENTS) {
            assert_int_equal(rig_record(rig, 0, 0)->dst_done, done);
        }
        assert_memory_equal(rig->hbm, rig->hbm + HALF + 100000,
                            ELEMENTS * SIZE);
        memset(rig->hbm + HALF + 100000, 0, ELEMENTS * SIZE);
        expect_healthy(rig);
        rig_free(rig);
    }
    assert_true(partial > 10);
}

/* Aborted at any moment: a true count, then silence. */
static void test_abort(void **state)
{
    unsigned partial = 0;

    (void)state;
    for (unsigned i = 0; i < 60; i++) {
        struct tdma_desc d = rig_copy(ELEMENTS, SIZE);
        struct rig *rig = random_rig();
        const struct tdma_record *r;
        unsigned before;

        for (unsigned k = 0; k < 4; k++) {
            rig_submit(rig, 0, &d, NULL);
        }
        rig_ring(rig);
        run_quanta(rig, test_random() % 12);
        control(rig, 0, TDMA_QCTL_ABORT);
        while (rig_quantum(rig)) {
        }
        r = rig_record(rig, 0, 0);
        assert_true(r->status == TDMA_STATUS_ABORTED ||
                    r->status == TDMA_STATUS_OK);
        assert_int_equal(r->src_done, r->dst_done);
        expect_prefix(rig, r->dst_done);
        partial += r->dst_done && r->dst_done < ELEMENTS;
        for (unsigned k = 1; k < 4; k++) {
            assert_true(rig_record(rig, 0, k)->status == TDMA_STATUS_ABORTED ||
                        r->status == TDMA_STATUS_OK);
        }
        before = written(rig);
        run_quanta(rig, 20);
        assert_int_equal(written(rig), before);
        expect_healthy(rig);
        rig_free(rig);
    }
    assert_true(partial > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bus_error),
        cmocka_unit_test(test_poison),
        cmocka_unit_test(test_unknown_id),
        cmocka_unit_test(test_duplicate_id),
        cmocka_unit_test(test_neighbours),
        cmocka_unit_test(test_fault_behind_lead),
        cmocka_unit_test(test_real_bus_error),
        cmocka_unit_test(test_no_request_no_error),
        cmocka_unit_test(test_off_by_default),
        cmocka_unit_test(test_pause),
        cmocka_unit_test(test_bad_response_to_padding),
        cmocka_unit_test(test_bad_response_while_pausing),
        cmocka_unit_test(test_pause_holds_its_own_queue),
        cmocka_unit_test(test_abort),
    };

    test_seed();
    return cmocka_run_group_tests_name("cycle faults", tests, NULL, NULL);
}
