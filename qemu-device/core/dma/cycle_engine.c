/* SPDX-License-Identifier: MIT */
/*
 * The cycle-accurate engine: one DMA thread of document A, clock by clock.
 *
 *   start() -> descriptor queue -> splitter -+-> source sub-thread ------+
 *                                            +-> destination sub-thread -+
 *   sub-thread: request generator -> memory system -> progress tracker
 *
 * Descriptors in flight sit in a ring in program order. Four positions move
 * along it: head (oldest whose IDs are not home), commit (whose elements are
 * becoming visible), split (next to be handed to the sub-threads), tail.
 */
#include <stdlib.h>
#include <string.h>
#include "cycle_commit.h"
#include "cycle_engine.h"
#include "cycle_generator.h"
#include "cycle_progress.h"
#include "cycle_splitter.h"

enum {
    QUEUE_DEPTH = 8,            /* descriptors waiting for the splitter */
    QUEUE_LOW = 4,              /* run() may return for more below this */
};

struct sub_thread {
    struct tdma_generator generator;
    struct tdma_throttle throttle;
    struct tdma_progress progress;
};

struct cycle_engine {
    struct tdma_engine base;
    struct tdma_properties props;

    struct tdma_flight flight[TDMA_FLIGHTS];
    unsigned head, commit_at, split_at, tail;   /* free running */
    unsigned live;              /* jobs started and not ended */
    uint64_t dying;             /* dead, not ended: bit per flight */

    bool hazard_known;          /* for the flight at split_at */
    bool hazard;                /* ... it is held back */
    bool moved;                 /* something changed in this cycle */

    struct sub_thread sub[TDMA_SIDES];
    struct tdma_memory memory;
    struct tdma_commit commit;
    struct tdma_cycle_trace trace;
};

static struct cycle_engine *to_cycle(struct tdma_engine *engine)
{
    return (struct cycle_engine *)engine;
}

static struct tdma_flight *flight_at(struct cycle_engine *e, unsigned place)
{
    return &e->flight[place % TDMA_FLIGHTS];
}

static unsigned number_of(const struct cycle_engine *e,
                          const struct tdma_flight *f)
{
    return f - e->flight;
}

/*
 * The end of a job.
 */

/* Elements done on a side, as far as they count. */
static uint64_t done(const struct tdma_flight *f, unsigned side)
{
    uint64_t popped = f->side[side].popped;

    return popped < f->limit ? popped : f->limit;
}

/* Stalled cycles of the side that was stalled longer. */
static uint64_t longer_stall(const struct tdma_flight *f, enum tdma_stall cause)
{
    uint64_t src = f->side[TDMA_SRC].stall[cause];
    uint64_t dst = f->side[TDMA_DST].stall[cause];

    return src > dst ? src : dst;
}

/* What this flight adds to the account of its job */
static void account(const struct tdma_flight *f, struct tdma_job *job)
{
    if (f->first_cycle != UINT64_MAX && f->last_cycle >= f->first_cycle) {
        job->cycles += f->last_cycle - f->first_cycle;
    }
    job->stall_backpressure += longer_stall(f, TDMA_STALL_BACKPRESSURE);
    job->stall_throttle += longer_stall(f, TDMA_STALL_THROTTLE);
    job->stall_ids += longer_stall(f, TDMA_STALL_IDS);
}

/* The job leaves: it is over, or is given back to go on another time. */
static void leave(struct cycle_engine *e, struct tdma_flight *f)
{
    struct tdma_job *job = f->job;
    uint32_t status = f->dead ? f->status : TDMA_STATUS_OK;

    account(f, job);
    tdma_commit_drop(f);
    f->job = NULL;
    job->priv = NULL;
    e->live--;
    e->dying &= ~(1ULL << number_of(e, f));
    e->hazard_known = false;
    e->moved = true;
    if (status == TDMA_STATUS_PENDING && job->cancel) {
        status = TDMA_STATUS_ABORTED;
    }
    if (status == TDMA_STATUS_PENDING) {
        tdma_job_give_back(job, done(f, TDMA_SRC), done(f, TDMA_DST));
    } else {
        tdma_job_end(job, status, done(f, TDMA_SRC), done(f, TDMA_DST));
    }
}

/* The job of @f leaves if everything up to its limit is in and visible. */
static void try_end(struct cycle_engine *e, struct tdma_flight *f)
{
    if (!f->job || f->committed < f->limit) {
        return;
    }
    for (unsigned s = 0; s < TDMA_SIDES; s++) {
        if (f->has_side[s] && f->side[s].popped < f->limit) {
            return;
        }
    }
    leave(e, f);
}

/*
 * End @f early, before element @limit, all elements before which have been
 * issued. Requests it has in the memory system from there on come back without
 * effect, so that no ID is lost.
 */
static void kill_flight(struct cycle_engine *e, struct tdma_flight *f,
                        uint32_t status, uint64_t limit)
{
    unsigned n = number_of(e, f);

    f->dead = true;
    f->status = status;
    f->limit = limit;
    if (f->split) {
        for (unsigned s = 0; s < TDMA_SIDES; s++) {
            tdma_generator_purge(&e->sub[s].generator, n);
            tdma_progress_cut(&e->sub[s].progress, n, f->side[s].issued);
        }
        tdma_memory_kill(&e->memory, n);
    }
    e->dying |= 1ULL << n;
    e->hazard_known = false;
    e->moved = true;
    try_end(e, f);
}

/*
 * The units' turns in a cycle, in the order of cycle() below.
 */

/* For the trace: @cycles from now on the sender of @side was in @kind. */
static void note_stall(struct cycle_engine *e, unsigned side,
                       enum tdma_generator_cycle kind, uint64_t cycles)
{
    static const uint8_t cause[] = {
        [TDMA_GENERATOR_BACKPRESSURE] = TDMA_STALL_BACKPRESSURE,
        [TDMA_GENERATOR_THROTTLE] = TDMA_STALL_THROTTLE,
        [TDMA_GENERATOR_IDS] = TDMA_STALL_IDS,
    };

    if (!tdma_trace_wants(e->base.trace, TDMA_TRACE_STALL)) {
        return;
    }
    if (kind < TDMA_GENERATOR_BACKPRESSURE) {
        tdma_cycle_trace_no_stall(&e->trace, side);
    } else if (cycles) {
        tdma_cycle_trace_stall(&e->trace, e->memory.now, side,
                               e->sub[side].generator.blocked, cause[kind],
                               cycles);
    }
}

/* The request senders; the side that goes first alternates. */
static void send(struct cycle_engine *e,
                 enum tdma_generator_cycle kind[TDMA_SIDES])
{
    unsigned first = e->memory.now & 1;
    const struct tdma_flight *next = flight_at(e, e->split_at);

    for (unsigned i = 0; i < TDMA_SIDES; i++) {
        unsigned s = i ^ first;
        struct tdma_generator *g = &e->sub[s].generator;

        g->moved = false;
        kind[s] = tdma_generator_send(g, e->hazard && next->has_side[s]);
        tdma_generator_count(g, kind[s], 1);
        note_stall(e, s, kind[s], 1);
        tdma_generator_shift(g);
    }
}

static bool find_hazard(struct cycle_engine *e, const struct tdma_flight *later)
{
    for (unsigned i = e->head; i != e->split_at; i++) {
        const struct tdma_flight *f = flight_at(e, i);

        if (f->job && tdma_splitter_hazard(f, later)) {
            return true;
        }
    }
    return false;
}

static bool sub_threads_full(const struct cycle_engine *e,
                             const struct tdma_flight *f)
{
    for (unsigned s = 0; s < TDMA_SIDES; s++) {
        if (f->has_side[s] && tdma_generator_full(&e->sub[s].generator)) {
            return true;
        }
    }
    return false;
}

/* The splitter: one descriptor per cycle, unless a hazard holds it back. */
static void split(struct cycle_engine *e)
{
    struct tdma_flight *f;

    while (e->split_at != e->tail && flight_at(e, e->split_at)->dead) {
        e->split_at++;
        e->hazard_known = false;
    }
    if (e->split_at == e->tail) {
        e->hazard = false;
        return;
    }
    f = flight_at(e, e->split_at);
    if (!e->hazard_known) {
        e->hazard = find_hazard(e, f);
        e->hazard_known = true;
        e->moved = true;
    }
    if (e->hazard || sub_threads_full(e, f)) {
        return;
    }
    for (unsigned s = 0; s < TDMA_SIDES; s++) {
        if (f->has_side[s]) {
            tdma_generator_push(&e->sub[s].generator, &f->part[s]);
            tdma_progress_push(&e->sub[s].progress, &f->part[s]);
        }
    }
    f->split = true;
    e->split_at++;
    e->hazard_known = false;
    e->moved = true;
}

/* Commit what can be of the current flight; false if an element failed. */
static bool commit_some(struct cycle_engine *e)
{
    struct tdma_commit *c = &e->commit;
    uint64_t before = c->flight->committed;
    bool ok = tdma_commit_run(c, &e->memory);

    if (c->flight->committed != before &&
        tdma_trace_wants(e->base.trace, TDMA_TRACE_COMMIT)) {
        tdma_cycle_trace_commit(&e->trace, e->memory.now,
                                number_of(e, c->flight));
    }
    return ok;
}

static void commit(struct cycle_engine *e)
{
    struct tdma_commit *c = &e->commit;

    for (;;) {
        if (!c->flight) {
            struct tdma_flight *next = flight_at(e, e->commit_at);

            if (e->commit_at == e->tail || !(next->split || next->dead)) {
                return;
            }
            tdma_commit_begin(c, next);
        }
        if (!commit_some(e)) {
            kill_flight(e, c->flight, c->flight->status,
                        c->flight->committed);
        }
        if (!tdma_commit_done(c)) {
            return;
        }
        tdma_commit_leave(c);
        e->commit_at++;
        e->moved = true;
    }
}

/* Elements before which everything has been issued. */
static uint64_t issued(const struct tdma_flight *f)
{
    uint64_t n = f->job->elements;

    for (unsigned s = 0; s < TDMA_SIDES; s++) {
        if (f->has_side[s] && f->side[s].issued < n) {
            n = f->side[s].issued;
        }
    }
    return n;
}

/*
 * A response on @side that fits no request; @id is that of the response before
 * it, or of the oldest request if there was none in this cycle. The element
 * that had this ID takes the blame: the descriptor ends before it, since it has
 * not been committed yet (see cycle_commit.h). Earlier if the other side has
 * not come so far, which happens if that has nothing to pair with it; and where
 * the descriptor was stepping aside.
 */
static void bad_response(struct cycle_engine *e, unsigned side, unsigned id)
{
    const struct tdma_slot *slot = &e->memory.slot[side][id];
    struct tdma_flight *f = &e->flight[slot->flight];
    uint64_t sent = f->side[side].issued, element, limit;
    bool ending = f->dead && f->status != TDMA_STATUS_PENDING;

    if (!f->job || ending || sent == f->start) {
        return;
    }
    /* the slot has the low bits only */
    element = sent - (uint32_t)((uint32_t)sent - slot->element);
    limit = issued(f) < f->limit ? issued(f) : f->limit;
    tdma_job_fault(f->job, side, slot->address);
    kill_flight(e, f, TDMA_STATUS_BAD_RESPONSE,
                element < limit ? element : limit);
}

static void respond(struct cycle_engine *e, unsigned side)
{
    struct tdma_progress *p = &e->sub[side].progress;
    unsigned last = p->reorder.head;
    uint16_t ids[TDMA_MAX_RESPONSES];
    unsigned n = tdma_memory_respond(&e->memory, side, ids);

    for (unsigned i = 0; i < n; i++) {
        if (tdma_reorder_receive(&p->reorder, ids[i]) == TDMA_RESPONSE_OK) {
            last = ids[i];
        } else {
            bad_response(e, side, last);
        }
    }
    if (tdma_progress_tick(p, e->commit.sequence[side]) || n) {
        e->moved = true;
    }
}

/* Tell the core about the descriptors in @due (A36). */
static void publish(struct cycle_engine *e, uint64_t due)
{
    for (; due; due &= due - 1) {
        struct tdma_flight *f = &e->flight[__builtin_ctzll(due)];

        if (f->job) {
            tdma_commit_flush(f);
            tdma_job_progress(f->job, done(f, TDMA_SRC), done(f, TDMA_DST));
        }
    }
}

static void try_end_all(struct cycle_engine *e, uint64_t flights)
{
    for (; flights; flights &= flights - 1) {
        try_end(e, &e->flight[__builtin_ctzll(flights)]);
    }
}

/* What the progress trackers noticed in this cycle. */
static void report(struct cycle_engine *e)
{
    struct tdma_progress *src = &e->sub[TDMA_SRC].progress;
    struct tdma_progress *dst = &e->sub[TDMA_DST].progress;
    uint64_t finished = src->finished | dst->finished;
    uint64_t due = src->due | dst->due;

    if (!(finished | due | e->dying)) {
        return;
    }
    src->due = dst->due = 0;
    src->finished = dst->finished = 0;
    try_end_all(e, finished | e->dying);
    publish(e, due);
}

/* Flights whose job has ended and whose IDs are home leave the ring. */
static void retire(struct cycle_engine *e)
{
    while (e->head != e->commit_at && e->head != e->split_at) {
        const struct tdma_flight *f = flight_at(e, e->head);

        if (f->job || f->side[TDMA_SRC].popped != f->side[TDMA_SRC].issued ||
            f->side[TDMA_DST].popped != f->side[TDMA_DST].issued) {
            break;
        }
        e->head++;
    }
}

static void cycle(struct cycle_engine *e,
                  enum tdma_generator_cycle kind[TDMA_SIDES])
{
    e->moved = false;
    tdma_memory_open(&e->memory);
    for (unsigned s = 0; s < TDMA_SIDES; s++) {
        tdma_credit_tick(&e->sub[s].progress.credit);
        tdma_throttle_tick(&e->sub[s].throttle, e->base.throttle.window,
                           e->base.throttle.budget);
    }
    send(e, kind);
    split(e);
    tdma_memory_serve(&e->memory);
    commit(e);
    respond(e, TDMA_SRC);
    respond(e, TDMA_DST);
    report(e);
    retire(e);
    tdma_memory_tick(&e->memory);
    e->base.cycles++;
    e->moved |= e->sub[TDMA_SRC].generator.moved |
                e->sub[TDMA_DST].generator.moved;
}

/*
 * Nothing moved in a cycle of these kinds: every cycle until the next latency
 * is over or a throttle window ends would be the same. Count @max of them at
 * most, without going through them one by one. False if nothing will ever
 * happen.
 */
static bool skip(struct cycle_engine *e, uint64_t max,
                 const enum tdma_generator_cycle kind[TDMA_SIDES],
                 uint64_t *skipped)
{
    bool throttled = false;
    uint64_t n = max;

    for (unsigned s = 0; s < TDMA_SIDES; s++) {
        uint32_t left = tdma_throttle_left(&e->sub[s].throttle);

        if (kind[s] == TDMA_GENERATOR_THROTTLE) {
            throttled = true;
            n = left - 1 < n ? left - 1 : n;
        }
    }
    if (!e->memory.in_wheel && !throttled) {
        return false;
    }
    n = tdma_memory_quiet(&e->memory, n);
    for (unsigned s = 0; s < TDMA_SIDES; s++) {
        tdma_generator_count(&e->sub[s].generator, kind[s], n);
        note_stall(e, s, kind[s], n);
        tdma_throttle_skip(&e->sub[s].throttle, n, e->base.throttle.window,
                           e->base.throttle.budget);
    }
    e->memory.now += n;
    e->base.cycles += n;
    *skipped = n;
    return true;
}

/*
 * Engine interface.
 */

static void cycle_reset(struct tdma_engine *engine)
{
    struct cycle_engine *e = to_cycle(engine);

    e->head = e->commit_at = e->split_at = e->tail = 0;
    e->live = 0;
    e->dying = 0;
    e->hazard = e->hazard_known = false;
    for (unsigned s = 0; s < TDMA_SIDES; s++) {
        tdma_generator_reset(&e->sub[s].generator, e->props.lanes,
                             e->props.chains);
        tdma_progress_reset(&e->sub[s].progress, &e->props);
        memset(&e->sub[s].throttle, 0, sizeof(e->sub[s].throttle));
    }
    tdma_memory_reset(&e->memory, e->props.seed);
    tdma_commit_reset(&e->commit);
    memset(e->trace.stall, 0, sizeof(e->trace.stall));
}

static void wire(struct cycle_engine *e)
{
    e->trace.flights = e->flight;
    e->trace.lanes = e->props.lanes;
    for (unsigned s = 0; s < TDMA_SIDES; s++) {
        struct sub_thread *sub = &e->sub[s];

        sub->generator.side = s;
        sub->generator.flights = e->flight;
        sub->generator.memory = &e->memory;
        sub->generator.reorder = &sub->progress.reorder;
        sub->generator.credit = &sub->progress.credit;
        sub->generator.throttle = &sub->throttle;
        sub->generator.counters = &e->base.counters[s];
        sub->progress.side = s;
        sub->progress.flights = e->flight;
    }
}

static struct tdma_engine *cycle_create(const struct tdma_properties *props)
{
    struct cycle_engine *e = calloc(1, sizeof(*e));

    if (!e) {
        return NULL;
    }
    e->props = *props;
    if (!tdma_memory_create(&e->memory, props, e->flight, &e->base.inject)) {
        free(e);
        return NULL;
    }
    if (!tdma_commit_create(&e->commit)) {
        tdma_memory_destroy(&e->memory);
        free(e);
        return NULL;
    }
    wire(e);
    cycle_reset(&e->base);
    return &e->base;
}

static void cycle_destroy(struct tdma_engine *engine)
{
    struct cycle_engine *e = to_cycle(engine);

    tdma_memory_destroy(&e->memory);
    tdma_commit_destroy(&e->commit);
    free(e);
}

static bool cycle_ready(const struct tdma_engine *engine)
{
    const struct cycle_engine *e = (const struct cycle_engine *)engine;

    return e->tail - e->head < TDMA_FLIGHTS &&
           e->tail - e->split_at < QUEUE_DEPTH;
}

static void enter(struct cycle_engine *e, struct tdma_job *job, uint64_t start)
{
    unsigned n = e->tail % TDMA_FLIGHTS;

    tdma_splitter_split(&e->flight[n], n, job, start);
    job->priv = &e->flight[n];
    e->tail++;
    e->live++;
}

static void cycle_start(struct tdma_engine *engine, struct tdma_job *job)
{
    enter(to_cycle(engine), job, 0);
}

/* Jobs that were cancelled since the last call. */
static void look_around(struct cycle_engine *e)
{
    for (unsigned i = e->head; i != e->tail; i++) {
        struct tdma_flight *f = flight_at(e, i);

        if (f->job && f->job->cancel && f->committed < f->limit) {
            kill_flight(e, f, TDMA_STATUS_ABORTED, f->committed);
        }
    }
}

/* Pointers must not outlive the call; what it has achieved is shown. */
static void put_down(struct cycle_engine *e)
{
    for (unsigned i = e->head; i != e->tail; i++) {
        struct tdma_flight *f = flight_at(e, i);
        uint64_t src, dst;

        if (f->job) {
            src = done(f, TDMA_SRC);
            dst = done(f, TDMA_DST);
            f->job->moved = src > dst ? src : dst;
            tdma_commit_drop(f);
        }
    }
}

/*
 * The queue runs low and the caller can do something about it: a place has
 * become free since it last had the chance.
 */
static bool wants_more(const struct cycle_engine *e, bool was_low,
                       unsigned were_live)
{
    return e->tail - e->split_at < QUEUE_LOW &&
           (!was_low || e->live < were_live);
}

/*
 * Cycles until the budget is used up; also without a job, if those that have
 * left take up all the places. True if there is more to do.
 */
static bool run_cycles(struct cycle_engine *e, struct tdma_budget *budget)
{
    enum tdma_generator_cycle kind[TDMA_SIDES];
    bool low = e->tail - e->split_at < QUEUE_LOW;
    unsigned live = e->live;
    uint64_t bytes = e->commit.bytes;

    while ((e->live || !cycle_ready(&e->base)) &&
           budget->steps > 0 && budget->bytes > 0) {
        uint64_t skipped = 0;

        cycle(e, kind);
        if (!e->moved && !skip(e, budget->steps - 1, kind, &skipped)) {
            return false;
        }
        budget->steps -= 1 + skipped;
        budget->bytes -= e->commit.bytes - bytes;
        bytes = e->commit.bytes;
        if (wants_more(e, low, live)) {
            return true;
        }
    }
    return e->live || !live;
}

/* The memory system is spared the question where nobody asks. */
static void set_trace(struct cycle_engine *e)
{
    e->trace.trace = e->base.trace;
    e->memory.trace = tdma_trace_wants(e->base.trace, TDMA_TRACE_ISSUE) ||
                      tdma_trace_wants(e->base.trace, TDMA_TRACE_RESPONSE)
                      ? &e->trace : NULL;
}

static bool cycle_run(struct tdma_engine *engine, struct tdma_budget *budget)
{
    struct cycle_engine *e = to_cycle(engine);
    bool more;

    set_trace(e);
    look_around(e);
    more = run_cycles(e, budget);
    put_down(e);
    tdma_cycle_trace_no_stall(&e->trace, TDMA_SRC);
    tdma_cycle_trace_no_stall(&e->trace, TDMA_DST);
    return more;
}

static uint64_t cycle_now(struct tdma_engine *engine)
{
    return to_cycle(engine)->memory.now;
}

/*
 * What has been issued on both sides drains and takes effect; the rest of the
 * job steps aside. One that is ending anyway needs no more than that. One with
 * a response missing steps aside before that element.
 */
static bool cycle_park(struct tdma_engine *engine, struct tdma_job *job)
{
    struct tdma_flight *f = job->priv;

    if (job->lost) {
        kill_flight(to_cycle(engine), f, TDMA_STATUS_PENDING, f->committed);
    } else if (!f->dead && issued(f) < job->elements) {
        kill_flight(to_cycle(engine), f, TDMA_STATUS_PENDING, issued(f));
    }
    return false;
}

static void cycle_unpark(struct tdma_engine *engine, struct tdma_job *job)
{
    enter(to_cycle(engine), job,
          job->sync[job->has_side[TDMA_DST] ? TDMA_DST : TDMA_SRC].done);
}

static void cycle_save(struct tdma_engine *engine,
                       struct tdma_engine_state *state)
{
    const struct cycle_engine *e = to_cycle(engine);

    state->clock = e->memory.now;
    state->random = e->memory.random;
    for (unsigned s = 0; s < TDMA_SIDES; s++) {
        state->window[s] = e->sub[s].throttle;
    }
}

static void cycle_load(struct tdma_engine *engine,
                       const struct tdma_engine_state *state)
{
    struct cycle_engine *e = to_cycle(engine);

    e->memory.now = state->clock;
    e->memory.random = state->random;
    for (unsigned s = 0; s < TDMA_SIDES; s++) {
        e->sub[s].throttle = state->window[s];
    }
}

const struct tdma_progress *
tdma_cycle_engine_progress(const struct tdma_engine *engine, unsigned side)
{
    const struct cycle_engine *e = (const struct cycle_engine *)engine;

    return &e->sub[side].progress;
}

const struct tdma_engine_ops tdma_cycle_engine = {
    .name = "cycle",
    .preemptive = false,
    .create = cycle_create,
    .destroy = cycle_destroy,
    .reset = cycle_reset,
    .ready = cycle_ready,
    .start = cycle_start,
    .run = cycle_run,
    .now = cycle_now,
    .park = cycle_park,
    .unpark = cycle_unpark,
    .save = cycle_save,
    .load = cycle_load,
};
