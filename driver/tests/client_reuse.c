// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of descriptors that are used again.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "client.h"

static struct dma_async_tx_descriptor *reusable(struct client *c, size_t offset,
						size_t len)
{
	struct dma_async_tx_descriptor *tx = client_copy(c, offset, len);

	if (!tx || dmaengine_desc_set_reuse(tx))
		return NULL;
	return tx;
}

static bool three_times(struct client *c)
{
	struct dma_async_tx_descriptor *tx = reusable(c, 100, 20000);
	unsigned int i;

	EXPECT(tx);
	for (i = 0; i < 3; i++) {
		client_fill(c);
		c->src[100] = i;
		memcpy(c->want + 100, c->src + 100, 20000);
		EXPECT(client_run(c, tx));
		EXPECT(client_equal(c));
	}
	EXPECT(!dmaengine_desc_free(tx));
	return true;
}

/* One that consists of several parts, and one that fails in between */
static bool after_failure(struct client *c)
{
	struct dma_async_tx_descriptor *tx;
	struct outcome outcome;
	struct tdma_desc d;
	unsigned int i;

	client_transpose(c, &d, 3, 3);
	d.src_offset = BIT_ULL(45);
	tx = tensordma_prep_tensor(c->chan, &d, NULL, DMA_CTRL_REUSE);
	EXPECT(tx);
	for (i = 0; i < 2; i++) {
		client_submit(tx, &outcome);
		dma_async_issue_pending(c->chan);
		EXPECT(client_wait(&outcome));
		EXPECT(outcome.result.result == DMA_TRANS_READ_FAILED);
		EXPECT(outcome.result.residue == 36);
	}
	EXPECT(!dmaengine_desc_free(tx));
	return true;
}

static bool misuse(struct client *c)
{
	struct dma_async_tx_descriptor *tx = client_copy(c, 0, 64);
	struct outcome outcome;

	EXPECT(tx);
	EXPECT(dmaengine_desc_free(tx) == -EPERM);
	EXPECT(!dmaengine_desc_set_reuse(tx));
	client_submit(tx, &outcome);
	/* On its way it can be neither submitted nor freed. */
	EXPECT(dma_submit_error(dmaengine_submit(tx)));
	EXPECT(dmaengine_desc_free(tx) == -EBUSY);
	dma_async_issue_pending(c->chan);
	EXPECT(client_wait(&outcome));
	EXPECT(outcome.calls == 1);
	EXPECT(!dmaengine_desc_free(tx));
	return true;
}

/* It outlives termination, and ends with a last run without the flag. */
static bool until_cleared(struct client *c)
{
	struct dma_async_tx_descriptor *tx = reusable(c, 0, 3000);
	struct outcome outcome;

	EXPECT(tx);
	EXPECT(client_pause(c));
	client_submit(tx, &outcome);
	dma_async_issue_pending(c->chan);
	EXPECT(!dmaengine_terminate_sync(c->chan));
	EXPECT(!outcome.calls);
	EXPECT(client_run(c, tx));
	dmaengine_desc_clear_reuse(tx);
	client_fill(c);
	memcpy(c->want, c->src, 3000);
	EXPECT(client_run(c, tx));
	EXPECT(client_equal(c));
	return true;
}

/**
 * struct again - a callback that submits its own transfer again
 * @c: the client
 * @tx: the transfer
 * @calls: how often it was called
 * @done: often enough
 */
struct again {
	struct client *c;
	struct dma_async_tx_descriptor *tx;
	unsigned int calls;
	struct completion done;
};

static void once_more(void *param)
{
	struct again *again = param;

	if (++again->calls == 100) {
		complete(&again->done);
		return;
	}
	dmaengine_submit(again->tx);
	dma_async_issue_pending(again->c->chan);
}

static bool from_callback(struct client *c)
{
	struct again again = { .c = c, .tx = reusable(c, 0, 5000) };

	EXPECT(again.tx);
	init_completion(&again.done);
	again.tx->callback = once_more;
	again.tx->callback_param = &again;
	dmaengine_submit(again.tx);
	dma_async_issue_pending(c->chan);
	EXPECT(wait_for_completion_timeout(&again.done, WAIT));
	EXPECT(again.calls == 100);
	EXPECT(!dmaengine_desc_free(again.tx));
	return true;
}

const struct client_test reuse_tests[] = {
	{ "reuse: three times", three_times },
	{ "reuse: after a failure", after_failure },
	{ "reuse: misuse", misuse },
	{ "reuse: until it is cleared", until_cleared },
	{ "reuse: from its own callback", from_callback },
	{ }
};
