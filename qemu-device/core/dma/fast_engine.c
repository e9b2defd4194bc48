/* SPDX-License-Identifier: MIT */
/*
 * tensordma core, fast engine: data at the speed of host memory.
 *
 * One job at a time, in pieces bounded by the quantum and by where the next
 * partial update is due. Cycles come from a closed form.
 */
#include <stdlib.h>
#include "dma/fast_move.h"
#include "dma/fast_plan.h"
#include "dma/tdma_engine.h"

struct fast_engine {
    struct tdma_engine base;
    struct fast_plan plan;      /* of plan.job, NULL if there is none */
    struct fast_mover mover;
    bool single;                /* looking for the element at fault */
    uint64_t clock;             /* cycles since reset */
};

/* A unit this long is moved by itself, in parts if need be. */
enum { LONG_UNIT = 65536 };

static struct fast_engine *fast_of(struct tdma_engine *engine)
{
    return (struct fast_engine *)engine;
}

static struct tdma_engine *fast_create(const struct tdma_properties *props)
{
    struct fast_engine *fast = calloc(1, sizeof(*fast));

    (void)props;
    return fast ? &fast->base : NULL;
}

static void fast_destroy(struct tdma_engine *engine)
{
    free(fast_of(engine));
}

static void fast_reset(struct tdma_engine *engine)
{
    fast_of(engine)->plan.job = NULL;
    fast_of(engine)->clock = 0;
}

static bool fast_ready(const struct tdma_engine *engine)
{
    return !((const struct fast_engine *)engine)->plan.job;
}

static uint64_t count_on(const struct tdma_job *job, unsigned side,
                         uint64_t elements)
{
    return job->has_side[side] ? elements : 0;
}

static void take(struct fast_engine *fast, struct tdma_job *job, uint64_t done)
{
    fast_plan_init(&fast->plan, job);
    fast_plan_seek(&fast->plan, done);
    fast_mover_init(&fast->mover, &fast->plan);
    fast->single = false;
}

static void fast_start(struct tdma_engine *engine, struct tdma_job *job)
{
    take(fast_of(engine), job, 0);
}

static void fast_unpark(struct tdma_engine *engine, struct tdma_job *job)
{
    take(fast_of(engine), job,
         job->has_side[TDMA_DST] ? job->sync[TDMA_DST].done
                                 : job->sync[TDMA_SRC].done);
}

static void report_progress(struct fast_engine *fast, uint64_t moved)
{
    struct tdma_job *job = fast->plan.job;
    unsigned side;

    for (side = 0; side < TDMA_SIDES; side++) {
        fast->base.counters[side].requests += count_on(job, side, moved);
    }
    job->moved = fast->plan.done;
    tdma_job_progress(job, count_on(job, TDMA_SRC, fast->plan.done),
                      count_on(job, TDMA_DST, fast->plan.done));
}

/*
 * Cycles of what has been done so far. Where the throttle binds, it lets a
 * number of requests through per window; the rest of the window is stall (A21).
 */
static void account_cycles(struct fast_engine *fast)
{
    struct tdma_engine *base = &fast->base;
    struct tdma_job *job = fast->plan.job;
    uint64_t done = fast->plan.done, windows, cycles, stall = 0;
    unsigned side;

    cycles = tdma_cycles_ideal(base->props, job->desc.opcode, done);
    if (done && base->throttle.window) {
        windows = (done - 1) / base->throttle.budget;
        if (__builtin_mul_overflow(windows, base->throttle.window, &stall)) {
            stall = UINT64_MAX / 2;
        }
        stall += base->props->latency_min;
        stall = stall > cycles ? stall - cycles : 0;
    }
    fast->clock += cycles + stall - job->cycles;
    base->cycles += cycles + stall - job->cycles;
    for (side = 0; side < TDMA_SIDES; side++) {
        base->counters[side].stall_throttle +=
            count_on(job, side, stall - job->stall_throttle);
    }
    job->cycles = cycles + stall;
    job->stall_throttle = stall;
}

static uint64_t fast_now(struct tdma_engine *engine)
{
    struct fast_engine *fast = fast_of(engine);

    if (fast->plan.job) {
        account_cycles(fast);
    }
    return fast->clock;
}

static bool fast_park(struct tdma_engine *engine, struct tdma_job *job)
{
    (void)job;
    account_cycles(fast_of(engine));
    fast_of(engine)->plan.job = NULL;
    return true;
}

static void fast_save(struct tdma_engine *engine,
                      struct tdma_engine_state *state)
{
    *state = (struct tdma_engine_state) { .clock = fast_of(engine)->clock };
}

static void fast_load(struct tdma_engine *engine,
                      const struct tdma_engine_state *state)
{
    fast_of(engine)->clock = state->clock;
}

static void end(struct fast_engine *fast, uint32_t status)
{
    struct tdma_job *job = fast->plan.job;

    account_cycles(fast);
    fast->plan.job = NULL;
    tdma_job_end(job, status, count_on(job, TDMA_SRC, fast->plan.done),
                 count_on(job, TDMA_DST, fast->plan.done));
}

/* Will an injected error strike this job, at or after where it is? */
static bool inject_ahead(const struct fast_engine *fast)
{
    const struct tdma_inject *inject = &fast->base.inject;
    const struct fast_plan *plan = &fast->plan;

    return inject->kind && inject->side < TDMA_SIDES &&
           plan->job->has_side[inject->side] &&
           inject->element >= plan->done &&
           inject->element < plan->job->elements;
}

/* Do @count things of @size fit? Without division, which small jobs feel */
static bool fits(uint64_t count, uint64_t size, uint64_t room)
{
    uint64_t all;

    return !__builtin_mul_overflow(count, size, &all) && all <= room;
}

/* Elements that may be moved before something else has to be looked at */
static uint64_t next_stop(const struct fast_engine *fast,
                          const struct tdma_budget *budget)
{
    const struct fast_plan *plan = &fast->plan;
    uint64_t stop = tdma_job_sync_point(plan->job);

    if (stop > plan->job->elements) {
        stop = plan->job->elements;
    }
    if (inject_ahead(fast) && stop > fast->base.inject.element) {
        stop = fast->base.inject.element;
    }
    stop -= plan->done;
    return fits(stop, plan->elem, budget->bytes)
           ? stop : (uint64_t)budget->bytes / plan->elem + 1;
}

/* The outermost dimension of which at least one whole step fits in @room */
static int largest_block(const struct fast_plan *plan, uint64_t room,
                         uint64_t units)
{
    int dim = 0;

    if (plan->sub || plan->row[0] > room || plan->unit_bytes >= LONG_UNIT) {
        return -1;
    }
    while (dim + 1 < (int)plan->ndims && !plan->index[dim] &&
           plan->row[dim + 1] <= room &&
           plan->units[dim + 1] <= units) {
        dim++;
    }
    return dim;
}

static bool move_part_of_unit(struct fast_engine *fast, uint64_t room)
{
    struct fast_plan *plan = &fast->plan;
    uint64_t count = plan->unit - plan->sub;
    struct fast_place place;

    fast_plan_place(plan, &place);
    return fast_move_elements(&fast->mover, count < room ? count : room,
                              place);
}

/*
 * Units that count as one address step: up to a word of small ones, where
 * pointers reach them and they are moved many at a time. It matters only if
 * there are more left than @steps.
 */
static uint64_t units_per_step(struct fast_engine *fast, uint64_t steps)
{
    const struct fast_plan *plan = &fast->plan;
    uint64_t units = sizeof(uint64_t) / plan->unit_bytes;
    struct fast_place place;

    if (units <= 1 || plan->job->elements - plan->done <= steps) {
        return 1;
    }
    fast_plan_place(plan, &place);
    return fast_move_is_mapped(&fast->mover, &place) ? units : 1;
}

/* May the rest of the job be moved with so much left? */
static bool rest_fits(struct fast_engine *fast, uint64_t bytes, uint64_t steps)
{
    const struct fast_plan *plan = &fast->plan;
    uint64_t left = plan->job->elements - plan->done;

    return fits(left, plan->elem, bytes) &&
           (left <= steps ||
            left / plan->unit / units_per_step(fast, steps) <= steps);
}

/*
 * The job fits into a quantum, but not into what earlier jobs have left of
 * this one: moved in one piece in the next it takes less time than in two.
 */
static bool better_next_time(struct fast_engine *fast,
                             const struct tdma_budget *budget)
{
    const struct tdma_properties *props = fast->base.props;

    return !rest_fits(fast, budget->bytes, budget->steps) &&
           rest_fits(fast, props->quantum_bytes, props->quantum_steps);
}

/* Steps of dimension @dim, of @room elements and @units units at most */
static uint64_t block_steps(const struct fast_plan *plan, unsigned dim,
                            uint64_t room, uint64_t units)
{
    uint64_t count = plan->dim[dim].n - plan->index[dim];

    if (!fits(count, plan->row[dim], room)) {
        count = room / plan->row[dim];
    }
    if (!fits(count, plan->units[dim], units)) {
        count = units / plan->units[dim];
    }
    return count;
}

static bool move_some(struct fast_engine *fast, struct tdma_budget *budget)
{
    struct fast_plan *plan = &fast->plan;
    uint64_t room = next_stop(fast, budget);
    uint64_t per_step = units_per_step(fast, budget->steps);
    uint64_t units = ((uint64_t)budget->steps + 1) * per_step, count;
    struct fast_place place;
    bool ok;
    int dim;

    fast->mover.moved = 0;
    dim = fast->single ? -1 : largest_block(plan, room, units);
    if (dim < 0) {
        ok = move_part_of_unit(fast, fast->single ? 1 : room);
        fast_plan_seek(plan, plan->done + fast->mover.moved);
        budget->steps--;
        return ok;
    }
    count = block_steps(plan, dim, room, units);
    fast_plan_place(plan, &place);
    ok = fast_move_steps(&fast->mover, dim, count, place);
    if (ok) {
        fast_plan_advance(plan, dim, count);
        units = count * plan->units[dim];
    } else {
        fast_plan_seek(plan, plan->done + fast->mover.moved);
        units = fast->mover.moved / plan->unit;
    }
    budget->steps -= per_step == 1 ? units : units / per_step;
    return ok;
}

/*
 * Memory refused: what is left of the piece goes element by element, so that
 * the count and the offset of the fault are exact.
 */
static void handle_refusal(struct fast_engine *fast)
{
    struct fast_plan *plan = &fast->plan;
    struct fast_place place;

    if (!fast->single) {
        fast->single = true;
        return;
    }
    fast_plan_place(plan, &place);
    tdma_job_fault(plan->job, fast->mover.fault,
                   place.offset[fast->mover.fault]);
    end(fast, TDMA_STATUS_BUS_ERROR);
}

/* The job has come to the element that an injected error strikes. */
static bool strike(struct fast_engine *fast)
{
    static const uint32_t status[] = {
        [TDMA_INJECT_BUS_ERROR] = TDMA_STATUS_BUS_ERROR,
        [TDMA_INJECT_POISON] = TDMA_STATUS_POISONED,
        [TDMA_INJECT_UNKNOWN_ID] = TDMA_STATUS_BAD_RESPONSE,
        [TDMA_INJECT_DUPLICATE_ID] = TDMA_STATUS_BAD_RESPONSE,
    };
    struct tdma_inject *inject = &fast->base.inject;
    struct fast_place place;
    uint32_t kind = inject->kind;

    if (!inject_ahead(fast) || inject->element != fast->plan.done) {
        return false;
    }
    inject->kind = TDMA_INJECT_NONE;
    if (kind == TDMA_INJECT_LOST_RESPONSE) {
        fast->plan.job->lost = true;
        return true;
    }
    if (kind >= sizeof(status) / sizeof(status[0]) ||
        (kind == TDMA_INJECT_POISON && inject->side == TDMA_DST)) {
        return false;           /* only a read can be poisoned */
    }
    fast_plan_place(&fast->plan, &place);
    tdma_job_fault(fast->plan.job, inject->side, place.offset[inject->side]);
    end(fast, status[kind]);
    return true;
}

static bool fast_run(struct tdma_engine *engine, struct tdma_budget *budget)
{
    struct fast_engine *fast = fast_of(engine);
    struct fast_plan *plan = &fast->plan;

    while (plan->job && budget->bytes > 0 && budget->steps > 0) {
        bool ok;

        if (plan->job->cancel) {
            end(fast, TDMA_STATUS_ABORTED);
            break;
        }
        if (plan->job->lost || strike(fast)) {
            break;
        }
        if (better_next_time(fast, budget)) {
            budget->steps = 0;
            break;
        }
        ok = move_some(fast, budget);
        budget->bytes -= fast->mover.moved * plan->elem;
        report_progress(fast, fast->mover.moved);
        if (!ok) {
            handle_refusal(fast);
            continue;
        }
        fast->single &= plan->sub != 0;
        if (plan->done == plan->job->elements) {
            end(fast, TDMA_STATUS_OK);
        }
    }
    return plan->job && !plan->job->lost;
}

const struct tdma_engine_ops tdma_fast_engine = {
    .name = "fast",
    .preemptive = true,
    .create = fast_create,
    .destroy = fast_destroy,
    .reset = fast_reset,
    .ready = fast_ready,
    .start = fast_start,
    .run = fast_run,
    .now = fast_now,
    .park = fast_park,
    .unpark = fast_unpark,
    .save = fast_save,
    .load = fast_load,
};
