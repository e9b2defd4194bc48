// SPDX-License-Identifier: GPL-2.0-only
/*
 * An in-kernel client of the dmaengine channels, for what dmatest does not
 * test: interleaved and tensor transfers, order of submission, errors,
 * residue, pause, terminate, submission from callbacks.
 *
 * The tests run when the module is loaded and report in the kernel's log, one
 * line each, TAP with a prefix. Loading succeeds if all have passed.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bits.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/dmaengine.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "../tensordma.h"

#define BUF_BYTES	65536
#define WAIT		msecs_to_jiffies(30000)
#define POISON		0xa5

/**
 * struct client - what a test works with
 * @chan: the channel
 * @dev: device for the DMA API
 * @src: source memory
 * @dst: destination memory
 * @want: what @dst should become
 * @src_dma: bus address of @src
 * @dst_dma: bus address of @dst
 */
struct client {
	struct dma_chan *chan;
	struct device *dev;
	u8 *src;
	u8 *dst;
	u8 *want;
	dma_addr_t src_dma;
	dma_addr_t dst_dma;
};

/**
 * struct outcome - how a transfer ended
 * @done: completed by the callback
 * @calls: how often the callback was called
 * @result: what it was told
 */
struct outcome {
	struct completion done;
	unsigned int calls;
	struct dmaengine_result result;
};

static void on_result(void *param, const struct dmaengine_result *result)
{
	struct outcome *outcome = param;

	outcome->calls++;
	outcome->result = *result;
	complete(&outcome->done);
}

static void outcome_init(struct outcome *outcome)
{
	memset(outcome, 0, sizeof(*outcome));
	init_completion(&outcome->done);
}

#define EXPECT(condition)						\
	do {								\
		if (!(condition)) {					\
			pr_info("# %s:%d: %s\n", __func__, __LINE__,	\
				#condition);				\
			return false;					\
		}							\
	} while (0)

static void fill(struct client *c)
{
	unsigned int i;

	for (i = 0; i < BUF_BYTES; i++)
		c->src[i] = i * 7 + (i >> 8) * 13;
	memset(c->dst, POISON, BUF_BYTES);
	memset(c->want, POISON, BUF_BYTES);
}

static dma_cookie_t submit(struct dma_async_tx_descriptor *tx,
			   struct outcome *outcome)
{
	outcome_init(outcome);
	tx->callback_result = on_result;
	tx->callback_param = outcome;
	return dmaengine_submit(tx);
}

/* Submit, issue, wait; true if it ended without error. */
static bool run(struct client *c, struct dma_async_tx_descriptor *tx)
{
	struct outcome outcome;
	dma_cookie_t cookie;

	EXPECT(tx);
	cookie = submit(tx, &outcome);
	dma_async_issue_pending(c->chan);
	EXPECT(wait_for_completion_timeout(&outcome.done, WAIT));
	EXPECT(outcome.result.result == DMA_TRANS_NOERROR);
	EXPECT(outcome.result.residue == 0);
	EXPECT(dma_async_is_tx_complete(c->chan, cookie, NULL, NULL) ==
	       DMA_COMPLETE);
	return true;
}

static struct dma_interleaved_template *frames(struct client *c, size_t numf,
					       size_t chunks)
{
	struct dma_interleaved_template *xt;

	xt = kzalloc(struct_size(xt, sgl, chunks), GFP_KERNEL);
	if (!xt)
		return NULL;
	xt->src_start = c->src_dma;
	xt->dst_start = c->dst_dma;
	xt->dir = DMA_MEM_TO_MEM;
	xt->src_inc = true;
	xt->dst_inc = true;
	xt->src_sgl = true;
	xt->dst_sgl = true;
	xt->numf = numf;
	xt->frame_size = chunks;
	return xt;
}

static void reference_frames(struct client *c,
			     struct dma_interleaved_template *xt)
{
	size_t src = 0, dst = 0, frame, i;

	for (frame = 0; frame < xt->numf; frame++) {
		for (i = 0; i < xt->frame_size; i++) {
			struct data_chunk *chunk = &xt->sgl[i];

			memcpy(c->want + dst, c->src + src, chunk->size);
			src += chunk->size + dmaengine_get_src_icg(xt, chunk);
			dst += chunk->size + dmaengine_get_dst_icg(xt, chunk);
		}
	}
}

static bool run_frames(struct client *c, struct dma_interleaved_template *xt)
{
	fill(c);
	reference_frames(c, xt);
	EXPECT(run(c, dmaengine_prep_interleaved_dma(c->chan, xt,
						     DMA_CTRL_ACK)));
	EXPECT(!memcmp(c->dst, c->want, BUF_BYTES));
	return true;
}

static bool interleaved_rows(struct client *c)
{
	struct dma_interleaved_template *xt = frames(c, 37, 1);
	bool good;

	EXPECT(xt);
	xt->sgl[0].size = 113;
	xt->sgl[0].src_icg = 900;
	xt->sgl[0].dst_icg = 1;
	good = run_frames(c, xt);
	/* One gap for both sides, and none at the destination */
	xt->sgl[0] = (struct data_chunk) { .size = 64, .icg = 64 };
	xt->dst_sgl = false;
	good = good && run_frames(c, xt);
	kfree(xt);
	return good;
}

static bool interleaved_chunks(struct client *c)
{
	struct dma_interleaved_template *xt = frames(c, 50, 3);
	bool good;

	EXPECT(xt);
	xt->sgl[0] = (struct data_chunk) { .size = 5, .icg = 3 };
	xt->sgl[1] = (struct data_chunk) { .size = 200, .src_icg = 40 };
	xt->sgl[2] = (struct data_chunk) { .size = 64, .dst_icg = 17 };
	good = run_frames(c, xt);
	kfree(xt);
	return good;
}

static bool refused(struct client *c, struct dma_interleaved_template *xt)
{
	return !dmaengine_prep_interleaved_dma(c->chan, xt, DMA_CTRL_ACK);
}

static bool interleaved_invalid(struct client *c)
{
	struct dma_interleaved_template *xt = frames(c, 65536, 1);
	bool good;

	EXPECT(xt);
	xt->sgl[0].size = 65536;
	good = refused(c, xt);			/* 2^32 bytes */
	xt->numf = 1;
	xt->sgl[0].size = 0;
	good = good && refused(c, xt);
	xt->sgl[0].size = 64;
	xt->sgl[0].icg = SIZE_MAX;
	good = good && refused(c, xt);
	xt->sgl[0].icg = 0;
	xt->numf = 0;
	good = good && refused(c, xt);
	xt->numf = 1;
	xt->frame_size = 0;
	good = good && refused(c, xt);
	xt->frame_size = 1;
	xt->src_inc = false;
	good = good && refused(c, xt);
	xt->src_inc = true;
	xt->dir = DMA_MEM_TO_DEV;
	good = good && refused(c, xt);
	kfree(xt);
	return good;
}

/* A copy of @rows times @columns words, transposed */
static void transpose(struct client *c, struct tdma_desc *d, u32 rows,
		      u32 columns)
{
	*d = (struct tdma_desc) {
		.version = TDMA_DESC_VERSION,
		.opcode = TDMA_OP_COPY,
		.ndims = 2,
		.elem_bytes = 4,
		.src_segment = TENSORDMA_SEGMENT_HOST,
		.dst_segment = TENSORDMA_SEGMENT_HOST,
		.src_offset = c->src_dma,
		.dst_offset = c->dst_dma,
		.steps = { columns, rows },
		.src_stride = { 4, 4 * columns },
		.dst_stride = { 4 * rows, 4 },
	};
}

static bool tensor_transpose(struct client *c)
{
	const u32 rows = 31, columns = 57;
	struct tdma_desc d;
	u32 i, j;

	fill(c);
	transpose(c, &d, rows, columns);
	for (i = 0; i < rows; i++)
		for (j = 0; j < columns; j++)
			memcpy(c->want + 4 * (j * rows + i),
			       c->src + 4 * (i * columns + j), 4);
	EXPECT(run(c, tensordma_prep_tensor(c->chan, &d, DMA_CTRL_ACK)));
	EXPECT(!memcmp(c->dst, c->want, BUF_BYTES));
	return true;
}

static bool tensor_through_hbm(struct client *c)
{
	struct tdma_desc d;

	fill(c);
	transpose(c, &d, 1, 1000);
	d.dst_segment = TENSORDMA_SEGMENT_HBM;
	d.dst_offset = 0;
	EXPECT(run(c, tensordma_prep_tensor(c->chan, &d, DMA_CTRL_ACK)));
	transpose(c, &d, 1, 1000);
	d.src_segment = TENSORDMA_SEGMENT_HBM;
	d.src_offset = 0;
	EXPECT(run(c, tensordma_prep_tensor(c->chan, &d, DMA_CTRL_ACK)));
	memcpy(c->want, c->src, 4000);
	EXPECT(!memcmp(c->dst, c->want, BUF_BYTES));
	return true;
}

static bool tensor_invalid(struct client *c)
{
	struct tdma_desc d;

	transpose(c, &d, 8, 8);
	d.flags = TDMA_DESC_EXT;
	EXPECT(!tensordma_prep_tensor(c->chan, &d, 0));
	transpose(c, &d, 8, 8);
	d.ndims = TDMA_MAX_DIMS + 1;
	EXPECT(!tensordma_prep_tensor(c->chan, &d, 0));
	transpose(c, &d, 8, 8);
	d.src_segment = 2;
	EXPECT(!tensordma_prep_tensor(c->chan, &d, 0));
	transpose(c, &d, 1U << 20, 1U << 10);	/* 4 GiB */
	EXPECT(!tensordma_prep_tensor(c->chan, &d, 0));
	return true;
}

static struct dma_async_tx_descriptor *copy(struct client *c, size_t offset,
					    size_t len)
{
	return dmaengine_prep_dma_memcpy(c->chan, c->dst_dma + offset,
					 c->src_dma + offset, len,
					 DMA_CTRL_ACK);
}

static bool nothing_before_issue(struct client *c)
{
	struct dma_async_tx_descriptor *tx;
	struct outcome outcome;

	fill(c);
	tx = copy(c, 0, BUF_BYTES);
	EXPECT(tx);
	submit(tx, &outcome);
	msleep(50);
	EXPECT(!outcome.calls);
	EXPECT(!memcmp(c->dst, c->want, BUF_BYTES));
	dma_async_issue_pending(c->chan);
	EXPECT(wait_for_completion_timeout(&outcome.done, WAIT));
	EXPECT(!memcmp(c->dst, c->src, BUF_BYTES));
	return true;
}

/* An address that no machine of today has memory at */
#define NOWHERE		BIT_ULL(45)

static struct dma_async_tx_descriptor *bad_copy(struct client *c, bool source)
{
	struct tdma_desc d;

	transpose(c, &d, 1, 16);
	if (source)
		d.src_offset = NOWHERE;
	else
		d.dst_offset = NOWHERE;
	return tensordma_prep_tensor(c->chan, &d, DMA_CTRL_ACK);
}

static bool one_of_three_fails(struct client *c, bool source)
{
	struct dma_async_tx_descriptor *tx[3];
	struct outcome outcome[3];
	dma_cookie_t cookie[3];
	unsigned int i;

	fill(c);
	tx[0] = copy(c, 0, 1000);
	tx[1] = bad_copy(c, source);
	tx[2] = copy(c, 3000, 1000);
	for (i = 0; i < 3; i++) {
		EXPECT(tx[i]);
		cookie[i] = submit(tx[i], &outcome[i]);
	}
	dma_async_issue_pending(c->chan);
	for (i = 0; i < 3; i++)
		EXPECT(wait_for_completion_timeout(&outcome[i].done, WAIT));
	EXPECT(outcome[0].result.result == DMA_TRANS_NOERROR);
	EXPECT(outcome[1].result.result == (source ? DMA_TRANS_READ_FAILED :
					    DMA_TRANS_WRITE_FAILED));
	EXPECT(outcome[1].result.residue == 64);
	EXPECT(outcome[2].result.result == DMA_TRANS_NOERROR);
	for (i = 0; i < 3; i++)
		EXPECT(dma_async_is_tx_complete(c->chan, cookie[i], NULL,
						NULL) ==
		       (i == 1 ? DMA_ERROR : DMA_COMPLETE));
	memcpy(c->want, c->src, 1000);
	memcpy(c->want + 3000, c->src + 3000, 1000);
	EXPECT(!memcmp(c->dst, c->want, BUF_BYTES));
	return true;
}

static bool errors_are_reported(struct client *c)
{
	return one_of_three_fails(c, true) && one_of_three_fails(c, false);
}

/* Copy the buffer over and over: just below 4 GiB, seconds of work */
static struct dma_async_tx_descriptor *long_copy(struct client *c)
{
	struct tdma_desc d = {
		.version = TDMA_DESC_VERSION,
		.opcode = TDMA_OP_COPY,
		.ndims = 2,
		.elem_bytes = 64,
		.src_offset = c->src_dma,
		.dst_offset = c->dst_dma,
		.steps = { BUF_BYTES / 64, 65535 },
		.src_stride = { 64, 0 },
		.dst_stride = { 64, 0 },
	};

	return tensordma_prep_tensor(c->chan, &d, DMA_CTRL_ACK);
}

static u32 residue(struct client *c, dma_cookie_t cookie,
		   enum dma_status *status)
{
	struct dma_tx_state state;

	*status = dmaengine_tx_status(c->chan, cookie, &state);
	return state.residue;
}

static bool pause_and_residue(struct client *c)
{
	const u32 total = 65535U * BUF_BYTES;
	struct dma_async_tx_descriptor *tx;
	struct outcome outcome;
	enum dma_status status;
	dma_cookie_t cookie;
	u32 first, second;

	tx = long_copy(c);
	EXPECT(tx);
	cookie = submit(tx, &outcome);
	EXPECT(residue(c, cookie, &status) == total);
	dma_async_issue_pending(c->chan);
	EXPECT(!dmaengine_pause(c->chan));
	first = residue(c, cookie, &status);
	EXPECT(status == DMA_PAUSED);
	msleep(100);
	EXPECT(residue(c, cookie, &status) == first);
	EXPECT(!dmaengine_resume(c->chan));
	EXPECT(dmaengine_resume(c->chan));
	/* Progress, seen before the end */
	do {
		msleep(20);
		second = residue(c, cookie, &status);
		EXPECT(second <= first);
	} while (second == first && status == DMA_IN_PROGRESS);
	EXPECT(second < first && second > 0);
	EXPECT(!dmaengine_terminate_sync(c->chan));
	EXPECT(!outcome.calls);
	return true;
}

static bool terminate_stops(struct client *c)
{
	struct dma_async_tx_descriptor *tx;
	struct outcome outcome[5];
	dma_cookie_t cookie[5];
	enum dma_status status;
	unsigned int i;

	for (i = 0; i < 5; i++) {
		tx = long_copy(c);
		EXPECT(tx);
		cookie[i] = submit(tx, &outcome[i]);
		if (i == 3)
			dma_async_issue_pending(c->chan);
	}
	msleep(20);
	EXPECT(!dmaengine_terminate_sync(c->chan));
	fill(c);
	msleep(100);
	EXPECT(!memcmp(c->dst, c->want, BUF_BYTES));
	for (i = 0; i < 5; i++) {
		EXPECT(!outcome[i].calls);
		EXPECT(residue(c, cookie[i], &status) == 0);
		EXPECT(status == DMA_ERROR);
	}
	memcpy(c->want + 100, c->src + 100, 5000);
	EXPECT(run(c, copy(c, 100, 5000)));
	EXPECT(!memcmp(c->dst, c->want, BUF_BYTES));
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

	tx = n ? copy(chain->c, 64 * n, 64) : NULL;
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

static bool submit_from_callback(struct client *c)
{
	struct chain chain = { .c = c, .left = 201 };

	fill(c);
	init_completion(&chain.done);
	chain_next(&chain);
	EXPECT(wait_for_completion_timeout(&chain.done, WAIT));
	EXPECT(!chain.failed);
	memcpy(c->want + 64, c->src + 64, 200 * 64);
	EXPECT(!memcmp(c->dst, c->want, BUF_BYTES));
	return true;
}

/* More transfers at once than the ring has slots, from small spare lists */
static bool more_than_the_ring(struct client *c)
{
	const unsigned int count = 1000;
	struct dma_async_tx_descriptor *tx;
	struct outcome outcome;
	unsigned int i;

	fill(c);
	for (i = 0; i < count; i++) {
		tx = copy(c, 64 * i, 64);
		EXPECT(tx);
		if (i == count - 1)
			submit(tx, &outcome);
		else
			dmaengine_submit(tx);
	}
	dma_async_issue_pending(c->chan);
	EXPECT(wait_for_completion_timeout(&outcome.done, WAIT));
	memcpy(c->want, c->src, 64 * count);
	EXPECT(!memcmp(c->dst, c->want, BUF_BYTES));
	return true;
}

static const struct {
	const char *name;
	bool (*run)(struct client *c);
} tests[] = {
	{ "interleaved rows", interleaved_rows },
	{ "interleaved chunks", interleaved_chunks },
	{ "interleaved, invalid", interleaved_invalid },
	{ "tensor: transpose", tensor_transpose },
	{ "tensor: through device memory", tensor_through_hbm },
	{ "tensor, invalid", tensor_invalid },
	{ "nothing starts before issue_pending", nothing_before_issue },
	{ "errors are reported, each where it belongs", errors_are_reported },
	{ "pause, resume, residue", pause_and_residue },
	{ "terminate stops and reports nothing", terminate_stops },
	{ "submission from a callback", submit_from_callback },
	{ "more transfers than the ring has slots", more_than_the_ring },
};

static unsigned int run_tests(struct client *c)
{
	unsigned int i, failures = 0;

	pr_info("1..%zu\n", ARRAY_SIZE(tests));
	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		bool good = tests[i].run(c);

		/* Whatever it left behind must not disturb the next one. */
		if (!good)
			dmaengine_terminate_sync(c->chan);
		pr_info("%s %u %s\n", good ? "ok" : "not ok", i + 1,
			tests[i].name);
		failures += !good;
	}
	return failures;
}

static bool is_ours(struct dma_chan *chan, void *param)
{
	return !strcmp(dev_driver_string(chan->device->dev), "tensordma");
}

static int __init tensordma_test_init(void)
{
	struct client c = { };
	dma_cap_mask_t mask;
	int ret = -ENOMEM;

	dma_cap_zero(mask);
	dma_cap_set(DMA_MEMCPY, mask);
	dma_cap_set(DMA_INTERLEAVE, mask);
	c.chan = dma_request_channel(mask, is_ours, NULL);
	if (!c.chan)
		return -ENODEV;
	c.dev = c.chan->device->dev;
	c.want = kmalloc(BUF_BYTES, GFP_KERNEL);
	c.src = dma_alloc_coherent(c.dev, BUF_BYTES, &c.src_dma, GFP_KERNEL);
	c.dst = dma_alloc_coherent(c.dev, BUF_BYTES, &c.dst_dma, GFP_KERNEL);
	if (c.want && c.src && c.dst)
		ret = run_tests(&c) ? -EIO : 0;
	dma_release_channel(c.chan);
	if (c.dst)
		dma_free_coherent(c.dev, BUF_BYTES, c.dst, c.dst_dma);
	if (c.src)
		dma_free_coherent(c.dev, BUF_BYTES, c.src, c.src_dma);
	kfree(c.want);
	return ret;
}

static void __exit tensordma_test_exit(void)
{
}

module_init(tensordma_test_init);
module_exit(tensordma_test_exit);

MODULE_DESCRIPTION("Test client of the tensor DMA engine's channels");
MODULE_LICENSE("GPL");
