/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Buffers: memory that descriptors of one context may name.
 *
 * A buffer lives as long as somebody holds a reference: its handle, each
 * unfinished job that names it. The last one gone, the segment entry is cleared
 * and the memory let go, in process context. Jobs of a user queue hold no
 * reference, since nobody sees them: there the memory is let go when the queue
 * has left behind what it had fetched while the entry was there.
 */
#ifndef TDMA_BUFFER_H
#define TDMA_BUFFER_H

#include <linux/refcount.h>
#include <linux/scatterlist.h>
#include <linux/workqueue.h>
#include <linux/tensordma.h>

#include "tdma_context.h"
#include "tdma_memory.h"

struct dma_buf_attachment;
struct tdma_device;

/**
 * struct tdma_buffer - a buffer
 * @refs: references
 * @release: lets the last reference go in process context
 * @linger: in tdma_context.linger, until the user queue has passed @mark
 * @mark: index of a slot
 * @tdev: the device
 * @ctx: the context; outlives the buffer
 * @node: in tdma_device.buffers
 * @access: TDMA_BUF_*
 * @handle: segment number, or 0 before there is one
 * @segment: what stands in the segment table
 * @memory: the memory, referenced
 * @sgt: its DMA mapping, or NULL: @own_sgt, or one of the dma-buf's exporter
 * @own_sgt: mapping made by this driver
 * @attach: attachment to the dma-buf, or NULL
 * @list: page list for the device, or NULL
 * @list_dma: bus address of @list
 * @list_bytes: size of @list
 */
struct tdma_buffer {
	refcount_t refs;
	struct work_struct release;
	struct list_head linger;
	u32 mark;
	struct tdma_device *tdev;
	struct tdma_context *ctx;
	struct list_head node;

	u32 access;
	u32 handle;
	struct tdma_segment segment;
	struct tdma_memory *memory;

	struct sg_table *sgt;
	struct sg_table own_sgt;
	struct dma_buf_attachment *attach;
	__le64 *list;
	dma_addr_t list_dma;
	size_t list_bytes;
};

struct tdma_buffer *tdma_buffer_new(struct tdma_context *ctx,
				    struct tdma_memory *mem, u32 access);
int tdma_buffer_publish(struct tdma_buffer *buf);
void tdma_buffer_get(struct tdma_buffer *buf);
void tdma_buffer_put(struct tdma_buffer *buf);
void tdma_buffer_put_atomic(struct tdma_buffer *buf);
void tdma_buffers_init(struct tdma_context *ctx);
void tdma_buffers_settle(struct tdma_context *ctx);
void tdma_buffer_unmap(struct tdma_buffer *buf);

u64 tdma_buffer_mmap_offset(const struct tdma_buffer *buf);

#endif /* TDMA_BUFFER_H */
