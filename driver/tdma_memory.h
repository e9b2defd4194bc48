/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory: pages of a process, of the driver, of the device, of a dma-buf.
 *
 * Memory lives as long as somebody holds a reference: a buffer, a mapping, an
 * exported dma-buf. It knows nothing of contexts and may outlive the file that
 * it was made by.
 */
#ifndef TDMA_MEMORY_H
#define TDMA_MEMORY_H

#include <linux/refcount.h>
#include <linux/types.h>
#include <linux/tensordma.h>

struct dma_buf;
struct tdma_device;
struct vm_area_struct;

/* mmap() offsets: the handle, times the largest length of a buffer */
#define TDMA_MMAP_SHIFT		40

/**
 * enum tdma_memory_kind - where the memory comes from
 * @TDMA_MEMORY_PINNED: pages of a process
 * @TDMA_MEMORY_HOST: pages of the driver
 * @TDMA_MEMORY_HBM: device memory
 * @TDMA_MEMORY_DOORBELL: a queue's page of BAR0
 * @TDMA_MEMORY_IMPORTED: a dma-buf of another driver
 */
enum tdma_memory_kind {
	TDMA_MEMORY_PINNED,
	TDMA_MEMORY_HOST,
	TDMA_MEMORY_HBM,
	TDMA_MEMORY_DOORBELL,
	TDMA_MEMORY_IMPORTED,
};

/**
 * struct tdma_memory - memory
 * @refs: references
 * @tdev: the device, referenced
 * @kind: &enum tdma_memory_kind
 * @written: the device may write to @pages
 * @cleared: device memory does not show what an earlier owner left
 * @length: bytes
 * @page_offset: where in the first page they begin
 * @pages: host memory
 * @nr_pages: number of @pages, or of pages of device memory
 * @mm: process whose memory is accounted
 * @hbm: offset in device memory
 * @phys: where the CPU finds the memory of the device
 * @orphan: what mappings of it show when the device is gone
 * @dmabuf: imported memory
 */
struct tdma_memory {
	refcount_t refs;
	struct tdma_device *tdev;
	enum tdma_memory_kind kind;
	bool written;
	bool cleared;
	u64 length;

	unsigned int page_offset;
	struct page **pages;
	unsigned long nr_pages;
	struct mm_struct *mm;

	unsigned long hbm;
	phys_addr_t phys;
	struct page *orphan;
	struct dma_buf *dmabuf;
};

struct tdma_memory *tdma_memory_pin(struct tdma_device *tdev, u64 addr,
				    u64 length, u32 access);
struct tdma_memory *tdma_memory_alloc(struct tdma_device *tdev, u32 space,
				      u64 length);
struct tdma_memory *tdma_memory_contiguous(struct tdma_device *tdev,
					   u64 length);
struct tdma_memory *tdma_memory_doorbell(struct tdma_device *tdev, u32 queue);
struct tdma_memory *tdma_memory_import(struct tdma_device *tdev,
				       struct dma_buf *dmabuf);
void tdma_memory_get(struct tdma_memory *mem);
void tdma_memory_put(struct tdma_memory *mem);
int tdma_memory_mmap(struct tdma_memory *mem, u32 access,
		     struct vm_area_struct *vma);

#endif /* TDMA_MEMORY_H */
