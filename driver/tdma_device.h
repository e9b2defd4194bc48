/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The device as the layers share it, its state and its lifetime.
 *
 * struct tdma_device is referenced by the PCI binding, by every open file and
 * by the dmaengine registration, and outlives all of them. Hardware and DMA
 * mappings do not: they end with the PCI binding. Whoever touches registers
 * or maps memory therefore holds @lock for reading and has seen %TDMA_RUNNING,
 * or holds a queue's lock and has seen the queue on.
 *
 * Lock order, outermost first:
 *	tdma_device.lock
 *	tdma_device.files_lock
 *	tdma_file.lock
 *	tdma_queue.control
 *	tdma_device.buffers_lock
 *	tdma_vector.lock
 *	tdma_queue.lock
 *	tdma_counters.lock
 * and mmap_lock before tdma_file.lock and tdma_device.map_lock, and
 * tdma_device.buffers_lock before what the exporter of a dma-buf locks. User memory is
 * never touched with any of them held.
 */
#ifndef TDMA_DEVICE_H
#define TDMA_DEVICE_H

#include <linux/idr.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/miscdevice.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/rwsem.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "tdma_context.h"
#include "tdma_hw.h"

#define TDMA_NAME		"tensordma"
#define TDMA_MAX_VECTORS	32

struct dentry;
struct gen_pool;
struct tdma_counters;
struct tdma_debugfs_thread;
struct tdma_dmaengine;

/**
 * enum tdma_state - may the hardware be used?
 * @TDMA_RUNNING: yes
 * @TDMA_RESETTING: not now
 * @TDMA_GONE: never again: unbound, unplugged or beyond repair
 */
enum tdma_state {
	TDMA_RUNNING,
	TDMA_RESETTING,
	TDMA_GONE,
};

/**
 * struct tdma_vector - an interrupt and the queues it serves
 * @lock: protects @queues
 * @queues: &struct tdma_queue
 */
struct tdma_vector {
	spinlock_t lock;	/* @queues */
	struct list_head queues;
};

/**
 * struct tdma_device - a tensor DMA function
 * @ref: references to this structure
 * @pdev: the PCI function; no longer bound when @state is %TDMA_GONE
 * @hw: registers
 * @counters: of the DMA threads
 * @index: N of /dev/tensordmaN
 * @lock: guards @state; held for reading by everything that uses hardware
 * @state: &enum tdma_state
 * @generation: resets survived; a file of an older generation is dead
 * @queue_ids: hardware queues in use
 * @context_ids: hardware contexts in use
 * @kernel_context: context 0, all of host memory and all of HBM
 * @vectors: interrupts
 * @nr_vectors: number of interrupts; 1 if there are none and queues are polled
 * @polled: there is no MSI-X
 * @watchdog: see tdma_watchdog.c
 * @recoveries: queues recovered one by one
 * @recovery: waits for a recovery that may not come, see tdma_recovery.c
 * @pci_state: configuration space after probe
 * @wq: deferred release of buffers
 * @files_lock: protects @files
 * @files: open files, &struct tdma_file
 * @buffers_lock: protects @buffers, the DMA mapping of each of them, and the
 *	segment tables of all files against being freed
 * @buffers: all buffers of all files, &struct tdma_buffer
 * @hbm_pool: device memory, by offset
 * @hbm_base: physical address of BAR2
 * @map_lock: held for reading while a fault maps BAR2, for writing to end that
 * @unmapped: BAR2 may not be mapped any more
 * @misc: /dev/tensordmaN
 * @misc_name: its name
 * @dma: dmaengine registration
 * @debugfs: its directory
 * @debugfs_threads: what its files are about
 */
struct tdma_device {
	struct kref ref;
	struct pci_dev *pdev;
	struct tdma_hw hw;
	struct tdma_counters *counters;
	int index;

	struct rw_semaphore lock;
	enum tdma_state state;
	u32 generation;

	struct ida queue_ids;
	struct ida context_ids;
	struct tdma_context kernel_context;

	struct tdma_vector vectors[TDMA_MAX_VECTORS];
	unsigned int nr_vectors;
	bool polled;
	struct delayed_work watchdog;
	atomic_t recoveries;
	struct delayed_work recovery;
	struct pci_saved_state *pci_state;
	struct workqueue_struct *wq;

	struct mutex files_lock;	/* @files */
	struct list_head files;
	struct mutex buffers_lock;	/* @buffers and what they map */
	struct list_head buffers;

	struct gen_pool *hbm_pool;
	resource_size_t hbm_base;
	struct rw_semaphore map_lock;
	bool unmapped;

	struct miscdevice misc;
	char misc_name[16];
	struct tdma_dmaengine *dma;
	struct dentry *debugfs;
	struct tdma_debugfs_thread *debugfs_threads;
};

struct tdma_device *tdma_device_alloc(struct pci_dev *pdev);
void tdma_device_release_name(struct tdma_device *tdev);
void tdma_device_get(struct tdma_device *tdev);
void tdma_device_put(struct tdma_device *tdev);

int tdma_device_start(struct tdma_device *tdev);
void tdma_device_quiesce(struct tdma_device *tdev, enum tdma_state state);
int tdma_device_restart(struct tdma_device *tdev);
void tdma_device_reset(struct tdma_device *tdev, u32 generation);

/**
 * tdma_device_usable - is the hardware there, and is it still ours?
 * @tdev: the device, @lock held
 * @generation: generation in which the caller set up its resources
 *
 * Return: true if registers may be used while @lock is held.
 */
static inline bool tdma_device_usable(const struct tdma_device *tdev,
				      u32 generation)
{
	lockdep_assert_held(&tdev->lock);
	return tdev->state == TDMA_RUNNING && tdev->generation == generation;
}

#endif /* TDMA_DEVICE_H */
