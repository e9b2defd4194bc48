/* SPDX-License-Identifier: MIT */
/* Progress tracker; see cycle_progress.h. */
#include "cycle_progress.h"

void tdma_progress_reset(struct tdma_progress *p,
                         const struct tdma_properties *props)
{
    tdma_reorder_reset(&p->reorder, props->ids, props->pop_max);
    tdma_credit_reset(&p->credit, props->ids, props->release_threshold);
    tdma_trackerq_reset(&p->queue);
    p->sequence = 0;
    p->due = 0;
    p->finished = 0;
}

void tdma_progress_push(struct tdma_progress *p, const struct tdma_part *part)
{
    tdma_trackerq_push(&p->queue, part->flight, part->start, part->elements,
                       part->interval);
}

/* Entries whose responses are all in leave, also those that expect none. */
static void drop_finished(struct tdma_progress *p)
{
    struct tdma_trackerq_entry *e;

    while ((e = tdma_trackerq_head(&p->queue)) && e->popped == e->expected) {
        p->finished |= 1ULL << e->flight;
        tdma_trackerq_drop(&p->queue);
    }
}

/* @count more responses, in order: whose are they, and is an update due? */
static void credit_entries(struct tdma_progress *p, unsigned count)
{
    while (count) {
        struct tdma_trackerq_entry *e = tdma_trackerq_head(&p->queue);
        uint64_t missing = e->expected - e->popped;
        unsigned n = count < missing ? count : missing;

        e->popped += n;
        count -= n;
        p->flights[e->flight].side[p->side].popped = e->popped;
        if (tdma_sync_update(&e->sync, e->popped)) {
            p->due |= 1ULL << e->flight;
        }
        drop_finished(p);
    }
}

bool tdma_progress_tick(struct tdma_progress *p, uint64_t committed)
{
    uint64_t limit = committed - p->sequence;
    unsigned released = tdma_credit_release(&p->credit, p->reorder.items);
    bool changed = p->reorder.touched || released;
    unsigned popped;

    tdma_reorder_release(&p->reorder, released);
    popped = tdma_reorder_tick(&p->reorder,
                               limit < UINT32_MAX ? limit : UINT32_MAX);
    if (popped) {
        p->sequence += popped;
        credit_entries(p, popped);
    }
    return changed || popped;
}

void tdma_progress_cut(struct tdma_progress *p, unsigned flight,
                       uint64_t expected)
{
    tdma_trackerq_cut(&p->queue, flight, expected);
    drop_finished(p);
}
