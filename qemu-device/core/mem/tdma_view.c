/* SPDX-License-Identifier: MIT */
/*
 * tensordma core: a segment as one descriptor sees it.
 */
#include <string.h>
#include "mem/tdma_view.h"

/* Windows are remembered per block of at least this size. */
enum { BLOCK_SHIFT_MIN = 12 };

static uint64_t min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

void tdma_view_init(struct tdma_view *view, const struct tdma_mem *mem,
                    const struct tdma_segment *seg, uint64_t identity,
                    bool writable)
{
    view->mem = mem;
    view->seg = *seg;
    view->identity = identity;
    view->writable = writable;
    view->epoch++;
    view->last = 0;
    view->dirty_count = 0;
    view->hbm_lo = 0;
    view->hbm_hi = 0;
    if (seg->flags & TDMA_SEG_PAGED) {
        memset(view->line_tag, 0, sizeof(view->line_tag));
    }
}

static bool is_hbm(const struct tdma_view *view)
{
    return view->seg.space == TDMA_SPACE_HBM;
}

static unsigned block_shift(const struct tdma_view *view)
{
    unsigned shift = view->seg.page_shift;

    return shift > BLOCK_SHIFT_MIN ? shift : BLOCK_SHIFT_MIN;
}

/*
 * Line of the page list that @page is in, and in *@count how many entries it
 * has; NULL if it cannot be read.
 */
static const uint64_t *page_line(struct tdma_view *view, uint64_t page,
                                 unsigned *count)
{
    uint64_t line = page / TDMA_VIEW_LINE;
    unsigned slot = line % TDMA_VIEW_LINES;
    uint64_t left = tdma_segment_pages(&view->seg) - line * TDMA_VIEW_LINE;

    *count = min_u64(left, TDMA_VIEW_LINE);
    if (view->line_tag[slot] != line + 1) {
        view->line_tag[slot] = 0;
        if (!tdma_segment_read_pages(view->mem, &view->seg,
                                     line * TDMA_VIEW_LINE, *count,
                                     view->line[slot])) {
            return NULL;
        }
        view->line_tag[slot] = line + 1;
    }
    return view->line[slot];
}

/* As tdma_segment_translate(), with the page list cached and pages joined. */
static bool translate(struct tdma_view *view, uint64_t offset, uint64_t *addr,
                      uint64_t *len)
{
    const struct tdma_segment *seg = &view->seg;
    uint64_t size = 1ULL << seg->page_shift;
    uint64_t pos = seg->page_offset + offset;
    const uint64_t *line;
    unsigned i, count;

    if (!(seg->flags & TDMA_SEG_PAGED)) {
        return tdma_segment_translate(view->mem, seg, offset, addr, len);
    }
    line = page_line(view, pos >> seg->page_shift, &count);
    i = (pos >> seg->page_shift) % TDMA_VIEW_LINE;
    if (!line || line[i] & (size - 1)) {
        return false;
    }
    pos &= size - 1;
    *addr = line[i] + pos;
    *len = size - pos;
    while (i + 1 < count && line[i + 1] == line[i] + size) {
        *len += size;
        i++;
    }
    *len = min_u64(*len, seg->length - offset);
    return true;
}

static void report(struct tdma_view *view, struct tdma_view_window *slot)
{
    if (slot->dirty_lo < slot->dirty_hi && view->mem->ops->written) {
        view->mem->ops->written(view->mem->opaque, &slot->w, slot->dirty_lo,
                                slot->dirty_hi - slot->dirty_lo);
    }
    slot->dirty_lo = 0;
    slot->dirty_hi = 0;
}

static bool contains(const struct tdma_view *view,
                     const struct tdma_view_window *slot, uint64_t offset)
{
    return slot->epoch == view->epoch && offset - slot->start < slot->w.len;
}

/*
 * Put a window with @offset into @slot: one that starts at the block's start
 * if possible, so that a walk downwards finds it too. Where the host maps
 * nothing the slot remembers that for the rest of the block.
 */
static void fill_slot(struct tdma_view *view, struct tdma_view_window *slot,
                      uint64_t offset)
{
    const struct tdma_mem *mem = view->mem;
    uint64_t mask = (1ULL << block_shift(view)) - 1;
    uint64_t in_block = (view->seg.page_offset + offset) & mask;
    uint64_t start = offset - min_u64(offset, in_block);
    uint64_t addr, len;

    if (slot->epoch == view->epoch) {
        report(view, slot);
    } else {
        slot->epoch = view->epoch;
        slot->dirty_lo = 0;
        slot->dirty_hi = 0;
        slot->listed = false;
    }
    for (;;) {
        slot->start = start;
        if (translate(view, start, &addr, &len) &&
            mem->ops->window(mem->opaque, addr, len, view->writable,
                             &slot->w) &&
            offset - start < slot->w.len) {
            slot->w.len = min_u64(slot->w.len, len);
            return;
        }
        if (start == offset) {
            break;
        }
        start = offset;
    }
    slot->w.ptr = NULL;
    slot->w.len = min_u64(mask + 1 - in_block, view->seg.length - offset);
}

static struct tdma_view_window *find_slot(struct tdma_view *view,
                                          uint64_t offset)
{
    struct tdma_view_window *slot = &view->window[view->last];
    uint64_t block;

    if (contains(view, slot, offset)) {
        return slot;
    }
    block = (view->seg.page_offset + offset) >> block_shift(view);
    view->last = block % TDMA_VIEW_WINDOWS;
    slot = &view->window[view->last];
    if (!contains(view, slot, offset)) {
        fill_slot(view, slot, offset);
    }
    return slot;
}

uint8_t *tdma_view_map(struct tdma_view *view, uint64_t offset,
                       uint64_t *before, uint64_t *len)
{
    struct tdma_view_window *slot;

    if (is_hbm(view)) {
        *before = offset;
        *len = view->seg.length - offset;
        return view->mem->hbm + view->seg.base + offset;
    }
    if (!view->mem->ops->window) {
        return NULL;
    }
    slot = find_slot(view, offset);
    if (!slot->w.ptr) {
        return NULL;
    }
    *before = offset - slot->start;
    *len = slot->w.len - *before;
    return slot->w.ptr + *before;
}

static void hbm_dirty(struct tdma_view *view, uint64_t offset, uint64_t len)
{
    uint64_t lo = view->seg.base + offset;

    if (view->hbm_lo == view->hbm_hi) {
        view->hbm_lo = lo;
        view->hbm_hi = lo + len;
        return;
    }
    view->hbm_lo = min_u64(view->hbm_lo, lo);
    if (view->hbm_hi < lo + len) {
        view->hbm_hi = lo + len;
    }
}

void tdma_view_dirty(struct tdma_view *view, uint64_t offset, uint64_t len)
{
    struct tdma_view_window *slot;
    uint64_t lo;

    if (is_hbm(view)) {
        hbm_dirty(view, offset, len);
        return;
    }
    slot = find_slot(view, offset);
    lo = offset - slot->start;
    if (slot->dirty_lo == slot->dirty_hi) {
        slot->dirty_lo = lo;
        slot->dirty_hi = lo + len;
    } else {
        slot->dirty_lo = min_u64(slot->dirty_lo, lo);
        if (slot->dirty_hi < lo + len) {
            slot->dirty_hi = lo + len;
        }
    }
    if (!slot->listed) {
        slot->listed = true;
        view->dirty[view->dirty_count++] = slot - view->window;
    }
}

void tdma_view_flush(struct tdma_view *view)
{
    const struct tdma_mem *mem = view->mem;
    unsigned i;

    for (i = 0; i < view->dirty_count; i++) {
        struct tdma_view_window *slot = &view->window[view->dirty[i]];

        report(view, slot);
        slot->listed = false;
    }
    view->dirty_count = 0;
    if (view->hbm_lo < view->hbm_hi && mem->ops->hbm_written) {
        mem->ops->hbm_written(mem->opaque, view->hbm_lo,
                              view->hbm_hi - view->hbm_lo);
    }
    view->hbm_lo = 0;
    view->hbm_hi = 0;
}

void tdma_view_drop(struct tdma_view *view)
{
    tdma_view_flush(view);
    view->epoch++;
}

int tdma_view_read(struct tdma_view *view, uint64_t offset, void *buf,
                   size_t len)
{
    uint8_t *to = buf;

    while (len) {
        uint64_t before, n, addr;
        const uint8_t *from = tdma_view_map(view, offset, &before, &n);

        if (from) {
            n = min_u64(n, len);
            memcpy(to, from, n);
        } else {
            if (!translate(view, offset, &addr, &n)) {
                return -1;
            }
            n = min_u64(n, len);
            if (view->mem->ops->read(view->mem->opaque, addr, to, n)) {
                return -1;
            }
        }
        to += n;
        offset += n;
        len -= n;
    }
    return 0;
}

int tdma_view_write(struct tdma_view *view, uint64_t offset, const void *buf,
                    size_t len)
{
    const uint8_t *from = buf;

    while (len) {
        uint64_t before, n, addr;
        uint8_t *to = tdma_view_map(view, offset, &before, &n);

        if (to) {
            n = min_u64(n, len);
            memcpy(to, from, n);
            tdma_view_dirty(view, offset, n);
        } else {
            if (!translate(view, offset, &addr, &n)) {
                return -1;
            }
            n = min_u64(n, len);
            if (view->mem->ops->write(view->mem->opaque, addr, from, n)) {
                return -1;
            }
        }
        from += n;
        offset += n;
        len -= n;
    }
    return 0;
}

static bool ranges_meet(uint64_t a_lo, uint64_t a_hi, uint64_t b_lo,
                        uint64_t b_hi)
{
    return a_lo < b_hi && b_lo < a_hi;
}

bool tdma_view_overlap(const struct tdma_view *a, uint64_t a_lo, uint64_t a_hi,
                       const struct tdma_view *b, uint64_t b_lo,
                       uint64_t b_hi)
{
    uint64_t a_base = a->seg.base, b_base = b->seg.base;

    if (a->seg.space != b->seg.space) {
        return false;
    }
    if (a->identity == b->identity) {
        a_base = 0;
        b_base = 0;
    } else if ((a->seg.flags | b->seg.flags) & TDMA_SEG_PAGED) {
        return false;
    }
    return ranges_meet(a_base + a_lo, a_base + a_hi, b_base + b_lo,
                       b_base + b_hi);
}
