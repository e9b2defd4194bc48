// SPDX-License-Identifier: GPL-2.0-only
/*
 * TDMA_IOC_SUBMIT: from descriptors in user memory to jobs in a ring.
 *
 * Descriptors are copied first, without a lock; what is checked and what the
 * device gets is that copy. A call sleeps for room only while it has queued
 * nothing, so that the jobs of one call have consecutive numbers.
 */
#include <linux/file.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/sync_file.h>
#include <linux/uaccess.h>

#include "tdma_device.h"
#include "tdma_fence.h"
#include "tdma_file.h"
#include "tdma_held.h"
#include "tdma_outfence.h"

/* Slots looked at per call: as many as a ring has room for */
#define TDMA_SUBMIT_BATCH	256U
/*
 * Interrupts for partial updates, per job. A program that wants finer steps
 * gets them in the record; who waits for one looks there by timer.
 */
#define TDMA_MAX_SYNC_IRQS	4096

/**
 * struct tdma_batch - the copied slots of a call
 * @slots: the copy: descriptors and extension blocks
 * @count: slots copied
 * @rest: why the copy ends where it ends: 0 = there are no more slots, -EAGAIN
 *	= they are for the next call, else the error of the next slot
 * @in_fence: the jobs wait for it, or NULL
 * @out_fence: the last job signals it, or NULL
 */
struct tdma_batch {
	struct tdma_desc *slots;
	u32 count;
	int rest;
	struct dma_fence *in_fence;
	struct dma_fence *out_fence;
};

static int tdma_copy_slot(struct tdma_desc *slot, const struct tdma_submit *arg,
			  u32 index)
{
	u64 addr;

	if (check_add_overflow(arg->descs, (u64)index * arg->stride, &addr))
		return -EOVERFLOW;
	return copy_struct_from_user(slot, sizeof(*slot),
				     u64_to_user_ptr(addr), arg->stride);
}

/* Fails only if there is not even a first slot. */
static int tdma_batch_copy(struct tdma_batch *batch,
			   const struct tdma_submit *arg)
{
	u32 wanted = min(arg->count, TDMA_SUBMIT_BATCH);
	u32 i;

	batch->slots = kvmalloc_array(wanted, sizeof(*batch->slots),
				      GFP_KERNEL);
	if (!batch->slots)
		return -ENOMEM;
	batch->rest = arg->count > wanted ? -EAGAIN : 0;
	for (i = 0; i < wanted; i++) {
		int ret = tdma_copy_slot(&batch->slots[i], arg, i);

		if (ret) {
			batch->rest = ret;
			break;
		}
	}
	batch->count = i;
	return i ? 0 : batch->rest;
}

static bool tdma_sync_is_coarse(u64 elements, u32 interval, bool per_mille)
{
	return per_mille || !interval ||
	       div_u64(elements, interval) <= TDMA_MAX_SYNC_IRQS;
}

/* Whoever submits need not know how waiting works. */
static void tdma_add_irq_flags(struct tdma_desc *desc)
{
	u64 elements = tdma_desc_elements(desc);

	desc->flags |= TDMA_DESC_IRQ;
	desc->flags &= ~TDMA_DESC_SYNC_IRQ;
	if (!desc->src_sync_interval && !desc->dst_sync_interval)
		return;
	if (tdma_sync_is_coarse(elements, desc->src_sync_interval,
				desc->flags & TDMA_DESC_SRC_PER_MILLE) &&
	    tdma_sync_is_coarse(elements, desc->dst_sync_interval,
				desc->flags & TDMA_DESC_DST_PER_MILLE))
		desc->flags |= TDMA_DESC_SYNC_IRQ;
}

static void tdma_file_limits(const struct tdma_file *file,
			     struct tdma_desc_limits *limits)
{
	const struct tdma_hw *hw = &file->tdev->hw;

	*limits = (struct tdma_desc_limits) {
		.opcodes = hw->opcodes,
		.types = hw->types,
		/* Sync flags have no owner yet: only the kernel may use them */
		.flags = TDMA_DESC_FLAGS & ~(TDMA_DESC_SRC_SYNC_FLAG |
					     TDMA_DESC_DST_SYNC_FLAG),
		/* What is more than the device has is split. */
		.dims = TDMA_MAX_DIMS,
	};
	if (!(hw->features & TDMA_FEATURE_EXT))
		limits->flags &= ~TDMA_DESC_EXT;
}

static const u32 *tdma_desc_segment(const struct tdma_desc *desc,
				    enum tdma_desc_side side)
{
	switch (side) {
	case TDMA_DESC_SRC:
		return &desc->src_segment;
	case TDMA_DESC_DST:
		return &desc->dst_segment;
	default:
		return &desc->record_segment;
	}
}

static bool tdma_needs_parts(const struct tdma_file *file,
			     const struct tdma_desc *desc)
{
	return desc->ndims > file->tdev->hw.dims;
}

/* The device would write the record of each part there, as if it were all. */
static int tdma_check_dims(const struct tdma_file *file,
			   const struct tdma_desc *desc,
			   struct tdma_desc_report *report)
{
	if (!tdma_needs_parts(file, desc) || !(desc->flags & TDMA_DESC_RECORD))
		return 0;
	*report = (struct tdma_desc_report) {
		.error = -EOPNOTSUPP,
		.status = TDMA_STATUS_BAD_NDIMS,
		.field = offsetof(struct tdma_desc, ndims),
		.dim = TDMA_DIM_NONE,
	};
	return report->error;
}

/* Check a descriptor and find its buffers; takes no references. */
static int tdma_check_one(struct tdma_file *file, struct tdma_file_job *job,
			  const struct tdma_desc *desc,
			  const struct tdma_desc_ext *ext,
			  struct tdma_desc_report *report)
{
	const struct tdma_segment *segments[TDMA_DESC_SIDES] = { };
	struct tdma_desc_limits limits;
	struct tdma_buffer *buf;
	unsigned int i;
	int ret;

	lockdep_assert_held(&file->lock);
	for (i = 0; i < TDMA_DESC_SIDES; i++) {
		if (!tdma_desc_uses(desc, i))
			continue;
		buf = xa_load(&file->buffers, *tdma_desc_segment(desc, i));
		if (!buf)
			continue;
		segments[i] = &buf->segment;
		job->buffers[i] = buf;
	}
	tdma_file_limits(file, &limits);
	ret = tdma_desc_check(desc, ext, &limits, segments, report);
	return ret ?: tdma_check_dims(file, desc, report);
}

static void tdma_register_job(struct tdma_file *file,
			      struct tdma_file_job *job)
{
	unsigned int i;

	for (i = 0; i < TDMA_DESC_SIDES; i++)
		if (job->buffers[i])
			tdma_buffer_get(job->buffers[i]);
	job->number = file->next_job++;
	hash_add(file->jobs, &job->hash,
		 tdma_file_job_key(file, job->number));
	file->nr_jobs++;
}

/* Put a checked job into the ring, or say that it is full. */
static int tdma_push_one(struct tdma_file *file, struct tdma_file_job *job,
			 const struct tdma_desc *desc,
			 const struct tdma_desc_ext *ext)
{
	u32 slots = desc->flags & TDMA_DESC_EXT ? 2 : 1;
	struct tdma_queue *queue = &file->queue;
	int ret = -EAGAIN;

	lockdep_assert_held(&file->lock);
	spin_lock_irq(&queue->lock);
	tdma_queue_reap(queue);
	if (!tdma_file_full(file, slots)) {
		tdma_register_job(file, job);
		tdma_outfence_start(job);
		tdma_queue_push(queue, &job->job, desc, ext);
		ret = 0;
	}
	spin_unlock_irq(&queue->lock);
	return ret;
}

/* The same for a job that cannot go into the ring yet. */
static int tdma_hold_one(struct tdma_file *file, struct tdma_file_job *job,
			 const struct tdma_desc *desc,
			 const struct tdma_desc_ext *ext,
			 struct dma_fence *fence)
{
	struct tdma_queue *queue = &file->queue;
	int ret;

	ret = tdma_held_prepare(job, desc, ext, file->tdev->hw.dims);
	if (ret)
		return ret;
	spin_lock_irq(&queue->lock);
	if (queue->state == TDMA_QUEUE_DEAD) {
		ret = -ENODEV;
	} else if (file->nr_jobs >= TDMA_FILE_MAX_JOBS) {
		ret = -EAGAIN;
	} else {
		tdma_register_job(file, job);
		tdma_held_add(file, job, fence);
	}
	spin_unlock_irq(&queue->lock);
	return ret;
}

/*
 * Jobs of a file run in order: one held, those behind it are held, too. One in
 * parts is held until it has got to the last of them.
 */
static int tdma_queue_one(struct tdma_file *file, struct tdma_file_job *job,
			  const struct tdma_desc *desc,
			  const struct tdma_desc_ext *ext,
			  struct dma_fence *fence)
{
	bool hold;

	spin_lock_irq(&file->queue.lock);
	hold = fence || !list_empty(&file->held) ||
	       tdma_needs_parts(file, desc);
	spin_unlock_irq(&file->queue.lock);
	/* Nobody else adds held jobs: the file's lock is held. */
	return hold ? tdma_hold_one(file, job, desc, ext, fence) :
		      tdma_push_one(file, job, desc, ext);
}

/* Check and queue slot @i of a batch. Returns the slots used, or an error. */
static int tdma_submit_one(struct tdma_file *file,
			   const struct tdma_batch *batch, u32 i,
			   struct tdma_desc_report *report)
{
	struct tdma_desc *desc = &batch->slots[i];
	const struct tdma_desc_ext *ext = NULL;
	/* The job may be over and gone as soon as it is queued. */
	int ret, slots = desc->flags & TDMA_DESC_EXT ? 2 : 1;
	struct tdma_file_job *job;

	if (desc->flags & TDMA_DESC_EXT) {
		if (i + 1 < batch->count)
			ext = (const struct tdma_desc_ext *)(desc + 1);
		else if (batch->rest)
			return batch->rest;
	}
	job = kzalloc(sizeof(*job), GFP_KERNEL_ACCOUNT);
	if (!job)
		return -ENOMEM;
	ret = tdma_check_one(file, job, desc, ext, report);
	if (!ret) {
		tdma_add_irq_flags(desc);
		ret = tdma_queue_one(file, job, desc, ext, batch->in_fence);
	}
	if (ret) {
		tdma_file_job_free(job);
		return ret;
	}
	return slots;
}

static void tdma_kick(struct tdma_file *file)
{
	struct tdma_queue *queue = &file->queue;

	spin_lock_irq(&queue->lock);
	if (queue->state == TDMA_QUEUE_ON)
		tdma_queue_kick(queue);
	tdma_held_poke(file);
	spin_unlock_irq(&queue->lock);
}

/* Jobs have been queued: let the last one signal the out-fence, and go. */
static void tdma_submit_go(struct tdma_file *file, struct tdma_batch *batch)
{
	lockdep_assert_held(&file->lock);
	if (batch->out_fence) {
		tdma_outfence_attach(file, file->next_job - 1,
				     dma_fence_get(batch->out_fence));
	}
	tdma_kick(file);
}

static void tdma_report_error(struct tdma_submit *arg, u32 index,
			      const struct tdma_desc_report *report)
{
	if (!report->error)
		return;
	arg->error_index = index;
	arg->error_status = report->status;
	arg->error_field = report->field;
	arg->error_dim = report->dim;
	arg->error_side = report->side;
}

/* Queue what fits. Returns 0 if that was anything, else why not. */
static int tdma_submit_batch(struct tdma_file *file, struct tdma_batch *batch,
			     struct tdma_submit *arg)
{
	struct tdma_desc_report report = { };
	int ret = 0;
	u32 i = 0;

	ret = tdma_file_begin(file);
	if (ret)
		return ret;
	mutex_lock(&file->lock);
	arg->first_job = file->next_job;
	while (i < batch->count) {
		ret = tdma_submit_one(file, batch, i, &report);
		if (ret < 0)
			break;
		i += ret;
	}
	if (i)
		tdma_submit_go(file, batch);
	mutex_unlock(&file->lock);
	tdma_file_end(file);

	tdma_report_error(arg, i, &report);
	arg->accepted = i;
	if (i)
		return 0;
	arg->first_job = 0;
	return ret;
}

static bool tdma_room_or_dead(struct tdma_file *file, u32 slots)
{
	struct tdma_queue *queue = &file->queue;
	bool ready;

	spin_lock_irq(&queue->lock);
	ready = queue->state == TDMA_QUEUE_DEAD || !tdma_file_full(file, slots);
	spin_unlock_irq(&queue->lock);
	return ready;
}

static int tdma_submit_check(const struct tdma_submit *arg)
{
	if (arg->flags & ~(TDMA_SUBMIT_NONBLOCK | TDMA_SUBMIT_IN_FENCE |
			   TDMA_SUBMIT_OUT_FENCE))
		return -EINVAL;
	if (!(arg->flags & TDMA_SUBMIT_IN_FENCE) && arg->in_fence)
		return -EINVAL;
	if (!arg->count || arg->stride < sizeof(struct tdma_desc))
		return -EINVAL;
	if (arg->stride > PAGE_SIZE)
		return -E2BIG;
	return 0;
}

static int tdma_batch_fences(struct tdma_batch *batch,
			     const struct tdma_submit *arg)
{
	if (arg->flags & TDMA_SUBMIT_IN_FENCE) {
		batch->in_fence = sync_file_get_fence(arg->in_fence);
		if (!batch->in_fence)
			return -EBADF;
	}
	if (arg->flags & TDMA_SUBMIT_OUT_FENCE) {
		batch->out_fence = tdma_fence_new();
		if (!batch->out_fence)
			return -ENOMEM;
	}
	return 0;
}

static void tdma_batch_free(struct tdma_batch *batch)
{
	dma_fence_put(batch->in_fence);
	dma_fence_put(batch->out_fence);
	kvfree(batch->slots);
}

static int tdma_submit_sleep(struct tdma_file *file, struct tdma_batch *batch,
			     struct tdma_submit *arg, bool nonblock)
{
	u32 slots = batch->slots[0].flags & TDMA_DESC_EXT ? 2 : 1;
	int ret;

	do {
		ret = tdma_submit_batch(file, batch, arg);
		if (ret != -EAGAIN || nonblock)
			break;
		ret = wait_event_interruptible(file->wait,
					       tdma_room_or_dead(file, slots));
	} while (!ret);
	return ret;
}

/**
 * tdma_file_submit - TDMA_IOC_SUBMIT
 * @file: the file
 * @arg: the checked copy of the argument; results are written to it
 * @nonblock: the file is O_NONBLOCK
 * @out: an open sync_file, if one was asked for and something was queued
 *
 * Return: 0 or a negative errno, see &struct tdma_submit.
 */
int tdma_file_submit(struct tdma_file *file, struct tdma_submit *arg,
		     bool nonblock, struct sync_file **out)
{
	struct tdma_batch batch = { };
	struct sync_file *sync = NULL;
	int ret;

	arg->accepted = 0;
	arg->first_job = 0;
	arg->error_status = 0;
	arg->error_index = 0;
	arg->error_field = 0;
	arg->error_dim = 0;
	arg->error_side = 0;
	ret = tdma_submit_check(arg);
	if (ret)
		return ret;
	nonblock |= arg->flags & TDMA_SUBMIT_NONBLOCK;

	ret = tdma_batch_copy(&batch, arg);
	if (!ret)
		ret = tdma_batch_fences(&batch, arg);
	if (!ret && batch.out_fence) {
		sync = sync_file_create(batch.out_fence);
		if (!sync)
			ret = -ENOMEM;
	}
	if (!ret)
		ret = tdma_submit_sleep(file, &batch, arg, nonblock);
	if (sync && ret) {
		fput(sync->file);
		sync = NULL;
	}
	*out = sync;
	tdma_batch_free(&batch);
	return ret;
}
