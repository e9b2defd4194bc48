// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fences: what others wait for instead of a job.
 *
 * A fence refers to nothing of the driver but its code, so that it may outlive
 * the file and the device, and keeps the module in memory; whoever made it ends
 * it exactly once.
 */
#include <linux/dma-fence.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "tdma_fence.h"

/**
 * struct tdma_fence - a fence
 * @base: as others know it
 * @lock: the lock that @base wants
 */
struct tdma_fence {
	struct dma_fence base;
	spinlock_t lock;	/* of @base */
};

static const char *tdma_fence_driver_name(struct dma_fence *fence)
{
	return "tensordma";
}

static const char *tdma_fence_timeline_name(struct dma_fence *fence)
{
	return "queue";
}

static void tdma_fence_free(struct rcu_head *rcu)
{
	struct dma_fence *fence = container_of(rcu, struct dma_fence, rcu);

	kfree(container_of(fence, struct tdma_fence, base));
	module_put(THIS_MODULE);
}

static void tdma_fence_release(struct dma_fence *fence)
{
	/* Keeps tdma_fence_free() from coming before the return. */
	rcu_read_lock();
	call_rcu(&fence->rcu, tdma_fence_free);
	rcu_read_unlock();
}

static const struct dma_fence_ops tdma_fence_ops = {
	.get_driver_name = tdma_fence_driver_name,
	.get_timeline_name = tdma_fence_timeline_name,
	.release = tdma_fence_release,
};

/**
 * tdma_fence_new - make a fence
 *
 * Each has a timeline of its own: which of two calls is first is decided later.
 *
 * Return: the fence with one reference, or NULL.
 */
struct dma_fence *tdma_fence_new(void)
{
	struct tdma_fence *fence;

	fence = kzalloc(sizeof(*fence), GFP_KERNEL_ACCOUNT);
	if (!fence)
		return NULL;
	/* An open file leads here: the module is in use already. */
	__module_get(THIS_MODULE);
	spin_lock_init(&fence->lock);
	dma_fence_init(&fence->base, &tdma_fence_ops, &fence->lock,
		       dma_fence_context_alloc(1), 1);
	return &fence->base;
}

/**
 * tdma_fence_end - signal a fence and drop the reference to it
 * @fence: the fence; any context
 * @error: 0 or a negative errno
 */
void tdma_fence_end(struct dma_fence *fence, int error)
{
	if (error)
		dma_fence_set_error(fence, error);
	dma_fence_signal(fence);
	dma_fence_put(fence);
}

/**
 * tdma_fences_flush - wait until the code of freed fences is not used any more
 *
 * To be called when the module is about to go.
 */
void tdma_fences_flush(void)
{
	rcu_barrier();
}
