/* SPDX-License-Identifier: MIT */
/*
 * Benchmarks of the fast engine: moves of the case table and contiguous jobs.
 * Descriptors pass through ring and record like any other, several per
 * doorbell, as a program with several to do submits them.
 */
#include <sys/mman.h>
#include "bench.h"
#include "cases.h"
#include "machine.h"
#include "test.h"

enum {
    CONTIGUOUS_MAX = 64 << 20,
    PAYLOAD = 8 << 20,
    SPAN = 16 << 20,
    RW = TDMA_SEG_READ | TDMA_SEG_WRITE,
    SRC = 1, DST = 2, PEERS = 2,        /* segments; peers' behind */
    HUGE_PAGE = 2 << 20,
    BATCH = 16,                 /* descriptors per doorbell */
};

static struct {
    struct machine *m;
    struct queue q;
    struct test_case *cases;
    struct bench_move *moves;
    unsigned count;
    unsigned peers;             /* 0, or PEERS if they have segments */
} bench;

static int64_t payload(const struct tdma_desc *d)
{
    int64_t bytes = d->elem_bytes;
    unsigned i;

    for (i = 0; i < d->ndims; i++) {
        bytes *= d->steps[i];
    }
    return bytes;
}

static void describe(const struct test_case *c, struct bench_move *move)
{
    const struct tdma_desc *d = &c->desc;
    unsigned i;

    snprintf(move->name, sizeof(move->name), "%s", c->name);
    move->padded = c->kind == CASE_PADDED;
    move->bytes = payload(d);
    move->elem = d->elem_bytes;
    move->ndims = d->ndims;
    for (i = 0; i < d->ndims; i++) {
        move->steps[i] = d->steps[i];
        move->src_stride[i] = (int64_t)d->src_stride[i];
        move->dst_stride[i] = (int64_t)d->dst_stride[i];
    }
    move->src_offset = (int64_t)d->src_offset;
    move->dst_offset = (int64_t)d->dst_offset;
}

static void read_moves(void)
{
    unsigned count = cases_read(TDMA_CASES, PAYLOAD, SPAN, &bench.cases), i;

    bench.moves = calloc(count, sizeof(*bench.moves));
    for (i = 0; i < count; i++) {
        struct test_case *c = &bench.cases[i];

        if (!c->core ||
            (c->kind != CASE_AFFINE && c->kind != CASE_PADDED)) {
            continue;
        }
        c->desc.src_segment = SRC;
        c->desc.dst_segment = DST;
        bench.cases[bench.count] = *c;
        describe(c, &bench.moves[bench.count++]);
    }
}

/* As QEMU does for the guest's memory */
static void use_huge_pages(struct machine *m)
{
    uintptr_t start = ((uintptr_t)m->ram + HUGE_PAGE - 1) & -HUGE_PAGE;

    madvise((void *)start, (uintptr_t)m->ram + m->ram_size - start,
            MADV_HUGEPAGE);
}

static void make_segment(unsigned segment, bool paged)
{
    struct rng rng = { segment };
    uint64_t i;

    if (paged) {
        machine_segment_paged(bench.m, 1, segment, CONTIGUOUS_MAX, RW, 0,
                              segment);
    } else {
        machine_segment_host(bench.m, 1, segment, CONTIGUOUS_MAX, RW);
    }
    for (i = 0; i < CONTIGUOUS_MAX; i += sizeof(uint64_t)) {
        *(uint64_t *)machine_byte(bench.m, 1, segment, i) = rng_next(&rng);
    }
}

unsigned bench_open(unsigned paged)
{
    struct tdma_properties props = machine_properties();
    struct queue_config config = { .context = 1 };

    bench.m = machine_new_sized(&props, WINDOWS_ALL,
                                5ULL * CONTIGUOUS_MAX);
    use_huge_pages(bench.m);
    make_segment(SRC, paged);
    make_segment(DST, paged);
    if (paged) {
        bench.peers = PEERS;
        make_segment(SRC + PEERS, false);
        make_segment(DST + PEERS, false);
    }
    bench.q = machine_queue(bench.m, 0, &config);
    read_moves();
    return bench.count;
}

const struct bench_move *bench_get_move(unsigned i)
{
    return &bench.moves[i];
}

uint8_t *bench_memory(unsigned side, uint64_t *bytes)
{
    *bytes = CONTIGUOUS_MAX;
    return machine_byte(bench.m, 1, (side ? DST : SRC) + bench.peers, 0);
}

static bool run_batch(const struct tdma_desc *desc,
                      const struct tdma_desc_ext *ext, unsigned count)
{
    uint32_t index[BATCH];
    unsigned i;

    for (i = 0; i < count; i++) {
        index[i] = queue_put(&bench.q, desc, ext);
    }
    queue_ring(&bench.q);
    machine_run(bench.m);
    for (i = 0; i < count; i++) {
        if (queue_record(&bench.q, index[i]).status != TDMA_STATUS_OK) {
            return false;
        }
    }
    return true;
}

static double run(const struct tdma_desc *desc, const struct tdma_desc_ext *ext,
                  unsigned calls)
{
    double start = bench_now();
    unsigned count;

    for (; calls; calls -= count) {
        count = calls < BATCH ? calls : BATCH;
        if (!run_batch(desc, ext, count)) {
            return -1;
        }
    }
    return bench_now() - start;
}

double bench_run(unsigned i, unsigned calls)
{
    const struct test_case *c = &bench.cases[i];

    return run(&c->desc, c->kind == CASE_PADDED ? &c->ext : NULL, calls);
}

double bench_copy(uint64_t bytes, unsigned calls)
{
    struct tdma_desc desc = desc_copy(SRC, DST, 1, bytes);

    return run(&desc, NULL, calls);
}

double bench_fill(uint64_t bytes, unsigned calls)
{
    struct tdma_desc desc = desc_memset(DST, 1, bytes, 0x5a);

    return run(&desc, NULL, calls);
}

double bench_memcpy(uint64_t bytes, unsigned calls)
{
    uint64_t unused;
    const uint8_t *src = bench_memory(0, &unused);
    uint8_t *dst = bench_memory(1, &unused);
    double start = bench_now();

    while (calls--) {
        memcpy(dst, src, bytes);
        __asm__ volatile("" : : : "memory");    /* each of them counts */
    }
    return bench_now() - start;
}

double bench_memset(uint64_t bytes, unsigned calls)
{
    uint64_t unused;
    uint8_t *dst = bench_memory(1, &unused);
    double start = bench_now();

    while (calls--) {
        memset(dst, 0x5a, bytes);
        __asm__ volatile("" : : : "memory");
    }
    return bench_now() - start;
}
