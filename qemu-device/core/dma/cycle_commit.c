/* SPDX-License-Identifier: MIT */
/* Commit of served elements; see cycle_commit.h. */
#include <stdlib.h>
#include <string.h>
#include "cycle_commit.h"

bool tdma_commit_create(struct tdma_commit *c)
{
    memset(c, 0, sizeof(*c));
    c->scratch = malloc(2 * TDMA_MAX_ELEM_BYTES);
    return c->scratch;
}

void tdma_commit_destroy(struct tdma_commit *c)
{
    free(c->scratch);
}

void tdma_commit_reset(struct tdma_commit *c)
{
    uint8_t *scratch = c->scratch;

    memset(c, 0, sizeof(*c));
    c->scratch = scratch;
}

void tdma_commit_begin(struct tdma_commit *c, struct tdma_flight *flight)
{
    c->flight = flight;
    c->started[TDMA_SRC] = c->started[TDMA_DST] = false;
}

bool tdma_commit_done(const struct tdma_commit *c)
{
    return c->flight->committed >= c->flight->limit;
}

void tdma_commit_leave(struct tdma_commit *c)
{
    struct tdma_flight *f = c->flight;

    for (unsigned s = 0; s < TDMA_SIDES; s++) {
        c->sequence[s] += f->side[s].issued;
        if (f->has_side[s]) {
            c->sequence[s] -= f->committed;
        }
    }
    c->flight = NULL;
}

/*
 * Pointers. A flight keeps the piece of each segment that it used last.
 */

static void flush_reach(struct tdma_flight *f, unsigned side)
{
    struct tdma_reach *r = &f->reach[side];

    if (r->dirty_lo < r->dirty_hi) {
        tdma_view_dirty(&f->job->view[side], r->dirty_lo,
                        r->dirty_hi - r->dirty_lo);
    }
    r->dirty_lo = UINT64_MAX;
    r->dirty_hi = 0;
}

void tdma_commit_flush(struct tdma_flight *f)
{
    for (unsigned s = 0; s < TDMA_SIDES; s++) {
        flush_reach(f, s);
    }
}

void tdma_commit_drop(struct tdma_flight *f)
{
    tdma_commit_flush(f);
    f->reach[TDMA_SRC].len = f->reach[TDMA_DST].len = 0;
}

static uint8_t *map(struct tdma_flight *f, unsigned side, uint64_t offset)
{
    struct tdma_reach *r = &f->reach[side];
    uint64_t before, len;
    uint8_t *ptr;

    flush_reach(f, side);
    r->len = 0;
    ptr = tdma_view_map(&f->job->view[side], offset, &before, &len);
    if (!ptr) {
        return NULL;
    }
    r->ptr = ptr - before;
    r->start = offset - before;
    r->len = before + len;
    return len >= f->elem_bytes ? ptr : NULL;
}

static inline bool covers(const struct tdma_reach *r, uint64_t offset,
                          uint64_t bytes)
{
    uint64_t in = offset - r->start;

    return in < r->len && bytes <= r->len - in;
}

/* A pointer to the whole element at @offset; NULL if it has no such. */
static inline uint8_t *reach(struct tdma_flight *f, unsigned side,
                             uint64_t offset)
{
    struct tdma_reach *r = &f->reach[side];

    if (covers(r, offset, f->elem_bytes)) {
        return r->ptr + (offset - r->start);
    }
    return map(f, side, offset);
}

static inline void mark_dirty(struct tdma_flight *f, uint64_t offset)
{
    struct tdma_reach *r = &f->reach[TDMA_DST];

    if (offset < r->dirty_lo) {
        r->dirty_lo = offset;
    }
    if (offset + f->elem_bytes > r->dirty_hi) {
        r->dirty_hi = offset + f->elem_bytes;
    }
}

/*
 * Elements. Each of these moves one and returns false on a fault.
 */

static bool fault(struct tdma_flight *f, unsigned side, uint64_t offset,
                  uint32_t status)
{
    tdma_job_fault(f->job, side, offset);
    f->status = status;
    return false;
}

/* memmove(), with the sizes that matter in line. */
static inline void copy_bytes(uint8_t *dst, const uint8_t *src, size_t len)
{
    uint64_t u64;
    uint32_t u32;
    uint16_t u16;

    switch (len) {
    case 1:
        *dst = *src;
        break;
    case 2:
        memcpy(&u16, src, sizeof(u16));
        memcpy(dst, &u16, sizeof(u16));
        break;
    case 4:
        memcpy(&u32, src, sizeof(u32));
        memcpy(dst, &u32, sizeof(u32));
        break;
    case 8:
        memcpy(&u64, src, sizeof(u64));
        memcpy(dst, &u64, sizeof(u64));
        break;
    default:
        memmove(dst, src, len);
    }
}

/* The element at @offset of the source: in place, or in the scratch buffer. */
static const uint8_t *load(struct tdma_commit *c, struct tdma_flight *f,
                           const struct tdma_slot *slot)
{
    const uint8_t *ptr = reach(f, TDMA_SRC, slot->address);

    if (slot->state & TDMA_SLOT_BUS_ERROR) {
        fault(f, TDMA_SRC, slot->address, TDMA_STATUS_BUS_ERROR);
        return NULL;
    }
    if (slot->state & TDMA_SLOT_POISONED) {
        fault(f, TDMA_SRC, slot->address, TDMA_STATUS_POISONED);
        return NULL;
    }
    if (ptr) {
        return ptr;
    }
    if (tdma_view_read(&f->job->view[TDMA_SRC], slot->address, c->scratch,
                       f->elem_bytes)) {
        fault(f, TDMA_SRC, slot->address, TDMA_STATUS_BUS_ERROR);
        return NULL;
    }
    return c->scratch;
}

static bool store(struct tdma_commit *c, struct tdma_flight *f,
                  uint64_t offset, const uint8_t *data)
{
    uint8_t *ptr = reach(f, TDMA_DST, offset);

    if (ptr) {
        copy_bytes(ptr, data, f->elem_bytes);
        mark_dirty(f, offset);
        return true;
    }
    /* @data may be the source in place, and overlap what is written. */
    memmove(c->scratch, data, f->elem_bytes);
    if (tdma_view_write(&f->job->view[TDMA_DST], offset, c->scratch,
                        f->elem_bytes)) {
        return fault(f, TDMA_DST, offset, TDMA_STATUS_BUS_ERROR);
    }
    return true;
}

static bool accumulate(struct tdma_commit *c, struct tdma_flight *f,
                       uint64_t offset, const uint8_t *data)
{
    uint8_t *sum = c->scratch + TDMA_MAX_ELEM_BYTES;
    uint8_t *ptr = reach(f, TDMA_DST, offset);

    if (ptr) {
        memcpy(sum, ptr, f->elem_bytes);
    } else if (tdma_view_read(&f->job->view[TDMA_DST], offset, sum,
                              f->elem_bytes)) {
        return fault(f, TDMA_DST, offset, TDMA_STATUS_BUS_ERROR);
    }
    tdma_accumulate(f->job->desc.type, sum, data, 1);
    return store(c, f, offset, sum);
}

/* One element of the fill pattern. */
static const uint8_t *pattern(struct tdma_commit *c, struct tdma_flight *f)
{
    if (f->elem_bytes <= TDMA_FILL_CACHE) {
        return f->fill;
    }
    tdma_job_fill(f->job, c->scratch);
    return c->scratch;
}

static bool move_element(struct tdma_commit *c, struct tdma_flight *f,
                         const struct tdma_slot *src,
                         const struct tdma_slot *dst)
{
    const uint8_t *data = NULL;

    if (src && src->op != TDMA_REQUEST_NULL) {
        data = load(c, f, src);
        if (!data) {
            return false;
        }
    }
    if (!dst || dst->op == TDMA_REQUEST_NULL) {
        return true;
    }
    if (dst->state & TDMA_SLOT_BUS_ERROR) {
        return fault(f, TDMA_DST, dst->address, TDMA_STATUS_BUS_ERROR);
    }
    switch (dst->op) {
    case TDMA_REQUEST_MEMSET:
        return store(c, f, dst->address, pattern(c, f));
    case TDMA_REQUEST_ADD_FILL:
        return accumulate(c, f, dst->address, pattern(c, f));
    case TDMA_REQUEST_ACCUMULATE:
        return accumulate(c, f, dst->address, data);
    default:
        return store(c, f, dst->address, data);
    }
}

/*
 * The commit point.
 */

/* ID of the first element, as soon as it has been issued. */
static void start_side(struct tdma_commit *c, unsigned side)
{
    const struct tdma_flight_side *fs = &c->flight->side[side];

    if (!c->started[side] && fs->issued != c->flight->start) {
        c->started[side] = true;
        c->id[side] = fs->base_id;
    }
}

/* Elements whose requests have been issued on all sides the flight has. */
static uint64_t issued(const struct tdma_flight *f)
{
    uint64_t n = f->side[f->master].issued;
    unsigned other = !f->master;

    if (f->has_side[other] && f->side[other].issued < n) {
        n = f->side[other].issued;
    }
    return n;
}

/* The next element's slot on @side, or NULL without that side. */
static inline const struct tdma_slot *next_slot(const struct tdma_commit *c,
                                                const struct tdma_memory *m,
                                                unsigned side)
{
    return c->flight->has_side[side] ? &m->slot[side][c->id[side]] : NULL;
}

/* May the next element be committed? */
static bool is_ready(const struct tdma_commit *c, const struct tdma_memory *m)
{
    const struct tdma_flight *f = c->flight;
    const struct tdma_slot *other = next_slot(c, m, !f->master);
    unsigned state = next_slot(c, m, f->master)->state;

    return (state & TDMA_SLOT_SERVED) && !(state & TDMA_SLOT_HELD) &&
           !(other && other->state & TDMA_SLOT_HELD);
}

static inline unsigned id_after(const struct tdma_memory *m, unsigned id)
{
    return id + 1 == m->ids ? 0 : id + 1;
}

/* @count elements have been committed. */
static void account(struct tdma_commit *c, uint64_t count)
{
    struct tdma_flight *f = c->flight;

    f->committed += count;
    c->bytes += count * f->elem_bytes;
    for (unsigned s = 0; s < TDMA_SIDES; s++) {
        if (f->has_side[s]) {
            c->sequence[s] += count;
        }
    }
}

/*
 * The everyday case of what follows: copies that were served without a fault,
 * within what is mapped. At most @max of them; how many it were. What the loop
 * needs is in locals, because data may be stored anywhere.
 */
static uint64_t copy_elements(struct tdma_commit *c,
                              const struct tdma_memory *m, uint64_t max)
{
    const unsigned error = TDMA_SLOT_BUS_ERROR | TDMA_SLOT_POISONED |
                           TDMA_SLOT_HELD;
    const struct tdma_slot *reads = m->slot[TDMA_SRC];
    const struct tdma_slot *writes = m->slot[TDMA_DST];
    unsigned read_id = c->id[TDMA_SRC], write_id = c->id[TDMA_DST];
    unsigned ids = m->ids;
    struct tdma_flight *f = c->flight;
    struct tdma_reach src = f->reach[TDMA_SRC], dst = f->reach[TDMA_DST];
    uint64_t bytes = f->elem_bytes, n;

    for (n = 0; n < max; n++) {
        const struct tdma_slot *r = &reads[read_id], *w = &writes[write_id];
        uint64_t from = r->address, to = w->address;

        if (w->op != TDMA_REQUEST_WRITE || !(w->state & TDMA_SLOT_SERVED) ||
            (r->state | w->state) & error || !covers(&src, from, bytes) ||
            !covers(&dst, to, bytes)) {
            break;
        }
        copy_bytes(dst.ptr + (to - dst.start), src.ptr + (from - src.start),
                   bytes);
        dst.dirty_lo = to < dst.dirty_lo ? to : dst.dirty_lo;
        to += bytes;
        dst.dirty_hi = to > dst.dirty_hi ? to : dst.dirty_hi;
        read_id = read_id + 1 == ids ? 0 : read_id + 1;
        write_id = write_id + 1 == ids ? 0 : write_id + 1;
    }
    f->reach[TDMA_DST] = dst;
    c->id[TDMA_SRC] = read_id;
    c->id[TDMA_DST] = write_id;
    return n;
}

/*
 * An element has been served if its master slot says so. Only issued elements
 * are looked at: beyond them a slot holds an older request with the same ID.
 */
bool tdma_commit_run(struct tdma_commit *c, struct tdma_memory *m)
{
    struct tdma_flight *f = c->flight;
    uint64_t max, n = 0;
    bool ok = true;

    if (tdma_commit_done(c)) {
        return true;
    }
    start_side(c, TDMA_SRC);
    start_side(c, TDMA_DST);
    max = issued(f);
    max = (max < f->limit ? max : f->limit) - f->committed;
    if (f->has_side[TDMA_SRC] && f->has_side[TDMA_DST]) {
        n = copy_elements(c, m, max);
    }
    while (n < max && is_ready(c, m)) {
        ok = move_element(c, f, next_slot(c, m, TDMA_SRC),
                          next_slot(c, m, TDMA_DST));
        if (!ok) {
            break;
        }
        c->id[TDMA_SRC] = id_after(m, c->id[TDMA_SRC]);
        c->id[TDMA_DST] = id_after(m, c->id[TDMA_DST]);
        n++;
    }
    account(c, n);
    return ok;
}
