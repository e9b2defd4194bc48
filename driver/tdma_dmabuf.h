/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * dma-buf: memory of this driver for other drivers, and theirs for this one.
 */
#ifndef TDMA_DMABUF_H
#define TDMA_DMABUF_H

#include <linux/types.h>

struct dma_buf;
struct tdma_device;
struct tdma_memory;

struct dma_buf *tdma_dmabuf_export(struct tdma_memory *mem, u32 access);
struct tdma_memory *tdma_dmabuf_import(struct tdma_device *tdev, int fd,
				       u32 access);

#endif /* TDMA_DMABUF_H */
