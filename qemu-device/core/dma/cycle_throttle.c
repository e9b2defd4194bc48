/* SPDX-License-Identifier: MIT */
/* Throttle FSM; see cycle_throttle.h. */
#include "cycle_throttle.h"

static void open_window(struct tdma_throttle *t, uint32_t window,
                        uint32_t budget)
{
    t->window = budget ? window : 0;
    t->elapsed = 0;
    t->budget = budget;
}

void tdma_throttle_tick(struct tdma_throttle *t, uint32_t window,
                        uint32_t budget)
{
    if (t->window && ++t->elapsed < t->window) {
        return;
    }
    open_window(t, window, budget);
}

void tdma_throttle_skip(struct tdma_throttle *t, uint64_t cycles,
                        uint32_t window, uint32_t budget)
{
    /* ticks until the next window opens */
    uint64_t left = t->window ? t->window - t->elapsed : 1;

    if (cycles < left) {
        t->elapsed += cycles;
        return;
    }
    open_window(t, window, budget);
    if (t->window) {
        t->elapsed = (cycles - left) % t->window;
    }
}
