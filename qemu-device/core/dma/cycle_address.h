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
#include <linux/tensordma_desc.h>

/* First adder. Offsets of dimensions that a tensor does not have are 0. */
static inline uint64_t tdma_address_sum(const uint64_t offset[TDMA_MAX_DIMS])
{
    return ((offset[0] + offset[1]) + (offset[2] + offset[3])) +
           ((offset[4] + offset[5]) + (offset[6] + offset[7]));
}

/* Second adder: the address of the element. */
static inline uint64_t tdma_address_add(uint64_t base, uint64_t sum)
{
    return base + sum;
}

#endif /* TDMA_CYCLE_ADDRESS_H */
