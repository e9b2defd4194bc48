/* SPDX-License-Identifier: MIT */
/*
 * tensordma core: what an engine is.
 *
 * An engine executes the descriptors of one DMA thread. The thread layer above
 * it (tdma_thread.c) fetches and checks descriptors, decides whose turn it is,
 * publishes progress and retires jobs in ring order; the engine only moves
 * elements. There are two: fast (fast_*.c) and cycle (cycle_*.c).
 *
 * Everything here runs inside tdma_core_run() of the thread that owns the
 * engine, without the core's lock, except create() and destroy().
 *
 * Rules every engine keeps
 *  - Jobs appear to execute in the order of start() (A2): the memory a job
 *    sees is that left by the jobs started before it.
 *  - Within a job the result is that of the plain loop nest in element order,
 *    also where elements overlap in memory.
 *  - tdma_job_progress() is called only when the counts it is given are true
 *    in memory: reads done, writes done, windows flushed (tdma_view_flush()).
 *    Counts never shrink, and it is called at least each time
 *    tdma_job_sync_point() is reached (A36).
 *  - A job ends with exactly one tdma_job_end(). On a fault at element n, in
 *    element order, everything before n is in memory and the counts of the
 *    sides that the operation has are both n. What element n and those after
 *    it left in the destination is unspecified.
 *  - src_done stays 0 for memset, dst_done for read. Elements that lie
 *    outside their axes count like all others.
 */
#ifndef TDMA_ENGINE_H
#define TDMA_ENGINE_H

#include <stdbool.h>
#include <stdint.h>
#include <linux/tensordma_desc.h>
#include "tdma_properties.h"
#include "dma/cycle_inject.h"
#include "dma/cycle_throttle.h"
#include "mem/tdma_view.h"
#include "queue/tdma_record.h"
#include "trace/tdma_trace.h"

struct tdma_queue;
struct tdma_engine;

/* Index of a side in every two-element array below */
enum {
    TDMA_SRC = 0,
    TDMA_DST = 1,
    TDMA_SIDES = 2,
};

/* Progress of one side and where its next partial update is due (A36-A38) */
struct tdma_job_sync {
    uint64_t done;              /* elements, as last reported by the engine */
    uint64_t interval;          /* elements; 0 = only the final update */
    uint64_t next;              /* done count that makes the next update due */
    uint64_t flagged;           /* elements already added to the sync flag */
};

/*
 * A descriptor on its way through a thread. Everything the engine needs is in
 * here, checked; it never looks at guest memory for it again.
 */
struct tdma_job {
    struct tdma_desc desc;      /* private copy */
    struct tdma_desc_ext ext;   /* valid if has_ext */
    bool has_ext;
    bool has_side[TDMA_SIDES];  /* sides the opcode has */
    struct tdma_view view[TDMA_SIDES];  /* valid where has_side */

    /*
     * Loop bounds, TDMA_MAX_DIMS of them: 1 at and beyond ndims, the
     * outermost one resolved if it was implied (A5). The nest may be longer
     * than @elements, which is where the job ends.
     */
    uint32_t steps[TDMA_MAX_DIMS];
    uint64_t elements;
    /*
     * Bytes [lo, hi) of the segment that the elements of a side lie in, exact
     * at both ends; lo == hi if no element is inside. With
     * tdma_view_overlap() tells whether the order of accesses can matter.
     */
    struct tdma_extent {
        uint64_t lo;
        uint64_t hi;
    } extent[TDMA_SIDES];
    unsigned fill_bytes;        /* memset, ext: length of the pattern, or 0 */

    /* Set by the engine before tdma_job_end() */
    uint64_t cycles;
    uint64_t stall_backpressure;
    uint64_t stall_throttle;
    uint64_t stall_ids;
    uint64_t fault_offset;
    uint8_t fault_side;         /* TDMA_SIDE_* */

    /*
     * Elements moved so far, on the side that is further. Set by the engine at
     * least once per call of run(), for the progress register alone.
     */
    uint64_t moved;

    /*
     * The response for the element that it goes on with will never come. Set
     * by the fast engine; by the thread layer before park().
     */
    bool lost;

    /*
     * Set by the thread layer at any time between two calls of the engine:
     * end the job with TDMA_STATUS_ABORTED as soon as nothing of it is in
     * flight, without starting more of it.
     */
    bool cancel;

    /* The rest belongs to the thread layer and is read-only to engines */
    struct tdma_engine *engine;
    struct tdma_queue *queue;
    struct tdma_job *next;      /* in ring order, within the queue */
    uint32_t index;             /* ring index of the descriptor */
    uint32_t slots;             /* ring slots it takes: 1, or 2 with EXT */
    uint32_t status;            /* &enum tdma_status; PENDING until ended */
    uint16_t fault_field;
    uint8_t fault_dim;
    struct tdma_record_target extra;    /* RECORD: the second record */
    bool started;               /* handed to the engine */
    bool parking;               /* park() was called; not given back yet */
    bool parked;                /* given back, to go on another time */
    bool stuck;                 /* a standstill of the engine is due to it */
    uint32_t order;             /* of start() in the thread */
    uint64_t counted;           /* part of @moved that the queue knows of */
    struct tdma_job_sync sync[TDMA_SIDES];
    bool publish_failed;        /* a record could not be written */
    void *priv;                 /* the engine's own, NULL at start() */
};

/* Counters of one side, as TDMA_COUNTER_* show them (A20) */
struct tdma_counters {
    uint64_t requests;
    uint64_t stall_backpressure;
    uint64_t stall_throttle;
    uint64_t stall_ids;
    uint64_t stall_hazard;
    uint64_t pipeline_fill;
    uint64_t outstanding_max;
};

/* What is left of an engine that has no job (migration); all else is derived */
struct tdma_engine_state {
    uint64_t clock;             /* now() */
    uint64_t random;            /* of the memory model; 0 without one */
    struct tdma_throttle window[TDMA_SIDES];
};

/*
 * What one call of run() may spend. The engine subtracts and returns when
 * either is used up, overdrawing by no more than one element or one cycle.
 */
struct tdma_budget {
    int64_t bytes;              /* bytes moved */
    int64_t steps;              /* address steps, or cycles */
};

struct tdma_engine_ops {
    const char *name;
    /*
     * park() gives a job back at once and may be used to share the thread
     * between queues at quantum granularity.
     */
    bool preemptive;

    /* NULL if out of memory. The caller fills in struct tdma_engine. */
    struct tdma_engine *(*create)(const struct tdma_properties *props);
    void (*destroy)(struct tdma_engine *engine);
    /* Back to power-on; jobs in flight are forgotten, not ended. */
    void (*reset)(struct tdma_engine *engine);

    /*
     * True if one more job can be taken. A pipelined engine holds several. One
     * that has none and is not ready has to be run.
     */
    bool (*ready)(const struct tdma_engine *engine);
    /* Take a job. Never empty: 0 < job->elements, opcode is not NOP. */
    void (*start)(struct tdma_engine *engine, struct tdma_job *job);
    /*
     * Advance until the budget is used up, nothing can advance or, if it was
     * not ready() before, it is: then the next job can follow without a gap.
     * Returns true if there is more to do now. False with jobs in the engine
     * is a standstill: nothing will move until one is unparked or cancelled.
     */
    bool (*run)(struct tdma_engine *engine, struct tdma_budget *budget);
    /*
     * Stop issuing for @job. True if it is given back at once. Otherwise what
     * is in flight drains while the caller goes on calling run(), until the
     * engine calls tdma_job_give_back(), or tdma_job_end() if that comes
     * first. A job given back has no place in the engine and holds up no
     * other. With job->lost nothing more of it is waited for: it steps aside
     * at the element that the missing response is for.
     */
    bool (*park)(struct tdma_engine *engine, struct tdma_job *job);
    /*
     * The engine's own time in cycles, which only a reset sets back; with a
     * job half done, that of the last element it has reported.
     */
    uint64_t (*now)(struct tdma_engine *engine);
    /* Go on with a job that was given back, at the counts it has; if ready() */
    void (*unpark)(struct tdma_engine *engine, struct tdma_job *job);

    /* With no job in the engine; load() after a reset, of a checked state. */
    void (*save)(struct tdma_engine *engine, struct tdma_engine_state *state);
    void (*load)(struct tdma_engine *engine,
                 const struct tdma_engine_state *state);
};

/* Throttle (A21): requests a side may issue per window of cycles. */
struct tdma_throttle_rate {
    uint32_t window;            /* 0 in both = off; otherwise neither is 0 */
    uint32_t budget;
};

/* First member of what create() returns */
struct tdma_engine {
    const struct tdma_engine_ops *ops;
    const struct tdma_properties *props;
    struct tdma_trace *trace;
    unsigned thread;

    /* Written by the engine, shown and cleared by the thread layer */
    uint64_t cycles;
    struct tdma_counters counters[TDMA_SIDES];

    struct tdma_throttle_rate throttle;         /* constant during a call */

    /* Error injection: armed by software, disarmed by the engine it struck */
    struct tdma_inject inject;

};

extern const struct tdma_engine_ops tdma_fast_engine;
extern const struct tdma_engine_ops tdma_cycle_engine;

/*
 * What the thread layer offers to engines
 */

/*
 * The job has come to these counts. Publishes a partial update (record, sync
 * flags, interrupt) on each side that has reached its next sync point; cheap
 * otherwise. Flushes the views before publishing.
 */
void tdma_job_progress(struct tdma_job *job, uint64_t src_done,
                       uint64_t dst_done);

/*
 * The element count at which the next partial update is due, on whichever
 * side comes first; UINT64_MAX if none is.
 */
uint64_t tdma_job_sync_point(const struct tdma_job *job);

/*
 * The job is over, with a final @status, at these counts. The record is
 * written when the jobs before it in its queue have been retired. The engine
 * must not touch the job afterwards.
 */
void tdma_job_end(struct tdma_job *job, uint32_t status, uint64_t src_done,
                  uint64_t dst_done);

/*
 * The job, whose park() returned false, is given back at these counts: both
 * the same on the sides that it has. Not to be touched until unpark().
 */
void tdma_job_give_back(struct tdma_job *job, uint64_t src_done,
                        uint64_t dst_done);

/* Note the first element at fault; its status goes to tdma_job_end(). */
void tdma_job_fault(struct tdma_job *job, unsigned side, uint64_t offset);

/* One element's worth of the fill pattern, into @buf (elem_bytes). */
void tdma_job_fill(const struct tdma_job *job, void *buf);

/*
 * With ext: is the element at @index (one per dimension) inside on @side?
 * True without ext.
 */
bool tdma_job_inside(const struct tdma_job *job, unsigned side,
                     const uint64_t index[TDMA_MAX_DIMS]);

/*
 * Byte offset of the element at @index in the segment of @side. Only
 * meaningful, and then exact, if it is inside.
 */
uint64_t tdma_job_offset(const struct tdma_job *job, unsigned side,
                         const uint64_t index[TDMA_MAX_DIMS]);

/*
 * dst[i] += src[i] in the number format @type (&enum tdma_type); neither needs
 * to be aligned.
 */
void tdma_accumulate(unsigned type, void *dst, const void *src, size_t count);

/*
 * Cycles from first request to last response of @elements elements when the
 * memory system is ideal: both halves issue props->lanes requests per cycle
 * from the first cycle on, and every response takes latency_min cycles. The
 * fast engine reports this; the cycle engine must agree with it where
 * bandwidth, IDs and throttle do not bind.
 */
uint64_t tdma_cycles_ideal(const struct tdma_properties *props,
                           unsigned opcode, uint64_t elements);

#endif /* TDMA_ENGINE_H */
