/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fences: what others wait for instead of a job.
 */
#ifndef TDMA_FENCE_H
#define TDMA_FENCE_H

struct dma_fence;

struct dma_fence *tdma_fence_new(void);
void tdma_fence_end(struct dma_fence *fence, int error);
void tdma_fences_flush(void);

#endif /* TDMA_FENCE_H */
