/* SPDX-License-Identifier: MIT */
/* Tracker queue of a sub-thread; see cycle_trackerq.h. */
#include <stddef.h>
#include "cycle_trackerq.h"

static struct tdma_trackerq_entry *entry_at(struct tdma_trackerq *q,
                                            unsigned place)
{
    return &q->entry[place % TDMA_TRACKER_QUEUE];
}

struct tdma_trackerq_entry *tdma_trackerq_head(struct tdma_trackerq *q)
{
    return tdma_trackerq_empty(q) ? NULL : entry_at(q, q->head);
}

void tdma_trackerq_push(struct tdma_trackerq *q, unsigned flight,
                        uint64_t start, uint64_t expected, uint64_t interval)
{
    struct tdma_trackerq_entry *e = entry_at(q, q->tail++);

    e->flight = flight;
    e->expected = expected;
    e->popped = start;
    tdma_sync_init(&e->sync, expected, interval);
    tdma_sync_update(&e->sync, start);
}

void tdma_trackerq_cut(struct tdma_trackerq *q, unsigned flight,
                       uint64_t expected)
{
    for (unsigned i = q->head; i != q->tail; i++) {
        struct tdma_trackerq_entry *e = entry_at(q, i);

        if (e->flight == flight) {
            e->expected = expected;
        }
    }
}
