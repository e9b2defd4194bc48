// SPDX-License-Identifier: GPL-2.0-only
/*
 * User queues: a hardware queue that a process fills by itself.
 *
 * Ring, records and doorbell are mapped into the process. Nothing of what it
 * writes there is trusted: the device takes a copy of each descriptor, checks
 * it against the file's segment table, and stops a queue with an absurd tail.
 * What the driver keeps is what it needs to stop the queue and to know when
 * memory is free.
 *
 * A file has at most one, from its creation to the last close(). Its number is
 * not used again before, so that a doorbell still mapped rings nobody else's
 * queue.
 */
#include <linux/bits.h>
#include <linux/dma-mapping.h>
#include <linux/eventfd.h>
#include <linux/nospec.h>
#include <linux/slab.h>

#include "tdma_compat.h"
#include "tdma_device.h"
#include "tdma_file.h"
#include "tdma_memory.h"
#include "tdma_userq.h"
#include "tdma_watchdog.h"

/* mmap() offsets: above those of buffers, one part per buffer's length */
#define TDMA_USERQ_MMAP		BIT_ULL(62)

enum tdma_userq_part {
	TDMA_USERQ_RING,
	TDMA_USERQ_RECORDS,
	TDMA_USERQ_DOORBELL,
	TDMA_USERQ_PARTS,
};

/**
 * struct tdma_user_queue - a user queue
 * @queue: the hardware queue
 * @memory: what is mapped into the process, by &enum tdma_userq_part
 * @dma: bus addresses of ring and records, or 0
 * @eventfd: told when jobs are over, or NULL
 * @seen: slots that were retired when it was told last, under the queue's lock
 */
struct tdma_user_queue {
	struct tdma_queue queue;
	struct tdma_memory *memory[TDMA_USERQ_PARTS];
	dma_addr_t dma[TDMA_USERQ_DOORBELL];
	struct eventfd_ctx *eventfd;
	u32 seen;
};

static void tdma_userq_service(struct tdma_queue *queue)
{
	struct tdma_user_queue *userq = container_of(queue,
						     struct tdma_user_queue,
						     queue);
	u32 done;

	if (!userq->eventfd || queue->state != TDMA_QUEUE_ON)
		return;
	/* The interrupt may be of another queue. */
	done = tdma_hw_queue_done(&queue->tdev->hw, queue->id);
	if (done != userq->seen)
		tdma_eventfd_signal(userq->eventfd);
	userq->seen = done;
}

/* There are no jobs of the kernel's making. */
static void tdma_userq_done(struct tdma_queue *queue, struct tdma_job *job)
{
	WARN_ON_ONCE(1);
}

static void tdma_userq_event(struct tdma_queue *queue)
{
}

static const struct tdma_queue_ops tdma_userq_ops = {
	.done = tdma_userq_done,
	.event = tdma_userq_event,
	.service = tdma_userq_service,
};

/* ---- memory ---- */

static void *tdma_userq_address(const struct tdma_user_queue *userq,
				enum tdma_userq_part part)
{
	return page_address(userq->memory[part]->pages[0]);
}

/*
 * Would somebody have to copy what the process writes? With the DMA API's
 * checks compiled in, dma_need_sync() says so of whatever an IOMMU maps.
 */
static bool tdma_userq_is_copied(struct device *dev, dma_addr_t addr)
{
#if IS_ENABLED(CONFIG_DMA_API_DEBUG) && IS_ENABLED(CONFIG_DMA_NEED_SYNC)
	if (dev->dma_skip_sync)
		return false;
#endif
	return dma_need_sync(dev, addr);
}

static int tdma_userq_map(struct tdma_user_queue *userq,
			  struct tdma_device *tdev, enum tdma_userq_part part)
{
	struct device *dev = &tdev->pdev->dev;
	dma_addr_t addr;

	addr = dma_map_single(dev, tdma_userq_address(userq, part),
			      userq->memory[part]->length, DMA_BIDIRECTIONAL);
	if (dma_mapping_error(dev, addr))
		return -ENOMEM;
	userq->dma[part] = addr;
	return tdma_userq_is_copied(dev, addr) ? -EOPNOTSUPP : 0;
}

static int tdma_userq_alloc(struct tdma_user_queue *userq,
			    struct tdma_device *tdev, u32 id, u32 order)
{
	const u64 length[] = {
		[TDMA_USERQ_RING] = sizeof(struct tdma_desc) << order,
		[TDMA_USERQ_RECORDS] = sizeof(struct tdma_record) << order,
	};
	struct tdma_memory *mem;
	unsigned int i;
	int ret;

	for (i = 0; i < TDMA_USERQ_PARTS; i++) {
		mem = i == TDMA_USERQ_DOORBELL ?
		      tdma_memory_doorbell(tdev, id) :
		      tdma_memory_contiguous(tdev, PAGE_ALIGN(length[i]));
		if (IS_ERR(mem))
			return PTR_ERR(mem);
		userq->memory[i] = mem;
		ret = i == TDMA_USERQ_DOORBELL ?
		      0 : tdma_userq_map(userq, tdev, i);
		if (ret)
			return ret;
	}
	return 0;
}

static void tdma_userq_unmap(struct tdma_user_queue *userq,
			     struct tdma_device *tdev)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(userq->dma); i++) {
		if (userq->dma[i])
			dma_unmap_single(&tdev->pdev->dev, userq->dma[i],
					 userq->memory[i]->length,
					 DMA_BIDIRECTIONAL);
		userq->dma[i] = 0;
	}
}

static void tdma_userq_free(struct tdma_user_queue *userq)
{
	unsigned int i;

	for (i = 0; i < TDMA_USERQ_PARTS; i++)
		if (userq->memory[i])
			tdma_memory_put(userq->memory[i]);
	if (userq->eventfd)
		eventfd_ctx_put(userq->eventfd);
	kfree(userq);
}

/* ---- creation ---- */

static int tdma_userq_start(struct tdma_file *file,
			    struct tdma_user_queue *userq, u32 id, u32 order)
{
	struct tdma_device *tdev = file->tdev;
	struct tdma_queue_memory memory;
	int ret;

	ret = tdma_userq_alloc(userq, tdev, id, order);
	if (ret)
		goto err_unmap;
	memory = (struct tdma_queue_memory) {
		.order = order,
		.ring = tdma_userq_address(userq, TDMA_USERQ_RING),
		.records = tdma_userq_address(userq, TDMA_USERQ_RECORDS),
		.ring_dma = userq->dma[TDMA_USERQ_RING],
		.records_dma = userq->dma[TDMA_USERQ_RECORDS],
	};
	tdma_queue_init_user(&userq->queue, tdev, &tdma_userq_ops, id,
			     file->ctx.id, &memory);
	userq->queue.hw.priority = file->queue.hw.priority;

	/* From now on buffers are released with an eye on this queue. */
	mutex_lock(&tdev->buffers_lock);
	file->ctx.user_queue = &userq->queue;
	mutex_unlock(&tdev->buffers_lock);
	ret = tdma_queue_start(&userq->queue);
	if (!ret) {
		tdma_watchdog_kick(tdev);
		return 0;
	}

	mutex_lock(&tdev->buffers_lock);
	file->ctx.user_queue = NULL;
	mutex_unlock(&tdev->buffers_lock);
	tdma_queue_fini(&userq->queue);
err_unmap:
	tdma_userq_unmap(userq, tdev);
	return ret;
}

static struct tdma_user_queue *tdma_userq_new(int eventfd)
{
	struct tdma_user_queue *userq;
	struct eventfd_ctx *ctx;

	userq = kzalloc(sizeof(*userq), GFP_KERNEL_ACCOUNT);
	if (!userq)
		return ERR_PTR(-ENOMEM);
	if (eventfd == -1)
		return userq;
	ctx = eventfd_ctx_fdget(eventfd);
	if (IS_ERR(ctx)) {
		kfree(userq);
		return ERR_CAST(ctx);
	}
	userq->eventfd = ctx;
	return userq;
}

static int tdma_userq_create_locked(struct tdma_file *file,
				    const struct tdma_queue_create *arg)
{
	struct tdma_device *tdev = file->tdev;
	struct tdma_user_queue *userq;
	int id, ret;

	lockdep_assert_held(&file->lock);
	if (file->userq)
		return -EBUSY;
	userq = tdma_userq_new(arg->eventfd);
	if (IS_ERR(userq))
		return PTR_ERR(userq);
	id = ida_alloc_range(&tdev->queue_ids, tdev->hw.threads,
			     tdev->hw.queues - 1, GFP_KERNEL);
	if (id < 0) {
		ret = id == -ENOSPC ? -EBUSY : id;
		goto err_free;
	}
	ret = tdma_userq_start(file, userq, id, arg->order);
	if (ret)
		goto err_free_id;
	file->userq = userq;
	return 0;

err_free_id:
	ida_free(&tdev->queue_ids, id);
err_free:
	tdma_userq_free(userq);
	return ret;
}

static u64 tdma_userq_offset(enum tdma_userq_part part)
{
	return TDMA_USERQ_MMAP | (u64)part << TDMA_MMAP_SHIFT;
}

/**
 * tdma_user_queue_create - TDMA_IOC_QUEUE_CREATE
 * @file: the file, between tdma_file_begin() and tdma_file_end()
 * @arg: the checked copy of the argument; results are written to it
 *
 * Return: 0 or a negative errno, see &struct tdma_queue_create.
 */
int tdma_user_queue_create(struct tdma_file *file,
			   struct tdma_queue_create *arg)
{
	struct tdma_device *tdev = file->tdev;
	int ret;

	if (arg->flags || arg->reserved || !arg->order ||
	    arg->order > min_t(u32, tdev->hw.ring_order, TDMA_USERQ_MAX_ORDER))
		return -EINVAL;
	if (tdev->polled && arg->eventfd != -1)
		return -EOPNOTSUPP;

	mutex_lock(&file->lock);
	ret = tdma_userq_create_locked(file, arg);
	mutex_unlock(&file->lock);
	if (ret)
		return ret;
	arg->ring_offset = tdma_userq_offset(TDMA_USERQ_RING);
	arg->records_offset = tdma_userq_offset(TDMA_USERQ_RECORDS);
	arg->doorbell_offset = tdma_userq_offset(TDMA_USERQ_DOORBELL);
	return 0;
}

/**
 * tdma_user_queue_status - TDMA_IOC_QUEUE_STATUS
 * @file: the file, between tdma_file_begin() and tdma_file_end()
 * @arg: the checked copy of the argument; results are written to it
 *
 * Return: 0, or -ENOENT if the file has no user queue.
 */
int tdma_user_queue_status(struct tdma_file *file,
			   struct tdma_queue_status *arg)
{
	const struct tdma_hw *hw = &file->tdev->hw;
	struct tdma_user_queue *userq;
	int ret = -ENOENT;

	mutex_lock(&file->lock);
	userq = file->userq;
	if (userq) {
		arg->state = tdma_hw_queue_state(hw, userq->queue.id);
		arg->error = tdma_hw_queue_error(hw, userq->queue.id);
		arg->done = tdma_hw_queue_done(hw, userq->queue.id);
		ret = 0;
	}
	mutex_unlock(&file->lock);
	return ret;
}

/**
 * tdma_user_queue_part - what an mmap() offset names
 * @file: the file, lock held
 * @vma: the mapping
 *
 * Records are the device's word, also to the driver: they are for reading.
 *
 * Return: the memory, NULL if the offset is not of a user queue, or
 * ERR_PTR(-EACCES).
 */
struct tdma_memory *tdma_user_queue_part(const struct tdma_file *file,
					 struct vm_area_struct *vma)
{
	u64 part = vma->vm_pgoff >> (TDMA_MMAP_SHIFT - PAGE_SHIFT);

	lockdep_assert_held(&file->lock);
	part ^= TDMA_USERQ_MMAP >> TDMA_MMAP_SHIFT;
	if (!file->userq || part >= TDMA_USERQ_PARTS)
		return NULL;
	part = array_index_nospec(part, TDMA_USERQ_PARTS);
	if (part == TDMA_USERQ_RECORDS) {
		if (vma->vm_flags & VM_WRITE)
			return ERR_PTR(-EACCES);
		tdma_vm_flags_clear(vma, VM_MAYWRITE);
	}
	return file->userq->memory[part];
}

/* ---- end ---- */

/**
 * tdma_user_queue_stop - let the device end what it does for the queue
 * @file: the file, being closed
 *
 * Return: 0, or an error: the device must be reset.
 */
int tdma_user_queue_stop(struct tdma_file *file)
{
	return file->userq ? tdma_queue_stop(&file->userq->queue) : 0;
}

/**
 * tdma_user_queue_unmap - take the queue away from the DMA API
 * @file: the file; tdma_device.files_lock is held, and the queue is off
 *
 * May be called twice. Must be called before the device is unbound.
 */
void tdma_user_queue_unmap(struct tdma_file *file)
{
	struct tdma_device *tdev = file->tdev;

	lockdep_assert_held(&tdev->files_lock);
	if (!file->userq)
		return;
	mutex_lock(&tdev->buffers_lock);
	file->ctx.user_queue = NULL;
	mutex_unlock(&tdev->buffers_lock);
	tdma_queue_fini(&file->userq->queue);
	tdma_userq_unmap(file->userq, tdev);
}

/**
 * tdma_user_queue_free - free the queue
 * @file: the file, after tdma_user_queue_unmap()
 */
void tdma_user_queue_free(struct tdma_file *file)
{
	if (!file->userq)
		return;
	ida_free(&file->tdev->queue_ids, file->userq->queue.id);
	tdma_userq_free(file->userq);
}
