// SPDX-License-Identifier: GPL-2.0-only
/*
 * An in-kernel client of the dmaengine channels: what its tests share.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/io.h>
#include <linux/tensordma_regs.h>

#include "client.h"

/* A random number between two, both included */
u32 client_random(struct client *c, u32 lowest, u32 highest)
{
	return lowest + prandom_u32_state(&c->random) % (highest - lowest + 1);
}

/* A source without repetitions, a destination that nobody has touched */
void client_fill(struct client *c)
{
	unsigned int i;

	for (i = 0; i < BUF_BYTES; i++)
		c->src[i] = i * 7 + (i >> 8) * 13;
	memset(c->dst, POISON, BUF_BYTES);
	memset(c->want, POISON, BUF_BYTES);
}

bool client_equal(struct client *c)
{
	unsigned int i;

	for (i = 0; i < BUF_BYTES; i++) {
		if (c->dst[i] != c->want[i]) {
			pr_info("# byte %u is %02x, not %02x\n", i, c->dst[i],
				c->want[i]);
			return false;
		}
	}
	return true;
}

static void on_result(void *param, const struct dmaengine_result *result)
{
	struct outcome *outcome = param;
	struct tdma_record *record;
	size_t len, max;

	outcome->calls++;
	outcome->result = *result;
	if (outcome->tx) {
		record = dmaengine_desc_get_metadata_ptr(outcome->tx, &len,
							 &max);
		if (!IS_ERR(record) && len == sizeof(*record))
			outcome->record = *record;
	}
	complete(&outcome->done);
}

dma_cookie_t client_submit(struct dma_async_tx_descriptor *tx,
			   struct outcome *outcome)
{
	*outcome = (struct outcome) { .tx = tx };
	init_completion(&outcome->done);
	tx->callback_result = on_result;
	tx->callback_param = outcome;
	return dmaengine_submit(tx);
}

bool client_wait(struct outcome *outcome)
{
	return wait_for_completion_timeout(&outcome->done, WAIT);
}

enum dma_status client_status(struct client *c, dma_cookie_t cookie)
{
	return dmaengine_tx_status(c->chan, cookie, NULL);
}

u32 client_residue(struct client *c, dma_cookie_t cookie)
{
	struct dma_tx_state state = { };

	dmaengine_tx_status(c->chan, cookie, &state);
	return state.residue;
}

/* Submit, issue, wait; true if it ended without error. */
bool client_run(struct client *c, struct dma_async_tx_descriptor *tx)
{
	struct outcome outcome;
	dma_cookie_t cookie;

	EXPECT(tx);
	cookie = client_submit(tx, &outcome);
	EXPECT(cookie >= DMA_MIN_COOKIE);
	dma_async_issue_pending(c->chan);
	EXPECT(client_wait(&outcome));
	EXPECT(outcome.result.result == DMA_TRANS_NOERROR);
	EXPECT(outcome.result.residue == 0);
	EXPECT(outcome.record.status == TDMA_STATUS_OK);
	EXPECT(client_status(c, cookie) == DMA_COMPLETE);
	return true;
}

/* An engine that simulates every clock may not stop in time for one try. */
bool client_pause(struct client *c)
{
	unsigned long end = jiffies + WAIT;
	int ret;

	do {
		ret = dmaengine_pause(c->chan);
		if (ret)
			usleep_range(500, 1000);
	} while ((ret == -ETIMEDOUT || ret == -EBUSY) &&
		 time_before(jiffies, end));
	return !ret;
}

/* The next descriptor with that element on that side will fail there. */
void client_arm(struct client *c, u32 kind, u32 side, u64 element)
{
	writel(side, c->thread + TDMA_THREAD_INJECT_SIDE);
	writel(lower_32_bits(element), c->thread + TDMA_THREAD_INJECT_ELEMENT);
	writel(upper_32_bits(element),
	       c->thread + TDMA_THREAD_INJECT_ELEMENT + 4);
	writel(kind, c->thread + TDMA_THREAD_INJECT);
}

struct dma_async_tx_descriptor *client_copy(struct client *c, size_t offset,
					    size_t len)
{
	return dmaengine_prep_dma_memcpy(c->chan, c->dst_dma + offset,
					 c->src_dma + offset, len,
					 DMA_CTRL_ACK);
}

/* A copy of @rows times @columns words, transposed */
void client_transpose(struct client *c, struct tdma_desc *d, u32 rows,
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

/*
 * A transfer that shows how far it has come: lap for lap it adds one to each
 * of @elements words, which thus add up to the number of elements moved.
 */
struct dma_async_tx_descriptor *client_count(struct client *c, u32 elements,
					     u32 laps)
{
	struct tdma_desc d = {
		.version = TDMA_DESC_VERSION,
		.opcode = TDMA_OP_ACCUMULATE,
		.type = TDMA_TYPE_S32,
		.ndims = 2,
		.elem_bytes = 4,
		.src_offset = c->src_dma,
		.dst_offset = c->dst_dma,
		.steps = { elements, laps },
		.dst_stride = { 4, 0 },
	};

	memset(c->dst, 0, BUF_BYTES);
	*(u32 *)c->src = 1;
	return tensordma_prep_tensor(c->chan, &d, NULL, DMA_CTRL_ACK);
}

u64 client_counted(struct client *c, u32 elements)
{
	const u32 *word = (const u32 *)c->dst;
	u64 sum = 0;
	u32 i;

	for (i = 0; i < elements; i++)
		sum += READ_ONCE(word[i]);
	return sum;
}
