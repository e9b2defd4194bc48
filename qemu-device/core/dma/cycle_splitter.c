/* SPDX-License-Identifier: MIT */
/* Descriptor splitter; see cycle_splitter.h. */
#include <string.h>
#include "cycle_splitter.h"
#include "tdma_machine.h"

static uint8_t op_of(const struct tdma_job *job, unsigned side)
{
    switch (job->desc.opcode) {
    case TDMA_OP_READ:
        return TDMA_REQUEST_DISCARD;
    case TDMA_OP_MEMSET:
        return TDMA_REQUEST_MEMSET;
    case TDMA_OP_ACCUMULATE:
        return side == TDMA_SRC ? TDMA_REQUEST_READ : TDMA_REQUEST_ACCUMULATE;
    default:
        return side == TDMA_SRC ? TDMA_REQUEST_READ : TDMA_REQUEST_WRITE;
    }
}

/*
 * What is written where the source has no element: the fill value; an
 * accumulate adds it, which takes a read-modify-write of its own.
 */
static uint8_t op_outside_src(const struct tdma_job *job, unsigned side)
{
    if (side == TDMA_SRC) {
        return TDMA_REQUEST_NULL;
    }
    return job->desc.opcode == TDMA_OP_ACCUMULATE ?
           TDMA_REQUEST_ADD_FILL : TDMA_REQUEST_MEMSET;
}

static void make_part(struct tdma_flight *f, unsigned number, unsigned side)
{
    const struct tdma_job *job = f->job;

    f->part[side] = (struct tdma_part) {
        .flight = number,
        .ndims = job->desc.ndims,
        .has_ext = job->has_ext,
        .op = op_of(job, side),
        .op_outside_src = op_outside_src(job, side),
        .space = job->view[side].seg.space,
        .start = f->start,
        .elements = job->elements,
        .interval = job->sync[side].interval,
        .base = side == TDMA_SRC ? job->desc.src_offset : job->desc.dst_offset,
        .steps = job->steps,
        .stride = (const int64_t *)(side == TDMA_SRC ? job->desc.src_stride :
                                    job->desc.dst_stride),
        .job = job,
    };
}

void tdma_splitter_split(struct tdma_flight *flight, unsigned number,
                         struct tdma_job *job, uint64_t start)
{
    memset(flight, 0, sizeof(*flight));
    flight->job = job;
    flight->index = job->index;
    flight->queue = job->queue->number;
    flight->start = flight->committed = start;
    flight->lost = job->lost;
    flight->limit = job->elements;
    flight->elem_bytes = job->desc.elem_bytes;
    flight->first_cycle = UINT64_MAX;
    flight->master = job->has_side[TDMA_DST] ? TDMA_DST : TDMA_SRC;
    for (unsigned s = 0; s < TDMA_SIDES; s++) {
        flight->has_side[s] = job->has_side[s];
        flight->reach[s].dirty_lo = UINT64_MAX;
        if (job->has_side[s]) {
            flight->side[s].issued = flight->side[s].popped = start;
            make_part(flight, number, s);
        }
    }
    if (job->fill_bytes && flight->elem_bytes <= TDMA_FILL_CACHE) {
        tdma_job_fill(job, flight->fill);
    }
}

static bool meet(const struct tdma_flight *a, unsigned side_a,
                 const struct tdma_flight *b, unsigned side_b)
{
    const struct tdma_job *ja = a->job, *jb = b->job;

    return a->has_side[side_a] && b->has_side[side_b] &&
           tdma_view_overlap(&ja->view[side_a], ja->extent[side_a].lo,
                             ja->extent[side_a].hi, &jb->view[side_b],
                             jb->extent[side_b].lo, jb->extent[side_b].hi);
}

bool tdma_splitter_hazard(const struct tdma_flight *earlier,
                          const struct tdma_flight *later)
{
    return meet(earlier, TDMA_DST, later, TDMA_SRC) ||
           meet(earlier, TDMA_DST, later, TDMA_DST) ||
           meet(earlier, TDMA_SRC, later, TDMA_DST);
}
