/* SPDX-License-Identifier: MIT */
/*
 * Trace of the cycle engine: entries for what crosses the interconnect, for
 * what becomes visible and for what is held back, in the order of cycles.
 */
#ifndef TDMA_CYCLE_TRACE_H
#define TDMA_CYCLE_TRACE_H

#include <stdint.h>
#include "cycle_flight.h"

struct tdma_slot;

/* A stall that goes on: one entry, when it ends */
struct tdma_cycle_stall {
    uint64_t cycles;            /* 0 = none */
    uint64_t since;
    unsigned cause;             /* &enum tdma_stall */
    unsigned flight;
};

struct tdma_cycle_trace {
    struct tdma_trace *trace;
    const struct tdma_flight *flights;
    unsigned lanes;
    struct tdma_cycle_stall stall[TDMA_SIDES];
};

/* The request for @element, in @slot, leaves with @id. */
void tdma_cycle_trace_issue(struct tdma_cycle_trace *t, uint64_t now,
                            unsigned side, unsigned id,
                            const struct tdma_slot *slot, uint64_t element);

/* A response with @id; @slot is that of its request, NULL if it has none. */
void tdma_cycle_trace_response(struct tdma_cycle_trace *t, uint64_t now,
                               unsigned side, unsigned id,
                               const struct tdma_slot *slot);

/* Descriptor @flight has become visible as far as it says. */
void tdma_cycle_trace_commit(struct tdma_cycle_trace *t, uint64_t now,
                             unsigned flight);

/*
 * The sender of @side held back a request of @flight for @cause, for @cycles
 * from @now on.
 */
void tdma_cycle_trace_stall(struct tdma_cycle_trace *t, uint64_t now,
                            unsigned side, unsigned flight, unsigned cause,
                            uint64_t cycles);

/* ... or it did not: a stall has ended. Also at the end of a quantum. */
void tdma_cycle_trace_no_stall(struct tdma_cycle_trace *t, unsigned side);

#endif /* TDMA_CYCLE_TRACE_H */
