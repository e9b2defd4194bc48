/* SPDX-License-Identifier: MIT */
/*
 * tensordma core: the life of a job between ring and record.
 */
#include <stddef.h>
#include <string.h>
#include "dma/tdma_job.h"
#include "queue/tdma_queue.h"

struct tdma_check_limits tdma_job_limits(const struct tdma_core *core)
{
    return (struct tdma_check_limits) {
        .dims = core->props.dims,
        .opcodes = 1U << TDMA_OP_NOP | 1U << TDMA_OP_COPY |
                   1U << TDMA_OP_MEMSET | 1U << TDMA_OP_ACCUMULATE |
                   1U << TDMA_OP_READ,
        .types = 1U << TDMA_TYPE_S16 | 1U << TDMA_TYPE_S32 |
                 1U << TDMA_TYPE_F16 | 1U << TDMA_TYPE_BF16 |
                 1U << TDMA_TYPE_F32,
        .flags = TDMA_DESC_FLAGS,
    };
}

void tdma_job_init(struct tdma_job *job, struct tdma_queue *queue)
{
    struct tdma_core *core = queue->core;

    job->has_ext = false;
    memset(job->has_side, 0, sizeof(job->has_side));
    job->elements = 0;
    memset(job->extent, 0, sizeof(job->extent));
    job->fill_bytes = 0;
    job->cycles = 0;
    job->stall_backpressure = 0;
    job->stall_throttle = 0;
    job->stall_ids = 0;
    job->fault_offset = 0;
    job->fault_side = TDMA_SIDE_NONE;
    job->fault_field = 0;
    job->fault_dim = TDMA_DIM_NONE;
    job->cancel = false;
    job->engine = core->threads[queue->owner].engine;
    job->queue = queue;
    job->next = NULL;
    job->status = TDMA_STATUS_PENDING;
    job->extra.valid = false;
    job->started = false;
    job->parking = false;
    job->parked = false;
    job->stuck = false;
    job->lost = false;
    job->moved = 0;
    job->counted = 0;
    job->publish_failed = false;
    job->priv = NULL;
    memset(job->sync, 0, sizeof(job->sync));
}

static void reject(struct tdma_job *job, const struct tdma_verdict *v)
{
    const struct tdma_queue *queue = job->queue;

    job->status = v->status;
    job->fault_field = v->field;
    job->fault_dim = v->dim;
    job->fault_side = v->side;
    job->fault_offset = v->offset;
    tdma_event(queue->core, TDMA_EVENT_JOB_REJECT, queue->number, v->field,
               v->dim);
}

/* @flag is in use and @field names it: is it one this queue may update? */
static bool check_flag(const struct tdma_job *job, unsigned side,
                       struct tdma_verdict *v)
{
    const struct tdma_queue *queue = job->queue;
    uint32_t used = side == TDMA_DST ? TDMA_DESC_DST_SYNC_FLAG
                                     : TDMA_DESC_SRC_SYNC_FLAG;
    uint32_t flag = side == TDMA_DST ? job->desc.dst_sync_flag
                                     : job->desc.src_sync_flag;

    if (!(job->desc.flags & used) ||
        tdma_sync_flag_allows(&queue->core->flags, flag, queue->context)) {
        return true;
    }
    *v = (struct tdma_verdict) {
        .status = TDMA_STATUS_BAD_SYNC,
        .field = side == TDMA_DST ? offsetof(struct tdma_desc, dst_sync_flag)
                                  : offsetof(struct tdma_desc, src_sync_flag),
        .dim = TDMA_DIM_NONE,
        .side = side == TDMA_DST ? TDMA_SIDE_DST : TDMA_SIDE_SRC,
    };
    return false;
}

/* What can be said of the descriptor without looking at memory */
static bool check_alone(struct tdma_job *job, struct tdma_shape *shape,
                        struct tdma_verdict *v)
{
    struct tdma_check_limits limits = tdma_job_limits(job->queue->core);
    const struct tdma_opcode_traits *op;

    if (job->desc.flags & TDMA_DESC_EXT && !job->has_ext) {
        limits.flags &= ~TDMA_DESC_EXT;
    }
    if (!tdma_check_desc(&limits, &job->desc,
                         job->has_ext ? &job->ext : NULL, shape, v)) {
        return false;
    }
    op = tdma_opcode_traits(job->desc.opcode);
    job->has_side[TDMA_SRC] = op->side[TDMA_SRC];
    job->has_side[TDMA_DST] = op->side[TDMA_DST];
    return true;
}

static struct tdma_segment_table context_table(const struct tdma_job *job)
{
    struct tdma_core *core = job->queue->core;
    struct tdma_segment_table table;

    tdma_lock(core);
    table = core->contexts[job->queue->context];
    tdma_unlock(core);
    return table;
}

static bool resolve_record(struct tdma_job *job,
                           const struct tdma_segment_table *table,
                           struct tdma_verdict *v)
{
    const struct tdma_mem *mem = &job->queue->core->mem;
    const struct tdma_desc *d = &job->desc;
    struct tdma_segment seg;
    bool found;

    if (!(d->flags & TDMA_DESC_RECORD)) {
        return true;
    }
    found = tdma_segment_load(mem, table, d->record_segment, &seg);
    if (!tdma_check_record(d, found ? &seg : NULL, v)) {
        return false;
    }
    if (!tdma_record_resolve(mem, &seg, d->record_offset, &job->extra)) {
        job->extra.valid = false;
        *v = (struct tdma_verdict) {
            .status = TDMA_STATUS_BAD_ALIGN,
            .field = offsetof(struct tdma_desc, record_offset),
            .dim = TDMA_DIM_NONE,
            .side = TDMA_SIDE_RECORD,
            .offset = d->record_offset,
        };
        return false;
    }
    return true;
}

/* Side @side lies in @seg; NULL: there is no such segment. */
static bool attach(struct tdma_job *job, unsigned side,
                   const struct tdma_segment *seg,
                   const struct tdma_shape *shape, struct tdma_verdict *v)
{
    uint32_t index = side == TDMA_DST ? job->desc.dst_segment
                                      : job->desc.src_segment;

    if (!tdma_check_side(&job->desc, job->has_ext ? &job->ext : NULL, shape,
                         side, seg, &job->extent[side].lo,
                         &job->extent[side].hi, v)) {
        return false;
    }
    tdma_view_init(&job->view[side], &job->queue->core->mem, seg, index,
                   side == TDMA_DST);
    return true;
}

static bool resolve_side(struct tdma_job *job, unsigned side,
                         const struct tdma_segment_table *table,
                         const struct tdma_shape *shape,
                         struct tdma_verdict *v)
{
    const struct tdma_mem *mem = &job->queue->core->mem;
    uint32_t index = side == TDMA_DST ? job->desc.dst_segment
                                      : job->desc.src_segment;
    struct tdma_segment seg;
    bool found;

    if (!job->has_side[side]) {
        return true;
    }
    found = tdma_segment_load(mem, table, index, &seg);
    return attach(job, side, found ? &seg : NULL, shape, v);
}

static void init_sync(struct tdma_job *job, unsigned side, uint32_t interval,
                      bool per_mille)
{
    struct tdma_job_sync *sync = &job->sync[side];

    sync->interval = interval;
    if (per_mille) {
        /* A share of the elements, rounded up to whole ones */
        unsigned __int128 share = (unsigned __int128)job->elements * interval;

        sync->interval = (uint64_t)((share + TDMA_MAX_PER_MILLE - 1) /
                                    TDMA_MAX_PER_MILLE);
    }
    sync->next = sync->interval && sync->interval < job->elements
                 ? sync->interval : UINT64_MAX;
}

static void accept(struct tdma_job *job, const struct tdma_shape *shape)
{
    const struct tdma_desc *d = &job->desc;

    memcpy(job->steps, shape->steps, sizeof(job->steps));
    job->elements = shape->elements;
    job->fill_bytes = d->opcode == TDMA_OP_MEMSET ? d->type
                      : job->has_ext ? job->ext.fill_bytes : 0;
    init_sync(job, TDMA_SRC, d->src_sync_interval,
              d->flags & TDMA_DESC_SRC_PER_MILLE);
    init_sync(job, TDMA_DST, d->dst_sync_interval,
              d->flags & TDMA_DESC_DST_PER_MILLE);
    if (!job->elements) {
        job->status = TDMA_STATUS_OK;
    }
}

/* Requests cannot be issued while the throttle is set to what cannot be. */
static bool check_throttle(const struct tdma_job *job, struct tdma_verdict *v)
{
    struct tdma_core *core = job->queue->core;
    uint32_t status;

    tdma_lock(core);
    status = core->threads[job->engine->thread].throttle_status;
    tdma_unlock(core);
    *v = (struct tdma_verdict) {
        .status = TDMA_STATUS_BAD_THROTTLE,
        .dim = TDMA_DIM_NONE,
        .side = TDMA_SIDE_NONE,
    };
    return status < TDMA_THROTTLE_BAD;
}

void tdma_job_prepare(struct tdma_job *job)
{
    struct tdma_segment_table table;
    struct tdma_shape shape;
    struct tdma_verdict v;

    if (!check_alone(job, &shape, &v) || !check_flag(job, TDMA_SRC, &v) ||
        !check_flag(job, TDMA_DST, &v)) {
        reject(job, &v);
        return;
    }
    table = context_table(job);
    if (!resolve_record(job, &table, &v) ||
        !resolve_side(job, TDMA_SRC, &table, &shape, &v) ||
        !resolve_side(job, TDMA_DST, &table, &shape, &v) ||
        (shape.elements && !check_throttle(job, &v))) {
        reject(job, &v);
        return;
    }
    accept(job, &shape);
}

/* First multiple of the interval beyond what is done; the end has its own. */
static void advance_sync(const struct tdma_job *job, struct tdma_job_sync *sync)
{
    uint64_t next = sync->next;

    if (next <= sync->done) {
        next += (sync->done - next) / sync->interval * sync->interval;
        next = next < job->elements - sync->interval
               ? next + sync->interval : UINT64_MAX;
    }
    sync->next = next;
}

static void note_moved(struct tdma_job *job)
{
    uint64_t src = job->sync[TDMA_SRC].done, dst = job->sync[TDMA_DST].done;

    job->moved = src > dst ? src : dst;
}

static bool flag_exists(const struct tdma_job *job, unsigned side)
{
    uint32_t used = side == TDMA_DST ? TDMA_DESC_DST_SYNC_FLAG
                                     : TDMA_DESC_SRC_SYNC_FLAG;
    uint32_t flag = side == TDMA_DST ? job->desc.dst_sync_flag
                                     : job->desc.src_sync_flag;

    return !(job->desc.flags & used) ||
           flag < job->queue->core->flags.count;
}

static bool reattach(struct tdma_job *job,
                     const struct tdma_segment seg[TDMA_SIDES],
                     const struct tdma_shape *shape)
{
    struct tdma_verdict v;
    unsigned side;

    for (side = 0; side < TDMA_SIDES; side++) {
        if (job->has_side[side] &&
            !(tdma_segment_ok(&job->queue->core->mem, &seg[side]) &&
              attach(job, side, &seg[side], shape, &v))) {
            return false;
        }
    }
    return true;
}

/* Can counts of a job with this status be so? */
static bool counts_ok(const struct tdma_job *job, unsigned side)
{
    const struct tdma_job_sync *sync = &job->sync[side];
    unsigned twin = job->has_side[!side] ? !side : side;
    uint64_t most = job->has_side[side] ? job->elements : 0;

    if (sync->done > most || sync->flagged > sync->done) {
        return false;
    }
    switch (job->status) {
    case TDMA_STATUS_PENDING:
        return !job->has_side[side] ||
               (sync->done < most && sync->done == job->sync[twin].done &&
                (job->started || !sync->done));
    case TDMA_STATUS_OK:
        return sync->done == most;
    default:
        return true;
    }
}

const char *tdma_job_restore(struct tdma_job *job,
                             const struct tdma_segment seg[TDMA_SIDES])
{
    uint32_t status = job->status;
    struct tdma_shape shape;
    struct tdma_verdict v;

    if (!check_alone(job, &shape, &v)) {
        return "descriptor";
    }
    if (!flag_exists(job, TDMA_SRC) || !flag_exists(job, TDMA_DST)) {
        return "sync flag";
    }
    if (!reattach(job, seg, &shape)) {
        return "segment";
    }
    accept(job, &shape);
    if (!job->elements && status != TDMA_STATUS_OK) {
        return "status";
    }
    if (!counts_ok(job, TDMA_SRC) || !counts_ok(job, TDMA_DST)) {
        return "count";
    }
    advance_sync(job, &job->sync[TDMA_SRC]);
    advance_sync(job, &job->sync[TDMA_DST]);
    note_moved(job);
    job->counted = job->moved;
    return NULL;
}

static uint32_t saturate(uint64_t value)
{
    return value < UINT32_MAX ? value : UINT32_MAX;
}

static void make_record(const struct tdma_job *job, struct tdma_record *record)
{
    *record = (struct tdma_record) {
        .tag = job->desc.tag,
        .src_done = job->sync[TDMA_SRC].done,
        .dst_done = job->sync[TDMA_DST].done,
        .cycles = job->cycles,
        .fault_offset = job->fault_offset,
        .stall_backpressure = saturate(job->stall_backpressure),
        .stall_throttle = saturate(job->stall_throttle),
        .stall_ids = saturate(job->stall_ids),
        .fault_field = job->fault_field,
        .fault_side = job->fault_side,
        .fault_dim = job->fault_dim,
        .status = job->status,
        .sequence = job->index + 1,
    };
}

/* The extra record first: the ring's is what tells that all is in place. */
static void publish_record(struct tdma_job *job)
{
    const struct tdma_queue *queue = job->queue;
    const struct tdma_mem *mem = &queue->core->mem;
    uint64_t slot = job->index & ((1U << queue->ring_order) - 1);
    struct tdma_record_target target =
        tdma_record_at(queue->records + slot * sizeof(struct tdma_record));
    struct tdma_record record;

    make_record(job, &record);
    if (job->extra.valid && tdma_record_write(mem, &job->extra, &record)) {
        job->publish_failed = true;
    }
    if (tdma_record_write(mem, &target, &record)) {
        job->publish_failed = true;
    }
}

void tdma_job_trace(const struct tdma_job *job, enum tdma_trace_event event,
                    unsigned side, unsigned code, uint64_t value)
{
    struct tdma_engine *engine = job->engine;

    if (!tdma_trace_wants(engine->trace, event)) {
        return;
    }
    tdma_trace_put(engine->trace, (struct tdma_trace_entry) {
        .cycle = engine->ops->now(engine),
        .value = value,
        .index = job->index,
        .queue = job->queue->number,
        .event = event,
        .side = side,
        .code = code,
    });
}

static void flush_views(struct tdma_job *job)
{
    unsigned side;

    for (side = 0; side < TDMA_SIDES; side++) {
        if (job->has_side[side] && job->elements) {
            tdma_view_flush(&job->view[side]);
        }
    }
}

static void update_flag(struct tdma_job *job, unsigned side, bool done)
{
    uint32_t used = side == TDMA_DST ? TDMA_DESC_DST_SYNC_FLAG
                                     : TDMA_DESC_SRC_SYNC_FLAG;
    struct tdma_job_sync *sync = &job->sync[side];

    if (job->desc.flags & used) {
        tdma_sync_flag_add(&job->queue->core->flags,
                           side == TDMA_DST ? job->desc.dst_sync_flag
                                            : job->desc.src_sync_flag,
                           (uint32_t)(sync->done - sync->flagged), done);
        sync->flagged = sync->done;
    }
}

static void publish_partial(struct tdma_job *job)
{
    unsigned side;

    flush_views(job);
    publish_record(job);
    for (side = 0; side < TDMA_SIDES; side++) {
        if (job->sync[side].done >= job->sync[side].next) {
            update_flag(job, side, false);
            tdma_job_trace(job, TDMA_TRACE_SYNC,
                           side == TDMA_DST ? TDMA_SIDE_DST : TDMA_SIDE_SRC,
                           0, job->sync[side].done);
            advance_sync(job, &job->sync[side]);
        }
    }
    tdma_event(job->queue->core, TDMA_EVENT_JOB_PROGRESS, job->queue->number,
               job->index, job->sync[TDMA_DST].done);
    if (job->desc.flags & TDMA_DESC_SYNC_IRQ) {
        tdma_queue_interrupt(job->queue);
    }
}

void tdma_job_progress(struct tdma_job *job, uint64_t src_done,
                       uint64_t dst_done)
{
    job->sync[TDMA_SRC].done = src_done;
    job->sync[TDMA_DST].done = dst_done;
    if (src_done >= job->sync[TDMA_SRC].next ||
        dst_done >= job->sync[TDMA_DST].next) {
        publish_partial(job);
    }
}

uint64_t tdma_job_sync_point(const struct tdma_job *job)
{
    uint64_t src = job->sync[TDMA_SRC].next;
    uint64_t dst = job->sync[TDMA_DST].next;

    return src < dst ? src : dst;
}

void tdma_job_publish_final(struct tdma_job *job)
{
    bool ok = job->status == TDMA_STATUS_OK;

    flush_views(job);
    tdma_trace_flush(job->engine->trace);
    /* The flags of a rejected descriptor were not checked. */
    if (ok || job->elements) {
        update_flag(job, TDMA_SRC, ok);
        update_flag(job, TDMA_DST, ok);
    }
    publish_record(job);
}

void tdma_job_fault(struct tdma_job *job, unsigned side, uint64_t offset)
{
    job->fault_side = side == TDMA_DST ? TDMA_SIDE_DST : TDMA_SIDE_SRC;
    job->fault_offset = offset;
}

void tdma_job_end(struct tdma_job *job, uint32_t status, uint64_t src_done,
                  uint64_t dst_done)
{
    job->sync[TDMA_SRC].done = src_done;
    job->sync[TDMA_DST].done = dst_done;
    note_moved(job);
    job->status = status;
    tdma_job_trace(job, TDMA_TRACE_END, TDMA_SIDE_NONE, status, job->cycles);
    job->queue->core->threads[job->engine->thread].in_engine--;
    flush_views(job);
}

void tdma_job_give_back(struct tdma_job *job, uint64_t src_done,
                        uint64_t dst_done)
{
    tdma_job_progress(job, src_done, dst_done);
    note_moved(job);
    job->parking = false;
    job->parked = true;
    job->queue->core->threads[job->engine->thread].in_engine--;
    flush_views(job);
}

void tdma_job_fill(const struct tdma_job *job, void *buf)
{
    uint8_t *to = buf;
    uint32_t i;

    for (i = 0; i < job->desc.elem_bytes; i += job->fill_bytes) {
        memcpy(to + i, job->desc.fill, job->fill_bytes);
    }
}

bool tdma_job_inside(const struct tdma_job *job, unsigned side,
                     const uint64_t index[TDMA_MAX_DIMS])
{
    const struct tdma_desc_ext *e = &job->ext;
    const __u8 *axis = side == TDMA_DST ? e->dst_axis : e->src_axis;
    const __s32 *coef = side == TDMA_DST ? e->dst_coef : e->src_coef;
    unsigned a, i;

    if (!job->has_ext) {
        return true;
    }
    for (a = 0; a < e->naxes; a++) {
        /* Wraps only on the way: the check has bounded the result. */
        uint64_t coord = e->axis_start[a];

        if (e->axis_side[a] != side) {
            continue;
        }
        for (i = 0; i < job->desc.ndims; i++) {
            if (axis[i] == a + 1) {
                coord += (uint64_t)(int64_t)coef[i] * index[i];
            }
        }
        /* Extents are below 2^63, so a negative coordinate is outside. */
        if (coord >= e->axis_extent[a]) {
            return false;
        }
    }
    return true;
}

uint64_t tdma_job_offset(const struct tdma_job *job, unsigned side,
                         const uint64_t index[TDMA_MAX_DIMS])
{
    const __s64 *stride = side == TDMA_DST ? job->desc.dst_stride
                                           : job->desc.src_stride;
    uint64_t offset = side == TDMA_DST ? job->desc.dst_offset
                                       : job->desc.src_offset;
    unsigned i;

    for (i = 0; i < job->desc.ndims; i++) {
        offset += (uint64_t)stride[i] * index[i];
    }
    return offset;
}
