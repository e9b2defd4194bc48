/* SPDX-License-Identifier: MIT */
/*
 * tensordma core: sync flags (B20).
 */
#include <linux/tensordma_regs.h>
#include "mem/tdma_syncflag.h"

#define CONTROL_SHIFT 32

static uint64_t load(const struct tdma_sync_flags *flags, uint32_t index)
{
    return __atomic_load_n(&flags->word[index], __ATOMIC_ACQUIRE);
}

/* word = (word & keep) + set, with the value's carry kept out of control */
static void update(struct tdma_sync_flags *flags, uint32_t index,
                   uint64_t keep, uint32_t add, uint64_t set)
{
    uint64_t old = __atomic_load_n(&flags->word[index], __ATOMIC_RELAXED);
    uint64_t new;

    do {
        uint64_t kept = old & keep;

        new = (kept >> CONTROL_SHIFT << CONTROL_SHIFT) |
              (uint32_t)((uint32_t)kept + add);
        new |= set;
    } while (!__atomic_compare_exchange_n(&flags->word[index], &old, new, true,
                                          __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

void tdma_sync_flag_add(struct tdma_sync_flags *flags, uint32_t index,
                        uint32_t amount, bool done)
{
    uint64_t set = done ? (uint64_t)TDMA_SYNC_DONE << CONTROL_SHIFT : 0;

    update(flags, index, UINT64_MAX, amount, set);
}

uint32_t tdma_sync_flag_value(const struct tdma_sync_flags *flags,
                              uint32_t index)
{
    return (uint32_t)load(flags, index);
}

uint32_t tdma_sync_flag_control(const struct tdma_sync_flags *flags,
                                uint32_t index)
{
    return (uint32_t)(load(flags, index) >> CONTROL_SHIFT);
}

void tdma_sync_flag_set_value(struct tdma_sync_flags *flags, uint32_t index,
                              uint32_t value)
{
    update(flags, index, UINT64_MAX << CONTROL_SHIFT, value, 0);
}

void tdma_sync_flag_set_control(struct tdma_sync_flags *flags, uint32_t index,
                                uint32_t control)
{
    control &= TDMA_SYNC_DONE | TDMA_SYNC_PUBLIC;
    update(flags, index, UINT32_MAX, 0, (uint64_t)control << CONTROL_SHIFT);
}

bool tdma_sync_flag_allows(const struct tdma_sync_flags *flags, uint32_t index,
                           uint32_t context)
{
    return index < flags->count &&
           (!context ||
            tdma_sync_flag_control(flags, index) & TDMA_SYNC_PUBLIC);
}
