/* SPDX-License-Identifier: MIT */
/*
 * tensordma core: DMA threads and whose turn it is.
 *
 * Of the queues a thread may serve the highest priority goes first, equals
 * take turns: one quantum each where the engine can give jobs back, one
 * descriptor each where it is a pipeline. Quanta are bounded, so what software
 * asks of a queue takes effect soon whatever its descriptors are like.
 */
#include <stddef.h>
#include "dma/tdma_job.h"
#include "dma/tdma_thread.h"
#include "queue/tdma_queue.h"

/* Address steps that fetching and retiring a descriptor is taken to cost */
enum {
    JOB_STEPS = 64,
    /* ... one with an extension block, whose extent may be hard to find */
    EXT_STEPS = 2048,
};

bool tdma_thread_init(struct tdma_thread *thread, struct tdma_core *core,
                      unsigned number)
{
    thread->core = core;
    thread->number = number;
    thread->engine = core->engine_ops->create(&core->props);
    if (!thread->engine) {
        return false;
    }
    thread->engine->ops = core->engine_ops;
    thread->engine->props = &core->props;
    thread->engine->thread = number;
    thread->engine->trace = &thread->trace;
    thread->trace.core = core;
    thread->trace.thread = number;
    return true;
}

void tdma_thread_fini(struct tdma_thread *thread)
{
    if (thread->engine) {
        thread->engine->ops->destroy(thread->engine);
    }
}

static void clear_counters(struct tdma_engine *engine)
{
    engine->cycles = 0;
    engine->counters[TDMA_SRC] = (struct tdma_counters) { 0 };
    engine->counters[TDMA_DST] = (struct tdma_counters) { 0 };
}

void tdma_thread_reset(struct tdma_thread *thread)
{
    thread->engine->ops->reset(thread->engine);
    clear_counters(thread->engine);
    thread->busy = false;
    thread->clear_counters = false;
    thread->new_inject = false;
    thread->inject = (struct tdma_inject) { 0 };
    thread->engine->inject = thread->inject;
    tdma_trace_reset(&thread->trace);
    thread->throttle_window = 0;
    thread->throttle_budget = 0;
    thread->throttle_status = TDMA_THROTTLE_OFF;
    thread->throttle = (struct tdma_throttle_rate) { 0 };
    thread->cycles = 0;
    thread->counters[TDMA_SRC] = (struct tdma_counters) { 0 };
    thread->counters[TDMA_DST] = (struct tdma_counters) { 0 };
    thread->in_engine = 0;
    thread->stalled = false;
    thread->next_queue = 0;
}

uint32_t tdma_thread_check_throttle(const struct tdma_core *core,
                                    uint32_t window, uint32_t budget)
{
    if (!window && !budget) {
        return TDMA_THROTTLE_OFF;
    }
    if (!window || !budget) {
        return TDMA_THROTTLE_BAD_ZERO;
    }
    if (window > TDMA_THROTTLE_WINDOW_MAX) {
        return TDMA_THROTTLE_BAD_WINDOW;
    }
    if (budget > core->props.lanes * window) {
        return TDMA_THROTTLE_BAD_BUDGET;
    }
    return TDMA_THROTTLE_ON;
}

/* The thread for a queue: its own, else one with nothing to do. */
static unsigned choose_thread(const struct tdma_core *core,
                              const struct tdma_queue *queue)
{
    unsigned i;

    if (queue->owner != TDMA_NO_THREAD) {
        return queue->owner;
    }
    if (queue->thread < core->props.threads) {
        return queue->thread;
    }
    for (i = 0; i < core->props.threads; i++) {
        if (!core->threads[i].busy) {
            return i;
        }
    }
    return queue->number % core->props.threads;
}

unsigned tdma_thread_call(struct tdma_core *core, struct tdma_queue *queue)
{
    unsigned number = choose_thread(core, queue);

    core->pending[queue->number / 64] |= 1ULL << queue->number % 64;
    core->threads[number].busy = true;
    return number;
}

static bool has_work(const struct tdma_thread *thread)
{
    const struct tdma_core *core = thread->core;
    unsigned i;

    for (i = 0; i < core->props.queues; i++) {
        if (tdma_queue_needs(&core->queues[i], thread->number)) {
            return true;
        }
    }
    return false;
}

void tdma_thread_call_all(struct tdma_core *core)
{
    unsigned i;
    bool work;

    tdma_lock(core);
    for (i = 0; i < core->props.queues; i++) {
        core->pending[i / 64] |= 1ULL << i % 64;
    }
    tdma_unlock(core);
    for (i = 0; i < core->props.threads; i++) {
        tdma_lock(core);
        work = has_work(&core->threads[i]);
        core->threads[i].busy |= work;
        tdma_unlock(core);
        if (work) {
            core->ops.kick(core->mem.opaque, i);
        }
    }
}

/*
 * Next pending queue from *number on, or NULL; with the lock held. Queues that
 * no thread needs to look at are taken off the pending set on the way.
 */
static struct tdma_queue *next_pending(struct tdma_core *core,
                                       unsigned *number)
{
    while (*number < core->props.queues) {
        uint64_t word = core->pending[*number / 64] >> *number % 64;

        if (word) {
            *number += __builtin_ctzll(word);
            return &core->queues[(*number)++];
        }
        *number = (*number | 63) + 1;
    }
    return NULL;
}

static bool takes_precedence(const struct tdma_thread *thread,
                             const struct tdma_queue *a,
                             const struct tdma_queue *b)
{
    unsigned count = thread->core->props.queues;

    if (!b || a->priority != b->priority) {
        return !b || a->priority > b->priority;
    }
    return (a->number + count - thread->next_queue) % count <
           (b->number + count - thread->next_queue) % count;
}

/* What software has set since the thread last looked; with the lock held. */
static void take_settings(struct tdma_thread *thread)
{
    struct tdma_engine *engine = thread->engine;

    engine->throttle = thread->throttle;
    tdma_trace_begin(&thread->trace);
    if (thread->clear_counters) {
        thread->clear_counters = false;
        clear_counters(engine);
    }
    if (thread->new_inject) {
        thread->new_inject = false;
        engine->inject = thread->inject;
    }
}

static void begin(struct tdma_thread *thread)
{
    tdma_lock(thread->core);
    take_settings(thread);
    tdma_unlock(thread->core);
}

/*
 * Counters to be cleared were cleared in the registers at once. With the lock
 * held.
 */
static void show_counters(struct tdma_thread *thread)
{
    if (!thread->new_inject) {
        thread->inject.kind = thread->engine->inject.kind;
    }
    if (!thread->clear_counters) {
        thread->cycles = thread->engine->cycles;
        thread->counters[TDMA_SRC] = thread->engine->counters[TDMA_SRC];
        thread->counters[TDMA_DST] = thread->engine->counters[TDMA_DST];
    }
}

/* Who sees a final record sees counters that have the job in them. */
static void retire(struct tdma_queue *queue)
{
    struct tdma_core *core = queue->core;

    if (queue->first && queue->first->status != TDMA_STATUS_PENDING) {
        tdma_lock(core);
        show_counters(&core->threads[queue->owner]);
        tdma_unlock(core);
        tdma_queue_retire(queue);
    }
}

/* The queue whose turn it is, now owned by the thread; NULL if there is none */
static struct tdma_queue *pick(struct tdma_thread *thread)
{
    struct tdma_core *core = thread->core;
    struct tdma_queue *queue, *best = NULL;
    unsigned number = 0;

    tdma_lock(core);
    while ((queue = next_pending(core, &number))) {
        if (tdma_queue_can_start(queue, thread->number) &&
            takes_precedence(thread, queue, best)) {
            best = queue;
        }
    }
    if (best) {
        best->owner = thread->number;
        best->admitting = true;
        best->quiet = false;
        thread->next_queue = best->number;
        /* What was written before the doorbell holds for the descriptor. */
        take_settings(thread);
    }
    tdma_unlock(core);
    return best;
}

static void pass_turn(struct tdma_thread *thread)
{
    thread->next_queue = (thread->next_queue + 1) % thread->core->props.queues;
}

static bool is_live(const struct tdma_job *job)
{
    return job->started && job->status == TDMA_STATUS_PENDING;
}

static void start(struct tdma_thread *thread, struct tdma_job *job)
{
    struct tdma_engine *engine = thread->engine;

    thread->in_engine++;
    job->order = thread->order++;
    if (job->started) {
        job->parked = false;
        engine->ops->unpark(engine, job);
        return;
    }
    job->started = true;
    tdma_event(thread->core, TDMA_EVENT_JOB_START, job->queue->number,
               job->index, job->desc.opcode);
    tdma_job_trace(job, TDMA_TRACE_START, TDMA_SIDE_NONE, job->desc.opcode,
                   job->elements);
    engine->ops->start(engine, job);
}

/* The next descriptor of the queue, if there is one. */
static struct tdma_job *fetch(struct tdma_queue *queue)
{
    uint32_t slots = tdma_queue_update_tail(queue);

    return slots ? tdma_queue_fetch(queue, slots, false) : NULL;
}

/*
 * Bring one job of the queue into the engine, or find out why not. What that
 * costs, in steps.
 */
static int64_t admit(struct tdma_thread *thread, struct tdma_queue *queue)
{
    struct tdma_job *waiting = tdma_queue_waiting(queue), *job;
    int64_t steps = JOB_STEPS;

    job = waiting ? waiting : fetch(queue);
    tdma_lock(thread->core);
    queue->admitting = false;
    tdma_unlock(thread->core);
    if (!waiting && job && job->has_ext) {
        steps = EXT_STEPS;
    }
    if (waiting || (job && job->status == TDMA_STATUS_PENDING &&
                    (job == queue->first ||
                     !(job->desc.flags & TDMA_DESC_FENCE)))) {
        start(thread, job);
    }
    retire(queue);
    return steps;
}

/* True once no job of the queue is in the engine. */
static bool park_all(struct tdma_thread *thread, struct tdma_queue *queue)
{
    struct tdma_engine *engine = thread->engine;
    struct tdma_job *job;
    bool all = true;

    for (job = queue->first; job; job = job->next) {
        if (!is_live(job) || job->parked) {
            continue;
        }
        job->parking = true;
        if (engine->ops->park(engine, job)) {
            tdma_job_give_back(job, job->sync[TDMA_SRC].done,
                               job->sync[TDMA_DST].done);
        }
        all &= !job->parking;
    }
    return all;
}

/*
 * Software wants everything up to the tail of this moment ended. In-flight
 * jobs are cancelled first; then what waits is fetched for its tag alone.
 */
static void serve_abort(struct tdma_queue *queue, struct tdma_budget *budget)
{
    struct tdma_core *core = queue->core;
    bool done;

    if (!queue->abort_known) {
        tdma_queue_update_tail(queue);
        tdma_lock(core);
        queue->abort_tail = queue->tail;
        tdma_unlock(core);
        queue->abort_known = true;
    }
    tdma_queue_cancel(queue);
    retire(queue);
    while (!queue->first && queue->head != queue->abort_tail &&
           budget->steps > 0) {
        budget->steps -= JOB_STEPS;
        if (!tdma_queue_fetch(queue, queue->abort_tail - queue->head, true)) {
            break;
        }
        retire(queue);
    }
    tdma_lock(core);
    if (queue->halted && queue->error == TDMA_QERR_RING && !queue->first) {
        /* No record can be written for what cannot be read. */
        queue->head = queue->abort_tail;
        queue->done = queue->abort_tail;
    }
    done = !queue->first && queue->head == queue->abort_tail;
    if (done) {
        queue->abort = false;
        queue->abort_known = false;
    }
    tdma_unlock(core);
}

static void serve_disable(struct tdma_queue *queue)
{
    struct tdma_core *core = queue->core;

    tdma_queue_cancel(queue);
    retire(queue);
    if (queue->first) {
        return;
    }
    tdma_lock(core);
    queue->owner = TDMA_NO_THREAD;
    queue->head = 0;
    queue->tail = 0;
    queue->done = 0;
    queue->abort = false;
    queue->abort_known = false;
    queue->doorbell = false;
    queue->halted = false;
    tdma_unlock(core);
}

/* Whether jobs can move is to be found out anew. */
static void forget_standstill(struct tdma_thread *thread,
                              struct tdma_queue *queue)
{
    struct tdma_job *job;

    (void)thread;
    for (job = queue->first; job; job = job->next) {
        job->stuck = false;
    }
}

/* The queue, or the whole device, is not to run: what is in flight drains. */
static void serve_pause(struct tdma_thread *thread, struct tdma_queue *queue)
{
    bool quiet = park_all(thread, queue);
    struct tdma_core *core = thread->core;

    retire(queue);
    forget_standstill(thread, queue);
    tdma_lock(core);
    queue->stuck = false;
    if (queue->pause || !core->enabled) {
        queue->quiet = quiet;
    }
    tdma_unlock(core);
}

enum service { SERVE_NOTHING, SERVE_DISABLE, SERVE_ABORT, SERVE_PAUSE };

/* What software wants of the queue; taken into ownership if anything. */
static enum service wanted(struct tdma_thread *thread,
                           struct tdma_queue *queue)
{
    enum service service = SERVE_NOTHING;

    if (!tdma_queue_needs(queue, thread->number)) {
        return SERVE_NOTHING;
    }
    if (!queue->enabled) {
        service = SERVE_DISABLE;
    } else if (queue->abort) {
        service = SERVE_ABORT;
    } else if (queue->pause || !queue->core->enabled) {
        service = SERVE_PAUSE;
    }
    if (service) {
        queue->owner = thread->number;
    }
    return service;
}

static void serve(struct tdma_thread *thread, struct tdma_queue *queue,
                  enum service service, struct tdma_budget *budget)
{
    switch (service) {
    case SERVE_DISABLE:
        serve_disable(queue);
        break;
    case SERVE_ABORT:
        serve_abort(queue, budget);
        break;
    case SERVE_PAUSE:
        serve_pause(thread, queue);
        break;
    case SERVE_NOTHING:
        break;
    }
}

static void serve_all(struct tdma_thread *thread, struct tdma_budget *budget)
{
    struct tdma_core *core = thread->core;
    struct tdma_queue *queue;
    unsigned number = 0;

    for (;;) {
        enum service service = SERVE_NOTHING;

        tdma_lock(core);
        queue = next_pending(core, &number);
        if (queue) {
            service = wanted(thread, queue);
        }
        tdma_unlock(core);
        if (!queue) {
            return;
        }
        serve(thread, queue, service, budget);
    }
}

/* Call @fn for every queue the thread owns. */
static void for_owned(struct tdma_thread *thread,
                      void (*fn)(struct tdma_thread *, struct tdma_queue *))
{
    struct tdma_core *core = thread->core;
    struct tdma_queue *queue;
    unsigned number = 0;

    for (;;) {
        bool mine;

        tdma_lock(core);
        queue = next_pending(core, &number);
        mine = queue && queue->owner == thread->number;
        tdma_unlock(core);
        if (!queue) {
            return;
        }
        if (mine) {
            fn(thread, queue);
        }
    }
}

static void retire_owned(struct tdma_thread *thread, struct tdma_queue *queue)
{
    (void)thread;
    retire(queue);
}

/*
 * Standstill: the engine has jobs and none of them can move. That is due to the
 * oldest, which waits for a response that never comes; a pipeline is held up
 * as a whole.
 */
static void find_oldest(struct tdma_thread *thread, struct tdma_queue *queue)
{
    struct tdma_job *job;

    for (job = queue->first; job; job = job->next) {
        if (is_live(job) && !job->parked &&
            (!thread->oldest ||
             (int32_t)(job->order - thread->oldest->order) < 0)) {
            thread->oldest = job;
        }
    }
}

static void note_standstill(struct tdma_thread *thread)
{
    thread->oldest = NULL;
    for_owned(thread, find_oldest);
    if (thread->oldest) {
        thread->oldest->stuck = true;
    }
    thread->stalled = !thread->engine->ops->preemptive;
}

/* Windows must not outlive the call; a preemptive engine gives its job back. */
static void put_down(struct tdma_thread *thread, struct tdma_queue *queue)
{
    struct tdma_job *job;
    unsigned side;

    if (thread->engine->ops->preemptive) {
        park_all(thread, queue);
    }
    for (job = queue->first; job; job = job->next) {
        for (side = 0; side < TDMA_SIDES && is_live(job); side++) {
            if (job->has_side[side]) {
                tdma_view_drop(&job->view[side]);
            }
        }
    }
}

/* What the registers of a queue say about its jobs; with the lock held. */
static void show_jobs(struct tdma_queue *queue)
{
    struct tdma_job *job;

    queue->stuck = queue->first && queue->first->stuck;
    for (job = queue->first; job; job = job->next) {
        tdma_queue_count(queue, job);
    }
}

/*
 * Let go of queues with nothing in flight, forget those that need nobody, and
 * see what is left: for this thread, and for one that sleeps.
 */
static bool finish(struct tdma_thread *thread, unsigned *helper)
{
    struct tdma_core *core = thread->core;
    struct tdma_queue *queue;
    unsigned number = 0;
    bool more = false;

    *helper = TDMA_NO_THREAD;
    tdma_lock(core);
    show_counters(thread);
    tdma_trace_end(&thread->trace);
    while ((queue = next_pending(core, &number))) {
        if (queue->owner == thread->number) {
            show_jobs(queue);
            if (!queue->in_flight && queue->enabled) {
                queue->owner = TDMA_NO_THREAD;
            }
        }
        if (tdma_queue_needs(queue, thread->number)) {
            more |= !thread->stalled ||
                    tdma_queue_ends(queue, thread->number);
            if (queue->owner == TDMA_NO_THREAD) {
                *helper = choose_thread(core, queue);
            }
        } else if (queue->owner == TDMA_NO_THREAD &&
                   !tdma_queue_needs(queue, queue->thread)) {
            core->pending[queue->number / 64] &=
                ~(1ULL << queue->number % 64);
        }
    }
    /* New work goes elsewhere if it can. */
    thread->busy = more || thread->stalled;
    if (*helper != TDMA_NO_THREAD && !core->threads[*helper].busy) {
        core->threads[*helper].busy = true;
    } else {
        *helper = TDMA_NO_THREAD;
    }
    tdma_unlock(core);
    return more;
}

/*
 * Feed the engine and run it until the quantum is used up. A pipeline that
 * stands still takes nothing in: other threads may have it.
 */
static void run_quantum(struct tdma_thread *thread, struct tdma_budget *budget)
{
    struct tdma_engine *engine = thread->engine;
    bool preemptive = engine->ops->preemptive;
    bool standstill = thread->stalled && thread->in_engine;
    bool served = false;

    if (thread->stalled) {
        thread->stalled = false;
        for_owned(thread, forget_standstill);
    }
    while (budget->bytes > 0 && budget->steps > 0) {
        struct tdma_queue *queue = NULL;
        bool more = false;
        int64_t steps = 0;

        if (!standstill && engine->ops->ready(engine)) {
            queue = pick(thread);
        }
        if (queue) {
            served = true;
            steps = admit(thread, queue);
            if (!preemptive) {
                pass_turn(thread);
                budget->steps -= steps;
                continue;
            }
        }
        if (thread->in_engine || !engine->ops->ready(engine)) {
            more = engine->ops->run(engine, budget);
            for_owned(thread, retire_owned);
            standstill = !more && thread->in_engine;
        }
        if (queue) {
            /* Only now: every quantum moves something. */
            budget->steps -= steps;
        } else if (!more) {
            break;
        }
    }
    if (standstill) {
        note_standstill(thread);
    }
    if (preemptive && served) {
        pass_turn(thread);
    }
}

static void park_owned(struct tdma_thread *thread, struct tdma_queue *queue)
{
    park_all(thread, queue);
}

/* Nothing moves: the job that this is due to steps aside as it is. */
static void drop_oldest(struct tdma_thread *thread)
{
    thread->oldest = NULL;
    for_owned(thread, find_oldest);
    thread->oldest->lost = true;
    thread->engine->ops->park(thread->engine, thread->oldest);
}

static void drain(struct tdma_thread *thread)
{
    struct tdma_engine *engine = thread->engine;

    for_owned(thread, park_owned);
    while (thread->in_engine) {
        struct tdma_budget budget = {
            .bytes = thread->core->props.quantum_bytes,
            .steps = thread->core->props.quantum_steps,
        };

        if (!engine->ops->run(engine, &budget) && thread->in_engine) {
            drop_oldest(thread);
        }
    }
    for_owned(thread, retire_owned);
}

static void forget_stall(struct tdma_thread *thread, struct tdma_queue *queue)
{
    forget_standstill(thread, queue);
    tdma_lock(thread->core);
    queue->stuck = false;
    tdma_unlock(thread->core);
}

static bool stop(struct tdma_thread *thread)
{
    unsigned helper;
    bool more;

    begin(thread);
    drain(thread);
    thread->stalled = false;
    for_owned(thread, forget_stall);
    for_owned(thread, put_down);
    tdma_trace_flush(&thread->trace);
    more = finish(thread, &helper);
    if (helper != TDMA_NO_THREAD) {
        thread->core->ops.kick(thread->core->mem.opaque, helper);
    }
    return more;
}

void tdma_core_stop(struct tdma_core *core)
{
    unsigned i;

    for (i = 0; i < core->props.threads; i++) {
        if (stop(&core->threads[i])) {
            core->ops.kick(core->mem.opaque, i);
        }
    }
}

bool tdma_core_run(struct tdma_core *core, unsigned number)
{
    struct tdma_thread *thread = &core->threads[number];
    struct tdma_budget budget = {
        .bytes = core->props.quantum_bytes,
        .steps = core->props.quantum_steps,
    };
    unsigned helper;
    bool more;

    begin(thread);
    serve_all(thread, &budget);
    run_quantum(thread, &budget);
    for_owned(thread, put_down);
    tdma_trace_flush(&thread->trace);
    more = finish(thread, &helper);
    if (helper != TDMA_NO_THREAD) {
        core->ops.kick(core->mem.opaque, helper);
    }
    return more;
}
