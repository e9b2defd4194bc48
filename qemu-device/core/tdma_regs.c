/* SPDX-License-Identifier: MIT */
/*
 * tensordma core: the register file.
 *
 * BAR0 is a row of regions, each an array of equal blocks; a block is a table
 * of registers. A register is read and written in words of 32 bits, a 64-bit
 * one also as a whole.
 */
#include <stddef.h>
#include <string.h>
#include "dma/tdma_job.h"
#include "dma/tdma_thread.h"
#include "queue/tdma_queue.h"
#include "tdma_machine.h"

/* Where an access landed */
struct place {
    struct tdma_core *core;
    unsigned block;             /* which queue, thread, context or flag */
    unsigned part;              /* which counter, where that applies */
};

/* What a write asks for once the lock is released */
struct aftermath {
    bool reset;
    bool call_all;
    struct tdma_queue *call;
};

struct reg {
    uint16_t offset;
    uint8_t size;               /* 4 or 8 */
    uint8_t count;              /* registers in a row; 0 = 1 */
    uint64_t (*read)(const struct place *at);
    /* False if the write is not allowed now. NULL: read only */
    bool (*write)(const struct place *at, uint64_t value,
                  struct aftermath *after);
    /* Does this machine have it? NULL: every machine does */
    bool (*exists)(const struct tdma_core *core);
};

struct region {
    uint32_t base;
    uint32_t stride;
    uint64_t (*blocks)(const struct tdma_core *core);
    const struct reg *regs;
    unsigned nregs;
};

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static struct tdma_queue *queue_of(const struct place *at)
{
    return &at->core->queues[at->block];
}

static struct tdma_thread *thread_of(const struct place *at)
{
    return &at->core->threads[at->block];
}

static struct tdma_segment_table *context_of(const struct place *at)
{
    return &at->core->contexts[at->block];
}

/*
 * Global registers
 */

#define CONSTANT(name, value)                                               \
    static uint64_t read_##name(const struct place *at)                     \
    {                                                                       \
        (void)at;                                                           \
        return (value);                                                     \
    }

CONSTANT(id, TDMA_ID_VALUE)
CONSTANT(version, TDMA_VERSION_VALUE)
CONSTANT(threads, at->core->props.threads)
CONSTANT(queues, at->core->props.queues)
CONSTANT(contexts, at->core->props.contexts)
CONSTANT(segments, at->core->props.segments)
CONSTANT(ring_order, at->core->props.ring_order)
CONSTANT(dims, at->core->props.dims)
CONSTANT(lanes, at->core->props.lanes)
CONSTANT(ids, at->core->props.ids)
CONSTANT(vectors, at->core->props.vectors)
CONSTANT(hbm_size, at->core->props.hbm_size)
CONSTANT(sync_flags, at->core->props.sync_flags)
CONSTANT(opcodes, tdma_job_limits(at->core).opcodes)
CONSTANT(types, tdma_job_limits(at->core).types)
CONSTANT(control, at->core->enabled ? TDMA_CONTROL_ENABLE : 0)
CONSTANT(generation, at->core->generation)
CONSTANT(bad_access, at->core->bad_access)

static uint64_t read_features(const struct place *at)
{
    return TDMA_FEATURE_EXT | TDMA_FEATURE_SYNC_FLAGS | TDMA_FEATURE_TRACE |
           (at->core->props.fidelity == TDMA_FIDELITY_CYCLE
            ? TDMA_FEATURE_CYCLE : 0) |
           (at->core->props.inject ? TDMA_FEATURE_INJECT : 0);
}

static uint64_t read_status(const struct place *at)
{
    const struct tdma_core *core = at->core;
    bool idle = true;
    unsigned i;

    for (i = 0; i < core->props.queues && idle; i++) {
        idle = !core->queues[i].in_flight;
    }
    return TDMA_STATUS_REG_READY | (idle ? TDMA_STATUS_REG_IDLE : 0);
}

static bool write_control(const struct place *at, uint64_t value,
                          struct aftermath *after)
{
    bool enable = value & TDMA_CONTROL_ENABLE;

    after->reset = value & TDMA_CONTROL_RESET;
    after->call_all = enable && !at->core->enabled;
    at->core->enabled = enable;
    return true;
}

static bool write_bad_access(const struct place *at, uint64_t value,
                             struct aftermath *after)
{
    (void)value;
    (void)after;
    at->core->bad_access = 0;
    return true;
}

static const struct reg global_regs[] = {
    { .offset = TDMA_REG_ID, .size = 4,
      .read = read_id },
    { .offset = TDMA_REG_VERSION, .size = 4,
      .read = read_version },
    { .offset = TDMA_REG_FEATURES, .size = 4,
      .read = read_features },
    { .offset = TDMA_REG_THREADS, .size = 4,
      .read = read_threads },
    { .offset = TDMA_REG_QUEUES, .size = 4,
      .read = read_queues },
    { .offset = TDMA_REG_CONTEXTS, .size = 4,
      .read = read_contexts },
    { .offset = TDMA_REG_SEGMENTS, .size = 4,
      .read = read_segments },
    { .offset = TDMA_REG_RING_ORDER, .size = 4,
      .read = read_ring_order },
    { .offset = TDMA_REG_DIMS, .size = 4,
      .read = read_dims },
    { .offset = TDMA_REG_LANES, .size = 4,
      .read = read_lanes },
    { .offset = TDMA_REG_IDS, .size = 4,
      .read = read_ids },
    { .offset = TDMA_REG_VECTORS, .size = 4,
      .read = read_vectors },
    { .offset = TDMA_REG_HBM_SIZE, .size = 8,
      .read = read_hbm_size },
    { .offset = TDMA_REG_OPCODES, .size = 4,
      .read = read_opcodes },
    { .offset = TDMA_REG_TYPES, .size = 4,
      .read = read_types },
    { .offset = TDMA_REG_CONTROL, .size = 4,
      .read = read_control, .write = write_control },
    { .offset = TDMA_REG_STATUS, .size = 4,
      .read = read_status },
    { .offset = TDMA_REG_GENERATION, .size = 4,
      .read = read_generation },
    { .offset = TDMA_REG_BAD_ACCESS, .size = 4,
      .read = read_bad_access, .write = write_bad_access },
    { .offset = TDMA_REG_SYNC_FLAGS, .size = 4,
      .read = read_sync_flags },
};

/*
 * Thread registers
 */

static uint64_t read_throttle_window(const struct place *at)
{
    return thread_of(at)->throttle_window;
}

/* Completes the pair. What cannot be is not passed on to the engine. */
static bool write_throttle_window(const struct place *at, uint64_t value,
                                  struct aftermath *after)
{
    struct tdma_thread *thread = thread_of(at);
    uint32_t budget = thread->throttle_budget;

    (void)after;
    thread->throttle_window = value;
    thread->throttle_status = tdma_thread_check_throttle(at->core, value,
                                                         budget);
    if (thread->throttle_status < TDMA_THROTTLE_BAD) {
        thread->throttle.window = value;
        thread->throttle.budget = budget;
    }
    return true;
}

static uint64_t read_throttle_budget(const struct place *at)
{
    return thread_of(at)->throttle_budget;
}

static bool write_throttle_budget(const struct place *at, uint64_t value,
                                  struct aftermath *after)
{
    (void)after;
    thread_of(at)->throttle_budget = value;
    return true;
}

static uint64_t read_throttle_status(const struct place *at)
{
    return thread_of(at)->throttle_status;
}

static uint64_t read_zero(const struct place *at)
{
    (void)at;
    return 0;
}

static bool write_counter_clear(const struct place *at, uint64_t value,
                                struct aftermath *after)
{
    struct tdma_thread *thread = thread_of(at);

    (void)value;
    (void)after;
    thread->clear_counters = true;
    thread->cycles = 0;
    memset(thread->counters, 0, sizeof(thread->counters));
    return true;
}

static uint64_t read_cycles(const struct place *at)
{
    return thread_of(at)->cycles;
}

static uint64_t counter(const struct tdma_counters *c, unsigned part)
{
    switch (part * sizeof(uint64_t)) {
    case TDMA_COUNTER_REQUESTS:
        return c->requests;
    case TDMA_COUNTER_STALL_BACKPRESSURE:
        return c->stall_backpressure;
    case TDMA_COUNTER_STALL_THROTTLE:
        return c->stall_throttle;
    case TDMA_COUNTER_STALL_IDS:
        return c->stall_ids;
    case TDMA_COUNTER_STALL_HAZARD:
        return c->stall_hazard;
    case TDMA_COUNTER_PIPELINE_FILL:
        return c->pipeline_fill;
    default:
        return c->outstanding_max;
    }
}

enum { COUNTERS = TDMA_COUNTER_OUTSTANDING_MAX / 8 + 1 };

static uint64_t read_src_counter(const struct place *at)
{
    return counter(&thread_of(at)->counters[TDMA_SRC], at->part);
}

static uint64_t read_dst_counter(const struct place *at)
{
    return counter(&thread_of(at)->counters[TDMA_DST], at->part);
}

#define THREAD_INJECT(field)                                                \
    static uint64_t read_inject_##field(const struct place *at)             \
    {                                                                       \
        return thread_of(at)->inject.field;                                 \
    }                                                                       \
    static bool write_inject_##field(const struct place *at,                \
                                     uint64_t value,                        \
                                     struct aftermath *after)               \
    {                                                                       \
        (void)after;                                                        \
        thread_of(at)->inject.field = value;                                \
        thread_of(at)->new_inject = true;                                   \
        return true;                                                        \
    }

THREAD_INJECT(kind)
THREAD_INJECT(side)
THREAD_INJECT(element)

static bool has_inject(const struct tdma_core *core)
{
    return core->props.inject;
}

#define TRACE_CONFIG(field, type)                                           \
    static uint64_t read_trace_##field(const struct place *at)              \
    {                                                                       \
        return thread_of(at)->trace.field;                                  \
    }                                                                       \
    static bool write_trace_##field(const struct place *at, uint64_t value, \
                                    struct aftermath *after)                \
    {                                                                       \
        (void)after;                                                        \
        if (!tdma_trace_configurable(&thread_of(at)->trace)) {              \
            return false;                                                   \
        }                                                                   \
        thread_of(at)->trace.field = (type)value;                           \
        return true;                                                        \
    }

TRACE_CONFIG(base, uint64_t)
TRACE_CONFIG(order, uint32_t)
TRACE_CONFIG(events, uint32_t)

CONSTANT(trace_control, tdma_trace_control_value(&thread_of(at)->trace))
CONSTANT(trace_state, thread_of(at)->trace.state)
CONSTANT(trace_head, thread_of(at)->trace.head)
CONSTANT(trace_tail, thread_of(at)->trace.tail)
CONSTANT(trace_lost, thread_of(at)->trace.lost)

static bool write_trace_control(const struct place *at, uint64_t value,
                                struct aftermath *after)
{
    (void)after;
    return tdma_trace_control(&thread_of(at)->trace, value);
}

static bool write_trace_tail(const struct place *at, uint64_t value,
                             struct aftermath *after)
{
    (void)after;
    return tdma_trace_set_tail(&thread_of(at)->trace, value);
}

static const struct reg thread_regs[] = {
    { .offset = TDMA_THREAD_THROTTLE_WINDOW, .size = 4,
      .read = read_throttle_window, .write = write_throttle_window },
    { .offset = TDMA_THREAD_THROTTLE_BUDGET, .size = 4,
      .read = read_throttle_budget, .write = write_throttle_budget },
    { .offset = TDMA_THREAD_COUNTER_CLEAR, .size = 4,
      .read = read_zero, .write = write_counter_clear },
    { .offset = TDMA_THREAD_THROTTLE_STATUS, .size = 4,
      .read = read_throttle_status },
    { .offset = TDMA_THREAD_CYCLES, .size = 8,
      .read = read_cycles },
    { .offset = TDMA_THREAD_INJECT, .size = 4,
      .read = read_inject_kind, .write = write_inject_kind,
      .exists = has_inject },
    { .offset = TDMA_THREAD_INJECT_SIDE, .size = 4,
      .read = read_inject_side, .write = write_inject_side,
      .exists = has_inject },
    { .offset = TDMA_THREAD_INJECT_ELEMENT, .size = 8,
      .read = read_inject_element, .write = write_inject_element,
      .exists = has_inject },
    { .offset = TDMA_THREAD_SRC_COUNTERS, .size = 8, .count = COUNTERS,
      .read = read_src_counter },
    { .offset = TDMA_THREAD_DST_COUNTERS, .size = 8, .count = COUNTERS,
      .read = read_dst_counter },
    { .offset = TDMA_THREAD_TRACE_BASE, .size = 8,
      .read = read_trace_base, .write = write_trace_base },
    { .offset = TDMA_THREAD_TRACE_ORDER, .size = 4,
      .read = read_trace_order, .write = write_trace_order },
    { .offset = TDMA_THREAD_TRACE_EVENTS, .size = 4,
      .read = read_trace_events, .write = write_trace_events },
    { .offset = TDMA_THREAD_TRACE_CONTROL, .size = 4,
      .read = read_trace_control, .write = write_trace_control },
    { .offset = TDMA_THREAD_TRACE_STATE, .size = 4,
      .read = read_trace_state },
    { .offset = TDMA_THREAD_TRACE_HEAD, .size = 4,
      .read = read_trace_head },
    { .offset = TDMA_THREAD_TRACE_TAIL, .size = 4,
      .read = read_trace_tail, .write = write_trace_tail },
    { .offset = TDMA_THREAD_TRACE_LOST, .size = 8,
      .read = read_trace_lost },
};

/*
 * Context registers
 */

static uint64_t read_table(const struct place *at)
{
    return context_of(at)->addr;
}

static bool write_table(const struct place *at, uint64_t value,
                        struct aftermath *after)
{
    (void)after;
    context_of(at)->addr = value;
    return true;
}

static uint64_t read_count(const struct place *at)
{
    return context_of(at)->count;
}

static bool write_count(const struct place *at, uint64_t value,
                        struct aftermath *after)
{
    (void)after;
    if (value > at->core->props.segments) {
        return false;
    }
    context_of(at)->count = value;
    return true;
}

static const struct reg context_regs[] = {
    { .offset = TDMA_CONTEXT_TABLE, .size = 8,
      .read = read_table, .write = write_table },
    { .offset = TDMA_CONTEXT_COUNT, .size = 4,
      .read = read_count, .write = write_count },
};

/*
 * Sync flags
 */

static uint64_t read_flag_value(const struct place *at)
{
    return tdma_sync_flag_value(&at->core->flags, at->block);
}

static bool write_flag_value(const struct place *at, uint64_t value,
                             struct aftermath *after)
{
    (void)after;
    tdma_sync_flag_set_value(&at->core->flags, at->block, value);
    return true;
}

static uint64_t read_flag_control(const struct place *at)
{
    return tdma_sync_flag_control(&at->core->flags, at->block);
}

static bool write_flag_control(const struct place *at, uint64_t value,
                               struct aftermath *after)
{
    (void)after;
    tdma_sync_flag_set_control(&at->core->flags, at->block, value);
    return true;
}

static const struct reg sync_regs[] = {
    { .offset = TDMA_SYNC_VALUE, .size = 4,
      .read = read_flag_value, .write = write_flag_value },
    { .offset = TDMA_SYNC_CONTROL, .size = 4,
      .read = read_flag_control, .write = write_flag_control },
};

/*
 * Queue registers
 */

#define QUEUE_CONFIG(field, type)                                           \
    static uint64_t read_q_##field(const struct place *at)                  \
    {                                                                       \
        return queue_of(at)->field;                                         \
    }                                                                       \
    static bool write_q_##field(const struct place *at, uint64_t value,     \
                                struct aftermath *after)                    \
    {                                                                       \
        (void)after;                                                        \
        if (!tdma_queue_configurable(queue_of(at))) {                       \
            return false;                                                   \
        }                                                                   \
        queue_of(at)->field = (type)value;                                  \
        return true;                                                        \
    }

QUEUE_CONFIG(ring, uint64_t)
QUEUE_CONFIG(records, uint64_t)
QUEUE_CONFIG(tail_addr, uint64_t)
QUEUE_CONFIG(ring_order, uint32_t)
QUEUE_CONFIG(context, uint32_t)
QUEUE_CONFIG(vector, uint32_t)
QUEUE_CONFIG(thread, uint32_t)
QUEUE_CONFIG(priority, uint32_t)
QUEUE_CONFIG(policy, uint32_t)

CONSTANT(q_control, tdma_queue_control_value(queue_of(at)))
CONSTANT(q_state, tdma_queue_state(queue_of(at)))
CONSTANT(q_head, queue_of(at)->head)
CONSTANT(q_tail, queue_of(at)->tail)
CONSTANT(q_done, queue_of(at)->done)
CONSTANT(q_error, queue_of(at)->error)
CONSTANT(q_irq_status, queue_of(at)->irq_status)
CONSTANT(q_wait, tdma_queue_wait(queue_of(at)))
CONSTANT(q_progress, queue_of(at)->progress)

static bool write_q_control(const struct place *at, uint64_t value,
                            struct aftermath *after)
{
    tdma_queue_control(queue_of(at), value);
    after->call = queue_of(at);
    return true;
}

static bool write_q_irq_status(const struct place *at, uint64_t value,
                               struct aftermath *after)
{
    (void)value;
    (void)after;
    queue_of(at)->irq_status = 0;
    return true;
}

static const struct reg queue_regs[] = {
    { .offset = TDMA_QUEUE_RING, .size = 8,
      .read = read_q_ring, .write = write_q_ring },
    { .offset = TDMA_QUEUE_RECORDS, .size = 8,
      .read = read_q_records, .write = write_q_records },
    { .offset = TDMA_QUEUE_TAIL_ADDR, .size = 8,
      .read = read_q_tail_addr, .write = write_q_tail_addr },
    { .offset = TDMA_QUEUE_RING_ORDER, .size = 4,
      .read = read_q_ring_order, .write = write_q_ring_order },
    { .offset = TDMA_QUEUE_CONTEXT, .size = 4,
      .read = read_q_context, .write = write_q_context },
    { .offset = TDMA_QUEUE_VECTOR, .size = 4,
      .read = read_q_vector, .write = write_q_vector },
    { .offset = TDMA_QUEUE_THREAD, .size = 4,
      .read = read_q_thread, .write = write_q_thread },
    { .offset = TDMA_QUEUE_PRIORITY, .size = 4,
      .read = read_q_priority, .write = write_q_priority },
    { .offset = TDMA_QUEUE_POLICY, .size = 4,
      .read = read_q_policy, .write = write_q_policy },
    { .offset = TDMA_QUEUE_CONTROL, .size = 4,
      .read = read_q_control, .write = write_q_control },
    { .offset = TDMA_QUEUE_STATE, .size = 4,
      .read = read_q_state },
    { .offset = TDMA_QUEUE_HEAD, .size = 4,
      .read = read_q_head },
    { .offset = TDMA_QUEUE_TAIL, .size = 4,
      .read = read_q_tail },
    { .offset = TDMA_QUEUE_DONE, .size = 4,
      .read = read_q_done },
    { .offset = TDMA_QUEUE_ERROR, .size = 4,
      .read = read_q_error },
    { .offset = TDMA_QUEUE_IRQ_STATUS, .size = 4,
      .read = read_q_irq_status, .write = write_q_irq_status },
    { .offset = TDMA_QUEUE_WAIT, .size = 4,
      .read = read_q_wait },
    { .offset = TDMA_QUEUE_PROGRESS, .size = 8,
      .read = read_q_progress },
};

static bool write_doorbell(const struct place *at, uint64_t value,
                           struct aftermath *after)
{
    tdma_queue_ring(queue_of(at), value);
    after->call = queue_of(at);
    return true;
}

static const struct reg doorbell_regs[] = {
    { .offset = 0, .size = 4,
      .read = read_zero, .write = write_doorbell },
};

static uint64_t one_block(const struct tdma_core *core)
{
    (void)core;
    return 1;
}

static uint64_t thread_blocks(const struct tdma_core *core)
{
    return core->props.threads;
}

static uint64_t context_blocks(const struct tdma_core *core)
{
    return core->props.contexts;
}

static uint64_t queue_blocks(const struct tdma_core *core)
{
    return core->props.queues;
}

static uint64_t sync_blocks(const struct tdma_core *core)
{
    return core->props.sync_flags;
}

#define REGION(base, stride, blocks, regs)                                  \
    { base, stride, blocks, regs, ARRAY_SIZE(regs) }

/* In order of address; a region ends where the next one begins. */
static const struct region regions[] = {
    REGION(TDMA_GLOBAL_BASE, TDMA_THREAD_BASE, one_block, global_regs),
    REGION(TDMA_THREAD_BASE, TDMA_THREAD_STRIDE, thread_blocks, thread_regs),
    REGION(TDMA_CONTEXT_BASE, TDMA_CONTEXT_STRIDE, context_blocks,
           context_regs),
    REGION(TDMA_QUEUE_BASE, TDMA_QUEUE_STRIDE, queue_blocks, queue_regs),
    REGION(TDMA_SYNC_BASE, TDMA_SYNC_STRIDE, sync_blocks, sync_regs),
    REGION(TDMA_DOORBELL_BASE, TDMA_DOORBELL_STRIDE, queue_blocks,
           doorbell_regs),
};

static const struct region *find_region(uint64_t addr)
{
    unsigned i = ARRAY_SIZE(regions) - 1;

    while (addr < regions[i].base) {
        i--;
    }
    return &regions[i];
}

/*
 * The register that @addr is in, its place, and in *shift the bit its value
 * begins at; NULL if there is none or the access does not suit it.
 */
static const struct reg *find_reg(struct tdma_core *core, uint64_t addr,
                                  unsigned size, struct place *at,
                                  unsigned *shift)
{
    const struct region *region = find_region(addr);
    uint64_t block = (addr - region->base) / region->stride;
    uint32_t offset = (addr - region->base) % region->stride;
    unsigned i;

    if (addr % size || block >= region->blocks(core)) {
        return NULL;
    }
    at->core = core;
    at->block = block;
    for (i = 0; i < region->nregs; i++) {
        const struct reg *reg = &region->regs[i];
        unsigned span = reg->size * (reg->count ? reg->count : 1);

        if (offset >= reg->offset && offset - reg->offset < span &&
            size <= reg->size && (!reg->exists || reg->exists(core))) {
            at->part = (offset - reg->offset) / reg->size;
            *shift = (offset - reg->offset) % reg->size * 8;
            return reg;
        }
    }
    return NULL;
}

static uint64_t size_mask(unsigned size)
{
    return size == 8 ? UINT64_MAX : UINT32_MAX;
}

uint64_t tdma_core_reg_read(struct tdma_core *core, uint64_t addr,
                            unsigned size)
{
    const struct reg *reg;
    unsigned shift = 0;
    struct place at;
    uint64_t value = 0;

    tdma_lock(core);
    reg = find_reg(core, addr, size, &at, &shift);
    if (reg) {
        value = reg->read(&at) >> shift & size_mask(size);
    } else {
        core->bad_access++;
    }
    tdma_unlock(core);
    return value;
}

/* Half of a 64-bit register keeps the other half. */
static uint64_t merge(const struct reg *reg, const struct place *at,
                      uint64_t value, unsigned size, unsigned shift)
{
    uint64_t mask = size_mask(size) << shift;

    if (size == reg->size) {
        return value & size_mask(size);
    }
    return (reg->read(at) & ~mask) | (value << shift & mask);
}

static void finish_write(struct tdma_core *core, const struct aftermath *after,
                         unsigned kick)
{
    if (after->reset) {
        if (core->ops.quiesce) {
            core->ops.quiesce(core->mem.opaque);
        }
        tdma_core_reset(core);
        if (core->ops.resume) {
            core->ops.resume(core->mem.opaque);
        }
    } else if (after->call_all) {
        tdma_thread_call_all(core);
    } else if (after->call) {
        core->ops.kick(core->mem.opaque, kick);
    }
}

void tdma_core_reg_write(struct tdma_core *core, uint64_t addr,
                         uint64_t value, unsigned size)
{
    struct aftermath after = { 0 };
    const struct reg *reg;
    unsigned shift = 0, kick = 0;
    struct place at;

    tdma_lock(core);
    reg = find_reg(core, addr, size, &at, &shift);
    if (!reg || !reg->write ||
        !reg->write(&at, merge(reg, &at, value, size, shift), &after)) {
        core->bad_access++;
    }
    if (after.call) {
        kick = tdma_thread_call(core, after.call);
    }
    tdma_unlock(core);
    finish_write(core, &after, kick);
}

void tdma_core_doorbell(struct tdma_core *core, unsigned queue)
{
    unsigned kick;

    if (queue >= core->props.queues) {
        return;
    }
    tdma_lock(core);
    tdma_queue_tail_moved(&core->queues[queue]);
    kick = tdma_thread_call(core, &core->queues[queue]);
    tdma_unlock(core);
    core->ops.kick(core->mem.opaque, kick);
}
