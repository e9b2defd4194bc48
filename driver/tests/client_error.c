// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of failures: that each is told to whom it belongs, and nobody else.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bits.h>
#include <linux/tensordma_regs.h>

#include "client.h"

/* An address that no machine of today has memory at */
#define NOWHERE		BIT_ULL(45)
#define MOST		40

/**
 * struct step - a transfer of a batch
 * @read_fails: its source is nowhere
 * @write_fails: its destination is nowhere
 * @tx: the transfer
 * @outcome: how it ended
 * @cookie: its cookie
 */
struct step {
	bool read_fails;
	bool write_fails;
	struct dma_async_tx_descriptor *tx;
	struct outcome outcome;
	dma_cookie_t cookie;
};

static enum dmaengine_tx_result expected(const struct step *step)
{
	return step->read_fails ? DMA_TRANS_READ_FAILED :
	       step->write_fails ? DMA_TRANS_WRITE_FAILED : DMA_TRANS_NOERROR;
}

static bool batch_prepare(struct client *c, struct step *steps, unsigned int nr)
{
	unsigned int i;

	client_fill(c);
	for (i = 0; i < nr; i++) {
		struct tdma_desc d;

		client_transpose(c, &d, 1, 16);
		d.src_offset = steps[i].read_fails ? NOWHERE :
						     d.src_offset + 64 * i;
		d.dst_offset = steps[i].write_fails ? NOWHERE :
						      d.dst_offset + 64 * i;
		if (expected(&steps[i]) == DMA_TRANS_NOERROR)
			memcpy(c->want + 64 * i, c->src + 64 * i, 64);
		steps[i].tx = tensordma_prep_tensor(c->chan, &d, NULL,
						    DMA_CTRL_ACK);
		EXPECT(steps[i].tx);
	}
	return true;
}

static bool step_ended(struct client *c, struct step *step)
{
	bool fails = expected(step) != DMA_TRANS_NOERROR;
	const struct tdma_record *record = &step->outcome.record;

	EXPECT(step->outcome.calls == 1);
	EXPECT(step->outcome.result.result == expected(step));
	EXPECT(step->outcome.result.residue == (fails ? 64 : 0));
	EXPECT(client_status(c, step->cookie) ==
	       (fails ? DMA_ERROR : DMA_COMPLETE));
	if (!fails) {
		EXPECT(record->status == TDMA_STATUS_OK);
		return true;
	}
	EXPECT(record->status == TDMA_STATUS_BUS_ERROR);
	EXPECT(record->fault_side == (step->read_fails ? TDMA_SIDE_SRC :
							 TDMA_SIDE_DST));
	EXPECT(record->fault_offset == NOWHERE);
	return true;
}

static bool batch_run(struct client *c, struct step *steps, unsigned int nr)
{
	unsigned int i;

	EXPECT(batch_prepare(c, steps, nr));
	for (i = 0; i < nr; i++)
		steps[i].cookie = client_submit(steps[i].tx, &steps[i].outcome);
	dma_async_issue_pending(c->chan);
	for (i = 0; i < nr; i++)
		EXPECT(client_wait(&steps[i].outcome));
	for (i = 0; i < nr; i++)
		EXPECT(step_ended(c, &steps[i]));
	EXPECT(client_equal(c));
	return true;
}

static bool with_steps(struct client *c,
		       bool (*test)(struct client *c, struct step *steps))
{
	struct step *steps = kcalloc(MOST, sizeof(*steps), GFP_KERNEL);
	bool good;

	EXPECT(steps);
	good = test(c, steps);
	if (!good)	/* nobody may write to the outcomes any more */
		dmaengine_terminate_sync(c->chan);
	kfree(steps);
	return good;
}

/* Peers have handed the last result to all that are retired together (P4). */
static bool some(struct client *c, struct step *steps)
{
	steps[1].read_fails = true;
	steps[3].write_fails = true;
	return batch_run(c, steps, 5);
}

static bool some_fail(struct client *c)
{
	return with_steps(c, some);
}

/* More than the channel has room to remember, one by one */
static bool all(struct client *c, struct step *steps)
{
	unsigned int i;

	for (i = 0; i < MOST; i++)
		steps[i].read_fails = true;
	return batch_run(c, steps, MOST);
}

static bool all_fail(struct client *c)
{
	return with_steps(c, all);
}

static bool random_ones(struct client *c, struct step *steps)
{
	unsigned int i, round;

	for (round = 0; round < 20; round++) {
		for (i = 0; i < MOST; i++) {
			steps[i].read_fails = !client_random(c, 0, 3);
			steps[i].write_fails = !client_random(c, 0, 3);
			/* Of two faults the source's may come second. */
			steps[i].write_fails &= !steps[i].read_fails;
		}
		EXPECT(batch_run(c, steps, MOST));
	}
	return true;
}

static bool random_ones_fail(struct client *c)
{
	return with_steps(c, random_ones);
}

/* Descriptor @k of five fails on its way; the others do not notice (P1, P2). */
static bool one_of_five(struct client *c, unsigned int k, u32 kind, u32 side)
{
	struct outcome outcome[5];
	dma_cookie_t cookie[5];
	unsigned int i;

	client_fill(c);
	/* Only this one has a second element of 4096 bytes. */
	client_arm(c, kind, side, 1);
	for (i = 0; i < 5; i++) {
		u32 len = i == k ? 8192 : 4096;
		struct dma_async_tx_descriptor *tx;

		tx = client_copy(c, 8192 * i, len);
		EXPECT(tx);
		cookie[i] = client_submit(tx, &outcome[i]);
		memcpy(c->want + 8192 * i, c->src + 8192 * i, 4096);
	}
	dma_async_issue_pending(c->chan);
	for (i = 0; i < 5; i++)
		EXPECT(client_wait(&outcome[i]));
	for (i = 0; i < 5; i++) {
		EXPECT(outcome[i].result.result ==
		       (i != k ? DMA_TRANS_NOERROR : side ?
			DMA_TRANS_WRITE_FAILED : DMA_TRANS_READ_FAILED));
		EXPECT(outcome[i].result.residue == (i == k ? 4096 : 0));
		EXPECT(client_status(c, cookie[i]) ==
		       (i == k ? DMA_ERROR : DMA_COMPLETE));
		EXPECT(client_residue(c, cookie[i]) == 0);
	}
	EXPECT(outcome[k].record.dst_done == 1);
	EXPECT(client_equal(c));
	return true;
}

static bool injected(struct client *c)
{
	unsigned int k;

	for (k = 0; k < 5; k++) {
		EXPECT(one_of_five(c, k, TDMA_INJECT_BUS_ERROR, 0));
		EXPECT(one_of_five(c, k, TDMA_INJECT_BUS_ERROR, 1));
	}
	EXPECT(one_of_five(c, 2, TDMA_INJECT_POISON, 0));
	return true;
}

/* How far it came is told exactly, and no further (A38). */
static bool partial(struct client *c)
{
	const u32 elements = 1000, laps = 50;
	struct dma_async_tx_descriptor *tx;
	struct outcome outcome;
	unsigned int i;

	for (i = 0; i < 20; i++) {
		u32 stop = client_random(c, 0, elements * laps - 1);

		tx = client_count(c, elements, laps);
		EXPECT(tx);
		client_arm(c, TDMA_INJECT_BUS_ERROR, client_random(c, 0, 1),
			   stop);
		client_submit(tx, &outcome);
		dma_async_issue_pending(c->chan);
		EXPECT(client_wait(&outcome));
		EXPECT(outcome.result.result != DMA_TRANS_NOERROR);
		EXPECT(client_counted(c, elements) == stop);
		EXPECT(outcome.record.dst_done == stop);
		EXPECT(outcome.record.status == TDMA_STATUS_BUS_ERROR);
		EXPECT(outcome.result.residue == 4 * (elements * laps - stop));
	}
	return true;
}

/* 4096, 8192 and 100 bytes, one behind the other */
static struct dma_async_tx_descriptor *three_chunks(struct client *c)
{
	struct dma_interleaved_template *xt;
	struct dma_async_tx_descriptor *tx;

	xt = kzalloc(struct_size(xt, sgl, 3), GFP_KERNEL);
	if (!xt)
		return NULL;
	xt->src_start = c->src_dma;
	xt->dst_start = c->dst_dma;
	xt->dir = DMA_MEM_TO_MEM;
	xt->src_inc = true;
	xt->dst_inc = true;
	xt->numf = 1;
	xt->frame_size = 3;
	xt->sgl[0].size = 4096;
	xt->sgl[1].size = 8192;
	xt->sgl[2].size = 100;
	tx = dmaengine_prep_interleaved_dma(c->chan, xt, DMA_CTRL_ACK);
	kfree(xt);
	return tx;
}

/* A transfer of several descriptors fails as a whole, and knows its length. */
static bool in_several_parts(struct client *c)
{
	struct dma_async_tx_descriptor *tx = three_chunks(c);
	struct outcome outcome;
	dma_cookie_t cookie;

	EXPECT(tx);
	client_fill(c);
	client_arm(c, TDMA_INJECT_BUS_ERROR, 1, 1);
	cookie = client_submit(tx, &outcome);
	dma_async_issue_pending(c->chan);
	EXPECT(client_wait(&outcome));
	EXPECT(outcome.calls == 1);
	EXPECT(outcome.result.result == DMA_TRANS_WRITE_FAILED);
	/* The third part was in the ring already and is moved, too. */
	EXPECT(outcome.result.residue == 4096);
	EXPECT(outcome.record.status == TDMA_STATUS_BUS_ERROR);
	EXPECT(outcome.record.dst_done == 1);
	EXPECT(client_status(c, cookie) == DMA_ERROR);
	memcpy(c->want, c->src, 8192);
	memcpy(c->want + 12288, c->src + 12288, 100);
	EXPECT(client_equal(c));
	EXPECT(client_run(c, client_copy(c, 0, 100)));
	return true;
}

const struct client_test error_tests[] = {
	{ "errors: some fail", some_fail },
	{ "errors: all fail", all_fail },
	{ "errors: random ones fail", random_ones_fail },
	{ "errors: one of five, half way", injected, true },
	{ "errors: count and record of what has been moved", partial, true },
	{ "errors: one part of several", in_several_parts, true },
	{ }
};
