/* SPDX-License-Identifier: MIT */
/*
 * tensordma core, fast engine: blocks that no single window covers.
 */
#include "dma/fast_pack.h"

static uint64_t magnitude(int64_t a)
{
    return a < 0 ? -(uint64_t)a : (uint64_t)a;
}

/* Dimension, not yet used, with the smallest step on @side */
static unsigned smallest_step(const struct fast_plan *plan, unsigned side,
                              unsigned dims, uint32_t used)
{
    unsigned i, best = dims;

    for (i = 0; i < dims; i++) {
        if (!(used & 1U << i) &&
            (best == dims || magnitude(plan->dim[i].step[side]) <
                             magnitude(plan->dim[best].step[side]))) {
            best = i;
        }
    }
    return best;
}

/*
 * One more dimension of @n steps around what is packed so far: either part of
 * the run or a loop over runs. Returns its step in the buffer.
 */
static int64_t add_dim(struct fast_pack *pack, int64_t step, uint64_t n,
                       uint64_t gap)
{
    uint64_t far = magnitude(step), packed = pack->bytes;

    if (!pack->nloops &&
        (far == pack->run || (gap && far <= pack->run + gap))) {
        packed = far;
        pack->run += far * (n - 1);
        pack->bytes = pack->run;
    } else {
        pack->loop[pack->nloops].n = n;
        pack->loop[pack->nloops].step = far;
        pack->loop[pack->nloops].packed = packed;
        pack->nloops++;
        pack->bytes *= n;
    }
    if (step < 0) {
        pack->low -= far * (n - 1);
        pack->start += packed * (n - 1);
        return -(int64_t)packed;
    }
    return packed;
}

/* Gaps of the source up to this long are read along: a cache line */
enum { GAP_MAX = 64 };

void fast_pack_init(struct fast_pack *pack, const struct fast_plan *plan,
                    unsigned side, unsigned dim, uint64_t count,
                    uint64_t offset)
{
    uint64_t gap = side == TDMA_SRC ? GAP_MAX : 0;
    uint32_t used = 0;
    unsigned k;

    pack->low = offset;
    pack->run = plan->unit_bytes;
    pack->bytes = plan->unit_bytes;
    pack->nloops = 0;
    pack->start = 0;
    for (k = 0; k <= dim; k++) {
        unsigned i = smallest_step(plan, side, dim + 1, used);
        uint64_t n = i == dim ? count : plan->dim[i].n;
        int64_t step = plan->dim[i].step[side];

        used |= 1U << i;
        pack->step[i] = n > 1 && step ? add_dim(pack, step, n, gap) : 0;
    }
}

static bool get_runs(const struct fast_pack *pack, unsigned loops,
                     struct tdma_view *view, uint64_t offset, uint8_t *buffer)
{
    uint64_t i;

    if (!loops) {
        return !tdma_view_read(view, offset, buffer, pack->run);
    }
    for (i = 0; i < pack->loop[loops - 1].n; i++) {
        if (!get_runs(pack, loops - 1, view, offset, buffer)) {
            return false;
        }
        offset += pack->loop[loops - 1].step;
        buffer += pack->loop[loops - 1].packed;
    }
    return true;
}

bool fast_pack_get(const struct fast_pack *pack, struct tdma_view *view,
                   uint8_t *buffer)
{
    return get_runs(pack, pack->nloops, view, pack->low, buffer);
}

static bool put_runs(const struct fast_pack *pack, unsigned loops,
                     struct tdma_view *view, uint64_t offset,
                     const uint8_t *buffer)
{
    uint64_t i;

    if (!loops) {
        return !tdma_view_write(view, offset, buffer, pack->run);
    }
    for (i = 0; i < pack->loop[loops - 1].n; i++) {
        if (!put_runs(pack, loops - 1, view, offset, buffer)) {
            return false;
        }
        offset += pack->loop[loops - 1].step;
        buffer += pack->loop[loops - 1].packed;
    }
    return true;
}

bool fast_pack_put(const struct fast_pack *pack, struct tdma_view *view,
                   const uint8_t *buffer)
{
    return put_runs(pack, pack->nloops, view, pack->low, buffer);
}
