/* SPDX-License-Identifier: MIT */
/*
 * FSM of a request generator (A13, A17): hands out the chains, counts the
 * addresses still to be generated and sends every step tracker the advance
 * amount of the cycle: the number of lanes, or what is left.
 *
 * The counter says how many addresses are left, never which: an element's
 * place comes from the step trackers alone.
 *
 *   chain:  free --load--> ready --emit--> running --emit, none left--> free
 *
 * With two chains one of them can be ready while the other is running, so that
 * the next descriptor's first addresses follow in the next cycle. With one
 * chain, loading it is a cycle without addresses.
 */
#ifndef TDMA_CYCLE_FSM_H
#define TDMA_CYCLE_FSM_H

#include <stdbool.h>
#include <stdint.h>
#include "cycle_tracker.h"

struct tdma_fsm {
    unsigned lanes;
    unsigned chains;
    unsigned active;                    /* chain that emits now, or next */
    bool loaded[TDMA_MAX_CHAINS];       /* ready or running */
    bool running;                       /* the active one has emitted */
    unsigned last_amount;               /* sent in its last cycle */
    uint64_t left[TDMA_MAX_CHAINS];     /* addresses not yet sent out */
};

/* What the FSM sends to all trackers in one cycle. */
struct tdma_fsm_output {
    unsigned chain;                     /* multiplexer setting */
    unsigned amount;                    /* addresses of this cycle */
    unsigned previous;                  /* what to advance by first, or ... */
    bool first;                         /* ... start from the lane number */
    bool last;                          /* nothing left after this cycle */
};

void tdma_fsm_reset(struct tdma_fsm *fsm, unsigned lanes, unsigned chains);

/* The chain that the next descriptor may be loaded into, or -1. */
int tdma_fsm_free_chain(const struct tdma_fsm *fsm);

/* That chain has been initialised for @total >= 1 addresses. */
void tdma_fsm_load(struct tdma_fsm *fsm, unsigned which, uint64_t total);

/* One address cycle; false if no chain is ready. */
bool tdma_fsm_emit(struct tdma_fsm *fsm, struct tdma_fsm_output *out);

/* Chain @which is given up with addresses left. */
void tdma_fsm_cut(struct tdma_fsm *fsm, unsigned which);

#endif /* TDMA_CYCLE_FSM_H */
