/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Out-fences: dma_fences that signal when a job is over, in bounded time.
 */
#ifndef TDMA_OUTFENCE_H
#define TDMA_OUTFENCE_H

#include <linux/types.h>

struct dma_fence;
struct tdma_file;
struct tdma_file_job;

void tdma_outfence_init(struct tdma_file *file);
void tdma_outfence_start(struct tdma_file_job *job);
void tdma_outfence_attach(struct tdma_file *file, u64 number,
			  struct dma_fence *fence);
void tdma_outfence_done(struct tdma_file_job *job);
void tdma_outfence_fini(struct tdma_file *file);

#endif /* TDMA_OUTFENCE_H */
