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

static uint64_t draw_latency(struct tdma_memory *m)
{
    if (m->latency_range == 1) {
        return m->latency_min;
    }
    return m->latency_min + (((next_random(m) >> 32) * m->latency_range) >> 32);
}

static void wheel_add(struct tdma_memory *m, uint64_t cycle, uint16_t node)
{
    uint16_t *last = &m->wheel[cycle & m->wheel_mask];

    if (*last == NO_NODE) {
        m->next[node] = node;
    } else {
        m->next[node] = m->next[*last];
        m->next[*last] = node;
    }
    *last = node;
    m->in_wheel++;
}

static void respond(struct tdma_memory *m, unsigned side, unsigned id)
{
    m->answer[side][m->answer_tail[side]++ & m->answer_mask] = id;
}

static void answer(struct tdma_memory *m, unsigned side, unsigned id)
{
    struct tdma_slot *slot = &m->slot[side][id];

    slot->state |= TDMA_SLOT_ANSWERED;
    m->flights[slot->flight].last_cycle = m->now;
    m->outstanding[side]--;
    respond(m, side, id);
    if (slot->state & TDMA_SLOT_STRAY) {
        respond(m, side, m->ids);
    }
    if (slot->state & TDMA_SLOT_REPEAT) {
        respond(m, side, id);
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

/*
 * Slot of the other half of a pair that has not been served; NULL if it has
 * not been accepted. An answered one is an older request with the same ID.
 */
static struct tdma_slot *find_partner(struct tdma_memory *m, unsigned side,
                                      unsigned id, unsigned *partner)
{
    const struct tdma_slot *slot = &m->slot[side][id];
    const struct tdma_flight *f = &m->flights[slot->flight];
    struct tdma_slot *other;

    if (!f->side[!side].issued) {
        return NULL;
    }
    *partner = partner_id(m, f, side, id);
    other = &m->slot[!side][*partner];
    if ((other->state & (TDMA_SLOT_TAKEN | TDMA_SLOT_ANSWERED)) !=
            TDMA_SLOT_TAKEN ||
        other->flight != slot->flight || other->element != slot->element) {
        return NULL;
    }
    return other;
}

/* The read's data is there and so is the write. */
static void serve_pair(struct tdma_memory *m, unsigned read_id,
                       unsigned write_id)
{
    struct tdma_slot *write = &m->slot[TDMA_DST][write_id];

    write->state |= TDMA_SLOT_SERVED;
    answer(m, TDMA_SRC, read_id);
    if (write->state & TDMA_SLOT_FIRED) {
        answer(m, TDMA_DST, write_id);
    }
}

static bool is_paired(unsigned op)
{
    return op == TDMA_REQUEST_READ || op == TDMA_REQUEST_WRITE ||
           op == TDMA_REQUEST_ACCUMULATE;
}

/* The latency of request @id is over. */
static void fire(struct tdma_memory *m, unsigned side, unsigned id)
{
    struct tdma_slot *slot = &m->slot[side][id];
    unsigned partner;

    slot->state |= TDMA_SLOT_FIRED;
    if (m->flights[slot->flight].dead) {
        answer(m, side, id);
    } else if (!is_paired(slot->op)) {
        slot->state |= TDMA_SLOT_SERVED;
        answer(m, side, id);
    } else if (side == TDMA_DST) {
        if (slot->state & TDMA_SLOT_SERVED) {
            answer(m, side, id);
        }
    } else if (find_partner(m, side, id, &partner)) {
        serve_pair(m, id, partner);
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
    };

    if (m->inject->kind < sizeof(effect)) {
        slot->state |= effect[m->inject->kind];
    }
    m->inject->kind = TDMA_INJECT_NONE;
}

bool tdma_memory_request(struct tdma_memory *m, unsigned side, unsigned id,
                         const struct tdma_part *part, uint64_t element,
                         unsigned op, uint64_t address)
{
    struct tdma_slot *slot = &m->slot[side][id];
    unsigned space = part->job->view[side].seg.space;
    unsigned partner;
    struct tdma_slot *read;

    if (op != TDMA_REQUEST_NULL) {
        if (!m->room[space]) {
            return false;
        }
        m->room[space]--;
    }
    *slot = (struct tdma_slot) {
        .address = address,
        .element = element,
        .flight = part->flight,
        .op = op,
        .state = TDMA_SLOT_TAKEN,
    };
    m->outstanding[side]++;
    if (op == TDMA_REQUEST_NULL) {
        slot->state |= TDMA_SLOT_FIRED | TDMA_SLOT_SERVED;
        answer(m, side, id);
        return true;
    }
    wheel_add(m, m->now + draw_latency(m), side * m->ids + id);
    if (m->trace) {
        m->trace->request(m->trace->opaque, m->now, side, id, op, address);
    }
    if (tdma_inject_strikes(m->inject, side, element)) {
        strike(m, slot);
    }
    /* A read may have been waiting for this write. */
    if (side == TDMA_DST && is_paired(op)) {
        read = find_partner(m, side, id, &partner);
        if (read && read->state & TDMA_SLOT_FIRED) {
            serve_pair(m, partner, id);
        }
    }
    return true;
}

int tdma_memory_response(struct tdma_memory *m, unsigned side)
{
    uint16_t id;

    if (m->answer_head[side] == m->answer_tail[side]) {
        return -1;
    }
    id = m->answer[side][m->answer_head[side]++ & m->answer_mask];
    if (m->trace) {
        m->trace->response(m->trace->opaque, m->now, side, id);
    }
    return id;
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
    for (unsigned s = 0; s < TDMA_SIDES; s++) {
        for (unsigned id = 0; id < m->ids; id++) {
            const struct tdma_slot *slot = &m->slot[s][id];
            unsigned state = slot->state & (TDMA_SLOT_FIRED |
                                            TDMA_SLOT_ANSWERED);

            if (slot->flight == flight && state == TDMA_SLOT_FIRED) {
                answer(m, s, id);
            }
        }
    }
}
