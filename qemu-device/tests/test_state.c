/* SPDX-License-Identifier: MIT */
/*
 * Stopping a machine at any moment, saving it, and going on in another one: as
 * if nothing had happened. And that no state, whatever is in it, does any harm.
 *
 * TDMA_SEED and TDMA_JOBS choose other random jobs, or more of them.
 */
#include "arena.h"
#include "random_desc.h"
#include <linux/tensordma_trace.h>
#include "tdma_state.h"

enum {
    ROUND_JOBS = 6,             /* jobs in the ring at a time */
    FLAG = 3,
    SMALL_QUEUES = 3,
};

/* Every register reads the same in both; those that are none count alike. */
static void assert_same_registers(struct tdma_core *a, struct tdma_core *b)
{
    static const struct {
        uint64_t base, bytes;
    } part[] = {
        { TDMA_GLOBAL_BASE, 0x100 },
        { TDMA_THREAD_BASE, TDMA_MAX_THREADS * TDMA_THREAD_STRIDE },
        { TDMA_CONTEXT_BASE, 8 * TDMA_CONTEXT_STRIDE },
        { TDMA_QUEUE_BASE, 8 * TDMA_QUEUE_STRIDE },
        { TDMA_SYNC_BASE, 8 * TDMA_SYNC_STRIDE },
    };

    for (unsigned i = 0; i < TEST_COUNT(part); i++) {
        for (uint64_t at = 0; at < part[i].bytes; at += 4) {
            uint64_t x = tdma_core_reg_read(a, part[i].base + at, 4);
            uint64_t y = tdma_core_reg_read(b, part[i].base + at, 4);

            if (x != y) {
                fprintf(stderr, "# register %#llx\n",
                        (unsigned long long)(part[i].base + at));
            }
            assert_int_equal(x, y);
        }
    }
}

/* Go on in another machine. */
static void migrate(struct machine *m)
{
    struct tdma_config config = { .props = m->props, .hbm = m->hbm };
    struct tdma_core *old = m->core;
    const char *error;
    char why[100] = "";
    uint32_t kicked;
    uint8_t *state;
    size_t len;

    m->kicked = 0;
    state = machine_save(m, &len);
    kicked = m->kicked;
    m->kicked = 0;
    m->core = tdma_core_new(&config, &m->ops, m, &error);
    assert_non_null(m->core);
    if (!tdma_core_load(m->core, state, len, why, sizeof(why))) {
        fprintf(stderr, "# refused: %s\n", why);
    }
    assert_string_equal(why, "");
    assert_same_registers(old, m->core);
    /* Who had something to do has it again. */
    assert_int_equal(kicked & ~m->kicked, 0);
    tdma_core_free(old);
    free(state);
}

/* One quantum of a thread that wants one; false if there is none. */
static bool step(struct machine *m, struct rng *rng)
{
    unsigned threads[32], n = 0, thread;

    for (unsigned i = 0; i < 32; i++) {
        if (m->kicked & 1U << i) {
            threads[n++] = i;
        }
    }
    if (!n) {
        return false;
    }
    thread = threads[rng_below(rng, n)];
    m->kicked &= ~(1U << thread);
    if (tdma_core_run(m->core, thread)) {
        m->kicked |= 1U << thread;
    }
    return true;
}

/*
 * Random jobs, interrupted at random moments
 */

struct round {
    struct arena *a;
    struct arena_job job[ROUND_JOBS];
    uint32_t index[ROUND_JOBS];
    uint64_t src[ROUND_JOBS], dst[ROUND_JOBS];  /* last seen */
    unsigned updates;
};

static void random_job(struct rng *rng, struct arena_job *job)
{
    while (!random_desc(rng, &job->desc)) {
    }
    job->has_ext = rng_one_in(rng, 3);
    if (job->has_ext) {
        random_axes(rng, &job->desc, &job->ext);
    }
    if (job->desc.opcode != TDMA_OP_READ && rng_one_in(rng, 2)) {
        job->desc.flags |= TDMA_DESC_DST_SYNC_FLAG;
        job->desc.dst_sync_flag = FLAG;
    }
    if (rng_one_in(rng, 4)) {
        job->desc.flags |= TDMA_DESC_FENCE;
    }
}

/* Counts only grow, and what they promise has been told to the host. */
static void on_progress(struct machine *m, unsigned queue, uint32_t index)
{
    struct round *r = m->progress_opaque;
    struct tdma_record record = queue_record(&r->a->q, index);

    (void)queue;
    for (unsigned i = 0; i < ROUND_JOBS; i++) {
        if (r->index[i] != index) {
            continue;
        }
        assert_int_equal(record.status, TDMA_STATUS_PENDING);
        assert_true(record.src_done >= r->src[i]);
        assert_true(record.dst_done >= r->dst[i]);
        assert_true(record.src_done > r->src[i] ||
                    record.dst_done > r->dst[i]);
        r->src[i] = record.src_done;
        r->dst[i] = record.dst_done;
        r->updates++;
    }
    /* A pipeline has written for jobs that have nothing to say yet. */
    assert_true(m->props.fidelity == TDMA_FIDELITY_CYCLE ||
                machine_told_all(m));
}

static void submit(struct round *r, struct rng *rng)
{
    for (unsigned i = 0; i < ROUND_JOBS; i++) {
        random_job(rng, &r->job[i]);
        r->src[i] = r->dst[i] = 0;
        r->index[i] = queue_put(&r->a->q, &r->job[i].desc,
                                r->job[i].has_ext ? &r->job[i].ext : NULL);
    }
    arena_save(r->a);
    machine_watch_writes(r->a->m, r->a->lo, r->a->hi);
    queue_ring(&r->a->q);
}

static uint64_t elements(const struct round *r, unsigned i)
{
    struct reference ref = {
        r->a->m, 1, &r->job[i].desc,
        r->job[i].has_ext ? &r->job[i].ext : NULL,
    };

    return reference_elements(&ref);
}

/* Everything is as the jobs would have left it without interruption. */
static void check_round(struct round *r, uint32_t flag, uint64_t progress)
{
    struct machine *m = r->a->m;

    for (unsigned i = 0; i < ROUND_JOBS; i++) {
        const struct tdma_desc *d = &r->job[i].desc;
        struct tdma_record record = queue_record(&r->a->q, r->index[i]);
        uint64_t n = elements(r, i);

        assert_int_equal(record.sequence, r->index[i] + 1);
        assert_int_equal(record.status, TDMA_STATUS_OK);
        assert_int_equal(record.tag, d->tag);
        assert_int_equal(record.src_done, d->opcode == TDMA_OP_MEMSET ? 0 : n);
        assert_int_equal(record.dst_done, d->opcode == TDMA_OP_READ ? 0 : n);
        progress += n;
        if (d->flags & TDMA_DESC_DST_SYNC_FLAG) {
            flag += record.dst_done;
        }
    }
    assert_true(machine_told_all(m));
    assert_true(arena_matches_all(r->a, r->job, ROUND_JOBS));
    assert_int_equal(machine_read(m, TDMA_SYNC_BASE +
                                  FLAG * TDMA_SYNC_STRIDE), flag);
    assert_int_equal(machine_read64(m, queue_reg(0, TDMA_QUEUE_PROGRESS)),
                     progress);
    assert_int_equal(queue_state(&r->a->q), TDMA_QSTATE_IDLE);
}

static struct arena *random_arena(struct rng *rng)
{
    struct tdma_properties props = machine_properties();
    struct arena *a;

    props.quantum_bytes = 4096;
    props.quantum_steps = 64 + rng_below(rng, 200);
    props.lanes = 1 + rng_below(rng, 8);
    props.latency_min = rng_below(rng, 100);
    props.latency_max = props.latency_min + rng_below(rng, 50);
    props.ids = 1 + rng_below(rng, 500);
    a = arena_new(&props, rng_below(rng, WINDOWS_SOME + 1), RANDOM_DESC_BYTES,
                  rng_next(rng));
    machine_write(a->m, TDMA_SYNC_BASE + FLAG * TDMA_SYNC_STRIDE +
                  TDMA_SYNC_CONTROL, TDMA_SYNC_PUBLIC);
    return a;
}

static unsigned run_round(struct round *r, struct rng *rng)
{
    struct machine *m = r->a->m;
    uint32_t flag = machine_read(m, TDMA_SYNC_BASE + FLAG * TDMA_SYNC_STRIDE);
    uint64_t progress = machine_read64(m, queue_reg(0, TDMA_QUEUE_PROGRESS));
    unsigned migrations = 0;

    submit(r, rng);
    m->on_progress = on_progress;
    m->progress_opaque = r;
    do {
        if (rng_one_in(rng, 4)) {
            migrate(m);
            assert_true(machine_told_all(m));
            migrations++;
        }
    } while (step(m, rng));
    m->on_progress = NULL;
    check_round(r, flag, progress);
    return migrations;
}

static void test_random_jobs(void **state)
{
    uint64_t seed = test_env("TDMA_SEED", 20261201);
    uint64_t rounds = test_env("TDMA_JOBS", 600) / ROUND_JOBS;
    struct rng rng = { seed };
    struct round *r = calloc(1, sizeof(*r));
    unsigned migrations = 0;

    (void)state;
    printf("# TDMA_SEED=%llu\n", (unsigned long long)seed);
    for (uint64_t i = 0; i < rounds; i++) {
        if (i % 10 == 0) {
            r->a = random_arena(&rng);
        }
        migrations += run_round(r, &rng);
        if (i % 10 == 9 || i + 1 == rounds) {
            arena_free(r->a);
        }
    }
    printf("# %u migrations\n", migrations);
    assert_true(migrations > rounds);
    free(r);
}

/*
 * States that a queue can be in
 */

static struct tdma_properties small_properties(void)
{
    struct tdma_properties props = machine_properties();

    props.threads = 2;
    props.queues = SMALL_QUEUES;
    props.contexts = 4;
    props.sync_flags = 8;
    props.inject = 1;
    props.quantum_bytes = 4096;
    props.quantum_steps = 64;
    props.latency_min = 10;
    props.latency_max = 20;
    return props;
}

static struct arena *small_arena(void)
{
    struct tdma_properties props = small_properties();

    return arena_new(&props, WINDOWS_ALL, RANDOM_DESC_BYTES, 77);
}

static struct tdma_desc long_job(void)
{
    struct tdma_desc d = desc_copy(SEG_HOST, SEG_PAGED, 1, RANDOM_DESC_BYTES);

    d.dst_sync_interval = 1000;
    return d;
}

static void control(struct queue *q, uint32_t value)
{
    machine_write(q->m, queue_reg(q->number, TDMA_QUEUE_CONTROL), value);
}

static void quanta(struct machine *m, unsigned n)
{
    struct rng rng = { 5 };

    while (n-- && step(m, &rng)) {
    }
}

/* The first job is somewhere in its middle. */
static void get_going(struct arena *a)
{
    while (!queue_record(&a->q, 0).dst_done) {
        quanta(a->m, 1);
    }
    assert_int_equal(queue_record(&a->q, 0).status, TDMA_STATUS_PENDING);
}

/* The first of three jobs is somewhere in its middle. */
static void start_three(struct arena *a, struct arena_job job[3])
{
    memset(job, 0, 3 * sizeof(*job));
    for (unsigned i = 0; i < 3; i++) {
        job[i].desc = i == 1 ? desc_memset(SEG_HBM, 4, 100, 9) : long_job();
        job[i].desc.tag = i;
        queue_put(&a->q, &job[i].desc, NULL);
    }
    arena_save(a);
    queue_ring(&a->q);
    get_going(a);
}

static void test_paused(void **state)
{
    struct arena *a = small_arena();
    struct arena_job job[3];
    uint64_t before;

    (void)state;
    start_three(a, job);
    control(&a->q, TDMA_QCTL_ENABLE | TDMA_QCTL_PAUSE);
    migrate(a->m);      /* told to pause, but not yet quiet */
    machine_run(a->m);
    assert_int_equal(queue_state(&a->q), TDMA_QSTATE_PAUSED);
    before = queue_record(&a->q, 0).dst_done;
    migrate(a->m);
    machine_run(a->m);
    assert_int_equal(queue_state(&a->q), TDMA_QSTATE_PAUSED);
    assert_int_equal(queue_record(&a->q, 0).dst_done, before);
    control(&a->q, TDMA_QCTL_ENABLE);
    migrate(a->m);
    machine_run(a->m);
    assert_int_equal(queue_done(&a->q), 3);
    assert_true(arena_matches_all(a, job, 3));
    arena_free(a);
}

static void test_device_off(void **state)
{
    struct arena *a = small_arena();
    struct arena_job job[3];

    (void)state;
    start_three(a, job);
    machine_write(a->m, TDMA_REG_CONTROL, 0);
    migrate(a->m);
    machine_run(a->m);
    assert_int_equal(queue_done(&a->q), 0);
    machine_write(a->m, TDMA_REG_CONTROL, TDMA_CONTROL_ENABLE);
    migrate(a->m);
    machine_run(a->m);
    assert_int_equal(queue_done(&a->q), 3);
    assert_true(arena_matches_all(a, job, 3));
    arena_free(a);
}

static void test_aborted_and_disabled(void **state)
{
    struct arena *a = small_arena();
    struct arena_job job[3];

    (void)state;
    start_three(a, job);
    control(&a->q, TDMA_QCTL_ENABLE | TDMA_QCTL_ABORT);
    migrate(a->m);
    machine_run(a->m);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(queue_record(&a->q, i).status, TDMA_STATUS_ABORTED);
    }
    assert_int_equal(queue_state(&a->q), TDMA_QSTATE_IDLE);

    queue_put(&a->q, &job[0].desc, NULL);
    queue_ring(&a->q);
    quanta(a->m, 3);
    control(&a->q, 0);
    assert_int_equal(queue_state(&a->q), TDMA_QSTATE_STOPPING);
    migrate(a->m);
    assert_int_equal(queue_state(&a->q), TDMA_QSTATE_STOPPING);
    machine_run(a->m);
    assert_int_equal(queue_state(&a->q), TDMA_QSTATE_OFF);
    migrate(a->m);
    assert_int_equal(queue_state(&a->q), TDMA_QSTATE_OFF);
    arena_free(a);
}

/* Halted by a job that was refused; those behind it wait, also elsewhere. */
static void test_halted(void **state)
{
    const struct queue_config config = {
        .context = 1, .vector = 1, .policy = TDMA_POLICY_HALT,
    };
    struct arena *a = small_arena();
    struct queue q = machine_queue(a->m, 1, &config);
    struct tdma_desc bad = desc_copy(SEG_HOST, SEG_NONE, 1, 10);
    struct tdma_desc good = desc_copy(SEG_HOST, SEG_HOST2, 1, 10);

    (void)state;
    queue_put(&q, &bad, NULL);
    queue_put(&q, &good, NULL);
    queue_ring(&q);
    migrate(a->m);              /* rung, not looked at */
    machine_run(a->m);
    migrate(a->m);
    assert_int_equal(queue_state(&q), TDMA_QSTATE_HALTED);
    assert_int_equal(queue_error(&q), TDMA_QERR_JOB);
    assert_int_equal(machine_read(a->m, queue_reg(1, TDMA_QUEUE_IRQ_STATUS)),
                     1);
    machine_run(a->m);
    assert_int_equal(queue_done(&q), 1);
    control(&q, TDMA_QCTL_ENABLE | TDMA_QCTL_RESUME);
    migrate(a->m);
    machine_run(a->m);
    assert_int_equal(queue_record(&q, 1).status, TDMA_STATUS_OK);
    arena_free(a);
}

/* The tail is in memory and may have moved; nobody has looked yet. */
static void test_doorbell(void **state)
{
    const struct queue_config config = {
        .context = 1, .thread = TDMA_THREAD_ANY, .tail_in_memory = true,
    };
    struct arena *a = small_arena();
    struct queue q = machine_queue(a->m, 2, &config);
    struct tdma_desc d = long_job();

    (void)state;
    machine_run(a->m);
    queue_put(&q, &d, NULL);
    queue_ring(&q);
    assert_int_not_equal(a->m->kicked, 0);
    migrate(a->m);
    machine_run(a->m);
    assert_int_equal(queue_record(&q, 0).status, TDMA_STATUS_OK);
    arena_free(a);
}

/* A refused job behind one that runs is not retired before that. */
static void test_over_but_not_retired(void **state)
{
    struct arena *a = small_arena();
    struct tdma_desc d = long_job(), bad = d;
    unsigned irqs;

    (void)state;
    bad.dst_segment = SEG_READ_ONLY;
    queue_put(&a->q, &d, NULL);
    queue_put(&a->q, &bad, NULL);
    queue_ring(&a->q);
    get_going(a);
    migrate(a->m);
    irqs = a->m->irqs[0];
    machine_run(a->m);
    assert_int_equal(queue_record(&a->q, 0).status, TDMA_STATUS_OK);
    assert_int_equal(queue_record(&a->q, 1).status, TDMA_STATUS_BAD_ACCESS);
    assert_int_equal(queue_record(&a->q, 1).fault_field,
                     offsetof(struct tdma_desc, dst_segment));
    assert_int_equal(a->m->irqs[0], irqs + 1);
    arena_free(a);
}

/* What hangs still hangs, at the same element; the way out is the same. */
static void test_hang(void **state)
{
    struct arena *a = small_arena();
    struct tdma_desc d = long_job();

    (void)state;
    machine_write(a->m, TDMA_THREAD_BASE + TDMA_THREAD_INJECT_SIDE, 1);
    machine_write64(a->m, TDMA_THREAD_BASE + TDMA_THREAD_INJECT_ELEMENT, 5000);
    machine_write(a->m, TDMA_THREAD_BASE + TDMA_THREAD_INJECT,
                  TDMA_INJECT_LOST_RESPONSE);
    migrate(a->m);              /* armed, not yet seen */
    queue_put(&a->q, &d, NULL);
    queue_ring(&a->q);
    machine_run(a->m);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(queue_state(&a->q), TDMA_QSTATE_RUNNING);
        assert_int_equal(machine_read(a->m, queue_reg(0, TDMA_QUEUE_WAIT)),
                         TDMA_QWAIT_MEMORY);
        assert_int_equal(machine_read64(a->m,
                                        queue_reg(0, TDMA_QUEUE_PROGRESS)),
                         5000);
        migrate(a->m);
        machine_run(a->m);
    }
    control(&a->q, TDMA_QCTL_ENABLE | TDMA_QCTL_ABORT);
    migrate(a->m);
    machine_run(a->m);
    assert_int_equal(queue_record(&a->q, 0).status, TDMA_STATUS_ABORTED);
    assert_int_equal(queue_record(&a->q, 0).dst_done, 5000);
    arena_run(a, &d, NULL);
    arena_free(a);
}

/* The trace goes on without a gap; no entry twice. */
static void test_trace(void **state)
{
    struct arena *a = small_arena();
    uint64_t at = machine_alloc(a->m, 4096, 4096);
    const struct tdma_trace_entry *e;
    struct tdma_desc d = long_job();
    uint32_t n;

    (void)state;
    e = (const struct tdma_trace_entry *)machine_ptr(a->m, at);
    machine_write64(a->m, TDMA_THREAD_BASE + TDMA_THREAD_TRACE_BASE, at);
    machine_write(a->m, TDMA_THREAD_BASE + TDMA_THREAD_TRACE_ORDER, 6);
    machine_write(a->m, TDMA_THREAD_BASE + TDMA_THREAD_TRACE_EVENTS,
                  1U << TDMA_TRACE_START | 1U << TDMA_TRACE_SYNC |
                  1U << TDMA_TRACE_END);
    machine_write(a->m, TDMA_THREAD_BASE + TDMA_THREAD_TRACE_CONTROL,
                  TDMA_TRCTL_ENABLE);
    migrate(a->m);              /* on, not yet seen */
    queue_put(&a->q, &d, NULL);
    queue_put(&a->q, &d, NULL);
    queue_ring(&a->q);
    do {
        migrate(a->m);
        quanta(a->m, 3);        /* one goes into taking the job in again */
    } while (a->m->kicked);
    n = machine_read(a->m, TDMA_THREAD_BASE + TDMA_THREAD_TRACE_HEAD);
    assert_int_equal(n, 2 + 2 + 2 * (RANDOM_DESC_BYTES / 1000));
    for (unsigned i = 0; i < n; i++) {
        assert_int_equal(e[i].sequence, i);
        assert_true(!i || e[i].cycle >= e[i - 1].cycle);
    }
    arena_free(a);
}

/*
 * Several queues on several threads; the throttle binds.
 */
static void test_many_queues(void **state)
{
    struct tdma_properties props = machine_properties();
    const unsigned queues = 6, jobs = 4, pair[][2] = {
        { SEG_HOST, SEG_HOST2 }, { SEG_PAGED, SEG_PAGED2 },
        { SEG_HBM, SEG_HBM2 },
    };
    struct queue q[6];
    struct arena *a;
    struct rng rng = { 99 };

    (void)state;
    props.threads = 3;
    props.quantum_bytes = 4096;
    props.quantum_steps = 64;
    a = arena_new(&props, WINDOWS_ALL, RANDOM_DESC_BYTES, 3);
    machine_write(a->m, TDMA_THREAD_BASE + TDMA_THREAD_THROTTLE_BUDGET, 50);
    machine_write(a->m, TDMA_THREAD_BASE + TDMA_THREAD_THROTTLE_WINDOW, 1000);
    for (unsigned i = 0; i < queues; i++) {
        struct queue_config config = {
            .context = 1, .vector = i, .priority = i % 3,
            .thread = i % 2 ? TDMA_THREAD_ANY : i / 2,
            .tail_in_memory = i % 3 == 0,
        };

        q[i] = i ? machine_queue(a->m, i, &config) : a->q;
        for (unsigned j = 0; j < jobs; j++) {
            struct tdma_desc d = desc_copy(pair[i % 3][0], pair[i % 3][1], 1,
                                           RANDOM_DESC_BYTES / 2);

            d.src_offset = d.dst_offset = i / 3 * RANDOM_DESC_BYTES / 2;
            d.flags = TDMA_DESC_IRQ;
            queue_put(&q[i], &d, NULL);
        }
        queue_ring(&q[i]);
    }
    do {
        if (rng_one_in(&rng, 60)) {
            migrate(a->m);
        }
    } while (step(a->m, &rng));
    for (unsigned i = 0; i < queues; i++) {
        assert_int_equal(queue_done(&q[i]), jobs);
        assert_int_equal(a->m->irqs[i], jobs);
        for (unsigned j = 0; j < RANDOM_DESC_BYTES; j++) {
            assert_int_equal(*machine_byte(a->m, 1, pair[i % 3][0], j),
                             *machine_byte(a->m, 1, pair[i % 3][1], j));
        }
    }
    arena_free(a);
}

/* A stop takes what is in flight, not what the descriptor would take. */
static void test_stop_is_prompt(void **state)
{
    struct tdma_properties props = machine_properties();
    const uint64_t reg = TDMA_THREAD_BASE + TDMA_THREAD_CYCLES;
    struct tdma_desc d = long_job();
    struct arena *a;
    uint64_t before;

    (void)state;
    props.latency_min = props.latency_max = 100000;
    props.ids = 4096;
    props.quantum_steps = 1000;
    a = arena_new(&props, WINDOWS_ALL, RANDOM_DESC_BYTES, 8);
    d.ndims = TDMA_MAX_DIMS;
    for (unsigned i = 1; i < TDMA_MAX_DIMS; i++) {
        d.steps[i] = 50;
    }
    queue_put(&a->q, &d, NULL);
    queue_ring(&a->q);
    quanta(a->m, 250);
    before = machine_read64(a->m, reg);
    tdma_core_stop(a->m->core);
    assert_true(machine_read64(a->m, reg) - before <=
                props.latency_max + 2 * props.ids);
    before = machine_read64(a->m, reg);
    tdma_core_stop(a->m->core);
    assert_int_equal(machine_read64(a->m, reg), before);
    assert_int_not_equal(a->m->kicked, 0);
    arena_free(a);
}

/*
 * States that were tampered with
 */

/* A machine with something of everything in it: three jobs in one queue */
static uint8_t *rich_state(struct arena *a, size_t *len)
{
    struct arena_job job = { .has_ext = true };
    struct rng rng = { 4 };
    struct tdma_desc d = long_job(), bad = d;

    d.flags = TDMA_DESC_RECORD | TDMA_DESC_DST_SYNC_FLAG;
    d.record_segment = SEG_HOST2;
    d.dst_sync_flag = FLAG;
    machine_write(a->m, TDMA_SYNC_BASE + FLAG * TDMA_SYNC_STRIDE +
                  TDMA_SYNC_CONTROL, TDMA_SYNC_PUBLIC);
    while (!random_desc(&rng, &job.desc)) {
    }
    random_axes(&rng, &job.desc, &job.ext);
    bad.dst_segment = SEG_READ_ONLY;
    queue_put(&a->q, &d, NULL);
    queue_put(&a->q, &job.desc, &job.ext);
    queue_put(&a->q, &bad, NULL);
    queue_ring(&a->q);
    get_going(a);
    return machine_save(a->m, len);
}

/* Whatever it was made of, it can be run, and got rid of. */
static void exercise(struct machine *m)
{
    quanta(m, 20);
    for (unsigned i = 0; i < SMALL_QUEUES; i++) {
        machine_write(m, queue_reg(i, TDMA_QUEUE_CONTROL), 0);
    }
    machine_run(m);
    for (unsigned i = 0; i < SMALL_QUEUES; i++) {
        assert_int_equal(machine_read(m, queue_reg(i, TDMA_QUEUE_STATE)),
                         TDMA_QSTATE_OFF);
    }
}

static bool try_state(struct arena *a, const uint8_t *state, size_t len)
{
    char why[100] = "";

    /* In the same machine, as a snapshot is */
    a->m->kicked = 0;
    if (!tdma_core_load(a->m->core, state, len, why, sizeof(why))) {
        assert_string_not_equal(why, "");
        return false;
    }
    exercise(a->m);
    return true;
}

static void test_every_word_changed(void **state)
{
    static const uint32_t with[] = { 1, 0x80000000, 0x100, UINT32_MAX };
    struct arena *a = small_arena();
    unsigned taken = 0, refused = 0;
    uint8_t *good, *bad;
    size_t len, at;

    (void)state;
    good = rich_state(a, &len);
    bad = malloc(len);
    for (at = 0; at + 4 <= len; at += 4) {
        for (unsigned i = 0; i < TEST_COUNT(with); i++) {
            uint32_t word;

            memcpy(bad, good, len);
            memcpy(&word, good + at, sizeof(word));
            word ^= with[i];
            memcpy(bad + at, &word, sizeof(word));
            try_state(a, bad, len) ? taken++ : refused++;
        }
    }
    printf("# %u changed states refused, %u taken\n", refused, taken);
    assert_true(refused > taken / 4);
    assert_true(try_state(a, good, len));
    free(good);
    free(bad);
    arena_free(a);
}

static void test_truncated(void **state)
{
    struct arena *a = small_arena();
    struct tdma_state_head *head;
    uint8_t *good, *part;
    size_t len, cut;

    (void)state;
    good = rich_state(a, &len);
    for (cut = 0; cut < len; cut += 4) {
        part = malloc(cut + 1);         /* exact: a sanitizer sees beyond it */
        memcpy(part, good, cut);
        assert_false(try_state(a, part, cut));
        head = (struct tdma_state_head *)part;
        if (cut >= sizeof(*head)) {
            head->bytes = cut;
            assert_false(try_state(a, part, cut));
        }
        free(part);
    }
    part = calloc(1, len + 8);
    memcpy(part, good, len);
    head = (struct tdma_state_head *)part;
    head->bytes += 8;
    assert_string_equal(machine_load(a->m, &a->m->props, part, len + 8),
                        "8 bytes too many");
    free(part);
    free(good);
    arena_free(a);
}

/* The parts of a state of small_properties() */
struct parts {
    struct tdma_state_head *head;
    struct tdma_properties *property;
    struct tdma_state_context *context;
    uint64_t *flag;
    struct tdma_state_thread *thread;
    struct tdma_state_queue *queue;
    struct tdma_state_job *job;
};

static struct parts parts_of(uint8_t *state, const struct tdma_properties *p)
{
    struct parts x;

    x.head = (struct tdma_state_head *)state;
    x.property = (struct tdma_properties *)(x.head + 1);
    x.context = (struct tdma_state_context *)(x.property + 1);
    x.flag = (uint64_t *)(x.context + p->contexts);
    x.thread = (struct tdma_state_thread *)(x.flag + p->sync_flags);
    x.queue = (struct tdma_state_queue *)(x.thread + p->threads);
    x.job = (struct tdma_state_job *)(x.queue + p->queues);
    return x;
}

/* What must be refused, and that the refusal names it. */
static void test_refusals(void **state)
{
    struct arena *a = small_arena();
    struct tdma_properties props = small_properties();
    uint8_t *good, *copy;
    struct parts p;
    size_t len;

    (void)state;
    good = rich_state(a, &len);
    copy = malloc(len);
    p = parts_of(copy, &props);

#define REFUSED(change, text) do {                                          \
        memcpy(copy, good, len);                                            \
        assert_null(machine_load(a->m, &props, copy, len));                 \
        memcpy(copy, good, len);                                            \
        change;                                                             \
        assert_string_equal(machine_load(a->m, &props, copy, len), text);   \
    } while (0)

    REFUSED(p.head->magic++, "this is no state of a tensordma machine");
    REFUSED(p.head->version = 2, "version 2 of the state is not known");
    REFUSED(p.head->jobs = 90, machine_properties().fidelity
            ? "90 jobs, queues have 3" : "90 jobs, queues have 1");
    REFUSED(p.context[1].count = props.segments + 1, "context 1: count");
    REFUSED(p.flag[2] = 1ULL << 40, "sync flag 2: control");
    REFUSED(p.thread[1].rate_window = 10, "thread 1: throttle");
    REFUSED(p.thread[0].sample[1].budget = 1, "thread 0: throttle window");
    REFUSED(p.thread[0].next_queue = SMALL_QUEUES, "thread 0: next queue");
    REFUSED(p.thread[0].trace_state = TDMA_TRSTATE_ON, "thread 0: trace");
    REFUSED(p.thread[0].clock = UINT64_MAX, "thread 0: clock");
    REFUSED(p.queue[0].owner = 2, "queue 0: owner");
    REFUSED(p.queue[0].owner = 1, "queue 0: owner");    /* bound to 0 */
    REFUSED(p.queue[0].context = 4, "queue 0: configuration");
    REFUSED(p.queue[0].ring_order = 40, "queue 0: configuration");
    REFUSED(p.queue[0].ring++, "queue 0: configuration");
    REFUSED(p.queue[0].error = 6, "queue 0: error");
    REFUSED(p.queue[0].jobs = 100, "queue 0: jobs in flight");
    REFUSED(p.queue[0].head += 64, "queue 0: head");
    REFUSED(p.queue[0].head++, "queue 0: head");
    REFUSED(p.queue[0].flags |= 0x100, "queue 0: flags");
    REFUSED(p.queue[1].done = 1, "queue 1: off, but not idle");
    REFUSED(p.job[0].queue = 1, "queue 0: job 0: queue");
    REFUSED(p.job[0].index = 1, "queue 0: job 1: ring index");
    REFUSED(p.job[0].flags |= 0x80, "queue 0: job 0: flags");
    REFUSED(p.job[0].status = 7, "queue 0: job 0: status");
    REFUSED(p.job[0].status = TDMA_STATUS_OK, "queue 0: job 0: status");
    REFUSED(p.job[0].extra_split = 4, "queue 0: job 0: record");
    REFUSED(p.job[0].extra_addr[0]++, "queue 0: job 0: record");
    REFUSED(p.job[0].done[1] = RANDOM_DESC_BYTES, "queue 0: job 0: count");
    REFUSED(p.job[0].done[1]++, "queue 0: job 0: count");
    REFUSED(p.job[0].flagged[1] = p.job[0].done[1] + 1,
            "queue 0: job 0: count");
    REFUSED(p.job[0].flags &= ~TDMA_STATE_J_STARTED, "queue 0: job 0: count");
    REFUSED(p.job[0].flags &= ~TDMA_STATE_J_ACCEPTED,
            "queue 0: job 0: status");
    REFUSED(p.job[0].desc.elem_bytes = 0, "queue 0: job 0: descriptor");
    REFUSED(p.job[0].desc.dst_sync_flag = 8, "queue 0: job 0: sync flag");
    REFUSED(p.job[0].segment[1].length--, "queue 0: job 0: segment");
    REFUSED(p.job[0].segment[0].space = 3, "queue 0: job 0: segment");
    REFUSED(p.job[0].segment[1].flags &= ~TDMA_SEG_WRITE,
            "queue 0: job 0: segment");
#undef REFUSED
    free(good);
    free(copy);
    arena_free(a);
}

/* A machine that differs in anything software can see takes no state. */
static void test_other_properties(void **state)
{
    struct arena *a = small_arena();
    uint8_t *good;
    size_t len;

    (void)state;
    good = rich_state(a, &len);

#define OTHER(field, value, text) do {                                      \
        struct tdma_properties props = small_properties();                  \
                                                                            \
        props.field = value;                                                \
        assert_string_equal(machine_load(a->m, &props, good, len), text);   \
    } while (0)

    OTHER(threads, 3, "property threads was 2, here it is 3");
    OTHER(queues, 4, "property queues was 3, here it is 4");
    OTHER(hbm_size, 4096, "property hbm-size was 16777216, here it is 4096");
    OTHER(fidelity, !props.fidelity,
          machine_properties().fidelity
          ? "property fidelity was 1, here it is 0"
          : "property fidelity was 0, here it is 1");
#undef OTHER
    free(good);
    arena_free(a);
}

/* A machine that has refused a state works like a new one. */
static void test_after_refusal(void **state)
{
    struct arena *a = small_arena();
    struct tdma_desc d = long_job();
    uint8_t *bad;
    char why[100];
    size_t len;

    (void)state;
    bad = rich_state(a, &len);
    ((struct tdma_state_job *)(bad + len))[-1].fault_dim++;
    ((struct tdma_state_job *)(bad + len))[-1].queue = 9;
    assert_false(tdma_core_load(a->m->core, bad, len, why, sizeof(why)));
    assert_int_equal(machine_read(a->m, TDMA_REG_CONTROL), 0);
    assert_int_equal(machine_read(a->m, TDMA_REG_STATUS),
                     TDMA_STATUS_REG_READY | TDMA_STATUS_REG_IDLE);
    for (unsigned i = 0; i < SMALL_QUEUES; i++) {
        assert_int_equal(machine_read(a->m, queue_reg(i, TDMA_QUEUE_STATE)),
                         TDMA_QSTATE_OFF);
    }
    machine_setup(a->m);
    a->q = machine_queue(a->m, 0, &(struct queue_config) { .context = 1 });
    arena_run(a, &d, NULL);
    free(bad);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_jobs),
        cmocka_unit_test(test_paused),
        cmocka_unit_test(test_device_off),
        cmocka_unit_test(test_aborted_and_disabled),
        cmocka_unit_test(test_halted),
        cmocka_unit_test(test_doorbell),
        cmocka_unit_test(test_over_but_not_retired),
        cmocka_unit_test(test_hang),
        cmocka_unit_test(test_trace),
        cmocka_unit_test(test_many_queues),
        cmocka_unit_test(test_stop_is_prompt),
        cmocka_unit_test(test_every_word_changed),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_other_properties),
        cmocka_unit_test(test_after_refusal),
    };

    return cmocka_run_group_tests_name("state", tests, NULL, NULL);
}
