/* SPDX-License-Identifier: MIT */
/*
 * Progress tracker of a sub-thread (A30): the response reorder unit, the
 * tracker queue and the sync units of its entries.
 *
 * The tracker learns of responses by ID only. Popped ones are credited to the
 * descriptors in the order their requests were sent; once a threshold of them
 * has come in, their IDs go back to the generator.
 */
#ifndef TDMA_CYCLE_PROGRESS_H
#define TDMA_CYCLE_PROGRESS_H

#include "cycle_credit.h"
#include "cycle_flight.h"
#include "cycle_reorder.h"
#include "cycle_trackerq.h"

struct tdma_progress {
    unsigned side;
    struct tdma_flight *flights;
    struct tdma_reorder reorder;
    struct tdma_credit credit;
    struct tdma_trackerq queue;
    uint64_t sequence;          /* responses popped */

    /* Descriptors to look at, set by tick() */
    uint64_t due;               /* an update is due, bit per flight */
    uint64_t finished;          /* all responses are in, bit per flight */
};

void tdma_progress_reset(struct tdma_progress *p,
                         const struct tdma_properties *props);

/* A half descriptor has entered the sub-thread. */
void tdma_progress_push(struct tdma_progress *p, const struct tdma_part *part);

/*
 * End of a cycle. Pops what has been answered, up to response number
 * @committed. True if anything changed.
 */
bool tdma_progress_tick(struct tdma_progress *p, uint64_t committed);

/* Descriptor @flight will get no responses from element @expected on. */
void tdma_progress_cut(struct tdma_progress *p, unsigned flight,
                       uint64_t expected);

#endif /* TDMA_CYCLE_PROGRESS_H */
