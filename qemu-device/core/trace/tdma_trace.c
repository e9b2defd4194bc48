/* SPDX-License-Identifier: MIT */
/*
 * tensordma core: the trace of a DMA thread; see tdma_trace.h.
 */
#include "tdma_machine.h"
#include "trace/tdma_trace.h"

enum { ENTRY_BYTES = sizeof(struct tdma_trace_entry) };

/*
 * Register side
 */

void tdma_trace_reset(struct tdma_trace *trace)
{
    trace->base = 0;
    trace->order = 0;
    trace->events = 0;
    trace->state = TDMA_TRSTATE_OFF;
    trace->head = 0;
    trace->tail = 0;
    trace->lost = 0;
    trace->fresh = false;
    trace->running = false;
    trace->ring.events = 0;
    trace->batched = 0;
}

bool tdma_trace_configurable(const struct tdma_trace *trace)
{
    return trace->state != TDMA_TRSTATE_ON &&
           trace->state != TDMA_TRSTATE_STOPPING;
}

static bool config_ok(const struct tdma_trace *trace)
{
    return trace->order >= 1 && trace->order <= TDMA_TRACE_ORDER_MAX &&
           trace->base % TDMA_TRACE_ALIGN == 0 &&
           trace->base <= UINT64_MAX - ((uint64_t)ENTRY_BYTES << trace->order);
}

static void enable(struct tdma_trace *trace)
{
    trace->head = 0;
    trace->tail = 0;
    trace->lost = 0;
    trace->fresh = config_ok(trace);
    trace->state = trace->fresh ? TDMA_TRSTATE_ON : TDMA_TRSTATE_CONFIG;
}

bool tdma_trace_control(struct tdma_trace *trace, uint32_t value)
{
    if (value & TDMA_TRCTL_ENABLE) {
        if (trace->state == TDMA_TRSTATE_STOPPING) {
            return false;
        }
        if (trace->state != TDMA_TRSTATE_ON) {
            enable(trace);
        }
    } else if (trace->state != TDMA_TRSTATE_STOPPING) {
        /* A quantum that began with it may still write. */
        trace->state = trace->state == TDMA_TRSTATE_ON && trace->running &&
                       !trace->fresh ? TDMA_TRSTATE_STOPPING
                                     : TDMA_TRSTATE_OFF;
        trace->fresh = false;
    }
    return true;
}

uint32_t tdma_trace_control_value(const struct tdma_trace *trace)
{
    return trace->state == TDMA_TRSTATE_ON ? TDMA_TRCTL_ENABLE : 0;
}

bool tdma_trace_set_tail(struct tdma_trace *trace, uint32_t tail)
{
    if (tail - trace->tail > trace->head - trace->tail) {
        return false;
    }
    trace->tail = tail;
    return true;
}

bool tdma_trace_restore(struct tdma_trace *trace)
{
    bool on = trace->state == TDMA_TRSTATE_ON;
    uint32_t used = trace->head - trace->tail;

    if (trace->state > TDMA_TRSTATE_FAULT ||
        trace->state == TDMA_TRSTATE_STOPPING || (trace->fresh && !on) ||
        (on && (!config_ok(trace) || used > 1U << trace->order))) {
        return false;
    }
    if (on && !trace->fresh) {
        trace->ring.events = trace->events;
        trace->ring.base = trace->base;
        trace->ring.size = 1U << trace->order;
        trace->ring.head = trace->head;
        trace->ring.tail = trace->tail;
        trace->ring.lost = trace->lost;
        trace->ring.sequence = trace->head + (uint32_t)trace->lost;
    }
    return true;
}

/*
 * The thread's side
 */

static void note_wanted(struct tdma_trace *trace)
{
    trace->wanted = trace->ring.events | trace->tap_events;
}

void tdma_trace_begin(struct tdma_trace *trace)
{
    trace->running = true;
    if (trace->fresh) {
        trace->fresh = false;
        trace->ring.events = trace->events;
        trace->ring.base = trace->base;
        trace->ring.size = 1U << trace->order;
        trace->ring.head = 0;
        trace->ring.sequence = 0;
        trace->ring.lost = 0;
        trace->batched = 0;
    } else if (trace->state != TDMA_TRSTATE_ON) {
        trace->ring.events = 0;
    }
    trace->ring.tail = trace->tail;
    note_wanted(trace);
}

void tdma_trace_end(struct tdma_trace *trace)
{
    trace->running = false;
    if (trace->state == TDMA_TRSTATE_STOPPING) {
        trace->state = TDMA_TRSTATE_OFF;
    }
}

/* Entries [@from, @to) of the batch; they are in one piece in the ring. */
static bool write_piece(struct tdma_trace *trace, unsigned from, unsigned to)
{
    const struct tdma_mem *mem = &trace->core->mem;
    uint32_t place = trace->ring.head - trace->batched + from;
    uint64_t at = place & (trace->ring.size - 1);

    return from == to ||
           !mem->ops->write(mem->opaque, trace->ring.base + at * ENTRY_BYTES,
                            &trace->batch[from],
                            (size_t)(to - from) * ENTRY_BYTES);
}

static bool write_batch(struct tdma_trace *trace)
{
    uint32_t first = trace->ring.head - trace->batched;
    uint32_t left = trace->ring.size - (first & (trace->ring.size - 1));
    unsigned cut = left < trace->batched ? left : trace->batched;

    return write_piece(trace, 0, cut) &&
           write_piece(trace, cut, trace->batched);
}

void tdma_trace_flush(struct tdma_trace *trace)
{
    struct tdma_core *core = trace->core;
    bool ok;

    if (!trace->ring.events) {
        return;
    }
    ok = write_batch(trace);
    trace->batched = 0;
    tdma_lock(core);
    if (trace->state != TDMA_TRSTATE_ON || trace->fresh) {
        trace->ring.events = 0;         /* switched off meanwhile */
    } else if (!ok) {
        trace->state = TDMA_TRSTATE_FAULT;
        trace->ring.events = 0;
    } else {
        trace->head = trace->ring.head;
        trace->lost = trace->ring.lost;
        trace->ring.tail = trace->tail;
    }
    tdma_unlock(core);
    note_wanted(trace);
}

static bool is_full(const struct tdma_trace *trace)
{
    return trace->ring.head - trace->ring.tail == trace->ring.size;
}

static void put_into_ring(struct tdma_trace *trace,
                          const struct tdma_trace_entry *entry)
{
    if (is_full(trace) && trace->ring.lost % TDMA_TRACE_BATCH == 0) {
        tdma_trace_flush(trace);        /* the reader may have come on */
    }
    if (is_full(trace)) {
        trace->ring.lost++;
        return;
    }
    trace->batch[trace->batched++] = *entry;
    trace->ring.head++;
    if (trace->batched == TDMA_TRACE_BATCH) {
        tdma_trace_flush(trace);
    }
}

void tdma_trace_put(struct tdma_trace *trace, struct tdma_trace_entry entry)
{
    uint32_t bit = 1U << entry.event;

    entry.thread = trace->thread;
    if (trace->ring.events & bit) {
        entry.sequence = trace->ring.sequence++;
        put_into_ring(trace, &entry);
    }
    if (trace->tap_events & bit) {
        trace->tap(trace->tap_opaque, &entry);
    }
}

void tdma_trace_tap(struct tdma_trace *trace, uint32_t events,
                    tdma_trace_tap_fn *tap, void *opaque)
{
    trace->tap = tap;
    trace->tap_opaque = opaque;
    trace->tap_events = events;
}
