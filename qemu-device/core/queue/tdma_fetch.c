/* SPDX-License-Identifier: MIT */
/*
 * tensordma core: descriptor queues, the owning thread's side.
 */
#include <stddef.h>
#include <string.h>
#include "dma/tdma_check.h"
#include "dma/tdma_job.h"
#include "queue/tdma_queue.h"

static uint32_t ring_slots(const struct tdma_queue *queue)
{
    return 1U << queue->ring_order;
}

void tdma_queue_interrupt(struct tdma_queue *queue)
{
    struct tdma_core *core = queue->core;

    tdma_lock(core);
    queue->irq_status = 1;
    tdma_unlock(core);
    core->ops.interrupt(core->mem.opaque, queue->vector);
}

void tdma_queue_halt(struct tdma_queue *queue, uint32_t error)
{
    struct tdma_core *core = queue->core;

    tdma_lock(core);
    tdma_queue_halt_locked(queue, error);
    tdma_unlock(core);
    tdma_event(core, TDMA_EVENT_QUEUE_STATE, queue->number,
               TDMA_QSTATE_HALTED, error);
    tdma_queue_interrupt(queue);
}

/*
 * The tail may not come nearer than the head nor further than one ring beyond
 * what has been retired: those records are still wanted.
 */
static bool tail_ok(const struct tdma_queue *queue, uint32_t tail)
{
    uint32_t ahead = tail - queue->done;

    return ahead <= ring_slots(queue) && ahead >= queue->head - queue->done;
}

uint32_t tdma_queue_update_tail(struct tdma_queue *queue)
{
    struct tdma_core *core = queue->core;
    uint32_t tail = 0, slots;
    bool in_memory, ok;

    tdma_lock(core);
    in_memory = queue->doorbell;
    queue->doorbell = false;
    tdma_unlock(core);

    if (in_memory) {
        if (core->ops.read(core->mem.opaque, queue->tail_addr, &tail,
                           sizeof(tail))) {
            tdma_queue_halt(queue, TDMA_QERR_RING);
            return 0;
        }
        tdma_event(core, TDMA_EVENT_DOORBELL, queue->number, tail, 0);
    }
    tdma_lock(core);
    if (!in_memory) {
        tail = queue->tail;
    }
    ok = tail_ok(queue, tail);
    queue->tail = ok ? tail : queue->head;
    slots = queue->tail - queue->head;
    tdma_unlock(core);
    if (!ok) {
        tdma_queue_halt(queue, TDMA_QERR_TAIL);
    }
    return slots;
}

static bool read_slot(struct tdma_queue *queue, uint32_t index, void *buf)
{
    struct tdma_core *core = queue->core;
    uint64_t slot = index & (ring_slots(queue) - 1);

    return !core->ops.read(core->mem.opaque,
                           queue->ring + slot * sizeof(struct tdma_desc), buf,
                           sizeof(struct tdma_desc));
}

/*
 * One fetch of each slot; the private copy is what is checked and executed. An
 * extension block that the producer has not handed over yet does not exist.
 */
static bool read_descriptor(struct tdma_queue *queue, uint32_t slots,
                            struct tdma_job *job)
{
    uint32_t head = queue->head;        /* ours to write */

    if (!read_slot(queue, head, &job->desc)) {
        return false;
    }
    job->index = head;
    job->slots = 1;
    job->has_ext = job->desc.flags & TDMA_DESC_EXT && slots >= 2;
    if (job->has_ext) {
        job->slots = 2;
        return read_slot(queue, head + 1, &job->ext);
    }
    return true;
}

struct tdma_job *tdma_queue_new_job(struct tdma_queue *queue)
{
    struct tdma_core *core = queue->core;
    struct tdma_job *job;

    tdma_lock(core);
    job = core->free_jobs;
    if (job) {
        core->free_jobs = job->next;
    }
    tdma_unlock(core);
    if (job) {
        tdma_job_init(job, queue);
    }
    return job;
}

static void put_free_job(struct tdma_core *core, struct tdma_job *job)
{
    tdma_lock(core);
    job->next = core->free_jobs;
    core->free_jobs = job;
    tdma_unlock(core);
}

void tdma_queue_append(struct tdma_queue *queue, struct tdma_job *job)
{
    struct tdma_core *core = queue->core;

    if (queue->last) {
        queue->last->next = job;
    } else {
        queue->first = job;
    }
    queue->last = job;
    tdma_lock(core);
    queue->head += job->slots;
    queue->in_flight++;
    tdma_unlock(core);
}

struct tdma_job *tdma_queue_fetch(struct tdma_queue *queue, uint32_t slots,
                                  bool discard)
{
    struct tdma_core *core = queue->core;
    struct tdma_job *job = tdma_queue_new_job(queue);

    if (!job) {
        return NULL;
    }
    if (!read_descriptor(queue, slots, job)) {
        put_free_job(core, job);
        tdma_queue_halt(queue, TDMA_QERR_RING);
        return NULL;
    }
    if (discard) {
        job->status = TDMA_STATUS_ABORTED;
    } else {
        tdma_job_prepare(job);
    }
    tdma_queue_append(queue, job);
    return job;
}

void tdma_queue_count(struct tdma_queue *queue, struct tdma_job *job)
{
    queue->progress += job->moved - job->counted;
    job->counted = job->moved;
}

/* What the end of a job means for its queue: TDMA_QERR_* if it halts. */
static uint32_t account(struct tdma_queue *queue, struct tdma_job *job)
{
    uint32_t error = TDMA_QERR_NONE;

    tdma_queue_count(queue, job);
    queue->done += job->slots;
    queue->in_flight--;
    if (job->publish_failed) {
        error = TDMA_QERR_RECORD;
    } else if (queue->policy == TDMA_POLICY_HALT &&
               job->status >= TDMA_STATUS_REJECTED) {
        error = TDMA_QERR_JOB;
    }
    if (error) {
        tdma_queue_halt_locked(queue, error);
    }
    return error;
}

static void retire_first(struct tdma_queue *queue)
{
    struct tdma_core *core = queue->core;
    struct tdma_job *job = queue->first;
    uint32_t error;
    bool irq;

    tdma_job_publish_final(job);
    queue->first = job->next;
    if (!queue->first) {
        queue->last = NULL;
    }
    irq = job->desc.flags & TDMA_DESC_IRQ || job->status != TDMA_STATUS_OK;
    tdma_lock(core);
    error = account(queue, job);
    tdma_unlock(core);
    tdma_event(core, TDMA_EVENT_JOB_END, queue->number, job->index,
               job->status);
    if (error) {
        tdma_event(core, TDMA_EVENT_QUEUE_STATE, queue->number,
                   TDMA_QSTATE_HALTED, error);
    }
    if (irq || error) {
        tdma_queue_interrupt(queue);
    }
    put_free_job(core, job);
}

void tdma_queue_retire(struct tdma_queue *queue)
{
    while (queue->first && queue->first->status != TDMA_STATUS_PENDING) {
        retire_first(queue);
    }
}

void tdma_queue_cancel(struct tdma_queue *queue)
{
    struct tdma_job *job;

    for (job = queue->first; job; job = job->next) {
        if (job->status != TDMA_STATUS_PENDING) {
            continue;
        }
        if (!job->started || job->parked) {
            job->status = TDMA_STATUS_ABORTED;
        } else {
            job->cancel = true;
        }
    }
}
