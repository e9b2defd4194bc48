/* SPDX-License-Identifier: MIT */
/*
 * Benchmarks: what bench.py calls. Times are CPU time of the calling thread,
 * in seconds, of @calls calls; negative if the move was refused.
 */
#ifndef TDMA_BENCH_H
#define TDMA_BENCH_H

#include <stdint.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The only symbols that the libraries export */
#pragma GCC visibility push(default)

enum { BENCH_DIMS = 8 };

/*
 * A move of the case table, for others to do the same: dimensions innermost
 * first, strides and offsets in bytes. bench.py knows this layout.
 */
struct bench_move {
    char name[96];
    int64_t padded;             /* some of it comes from outside the source */
    int64_t bytes;
    int64_t elem;
    int64_t ndims;
    int64_t steps[BENCH_DIMS];
    int64_t src_stride[BENCH_DIMS];
    int64_t dst_stride[BENCH_DIMS];
    int64_t src_offset;
    int64_t dst_offset;
};

/*
 * Set up a machine with a source and a destination, both lists of pages with
 * @paged. Returns the number of moves.
 */
unsigned bench_open(unsigned paged);
const struct bench_move *bench_get_move(unsigned i);

/* Memory of the peers, source (0) or destination; the engine's if not paged */
uint8_t *bench_memory(unsigned side, uint64_t *bytes);

/* By the fast engine, through ring and record: a move, a contiguous job */
double bench_run(unsigned i, unsigned calls);
double bench_copy(uint64_t bytes, unsigned calls);
double bench_fill(uint64_t bytes, unsigned calls);

/* What contiguous jobs are compared with */
double bench_memcpy(uint64_t bytes, unsigned calls);
double bench_memset(uint64_t bytes, unsigned calls);

/*
 * By the cycle engine: a copy of a tensor of four dimensions, both sides busy,
 * with memory that answers in order or not. How many cycles and requests that
 * took is added up.
 */
double bench_cycle(unsigned any_order, unsigned calls, uint64_t *cycles,
                   uint64_t *requests);

/* By oneDNN: NULL and why not, or something to run, which is never freed */
void *bench_onednn_open(const struct bench_move *move, const uint8_t *src,
                        uint8_t *dst, char *why, unsigned why_size);
double bench_onednn_run(void *reorder, unsigned calls);

#pragma GCC visibility pop

static inline double bench_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

#ifdef __cplusplus
}
#endif

#endif /* TDMA_BENCH_H */
