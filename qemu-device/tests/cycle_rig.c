/* SPDX-License-Identifier: MIT */
/* Test machine of the cycle engine; see cycle_rig.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cycle_rig.h"

/* Host memory: data, then what the driver would keep for itself */
enum {
    RING_BYTES = (1 << RIG_RING_ORDER) * sizeof(struct tdma_desc),
    RECORD_BYTES = (1 << RIG_RING_ORDER) * sizeof(struct tdma_record),
    RING_AT = RIG_DATA,
    RECORDS_AT = RING_AT + RIG_QUEUES * RING_BYTES,
    TABLE_AT = RECORDS_AT + RIG_QUEUES * RECORD_BYTES,
    HOST_BYTES = TABLE_AT + 4096,
    WINDOW_BYTES = 1 << 16,
};

static bool in_host(uint64_t addr, uint64_t len)
{
    return addr <= HOST_BYTES && len <= HOST_BYTES - addr;
}

static int host_read(void *opaque, uint64_t addr, void *buf, size_t len)
{
    struct rig *rig = opaque;

    if (!in_host(addr, len)) {
        return -1;
    }
    memcpy(buf, rig->host + addr, len);
    return 0;
}

static int host_write(void *opaque, uint64_t addr, const void *buf, size_t len)
{
    struct rig *rig = opaque;

    if (!in_host(addr, len)) {
        return -1;
    }
    memcpy(rig->host + addr, buf, len);
    return 0;
}

/* Short windows, so that elements and walks run across their ends. */
static bool host_window(void *opaque, uint64_t addr, uint64_t len,
                        bool is_write, struct tdma_window *w)
{
    struct rig *rig = opaque;
    uint64_t max = WINDOW_BYTES - addr % WINDOW_BYTES;

    (void)is_write;
    len = len < max ? len : max;
    if (!in_host(addr, len)) {
        return false;
    }
    *w = (struct tdma_window) { .ptr = rig->host + addr, .len = len };
    return true;
}

static void no_interrupt(void *opaque, unsigned vector)
{
    (void)opaque;
    (void)vector;
}

static void no_kick(void *opaque, unsigned thread)
{
    (void)opaque;
    (void)thread;
}

static void on_event(void *opaque, enum tdma_event event, uint64_t a,
                     uint64_t b, uint64_t c)
{
    struct rig *rig = opaque;

    (void)c;
    if (event == TDMA_EVENT_JOB_PROGRESS && rig->progress) {
        rig->progress(rig, a, b);
    }
}

static void log_event(struct rig_log *log, struct rig_event event)
{
    if (log->count == log->room) {
        log->room = log->room ? 2 * log->room : 1024;
        log->event = realloc(log->event, log->room * sizeof(*log->event));
        if (!log->event) {
            abort();
        }
    }
    log->event[log->count++] = event;
}

static void on_entry(void *opaque, const struct tdma_trace_entry *entry)
{
    struct rig *rig = opaque;

    log_event(entry->event == TDMA_TRACE_ISSUE ? &rig->requests
                                               : &rig->responses,
              (struct rig_event) {
        .cycle = entry->cycle,
        .address = entry->value,
        .id = entry->id,
        .side = entry->side == TDMA_SIDE_DST ? TDMA_DST : TDMA_SRC,
        .op = entry->code,
    });
}

void rig_trace(struct rig *rig, bool on)
{
    uint32_t events = 1U << TDMA_TRACE_ISSUE | 1U << TDMA_TRACE_RESPONSE;

    tdma_trace_tap(&rig->core->threads[0].trace, on ? events : 0, on_entry,
                   rig);
}

struct tdma_properties rig_properties(void)
{
    struct tdma_properties p = {
#define RIG_DEFAULT(field, name, def, min, max, text) .field = def,
        TDMA_PROPERTIES(RIG_DEFAULT)
#undef RIG_DEFAULT
    };

    p.threads = 1;
    p.queues = RIG_QUEUES;
    p.contexts = 1;
    p.hbm_size = RIG_DATA;
    p.fidelity = TDMA_FIDELITY_CYCLE;
    return p;
}

void rig_write(struct rig *rig, uint64_t addr, uint64_t value)
{
    tdma_core_reg_write(rig->core, addr, value, 4);
}

uint64_t rig_read(struct rig *rig, uint64_t addr)
{
    return tdma_core_reg_read(rig->core, addr, 4);
}

void rig_throttle(struct rig *rig, uint32_t window, uint32_t budget)
{
    rig_write(rig, TDMA_THREAD_BASE + TDMA_THREAD_THROTTLE_BUDGET, budget);
    rig_write(rig, TDMA_THREAD_BASE + TDMA_THREAD_THROTTLE_WINDOW, window);
}

static void write_segments(struct rig *rig)
{
    struct tdma_segment seg[] = {
        [RIG_SEGMENT_HOST] = {
            .space = TDMA_SPACE_HOST, .length = RIG_DATA,
        },
        [RIG_SEGMENT_HBM] = {
            .space = TDMA_SPACE_HBM, .length = RIG_DATA,
        },
        [RIG_SEGMENT_BAD] = {
            /* its first half exists */
            .space = TDMA_SPACE_HOST, .base = HOST_BYTES - 1024,
            .length = 2048,
        },
    };

    for (unsigned i = 0; i < 3; i++) {
        seg[i].flags = TDMA_SEG_READ | TDMA_SEG_WRITE | TDMA_SEG_ATOMIC;
    }
    memcpy(rig->host + TABLE_AT, seg, sizeof(seg));
    rig_write(rig, TDMA_CONTEXT_BASE + TDMA_CONTEXT_TABLE, TABLE_AT);
    rig_write(rig, TDMA_CONTEXT_BASE + TDMA_CONTEXT_COUNT, 3);
}

static void enable_queue(struct rig *rig, unsigned queue)
{
    uint64_t base = TDMA_QUEUE_BASE + queue * TDMA_QUEUE_STRIDE;

    rig_write(rig, base + TDMA_QUEUE_RING, RING_AT + queue * RING_BYTES);
    rig_write(rig, base + TDMA_QUEUE_RECORDS,
              RECORDS_AT + queue * RECORD_BYTES);
    rig_write(rig, base + TDMA_QUEUE_RING_ORDER, RIG_RING_ORDER);
    rig_write(rig, base + TDMA_QUEUE_CONTROL, TDMA_QCTL_ENABLE);
}

static void set_up(struct rig *rig)
{
    rig_write(rig, TDMA_REG_CONTROL, TDMA_CONTROL_ENABLE);
    write_segments(rig);
    for (unsigned q = 0; q < RIG_QUEUES; q++) {
        enable_queue(rig, q);
    }
}

struct rig *rig_new(const struct tdma_properties *props)
{
    static const struct tdma_host_ops ops = {
        .read = host_read,
        .write = host_write,
        .window = host_window,
        .interrupt = no_interrupt,
        .kick = no_kick,
        .event = on_event,
    };
    struct rig *rig = calloc(1, sizeof(*rig));
    struct tdma_config config = { .props = *props };
    const char *error;

    if (!rig) {
        abort();
    }
    rig->host = calloc(1, HOST_BYTES);
    rig->hbm = calloc(1, RIG_DATA);
    config.hbm = rig->hbm;
    rig->core = tdma_core_new(&config, &ops, rig, &error);
    if (!rig->core) {
        fprintf(stderr, "rig: %s\n", error);
        abort();
    }
    rig_trace(rig, true);
    set_up(rig);
    return rig;
}

void rig_reset(struct rig *rig)
{
    tdma_core_reset(rig->core);
    rig_clear(rig);
    memset(rig->tail, 0, sizeof(rig->tail));
    set_up(rig);
}

void rig_free(struct rig *rig)
{
    tdma_core_free(rig->core);
    free(rig->requests.event);
    free(rig->responses.event);
    free(rig->host);
    free(rig->hbm);
    free(rig);
}

void rig_clear(struct rig *rig)
{
    rig->requests.count = rig->responses.count = 0;
    rig_write(rig, TDMA_THREAD_BASE + TDMA_THREAD_COUNTER_CLEAR, 1);
}

struct tdma_desc rig_copy(uint32_t elements, uint32_t elem_bytes)
{
    return (struct tdma_desc) {
        .version = TDMA_DESC_VERSION,
        .opcode = TDMA_OP_COPY,
        .ndims = 1,
        .elem_bytes = elem_bytes,
        .src_segment = RIG_SEGMENT_HBM,
        .dst_segment = RIG_SEGMENT_HBM,
        .dst_offset = RIG_DATA / 2,
        .steps = { elements },
        .src_stride = { elem_bytes },
        .dst_stride = { elem_bytes },
    };
}

static void put_slot(struct rig *rig, unsigned queue, const void *slot)
{
    uint32_t i = rig->tail[queue]++ % (1 << RIG_RING_ORDER);

    memcpy(rig->host + RING_AT + queue * RING_BYTES +
           i * sizeof(struct tdma_desc), slot, sizeof(struct tdma_desc));
}

uint32_t rig_submit(struct rig *rig, unsigned queue,
                    const struct tdma_desc *desc,
                    const struct tdma_desc_ext *ext)
{
    uint32_t index = rig->tail[queue];

    put_slot(rig, queue, desc);
    if (ext) {
        put_slot(rig, queue, ext);
    }
    return index;
}

void rig_ring(struct rig *rig)
{
    for (unsigned q = 0; q < RIG_QUEUES; q++) {
        rig_write(rig, TDMA_DOORBELL_BASE + q * TDMA_DOORBELL_STRIDE,
                  rig->tail[q]);
    }
}

bool rig_quantum(struct rig *rig)
{
    return tdma_core_run(rig->core, 0);
}

void rig_run(struct rig *rig)
{
    rig_ring(rig);
    while (rig_quantum(rig)) {
    }
}

const struct tdma_record *rig_record(const struct rig *rig, unsigned queue,
                                     uint32_t index)
{
    const struct tdma_record *records =
        (const void *)(rig->host + RECORDS_AT + queue * RECORD_BYTES);

    return &records[index % (1 << RIG_RING_ORDER)];
}

const struct tdma_counters *rig_counters(const struct rig *rig, unsigned side)
{
    return &rig->core->threads[0].engine->counters[side];
}

uint64_t rig_cycles(const struct rig *rig)
{
    return rig->core->threads[0].engine->cycles;
}

const struct tdma_progress *rig_progress(const struct rig *rig, unsigned side)
{
    return tdma_cycle_engine_progress(rig->core->threads[0].engine, side);
}
