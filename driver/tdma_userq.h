/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * User queues: a hardware queue that a process fills by itself.
 */
#ifndef TDMA_USERQ_H
#define TDMA_USERQ_H

#include <linux/tensordma.h>

struct tdma_file;
struct tdma_memory;
struct vm_area_struct;

int tdma_user_queue_create(struct tdma_file *file,
			   struct tdma_queue_create *arg);
int tdma_user_queue_status(struct tdma_file *file,
			   struct tdma_queue_status *arg);
int tdma_user_queue_stop(struct tdma_file *file);
void tdma_user_queue_unmap(struct tdma_file *file);
void tdma_user_queue_free(struct tdma_file *file);
struct tdma_memory *tdma_user_queue_part(const struct tdma_file *file,
					 struct vm_area_struct *vma);

#endif /* TDMA_USERQ_H */
