/* SPDX-License-Identifier: MIT */
/* Memory system of the cycle engine; see cycle_memory.h. */
#include <stdlib.h>
#include <string.h>
#include "cycle_memory.h"

#define NO_NODE UINT16_MAX

static uint64_t power_of_two_above(uint64_t n)
{
    uint64_t p = 1;

    while (p <= n) {
        p *= 2;
    }
    return p;
}

bool tdma_memory_create(struct tdma_memory *m,
                        const struct tdma_properties *props,
                        struct tdma_flight *flights,
                        struct tdma_inject *inject)
{
    uint64_t max = props->latency_max;

    if (max < props->latency_min) {
        max = props->latency_min;
    }
    memset(m, 0, sizeof(*m));
    m->flights = flights;
    m->inject = inject;
    m->ids = props->ids;
    m->ports = props->lanes > props->pop_max ? props->lanes : props->pop_max;
    m->latency_min = props->latency_min;
    m->latency_range = max - props->latency_min + 1;
    m->bandwidth[TDMA_SPACE_HOST] = props->host_bandwidth;
    m->bandwidth[TDMA_SPACE_HBM] = props->hbm_bandwidth;
    m->wheel_mask = power_of_two_above(max) - 1;
    m->wheel = malloc((m->wheel_mask + 1) * sizeof(*m->wheel));
    m->next = malloc(TDMA_SIDES * m->ids * sizeof(*m->next));
    /* one answer per ID, and an injected one beside it */
    m->answer_mask = power_of_two_above(2 * m->ids) - 1;
    for (unsigned s = 0; s < TDMA_SIDES; s++) {
        m->slot[s] = malloc(m->ids * sizeof(*m->slot[s]));
        m->answer[s] = malloc((m->answer_mask + 1) * sizeof(*m->answer[s]));
    }
    if (!m->wheel || !m->next || !m->slot[TDMA_SRC] || !m->slot[TDMA_DST] ||
        !m->answer[TDMA_SRC] || !m->answer[TDMA_DST]) {
        tdma_memory_destroy(m);
        return false;
    }
    return true;
}

void tdma_memory_destroy(struct tdma_memory *m)
{
    free(m->wheel);
    free(m->next);
    for (unsigned s = 0; s < TDMA_SIDES; s++) {
        free(m->slot[s]);
        free(m->answer[s]);
    }
}

void tdma_memory_reset(struct tdma_memory *m, uint64_t seed)
{
    m->now = 0;
    m->random = seed;
    m->in_wheel = 0;
    for (uint64_t i = 0; i <= m->wheel_mask; i++) {
        m->wheel[i] = NO_NODE;
    }
    for (unsigned s = 0; s < TDMA_SIDES; s++) {
        memset(m->slot[s], 0, m->ids * sizeof(*m->slot[s]));
        m->answer_head[s] = m->answer_tail[s] = 0;
        m->outstanding[s] = 0;
    }
}

void tdma_memory_open(struct tdma_memory *m)
{
    memcpy(m->room, m->bandwidth, sizeof(m->room));
}

/* splitmix64: one 64-bit state, every state good */
static uint64_t next_random(struct tdma_memory *m)
{
    uint64_t z = m->random += 0x9e3779b97f4a7c15;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

/* Latency of the next request. */
static uint64_t draw_latency(struct tdma_memory *m)
{
    if (m->latency_range == 1) {
        return m->latency_min;
    }
    return m->latency_min + (((next_random(m) >> 32) * m->latency_range) >> 32);
}

/* Append @node to the list that ends with *@last. */
static inline void append(uint16_t *next, uint16_t *last, unsigned node)
{
    unsigned end = *last;

    if (end == NO_NODE) {
        next[node] = node;
    } else {
        next[node] = next[end];
        next[end] = node;
    }
    *last = node;
}

static inline void respond(struct tdma_memory *m, unsigned side, unsigned id)
{
    m->answer[side][m->answer_tail[side]++ & m->answer_mask] = id;
}

/* Answers that nobody asked for */
static void respond_injected(struct tdma_memory *m, unsigned side, unsigned id,
                             unsigned state)
{
    if (state & TDMA_SLOT_STRAY) {
        respond(m, side, m->ids);
    }
    if (state & TDMA_SLOT_REPEAT) {
        respond(m, side, id);
    }
}

static inline void answer(struct tdma_memory *m, struct tdma_flight *f,
                          unsigned side, unsigned id)
{
    struct tdma_slot *slot = &m->slot[side][id];
    unsigned state = slot->state | TDMA_SLOT_ANSWERED;

    slot->state = state;
    f->last_cycle = m->now;
    m->outstanding[side]--;
    respond(m, side, id);
    if (state & (TDMA_SLOT_STRAY | TDMA_SLOT_REPEAT)) {
        respond_injected(m, side, id, state);
    }
}

/* ID of the same element on the other side; only if both have begun. */
static unsigned partner_id(const struct tdma_memory *m,
                           const struct tdma_flight *f, unsigned side,
                           unsigned id)
{
    unsigned p = id + m->ids - f->side[side].base_id + f->side[!side].base_id;

    p = p >= m->ids ? p - m->ids : p;
    return p >= m->ids ? p - m->ids : p;
}

/* Requests leave in order: has the one for @element left on @side? */
static bool is_issued(const struct tdma_flight *f, unsigned side,
                      uint32_t element)
{
    return (int32_t)((uint32_t)f->side[side].issued - element) > 0;
}

/* The read's data is there and so is the write. */
static void serve_pair(struct tdma_memory *m, struct tdma_flight *f,
                       unsigned read_id, unsigned write_id)
{
    struct tdma_slot *write = &m->slot[TDMA_DST][write_id];

    if ((write->state | m->slot[TDMA_SRC][read_id].state) & TDMA_SLOT_LOST) {
        return;
    }
    write->state |= TDMA_SLOT_SERVED;
    answer(m, f, TDMA_SRC, read_id);
    if (write->state & TDMA_SLOT_FIRED) {
        answer(m, f, TDMA_DST, write_id);
    }
}

static bool is_paired(unsigned op)
{
    return op == TDMA_REQUEST_READ || op == TDMA_REQUEST_WRITE ||
           op == TDMA_REQUEST_ACCUMULATE;
}

/* Has the descriptor ended before this request could have its effect? */
static bool is_void(const struct tdma_flight *f, const struct tdma_slot *slot)
{
    return f->dead && (int32_t)(slot->element - (uint32_t)f->limit) >= 0;
}

/* The latency of request @id is over. */
static void fire(struct tdma_memory *m, unsigned side, unsigned id)
{
    struct tdma_slot *slot = &m->slot[side][id];
    struct tdma_flight *f = &m->flights[slot->flight];

    slot->state |= TDMA_SLOT_FIRED;
    if (is_void(f, slot)) {
        answer(m, f, side, id);
    } else if (!is_paired(slot->op)) {
        if (slot->state & TDMA_SLOT_LOST) {
            return;
        }
        slot->state |= TDMA_SLOT_SERVED;
        answer(m, f, side, id);
    } else if (side == TDMA_DST) {
        if (slot->state & TDMA_SLOT_SERVED) {
            answer(m, f, side, id);
        }
    } else if (is_issued(f, TDMA_DST, slot->element)) {
        serve_pair(m, f, id, partner_id(m, f, side, id));
    } else {
        f->waiting++;
    }
}

void tdma_memory_serve(struct tdma_memory *m)
{
    uint16_t *last = &m->wheel[m->now & m->wheel_mask];
    uint16_t node, end = *last;

    if (end == NO_NODE) {
        return;
    }
    *last = NO_NODE;
    node = end;
    do {
        node = m->next[node];
        m->in_wheel--;
        if (node >= m->ids) {
            fire(m, TDMA_DST, node - m->ids);
        } else {
            fire(m, TDMA_SRC, node);
        }
    } while (node != end);
}

/* What an injected error does to the request that has just been accepted. */
static void strike(struct tdma_memory *m, struct tdma_slot *slot)
{
    static const uint8_t effect[] = {
        [TDMA_INJECT_BUS_ERROR] = TDMA_SLOT_BUS_ERROR,
        [TDMA_INJECT_POISON] = TDMA_SLOT_POISONED,
        [TDMA_INJECT_UNKNOWN_ID] = TDMA_SLOT_STRAY,
        [TDMA_INJECT_DUPLICATE_ID] = TDMA_SLOT_REPEAT,
        [TDMA_INJECT_LOST_RESPONSE] = TDMA_SLOT_LOST,
    };

    if (m->inject->kind < sizeof(effect)) {
        slot->state |= effect[m->inject->kind];
    }
    m->inject->kind = TDMA_INJECT_NONE;
}

/* A write has been accepted: its read may have been waiting for it. */
static void end_wait(struct tdma_memory *m, struct tdma_flight *f, unsigned id)
{
    unsigned read_id;

    if (!is_issued(f, TDMA_SRC, m->slot[TDMA_DST][id].element)) {
        return;
    }
    read_id = partner_id(m, f, TDMA_DST, id);
    if (m->slot[TDMA_SRC][read_id].state & TDMA_SLOT_FIRED) {
        f->waiting--;
        serve_pair(m, f, read_id, id);
    }
}

/* What is not everyday about a request that has been accepted */
static void accept_special(struct tdma_memory *m, struct tdma_flight *f,
                           unsigned side, unsigned id, uint64_t element)
{
    struct tdma_slot *slot = &m->slot[side][id];

    if (m->trace) {
        tdma_cycle_trace_issue(m->trace, m->now, side, id, slot, element);
    }
    if (tdma_inject_strikes(m->inject, side, element)) {
        strike(m, slot);
    }
    if (f->lost && element == f->start) {
        slot->state |= TDMA_SLOT_LOST;
    }
    if (f->waiting && side == TDMA_DST && is_paired(slot->op)) {
        end_wait(m, f, id);
    }
}

/* Elements outside the axes: there is nothing to do but to say so. */
static void accept_null(struct tdma_memory *m, struct tdma_flight *f,
                        unsigned side, unsigned id)
{
    m->slot[side][id].state = TDMA_SLOT_FIRED | TDMA_SLOT_SERVED;
    answer(m, f, side, id);
}

/*
 * Latencies of @count requests begin. What the loops need is in locals, where
 * stores into lists cannot be taken to change it.
 */
static void start_latencies(struct tdma_memory *m, unsigned side, unsigned id,
                            unsigned count)
{
    uint16_t *next = m->next, *wheel = m->wheel;
    uint64_t mask = m->wheel_mask, now = m->now;
    unsigned ids = m->ids, base = side * ids;

    m->in_wheel += count;
    if (m->latency_range == 1) {
        uint16_t *last = &wheel[(now + m->latency_min) & mask];

        for (; count; count--, id = id + 1 == ids ? 0 : id + 1) {
            append(next, last, base + id);
        }
        return;
    }
    for (; count; count--, id = id + 1 == ids ? 0 : id + 1) {
        append(next, &wheel[(now + draw_latency(m)) & mask], base + id);
    }
}

/* Requests with an effect */
static void accept_run(struct tdma_memory *m, unsigned side, unsigned id,
                       struct tdma_slot slot, const uint64_t *address,
                       unsigned count)
{
    struct tdma_slot *slots = m->slot[side];
    unsigned ids = m->ids, at = id;

    for (unsigned i = 0; i < count; i++) {
        slots[at].address = address[i];
        slots[at].element = slot.element + i;
        slots[at].flight = slot.flight;
        slots[at].op = slot.op;
        slots[at].state = 0;
        at = at + 1 == ids ? 0 : at + 1;
    }
    start_latencies(m, side, id, count);
}

unsigned tdma_memory_request(struct tdma_memory *m, unsigned side, unsigned id,
                             const struct tdma_part *part, uint64_t element,
                             unsigned op, const uint64_t *address,
                             unsigned count)
{
    struct tdma_flight *f = &m->flights[part->flight];
    bool null = op == TDMA_REQUEST_NULL;
    struct tdma_slot slot = {
        .element = element, .flight = part->flight, .op = op,
    };

    if (!null) {
        count = count < m->room[part->space] ? count : m->room[part->space];
        m->room[part->space] -= count;
        accept_run(m, side, id, slot, address, count);
    }
    m->outstanding[side] += count;
    if (!null && !m->trace && !m->inject->kind && !f->lost &&
        !(f->waiting && side == TDMA_DST)) {
        return count;
    }
    for (unsigned i = 0; i < count; i++) {
        if (null) {
            m->slot[side][id] = slot;
            accept_null(m, f, side, id);
            slot.element++;
        } else {
            accept_special(m, f, side, id, element + i);
        }
        id = id + 1 == m->ids ? 0 : id + 1;
    }
    return count;
}

unsigned tdma_memory_respond(struct tdma_memory *m, unsigned side,
                             uint16_t ids[TDMA_MAX_RESPONSES])
{
    const uint16_t *ring = m->answer[side];
    unsigned head = m->answer_head[side], tail = m->answer_tail[side];
    unsigned unknown = m->ids, mask = m->answer_mask, last = unknown;
    unsigned room = m->ports, n = 0;

    for (; head != tail; head++) {
        unsigned id = ring[head & mask];
        bool injected = id == last || id == unknown;

        if (!injected && !room--) {
            break;
        }
        ids[n++] = last = id;
    }
    m->answer_head[side] = head;
    for (unsigned i = 0; m->trace && i < n; i++) {
        tdma_cycle_trace_response(m->trace, m->now, side, ids[i],
                                  ids[i] < m->ids ? &m->slot[side][ids[i]]
                                                  : NULL);
    }
    return n;
}

uint64_t tdma_memory_quiet(const struct tdma_memory *m, uint64_t max)
{
    uint64_t n = 0;

    if (!m->in_wheel) {
        return max;
    }
    while (n < max && m->wheel[(m->now + n) & m->wheel_mask] == NO_NODE) {
        n++;
    }
    return n;
}

void tdma_memory_kill(struct tdma_memory *m, unsigned flight)
{
    struct tdma_flight *f = &m->flights[flight];

    for (unsigned s = 0; s < TDMA_SIDES; s++) {
        for (unsigned id = 0; id < m->ids; id++) {
            const struct tdma_slot *slot = &m->slot[s][id];
            unsigned state = slot->state & (TDMA_SLOT_FIRED |
                                            TDMA_SLOT_ANSWERED);

            if (slot->flight == flight && state == TDMA_SLOT_FIRED &&
                is_void(f, slot)) {
                answer(m, f, s, id);
            }
        }
    }
}
