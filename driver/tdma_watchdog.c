// SPDX-License-Identifier: GPL-2.0-only
/*
 * Watchdog: does without an interrupt what the interrupt would do, and ends
 * what would never end.
 *
 * While jobs are in flight it looks at every queue now and then. A queue hangs
 * if at every look for hang_timeout_ms its work waited for memory and neither
 * its elements nor its descriptors got on. One that is slow moves; one that is
 * paused or kept from its thread by others does not wait for memory. Time in
 * which nobody looked does not count: a machine that was stopped or busy finds
 * its queues as it left them.
 *
 * A queue that hangs is recovered by itself; other files do not notice. If it
 * cannot be, or has stopped on its own, the device is reset.
 */
#include <linux/jiffies.h>
#include <linux/module.h>

#include "tdma_coredump.h"
#include "tdma_device.h"
#include "tdma_queue.h"
#include "tdma_watchdog.h"

/* Looks per timeout: one alone would prove nothing */
#define TDMA_WATCHDOG_LOOKS	4

static unsigned int hang_timeout_ms = 5000;
module_param(hang_timeout_ms, uint, 0644);
MODULE_PARM_DESC(hang_timeout_ms,
		 "a queue without progress for so long is recovered (0 = never, default 5000)");

static unsigned long tdma_watchdog_period(const struct tdma_device *tdev)
{
	unsigned int timeout = READ_ONCE(hang_timeout_ms);

	if (tdev->polled)
		return 1;
	if (!timeout)
		return HZ;
	return clamp_t(unsigned long,
		       msecs_to_jiffies(timeout) / TDMA_WATCHDOG_LOOKS, 1, HZ);
}

/* A queue with work that is off or halted on its own will never finish it. */
static bool tdma_queue_stopped(const struct tdma_queue *queue)
{
	u32 state = tdma_hw_queue_state(&queue->tdev->hw, queue->id);

	return state == TDMA_QSTATE_OFF || state == TDMA_QSTATE_HALTED ||
	       state == TDMA_HW_GONE;
}

static bool tdma_queue_moved(struct tdma_queue *queue)
{
	struct tdma_queue_watch *watch = &queue->watch;
	const struct tdma_hw *hw = &queue->tdev->hw;
	u64 progress = tdma_hw_queue_progress(hw, queue->id);
	u32 done = tdma_hw_queue_done(hw, queue->id);
	bool moved = progress != watch->progress || done != watch->done ||
		     tdma_hw_queue_waits(hw, queue->id) != TDMA_QWAIT_MEMORY;

	watch->progress = progress;
	watch->done = done;
	return moved;
}

/* One look at a queue with work. Returns true if it hangs. */
static bool tdma_queue_hangs(struct tdma_queue *queue, unsigned long period)
{
	unsigned int timeout = READ_ONCE(hang_timeout_ms);

	if (!timeout || tdma_queue_moved(queue)) {
		queue->watch.still = 0;
		return false;
	}
	queue->watch.still += period;
	return queue->watch.still >= msecs_to_jiffies(timeout);
}

/**
 * struct tdma_look - what a look at all queues found
 * @busy: there are jobs in flight, or may be, in a user queue
 * @stopped: a queue has stopped on its own
 * @hung: a queue that hangs, counted among its users, or NULL
 */
struct tdma_look {
	bool busy;
	bool stopped;
	struct tdma_queue *hung;
};

/* Nobody tells when a process puts work into its queue. */
static bool tdma_queue_busy(const struct tdma_queue *queue)
{
	return queue->user ? queue->state == TDMA_QUEUE_ON :
			     !list_empty(&queue->inflight);
}

static void tdma_look_at_queue(struct tdma_queue *queue, unsigned long period,
			       struct tdma_look *look)
{
	tdma_queue_service(queue);
	if (!tdma_queue_busy(queue)) {
		queue->watch.still = 0;
		return;
	}
	look->busy = true;
	if (queue->state != TDMA_QUEUE_ON)
		return;
	/* A process that halts its queue has it halted. */
	if (!queue->user && tdma_queue_stopped(queue)) {
		look->stopped = true;
	} else if (tdma_queue_hangs(queue, period) && !look->hung) {
		atomic_inc(&queue->users);
		look->hung = queue;
	}
}

static void tdma_look_at_vector(struct tdma_vector *vector,
				unsigned long period, struct tdma_look *look)
{
	struct tdma_queue *queue;
	unsigned long flags;

	spin_lock_irqsave(&vector->lock, flags);
	list_for_each_entry(queue, &vector->queues, vector_node) {
		spin_lock(&queue->lock);
		tdma_look_at_queue(queue, period, look);
		spin_unlock(&queue->lock);
	}
	spin_unlock_irqrestore(&vector->lock, flags);
}

/* Returns true if the queue goes on. */
static bool tdma_recover(struct tdma_device *tdev, struct tdma_queue *queue)
{
	int ret;

	dev_err(&tdev->pdev->dev,
		"queue %u has not moved for %u ms after %llu elements, recovering it\n",
		queue->id, jiffies_to_msecs(queue->watch.still),
		queue->watch.progress);
	tdma_coredump(queue);
	ret = tdma_queue_recover(queue, TDMA_STATUS_TIMEOUT);
	if (!ret)
		atomic_inc(&tdev->recoveries);
	return !ret;
}

static void tdma_watchdog(struct work_struct *work)
{
	struct tdma_device *tdev = container_of(to_delayed_work(work),
						struct tdma_device, watchdog);
	unsigned long period = tdma_watchdog_period(tdev);
	struct tdma_look look = { };
	bool healthy = true;
	unsigned int i;
	u32 generation;

	down_read(&tdev->lock);
	generation = tdev->generation;
	if (tdev->state == TDMA_RUNNING)
		for (i = 0; i < tdev->nr_vectors; i++)
			tdma_look_at_vector(&tdev->vectors[i], period, &look);
	if (look.hung) {
		healthy = tdma_recover(tdev, look.hung);
		tdma_queue_put(look.hung);
	}
	up_read(&tdev->lock);

	if (look.stopped || !healthy) {
		dev_err(&tdev->pdev->dev, "a queue %s, resetting the device\n",
			look.stopped ? "stopped on its own" :
				       "cannot be recovered");
		tdma_device_reset(tdev, generation);
	} else if (look.busy) {
		queue_delayed_work(tdev->wq, &tdev->watchdog, period);
	}
}

/**
 * tdma_watchdog_init - prepare the watchdog
 * @tdev: the device
 */
void tdma_watchdog_init(struct tdma_device *tdev)
{
	INIT_DELAYED_WORK(&tdev->watchdog, tdma_watchdog);
}

/**
 * tdma_watchdog_kick - there are jobs in flight; callable in any context
 * @tdev: the device
 */
void tdma_watchdog_kick(struct tdma_device *tdev)
{
	queue_delayed_work(tdev->wq, &tdev->watchdog,
			   tdma_watchdog_period(tdev));
}

/**
 * tdma_watchdog_stop - end it; returns when it does not run any more
 * @tdev: the device, all of whose queues are off
 */
void tdma_watchdog_stop(struct tdma_device *tdev)
{
	cancel_delayed_work_sync(&tdev->watchdog);
}
