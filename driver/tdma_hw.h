/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hardware layer: registers and nothing else. It knows no files, jobs or
 * memory. A read of all ones means that the device is gone; the functions say
 * so and never spin on it.
 */
#ifndef TDMA_HW_H
#define TDMA_HW_H

#include <linux/io.h>
#include <linux/types.h>
#include <linux/tensordma_regs.h>

/* What the device answers on no bus at all */
#define TDMA_HW_GONE		(~0U)

/**
 * struct tdma_hw - register access and what the capability registers said
 * @regs: BAR0
 * @features: TDMA_FEATURE_*
 * @threads: DMA threads
 * @queues: queues
 * @contexts: contexts
 * @segments: entries of the largest segment table
 * @ring_order: log2 of the largest ring
 * @dims: dimensions per descriptor
 * @lanes: addresses per cycle and side
 * @ids: request IDs per side
 * @vectors: MSI-X vectors
 * @opcodes: bit n: opcode n is offered
 * @types: bit n: accumulate type n is offered
 * @sync_flags: number of sync flags
 * @hbm_size: bytes of device memory
 */
struct tdma_hw {
	void __iomem *regs;
	u32 features;
	u32 threads;
	u32 queues;
	u32 contexts;
	u32 segments;
	u32 ring_order;
	u32 dims;
	u32 lanes;
	u32 ids;
	u32 vectors;
	u32 opcodes;
	u32 types;
	u32 sync_flags;
	u64 hbm_size;
};

/**
 * struct tdma_hw_queue - registers of a queue that is to be enabled
 * @ring: bus address of the ring
 * @records: bus address of the records
 * @order: log2 of the number of slots
 * @context: context of the segments
 * @vector: MSI-X vector
 * @thread: DMA thread, or %TDMA_THREAD_ANY
 * @priority: 0 to %TDMA_PRIORITY_MAX; those with more go first
 * @paused: fetch nothing before tdma_hw_queue_unpause()
 */
struct tdma_hw_queue {
	u64 ring;
	u64 records;
	u32 order;
	u32 context;
	u32 vector;
	u32 thread;
	u32 priority;
	bool paused;
};

int tdma_hw_init(struct tdma_hw *hw, void __iomem *regs);
bool tdma_hw_present(const struct tdma_hw *hw);
u32 tdma_hw_generation(const struct tdma_hw *hw);
void tdma_hw_enable(const struct tdma_hw *hw, bool enable);
int tdma_hw_reset(const struct tdma_hw *hw);

u32 tdma_hw_thread_read(const struct tdma_hw *hw, u32 thread, u32 reg);
u64 tdma_hw_thread_read64(const struct tdma_hw *hw, u32 thread, u32 reg);
void tdma_hw_thread_write(const struct tdma_hw *hw, u32 thread, u32 reg,
			  u32 value);

int tdma_hw_trace_start(const struct tdma_hw *hw, u32 thread, u64 ring,
			u32 order, u32 events);
int tdma_hw_trace_stop(const struct tdma_hw *hw, u32 thread);

void tdma_hw_context_set(const struct tdma_hw *hw, u32 context, u64 table,
			 u32 count);

int tdma_hw_queue_enable(const struct tdma_hw *hw, u32 queue,
			 const struct tdma_hw_queue *config);
void tdma_hw_queue_disable(const struct tdma_hw *hw, u32 queue);
int tdma_hw_queue_wait_off(const struct tdma_hw *hw, u32 queue);
int tdma_hw_queue_wait_done(const struct tdma_hw *hw, u32 queue, u32 since);
u32 tdma_hw_queue_state(const struct tdma_hw *hw, u32 queue);
u32 tdma_hw_queue_head(const struct tdma_hw *hw, u32 queue);
u32 tdma_hw_queue_tail(const struct tdma_hw *hw, u32 queue);
u32 tdma_hw_queue_done(const struct tdma_hw *hw, u32 queue);
u32 tdma_hw_queue_waits(const struct tdma_hw *hw, u32 queue);
u64 tdma_hw_queue_progress(const struct tdma_hw *hw, u32 queue);
u32 tdma_hw_queue_error(const struct tdma_hw *hw, u32 queue);
void tdma_hw_queue_abort(const struct tdma_hw *hw, u32 queue);
void tdma_hw_queue_settle(const struct tdma_hw *hw, u32 queue);
int tdma_hw_queue_pause(const struct tdma_hw *hw, u32 queue);
void tdma_hw_queue_unpause(const struct tdma_hw *hw, u32 queue);
void tdma_hw_doorbell(const struct tdma_hw *hw, u32 queue, u32 tail);

#endif /* TDMA_HW_H */
