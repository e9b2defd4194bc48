/* SPDX-License-Identifier: MIT */
/*
 * tensordma core: descriptor queues, register side.
 */
#include <string.h>
#include "queue/tdma_queue.h"

enum {
    RING_ALIGN = sizeof(struct tdma_desc),
    RECORD_ALIGN = sizeof(struct tdma_record),
    TAIL_ALIGN = sizeof(uint32_t),
    PRIORITY_MAX = 7,
    /* Jobs of one queue in a pipelined engine */
    IN_FLIGHT_MAX = 16,
};

static void power_on_config(struct tdma_queue *queue)
{
    queue->ring = 0;
    queue->records = 0;
    queue->tail_addr = 0;
    queue->ring_order = 0;
    queue->context = 0;
    queue->vector = 0;
    queue->thread = 0;
    queue->priority = 0;
    queue->policy = 0;
}

static void forget_progress(struct tdma_queue *queue)
{
    queue->abort = false;
    queue->abort_known = false;
    queue->doorbell = false;
    queue->quiet = false;
    queue->halted = false;
    queue->head = 0;
    queue->tail = 0;
    queue->done = 0;
    queue->stuck = false;
    queue->progress = 0;
}

void tdma_queue_reset(struct tdma_queue *queue)
{
    power_on_config(queue);
    forget_progress(queue);
    queue->enabled = false;
    queue->pause = false;
    queue->error = TDMA_QERR_NONE;
    queue->irq_status = 0;
    queue->owner = TDMA_NO_THREAD;
    queue->first = NULL;
    queue->last = NULL;
    queue->in_flight = 0;
}

static bool is_off(const struct tdma_queue *queue)
{
    return !queue->enabled && queue->owner == TDMA_NO_THREAD;
}

bool tdma_queue_configurable(const struct tdma_queue *queue)
{
    return is_off(queue);
}

bool tdma_queue_config_ok(const struct tdma_queue *queue)
{
    const struct tdma_properties *props = &queue->core->props;
    uint64_t slots;

    if (!queue->ring_order || queue->ring_order > props->ring_order) {
        return false;
    }
    slots = 1ULL << queue->ring_order;
    return queue->ring % RING_ALIGN == 0 &&
           queue->records % RECORD_ALIGN == 0 &&
           queue->tail_addr % TAIL_ALIGN == 0 &&
           queue->ring <= UINT64_MAX - slots * RING_ALIGN &&
           queue->records <= UINT64_MAX - slots * RECORD_ALIGN &&
           queue->context < props->contexts &&
           queue->vector < props->vectors &&
           (queue->thread < props->threads ||
            queue->thread == TDMA_THREAD_ANY) &&
           queue->priority <= PRIORITY_MAX &&
           queue->policy <= TDMA_POLICY_HALT;
}

static void enable(struct tdma_queue *queue)
{
    if (!is_off(queue)) {
        return;
    }
    forget_progress(queue);
    if (!tdma_queue_config_ok(queue)) {
        queue->error = TDMA_QERR_CONFIG;
        return;
    }
    queue->error = TDMA_QERR_NONE;
    queue->irq_status = 0;
    queue->enabled = true;
    /* Descriptors may have been put in place before. */
    queue->doorbell = queue->tail_addr != 0;
}

/* With no owner nothing is in flight, and the queue is off at once. */
static void disable(struct tdma_queue *queue)
{
    queue->enabled = false;
    if (queue->owner == TDMA_NO_THREAD) {
        forget_progress(queue);
    }
}

void tdma_queue_control(struct tdma_queue *queue, uint32_t value)
{
    bool pause = value & TDMA_QCTL_PAUSE;

    if (value & TDMA_QCTL_ENABLE && !queue->enabled) {
        enable(queue);
    } else if (!(value & TDMA_QCTL_ENABLE) && queue->enabled) {
        disable(queue);
    }
    if (pause != queue->pause) {
        queue->pause = pause;
        queue->quiet = false;
    }
    if (pause && queue->owner == TDMA_NO_THREAD) {
        queue->quiet = true;
    }
    if (!queue->enabled) {
        return;
    }
    if (value & TDMA_QCTL_ABORT) {
        queue->abort = true;
        queue->doorbell = queue->tail_addr != 0;
    }
    if (value & TDMA_QCTL_RESUME) {
        queue->halted = false;
        queue->error = TDMA_QERR_NONE;
        queue->doorbell = queue->tail_addr != 0;
    }
}

uint32_t tdma_queue_control_value(const struct tdma_queue *queue)
{
    return (queue->enabled ? TDMA_QCTL_ENABLE : 0) |
           (queue->pause ? TDMA_QCTL_PAUSE : 0);
}

static bool has_more(const struct tdma_queue *queue)
{
    return queue->doorbell || queue->head != queue->tail;
}

uint32_t tdma_queue_state(const struct tdma_queue *queue)
{
    if (!queue->enabled) {
        return is_off(queue) ? TDMA_QSTATE_OFF : TDMA_QSTATE_STOPPING;
    }
    if (queue->abort) {
        return TDMA_QSTATE_RUNNING;
    }
    if (queue->pause) {
        return queue->quiet ? TDMA_QSTATE_PAUSED : TDMA_QSTATE_STOPPING;
    }
    if (queue->in_flight) {
        return TDMA_QSTATE_RUNNING;
    }
    if (queue->halted) {
        return TDMA_QSTATE_HALTED;
    }
    /* Segments may have been looked up already, whatever the tail is now. */
    return queue->admitting || has_more(queue) ? TDMA_QSTATE_RUNNING
                                               : TDMA_QSTATE_IDLE;
}

uint32_t tdma_queue_wait(const struct tdma_queue *queue)
{
    if (!queue->enabled || (queue->pause && queue->quiet)) {
        return TDMA_QWAIT_NONE;
    }
    if (queue->stuck) {
        return TDMA_QWAIT_MEMORY;
    }
    return queue->in_flight || queue->admitting ||
           (has_more(queue) && !queue->halted)
           ? TDMA_QWAIT_TURN : TDMA_QWAIT_NONE;
}

void tdma_queue_tail_moved(struct tdma_queue *queue)
{
    if (queue->enabled && queue->tail_addr) {
        queue->doorbell = true;
    }
}

void tdma_queue_ring(struct tdma_queue *queue, uint32_t value)
{
    if (!queue->enabled) {
        return;
    }
    if (queue->tail_addr) {
        queue->doorbell = true;
        return;
    }
    queue->tail = value;
}

static bool belongs_to(const struct tdma_queue *queue, unsigned thread)
{
    if (queue->owner != TDMA_NO_THREAD) {
        return queue->owner == thread;
    }
    return queue->thread == thread || queue->thread == TDMA_THREAD_ANY;
}

bool tdma_queue_ends(const struct tdma_queue *queue, unsigned thread)
{
    if (!belongs_to(queue, thread)) {
        return false;
    }
    return queue->enabled ? queue->abort : queue->owner == thread;
}

bool tdma_queue_needs(const struct tdma_queue *queue, unsigned thread)
{
    if (!belongs_to(queue, thread)) {
        return false;
    }
    if (!queue->enabled || queue->abort) {
        return tdma_queue_ends(queue, thread);
    }
    if (queue->pause) {
        return !queue->quiet;
    }
    if (!queue->core->enabled) {
        return queue->in_flight && !queue->quiet;
    }
    return !queue->stuck &&
           (queue->in_flight || (!queue->halted && has_more(queue)));
}

struct tdma_job *tdma_queue_waiting(const struct tdma_queue *queue)
{
    struct tdma_job *job;

    for (job = queue->first; job; job = job->next) {
        if (job->status == TDMA_STATUS_PENDING &&
            (!job->started || job->parking || job->parked)) {
            return job;
        }
    }
    return NULL;
}

/* A policy of HALT needs each outcome before the next descriptor starts. */
unsigned tdma_queue_in_flight_max(const struct tdma_queue *queue)
{
    return queue->core->engine_ops->preemptive ||
           queue->policy == TDMA_POLICY_HALT ? 1 : IN_FLIGHT_MAX;
}

bool tdma_queue_can_start(const struct tdma_queue *queue, unsigned thread)
{
    const struct tdma_job *waiting;

    if (!belongs_to(queue, thread) || !queue->core->enabled ||
        !queue->enabled || queue->abort || queue->pause || queue->stuck) {
        return false;
    }
    waiting = tdma_queue_waiting(queue);        /* nobody else is there */
    if (waiting) {
        return !waiting->parking && (!(waiting->desc.flags & TDMA_DESC_FENCE) ||
                                     queue->first == waiting);
    }
    /* Behind a job that is already over, wait until it is retired. */
    if (queue->halted ||
        (queue->last && queue->last->status != TDMA_STATUS_PENDING)) {
        return false;
    }
    return has_more(queue) &&
           queue->in_flight < tdma_queue_in_flight_max(queue);
}

void tdma_queue_halt_locked(struct tdma_queue *queue, uint32_t error)
{
    queue->halted = true;
    queue->error = error;
}
