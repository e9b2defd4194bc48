/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An open file of /dev/tensordmaN: a context, a queue, buffers and jobs.
 */
#ifndef TDMA_FILE_H
#define TDMA_FILE_H

#include <linux/dma-fence.h>
#include <linux/fs.h>
#include <linux/hashtable.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/siphash.h>
#include <linux/wait.h>
#include <linux/xarray.h>

#include "tdma_buffer.h"
#include "tdma_context.h"
#include "tdma_desc.h"
#include "tdma_queue.h"

struct dma_buf;
struct eventfd_ctx;
struct seq_file;
struct sync_file;
struct tdma_split;
struct tdma_device;
struct tdma_user_queue;

/* Jobs of one file that may be unfinished or unread */
#define TDMA_FILE_MAX_JOBS	1024
/* Entries of a file's segment table; 32 KiB */
#define TDMA_FILE_SEGMENTS	1024

/**
 * struct tdma_file_job - a job of a file
 * @job: its place in the ring
 * @hash: in tdma_file.jobs
 * @node: in tdma_file.held, then in tdma_file.done
 * @number: what user space knows it by
 * @over: @job.record is final
 * @held: not yet in the ring
 * @late: its time with an out-fence is up
 * @timed: @since is valid
 * @since: when it began to wait for nothing but the queue, in jiffies
 * @slots: descriptor and extension block while @held
 * @split: its parts, if the device cannot take it at once, or NULL. It is
 *	@held until the last part is in the ring
 * @in_fence: what it waits for, or NULL
 * @out_fence: what tells of its end, or NULL
 * @buffers: what it uses, until it is over
 */
struct tdma_file_job {
	struct tdma_job job;
	struct hlist_node hash;
	struct list_head node;
	u64 number;
	bool over;
	bool held;
	bool late;
	bool timed;
	unsigned long since;
	struct tdma_desc *slots;
	struct tdma_split *split;
	struct dma_fence *in_fence;
	struct dma_fence *out_fence;
	struct tdma_buffer *buffers[TDMA_DESC_SIDES];
};

/**
 * struct tdma_file - an open file
 * @tdev: the device
 * @node: in tdma_device.files
 * @mapping: address space of the device node
 * @generation: of the device when the file was opened
 * @ctx: segment table
 * @lock: protects @buffers, @next_job and @held_armed, and keeps submissions
 *	apart, among them those of @held_work
 * @buffers: &struct tdma_buffer by handle
 * @userq: the queue that the process fills by itself, or NULL
 * @next_job: number of the next job
 * @held_armed: @held_cb is with the in-fence of the first held job
 * @held_cb: tells when it signals
 * @held_work: moves held jobs into the ring
 * @fence_watch: ends jobs that keep out-fences from signalling
 * @queue: hardware queue; its lock protects what follows
 * @wait: woken by each interrupt of the queue and when a job is taken
 * @jobs: all jobs, by tdma_file_job_key() of their number
 * @jobs_key: secret of that function
 * @nr_jobs: how many there are
 * @held: jobs that are not yet in the ring, oldest first
 * @done: jobs that are over, oldest first
 * @eventfd: told of each job that is over, or NULL
 */
struct tdma_file {
	struct tdma_device *tdev;
	struct list_head node;
	struct address_space *mapping;
	u32 generation;
	struct tdma_context ctx;

	struct mutex lock;	/* @buffers, @next_job, @held_armed */
	struct xarray buffers;
	struct tdma_user_queue *userq;
	u64 next_job;
	bool held_armed;
	struct dma_fence_cb held_cb;
	struct work_struct held_work;

	struct delayed_work fence_watch;

	struct tdma_queue queue;
	wait_queue_head_t wait;
	DECLARE_HASHTABLE(jobs, 8);
	siphash_key_t jobs_key;
	unsigned int nr_jobs;
	struct list_head held;
	struct list_head done;
	struct eventfd_ctx *eventfd;
};

struct tdma_file *tdma_file_open(struct tdma_device *tdev,
				 struct address_space *mapping);
void tdma_file_close(struct tdma_file *file);
void tdma_files_detach(struct tdma_device *tdev);

int tdma_file_begin(struct tdma_file *file);
void tdma_file_end(struct tdma_file *file);
bool tdma_file_full(const struct tdma_file *file, u32 slots);
u32 tdma_file_job_key(const struct tdma_file *file, u64 number);
struct tdma_file_job *tdma_file_find_job(struct tdma_file *file, u64 number);
bool tdma_file_job_progress(const struct tdma_file *file,
			    const struct tdma_file_job *job,
			    struct tdma_record *record);
void tdma_file_job_free(struct tdma_file_job *job);
int tdma_file_set_eventfd(struct tdma_file *file, int fd);
int tdma_file_set_priority(struct tdma_file *file, u32 priority);

int tdma_file_add_buffer(struct tdma_file *file, struct tdma_buffer *buf);
int tdma_file_free_buffer(struct tdma_file *file, u32 handle);
struct dma_buf *tdma_file_export(struct tdma_file *file, u32 handle,
				 u32 access);
int tdma_file_mmap(struct tdma_file *file, struct vm_area_struct *vma);
void tdma_file_show(struct tdma_file *file, struct seq_file *seq);

int tdma_file_submit(struct tdma_file *file, struct tdma_submit *arg,
		     bool nonblock, struct sync_file **out);
int tdma_file_wait(struct tdma_file *file, struct tdma_wait *arg);
int tdma_file_wait_many(struct tdma_file *file, struct tdma_wait_many *arg);
__poll_t tdma_file_poll(struct tdma_file *file, struct file *filp,
			struct poll_table_struct *table);

#endif /* TDMA_FILE_H */
