/* SPDX-License-Identifier: MIT */
/* Sync unit of a sub-thread; see cycle_sync.h. */
#include "cycle_sync.h"

/* The next update after one at @done; the final one needs no interval. */
static void arm(struct tdma_sync *s, uint64_t done)
{
    uint64_t step = s->interval ? s->interval - done % s->interval : s->total;

    s->next = step < s->total - done ? done + step : s->total;
}

void tdma_sync_init(struct tdma_sync *s, uint64_t total, uint64_t interval)
{
    s->total = total;
    s->interval = interval;
    arm(s, 0);
}

bool tdma_sync_update(struct tdma_sync *s, uint64_t done)
{
    if (done < s->next) {
        return false;
    }
    arm(s, done);
    return true;
}
