// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queue layer: submission, completion and progress.
 *
 * A queue is a ring of 256-byte slots and an array of 64-byte records in
 * coherent memory. Slot and record of index i are at i modulo the ring size.
 * The device retires descriptors in ring order and writes the record last, so
 * that the state of the oldest job alone tells whether anything is to be done.
 */
#include <linux/dma-mapping.h>
#include <linux/minmax.h>
#include <linux/tensordma.h>
#include <linux/wait_bit.h>

#include "tdma_device.h"
#include "tdma_queue.h"
#include "tdma_watchdog.h"

#define CREATE_TRACE_POINTS
#include "tdma_trace.h"

/* 256 slots: 64 KiB of ring, enough to hide the latency of an interrupt. */
#define TDMA_QUEUE_ORDER	8

static u32 tdma_queue_slots(const struct tdma_queue *queue)
{
	return 1U << queue->hw.order;
}

static size_t tdma_ring_bytes(const struct tdma_queue *queue)
{
	return tdma_queue_slots(queue) * sizeof(struct tdma_desc);
}

static size_t tdma_records_bytes(const struct tdma_queue *queue)
{
	return tdma_queue_slots(queue) * sizeof(struct tdma_record);
}

static struct tdma_desc *tdma_queue_slot(const struct tdma_queue *queue,
					 u32 index)
{
	return &queue->ring[index & (tdma_queue_slots(queue) - 1)];
}

static struct tdma_record *tdma_queue_record(const struct tdma_queue *queue,
					     u32 index)
{
	return &queue->records[index & (tdma_queue_slots(queue) - 1)];
}

static void tdma_queue_setup(struct tdma_queue *queue, struct tdma_device *tdev,
			     const struct tdma_queue_ops *ops, u32 id,
			     u32 context)
{
	unsigned int vector = id % tdev->nr_vectors;

	queue->tdev = tdev;
	queue->ops = ops;
	queue->id = id;
	queue->vector = &tdev->vectors[vector];
	queue->state = TDMA_QUEUE_OFF;
	atomic_set(&queue->users, 0);
	mutex_init(&queue->control);
	spin_lock_init(&queue->lock);
	INIT_LIST_HEAD(&queue->inflight);
	queue->hw.context = context;
	queue->hw.vector = vector;
	queue->hw.thread = TDMA_THREAD_ANY;
	queue->hw.priority = TDMA_PRIORITY_DEFAULT;
}

static void tdma_queue_attach(struct tdma_queue *queue)
{
	spin_lock_irq(&queue->vector->lock);
	list_add_tail(&queue->vector_node, &queue->vector->queues);
	spin_unlock_irq(&queue->vector->lock);
}

/**
 * tdma_queue_init - allocate a queue's memory and attach it to its interrupt
 * @queue: the queue, zeroed
 * @tdev: the device
 * @ops: the owner's callbacks
 * @id: number of the hardware queue
 * @context: hardware context of its descriptors
 * @thread: DMA thread, or %TDMA_THREAD_ANY
 *
 * Return: 0 or -ENOMEM.
 */
int tdma_queue_init(struct tdma_queue *queue, struct tdma_device *tdev,
		    const struct tdma_queue_ops *ops, u32 id, u32 context,
		    u32 thread)
{
	struct device *dev = &tdev->pdev->dev;
	dma_addr_t ring, records;

	tdma_queue_setup(queue, tdev, ops, id, context);
	queue->hw.order = min_t(u32, TDMA_QUEUE_ORDER, tdev->hw.ring_order);
	queue->hw.thread = thread;

	queue->ring = dma_alloc_coherent(dev, tdma_ring_bytes(queue), &ring,
					 GFP_KERNEL);
	if (!queue->ring)
		return -ENOMEM;
	queue->records = dma_alloc_coherent(dev, tdma_records_bytes(queue),
					    &records, GFP_KERNEL);
	if (!queue->records)
		goto err_free_ring;
	queue->hw.ring = ring;
	queue->hw.records = records;
	tdma_queue_attach(queue);
	return 0;

err_free_ring:
	dma_free_coherent(dev, tdma_ring_bytes(queue), queue->ring, ring);
	queue->ring = NULL;
	return -ENOMEM;
}

/**
 * tdma_queue_init_user - the same for a queue that a process fills by itself
 * @queue: the queue, zeroed
 * @tdev: the device
 * @ops: the owner's callbacks
 * @id: number of the hardware queue
 * @context: hardware context of its descriptors
 * @memory: where ring and records are; stays the owner's
 *
 * What is in the ring is the process's affair: the device checks it.
 */
void tdma_queue_init_user(struct tdma_queue *queue, struct tdma_device *tdev,
			  const struct tdma_queue_ops *ops, u32 id,
			  u32 context, const struct tdma_queue_memory *memory)
{
	tdma_queue_setup(queue, tdev, ops, id, context);
	queue->user = true;
	queue->ring = memory->ring;
	queue->records = memory->records;
	queue->hw.order = memory->order;
	queue->hw.ring = memory->ring_dma;
	queue->hw.records = memory->records_dma;
	tdma_queue_attach(queue);
}

/**
 * tdma_queue_fini - free the memory of a queue that is off
 * @queue: the queue
 *
 * May be called twice. Must be called before the device is unbound. Waits for
 * a recovery of the queue that is under way.
 */
void tdma_queue_fini(struct tdma_queue *queue)
{
	struct device *dev;

	if (!queue->ring)
		return;
	dev = &queue->tdev->pdev->dev;
	WARN_ON(queue->state == TDMA_QUEUE_ON || !list_empty(&queue->inflight));

	spin_lock_irq(&queue->vector->lock);
	list_del(&queue->vector_node);
	spin_unlock_irq(&queue->vector->lock);
	/* Nobody new finds the queue; wait for who has found it before. */
	wait_var_event(&queue->users, !atomic_read_acquire(&queue->users));

	if (!queue->user) {
		dma_free_coherent(dev, tdma_records_bytes(queue),
				  queue->records, queue->hw.records);
		dma_free_coherent(dev, tdma_ring_bytes(queue), queue->ring,
				  queue->hw.ring);
	}
	queue->records = NULL;
	queue->ring = NULL;
}

/**
 * tdma_queue_put - end to look at a queue that somebody else owns
 * @queue: the queue, with @users counted up under its vector's lock
 */
void tdma_queue_put(struct tdma_queue *queue)
{
	/* The queue may be gone after the first call: the address is a name. */
	if (atomic_dec_return_release(&queue->users) == 0)
		wake_up_var(&queue->users);
}

/**
 * tdma_queue_start - turn a queue on, empty, paused if it was
 * @queue: the queue, off and without jobs
 *
 * Return: 0, -ENODEV also for a queue that is dead, or -EIO.
 */
int tdma_queue_start(struct tdma_queue *queue)
{
	unsigned long flags;
	int ret;

	spin_lock_irqsave(&queue->lock, flags);
	if (queue->state == TDMA_QUEUE_DEAD) {
		spin_unlock_irqrestore(&queue->lock, flags);
		return -ENODEV;
	}
	/* Records of an earlier life would look fresh: indices restart. */
	memset(queue->records, 0, tdma_records_bytes(queue));
	queue->head = 0;
	queue->tail = 0;
	ret = tdma_hw_queue_enable(&queue->tdev->hw, queue->id, &queue->hw);
	if (!ret) {
		queue->state = TDMA_QUEUE_ON;
		trace_tdma_queue_state(queue);
		queue->ops->event(queue);
	}
	spin_unlock_irqrestore(&queue->lock, flags);
	return ret;
}

/**
 * tdma_queue_off - take no more jobs and leave the registers alone
 * @queue: the queue
 * @state: %TDMA_QUEUE_OFF or %TDMA_QUEUE_DEAD
 *
 * The hardware may still work on jobs in flight.
 */
void tdma_queue_off(struct tdma_queue *queue, enum tdma_queue_state state)
{
	unsigned long flags;

	spin_lock_irqsave(&queue->lock, flags);
	if (queue->state != TDMA_QUEUE_DEAD)
		queue->state = state;
	trace_tdma_queue_state(queue);
	spin_unlock_irqrestore(&queue->lock, flags);
}

static void tdma_job_over(struct tdma_queue *queue, struct tdma_job *job)
{
	if (job->record.status == TDMA_STATUS_ABORTED)
		job->record.status = job->aborted;
	list_del(&job->node);
	trace_tdma_job_done(queue, job);
	queue->ops->done(queue, job);
}

/* End a job that the device will never touch again and has not finished. */
static void tdma_job_abort(struct tdma_queue *queue, struct tdma_job *job)
{
	tdma_queue_progress(queue, job, &job->record);
	job->record.status = TDMA_STATUS_ABORTED;
	job->record.fault_dim = TDMA_DIM_NONE;
	tdma_job_over(queue, job);
}

/**
 * tdma_queue_drain - hand all jobs back
 * @queue: the queue, off, and known not to be worked on by the device
 *
 * Jobs that the device has finished keep their result.
 */
void tdma_queue_drain(struct tdma_queue *queue)
{
	struct tdma_job *job, *next;
	unsigned long flags;

	spin_lock_irqsave(&queue->lock, flags);
	tdma_queue_reap(queue);
	list_for_each_entry_safe(job, next, &queue->inflight, node)
		tdma_job_abort(queue, job);
	queue->head = queue->tail;
	queue->ops->event(queue);
	spin_unlock_irqrestore(&queue->lock, flags);
}

/* Let the hardware end what it does for a queue. */
static int tdma_disable(struct tdma_queue *queue, enum tdma_queue_state state)
{
	const struct tdma_hw *hw = &queue->tdev->hw;
	unsigned long flags;

	lockdep_assert_held(&queue->control);
	spin_lock_irqsave(&queue->lock, flags);
	queue->state = state;
	trace_tdma_queue_state(queue);
	tdma_hw_queue_disable(hw, queue->id);
	spin_unlock_irqrestore(&queue->lock, flags);
	return tdma_hw_queue_wait_off(hw, queue->id);
}

/**
 * tdma_queue_stop - turn a queue off for good and hand all jobs back
 * @queue: the queue
 *
 * The caller holds the device's lock and has found the device running, so that
 * registers may be used throughout. On success the device is done with the
 * queue and with all memory its jobs named.
 *
 * Return: 0, or -ETIMEDOUT: the device must be reset, and the jobs are still
 * in flight.
 */
int tdma_queue_stop(struct tdma_queue *queue)
{
	int ret;

	mutex_lock(&queue->control);
	ret = tdma_disable(queue, TDMA_QUEUE_DEAD);
	if (!ret)
		tdma_queue_drain(queue);
	mutex_unlock(&queue->control);
	return ret;
}

/**
 * tdma_queue_set_priority - let a queue be served earlier or later
 * @queue: the queue, on; nobody pushes to it meanwhile
 * @priority: 0 to %TDMA_PRIORITY_MAX
 *
 * The device takes a priority from a queue that is off only, so this works on
 * one without jobs. The caller holds the device's lock for reading and has
 * found the device running. May sleep.
 *
 * Return: 0, -EBUSY if a job is in flight, -ENODEV if the queue is dead, or
 * another error: the device must be reset.
 */
int tdma_queue_set_priority(struct tdma_queue *queue, u32 priority)
{
	int ret = 0;

	mutex_lock(&queue->control);
	spin_lock_irq(&queue->lock);
	tdma_queue_reap(queue);
	if (queue->state != TDMA_QUEUE_ON)
		ret = -ENODEV;
	else if (!list_empty(&queue->inflight))
		ret = -EBUSY;
	spin_unlock_irq(&queue->lock);
	if (!ret)
		ret = tdma_disable(queue, TDMA_QUEUE_OFF);
	if (!ret) {
		queue->hw.priority = priority;
		ret = tdma_queue_start(queue);
	}
	mutex_unlock(&queue->control);
	return ret;
}

/* Is there anything to recover? If so, the oldest job ends with @status. */
static bool tdma_condemn(struct tdma_queue *queue, u32 status)
{
	struct tdma_job *job;
	unsigned long flags;
	bool on;

	spin_lock_irqsave(&queue->lock, flags);
	tdma_queue_reap(queue);
	job = list_first_entry_or_null(&queue->inflight, struct tdma_job,
				       node);
	on = queue->state == TDMA_QUEUE_ON;
	if (on && job)
		job->aborted = status;
	spin_unlock_irqrestore(&queue->lock, flags);
	return on;
}

/*
 * A user queue keeps its indices: its process must not find them at zero. The
 * device ends the jobs one by one. A process that fills the ring as fast as
 * that harms itself only, so what does not end loses the queue, not the device.
 */
static int tdma_recover_user(struct tdma_queue *queue)
{
	const struct tdma_hw *hw = &queue->tdev->hw;
	bool on;

	spin_lock_irq(&queue->lock);
	on = queue->state == TDMA_QUEUE_ON;
	if (on)
		tdma_hw_queue_abort(hw, queue->id);
	spin_unlock_irq(&queue->lock);
	if (!on || !tdma_hw_queue_wait_done(hw, queue->id, queue->watch.done))
		return 0;
	return tdma_disable(queue, TDMA_QUEUE_DEAD);
}

static int tdma_recover_jobs(struct tdma_queue *queue, u32 status)
{
	int ret;

	if (!tdma_condemn(queue, status))
		return 0;
	ret = tdma_disable(queue, TDMA_QUEUE_OFF);
	if (ret)
		return ret;
	tdma_queue_drain(queue);
	return tdma_queue_start(queue);
}

/**
 * tdma_queue_recover - end all jobs of a queue and let it go on, empty
 * @queue: the queue
 * @status: what the oldest job ends with; those behind it, and all of a user
 *	queue, end ABORTED
 *
 * Other queues are not touched. The caller holds the device's lock for reading
 * and has found the device running; it owns the queue or is among its @users.
 * May sleep. On success the device is done with all memory that the jobs
 * named, and the queue is on unless its owner has stopped it, paused if it was.
 *
 * Return: 0, or an error: the device must be reset.
 */
int tdma_queue_recover(struct tdma_queue *queue, u32 status)
{
	int ret;

	mutex_lock(&queue->control);
	ret = queue->user ? tdma_recover_user(queue) :
			    tdma_recover_jobs(queue, status);
	mutex_unlock(&queue->control);
	return ret;
}

/**
 * tdma_queue_room - number of free slots
 * @queue: the queue, lock held
 *
 * Return: the number, 0 if the queue is not on.
 */
u32 tdma_queue_room(const struct tdma_queue *queue)
{
	lockdep_assert_held(&queue->lock);
	if (queue->state != TDMA_QUEUE_ON)
		return 0;
	return tdma_queue_slots(queue) - (queue->tail - queue->head);
}

/**
 * tdma_queue_push - put a job into the ring
 * @queue: the queue, lock held, with room
 * @job: the job
 * @desc: its descriptor
 * @ext: its extension block; used if the descriptor says so
 *
 * The device learns of it with tdma_queue_kick().
 */
void tdma_queue_push(struct tdma_queue *queue, struct tdma_job *job,
		     const struct tdma_desc *desc,
		     const struct tdma_desc_ext *ext)
{
	lockdep_assert_held(&queue->lock);
	job->index = queue->tail;
	job->slots = 1;
	job->aborted = TDMA_STATUS_ABORTED;
	*tdma_queue_slot(queue, job->index) = *desc;
	if (desc->flags & TDMA_DESC_EXT) {
		memcpy(tdma_queue_slot(queue, job->index + 1), ext,
		       sizeof(*ext));
		job->slots = 2;
	}
	queue->tail += job->slots;
	list_add_tail(&job->node, &queue->inflight);
	trace_tdma_job_push(queue, job, desc);
}

/**
 * tdma_queue_kick - tell the device about all jobs pushed so far
 * @queue: the queue, lock held, on
 */
void tdma_queue_kick(struct tdma_queue *queue)
{
	lockdep_assert_held(&queue->lock);
	tdma_hw_doorbell(&queue->tdev->hw, queue->id, queue->tail);
	tdma_watchdog_kick(queue->tdev);
}

/*
 * Status of a job as the device last published it. The device writes status
 * and sequence in one store after everything else: reading the sequence first
 * and the other members later than both never sees a status older than its
 * sequence nor members older than the status.
 */
static u32 tdma_job_status(const struct tdma_queue *queue,
			   const struct tdma_job *job)
{
	const struct tdma_record *record;
	u32 status;

	record = tdma_queue_record(queue, job->index);
	if (READ_ONCE(record->sequence) != job->index + 1)
		return TDMA_STATUS_PENDING;
	dma_rmb();	/* sequence before status */
	status = READ_ONCE(record->status);
	dma_rmb();	/* status before counts */
	return status;
}

/**
 * tdma_queue_reap - hand back the jobs that the device has finished
 * @queue: the queue, lock held
 */
void tdma_queue_reap(struct tdma_queue *queue)
{
	struct tdma_job *job, *next;

	lockdep_assert_held(&queue->lock);
	list_for_each_entry_safe(job, next, &queue->inflight, node) {
		if (tdma_job_status(queue, job) == TDMA_STATUS_PENDING)
			break;
		job->record = *tdma_queue_record(queue, job->index);
		queue->head = job->index + job->slots;
		tdma_job_over(queue, job);
	}
}

/**
 * tdma_queue_progress - how far a job in flight has come
 * @queue: the queue, lock held
 * @job: the job
 * @record: filled in; status PENDING, without a fault
 */
void tdma_queue_progress(const struct tdma_queue *queue,
			 const struct tdma_job *job,
			 struct tdma_record *record)
{
	const struct tdma_record *from;

	lockdep_assert_held(&queue->lock);
	*record = (struct tdma_record) {
		.tag = tdma_queue_slot(queue, job->index)->tag,
		.status = TDMA_STATUS_PENDING,
		.sequence = job->index + 1,
	};
	from = tdma_queue_record(queue, job->index);
	if (READ_ONCE(from->sequence) != job->index + 1)
		return;
	dma_rmb();	/* sequence before counts */
	record->src_done = READ_ONCE(from->src_done);
	record->dst_done = READ_ONCE(from->dst_done);
	record->cycles = READ_ONCE(from->cycles);
	record->stall_backpressure = READ_ONCE(from->stall_backpressure);
	record->stall_throttle = READ_ONCE(from->stall_throttle);
	record->stall_ids = READ_ONCE(from->stall_ids);
}

/**
 * tdma_queue_look - what may a queue have looked up?
 * @queue: a user queue
 * @look: where it stands
 *
 * A descriptor keeps the segments it found when it was fetched until it is
 * retired, and the queue does not say that it is idle meanwhile. When a segment
 * has been cleared, and a look taken after that tells the head, none has it as
 * soon as a look says so: see tdma_look_passed().
 */
void tdma_queue_look(struct tdma_queue *queue, struct tdma_queue_look *look)
{
	const struct tdma_hw *hw = &queue->tdev->hw;
	unsigned long flags;
	u32 state;

	*look = (struct tdma_queue_look) { .idle = true };
	spin_lock_irqsave(&queue->lock, flags);
	if (queue->state == TDMA_QUEUE_ON) {
		look->head = tdma_hw_queue_head(hw, queue->id);
		state = tdma_hw_queue_state(hw, queue->id);
		look->done = tdma_hw_queue_done(hw, queue->id);
		look->idle = state == TDMA_QSTATE_IDLE ||
			     state == TDMA_QSTATE_OFF ||
			     state == TDMA_QSTATE_HALTED ||
			     state == TDMA_HW_GONE;
	}
	spin_unlock_irqrestore(&queue->lock, flags);
}

/**
 * tdma_queue_service - what there is to do after an interrupt
 * @queue: the queue, lock held
 */
void tdma_queue_service(struct tdma_queue *queue)
{
	if (queue->ops->service) {
		queue->ops->service(queue);
		return;
	}
	if (list_empty(&queue->inflight))
		return;
	tdma_queue_reap(queue);
	queue->ops->event(queue);
}

/**
 * tdma_vector_interrupt - MSI-X handler
 * @irq: unused
 * @data: &struct tdma_vector
 *
 * Reads memory only: the records say everything, and a register read would
 * cost more than the rest. Messages are edges; a completion that comes after
 * its record was looked at raises the next one.
 *
 * Return: IRQ_HANDLED.
 */
irqreturn_t tdma_vector_interrupt(int irq, void *data)
{
	struct tdma_vector *vector = data;
	struct tdma_queue *queue;

	spin_lock(&vector->lock);
	list_for_each_entry(queue, &vector->queues, vector_node) {
		spin_lock(&queue->lock);
		tdma_queue_service(queue);
		spin_unlock(&queue->lock);
	}
	spin_unlock(&vector->lock);
	return IRQ_HANDLED;
}
