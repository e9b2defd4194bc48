/* SPDX-License-Identifier: MIT */
/* Step-increment chain; see cycle_chain.h. */
#include <string.h>
#include "cycle_chain.h"

/* An index never reaches this: a loop bound is at most UINT32_MAX. */
#define COMPARE_NEVER UINT32_MAX

struct lookup_entry {
    uint8_t next;
    uint8_t wrap;
};

/*
 * lookup[row][amount][match]: the index is @match steps before its bound and
 * moves by @amount >= @match. Rows are loop bounds 1..8; with a larger bound
 * an amount of at most 8 wraps once and leaves the same next index as 8.
 */
#define ENTRY(steps, amount, match)                                     \
    { (amount) < (match) ? 0 : ((amount) - (match)) % (steps),          \
      (amount) < (match) ? 0 : 1 + ((amount) - (match)) / (steps) }
#define MATCHES(s, a)                                                   \
    { ENTRY(s, a, 9), ENTRY(s, a, 1), ENTRY(s, a, 2), ENTRY(s, a, 3),   \
      ENTRY(s, a, 4), ENTRY(s, a, 5), ENTRY(s, a, 6), ENTRY(s, a, 7),   \
      ENTRY(s, a, 8) }
#define AMOUNTS(s)                                                      \
    { MATCHES(s, 0), MATCHES(s, 1), MATCHES(s, 2), MATCHES(s, 3),       \
      MATCHES(s, 4), MATCHES(s, 5), MATCHES(s, 6), MATCHES(s, 7),       \
      MATCHES(s, 8) }

static const struct lookup_entry
lookup[TDMA_MAX_LANES][TDMA_MAX_LANES + 1][TDMA_MAX_LANES + 1] = {
    AMOUNTS(1), AMOUNTS(2), AMOUNTS(3), AMOUNTS(4),
    AMOUNTS(5), AMOUNTS(6), AMOUNTS(7), AMOUNTS(8),
};

static void unit_precompute(struct tdma_unit_params *unit, uint32_t steps,
                            int64_t stride)
{
    unit->steps = steps;
    unit->stride = stride;
    unit->row = (steps < TDMA_MAX_LANES ? steps : TDMA_MAX_LANES) - 1;
    for (unsigned k = 0; k <= TDMA_MAX_LANES; k++) {
        unit->compare[k] = k <= steps ? steps - k : COMPARE_NEVER;
    }
}

void tdma_chain_precompute(struct tdma_chain_params *params, unsigned ndims,
                           const uint32_t *steps, const int64_t *stride)
{
    params->ndims = ndims;
    for (unsigned d = 0; d < ndims; d++) {
        unit_precompute(&params->unit[d], steps[d], stride[d]);
    }
}

static inline uint32_t increment(const struct tdma_unit_params *unit,
                                 uint32_t index, unsigned amount,
                                 unsigned *wrap)
{
    *wrap = 0;
    /* Most cycles end here: short of the bound no compare value matches. */
    if ((uint64_t)index + amount < unit->steps) {
        return index + amount;
    }
    for (unsigned k = 1; k <= amount; k++) {
        if (index == unit->compare[k]) {
            const struct lookup_entry *e = &lookup[unit->row][amount][k];

            *wrap = e->wrap;
            return e->next;
        }
    }
    return index;
}

uint32_t tdma_unit_increment(const struct tdma_unit_params *unit,
                             uint32_t index, unsigned amount, unsigned *wrap)
{
    return increment(unit, index, amount, wrap);
}

void tdma_chain_init(struct tdma_chain *chain)
{
    memset(chain, 0, sizeof(*chain));
}

void tdma_chain_restore(struct tdma_chain *chain,
                        const struct tdma_chain_params *params,
                        uint64_t element)
{
    tdma_chain_init(chain);
    for (unsigned d = 0; d < params->ndims && element; d++) {
        const struct tdma_unit_params *unit = &params->unit[d];

        chain->index[d] = element % unit->steps;
        chain->offset[d] = (uint64_t)chain->index[d] * (uint64_t)unit->stride;
        element /= unit->steps;
    }
}

void tdma_chain_step(struct tdma_chain *chain,
                     const struct tdma_chain_params *params, unsigned amount)
{
    /* A unit that is told to move by zero keeps its outputs; so do the rest. */
    for (unsigned d = 0; d < params->ndims && amount; d++) {
        const struct tdma_unit_params *unit = &params->unit[d];

        chain->index[d] = increment(unit, chain->index[d], amount, &amount);
        chain->offset[d] = (uint64_t)chain->index[d] * (uint64_t)unit->stride;
    }
}
