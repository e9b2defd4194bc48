/* SPDX-License-Identifier: MIT */
/* Trace of the cycle engine; see cycle_trace.h. */
#include "cycle_memory.h"
#include "cycle_trace.h"

static uint8_t side_code(unsigned side)
{
    return side == TDMA_DST ? TDMA_SIDE_DST : TDMA_SIDE_SRC;
}

static struct tdma_trace_entry entry_of(const struct tdma_flight *f,
                                        uint64_t now, unsigned event)
{
    return (struct tdma_trace_entry) {
        .cycle = now,
        .index = f->index,
        .queue = f->queue,
        .event = event,
    };
}

static void put_request(struct tdma_cycle_trace *t, uint64_t now,
                        unsigned event, unsigned side, unsigned id,
                        const struct tdma_slot *slot, uint64_t element)
{
    struct tdma_trace_entry e;

    if (!tdma_trace_wants(t->trace, event)) {
        return;
    }
    e = entry_of(&t->flights[slot->flight], now, event);
    e.value = slot->address;
    e.id = id;
    e.side = side_code(side);
    /* lane i has elements i, i + M, i + 2 M from the first one on (A14) */
    e.lane = (element - t->flights[slot->flight].start) % t->lanes;
    e.code = slot->op;
    tdma_trace_put(t->trace, e);
}

void tdma_cycle_trace_issue(struct tdma_cycle_trace *t, uint64_t now,
                            unsigned side, unsigned id,
                            const struct tdma_slot *slot, uint64_t element)
{
    put_request(t, now, TDMA_TRACE_ISSUE, side, id, slot, element);
}

/* A response that names nothing */
static void put_unknown(struct tdma_cycle_trace *t, uint64_t now,
                        unsigned side, unsigned id)
{
    tdma_trace_put(t->trace, (struct tdma_trace_entry) {
        .cycle = now,
        .id = id,
        .event = TDMA_TRACE_RESPONSE,
        .side = side_code(side),
        .code = TDMA_TRACE_OP_UNKNOWN,
    });
}

void tdma_cycle_trace_response(struct tdma_cycle_trace *t, uint64_t now,
                               unsigned side, unsigned id,
                               const struct tdma_slot *slot)
{
    uint64_t issued;

    if (!slot) {
        put_unknown(t, now, side, id);
        return;
    }
    issued = t->flights[slot->flight].side[side].issued;
    /* the slot has the low bits only */
    put_request(t, now, TDMA_TRACE_RESPONSE, side, id, slot,
                issued - (uint32_t)((uint32_t)issued - slot->element));
}

void tdma_cycle_trace_commit(struct tdma_cycle_trace *t, uint64_t now,
                             unsigned flight)
{
    const struct tdma_flight *f = &t->flights[flight];
    struct tdma_trace_entry e = entry_of(f, now, TDMA_TRACE_COMMIT);

    e.value = f->committed;
    e.side = side_code(f->master);
    tdma_trace_put(t->trace, e);
}

void tdma_cycle_trace_stall(struct tdma_cycle_trace *t, uint64_t now,
                            unsigned side, unsigned flight, unsigned cause,
                            uint64_t cycles)
{
    struct tdma_cycle_stall *s = &t->stall[side];

    if (s->cycles && (s->cause != cause || s->flight != flight ||
                      s->since + s->cycles != now)) {
        tdma_cycle_trace_no_stall(t, side);
    }
    if (!s->cycles) {
        s->since = now;
        s->cause = cause;
        s->flight = flight;
    }
    s->cycles += cycles;
}

void tdma_cycle_trace_no_stall(struct tdma_cycle_trace *t, unsigned side)
{
    struct tdma_cycle_stall *s = &t->stall[side];
    struct tdma_trace_entry e;

    if (!s->cycles) {
        return;
    }
    e = entry_of(&t->flights[s->flight], s->since, TDMA_TRACE_STALL);
    e.value = s->cycles;
    e.side = side_code(side);
    e.code = s->cause;
    tdma_trace_put(t->trace, e);
    s->cycles = 0;
}
