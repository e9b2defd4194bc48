/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Held jobs: accepted, but not yet in the ring because an in-fence is pending.
 */
#ifndef TDMA_HELD_H
#define TDMA_HELD_H

#include <linux/types.h>

#include <linux/types.h>

struct dma_fence;
struct tdma_desc;
struct tdma_desc_ext;
struct tdma_file;
struct tdma_file_job;

void tdma_held_init(struct tdma_file *file);
int tdma_held_prepare(struct tdma_file_job *job, const struct tdma_desc *desc,
		      const struct tdma_desc_ext *ext, u32 dims);
void tdma_held_add(struct tdma_file *file, struct tdma_file_job *job,
		   struct dma_fence *fence);
void tdma_held_poke(struct tdma_file *file);
void tdma_held_fini(struct tdma_file *file);

#endif /* TDMA_HELD_H */
