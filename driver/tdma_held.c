// SPDX-License-Identifier: GPL-2.0-only
/*
 * Held jobs: accepted, but not yet in the ring because an in-fence is pending,
 * or not all of it because the device takes it in parts.
 *
 * Jobs of a file run in order, so that those behind a held job are held, too.
 * A work item moves them into the ring: when the fence signals, when a part is
 * over, when the ring has room again, and when the queue has gone on or off.
 */
#include <linux/dma-fence.h>
#include <linux/jiffies.h>
#include <linux/slab.h>

#include "tdma_device.h"
#include "tdma_file.h"
#include "tdma_held.h"
#include "tdma_outfence.h"
#include "tdma_split.h"

static void tdma_held_signalled(struct dma_fence *fence,
				struct dma_fence_cb *cb)
{
	struct tdma_file *file = container_of(cb, struct tdma_file, held_cb);

	queue_work(file->tdev->wq, &file->held_work);
}

/*
 * The job whose turn it is, or NULL. While a part of it is in the ring it may
 * end at any time; once none is, only who holds the file's lock can end it.
 */
static struct tdma_file_job *tdma_held_first(struct tdma_file *file)
{
	struct tdma_file_job *job;

	spin_lock_irq(&file->queue.lock);
	job = list_first_entry_or_null(&file->held, struct tdma_file_job,
				       node);
	if (job && job->split && job->split->running)
		job = NULL;
	spin_unlock_irq(&file->queue.lock);
	return job;
}

static void tdma_held_drop_fence(struct tdma_file *file,
				 struct tdma_file_job *job)
{
	/* Waits for the callback if it runs; it may be used again then. */
	if (file->held_armed)
		dma_fence_remove_callback(job->in_fence, &file->held_cb);
	file->held_armed = false;
	dma_fence_put(job->in_fence);
	WRITE_ONCE(job->in_fence, NULL);
}

/*
 * May the job run? Returns 1 if so, 0 if the fence will tell, or the error
 * with which it ended: what was to be read or overwritten is not as it should
 * be.
 */
static int tdma_held_ready(struct tdma_file *file, struct tdma_file_job *job)
{
	int status;

	lockdep_assert_held(&file->lock);
	if (!job->in_fence)
		return 1;
	if (!file->held_armed &&
	    !dma_fence_add_callback(job->in_fence, &file->held_cb,
				    tdma_held_signalled))
		file->held_armed = true;
	status = dma_fence_get_status(job->in_fence);
	if (!status)
		return 0;
	tdma_held_drop_fence(file, job);
	return status;
}

/* Put a job, or the next part of it, into the ring. True if that was all. */
static bool tdma_held_push(struct tdma_file *file, struct tdma_file_job *job)
{
	struct tdma_desc_ext *ext = (struct tdma_desc_ext *)(job->slots + 1);
	bool more = false;

	if (job->split) {
		more = tdma_split_next(job->split, job->slots, ext);
		job->split->running = true;
	}
	if (!more) {
		list_del(&job->node);
		job->held = false;
	}
	tdma_outfence_start(job);
	tdma_queue_push(&file->queue, &job->job, job->slots, ext);
	tdma_queue_kick(&file->queue);
	return !more;
}

/* Returns false if there is nothing to do before something happens. */
static bool tdma_held_run(struct tdma_file *file, struct tdma_file_job *job)
{
	struct tdma_queue *queue = &file->queue;
	struct tdma_desc *slots = NULL;
	bool done = false;

	spin_lock_irq(&queue->lock);
	if (tdma_queue_room(queue) >= job->job.slots)
		done = tdma_held_push(file, job);
	if (done)
		swap(slots, job->slots);
	spin_unlock_irq(&queue->lock);
	kfree(slots);
	return done;
}

static void tdma_held_abort(struct tdma_file *file, struct tdma_file_job *job)
{
	struct tdma_queue *queue = &file->queue;

	if (job->in_fence)
		tdma_held_drop_fence(file, job);
	spin_lock_irq(&queue->lock);
	list_del(&job->node);
	job->held = false;
	job->job.record = (struct tdma_record) {
		.tag = job->slots->tag,
		.status = TDMA_STATUS_ABORTED,
		.fault_dim = TDMA_DIM_NONE,
	};
	queue->ops->done(queue, &job->job);
	queue->ops->event(queue);
	spin_unlock_irq(&queue->lock);
}

static bool tdma_held_dead(struct tdma_file *file)
{
	return READ_ONCE(file->queue.state) == TDMA_QUEUE_DEAD;
}

static void tdma_held_work(struct work_struct *work)
{
	struct tdma_file *file = container_of(work, struct tdma_file,
					      held_work);
	struct tdma_file_job *job;
	int ready;

	mutex_lock(&file->lock);
	while ((job = tdma_held_first(file))) {
		ready = tdma_held_dead(file) ? -ENODEV :
					       tdma_held_ready(file, job);
		if (ready < 0)
			tdma_held_abort(file, job);
		else if (!ready || !tdma_held_run(file, job))
			break;
	}
	mutex_unlock(&file->lock);
}

/**
 * tdma_held_init - nothing is held
 * @file: the file
 */
void tdma_held_init(struct tdma_file *file)
{
	INIT_LIST_HEAD(&file->held);
	INIT_WORK(&file->held_work, tdma_held_work);
}

/**
 * tdma_held_prepare - keep what a held job needs
 * @job: the job
 * @desc: its descriptor
 * @ext: its extension block; used if the descriptor says so
 * @dims: dimensions of the device's descriptors; if it has more it is split
 *
 * Return: 0 or -ENOMEM.
 */
int tdma_held_prepare(struct tdma_file_job *job, const struct tdma_desc *desc,
		      const struct tdma_desc_ext *ext, u32 dims)
{
	job->job.slots = desc->flags & TDMA_DESC_EXT ? 2 : 1;
	job->slots = kcalloc(2, sizeof(*desc), GFP_KERNEL_ACCOUNT);
	if (!job->slots)
		return -ENOMEM;
	job->slots[0] = *desc;
	if (ext)
		memcpy(&job->slots[1], ext, sizeof(*ext));
	if (desc->ndims <= dims)
		return 0;
	job->split = kmalloc(sizeof(*job->split), GFP_KERNEL_ACCOUNT);
	if (!job->split)
		return -ENOMEM;
	tdma_split_init(job->split, desc, ext, dims);
	return 0;
}

/**
 * tdma_held_add - hold a job
 * @file: the file; its lock and its queue's lock are held
 * @job: the job, prepared
 * @fence: what it waits for beside the jobs ahead of it, or NULL
 */
void tdma_held_add(struct tdma_file *file, struct tdma_file_job *job,
		   struct dma_fence *fence)
{
	lockdep_assert_held(&file->lock);
	lockdep_assert_held(&file->queue.lock);
	job->held = true;
	if (fence)
		job->in_fence = dma_fence_get(fence);
	list_add_tail(&job->node, &file->held);
}

/**
 * tdma_held_poke - something may have changed for held jobs
 * @file: the file; its queue's lock is held
 */
void tdma_held_poke(struct tdma_file *file)
{
	lockdep_assert_held(&file->queue.lock);
	if (!list_empty(&file->held))
		queue_work(file->tdev->wq, &file->held_work);
}

/**
 * tdma_held_fini - end all held jobs
 * @file: the file, whose queue is dead
 */
void tdma_held_fini(struct tdma_file *file)
{
	/* Ends all jobs; what the callback queued meanwhile finds nothing. */
	tdma_held_work(&file->held_work);
	cancel_work_sync(&file->held_work);
}
