/* SPDX-License-Identifier: MIT */
/*
 * tensordma core: state of the machine, shared by the core's own files.
 *
 * Who may touch what
 *  - "locked": only with the core's lock held.
 *  - "owner": only the thread that owns the queue, inside tdma_core_run().
 *    Ownership is taken and given up with the lock held.
 *  - "config": written with the lock held while the queue is off, read by the
 *    owner without it.
 *  - "run": only inside tdma_core_run() of that thread.
 * The lock is never held across ops->read, write, window, interrupt or kick,
 * nor while an engine runs.
 */
#ifndef TDMA_MACHINE_H
#define TDMA_MACHINE_H

#include <stdbool.h>
#include <stdint.h>
#include "tdma_core.h"
#include "dma/tdma_engine.h"
#include "mem/tdma_segment.h"
#include "mem/tdma_syncflag.h"
#include "trace/tdma_trace.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the layouts on the bus are used as they are: little-endian hosts only"
#endif

/* No thread owns the queue. */
#define TDMA_NO_THREAD UINT32_MAX

struct tdma_queue {
    struct tdma_core *core;
    unsigned number;

    /* config */
    uint64_t ring;
    uint64_t records;
    uint64_t tail_addr;
    uint32_t ring_order;
    uint32_t context;
    uint32_t vector;
    uint32_t thread;
    uint32_t priority;
    uint32_t policy;

    /* locked: what software asked for */
    bool enabled;
    bool pause;
    bool abort;                 /* end everything up to abort_tail */
    bool doorbell;              /* the tail in memory may have moved */

    /* locked: what became of it */
    uint32_t owner;             /* thread, or TDMA_NO_THREAD */
    bool quiet;                 /* paused or disabled, and all given back */
    bool halted;
    uint32_t error;
    uint32_t irq_status;
    uint32_t head;
    uint32_t tail;
    uint32_t done;
    bool admitting;             /* the owner looks for its next descriptor */
    bool stuck;                 /* its oldest job waits for a lost response */
    uint64_t progress;          /* elements moved since it was enabled */

    /* owner */
    struct tdma_job *first;     /* jobs not yet retired, in ring order */
    struct tdma_job *last;
    unsigned in_flight;         /* jobs on that list */
    bool abort_known;           /* abort_tail has been determined */
    uint32_t abort_tail;
};

struct tdma_thread {
    struct tdma_core *core;
    unsigned number;

    /* locked */
    bool busy;                  /* kicked, and run() has not said "no more" */
    bool clear_counters;
    bool new_inject;            /* written since the engine has seen it */
    struct tdma_inject inject;
    uint32_t throttle_window;   /* as written */
    uint32_t throttle_budget;
    uint32_t throttle_status;   /* TDMA_THROTTLE_* */
    struct tdma_throttle_rate throttle;         /* in effect */
    uint64_t cycles;
    struct tdma_counters counters[TDMA_SIDES];

    struct tdma_trace trace;    /* says itself */

    /* run */
    struct tdma_engine *engine;
    unsigned in_engine;         /* jobs started, not parked, not ended */
    bool stalled;               /* a pipeline of which nothing can move */
    uint32_t order;             /* of the next job to start */
    struct tdma_job *oldest;    /* scratch of find_oldest() */
    unsigned next_queue;        /* where the round-robin search begins */
};

struct tdma_core {
    struct tdma_properties props;
    struct tdma_host_ops ops;
    struct tdma_mem mem;
    const struct tdma_engine_ops *engine_ops;

    /* locked */
    bool enabled;
    uint32_t generation;
    uint32_t bad_access;
    struct tdma_segment_table *contexts;
    struct tdma_job *free_jobs;
    /* Queues that may need a thread; cleared by whoever finds they do not */
    uint64_t pending[TDMA_MAX_QUEUES / 64];

    /* arrays of props.queues, props.threads; fixed */
    struct tdma_queue *queues;
    struct tdma_thread *threads;
    struct tdma_job *jobs;

    struct tdma_sync_flags flags;
};

static inline void tdma_lock(struct tdma_core *core)
{
    if (core->ops.lock) {
        core->ops.lock(core->mem.opaque);
    }
}

static inline void tdma_unlock(struct tdma_core *core)
{
    if (core->ops.unlock) {
        core->ops.unlock(core->mem.opaque);
    }
}

static inline void tdma_event(struct tdma_core *core, enum tdma_event event,
                              uint64_t a, uint64_t b, uint64_t c)
{
    if (core->ops.event) {
        core->ops.event(core->mem.opaque, event, a, b, c);
    }
}

/* Jobs there can be, of all queues together */
unsigned tdma_core_job_count(const struct tdma_core *core);

/* Everything but the generation as it is at power-on; with the lock held. */
void tdma_core_power_on(struct tdma_core *core);

#endif /* TDMA_MACHINE_H */
