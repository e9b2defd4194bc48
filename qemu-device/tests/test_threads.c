/* SPDX-License-Identifier: MIT */
/*
 * Several DMA threads at once, with registers written meanwhile: for the
 * thread sanitizer as much as for the results.
 */
#include <pthread.h>
#include <sched.h>
#include <linux/tensordma_trace.h>
#include "machine.h"
#include "reference.h"
#include "test.h"

enum {
    THREADS = 4,
    QUEUES = 12,
    BYTES = 1 << 13,
    ROUNDS = 40,
    RW = TDMA_SEG_READ | TDMA_SEG_WRITE,
};

/* A host with real threads, as an emulator has it */
struct host {
    struct machine *m;
    pthread_mutex_t core_lock;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    pthread_cond_t quiet;
    uint32_t kicked;
    unsigned running;
    unsigned held;
    bool stop;
    unsigned irqs;
    pthread_t thread[THREADS];
    struct worker {
        struct host *host;
        unsigned number;
    } worker[THREADS];
};

static struct host *host;

static void op_lock(void *opaque)
{
    (void)opaque;
    pthread_mutex_lock(&host->core_lock);
}

static void op_unlock(void *opaque)
{
    (void)opaque;
    pthread_mutex_unlock(&host->core_lock);
}

static void op_kick(void *opaque, unsigned thread)
{
    (void)opaque;
    pthread_mutex_lock(&host->mutex);
    host->kicked |= 1U << thread;
    pthread_cond_broadcast(&host->wake);
    pthread_mutex_unlock(&host->mutex);
}

static void op_quiesce(void *opaque)
{
    (void)opaque;
    pthread_mutex_lock(&host->mutex);
    host->held++;
    while (host->running) {
        pthread_cond_wait(&host->quiet, &host->mutex);
    }
    pthread_mutex_unlock(&host->mutex);
}

static void op_resume(void *opaque)
{
    (void)opaque;
    pthread_mutex_lock(&host->mutex);
    host->held--;
    pthread_cond_broadcast(&host->wake);
    pthread_mutex_unlock(&host->mutex);
}

static void op_interrupt(void *opaque, unsigned vector)
{
    (void)opaque;
    (void)vector;
    __atomic_add_fetch(&host->irqs, 1, __ATOMIC_RELAXED);
}

static void *work(void *arg)
{
    struct worker *w = arg;
    uint32_t me = 1U << w->number;

    pthread_mutex_lock(&host->mutex);
    for (;;) {
        bool more;

        while (!host->stop && (host->held || !(host->kicked & me))) {
            pthread_cond_wait(&host->wake, &host->mutex);
        }
        if (host->stop) {
            break;
        }
        host->kicked &= ~me;
        host->running++;
        pthread_mutex_unlock(&host->mutex);
        more = tdma_core_run(host->m->core, w->number);
        pthread_mutex_lock(&host->mutex);
        host->running--;
        host->kicked |= more ? me : 0;
        pthread_cond_broadcast(&host->quiet);
    }
    pthread_mutex_unlock(&host->mutex);
    return NULL;
}

static void host_start(uint64_t quantum_steps)
{
    struct tdma_properties props = machine_properties();
    struct tdma_config config;
    const char *error;
    unsigned i;

    props.threads = THREADS;
    props.quantum_bytes = 4096;
    props.quantum_steps = quantum_steps;
    host = calloc(1, sizeof(*host));
    pthread_mutex_init(&host->core_lock, NULL);
    pthread_mutex_init(&host->mutex, NULL);
    pthread_cond_init(&host->wake, NULL);
    pthread_cond_init(&host->quiet, NULL);
    host->m = machine_new(&props, WINDOWS_ALL);
    /* The same machine, with operations that may be called from threads */
    tdma_core_free(host->m->core);
    host->m->ops.lock = op_lock;
    host->m->ops.unlock = op_unlock;
    host->m->ops.kick = op_kick;
    host->m->ops.quiesce = op_quiesce;
    host->m->ops.resume = op_resume;
    host->m->ops.interrupt = op_interrupt;
    host->m->ops.event = NULL;
    config = (struct tdma_config) { .props = props, .hbm = host->m->hbm };
    host->m->core = tdma_core_new(&config, &host->m->ops, host->m, &error);
    assert_non_null(host->m->core);
    machine_setup(host->m);
    for (i = 0; i < THREADS; i++) {
        host->worker[i] = (struct worker) { host, i };
        pthread_create(&host->thread[i], NULL, work, &host->worker[i]);
    }
}

static void host_stop(void)
{
    unsigned i;

    pthread_mutex_lock(&host->mutex);
    host->stop = true;
    pthread_cond_broadcast(&host->wake);
    pthread_mutex_unlock(&host->mutex);
    for (i = 0; i < THREADS; i++) {
        pthread_join(host->thread[i], NULL);
    }
    machine_free(host->m);
    free(host);
}

/* The record at @index as a consumer polls for it */
static struct tdma_record wait_record(struct queue *q, uint32_t index)
{
    uint64_t at = q->records +
                  (index & ((1U << q->order) - 1)) * sizeof(struct tdma_record);
    uint64_t *word = (uint64_t *)machine_ptr(q->m, at);
    uint64_t last, final = (uint64_t)(index + 1) << 32;

    for (;;) {
        last = __atomic_load_n(&word[7], __ATOMIC_ACQUIRE);
        if (last >> 32 == final >> 32 && (uint32_t)last) {
            return queue_record(q, index);
        }
        sched_yield();
    }
}

static void fill(unsigned segment, uint64_t seed)
{
    struct rng rng = { seed };
    uint64_t i;

    for (i = 0; i < BYTES; i++) {
        *machine_byte(host->m, 1, segment, i) = rng_next(&rng);
    }
}

static bool equal(unsigned a, unsigned b)
{
    uint64_t i = 0;

    while (i < BYTES && *machine_byte(host->m, 1, a, i) ==
                        *machine_byte(host->m, 1, b, i)) {
        i++;
    }
    return i == BYTES;
}

static struct queue start_queue(unsigned number, uint32_t thread)
{
    struct queue_config config = {
        .context = 1, .thread = thread, .vector = number % MACHINE_VECTORS,
    };

    return machine_queue(host->m, number, &config);
}

/* Copies there and back on many queues, bound and unbound, all at once */
static void test_many_queues(void **state)
{
    struct queue q[QUEUES];
    uint32_t last[QUEUES];
    unsigned i, round;

    (void)state;
    host_start(1000);
    for (i = 0; i < QUEUES; i++) {
        machine_segment_host(host->m, 1, 3 * i, BYTES, RW);
        machine_segment_paged(host->m, 1, 3 * i + 1, BYTES, RW, 100, i);
        machine_segment_hbm(host->m, 1, 3 * i + 2, BYTES, RW);
        q[i] = start_queue(i, i % 2 ? TDMA_THREAD_ANY : i % THREADS);
    }
    for (round = 0; round < ROUNDS; round++) {
        for (i = 0; i < QUEUES; i++) {
            struct tdma_desc d = desc_copy(3 * i, 3 * i + 1, 1, BYTES);

            fill(3 * i, round * QUEUES + i);
            d.flags = TDMA_DESC_IRQ;
            queue_put(&q[i], &d, NULL);
            /* The second copy reads what the first one wrote (A2). */
            d = desc_copy(3 * i + 1, 3 * i + 2, 4, BYTES / 4);
            last[i] = queue_put(&q[i], &d, NULL);
            queue_ring(&q[i]);
        }
        for (i = 0; i < QUEUES; i++) {
            assert_int_equal(wait_record(&q[i], last[i]).status,
                             TDMA_STATUS_OK);
            assert_true(equal(3 * i, 3 * i + 2));
        }
    }
    assert_int_equal(__atomic_load_n(&host->irqs, __ATOMIC_RELAXED),
                     QUEUES * ROUNDS);
    host_stop();
}

/*
 * One tensor in slices, each on a thread of its own, with one joint completion:
 * all add to the same sync flag, which reaches the number of elements when the
 * last slice is in memory (A8).
 */
static void test_split_tensor(void **state)
{
    const uint64_t value = TDMA_SYNC_BASE + 7 * TDMA_SYNC_STRIDE;
    struct queue q[THREADS];
    uint32_t last[THREADS];
    unsigned i, round, slice = BYTES / 4 / THREADS;

    (void)state;
    host_start(1000);
    machine_segment_host(host->m, 1, 0, BYTES, RW);
    machine_segment_hbm(host->m, 1, 1, BYTES, RW);
    for (i = 0; i < THREADS; i++) {
        q[i] = start_queue(i, i);
    }
    machine_write(host->m, value + TDMA_SYNC_CONTROL, TDMA_SYNC_PUBLIC);
    for (round = 0; round < ROUNDS; round++) {
        fill(0, round);
        machine_write(host->m, value + TDMA_SYNC_VALUE, 0);
        for (i = 0; i < THREADS; i++) {
            struct tdma_desc d = desc_copy(0, 1, 4, slice);

            d.flags |= TDMA_DESC_DST_SYNC_FLAG;
            d.dst_sync_flag = 7;
            d.dst_sync_interval = slice / 3;
            d.src_offset = d.dst_offset = (uint64_t)i * slice * 4;
            last[i] = queue_put(&q[i], &d, NULL);
            queue_ring(&q[i]);
        }
        while (machine_read(host->m, value + TDMA_SYNC_VALUE) <
               slice * THREADS) {
            sched_yield();
        }
        assert_true(equal(0, 1));
        for (i = 0; i < THREADS; i++) {
            assert_int_equal(wait_record(&q[i], last[i]).status,
                             TDMA_STATUS_OK);
        }
    }
    host_stop();
}

/* The counts a consumer polls are monotonic and true when it sees them. */
static void test_consume_while_it_runs(void **state)
{
    uint64_t seen = 0, n = BYTES / 4, i;
    struct tdma_desc d = desc_copy(0, 1, 4, BYTES / 4);
    struct queue q;
    uint64_t *word;
    uint32_t index;

    (void)state;
    host_start(64);
    machine_segment_host(host->m, 1, 0, BYTES, RW);
    machine_segment_host(host->m, 1, 1, BYTES, RW);
    q = start_queue(0, 0);
    fill(0, 99);
    d.dst_sync_interval = 10;
    d.dst_stride[0] = 4;
    index = queue_put(&q, &d, NULL);
    word = (uint64_t *)machine_ptr(host->m, q.records);
    queue_ring(&q);
    while (seen < n) {
        uint64_t last = __atomic_load_n(&word[7], __ATOMIC_ACQUIRE);
        uint64_t done = last ? __atomic_load_n(&word[2], __ATOMIC_ACQUIRE) : 0;

        assert_true(done >= seen);
        for (i = seen * 4; i < done * 4; i++) {
            assert_int_equal(*machine_byte(host->m, 1, 0, i),
                             *machine_byte(host->m, 1, 1, i));
        }
        seen = done;
    }
    assert_int_equal(wait_record(&q, index).status, TDMA_STATUS_OK);
    host_stop();
}

static void wait_state(struct queue *q, uint32_t want)
{
    while (queue_state(q) != want) {
        sched_yield();
    }
}

/* One source for all, and a destination for each queue */
static void make_segments(void)
{
    unsigned i;

    machine_segment_host(host->m, 1, 0, BYTES, RW);
    for (i = 0; i < QUEUES; i++) {
        machine_segment_hbm(host->m, 1, 1 + i, BYTES, RW);
    }
}

enum { TRACE_ORDER = 6 };

/* A thread's trace is begun, read as far as it is, or ended: and then is off */
static void toggle_trace(unsigned thread, uint64_t ring)
{
    uint64_t block = TDMA_THREAD_BASE + thread * TDMA_THREAD_STRIDE;
    struct machine *m = host->m;

    if (machine_read(m, block + TDMA_THREAD_TRACE_STATE) == TDMA_TRSTATE_OFF) {
        machine_write64(m, block + TDMA_THREAD_TRACE_BASE, ring);
        machine_write(m, block + TDMA_THREAD_TRACE_ORDER, TRACE_ORDER);
        machine_write(m, block + TDMA_THREAD_TRACE_EVENTS, TDMA_TRACE_ALL);
        machine_write(m, block + TDMA_THREAD_TRACE_CONTROL, TDMA_TRCTL_ENABLE);
        return;
    }
    machine_write(m, block + TDMA_THREAD_TRACE_TAIL,
                  machine_read(m, block + TDMA_THREAD_TRACE_HEAD));
    machine_write(m, block + TDMA_THREAD_TRACE_CONTROL, 0);
    while (machine_read(m, block + TDMA_THREAD_TRACE_STATE) !=
           TDMA_TRSTATE_OFF) {
        sched_yield();
    }
    /* nobody writes it any more: the thread sanitizer would say so */
    memset(machine_ptr(m, ring), 0,
           sizeof(struct tdma_trace_entry) << TRACE_ORDER);
}

/* Everything software may do to a queue, at moments nobody chose */
static void test_control_storm(void **state)
{
    struct rng rng = { test_env("TDMA_SEED", 5) };
    struct queue q[QUEUES];
    uint64_t ring[THREADS];
    unsigned i, round;

    (void)state;
    host_start(64);
    make_segments();
    for (i = 0; i < QUEUES; i++) {
        q[i] = start_queue(i, i % 2 ? TDMA_THREAD_ANY : i % THREADS);
    }
    for (i = 0; i < THREADS; i++) {
        ring[i] = machine_alloc(host->m,
                                sizeof(struct tdma_trace_entry) << TRACE_ORDER,
                                TDMA_TRACE_ALIGN);
    }
    for (round = 0; round < 30 * ROUNDS; round++) {
        struct queue *one = &q[rng_below(&rng, QUEUES)];
        uint64_t reg = queue_reg(one->number, TDMA_QUEUE_CONTROL);
        struct tdma_desc d = desc_copy(0, 1 + one->number, 1, BYTES / 2);

        d.src_stride[0] = 2;
        i = rng_below(&rng, THREADS);
        switch (rng_below(&rng, 7)) {
        case 0:
            machine_write(host->m, reg, TDMA_QCTL_ENABLE | TDMA_QCTL_ABORT);
            break;
        case 1:
            machine_write(host->m, reg, TDMA_QCTL_ENABLE | TDMA_QCTL_PAUSE);
            wait_state(one, TDMA_QSTATE_PAUSED);
            machine_write(host->m, reg, TDMA_QCTL_ENABLE);
            break;
        case 2:
            machine_write(host->m, reg, 0);
            wait_state(one, TDMA_QSTATE_OFF);
            one->tail = 0;
            machine_write(host->m, reg, TDMA_QCTL_ENABLE);
            break;
        case 3:
            toggle_trace(i, ring[i]);
            break;
        default:
            if (one->tail - queue_done(one) < 1U << one->order) {
                queue_put(one, &d, NULL);
                queue_ring(one);
            }
            break;
        }
    }
    for (i = 0; i < QUEUES; i++) {
        wait_state(&q[i], TDMA_QSTATE_IDLE);
        assert_int_equal(queue_error(&q[i]), TDMA_QERR_NONE);
        assert_int_equal(queue_done(&q[i]), q[i].tail);
    }
    host_stop();
}

/* Reset while everything runs; afterwards all is as new. */
static void test_reset_storm(void **state)
{
    struct queue q[QUEUES];
    uint64_t ram;
    unsigned i, round;

    (void)state;
    host_start(64);
    make_segments();
    ram = host->m->ram_used;
    for (round = 0; round < ROUNDS; round++) {
        struct tdma_desc d = desc_copy(0, 1, 1, BYTES / 2);

        d.src_stride[0] = 2;
        host->m->ram_used = ram;
        for (i = 0; i < QUEUES; i++) {
            q[i] = start_queue(i, TDMA_THREAD_ANY);
            d.dst_segment = 1 + i;
            queue_put(&q[i], &d, NULL);
            queue_put(&q[i], &d, NULL);
            queue_ring(&q[i]);
        }
        for (i = 0; i < round; i++) {
            sched_yield();
        }
        machine_write(host->m, TDMA_REG_CONTROL, TDMA_CONTROL_RESET);
        assert_int_equal(machine_read(host->m, TDMA_REG_GENERATION),
                         round + 1);
        assert_true(tdma_core_idle(host->m->core));
        machine_setup(host->m);
    }
    host_stop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_queues),
        cmocka_unit_test(test_split_tensor),
        cmocka_unit_test(test_consume_while_it_runs),
        cmocka_unit_test(test_control_storm),
        cmocka_unit_test(test_reset_storm),
    };

    return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
