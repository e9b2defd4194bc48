// SPDX-License-Identifier: GPL-2.0-only
/*
 * The trace ring of a DMA thread: memory that the device writes while the ring
 * is on, and that is given back only when it writes it no more.
 *
 * A device that has been reset since, or is gone, does not know of the ring.
 */
#include <linux/dma-mapping.h>
#include <linux/uaccess.h>

#include "tdma_device.h"
#include "tdma_tracering.h"

static size_t tdma_tracering_bytes(const struct tdma_tracering *ring)
{
	return sizeof(*ring->entries) << ring->order;
}

static u32 tdma_tracering_reg(const struct tdma_tracering *ring, u32 reg)
{
	return tdma_hw_thread_read(&ring->tdev->hw, ring->thread, reg);
}

static void tdma_tracering_set(const struct tdma_tracering *ring, u32 reg,
			       u32 value)
{
	tdma_hw_thread_write(&ring->tdev->hw, ring->thread, reg, value);
}

static void tdma_tracering_free(struct tdma_tracering *ring)
{
	dma_free_coherent(&ring->tdev->pdev->dev, tdma_tracering_bytes(ring),
			  ring->entries, ring->addr);
	ring->entries = NULL;
}

/**
 * tdma_tracering_init - there is no ring yet
 * @ring: the ring
 * @tdev: the device
 * @thread: the thread
 */
void tdma_tracering_init(struct tdma_tracering *ring, struct tdma_device *tdev,
			 u32 thread)
{
	ring->tdev = tdev;
	ring->thread = thread;
	mutex_init(&ring->lock);
}

static int tdma_tracering_stop_locked(struct tdma_tracering *ring)
{
	struct tdma_device *tdev = ring->tdev;
	int ret = 0;

	lockdep_assert_held(&ring->lock);
	if (!ring->entries)
		return 0;
	down_read(&tdev->lock);
	if (tdma_device_usable(tdev, ring->generation))
		ret = tdma_hw_trace_stop(&tdev->hw, ring->thread);
	up_read(&tdev->lock);
	if (!ret)
		tdma_tracering_free(ring);
	return ret;
}

/**
 * tdma_tracering_stop - end the trace and give its memory back
 * @ring: the ring
 *
 * Return: 0, also if there was none, or -ETIMEDOUT: the device may still
 * write, and keeps the memory.
 */
int tdma_tracering_stop(struct tdma_tracering *ring)
{
	int ret;

	mutex_lock(&ring->lock);
	ret = tdma_tracering_stop_locked(ring);
	mutex_unlock(&ring->lock);
	return ret;
}

static int tdma_tracering_arm(struct tdma_tracering *ring, u32 events)
{
	struct tdma_device *tdev = ring->tdev;
	int ret = -ENODEV;

	down_read(&tdev->lock);
	if (tdev->state == TDMA_RUNNING) {
		ring->generation = tdev->generation;
		ret = tdma_hw_trace_start(&tdev->hw, ring->thread, ring->addr,
					  ring->order, events);
	}
	up_read(&tdev->lock);
	return ret;
}

/**
 * tdma_tracering_start - begin a trace, in place of any there was
 * @ring: the ring
 * @order: log2 of its entries
 * @events: bit n: event n goes into it
 *
 * Return: 0, -EINVAL, -ENOMEM, -ENODEV, -EIO if the device refuses it, or an
 * error of tdma_tracering_stop().
 */
int tdma_tracering_start(struct tdma_tracering *ring, u32 order, u32 events)
{
	int ret;

	if (!order || order > TDMA_TRACERING_ORDER_MAX ||
	    !events || events & ~TDMA_TRACE_ALL)
		return -EINVAL;

	mutex_lock(&ring->lock);
	ret = tdma_tracering_stop_locked(ring);
	if (ret)
		goto unlock;
	ring->order = order;
	ring->tail = 0;
	ring->entries = dma_alloc_coherent(&ring->tdev->pdev->dev,
					   tdma_tracering_bytes(ring),
					   &ring->addr,
					   GFP_KERNEL | __GFP_NOWARN);
	if (!ring->entries) {
		ret = -ENOMEM;
		goto unlock;
	}
	ret = tdma_tracering_arm(ring, events);
	if (ret)
		tdma_tracering_free(ring);
unlock:
	mutex_unlock(&ring->lock);
	return ret;
}

/**
 * tdma_tracering_info - see what a ring is doing
 * @ring: the ring
 * @info: filled in
 *
 * Return: 0, or -ENODEV while the device cannot be used.
 */
int tdma_tracering_info(struct tdma_tracering *ring,
			struct tdma_tracering_info *info)
{
	struct tdma_device *tdev = ring->tdev;
	int ret = -ENODEV;

	mutex_lock(&ring->lock);
	down_read(&tdev->lock);
	if (tdev->state == TDMA_RUNNING) {
		info->state = tdma_tracering_reg(ring, TDMA_THREAD_TRACE_STATE);
		info->order = tdma_tracering_reg(ring, TDMA_THREAD_TRACE_ORDER);
		info->events = tdma_tracering_reg(ring,
						  TDMA_THREAD_TRACE_EVENTS);
		info->head = tdma_tracering_reg(ring, TDMA_THREAD_TRACE_HEAD);
		info->lost = tdma_hw_thread_read64(&tdev->hw, ring->thread,
						   TDMA_THREAD_TRACE_LOST);
		ret = 0;
	}
	up_read(&tdev->lock);
	mutex_unlock(&ring->lock);
	return ret;
}

/* Entries that are in memory; 0 once the device does not know the ring. */
static u32 tdma_tracering_available(struct tdma_tracering *ring)
{
	u32 available = 0;

	down_read(&ring->tdev->lock);
	if (tdma_device_usable(ring->tdev, ring->generation))
		available = tdma_tracering_reg(ring, TDMA_THREAD_TRACE_HEAD) -
			    ring->tail;
	up_read(&ring->tdev->lock);
	/* All ones from a device that is gone. */
	return available <= 1U << ring->order ? available : 0;
}

static void tdma_tracering_consume(struct tdma_tracering *ring, u32 count)
{
	ring->tail += count;
	down_read(&ring->tdev->lock);
	if (tdma_device_usable(ring->tdev, ring->generation))
		tdma_tracering_set(ring, TDMA_THREAD_TRACE_TAIL, ring->tail);
	up_read(&ring->tdev->lock);
}

/* The entries in one piece that are there and fit into @count bytes. */
static ssize_t tdma_tracering_read_locked(struct tdma_tracering *ring,
					  char __user *to, size_t count)
{
	u32 size = 1U << ring->order, first = ring->tail & (size - 1);
	size_t entries;

	lockdep_assert_held(&ring->lock);
	entries = min_t(size_t, tdma_tracering_available(ring), size - first);
	entries = min_t(size_t, entries, count / sizeof(*ring->entries));
	if (!entries)
		return 0;
	/* The entries were written before HEAD said so. */
	dma_rmb();
	if (copy_to_user(to, &ring->entries[first],
			 entries * sizeof(*ring->entries)))
		return -EFAULT;
	tdma_tracering_consume(ring, entries);
	return entries * sizeof(*ring->entries);
}

/**
 * tdma_tracering_read - take whole entries out of a ring
 * @ring: the ring
 * @to: where to
 * @count: bytes there
 *
 * Return: bytes, 0 if there is nothing to read now, -EINVAL if not even one
 * entry fits, -EFAULT, -EINTR.
 */
ssize_t tdma_tracering_read(struct tdma_tracering *ring, char __user *to,
			    size_t count)
{
	ssize_t ret = 0;

	if (count < sizeof(*ring->entries))
		return -EINVAL;
	if (mutex_lock_interruptible(&ring->lock))
		return -EINTR;
	if (ring->entries)
		ret = tdma_tracering_read_locked(ring, to, count);
	mutex_unlock(&ring->lock);
	return ret;
}
