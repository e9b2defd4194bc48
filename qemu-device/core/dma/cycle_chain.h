/* SPDX-License-Identifier: MIT */
/*
 * Step-increment chain (A15, A16): one increment unit per dimension, rippling
 * like the carry of an adder.
 *
 * A unit adds an increment amount to its step index and hands the number of
 * times it wrapped to the unit of the next dimension. It neither divides nor
 * loops: the compare values steps-1, steps-2, ... are computed once per
 * descriptor, the one that equals the index selects a table entry, and the
 * entry holds the next index and the wrap amount.
 */
#ifndef TDMA_CYCLE_CHAIN_H
#define TDMA_CYCLE_CHAIN_H

#include <stdint.h>
#include <linux/tensordma_desc.h>

/* Most lanes of a generator, so the largest increment amount of a unit. */
#define TDMA_MAX_LANES 8

/* Loop bound of an implied outermost dimension (A5). */
#define TDMA_IMPLIED_STEPS ((uint32_t)INT32_MAX)

/*
 * Parameters of one increment unit. @compare[k] is steps - k, or a value that
 * no index takes if there is no such step; @compare[0] is not used. @row
 * selects the part of the lookup table that belongs to @steps.
 */
struct tdma_unit_params {
    uint32_t steps;
    uint32_t row;
    uint32_t compare[TDMA_MAX_LANES + 1];
    int64_t stride;
};

/* What the pre-computation stage leaves in its register, per descriptor. */
struct tdma_chain_params {
    unsigned ndims;
    struct tdma_unit_params unit[TDMA_MAX_DIMS];
};

/* Step index and dimension address offset of every dimension. */
struct tdma_chain {
    uint32_t index[TDMA_MAX_DIMS];
    uint64_t offset[TDMA_MAX_DIMS];
};

/* The pre-computation: compare values and table row of every unit. */
void tdma_chain_precompute(struct tdma_chain_params *params, unsigned ndims,
                           const uint32_t *steps, const int64_t *stride);

/* One unit: the index after @amount increments; *@wrap counts the wraps. */
uint32_t tdma_unit_increment(const struct tdma_unit_params *unit,
                             uint32_t index, unsigned amount, unsigned *wrap);

/* Every index and offset zero: the state a descriptor starts from. */
void tdma_chain_init(struct tdma_chain *chain);

/*
 * Every index and offset that of @element, where a descriptor that was put
 * aside goes on: its context, restored. Hardware would have saved the indices.
 */
void tdma_chain_restore(struct tdma_chain *chain,
                        const struct tdma_chain_params *params,
                        uint64_t element);

/* All units in one cycle: move on by @amount elements. */
void tdma_chain_step(struct tdma_chain *chain,
                     const struct tdma_chain_params *params, unsigned amount);

#endif /* TDMA_CYCLE_CHAIN_H */
