// SPDX-License-Identifier: GPL-2.0-only
/*
 * State of the device as a whole: start, reset, end.
 */
#include <linux/genalloc.h>
#include <linux/slab.h>

#include "tdma_counters.h"
#include "tdma_device.h"
#include "tdma_queue.h"
#include "tdma_recovery.h"
#include "tdma_watchdog.h"

static DEFINE_IDA(tdma_device_ids);

/**
 * tdma_device_alloc - allocate the software side of a device
 * @pdev: its PCI function
 *
 * The state is %TDMA_GONE until tdma_device_start().
 *
 * Return: the device with one reference, or NULL.
 */
struct tdma_device *tdma_device_alloc(struct pci_dev *pdev)
{
	struct tdma_device *tdev;
	unsigned int i;

	tdev = kzalloc(sizeof(*tdev), GFP_KERNEL);
	if (!tdev)
		return NULL;
	tdev->index = ida_alloc(&tdma_device_ids, GFP_KERNEL);
	if (tdev->index < 0)
		goto err_free;
	tdev->wq = alloc_workqueue("tensordma%d", WQ_UNBOUND, 0, tdev->index);
	if (!tdev->wq)
		goto err_free_id;

	kref_init(&tdev->ref);
	tdev->pdev = pci_dev_get(pdev);
	init_rwsem(&tdev->lock);
	tdev->state = TDMA_GONE;
	ida_init(&tdev->queue_ids);
	ida_init(&tdev->context_ids);
	for (i = 0; i < TDMA_MAX_VECTORS; i++) {
		spin_lock_init(&tdev->vectors[i].lock);
		INIT_LIST_HEAD(&tdev->vectors[i].queues);
	}
	tdma_watchdog_init(tdev);
	tdma_recovery_init(tdev);
	mutex_init(&tdev->files_lock);
	INIT_LIST_HEAD(&tdev->files);
	mutex_init(&tdev->buffers_lock);
	INIT_LIST_HEAD(&tdev->buffers);
	init_rwsem(&tdev->map_lock);
	snprintf(tdev->misc_name, sizeof(tdev->misc_name), TDMA_NAME "%d",
		 tdev->index);
	return tdev;

err_free_id:
	ida_free(&tdma_device_ids, tdev->index);
err_free:
	kfree(tdev);
	return NULL;
}

static void tdma_device_free(struct kref *ref)
{
	struct tdma_device *tdev = container_of(ref, struct tdma_device, ref);

	destroy_workqueue(tdev->wq);
	if (tdev->hbm_pool)
		gen_pool_destroy(tdev->hbm_pool);
	tdma_counters_put(tdev->counters);
	ida_destroy(&tdev->queue_ids);
	ida_destroy(&tdev->context_ids);
	pci_dev_put(tdev->pdev);
	kfree(tdev);
}

/**
 * tdma_device_release_name - N may go to another device
 * @tdev: the device, without a device node
 *
 * Files may keep the device long after it is gone; its successor in the same
 * slot shall have its name nevertheless.
 */
void tdma_device_release_name(struct tdma_device *tdev)
{
	ida_free(&tdma_device_ids, tdev->index);
}

/**
 * tdma_device_get - take a reference
 * @tdev: the device
 */
void tdma_device_get(struct tdma_device *tdev)
{
	kref_get(&tdev->ref);
}

/**
 * tdma_device_put - drop a reference
 * @tdev: the device
 */
void tdma_device_put(struct tdma_device *tdev)
{
	kref_put(&tdev->ref, tdma_device_free);
}

typedef void (*tdma_queue_fn)(struct tdma_queue *queue, enum tdma_state state);

static void tdma_apply_to_queues(struct tdma_device *tdev,
				 enum tdma_state state, tdma_queue_fn fn)
{
	struct tdma_vector *vector;
	struct tdma_queue *queue;
	unsigned long flags;
	unsigned int i;

	for (i = 0; i < tdev->nr_vectors; i++) {
		vector = &tdev->vectors[i];
		spin_lock_irqsave(&vector->lock, flags);
		list_for_each_entry(queue, &vector->queues, vector_node)
			fn(queue, state);
		spin_unlock_irqrestore(&vector->lock, flags);
	}
}

static void tdma_queue_silence(struct tdma_queue *queue, enum tdma_state state)
{
	tdma_queue_off(queue, queue->survives_reset && state != TDMA_GONE ?
			      TDMA_QUEUE_OFF : TDMA_QUEUE_DEAD);
}

static void tdma_queue_end_jobs(struct tdma_queue *queue, enum tdma_state state)
{
	tdma_queue_drain(queue);
}

static void tdma_queue_revive(struct tdma_queue *queue, enum tdma_state state)
{
	if (!queue->survives_reset)
		return;
	if (tdma_queue_start(queue))
		dev_err(&queue->tdev->pdev->dev,
			"queue %u does not start after a reset\n", queue->id);
}

/* Returns true if nothing of earlier descriptors moves any more. */
static bool tdma_silence_hw(struct tdma_device *tdev)
{
	if (!tdma_hw_present(&tdev->hw)) {
		/* Gone, or cut off by error handling; it may come back. */
		pci_clear_master(tdev->pdev);
		return true;
	}
	if (!tdma_hw_reset(&tdev->hw))
		return true;
	dev_err(&tdev->pdev->dev, "the device cannot be reset\n");
	pci_clear_master(tdev->pdev);
	return false;
}

/*
 * Stop everything. A device that cannot even be reset loses its right to
 * master the bus, for ever: memory that is about to be released must not be
 * written.
 */
static void tdma_quiesce_locked(struct tdma_device *tdev, enum tdma_state state)
{
	lockdep_assert_held_write(&tdev->lock);
	tdma_counters_off(tdev->counters);
	tdma_apply_to_queues(tdev, state, tdma_queue_silence);
	if (!tdma_silence_hw(tdev)) {
		state = TDMA_GONE;
		tdma_apply_to_queues(tdev, state, tdma_queue_silence);
	}
	tdev->state = state;
	tdma_apply_to_queues(tdev, state, tdma_queue_end_jobs);
}

/* The hardware is not in use; from here on it never will be again. */
static void tdma_give_up_locked(struct tdma_device *tdev)
{
	lockdep_assert_held_write(&tdev->lock);
	tdma_apply_to_queues(tdev, TDMA_GONE, tdma_queue_silence);
	tdev->state = TDMA_GONE;
	tdma_apply_to_queues(tdev, TDMA_GONE, tdma_queue_end_jobs);
}

static void tdma_enable(struct tdma_device *tdev)
{
	pci_set_master(tdev->pdev);
	tdma_counters_on(tdev->counters);
	tdma_context_program(&tdev->kernel_context);
	tdma_hw_enable(&tdev->hw, true);
}

static int tdma_restart_locked(struct tdma_device *tdev)
{
	struct tdma_hw hw;
	int ret;

	lockdep_assert_held_write(&tdev->lock);
	ret = tdma_hw_init(&hw, tdev->hw.regs);
	if (ret) {
		dev_err(&tdev->pdev->dev, "no sign of life after a reset\n");
		tdma_give_up_locked(tdev);
		return ret;
	}
	tdma_enable(tdev);
	tdev->generation++;
	tdev->state = TDMA_RUNNING;
	tdma_apply_to_queues(tdev, TDMA_RUNNING, tdma_queue_revive);
	return 0;
}

/**
 * tdma_device_start - first start, after the hardware has been found
 * @tdev: the device
 *
 * Return: 0 or an error of tdma_hw_reset().
 */
int tdma_device_start(struct tdma_device *tdev)
{
	int ret;

	/* A kernel before this one may have left queues running (kexec). */
	ret = tdma_hw_reset(&tdev->hw);
	if (ret)
		return ret;

	down_write(&tdev->lock);
	tdma_enable(tdev);
	tdev->state = TDMA_RUNNING;
	up_write(&tdev->lock);
	return 0;
}

/**
 * tdma_device_quiesce - stop the device and end all jobs
 * @tdev: the device
 * @state: %TDMA_RESETTING if tdma_device_restart() follows, else %TDMA_GONE
 *
 * When this returns the device moves nothing, registers are no longer used,
 * and every job has been handed back.
 */
void tdma_device_quiesce(struct tdma_device *tdev, enum tdma_state state)
{
	down_write(&tdev->lock);
	if (tdev->state == TDMA_RUNNING)
		tdma_quiesce_locked(tdev, state);
	else if (state == TDMA_GONE)
		tdma_give_up_locked(tdev);
	up_write(&tdev->lock);
}

/**
 * tdma_device_restart - go on after tdma_device_quiesce()
 * @tdev: the device
 *
 * Files opened before stay dead; dmaengine channels live on.
 *
 * Return: 0, or -ENODEV if the device does not come back.
 */
int tdma_device_restart(struct tdma_device *tdev)
{
	int ret = 0;

	down_write(&tdev->lock);
	if (tdev->state == TDMA_RESETTING)
		ret = tdma_restart_locked(tdev);
	up_write(&tdev->lock);
	return ret;
}

/**
 * tdma_device_reset - reset the device because something hangs
 * @tdev: the device
 * @generation: generation in which it hung; nothing is done in a later one
 */
void tdma_device_reset(struct tdma_device *tdev, u32 generation)
{
	down_write(&tdev->lock);
	if (tdma_device_usable(tdev, generation)) {
		tdma_quiesce_locked(tdev, TDMA_RESETTING);
		if (tdev->state == TDMA_RESETTING)
			tdma_restart_locked(tdev);
	}
	up_write(&tdev->lock);
}
