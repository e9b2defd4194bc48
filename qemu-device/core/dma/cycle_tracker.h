/* SPDX-License-Identifier: MIT */
/*
 * Step tracker of a lane (A14, A17): one or two step-increment chains and the
 * multiplexer that passes on the outputs of the active one.
 *
 * A tracker sees its own state, the parameters of the descriptor and the
 * amounts the FSM sends to all lanes; nothing of another lane. Lane i starts
 * i elements in, by an initialisation amount of i.
 */
#ifndef TDMA_CYCLE_TRACKER_H
#define TDMA_CYCLE_TRACKER_H

#include "cycle_chain.h"

#define TDMA_MAX_CHAINS 2

struct tdma_tracker {
    struct tdma_chain chain[TDMA_MAX_CHAINS];
};

/* Put chain @which at element 0, while the other one may be running. */
static inline void tdma_tracker_init(struct tdma_tracker *tracker,
                                     unsigned which)
{
    tdma_chain_init(&tracker->chain[which]);
}

/* The same at @element, for the rest of a descriptor. */
static inline void tdma_tracker_restore(struct tdma_tracker *tracker,
                                        unsigned which,
                                        const struct tdma_chain_params *params,
                                        uint64_t element)
{
    tdma_chain_restore(&tracker->chain[which], params, element);
}

/* First cycle of a descriptor: chain @which moves to this lane's element. */
static inline void tdma_tracker_start(struct tdma_tracker *tracker,
                                      unsigned which,
                                      const struct tdma_chain_params *params,
                                      unsigned lane)
{
    tdma_chain_step(&tracker->chain[which], params, lane);
}

/* Every other cycle: chain @which moves on by the amount last sent out. */
static inline void tdma_tracker_advance(struct tdma_tracker *tracker,
                                        unsigned which,
                                        const struct tdma_chain_params *params,
                                        unsigned amount)
{
    tdma_chain_step(&tracker->chain[which], params, amount);
}

/* The multiplexer: outputs of chain @which. */
static inline const struct tdma_chain *
tdma_tracker_output(const struct tdma_tracker *tracker, unsigned which)
{
    return &tracker->chain[which];
}

#endif /* TDMA_CYCLE_TRACKER_H */
