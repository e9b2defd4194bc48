/* SPDX-License-Identifier: MIT */
/*
 * Request generator of a sub-thread (A10-A20): M lanes behind one FSM, five
 * pipeline stages with registers between them, and the request sender.
 *
 *   stage 1  pre-computation of the step-compare values     -> register 1
 *   stage 2  FSM initialises the idle chain of the trackers -> register 2
 *   stage 3  step trackers: dimension offsets               -> register 3
 *   stage 4  first adders: sum of the offsets               -> register 4
 *   stage 5  second adders: memory addresses                -> register 5
 *   request sender: ID, address, opcode to the memory system
 *
 * A register keeps its content while the one behind it is full, so a stall of
 * the sender runs back up the pipeline and bubbles close. What a stall leaves
 * of a bundle waits in a skid register, so that the next bundle can fill up
 * the cycle. The sender holds requests back for three reasons, and each cycle
 * in which it does is counted under exactly one.
 */
#ifndef TDMA_CYCLE_GENERATOR_H
#define TDMA_CYCLE_GENERATOR_H

#include "cycle_credit.h"
#include "cycle_fsm.h"
#include "cycle_memory.h"
#include "cycle_reorder.h"
#include "cycle_throttle.h"

#define TDMA_GENERATOR_INPUT 4  /* halves waiting, a power of two */

/* What one cycle of the generator was; all cycles add up. */
enum tdma_generator_cycle {
    TDMA_GENERATOR_IDLE,        /* nothing to do, or held by software */
    TDMA_GENERATOR_FILL,        /* work in the pipeline, none at its end */
    TDMA_GENERATOR_HAZARD,      /* pipeline empty, next descriptor held back */
    TDMA_GENERATOR_SENT,        /* all lanes used, or all there was to send */
    TDMA_GENERATOR_BACKPRESSURE,
    TDMA_GENERATOR_THROTTLE,
    TDMA_GENERATOR_IDS,
};

/* Register 1 */
struct tdma_register_params {
    const struct tdma_part *part;               /* NULL = empty */
    struct tdma_chain_params params;
};

/*
 * Register 3. The offsets stay in the chains, which keep their outputs until
 * stage 4 has taken them; here is what selects among them.
 */
struct tdma_register_offsets {
    const struct tdma_part *part;
    unsigned chain;                             /* multiplexer setting */
    unsigned count;                             /* lanes in use */
};

/* Registers 4 and 5: sums, then addresses */
struct tdma_register_addresses {
    const struct tdma_part *part;
    unsigned count;
    unsigned sent;                              /* lanes the sender is past */
    uint64_t value[TDMA_MAX_LANES];
    uint8_t op[TDMA_MAX_LANES];                 /* &enum tdma_request_op */
};

struct tdma_generator {
    unsigned side;
    struct tdma_flight *flights;
    struct tdma_memory *memory;
    struct tdma_reorder *reorder;
    struct tdma_credit *credit;
    struct tdma_throttle *throttle;
    struct tdma_counters *counters;

    unsigned input_head, input_tail;            /* free running */
    const struct tdma_part *input[TDMA_GENERATOR_INPUT];

    struct tdma_register_params reg1;
    /* register 2: parameters per chain, beside the chains themselves */
    const struct tdma_part *chain_part[TDMA_MAX_CHAINS];
    struct tdma_chain_params chain_params[TDMA_MAX_CHAINS];
    struct tdma_fsm fsm;
    struct tdma_tracker lane[TDMA_MAX_LANES];
    struct tdma_register_offsets reg3;
    struct tdma_register_addresses reg4;
    struct tdma_register_addresses reg5;
    struct tdma_register_addresses skid;
    unsigned blocked;           /* descriptor of the request held back last */

    unsigned busy;              /* parts and registers not empty */
    bool moved;                 /* something changed in this cycle */
};

/* Empty; @lanes and @chains as configured. The pointers stay. */
void tdma_generator_reset(struct tdma_generator *g, unsigned lanes,
                          unsigned chains);

static inline bool tdma_generator_full(const struct tdma_generator *g)
{
    return g->input_tail - g->input_head == TDMA_GENERATOR_INPUT;
}

/* Hand over half a descriptor; not while full. */
void tdma_generator_push(struct tdma_generator *g,
                         const struct tdma_part *part);

/*
 * The sender's turn in a cycle: sends what it can of register 5 and says what
 * the cycle was. @hazard: the next descriptor is held back.
 */
enum tdma_generator_cycle tdma_generator_send(struct tdma_generator *g,
                                              bool hazard);

/* The rest of the cycle: stages 5 to 1. */
void tdma_generator_shift(struct tdma_generator *g);

/* Count @cycles more cycles of kind @kind. */
void tdma_generator_count(struct tdma_generator *g,
                          enum tdma_generator_cycle kind, uint64_t cycles);

/* Remove whatever belongs to descriptor @flight. */
void tdma_generator_purge(struct tdma_generator *g, unsigned flight);

#endif /* TDMA_CYCLE_GENERATOR_H */
