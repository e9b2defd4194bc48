/* SPDX-License-Identifier: MIT */
/*
 * Error injection: make the memory system misbehave once, at a chosen element
 * of the next descriptor that has a request for it on the chosen side. Off
 * unless the device was created with the property "inject".
 */
#ifndef TDMA_CYCLE_INJECT_H
#define TDMA_CYCLE_INJECT_H

#include <stdbool.h>
#include <stdint.h>
#include <linux/tensordma_regs.h>

struct tdma_inject {
    uint32_t kind;              /* TDMA_INJECT_*; NONE when it has struck */
    uint32_t side;              /* 0 = source, 1 = destination */
    uint64_t element;
};

/* Does it strike here? Then it is used up. */
static inline bool tdma_inject_strikes(struct tdma_inject *inject,
                                       unsigned side, uint64_t element)
{
    return inject->kind && inject->side == side && inject->element == element;
}

#endif /* TDMA_CYCLE_INJECT_H */
