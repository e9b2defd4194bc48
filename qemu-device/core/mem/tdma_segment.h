/* SPDX-License-Identifier: MIT */
/*
 * tensordma core: segment table entries and the memory behind them.
 */
#ifndef TDMA_SEGMENT_H
#define TDMA_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/tensordma_desc.h>
#include "tdma_core.h"

/* The world outside: one per core, constant */
struct tdma_mem {
    const struct tdma_host_ops *ops;
    void *opaque;
    uint8_t *hbm;
    uint64_t hbm_size;
};

/* A context's segment table */
struct tdma_segment_table {
    uint64_t addr;
    uint32_t count;
};

/*
 * Fetch and check entry @index. False if there is no such entry, it cannot be
 * read, or it does not describe memory this device could have.
 */
bool tdma_segment_load(const struct tdma_mem *mem,
                       const struct tdma_segment_table *table, uint32_t index,
                       struct tdma_segment *seg);

/* Does @seg describe memory this device could have? */
bool tdma_segment_ok(const struct tdma_mem *mem,
                     const struct tdma_segment *seg);

/* Number of entries of the page list of a PAGED segment */
uint64_t tdma_segment_pages(const struct tdma_segment *seg);

/*
 * Read @count entries of the page list from @first on. False if the list
 * cannot be read. Addresses are as the driver left them, not yet checked.
 */
bool tdma_segment_read_pages(const struct tdma_mem *mem,
                             const struct tdma_segment *seg, uint64_t first,
                             unsigned count, uint64_t *pages);

/*
 * The address of @offset in the segment's space and how many bytes follow it
 * in one piece, without any cache. False on a bad page list.
 */
bool tdma_segment_translate(const struct tdma_mem *mem,
                            const struct tdma_segment *seg, uint64_t offset,
                            uint64_t *addr, uint64_t *len);

#endif /* TDMA_SEGMENT_H */
