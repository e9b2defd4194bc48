/* SPDX-License-Identifier: MIT */
/*
 * A machine with memory around it, for the tests of the core.
 */
#include "machine.h"
#include "test.h"

enum {
    RAM_BYTES = 64 << 20,
    HBM_BYTES = 16 << 20,
    SHORT_WINDOW = 37,
};

static void *must(void *ptr)
{
    if (!ptr) {
        fprintf(stderr, "out of memory\n");
        abort();
    }
    return ptr;
}

static bool refused(const struct machine *m, uint64_t addr, uint64_t len)
{
    unsigned i;

    if (addr < MACHINE_RAM_BASE || addr - MACHINE_RAM_BASE > m->ram_size ||
        len > m->ram_size - (addr - MACHINE_RAM_BASE)) {
        return true;
    }
    for (i = 0; i < m->faults; i++) {
        if (addr < m->fault[i].hi && m->fault[i].lo < addr + len) {
            return true;
        }
    }
    return false;
}

static int op_read(void *opaque, uint64_t addr, void *buf, size_t len)
{
    struct machine *m = opaque;

    if (refused(m, addr, len)) {
        return -1;
    }
    memcpy(buf, machine_ptr(m, addr), len);
    if (m->on_read) {
        m->on_read(m, addr, len);
    }
    return 0;
}

static void note_written(struct machine *m, uint64_t addr, uint64_t len)
{
    uint64_t lo = addr < m->told_lo ? m->told_lo : addr;
    uint64_t hi = addr + len > m->told_hi ? m->told_hi : addr + len;

    if (m->told && lo < hi) {
        memcpy(m->told + (lo - m->told_lo), machine_ptr(m, lo), hi - lo);
    }
}

/* The last word of a record orders itself behind what was written before. */
static int op_write(void *opaque, uint64_t addr, const void *buf, size_t len)
{
    struct machine *m = opaque;
    uint64_t word;

    if (refused(m, addr, len)) {
        return -1;
    }
    if (len == sizeof(word) && addr % sizeof(word) == 0) {
        memcpy(&word, buf, sizeof(word));
        __atomic_store_n((uint64_t *)machine_ptr(m, addr), word,
                         __ATOMIC_RELEASE);
    } else {
        memcpy(machine_ptr(m, addr), buf, len);
    }
    note_written(m, addr, len);
    return 0;
}

static bool op_window(void *opaque, uint64_t addr, uint64_t len, bool is_write,
                      struct tdma_window *w)
{
    struct machine *m = opaque;
    uint64_t page = (addr - MACHINE_RAM_BASE) / MACHINE_PAGE;
    uint64_t rest = MACHINE_PAGE - addr % MACHINE_PAGE;
    unsigned i;

    (void)is_write;
    if (refused(m, addr, 1)) {
        return false;
    }
    if (m->windows == WINDOWS_SOME) {
        if (page % 2) {
            return false;
        }
        len = len < rest ? len : rest;
    }
    if (m->windows == WINDOWS_SHORT && len > SHORT_WINDOW) {
        len = SHORT_WINDOW;
    }
    for (i = 0; i < m->faults; i++) {
        if (addr < m->fault[i].lo && m->fault[i].lo - addr < len) {
            len = m->fault[i].lo - addr;
        }
    }
    if (len > m->ram_size - (addr - MACHINE_RAM_BASE)) {
        len = m->ram_size - (addr - MACHINE_RAM_BASE);
    }
    *w = (struct tdma_window) {
        .ptr = machine_ptr(m, addr),
        .len = len,
        .cookie = m,
        .cookie_offset = addr - MACHINE_RAM_BASE,
    };
    return true;
}

static void op_written(void *opaque, const struct tdma_window *w,
                       uint64_t offset, uint64_t len)
{
    struct machine *m = opaque;

    assert_ptr_equal(w->cookie, m);
    assert_true(offset <= w->len && len <= w->len - offset);
    note_written(m, MACHINE_RAM_BASE + w->cookie_offset + offset, len);
}

static void op_hbm_written(void *opaque, uint64_t offset, uint64_t len)
{
    struct machine *m = opaque;

    assert_true(offset <= m->props.hbm_size &&
                len <= m->props.hbm_size - offset);
    if (m->told_hbm) {
        memcpy(m->told_hbm + offset, m->hbm + offset, len);
    }
}

static void op_interrupt(void *opaque, unsigned vector)
{
    struct machine *m = opaque;

    assert_true(vector < MACHINE_VECTORS);
    m->irqs[vector]++;
}

static void op_kick(void *opaque, unsigned thread)
{
    struct machine *m = opaque;

    m->kicked |= 1U << thread;
}

static void op_quiesce(void *opaque)
{
    struct machine *m = opaque;

    m->quiesced++;
}

static void op_resume(void *opaque)
{
    struct machine *m = opaque;

    assert_true(m->quiesced > 0);
}

static void op_event(void *opaque, enum tdma_event event, uint64_t a,
                     uint64_t b, uint64_t c)
{
    struct machine *m = opaque;

    (void)c;
    m->events[event]++;
    if (event == TDMA_EVENT_JOB_PROGRESS && m->on_progress) {
        m->on_progress(m, a, b);
    }
}

struct tdma_properties machine_properties(void)
{
    struct tdma_properties p = {
#define DEFAULT_VALUE(field, name, def, min, max, text) .field = def,
        TDMA_PROPERTIES(DEFAULT_VALUE)
#undef DEFAULT_VALUE
    };

    p.fidelity = test_env("TDMA_FIDELITY", TDMA_FIDELITY_FAST);
    p.hbm_size = HBM_BYTES;
    p.vectors = MACHINE_VECTORS;
    return p;
}

static const struct tdma_host_ops host_ops = {
    .read = op_read,
    .write = op_write,
    .window = op_window,
    .written = op_written,
    .hbm_written = op_hbm_written,
    .interrupt = op_interrupt,
    .kick = op_kick,
    .quiesce = op_quiesce,
    .resume = op_resume,
    .event = op_event,
};

void machine_setup(struct machine *m)
{
    unsigned i;

    for (i = 0; i < TEST_COUNT(m->table); i++) {
        uint64_t reg = TDMA_CONTEXT_BASE + i * TDMA_CONTEXT_STRIDE;

        machine_write64(m, reg + TDMA_CONTEXT_TABLE, m->table_addr[i]);
        machine_write(m, reg + TDMA_CONTEXT_COUNT, MACHINE_SEGMENTS);
    }
    machine_write(m, TDMA_REG_CONTROL, TDMA_CONTROL_ENABLE);
}

static struct tdma_core *make_core(struct machine *m,
                                   const struct tdma_properties *props)
{
    struct tdma_config config = { .props = *props, .hbm = m->hbm };
    struct tdma_core *core;
    const char *error;

    core = tdma_core_new(&config, &m->ops, m, &error);
    if (!core) {
        fprintf(stderr, "tdma_core_new: %s\n", error);
        abort();
    }
    return core;
}

struct machine *machine_new_sized(const struct tdma_properties *props,
                                  enum machine_windows windows,
                                  uint64_t ram_size)
{
    struct machine *m = must(calloc(1, sizeof(*m)));
    unsigned i;

    m->props = *props;
    m->windows = windows;
    m->ops = host_ops;
    if (windows == WINDOWS_NONE) {
        m->ops.window = NULL;
        m->ops.written = NULL;
    }
    m->ram_size = ram_size;
    m->ram = must(calloc(1, m->ram_size));
    m->hbm = must(calloc(1, props->hbm_size));
    m->core = make_core(m, props);
    for (i = 0; i < TEST_COUNT(m->table); i++) {
        m->table_addr[i] = machine_alloc(m, sizeof(m->table[i]), 64);
    }
    machine_setup(m);
    return m;
}

struct machine *machine_new(const struct tdma_properties *props,
                            enum machine_windows windows)
{
    return machine_new_sized(props, windows, RAM_BYTES);
}

void machine_free(struct machine *m)
{
    tdma_core_free(m->core);
    free(m->told);
    free(m->told_hbm);
    free(m->ram);
    free(m->hbm);
    free(m);
}

void machine_watch_writes(struct machine *m, uint64_t lo, uint64_t hi)
{
    m->told = must(realloc(m->told, hi - lo));
    /* Once: the sanitizers' realloc() copies, and 16 MiB for each job add up */
    if (!m->told_hbm) {
        m->told_hbm = must(malloc(m->props.hbm_size));
    }
    m->told_lo = lo;
    m->told_hi = hi;
    memcpy(m->told, machine_ptr(m, lo), hi - lo);
    memcpy(m->told_hbm, m->hbm, m->hbm_used);
}

bool machine_told_all(const struct machine *m)
{
    return !memcmp(m->told, m->ram + (m->told_lo - MACHINE_RAM_BASE),
                   m->told_hi - m->told_lo) &&
           !memcmp(m->told_hbm, m->hbm, m->hbm_used);
}

uint64_t machine_read(struct machine *m, uint64_t reg)
{
    return tdma_core_reg_read(m->core, reg, 4);
}

void machine_write(struct machine *m, uint64_t reg, uint64_t value)
{
    tdma_core_reg_write(m->core, reg, value, 4);
}

uint64_t machine_read64(struct machine *m, uint64_t reg)
{
    return tdma_core_reg_read(m->core, reg, 8);
}

void machine_write64(struct machine *m, uint64_t reg, uint64_t value)
{
    tdma_core_reg_write(m->core, reg, value, 8);
}

uint64_t queue_reg(unsigned queue, uint64_t reg)
{
    return TDMA_QUEUE_BASE + (uint64_t)queue * TDMA_QUEUE_STRIDE + reg;
}

uint64_t machine_alloc(struct machine *m, uint64_t bytes, uint64_t align)
{
    uint64_t at = (m->ram_used + align - 1) / align * align;

    if (at + bytes > m->ram_size) {
        fprintf(stderr, "test machine is out of RAM\n");
        abort();
    }
    m->ram_used = at + bytes;
    return MACHINE_RAM_BASE + at;
}

uint8_t *machine_ptr(struct machine *m, uint64_t addr)
{
    return m->ram + (addr - MACHINE_RAM_BASE);
}

void machine_fault(struct machine *m, uint64_t lo, uint64_t hi)
{
    assert_true(m->faults < MACHINE_FAULTS);
    m->fault[m->faults].lo = lo;
    m->fault[m->faults].hi = hi;
    m->faults++;
}

void machine_segment(struct machine *m, unsigned context, unsigned index,
                     const struct tdma_segment *seg)
{
    m->table[context][index] = *seg;
    memcpy(machine_ptr(m, m->table_addr[context]), m->table[context],
           sizeof(m->table[context]));
}

void machine_segment_host(struct machine *m, unsigned context, unsigned index,
                          uint64_t bytes, uint32_t access)
{
    struct tdma_segment seg = {
        .space = TDMA_SPACE_HOST,
        .flags = access,
        .length = bytes,
        .base = machine_alloc(m, bytes, 64),
    };

    machine_segment(m, context, index, &seg);
}

void machine_segment_hbm(struct machine *m, unsigned context, unsigned index,
                         uint64_t bytes, uint32_t access)
{
    struct tdma_segment seg = {
        .space = TDMA_SPACE_HBM,
        .flags = access,
        .length = bytes,
        .base = m->hbm_used,
    };

    m->hbm_used += bytes;
    assert_true(m->hbm_used <= m->props.hbm_size);
    machine_segment(m, context, index, &seg);
}

void machine_segment_paged(struct machine *m, unsigned context, unsigned index,
                           uint64_t bytes, uint32_t access, uint32_t at,
                           uint64_t seed)
{
    uint64_t pages = (at + bytes + MACHINE_PAGE - 1) / MACHINE_PAGE, i;
    uint64_t list = machine_alloc(m, pages * sizeof(uint64_t), 8);
    uint64_t first = machine_alloc(m, pages * MACHINE_PAGE, MACHINE_PAGE);
    uint64_t *page = (uint64_t *)machine_ptr(m, list);
    struct rng rng = { seed };
    struct tdma_segment seg = {
        .space = TDMA_SPACE_HOST,
        .flags = access | TDMA_SEG_PAGED,
        .page_shift = 12,
        .page_offset = at,
        .length = bytes,
        .base = list,
    };

    for (i = 0; i < pages; i++) {
        page[i] = first + i * MACHINE_PAGE;
    }
    /* Half of them in order, so that neighbours can be joined, too */
    for (i = 0; i + 1 < pages; i++) {
        uint64_t j = i + rng_below(&rng, pages - i), swap = page[i];

        if (rng_one_in(&rng, 2)) {
            page[i] = page[j];
            page[j] = swap;
        }
    }
    machine_segment(m, context, index, &seg);
}

uint8_t *machine_byte(struct machine *m, unsigned context, unsigned index,
                      uint64_t offset)
{
    const struct tdma_segment *seg = &m->table[context][index];
    uint64_t pos = seg->page_offset + offset;

    if (offset >= seg->length) {
        fprintf(stderr, "offset %llu outside of segment %u\n",
                (unsigned long long)offset, index);
        abort();
    }
    if (seg->space == TDMA_SPACE_HBM) {
        return m->hbm + seg->base + offset;
    }
    if (seg->flags & TDMA_SEG_PAGED) {
        const uint64_t *page = (const uint64_t *)machine_ptr(m, seg->base);

        return machine_ptr(m, page[pos / MACHINE_PAGE]) + pos % MACHINE_PAGE;
    }
    return machine_ptr(m, seg->base + offset);
}

void machine_run_thread(struct machine *m, unsigned thread)
{
    m->kicked &= ~(1U << thread);
    while (tdma_core_run(m->core, thread)) {
    }
}

void machine_run(struct machine *m)
{
    while (m->kicked) {
        machine_run_thread(m, __builtin_ctz(m->kicked));
    }
}

uint8_t *machine_save(struct machine *m, size_t *len)
{
    size_t max = tdma_core_state_max(m->core);
    uint8_t *state = must(malloc(max));

    tdma_core_stop(m->core);
    *len = tdma_core_save(m->core, state);
    assert_true(*len <= max);
    /* What is not used is not there for a sanitizer, either. */
    return must(realloc(state, *len));
}

const char *machine_load(struct machine *m,
                         const struct tdma_properties *props,
                         const uint8_t *state, size_t len)
{
    static char why[100];
    struct tdma_core *core = make_core(m, props);

    m->kicked = 0;
    if (!tdma_core_load(core, state, len, why, sizeof(why))) {
        tdma_core_free(core);
        return why;
    }
    tdma_core_free(m->core);
    m->core = core;
    return NULL;
}

struct queue machine_queue(struct machine *m, unsigned number,
                           const struct queue_config *config)
{
    unsigned order = config->order ? config->order : 6;
    struct queue q = { .m = m, .number = number, .order = order };

    q.ring = machine_alloc(m, sizeof(struct tdma_desc) << order, 256);
    q.records = machine_alloc(m, sizeof(struct tdma_record) << order, 64);
    if (config->tail_in_memory) {
        q.tail_addr = machine_alloc(m, 4, 64);
    }
    machine_write64(m, queue_reg(number, TDMA_QUEUE_RING), q.ring);
    machine_write64(m, queue_reg(number, TDMA_QUEUE_RECORDS), q.records);
    machine_write64(m, queue_reg(number, TDMA_QUEUE_TAIL_ADDR), q.tail_addr);
    machine_write(m, queue_reg(number, TDMA_QUEUE_RING_ORDER), order);
    machine_write(m, queue_reg(number, TDMA_QUEUE_CONTEXT), config->context);
    machine_write(m, queue_reg(number, TDMA_QUEUE_VECTOR), config->vector);
    machine_write(m, queue_reg(number, TDMA_QUEUE_THREAD), config->thread);
    machine_write(m, queue_reg(number, TDMA_QUEUE_PRIORITY),
                  config->priority);
    machine_write(m, queue_reg(number, TDMA_QUEUE_POLICY), config->policy);
    machine_write(m, queue_reg(number, TDMA_QUEUE_CONTROL), TDMA_QCTL_ENABLE);
    return q;
}

static uint64_t slot_at(const struct queue *q, uint32_t index, uint64_t base,
                        uint64_t size)
{
    return base + (index & ((1U << q->order) - 1)) * size;
}

uint32_t queue_put(struct queue *q, const struct tdma_desc *desc,
                   const struct tdma_desc_ext *ext)
{
    uint32_t index = q->tail;

    memcpy(machine_ptr(q->m, slot_at(q, q->tail++, q->ring, sizeof(*desc))),
           desc, sizeof(*desc));
    if (ext) {
        memcpy(machine_ptr(q->m, slot_at(q, q->tail++, q->ring, sizeof(*ext))),
               ext, sizeof(*ext));
    }
    return index;
}

void queue_ring(struct queue *q)
{
    if (q->tail_addr) {
        __atomic_store_n((uint32_t *)machine_ptr(q->m, q->tail_addr), q->tail,
                         __ATOMIC_RELEASE);
    }
    machine_write(q->m, TDMA_DOORBELL_BASE + q->number * TDMA_DOORBELL_STRIDE,
                  q->tail);
}

struct tdma_record queue_record(struct queue *q, uint32_t index)
{
    struct tdma_record record;

    memcpy(&record, machine_ptr(q->m, slot_at(q, index, q->records,
                                              sizeof(record))),
           sizeof(record));
    return record;
}

struct tdma_record queue_do(struct queue *q, const struct tdma_desc *desc,
                            const struct tdma_desc_ext *ext)
{
    uint32_t index = queue_put(q, desc, ext);
    struct tdma_record record;

    queue_ring(q);
    machine_run(q->m);
    record = queue_record(q, index);
    assert_int_equal(record.sequence, index + 1);
    assert_int_equal(record.tag, desc->tag);
    return record;
}

uint32_t queue_state(struct queue *q)
{
    return machine_read(q->m, queue_reg(q->number, TDMA_QUEUE_STATE));
}

uint32_t queue_error(struct queue *q)
{
    return machine_read(q->m, queue_reg(q->number, TDMA_QUEUE_ERROR));
}

uint32_t queue_done(struct queue *q)
{
    return machine_read(q->m, queue_reg(q->number, TDMA_QUEUE_DONE));
}

struct tdma_desc desc_nop(void)
{
    return (struct tdma_desc) {
        .version = TDMA_DESC_VERSION,
        .opcode = TDMA_OP_NOP,
    };
}

struct tdma_desc desc_copy(uint32_t src, uint32_t dst, uint32_t bytes,
                           uint32_t elements)
{
    return (struct tdma_desc) {
        .version = TDMA_DESC_VERSION,
        .opcode = TDMA_OP_COPY,
        .ndims = 1,
        .elem_bytes = bytes,
        .src_segment = src,
        .dst_segment = dst,
        .steps = { elements },
        .src_stride = { bytes },
        .dst_stride = { bytes },
    };
}

struct tdma_desc desc_memset(uint32_t dst, uint32_t bytes, uint32_t elements,
                             uint8_t value)
{
    return (struct tdma_desc) {
        .version = TDMA_DESC_VERSION,
        .opcode = TDMA_OP_MEMSET,
        .ndims = 1,
        .type = 1,
        .elem_bytes = bytes,
        .dst_segment = dst,
        .steps = { elements },
        .dst_stride = { bytes },
        .fill = { value },
    };
}
