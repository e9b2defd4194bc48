/* SPDX-License-Identifier: MIT */
/*
 * Throttle FSM of a sub-thread (A21): software sets how many requests may be
 * generated per sampling window; when they are used up the pipeline stalls
 * until the window ends. Windows follow each other without a gap from reset
 * on; new settings hold from the next window, or at once if it was off.
 */
#ifndef TDMA_CYCLE_THROTTLE_H
#define TDMA_CYCLE_THROTTLE_H

#include <stdbool.h>
#include <stdint.h>

struct tdma_throttle {
    uint32_t window;            /* cycles of the current window; 0 = off */
    uint32_t elapsed;           /* cycles of it that are over */
    uint32_t budget;            /* requests left in it */
};

/* Start of a cycle, with the settings as software last left them. */
void tdma_throttle_tick(struct tdma_throttle *t, uint32_t window,
                        uint32_t budget);

/* The same as @cycles cycles in which nothing is sent. */
void tdma_throttle_skip(struct tdma_throttle *t, uint64_t cycles,
                        uint32_t window, uint32_t budget);

/* Cycles, this one included, until the budget is renewed; 0 = off. */
static inline uint32_t tdma_throttle_left(const struct tdma_throttle *t)
{
    return t->window - t->elapsed;
}

/* How many more requests may go out in this cycle? */
static inline uint32_t tdma_throttle_room(const struct tdma_throttle *t)
{
    return t->window ? t->budget : UINT32_MAX;
}

/* @count requests went out. */
static inline void tdma_throttle_take(struct tdma_throttle *t, uint32_t count)
{
    if (t->window) {
        t->budget -= count;
    }
}

#endif /* TDMA_CYCLE_THROTTLE_H */
