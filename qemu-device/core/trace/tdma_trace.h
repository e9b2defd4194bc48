/* SPDX-License-Identifier: MIT */
/*
 * tensordma core: the trace of a DMA thread.
 *
 * What an architect wants to see of each request goes, when software asks for
 * it, to a ring in host memory. Entries are collected and written in batches,
 * through the same access path as all DMA. The engine never waits for the
 * ring: what finds it full is counted as lost, and a ring that cannot be
 * written ends the trace, not the descriptor.
 *
 * "locked" and "run" are as in tdma_machine.h.
 */
#ifndef TDMA_TRACE_H
#define TDMA_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <linux/tensordma_regs.h>
#include <linux/tensordma_trace.h>

struct tdma_core;

#define TDMA_TRACE_BATCH 64

/* For hosts of the machine: called with every entry, as it is made. */
typedef void tdma_trace_tap_fn(void *opaque,
                               const struct tdma_trace_entry *entry);

struct tdma_trace {
    struct tdma_core *core;
    unsigned thread;

    /* locked: the registers */
    uint64_t base;
    uint32_t order;
    uint32_t events;
    uint32_t state;             /* TDMA_TRSTATE_* */
    uint32_t head;              /* entries in memory */
    uint32_t tail;              /* entries software has done with */
    uint64_t lost;
    bool fresh;                 /* enabled since the thread last looked */
    bool running;               /* a quantum is */

    /* run */
    uint32_t wanted;            /* events that somebody wants; 0 = off */
    struct {
        uint32_t events;        /* 0 = off */
        uint64_t base;
        uint32_t size;          /* entries */
        uint32_t head;          /* entries in memory or in the batch */
        uint32_t tail;
        uint32_t sequence;
        uint64_t lost;
    } ring;
    unsigned batched;
    struct tdma_trace_entry batch[TDMA_TRACE_BATCH];

    tdma_trace_tap_fn *tap;
    void *tap_opaque;
    uint32_t tap_events;
};

/*
 * Register side; with the lock held.
 */

void tdma_trace_reset(struct tdma_trace *trace);

/* May BASE, ORDER and EVENTS be written? */
bool tdma_trace_configurable(const struct tdma_trace *trace);

/* Write of CONTROL; its value when read. False: not now. */
bool tdma_trace_control(struct tdma_trace *trace, uint32_t value);
uint32_t tdma_trace_control_value(const struct tdma_trace *trace);

/* Software has done with the entries before @tail. False: there are none. */
bool tdma_trace_set_tail(struct tdma_trace *trace, uint32_t tail);

/*
 * The registers have been set to those of a trace that was saved between two
 * quanta: have the rest follow. False if they cannot be so.
 */
bool tdma_trace_restore(struct tdma_trace *trace);

/*
 * The thread's side, between begin() and end() of a quantum; both with the
 * lock held, the others without.
 */

/* Also in the middle: have what software has set up since take effect. */
void tdma_trace_begin(struct tdma_trace *trace);
void tdma_trace_end(struct tdma_trace *trace);

/* Is anybody interested in @event? Cheap; ask before making an entry. */
static inline bool tdma_trace_wants(const struct tdma_trace *trace,
                                    enum tdma_trace_event event)
{
    return trace->wanted & 1U << event;
}

/* Report @entry, complete but for sequence and thread. */
void tdma_trace_put(struct tdma_trace *trace, struct tdma_trace_entry entry);

/* Have everything put so far in memory, and shown in the registers. */
void tdma_trace_flush(struct tdma_trace *trace);

/*
 * Have @tap called for @events (mask) from the next quantum on, whatever
 * software has set up; 0: no more.
 */
void tdma_trace_tap(struct tdma_trace *trace, uint32_t events,
                    tdma_trace_tap_fn *tap, void *opaque);

#endif /* TDMA_TRACE_H */
