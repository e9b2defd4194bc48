// SPDX-License-Identifier: GPL-2.0-only
/*
 * dmaengine provider: configure, pause, resume, terminate, synchronize.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>

#include "tdma_chan.h"
#include "tdma_device.h"

#define TDMA_SYNC_TIMEOUT_MS	5000

/* Transfers that are prepared already do not change. */
int tdma_config(struct dma_chan *dchan, struct dma_slave_config *config)
{
	struct tdma_chan *chan = to_tdma_chan(dchan);
	const enum dma_slave_buswidth src = config->src_addr_width;
	const enum dma_slave_buswidth dst = config->dst_addr_width;
	unsigned long flags;

	/* A side that is not used need not be given. */
	if ((src && !tdma_width_ok(src)) || (dst && !tdma_width_ok(dst)))
		return -EINVAL;
	spin_lock_irqsave(&chan->queue.lock, flags);
	chan->config = *config;
	spin_unlock_irqrestore(&chan->queue.lock, flags);
	return 0;
}

/* What a reset or a recovery is ending still moves: there is no pause then. */
int tdma_pause(struct dma_chan *dchan)
{
	struct tdma_queue *queue = &to_tdma_chan(dchan)->queue;
	unsigned long flags;
	int ret = -ENODEV;

	spin_lock_irqsave(&queue->lock, flags);
	if (queue->state == TDMA_QUEUE_OFF)
		ret = -EBUSY;
	else if (queue->state == TDMA_QUEUE_ON)
		ret = tdma_hw_queue_pause(&queue->tdev->hw, queue->id);
	if (!ret)
		queue->hw.paused = true;
	else if (ret == -ETIMEDOUT)
		tdma_hw_queue_unpause(&queue->tdev->hw, queue->id);
	spin_unlock_irqrestore(&queue->lock, flags);
	return ret;
}

int tdma_resume(struct dma_chan *dchan)
{
	struct tdma_queue *queue = &to_tdma_chan(dchan)->queue;
	unsigned long flags;
	int ret = 0;

	spin_lock_irqsave(&queue->lock, flags);
	if (!queue->hw.paused)
		ret = -EINVAL;
	else if (queue->state == TDMA_QUEUE_DEAD)
		ret = -ENODEV;
	else if (queue->state == TDMA_QUEUE_ON)
		tdma_hw_queue_unpause(&queue->tdev->hw, queue->id);
	if (!ret)
		queue->hw.paused = false;
	spin_unlock_irqrestore(&queue->lock, flags);
	return ret;
}

/* Terminate the transfers of a list, oldest first. */
static void tdma_doom(struct tdma_chan *chan, struct list_head *list)
{
	struct tdma_tx *tx, *next;

	list_for_each_entry_safe(tx, next, list, node) {
		tx->doomed = true;
		tx->nr = tx->pushed;
		if (tx->ended < tx->pushed) {
			list_move_tail(&tx->node, &chan->doomed);
		} else {
			list_del(&tx->node);
			tdma_tx_put(chan, tx);
		}
	}
}

/* End what the hardware is doing, and a pause with it. */
static void tdma_chan_abort(struct tdma_chan *chan)
{
	struct tdma_queue *queue = &chan->queue;

	if (queue->state == TDMA_QUEUE_ON) {
		if (!list_empty(&queue->inflight)) {
			tdma_hw_queue_abort(&queue->tdev->hw, queue->id);
			chan->aborting = true;
		} else if (queue->hw.paused) {
			tdma_hw_queue_unpause(&queue->tdev->hw, queue->id);
		}
	}
	queue->hw.paused = false;
}

/*
 * Transfers that are prepared and not submitted stay: another user of the
 * channel may be about to submit one. They go with the channel's resources.
 */
int tdma_terminate_all(struct dma_chan *dchan)
{
	struct tdma_chan *chan = to_tdma_chan(dchan);
	unsigned long flags;

	spin_lock_irqsave(&chan->queue.lock, flags);
	chan->telling = NULL;
	tdma_doom(chan, &chan->completed);
	tdma_doom(chan, &chan->active);
	tdma_doom(chan, &chan->issued);
	tdma_doom(chan, &chan->submitted);
	tdma_cookie_retire_all(chan);
	tdma_chan_abort(chan);
	spin_unlock_irqrestore(&chan->queue.lock, flags);
	return 0;
}

static bool tdma_chan_has_doomed(struct tdma_chan *chan)
{
	unsigned long flags;
	bool busy;

	spin_lock_irqsave(&chan->queue.lock, flags);
	tdma_queue_reap(&chan->queue);
	busy = !list_empty(&chan->doomed);
	spin_unlock_irqrestore(&chan->queue.lock, flags);
	return busy;
}

/* The queue does not abort: turn it off; if that fails, reset the device. */
static void tdma_chan_force(struct tdma_chan *chan)
{
	struct tdma_device *tdev = chan->queue.tdev;
	u32 generation;
	int ret = 0;

	dev_err(&tdev->pdev->dev, "queue %u does not abort\n", chan->queue.id);
	down_read(&tdev->lock);
	generation = tdev->generation;
	if (tdev->state == TDMA_RUNNING)
		ret = tdma_queue_recover(&chan->queue, TDMA_STATUS_ABORTED);
	up_read(&tdev->lock);
	if (ret)
		tdma_device_reset(tdev, generation);
}

/* The device must let go of the memory of terminated transfers. */
void tdma_synchronize(struct dma_chan *dchan)
{
	struct tdma_chan *chan = to_tdma_chan(dchan);
	unsigned long end = jiffies + msecs_to_jiffies(TDMA_SYNC_TIMEOUT_MS);

	while (tdma_chan_has_doomed(chan)) {
		if (time_after(jiffies, end)) {
			tdma_chan_force(chan);
			break;
		}
		usleep_range(50, 200);
	}
	tasklet_kill(&chan->tasklet);
}
