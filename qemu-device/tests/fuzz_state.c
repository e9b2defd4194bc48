/* SPDX-License-Identifier: MIT */
/*
 * libFuzzer target: states of a machine that somebody has tampered with.
 *
 * The input is a list of changes to a state with work in flight, in either
 * fidelity. What is taken must run, come to an end when told to, and reach no
 * memory that is not there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "arena.h"

enum {
    BYTES = 4096,
    QUANTA = 64,
    QUEUES = 2,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is added to the 32-bit word at @at, in words from the beginning */
struct change {
    uint16_t at;
    uint32_t add;
} __attribute__((packed));

/* One for each fidelity, made once */
static struct {
    struct arena *a;
    uint8_t *state, *changed;
    size_t len;
} base[2];

static void check(bool good, const char *what)
{
    if (!good) {
        fprintf(stderr, "%s\n", what);
        abort();
    }
}

static void make_base(unsigned fidelity)
{
    struct tdma_properties props = machine_properties();
    struct tdma_desc d = desc_copy(SEG_HOST, SEG_PAGED, 1, BYTES);
    struct arena *a;

    props.fidelity = fidelity;
    props.threads = 2;
    props.queues = QUEUES;
    props.contexts = 2;
    props.sync_flags = 4;
    props.quantum_bytes = 4096;
    props.quantum_steps = 128;
    props.latency_max = props.latency_min = 20;
    d.flags = TDMA_DESC_RECORD;
    d.record_segment = SEG_HOST2;
    d.dst_sync_interval = 256;
    a = arena_new(&props, WINDOWS_ALL, BYTES, 7);
    for (unsigned i = 0; i < 3; i++) {
        queue_put(&a->q, &d, NULL);
    }
    queue_ring(&a->q);
    while (!queue_record(&a->q, 0).dst_done) {
        tdma_core_run(a->m->core, 0);
    }
    base[fidelity].a = a;
    base[fidelity].state = machine_save(a->m, &base[fidelity].len);
    base[fidelity].changed = malloc(base[fidelity].len);
}

static void drive(struct machine *m)
{
    unsigned i;

    for (i = 0; i < QUANTA; i++) {
        tdma_core_run(m->core, i % 2);
    }
    tdma_core_stop(m->core);
    for (i = 0; i < QUEUES; i++) {
        machine_write(m, queue_reg(i, TDMA_QUEUE_CONTROL), 0);
    }
    for (i = 0; i < 4 * QUANTA; i++) {
        tdma_core_run(m->core, i % 2);
    }
    for (i = 0; i < QUEUES; i++) {
        check(machine_read(m, queue_reg(i, TDMA_QUEUE_STATE)) ==
              TDMA_QSTATE_OFF, "a disabled queue does not get off");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned fidelity = size && data[0] & 1;
    struct change c;
    uint32_t word;
    char why[100];
    size_t i;

    if (!base[fidelity].a) {
        make_base(fidelity);
    }
    memcpy(base[fidelity].changed, base[fidelity].state, base[fidelity].len);
    for (i = 1; i + sizeof(c) <= size; i += sizeof(c)) {
        uint8_t *at;

        memcpy(&c, data + i, sizeof(c));
        at = base[fidelity].changed + c.at % (base[fidelity].len / 4) * 4;
        memcpy(&word, at, sizeof(word));
        word += c.add;
        memcpy(at, &word, sizeof(word));
    }
    if (tdma_core_load(base[fidelity].a->m->core, base[fidelity].changed,
                       base[fidelity].len, why, sizeof(why))) {
        drive(base[fidelity].a->m);
    }
    return 0;
}
