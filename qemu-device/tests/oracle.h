/* SPDX-License-Identifier: MIT */
/*
 * What is wrong with a descriptor, by its documentation: a second opinion that
 * shares no code with the core's check and finds extents by trying.
 */
#ifndef TDMA_TEST_ORACLE_H
#define TDMA_TEST_ORACLE_H

#include <stdbool.h>
#include <stdint.h>
#include <linux/tensordma_desc.h>

/* Set of statuses: bit n = &enum tdma_status n. Empty: the descriptor is OK */
typedef uint64_t oracle_faults;

#define ORACLE_FAULT(status) (1ULL << (status))

/*
 * Faults of descriptor and extension block (NULL: none), without segments.
 * @dims: dimensions the device has.
 */
oracle_faults oracle_desc(const struct tdma_desc *desc,
                          const struct tdma_desc_ext *ext, unsigned dims);

/*
 * Lowest and highest offset of an element of @side that is inside its axes,
 * by visiting each; false if there is none. No more than a few thousand
 * elements.
 */
bool oracle_range(const struct tdma_desc *desc,
                  const struct tdma_desc_ext *ext, unsigned side,
                  __int128 *min, __int128 *max);

#endif /* TDMA_TEST_ORACLE_H */
