/* SPDX-License-Identifier: MIT */
/*
 * tensordma core, fast engine: blocks that no single window covers.
 *
 * A block of a plan is brought into a buffer, or out of it, by its longest
 * contiguous runs on one side; in the buffer the runs are packed. So the
 * pointer kernels can work on pages scattered over memory as on one piece.
 */
#ifndef FAST_PACK_H
#define FAST_PACK_H

#include <stdbool.h>
#include <stdint.h>
#include "dma/fast_plan.h"

struct fast_pack {
    uint64_t low;               /* lowest offset of the block */
    uint64_t run;               /* bytes */
    unsigned nloops;            /* loops over runs, shortest step first */
    struct {
        uint64_t n;
        uint64_t step;          /* in the segment */
        uint64_t packed;        /* in the buffer */
    } loop[TDMA_MAX_DIMS];
    uint64_t start;             /* of the block's first unit in the buffer */
    int64_t step[TDMA_MAX_DIMS];        /* of each dimension in the buffer */
    uint64_t bytes;             /* of the buffer */
};

/*
 * How @count steps of dimension @dim, from @offset on, lie on @side. Runs of
 * the source take in short gaps: less work than to leave them out.
 */
void fast_pack_init(struct fast_pack *pack, const struct fast_plan *plan,
                    unsigned side, unsigned dim, uint64_t count,
                    uint64_t offset);

/* Segment to buffer and back; false if memory refused. */
bool fast_pack_get(const struct fast_pack *pack, struct tdma_view *view,
                   uint8_t *buffer);
bool fast_pack_put(const struct fast_pack *pack, struct tdma_view *view,
                   const uint8_t *buffer);

#endif /* FAST_PACK_H */
