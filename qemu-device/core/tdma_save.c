/* SPDX-License-Identifier: MIT */
/*
 * tensordma core: saving the state of a machine; see tdma_state.h.
 */
#include <string.h>
#include "queue/tdma_queue.h"
#include "tdma_machine.h"
#include "tdma_state.h"

size_t tdma_core_state_max(const struct tdma_core *core)
{
    const struct tdma_properties *p = &core->props;

    return sizeof(struct tdma_state_head) +
           sizeof(struct tdma_properties) +
           p->contexts * sizeof(struct tdma_state_context) +
           p->sync_flags * sizeof(uint64_t) +
           p->threads * sizeof(struct tdma_state_thread) +
           p->queues * sizeof(struct tdma_state_queue) +
           tdma_core_job_count(core) * sizeof(struct tdma_state_job);
}

static uint8_t *put(uint8_t *to, const void *from, size_t len)
{
    memcpy(to, from, len);
    return to + len;
}

static uint8_t *put_contexts(uint8_t *to, const struct tdma_core *core)
{
    for (unsigned i = 0; i < core->props.contexts; i++) {
        struct tdma_state_context s = {
            .addr = core->contexts[i].addr,
            .count = core->contexts[i].count,
        };

        to = put(to, &s, sizeof(s));
    }
    return to;
}

static void save_counters(const struct tdma_counters *c, uint64_t *to)
{
    const uint64_t value[TDMA_STATE_COUNTERS] = {
        c->requests, c->stall_backpressure, c->stall_throttle, c->stall_ids,
        c->stall_hazard, c->pipeline_fill, c->outstanding_max,
    };

    memcpy(to, value, sizeof(value));
}

static void save_engine(const struct tdma_thread *thread,
                        struct tdma_state_thread *s)
{
    struct tdma_engine_state state;

    thread->engine->ops->save(thread->engine, &state);
    s->clock = state.clock;
    s->random = state.random;
    for (unsigned side = 0; side < TDMA_SIDES; side++) {
        s->sample[side] = (struct tdma_state_window) {
            .window = state.window[side].window,
            .elapsed = state.window[side].elapsed,
            .budget = state.window[side].budget,
        };
    }
}

/* What is in the thread and not in its registers is derived from these. */
static void save_trace(const struct tdma_trace *trace,
                       struct tdma_state_thread *s)
{
    s->trace_base = trace->base;
    s->trace_lost = trace->lost;
    s->trace_order = trace->order;
    s->trace_events = trace->events;
    s->trace_state = trace->state;
    s->trace_head = trace->head;
    s->trace_tail = trace->tail;
    s->trace_fresh = trace->fresh;
}

static uint8_t *put_thread(uint8_t *to, const struct tdma_thread *thread)
{
    struct tdma_state_thread s = {
        .cycles = thread->cycles,
        .inject_element = thread->inject.element,
        .inject_kind = thread->inject.kind,
        .inject_side = thread->inject.side,
        .throttle_window = thread->throttle_window,
        .throttle_budget = thread->throttle_budget,
        .throttle_status = thread->throttle_status,
        .rate_window = thread->throttle.window,
        .rate_budget = thread->throttle.budget,
        .next_queue = thread->next_queue,
    };

    save_counters(&thread->counters[TDMA_SRC], s.counters[TDMA_SRC]);
    save_counters(&thread->counters[TDMA_DST], s.counters[TDMA_DST]);
    save_engine(thread, &s);
    save_trace(&thread->trace, &s);
    return put(to, &s, sizeof(s));
}

static uint32_t queue_flags(const struct tdma_queue *queue)
{
    return (queue->enabled ? TDMA_STATE_Q_ENABLED : 0) |
           (queue->pause ? TDMA_STATE_Q_PAUSE : 0) |
           (queue->abort ? TDMA_STATE_Q_ABORT : 0) |
           (queue->doorbell ? TDMA_STATE_Q_DOORBELL : 0) |
           (queue->quiet ? TDMA_STATE_Q_QUIET : 0) |
           (queue->halted ? TDMA_STATE_Q_HALTED : 0) |
           (queue->abort_known ? TDMA_STATE_Q_ABORT_KNOWN : 0) |
           (queue->irq_status ? TDMA_STATE_Q_IRQ : 0);
}

static uint8_t *put_queue(uint8_t *to, const struct tdma_queue *queue)
{
    struct tdma_state_queue s = {
        .ring = queue->ring,
        .records = queue->records,
        .tail_addr = queue->tail_addr,
        .progress = queue->progress,
        .ring_order = queue->ring_order,
        .context = queue->context,
        .vector = queue->vector,
        .thread = queue->thread,
        .priority = queue->priority,
        .policy = queue->policy,
        .flags = queue_flags(queue),
        .owner = queue->owner,
        .error = queue->error,
        .head = queue->head,
        .tail = queue->tail,
        .done = queue->done,
        .abort_tail = queue->abort_known ? queue->abort_tail : 0,
        .jobs = queue->in_flight,
    };

    return put(to, &s, sizeof(s));
}

static uint32_t job_flags(const struct tdma_job *job)
{
    bool accepted = job->elements || job->status == TDMA_STATUS_OK;

    return (job->has_ext ? TDMA_STATE_J_EXT : 0) |
           (accepted ? TDMA_STATE_J_ACCEPTED : 0) |
           (job->started ? TDMA_STATE_J_STARTED : 0) |
           (job->lost ? TDMA_STATE_J_LOST : 0) |
           (job->publish_failed ? TDMA_STATE_J_PUBLISH_FAILED : 0) |
           (job->extra.valid ? TDMA_STATE_J_EXTRA : 0) |
           (job->extra.valid && job->extra.hbm ? TDMA_STATE_J_EXTRA_HBM : 0);
}

static uint8_t *put_job(uint8_t *to, const struct tdma_job *job)
{
    struct tdma_state_job s = {
        .desc = job->desc,
        .cycles = job->cycles,
        .stall_backpressure = job->stall_backpressure,
        .stall_throttle = job->stall_throttle,
        .stall_ids = job->stall_ids,
        .fault_offset = job->fault_offset,
        .queue = job->queue->number,
        .index = job->index,
        .status = job->status,
        .flags = job_flags(job),
        .fault_field = job->fault_field,
        .fault_side = job->fault_side,
        .fault_dim = job->fault_dim,
    };

    if (job->has_ext) {
        s.ext = job->ext;
    }
    if (job->extra.valid) {
        s.extra_addr[0] = job->extra.addr[0];
        s.extra_addr[1] = job->extra.addr[1];
        s.extra_split = job->extra.split;
    }
    for (unsigned side = 0; side < TDMA_SIDES; side++) {
        s.done[side] = job->sync[side].done;
        s.flagged[side] = job->sync[side].flagged;
        if (s.flags & TDMA_STATE_J_ACCEPTED && job->has_side[side]) {
            s.segment[side] = job->view[side].seg;
        }
    }
    return put(to, &s, sizeof(s));
}

static uint8_t *put_jobs(uint8_t *to, const struct tdma_queue *queue,
                         uint32_t *count)
{
    const struct tdma_job *job;

    for (job = queue->first; job; job = job->next) {
        to = put_job(to, job);
        ++*count;
    }
    return to;
}

static uint8_t *put_all(uint8_t *to, const struct tdma_core *core,
                        uint32_t *jobs)
{
    unsigned i;

    to = put(to, &core->props, sizeof(core->props));
    to = put_contexts(to, core);
    to = put(to, core->flags.word, core->flags.count * sizeof(uint64_t));
    for (i = 0; i < core->props.threads; i++) {
        to = put_thread(to, &core->threads[i]);
    }
    for (i = 0; i < core->props.queues; i++) {
        to = put_queue(to, &core->queues[i]);
    }
    for (i = 0; i < core->props.queues; i++) {
        to = put_jobs(to, &core->queues[i], jobs);
    }
    return to;
}

size_t tdma_core_save(struct tdma_core *core, void *buf)
{
    struct tdma_state_head head = {
        .magic = TDMA_STATE_MAGIC,
        .version = TDMA_STATE_VERSION,
    };
    uint8_t *from = buf, *to;

    tdma_lock(core);
    head.enabled = core->enabled;
    head.generation = core->generation;
    head.bad_access = core->bad_access;
    to = put_all(from + sizeof(head), core, &head.jobs);
    tdma_unlock(core);
    head.bytes = to - from;
    memcpy(buf, &head, sizeof(head));
    return head.bytes;
}
