// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of tensor transfers.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "client.h"

static bool transposed(struct client *c)
{
	const u32 rows = 31, columns = 57;
	struct tdma_desc d;
	u32 i, j;

	client_fill(c);
	client_transpose(c, &d, rows, columns);
	for (i = 0; i < rows; i++)
		for (j = 0; j < columns; j++)
			memcpy(c->want + 4 * (j * rows + i),
			       c->src + 4 * (i * columns + j), 4);
	EXPECT(client_run(c, tensordma_prep_tensor(c->chan, &d, NULL,
						   DMA_CTRL_ACK)));
	EXPECT(client_equal(c));
	return true;
}

static bool through_hbm(struct client *c)
{
	struct tdma_desc d;

	client_fill(c);
	client_transpose(c, &d, 1, 1000);
	d.dst_segment = TENSORDMA_SEGMENT_HBM;
	d.dst_offset = 0;
	EXPECT(client_run(c, tensordma_prep_tensor(c->chan, &d, NULL,
						   DMA_CTRL_ACK)));
	client_transpose(c, &d, 1, 1000);
	d.src_segment = TENSORDMA_SEGMENT_HBM;
	d.src_offset = 0;
	EXPECT(client_run(c, tensordma_prep_tensor(c->chan, &d, NULL,
						   DMA_CTRL_ACK)));
	memcpy(c->want, c->src, 4000);
	EXPECT(client_equal(c));
	return true;
}

#define ROWS	5
#define COLUMNS	7
#define PAD	2

/* A matrix of bytes with a frame of PAD bytes of 0xee around it */
static void padded(struct client *c, struct tdma_desc *d,
		   struct tdma_desc_ext *ext)
{
	*d = (struct tdma_desc) {
		.version = TDMA_DESC_VERSION,
		.opcode = TDMA_OP_COPY,
		.flags = TDMA_DESC_EXT,
		.ndims = 2,
		.elem_bytes = 1,
		.src_offset = c->src_dma - PAD * COLUMNS - PAD,
		.dst_offset = c->dst_dma,
		.steps = { COLUMNS + 2 * PAD, ROWS + 2 * PAD },
		.src_stride = { 1, COLUMNS },
		.dst_stride = { 1, COLUMNS + 2 * PAD },
		.fill = { 0xee },
	};
	*ext = (struct tdma_desc_ext) {
		.version = TDMA_DESC_VERSION,
		.naxes = 2,
		.fill_bytes = 1,
		.src_axis = { 1, 2 },
		.src_coef = { 1, 1 },
		.axis_start = { -PAD, -PAD },
		.axis_extent = { COLUMNS, ROWS },
	};
}

static bool padding(struct client *c)
{
	struct dma_async_tx_descriptor *tx;
	struct tdma_desc_ext ext;
	struct tdma_desc d;
	unsigned int i;

	client_fill(c);
	padded(c, &d, &ext);
	memset(c->want, 0xee, (ROWS + 2 * PAD) * (COLUMNS + 2 * PAD));
	for (i = 0; i < ROWS; i++)
		memcpy(c->want + (i + PAD) * (COLUMNS + 2 * PAD) + PAD,
		       c->src + i * COLUMNS, COLUMNS);
	tx = tensordma_prep_tensor(c->chan, &d, &ext, DMA_CTRL_ACK);
	/* The transfer has a copy of its own. */
	memset(&ext, 0xff, sizeof(ext));
	EXPECT(client_run(c, tx));
	EXPECT(client_equal(c));
	return true;
}

/* Each takes two slots, so that some begin in the last one of the ring. */
static bool many_padded(struct client *c)
{
	const unsigned int count = 301;
	struct dma_async_tx_descriptor *tx;
	struct tdma_desc_ext ext;
	struct outcome outcome;
	struct tdma_desc d;
	unsigned int i;

	EXPECT(client_run(c, client_copy(c, 0, 64)));
	client_fill(c);
	padded(c, &d, &ext);
	for (i = 0; i < count; i++) {
		tx = tensordma_prep_tensor(c->chan, &d, &ext, DMA_CTRL_ACK);
		EXPECT(tx);
		if (i == count - 1)
			client_submit(tx, &outcome);
		else
			dmaengine_submit(tx);
	}
	dma_async_issue_pending(c->chan);
	EXPECT(client_wait(&outcome));
	EXPECT(outcome.result.result == DMA_TRANS_NOERROR);
	EXPECT(!memcmp(c->dst + PAD * (COLUMNS + 2 * PAD) + PAD, c->src,
		       COLUMNS));
	return true;
}

static bool invalid(struct client *c)
{
	struct tdma_desc_ext ext;
	struct tdma_desc d;

	client_transpose(c, &d, 8, 8);
	d.ndims = TDMA_MAX_DIMS + 1;
	EXPECT(!tensordma_prep_tensor(c->chan, &d, NULL, 0));
	client_transpose(c, &d, 8, 8);
	d.src_segment = 2;
	EXPECT(!tensordma_prep_tensor(c->chan, &d, NULL, 0));
	client_transpose(c, &d, 1U << 20, 1U << 10);	/* 4 GiB */
	EXPECT(!tensordma_prep_tensor(c->chan, &d, NULL, 0));
	/* A block where none belongs, none where one does, a bad one */
	padded(c, &d, &ext);
	EXPECT(!tensordma_prep_tensor(c->chan, &d, NULL, 0));
	ext.naxes = TDMA_MAX_AXES + 1;
	EXPECT(!tensordma_prep_tensor(c->chan, &d, &ext, 0));
	padded(c, &d, &ext);
	d.flags = 0;
	EXPECT(!tensordma_prep_tensor(c->chan, &d, &ext, 0));
	return true;
}

const struct client_test tensor_tests[] = {
	{ "tensor: transpose", transposed },
	{ "tensor: through device memory", through_hbm },
	{ "tensor: padding", padding },
	{ "tensor: more padding than the ring has slots", many_padded },
	{ "tensor: invalid", invalid },
	{ }
};
