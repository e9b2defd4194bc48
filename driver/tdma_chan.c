// SPDX-License-Identifier: GPL-2.0-only
/*
 * dmaengine provider: from the client into the ring, out of the ring to the
 * client's callback.
 */
#include "tdma_chan.h"
#include "tdma_device.h"

/**
 * struct tdma_call - a callback that is due
 * @callback: as the client has set it
 * @callback_result: the same; goes first
 * @param: their argument
 * @result: what is to be told
 * @over: the transfer to be put away afterwards, or NULL
 */
struct tdma_call {
	dma_async_tx_callback callback;
	dma_async_tx_callback_result callback_result;
	void *param;
	struct dmaengine_result result;
	struct tdma_tx *over;
};

/* ---- into the ring ---- */

/* A transfer is over: retire its cookie, leave the rest to the tasklet. */
static void tdma_tx_complete(struct tdma_chan *chan, struct tdma_tx *tx)
{
	tdma_cookie_complete(chan, tx);
	list_move_tail(&tx->node, &chan->completed);
	tasklet_schedule(&chan->tasklet);
}

/* The channel will never run again. What is in the ring comes back first. */
static void tdma_chan_fail(struct tdma_chan *chan)
{
	struct tdma_tx *tx, *next;

	if (!list_empty(&chan->queue.inflight))
		return;
	list_for_each_entry_safe(tx, next, &chan->issued, node) {
		tx->result = DMA_TRANS_ABORTED;
		tdma_tx_complete(chan, tx);
	}
}

/*
 * An abort hits everything that is in the ring when the hardware gets to it.
 * Nothing new may be there before.
 */
static bool tdma_chan_settled(struct tdma_chan *chan)
{
	struct tdma_queue *queue = &chan->queue;

	if (!chan->aborting)
		return true;
	if (queue->state != TDMA_QUEUE_ON || !list_empty(&queue->inflight))
		return false;
	tdma_hw_queue_settle(&queue->tdev->hw, queue->id);
	chan->aborting = false;
	return true;
}

/* May the next part be pushed, as far as the transfer is concerned? */
static bool tdma_tx_wants(const struct tdma_tx *tx)
{
	u64 busy_since = tx->flow ? tx->told : tx->ended;

	if (tx->pushed == tx->nr)
		return false;
	return !tx->periods || tx->pushed - busy_since < tx->capacity;
}

static void tdma_tx_push(struct tdma_queue *queue, struct tdma_tx *tx)
{
	struct tdma_part *part = tdma_tx_part(tx, tx->pushed);
	u64 address;

	if (tx->periods) {
		address = tx->memory +
			  tx->pushed % tx->periods * tx->period_bytes;
		if (tx->memory_side == TDMA_SIDE_SRC)
			part->desc.src_offset = address;
		else
			part->desc.dst_offset = address;
	}
	tdma_queue_push(queue, &part->job, &part->desc, tx->ext);
	tx->pushed++;
}

/* Push what a transfer has; false if something is left. */
static bool tdma_chan_push(struct tdma_chan *chan, struct tdma_tx *tx,
			   bool *pushed)
{
	u32 slots = tx->ext ? 2 : 1;

	while (tdma_tx_wants(tx)) {
		if (tdma_queue_room(&chan->queue) < slots)
			return false;
		tdma_tx_push(&chan->queue, tx);
		*pushed = true;
	}
	return tx->pushed == tx->nr;
}

/**
 * tdma_chan_feed - push as many parts of issued transfers as the ring takes
 * @chan: the channel, its queue's lock held
 */
void tdma_chan_feed(struct tdma_chan *chan)
{
	struct tdma_queue *queue = &chan->queue;
	struct tdma_tx *tx, *next;
	bool pushed = false;

	lockdep_assert_held(&queue->lock);
	if (queue->state == TDMA_QUEUE_DEAD) {
		tdma_chan_fail(chan);
		return;
	}
	if (list_empty(&chan->issued) || !tdma_chan_settled(chan))
		return;
	list_for_each_entry_safe(tx, next, &chan->issued, node) {
		if (!tdma_chan_push(chan, tx, &pushed))
			break;
		list_move_tail(&tx->node, &chan->active);
	}
	if (pushed)
		tdma_queue_kick(queue);
}

void tdma_issue_pending(struct dma_chan *dchan)
{
	struct tdma_chan *chan = to_tdma_chan(dchan);
	unsigned long flags;

	spin_lock_irqsave(&chan->queue.lock, flags);
	list_splice_tail_init(&chan->submitted, &chan->issued);
	tdma_chan_feed(chan);
	spin_unlock_irqrestore(&chan->queue.lock, flags);
}

/* ---- out of the ring ---- */

static enum dmaengine_tx_result tdma_result(const struct tdma_record *record)
{
	if (record->status == TDMA_STATUS_OK)
		return DMA_TRANS_NOERROR;
	if (record->status == TDMA_STATUS_ABORTED ||
	    record->status == TDMA_STATUS_TIMEOUT)
		return DMA_TRANS_ABORTED;
	return record->fault_side == TDMA_SIDE_SRC ? DMA_TRANS_READ_FAILED :
						     DMA_TRANS_WRITE_FAILED;
}

/* Note how a part ended. */
static void tdma_tx_account(struct tdma_tx *tx, const struct tdma_part *part)
{
	const struct tdma_record *record = &part->job.record;

	tx->ended++;
	if (!tx->periods)
		tx->bytes_done += tdma_part_bytes(part, record);
	if (tx->result != DMA_TRANS_NOERROR)
		return;
	tx->record = *record;
	tx->result = tdma_result(record);
	if (tx->result == DMA_TRANS_NOERROR)
		tx->good++;
	else
		tx->nr = tx->pushed;	/* the rest is not worth the move */
}

static void tdma_chan_job_done(struct tdma_queue *queue, struct tdma_job *job)
{
	struct tdma_chan *chan = container_of(queue, struct tdma_chan, queue);
	struct tdma_part *part = container_of(job, struct tdma_part, job);
	struct tdma_tx *tx = part->owner;

	tdma_tx_account(tx, part);
	if (tx->ended < tx->nr) {
		if (tx->flow)
			tasklet_schedule(&chan->tasklet);
	} else if (tx->doomed) {
		list_del(&tx->node);
		tdma_tx_put(chan, tx);
	} else {
		tdma_tx_complete(chan, tx);
	}
}

static void tdma_chan_event(struct tdma_queue *queue)
{
	struct tdma_chan *chan = container_of(queue, struct tdma_chan, queue);

	tdma_chan_feed(chan);
}

static const struct tdma_queue_ops tdma_chan_queue_ops = {
	.done = tdma_chan_job_done,
	.event = tdma_chan_event,
};

/* ---- callbacks ---- */

/* A cyclic transfer with a period that is over and has not been told */
static struct tdma_tx *tdma_chan_owing(struct tdma_chan *chan)
{
	struct tdma_tx *tx;

	tx = list_first_entry_or_null(&chan->issued, struct tdma_tx, node);
	return tx && tx->flow && tx->told < tx->good ? tx : NULL;
}

static void tdma_call_for(struct tdma_call *call, struct tdma_tx *tx)
{
	*call = (struct tdma_call) {
		.callback = tx->tx.callback,
		.callback_result = tx->tx.callback_result,
		.param = tx->tx.callback_param,
	};
}

static void tdma_call_period(struct tdma_chan *chan, struct tdma_call *call,
			     struct tdma_tx *tx)
{
	tdma_call_for(call, tx);
	call->result.result = DMA_TRANS_NOERROR;
	call->result.residue = tx->bytes -
			       (tx->told % tx->periods + 1) * tx->period_bytes;
	chan->telling = tx;
}

static void tdma_call_end(struct tdma_chan *chan, struct tdma_call *call,
			  struct tdma_tx *tx)
{
	u64 done = tx->periods ? tx->good % tx->periods * tx->period_bytes :
				 tx->bytes_done;

	tdma_call_for(call, tx);
	call->result.result = tx->result;
	call->result.residue = tx->bytes - done;
	list_del(&tx->node);
	/* The callback may submit it again; its own may not be freed yet. */
	if (dmaengine_desc_test_reuse(&tx->tx))
		tdma_tx_put(chan, tx);
	else
		call->over = tx;
}

/* What the tasklet is to do next; false if there is nothing. */
static bool tdma_chan_next_call(struct tdma_chan *chan, struct tdma_call *call)
{
	struct tdma_tx *tx;

	tx = list_first_entry_or_null(&chan->completed, struct tdma_tx, node);
	if (tx && tx->flow && tx->told < tx->good) {
		tdma_call_period(chan, call, tx);
		return true;
	}
	if (tx) {
		tdma_call_end(chan, call, tx);
		return true;
	}
	tx = tdma_chan_owing(chan);
	if (tx)
		tdma_call_period(chan, call, tx);
	return tx;
}

static void tdma_call(struct tdma_call *call)
{
	if (call->over)
		dma_descriptor_unmap(&call->over->tx);
	if (call->callback_result)
		call->callback_result(call->param, &call->result);
	else if (call->callback)
		call->callback(call->param);
}

/* Unless it was terminated meanwhile, the period may be used again. */
static void tdma_chan_told(struct tdma_chan *chan)
{
	if (!chan->telling)
		return;
	chan->telling->told++;
	chan->telling = NULL;
	tdma_chan_feed(chan);
}

static void tdma_chan_tasklet(struct tasklet_struct *tasklet)
{
	struct tdma_chan *chan = from_tasklet(chan, tasklet, tasklet);
	struct tdma_call call;

	spin_lock_irq(&chan->queue.lock);
	while (tdma_chan_next_call(chan, &call)) {
		spin_unlock_irq(&chan->queue.lock);
		tdma_call(&call);
		spin_lock_irq(&chan->queue.lock);
		if (call.over)
			tdma_tx_put(chan, call.over);
		tdma_chan_told(chan);
	}
	spin_unlock_irq(&chan->queue.lock);
}

/* ---- coming and going ---- */

/**
 * tdma_chan_init - what needs no memory
 * @chan: the channel, zeroed
 */
void tdma_chan_init(struct tdma_chan *chan)
{
	INIT_LIST_HEAD(&chan->spare);
	INIT_LIST_HEAD(&chan->prepared);
	INIT_LIST_HEAD(&chan->submitted);
	INIT_LIST_HEAD(&chan->issued);
	INIT_LIST_HEAD(&chan->active);
	INIT_LIST_HEAD(&chan->completed);
	INIT_LIST_HEAD(&chan->doomed);
	tasklet_setup(&chan->tasklet, tdma_chan_tasklet);
}

/**
 * tdma_chan_start - turn a channel's queue on
 * @chan: the channel, initialised
 * @tdev: the device, running
 * @id: number of its hardware queue and of the DMA thread it runs on
 *
 * Return: 0 or a negative errno.
 */
int tdma_chan_start(struct tdma_chan *chan, struct tdma_device *tdev,
		    unsigned int id)
{
	int ret;

	ret = tdma_queue_init(&chan->queue, tdev, &tdma_chan_queue_ops, id,
			      TDMA_KERNEL_CONTEXT, id);
	if (ret)
		return ret;
	chan->queue.survives_reset = true;
	return tdma_queue_start(&chan->queue);
}

int tdma_alloc_chan_resources(struct dma_chan *dchan)
{
	struct tdma_chan *chan = to_tdma_chan(dchan);

	tdma_cookie_init(chan);
	memset(&chan->config, 0, sizeof(chan->config));
	return tdma_tx_stock(chan) ?: -ENOMEM;
}

void tdma_free_chan_resources(struct dma_chan *dchan)
{
	struct tdma_chan *chan = to_tdma_chan(dchan);

	tdma_terminate_all(dchan);
	tdma_synchronize(dchan);
	tdma_tx_free_list(&chan->prepared);
	tdma_tx_free_list(&chan->spare);
	chan->nr_spare = 0;
}
