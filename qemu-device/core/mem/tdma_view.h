/* SPDX-License-Identifier: MIT */
/*
 * tensordma core: a segment as one descriptor sees it.
 *
 * A view is resolved once per descriptor from the segment table and then
 * reads, writes and maps bytes by offset, whatever lies behind: HBM, host
 * memory, or host pages. Nothing in it outlives the descriptor; windows do not
 * outlive the tdma_core_run() that obtained them.
 *
 * Offsets given to a view are trusted to lie inside the segment: the exact
 * extent check has been done. Page lists are the driver's and a bad address
 * in them is a bus error.
 */
#ifndef TDMA_VIEW_H
#define TDMA_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/tensordma_desc.h>
#include "mem/tdma_segment.h"

enum {
    TDMA_VIEW_WINDOWS = 256,    /* mapped pieces remembered, a power of two */
    TDMA_VIEW_LINES = 64,       /* page list cache, lines, a power of two */
    TDMA_VIEW_LINE = 16,        /* page addresses per line */
};

/*
 * A piece [start, start + w.len) of the segment, mapped, or known not to be
 * mappable (ptr NULL)
 */
struct tdma_view_window {
    uint64_t start;
    struct tdma_window w;
    uint64_t dirty_lo, dirty_hi;        /* offsets in the window */
    uint64_t epoch;             /* valid if equal to the view's */
    bool listed;                /* in the view's dirty list */
};

struct tdma_view {
    const struct tdma_mem *mem;
    struct tdma_segment seg;
    uint64_t identity;          /* equal if it is the same segment */
    bool writable;              /* windows are obtained for writing */

    uint64_t epoch;             /* of the windows */
    unsigned last;              /* window used last */
    unsigned dirty_count;
    uint16_t dirty[TDMA_VIEW_WINDOWS];  /* windows that have dirty bytes */
    struct tdma_view_window window[TDMA_VIEW_WINDOWS];

    uint64_t line_tag[TDMA_VIEW_LINES]; /* line number plus 1; 0 = empty */
    uint64_t line[TDMA_VIEW_LINES][TDMA_VIEW_LINE];

    uint64_t hbm_lo, hbm_hi;    /* HBM bytes written and not yet reported */
};

/* Set up a view of @seg; nothing is read yet. */
void tdma_view_init(struct tdma_view *view, const struct tdma_mem *mem,
                    const struct tdma_segment *seg, uint64_t identity,
                    bool writable);

/*
 * Copy @len bytes from or to @offset. 0, or -1 on a bus error; then bytes
 * before the one refused may have been transferred.
 */
int tdma_view_read(struct tdma_view *view, uint64_t offset, void *buf,
                   size_t len);
int tdma_view_write(struct tdma_view *view, uint64_t offset, const void *buf,
                    size_t len);

/*
 * A pointer to @offset, with *@before bytes in front of it and *@len, at
 * least one, from it on; NULL where the host cannot map. Valid until
 * tdma_view_drop() or the next call for the same view.
 */
uint8_t *tdma_view_map(struct tdma_view *view, uint64_t offset,
                       uint64_t *before, uint64_t *len);

/* [offset, offset + len) has been written through a pointer of map(). */
void tdma_view_dirty(struct tdma_view *view, uint64_t offset, uint64_t len);

/*
 * Can bytes of [lo, hi) of two views be the same memory? Two different
 * segments of which one is PAGED count as separate memory: what happens to
 * elements that overlap only because page lists name a page twice is not
 * defined.
 */
bool tdma_view_overlap(const struct tdma_view *a, uint64_t a_lo, uint64_t a_hi,
                       const struct tdma_view *b, uint64_t b_lo,
                       uint64_t b_hi);

/* Report everything written so far to the host. */
void tdma_view_flush(struct tdma_view *view);

/* Flush and forget all windows: the tdma_core_run() is about to end. */
void tdma_view_drop(struct tdma_view *view);

#endif /* TDMA_VIEW_H */
