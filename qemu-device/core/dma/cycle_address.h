/* SPDX-License-Identifier: MIT */
/*
 * Memory-address element of a lane (A10, A11): a first adder sums the
 * dimension offsets, a second one adds the base. They sit in two pipeline
 * stages with a register between them, hence two functions.
 *
 * Arithmetic is modulo 2^64: a partial sum may leave the segment where the
 * whole, which the descriptor check has bounded, does not.
 */
#ifndef TDMA_CYCLE_ADDRESS_H
#define TDMA_CYCLE_ADDRESS_H

#include <stdint.h>

/* First adder: the sum of @ndims dimension offsets. */
static inline uint64_t tdma_address_sum(const uint64_t *offset, unsigned ndims)
{
    uint64_t sum = 0;

    for (unsigned d = 0; d < ndims; d++) {
        sum += offset[d];
    }
    return sum;
}

/* Second adder: the address of the element. */
static inline uint64_t tdma_address_add(uint64_t base, uint64_t sum)
{
    return base + sum;
}

#endif /* TDMA_CYCLE_ADDRESS_H */
