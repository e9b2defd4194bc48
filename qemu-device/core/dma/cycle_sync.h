/* SPDX-License-Identifier: MIT */
/*
 * Sync unit of a sub-thread (A36-A38): decides when the core is told how far
 * one side of a descriptor has come. An update is due each time another
 * interval of elements, a number or a share of all, has been completed in
 * order, and when all are. Several intervals that end in one cycle make one
 * update; counts are cumulative.
 */
#ifndef TDMA_CYCLE_SYNC_H
#define TDMA_CYCLE_SYNC_H

#include <stdbool.h>
#include <stdint.h>

struct tdma_sync {
    uint64_t total;
    uint64_t interval;          /* elements; 0 = only the final update */
    uint64_t next;              /* count that makes an update due */
};

void tdma_sync_init(struct tdma_sync *s, uint64_t total, uint64_t interval);

/* @done elements are complete, in order: is an update due? */
bool tdma_sync_update(struct tdma_sync *s, uint64_t done);

#endif /* TDMA_CYCLE_SYNC_H */
