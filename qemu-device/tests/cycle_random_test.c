/* SPDX-License-Identifier: MIT */
/*
 * Random descriptors, several at once, through machines with random
 * properties: cycle engine, fast engine and reference must agree on memory,
 * status and counts, and what an update promises must be there.
 *
 *   TDMA_SEED=n   other jobs      TDMA_JOBS=n   more of them
 */
#include "arena.h"

enum {
    BYTES = 4096,               /* of a segment: small, so that jobs meet */
    BATCH = 10,
    JOBS_PER_ARENA = 400,
    ELEMENTS = 150,             /* of a job, about */
};

struct random_job {
    struct tdma_desc desc;
    struct tdma_desc_ext ext;
    bool has_ext;
    uint32_t index[2];          /* in the rings of the two machines */
};

static struct rng rng;

static uint64_t below(uint64_t n)
{
    return rng_below(&rng, n);
}

static const struct tdma_desc_ext *ext_of(const struct random_job *job)
{
    return job->has_ext ? &job->ext : NULL;
}

/*
 * Random machines.
 */

static struct tdma_properties random_properties(void)
{
    static const unsigned ids[] = { 1, 2, 7, 16, 64, 65, 200, 500 };
    struct tdma_properties p = machine_properties();

    p.threads = 1;
    p.queues = 1;
    p.hbm_size = 65536;
    p.lanes = 1 + below(8);
    p.chains = 1 + below(2);
    p.ids = ids[below(TEST_COUNT(ids))];
    p.pop_max = 1 + below(8);
    p.release_threshold = 1 + below(20);
    p.latency_min = below(30);
    p.latency_max = p.latency_min + (below(3) ? below(100) : 0);
    p.host_bandwidth = 1 + below(10);
    p.hbm_bandwidth = 1 + below(20);
    p.seed = below(1000);
    p.quantum_steps = 64 + below(4) * 700;
    return p;
}

/*
 * Random descriptors.
 */

/* Loop bounds with a product of about ELEMENTS; some are 0 or 1. */
static void random_steps(struct tdma_desc *d)
{
    uint64_t product = 1;
    unsigned i;

    d->ndims = below(TDMA_MAX_DIMS + 1);
    for (i = 0; i < d->ndims; i++) {
        d->steps[i] = 1 + below(below(3) ? 5 : 40);
        if (product * d->steps[i] > ELEMENTS) {
            d->steps[i] = 1;
        }
        product *= d->steps[i];
    }
    if (d->ndims && !below(40)) {
        d->steps[below(d->ndims)] = 0;
    }
}

/* A dense layout with the dimensions in some order, some backwards. */
static void dense_strides(const struct tdma_desc *d, int64_t *stride)
{
    unsigned order[TDMA_MAX_DIMS], i;
    int64_t next = d->elem_bytes + below(3);

    for (i = 0; i < d->ndims; i++) {
        unsigned j = below(i + 1);

        order[i] = order[j];
        order[j] = i;
    }
    for (i = 0; i < d->ndims; i++) {
        stride[order[i]] = below(4) ? next : -next;
        next *= d->steps[order[i]] ? d->steps[order[i]] : 1;
    }
}

/* Anything, so that elements overlap */
static void wild_strides(const struct tdma_desc *d, int64_t *stride)
{
    unsigned i;

    for (i = 0; i < d->ndims; i++) {
        stride[i] = below(3) ? (int64_t)below(61) - 30 : 0;
    }
}

/*
 * An offset that keeps all elements inside the segment; halves the strides
 * until there is one.
 */
static uint64_t fit(const struct tdma_desc *d, int64_t *stride)
{
    for (;;) {
        int64_t lo = 0, hi = d->elem_bytes;
        unsigned i;

        for (i = 0; i < d->ndims; i++) {
            int64_t reach = stride[i] * (d->steps[i] ? d->steps[i] - 1 : 0);

            lo += reach < 0 ? reach : 0;
            hi += reach > 0 ? reach : 0;
        }
        if (hi - lo <= BYTES) {
            return -lo + (int64_t)below(BYTES - (hi - lo) + 1);
        }
        for (i = 0; i < d->ndims; i++) {
            stride[i] /= 2;
        }
    }
}

static void random_side(struct tdma_desc *d, int64_t *stride, uint64_t *offset)
{
    if (below(3)) {
        dense_strides(d, stride);
    } else {
        wild_strides(d, stride);
    }
    *offset = fit(d, stride);
}

static void random_pattern(struct tdma_desc *d, unsigned *len)
{
    unsigned i;

    do {
        *len = 1 + below(TDMA_MAX_FILL_BYTES);
    } while (d->elem_bytes % *len);
    for (i = 0; i < *len; i++) {
        d->fill[i] = below(256);
    }
}

static void random_op(struct tdma_desc *d)
{
    static const uint8_t ops[] = { TDMA_OP_COPY, TDMA_OP_COPY, TDMA_OP_COPY,
                                   TDMA_OP_MEMSET, TDMA_OP_ACCUMULATE,
                                   TDMA_OP_READ };
    static const uint8_t sizes[] = { 1, 2, 3, 4, 8, 16, 24 };
    unsigned len;

    d->opcode = ops[below(TEST_COUNT(ops))];
    d->elem_bytes = sizes[below(TEST_COUNT(sizes))];
    if (d->opcode == TDMA_OP_ACCUMULATE) {
        d->type = 1 + below(TDMA_TYPE_F32);
        d->elem_bytes = d->type == TDMA_TYPE_S32 ||
                        d->type == TDMA_TYPE_F32 ? 4 : 2;
    } else if (d->opcode == TDMA_OP_MEMSET) {
        random_pattern(d, &len);
        d->type = len;
    }
}

/* Sides that crop or pad: every axis belongs to a few dimensions. */
static void random_ext(struct random_job *job, bool src, bool dst)
{
    struct tdma_desc_ext *e = &job->ext;
    struct tdma_desc *d = &job->desc;
    unsigned len, i;

    job->has_ext = true;
    e->version = TDMA_DESC_VERSION;
    e->naxes = 1 + below(3);
    if (src && dst) {
        random_pattern(d, &len);
        e->fill_bytes = len;
    }
    for (i = 0; i < e->naxes; i++) {
        e->axis_side[i] = src && dst ? below(2) : dst;
        e->axis_start[i] = (int64_t)below(9) - 4;
        e->axis_extent[i] = 1 + below(8);
    }
    for (i = 0; i < d->ndims; i++) {
        unsigned a = below(e->naxes);

        if (!below(2)) {
            continue;
        }
        if (e->axis_side[a]) {
            e->dst_axis[i] = a + 1;
            e->dst_coef[i] = (int)below(5) - 2;
        } else {
            e->src_axis[i] = a + 1;
            e->src_coef[i] = (int)below(5) - 2;
        }
    }
    d->flags |= TDMA_DESC_EXT;
}

static void random_sync(struct tdma_desc *d, bool src, bool dst)
{
    if (src && !below(3)) {
        d->src_sync_interval = 1 + below(60);
    }
    if (dst && !below(3)) {
        d->flags |= TDMA_DESC_DST_PER_MILLE;
        d->dst_sync_interval = 1 + below(TDMA_MAX_PER_MILLE);
    }
}

/* The outermost bound implied, the end somewhere before the nest's */
static void random_total(struct tdma_desc *d, uint64_t elements)
{
    if (d->ndims && elements && !below(6)) {
        d->flags |= TDMA_DESC_TOTAL;
        d->total = below(elements + 1);
        d->steps[d->ndims - 1] = 0;
    }
}

static void random_job(struct random_job *job)
{
    struct tdma_desc *d = &job->desc;
    struct reference r = { .desc = d };
    bool src, dst;

    memset(job, 0, sizeof(*job));
    d->version = TDMA_DESC_VERSION;
    d->tag = rng_next(&rng);
    random_op(d);
    random_steps(d);
    src = d->opcode != TDMA_OP_MEMSET;
    dst = d->opcode != TDMA_OP_READ;
    if (src) {
        d->src_segment = SEG_HOST + below(SEG_DATA_END - SEG_HOST);
        random_side(d, (int64_t *)d->src_stride, (uint64_t *)&d->src_offset);
    }
    if (dst) {
        d->dst_segment = SEG_HOST + below(SEG_DATA_END - SEG_HOST);
        random_side(d, (int64_t *)d->dst_stride, (uint64_t *)&d->dst_offset);
    }
    random_sync(d, src, dst);
    random_total(d, reference_elements(&r));
    if (!below(3)) {
        random_ext(job, src, dst);
    }
    if (!below(8)) {
        d->flags |= TDMA_DESC_FENCE;
    }
}

/*
 * Updates of a batch with a single job.
 */

struct watch {
    struct arena *a;
    const struct random_job *job;
    struct tdma_record last;
    bool fast;                  /* order within a block is free */
};

/*
 * The job is the only one, so memory must be as the reference leaves it after
 * the first n elements, for an n that is not below what was promised.
 */
static void expect_prefix(struct arena *a, const struct random_job *job,
                          uint64_t promised)
{
    struct reference r = { a->m, 1, &job->desc, ext_of(job) };
    uint64_t ram = a->hi - a->lo, all = reference_elements(&r), n = promised;

    memcpy(a->after, machine_ptr(a->m, a->lo), ram);
    memcpy(a->after + ram, a->m->hbm, a->m->hbm_used);
    memcpy(machine_ptr(a->m, a->lo), a->before, ram);
    memcpy(a->m->hbm, a->before + ram, a->m->hbm_used);
    reference_run(&r, 0, promised);
    while (memcmp(a->after, machine_ptr(a->m, a->lo), ram) ||
           memcmp(a->after + ram, a->m->hbm, a->m->hbm_used)) {
        if (n == all) {
            arena_print(&job->desc, ext_of(job));
            fail_msg("%llu elements promised, memory shows none of the states "
                     "from there on", (unsigned long long)promised);
        }
        reference_run(&r, n++, 1);
    }
    memcpy(machine_ptr(a->m, a->lo), a->after, ram);
    memcpy(a->m->hbm, a->after + ram, a->m->hbm_used);
}

static void on_progress(struct machine *m, unsigned number, uint32_t index)
{
    struct watch *w = m->progress_opaque;
    struct tdma_record r = queue_record(&w->a->q, index);

    (void)number;
    if (!w->job) {
        return;
    }
    assert_true(r.src_done >= w->last.src_done);
    assert_true(r.dst_done >= w->last.dst_done);
    w->last = r;
    assert_true(machine_told_all(m));
    if (!w->fast) {
        expect_prefix(w->a, w->job,
                      r.src_done > r.dst_done ? r.src_done : r.dst_done);
    }
}

/*
 * Batches.
 */

static void run_batch(struct arena *a, struct random_job *job, unsigned count,
                      unsigned machine)
{
    struct watch watch = {
        .a = a, .job = count == 1 ? job : NULL,
        .fast = a->m->props.fidelity == TDMA_FIDELITY_FAST,
    };
    unsigned i;

    arena_save(a);
    machine_watch_writes(a->m, a->lo, a->hi);
    a->m->on_progress = on_progress;
    a->m->progress_opaque = &watch;
    for (i = 0; i < count; i++) {
        job[i].index[machine] = queue_put(&a->q, &job[i].desc,
                                          ext_of(&job[i]));
    }
    queue_ring(&a->q);
    machine_run(a->m);
    assert_true(machine_told_all(a->m));
    a->m->on_progress = NULL;
}

/* Replay the batch with the reference and compare all memory. */
static void expect_reference(struct arena *a, const struct random_job *job,
                             unsigned count)
{
    uint64_t ram = a->hi - a->lo;
    unsigned i;

    memcpy(a->after, machine_ptr(a->m, a->lo), ram);
    memcpy(a->after + ram, a->m->hbm, a->m->hbm_used);
    memcpy(machine_ptr(a->m, a->lo), a->before, ram);
    memcpy(a->m->hbm, a->before + ram, a->m->hbm_used);
    for (i = 0; i < count; i++) {
        struct reference r = { a->m, 1, &job[i].desc, ext_of(&job[i]) };

        reference_run(&r, 0, reference_elements(&r));
    }
    if (memcmp(a->after, machine_ptr(a->m, a->lo), ram) ||
        memcmp(a->after + ram, a->m->hbm, a->m->hbm_used)) {
        for (i = 0; i < count; i++) {
            arena_print(&job[i].desc, ext_of(&job[i]));
        }
        fail_msg("memory differs from the reference");
    }
}

static void expect_record(struct arena *a, const struct random_job *job,
                          unsigned machine)
{
    struct reference r = { a->m, 1, &job->desc, ext_of(job) };
    struct tdma_record is = queue_record(&a->q, job->index[machine]);
    uint64_t count = reference_elements(&r);

    if (is.status != TDMA_STATUS_OK) {
        arena_print(&job->desc, ext_of(job));
    }
    assert_int_equal(is.status, TDMA_STATUS_OK);
    assert_int_equal(is.tag, job->desc.tag);
    assert_int_equal(is.src_done,
                     job->desc.opcode == TDMA_OP_MEMSET ? 0 : count);
    assert_int_equal(is.dst_done,
                     job->desc.opcode == TDMA_OP_READ ? 0 : count);
}

static unsigned random_batch(struct arena *a[2])
{
    struct random_job job[BATCH];
    unsigned count = below(4) ? 1 + below(BATCH) : 1;
    unsigned i, k;

    for (i = 0; i < count; i++) {
        random_job(&job[i]);
    }
    for (k = 0; k < 2; k++) {
        run_batch(a[k], job, count, k);
        expect_reference(a[k], job, count);
        for (i = 0; i < count; i++) {
            expect_record(a[k], &job[i], k);
        }
    }
    return count;
}

static void random_throttle(struct machine *m)
{
    uint32_t window = 1 + below(50);

    if (!below(3)) {
        machine_write(m, TDMA_THREAD_BASE + TDMA_THREAD_THROTTLE_BUDGET,
                      1 + below(window));
        machine_write(m, TDMA_THREAD_BASE + TDMA_THREAD_THROTTLE_WINDOW,
                      window);
    }
}

static void test_random(void **state)
{
    uint64_t jobs = test_env("TDMA_JOBS", 10000), done = 0;

    (void)state;
    while (done < jobs) {
        struct tdma_properties p = random_properties();
        enum machine_windows windows = below(WINDOWS_SOME + 1);
        uint64_t seed = rng_next(&rng), end = done + JOBS_PER_ARENA;
        struct arena *a[2];

        p.fidelity = TDMA_FIDELITY_CYCLE;
        a[0] = arena_new(&p, windows, BYTES, seed);
        random_throttle(a[0]->m);
        p.fidelity = TDMA_FIDELITY_FAST;
        a[1] = arena_new(&p, windows, BYTES, seed);
        while (done < end && done < jobs) {
            done += random_batch(a);
        }
        arena_free(a[0]);
        arena_free(a[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
    };

    rng.state = test_env("TDMA_SEED", 1);
    printf("# TDMA_SEED=%llu\n", (unsigned long long)rng.state);
    return cmocka_run_group_tests_name("cycle random", tests, NULL, NULL);
}
