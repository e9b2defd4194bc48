/* SPDX-License-Identifier: MIT */
/* Sync unit of a sub-thread; see cycle_sync.h. */
#include "cycle_sync.h"

uint64_t tdma_sync_share(uint64_t total, unsigned per_mille)
{
    /* ceil(total * per_mille / 1000) without the product's overflow */
    uint64_t whole = total / 1000 * per_mille;
    uint64_t rest = total % 1000 * per_mille;
    uint64_t share = whole + (rest + 999) / 1000;

    return share ? share : 1;
}

/* The next update after one at @done; the final one needs no interval. */
static void arm(struct tdma_sync *s, uint64_t done)
{
    bool partial = s->interval && s->interval < s->total - done;

    s->next = partial ? done + s->interval : s->total;
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
