/* SPDX-License-Identifier: MIT */
/*
 * A machine of one DMA thread in cycle fidelity with memory around it, for the
 * tests of the cycle engine: submit descriptors, run, look at records,
 * counters and at every request that crossed the interconnect.
 */
#ifndef TDMA_CYCLE_RIG_H
#define TDMA_CYCLE_RIG_H

#include <stdbool.h>
#include <stdint.h>
#include "dma/cycle_engine.h"
#include "dma/cycle_progress.h"
#include "tdma_core.h"
#include "tdma_machine.h"

enum {
    RIG_DATA = 1 << 20,         /* bytes of each data segment */
    RIG_RING_ORDER = 10,
    RIG_QUEUES = 2,
    RIG_SEGMENT_HOST = 0,
    RIG_SEGMENT_HBM = 1,
    RIG_SEGMENT_BAD = 2,        /* host addresses that nothing answers */
};

/* One request or response, as traced; without padding, to be compared */
struct rig_event {
    uint64_t cycle;
    uint64_t address;
    uint32_t id;
    uint16_t side;
    uint16_t op;
};

struct rig_log {
    struct rig_event *event;
    size_t count;
    size_t room;
};

struct rig {
    struct tdma_core *core;
    uint8_t *host;              /* data first, then rings and tables */
    uint8_t *hbm;
    uint32_t tail[RIG_QUEUES];
    struct rig_log requests;
    struct rig_log responses;
    /* Called for every partial update, if set */
    void (*progress)(struct rig *rig, unsigned queue, uint32_t index);
    void *progress_opaque;
};

/* Properties as a user gets them, but one thread and cycle fidelity. */
struct tdma_properties rig_properties(void);

struct rig *rig_new(const struct tdma_properties *props);
void rig_free(struct rig *rig);

/* Reset the machine, and set it up again. */
void rig_reset(struct rig *rig);

/* Trace requests and responses (so it begins), or not. */
void rig_trace(struct rig *rig, bool on);

/* Forget what was traced, clear counters. */
void rig_clear(struct rig *rig);

/* A copy of @elements elements from HBM to HBM, halves apart. */
struct tdma_desc rig_copy(uint32_t elements, uint32_t elem_bytes);

/* Put a descriptor into a ring; rung by rig_run(). Returns its index. */
uint32_t rig_submit(struct rig *rig, unsigned queue,
                    const struct tdma_desc *desc,
                    const struct tdma_desc_ext *ext);

/* Ring the doorbells without running anything. */
void rig_ring(struct rig *rig);

/* Ring the doorbells and run until there is nothing left to do. */
void rig_run(struct rig *rig);

/* One bounded quantum. True if there is more to do. */
bool rig_quantum(struct rig *rig);

/* The record of the descriptor at @index. */
const struct tdma_record *rig_record(const struct rig *rig, unsigned queue,
                                     uint32_t index);

/* Counters of a side. */
const struct tdma_counters *rig_counters(const struct rig *rig, unsigned side);
uint64_t rig_cycles(const struct rig *rig);

/* The progress tracker of a side. */
const struct tdma_progress *rig_progress(const struct rig *rig, unsigned side);

/* Each side issues at most @budget requests per @window cycles. */
void rig_throttle(struct rig *rig, uint32_t window, uint32_t budget);

/* Registers. */
void rig_write(struct rig *rig, uint64_t addr, uint64_t value);
uint64_t rig_read(struct rig *rig, uint64_t addr);

#endif /* TDMA_CYCLE_RIG_H */
