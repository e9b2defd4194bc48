/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * tensordma: the user interface of /dev/tensordmaN.
 *
 * Rules that hold for every ioctl:
 *
 *  - The first member of each structure is @size, set by the caller to
 *    sizeof(the structure). A smaller structure of an older program is
 *    extended with zeros; a larger one of a newer program is accepted if the
 *    part unknown to the kernel is zero.
 *  - Reserved members and unknown flags must be zero.
 *  - A failed ioctl changes nothing, except where a member is documented as
 *    an error report.
 *  - Interrupted calls lose nothing and may simply be called again; times are
 *    absolute CLOCK_MONOTONIC nanoseconds.
 *  - Handles and jobs belong to the open file, whichever process uses it.
 *
 * General errors, beside those listed at each ioctl:
 *  ENOTTY      no such ioctl
 *  EINVAL      a member has a value that is never valid; @size too small
 *  E2BIG       @size is larger than the kernel knows and the tail is not zero
 *  EOPNOTSUPP  a flag or value the kernel knows of but this device lacks
 *  ENOENT      no such handle or job
 *  EFAULT      a pointer is bad
 *  EOVERFLOW   an address or length computation leaves 64 bits
 *  ENOMEM      out of memory, or over RLIMIT_MEMLOCK
 *  ENODEV      the device is gone, or was reset since this file was opened
 *
 * open() takes a queue and a context of the device until the last close(); it
 * fails with EBUSY if there is none left or a reset is under way. close() waits
 * until the device is done with the file's memory.
 *
 * poll() reports POLLIN if a completion can be taken, POLLOUT if a job would
 * find room, POLLERR and POLLHUP where ioctls fail with ENODEV. Jobs of a user
 * queue are not among them.
 */
#ifndef _LINUX_TENSORDMA_H
#define _LINUX_TENSORDMA_H

#include <linux/ioctl.h>
#include <linux/types.h>
#include <linux/tensordma_desc.h>

#define TDMA_UAPI_VERSION	1
#define TDMA_IOC_MAGIC		0xDA

/**
 * struct tdma_query - what this device and driver can do (TDMA_IOC_QUERY)
 * @size: sizeof(struct tdma_query)
 * @uapi_version: out: %TDMA_UAPI_VERSION
 * @features: out: TDMA_FEATURE_* of <linux/tensordma_regs.h>
 * @max_dims: out: dimensions per descriptor; see @queue_dims
 * @max_elem_bytes: out: largest element
 * @max_jobs: out: jobs of one file that may be unfinished or unread
 * @opcodes: out: bit n set: opcode n is offered
 * @types: out: bit n set: accumulate type n is offered
 * @threads: out: DMA threads
 * @lanes: out: addresses per cycle and side (M)
 * @request_ids: out: outstanding requests per side (W)
 * @max_buffers: out: buffers one file may hold
 * @hbm_bytes: out: device memory in bytes
 * @reset_generation: out: device resets since power-on
 * @queue_dims: out: dimensions per descriptor of the device itself, and so of
 *	descriptors in a user queue. A job of TDMA_IOC_SUBMIT that has more is
 *	carried out in parts: the same bytes in the same order, one completion.
 *	It is slower, its partial updates come at the end of each part as well,
 *	and it cannot have TDMA_DESC_RECORD (EOPNOTSUPP, BAD_NDIMS)
 */
struct tdma_query {
	__u32	size;
	__u32	uapi_version;
	__u32	features;
	__u32	max_dims;
	__u32	max_elem_bytes;
	__u32	max_jobs;
	__u32	opcodes;
	__u32	types;
	__u32	threads;
	__u32	lanes;
	__u32	request_ids;
	__u32	max_buffers;
	__u64	hbm_bytes;
	__u32	reset_generation;
	__u32	queue_dims;
};

/* The device may read from / write to the buffer. */
#define TDMA_BUF_READ		(1U << 0)
#define TDMA_BUF_WRITE		(1U << 1)

/**
 * struct tdma_buf_pin - make user memory a buffer (TDMA_IOC_BUF_PIN)
 * @size: sizeof(struct tdma_buf_pin)
 * @flags: TDMA_BUF_READ, TDMA_BUF_WRITE or both. Without WRITE the memory may
 *	be a read-only mapping and is never written
 * @addr: start of the memory, any alignment
 * @length: bytes, at least 1
 * @handle: out: the buffer; it is the segment number of descriptors
 * @reserved: zero
 *
 * Counts against RLIMIT_MEMLOCK unless the caller has CAP_IPC_LOCK. The
 * buffer keeps the pages, not the mapping: it outlives munmap() and is not
 * shared with a child made by fork() that writes to the memory first.
 *
 * Errors: EFAULT if the memory is not mapped or does not permit the access;
 * ENOSPC if the file holds max_buffers buffers; EOPNOTSUPP if this machine
 * could reach the memory through bounce buffers only.
 */
struct tdma_buf_pin {
	__u32	size;
	__u32	flags;
	__u64	addr;
	__u64	length;
	__u32	handle;
	__u32	reserved;
};

/* where TDMA_IOC_BUF_ALLOC takes the memory from */
#define TDMA_ALLOC_HBM		1	/* device memory */
#define TDMA_ALLOC_HOST		2	/* host memory owned by the driver */

/**
 * struct tdma_buf_alloc - allocate zeroed memory (TDMA_IOC_BUF_ALLOC)
 * @size: sizeof(struct tdma_buf_alloc)
 * @space: TDMA_ALLOC_*
 * @length: bytes, at least 1; rounded up to whole pages
 * @mmap_offset: out: offset for mmap() on the device file, length rounded up
 * @handle: out: the buffer, readable and writable by the device
 * @reserved: zero
 *
 * Host memory counts against RLIMIT_MEMLOCK as pinned memory does.
 *
 * Errors: ENOSPC if device memory or the file's buffers are used up.
 */
struct tdma_buf_alloc {
	__u32	size;
	__u32	space;
	__u64	length;
	__u64	mmap_offset;
	__u32	handle;
	__u32	reserved;
};

/**
 * struct tdma_buf_free - give a buffer back (TDMA_IOC_BUF_FREE)
 * @size: sizeof(struct tdma_buf_free)
 * @handle: the buffer
 *
 * The handle is gone at once. The memory is released when the last unfinished
 * job that was submitted before is over; mappings stay valid until munmap().
 */
struct tdma_buf_free {
	__u32	size;
	__u32	handle;
};

/**
 * struct tdma_buf_export - make a dma-buf of a buffer (TDMA_IOC_BUF_EXPORT)
 * @size: sizeof(struct tdma_buf_export)
 * @flags: TDMA_BUF_*: what the buffer permits, or less. Without WRITE the
 *	dma-buf can be mapped by the CPU, and imported, for reading only
 * @handle: a buffer of TDMA_IOC_BUF_ALLOC
 * @fd: out: the dma-buf, close-on-exec
 *
 * The memory lives as long as the dma-buf or the buffer, whichever is longer.
 * Host memory serves any importer. Device memory serves files of the same
 * device: a file that imports it can also map it, the dma-buf itself cannot.
 * Implicit fences are neither waited for nor set.
 *
 * Errors: EINVAL if the buffer is memory of a process or imported; EACCES if
 * the buffer does not permit @flags; EMFILE.
 */
struct tdma_buf_export {
	__u32	size;
	__u32	flags;
	__u32	handle;
	__s32	fd;
};

/**
 * struct tdma_buf_import - make a dma-buf a buffer (TDMA_IOC_BUF_IMPORT)
 * @size: sizeof(struct tdma_buf_import)
 * @flags: TDMA_BUF_READ, TDMA_BUF_WRITE or both
 * @fd: the dma-buf, of any driver; may be closed afterwards
 * @handle: out: the buffer
 * @length: out: its bytes
 * @mmap_offset: out: offset for mmap() if the memory is this device's own,
 *	else 0: map the dma-buf itself
 *
 * Errors: EBADF or EINVAL if @fd is no dma-buf; EACCES for WRITE if it is read
 * only; ENOSPC as for pin; EOPNOTSUPP if this device cannot reach the memory;
 * what else the exporter finds.
 */
struct tdma_buf_import {
	__u32	size;
	__u32	flags;
	__s32	fd;
	__u32	handle;
	__u64	length;
	__u64	mmap_offset;
};

/* Do not sleep for room: accept what fits now. */
#define TDMA_SUBMIT_NONBLOCK	(1U << 0)
/* The jobs wait for the sync_file @in_fence. */
#define TDMA_SUBMIT_IN_FENCE	(1U << 1)
/* @out_fence becomes a sync_file that signals when the last job is over. */
#define TDMA_SUBMIT_OUT_FENCE	(1U << 2)

/**
 * struct tdma_submit - queue tensor descriptors (TDMA_IOC_SUBMIT)
 * @size: sizeof(struct tdma_submit)
 * @flags: TDMA_SUBMIT_*; O_NONBLOCK on the file has the same effect
 * @descs: user pointer to the descriptors: @count of them, @stride apart. A
 *	descriptor with TDMA_DESC_EXT is followed by its extension block, also
 *	@stride apart and counted as one
 * @count: slots, at least 1
 * @stride: bytes from one to the next, 256 to 4096 (else EINVAL, E2BIG); what
 *	lies beyond 256 must be zero
 * @accepted: out: slots queued, from the first on. Less than @count if
 *	the queue became full or the next descriptor was refused: in either
 *	case call again with the rest, or correct it
 * @error_status: out: &enum tdma_status of the first refused descriptor, or 0
 * @first_job: out: job number of the first descriptor queued; the following
 *	ones count up. Numbers start at 1 and are never used twice
 * @error_index: out: index of the refused slot in @descs
 * @error_field: out: byte offset in the descriptor of the field at fault
 * @error_dim: out: dimension at fault, or %TDMA_DIM_NONE
 * @error_side: out: TDMA_SIDE_*
 * @in_fence: with %TDMA_SUBMIT_IN_FENCE: file descriptor of a sync_file, else 0
 * @out_fence: out: with %TDMA_SUBMIT_OUT_FENCE: file descriptor of a sync_file
 *	for the last job queued, close-on-exec; else -1
 *
 * Descriptors of one file run in order of submission. Each job ends in one
 * completion that stays until it is taken by TDMA_IOC_WAIT. A file with
 * max_jobs jobs unfinished or not taken is full: a call that may sleep then
 * waits for another thread to take completions, or for a signal.
 *
 * The call does not wait for the in-fence; jobs behind it wait with it. If it
 * signals an error the jobs of the call end ABORTED and nothing moves.
 *
 * Others may wait for an out-fence where they can neither be interrupted nor
 * free memory. It therefore signals in bounded time: if its job is not over
 * when it has been in the queue for fence_timeout_ms (a parameter of the
 * module, 10 s), all jobs in the queue end ABORTED. The fence carries -EIO for
 * a job that failed, -ETIMEDOUT and -ECANCELED for one that was ended.
 *
 * Returns 0 if at least one descriptor was queued. Otherwise an error:
 * EINVAL, EOVERFLOW or EOPNOTSUPP with the error report filled in; ENOENT for
 * an unknown segment; EACCES for a buffer without the permission; EAGAIN if
 * the queue is full and the call must not sleep; EINTR by a signal; EBADF if
 * @in_fence is no sync_file; EMFILE.
 */
struct tdma_submit {
	__u32	size;
	__u32	flags;
	__u64	descs;
	__u32	count;
	__u32	stride;
	__u32	accepted;
	__u32	error_status;
	__u64	first_job;
	__u32	error_index;
	__u16	error_field;
	__u8	error_dim;
	__u8	error_side;
	__s32	in_fence;
	__s32	out_fence;
};

/* Leave the completion in place, so that it can be waited for again. */
#define TDMA_WAIT_KEEP		(1U << 0)
/* Wait for the oldest completion that has not been taken; @job is output. */
#define TDMA_WAIT_ANY		(1U << 1)
/* @deadline_ns value for "never" */
#define TDMA_WAIT_FOREVER	(~0ULL >> 1)

/**
 * struct tdma_wait - wait for a job or for part of it (TDMA_IOC_WAIT)
 * @size: sizeof(struct tdma_wait)
 * @flags: TDMA_WAIT_*
 * @job: the job; with ANY: zero in, the job that completed out
 * @deadline_ns: CLOCK_MONOTONIC; in the past (0) = do not sleep
 * @min_src_done: return when this many source elements are read; 0 = ignore
 * @min_dst_done: return when this many destination elements are written; 0 =
 *	ignore. With both zero: when the job is over
 * @record: out: state of the job, as in its completion record
 *
 * If the record's status is not %TDMA_STATUS_PENDING the job is over and,
 * unless KEEP is given, its completion has been taken: further calls fail
 * with ENOENT. The status of a failed job is in the record, not in errno. A
 * job that ends before the wanted progress wakes the wait too.
 *
 * Errors: ETIME if the deadline passed first (@record holds the progress so
 * far); EINTR by a signal; ENOENT if the job never was or was taken, or with
 * ANY if the file has no job left.
 */
struct tdma_wait {
	__u32	size;
	__u32	flags;
	__u64	job;
	__s64	deadline_ns;
	__u64	min_src_done;
	__u64	min_dst_done;
	struct tdma_record record;
};

/* Return when all jobs are over, not when the first one is. */
#define TDMA_WAIT_ALL		(1U << 0)

/**
 * struct tdma_wait_many - wait for any or all of some jobs (TDMA_IOC_WAIT_MANY)
 * @size: sizeof(struct tdma_wait_many)
 * @flags: 0 or %TDMA_WAIT_ALL
 * @jobs: user pointer to @count job numbers, 64 bits each
 * @deadline_ns: CLOCK_MONOTONIC; in the past (0) = do not sleep
 * @count: 1 to max_jobs
 * @index: out: place in @jobs of the first that is over, with ALL 0
 * @reserved: zero
 *
 * No completion is taken: TDMA_IOC_WAIT does that.
 *
 * Errors: ETIME if the deadline passed first (with ALL, @index is the first job
 * that is not over); EINTR by a signal; ENOENT if a job never was or was taken
 * (@index is its place).
 */
struct tdma_wait_many {
	__u32	size;
	__u32	flags;
	__u64	jobs;
	__s64	deadline_ns;
	__u32	count;
	__u32	index;
	__u64	reserved;
};

/**
 * struct tdma_eventfd - be told of completions (TDMA_IOC_EVENTFD)
 * @size: sizeof(struct tdma_eventfd)
 * @flags: zero
 * @fd: an eventfd, or -1 for none. It replaces the one of an earlier call
 * @reserved: zero
 *
 * From now on 1 is added to the eventfd's counter for each job of
 * TDMA_IOC_SUBMIT that is over, however it ended; the user queue has an eventfd
 * of its own.
 *
 * Errors: EBADF or EINVAL if @fd is no eventfd.
 */
struct tdma_eventfd {
	__u32	size;
	__u32	flags;
	__s32	fd;
	__u32	reserved;
};

/* Priorities: those with the larger number are served first. */
#define TDMA_PRIORITY_DEFAULT	3
#define TDMA_PRIORITY_MAX	7

/* Set the priority; without it, only tell what it is. */
#define TDMA_PRIORITY_SET	(1U << 0)

/**
 * struct tdma_priority - who is served first (TDMA_IOC_PRIORITY)
 * @size: sizeof(struct tdma_priority)
 * @flags: 0 or %TDMA_PRIORITY_SET
 * @priority: with SET: 0 to %TDMA_PRIORITY_MAX, else zero in; out: what holds
 * @reserved: zero
 *
 * A DMA thread gives its next quantum to the queue of the highest priority that
 * has work; equals take turns. One that is never idle starves those below it.
 * A file begins with %TDMA_PRIORITY_DEFAULT, as the kernel's own channels do,
 * and may have anything up to that; more is for callers with CAP_SYS_NICE.
 *
 * The priority holds for the jobs of TDMA_IOC_SUBMIT and for a user queue that
 * is made afterwards, through whatever recovery either needs.
 *
 * Errors: EPERM without the capability; EBUSY if a job of the file is
 * unfinished or the file has a user queue, and another priority is asked for.
 */
struct tdma_priority {
	__u32	size;
	__u32	flags;
	__u32	priority;
	__u32	reserved;
};

/* Largest ring of a user queue, log2 of slots */
#define TDMA_USERQ_MAX_ORDER	8

/**
 * struct tdma_queue_create - make a user queue (TDMA_IOC_QUEUE_CREATE)
 * @size: sizeof(struct tdma_queue_create)
 * @flags: zero
 * @order: log2 of the number of slots, 1 to %TDMA_USERQ_MAX_ORDER
 * @eventfd: an eventfd, or -1. 1 is added when a job is over that has
 *	TDMA_DESC_IRQ or did not end well; several may be told of at once
 * @ring_offset: out: offset for mmap(): &struct tdma_desc by slot
 * @records_offset: out: &struct tdma_record by slot, for reading only
 * @doorbell_offset: out: a page, whose first 32 bits are written
 * @reserved: zero
 *
 * A file may have one queue that it fills without system calls, beside the one
 * of TDMA_IOC_SUBMIT. Indices run freely modulo 2^32 and begin at 0; slot and
 * record of index i are at i modulo the ring size. Write descriptors, then,
 * after a store barrier, the index behind the last one to the doorbell. The job
 * of index i is over when its record has @sequence i + 1 and a @status that is
 * not PENDING; read status after sequence. A slot may be used again when its
 * job is over.
 *
 * The device checks each descriptor as TDMA_IOC_SUBMIT would, on a copy of its
 * own; a bad one ends in a record that tells what is wrong, and nothing moves.
 * A tail that is further ahead than the ring is long halts the queue for good.
 *
 * A job that hangs is ended by the driver, and with it every one in the ring:
 * their records say ABORTED, indices and queue go on. If that does not help the
 * queue is stopped for good (@state OFF).
 *
 * A buffer that is freed is out of reach for jobs that the device has not
 * fetched; its memory is let go when those that it has are over. The queue
 * ends with the file, or with a reset of the device: records stay as they are
 * and the doorbell does nothing.
 *
 * Errors: EBUSY if the file has a user queue or the device has none left;
 * EBADF or EINVAL if @eventfd is no eventfd; EOPNOTSUPP if this machine could
 * reach the queue through bounce buffers only, or has no interrupt for an
 * eventfd. mmap() of the records fails with EACCES if it is for writing.
 */
struct tdma_queue_create {
	__u32	size;
	__u32	flags;
	__u32	order;
	__s32	eventfd;
	__u64	ring_offset;
	__u64	records_offset;
	__u64	doorbell_offset;
	__u64	reserved;
};

/**
 * struct tdma_queue_status - what became of it (TDMA_IOC_QUEUE_STATUS)
 * @size: sizeof(struct tdma_queue_status)
 * @state: out: TDMA_QSTATE_* of <linux/tensordma_regs.h>
 * @error: out: TDMA_QERR_* of the same
 * @done: out: slots whose jobs are over, modulo 2^32
 *
 * Errors: ENOENT if the file has no user queue.
 */
struct tdma_queue_status {
	__u32	size;
	__u32	state;
	__u32	error;
	__u32	done;
};

#define TDMA_IOC_QUERY		_IOWR(TDMA_IOC_MAGIC, 0x00, struct tdma_query)
#define TDMA_IOC_BUF_PIN	_IOWR(TDMA_IOC_MAGIC, 0x01, struct tdma_buf_pin)
#define TDMA_IOC_BUF_ALLOC	_IOWR(TDMA_IOC_MAGIC, 0x02, struct tdma_buf_alloc)
#define TDMA_IOC_BUF_FREE	_IOWR(TDMA_IOC_MAGIC, 0x03, struct tdma_buf_free)
#define TDMA_IOC_SUBMIT		_IOWR(TDMA_IOC_MAGIC, 0x04, struct tdma_submit)
#define TDMA_IOC_WAIT		_IOWR(TDMA_IOC_MAGIC, 0x05, struct tdma_wait)
#define TDMA_IOC_BUF_EXPORT	_IOWR(TDMA_IOC_MAGIC, 0x06, struct tdma_buf_export)
#define TDMA_IOC_BUF_IMPORT	_IOWR(TDMA_IOC_MAGIC, 0x07, struct tdma_buf_import)
#define TDMA_IOC_WAIT_MANY	_IOWR(TDMA_IOC_MAGIC, 0x08, struct tdma_wait_many)
#define TDMA_IOC_EVENTFD	_IOWR(TDMA_IOC_MAGIC, 0x09, struct tdma_eventfd)
#define TDMA_IOC_PRIORITY	_IOWR(TDMA_IOC_MAGIC, 0x0a, struct tdma_priority)
#define TDMA_IOC_QUEUE_CREATE	_IOWR(TDMA_IOC_MAGIC, 0x0b, struct tdma_queue_create)
#define TDMA_IOC_QUEUE_STATUS	_IOWR(TDMA_IOC_MAGIC, 0x0c, struct tdma_queue_status)

#endif /* _LINUX_TENSORDMA_H */
