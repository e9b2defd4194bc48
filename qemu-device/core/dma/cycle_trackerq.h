/* SPDX-License-Identifier: MIT */
/*
 * Tracker queue of a sub-thread (A30): the response and sync parts of the
 * descriptors whose requests are on their way, oldest first. Popped responses
 * belong to the oldest entry that still expects some.
 */
#ifndef TDMA_CYCLE_TRACKERQ_H
#define TDMA_CYCLE_TRACKERQ_H

#include <stdbool.h>
#include <stdint.h>
#include "cycle_sync.h"

#define TDMA_TRACKER_QUEUE 64   /* descriptors in flight, a power of two */

struct tdma_trackerq_entry {
    unsigned flight;            /* which descriptor */
    uint64_t expected;          /* elements answered in the end */
    uint64_t popped;            /* elements answered so far, in order */
    struct tdma_sync sync;
};

struct tdma_trackerq {
    unsigned head;              /* free running */
    unsigned tail;
    struct tdma_trackerq_entry entry[TDMA_TRACKER_QUEUE];
};

static inline void tdma_trackerq_reset(struct tdma_trackerq *q)
{
    q->head = q->tail = 0;
}

static inline bool tdma_trackerq_empty(const struct tdma_trackerq *q)
{
    return q->head == q->tail;
}

static inline bool tdma_trackerq_full(const struct tdma_trackerq *q)
{
    return q->tail - q->head == TDMA_TRACKER_QUEUE;
}

/* Oldest entry, or NULL. */
struct tdma_trackerq_entry *tdma_trackerq_head(struct tdma_trackerq *q);

/*
 * Add the part of descriptor @flight, whose elements from @start up to
 * @expected will be answered; not while full.
 */
void tdma_trackerq_push(struct tdma_trackerq *q, unsigned flight,
                        uint64_t start, uint64_t expected, uint64_t interval);

/* Drop the oldest entry. */
static inline void tdma_trackerq_drop(struct tdma_trackerq *q)
{
    q->head++;
}

/* Descriptor @flight ends early: no more will come from @expected on. */
void tdma_trackerq_cut(struct tdma_trackerq *q, unsigned flight,
                       uint64_t expected);

#endif /* TDMA_CYCLE_TRACKERQ_H */
