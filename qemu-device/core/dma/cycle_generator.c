/* SPDX-License-Identifier: MIT */
/* Request generator; see cycle_generator.h. */
#include <string.h>
#include "cycle_address.h"
#include "cycle_generator.h"

void tdma_generator_reset(struct tdma_generator *g, unsigned lanes,
                          unsigned chains)
{
    g->input_head = g->input_tail = 0;
    g->reg1.part = NULL;
    g->reg3.part = NULL;
    g->reg4.part = NULL;
    g->reg5.part = NULL;
    g->skid.part = NULL;
    g->chain_part[0] = g->chain_part[1] = NULL;
    g->busy = 0;
    tdma_fsm_reset(&g->fsm, lanes, chains);
}

void tdma_generator_push(struct tdma_generator *g,
                         const struct tdma_part *part)
{
    g->input[g->input_tail++ % TDMA_GENERATOR_INPUT] = part;
    g->busy++;
    g->moved = true;
}

/*
 * The request sender.
 */

/* Lanes of @r from the next one on that want the same opcode. */
static unsigned same_op(const struct tdma_register_addresses *r)
{
    unsigned n = 1;

    if (!r->part->has_ext) {
        return r->count - r->sent;
    }
    while (r->sent + n < r->count && r->op[r->sent + n] == r->op[r->sent]) {
        n++;
    }
    return n;
}

/* Bookkeeping of @count requests that went out. */
static void note_sent(struct tdma_generator *g,
                      struct tdma_register_addresses *r, struct tdma_flight *f,
                      unsigned count)
{
    if (f->first_cycle == UINT64_MAX) {
        f->first_cycle = g->memory->now;
    }
    tdma_reorder_issue(g->reorder, count);
    tdma_credit_take(g->credit, count);
    if (r->op[r->sent] != TDMA_REQUEST_NULL) {
        tdma_throttle_take(g->throttle, count);
        g->counters->requests += count;
    }
    r->sent += count;
    if (r->sent == r->count) {
        r->part = NULL;
        g->busy--;
    }
}

/*
 * Send the next requests of @r that want the same opcode, @lanes of them at
 * most. What holds back the first that did not go?
 */
static enum tdma_generator_cycle send_run(struct tdma_generator *g,
                                          struct tdma_register_addresses *r,
                                          unsigned *lanes)
{
    struct tdma_flight *f = &g->flights[r->part->flight];
    struct tdma_flight_side *fs = &f->side[g->side];
    enum tdma_generator_cycle kind = TDMA_GENERATOR_SENT;
    unsigned op = r->op[r->sent];
    unsigned n = same_op(r), accepted;

    n = n < *lanes ? n : *lanes;
    if (n > g->credit->available) {
        n = g->credit->available;
        kind = TDMA_GENERATOR_IDS;
    }
    if (op != TDMA_REQUEST_NULL && n > tdma_throttle_room(g->throttle)) {
        n = tdma_throttle_room(g->throttle);
        kind = TDMA_GENERATOR_THROTTLE;
    }
    if (fs->issued == f->start) {
        fs->base_id = g->credit->next;
    }
    accepted = tdma_memory_request(g->memory, g->side, g->credit->next,
                                   r->part, fs->issued, op,
                                   &r->value[r->sent], n);
    if (accepted < n) {
        kind = TDMA_GENERATOR_BACKPRESSURE;
    }
    if (accepted) {
        fs->issued += accepted;
        *lanes -= accepted;
        note_sent(g, r, f, accepted);
    }
    return kind;
}

/* Send from @r while there are lanes left in this cycle. */
static enum tdma_generator_cycle send_from(struct tdma_generator *g,
                                           struct tdma_register_addresses *r,
                                           unsigned *lanes)
{
    while (r->part && *lanes) {
        unsigned flight = r->part->flight;
        enum tdma_generator_cycle kind = send_run(g, r, lanes);

        if (kind != TDMA_GENERATOR_SENT) {
            g->blocked = flight;
            return kind;
        }
    }
    return TDMA_GENERATOR_SENT;
}

/* The rest of a bundle makes room for the next one. */
static void move_to_skid(struct tdma_generator *g)
{
    if (g->reg5.part && g->reg5.sent && !g->skid.part) {
        g->skid = g->reg5;
        g->reg5.part = NULL;
        g->moved = true;
    }
}

static void note_outstanding(struct tdma_generator *g)
{
    unsigned now = g->memory->outstanding[g->side];

    if (now > g->counters->outstanding_max) {
        g->counters->outstanding_max = now;
    }
}

enum tdma_generator_cycle tdma_generator_send(struct tdma_generator *g,
                                              bool hazard)
{
    unsigned lanes = g->fsm.lanes;
    enum tdma_generator_cycle kind;

    if (!g->reg5.part && !g->skid.part) {
        return g->busy ? TDMA_GENERATOR_FILL :
               hazard ? TDMA_GENERATOR_HAZARD : TDMA_GENERATOR_IDLE;
    }
    kind = send_from(g, &g->skid, &lanes);
    if (kind == TDMA_GENERATOR_SENT) {
        kind = send_from(g, &g->reg5, &lanes);
    }
    if (lanes < g->fsm.lanes) {
        g->moved = true;
        note_outstanding(g);
    }
    move_to_skid(g);
    return kind;
}

static void count_stall(struct tdma_generator *g, enum tdma_stall cause,
                        uint64_t *counter, uint64_t cycles)
{
    *counter += cycles;
    g->flights[g->blocked].side[g->side].stall[cause] += cycles;
}

void tdma_generator_count(struct tdma_generator *g,
                          enum tdma_generator_cycle kind, uint64_t cycles)
{
    struct tdma_counters *c = g->counters;

    switch (kind) {
    case TDMA_GENERATOR_IDLE:
    case TDMA_GENERATOR_SENT:
        break;
    case TDMA_GENERATOR_FILL:
        c->pipeline_fill += cycles;
        break;
    case TDMA_GENERATOR_HAZARD:
        c->stall_hazard += cycles;
        break;
    case TDMA_GENERATOR_BACKPRESSURE:
        count_stall(g, TDMA_STALL_BACKPRESSURE, &c->stall_backpressure,
                    cycles);
        break;
    case TDMA_GENERATOR_THROTTLE:
        count_stall(g, TDMA_STALL_THROTTLE, &c->stall_throttle, cycles);
        break;
    case TDMA_GENERATOR_IDS:
        count_stall(g, TDMA_STALL_IDS, &c->stall_ids, cycles);
        break;
    }
}

/*
 * The stages, last to first, each into the register behind it if that is
 * empty.
 */

/* Stage 5: second adders. */
static void add_base(struct tdma_generator *g)
{
    struct tdma_register_addresses *in = &g->reg4, *out = &g->reg5;

    if (!in->part || out->part) {
        return;
    }
    /* all lanes, in use or not: adders do not mind */
    for (unsigned i = 0; i < TDMA_MAX_LANES; i++) {
        out->value[i] = tdma_address_add(in->part->base, in->value[i]);
    }
    memcpy(out->op, in->op, sizeof(out->op));
    out->part = in->part;
    out->count = in->count;
    out->sent = 0;
    in->part = NULL;
    g->moved = true;
}

/* What the element at @index needs on this side; see struct tdma_part. */
static unsigned element_op(const struct tdma_part *part, const uint32_t *index)
{
    uint64_t wide[TDMA_MAX_DIMS] = { 0 };

    for (unsigned d = 0; d < part->ndims; d++) {
        wide[d] = index[d];
    }
    if (!tdma_job_inside(part->job, TDMA_DST, wide)) {
        return TDMA_REQUEST_NULL;
    }
    if (!tdma_job_inside(part->job, TDMA_SRC, wide)) {
        return part->op_outside_src;
    }
    return part->op;
}

/* Stage 4: first adders. */
static void add_offsets(struct tdma_generator *g)
{
    struct tdma_register_offsets *in = &g->reg3;
    struct tdma_register_addresses *out = &g->reg4;
    const struct tdma_part *part = in->part;

    if (!part || out->part) {
        return;
    }
    for (unsigned i = 0; i < in->count; i++) {
        const struct tdma_chain *chain = tdma_tracker_output(&g->lane[i],
                                                             in->chain);

        out->value[i] = tdma_address_sum(chain->offset);
        out->op[i] = part->has_ext ? element_op(part, chain->index) : part->op;
    }
    out->part = part;
    out->count = in->count;
    in->part = NULL;
    g->moved = true;
}

/* Stage 3: FSM and step trackers. A lane sees its own state and @fsm only. */
static void step(struct tdma_generator *g)
{
    const struct tdma_chain_params *params;
    struct tdma_fsm_output fsm;

    if (g->reg3.part || !tdma_fsm_emit(&g->fsm, &fsm)) {
        return;
    }
    params = &g->chain_params[fsm.chain];
    for (unsigned i = 0; i < g->fsm.lanes; i++) {
        if (fsm.first) {
            tdma_tracker_start(&g->lane[i], fsm.chain, params, i);
        } else {
            tdma_tracker_advance(&g->lane[i], fsm.chain, params, fsm.previous);
        }
    }
    g->reg3.part = g->chain_part[fsm.chain];
    g->reg3.chain = fsm.chain;
    g->reg3.count = fsm.amount;
    g->busy++;
    if (fsm.last) {
        g->chain_part[fsm.chain] = NULL;
        g->busy--;
    }
    g->moved = true;
}

/* Stage 2: chain @which, free since before this cycle, gets the next part. */
static void load(struct tdma_generator *g, int which)
{
    const struct tdma_part *part = g->reg1.part;

    if (!part || which < 0) {
        return;
    }
    if (g->reg3.part && g->reg3.chain == (unsigned)which) {
        return;         /* a stall: its last outputs are still needed */
    }
    g->chain_part[which] = part;
    g->chain_params[which] = g->reg1.params;
    for (unsigned i = 0; i < g->fsm.lanes; i++) {
        if (part->start) {
            tdma_tracker_restore(&g->lane[i], which, &g->chain_params[which],
                                 part->start);
        } else {
            tdma_tracker_init(&g->lane[i], which);
        }
    }
    tdma_fsm_load(&g->fsm, which, part->elements - part->start);
    g->reg1.part = NULL;
    g->moved = true;
}

/* Stage 1: pre-computation. */
static void precompute(struct tdma_generator *g)
{
    const struct tdma_part *part;

    if (g->reg1.part || g->input_head == g->input_tail) {
        return;
    }
    part = g->input[g->input_head++ % TDMA_GENERATOR_INPUT];
    tdma_chain_precompute(&g->reg1.params, part->ndims, part->steps,
                          part->stride);
    g->reg1.part = part;
    g->moved = true;
}

void tdma_generator_shift(struct tdma_generator *g)
{
    int free_chain;

    if (!g->busy) {
        return;
    }
    free_chain = tdma_fsm_free_chain(&g->fsm);
    add_base(g);
    add_offsets(g);
    step(g);
    load(g, free_chain);
    precompute(g);
}

/*
 * Purge.
 */

static bool purge_one(struct tdma_generator *g, const struct tdma_part **part,
                      unsigned flight)
{
    if (!*part || (*part)->flight != flight) {
        return false;
    }
    *part = NULL;
    g->busy--;
    return true;
}

static void purge_input(struct tdma_generator *g, unsigned flight)
{
    unsigned to = g->input_head;

    for (unsigned i = g->input_head; i != g->input_tail; i++) {
        const struct tdma_part *part = g->input[i % TDMA_GENERATOR_INPUT];

        if (part->flight == flight) {
            g->busy--;
        } else {
            g->input[to++ % TDMA_GENERATOR_INPUT] = part;
        }
    }
    g->input_tail = to;
}

void tdma_generator_purge(struct tdma_generator *g, unsigned flight)
{
    purge_input(g, flight);
    purge_one(g, &g->reg1.part, flight);
    for (unsigned c = 0; c < TDMA_MAX_CHAINS; c++) {
        if (purge_one(g, &g->chain_part[c], flight)) {
            tdma_fsm_cut(&g->fsm, c);
        }
    }
    purge_one(g, &g->reg3.part, flight);
    purge_one(g, &g->reg4.part, flight);
    purge_one(g, &g->reg5.part, flight);
    purge_one(g, &g->skid.part, flight);
}
