// SPDX-License-Identifier: GPL-2.0-only
/*
 * TDMA_IOC_WAIT, TDMA_IOC_WAIT_MANY and poll().
 *
 * Every interrupt of the queue wakes every waiter of the file, and each looks
 * for itself. Between interrupts they look by timer as well: partial progress
 * may be finer than the interrupts, and a lost one must not hang anybody.
 */
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "tdma_device.h"
#include "tdma_file.h"

#define TDMA_LOOK_PROGRESS_NS	(2 * NSEC_PER_MSEC)
#define TDMA_LOOK_END_NS	(100 * NSEC_PER_MSEC)

/* The job the call is about; ERR_PTR(-EAGAIN) if it may still come. */
static struct tdma_file_job *tdma_wanted_job(struct tdma_file *file,
					     const struct tdma_wait *arg)
{
	struct tdma_file_job *job;

	if (!(arg->flags & TDMA_WAIT_ANY)) {
		job = tdma_file_find_job(file, arg->job);
		return job ?: ERR_PTR(-ENOENT);
	}
	job = list_first_entry_or_null(&file->done, struct tdma_file_job,
				       node);
	if (job)
		return job;
	return ERR_PTR(file->nr_jobs ? -EAGAIN : -ENOENT);
}

static bool tdma_wants_progress(const struct tdma_wait *arg)
{
	return arg->min_src_done || arg->min_dst_done;
}

static bool tdma_came_far_enough(const struct tdma_wait *arg)
{
	return tdma_wants_progress(arg) &&
	       arg->record.src_done >= arg->min_src_done &&
	       arg->record.dst_done >= arg->min_dst_done;
}

/* Take a completion; it makes room for another job. */
static void tdma_take_job(struct tdma_file *file, struct tdma_file_job *job)
{
	hash_del(&job->hash);
	list_del(&job->node);
	file->nr_jobs--;
	tdma_file_job_free(job);
	wake_up_all(&file->wait);
}

static int tdma_look_locked(struct tdma_file *file, struct tdma_wait *arg)
{
	struct tdma_file_job *job;

	if (file->queue.state == TDMA_QUEUE_DEAD)
		return -ENODEV;
	tdma_queue_reap(&file->queue);
	job = tdma_wanted_job(file, arg);
	if (IS_ERR(job))
		return PTR_ERR(job);
	if (!job->over)
		return tdma_file_job_progress(file, job, &arg->record) &&
		       tdma_came_far_enough(arg) ? 0 : -EAGAIN;
	arg->record = job->job.record;
	arg->job = job->number;
	if (!(arg->flags & TDMA_WAIT_KEEP))
		tdma_take_job(file, job);
	return 0;
}

static int tdma_look(struct tdma_file *file, struct tdma_wait *arg)
{
	int ret;

	spin_lock_irq(&file->queue.lock);
	ret = tdma_look_locked(file, arg);
	spin_unlock_irq(&file->queue.lock);
	return ret;
}

/* Sleep until woken, @deadline, or the next look is due. */
static int tdma_sleep(ktime_t deadline, u64 look_ns)
{
	ktime_t now = ktime_get();
	ktime_t until;

	if (now >= deadline)
		return -ETIME;
	if (signal_pending(current))
		return -ERESTARTSYS;
	until = min_t(ktime_t, deadline, ktime_add_ns(now, look_ns));
	schedule_hrtimeout_range(&until, 0, HRTIMER_MODE_ABS);
	return 0;
}

static int tdma_wait_check(const struct tdma_wait *arg)
{
	if (arg->flags & ~(TDMA_WAIT_KEEP | TDMA_WAIT_ANY))
		return -EINVAL;
	if (arg->flags & TDMA_WAIT_ANY &&
	    (arg->job || tdma_wants_progress(arg)))
		return -EINVAL;
	return 0;
}

/**
 * tdma_file_wait - TDMA_IOC_WAIT
 * @file: the file
 * @arg: the checked copy of the argument; results are written to it
 *
 * Return: 0 or a negative errno, see &struct tdma_wait.
 */
int tdma_file_wait(struct tdma_file *file, struct tdma_wait *arg)
{
	u64 look_ns = tdma_wants_progress(arg) ? TDMA_LOOK_PROGRESS_NS :
						 TDMA_LOOK_END_NS;
	DEFINE_WAIT(entry);
	int ret;

	ret = tdma_wait_check(arg);
	if (ret)
		return ret;
	memset(&arg->record, 0, sizeof(arg->record));
	do {
		prepare_to_wait(&file->wait, &entry, TASK_INTERRUPTIBLE);
		ret = tdma_look(file, arg);
		if (ret != -EAGAIN)
			break;
		ret = tdma_sleep(arg->deadline_ns, look_ns);
	} while (!ret);
	finish_wait(&file->wait, &entry);
	return ret;
}

/* ---- waiting for several jobs ---- */

/* 0 if there are enough jobs over; @arg->index is the first that decided it. */
static int tdma_look_many(struct tdma_file *file, struct tdma_wait_many *arg,
			  const u64 *numbers)
{
	bool all = arg->flags & TDMA_WAIT_ALL;
	struct tdma_file_job *job;
	int ret = all ? 0 : -EAGAIN;
	bool decided = false;
	u32 i;

	spin_lock_irq(&file->queue.lock);
	if (file->queue.state == TDMA_QUEUE_DEAD) {
		spin_unlock_irq(&file->queue.lock);
		return -ENODEV;
	}
	tdma_queue_reap(&file->queue);
	arg->index = 0;		/* that of an earlier look */
	for (i = 0; i < arg->count; i++) {
		job = tdma_file_find_job(file, numbers[i]);
		if (!job) {
			ret = -ENOENT;
			arg->index = i;
			break;
		}
		if (job->over == all || decided)
			continue;
		decided = true;
		ret = job->over ? 0 : -EAGAIN;
		arg->index = i;
	}
	spin_unlock_irq(&file->queue.lock);
	return ret;
}

static int tdma_sleep_many(struct tdma_file *file, struct tdma_wait_many *arg,
			   const u64 *numbers)
{
	DEFINE_WAIT(entry);
	int ret;

	do {
		prepare_to_wait(&file->wait, &entry, TASK_INTERRUPTIBLE);
		ret = tdma_look_many(file, arg, numbers);
		if (ret != -EAGAIN)
			break;
		ret = tdma_sleep(arg->deadline_ns, TDMA_LOOK_END_NS);
	} while (!ret);
	finish_wait(&file->wait, &entry);
	return ret;
}

/**
 * tdma_file_wait_many - TDMA_IOC_WAIT_MANY
 * @file: the file
 * @arg: the checked copy of the argument; results are written to it
 *
 * Return: 0 or a negative errno, see &struct tdma_wait_many.
 */
int tdma_file_wait_many(struct tdma_file *file, struct tdma_wait_many *arg)
{
	u64 *numbers;
	int ret;

	if (arg->flags & ~TDMA_WAIT_ALL || arg->reserved || !arg->count ||
	    arg->count > TDMA_FILE_MAX_JOBS)
		return -EINVAL;
	numbers = memdup_user(u64_to_user_ptr(arg->jobs),
			      arg->count * sizeof(*numbers));
	if (IS_ERR(numbers))
		return PTR_ERR(numbers);
	ret = tdma_sleep_many(file, arg, numbers);
	kfree(numbers);
	return ret;
}

/**
 * tdma_file_poll - poll() on a file
 * @file: the file
 * @filp: the same, as poll_wait() wants it
 * @table: poll table
 *
 * Return: EPOLLIN if a completion can be taken, EPOLLOUT if a job would find
 * room, EPOLLERR and EPOLLHUP if the file is dead.
 */
__poll_t tdma_file_poll(struct tdma_file *file, struct file *filp,
			struct poll_table_struct *table)
{
	struct tdma_queue *queue = &file->queue;
	__poll_t mask = 0;

	poll_wait(filp, &file->wait, table);
	spin_lock_irq(&queue->lock);
	if (queue->state == TDMA_QUEUE_DEAD) {
		mask = EPOLLERR | EPOLLHUP;
	} else {
		tdma_queue_reap(queue);
		if (!list_empty(&file->done))
			mask |= EPOLLIN | EPOLLRDNORM;
		if (!tdma_file_full(file, 1))
			mask |= EPOLLOUT | EPOLLWRNORM;
	}
	spin_unlock_irq(&queue->lock);
	return mask;
}
