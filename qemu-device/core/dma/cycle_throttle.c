/* SPDX-License-Identifier: MIT */
/* Throttle FSM; see cycle_throttle.h. */
#include "cycle_throttle.h"

void tdma_throttle_tick(struct tdma_throttle *t, uint32_t window,
                        uint32_t budget)
{
    if (t->window && ++t->elapsed < t->window) {
        return;
    }
    t->window = budget ? window : 0;
    t->elapsed = 0;
    t->budget = budget;
}

void tdma_throttle_skip(struct tdma_throttle *t, uint64_t cycles,
                        uint32_t window, uint32_t budget)
{
    uint64_t elapsed = t->elapsed + cycles;

    if (!t->window || elapsed < t->window) {
        t->elapsed = t->window ? elapsed : 0;
        return;
    }
    elapsed -= t->window;
    t->window = budget ? window : 0;
    t->elapsed = t->window ? elapsed % t->window : 0;
    t->budget = budget;
}
