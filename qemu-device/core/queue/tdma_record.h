/* SPDX-License-Identifier: MIT */
/*
 * tensordma core: completion records in memory.
 */
#ifndef TDMA_RECORD_H
#define TDMA_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <linux/tensordma_desc.h>
#include "mem/tdma_segment.h"

/*
 * Where a record goes: 64 bytes, in two pieces if a page border runs through
 * it. Every piece is a multiple of 8 bytes at an address that is, too.
 */
struct tdma_record_target {
    bool valid;
    bool hbm;                   /* addresses are offsets in HBM */
    uint32_t split;             /* bytes of the first piece, 8..64 */
    uint64_t addr[2];
};

/* The record at bus address @addr */
struct tdma_record_target tdma_record_at(uint64_t addr);

/*
 * Resolve @offset of a segment. False if that is not reachable or, in its own
 * space, not 8-byte aligned.
 */
bool tdma_record_resolve(const struct tdma_mem *mem,
                         const struct tdma_segment *seg, uint64_t offset,
                         struct tdma_record_target *target);

/* Is @target one that tdma_record_resolve() could have made? */
bool tdma_record_target_ok(const struct tdma_mem *mem,
                           const struct tdma_record_target *target);

/*
 * Write @record: everything before @status first, then @status and @sequence
 * as one store with release semantics. Returns 0, or -1 if memory refuses.
 */
int tdma_record_write(const struct tdma_mem *mem,
                      const struct tdma_record_target *target,
                      const struct tdma_record *record);

#endif /* TDMA_RECORD_H */
