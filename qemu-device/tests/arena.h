/* SPDX-License-Identifier: MIT */
/*
 * Segments of every kind, filled with noise, and the comparison of what the
 * machine made of them with what the reference does: every byte, also those
 * that nothing should have touched.
 */
#ifndef TDMA_TEST_ARENA_H
#define TDMA_TEST_ARENA_H

#include "machine.h"
#include "reference.h"
#include "test.h"

/* Segments of context 1; noise lies before, between and behind them. */
enum {
    SEG_HOST = 1,
    SEG_HOST2,
    SEG_PAGED,
    SEG_PAGED2,                 /* begins inside a page */
    SEG_HBM,
    SEG_HBM2,
    SEG_DATA_END,
    SEG_READ_ONLY = SEG_DATA_END,
    SEG_WRITE_ONLY,
    SEG_HOLE,                   /* no such memory */
    SEG_BAD_LIST,               /* its page list cannot be read */
    SEG_BAD_PAGE,               /* its second page address is not aligned */
    SEG_NONE,                   /* not in use */
};

struct arena {
    struct machine *m;
    struct queue q;             /* queue 0 of context 1 */
    uint64_t bytes;             /* of each data segment */
    uint64_t lo, hi;            /* bus addresses that are compared */
    uint8_t *before, *after;    /* RAM and then HBM */
};

struct arena *arena_new(const struct tdma_properties *props,
                        enum machine_windows windows, uint64_t bytes,
                        uint64_t seed);
void arena_free(struct arena *a);

/* Remember memory; is it still the same? */
void arena_save(struct arena *a);
bool arena_unchanged(const struct arena *a);

/*
 * Memory is as if elements 0..@count - 1 had been executed by the reference
 * since arena_save(), and otherwise unchanged. Says where it is not.
 */
bool arena_matches(struct arena *a, const struct tdma_desc *desc,
                   const struct tdma_desc_ext *ext, uint64_t count);

/* The same for the whole of @count descriptors, one after the other */
struct arena_job {
    struct tdma_desc desc;
    struct tdma_desc_ext ext;
    bool has_ext;
};
bool arena_matches_all(struct arena *a, const struct arena_job *jobs,
                       unsigned count);

/*
 * Run one descriptor; it must end OK, do what the reference does, and the host
 * must have been told of every byte.
 */
struct tdma_record arena_run(struct arena *a, const struct tdma_desc *desc,
                             const struct tdma_desc_ext *ext);

/* Run one descriptor that must end with @status and change nothing. */
struct tdma_record arena_refuse(struct arena *a, const struct tdma_desc *desc,
                                const struct tdma_desc_ext *ext,
                                uint32_t status);

void arena_print(const struct tdma_desc *desc,
                 const struct tdma_desc_ext *ext);

#endif /* TDMA_TEST_ARENA_H */
