// SPDX-License-Identifier: GPL-2.0-only
/*
 * Open files: set-up, end, and what they hold.
 *
 * A file has a hardware context and a hardware queue of its own, from open to
 * close. Two things can end their use before: a device reset, after which the
 * file's generation is stale, and the end of the PCI binding. In both cases
 * all jobs are handed back first; what remains is memory, freed at close.
 */
#include <linux/eventfd.h>
#include <linux/random.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "tdma_compat.h"
#include "tdma_device.h"
#include "tdma_dmabuf.h"
#include "tdma_file.h"
#include "tdma_held.h"
#include "tdma_outfence.h"
#include "tdma_split.h"
#include "tdma_userq.h"

/* ---- the queue's view of the file; called with the queue's lock held ---- */

static void tdma_file_job_done(struct tdma_queue *queue, struct tdma_job *job)
{
	struct tdma_file *file = container_of(queue, struct tdma_file, queue);
	struct tdma_file_job *fjob = container_of(job, struct tdma_file_job,
						  job);
	unsigned int i;

	if (fjob->split && !tdma_split_over(fjob->split, &job->record)) {
		tdma_held_poke(file);
		return;
	}
	if (fjob->held) {
		/* A part was not the last, but it did not end well. */
		list_del(&fjob->node);
		fjob->held = false;
	}
	for (i = 0; i < TDMA_DESC_SIDES; i++)
		if (fjob->buffers[i])
			tdma_buffer_put_atomic(fjob->buffers[i]);
	fjob->over = true;
	list_add_tail(&fjob->node, &file->done);
	tdma_outfence_done(fjob);
	tdma_held_poke(file);
	if (file->eventfd)
		tdma_eventfd_signal(file->eventfd);
}

static void tdma_file_event(struct tdma_queue *queue)
{
	struct tdma_file *file = container_of(queue, struct tdma_file, queue);

	wake_up_all(&file->wait);
	tdma_held_poke(file);
}

static const struct tdma_queue_ops tdma_file_queue_ops = {
	.done = tdma_file_job_done,
	.event = tdma_file_event,
};

/* ---- open and close ---- */

/* Numbers below @first belong to the kernel's own channels. */
static int tdma_take_id(struct ida *ida, u32 first, u32 count)
{
	int id;

	if (first >= count)
		return -EBUSY;
	id = ida_alloc_range(ida, first, count - 1, GFP_KERNEL);
	return id == -ENOSPC ? -EBUSY : id;
}

static int tdma_file_init_context(struct tdma_file *file)
{
	struct tdma_device *tdev = file->tdev;
	int id, ret;

	id = tdma_take_id(&tdev->context_ids, TDMA_KERNEL_CONTEXT + 1,
			  tdev->hw.contexts);
	if (id < 0)
		return id;
	ret = tdma_context_init(&file->ctx, tdev, id,
				min_t(u32, tdev->hw.segments,
				      TDMA_FILE_SEGMENTS));
	if (ret) {
		ida_free(&tdev->context_ids, id);
		return ret;
	}
	tdma_buffers_init(&file->ctx);
	tdma_context_program(&file->ctx);
	return 0;
}

static void tdma_file_fini_context(struct tdma_file *file)
{
	tdma_context_fini(&file->ctx);
	ida_free(&file->tdev->context_ids, file->ctx.id);
}

static int tdma_file_init_queue(struct tdma_file *file)
{
	struct tdma_device *tdev = file->tdev;
	int id, ret;

	id = tdma_take_id(&tdev->queue_ids, tdev->hw.threads,
			  tdev->hw.queues);
	if (id < 0)
		return id;
	ret = tdma_queue_init(&file->queue, tdev, &tdma_file_queue_ops, id,
			      file->ctx.id, TDMA_THREAD_ANY);
	if (ret)
		goto err_free_id;
	ret = tdma_queue_start(&file->queue);
	if (ret)
		goto err_fini;
	return 0;

err_fini:
	tdma_queue_fini(&file->queue);
err_free_id:
	ida_free(&tdev->queue_ids, id);
	return ret;
}

static int tdma_file_init(struct tdma_file *file)
{
	struct tdma_device *tdev = file->tdev;
	int ret;

	lockdep_assert_held(&tdev->lock);
	if (tdev->state == TDMA_GONE)
		return -ENODEV;
	if (tdev->state == TDMA_RESETTING)
		return -EBUSY;
	file->generation = tdev->generation;
	ret = tdma_file_init_context(file);
	if (ret)
		return ret;
	ret = tdma_file_init_queue(file);
	if (ret) {
		tdma_context_revoke(&file->ctx);
		tdma_file_fini_context(file);
		return ret;
	}
	mutex_lock(&tdev->files_lock);
	list_add_tail(&file->node, &tdev->files);
	mutex_unlock(&tdev->files_lock);
	return 0;
}

/**
 * tdma_file_open - make a context and a queue for a new open file
 * @tdev: the device
 * @mapping: address space of the device node
 *
 * Return: the file, or an ERR_PTR: EBUSY if all queues or contexts are taken
 * or a reset is under way, ENODEV, ENOMEM.
 */
struct tdma_file *tdma_file_open(struct tdma_device *tdev,
				 struct address_space *mapping)
{
	struct tdma_file *file;
	int ret;

	file = kzalloc(sizeof(*file), GFP_KERNEL_ACCOUNT);
	if (!file)
		return ERR_PTR(-ENOMEM);
	file->tdev = tdev;
	file->mapping = mapping;
	mutex_init(&file->lock);
	xa_init(&file->buffers);
	file->next_job = 1;
	init_waitqueue_head(&file->wait);
	hash_init(file->jobs);
	get_random_bytes(&file->jobs_key, sizeof(file->jobs_key));
	INIT_LIST_HEAD(&file->done);
	tdma_held_init(file);
	tdma_outfence_init(file);

	down_read(&tdev->lock);
	ret = tdma_file_init(file);
	up_read(&tdev->lock);
	if (ret) {
		kfree(file);
		return ERR_PTR(ret);
	}
	tdma_device_get(tdev);
	return file;
}

/* Stop the hardware. Afterwards no job is in flight, whatever happened. */
static void tdma_file_stop(struct tdma_file *file)
{
	struct tdma_device *tdev = file->tdev;
	int ret = 0;

	down_read(&tdev->lock);
	if (tdma_device_usable(tdev, file->generation)) {
		ret = tdma_queue_stop(&file->queue);
		if (!ret)
			ret = tdma_user_queue_stop(file);
		tdma_context_revoke(&file->ctx);
	}
	up_read(&tdev->lock);
	if (ret) {
		dev_err(&tdev->pdev->dev,
			"a queue does not stop, resetting the device\n");
		tdma_device_reset(tdev, file->generation);
	}
}

/* Free what must not outlive the PCI binding. May be called twice. */
static void tdma_file_free_dma(struct tdma_file *file)
{
	lockdep_assert_held(&file->tdev->files_lock);
	tdma_queue_fini(&file->queue);
	tdma_user_queue_unmap(file);
	mutex_lock(&file->tdev->buffers_lock);
	tdma_context_fini(&file->ctx);
	mutex_unlock(&file->tdev->buffers_lock);
}

static void tdma_file_free_jobs(struct tdma_file *file)
{
	struct tdma_file_job *job, *next;

	list_for_each_entry_safe(job, next, &file->done, node) {
		tdma_file_job_free(job);
	}
}

/**
 * tdma_file_close - end a file
 * @file: the file; no system call uses it any more
 *
 * Waits until the device is done with the file's memory: pages are released
 * only then, and all of them are released on return.
 */
void tdma_file_close(struct tdma_file *file)
{
	struct tdma_device *tdev = file->tdev;
	struct tdma_buffer *buf;
	unsigned long handle;

	tdma_file_stop(file);
	tdma_held_fini(file);
	tdma_outfence_fini(file);
	tdma_file_set_eventfd(file, -1);
	xa_for_each(&file->buffers, handle, buf)
		tdma_buffer_put(buf);
	xa_destroy(&file->buffers);
	/* Buffers whose last reference was a job */
	tdma_buffers_settle(&file->ctx);

	mutex_lock(&tdev->files_lock);
	list_del(&file->node);
	tdma_file_free_dma(file);
	mutex_unlock(&tdev->files_lock);

	tdma_file_free_jobs(file);
	tdma_user_queue_free(file);
	ida_destroy(&file->ctx.used);
	ida_free(&tdev->queue_ids, file->queue.id);
	ida_free(&tdev->context_ids, file->ctx.id);
	kfree(file);
	tdma_device_put(tdev);
}

/**
 * tdma_files_detach - free all DMA resources of all files
 * @tdev: the device, quiesced and never to run again
 */
void tdma_files_detach(struct tdma_device *tdev)
{
	struct tdma_buffer *buf;
	struct tdma_file *file;

	down_write(&tdev->map_lock);
	tdev->unmapped = true;
	up_write(&tdev->map_lock);

	/* Buffers that only jobs held */
	flush_workqueue(tdev->wq);
	mutex_lock(&tdev->files_lock);
	list_for_each_entry(file, &tdev->files, node) {
		unmap_mapping_range(file->mapping, 0, 0, 1);
		tdma_file_free_dma(file);
	}
	mutex_unlock(&tdev->files_lock);

	mutex_lock(&tdev->buffers_lock);
	list_for_each_entry(buf, &tdev->buffers, node)
		tdma_buffer_unmap(buf);
	mutex_unlock(&tdev->buffers_lock);
}

/**
 * tdma_file_begin - start to use the hardware
 * @file: the file
 *
 * Return: 0 with the device's lock held for reading until tdma_file_end();
 * -ENODEV if the device is gone or the file is from before a reset; -EINTR by
 * a fatal signal.
 */
int tdma_file_begin(struct tdma_file *file)
{
	struct tdma_device *tdev = file->tdev;

	if (down_read_killable(&tdev->lock))
		return -EINTR;
	if (!tdma_device_usable(tdev, file->generation)) {
		up_read(&tdev->lock);
		return -ENODEV;
	}
	return 0;
}

/**
 * tdma_file_end - end what tdma_file_begin() began
 * @file: the file
 */
void tdma_file_end(struct tdma_file *file)
{
	up_read(&file->tdev->lock);
}

/**
 * tdma_file_full - is there no room for another job?
 * @file: the file; the lock of its queue is held
 * @slots: ring slots wanted
 *
 * Return: true if a job of @slots would have to wait.
 */
bool tdma_file_full(const struct tdma_file *file, u32 slots)
{
	if (file->nr_jobs >= TDMA_FILE_MAX_JOBS)
		return true;
	return list_empty(&file->held) && tdma_queue_room(&file->queue) < slots;
}

/**
 * tdma_file_job_key - where a job is to be found in the hash table
 * @file: the file
 * @number: the number of the job
 *
 * A process that chose which of its jobs to keep could otherwise collect them
 * in one place, and have them searched with interrupts off.
 *
 * Return: the key.
 */
u32 tdma_file_job_key(const struct tdma_file *file, u64 number)
{
	return siphash_1u64(number, &file->jobs_key);
}

/**
 * tdma_file_find_job - find a job by its number
 * @file: the file; the lock of its queue is held
 * @number: the number
 *
 * Return: the job, or NULL.
 */
struct tdma_file_job *tdma_file_find_job(struct tdma_file *file, u64 number)
{
	struct tdma_file_job *job;

	hash_for_each_possible(file->jobs, job, hash,
			       tdma_file_job_key(file, number))
		if (job->number == number)
			return job;
	return NULL;
}

/**
 * tdma_file_job_progress - how far a job has come that is not over
 * @file: the file; the lock of its queue is held
 * @job: the job
 * @record: filled in; status PENDING, without a fault
 *
 * Return: false if it has not begun.
 */
bool tdma_file_job_progress(const struct tdma_file *file,
			    const struct tdma_file_job *job,
			    struct tdma_record *record)
{
	const struct tdma_split *split = job->split;

	if (job->held && (!split || split->first))
		return false;
	if (!split || split->running)
		tdma_queue_progress(&file->queue, &job->job, record);
	else
		*record = (struct tdma_record) { .tag = split->desc.tag };
	if (split)
		tdma_split_add(record, &split->sum);
	return true;
}

/**
 * tdma_file_job_free - free a job and what it was made of
 * @job: the job, over or never queued
 */
void tdma_file_job_free(struct tdma_file_job *job)
{
	kfree(job->slots);
	kfree(job->split);
	kfree(job);
}

/**
 * tdma_file_set_eventfd - choose what is told of each job that is over
 * @file: the file
 * @fd: an eventfd, or -1 for none
 *
 * Return: 0, or -EBADF or -EINVAL if @fd is no eventfd.
 */
int tdma_file_set_eventfd(struct tdma_file *file, int fd)
{
	struct eventfd_ctx *eventfd = NULL;

	if (fd != -1)
		eventfd = eventfd_ctx_fdget(fd);
	if (IS_ERR(eventfd))
		return PTR_ERR(eventfd);
	spin_lock_irq(&file->queue.lock);
	swap(file->eventfd, eventfd);
	spin_unlock_irq(&file->queue.lock);
	if (eventfd)
		eventfd_ctx_put(eventfd);
	return 0;
}

static bool tdma_file_idle(struct tdma_file *file)
{
	bool idle;

	lockdep_assert_held(&file->lock);
	spin_lock_irq(&file->queue.lock);
	idle = list_empty(&file->held);
	spin_unlock_irq(&file->queue.lock);
	return idle && !file->userq;
}

/**
 * tdma_file_set_priority - be served earlier or later
 * @file: the file, between tdma_file_begin() and tdma_file_end()
 * @priority: 0 to %TDMA_PRIORITY_MAX
 *
 * Return: 0, -EBUSY if a job is unfinished or there is a user queue, or another
 * error: the device must be reset.
 */
int tdma_file_set_priority(struct tdma_file *file, u32 priority)
{
	int ret = 0;

	/* Keeps submissions out. */
	mutex_lock(&file->lock);
	if (file->queue.hw.priority != priority)
		ret = tdma_file_idle(file) ?
		      tdma_queue_set_priority(&file->queue, priority) : -EBUSY;
	mutex_unlock(&file->lock);
	return ret;
}

/* ---- buffers ---- */

/**
 * tdma_file_add_buffer - make a buffer known to the device and to user space
 * @file: the file, between tdma_file_begin() and tdma_file_end()
 * @buf: the buffer; on success the caller's reference is the handle's
 *
 * Return: 0 or a negative errno.
 */
int tdma_file_add_buffer(struct tdma_file *file, struct tdma_buffer *buf)
{
	int ret;

	ret = tdma_buffer_publish(buf);
	if (ret)
		return ret;
	mutex_lock(&file->lock);
	ret = xa_err(xa_store(&file->buffers, buf->handle, buf, GFP_KERNEL));
	mutex_unlock(&file->lock);
	return ret;
}

/**
 * tdma_file_free_buffer - take a handle back
 * @file: the file
 * @handle: the handle
 *
 * Return: 0 or -ENOENT.
 */
int tdma_file_free_buffer(struct tdma_file *file, u32 handle)
{
	struct tdma_buffer *buf;

	mutex_lock(&file->lock);
	buf = xa_erase(&file->buffers, handle);
	mutex_unlock(&file->lock);
	if (!buf)
		return -ENOENT;
	tdma_buffer_put(buf);
	return 0;
}

/**
 * tdma_file_export - make a dma-buf of a buffer's memory
 * @file: the file
 * @handle: the buffer
 * @access: TDMA_BUF_*
 *
 * Return: the dma-buf, or an ERR_PTR.
 */
struct dma_buf *tdma_file_export(struct tdma_file *file, u32 handle,
				 u32 access)
{
	struct dma_buf *dmabuf = ERR_PTR(-ENOENT);
	struct tdma_memory *mem = NULL;
	struct tdma_buffer *buf;

	mutex_lock(&file->lock);
	buf = xa_load(&file->buffers, handle);
	if (buf && access & ~buf->access) {
		dmabuf = ERR_PTR(-EACCES);
	} else if (buf) {
		mem = buf->memory;
		tdma_memory_get(mem);
	}
	mutex_unlock(&file->lock);
	if (!mem)
		return dmabuf;
	dmabuf = tdma_dmabuf_export(mem, access);
	tdma_memory_put(mem);
	return dmabuf;
}

/**
 * tdma_file_mmap - map the buffer that the offset names
 * @file: the file
 * @vma: the mapping
 *
 * Return: 0, -EINVAL for a bad offset, length or kind of mapping, -EACCES for
 * one that could write what the buffer does not permit to be written.
 */
int tdma_file_mmap(struct tdma_file *file, struct vm_area_struct *vma)
{
	u32 access = TDMA_BUF_READ | TDMA_BUF_WRITE;
	struct tdma_memory *mem;
	struct tdma_buffer *buf;
	int ret = -EINVAL;

	mutex_lock(&file->lock);
	mem = tdma_user_queue_part(file, vma);
	buf = xa_load(&file->buffers,
		      vma->vm_pgoff >> (TDMA_MMAP_SHIFT - PAGE_SHIFT));
	if (buf) {
		mem = buf->memory;
		access = buf->access;
	}
	if (IS_ERR(mem))
		ret = PTR_ERR(mem);
	else if (mem)
		ret = tdma_memory_mmap(mem, access, vma);
	mutex_unlock(&file->lock);
	return ret;
}

/**
 * tdma_file_show - what /proc/PID/fdinfo says about a file
 * @file: the file
 * @seq: where to write it
 */
void tdma_file_show(struct tdma_file *file, struct seq_file *seq)
{
	unsigned long handle, buffers = 0;
	unsigned int jobs;
	struct tdma_buffer *buf;
	u64 bytes = 0, submitted;

	mutex_lock(&file->lock);
	xa_for_each(&file->buffers, handle, buf) {
		buffers++;
		bytes += buf->segment.length;
	}
	submitted = file->next_job - 1;
	mutex_unlock(&file->lock);

	spin_lock_irq(&file->queue.lock);
	jobs = file->nr_jobs;
	spin_unlock_irq(&file->queue.lock);

	seq_printf(seq, "tensordma-queue:\t%u\n", file->queue.id);
	seq_printf(seq, "tensordma-priority:\t%u\n",
		   file->queue.hw.priority);
	seq_printf(seq, "tensordma-generation:\t%u\n", file->generation);
	seq_printf(seq, "tensordma-buffers:\t%lu\n", buffers);
	seq_printf(seq, "tensordma-buffer-bytes:\t%llu\n", bytes);
	seq_printf(seq, "tensordma-jobs-submitted:\t%llu\n", submitted);
	seq_printf(seq, "tensordma-jobs-kept:\t%u\n", jobs);
}
