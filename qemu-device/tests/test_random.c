/* SPDX-License-Identifier: MIT */
/*
 * Random descriptors against the reference, byte for byte, in random machines;
 * at every partial update the promised part must really be in memory.
 *
 * TDMA_SEED and TDMA_JOBS choose others, or more of them.
 */
#include "arena.h"
#include "random_desc.h"

enum {
    JOBS_PER_MACHINE = 100,
};

/*
 * What is promised at a partial update is in memory, and so far only that: a
 * block of elements beyond may be, because order within a block is free, but
 * what the record says is true for the reader of this moment.
 */
struct watch {
    struct arena *a;
    const struct tdma_desc *desc;
    const struct tdma_desc_ext *ext;
    uint64_t src_done, dst_done;
    unsigned updates;
    bool check_memory;
};

/* Bytes written by the first @count elements and by no later one hold. */
static void check_prefix(struct watch *w, uint64_t count)
{
    struct arena *a = w->a;
    uint64_t ram = a->hi - a->lo, size = ram + a->m->hbm_used, i;
    struct reference r = { a->m, 1, w->desc, w->ext };
    uint64_t all = reference_elements(&r);
    uint8_t *now = malloc(size), *some = malloc(size), *full = malloc(size);

    memcpy(now, machine_ptr(a->m, a->lo), ram);
    memcpy(now + ram, a->m->hbm, a->m->hbm_used);
    memcpy(machine_ptr(a->m, a->lo), a->before, ram);
    memcpy(a->m->hbm, a->before + ram, a->m->hbm_used);
    reference_run(&r, 0, count);
    memcpy(some, machine_ptr(a->m, a->lo), ram);
    memcpy(some + ram, a->m->hbm, a->m->hbm_used);
    reference_run(&r, count, all - count);
    memcpy(full, machine_ptr(a->m, a->lo), ram);
    memcpy(full + ram, a->m->hbm, a->m->hbm_used);
    memcpy(machine_ptr(a->m, a->lo), now, ram);
    memcpy(a->m->hbm, now + ram, a->m->hbm_used);
    for (i = 0; i < size; i++) {
        if (now[i] != some[i] && now[i] != full[i]) {
            break;
        }
        if (some[i] == full[i] && now[i] != some[i]) {
            break;
        }
    }
    if (i < size) {
        fprintf(stderr, "# promised %llu elements, byte %llu is not there\n",
                (unsigned long long)count, (unsigned long long)i);
        arena_print(w->desc, w->ext);
    }
    assert_int_equal(i, size);
    free(now);
    free(some);
    free(full);
}

static void on_progress(struct machine *m, unsigned queue, uint32_t index)
{
    struct watch *w = m->progress_opaque;
    struct tdma_record record = queue_record(&w->a->q, index);

    assert_int_equal(queue, 0);
    assert_int_equal(record.status, TDMA_STATUS_PENDING);
    assert_int_equal(record.sequence, index + 1);
    assert_true(record.src_done >= w->src_done);
    assert_true(record.dst_done >= w->dst_done);
    assert_true(record.src_done > w->src_done ||
                record.dst_done > w->dst_done);
    w->src_done = record.src_done;
    w->dst_done = record.dst_done;
    w->updates++;
    assert_true(machine_told_all(m));
    if (w->check_memory && record.dst_done) {
        check_prefix(w, record.dst_done);
    }
}

/* Partial updates a side asks for: one per interval, except at the end */
static uint64_t updates_due(uint64_t count, uint32_t interval, bool per_mille)
{
    uint64_t step = per_mille ? (count * interval + 999) / 1000 : interval;

    return step && count ? (count - 1) / step : 0;
}

static void one_job(struct arena *a, struct rng *rng, bool check_memory)
{
    struct tdma_desc d;
    struct tdma_desc_ext e;
    struct watch w = { .a = a, .desc = &d, .check_memory = check_memory };
    struct reference r = { a->m, 1, &d, NULL };
    uint64_t count, src, dst;

    while (!random_desc(rng, &d)) {
    }
    if (rng_one_in(rng, 3)) {
        random_axes(rng, &d, &e);
        w.ext = &e;
        r.ext = &e;
    }
    /* In element order states in between are seen; cycle_random_test.c does. */
    w.check_memory &= a->m->props.fidelity == TDMA_FIDELITY_FAST;
    a->m->on_progress = on_progress;
    a->m->progress_opaque = &w;
    arena_run(a, &d, w.ext);
    a->m->on_progress = NULL;
    count = reference_elements(&r);
    src = updates_due(count, d.src_sync_interval,
                      d.flags & TDMA_DESC_SRC_PER_MILLE);
    dst = updates_due(count, d.dst_sync_interval,
                      d.flags & TDMA_DESC_DST_PER_MILLE);
    /* Intervals that end in the same clock of a cycle engine make one update. */
    assert_in_range(w.updates,
                    a->m->props.fidelity == TDMA_FIDELITY_CYCLE ? 0
                    : src > dst ? src : dst, src + dst);
}

static struct arena *random_arena(struct rng *rng)
{
    struct tdma_properties props = machine_properties();

    if (rng_one_in(rng, 2)) {
        props.quantum_bytes = 4096;
        props.quantum_steps = 64 + rng_below(rng, 200);
    }
    props.lanes = 1 + rng_below(rng, 8);
    return arena_new(&props, rng_below(rng, WINDOWS_SOME + 1),
                     RANDOM_DESC_BYTES, rng_next(rng));
}

static void run_jobs(uint64_t jobs, bool check_memory)
{
    uint64_t seed = test_env("TDMA_SEED", 20260712), i;
    struct rng rng = { seed };
    struct arena *a = NULL;

    printf("# TDMA_SEED=%llu TDMA_JOBS=%llu\n", (unsigned long long)seed,
           (unsigned long long)jobs);
    for (i = 0; i < jobs; i++) {
        if (i % JOBS_PER_MACHINE == 0) {
            if (a) {
                arena_free(a);
            }
            a = random_arena(&rng);
        }
        one_job(a, &rng, check_memory);
    }
    if (a) {
        arena_free(a);
    }
}

static void test_random_jobs(void **state)
{
    (void)state;
    run_jobs(test_env("TDMA_JOBS", 3000), false);
}

static void test_promised_prefix_is_in_memory(void **state)
{
    (void)state;
    run_jobs(test_env("TDMA_JOBS", 3000) / 10, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_jobs),
        cmocka_unit_test(test_promised_prefix_is_in_memory),
    };

    return cmocka_run_group_tests_name("random", tests, NULL, NULL);
}
