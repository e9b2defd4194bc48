/* SPDX-License-Identifier: MIT */
/*
 * Queues: rings, records, what software may ask of them, and what becomes of
 * descriptors when it does.
 */
#include "arena.h"
#include "tdma_machine.h"

enum {
    BYTES = 1 << 16,
    RING_MAX = 64,
    IN_FLIGHT_MAX = 16,         /* descriptors of a queue in a pipeline */
};

/* Descriptors of a queue that a machine takes at a time */
static unsigned in_flight(const struct machine *m)
{
    return m->props.fidelity == TDMA_FIDELITY_CYCLE ? IN_FLIGHT_MAX : 1;
}

static struct arena *new_arena(void)
{
    struct tdma_properties props = machine_properties();

    return arena_new(&props, WINDOWS_ALL, BYTES, 11);
}

/* Quanta so small that a job takes many */
static struct arena *new_slow_arena(void)
{
    struct tdma_properties props = machine_properties();

    props.quantum_bytes = 4096;
    props.quantum_steps = 64;
    return arena_new(&props, WINDOWS_ALL, BYTES, 12);
}

static struct tdma_desc long_job(void)
{
    struct tdma_desc d = desc_copy(SEG_HOST, SEG_HBM, 7, BYTES / 8);

    d.src_stride[0] = 8;        /* not contiguous: one step per element */
    d.dst_stride[0] = 8;
    return d;
}

static void control(struct queue *q, uint32_t value)
{
    machine_write(q->m, queue_reg(q->number, TDMA_QUEUE_CONTROL), value);
}

static void test_ring_wraps(void **state)
{
    struct arena *a = new_arena();
    struct tdma_desc d = desc_copy(SEG_HOST, SEG_HOST2, 4, 16);
    unsigned i;

    (void)state;
    for (i = 0; i < 5 * RING_MAX + 3; i++) {
        d.tag = i * 7919;
        d.src_offset = i * 4;
        arena_run(a, &d, NULL);
        assert_int_equal(queue_done(&a->q), i + 1);
    }
    arena_free(a);
}

static void test_full_ring_at_once(void **state)
{
    struct arena *a = new_arena();
    struct queue_config config = { .context = 1, .order = 4, .vector = 3 };
    struct queue q = machine_queue(a->m, 5, &config);
    struct tdma_desc d = desc_nop();
    unsigned round, i;

    (void)state;
    d.flags = TDMA_DESC_IRQ;
    for (round = 0; round < 3; round++) {
        for (i = 0; i < 16; i++) {
            d.tag = round * 100 + i;
            queue_put(&q, &d, NULL);
        }
        queue_ring(&q);
        machine_run(a->m);
        assert_int_equal(queue_done(&q), 16 * (round + 1));
        for (i = 0; i < 16; i++) {
            struct tdma_record r = queue_record(&q, round * 16 + i);

            assert_int_equal(r.tag, round * 100 + i);
            assert_int_equal(r.sequence, round * 16 + i + 1);
        }
    }
    assert_int_equal(a->m->irqs[3], 48);
    arena_free(a);
}

/* Indices run on past 2^32; only by a look inside can a test get there. */
static void test_indices_wrap(void **state)
{
    struct arena *a = new_arena();
    struct tdma_desc d = desc_copy(SEG_HOST, SEG_HOST2, 1, 10);
    struct tdma_queue *queue = &a->m->core->queues[0];
    unsigned i;

    (void)state;
    a->q.tail = queue->head = queue->tail = queue->done = UINT32_MAX - 5;
    for (i = 0; i < 12; i++) {
        d.src_offset = i * 8;
        arena_run(a, &d, NULL);
    }
    assert_int_equal(queue_done(&a->q), 6);
    arena_free(a);
}

static void test_tail_in_memory(void **state)
{
    struct arena *a = new_arena();
    struct queue_config config = {
        .context = 1, .tail_in_memory = true, .vector = 1,
    };
    struct queue q = machine_queue(a->m, 7, &config);
    struct tdma_desc d = desc_copy(SEG_HOST, SEG_HOST2, 1, 10);

    (void)state;
    /* The doorbell's value means nothing then. */
    queue_put(&q, &d, NULL);
    *(uint32_t *)machine_ptr(a->m, q.tail_addr) = 1;
    machine_write(a->m, TDMA_DOORBELL_BASE + 7 * TDMA_DOORBELL_STRIDE, 12345);
    machine_run(a->m);
    assert_int_equal(queue_done(&q), 1);
    /* The event doorbell has no value at all. */
    queue_put(&q, &d, NULL);
    *(uint32_t *)machine_ptr(a->m, q.tail_addr) = 2;
    tdma_core_doorbell(a->m->core, 7);
    machine_run(a->m);
    assert_int_equal(queue_done(&q), 2);
    assert_int_equal(queue_state(&q), TDMA_QSTATE_IDLE);
    arena_free(a);
}

/*
 * A tail behind what has been fetched, but not behind what has been retired:
 * the queue halts, what was fetched ends as it would have, and its records are
 * there.
 */
static void test_tail_behind_what_is_fetched(void **state)
{
    struct arena *a = new_slow_arena();
    struct queue *q = &a->q;
    struct tdma_desc d = long_job();
    uint32_t fetched = in_flight(a->m) < 4 ? in_flight(a->m) : 4, i;

    (void)state;
    for (i = 0; i < 4; i++) {
        queue_put(q, &d, NULL);
    }
    queue_ring(q);
    for (i = 0; i < 8; i++) {
        assert_true(tdma_core_run(a->m->core, 0));
    }
    assert_int_equal(machine_read(a->m, queue_reg(q->number, TDMA_QUEUE_HEAD)),
                     fetched);
    assert_int_equal(queue_done(q), 0);
    q->tail = fetched - 1;
    queue_ring(q);
    machine_run(a->m);
    assert_int_equal(queue_state(q), TDMA_QSTATE_HALTED);
    assert_int_equal(queue_error(q), TDMA_QERR_TAIL);
    assert_int_equal(queue_done(q), fetched);
    for (i = 0; i < fetched; i++) {
        assert_int_equal(queue_record(q, i).status, TDMA_STATUS_OK);
    }
    arena_free(a);
}

static unsigned takebacks;

/* As soon as the descriptor has been read its doorbell is taken back. */
static void take_back(struct machine *m, uint64_t addr, size_t len)
{
    if (len == sizeof(struct tdma_desc)) {
        machine_write(m, TDMA_DOORBELL_BASE, 0);
    }
    if (addr >= m->table_addr[1] &&
        addr < m->table_addr[1] + sizeof(m->table[1])) {
        takebacks++;
        assert_int_equal(machine_read(m, queue_reg(0, TDMA_QUEUE_STATE)),
                         TDMA_QSTATE_RUNNING);
        assert_int_equal(machine_read(m, queue_reg(0, TDMA_QUEUE_WAIT)),
                         TDMA_QWAIT_TURN);
    }
}

/*
 * Whoever takes memory away waits until no queue can have found it: from its
 * first look at a segment to the end of the descriptor a queue says RUNNING,
 * also if there seems to be nothing in the ring.
 */
static void test_tail_taken_back_while_fetching(void **state)
{
    struct arena *a = new_arena();
    struct tdma_desc d = desc_copy(SEG_HOST, SEG_HOST2, 1, 10);

    (void)state;
    assert_int_equal(a->q.number, 0);
    takebacks = 0;
    a->m->on_read = take_back;
    queue_put(&a->q, &d, NULL);
    queue_ring(&a->q);
    machine_run(a->m);
    assert_int_not_equal(takebacks, 0);
    assert_int_equal(queue_done(&a->q), 1);
    assert_int_equal(queue_record(&a->q, 0).status, TDMA_STATUS_OK);
    arena_free(a);
}

static struct tdma_segment next_entry;

/* Another entry is there as soon as anything of the old one has been read. */
static void exchange_entry(struct machine *m, uint64_t addr, size_t len)
{
    uint64_t entry = m->table_addr[1] + SEG_HOST * sizeof(next_entry);

    if (addr == entry && len < sizeof(next_entry)) {
        memcpy(machine_ptr(m, entry), &next_entry, sizeof(next_entry));
    }
}

/* An entry that changes while it is read is either of them or none. */
static void test_segment_changes_while_read(void **state)
{
    struct arena *a = new_arena();
    struct tdma_desc d = desc_copy(SEG_HOST, SEG_HOST2, 1, 10);
    struct tdma_segment whole = a->m->table[1][SEG_HOST], none = whole;

    (void)state;
    a->m->on_read = exchange_entry;
    /* taken back in between */
    none.space = TDMA_SPACE_NONE;
    next_entry = none;
    arena_refuse(a, &d, NULL, TDMA_STATUS_BAD_SEGMENT);
    /* made in between: what was read first counts */
    machine_segment(a->m, 1, SEG_HOST, &none);
    next_entry = whole;
    arena_refuse(a, &d, NULL, TDMA_STATUS_BAD_SEGMENT);
    arena_run(a, &d, NULL);
    arena_free(a);
}

/*
 * Descriptors whose check is laborious, and then fails: a quantum ends after a
 * few of them, and others have their turn.
 */
static void test_laborious_checks(void **state)
{
    struct arena *a = new_slow_arena();
    struct queue_config config = { .context = 1, .vector = 1, .order = 6 };
    struct queue q = machine_queue(a->m, 7, &config);
    struct tdma_desc d = desc_copy(SEG_HOST, SEG_HOST2, 1, 2), nop = desc_nop();
    struct tdma_desc_ext e = {
        .version = 1, .naxes = 1, .fill_bytes = 1, .axis_extent = { 1000 },
    };
    unsigned quanta = 0;

    (void)state;
    d.flags |= TDMA_DESC_EXT;
    d.ndims = 4;
    for (unsigned i = 0; i < 4; i++) {
        d.steps[i] = 8;
        d.src_stride[i] = 3000;
        e.src_axis[i] = 1;
        e.src_coef[i] = 1;
    }
    while (q.tail < 64) {
        queue_put(&q, &d, &e);
    }
    queue_ring(&q);
    assert_true(tdma_core_run(a->m->core, 0));
    assert_in_range(queue_done(&q), 2, 62);
    queue_put(&a->q, &nop, NULL);
    queue_ring(&a->q);
    while (!queue_done(&a->q)) {
        tdma_core_run(a->m->core, 0);
        assert_true(quanta++ < 4);
    }
    machine_run(a->m);
    assert_int_equal(queue_done(&q), 64);
    assert_int_equal(queue_record(&q, 0).status, TDMA_STATUS_BAD_EXTENT);
    arena_free(a);
}

/* What is in the ring when the queue is enabled is run. */
static void test_tail_before_enable(void **state)
{
    struct arena *a = new_arena();
    struct queue_config config = { .context = 1, .tail_in_memory = true };
    struct queue q = machine_queue(a->m, 7, &config);
    struct tdma_desc d = desc_nop();

    (void)state;
    machine_run(a->m);
    control(&q, 0);
    queue_put(&q, &d, NULL);
    *(uint32_t *)machine_ptr(a->m, q.tail_addr) = 1;
    control(&q, TDMA_QCTL_ENABLE);
    machine_run(a->m);
    assert_int_equal(queue_done(&q), 1);
    arena_free(a);
}

static void tail_error(struct arena *a, uint32_t tail)
{
    struct queue *q = &a->q;
    struct tdma_desc d = desc_nop();
    unsigned irqs = a->m->irqs[0];

    q->tail = tail;
    queue_ring(q);
    machine_run(a->m);
    assert_int_equal(queue_state(q), TDMA_QSTATE_HALTED);
    assert_int_equal(queue_error(q), TDMA_QERR_TAIL);
    assert_int_equal(a->m->irqs[0], irqs + 1);
    /* It stays so until software has seen to it. */
    q->tail = queue_done(q);
    queue_put(q, &d, NULL);
    control(q, TDMA_QCTL_ENABLE | TDMA_QCTL_RESUME);
    queue_ring(q);
    machine_run(a->m);
    assert_int_equal(queue_state(q), TDMA_QSTATE_IDLE);
    assert_int_equal(queue_error(q), TDMA_QERR_NONE);
}

static void test_tail_too_far(void **state)
{
    struct arena *a = new_arena();
    unsigned i;

    (void)state;
    for (i = 0; i < 4; i++) {
        tail_error(a, queue_done(&a->q) + RING_MAX + 1);
        tail_error(a, queue_done(&a->q) - 1);
        tail_error(a, queue_done(&a->q) + 0x80000000U);
    }
    arena_free(a);
}

/* Every register that is wrong by the smallest amount */
static void test_bad_config(void **state)
{
    static const struct {
        uint16_t reg;
        uint64_t good, bad;
    } cases[] = {
        { TDMA_QUEUE_RING, MACHINE_RAM_BASE, MACHINE_RAM_BASE + 128 },
        { TDMA_QUEUE_RING, MACHINE_RAM_BASE, MACHINE_RAM_BASE + 1 },
        { TDMA_QUEUE_RING, MACHINE_RAM_BASE, UINT64_MAX - 255 },
        { TDMA_QUEUE_RECORDS, MACHINE_RAM_BASE, MACHINE_RAM_BASE + 32 },
        { TDMA_QUEUE_RECORDS, MACHINE_RAM_BASE, UINT64_MAX - 63 },
        { TDMA_QUEUE_TAIL_ADDR, 0, MACHINE_RAM_BASE + 2 },
        { TDMA_QUEUE_RING_ORDER, 1, 0 },
        { TDMA_QUEUE_RING_ORDER, 12, 13 },
        { TDMA_QUEUE_RING_ORDER, 12, UINT32_MAX },
        { TDMA_QUEUE_CONTEXT, 127, 128 },
        { TDMA_QUEUE_VECTOR, MACHINE_VECTORS - 1, MACHINE_VECTORS },
        { TDMA_QUEUE_THREAD, 3, 4 },
        { TDMA_QUEUE_THREAD, TDMA_THREAD_ANY, TDMA_THREAD_ANY - 1 },
        { TDMA_QUEUE_PRIORITY, 7, 8 },
        { TDMA_QUEUE_POLICY, TDMA_POLICY_HALT, 2 },
    };
    struct arena *a = new_arena();
    struct queue_config config = { .context = 1 };
    unsigned i;

    (void)state;
    for (i = 0; i < TEST_COUNT(cases); i++) {
        struct queue q = machine_queue(a->m, 9, &config);
        uint64_t reg = queue_reg(9, cases[i].reg);
        bool wide = cases[i].reg < TDMA_QUEUE_RING_ORDER;
        void (*write)(struct machine *, uint64_t, uint64_t) =
            wide ? machine_write64 : machine_write;

        assert_int_equal(queue_state(&q), TDMA_QSTATE_IDLE);
        control(&q, 0);
        machine_run(a->m);
        assert_int_equal(queue_state(&q), TDMA_QSTATE_OFF);
        write(a->m, reg, cases[i].bad);
        control(&q, TDMA_QCTL_ENABLE);
        assert_int_equal(queue_error(&q), TDMA_QERR_CONFIG);
        assert_int_equal(queue_state(&q), TDMA_QSTATE_OFF);
        assert_int_equal(machine_read(a->m, queue_reg(9, TDMA_QUEUE_CONTROL)),
                         0);
        write(a->m, reg, cases[i].good);
        control(&q, TDMA_QCTL_ENABLE);
        machine_run(a->m);
        assert_int_equal(queue_error(&q), TDMA_QERR_NONE);
        assert_int_not_equal(queue_state(&q), TDMA_QSTATE_OFF);
        control(&q, 0);
        machine_run(a->m);
    }
    arena_free(a);
}

/* The fields above CONTROL do not change under a running queue. */
static void test_config_is_locked(void **state)
{
    static const uint16_t regs[] = {
        TDMA_QUEUE_RING, TDMA_QUEUE_RECORDS, TDMA_QUEUE_TAIL_ADDR,
        TDMA_QUEUE_RING_ORDER, TDMA_QUEUE_CONTEXT, TDMA_QUEUE_VECTOR,
        TDMA_QUEUE_THREAD, TDMA_QUEUE_PRIORITY, TDMA_QUEUE_POLICY,
    };
    struct arena *a = new_arena();
    unsigned i;

    (void)state;
    for (i = 0; i < TEST_COUNT(regs); i++) {
        uint64_t reg = queue_reg(0, regs[i]);
        uint64_t was = machine_read(a->m, reg);
        uint64_t bad = machine_read(a->m, TDMA_REG_BAD_ACCESS);

        machine_write(a->m, reg, was ^ 0x1000);
        assert_int_equal(machine_read(a->m, reg), was);
        assert_int_equal(machine_read(a->m, TDMA_REG_BAD_ACCESS), bad + 1);
    }
    arena_free(a);
}

static void test_abort_running_job(void **state)
{
    struct arena *a = new_slow_arena();
    struct tdma_desc d = long_job(), next = desc_copy(SEG_HOST2, SEG_PAGED, 4,
                                                      10);
    struct tdma_record r;
    unsigned i;

    (void)state;
    arena_save(a);
    queue_put(&a->q, &d, NULL);
    next.tag = 99;
    for (i = 0; i < 5; i++) {
        queue_put(&a->q, &next, NULL);
    }
    queue_ring(&a->q);
    for (i = 0; i < 10; i++) {
        assert_true(tdma_core_run(a->m->core, 0));
    }
    assert_int_equal(queue_state(&a->q), TDMA_QSTATE_RUNNING);
    control(&a->q, TDMA_QCTL_ENABLE | TDMA_QCTL_ABORT);
    machine_run(a->m);
    assert_int_equal(queue_state(&a->q), TDMA_QSTATE_IDLE);
    assert_int_equal(queue_done(&a->q), 6);
    r = queue_record(&a->q, 0);
    assert_int_equal(r.status, TDMA_STATUS_ABORTED);
    assert_in_range(r.dst_done, 1, BYTES / 8 - 1);
    assert_int_equal(r.src_done, r.dst_done);
    /* What it says is moved, and nothing beyond. */
    assert_true(arena_matches(a, &d, NULL, r.dst_done));
    for (i = 1; i < 6; i++) {
        r = queue_record(&a->q, i);
        assert_int_equal(r.status, TDMA_STATUS_ABORTED);
        assert_int_equal(r.tag, 99);
        assert_int_equal(r.sequence, i + 1);
        assert_int_equal(r.dst_done, 0);
    }
    /* And the queue goes on. */
    arena_run(a, &next, NULL);
    arena_free(a);
}

/* An extension block is two slots, also when nobody looks at it. */
static void test_abort_counts_slots(void **state)
{
    struct arena *a = new_slow_arena();
    struct tdma_desc d = long_job(), padded = desc_copy(SEG_HOST, SEG_HOST2, 1,
                                                        1);
    struct tdma_desc_ext e = { .version = 1, .naxes = 1, .fill_bytes = 1 };

    (void)state;
    padded.flags = TDMA_DESC_EXT;
    queue_put(&a->q, &d, NULL);
    queue_put(&a->q, &padded, &e);
    queue_put(&a->q, &padded, &e);
    queue_ring(&a->q);
    assert_true(tdma_core_run(a->m->core, 0));
    control(&a->q, TDMA_QCTL_ENABLE | TDMA_QCTL_ABORT);
    machine_run(a->m);
    assert_int_equal(queue_done(&a->q), 5);
    assert_int_equal(queue_record(&a->q, 1).sequence, 2);
    assert_int_equal(queue_record(&a->q, 3).sequence, 4);
    arena_free(a);
}

static void test_disable_running_job(void **state)
{
    struct arena *a = new_slow_arena();
    struct tdma_desc d = long_job(), nop = desc_nop();
    unsigned i, taken = in_flight(a->m);
    struct tdma_record r;

    (void)state;
    arena_save(a);
    queue_put(&a->q, &d, NULL);
    for (i = 0; i < taken; i++) {
        queue_put(&a->q, &nop, NULL);
    }
    queue_ring(&a->q);
    for (i = 0; i < 7; i++) {
        assert_true(tdma_core_run(a->m->core, 0));
    }
    control(&a->q, 0);
    assert_int_equal(queue_state(&a->q), TDMA_QSTATE_STOPPING);
    /* Not before it is off */
    control(&a->q, TDMA_QCTL_ENABLE);
    assert_int_equal(queue_state(&a->q), TDMA_QSTATE_STOPPING);
    machine_run(a->m);
    assert_int_equal(queue_state(&a->q), TDMA_QSTATE_OFF);
    r = queue_record(&a->q, 0);
    assert_int_equal(r.status, TDMA_STATUS_ABORTED);
    assert_true(arena_matches(a, &d, NULL, r.dst_done));
    /* What waited is dropped without a record. */
    assert_int_equal(queue_record(&a->q, taken).sequence, 0);
    assert_true(tdma_core_idle(a->m->core));
    /* It starts again at index 0. */
    control(&a->q, TDMA_QCTL_ENABLE);
    a->q.tail = 0;
    arena_run(a, &d, NULL);
    assert_int_equal(queue_done(&a->q), 1);
    arena_free(a);
}

/* Two queues of one thread are ended at once, each with a job half done. */
static void end_two(uint32_t value)
{
    struct arena *a = new_slow_arena();
    struct tdma_desc d = long_job();
    struct queue q[2];
    unsigned i;

    for (i = 0; i < 2; i++) {
        struct queue_config config = { .context = 1 };

        q[i] = machine_queue(a->m, 10 + i, &config);
        queue_put(&q[i], &d, NULL);
        queue_ring(&q[i]);
    }
    for (i = 0; i < 6; i++) {
        assert_true(tdma_core_run(a->m->core, 0));
    }
    for (i = 0; i < 2; i++) {
        control(&q[i], value);
    }
    machine_run(a->m);
    for (i = 0; i < 2; i++) {
        assert_int_equal(queue_record(&q[i], 0).status, TDMA_STATUS_ABORTED);
    }
    arena_free(a);
}

static void test_disable_two(void **state)
{
    (void)state;
    end_two(0);
}

static void test_abort_two(void **state)
{
    (void)state;
    end_two(TDMA_QCTL_ENABLE | TDMA_QCTL_ABORT);
}

static void test_pause_and_go_on(void **state)
{
    struct arena *a = new_slow_arena();
    struct tdma_desc d = long_job();
    unsigned i;

    (void)state;
    arena_save(a);
    queue_put(&a->q, &d, NULL);
    queue_ring(&a->q);
    for (i = 0; i < 7; i++) {
        assert_true(tdma_core_run(a->m->core, 0));
    }
    control(&a->q, TDMA_QCTL_ENABLE | TDMA_QCTL_PAUSE);
    assert_int_equal(queue_state(&a->q), TDMA_QSTATE_STOPPING);
    machine_run(a->m);
    assert_int_equal(queue_state(&a->q), TDMA_QSTATE_PAUSED);
    assert_false(tdma_core_idle(a->m->core));
    /* Nothing moves now, whoever calls. */
    arena_save(a);
    assert_false(tdma_core_run(a->m->core, 0));
    assert_false(tdma_core_run(a->m->core, 1));
    assert_true(arena_unchanged(a));
    control(&a->q, TDMA_QCTL_ENABLE);
    machine_run(a->m);
    assert_int_equal(queue_record(&a->q, 0).status, TDMA_STATUS_OK);
    assert_int_equal(queue_record(&a->q, 0).dst_done, BYTES / 8);
    assert_true(arena_matches(a, &d, NULL, BYTES / 8));
    arena_free(a);
}

enum { STORM_QUEUES = 3, STORM_PAIRS = 6, STORM_BYTES = 4096 };

/*
 * A chain of dependent copies on each queue: into HBM and, element by element,
 * on into the other host segment.
 */
static void put_storm(struct queue *q, unsigned number)
{
    unsigned i;

    for (i = 0; i < STORM_PAIRS; i++) {
        uint64_t at = (number * 4 + i % 4) * STORM_BYTES;
        struct tdma_desc d = desc_copy(SEG_HOST, SEG_HBM, 4, STORM_BYTES / 8);

        d.src_offset = at;
        d.dst_offset = at;
        d.src_stride[0] = 8;
        d.dst_stride[0] = 8;
        d.dst_sync_interval = 100;
        queue_put(q, &d, NULL);
        d.src_segment = SEG_HBM;
        d.dst_segment = SEG_HOST2;
        queue_put(q, &d, NULL);
    }
    queue_ring(q);
}

static void check_storm(struct arena *a, struct queue *q, unsigned number)
{
    uint64_t at = number * 4 * STORM_BYTES, i;

    for (i = 0; i < 2 * STORM_PAIRS; i++) {
        struct tdma_record r = queue_record(q, i);

        assert_int_equal(r.status, TDMA_STATUS_OK);
        assert_int_equal(r.src_done, STORM_BYTES / 8);
        assert_int_equal(r.dst_done, STORM_BYTES / 8);
    }
    for (i = at; i < at + 4 * STORM_BYTES; i++) {
        if (i % 8 < 4) {
            assert_int_equal(*machine_byte(a->m, 1, SEG_HOST2, i),
                             *machine_byte(a->m, 1, SEG_HOST, i));
        }
    }
}

/* Queues of one thread are paused, and the device switched off, at any time. */
static void test_pause_storm(void **state)
{
    struct rng rng = { test_env("TDMA_SEED", 1) };
    struct queue_config config = { .context = 1 };
    unsigned round, step, i;

    (void)state;
    printf("# TDMA_SEED=%llu\n", (unsigned long long)rng.state);
    for (round = 0; round < 20; round++) {
        struct arena *a = new_slow_arena();
        struct queue q[STORM_QUEUES];

        for (i = 0; i < STORM_QUEUES; i++) {
            q[i] = machine_queue(a->m, 30 + i, &config);
            put_storm(&q[i], i);
        }
        for (step = 0; step < 300; step++) {
            struct queue *some = &q[rng_below(&rng, STORM_QUEUES)];

            control(some, TDMA_QCTL_ENABLE |
                          (rng_one_in(&rng, 2) ? TDMA_QCTL_PAUSE : 0));
            machine_write(a->m, TDMA_REG_CONTROL,
                          rng_one_in(&rng, 8) ? 0 : TDMA_CONTROL_ENABLE);
            for (i = rng_below(&rng, 4); i; i--) {
                tdma_core_run(a->m->core, 0);
            }
        }
        machine_write(a->m, TDMA_REG_CONTROL, TDMA_CONTROL_ENABLE);
        for (i = 0; i < STORM_QUEUES; i++) {
            control(&q[i], TDMA_QCTL_ENABLE);
        }
        machine_run(a->m);
        for (i = 0; i < STORM_QUEUES; i++) {
            check_storm(a, &q[i], i);
        }
        arena_free(a);
    }
}

/*
 * A queue that is paused does not keep another one of its thread, and then
 * nobody has anything to do, although descriptors are waiting.
 */
static void test_pause_is_no_work(void **state)
{
    struct arena *a = new_slow_arena();
    struct queue_config config = { .context = 1 };
    struct queue other = machine_queue(a->m, 5, &config);
    struct tdma_desc d = long_job(), next = desc_copy(SEG_HOST2, SEG_PAGED, 4,
                                                      100);
    uint64_t cycles = TDMA_THREAD_BASE + TDMA_THREAD_CYCLES, was;
    unsigned i;

    (void)state;
    for (i = 0; i < 5; i++) {
        queue_put(&a->q, &d, NULL);
    }
    queue_ring(&a->q);
    for (i = 0; i < 7; i++) {
        assert_true(tdma_core_run(a->m->core, 0));
    }
    control(&a->q, TDMA_QCTL_ENABLE | TDMA_QCTL_PAUSE);
    queue_put(&other, &next, NULL);
    queue_ring(&other);
    machine_run(a->m);
    assert_int_equal(queue_state(&a->q), TDMA_QSTATE_PAUSED);
    assert_int_equal(queue_record(&other, 0).status, TDMA_STATUS_OK);
    was = machine_read64(a->m, cycles);
    assert_false(tdma_core_run(a->m->core, 0));
    assert_int_equal(machine_read64(a->m, cycles), was);
    control(&a->q, TDMA_QCTL_ENABLE);
    machine_run(a->m);
    assert_int_equal(queue_done(&a->q), 5);
    arena_free(a);
}

static void test_pause_idle_queue(void **state)
{
    struct arena *a = new_arena();
    struct tdma_desc d = desc_nop();

    (void)state;
    control(&a->q, TDMA_QCTL_ENABLE | TDMA_QCTL_PAUSE);
    assert_int_equal(queue_state(&a->q), TDMA_QSTATE_PAUSED);
    queue_put(&a->q, &d, NULL);
    queue_ring(&a->q);
    machine_run(a->m);
    assert_int_equal(queue_done(&a->q), 0);
    /* Waiting descriptors of a paused queue can be given up. */
    control(&a->q, TDMA_QCTL_ENABLE | TDMA_QCTL_PAUSE | TDMA_QCTL_ABORT);
    machine_run(a->m);
    assert_int_equal(queue_done(&a->q), 1);
    assert_int_equal(queue_record(&a->q, 0).status, TDMA_STATUS_ABORTED);
    assert_int_equal(queue_state(&a->q), TDMA_QSTATE_PAUSED);
    control(&a->q, 0);
    machine_run(a->m);
    assert_int_equal(queue_state(&a->q), TDMA_QSTATE_OFF);
    arena_free(a);
}

static void test_abort_paused_job(void **state)
{
    struct arena *a = new_slow_arena();
    struct tdma_desc d = long_job();

    (void)state;
    queue_put(&a->q, &d, NULL);
    queue_ring(&a->q);
    assert_true(tdma_core_run(a->m->core, 0));
    control(&a->q, TDMA_QCTL_ENABLE | TDMA_QCTL_PAUSE);
    machine_run(a->m);
    control(&a->q, TDMA_QCTL_ENABLE | TDMA_QCTL_PAUSE | TDMA_QCTL_ABORT);
    machine_run(a->m);
    assert_int_equal(queue_record(&a->q, 0).status, TDMA_STATUS_ABORTED);
    assert_int_equal(queue_state(&a->q), TDMA_QSTATE_PAUSED);
    arena_free(a);
}

static void test_policy_continue(void **state)
{
    struct arena *a = new_arena();
    struct tdma_desc bad = desc_copy(SEG_HOST, SEG_NONE, 1, 1);
    struct tdma_desc good = desc_copy(SEG_HOST, SEG_HOST2, 1, 1);

    (void)state;
    queue_put(&a->q, &bad, NULL);
    queue_put(&a->q, &good, NULL);
    queue_ring(&a->q);
    machine_run(a->m);
    assert_int_equal(queue_record(&a->q, 0).status, TDMA_STATUS_BAD_SEGMENT);
    assert_int_equal(queue_record(&a->q, 1).status, TDMA_STATUS_OK);
    /* An error interrupts whether or not it was asked for. */
    assert_int_equal(a->m->irqs[0], 1);
    assert_int_equal(machine_read(a->m, queue_reg(0, TDMA_QUEUE_IRQ_STATUS)),
                     1);
    machine_write(a->m, queue_reg(0, TDMA_QUEUE_IRQ_STATUS), 0);
    assert_int_equal(machine_read(a->m, queue_reg(0, TDMA_QUEUE_IRQ_STATUS)),
                     0);
    arena_free(a);
}

static void test_policy_halt(void **state)
{
    struct arena *a = new_arena();
    struct queue_config config = {
        .context = 1, .policy = TDMA_POLICY_HALT, .vector = 2,
    };
    struct queue q = machine_queue(a->m, 3, &config);
    struct tdma_desc bad = desc_copy(SEG_HOST, SEG_NONE, 1, 1);
    struct tdma_desc good = desc_copy(SEG_HOST, SEG_HOST2, 1, 1);

    (void)state;
    queue_put(&q, &good, NULL);
    queue_put(&q, &bad, NULL);
    queue_put(&q, &good, NULL);
    queue_put(&q, &good, NULL);
    queue_ring(&q);
    machine_run(a->m);
    assert_int_equal(queue_state(&q), TDMA_QSTATE_HALTED);
    assert_int_equal(queue_error(&q), TDMA_QERR_JOB);
    assert_int_equal(queue_done(&q), 2);
    assert_int_equal(queue_record(&q, 2).sequence, 0);
    assert_int_equal(a->m->irqs[2], 1);
    control(&q, TDMA_QCTL_ENABLE | TDMA_QCTL_RESUME);
    machine_run(a->m);
    assert_int_equal(queue_state(&q), TDMA_QSTATE_IDLE);
    assert_int_equal(queue_done(&q), 4);
    assert_int_equal(queue_record(&q, 3).status, TDMA_STATUS_OK);
    arena_free(a);
}

/* Instead of going on, what waits behind an error can be given up. */
static void test_abort_halted_queue(void **state)
{
    struct arena *a = new_arena();
    struct queue_config config = { .context = 1, .policy = TDMA_POLICY_HALT };
    struct queue q = machine_queue(a->m, 3, &config);
    struct tdma_desc bad = desc_copy(SEG_HOST, SEG_NONE, 1, 1);
    struct tdma_desc good = desc_copy(SEG_HOST, SEG_HOST2, 1, 1);

    (void)state;
    queue_put(&q, &bad, NULL);
    queue_put(&q, &good, NULL);
    queue_ring(&q);
    machine_run(a->m);
    control(&q, TDMA_QCTL_ENABLE | TDMA_QCTL_ABORT);
    machine_run(a->m);
    assert_int_equal(queue_state(&q), TDMA_QSTATE_HALTED);
    assert_int_equal(queue_record(&q, 1).status, TDMA_STATUS_ABORTED);
    control(&q, TDMA_QCTL_ENABLE | TDMA_QCTL_RESUME);
    machine_run(a->m);
    assert_int_equal(queue_state(&q), TDMA_QSTATE_IDLE);
    arena_free(a);
}

static void test_unreadable_ring(void **state)
{
    struct arena *a = new_arena();
    struct tdma_desc d = desc_copy(SEG_HOST, SEG_HOST2, 1, 1);
    unsigned i;

    (void)state;
    machine_fault(a->m, a->q.ring + 2 * sizeof(d),
                  a->q.ring + 2 * sizeof(d) + 1);
    for (i = 0; i < 4; i++) {
        queue_put(&a->q, &d, NULL);
    }
    queue_ring(&a->q);
    machine_run(a->m);
    assert_int_equal(queue_state(&a->q), TDMA_QSTATE_HALTED);
    assert_int_equal(queue_error(&a->q), TDMA_QERR_RING);
    assert_int_equal(queue_done(&a->q), 2);
    /* Still unreadable: it halts again, and can be given up. */
    control(&a->q, TDMA_QCTL_ENABLE | TDMA_QCTL_RESUME);
    machine_run(a->m);
    assert_int_equal(queue_error(&a->q), TDMA_QERR_RING);
    control(&a->q, TDMA_QCTL_ENABLE | TDMA_QCTL_ABORT);
    machine_run(a->m);
    assert_int_equal(queue_done(&a->q), 4);
    control(&a->q, TDMA_QCTL_ENABLE | TDMA_QCTL_RESUME);
    a->m->faults = 0;
    arena_run(a, &d, NULL);
    arena_free(a);
}

static void test_unreadable_tail(void **state)
{
    struct arena *a = new_arena();
    struct queue_config config = { .context = 1, .tail_in_memory = true };
    struct queue q = machine_queue(a->m, 7, &config);

    (void)state;
    machine_run(a->m);
    machine_fault(a->m, q.tail_addr, q.tail_addr + 1);
    queue_ring(&q);
    machine_run(a->m);
    assert_int_equal(queue_error(&q), TDMA_QERR_RING);
    arena_free(a);
}

/* What is in flight behind the error is finished; nothing more is fetched. */
static void test_unwritable_record(void **state)
{
    struct arena *a = new_arena();
    struct tdma_desc d = desc_copy(SEG_HOST, SEG_HOST2, 1, 5);
    uint64_t at = a->q.records + sizeof(struct tdma_record);
    unsigned i, last = 1 + in_flight(a->m);

    (void)state;
    machine_fault(a->m, at + 60, at + 64);
    for (i = 0; i <= last; i++) {
        queue_put(&a->q, &d, NULL);
    }
    queue_ring(&a->q);
    machine_run(a->m);
    assert_int_equal(queue_error(&a->q), TDMA_QERR_RECORD);
    assert_int_equal(queue_state(&a->q), TDMA_QSTATE_HALTED);
    assert_in_range(queue_done(&a->q), 2, last);
    control(&a->q, TDMA_QCTL_ENABLE | TDMA_QCTL_RESUME);
    machine_run(a->m);
    assert_int_equal(queue_done(&a->q), last + 1);
    assert_int_equal(queue_record(&a->q, last).status, TDMA_STATUS_OK);
    arena_free(a);
}

static void check_extra(struct arena *a, unsigned segment, uint64_t at)
{
    struct tdma_desc d = desc_copy(SEG_HOST, SEG_HOST2, 4, 100);
    struct tdma_record r, extra;
    unsigned i;

    d.flags = TDMA_DESC_RECORD;
    d.record_segment = segment;
    d.record_offset = at;
    d.tag = at + segment;
    r = queue_do(&a->q, &d, NULL);
    assert_int_equal(r.status, TDMA_STATUS_OK);
    for (i = 0; i < sizeof(extra); i++) {
        ((uint8_t *)&extra)[i] = *machine_byte(a->m, 1, segment, at + i);
    }
    assert_memory_equal(&r, &extra, sizeof(r));
}

/* The record the descriptor names, wherever it is */
static void test_extra_record(void **state)
{
    unsigned windows;

    (void)state;
    for (windows = WINDOWS_NONE; windows <= WINDOWS_SOME; windows++) {
        struct tdma_properties props = machine_properties();
        struct arena *a = arena_new(&props, windows, BYTES, 5);
        struct tdma_segment seg;
        uint64_t at;

        machine_segment_paged(a->m, 1, 20, BYTES,
                              TDMA_SEG_READ | TDMA_SEG_WRITE, 8, 1);
        for (at = 0; at + 64 <= BYTES; at += 4096 - 64) {
            check_extra(a, SEG_HOST2, at);
            check_extra(a, SEG_HBM, at);
            check_extra(a, SEG_PAGED, at);
        }
        /* 8 bytes into a page: records lie across the border of two. */
        for (at = 0; at + 64 <= BYTES; at += 64) {
            check_extra(a, 20, at);
        }
        seg = a->m->table[1][SEG_HOST];
        seg.base += 4;
        seg.length -= 64;
        machine_segment(a->m, 1, 21, &seg);
        arena_free(a);
    }
}

static void refuse_record(struct arena *a, unsigned segment, uint64_t at,
                          uint32_t status)
{
    struct tdma_desc d = desc_copy(SEG_HOST, SEG_HOST2, 4, 100);
    struct tdma_record r;

    d.flags = TDMA_DESC_RECORD;
    d.record_segment = segment;
    d.record_offset = at;
    r = arena_refuse(a, &d, NULL, status);
    assert_int_equal(r.fault_side, TDMA_SIDE_RECORD);
}

static void test_extra_record_refused(void **state)
{
    struct arena *a = new_arena();
    struct tdma_segment seg = a->m->table[1][SEG_HOST];

    (void)state;
    refuse_record(a, SEG_HOST, BYTES, TDMA_STATUS_BAD_EXTENT);
    refuse_record(a, SEG_HOST, 32, TDMA_STATUS_BAD_ALIGN);
    refuse_record(a, SEG_NONE, 0, TDMA_STATUS_BAD_SEGMENT);
    refuse_record(a, SEG_READ_ONLY, 0, TDMA_STATUS_BAD_ACCESS);
    /* The offset is aligned, memory behind it is not. */
    seg.base += 4;
    seg.length -= 64;
    machine_segment(a->m, 1, 21, &seg);
    refuse_record(a, 21, 64, TDMA_STATUS_BAD_ALIGN);
    arena_free(a);
}

/* Not reachable in the end: the queue says so. */
static void test_extra_record_unwritable(void **state)
{
    struct arena *a = new_arena();
    struct tdma_desc d = desc_copy(SEG_HOST, SEG_HOST2, 4, 100);

    (void)state;
    d.flags = TDMA_DESC_RECORD;
    d.record_segment = SEG_HOLE;
    queue_do(&a->q, &d, NULL);
    assert_int_equal(queue_error(&a->q), TDMA_QERR_RECORD);
    arena_free(a);
}

static void test_interrupts(void **state)
{
    struct arena *a = new_arena();
    struct tdma_desc d = desc_copy(SEG_HOST, SEG_HOST2, 4, 100);

    (void)state;
    queue_do(&a->q, &d, NULL);
    assert_int_equal(a->m->irqs[0], 0);
    d.flags = TDMA_DESC_IRQ;
    queue_do(&a->q, &d, NULL);
    assert_int_equal(a->m->irqs[0], 1);
    d.flags = TDMA_DESC_IRQ | TDMA_DESC_SYNC_IRQ;
    d.dst_sync_interval = 10;
    queue_do(&a->q, &d, NULL);
    assert_int_equal(a->m->irqs[0], 1 + 10);
    arena_free(a);
}

/* Queues of one thread take turns; a long job does not keep others waiting. */
static void test_turns_on_one_thread(void **state)
{
    struct arena *a = new_slow_arena();
    struct tdma_desc d = long_job(), nop = desc_nop();
    struct queue q[4];
    unsigned i, runs;

    (void)state;
    for (i = 0; i < 4; i++) {
        struct queue_config config = { .context = 1 };

        q[i] = machine_queue(a->m, 10 + i, &config);
        queue_put(&q[i], i ? &nop : &d, NULL);
        queue_ring(&q[i]);
    }
    for (runs = 0; queue_done(&q[3]) == 0; runs++) {
        assert_true(tdma_core_run(a->m->core, 0));
        assert_true(runs < 8);
    }
    assert_int_equal(queue_done(&q[0]), 0);
    machine_run(a->m);
    assert_int_equal(queue_done(&q[0]), 1);
    arena_free(a);
}

/* Two streams of equal descriptors get on equally. */
static void test_turns_are_fair(void **state)
{
    struct arena *a = new_slow_arena();
    struct tdma_desc d = desc_copy(SEG_HOST, SEG_HBM, 4, 200);
    struct queue q[2];
    unsigned i, k;

    (void)state;
    for (i = 0; i < 2; i++) {
        struct queue_config config = { .context = 1 };

        q[i] = machine_queue(a->m, 10 + 100 * i, &config);
        for (k = 0; k < RING_MAX; k++) {
            queue_put(&q[i], &d, NULL);
        }
        queue_ring(&q[i]);
    }
    while (queue_done(&q[0]) < RING_MAX && queue_done(&q[1]) < RING_MAX) {
        assert_true(tdma_core_run(a->m->core, 0));
        assert_in_range(queue_done(&q[0]) + 2 - queue_done(&q[1]), 0, 4);
    }
    arena_free(a);
}

/* So do two endless descriptors, where the engine can put one aside. */
static void test_quanta_are_fair(void **state)
{
    struct arena *a = new_slow_arena();
    struct tdma_desc d = long_job();
    struct queue q[2];
    unsigned i;

    (void)state;
    if (!a->m->core->engine_ops->preemptive) {
        arena_free(a);
        return;                 /* turns are descriptors there */
    }
    d.dst_sync_interval = 1;
    for (i = 0; i < 2; i++) {
        struct queue_config config = { .context = 1 };

        q[i] = machine_queue(a->m, 10 + 100 * i, &config);
        queue_put(&q[i], &d, NULL);
        queue_ring(&q[i]);
    }
    for (i = 0; i < 40; i++) {
        assert_true(tdma_core_run(a->m->core, 0));
    }
    assert_in_range(queue_record(&q[0], 0).dst_done,
                    queue_record(&q[1], 0).dst_done - 70,
                    queue_record(&q[1], 0).dst_done + 70);
    arena_free(a);
}

/*
 * The higher priority goes first: before what the lower one has begun where
 * the engine can put that aside, otherwise before what it has not begun.
 */
static void test_priority(void **state)
{
    struct arena *a = new_slow_arena();
    struct tdma_desc d = long_job();
    struct queue_config low = { .context = 1, .priority = 1 };
    struct queue_config high = { .context = 1, .priority = 6 };
    unsigned i, begun = a->m->core->engine_ops->preemptive ? 0 : IN_FLIGHT_MAX;
    struct queue q[2];

    (void)state;
    q[0] = machine_queue(a->m, 10, &low);
    q[1] = machine_queue(a->m, 11, &high);
    for (i = 0; i < 2 * IN_FLIGHT_MAX; i++) {
        queue_put(&q[0], &d, NULL);
    }
    queue_ring(&q[0]);
    assert_true(tdma_core_run(a->m->core, 0));
    queue_put(&q[1], &d, NULL);
    queue_put(&q[1], &d, NULL);
    queue_ring(&q[1]);
    while (queue_done(&q[1]) != 2) {
        assert_true(tdma_core_run(a->m->core, 0));
        assert_in_range(queue_done(&q[0]), 0, begun);
    }
    machine_run(a->m);
    assert_int_equal(queue_done(&q[0]), 2 * IN_FLIGHT_MAX);
    arena_free(a);
}

/* A queue runs on its thread and no other; one for any, on any. */
static void test_thread_binding(void **state)
{
    struct arena *a = new_arena();
    struct queue_config two = { .context = 1, .thread = 2 };
    struct queue_config any = { .context = 1, .thread = TDMA_THREAD_ANY };
    struct queue q = machine_queue(a->m, 20, &two);
    struct queue p = machine_queue(a->m, 21, &any);
    struct tdma_desc d = desc_nop();

    (void)state;
    machine_run(a->m);
    queue_put(&q, &d, NULL);
    queue_ring(&q);
    assert_int_equal(a->m->kicked, 1 << 2);
    assert_false(tdma_core_run(a->m->core, 0));
    assert_int_equal(queue_done(&q), 0);
    assert_false(tdma_core_run(a->m->core, 2));
    assert_int_equal(queue_done(&q), 1);
    queue_put(&p, &d, NULL);
    queue_ring(&p);
    assert_false(tdma_core_run(a->m->core, 3));
    assert_int_equal(queue_done(&p), 1);
    arena_free(a);
}

/* A fence waits for everything before it; so does what comes after it. */
static void test_fence(void **state)
{
    struct arena *a = new_slow_arena();
    struct tdma_desc d = long_job(), f = desc_nop();

    (void)state;
    f.flags = TDMA_DESC_FENCE;
    queue_put(&a->q, &d, NULL);
    queue_put(&a->q, &f, NULL);
    d.flags = TDMA_DESC_FENCE;
    queue_put(&a->q, &d, NULL);
    queue_ring(&a->q);
    machine_run(a->m);
    assert_int_equal(queue_done(&a->q), 3);
    assert_int_equal(queue_record(&a->q, 2).status, TDMA_STATUS_OK);
    arena_free(a);
}

static void test_reset_running_job(void **state)
{
    struct arena *a = new_slow_arena();
    struct tdma_desc d = long_job();
    struct queue_config config = { .context = 1 };
    unsigned i;

    (void)state;
    queue_put(&a->q, &d, NULL);
    queue_ring(&a->q);
    for (i = 0; i < 5; i++) {
        assert_true(tdma_core_run(a->m->core, 0));
    }
    machine_write(a->m, TDMA_REG_CONTROL,
                  TDMA_CONTROL_ENABLE | TDMA_CONTROL_RESET);
    assert_int_equal(a->m->quiesced, 1);
    assert_int_equal(machine_read(a->m, TDMA_REG_GENERATION), 1);
    assert_int_equal(machine_read(a->m, TDMA_REG_CONTROL), 0);
    assert_int_equal(queue_state(&a->q), TDMA_QSTATE_OFF);
    arena_save(a);
    for (i = 0; i < 4; i++) {
        assert_false(tdma_core_run(a->m->core, i));
    }
    assert_true(arena_unchanged(a));
    assert_int_equal(queue_record(&a->q, 0).sequence, 0);
    machine_setup(a->m);
    a->q = machine_queue(a->m, 0, &config);
    arena_run(a, &d, NULL);
    arena_free(a);
}

/* With the device disabled nothing starts; nothing is lost either. */
static void test_device_disabled(void **state)
{
    struct arena *a = new_slow_arena();
    struct tdma_desc d = long_job();

    (void)state;
    arena_save(a);
    queue_put(&a->q, &d, NULL);
    queue_ring(&a->q);
    assert_true(tdma_core_run(a->m->core, 0));
    machine_write(a->m, TDMA_REG_CONTROL, 0);
    machine_run(a->m);
    assert_int_equal(queue_done(&a->q), 0);
    assert_false(tdma_core_run(a->m->core, 0));
    machine_write(a->m, TDMA_REG_CONTROL, TDMA_CONTROL_ENABLE);
    machine_run(a->m);
    assert_int_equal(queue_record(&a->q, 0).status, TDMA_STATUS_OK);
    assert_true(arena_matches(a, &d, NULL, BYTES / 8));
    arena_free(a);
}

/* The descriptor that counts is the one that was there when it was fetched. */
static void test_descriptor_changed_after_fetch(void **state)
{
    struct arena *a = new_slow_arena();
    struct tdma_desc d = long_job();

    (void)state;
    arena_save(a);
    queue_put(&a->q, &d, NULL);
    queue_ring(&a->q);
    assert_true(tdma_core_run(a->m->core, 0));
    memset(machine_ptr(a->m, a->q.ring), 0xff, sizeof(d));
    machine_run(a->m);
    assert_int_equal(queue_record(&a->q, 0).status, TDMA_STATUS_OK);
    assert_true(arena_matches(a, &d, NULL, BYTES / 8));
    arena_free(a);
}

/* An extension block the producer has not handed over does not count. */
static void test_extension_beyond_tail(void **state)
{
    struct arena *a = new_arena();
    struct tdma_desc d = desc_copy(SEG_HOST, SEG_HOST2, 1, 1);
    struct tdma_record r;

    (void)state;
    d.flags = TDMA_DESC_EXT;
    r = arena_refuse(a, &d, NULL, TDMA_STATUS_BAD_FLAGS);
    assert_int_equal(r.fault_field, offsetof(struct tdma_desc, flags));
    assert_int_equal(queue_done(&a->q), 1);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ring_wraps),
        cmocka_unit_test(test_full_ring_at_once),
        cmocka_unit_test(test_indices_wrap),
        cmocka_unit_test(test_tail_in_memory),
        cmocka_unit_test(test_tail_behind_what_is_fetched),
        cmocka_unit_test(test_tail_taken_back_while_fetching),
        cmocka_unit_test(test_segment_changes_while_read),
        cmocka_unit_test(test_laborious_checks),
        cmocka_unit_test(test_tail_before_enable),
        cmocka_unit_test(test_tail_too_far),
        cmocka_unit_test(test_bad_config),
        cmocka_unit_test(test_config_is_locked),
        cmocka_unit_test(test_abort_running_job),
        cmocka_unit_test(test_abort_counts_slots),
        cmocka_unit_test(test_disable_running_job),
        cmocka_unit_test(test_disable_two),
        cmocka_unit_test(test_abort_two),
        cmocka_unit_test(test_pause_and_go_on),
        cmocka_unit_test(test_pause_is_no_work),
        cmocka_unit_test(test_pause_storm),
        cmocka_unit_test(test_pause_idle_queue),
        cmocka_unit_test(test_abort_paused_job),
        cmocka_unit_test(test_policy_continue),
        cmocka_unit_test(test_policy_halt),
        cmocka_unit_test(test_abort_halted_queue),
        cmocka_unit_test(test_unreadable_ring),
        cmocka_unit_test(test_unreadable_tail),
        cmocka_unit_test(test_unwritable_record),
        cmocka_unit_test(test_extra_record),
        cmocka_unit_test(test_extra_record_refused),
        cmocka_unit_test(test_extra_record_unwritable),
        cmocka_unit_test(test_interrupts),
        cmocka_unit_test(test_turns_on_one_thread),
        cmocka_unit_test(test_turns_are_fair),
        cmocka_unit_test(test_quanta_are_fair),
        cmocka_unit_test(test_priority),
        cmocka_unit_test(test_thread_binding),
        cmocka_unit_test(test_fence),
        cmocka_unit_test(test_reset_running_job),
        cmocka_unit_test(test_device_disabled),
        cmocka_unit_test(test_descriptor_changed_after_fetch),
        cmocka_unit_test(test_extension_beyond_tail),
    };

    return cmocka_run_group_tests_name("queue", tests, NULL, NULL);
}
