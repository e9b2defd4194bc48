/* SPDX-License-Identifier: MIT */
/*
 * tensordma core, fast engine: loop nests over plain pointers.
 */
#ifndef FAST_KERNEL_H
#define FAST_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/tensordma_desc.h>

/* A loop nest of units; dimension 0 is the innermost. */
struct fast_nest {
    unsigned ndims;
    uint64_t n[TDMA_MAX_DIMS];
    int64_t src_step[TDMA_MAX_DIMS];
    int64_t dst_step[TDMA_MAX_DIMS];
    size_t unit_bytes;
};

/*
 * Copy. With @any_order no unit shares destination bytes with another nor any
 * with the source, and they may be moved in whatever order is fastest;
 * otherwise the result is that of one unit after the other in element order.
 */
void fast_copy(const struct fast_nest *nest, bool any_order, uint8_t *dst,
               const uint8_t *src);

/* Add, in element order; a unit is one or more numbers of @type. */
void fast_accumulate(const struct fast_nest *nest, unsigned type, uint8_t *dst,
                     const uint8_t *src);

#endif /* FAST_KERNEL_H */
