// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of interleaved transfers, and of the lengths of linear ones.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "client.h"

#define MOST_CHUNKS	1500

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

/* What the framework's documentation says the gap of a side is (D12) */
static size_t gap(bool sgl, size_t icg, size_t of_side)
{
	return of_side ? of_side : sgl ? icg : 0;
}

/* The template frame by frame, chunk by chunk; false if it does not fit. */
static bool reference(struct client *c, struct dma_interleaved_template *xt)
{
	size_t src = 0, dst = 0, frame, i;

	for (frame = 0; frame < xt->numf; frame++) {
		for (i = 0; i < xt->frame_size; i++) {
			struct data_chunk *chunk = &xt->sgl[i];

			if (src + chunk->size > BUF_BYTES ||
			    dst + chunk->size > BUF_BYTES)
				return false;
			memcpy(c->want + dst, c->src + src, chunk->size);
			src += chunk->size + gap(xt->src_sgl, chunk->icg,
						 chunk->src_icg);
			dst += chunk->size + gap(xt->dst_sgl, chunk->icg,
						 chunk->dst_icg);
		}
	}
	return true;
}

static bool run_frames(struct client *c, struct dma_interleaved_template *xt)
{
	client_fill(c);
	EXPECT(reference(c, xt));
	EXPECT(client_run(c, dmaengine_prep_interleaved_dma(c->chan, xt,
							    DMA_CTRL_ACK)));
	EXPECT(client_equal(c));
	return true;
}

static bool rows(struct client *c)
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

/* The gap of a side goes before the common one, with *_sgl or without. */
static bool gaps(struct client *c)
{
	struct dma_interleaved_template *xt = frames(c, 9, 2);
	unsigned int i;
	bool good = true;

	EXPECT(xt);
	xt->sgl[0] = (struct data_chunk) { .size = 31, .icg = 9, .src_icg = 5 };
	xt->sgl[1] = (struct data_chunk) { .size = 17, .icg = 3, .dst_icg = 8 };
	for (i = 0; i < 4; i++) {
		xt->src_sgl = i & 1;
		xt->dst_sgl = i & 2;
		good = good && run_frames(c, xt);
	}
	kfree(xt);
	return good;
}

static bool chunks(struct client *c)
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

static bool many_chunks(struct client *c)
{
	struct dma_interleaved_template *xt = frames(c, 2, MOST_CHUNKS);
	unsigned int i;
	bool good;

	EXPECT(xt);
	for (i = 0; i < MOST_CHUNKS; i++)
		xt->sgl[i] = (struct data_chunk) { .size = 9, .src_icg = 7 };
	good = run_frames(c, xt);
	/* No two alike, more parts than the ring has slots */
	xt->frame_size = 900;
	for (i = 0; i < xt->frame_size; i++)
		xt->sgl[i].size = 1 + i % 2 * 4;
	good = good && run_frames(c, xt);
	kfree(xt);
	return good;
}

static void randomize(struct client *c, struct dma_interleaved_template *xt)
{
	const bool alike = client_random(c, 0, 2) == 0;
	const u32 longest = client_random(c, 1, 60);
	size_t i;

	xt->numf = client_random(c, 1, 20);
	xt->frame_size = client_random(c, 1, 24);
	xt->src_sgl = client_random(c, 0, 1);
	xt->dst_sgl = client_random(c, 0, 1);
	for (i = 0; i < xt->frame_size; i++) {
		if (i && alike && client_random(c, 0, 7)) {
			xt->sgl[i] = xt->sgl[i - 1];
			continue;
		}
		xt->sgl[i] = (struct data_chunk) {
			.size = client_random(c, 1, longest),
			.icg = client_random(c, 0, 9),
			.src_icg = client_random(c, 0, 1) * 5,
			.dst_icg = client_random(c, 0, 1) * 11,
		};
	}
}

/* 24 chunks of at most 60 + 11 bytes, 20 times: it always fits. */
static bool random_templates(struct client *c)
{
	struct dma_interleaved_template *xt = frames(c, 1, 24);
	unsigned int i;
	bool good = true;

	EXPECT(xt);
	for (i = 0; i < 200 && good; i++) {
		randomize(c, xt);
		good = run_frames(c, xt);
	}
	kfree(xt);
	return good;
}

static bool refused(struct client *c, struct dma_interleaved_template *xt)
{
	return !dmaengine_prep_interleaved_dma(c->chan, xt, DMA_CTRL_ACK);
}

static bool sizes_invalid(struct client *c, struct dma_interleaved_template *xt)
{
	xt->numf = 65536;
	xt->sgl[0].size = 65536;
	EXPECT(refused(c, xt));		/* 2^32 bytes */
	xt->numf = SIZE_MAX;
	xt->sgl[0].size = 2;
	EXPECT(refused(c, xt));
	xt->numf = 1;
	xt->sgl[0].size = 0;
	EXPECT(refused(c, xt));
	xt->sgl[0].size = 64;
	xt->sgl[0].icg = SIZE_MAX;
	EXPECT(refused(c, xt));
	xt->numf = 0x7fffffff;		/* the last frame is beyond 2^64 */
	xt->sgl[0].size = 1;
	xt->sgl[0].icg = S64_MAX - 1;
	EXPECT(refused(c, xt));
	xt->sgl[0].icg = 0;
	xt->numf = 0;
	EXPECT(refused(c, xt));
	xt->numf = 1;
	xt->frame_size = 0;
	EXPECT(refused(c, xt));
	return true;
}

static bool kinds_invalid(struct client *c, struct dma_interleaved_template *xt)
{
	struct dma_device *dma = c->chan->device;

	xt->numf = 1;
	xt->sgl[0] = (struct data_chunk) { .size = 64 };
	xt->src_inc = false;
	EXPECT(refused(c, xt));
	xt->src_inc = true;
	xt->dst_inc = false;
	EXPECT(refused(c, xt));
	xt->dst_inc = true;
	xt->dir = DMA_MEM_TO_DEV;
	EXPECT(refused(c, xt));
	xt->dir = DMA_MEM_TO_MEM;
	/* Past the framework's own filter */
	EXPECT(!dma->device_prep_interleaved_dma(c->chan, xt, DMA_PREP_REPEAT));
	EXPECT(!dma->device_prep_interleaved_dma(c->chan, xt,
						 DMA_PREP_LOAD_EOT));
	return true;
}

static bool invalid(struct client *c)
{
	struct dma_interleaved_template *xt = frames(c, 1, 1);
	bool good;

	EXPECT(xt);
	good = sizes_invalid(c, xt);
	xt->frame_size = 1;
	good = good && kinds_invalid(c, xt);
	kfree(xt);
	return good;
}

static bool linear_invalid(struct client *c)
{
	EXPECT(!client_copy(c, 0, 0));
	EXPECT(!client_copy(c, 0, BIT_ULL(32)));
	EXPECT(!dmaengine_prep_dma_memset(c->chan, c->dst_dma, 0, 0, 0));
	EXPECT(!dmaengine_prep_dma_memset(c->chan, c->dst_dma, 0,
					  BIT_ULL(32), 0));
	EXPECT(!dmaengine_prep_dma_memcpy(c->chan, c->dst_dma, c->src_dma, 64,
					  DMA_PREP_CMD));
	return true;
}

/* One byte of the value counts, whatever its sign (D13). */
static bool memset_byte(struct client *c)
{
	static const int values[] = { 0, 0x5a, 0x7f, -1, -86, 0x1234 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(values); i++) {
		struct dma_async_tx_descriptor *tx;

		client_fill(c);
		memset(c->want + 3, values[i], 10001);
		tx = dmaengine_prep_dma_memset(c->chan, c->dst_dma + 3,
					       values[i], 10001, DMA_CTRL_ACK);
		EXPECT(client_run(c, tx));
		EXPECT(client_equal(c));
	}
	return true;
}

const struct client_test interleaved_tests[] = {
	{ "interleaved: rows", rows },
	{ "interleaved: chunks", chunks },
	{ "interleaved: gap of a side", gaps },
	{ "interleaved: many chunks", many_chunks },
	{ "interleaved: random", random_templates },
	{ "interleaved: invalid", invalid },
	{ "linear: invalid", linear_invalid },
	{ "memset: one byte of the value", memset_byte },
	{ }
};
