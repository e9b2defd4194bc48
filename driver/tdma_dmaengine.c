// SPDX-License-Identifier: GPL-2.0-only
/*
 * dmaengine provider.
 *
 * A transfer (struct tdma_tx) is one descriptor of the client and one or more
 * descriptors of the hardware, its parts. It goes through these lists, all
 * under the lock of the channel's queue:
 *
 *	prepared   until tx_submit
 *	submitted  until issue_pending
 *	issued     until all its parts are in the ring
 *	active     until all its parts are over
 *	completed  until its callback has been called
 *
 * The hardware retires descriptors in order, hence cookies complete in order.
 * Lists of terminated transfers are emptied at once, except that a transfer
 * with parts in the ring waits among the doomed until the hardware has given
 * them back. Callbacks are called from a tasklet, without a lock.
 */
#include <linux/dmaengine.h>
#include <linux/export.h>
#include <linux/interrupt.h>
#include <linux/jiffies.h>
#include <linux/delay.h>
#include <linux/slab.h>

#include "tdma_desc.h"
#include "tdma_device.h"
#include "tdma_dmaengine.h"
#include "tdma_queue.h"
#include "tensordma.h"

/* Transfers that a channel keeps ready for prep calls in atomic context */
#define TDMA_CHAN_SPARE		64
/* Chunks per frame of an interleaved transfer */
#define TDMA_MAX_CHUNKS		64
/* Ranges of failed cookies that a channel remembers */
#define TDMA_CHAN_FAILURES	32
/* From this length on, progress is published on the way, in per mille */
#define TDMA_PROGRESS_BYTES	65536
#define TDMA_PROGRESS_STEP	16
#define TDMA_SYNC_TIMEOUT_MS	5000

/**
 * struct tdma_part - a hardware descriptor of a transfer
 * @job: its place in the ring
 * @owner: the transfer
 * @desc: the descriptor
 */
struct tdma_part {
	struct tdma_job job;
	struct tdma_tx *owner;
	struct tdma_desc desc;
};

/**
 * struct tdma_tx - a transfer
 * @tx: what the client sees
 * @node: in one of the channel's lists
 * @doomed: terminated; its callback is not called
 * @result: outcome so far
 * @bytes: length
 * @bytes_done: bytes of the parts that are over
 * @capacity: number of parts there is room for
 * @nr: number of parts; shrinks to @pushed when one fails
 * @pushed: parts put into the ring so far
 * @ended: parts that are over
 * @part: the parts
 */
struct tdma_tx {
	struct dma_async_tx_descriptor tx;
	struct list_head node;
	bool doomed;
	enum dmaengine_tx_result result;
	u64 bytes;
	u64 bytes_done;
	unsigned int capacity;
	unsigned int nr;
	unsigned int pushed;
	unsigned int ended;
	struct tdma_part part[];
};

/**
 * struct tdma_failure - consecutive cookies that ended in error
 * @first: the first one; 0 if there is none
 * @last: the last one
 */
struct tdma_failure {
	dma_cookie_t first;
	dma_cookie_t last;
};

/**
 * struct tdma_chan - a channel
 * @chan: what the framework sees
 * @queue: hardware queue; its lock protects all that follows
 * @paused: the client has paused the channel
 * @aborting: the hardware has been told to abort and may not have begun
 * @spare: transfers of one part that are free
 * @nr_spare: number of them
 * @prepared: see above; the same for the next four
 * @submitted: .
 * @issued: .
 * @active: .
 * @completed: .
 * @doomed: terminated, with parts in the ring
 * @failed: what ended in error or was terminated
 * @nr_failed: how often that has been
 * @tasklet: calls callbacks
 */
struct tdma_chan {
	struct dma_chan chan;
	struct tdma_queue queue;
	bool paused;
	bool aborting;
	struct list_head spare;
	unsigned int nr_spare;
	struct list_head prepared;
	struct list_head submitted;
	struct list_head issued;
	struct list_head active;
	struct list_head completed;
	struct list_head doomed;
	struct tdma_failure failed[TDMA_CHAN_FAILURES];
	unsigned int nr_failed;
	struct tasklet_struct tasklet;
};

/**
 * struct tdma_dmaengine - the registration
 * @ref: held by the PCI binding, and by the framework until the last client
 *	has left
 * @dma: what the framework sees
 * @tdev: the device
 * @registered: the framework knows the channels
 * @nr: number of channels
 * @chan: the channels
 */
struct tdma_dmaengine {
	struct kref ref;
	struct dma_device dma;
	struct tdma_device *tdev;
	bool registered;
	unsigned int nr;
	struct tdma_chan chan[];
};

static struct tdma_chan *to_tdma_chan(struct dma_chan *chan)
{
	return container_of(chan, struct tdma_chan, chan);
}

static struct tdma_tx *to_tdma_tx(struct dma_async_tx_descriptor *tx)
{
	return container_of(tx, struct tdma_tx, tx);
}

/* ---- transfers come and go ---- */

static struct tdma_tx *tdma_tx_alloc(unsigned int nr, gfp_t gfp)
{
	struct tdma_tx *tx;

	tx = kzalloc(struct_size(tx, part, nr), gfp);
	if (tx)
		tx->capacity = nr;
	return tx;
}

static void tdma_tx_init(struct tdma_chan *chan, struct tdma_tx *tx)
{
	unsigned int i;

	memset(&tx->tx, 0, sizeof(tx->tx));
	tx->doomed = false;
	tx->result = DMA_TRANS_NOERROR;
	tx->bytes = 0;
	tx->bytes_done = 0;
	tx->nr = tx->capacity;
	tx->pushed = 0;
	tx->ended = 0;
	for (i = 0; i < tx->nr; i++)
		tx->part[i].owner = tx;
	dma_async_tx_descriptor_init(&tx->tx, &chan->chan);
}

/* Callable in any context. */
static struct tdma_tx *tdma_tx_get(struct tdma_chan *chan, unsigned int nr)
{
	struct tdma_tx *tx = NULL;
	unsigned long flags;

	if (nr == 1) {
		spin_lock_irqsave(&chan->queue.lock, flags);
		tx = list_first_entry_or_null(&chan->spare, struct tdma_tx,
					      node);
		if (tx) {
			list_del(&tx->node);
			chan->nr_spare--;
		}
		spin_unlock_irqrestore(&chan->queue.lock, flags);
	}
	if (!tx)
		tx = tdma_tx_alloc(nr, GFP_NOWAIT);
	if (tx)
		tdma_tx_init(chan, tx);
	return tx;
}

/* Put a transfer that is on no list away. */
static void tdma_tx_put(struct tdma_chan *chan, struct tdma_tx *tx)
{
	lockdep_assert_held(&chan->queue.lock);
	dma_descriptor_unmap(&tx->tx);
	if (tx->capacity == 1 && chan->nr_spare < TDMA_CHAN_SPARE) {
		list_add(&tx->node, &chan->spare);
		chan->nr_spare++;
	} else {
		kfree(tx);
	}
}

/* ---- submission ---- */

static dma_cookie_t tdma_tx_submit(struct dma_async_tx_descriptor *async)
{
	struct tdma_chan *chan = to_tdma_chan(async->chan);
	struct tdma_tx *tx = to_tdma_tx(async);
	dma_cookie_t cookie;
	unsigned long flags;

	spin_lock_irqsave(&chan->queue.lock, flags);
	cookie = chan->chan.cookie + 1;
	if (cookie < DMA_MIN_COOKIE)
		cookie = DMA_MIN_COOKIE;
	chan->chan.cookie = cookie;
	async->cookie = cookie;
	list_move_tail(&tx->node, &chan->submitted);
	spin_unlock_irqrestore(&chan->queue.lock, flags);
	return cookie;
}

static void tdma_remember_failure(struct tdma_chan *chan, dma_cookie_t first,
				  dma_cookie_t last)
{
	chan->failed[chan->nr_failed++ % TDMA_CHAN_FAILURES] =
		(struct tdma_failure) { .first = first, .last = last };
}

/* A transfer is over: retire its cookie, leave the rest to the tasklet. */
static void tdma_tx_complete(struct tdma_chan *chan, struct tdma_tx *tx)
{
	lockdep_assert_held(&chan->queue.lock);
	chan->chan.completed_cookie = tx->tx.cookie;
	if (tx->result != DMA_TRANS_NOERROR)
		tdma_remember_failure(chan, tx->tx.cookie, tx->tx.cookie);
	tx->tx.cookie = 0;
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

/* Push as many parts of issued transfers as the ring takes. */
static void tdma_chan_feed(struct tdma_chan *chan)
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
		for (; tx->pushed < tx->nr; tx->pushed++) {
			struct tdma_part *part = &tx->part[tx->pushed];

			if (!tdma_queue_room(queue))
				goto out_kick;
			tdma_queue_push(queue, &part->job, &part->desc, NULL);
			pushed = true;
		}
		list_move_tail(&tx->node, &chan->active);
	}
out_kick:
	if (pushed)
		tdma_queue_kick(queue);
}

static void tdma_issue_pending(struct dma_chan *dchan)
{
	struct tdma_chan *chan = to_tdma_chan(dchan);
	unsigned long flags;

	spin_lock_irqsave(&chan->queue.lock, flags);
	list_splice_tail_init(&chan->submitted, &chan->issued);
	tdma_chan_feed(chan);
	spin_unlock_irqrestore(&chan->queue.lock, flags);
}

/* ---- completion ---- */

static enum dmaengine_tx_result tdma_result(const struct tdma_record *record)
{
	if (record->status == TDMA_STATUS_OK)
		return DMA_TRANS_NOERROR;
	if (record->status == TDMA_STATUS_ABORTED)
		return DMA_TRANS_ABORTED;
	return record->fault_side == TDMA_SIDE_SRC ? DMA_TRANS_READ_FAILED :
						     DMA_TRANS_WRITE_FAILED;
}

static u64 tdma_part_bytes(const struct tdma_part *part,
			   const struct tdma_record *record)
{
	u64 done = tdma_desc_uses(&part->desc, TDMA_DESC_DST) ?
		   record->dst_done : record->src_done;

	return done * part->desc.elem_bytes;
}

static void tdma_chan_job_done(struct tdma_queue *queue, struct tdma_job *job)
{
	struct tdma_chan *chan = container_of(queue, struct tdma_chan, queue);
	struct tdma_part *part = container_of(job, struct tdma_part, job);
	struct tdma_tx *tx = part->owner;
	enum dmaengine_tx_result result = tdma_result(&job->record);

	tx->ended++;
	tx->bytes_done += tdma_part_bytes(part, &job->record);
	if (result != DMA_TRANS_NOERROR && tx->result == DMA_TRANS_NOERROR) {
		tx->result = result;
		tx->nr = tx->pushed;	/* the rest is not worth the move */
	}
	if (tx->ended < tx->nr)
		return;
	if (tx->doomed) {
		list_del(&tx->node);
		tdma_tx_put(chan, tx);
	} else {
		tdma_tx_complete(chan, tx);
	}
}

static void tdma_chan_event(struct tdma_queue *queue)
{
	tdma_chan_feed(container_of(queue, struct tdma_chan, queue));
}

static const struct tdma_queue_ops tdma_chan_queue_ops = {
	.done = tdma_chan_job_done,
	.event = tdma_chan_event,
};

static void tdma_tx_callback(struct tdma_tx *tx)
{
	struct dmaengine_result result = {
		.result = tx->result,
		.residue = tx->bytes - tx->bytes_done,
	};

	if (tx->tx.callback_result)
		tx->tx.callback_result(tx->tx.callback_param, &result);
	else if (tx->tx.callback)
		tx->tx.callback(tx->tx.callback_param);
}

static void tdma_chan_tasklet(struct tasklet_struct *tasklet)
{
	struct tdma_chan *chan = from_tasklet(chan, tasklet, tasklet);
	struct tdma_tx *tx;

	spin_lock_irq(&chan->queue.lock);
	while ((tx = list_first_entry_or_null(&chan->completed, struct tdma_tx,
					      node))) {
		list_del(&tx->node);
		spin_unlock_irq(&chan->queue.lock);
		dma_descriptor_unmap(&tx->tx);
		tdma_tx_callback(tx);
		spin_lock_irq(&chan->queue.lock);
		tdma_tx_put(chan, tx);
	}
	spin_unlock_irq(&chan->queue.lock);
}

/* ---- status ---- */

static enum dma_status tdma_cookie_status(struct tdma_chan *chan,
					  dma_cookie_t cookie,
					  struct dma_tx_state *state)
{
	dma_cookie_t used = READ_ONCE(chan->chan.cookie);
	dma_cookie_t complete = READ_ONCE(chan->chan.completed_cookie);

	dma_set_tx_state(state, complete, used, 0);
	if (state)
		state->in_flight_bytes = 0;
	return dma_async_is_complete(cookie, complete, used);
}

static bool tdma_cookie_failed(const struct tdma_chan *chan,
			       dma_cookie_t cookie)
{
	unsigned int i;

	for (i = 0; i < TDMA_CHAN_FAILURES; i++)
		if (chan->failed[i].first && chan->failed[i].first <= cookie &&
		    cookie <= chan->failed[i].last)
			return true;
	return false;
}

static const struct tdma_tx *tdma_find_tx(struct list_head *list,
					  dma_cookie_t cookie)
{
	const struct tdma_tx *tx;

	list_for_each_entry(tx, list, node)
		if (tx->tx.cookie == cookie)
			return tx;
	return NULL;
}

static u32 tdma_residue(struct tdma_chan *chan, dma_cookie_t cookie)
{
	struct tdma_record record;
	const struct tdma_tx *tx;
	u64 done;

	tx = tdma_find_tx(&chan->active, cookie);
	if (!tx)
		tx = tdma_find_tx(&chan->issued, cookie);
	if (!tx)
		tx = tdma_find_tx(&chan->submitted, cookie);
	if (!tx)
		return 0;
	done = tx->bytes_done;
	if (tx->ended < tx->pushed) {
		const struct tdma_part *part = &tx->part[tx->ended];

		tdma_queue_progress(&chan->queue, &part->job, &record);
		done += tdma_part_bytes(part, &record);
	}
	return tx->bytes - done;
}

static enum dma_status tdma_tx_status(struct dma_chan *dchan,
				      dma_cookie_t cookie,
				      struct dma_tx_state *state)
{
	struct tdma_chan *chan = to_tdma_chan(dchan);
	enum dma_status status;
	unsigned long flags;

	spin_lock_irqsave(&chan->queue.lock, flags);
	/* A client that polls gets its answer without an interrupt. */
	tdma_queue_reap(&chan->queue);
	tdma_chan_feed(chan);
	status = tdma_cookie_status(chan, cookie, state);
	if (status == DMA_COMPLETE) {
		if (tdma_cookie_failed(chan, cookie))
			status = DMA_ERROR;
	} else {
		if (state)
			state->residue = tdma_residue(chan, cookie);
		if (chan->paused)
			status = DMA_PAUSED;
	}
	spin_unlock_irqrestore(&chan->queue.lock, flags);
	return status;
}

/* ---- control ---- */

static int tdma_pause(struct dma_chan *dchan)
{
	struct tdma_chan *chan = to_tdma_chan(dchan);
	struct tdma_queue *queue = &chan->queue;
	unsigned long flags;
	int ret = -ENODEV;

	spin_lock_irqsave(&queue->lock, flags);
	if (queue->state == TDMA_QUEUE_ON)
		ret = tdma_hw_queue_pause(&queue->tdev->hw, queue->id);
	if (!ret)
		chan->paused = true;
	spin_unlock_irqrestore(&queue->lock, flags);
	return ret;
}

static int tdma_resume(struct dma_chan *dchan)
{
	struct tdma_chan *chan = to_tdma_chan(dchan);
	struct tdma_queue *queue = &chan->queue;
	unsigned long flags;
	int ret = 0;

	spin_lock_irqsave(&queue->lock, flags);
	if (!chan->paused)
		ret = -EINVAL;
	else if (queue->state != TDMA_QUEUE_ON)
		ret = -ENODEV;
	else
		tdma_hw_queue_unpause(&queue->tdev->hw, queue->id);
	if (!ret)
		chan->paused = false;
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

/* Cookies that nobody will complete: over, and not with success */
static void tdma_retire_cookies(struct tdma_chan *chan)
{
	if (chan->chan.completed_cookie == chan->chan.cookie)
		return;
	tdma_remember_failure(chan, chan->chan.completed_cookie + 1,
			      chan->chan.cookie);
	chan->chan.completed_cookie = chan->chan.cookie;
}

static int tdma_terminate_all(struct dma_chan *dchan)
{
	struct tdma_chan *chan = to_tdma_chan(dchan);
	struct tdma_queue *queue = &chan->queue;
	unsigned long flags;

	spin_lock_irqsave(&queue->lock, flags);
	tdma_doom(chan, &chan->completed);
	tdma_doom(chan, &chan->active);
	tdma_doom(chan, &chan->issued);
	tdma_doom(chan, &chan->submitted);
	tdma_retire_cookies(chan);
	if (queue->state == TDMA_QUEUE_ON) {
		if (!list_empty(&queue->inflight)) {
			tdma_hw_queue_abort(&queue->tdev->hw, queue->id);
			chan->aborting = true;
		} else if (chan->paused) {
			tdma_hw_queue_unpause(&queue->tdev->hw, queue->id);
		}
	}
	chan->paused = false;
	spin_unlock_irqrestore(&queue->lock, flags);
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

/* The device must let go of the memory of terminated transfers. */
static void tdma_synchronize(struct dma_chan *dchan)
{
	struct tdma_chan *chan = to_tdma_chan(dchan);
	struct tdma_device *tdev = chan->queue.tdev;
	u32 generation = READ_ONCE(tdev->generation);
	unsigned long end = jiffies + msecs_to_jiffies(TDMA_SYNC_TIMEOUT_MS);

	while (tdma_chan_has_doomed(chan)) {
		if (time_after(jiffies, end)) {
			dev_err(&tdev->pdev->dev,
				"queue %u does not abort, resetting the device\n",
				chan->queue.id);
			tdma_device_reset(tdev, generation);
			break;
		}
		usleep_range(50, 200);
	}
	tasklet_kill(&chan->tasklet);
}

static int tdma_alloc_chan_resources(struct dma_chan *dchan)
{
	struct tdma_chan *chan = to_tdma_chan(dchan);
	struct tdma_tx *tx;

	while (chan->nr_spare < TDMA_CHAN_SPARE) {
		tx = tdma_tx_alloc(1, GFP_KERNEL);
		if (!tx)
			break;
		list_add(&tx->node, &chan->spare);
		chan->nr_spare++;
	}
	dchan->cookie = DMA_MIN_COOKIE;
	dchan->completed_cookie = DMA_MIN_COOKIE;
	chan->nr_failed = 0;
	memset(chan->failed, 0, sizeof(chan->failed));
	return chan->nr_spare ?: -ENOMEM;
}

static void tdma_free_list(struct list_head *list)
{
	struct tdma_tx *tx, *next;

	list_for_each_entry_safe(tx, next, list, node)
		kfree(tx);
	INIT_LIST_HEAD(list);
}

static void tdma_free_chan_resources(struct dma_chan *dchan)
{
	struct tdma_chan *chan = to_tdma_chan(dchan);

	tdma_terminate_all(dchan);
	tdma_synchronize(dchan);
	tdma_free_list(&chan->prepared);
	tdma_free_list(&chan->spare);
	chan->nr_spare = 0;
}

/* ---- preparation ---- */

static void tdma_add_progress(struct tdma_desc *desc, u64 bytes)
{
	if (bytes < TDMA_PROGRESS_BYTES)
		return;
	if (tdma_desc_uses(desc, TDMA_DESC_DST)) {
		if (desc->dst_sync_interval)
			return;
		desc->flags |= TDMA_DESC_DST_PER_MILLE;
		desc->dst_sync_interval = TDMA_PROGRESS_STEP;
	} else if (!desc->src_sync_interval) {
		desc->flags |= TDMA_DESC_SRC_PER_MILLE;
		desc->src_sync_interval = TDMA_PROGRESS_STEP;
	}
}

/* Complete a filled transfer and note it. */
static struct dma_async_tx_descriptor *
tdma_tx_ready(struct tdma_chan *chan, struct tdma_tx *tx, unsigned long flags)
{
	unsigned long irqflags;
	unsigned int i;
	u64 bytes;

	for (i = 0; i < tx->nr; i++) {
		struct tdma_desc *desc = &tx->part[i].desc;

		bytes = tdma_desc_elements(desc) * desc->elem_bytes;
		tdma_add_progress(desc, bytes);
		tx->bytes += bytes;
	}
	/* Room in the ring comes with the end of a descriptor: always tell. */
	for (i = 0; i < tx->nr; i++)
		tx->part[i].desc.flags |= TDMA_DESC_IRQ;
	tx->tx.flags = flags;
	tx->tx.tx_submit = tdma_tx_submit;

	spin_lock_irqsave(&chan->queue.lock, irqflags);
	list_add_tail(&tx->node, &chan->prepared);
	spin_unlock_irqrestore(&chan->queue.lock, irqflags);
	return &tx->tx;
}

static struct tdma_place tdma_host(dma_addr_t addr)
{
	return (struct tdma_place) {
		.segment = TDMA_KERNEL_HOST,
		.offset = addr,
	};
}

/* Residues are 32 bits wide; longer transfers could not report one. */
static bool tdma_length_ok(size_t len)
{
	return len && len <= U32_MAX;
}

static struct dma_async_tx_descriptor *
tdma_prep_memcpy(struct dma_chan *dchan, dma_addr_t dst, dma_addr_t src,
		 size_t len, unsigned long flags)
{
	struct tdma_chan *chan = to_tdma_chan(dchan);
	struct tdma_tx *tx;

	if (!tdma_length_ok(len))
		return NULL;
	tx = tdma_tx_get(chan, 1);
	if (!tx)
		return NULL;
	tdma_desc_copy(&tx->part[0].desc, tdma_host(dst), tdma_host(src), len);
	return tdma_tx_ready(chan, tx, flags);
}

static struct dma_async_tx_descriptor *
tdma_prep_memset(struct dma_chan *dchan, dma_addr_t dst, int value, size_t len,
		 unsigned long flags)
{
	struct tdma_chan *chan = to_tdma_chan(dchan);
	struct tdma_tx *tx;

	if (!tdma_length_ok(len))
		return NULL;
	tx = tdma_tx_get(chan, 1);
	if (!tx)
		return NULL;
	tdma_desc_memset(&tx->part[0].desc, tdma_host(dst), value, len);
	return tdma_tx_ready(chan, tx, flags);
}

/**
 * struct tdma_frame - an interleaved frame, measured
 * @src: bytes from one frame to the next at the source
 * @dst: the same at the destination
 * @bytes: bytes moved per frame
 */
struct tdma_frame {
	size_t src;
	size_t dst;
	size_t bytes;
};

static bool tdma_frame_add(struct tdma_frame *frame,
			   struct dma_interleaved_template *xt, size_t i)
{
	struct data_chunk *chunk = &xt->sgl[i];
	size_t src, dst;

	return chunk->size &&
	       !check_add_overflow(frame->bytes, chunk->size, &frame->bytes) &&
	       !check_add_overflow(chunk->size,
				   dmaengine_get_src_icg(xt, chunk), &src) &&
	       !check_add_overflow(chunk->size,
				   dmaengine_get_dst_icg(xt, chunk), &dst) &&
	       !check_add_overflow(frame->src, src, &frame->src) &&
	       !check_add_overflow(frame->dst, dst, &frame->dst);
}

static bool tdma_frame_measure(struct tdma_frame *frame,
			       struct dma_interleaved_template *xt)
{
	size_t i, total;

	*frame = (struct tdma_frame) { };
	for (i = 0; i < xt->frame_size; i++)
		if (!tdma_frame_add(frame, xt, i))
			return false;
	return !check_mul_overflow(frame->bytes, xt->numf, &total) &&
	       tdma_length_ok(total) && frame->src <= S64_MAX &&
	       frame->dst <= S64_MAX;
}

/* One chunk of all frames: a dimension more than a linear copy */
static void tdma_desc_chunk(struct tdma_desc *desc, dma_addr_t dst,
			    dma_addr_t src, size_t size,
			    const struct tdma_frame *frame, size_t numf)
{
	unsigned int dim;

	tdma_desc_copy(desc, tdma_host(dst), tdma_host(src), size);
	if (numf == 1)
		return;
	dim = desc->ndims++;
	desc->steps[dim] = numf;
	desc->src_stride[dim] = frame->src;
	desc->dst_stride[dim] = frame->dst;
}

/*
 * Chunks are moved one after the other, each in all frames: source and
 * destination must not overlap, as for every memory to memory transfer.
 */
static struct dma_async_tx_descriptor *
tdma_prep_interleaved(struct dma_chan *dchan,
		      struct dma_interleaved_template *xt, unsigned long flags)
{
	struct tdma_chan *chan = to_tdma_chan(dchan);
	struct tdma_frame frame;
	dma_addr_t src, dst;
	struct tdma_tx *tx;
	size_t i;

	if (xt->dir != DMA_MEM_TO_MEM || !xt->src_inc || !xt->dst_inc ||
	    !xt->numf || !xt->frame_size || xt->frame_size > TDMA_MAX_CHUNKS ||
	    !tdma_frame_measure(&frame, xt))
		return NULL;
	tx = tdma_tx_get(chan, xt->frame_size);
	if (!tx)
		return NULL;
	src = xt->src_start;
	dst = xt->dst_start;
	for (i = 0; i < xt->frame_size; i++) {
		struct data_chunk *chunk = &xt->sgl[i];

		tdma_desc_chunk(&tx->part[i].desc, dst, src, chunk->size,
				&frame, xt->numf);
		src += chunk->size + dmaengine_get_src_icg(xt, chunk);
		dst += chunk->size + dmaengine_get_dst_icg(xt, chunk);
	}
	return tdma_tx_ready(chan, tx, flags);
}

static int tdma_check_tensor(struct tdma_device *tdev,
			     const struct tdma_desc *desc)
{
	const struct tdma_segment *segments[TDMA_DESC_SIDES] = { };
	const struct tdma_segment *table = tdev->kernel_context.table;
	const u32 number[TDMA_DESC_SIDES] = {
		desc->src_segment, desc->dst_segment, desc->record_segment,
	};
	const struct tdma_desc_limits limits = {
		.opcodes = tdev->hw.opcodes,
		.types = tdev->hw.types,
		.flags = TDMA_DESC_FLAGS & ~TDMA_DESC_EXT,
		.dims = tdev->hw.dims,
		.sync_flags = tdev->hw.sync_flags,
	};
	struct tdma_desc_report report;
	unsigned int i;

	for (i = 0; i < TDMA_DESC_SIDES; i++)
		if (number[i] < tdev->kernel_context.count)
			segments[i] = &table[number[i]];
	return tdma_desc_check(desc, NULL, &limits, segments, &report);
}

/**
 * tensordma_prep_tensor - prepare a tensor transfer
 * @dchan: a channel of a tensordma device
 * @desc: the descriptor; segments are TENSORDMA_SEGMENT_*. Interrupt flags
 *	are ignored
 * @flags: DMA_PREP_*, DMA_CTRL_ACK
 *
 * May be called in any context. What can be said of transfers of at most
 * 2^32-1 bytes; no extension block.
 *
 * Return: the transfer, or NULL if @dchan is not such a channel, the descriptor
 * is not valid or memory is short.
 */
struct dma_async_tx_descriptor *
tensordma_prep_tensor(struct dma_chan *dchan, const struct tdma_desc *desc,
		      unsigned long flags)
{
	struct tdma_chan *chan;
	struct tdma_tx *tx;
	u64 bytes;

	if (dchan->device->device_free_chan_resources !=
	    tdma_free_chan_resources)
		return NULL;
	chan = to_tdma_chan(dchan);
	if (tdma_check_tensor(chan->queue.tdev, desc))
		return NULL;
	if (check_mul_overflow(tdma_desc_elements(desc), (u64)desc->elem_bytes,
			       &bytes) || bytes > U32_MAX)
		return NULL;
	tx = tdma_tx_get(chan, 1);
	if (!tx)
		return NULL;
	tx->part[0].desc = *desc;
	tx->part[0].desc.flags &= ~TDMA_DESC_SYNC_IRQ;
	return tdma_tx_ready(chan, tx, flags);
}
EXPORT_SYMBOL_GPL(tensordma_prep_tensor);

/* ---- registration ---- */

static void tdma_dmaengine_free(struct kref *ref)
{
	struct tdma_dmaengine *engine = container_of(ref, struct tdma_dmaengine,
						     ref);
	unsigned int i;

	for (i = 0; i < engine->nr; i++)
		tasklet_kill(&engine->chan[i].tasklet);
	tdma_device_put(engine->tdev);
	kfree(engine);
}

static void tdma_dmaengine_release(struct dma_device *dma)
{
	struct tdma_dmaengine *engine = container_of(dma, struct tdma_dmaengine,
						     dma);

	kref_put(&engine->ref, tdma_dmaengine_free);
}

static void tdma_chan_init(struct tdma_chan *chan)
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

static void tdma_dma_device_init(struct tdma_dmaengine *engine)
{
	const u32 widths = BIT(DMA_SLAVE_BUSWIDTH_1_BYTE) |
			   BIT(DMA_SLAVE_BUSWIDTH_2_BYTES) |
			   BIT(DMA_SLAVE_BUSWIDTH_4_BYTES) |
			   BIT(DMA_SLAVE_BUSWIDTH_8_BYTES) |
			   BIT(DMA_SLAVE_BUSWIDTH_16_BYTES);
	struct dma_device *dma = &engine->dma;

	dma->dev = &engine->tdev->pdev->dev;
	INIT_LIST_HEAD(&dma->channels);
	/* Only for those who ask for it: the engine has a work of its own. */
	dma_cap_set(DMA_PRIVATE, dma->cap_mask);
	dma_cap_set(DMA_MEMCPY, dma->cap_mask);
	dma_cap_set(DMA_MEMSET, dma->cap_mask);
	dma_cap_set(DMA_INTERLEAVE, dma->cap_mask);
	dma->directions = BIT(DMA_MEM_TO_MEM);
	dma->src_addr_widths = widths;
	dma->dst_addr_widths = widths;
	dma->residue_granularity = DMA_RESIDUE_GRANULARITY_BURST;
	dma->device_alloc_chan_resources = tdma_alloc_chan_resources;
	dma->device_free_chan_resources = tdma_free_chan_resources;
	dma->device_prep_dma_memcpy = tdma_prep_memcpy;
	dma->device_prep_dma_memset = tdma_prep_memset;
	dma->device_prep_interleaved_dma = tdma_prep_interleaved;
	dma->device_pause = tdma_pause;
	dma->device_resume = tdma_resume;
	dma->device_terminate_all = tdma_terminate_all;
	dma->device_synchronize = tdma_synchronize;
	dma->device_tx_status = tdma_tx_status;
	dma->device_issue_pending = tdma_issue_pending;
	dma->device_release = tdma_dmaengine_release;
}

/* Channel @id is hardware queue @id and runs on DMA thread @id. */
static int tdma_chan_start(struct tdma_dmaengine *engine, unsigned int id)
{
	struct tdma_chan *chan = &engine->chan[id];
	int ret;

	ret = tdma_queue_init(&chan->queue, engine->tdev, &tdma_chan_queue_ops,
			      id, TDMA_KERNEL_CONTEXT, id);
	if (ret)
		return ret;
	chan->queue.survives_reset = true;
	chan->chan.device = &engine->dma;
	list_add_tail(&chan->chan.device_node, &engine->dma.channels);
	return tdma_queue_start(&chan->queue);
}

static void tdma_dmaengine_fini_queues(struct tdma_dmaengine *engine)
{
	unsigned int i;

	for (i = 0; i < engine->nr; i++)
		tdma_queue_fini(&engine->chan[i].queue);
}

/**
 * tdma_dmaengine_register - offer the channels to the kernel
 * @tdev: the device, running
 *
 * Return: 0 or a negative errno. After an error the caller quiesces the device
 * and calls tdma_dmaengine_detach().
 */
int tdma_dmaengine_register(struct tdma_device *tdev)
{
	unsigned int nr = min(tdev->hw.threads, tdev->hw.queues);
	struct tdma_dmaengine *engine;
	unsigned int i;
	int ret;

	engine = kzalloc(struct_size(engine, chan, nr), GFP_KERNEL);
	if (!engine)
		return -ENOMEM;
	kref_init(&engine->ref);
	engine->nr = nr;
	engine->tdev = tdev;
	tdma_device_get(tdev);
	tdev->dma = engine;
	tdma_dma_device_init(engine);
	for (i = 0; i < nr; i++)
		tdma_chan_init(&engine->chan[i]);
	for (i = 0; i < nr; i++) {
		ret = tdma_chan_start(engine, i);
		if (ret)
			return ret;
	}
	ret = dma_async_device_register(&engine->dma);
	if (!ret) {
		kref_get(&engine->ref);
		engine->registered = true;
	}
	return ret;
}

/**
 * tdma_dmaengine_unregister - take the channels back
 * @tdev: the device
 *
 * Clients that have not let go keep their channel; from tdma_device_quiesce()
 * on every transfer of theirs ends as aborted.
 */
void tdma_dmaengine_unregister(struct tdma_device *tdev)
{
	if (tdev->dma && tdev->dma->registered)
		dma_async_device_unregister(&tdev->dma->dma);
}

/**
 * tdma_dmaengine_detach - free the DMA memory of the channels
 * @tdev: the device, unregistered, quiesced and never to run again
 */
void tdma_dmaengine_detach(struct tdma_device *tdev)
{
	if (!tdev->dma)
		return;
	tdma_dmaengine_fini_queues(tdev->dma);
	kref_put(&tdev->dma->ref, tdma_dmaengine_free);
	tdev->dma = NULL;
}
