/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters of the DMA threads that never go back: what the device counts, over
 * resets and over those who clear its registers.
 */
#ifndef TDMA_COUNTERS_H
#define TDMA_COUNTERS_H

#include <linux/kref.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "tdma_hw.h"

/**
 * enum tdma_counter - what is counted per side
 * @TDMA_COUNT_REQUESTS: requests issued
 * @TDMA_COUNT_BACKPRESSURE: cycles stalled by the interconnect
 * @TDMA_COUNT_THROTTLE: cycles stalled by the bandwidth throttle
 * @TDMA_COUNT_IDS: cycles stalled for want of request IDs
 * @TDMA_COUNT_HAZARD: cycles with an empty pipeline, the next descriptor held back
 * @TDMA_COUNT_FILL: cycles with work in the pipeline, but none to send yet
 * @TDMA_COUNTS: how many these are
 *
 * In the order of the registers.
 */
enum tdma_counter {
	TDMA_COUNT_REQUESTS,
	TDMA_COUNT_BACKPRESSURE,
	TDMA_COUNT_THROTTLE,
	TDMA_COUNT_IDS,
	TDMA_COUNT_HAZARD,
	TDMA_COUNT_FILL,
	TDMA_COUNTS,
};

#define TDMA_COUNT_SIDES	2

/**
 * struct tdma_count - a counter
 * @base: what it had counted when the register was cleared last
 * @last: what has been seen in the register since
 */
struct tdma_count {
	u64 base;
	u64 last;
};

/**
 * struct tdma_thread_counts - counters of a DMA thread
 * @cycles: cycles in which it had something to do
 * @side: of the source, of the destination
 */
struct tdma_thread_counts {
	struct tdma_count cycles;
	struct tdma_count side[TDMA_COUNT_SIDES][TDMA_COUNTS];
};

/**
 * struct tdma_counters - counters of a device
 * @ref: references; may outlive the device, and stand still then
 * @lock: the rest; innermost of all, for perf reads with interrupts off
 * @hw: where to look; valid while @on
 * @on: registers may be read
 * @threads: DMA threads
 * @counts: by thread
 */
struct tdma_counters {
	struct kref ref;
	raw_spinlock_t lock;	/* the rest */
	const struct tdma_hw *hw;
	bool on;
	u32 threads;
	struct tdma_thread_counts counts[];
};

struct tdma_counters *tdma_counters_new(const struct tdma_hw *hw);
void tdma_counters_get(struct tdma_counters *counters);
void tdma_counters_put(struct tdma_counters *counters);

void tdma_counters_on(struct tdma_counters *counters);
void tdma_counters_off(struct tdma_counters *counters);
void tdma_counters_clear_hw(struct tdma_counters *counters, u32 thread);
u64 tdma_counters_cycles(struct tdma_counters *counters, u32 thread);
u64 tdma_counters_side(struct tdma_counters *counters, u32 thread,
		       unsigned int side, enum tdma_counter counter);

#endif /* TDMA_COUNTERS_H */
