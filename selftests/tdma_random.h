/* SPDX-License-Identifier: GPL-2.0 */
/* tensordma selftests: reproducible random data and random valid jobs. */
#ifndef TDMA_RANDOM_H
#define TDMA_RANDOM_H

#include "tdma_util.h"

struct tdma_rng {
	__u64 state;
};

__u64 tdma_rand(struct tdma_rng *rng);
/* Uniform in 0..@n-1 (@n > 0). */
__u64 tdma_rand_below(struct tdma_rng *rng, __u64 n);
/* New content for the buffer and its image. */
void tdma_rand_fill(struct tdma_rng *rng, struct tdma_buf *buf);

/*
 * A valid job between two buffers: any operation the device offers but
 * accumulate in a floating point type, whose NaNs have no one right answer.
 * At most @max_elements elements are moved. Slot 1 is used if slot 0 has
 * TDMA_DESC_EXT.
 */
void tdma_rand_job(struct tdma_rng *rng, const struct tdma_query *caps,
		   const struct tdma_buf *src, const struct tdma_buf *dst,
		   __u64 max_elements, union tdma_slot slots[2]);

#endif /* TDMA_RANDOM_H */
