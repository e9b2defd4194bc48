// SPDX-License-Identifier: GPL-2.0-only
/*
 * dmaengine provider: life of a transfer outside the ring.
 */
#include <linux/slab.h>

#include "tdma_chan.h"
#include "tdma_desc.h"

/* From this length on, progress is published in per mille, below in bytes. */
#define TDMA_PROGRESS_LONG	262144
#define TDMA_PROGRESS_STEP	16
#define TDMA_PROGRESS_BYTES	4096

static struct tdma_tx *tdma_tx_alloc(unsigned int nr, gfp_t gfp)
{
	struct tdma_tx *tx;
	unsigned int i;

	tx = kzalloc(struct_size(tx, part, nr), gfp);
	if (!tx)
		return NULL;
	tx->capacity = nr;
	for (i = 0; i < nr; i++)
		tx->part[i].owner = tx;
	return tx;
}

/* Forget the last run; the parts stay. */
static void tdma_tx_rewind(struct tdma_tx *tx)
{
	tx->doomed = false;
	tx->result = DMA_TRANS_NOERROR;
	tx->bytes_done = 0;
	tx->nr = tx->periods ? U64_MAX : tx->capacity;
	tx->pushed = 0;
	tx->ended = 0;
	tx->good = 0;
	tx->told = 0;
	memset(&tx->record, 0, sizeof(tx->record));
}

static void tdma_tx_init(struct tdma_chan *chan, struct tdma_tx *tx)
{
	memset(&tx->tx, 0, sizeof(tx->tx));
	dma_async_tx_descriptor_init(&tx->tx, &chan->chan);
	tx->submitted = false;
	tx->bytes = 0;
	tx->periods = 0;
}

/**
 * tdma_tx_get - an empty transfer, in any context
 * @chan: the channel
 * @nr: number of parts
 *
 * Return: the transfer, on no list, or NULL.
 */
struct tdma_tx *tdma_tx_get(struct tdma_chan *chan, unsigned int nr)
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

/* The client cannot use it any more. */
static void tdma_tx_release(struct tdma_chan *chan, struct tdma_tx *tx)
{
	dma_descriptor_unmap(&tx->tx);
	kfree(tx->ext);
	tx->ext = NULL;
	if (tx->capacity == 1 && chan->nr_spare < TDMA_CHAN_SPARE) {
		list_add(&tx->node, &chan->spare);
		chan->nr_spare++;
	} else {
		kfree(tx);
	}
}

/**
 * tdma_tx_drop - a transfer cannot be prepared after all; in any context
 * @chan: the channel
 * @tx: the transfer, on no list
 */
void tdma_tx_drop(struct tdma_chan *chan, struct tdma_tx *tx)
{
	unsigned long flags;

	spin_lock_irqsave(&chan->queue.lock, flags);
	tdma_tx_release(chan, tx);
	spin_unlock_irqrestore(&chan->queue.lock, flags);
}

/**
 * tdma_tx_put - a transfer is over
 * @chan: the channel, its queue's lock held
 * @tx: the transfer, on no list
 *
 * What the client wants to use again goes back to it.
 */
void tdma_tx_put(struct tdma_chan *chan, struct tdma_tx *tx)
{
	lockdep_assert_held(&chan->queue.lock);
	if (dmaengine_desc_test_reuse(&tx->tx)) {
		tx->submitted = false;
		list_add_tail(&tx->node, &chan->prepared);
	} else {
		tdma_tx_release(chan, tx);
	}
}

/**
 * tdma_tx_stock - allocate spare transfers; may sleep
 * @chan: the channel, without a client
 *
 * Return: how many there are.
 */
int tdma_tx_stock(struct tdma_chan *chan)
{
	struct tdma_tx *tx;

	while (chan->nr_spare < TDMA_CHAN_SPARE) {
		tx = tdma_tx_alloc(1, GFP_KERNEL);
		if (!tx)
			break;
		list_add(&tx->node, &chan->spare);
		chan->nr_spare++;
	}
	return chan->nr_spare;
}

/**
 * tdma_tx_free_list - free the transfers of a list
 * @list: the list; nobody uses it any more
 */
void tdma_tx_free_list(struct list_head *list)
{
	struct tdma_tx *tx, *next;

	list_for_each_entry_safe(tx, next, list, node) {
		dma_descriptor_unmap(&tx->tx);
		kfree(tx->ext);
		kfree(tx);
	}
	INIT_LIST_HEAD(list);
}

static dma_cookie_t tdma_tx_submit(struct dma_async_tx_descriptor *async)
{
	struct tdma_chan *chan = to_tdma_chan(async->chan);
	struct tdma_tx *tx = to_tdma_tx(async);
	dma_cookie_t cookie = -EBUSY;
	unsigned long flags;

	spin_lock_irqsave(&chan->queue.lock, flags);
	if (!tx->submitted) {
		tdma_tx_rewind(tx);
		tx->submitted = true;
		tx->flow = tx->periods &&
			   (async->callback || async->callback_result);
		cookie = tdma_cookie_assign(chan);
		async->cookie = cookie;
		list_move_tail(&tx->node, &chan->submitted);
	}
	spin_unlock_irqrestore(&chan->queue.lock, flags);
	return cookie;
}

/* Called by the framework for reusable transfers only */
static int tdma_tx_desc_free(struct dma_async_tx_descriptor *async)
{
	struct tdma_chan *chan = to_tdma_chan(async->chan);
	struct tdma_tx *tx = to_tdma_tx(async);
	unsigned long flags;
	int ret = -EBUSY;

	spin_lock_irqsave(&chan->queue.lock, flags);
	if (!tx->submitted) {
		list_del(&tx->node);
		tdma_tx_release(chan, tx);
		ret = 0;
	}
	spin_unlock_irqrestore(&chan->queue.lock, flags);
	return ret;
}

static void *tdma_tx_metadata(struct dma_async_tx_descriptor *async,
			      size_t *payload_len, size_t *max_len)
{
	struct tdma_tx *tx = to_tdma_tx(async);

	*payload_len = sizeof(tx->record);
	*max_len = sizeof(tx->record);
	return &tx->record;
}

static struct dma_descriptor_metadata_ops tdma_tx_metadata_ops = {
	.get_ptr = tdma_tx_metadata,
};

/* Elements between two updates of the counts, unless the client has said */
static void tdma_add_progress(struct tdma_desc *desc, u64 bytes)
{
	bool dst = tdma_desc_uses(desc, TDMA_DESC_DST);
	u32 *interval = dst ? &desc->dst_sync_interval :
			      &desc->src_sync_interval;

	if (*interval)
		return;
	if (bytes >= TDMA_PROGRESS_LONG) {
		desc->flags |= dst ? TDMA_DESC_DST_PER_MILLE :
				     TDMA_DESC_SRC_PER_MILLE;
		*interval = TDMA_PROGRESS_STEP;
	} else if (bytes > TDMA_PROGRESS_BYTES) {
		*interval = max(TDMA_PROGRESS_BYTES / desc->elem_bytes, 1U);
	}
}

/**
 * tdma_tx_ready - complete a transfer whose descriptors are filled in
 * @chan: the channel
 * @tx: the transfer, on no list
 * @flags: of the client
 *
 * Return: what the client gets.
 */
struct dma_async_tx_descriptor *
tdma_tx_ready(struct tdma_chan *chan, struct tdma_tx *tx, unsigned long flags)
{
	unsigned long irqflags;
	unsigned int i;
	u64 bytes;

	for (i = 0; i < tx->capacity; i++) {
		struct tdma_desc *desc = &tx->part[i].desc;

		bytes = tdma_desc_elements(desc) * desc->elem_bytes;
		tdma_add_progress(desc, bytes);
		/* Room in the ring comes with the end of a descriptor. */
		desc->flags |= TDMA_DESC_IRQ;
		if (!tx->periods)
			tx->bytes += bytes;
	}
	tx->tx.flags = flags;
	tx->tx.tx_submit = tdma_tx_submit;
	tx->tx.desc_free = tdma_tx_desc_free;
	/* The record of a period may change while it is being looked at. */
	if (!tx->periods)
		tx->tx.metadata_ops = &tdma_tx_metadata_ops;

	spin_lock_irqsave(&chan->queue.lock, irqflags);
	list_add_tail(&tx->node, &chan->prepared);
	spin_unlock_irqrestore(&chan->queue.lock, irqflags);
	return &tx->tx;
}

/**
 * tdma_part_bytes - how much of a part has been moved
 * @part: the part
 * @record: its record
 *
 * Return: bytes written; if nothing is written, bytes read.
 */
u64 tdma_part_bytes(const struct tdma_part *part,
		    const struct tdma_record *record)
{
	u64 done = tdma_desc_uses(&part->desc, TDMA_DESC_DST) ?
		   record->dst_done : record->src_done;

	return done * part->desc.elem_bytes;
}
