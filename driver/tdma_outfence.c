// SPDX-License-Identifier: GPL-2.0-only
/*
 * Out-fences: dma_fences that signal when a job is over, in bounded time.
 *
 * Others wait for a fence uninterruptibly and in reclaim. A tensor job may take
 * hours. So that the one does not meet the other, a queue whose oldest fenced
 * job has waited for nothing but the queue for longer than the limit is emptied,
 * until that job has had its turn: it really ends, and the memory is free when
 * the fence says so.
 */
#include <linux/dma-fence.h>
#include <linux/jiffies.h>
#include <linux/moduleparam.h>

#include "tdma_device.h"
#include "tdma_fence.h"
#include "tdma_file.h"
#include "tdma_outfence.h"

static unsigned int fence_timeout_ms = 10000;
module_param(fence_timeout_ms, uint, 0644);
MODULE_PARM_DESC(fence_timeout_ms,
		 "Longest time in a queue for a job with an out-fence");

/* Looks at a job that is not yet in the ring, per limit */
#define TDMA_OUTFENCE_LOOKS	4

static unsigned long tdma_outfence_limit(void)
{
	return msecs_to_jiffies(max(READ_ONCE(fence_timeout_ms), 1U));
}

/**
 * tdma_outfence_start - a job waits for nothing but the queue
 * @job: the job; the lock of its queue is held
 */
void tdma_outfence_start(struct tdma_file_job *job)
{
	if (!job->timed)
		job->since = jiffies;
	job->timed = true;
}

/*
 * The oldest job with a fence that waits for nothing but the queue, or NULL:
 * in the ring, or held while the ring is full. Where others' fences are waited
 * for no time is counted.
 */
static struct tdma_file_job *tdma_outfence_oldest(struct tdma_file *file)
{
	struct tdma_file_job *job;

	list_for_each_entry(job, &file->queue.inflight, job.node)
		if (job->out_fence)
			return job;
	list_for_each_entry(job, &file->held, node) {
		if (READ_ONCE(job->in_fence))
			return NULL;
		if (job->out_fence) {
			tdma_outfence_start(job);
			return job;
		}
	}
	return NULL;
}

/* When to look next; 0 = not at all. Sets *@late if it is too late. */
static unsigned long tdma_outfence_due(struct tdma_file *file, bool *late)
{
	unsigned long limit = tdma_outfence_limit();
	struct tdma_queue *queue = &file->queue;
	struct tdma_file_job *job;
	unsigned long age, next = 0;

	spin_lock_irq(&queue->lock);
	tdma_queue_reap(queue);
	job = tdma_outfence_oldest(file);
	if (job) {
		age = jiffies - job->since;
		*late = age >= limit;
		job->late = *late;
		next = *late ? 1 : limit - age;
	} else if (!list_empty(&file->held)) {
		next = limit / TDMA_OUTFENCE_LOOKS + 1;
	}
	spin_unlock_irq(&queue->lock);
	return next;
}

static void tdma_outfence_empty(struct tdma_file *file)
{
	struct tdma_device *tdev = file->tdev;
	int ret = 0;

	down_read(&tdev->lock);
	if (tdma_device_usable(tdev, file->generation))
		ret = tdma_queue_recover(&file->queue, TDMA_STATUS_ABORTED);
	up_read(&tdev->lock);
	if (ret)
		tdma_device_reset(tdev, file->generation);
}

static void tdma_outfence_work(struct work_struct *work)
{
	struct tdma_file *file = container_of(to_delayed_work(work),
					      struct tdma_file, fence_watch);
	bool late = false;
	unsigned long next;

	next = tdma_outfence_due(file, &late);
	if (late)
		tdma_outfence_empty(file);
	if (next)
		queue_delayed_work(file->tdev->wq, &file->fence_watch, next);
}

/**
 * tdma_outfence_init - no job has a fence
 * @file: the file
 */
void tdma_outfence_init(struct tdma_file *file)
{
	INIT_DELAYED_WORK(&file->fence_watch, tdma_outfence_work);
}

/**
 * tdma_outfence_attach - let a fence tell of the end of a job
 * @file: the file, lock held
 * @number: the job
 * @fence: the fence; a reference is taken over
 *
 * A job that is no longer there was ended by force.
 */
void tdma_outfence_attach(struct tdma_file *file, u64 number,
			  struct dma_fence *fence)
{
	struct tdma_file_job *job;

	lockdep_assert_held(&file->lock);
	spin_lock_irq(&file->queue.lock);
	job = tdma_file_find_job(file, number);
	if (job) {
		job->out_fence = fence;
		if (job->over)
			tdma_outfence_done(job);
	} else {
		tdma_fence_end(fence, -ECANCELED);
	}
	spin_unlock_irq(&file->queue.lock);
	queue_delayed_work(file->tdev->wq, &file->fence_watch,
			   tdma_outfence_limit() / TDMA_OUTFENCE_LOOKS + 1);
}

/* What a job's status is to others */
static int tdma_outfence_error(const struct tdma_file_job *job)
{
	switch (job->job.record.status) {
	case TDMA_STATUS_OK:
		return 0;
	case TDMA_STATUS_ABORTED:
		return job->late ? -ETIMEDOUT : -ECANCELED;
	default:
		return -EIO;
	}
}

/**
 * tdma_outfence_done - a job is over
 * @job: the job, with its final record; the lock of its queue is held
 */
void tdma_outfence_done(struct tdma_file_job *job)
{
	struct dma_fence *fence = job->out_fence;

	if (!fence)
		return;
	job->out_fence = NULL;
	tdma_fence_end(fence, tdma_outfence_error(job));
}

/**
 * tdma_outfence_fini - stop watching
 * @file: the file, whose jobs are all over
 */
void tdma_outfence_fini(struct tdma_file *file)
{
	cancel_delayed_work_sync(&file->fence_watch);
}
