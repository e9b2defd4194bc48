/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Contexts: the segment tables that say which memory a queue may reach. The
 * tables are in coherent memory that only the driver writes.
 */
#ifndef TDMA_CONTEXT_H
#define TDMA_CONTEXT_H

#include <linux/atomic.h>
#include <linux/idr.h>
#include <linux/list.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include <linux/tensordma_desc.h>

struct tdma_device;
struct tdma_queue;

/* Segments of the kernel's own context */
#define TDMA_KERNEL_CONTEXT	0
#define TDMA_KERNEL_HOST	0	/* all of the bus address space */
#define TDMA_KERNEL_HBM		1	/* all of the device memory */

/**
 * struct tdma_context - a hardware context
 * @tdev: the device
 * @id: its number
 * @count: entries of @table
 * @table: the segments, or NULL after tdma_context_fini()
 * @table_dma: bus address of @table
 * @used: entries in use
 * @user_queue: queue whose jobs the driver does not see, or NULL; protected by
 *	tdma_device.buffers_lock, as is @linger
 * @releasing: buffers that nobody uses, not yet free
 * @linger: those of them that wait for @user_queue
 * @linger_work: looks after them
 */
struct tdma_context {
	struct tdma_device *tdev;
	u32 id;
	u32 count;
	struct tdma_segment *table;
	dma_addr_t table_dma;
	struct ida used;
	struct tdma_queue *user_queue;
	atomic_t releasing;
	struct list_head linger;
	struct delayed_work linger_work;
};

int tdma_context_init(struct tdma_context *ctx, struct tdma_device *tdev,
		      u32 id, u32 count);
void tdma_context_fini(struct tdma_context *ctx);
void tdma_context_program(const struct tdma_context *ctx);
void tdma_context_revoke(const struct tdma_context *ctx);

int tdma_context_reserve(struct tdma_context *ctx);
void tdma_context_set(struct tdma_context *ctx, u32 index,
		      const struct tdma_segment *segment);
void tdma_context_clear(struct tdma_context *ctx, u32 index);
void tdma_context_release(struct tdma_context *ctx, u32 index);

#endif /* TDMA_CONTEXT_H */
