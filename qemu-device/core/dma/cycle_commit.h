/* SPDX-License-Identifier: MIT */
/*
 * Commit: where the bytes move.
 *
 * The memory system serves requests in any order, and everything the DMA
 * thread can observe follows that: responses, IDs, credits, cycles. What has
 * been served becomes visible in program order: element n at the first cycle
 * in which it and every element before it, of this descriptor and of those
 * before it, is served. So the result is that of the loop nest for every
 * overlap and every aliasing, a fault at element n leaves all before it done,
 * and a partial update never promises what is not there: responses are popped
 * only up to the commit point, which they reach by themselves in all but
 * contrived cases (a one-sided descriptor overtaking a slow one before it).
 * An element whose answer will come with a bad one beside it waits for them, so
 * that memory and the record agree about where the descriptor ended.
 */
#ifndef TDMA_CYCLE_COMMIT_H
#define TDMA_CYCLE_COMMIT_H

#include "cycle_memory.h"

struct tdma_commit {
    struct tdma_flight *flight;         /* at the commit point, or NULL */
    unsigned id[TDMA_SIDES];            /* of its next element */
    bool started[TDMA_SIDES];           /* ... is valid */
    uint64_t sequence[TDMA_SIDES];      /* requests of a side committed */
    uint64_t bytes;                     /* moved */
    uint8_t *scratch;                   /* two elements */
};

/* False if out of memory. */
bool tdma_commit_create(struct tdma_commit *c);
void tdma_commit_destroy(struct tdma_commit *c);
void tdma_commit_reset(struct tdma_commit *c);

/* Go on with @flight, the next in program order. */
void tdma_commit_begin(struct tdma_commit *c, struct tdma_flight *flight);

/*
 * Commit what has been served of the current flight. False if an element
 * failed: status, side and offset are noted and the flight must be ended.
 */
bool tdma_commit_run(struct tdma_commit *c, struct tdma_memory *m);

/* Is the current flight at its end? Then the commit point may move on. */
bool tdma_commit_done(const struct tdma_commit *c);

/* Leave the current flight; requests without effect are passed over. */
void tdma_commit_leave(struct tdma_commit *c);

/* Report what was written through pointers to the views of @flight. */
void tdma_commit_flush(struct tdma_flight *flight);

/* The same, and give up the pointers: the call of run() ends. */
void tdma_commit_drop(struct tdma_flight *flight);

#endif /* TDMA_CYCLE_COMMIT_H */
