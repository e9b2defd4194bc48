/* SPDX-License-Identifier: MIT */
/*
 * Per-request trace of the cycle engine: called for every request and
 * response if asked for. The hooks see what crosses the interconnect, in the
 * order of cycles.
 */
#ifndef TDMA_CYCLE_TRACE_H
#define TDMA_CYCLE_TRACE_H

#include <stdint.h>

struct tdma_cycle_trace {
    void *opaque;
    /* @op: &enum tdma_request_op; @address: offset in the segment */
    void (*request)(void *opaque, uint64_t cycle, unsigned side, unsigned id,
                    unsigned op, uint64_t address);
    void (*response)(void *opaque, uint64_t cycle, unsigned side, unsigned id);
};

#endif /* TDMA_CYCLE_TRACE_H */
