// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of order, status, pause, terminate, and of what callbacks may do.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/irq_work.h>

#include "client.h"

/* Just below 4 GiB: seconds of work, unless somebody ends it */
#define LONG_ELEMENTS	16384
#define LONG_LAPS	65535
#define LONG_BYTES	(4U * LONG_ELEMENTS * LONG_LAPS)

static struct dma_async_tx_descriptor *long_count(struct client *c)
{
	return client_count(c, LONG_ELEMENTS, LONG_LAPS);
}

static bool capabilities(struct client *c)
{
	const u32 directions = BIT(DMA_MEM_TO_MEM) | BIT(DMA_MEM_TO_DEV) |
			       BIT(DMA_DEV_TO_MEM);
	struct dma_device *dma = c->chan->device;
	struct dma_slave_caps caps = { };

	EXPECT(!dma_get_slave_caps(c->chan, &caps));
	EXPECT(caps.directions == directions);
	EXPECT(caps.src_addr_widths == caps.dst_addr_widths);
	EXPECT(caps.src_addr_widths == 0x1011e);
	EXPECT(caps.residue_granularity == DMA_RESIDUE_GRANULARITY_BURST);
	EXPECT(caps.descriptor_reuse);
	EXPECT(caps.cmd_pause && caps.cmd_resume && caps.cmd_terminate);
	EXPECT(dma_has_cap(DMA_PRIVATE, dma->cap_mask));
	EXPECT(!dma_has_cap(DMA_COMPLETION_NO_ORDER, dma->cap_mask));
	EXPECT(!dma_has_cap(DMA_REPEAT, dma->cap_mask));
	EXPECT(!dma->copy_align && !dma->fill_align);
	EXPECT(dmaengine_is_metadata_mode_supported(c->chan,
						    DESC_METADATA_ENGINE));
	return true;
}

static bool nothing_before_issue(struct client *c)
{
	struct dma_async_tx_descriptor *tx;
	struct outcome outcome;

	client_fill(c);
	tx = client_copy(c, 0, BUF_BYTES);
	EXPECT(tx);
	client_submit(tx, &outcome);
	msleep(50);
	EXPECT(!outcome.calls);
	EXPECT(client_equal(c));
	dma_async_issue_pending(c->chan);
	EXPECT(client_wait(&outcome));
	EXPECT(!memcmp(c->dst, c->src, BUF_BYTES));
	return true;
}

/* Each cookie has a status of its own (D17, D18). */
static bool status_of_each(struct client *c)
{
	struct dma_async_tx_descriptor *tx[3];
	struct outcome outcome[3];
	dma_cookie_t cookie[3];
	struct dma_tx_state state;
	unsigned int i;

	EXPECT(client_pause(c));
	for (i = 0; i < 3; i++) {
		tx[i] = client_copy(c, 0, 1000 * (i + 1));
		EXPECT(tx[i]);
		cookie[i] = client_submit(tx[i], &outcome[i]);
		EXPECT(cookie[i] >= DMA_MIN_COOKIE);
		EXPECT(!i || cookie[i] == cookie[i - 1] + 1);
		if (i < 2)
			dma_async_issue_pending(c->chan);
	}
	for (i = 0; i < 3; i++) {
		EXPECT(dmaengine_tx_status(c->chan, cookie[i], &state) ==
		       DMA_PAUSED);
		EXPECT(state.residue == 1000 * (i + 1));
		EXPECT(state.used == cookie[2] && state.last == cookie[0] - 1);
	}
	EXPECT(!dmaengine_resume(c->chan));
	EXPECT(client_wait(&outcome[1]));
	EXPECT(client_status(c, cookie[0]) == DMA_COMPLETE);
	EXPECT(client_status(c, cookie[1]) == DMA_COMPLETE);
	EXPECT(client_residue(c, cookie[1]) == 0);
	EXPECT(client_status(c, cookie[2]) == DMA_IN_PROGRESS);
	EXPECT(client_residue(c, cookie[2]) == 3000);
	dma_async_issue_pending(c->chan);
	EXPECT(client_wait(&outcome[2]));
	EXPECT(client_status(c, cookie[2]) == DMA_COMPLETE);
	return true;
}

/* What is said to be done is done; of the rest, less than a burst is. */
static bool paused_residue(struct client *c, dma_cookie_t cookie, u32 *residue)
{
	const u64 burst = LONG_BYTES / 4ULL * 16 / 1000;
	u64 told, counted;

	EXPECT(client_pause(c));
	EXPECT(client_status(c, cookie) == DMA_PAUSED);
	*residue = client_residue(c, cookie);
	counted = client_counted(c, LONG_ELEMENTS);
	told = (LONG_BYTES - *residue) / 4;
	EXPECT(told <= counted);
	EXPECT(counted - told <= burst);
	msleep(20);
	EXPECT(client_residue(c, cookie) == *residue);
	EXPECT(client_counted(c, LONG_ELEMENTS) == counted);
	return true;
}

static bool pause_and_residue(struct client *c)
{
	struct dma_async_tx_descriptor *tx = long_count(c);
	u32 residue = LONG_BYTES, last, seen = 0;
	struct outcome outcome;
	dma_cookie_t cookie;

	EXPECT(tx);
	cookie = client_submit(tx, &outcome);
	EXPECT(client_residue(c, cookie) == LONG_BYTES);
	EXPECT(dmaengine_resume(c->chan));
	dma_async_issue_pending(c->chan);
	/* Three times further, seen before the end */
	while (seen < 3) {
		last = residue;
		EXPECT(paused_residue(c, cookie, &residue));
		EXPECT(residue <= last && residue > 0);
		seen += residue < last;
		EXPECT(!dmaengine_resume(c->chan));
		EXPECT(dmaengine_resume(c->chan));
		EXPECT(client_status(c, cookie) == DMA_IN_PROGRESS);
		usleep_range(500, 2000);
	}
	EXPECT(!dmaengine_terminate_sync(c->chan));
	EXPECT(!outcome.calls);
	return true;
}

/* A burst of a short transfer is 4 KiB or an element, whichever is more. */
static bool residue_of_short(struct client *c)
{
	struct dma_async_tx_descriptor *tx;
	struct outcome outcome;
	dma_cookie_t cookie;
	u32 residue, last = BUF_BYTES;

	tx = client_copy(c, 0, BUF_BYTES);
	EXPECT(tx);
	cookie = client_submit(tx, &outcome);
	dma_async_issue_pending(c->chan);
	do {
		residue = client_residue(c, cookie);
		EXPECT(residue <= last && residue % 4096 == 0);
		last = residue;
	} while (client_status(c, cookie) == DMA_IN_PROGRESS);
	EXPECT(client_wait(&outcome));
	EXPECT(client_residue(c, cookie) == 0);
	return true;
}

/* Of all lists: over, in the ring, issued, submitted, prepared */
static bool terminate_stops(struct client *c)
{
	struct dma_async_tx_descriptor *tx, *prepared;
	struct outcome outcome[6];
	dma_cookie_t cookie[6];
	unsigned int i;

	for (i = 0; i < 6; i++) {
		tx = i ? long_count(c) : client_copy(c, 0, 64);
		EXPECT(tx);
		cookie[i] = client_submit(tx, &outcome[i]);
		if (i == 4)
			dma_async_issue_pending(c->chan);
	}
	prepared = client_copy(c, 100, 5000);
	EXPECT(prepared);
	EXPECT(client_wait(&outcome[0]));
	EXPECT(!dmaengine_terminate_sync(c->chan));
	client_fill(c);
	msleep(50);
	EXPECT(client_equal(c));
	EXPECT(client_status(c, cookie[0]) == DMA_COMPLETE);
	for (i = 1; i < 6; i++) {
		EXPECT(!outcome[i].calls);
		EXPECT(client_residue(c, cookie[i]) == 0);
		EXPECT(client_status(c, cookie[i]) == DMA_ERROR);
	}
	/* What had not been submitted may still be. */
	memcpy(c->want + 100, c->src + 100, 5000);
	EXPECT(client_run(c, prepared));
	EXPECT(client_equal(c));
	return true;
}

static bool terminate_paused(struct client *c)
{
	struct outcome outcome;
	dma_cookie_t cookie;

	/* Nothing in the ring, then something */
	EXPECT(client_pause(c));
	EXPECT(!dmaengine_terminate_sync(c->chan));
	EXPECT(dmaengine_resume(c->chan));
	EXPECT(client_pause(c));
	cookie = client_submit(long_count(c), &outcome);
	dma_async_issue_pending(c->chan);
	EXPECT(client_status(c, cookie) == DMA_PAUSED);
	EXPECT(!dmaengine_terminate_sync(c->chan));
	EXPECT(!outcome.calls);
	EXPECT(client_status(c, cookie) == DMA_ERROR);
	EXPECT(client_run(c, client_copy(c, 0, 5000)));
	return true;
}

/**
 * struct chain - transfers that start one another
 * @c: the client
 * @left: how many are to come
 * @failed: one could not be prepared
 * @done: the last one has ended
 */
struct chain {
	struct client *c;
	unsigned int left;
	bool failed;
	struct completion done;
};

static void chain_next(void *param)
{
	struct chain *chain = param;
	struct dma_async_tx_descriptor *tx;
	unsigned int n = --chain->left;

	tx = n ? client_copy(chain->c, 64 * n, 64) : NULL;
	if (!tx) {
		chain->failed = n;
		complete(&chain->done);
		return;
	}
	tx->callback = chain_next;
	tx->callback_param = chain;
	dmaengine_submit(tx);
	dma_async_issue_pending(chain->c->chan);
}

static bool chain_run(struct chain *chain)
{
	EXPECT(wait_for_completion_timeout(&chain->done, WAIT));
	EXPECT(!chain->failed);
	memcpy(chain->c->want + 64, chain->c->src + 64, 200 * 64);
	EXPECT(client_equal(chain->c));
	return true;
}

static bool submit_from_callback(struct client *c)
{
	struct chain chain = { .c = c, .left = 201 };

	client_fill(c);
	init_completion(&chain.done);
	chain_next(&chain);
	return chain_run(&chain);
}

/**
 * struct hard - what is to be done in an interrupt handler
 * @work: raises the interrupt
 * @chain: what to start
 * @in_hardirq: it was one
 */
struct hard {
	struct irq_work work;
	struct chain chain;
	bool in_hardirq;
};

static void hard_start(struct irq_work *work)
{
	struct hard *hard = container_of(work, struct hard, work);

	hard->in_hardirq = in_hardirq();
	chain_next(&hard->chain);
}

/* Preparation, submission and issue in interrupt context (D10) */
static bool submit_from_interrupt(struct client *c)
{
	struct hard hard = { .chain = { .c = c, .left = 201 } };

	client_fill(c);
	init_completion(&hard.chain.done);
	/* As a device's handler: in a thread where the kernel threads them. */
	hard.work = IRQ_WORK_INIT(hard_start);
	irq_work_queue(&hard.work);
	irq_work_sync(&hard.work);
	EXPECT(hard.in_hardirq || IS_ENABLED(CONFIG_PREEMPT_RT));
	return chain_run(&hard.chain);
}

/**
 * struct ending - a callback that terminates its own channel
 * @c: the client
 * @calls: how often it was called
 * @done: it has
 */
struct ending {
	struct client *c;
	unsigned int calls;
	struct completion done;
};

static void end_all(void *param)
{
	struct ending *ending = param;

	ending->calls++;
	dmaengine_terminate_async(ending->c->chan);
	complete(&ending->done);
}

static bool terminate_from_callback(struct client *c)
{
	struct ending ending = { .c = c };
	struct dma_async_tx_descriptor *tx;
	dma_cookie_t cookie[3];
	unsigned int i;

	init_completion(&ending.done);
	for (i = 0; i < 3; i++) {
		tx = i == 2 ? long_count(c) : client_copy(c, 0, 64);
		EXPECT(tx);
		tx->callback = end_all;
		tx->callback_param = &ending;
		cookie[i] = dmaengine_submit(tx);
	}
	dma_async_issue_pending(c->chan);
	EXPECT(wait_for_completion_timeout(&ending.done, WAIT));
	dmaengine_synchronize(c->chan);
	EXPECT(ending.calls == 1);
	EXPECT(client_status(c, cookie[0]) == DMA_COMPLETE);
	EXPECT(client_status(c, cookie[2]) == DMA_ERROR);
	EXPECT(client_run(c, client_copy(c, 0, 5000)));
	return true;
}

/* More transfers at once than the ring has slots, from small spare lists */
static bool more_than_the_ring(struct client *c)
{
	const unsigned int count = 1000;
	struct dma_async_tx_descriptor *tx;
	struct outcome outcome;
	unsigned int i;

	client_fill(c);
	for (i = 0; i < count; i++) {
		tx = client_copy(c, 64 * i, 64);
		EXPECT(tx);
		if (i == count - 1)
			client_submit(tx, &outcome);
		else
			dmaengine_submit(tx);
	}
	dma_async_issue_pending(c->chan);
	EXPECT(client_wait(&outcome));
	memcpy(c->want, c->src, 64 * count);
	EXPECT(client_equal(c));
	return true;
}

const struct client_test control_tests[] = {
	{ "control: capabilities", capabilities },
	{ "control: nothing before issue_pending", nothing_before_issue },
	{ "control: status of each cookie", status_of_each },
	{ "control: pause, resume, residue", pause_and_residue },
	{ "control: residue of a short transfer", residue_of_short },
	{ "control: terminate", terminate_stops },
	{ "control: terminate while paused", terminate_paused },
	{ "control: terminate from a callback", terminate_from_callback },
	{ "control: submit from a callback", submit_from_callback },
	{ "control: submit from an interrupt", submit_from_interrupt },
	{ "control: more than the ring has slots", more_than_the_ring },
	{ }
};
