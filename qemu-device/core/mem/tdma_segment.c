/* SPDX-License-Identifier: MIT */
/*
 * tensordma core: segment table entries and the memory behind them.
 */
#include "mem/tdma_segment.h"

enum {
    PAGE_SHIFT_MIN = 12,
    PAGE_SHIFT_MAX = 40,
};

static bool range_fits(uint64_t base, uint64_t length, uint64_t limit)
{
    return base <= limit && length <= limit - base;
}

static bool hbm_segment_ok(const struct tdma_mem *mem,
                           const struct tdma_segment *seg)
{
    return !(seg->flags & TDMA_SEG_PAGED) && !seg->page_shift &&
           !seg->page_offset &&
           range_fits(seg->base, seg->length, mem->hbm_size);
}

static bool paged_segment_ok(const struct tdma_segment *seg)
{
    uint64_t bytes;

    if (seg->page_shift < PAGE_SHIFT_MIN || seg->page_shift > PAGE_SHIFT_MAX ||
        (uint64_t)seg->page_offset >> seg->page_shift ||
        seg->base % sizeof(uint64_t) ||
        !range_fits(seg->page_offset, seg->length, UINT64_MAX)) {
        return false;
    }
    bytes = tdma_segment_pages(seg) * sizeof(uint64_t);
    return range_fits(seg->base, bytes, UINT64_MAX);
}

static bool host_segment_ok(const struct tdma_segment *seg)
{
    if (seg->flags & TDMA_SEG_PAGED) {
        return paged_segment_ok(seg);
    }
    return !seg->page_shift && !seg->page_offset &&
           range_fits(seg->base, seg->length, UINT64_MAX);
}

/*
 * Software writes the space last and clears it first: an entry whose space is
 * seen is whole, provided that nothing of it was read before.
 */
static bool read_entry(const struct tdma_mem *mem, uint64_t addr,
                       struct tdma_segment *seg)
{
    uint32_t space;

    if (mem->ops->read(mem->opaque, addr, &space, sizeof(space))) {
        return false;
    }
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return !mem->ops->read(mem->opaque, addr, seg, sizeof(*seg)) &&
           seg->space == space;
}

bool tdma_segment_load(const struct tdma_mem *mem,
                       const struct tdma_segment_table *table, uint32_t index,
                       struct tdma_segment *seg)
{
    uint64_t addr = table->addr + (uint64_t)index * sizeof(*seg);

    return index < table->count && addr >= table->addr &&
           read_entry(mem, addr, seg) && tdma_segment_ok(mem, seg);
}

bool tdma_segment_ok(const struct tdma_mem *mem,
                     const struct tdma_segment *seg)
{
    if (seg->flags & ~TDMA_SEG_FLAGS) {
        return false;
    }
    switch (seg->space) {
    case TDMA_SPACE_HOST:
        return host_segment_ok(seg);
    case TDMA_SPACE_HBM:
        return hbm_segment_ok(mem, seg);
    default:
        return false;
    }
}

uint64_t tdma_segment_pages(const struct tdma_segment *seg)
{
    uint64_t bytes = seg->page_offset + seg->length;
    uint64_t mask = (1ULL << seg->page_shift) - 1;

    return (bytes >> seg->page_shift) + ((bytes & mask) != 0);
}

bool tdma_segment_read_pages(const struct tdma_mem *mem,
                             const struct tdma_segment *seg, uint64_t first,
                             unsigned count, uint64_t *pages)
{
    return !mem->ops->read(mem->opaque,
                           seg->base + first * sizeof(uint64_t), pages,
                           count * sizeof(uint64_t));
}

bool tdma_segment_translate(const struct tdma_mem *mem,
                            const struct tdma_segment *seg, uint64_t offset,
                            uint64_t *addr, uint64_t *len)
{
    uint64_t size, pos, page, rest = seg->length - offset;

    if (!(seg->flags & TDMA_SEG_PAGED)) {
        *addr = seg->base + offset;
        *len = rest;
        return true;
    }
    size = 1ULL << seg->page_shift;
    pos = seg->page_offset + offset;
    if (!tdma_segment_read_pages(mem, seg, pos >> seg->page_shift, 1, &page) ||
        page & (size - 1)) {
        return false;
    }
    pos &= size - 1;
    *addr = page + pos;
    *len = rest < size - pos ? rest : size - pos;
    return true;
}
