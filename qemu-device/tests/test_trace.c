/* SPDX-License-Identifier: MIT */
/*
 * The trace ring of a DMA thread: what software sees in it, and what it can
 * and cannot do to the engine.
 */
#include <linux/tensordma_trace.h>
#include "arena.h"

enum { BYTES = 1 << 16, LANES = 4 };

struct ring {
    struct machine *m;
    uint64_t at;
    unsigned order;
    uint32_t tail;
};

static uint64_t reg(uint32_t offset)
{
    return TDMA_THREAD_BASE + offset;
}

static uint32_t state_of(struct machine *m)
{
    return machine_read(m, reg(TDMA_THREAD_TRACE_STATE));
}

static void enable(struct machine *m, bool on)
{
    machine_write(m, reg(TDMA_THREAD_TRACE_CONTROL),
                  on ? TDMA_TRCTL_ENABLE : 0);
}

static void configure(const struct ring *r, uint32_t events)
{
    machine_write64(r->m, reg(TDMA_THREAD_TRACE_BASE), r->at);
    machine_write(r->m, reg(TDMA_THREAD_TRACE_ORDER), r->order);
    machine_write(r->m, reg(TDMA_THREAD_TRACE_EVENTS), events);
    enable(r->m, true);
}

static struct ring start(struct machine *m, unsigned order, uint32_t events)
{
    struct ring r = { .m = m, .order = order };

    r.at = machine_alloc(m, sizeof(struct tdma_trace_entry) << order,
                         TDMA_TRACE_ALIGN);
    configure(&r, events);
    assert_int_equal(state_of(m), TDMA_TRSTATE_ON);
    return r;
}

/* The next entry, or false; software takes note of what it has read. */
static bool next(struct ring *r, struct tdma_trace_entry *entry)
{
    uint32_t size = 1U << r->order;

    if (r->tail == machine_read(r->m, reg(TDMA_THREAD_TRACE_HEAD))) {
        return false;
    }
    memcpy(entry, machine_ptr(r->m, r->at + r->tail % size * sizeof(*entry)),
           sizeof(*entry));
    r->tail++;
    machine_write(r->m, reg(TDMA_THREAD_TRACE_TAIL), r->tail);
    return true;
}

static uint64_t lost(struct machine *m)
{
    return machine_read64(m, reg(TDMA_THREAD_TRACE_LOST));
}

static struct arena *new_arena(void)
{
    struct tdma_properties props = machine_properties();

    return arena_new(&props, WINDOWS_ALL, BYTES, 17);
}

static void expect(struct ring *r, unsigned event, unsigned side,
                   unsigned code, uint64_t value, uint64_t *cycle)
{
    struct tdma_trace_entry e;

    assert_true(next(r, &e));
    assert_int_equal(e.event, event);
    assert_int_equal(e.side, side);
    assert_int_equal(e.code, code);
    assert_int_equal(e.value, value);
    assert_int_equal(e.sequence, r->tail - 1);
    assert_int_equal(e.thread, 0);
    assert_int_equal(e.queue, 0);
    assert_true(e.cycle >= *cycle);
    *cycle = e.cycle;
}

/* What both fidelities tell: start, partial updates, end. */
static void test_jobs(void **state)
{
    struct arena *a = new_arena();
    struct ring r = start(a->m, 5, 1U << TDMA_TRACE_START |
                          1U << TDMA_TRACE_SYNC | 1U << TDMA_TRACE_END);
    struct tdma_desc d = desc_copy(SEG_HOST, SEG_HOST2, 4, 1000);
    uint64_t cycle = 0, first;
    struct tdma_record record;
    struct tdma_trace_entry e;
    unsigned i;

    (void)state;
    d.dst_sync_interval = 300;
    d.src_sync_interval = 500;
    for (i = 0; i < 20; i++) {
        record = arena_run(a, &d, NULL);
        expect(&r, TDMA_TRACE_START, TDMA_SIDE_NONE, TDMA_OP_COPY, 1000,
               &cycle);
        first = cycle;
        expect(&r, TDMA_TRACE_SYNC, TDMA_SIDE_DST, 0, 300, &cycle);
        expect(&r, TDMA_TRACE_SYNC, TDMA_SIDE_SRC, 0, 500, &cycle);
        expect(&r, TDMA_TRACE_SYNC, TDMA_SIDE_DST, 0, 600, &cycle);
        expect(&r, TDMA_TRACE_SYNC, TDMA_SIDE_DST, 0, 900, &cycle);
        expect(&r, TDMA_TRACE_END, TDMA_SIDE_NONE, TDMA_STATUS_OK,
               record.cycles, &cycle);
        assert_in_range(cycle - first, record.cycles, record.cycles + 20);
        assert_false(next(&r, &e));
    }
    assert_int_equal(lost(a->m), 0);
    arena_free(a);
}

/* Nothing is written unless asked for; nor after it has been switched off. */
static void test_off(void **state)
{
    struct arena *a = new_arena();
    struct tdma_desc d = desc_copy(SEG_HOST, SEG_HOST2, 4, 100);
    struct ring r = { .m = a->m, .order = 4 };
    static const uint8_t zero[16 * sizeof(struct tdma_trace_entry)];

    (void)state;
    assert_true(machine_read(a->m, TDMA_REG_FEATURES) & TDMA_FEATURE_TRACE);
    assert_int_equal(state_of(a->m), TDMA_TRSTATE_OFF);
    arena_run(a, &d, NULL);
    r = start(a->m, 4, TDMA_TRACE_ALL);
    enable(a->m, false);
    assert_int_equal(state_of(a->m), TDMA_TRSTATE_OFF);
    arena_run(a, &d, NULL);
    assert_memory_equal(machine_ptr(a->m, r.at), zero, sizeof(zero));
    enable(a->m, true);
    /* no event is asked for */
    machine_write(a->m, reg(TDMA_THREAD_TRACE_EVENTS), 0);
    assert_int_equal(machine_read(a->m, TDMA_REG_BAD_ACCESS), 1);
    arena_run(a, &d, NULL);
    assert_int_not_equal(machine_read(a->m, reg(TDMA_THREAD_TRACE_HEAD)), 0);
    machine_write(a->m, TDMA_REG_CONTROL, TDMA_CONTROL_RESET);
    assert_int_equal(state_of(a->m), TDMA_TRSTATE_OFF);
    assert_int_equal(machine_read(a->m, reg(TDMA_THREAD_TRACE_HEAD)), 0);
    assert_int_equal(machine_read64(a->m, reg(TDMA_THREAD_TRACE_BASE)), 0);
    arena_free(a);
}

struct look {
    struct ring ring;
    unsigned seen;
};

/* Called at the updates: what has been told so far? */
static void watch(struct machine *m, unsigned queue, uint32_t index)
{
    struct look *look = m->progress_opaque;
    struct tdma_trace_entry e;

    (void)queue;
    (void)index;
    while (next(&look->ring, &e)) {
        look->seen++;
    }
}

/* A record that is final does not come before the entries of its job. */
static void test_before_the_record(void **state)
{
    struct tdma_properties props = machine_properties();
    struct tdma_desc d = desc_copy(SEG_HOST, SEG_HOST2, 4, 100);
    struct look look = { .seen = 0 };
    struct arena *a;
    unsigned i;

    (void)state;
    props.fidelity = TDMA_FIDELITY_FAST;
    a = arena_new(&props, WINDOWS_ALL, BYTES, 17);
    look.ring = start(a->m, 8, 1U << TDMA_TRACE_END);
    a->m->on_progress = watch;
    a->m->progress_opaque = &look;
    d.dst_sync_interval = 99;
    for (i = 0; i < 10; i++) {
        d.dst_offset = i * 400;
        queue_put(&a->q, &d, NULL);
    }
    queue_ring(&a->q);
    /* all in one quantum, one by one: each update sees the ends before it */
    assert_false(tdma_core_run(a->m->core, 0));
    assert_int_equal(look.seen, 9);
    arena_free(a);
}

/* A full ring holds up nobody; what it missed is counted and shows as a gap. */
static void test_overflow(void **state)
{
    struct arena *a = new_arena();
    struct ring r = start(a->m, 2, 1U << TDMA_TRACE_SYNC);
    struct tdma_desc d = desc_copy(SEG_HOST, SEG_HOST2, 4, 1000);
    struct tdma_trace_entry e;
    unsigned i;

    (void)state;
    d.dst_sync_interval = 100;
    arena_run(a, &d, NULL);
    assert_int_equal(machine_read(a->m, reg(TDMA_THREAD_TRACE_HEAD)), 4);
    assert_int_equal(lost(a->m), 5);
    for (i = 0; i < 4; i++) {
        assert_true(next(&r, &e));
        assert_int_equal(e.sequence, i);
    }
    assert_false(next(&r, &e));
    arena_run(a, &d, NULL);
    assert_true(next(&r, &e));
    assert_int_equal(e.sequence, 9);
    assert_int_equal(e.index, 1);
    assert_int_equal(lost(a->m), 10);
    arena_free(a);
}

/* Memory that refuses the ring ends the trace, and only that. */
static void test_fault(void **state)
{
    struct arena *a = new_arena();
    struct ring r = start(a->m, 4, 1U << TDMA_TRACE_END);
    struct tdma_desc d = desc_copy(SEG_HOST, SEG_HOST2, 4, 100);
    struct tdma_trace_entry e;
    unsigned i;

    (void)state;
    machine_fault(a->m, r.at + 3 * sizeof(e), r.at + 4 * sizeof(e));
    for (i = 0; i < 3; i++) {
        arena_run(a, &d, NULL);
        assert_int_equal(state_of(a->m), TDMA_TRSTATE_ON);
    }
    arena_run(a, &d, NULL);
    assert_int_equal(state_of(a->m), TDMA_TRSTATE_FAULT);
    assert_int_equal(machine_read(a->m, reg(TDMA_THREAD_TRACE_CONTROL)), 0);
    assert_int_equal(machine_read(a->m, reg(TDMA_THREAD_TRACE_HEAD)), 3);
    assert_int_equal(queue_error(&a->q), TDMA_QERR_NONE);
    arena_run(a, &d, NULL);
    assert_int_equal(machine_read(a->m, reg(TDMA_THREAD_TRACE_HEAD)), 3);
    /* corrected, it starts over */
    a->m->faults = 0;
    configure(&r, 1U << TDMA_TRACE_END);
    assert_int_equal(state_of(a->m), TDMA_TRSTATE_ON);
    arena_run(a, &d, NULL);
    assert_true(next(&r, &e));
    assert_int_equal(e.sequence, 0);
    assert_int_equal(e.index, 5);
    arena_free(a);
}

static void test_config(void **state)
{
    static const struct {
        uint64_t base;
        uint32_t order;
        uint32_t state;
    } cases[] = {
        { MACHINE_RAM_BASE, 0, TDMA_TRSTATE_CONFIG },
        { MACHINE_RAM_BASE, TDMA_TRACE_ORDER_MAX + 1, TDMA_TRSTATE_CONFIG },
        { MACHINE_RAM_BASE, UINT32_MAX, TDMA_TRSTATE_CONFIG },
        { MACHINE_RAM_BASE + 32, 4, TDMA_TRSTATE_CONFIG },
        { UINT64_MAX - 63, 1, TDMA_TRSTATE_CONFIG },
        { MACHINE_RAM_BASE, TDMA_TRACE_ORDER_MAX, TDMA_TRSTATE_ON },
        { MACHINE_RAM_BASE, 1, TDMA_TRSTATE_ON },
    };
    struct arena *a = new_arena();
    struct machine *m = a->m;
    unsigned i;

    (void)state;
    for (i = 0; i < TEST_COUNT(cases); i++) {
        struct ring r = { .m = m, .at = cases[i].base,
                          .order = cases[i].order };
        bool on = cases[i].state == TDMA_TRSTATE_ON;

        configure(&r, TDMA_TRACE_ALL);
        assert_int_equal(state_of(m), cases[i].state);
        assert_int_equal(machine_read(m, reg(TDMA_THREAD_TRACE_CONTROL)), on);
        /* locked while on */
        machine_write(m, TDMA_REG_BAD_ACCESS, 0);
        machine_write(m, reg(TDMA_THREAD_TRACE_ORDER), 7);
        assert_int_equal(machine_read(m, reg(TDMA_THREAD_TRACE_ORDER)),
                         on ? cases[i].order : 7);
        assert_int_equal(machine_read(m, TDMA_REG_BAD_ACCESS), on);
        /* there is nothing to have been read */
        machine_write(m, reg(TDMA_THREAD_TRACE_TAIL), 1);
        machine_write(m, reg(TDMA_THREAD_TRACE_TAIL), UINT32_MAX);
        assert_int_equal(machine_read(m, reg(TDMA_THREAD_TRACE_TAIL)), 0);
        assert_int_equal(machine_read(m, TDMA_REG_BAD_ACCESS), on + 2);
        enable(m, false);
    }
    arena_free(a);
}

/*
 * Every request, against the loop nest: cycle fidelity, whatever the rest of
 * this program runs in.
 */
struct side {
    uint64_t issued, answered, stalled[3];
    uint64_t cycle[4096];       /* of the request with this ID */
    bool out[4096];
};

static struct tdma_properties cycle_properties(void)
{
    struct tdma_properties props = machine_properties();

    props.fidelity = TDMA_FIDELITY_CYCLE;
    props.lanes = LANES;
    props.ids = 50;
    props.latency_min = 20;
    props.latency_max = 90;
    props.hbm_bandwidth = 5;
    return props;
}

static void check_issue(struct side *s, const struct tdma_trace_entry *e,
                        const struct tdma_desc *d)
{
    const __s64 *stride = e->side == TDMA_SIDE_DST ? d->dst_stride
                                                   : d->src_stride;
    uint64_t k = s->issued++;

    assert_int_equal(e->value, (uint64_t)(k % d->steps[0] * stride[0] +
                                          k / d->steps[0] * stride[1]));
    assert_int_equal(e->code, e->side == TDMA_SIDE_DST ? TDMA_TRACE_OP_WRITE
                                                       : TDMA_TRACE_OP_READ);
    assert_int_equal(e->lane, k % LANES);
    assert_int_equal(e->id, k % 50);
    assert_false(s->out[e->id]);
    s->out[e->id] = true;
    s->cycle[e->id] = e->cycle;
}

static void check_response(struct side *s, const struct tdma_trace_entry *e)
{
    assert_true(s->out[e->id]);
    assert_in_range(e->cycle - s->cycle[e->id], 20, 2000);
    s->out[e->id] = false;
    s->answered++;
}

static void check_stalls(struct machine *m, const struct side *s,
                         unsigned counters)
{
    static const unsigned counter[] = {
        [TDMA_TRACE_STALL_BACKPRESSURE] = TDMA_COUNTER_STALL_BACKPRESSURE,
        [TDMA_TRACE_STALL_THROTTLE] = TDMA_COUNTER_STALL_THROTTLE,
        [TDMA_TRACE_STALL_IDS] = TDMA_COUNTER_STALL_IDS,
    };
    unsigned i;

    for (i = 0; i < 3; i++) {
        assert_int_not_equal(s->stalled[i], 0);
        assert_int_equal(s->stalled[i],
                         machine_read64(m, reg(counters + counter[i])));
    }
}

static void test_requests(void **state)
{
    struct tdma_properties props = cycle_properties();
    struct arena *a = arena_new(&props, WINDOWS_ALL, BYTES, 23);
    struct tdma_desc d = desc_copy(SEG_HBM, SEG_HBM2, 2, 37);
    struct side side[TDMA_SIDE_DST + 1] = { 0 };
    uint64_t n = 37 * 61, committed = 0, last = 0;
    struct tdma_trace_entry e;
    struct ring r;

    (void)state;
    d.ndims = 2;
    d.steps[1] = 61;
    d.src_stride[0] = 4;
    d.src_stride[1] = 200;
    d.dst_stride[1] = 80;
    machine_write(a->m, reg(TDMA_THREAD_THROTTLE_BUDGET), 45);
    machine_write(a->m, reg(TDMA_THREAD_THROTTLE_WINDOW), 99);
    r = start(a->m, 14, TDMA_TRACE_ALL);
    arena_run(a, &d, NULL);
    while (next(&r, &e)) {
        struct side *s = &side[e.side];

        if (e.event != TDMA_TRACE_STALL) {
            assert_true(e.cycle >= last);
            last = e.cycle;
        }
        switch (e.event) {
        case TDMA_TRACE_ISSUE:
            check_issue(s, &e, &d);
            break;
        case TDMA_TRACE_RESPONSE:
            check_response(s, &e);
            break;
        case TDMA_TRACE_COMMIT:
            assert_true(e.value > committed);
            committed = e.value;
            break;
        case TDMA_TRACE_STALL:
            s->stalled[e.code] += e.value;
            break;
        }
    }
    assert_int_equal(lost(a->m), 0);
    assert_int_equal(committed, n);
    assert_int_equal(side[TDMA_SIDE_SRC].issued, n);
    assert_int_equal(side[TDMA_SIDE_DST].issued, n);
    assert_int_equal(side[TDMA_SIDE_SRC].answered, n);
    assert_int_equal(side[TDMA_SIDE_DST].answered, n);
    check_stalls(a->m, &side[TDMA_SIDE_SRC], TDMA_THREAD_SRC_COUNTERS);
    check_stalls(a->m, &side[TDMA_SIDE_DST], TDMA_THREAD_DST_COUNTERS);
    arena_free(a);
}

/* Watched or not, full or not: the same cycles. */
static void test_does_not_disturb(void **state)
{
    struct tdma_desc d = desc_copy(SEG_HBM, SEG_HBM2, 2, 5000);
    uint64_t cycles[3];
    unsigned i;

    (void)state;
    for (i = 0; i < 3; i++) {
        struct tdma_properties props = cycle_properties();
        struct arena *a = arena_new(&props, WINDOWS_ALL, BYTES, 23);

        if (i) {
            start(a->m, i == 1 ? 16 : 1, TDMA_TRACE_ALL);
        }
        arena_run(a, &d, NULL);
        cycles[i] = machine_read64(a->m, reg(TDMA_THREAD_CYCLES));
        assert_true((lost(a->m) != 0) == (i == 2));
        arena_free(a);
    }
    assert_int_equal(cycles[0], cycles[1]);
    assert_int_equal(cycles[0], cycles[2]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_jobs),
        cmocka_unit_test(test_off),
        cmocka_unit_test(test_before_the_record),
        cmocka_unit_test(test_overflow),
        cmocka_unit_test(test_fault),
        cmocka_unit_test(test_config),
        cmocka_unit_test(test_requests),
        cmocka_unit_test(test_does_not_disturb),
    };

    return cmocka_run_group_tests_name("trace", tests, NULL, NULL);
}
