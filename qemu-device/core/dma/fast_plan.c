/* SPDX-License-Identifier: MIT */
/*
 * tensordma core, fast engine: a job as the fewest and largest pieces.
 */
#include <string.h>
#include "dma/fast_plan.h"

/* Unsigned, because a nest may be longer than its job and so reach too far. */
static int64_t reach(int64_t step, uint64_t n)
{
    return (int64_t)((uint64_t)step * (n - 1));
}

static struct fast_dim job_dim(const struct tdma_job *job, unsigned i)
{
    const struct tdma_desc *d = &job->desc;
    const struct tdma_desc_ext *e = &job->ext;
    struct fast_dim dim = {
        .n = job->steps[i],
        .step = { d->src_stride[i], d->dst_stride[i] },
        .axis = { -1, -1 },
    };

    if (job->has_ext) {
        if (e->src_axis[i] && e->src_coef[i]) {
            dim.axis[TDMA_SRC] = e->src_axis[i] - 1;
            dim.coef[TDMA_SRC] = e->src_coef[i];
        }
        if (e->dst_axis[i] && e->dst_coef[i]) {
            dim.axis[TDMA_DST] = e->dst_axis[i] - 1;
            dim.coef[TDMA_DST] = e->dst_coef[i];
        }
    }
    return dim;
}

/* Does @outer go on where @inner ends, on every side? */
static bool can_join(const struct fast_dim *inner,
                     const struct fast_dim *outer)
{
    unsigned s;

    for (s = 0; s < TDMA_SIDES; s++) {
        if (inner->axis[s] != outer->axis[s] ||
            (uint64_t)outer->coef[s] != (uint64_t)inner->coef[s] * inner->n ||
            (uint64_t)outer->step[s] != (uint64_t)inner->step[s] * inner->n) {
            return false;
        }
    }
    return true;
}

static void collect_dims(struct fast_plan *plan)
{
    const struct tdma_job *job = plan->job;
    unsigned i;

    plan->ndims = 0;
    for (i = 0; i < job->desc.ndims; i++) {
        struct fast_dim dim = job_dim(job, i);
        struct fast_dim *last = plan->ndims ? &plan->dim[plan->ndims - 1]
                                            : NULL;

        if (dim.n == 1) {
            continue;
        }
        if (last && can_join(last, &dim)) {
            last->n *= dim.n;
        } else {
            plan->dim[plan->ndims++] = dim;
        }
    }
}

static bool has_axis(const struct fast_dim *dim)
{
    return dim->axis[TDMA_SRC] >= 0 || dim->axis[TDMA_DST] >= 0;
}

/* What is contiguous on each side that exists becomes one unit. */
static void make_unit(struct fast_plan *plan)
{
    const struct tdma_job *job = plan->job;
    unsigned s;

    plan->unit = 1;
    plan->unit_bytes = plan->elem;
    if (!plan->ndims || plan->ordered || has_axis(&plan->dim[0])) {
        return;
    }
    for (s = 0; s < TDMA_SIDES; s++) {
        if (job->has_side[s] &&
            plan->dim[0].step[s] != (int64_t)plan->elem) {
            return;
        }
    }
    plan->unit = plan->dim[0].n;
    plan->unit_bytes = plan->unit * plan->elem;
    plan->ndims--;
    memmove(plan->dim, plan->dim + 1, plan->ndims * sizeof(plan->dim[0]));
}

static bool sides_overlap(const struct tdma_job *job)
{
    return job->has_side[TDMA_SRC] && job->has_side[TDMA_DST] &&
           tdma_view_overlap(&job->view[TDMA_SRC], job->extent[TDMA_SRC].lo,
                             job->extent[TDMA_SRC].hi, &job->view[TDMA_DST],
                             job->extent[TDMA_DST].lo,
                             job->extent[TDMA_DST].hi);
}

static uint64_t magnitude(int64_t a)
{
    return a < 0 ? -(uint64_t)a : (uint64_t)a;
}

/*
 * True if, from the smallest destination step to the largest, each is at least
 * as long as everything before it reaches.
 */
static bool destination_disjoint(const struct fast_plan *plan)
{
    bool used[TDMA_MAX_DIMS] = { false };
    uint64_t span = plan->unit_bytes;
    unsigned i, k;

    for (k = 0; k < plan->ndims; k++) {
        unsigned best = plan->ndims;
        uint64_t step, far;

        for (i = 0; i < plan->ndims; i++) {
            if (!used[i] &&
                (best == plan->ndims ||
                 magnitude(plan->dim[i].step[TDMA_DST]) <
                 magnitude(plan->dim[best].step[TDMA_DST]))) {
                best = i;
            }
        }
        used[best] = true;
        step = magnitude(plan->dim[best].step[TDMA_DST]);
        if (step < span ||
            __builtin_mul_overflow(step, plan->dim[best].n - 1, &far) ||
            __builtin_add_overflow(span, far, &span)) {
            return false;
        }
    }
    return true;
}

static void add_reach(int64_t *low, int64_t *high, int64_t far)
{
    int64_t *bound = far < 0 ? low : high;

    *bound = (int64_t)((uint64_t)*bound + (uint64_t)far);
}

static void init_reach(struct fast_plan *plan, unsigned s)
{
    unsigned i;

    plan->low[s][0] = plan->high[s][0] = 0;
    for (i = 0; i + 1 < plan->ndims; i++) {
        const struct fast_dim *dim = &plan->dim[i];

        plan->low[s][i + 1] = plan->low[s][i];
        plan->high[s][i + 1] = plan->high[s][i];
        add_reach(&plan->low[s][i + 1], &plan->high[s][i + 1],
                  reach(dim->step[s], dim->n));
    }
}

static void init_axis_reach(struct fast_plan *plan, unsigned a)
{
    unsigned i, s;

    plan->axis_low[a][0] = plan->axis_high[a][0] = 0;
    for (i = 0; i + 1 < plan->ndims; i++) {
        const struct fast_dim *dim = &plan->dim[i];

        plan->axis_low[a][i + 1] = plan->axis_low[a][i];
        plan->axis_high[a][i + 1] = plan->axis_high[a][i];
        for (s = 0; s < TDMA_SIDES; s++) {
            if (dim->axis[s] == (int)a) {
                add_reach(&plan->axis_low[a][i + 1],
                          &plan->axis_high[a][i + 1],
                          reach(dim->coef[s], dim->n));
            }
        }
    }
}

/* Small jobs feel what is cleared here: only what will be read. */
void fast_plan_init(struct fast_plan *plan, struct tdma_job *job)
{
    uint64_t units = 1;
    unsigned i;

    plan->job = job;
    plan->elem = job->desc.elem_bytes;
    plan->ordered = sides_overlap(job);
    plan->axes = job->has_ext;
    collect_dims(plan);
    make_unit(plan);
    if (!plan->ndims) {
        plan->ndims = 1;
        plan->dim[0] = (struct fast_dim) { .n = 1, .axis = { -1, -1 } };
    }
    for (i = 0; i < plan->ndims; i++) {
        plan->units[i] = units;
        plan->row[i] = units * plan->unit;
        units *= plan->dim[i].n;
    }
    plan->disjoint = job->has_side[TDMA_DST] && destination_disjoint(plan);
    for (i = 0; i < TDMA_SIDES; i++) {
        init_reach(plan, i);
    }
    for (i = 0; plan->axes && i < TDMA_MAX_AXES; i++) {
        init_axis_reach(plan, i);
    }
    fast_plan_seek(plan, 0);
}

void fast_plan_seek(struct fast_plan *plan, uint64_t done)
{
    uint64_t left = done;
    int i;

    plan->done = done;
    for (i = plan->ndims - 1; i >= 0; i--) {
        plan->index[i] = left / plan->row[i];
        left %= plan->row[i];
    }
    plan->sub = left;
}

void fast_plan_advance(struct fast_plan *plan, unsigned dim, uint64_t count)
{
    plan->done += count * plan->row[dim];
    plan->index[dim] += count;
    while (plan->index[dim] == plan->dim[dim].n && dim + 1 < plan->ndims) {
        plan->index[dim] = 0;
        plan->index[++dim]++;
    }
}

void fast_place_step(const struct fast_plan *plan, struct fast_place *place,
                     unsigned dim, uint64_t count)
{
    const struct fast_dim *d = &plan->dim[dim];
    unsigned s;

    for (s = 0; s < TDMA_SIDES; s++) {
        place->offset[s] += (uint64_t)d->step[s] * count;
        if (d->axis[s] >= 0) {
            place->coord[d->axis[s]] += d->coef[s] * (int64_t)count;
        }
    }
}

void fast_plan_place(const struct fast_plan *plan, struct fast_place *place)
{
    const struct tdma_job *job = plan->job;
    unsigned i, s;

    place->offset[TDMA_SRC] = job->desc.src_offset;
    place->offset[TDMA_DST] = job->desc.dst_offset;
    for (i = 0; plan->axes && i < TDMA_MAX_AXES; i++) {
        place->coord[i] = job->ext.axis_start[i];
    }
    for (i = 0; i < plan->ndims; i++) {
        fast_place_step(plan, place, i, plan->index[i]);
    }
    for (s = 0; s < TDMA_SIDES; s++) {
        place->offset[s] += job->has_side[s] ? plan->sub * plan->elem : 0;
    }
}
