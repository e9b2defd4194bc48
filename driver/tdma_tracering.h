/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The trace ring of a DMA thread, for whoever may see it (debugfs).
 */
#ifndef TDMA_TRACERING_H
#define TDMA_TRACERING_H

#include <linux/mutex.h>
#include <linux/tensordma_trace.h>
#include <linux/types.h>

#define TDMA_TRACERING_ORDER_MAX	16

struct tdma_device;

/**
 * struct tdma_tracering - a thread's ring
 * @tdev: the device
 * @thread: the thread
 * @lock: protects the rest; taken before the device's
 * @entries: the ring, written by the device; NULL = there is none
 * @addr: its bus address
 * @order: log2 of its entries
 * @tail: entries read so far
 * @generation: of the device when it was given the ring
 */
struct tdma_tracering {
	struct tdma_device *tdev;
	u32 thread;
	struct mutex lock;	/* the rest */
	struct tdma_trace_entry *entries;
	dma_addr_t addr;
	u32 order;
	u32 tail;
	u32 generation;
};

/**
 * struct tdma_tracering_info - what a ring is doing
 * @state: TDMA_TRSTATE_*
 * @order: log2 of its entries; 0 = there is none
 * @events: the events that go into it
 * @head: entries written
 * @lost: events that found it full
 */
struct tdma_tracering_info {
	u32 state;
	u32 order;
	u32 events;
	u32 head;
	u64 lost;
};

void tdma_tracering_init(struct tdma_tracering *ring, struct tdma_device *tdev,
			 u32 thread);
int tdma_tracering_start(struct tdma_tracering *ring, u32 order, u32 events);
int tdma_tracering_stop(struct tdma_tracering *ring);
int tdma_tracering_info(struct tdma_tracering *ring,
			struct tdma_tracering_info *info);
ssize_t tdma_tracering_read(struct tdma_tracering *ring, char __user *to,
			    size_t count);

#endif /* TDMA_TRACERING_H */
