/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Queue layer: rings of descriptors, completion records, and what becomes of
 * each descriptor. Owners (dmaengine channels, open files) embed a
 * struct tdma_queue and give it struct tdma_job's; each job comes back exactly
 * once, through ops->done, in the order of submission.
 */
#ifndef TDMA_QUEUE_H
#define TDMA_QUEUE_H

#include <linux/interrupt.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/tensordma_desc.h>

#include "tdma_hw.h"

struct tdma_device;
struct tdma_queue;
struct tdma_vector;

/**
 * struct tdma_job - a descriptor in a ring
 * @node: in tdma_queue.inflight
 * @index: ring index of the descriptor
 * @slots: slots it takes: 1, or 2 with an extension block
 * @aborted: status to give it if it is aborted
 * @record: final state, valid when ops->done is called
 */
struct tdma_job {
	struct list_head node;
	u32 index;
	u32 slots;
	u32 aborted;
	struct tdma_record record;
};

/**
 * struct tdma_queue_ops - what the owner of a queue wants to know
 * @done: a job is over; it belongs to the owner again
 * @event: something may have changed: jobs done, progress, or the queue went
 *	on or off. Comes after the @done calls it belongs to
 *
 * @service: an interrupt came, for this queue or for one beside it; NULL for
 *	queues whose jobs are of the kernel's making
 *
 * All are called with the queue's lock held and interrupts off.
 */
struct tdma_queue_ops {
	void (*done)(struct tdma_queue *queue, struct tdma_job *job);
	void (*event)(struct tdma_queue *queue);
	void (*service)(struct tdma_queue *queue);
};

/**
 * struct tdma_queue_memory - a ring and records that the owner provides
 * @order: log2 of the number of slots
 * @ring: slots
 * @records: completion records
 * @ring_dma: bus address of @ring
 * @records_dma: bus address of @records
 */
struct tdma_queue_memory {
	u32 order;
	struct tdma_desc *ring;
	struct tdma_record *records;
	dma_addr_t ring_dma;
	dma_addr_t records_dma;
};

/**
 * enum tdma_queue_state - does the queue take jobs?
 * @TDMA_QUEUE_OFF: not now; may come back after a reset or recovery
 * @TDMA_QUEUE_ON: yes
 * @TDMA_QUEUE_DEAD: never again
 */
enum tdma_queue_state {
	TDMA_QUEUE_OFF,
	TDMA_QUEUE_ON,
	TDMA_QUEUE_DEAD,
};

/**
 * struct tdma_queue_watch - what the watchdog remembers of a queue
 * @progress: elements moved
 * @done: slots retired
 * @still: jiffies for which both have been the same
 */
struct tdma_queue_watch {
	u64 progress;
	u32 done;
	unsigned long still;
};

/**
 * struct tdma_queue - a hardware queue
 * @tdev: the device
 * @ops: the owner
 * @vector: interrupt that serves the queue
 * @vector_node: in tdma_vector.queues
 * @id: number of the hardware queue
 * @survives_reset: restart the queue after a device reset
 * @user: ring and records belong to the owner, and a process fills the ring
 * @hw: register values; @hw.paused is protected by @lock
 * @users: who looks at the queue without owning it; tdma_queue_fini() waits
 * @control: held while the queue is stopped or recovered
 * @lock: protects what follows, and the hardware queue
 * @state: &enum tdma_queue_state; registers may be used only when ON
 * @inflight: jobs, oldest first
 * @head: index of the oldest slot in use
 * @tail: index after the newest
 * @ring: slots, 1 << hw.order of them
 * @records: completion records, as many
 * @watch: of the watchdog
 */
struct tdma_queue {
	struct tdma_device *tdev;
	const struct tdma_queue_ops *ops;
	struct tdma_vector *vector;
	struct list_head vector_node;
	u32 id;
	bool survives_reset;
	bool user;
	struct tdma_hw_queue hw;
	atomic_t users;
	struct mutex control;	/* one stop or recovery at a time */

	spinlock_t lock;	/* all of the rest */
	enum tdma_queue_state state;
	struct list_head inflight;
	u32 head;
	u32 tail;
	struct tdma_desc *ring;
	struct tdma_record *records;
	struct tdma_queue_watch watch;
};

/**
 * struct tdma_queue_look - how far a user queue has come
 * @idle: nothing is in flight or being fetched
 * @head: slot that is fetched next, or just now
 * @done: slots retired
 */
struct tdma_queue_look {
	bool idle;
	u32 head;
	u32 done;
};

/**
 * tdma_look_passed - does no descriptor keep what was cleared at a mark?
 * @look: a look taken later
 * @mark: the head at that time
 *
 * Return: true if so.
 */
static inline bool tdma_look_passed(const struct tdma_queue_look *look,
				    u32 mark)
{
	return look->idle || (s32)(look->done - mark) > 0;
}

int tdma_queue_init(struct tdma_queue *queue, struct tdma_device *tdev,
		    const struct tdma_queue_ops *ops, u32 id, u32 context,
		    u32 thread);
void tdma_queue_init_user(struct tdma_queue *queue, struct tdma_device *tdev,
			  const struct tdma_queue_ops *ops, u32 id,
			  u32 context, const struct tdma_queue_memory *memory);
void tdma_queue_fini(struct tdma_queue *queue);

int tdma_queue_start(struct tdma_queue *queue);
int tdma_queue_stop(struct tdma_queue *queue);
int tdma_queue_set_priority(struct tdma_queue *queue, u32 priority);
int tdma_queue_recover(struct tdma_queue *queue, u32 status);
void tdma_queue_put(struct tdma_queue *queue);
void tdma_queue_off(struct tdma_queue *queue, enum tdma_queue_state state);
void tdma_queue_drain(struct tdma_queue *queue);

u32 tdma_queue_room(const struct tdma_queue *queue);
void tdma_queue_push(struct tdma_queue *queue, struct tdma_job *job,
		     const struct tdma_desc *desc,
		     const struct tdma_desc_ext *ext);
void tdma_queue_kick(struct tdma_queue *queue);
void tdma_queue_reap(struct tdma_queue *queue);
void tdma_queue_look(struct tdma_queue *queue, struct tdma_queue_look *look);
void tdma_queue_service(struct tdma_queue *queue);
void tdma_queue_progress(const struct tdma_queue *queue,
			 const struct tdma_job *job,
			 struct tdma_record *record);

irqreturn_t tdma_vector_interrupt(int irq, void *data);

#endif /* TDMA_QUEUE_H */
