/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tensordma: tensor descriptors for dmaengine clients in the kernel.
 */
#ifndef TENSORDMA_H
#define TENSORDMA_H

#include <linux/dmaengine.h>
#include <linux/tensordma_desc.h>

/* Segments that descriptors of a dmaengine channel may name */
#define TENSORDMA_SEGMENT_HOST	0	/* offset = DMA address */
#define TENSORDMA_SEGMENT_HBM	1	/* offset in the device memory */

struct dma_async_tx_descriptor *
tensordma_prep_tensor(struct dma_chan *chan, const struct tdma_desc *desc,
		      const struct tdma_desc_ext *ext, unsigned long flags);

#endif /* TENSORDMA_H */
