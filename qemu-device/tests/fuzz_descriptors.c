/* SPDX-License-Identifier: MIT */
/*
 * libFuzzer target: a stream of descriptors, in both fidelities.
 *
 * The input is laid over a stream of valid copies by exclusive or, so that a
 * few bytes make a few wrong fields instead of none that is right. Whatever it
 * is, the machine must come to an end of it when told to, and write nothing
 * outside the segments; where both fidelities run it to the end they must
 * agree on memory, statuses and counts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "arena.h"

enum {
    BYTES = 4096,
    SLOTS = 6,
    QUANTA = 64,                /* then software loses its patience */
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct run {
    struct arena *a;
    bool records;               /* in memory, with cycles, which differ */
    uint32_t index[SLOTS];
    struct tdma_record record[SLOTS];
    bool ended;
};

static void check(bool good, const char *what)
{
    if (!good) {
        fprintf(stderr, "%s\n", what);
        abort();
    }
}

static struct tdma_desc slot(const uint8_t *data, size_t size, unsigned number)
{
    struct tdma_desc d = desc_copy(SEG_HOST + number, SEG_HOST2, 2, 64);
    uint8_t *bytes = (uint8_t *)&d;
    size_t i, at = number * sizeof(d);

    for (i = 0; i < sizeof(d) && at + i < size; i++) {
        bytes[i] ^= data[at + i];
    }
    return d;
}

/* Let it run for a while, then end what is left. */
static bool drive(struct machine *m, unsigned queue)
{
    unsigned i;
    bool more = true;

    for (i = 0; i < QUANTA && more; i++) {
        more = tdma_core_run(m->core, 0);
    }
    if (!more) {
        return true;
    }
    machine_write(m, queue_reg(queue, TDMA_QUEUE_CONTROL), 0);
    for (i = 0; i < QUANTA && tdma_core_run(m->core, 0); i++) {
    }
    check(machine_read(m, queue_reg(queue, TDMA_QUEUE_STATE)) ==
          TDMA_QSTATE_OFF, "a disabled queue does not get off");
    return false;
}

/* Nobody may write to this segment, nor between it and its neighbours. */
static void check_read_only(const struct arena *a)
{
    uint64_t at = a->m->table[1][SEG_READ_ONLY].base - 8;

    check(!memcmp(machine_ptr(a->m, at), a->before + (at - a->lo), BYTES + 16),
          "read-only memory was written");
}

static void run(struct run *r, uint64_t fidelity, const uint8_t *data,
                size_t size)
{
    struct tdma_properties props = machine_properties();
    unsigned i, slots = size / sizeof(struct tdma_desc) + 1;

    slots = slots < SLOTS ? slots : SLOTS;
    props.fidelity = fidelity;
    props.threads = 1;
    props.quantum_bytes = 4096;
    props.quantum_steps = 4096;
    r->a = arena_new(&props, size % 4, BYTES, 7);
    for (i = 0; i < slots; i++) {
        struct tdma_desc d = slot(data, size, i);

        r->records |= d.flags & TDMA_DESC_RECORD;
        r->index[i] = queue_put(&r->a->q, &d, NULL);
    }
    arena_save(r->a);
    queue_ring(&r->a->q);
    r->ended = drive(r->a->m, 0);
    for (i = 0; i < slots; i++) {
        r->record[i] = queue_record(&r->a->q, r->index[i]);
    }
    check_read_only(r->a);
}

static void compare(const struct run *x, const struct run *y)
{
    uint64_t ram = x->a->hi - x->a->lo;
    unsigned i;

    check(x->records || !memcmp(machine_ptr(x->a->m, x->a->lo),
                                machine_ptr(y->a->m, y->a->lo), ram),
          "memory differs");
    check(x->records || !memcmp(x->a->m->hbm, y->a->m->hbm, x->a->m->hbm_used),
          "HBM differs");
    for (i = 0; i < SLOTS; i++) {
        const struct tdma_record *a = &x->record[i], *b = &y->record[i];

        check(a->status == b->status && a->src_done == b->src_done &&
              a->dst_done == b->dst_done, "records differ");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct run fast = { 0 }, cycle = { 0 };

    run(&fast, TDMA_FIDELITY_FAST, data, size);
    run(&cycle, TDMA_FIDELITY_CYCLE, data, size);
    if (fast.ended && cycle.ended) {
        compare(&fast, &cycle);
    }
    arena_free(fast.a);
    arena_free(cycle.a);
    return 0;
}
