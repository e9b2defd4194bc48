/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Channels of the dmaengine provider, as its files share them.
 *
 * A transfer (struct tdma_tx) is one descriptor of the client and one or more
 * descriptors of the hardware, its parts. It goes through these lists, all
 * under the lock of the channel's queue:
 *
 *	prepared   until tx_submit; reusable ones come back here
 *	submitted  until issue_pending
 *	issued     until all its parts are in the ring
 *	active     until all its parts are over
 *	completed  until its callback has been called
 *
 * The hardware retires descriptors in order, hence cookies complete in order.
 * Lists of terminated transfers are emptied at once, except that a transfer
 * with parts in the ring waits among the doomed until the hardware has given
 * them back. Callbacks are called from a tasklet, without a lock.
 *
 * A cyclic transfer has a part per period, up to a limit, and uses them over
 * and over. It stays at the head of the issued until it is terminated or
 * fails; what is issued behind it waits.
 */
#ifndef TDMA_CHAN_H
#define TDMA_CHAN_H

#include <linux/dmaengine.h>
#include <linux/interrupt.h>

#include "tdma_queue.h"

/* Transfers that a channel keeps ready for prep calls in atomic context */
#define TDMA_CHAN_SPARE		64
/* Ranges of failed cookies that a channel remembers */
#define TDMA_CHAN_FAILURES	32

struct seq_file;
struct tdma_tx;

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
 * @submitted: on the way; may be neither submitted nor freed
 * @doomed: terminated; its callback is not called
 * @result: outcome so far
 * @record: of the part that failed, or of the last one that ended
 * @ext: extension block of the only part, or NULL
 * @bytes: length; of all periods together if cyclic
 * @bytes_done: bytes of the parts that are over, if not cyclic
 * @periods: cyclic: their number; else 0
 * @period_bytes: cyclic: bytes in each
 * @memory: cyclic: address of the first
 * @memory_side: cyclic: on which side of the descriptor
 * @flow: cyclic: a period is armed again when its callback has returned
 * @nr: parts to push in all; shrinks to @pushed when one fails
 * @pushed: parts put into the ring so far
 * @ended: parts that are over
 * @good: parts that were over without an error before one had one
 * @told: cyclic: periods whose callback has returned
 * @capacity: number of elements of @part
 * @part: the parts; number n is at n modulo @capacity
 */
struct tdma_tx {
	struct dma_async_tx_descriptor tx;
	struct list_head node;
	bool submitted;
	bool doomed;
	enum dmaengine_tx_result result;
	struct tdma_record record;
	const struct tdma_desc_ext *ext;
	u64 bytes;
	u64 bytes_done;

	u32 periods;
	u32 period_bytes;
	dma_addr_t memory;
	u8 memory_side;
	bool flow;

	u64 nr;
	u64 pushed;
	u64 ended;
	u64 good;
	u64 told;
	unsigned int capacity;
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
 * @queue: hardware queue; its lock protects all that follows. The client has
 *	paused the channel if @queue.hw.paused; no reset takes that back
 * @config: the other side of cyclic transfers that are yet to be prepared
 * @aborting: the hardware has been told to abort and may not have begun
 * @spare: transfers of one part that are free
 * @nr_spare: number of them
 * @prepared: see above; the same for the next four
 * @submitted: .
 * @issued: .
 * @active: .
 * @completed: .
 * @doomed: terminated, with parts in the ring
 * @telling: cyclic transfer whose callback the tasklet is calling
 * @failed: what ended in error or was terminated
 * @nr_failed: how often that has been
 * @tasklet: calls callbacks
 */
struct tdma_chan {
	struct dma_chan chan;
	struct tdma_queue queue;
	struct dma_slave_config config;
	bool aborting;
	struct list_head spare;
	unsigned int nr_spare;
	struct list_head prepared;
	struct list_head submitted;
	struct list_head issued;
	struct list_head active;
	struct list_head completed;
	struct list_head doomed;
	struct tdma_tx *telling;
	struct tdma_failure failed[TDMA_CHAN_FAILURES];
	unsigned int nr_failed;
	struct tasklet_struct tasklet;
};

static inline struct tdma_chan *to_tdma_chan(struct dma_chan *chan)
{
	return container_of(chan, struct tdma_chan, chan);
}

static inline struct tdma_tx *to_tdma_tx(struct dma_async_tx_descriptor *tx)
{
	return container_of(tx, struct tdma_tx, tx);
}

static inline struct tdma_part *tdma_tx_part(struct tdma_tx *tx, u64 number)
{
	return &tx->part[number % tx->capacity];
}

/* tdma_tx.c: one transfer */
struct tdma_tx *tdma_tx_get(struct tdma_chan *chan, unsigned int nr);
void tdma_tx_drop(struct tdma_chan *chan, struct tdma_tx *tx);
void tdma_tx_put(struct tdma_chan *chan, struct tdma_tx *tx);
int tdma_tx_stock(struct tdma_chan *chan);
void tdma_tx_free_list(struct list_head *list);
struct dma_async_tx_descriptor *
tdma_tx_ready(struct tdma_chan *chan, struct tdma_tx *tx, unsigned long flags);
u64 tdma_part_bytes(const struct tdma_part *part,
		    const struct tdma_record *record);

/* tdma_chan.c: from the client to the ring and back */
void tdma_chan_init(struct tdma_chan *chan);
int tdma_chan_start(struct tdma_chan *chan, struct tdma_device *tdev,
		    unsigned int id);
void tdma_chan_feed(struct tdma_chan *chan);
void tdma_issue_pending(struct dma_chan *dchan);
int tdma_alloc_chan_resources(struct dma_chan *dchan);
void tdma_free_chan_resources(struct dma_chan *dchan);

/* tdma_chan_control.c */
int tdma_config(struct dma_chan *dchan, struct dma_slave_config *config);
int tdma_pause(struct dma_chan *dchan);
int tdma_resume(struct dma_chan *dchan);
int tdma_terminate_all(struct dma_chan *dchan);
void tdma_synchronize(struct dma_chan *dchan);

/* tdma_chan_status.c: what became of a cookie */
void tdma_cookie_init(struct tdma_chan *chan);
dma_cookie_t tdma_cookie_assign(struct tdma_chan *chan);
void tdma_cookie_complete(struct tdma_chan *chan, struct tdma_tx *tx);
void tdma_cookie_retire_all(struct tdma_chan *chan);
enum dma_status tdma_tx_status(struct dma_chan *dchan, dma_cookie_t cookie,
			       struct dma_tx_state *state);
void tdma_chan_show(struct seq_file *seq, struct tdma_chan *chan);

/* tdma_prep.c: descriptors of clients to descriptors of the hardware */
bool tdma_width_ok(enum dma_slave_buswidth width);
struct dma_async_tx_descriptor *
tdma_prep_memcpy(struct dma_chan *dchan, dma_addr_t dst, dma_addr_t src,
		 size_t len, unsigned long flags);
struct dma_async_tx_descriptor *
tdma_prep_memset(struct dma_chan *dchan, dma_addr_t dst, int value, size_t len,
		 unsigned long flags);
struct dma_async_tx_descriptor *
tdma_prep_interleaved(struct dma_chan *dchan,
		      struct dma_interleaved_template *xt,
		      unsigned long flags);
struct dma_async_tx_descriptor *
tdma_prep_cyclic(struct dma_chan *dchan, dma_addr_t memory, size_t len,
		 size_t period, enum dma_transfer_direction direction,
		 unsigned long flags);

/* The bus widths a port of a cyclic transfer may have, BIT() each */
#define TDMA_WIDTHS	(BIT(DMA_SLAVE_BUSWIDTH_1_BYTE) |		\
			 BIT(DMA_SLAVE_BUSWIDTH_2_BYTES) |		\
			 BIT(DMA_SLAVE_BUSWIDTH_3_BYTES) |		\
			 BIT(DMA_SLAVE_BUSWIDTH_4_BYTES) |		\
			 BIT(DMA_SLAVE_BUSWIDTH_8_BYTES) |		\
			 BIT(DMA_SLAVE_BUSWIDTH_16_BYTES))

#endif /* TDMA_CHAN_H */
