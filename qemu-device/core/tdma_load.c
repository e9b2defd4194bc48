/* SPDX-License-Identifier: MIT */
/*
 * tensordma core: loading the state of a machine; see tdma_state.h.
 *
 * The state is as trustworthy as whoever sent it. Whatever later code takes
 * for granted is checked here, by the checks that registers and descriptors
 * pass; values of which nothing depends are taken as they are.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "dma/tdma_job.h"
#include "dma/tdma_thread.h"
#include "queue/tdma_queue.h"
#include "tdma_machine.h"
#include "tdma_state.h"

struct loader {
    struct tdma_core *core;
    const uint8_t *at;
    size_t left;
    char *why;
    size_t why_size;
};

__attribute__((format(printf, 2, 3)))
static bool refuse(struct loader *l, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(l->why, l->why_size, format, args);
    va_end(args);
    return false;
}

static bool take(struct loader *l, void *to, size_t len)
{
    if (len > l->left) {
        return refuse(l, "the state ends too early");
    }
    memcpy(to, l->at, len);
    l->at += len;
    l->left -= len;
    return true;
}

static bool load_head(struct loader *l, struct tdma_state_head *head)
{
    size_t bytes = l->left;

    if (!take(l, head, sizeof(*head))) {
        return false;
    }
    if (head->magic != TDMA_STATE_MAGIC) {
        return refuse(l, "this is no state of a tensordma machine");
    }
    if (head->version != TDMA_STATE_VERSION) {
        return refuse(l, "version %" PRIu32 " of the state is not known",
                      head->version);
    }
    if (head->bytes != bytes) {
        return refuse(l, "%zu bytes of state, %" PRIu32 " expected", bytes,
                      head->bytes);
    }
    if (head->enabled > 1 || head->reserved) {
        return refuse(l, "control register");
    }
    return true;
}

static bool load_properties(struct loader *l)
{
    const struct tdma_properties *own = &l->core->props;
    struct tdma_properties p;

    if (!take(l, &p, sizeof(p))) {
        return false;
    }
#define COMPARE(field, name, def, min, max, text)                           \
    if (p.field != own->field) {                                            \
        return refuse(l, "property %s was %" PRIu64 ", here it is %" PRIu64,\
                      name, p.field, own->field);                           \
    }
    TDMA_PROPERTIES(COMPARE)
#undef COMPARE
    return true;
}

static bool load_contexts(struct loader *l)
{
    struct tdma_core *core = l->core;

    for (unsigned i = 0; i < core->props.contexts; i++) {
        struct tdma_state_context s;

        if (!take(l, &s, sizeof(s))) {
            return false;
        }
        if (s.count > core->props.segments || s.reserved) {
            return refuse(l, "context %u: count", i);
        }
        core->contexts[i].addr = s.addr;
        core->contexts[i].count = s.count;
    }
    return true;
}

static bool load_sync_flags(struct loader *l)
{
    const uint64_t control = TDMA_SYNC_DONE | TDMA_SYNC_PUBLIC;
    struct tdma_sync_flags *flags = &l->core->flags;

    if (!take(l, flags->word, flags->count * sizeof(*flags->word))) {
        return false;
    }
    for (uint32_t i = 0; i < flags->count; i++) {
        if (flags->word[i] >> 32 & ~control) {
            return refuse(l, "sync flag %" PRIu32 ": control", i);
        }
    }
    return true;
}

static void load_counters(struct tdma_counters *c,
                          const uint64_t value[TDMA_STATE_COUNTERS])
{
    *c = (struct tdma_counters) {
        .requests = value[0],
        .stall_backpressure = value[1],
        .stall_throttle = value[2],
        .stall_ids = value[3],
        .stall_hazard = value[4],
        .pipeline_fill = value[5],
        .outstanding_max = value[6],
    };
}

/* A rate that can be in effect: off, or one that the registers accept */
static bool rate_ok(const struct tdma_core *core, uint32_t window,
                    uint32_t budget)
{
    return tdma_thread_check_throttle(core, window, budget) <
           TDMA_THROTTLE_BAD;
}

static bool load_throttle(struct loader *l, struct tdma_thread *thread,
                          const struct tdma_state_thread *s)
{
    if (!rate_ok(l->core, s->rate_window, s->rate_budget) ||
        s->throttle_status > TDMA_THROTTLE_BAD_BUDGET) {
        return refuse(l, "thread %u: throttle", thread->number);
    }
    thread->throttle_window = s->throttle_window;
    thread->throttle_budget = s->throttle_budget;
    thread->throttle_status = s->throttle_status;
    thread->throttle.window = s->rate_window;
    thread->throttle.budget = s->rate_budget;
    return true;
}

/* A window may have been opened with another rate than is now in effect. */
static bool sample_ok(const struct tdma_core *core,
                      const struct tdma_state_window *w)
{
    if (!w->window) {
        return !w->elapsed && !w->budget;
    }
    return w->window <= TDMA_THROTTLE_WINDOW_MAX && w->elapsed < w->window &&
           w->budget <= core->props.lanes * w->window;
}

static bool load_engine(struct loader *l, struct tdma_thread *thread,
                        const struct tdma_state_thread *s)
{
    struct tdma_engine_state state = {
        .clock = s->clock,
        .random = s->random,
    };

    if (s->clock > INT64_MAX) {
        return refuse(l, "thread %u: clock", thread->number);
    }
    for (unsigned side = 0; side < TDMA_SIDES; side++) {
        if (!sample_ok(l->core, &s->sample[side])) {
            return refuse(l, "thread %u: throttle window", thread->number);
        }
        state.window[side] = (struct tdma_throttle) {
            .window = s->sample[side].window,
            .elapsed = s->sample[side].elapsed,
            .budget = s->sample[side].budget,
        };
    }
    thread->engine->ops->load(thread->engine, &state);
    return true;
}

static bool load_inject(struct loader *l, struct tdma_thread *thread,
                        const struct tdma_state_thread *s)
{
    if (!l->core->props.inject &&
        (s->inject_kind || s->inject_side || s->inject_element)) {
        return refuse(l, "thread %u: injection", thread->number);
    }
    thread->inject = (struct tdma_inject) {
        .kind = s->inject_kind,
        .side = s->inject_side,
        .element = s->inject_element,
    };
    thread->engine->inject = thread->inject;
    return true;
}

static bool load_trace(struct loader *l, struct tdma_thread *thread,
                       const struct tdma_state_thread *s)
{
    struct tdma_trace *trace = &thread->trace;

    trace->base = s->trace_base;
    trace->order = s->trace_order;
    trace->events = s->trace_events;
    trace->state = s->trace_state;
    trace->head = s->trace_head;
    trace->tail = s->trace_tail;
    trace->lost = s->trace_lost;
    trace->fresh = s->trace_fresh;
    if (s->trace_fresh > 1 || !tdma_trace_restore(trace)) {
        return refuse(l, "thread %u: trace", thread->number);
    }
    return true;
}

static bool load_thread(struct loader *l, struct tdma_thread *thread)
{
    struct tdma_engine *engine = thread->engine;
    struct tdma_state_thread s;

    if (!take(l, &s, sizeof(s)) || !load_throttle(l, thread, &s) ||
        !load_engine(l, thread, &s) || !load_inject(l, thread, &s) ||
        !load_trace(l, thread, &s)) {
        return false;
    }
    if (s.next_queue >= l->core->props.queues) {
        return refuse(l, "thread %u: next queue", thread->number);
    }
    thread->next_queue = s.next_queue;
    thread->cycles = engine->cycles = s.cycles;
    for (unsigned side = 0; side < TDMA_SIDES; side++) {
        load_counters(&thread->counters[side], s.counters[side]);
        engine->counters[side] = thread->counters[side];
    }
    return true;
}

static void set_queue_config(struct tdma_queue *queue,
                             const struct tdma_state_queue *s)
{
    queue->ring = s->ring;
    queue->records = s->records;
    queue->tail_addr = s->tail_addr;
    queue->ring_order = s->ring_order;
    queue->context = s->context;
    queue->vector = s->vector;
    queue->thread = s->thread;
    queue->priority = s->priority;
    queue->policy = s->policy;
}

/* in_flight and head follow from the jobs. */
static void set_queue_state(struct tdma_queue *queue,
                            const struct tdma_state_queue *s)
{
    queue->enabled = s->flags & TDMA_STATE_Q_ENABLED;
    queue->pause = s->flags & TDMA_STATE_Q_PAUSE;
    queue->abort = s->flags & TDMA_STATE_Q_ABORT;
    queue->doorbell = s->flags & TDMA_STATE_Q_DOORBELL;
    queue->quiet = s->flags & TDMA_STATE_Q_QUIET;
    queue->halted = s->flags & TDMA_STATE_Q_HALTED;
    queue->abort_known = s->flags & TDMA_STATE_Q_ABORT_KNOWN;
    queue->irq_status = (s->flags & TDMA_STATE_Q_IRQ) != 0;
    queue->owner = s->owner;
    queue->error = s->error;
    queue->progress = s->progress;
    queue->head = s->done;
    queue->tail = s->tail;
    queue->done = s->done;
    queue->abort_tail = s->abort_tail;
}

static bool owner_ok(const struct tdma_queue *queue)
{
    if (queue->owner == TDMA_NO_THREAD) {
        return true;
    }
    return queue->owner < queue->core->props.threads &&
           (queue->thread == TDMA_THREAD_ANY ||
            queue->thread == queue->owner);
}

/* Is slot @index between the oldest in flight and one ring further? */
static bool in_ring(const struct tdma_queue *queue, uint32_t index,
                    uint32_t from)
{
    return index - queue->done <= 1U << queue->ring_order &&
           index - queue->done >= from - queue->done;
}

/* What is wrong with the queue, apart from its jobs; NULL if nothing is. */
static const char *check_queue(const struct tdma_queue *queue,
                               const struct tdma_state_queue *s)
{
    bool on = queue->enabled || queue->owner != TDMA_NO_THREAD;

    if (s->flags & ~TDMA_STATE_Q_FLAGS) {
        return "flags";
    }
    if (!owner_ok(queue)) {
        return "owner";
    }
    if (on && !tdma_queue_config_ok(queue)) {
        return "configuration";
    }
    if (s->error > TDMA_QERR_JOB) {
        return "error";
    }
    if (s->jobs > tdma_queue_in_flight_max(queue) ||
        (s->jobs && queue->owner == TDMA_NO_THREAD)) {
        return "jobs in flight";
    }
    if (!on && (s->head || s->tail || s->done || queue->abort ||
                queue->halted || queue->doorbell)) {
        return "off, but not idle";
    }
    if (on && !in_ring(queue, s->head, s->done)) {
        return "head";
    }
    if (queue->abort_known &&
        (!on || !in_ring(queue, s->abort_tail, s->head))) {
        return "end of what is aborted";
    }
    return NULL;
}

static bool load_queue(struct loader *l, struct tdma_queue *queue,
                       struct tdma_state_queue *s)
{
    const char *wrong;

    if (!take(l, s, sizeof(*s))) {
        return false;
    }
    set_queue_config(queue, s);
    set_queue_state(queue, s);
    wrong = check_queue(queue, s);
    return !wrong || refuse(l, "queue %u: %s", queue->number, wrong);
}

static bool status_known(uint32_t status)
{
    return status <= TDMA_STATUS_ABORTED ||
           (status >= TDMA_STATUS_REJECTED &&
            status <= TDMA_STATUS_BAD_THROTTLE) ||
           (status >= TDMA_STATUS_FAULT && status <= TDMA_STATUS_BAD_RESPONSE);
}

/* A status that a descriptor has which never ran */
static bool status_of_refused(uint32_t status)
{
    return status == TDMA_STATUS_ABORTED ||
           (status >= TDMA_STATUS_REJECTED && status < TDMA_STATUS_FAULT);
}

static void set_job(struct tdma_job *job, const struct tdma_state_job *s)
{
    job->desc = s->desc;
    job->ext = s->ext;
    job->has_ext = s->flags & TDMA_STATE_J_EXT;
    job->slots = job->has_ext ? 2 : 1;
    job->index = s->index;
    job->status = s->status;
    job->started = s->flags & TDMA_STATE_J_STARTED;
    job->parked = job->started && job->status == TDMA_STATUS_PENDING;
    job->lost = s->flags & TDMA_STATE_J_LOST;
    job->publish_failed = s->flags & TDMA_STATE_J_PUBLISH_FAILED;
    job->cycles = s->cycles;
    job->stall_backpressure = s->stall_backpressure;
    job->stall_throttle = s->stall_throttle;
    job->stall_ids = s->stall_ids;
    job->fault_offset = s->fault_offset;
    job->fault_field = s->fault_field;
    job->fault_side = s->fault_side;
    job->fault_dim = s->fault_dim;
    job->extra = (struct tdma_record_target) {
        .valid = s->flags & TDMA_STATE_J_EXTRA,
        .hbm = s->flags & TDMA_STATE_J_EXTRA_HBM,
        .split = s->extra_split,
        .addr = { s->extra_addr[0], s->extra_addr[1] },
    };
    for (unsigned side = 0; side < TDMA_SIDES; side++) {
        job->sync[side].done = s->done[side];
        job->sync[side].flagged = s->flagged[side];
    }
}

/* What is wrong with the job; NULL if nothing is. */
static const char *check_job(struct tdma_job *job,
                             const struct tdma_state_job *s)
{
    const struct tdma_queue *queue = job->queue;

    if (s->queue != queue->number) {
        return "queue";
    }
    if (s->flags & ~TDMA_STATE_J_FLAGS) {
        return "flags";
    }
    if (s->index != queue->head) {
        return "ring index";
    }
    if (!status_known(s->status) ||
        (s->status != TDMA_STATUS_PENDING && !queue->first)) {
        return "status";
    }
    if (s->cycles > INT64_MAX) {
        return "cycles";
    }
    if (job->extra.valid &&
        !tdma_record_target_ok(&queue->core->mem, &job->extra)) {
        return "record";
    }
    if (job->has_ext && !(s->desc.flags & TDMA_DESC_EXT)) {
        return "extension block";
    }
    if (s->flags & TDMA_STATE_J_ACCEPTED) {
        return tdma_job_restore(job, s->segment);
    }
    return status_of_refused(s->status) && !s->done[0] && !s->done[1] &&
           !s->flagged[0] && !s->flagged[1] ? NULL : "status";
}

static bool load_job(struct loader *l, struct tdma_queue *queue)
{
    struct tdma_job *job = tdma_queue_new_job(queue);
    struct tdma_state_job s;
    const char *wrong;

    if (!job) {
        return refuse(l, "queue %u: more jobs than there can be",
                      queue->number);
    }
    if (!take(l, &s, sizeof(s))) {
        return false;
    }
    set_job(job, &s);
    wrong = check_job(job, &s);
    if (wrong) {
        return refuse(l, "queue %u: job %" PRIu32 ": %s", queue->number,
                      s.index, wrong);
    }
    tdma_queue_append(queue, job);
    return true;
}

/* The jobs fill the slots from the last one retired to the head exactly. */
static bool load_queues(struct loader *l, uint32_t jobs)
{
    struct tdma_core *core = l->core;
    const uint8_t *queues = l->at;
    struct tdma_state_queue s;
    uint64_t total = 0;
    unsigned i;

    for (i = 0; i < core->props.queues; i++) {
        if (!load_queue(l, &core->queues[i], &s)) {
            return false;
        }
        total += s.jobs;
    }
    if (total != jobs) {
        return refuse(l, "%" PRIu32 " jobs, queues have %" PRIu64, jobs,
                      total);
    }
    for (i = 0; i < core->props.queues; i++) {
        memcpy(&s, queues + i * sizeof(s), sizeof(s));
        while (s.jobs--) {
            if (!load_job(l, &core->queues[i])) {
                return false;
            }
        }
        if (core->queues[i].head != s.head) {
            return refuse(l, "queue %u: head", i);
        }
    }
    return true;
}

static bool load_threads(struct loader *l)
{
    for (unsigned i = 0; i < l->core->props.threads; i++) {
        if (!load_thread(l, &l->core->threads[i])) {
            return false;
        }
    }
    return true;
}

static bool load_all(struct loader *l)
{
    struct tdma_core *core = l->core;
    struct tdma_state_head head;

    if (!load_head(l, &head) || !load_properties(l) || !load_contexts(l) ||
        !load_sync_flags(l) || !load_threads(l) ||
        !load_queues(l, head.jobs)) {
        return false;
    }
    if (l->left) {
        return refuse(l, "%zu bytes too many", l->left);
    }
    core->enabled = head.enabled;
    core->generation = head.generation;
    core->bad_access = head.bad_access;
    return true;
}

static void power_on(struct tdma_core *core)
{
    tdma_lock(core);
    tdma_core_power_on(core);
    tdma_unlock(core);
}

bool tdma_core_load(struct tdma_core *core, const void *state, size_t len,
                    char *why, size_t why_size)
{
    struct loader l = {
        .core = core, .at = state, .left = len,
        .why = why, .why_size = why_size,
    };

    power_on(core);
    if (!load_all(&l)) {
        power_on(core);
        return false;
    }
    tdma_thread_call_all(core);
    return true;
}
