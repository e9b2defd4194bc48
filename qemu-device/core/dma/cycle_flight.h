/* SPDX-License-Identifier: MIT */
/*
 * A descriptor in flight: what the units of the cycle engine share about it.
 *
 * The splitter makes two halves of it (A3). Each half goes through its own
 * sub-thread; they meet again in the memory system, which pairs element n of
 * the one with element n of the other, and when the job ends.
 */
#ifndef TDMA_CYCLE_FLIGHT_H
#define TDMA_CYCLE_FLIGHT_H

#include "cycle_trackerq.h"
#include "tdma_engine.h"

#define TDMA_FLIGHTS TDMA_TRACKER_QUEUE

/* Opcode of a request (A7) */
enum tdma_request_op {
    /* nothing to do: answered by the sender */
    TDMA_REQUEST_NULL = TDMA_TRACE_OP_NULL,
    /* paired with a write of the other side */
    TDMA_REQUEST_READ = TDMA_TRACE_OP_READ,
    /* read, no write to pair with */
    TDMA_REQUEST_DISCARD = TDMA_TRACE_OP_DISCARD,
    /* paired with a read */
    TDMA_REQUEST_WRITE = TDMA_TRACE_OP_WRITE,
    /* paired with a read, added to memory */
    TDMA_REQUEST_ACCUMULATE = TDMA_TRACE_OP_ACCUMULATE,
    /* write the fill pattern, no read */
    TDMA_REQUEST_MEMSET = TDMA_TRACE_OP_MEMSET,
    /* add the fill pattern to memory, no read */
    TDMA_REQUEST_ADD_FILL = TDMA_TRACE_OP_ADD_FILL,
};

/* Why a generator stalls (A20) */
enum tdma_stall {
    TDMA_STALL_BACKPRESSURE = TDMA_TRACE_STALL_BACKPRESSURE,
    TDMA_STALL_THROTTLE = TDMA_TRACE_STALL_THROTTLE,
    TDMA_STALL_IDS = TDMA_TRACE_STALL_IDS,
    TDMA_STALLS,
};

/*
 * The half of a descriptor that a sub-thread works on. An element's opcode
 * depends on whether it lies inside the axes of both sides (padding): an
 * element outside the destination is no request on either side; one outside
 * the source only is no read, and a write of the fill pattern.
 */
struct tdma_part {
    unsigned flight;
    unsigned ndims;
    bool has_ext;
    uint8_t op;                 /* element inside on both sides */
    uint8_t op_outside_src;     /* inside the destination only */
    uint8_t space;              /* TDMA_SPACE_* of the addresses */
    uint64_t start;             /* first element to do */
    uint64_t elements;
    uint64_t interval;          /* of partial updates, elements */
    uint64_t base;
    const uint32_t *steps;
    const int64_t *stride;
    const struct tdma_job *job;
};

/* How far one half has come; all counts in elements, in order. */
struct tdma_flight_side {
    unsigned base_id;           /* ID of the first element, once issued */
    uint64_t issued;
    uint64_t popped;
    uint64_t stall[TDMA_STALLS];
};

/* A mapped piece of a segment, as the data path uses it */
struct tdma_reach {
    uint8_t *ptr;
    uint64_t start;             /* segment offset of @ptr */
    uint64_t len;               /* 0: nothing mapped */
    uint64_t dirty_lo;          /* segment offsets written: lo < hi */
    uint64_t dirty_hi;
};

#define TDMA_FILL_CACHE 64

/*
 * All element numbers and counts are those of the descriptor, also in a flight
 * that goes on with one that was put aside at element @start.
 */
struct tdma_flight {
    struct tdma_job *job;       /* NULL: ended, its IDs are coming home */
    uint32_t index;             /* where it comes from: ring index, queue */
    uint8_t queue;
    bool dead;                  /* ends at @limit, before its elements */
    bool lost;                  /* the first element's response never comes */
    bool split;                 /* its halves are in the sub-threads */
    bool master;                /* side whose requests say "served" */
    bool has_side[TDMA_SIDES];
    uint32_t status;            /* to end with; PENDING: to be given back */
    uint32_t elem_bytes;
    uint64_t start;             /* elements that had taken effect before */
    uint64_t limit;             /* elements that take effect */
    uint64_t committed;         /* elements that have taken effect */
    unsigned waiting;           /* reads that wait for their write only */
    uint64_t first_cycle;       /* of a request; UINT64_MAX = none yet */
    uint64_t last_cycle;        /* of a response */
    struct tdma_flight_side side[TDMA_SIDES];
    struct tdma_part part[TDMA_SIDES];
    struct tdma_reach reach[TDMA_SIDES];
    uint8_t fill[TDMA_FILL_CACHE];
};

#endif /* TDMA_CYCLE_FLIGHT_H */
