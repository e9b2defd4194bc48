/* SPDX-License-Identifier: MIT */
/* Step tracker of a lane; see cycle_tracker.h. */
#include "cycle_tracker.h"

void tdma_tracker_init(struct tdma_tracker *tracker, unsigned which)
{
    tdma_chain_init(&tracker->chain[which]);
}

void tdma_tracker_start(struct tdma_tracker *tracker, unsigned which,
                        const struct tdma_chain_params *params, unsigned lane)
{
    tdma_chain_step(&tracker->chain[which], params, lane);
}

void tdma_tracker_advance(struct tdma_tracker *tracker, unsigned which,
                          const struct tdma_chain_params *params,
                          unsigned amount)
{
    tdma_chain_step(&tracker->chain[which], params, amount);
}
