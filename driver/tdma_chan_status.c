// SPDX-License-Identifier: GPL-2.0-only
/*
 * dmaengine provider: cookies, and what became of the transfers behind them.
 *
 * The framework's own helpers are in a header private to drivers/dma.
 */
#include <linux/seq_file.h>

#include "tdma_chan.h"
#include "tdma_desc.h"
#include "tdma_device.h"

/**
 * tdma_cookie_init - nothing has been submitted yet
 * @chan: the channel, without a client
 */
void tdma_cookie_init(struct tdma_chan *chan)
{
	chan->chan.cookie = DMA_MIN_COOKIE;
	chan->chan.completed_cookie = DMA_MIN_COOKIE;
	chan->nr_failed = 0;
	memset(chan->failed, 0, sizeof(chan->failed));
}

static dma_cookie_t tdma_cookie_after(dma_cookie_t cookie)
{
	return cookie < INT_MAX ? cookie + 1 : DMA_MIN_COOKIE;
}

/**
 * tdma_cookie_assign - the next cookie
 * @chan: the channel, its queue's lock held
 *
 * Return: the cookie.
 */
dma_cookie_t tdma_cookie_assign(struct tdma_chan *chan)
{
	lockdep_assert_held(&chan->queue.lock);
	chan->chan.cookie = tdma_cookie_after(chan->chan.cookie);
	return chan->chan.cookie;
}

static struct tdma_failure *tdma_failure(struct tdma_chan *chan,
					 unsigned int number)
{
	return &chan->failed[number % TDMA_CHAN_FAILURES];
}

/* Consecutive ones share an entry: a dead engine fails everything. */
static void tdma_remember_failure(struct tdma_chan *chan, dma_cookie_t first,
				  dma_cookie_t last)
{
	struct tdma_failure *latest = tdma_failure(chan, chan->nr_failed - 1);

	if (chan->nr_failed && tdma_cookie_after(latest->last) == first)
		latest->last = last;
	else
		*tdma_failure(chan, chan->nr_failed++) =
			(struct tdma_failure) { .first = first, .last = last };
}

/**
 * tdma_cookie_complete - a transfer is over
 * @chan: the channel, its queue's lock held
 * @tx: the transfer, the oldest of those that are not over
 */
void tdma_cookie_complete(struct tdma_chan *chan, struct tdma_tx *tx)
{
	lockdep_assert_held(&chan->queue.lock);
	chan->chan.completed_cookie = tx->tx.cookie;
	if (tx->result != DMA_TRANS_NOERROR)
		tdma_remember_failure(chan, tx->tx.cookie, tx->tx.cookie);
	tx->tx.cookie = 0;
}

/**
 * tdma_cookie_retire_all - all that is not over will never be
 * @chan: the channel, its queue's lock held
 */
void tdma_cookie_retire_all(struct tdma_chan *chan)
{
	lockdep_assert_held(&chan->queue.lock);
	if (chan->chan.completed_cookie == chan->chan.cookie)
		return;
	tdma_remember_failure(chan,
			      tdma_cookie_after(chan->chan.completed_cookie),
			      chan->chan.cookie);
	chan->chan.completed_cookie = chan->chan.cookie;
}

/* Is it one of @failure's? Cookies start again at the smallest one. */
static bool tdma_failure_has(const struct tdma_failure *failure,
			     dma_cookie_t cookie)
{
	if (!failure->first)
		return false;
	return (u32)cookie - (u32)failure->first <=
	       (u32)failure->last - (u32)failure->first;
}

static bool tdma_cookie_failed(const struct tdma_chan *chan,
			       dma_cookie_t cookie)
{
	unsigned int i;

	for (i = 0; i < TDMA_CHAN_FAILURES; i++)
		if (tdma_failure_has(&chan->failed[i], cookie))
			return true;
	return false;
}

static enum dma_status tdma_cookie_status(struct tdma_chan *chan,
					  dma_cookie_t cookie,
					  struct dma_tx_state *state)
{
	dma_cookie_t used = chan->chan.cookie;
	dma_cookie_t complete = chan->chan.completed_cookie;

	dma_set_tx_state(state, complete, used, 0);
	if (state)
		state->in_flight_bytes = 0;
	return dma_async_is_complete(cookie, complete, used);
}

static struct tdma_tx *tdma_find_in(struct list_head *list, dma_cookie_t cookie)
{
	struct tdma_tx *tx;

	list_for_each_entry(tx, list, node)
		if (tx->tx.cookie == cookie)
			return tx;
	return NULL;
}

static struct tdma_tx *tdma_find_tx(struct tdma_chan *chan, dma_cookie_t cookie)
{
	struct tdma_tx *tx;

	tx = tdma_find_in(&chan->active, cookie);
	if (!tx)
		tx = tdma_find_in(&chan->issued, cookie);
	if (!tx)
		tx = tdma_find_in(&chan->submitted, cookie);
	return tx;
}

/* Bytes moved; of a cyclic transfer, since the buffer last began */
static u64 tdma_tx_position(struct tdma_chan *chan, struct tdma_tx *tx)
{
	struct tdma_record record;
	struct tdma_part *part;
	u64 done = tx->bytes_done;

	if (tx->periods)
		done = tx->ended % tx->periods * tx->period_bytes;
	if (tx->ended < tx->pushed) {
		part = tdma_tx_part(tx, tx->ended);
		tdma_queue_progress(&chan->queue, &part->job, &record);
		done += tdma_part_bytes(part, &record);
	}
	/* The end of the buffer is its beginning. */
	return tx->periods && done == tx->bytes ? 0 : done;
}

static u32 tdma_residue(struct tdma_chan *chan, dma_cookie_t cookie)
{
	struct tdma_tx *tx = tdma_find_tx(chan, cookie);

	return tx ? tx->bytes - tdma_tx_position(chan, tx) : 0;
}

enum dma_status tdma_tx_status(struct dma_chan *dchan, dma_cookie_t cookie,
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
		if (chan->queue.hw.paused)
			status = DMA_PAUSED;
	}
	spin_unlock_irqrestore(&chan->queue.lock, flags);
	return status;
}

static const char *tdma_chan_state(const struct tdma_chan *chan)
{
	if (chan->queue.state == TDMA_QUEUE_DEAD)
		return "dead";
	if (chan->queue.state == TDMA_QUEUE_OFF)
		return "off";
	if (chan->aborting)
		return "aborting";
	return chan->queue.hw.paused ? "paused" : "on";
}

static unsigned int tdma_count(const struct list_head *list)
{
	const struct list_head *node;
	unsigned int count = 0;

	list_for_each(node, list)
		count++;
	return count;
}

/**
 * tdma_chan_show - a line about a channel, for dmaengine's summary in debugfs
 * @seq: the file
 * @chan: the channel
 */
void tdma_chan_show(struct seq_file *seq, struct tdma_chan *chan)
{
	unsigned long flags;

	spin_lock_irqsave(&chan->queue.lock, flags);
	seq_printf(seq, "queue %u %s, cookie %d of %d, prepared %u, submitted %u, issued %u, active %u, completed %u, terminated %u\n",
		   chan->queue.id, tdma_chan_state(chan),
		   chan->chan.completed_cookie, chan->chan.cookie,
		   tdma_count(&chan->prepared),
		   tdma_count(&chan->submitted),
		   tdma_count(&chan->issued),
		   tdma_count(&chan->active),
		   tdma_count(&chan->completed),
		   tdma_count(&chan->doomed));
	spin_unlock_irqrestore(&chan->queue.lock, flags);
}
