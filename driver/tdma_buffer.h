/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Buffers: memory that descriptors of one context may name.
 *
 * A buffer lives as long as somebody holds a reference: its handle, each
 * unfinished job that names it, each mapping. The last one gone, the segment
 * entry is cleared and the memory released, in process context.
 */
#ifndef TDMA_BUFFER_H
#define TDMA_BUFFER_H

#include <linux/refcount.h>
#include <linux/scatterlist.h>
#include <linux/workqueue.h>
#include <linux/tensordma.h>

#include "tdma_context.h"

struct tdma_device;
struct vm_area_struct;

/* mmap() offsets: the handle, times the largest length of a buffer */
#define TDMA_MMAP_SHIFT		40

/**
 * enum tdma_buffer_kind - where the memory comes from
 * @TDMA_BUFFER_PINNED: pages of a process
 * @TDMA_BUFFER_HOST: pages of the driver
 * @TDMA_BUFFER_HBM: device memory
 */
enum tdma_buffer_kind {
	TDMA_BUFFER_PINNED,
	TDMA_BUFFER_HOST,
	TDMA_BUFFER_HBM,
};

/**
 * struct tdma_buffer - a buffer
 * @refs: references
 * @release: frees the buffer
 * @tdev: the device
 * @ctx: the context; outlives the buffer
 * @node: in tdma_device.buffers
 * @kind: &enum tdma_buffer_kind
 * @access: TDMA_BUF_*
 * @handle: segment number, or 0 before there is one
 * @segment: what stands in the segment table
 * @pages: host memory
 * @nr_pages: number of @pages, or of pages of device memory
 * @page_offset: where in the first page the buffer begins
 * @sgt: DMA mapping of @pages
 * @mapped: @sgt and @list are valid
 * @list: page list for the device, or NULL
 * @list_dma: bus address of @list
 * @list_bytes: size of @list
 * @mm: process whose memory is accounted
 * @hbm: offset in device memory
 * @orphan: what mappings of device memory show when the device is gone
 */
struct tdma_buffer {
	refcount_t refs;
	struct work_struct release;
	struct tdma_device *tdev;
	struct tdma_context *ctx;
	struct list_head node;

	enum tdma_buffer_kind kind;
	u32 access;
	u32 handle;
	struct tdma_segment segment;

	struct page **pages;
	unsigned long nr_pages;
	unsigned int page_offset;
	struct sg_table sgt;
	bool mapped;
	__le64 *list;
	dma_addr_t list_dma;
	size_t list_bytes;
	struct mm_struct *mm;

	unsigned long hbm;
	struct page *orphan;
};

struct tdma_buffer *tdma_buffer_pin(struct tdma_context *ctx, u64 addr,
				    u64 length, u32 access);
struct tdma_buffer *tdma_buffer_alloc(struct tdma_context *ctx, u32 space,
				      u64 length);
int tdma_buffer_publish(struct tdma_buffer *buf);
void tdma_buffer_get(struct tdma_buffer *buf);
void tdma_buffer_put(struct tdma_buffer *buf);
void tdma_buffer_put_atomic(struct tdma_buffer *buf);
void tdma_buffer_unmap(struct tdma_buffer *buf);

u64 tdma_buffer_mmap_offset(const struct tdma_buffer *buf);
int tdma_buffer_mmap(struct tdma_buffer *buf, struct vm_area_struct *vma);

#endif /* TDMA_BUFFER_H */
