/* SPDX-License-Identifier: MIT */
/*
 * Responses that never come: what hangs, how software can tell it from what is
 * merely slow, and that every way out of it works.
 *
 * machine_run() returns only when no thread wants to go on: a machine that spun
 * on a standstill would never get through these tests.
 */
#include "arena.h"
#include "tdma_machine.h"

enum { BYTES = 1 << 14, ELEMENTS = 1000 };

static struct arena *new_arena(void)
{
    struct tdma_properties props = machine_properties();

    props.inject = 1;
    return arena_new(&props, WINDOWS_ALL, BYTES, 31);
}

static bool is_cycle(const struct arena *a)
{
    return a->m->props.fidelity == TDMA_FIDELITY_CYCLE;
}

static void lose_response(struct machine *m, unsigned side, uint64_t element)
{
    machine_write(m, TDMA_THREAD_BASE + TDMA_THREAD_INJECT_SIDE, side);
    machine_write64(m, TDMA_THREAD_BASE + TDMA_THREAD_INJECT_ELEMENT, element);
    machine_write(m, TDMA_THREAD_BASE + TDMA_THREAD_INJECT,
                  TDMA_INJECT_LOST_RESPONSE);
}

static void control(struct queue *q, uint32_t value)
{
    machine_write(q->m, queue_reg(q->number, TDMA_QUEUE_CONTROL), value);
    machine_run(q->m);
}

static uint32_t wait_reg(struct queue *q)
{
    return machine_read(q->m, queue_reg(q->number, TDMA_QUEUE_WAIT));
}

static uint64_t progress(struct queue *q)
{
    return machine_read64(q->m, queue_reg(q->number, TDMA_QUEUE_PROGRESS));
}

static struct tdma_desc job(void)
{
    return desc_copy(SEG_HOST, SEG_HOST2, 4, ELEMENTS);
}

static uint32_t submit(struct queue *q, const struct tdma_desc *d)
{
    uint32_t index = queue_put(q, d, NULL);

    queue_ring(q);
    return index;
}

/* The queue has work and does not get on with it. */
static void assert_hangs(struct queue *q, uint64_t element)
{
    uint64_t before = progress(q);
    uint32_t done = queue_done(q);

    machine_run(q->m);
    assert_int_equal(queue_state(q), TDMA_QSTATE_RUNNING);
    assert_int_equal(wait_reg(q), TDMA_QWAIT_MEMORY);
    assert_int_equal(queue_done(q), done);
    assert_int_equal(progress(q), before);
    assert_true(before <= element);
}

/* Hang queue 0 of @a at @element. Returns the index of the job. */
static uint32_t hang(struct arena *a, unsigned side, uint64_t element)
{
    struct tdma_desc d = job();
    uint32_t index;

    lose_response(a->m, side, element);
    arena_save(a);
    index = submit(&a->q, &d);
    machine_run(a->m);
    return index;
}

static void assert_aborted(struct arena *a, uint32_t index, uint64_t element)
{
    struct tdma_record r = queue_record(&a->q, index);
    struct tdma_desc d = job();

    assert_int_equal(r.sequence, index + 1);
    assert_int_equal(r.status, TDMA_STATUS_ABORTED);
    assert_true(r.dst_done <= element);
    assert_true(r.src_done <= element);
    /* What had not been promised may be there or not. */
    for (uint64_t i = 0; i < r.dst_done * 4; i++) {
        assert_int_equal(*machine_byte(a->m, 1, SEG_HOST, i),
                         *machine_byte(a->m, 1, SEG_HOST2, i));
    }
    arena_run(a, &d, NULL);
}

static void test_abort(void **state)
{
    static const uint64_t elements[] = { 0, 1, 500, ELEMENTS - 1 };
    struct arena *a = new_arena();

    (void)state;
    for (unsigned i = 0; i < 2 * TEST_COUNT(elements); i++) {
        uint64_t element = elements[i / 2];
        uint64_t before = progress(&a->q);
        uint32_t index = hang(a, i % 2, element);

        assert_hangs(&a->q, before + element);
        control(&a->q, TDMA_QCTL_ENABLE | TDMA_QCTL_ABORT);
        assert_int_equal(queue_state(&a->q), TDMA_QSTATE_IDLE);
        assert_int_equal(wait_reg(&a->q), TDMA_QWAIT_NONE);
        assert_aborted(a, index, element);
    }
    arena_free(a);
}

/* Operations of one side have nobody to wait for. */
static void test_one_side(void **state)
{
    struct arena *a = new_arena();
    struct tdma_desc d[2] = { desc_memset(SEG_HOST, 4, ELEMENTS, 0x5a), job() };

    (void)state;
    d[1].opcode = TDMA_OP_READ;
    d[1].dst_segment = 0;
    d[1].dst_stride[0] = 0;
    for (unsigned i = 0; i < 2; i++) {
        uint32_t index;

        lose_response(a->m, !i, 7);
        index = submit(&a->q, &d[i]);
        machine_run(a->m);
        assert_hangs(&a->q, progress(&a->q));
        control(&a->q, TDMA_QCTL_ENABLE | TDMA_QCTL_ABORT);
        assert_int_equal(queue_record(&a->q, index).status,
                         TDMA_STATUS_ABORTED);
        arena_run(a, &d[i], NULL);
    }
    arena_free(a);
}

/* More than the ring's worth of jobs behind it: none of them moves either. */
static void test_disable(void **state)
{
    struct arena *a = new_arena();
    struct tdma_desc d = job();

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        hang(a, i % 2, 20);
        for (unsigned n = 1; n < 1U << a->q.order; n++) {
            submit(&a->q, &d);
        }
        assert_hangs(&a->q, (1U << a->q.order) * ELEMENTS);
        control(&a->q, 0);
        assert_int_equal(queue_state(&a->q), TDMA_QSTATE_OFF);
        a->q.tail = 0;
        control(&a->q, TDMA_QCTL_ENABLE);
        assert_int_equal(progress(&a->q), 0);
        arena_run(a, &d, NULL);
        assert_int_equal(progress(&a->q), ELEMENTS);
        machine_write(a->m, queue_reg(0, TDMA_QUEUE_CONTROL), 0);
        a->q.tail = 0;
        control(&a->q, TDMA_QCTL_ENABLE);
    }
    arena_free(a);
}

static void test_reset(void **state)
{
    struct arena *a = new_arena();
    struct queue_config config = { .context = 1 };
    struct tdma_desc d = job();

    (void)state;
    hang(a, 0, 20);
    machine_write(a->m, TDMA_REG_CONTROL, TDMA_CONTROL_RESET);
    machine_setup(a->m);
    a->q = machine_queue(a->m, 0, &config);
    assert_int_equal(wait_reg(&a->q), TDMA_QWAIT_NONE);
    assert_int_equal(queue_do(&a->q, &d, NULL).status, TDMA_STATUS_OK);
    arena_free(a);
}

/*
 * A pipeline drains before it is paused, and this one cannot; an engine that
 * gives jobs back is paused as ever. Then it hangs again.
 */
static void test_pause(void **state)
{
    struct arena *a = new_arena();
    uint32_t index;

    (void)state;
    index = hang(a, 1, 20);
    for (unsigned i = 0; i < 3; i++) {
        control(&a->q, TDMA_QCTL_ENABLE | TDMA_QCTL_PAUSE);
        assert_int_equal(queue_state(&a->q), is_cycle(a)
                         ? TDMA_QSTATE_STOPPING : TDMA_QSTATE_PAUSED);
        assert_int_equal(wait_reg(&a->q), is_cycle(a)
                         ? TDMA_QWAIT_MEMORY : TDMA_QWAIT_NONE);
        control(&a->q, TDMA_QCTL_ENABLE);
        assert_hangs(&a->q, 20);
    }
    control(&a->q, TDMA_QCTL_ENABLE | TDMA_QCTL_PAUSE);
    control(&a->q, TDMA_QCTL_ENABLE | TDMA_QCTL_ABORT);
    assert_aborted(a, index, 20);
    arena_free(a);
}

/*
 * Behind a descriptor that hangs in a pipeline others wait for their turn and
 * say so; an engine that gives jobs back serves them.
 */
static void test_neighbour_on_thread(void **state)
{
    struct arena *a = new_arena();
    struct queue_config config = { .context = 1 };
    struct queue q = machine_queue(a->m, 1, &config);
    struct tdma_desc d = desc_copy(SEG_HOST, SEG_HBM, 4, ELEMENTS);
    uint32_t index;

    (void)state;
    hang(a, 0, 20);
    index = submit(&q, &d);
    machine_run(a->m);
    assert_hangs(&a->q, 20);
    if (is_cycle(a)) {
        assert_int_equal(queue_state(&q), TDMA_QSTATE_RUNNING);
        assert_int_equal(wait_reg(&q), TDMA_QWAIT_TURN);
        assert_int_equal(progress(&q), 0);
        control(&a->q, 0);
    }
    assert_int_equal(queue_record(&q, index).status, TDMA_STATUS_OK);
    assert_int_equal(wait_reg(&q), TDMA_QWAIT_NONE);
    assert_int_equal(progress(&q), ELEMENTS);
    control(&a->q, 0);
    assert_int_equal(queue_state(&a->q), TDMA_QSTATE_OFF);
    arena_free(a);
}

/* Queues that any thread may serve keep away from one that hangs. */
static void test_other_threads_go_on(void **state)
{
    struct arena *a = new_arena();
    struct queue_config config = { .context = 1, .thread = TDMA_THREAD_ANY };
    struct tdma_desc d = desc_copy(SEG_HOST, SEG_HBM, 4, ELEMENTS);
    unsigned threads = a->m->props.threads;
    struct queue q;

    (void)state;
    assert_true(threads > 1);
    hang(a, 0, 20);
    for (unsigned i = 1; i < 4 * threads; i++) {
        q = machine_queue(a->m, i, &config);
        assert_int_equal(queue_do(&q, &d, NULL).status, TDMA_STATUS_OK);
    }
    assert_hangs(&a->q, 20);
    arena_free(a);
}

/* A throttled, a paused or a starved queue is slow, and nothing else. */
static void test_slow_is_no_hang(void **state)
{
    struct tdma_properties props = machine_properties();
    struct queue_config config = { .context = 1, .priority = 1 };
    struct tdma_desc d = job();
    struct queue rival;
    struct arena *a;
    uint64_t last = 0;
    bool more = true;

    (void)state;
    props.quantum_bytes = 4096;
    props.quantum_steps = 64;
    a = arena_new(&props, WINDOWS_ALL, BYTES, 32);
    rival = machine_queue(a->m, 1, &config);
    machine_write(a->m, TDMA_THREAD_BASE + TDMA_THREAD_THROTTLE_BUDGET, 1);
    machine_write(a->m, TDMA_THREAD_BASE + TDMA_THREAD_THROTTLE_WINDOW, 50);
    d.src_stride[0] = 8;
    submit(&a->q, &d);
    while (more) {
        more = tdma_core_run(a->m->core, 0);
        assert_int_not_equal(wait_reg(&a->q), TDMA_QWAIT_MEMORY);
        assert_true(progress(&a->q) >= last);
        last = progress(&a->q);
        if (last && last < ELEMENTS && !rival.tail) {
            submit(&rival, &d);
        }
    }
    assert_int_equal(last, ELEMENTS);
    assert_int_equal(progress(&rival), ELEMENTS);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_abort),
        cmocka_unit_test(test_one_side),
        cmocka_unit_test(test_disable),
        cmocka_unit_test(test_reset),
        cmocka_unit_test(test_pause),
        cmocka_unit_test(test_neighbour_on_thread),
        cmocka_unit_test(test_other_threads_go_on),
        cmocka_unit_test(test_slow_is_no_hang),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
