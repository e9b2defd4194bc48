/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * dmaengine provider: one channel per DMA thread.
 */
#ifndef TDMA_DMAENGINE_H
#define TDMA_DMAENGINE_H

struct tdma_device;

int tdma_dmaengine_register(struct tdma_device *tdev);
void tdma_dmaengine_unregister(struct tdma_device *tdev);
void tdma_dmaengine_detach(struct tdma_device *tdev);

#endif /* TDMA_DMAENGINE_H */
