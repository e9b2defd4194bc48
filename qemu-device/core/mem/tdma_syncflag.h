/* SPDX-License-Identifier: MIT */
/*
 * tensordma core: sync flags (B20).
 *
 * A flag is a 32-bit value, a done bit and an enable_public_access bit, kept
 * in one word so that every update is a single atomic step (B21) and needs no
 * lock.
 */
#ifndef TDMA_SYNCFLAG_H
#define TDMA_SYNCFLAG_H

#include <stdbool.h>
#include <stdint.h>

struct tdma_sync_flags {
    uint32_t count;
    uint64_t *word;             /* value | control << 32 */
};

/* Add to the value, modulo 2^32, and set the done bit if @done. */
void tdma_sync_flag_add(struct tdma_sync_flags *flags, uint32_t index,
                        uint32_t amount, bool done);

uint32_t tdma_sync_flag_value(const struct tdma_sync_flags *flags,
                              uint32_t index);
/* TDMA_SYNC_* */
uint32_t tdma_sync_flag_control(const struct tdma_sync_flags *flags,
                                uint32_t index);

void tdma_sync_flag_set_value(struct tdma_sync_flags *flags, uint32_t index,
                              uint32_t value);
void tdma_sync_flag_set_control(struct tdma_sync_flags *flags, uint32_t index,
                                uint32_t control);

/* May a descriptor of @context update the flag? (B23) */
bool tdma_sync_flag_allows(const struct tdma_sync_flags *flags, uint32_t index,
                           uint32_t context);

#endif /* TDMA_SYNCFLAG_H */
