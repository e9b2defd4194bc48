// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters of the DMA threads that never go back.
 *
 * The registers start at zero after a reset and whenever somebody clears them.
 * Both are the driver's doing, so that it can look at them right before; what
 * they had counted becomes the base of what they count from then on. Nothing
 * here sleeps or takes another lock.
 */
#include <linux/build_bug.h>
#include <linux/overflow.h>
#include <linux/slab.h>

#include "tdma_counters.h"

static_assert(TDMA_COUNTER_REQUESTS == 8 * TDMA_COUNT_REQUESTS);
static_assert(TDMA_COUNTER_STALL_BACKPRESSURE == 8 * TDMA_COUNT_BACKPRESSURE);
static_assert(TDMA_COUNTER_STALL_THROTTLE == 8 * TDMA_COUNT_THROTTLE);
static_assert(TDMA_COUNTER_STALL_IDS == 8 * TDMA_COUNT_IDS);
static_assert(TDMA_COUNTER_STALL_HAZARD == 8 * TDMA_COUNT_HAZARD);
static_assert(TDMA_COUNTER_PIPELINE_FILL == 8 * TDMA_COUNT_FILL);

/**
 * tdma_counters_new - allocate the counters of a device, at zero and off
 * @hw: the device; there as long as the counters are on
 *
 * Return: the counters with one reference, or NULL.
 */
struct tdma_counters *tdma_counters_new(const struct tdma_hw *hw)
{
	struct tdma_counters *counters;

	counters = kzalloc(struct_size(counters, counts, hw->threads),
			   GFP_KERNEL);
	if (!counters)
		return NULL;
	kref_init(&counters->ref);
	raw_spin_lock_init(&counters->lock);
	counters->hw = hw;
	counters->threads = hw->threads;
	return counters;
}

/**
 * tdma_counters_get - take a reference
 * @counters: the counters
 */
void tdma_counters_get(struct tdma_counters *counters)
{
	kref_get(&counters->ref);
}

static void tdma_counters_free(struct kref *ref)
{
	kfree(container_of(ref, struct tdma_counters, ref));
}

/**
 * tdma_counters_put - drop a reference
 * @counters: the counters, or NULL
 */
void tdma_counters_put(struct tdma_counters *counters)
{
	if (counters)
		kref_put(&counters->ref, tdma_counters_free);
}

static u64 tdma_count_value(const struct tdma_count *count)
{
	return count->base + count->last;
}

static void tdma_count_restart(struct tdma_count *count)
{
	count->base += count->last;
	count->last = 0;
}

/* Look at the register, if there is one. */
static void tdma_count_update(struct tdma_counters *counters,
			      struct tdma_count *count, u32 thread, u32 reg)
{
	u64 value;

	lockdep_assert_held(&counters->lock);
	if (!counters->on)
		return;
	value = tdma_hw_thread_read64(counters->hw, thread, reg);
	/* All ones: the device is gone, and what it had counted is known. */
	if (value == U64_MAX)
		return;
	/* Cleared behind our back */
	if (value < count->last)
		tdma_count_restart(count);
	count->last = value;
}

static u32 tdma_side_reg(unsigned int side, enum tdma_counter counter)
{
	return (side ? TDMA_THREAD_DST_COUNTERS : TDMA_THREAD_SRC_COUNTERS) +
	       8 * counter;
}

static void tdma_update_thread(struct tdma_counters *counters, u32 thread)
{
	struct tdma_thread_counts *counts = &counters->counts[thread];
	unsigned int side, i;

	tdma_count_update(counters, &counts->cycles, thread,
			  TDMA_THREAD_CYCLES);
	for (side = 0; side < TDMA_COUNT_SIDES; side++)
		for (i = 0; i < TDMA_COUNTS; i++)
			tdma_count_update(counters, &counts->side[side][i],
					  thread, tdma_side_reg(side, i));
}

static void tdma_restart_thread(struct tdma_counters *counters, u32 thread)
{
	struct tdma_thread_counts *counts = &counters->counts[thread];
	unsigned int side, i;

	tdma_count_restart(&counts->cycles);
	for (side = 0; side < TDMA_COUNT_SIDES; side++)
		for (i = 0; i < TDMA_COUNTS; i++)
			tdma_count_restart(&counts->side[side][i]);
}

/**
 * tdma_counters_on - look at the registers from now on
 * @counters: the counters, off
 *
 * The device has just been reset: its counters are at zero.
 */
void tdma_counters_on(struct tdma_counters *counters)
{
	unsigned long flags;
	u32 i;

	raw_spin_lock_irqsave(&counters->lock, flags);
	for (i = 0; i < counters->threads; i++)
		tdma_restart_thread(counters, i);
	counters->on = true;
	raw_spin_unlock_irqrestore(&counters->lock, flags);
}

/**
 * tdma_counters_off - take a last look and leave the registers alone
 * @counters: the counters
 *
 * May be called twice.
 */
void tdma_counters_off(struct tdma_counters *counters)
{
	unsigned long flags;
	u32 i;

	/* A thread at a time: interrupts shall not wait for all of them. */
	for (i = 0; i < counters->threads; i++) {
		raw_spin_lock_irqsave(&counters->lock, flags);
		tdma_update_thread(counters, i);
		raw_spin_unlock_irqrestore(&counters->lock, flags);
	}
	raw_spin_lock_irqsave(&counters->lock, flags);
	counters->on = false;
	raw_spin_unlock_irqrestore(&counters->lock, flags);
}

/**
 * tdma_counters_clear_hw - clear the registers of a DMA thread
 * @counters: the counters, which go on as if nothing had happened
 * @thread: the thread
 */
void tdma_counters_clear_hw(struct tdma_counters *counters, u32 thread)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&counters->lock, flags);
	if (counters->on) {
		tdma_update_thread(counters, thread);
		tdma_hw_thread_write(counters->hw, thread,
				     TDMA_THREAD_COUNTER_CLEAR, 1);
		tdma_restart_thread(counters, thread);
	}
	raw_spin_unlock_irqrestore(&counters->lock, flags);
}

static u64 tdma_counters_read(struct tdma_counters *counters,
			      struct tdma_count *count, u32 thread, u32 reg)
{
	unsigned long flags;
	u64 value;

	raw_spin_lock_irqsave(&counters->lock, flags);
	tdma_count_update(counters, count, thread, reg);
	value = tdma_count_value(count);
	raw_spin_unlock_irqrestore(&counters->lock, flags);
	return value;
}

/**
 * tdma_counters_cycles - cycles of a DMA thread; in any context
 * @counters: the counters
 * @thread: the thread
 *
 * Return: the number since the driver was bound.
 */
u64 tdma_counters_cycles(struct tdma_counters *counters, u32 thread)
{
	return tdma_counters_read(counters, &counters->counts[thread].cycles,
				  thread, TDMA_THREAD_CYCLES);
}

/**
 * tdma_counters_side - what a side of a DMA thread counts; in any context
 * @counters: the counters
 * @thread: the thread
 * @side: 0 = source, 1 = destination
 * @counter: what
 *
 * Return: the number since the driver was bound.
 */
u64 tdma_counters_side(struct tdma_counters *counters, u32 thread,
		       unsigned int side, enum tdma_counter counter)
{
	struct tdma_thread_counts *counts = &counters->counts[thread];

	return tdma_counters_read(counters, &counts->side[side][counter],
				  thread, tdma_side_reg(side, counter));
}
