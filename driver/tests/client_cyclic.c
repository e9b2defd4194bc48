// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of cyclic transfers. The port is a part of the client's memory.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/tensordma_regs.h>

#include "client.h"

#define PERIOD		2048
#define PERIODS		5
#define LENGTH		(PERIOD * PERIODS)
#define WORD		4
#define WINDOW		64
#define WINDOW_BYTES	(WINDOW * WORD)

/**
 * struct cycle - what a callback per period has seen
 * @c: the client
 * @calls: how often it was called
 * @until: how often it is to be called
 * @inject_at: call at which an error is injected; 0 is never
 * @wrong: calls that did not find the period as it should be
 * @result: what the last one was told
 * @done: the last one has been
 */
struct cycle {
	struct client *c;
	unsigned int calls;
	unsigned int until;
	unsigned int inject_at;
	unsigned int wrong;
	struct dmaengine_result result;
	struct completion done;
};

/* A port of @window words in the source or, for a sink, the destination */
static int configure(struct client *c, u32 window)
{
	struct dma_slave_config config = {
		.src_addr = c->src_dma,
		.dst_addr = c->dst_dma,
		.src_addr_width = WORD,
		.dst_addr_width = WORD,
		.src_port_window_size = window,
		.dst_port_window_size = window,
	};

	return dmaengine_slave_config(c->chan, &config);
}

/* The period holds what is in the window, over and over. */
static bool period_is_window(struct client *c, unsigned int period)
{
	unsigned int i;

	for (i = 0; i < PERIOD; i += WINDOW_BYTES)
		if (memcmp(c->dst + period * PERIOD + i, c->src, WINDOW_BYTES))
			return false;
	return true;
}

static void on_period(void *param, const struct dmaengine_result *result)
{
	struct cycle *cycle = param;
	unsigned int period = cycle->calls++ % PERIODS;

	cycle->result = *result;
	if (result->result != DMA_TRANS_NOERROR) {
		complete(&cycle->done);
		return;
	}
	if (result->residue != LENGTH - (period + 1) * PERIOD ||
	    !period_is_window(cycle->c, period))
		cycle->wrong++;
	/* Nobody writes to the period before this function has returned. */
	memset(cycle->c->dst + period * PERIOD, POISON, PERIOD);
	if (cycle->calls == cycle->inject_at)
		client_arm(cycle->c, TDMA_INJECT_BUS_ERROR, 0, 100);
	if (cycle->calls == cycle->until) {
		dmaengine_terminate_async(cycle->c->chan);
		complete(&cycle->done);
	}
}

static dma_cookie_t start(struct client *c, struct cycle *cycle)
{
	struct dma_async_tx_descriptor *tx;

	client_fill(c);
	init_completion(&cycle->done);
	tx = dmaengine_prep_dma_cyclic(c->chan, c->dst_dma, LENGTH, PERIOD,
				       DMA_DEV_TO_MEM, DMA_PREP_INTERRUPT);
	if (!tx)
		return -EINVAL;
	tx->callback_result = on_period;
	tx->callback_param = cycle;
	return dmaengine_submit(tx);
}

/* Period after period, in order, until a callback ends it */
static bool from_window(struct client *c)
{
	struct cycle cycle = { .c = c, .until = 10 * PERIODS + 2 };
	dma_cookie_t cookie;

	EXPECT(!configure(c, WINDOW));
	cookie = start(c, &cycle);
	EXPECT(!dma_submit_error(cookie));
	EXPECT(client_residue(c, cookie) == LENGTH);
	dma_async_issue_pending(c->chan);
	EXPECT(wait_for_completion_timeout(&cycle.done, WAIT));
	dmaengine_synchronize(c->chan);
	EXPECT(cycle.calls == cycle.until);
	EXPECT(!cycle.wrong);
	EXPECT(client_status(c, cookie) == DMA_ERROR);
	/* Nothing behind the buffer */
	EXPECT(!memcmp(c->dst + LENGTH, c->want, BUF_BYTES - LENGTH));
	EXPECT(client_run(c, client_copy(c, 0, 64)));
	return true;
}

static void on_first(void *param)
{
	complete(param);
}

/* All goes to one word: the last of a period, as all are written in order. */
static bool to_register(struct client *c)
{
	DECLARE_COMPLETION_ONSTACK(done);
	struct dma_async_tx_descriptor *tx;
	unsigned int i;
	bool found = false;

	client_fill(c);
	EXPECT(!configure(c, 0));
	tx = dmaengine_prep_dma_cyclic(c->chan, c->src_dma, LENGTH, PERIOD,
				       DMA_MEM_TO_DEV, 0);
	EXPECT(tx);
	tx->callback = on_first;
	tx->callback_param = &done;
	dmaengine_submit(tx);
	/* Too late for this one (D31) */
	EXPECT(!configure(c, WINDOW));
	dma_async_issue_pending(c->chan);
	EXPECT(wait_for_completion_timeout(&done, WAIT));
	EXPECT(!dmaengine_terminate_sync(c->chan));
	for (i = 0; i < LENGTH; i += WORD)
		found |= !memcmp(c->dst, c->src + i, WORD);
	EXPECT(found);
	memcpy(c->want, c->dst, WORD);
	EXPECT(client_equal(c));
	return true;
}

/* Without a callback nobody is waited for; the buffer is written for ever. */
static bool without_callback(struct client *c)
{
	struct dma_async_tx_descriptor *tx;
	unsigned long end = jiffies + WAIT;
	struct outcome behind;
	dma_cookie_t cookie;
	unsigned int lap;
	u32 residue;

	client_fill(c);
	EXPECT(!configure(c, WINDOW));
	tx = dmaengine_prep_dma_cyclic(c->chan, c->dst_dma, PERIOD, PERIOD,
				       DMA_DEV_TO_MEM, 0);
	EXPECT(tx);
	cookie = dmaengine_submit(tx);
	client_submit(client_copy(c, PERIOD, 64), &behind);
	dma_async_issue_pending(c->chan);
	for (lap = 0; lap < 5; lap++) {
		WRITE_ONCE(*(u32 *)c->dst, 0xa5a5a5a5);
		while (READ_ONCE(*(u32 *)c->dst) == 0xa5a5a5a5) {
			EXPECT(time_before(jiffies, end));
			residue = client_residue(c, cookie);
			EXPECT(residue > 0 && residue <= PERIOD);
			EXPECT(client_status(c, cookie) == DMA_IN_PROGRESS);
			cpu_relax();
		}
	}
	EXPECT(!dmaengine_terminate_sync(c->chan));
	EXPECT(!behind.calls);
	client_fill(c);
	msleep(20);
	EXPECT(client_equal(c));
	return true;
}

static bool paused(struct client *c)
{
	struct cycle cycle = { .c = c, .until = UINT_MAX };
	unsigned int calls;
	dma_cookie_t cookie;
	u32 residue;

	EXPECT(!configure(c, WINDOW));
	cookie = start(c, &cycle);
	EXPECT(!dma_submit_error(cookie));
	dma_async_issue_pending(c->chan);
	EXPECT(client_pause(c));
	EXPECT(client_status(c, cookie) == DMA_PAUSED);
	msleep(20);	/* callbacks of what was over before */
	residue = client_residue(c, cookie);
	calls = READ_ONCE(cycle.calls);
	EXPECT(residue > 0 && residue <= LENGTH);
	msleep(20);
	EXPECT(client_residue(c, cookie) == residue);
	EXPECT(READ_ONCE(cycle.calls) == calls);
	EXPECT(!dmaengine_resume(c->chan));
	EXPECT(client_status(c, cookie) == DMA_IN_PROGRESS);
	EXPECT(!dmaengine_terminate_sync(c->chan));
	EXPECT(!cycle.wrong);
	return true;
}

/* An error ends it: the callback is told once, with what is left. */
static bool fails(struct client *c)
{
	struct cycle cycle = { .c = c, .until = UINT_MAX, .inject_at = 7 };
	dma_cookie_t cookie;

	EXPECT(!configure(c, WINDOW));
	cookie = start(c, &cycle);
	EXPECT(!dma_submit_error(cookie));
	dma_async_issue_pending(c->chan);
	EXPECT(wait_for_completion_timeout(&cycle.done, WAIT));
	EXPECT(client_status(c, cookie) == DMA_ERROR);
	EXPECT(cycle.result.result == DMA_TRANS_READ_FAILED);
	EXPECT(cycle.result.residue ==
	       LENGTH - (cycle.calls - 1) % PERIODS * PERIOD);
	EXPECT(cycle.calls > cycle.inject_at && !cycle.wrong);
	/* The channel goes on with others. */
	EXPECT(client_run(c, client_copy(c, 0, 64)));
	EXPECT(!dmaengine_terminate_sync(c->chan));
	return true;
}

static bool refused(struct client *c, size_t len, size_t period,
		    enum dma_transfer_direction direction)
{
	return !dmaengine_prep_dma_cyclic(c->chan, c->dst_dma, len, period,
					  direction, 0);
}

static bool invalid(struct client *c)
{
	struct dma_slave_config nothing = { };
	struct dma_slave_config wide = {
		.src_addr_width = DMA_SLAVE_BUSWIDTH_32_BYTES,
	};

	EXPECT(!dmaengine_slave_config(c->chan, &nothing));
	EXPECT(refused(c, LENGTH, PERIOD, DMA_DEV_TO_MEM));
	EXPECT(dmaengine_slave_config(c->chan, &wide) == -EINVAL);
	EXPECT(!configure(c, WINDOW));
	EXPECT(refused(c, LENGTH, PERIOD, DMA_MEM_TO_MEM));
	EXPECT(refused(c, LENGTH, PERIOD, DMA_DEV_TO_DEV));
	EXPECT(refused(c, 0, PERIOD, DMA_DEV_TO_MEM));
	EXPECT(refused(c, LENGTH, 0, DMA_DEV_TO_MEM));
	EXPECT(refused(c, LENGTH + WORD, PERIOD, DMA_DEV_TO_MEM));
	EXPECT(refused(c, BIT_ULL(32), PERIOD, DMA_DEV_TO_MEM));
	EXPECT(refused(c, 4 * (WINDOW_BYTES + WORD), WINDOW_BYTES + WORD,
		       DMA_DEV_TO_MEM));
	EXPECT(refused(c, 30, 10, DMA_DEV_TO_MEM));
	EXPECT(!dmaengine_prep_dma_cyclic(c->chan, U64_MAX - PERIOD, LENGTH,
					  PERIOD, DMA_DEV_TO_MEM, 0));
	return true;
}

const struct client_test cyclic_tests[] = {
	{ "cyclic: from a window of registers", from_window },
	{ "cyclic: to a register", to_register },
	{ "cyclic: without a callback", without_callback },
	{ "cyclic: paused", paused },
	{ "cyclic: an error ends it", fails, true },
	{ "cyclic: invalid", invalid },
	{ }
};
