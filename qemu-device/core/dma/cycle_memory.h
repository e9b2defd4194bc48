/* SPDX-License-Identifier: MIT */
/*
 * The memory system as the DMA thread sees it: it accepts requests and
 * answers them after a while, in any order.
 *
 * Time. Every space accepts so many requests per cycle; beyond that it pushes
 * back. A request takes a latency drawn uniformly from [latency_min,
 * latency_max] by a seeded generator: same seed and requests, same order.
 *
 * Data never passes through the DMA thread (A6). The memory system pairs the
 * read of an element with its write: the pair is *served* when the read's
 * latency is over and the write is there; that answers the read. The write is
 * answered when its own latency is over as well. What is served may be
 * committed, i.e. become visible; see cycle_commit.h.
 */
#ifndef TDMA_CYCLE_MEMORY_H
#define TDMA_CYCLE_MEMORY_H

#include "cycle_flight.h"
#include "cycle_inject.h"
#include "cycle_trace.h"

/* Most ports, with an injected response beside each */
#define TDMA_MAX_RESPONSES 128

/* State of a slot: one request, found by its ID */
enum {
    TDMA_SLOT_FIRED = 1,        /* latency is over */
    TDMA_SLOT_SERVED = 2,       /* effect may be committed (master side) */
    TDMA_SLOT_ANSWERED = 4,
    /* injected */
    TDMA_SLOT_BUS_ERROR = 8,
    TDMA_SLOT_POISONED = 16,
    TDMA_SLOT_STRAY = 32,       /* an unknown ID is answered beside it */
    TDMA_SLOT_REPEAT = 64,      /* it is answered twice */
    TDMA_SLOT_LOST = 128,       /* not answered unless it becomes void */
    /* its answer will be found to be bad: not to be committed before */
    TDMA_SLOT_HELD = TDMA_SLOT_STRAY | TDMA_SLOT_REPEAT,
};

struct tdma_slot {
    uint64_t address;           /* offset in the segment */
    uint32_t element;           /* low bits */
    uint8_t flight;
    uint8_t op;
    uint8_t state;
};

struct tdma_memory {
    struct tdma_flight *flights;
    struct tdma_inject *inject;
    struct tdma_cycle_trace *trace;             /* NULL: nobody wants it */
    unsigned ids;
    unsigned ports;             /* responses per cycle and side */
    uint64_t now;

    uint32_t latency_min;
    uint64_t latency_range;     /* number of different latencies */
    uint64_t random;

    unsigned bandwidth[TDMA_SPACE_HBM + 1];     /* per cycle */
    unsigned room[TDMA_SPACE_HBM + 1];          /* left in this cycle */

    /*
     * Requests in flight by the cycle in which their latency is over:
     * circular lists, bucket -> last node -> first node. A node is
     * side * ids + id.
     */
    uint64_t wheel_mask;
    uint16_t *wheel;
    uint16_t *next;
    unsigned in_wheel;

    struct tdma_slot *slot[TDMA_SIDES];

    /* Answers that wait for a response port: ring of IDs per side */
    uint16_t *answer[TDMA_SIDES];
    unsigned answer_mask;
    unsigned answer_head[TDMA_SIDES];
    unsigned answer_tail[TDMA_SIDES];

    unsigned outstanding[TDMA_SIDES];   /* accepted and not answered */
};

/* False if out of memory. */
bool tdma_memory_create(struct tdma_memory *m,
                        const struct tdma_properties *props,
                        struct tdma_flight *flights,
                        struct tdma_inject *inject);
void tdma_memory_destroy(struct tdma_memory *m);

/* Forget all requests and start the random sequence over. */
void tdma_memory_reset(struct tdma_memory *m, uint64_t seed);

/* Start of a cycle: the spaces accept requests again. */
void tdma_memory_open(struct tdma_memory *m);

/*
 * @count requests of @side with opcode @op: IDs from @id on, for the elements
 * from @element on. Returns how many were accepted; the others meet with
 * back-pressure. A request with opcode NULL stays with the sender and takes no
 * time.
 */
unsigned tdma_memory_request(struct tdma_memory *m, unsigned side, unsigned id,
                             const struct tdma_part *part, uint64_t element,
                             unsigned op, const uint64_t *address,
                             unsigned count);

/* Let the latencies of this cycle run out. */
void tdma_memory_serve(struct tdma_memory *m);

/*
 * The responses of @side in this cycle: their IDs, into @ids, and how many.
 * Those that were injected come with the one they disturb and take no port.
 */
unsigned tdma_memory_respond(struct tdma_memory *m, unsigned side,
                             uint16_t ids[TDMA_MAX_RESPONSES]);

/* End of a cycle. */
static inline void tdma_memory_tick(struct tdma_memory *m)
{
    m->now++;
}

/* Cycles until the next latency is over, at most @max. */
uint64_t tdma_memory_quiet(const struct tdma_memory *m, uint64_t max);

/* Descriptor @flight ends early: nothing beyond waits for its partner. */
void tdma_memory_kill(struct tdma_memory *m, unsigned flight);

#endif /* TDMA_CYCLE_MEMORY_H */
