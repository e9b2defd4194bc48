// SPDX-License-Identifier: GPL-2.0
/*
 * tensordma selftests: accumulation, type by type, rounding included.
 */
#include "tdma_harness.h"
#include "tdma_random.h"
#include "tdma_ref.h"

#define ELEMENTS	4000

FIXTURE(accumulate)
{
	int fd;
	struct tdma_query caps;
	struct tdma_rng rng;
	struct tdma_buf src;
	struct tdma_buf dst;
};

FIXTURE_VARIANT(accumulate)
{
	__u8 type;
	__u8 bytes;
	__u32 exponent;			/* mask, all ones = infinity or NaN */
};

FIXTURE_VARIANT_ADD(accumulate, s16)
{
	.type = TDMA_TYPE_S16,
	.bytes = 2,
};

FIXTURE_VARIANT_ADD(accumulate, s32)
{
	.type = TDMA_TYPE_S32,
	.bytes = 4,
};

FIXTURE_VARIANT_ADD(accumulate, f16)
{
	.type = TDMA_TYPE_F16,
	.bytes = 2,
	.exponent = 0x7c00,
};

FIXTURE_VARIANT_ADD(accumulate, bf16)
{
	.type = TDMA_TYPE_BF16,
	.bytes = 2,
	.exponent = 0x7f80,
};

FIXTURE_VARIANT_ADD(accumulate, f32)
{
	.type = TDMA_TYPE_F32,
	.bytes = 4,
	.exponent = 0x7f800000,
};

/*
 * Random bit patterns: subnormals, zeros and overflows among them. Infinities
 * and NaNs become finite, because the bits of a NaN sum are not specified.
 */
static void fill(FIXTURE_DATA(accumulate) *self, struct tdma_buf *buf,
		 const FIXTURE_VARIANT(accumulate) *variant)
{
	tdma_rand_fill(&self->rng, buf);
	for (size_t i = 0; variant->exponent && i < buf->len;
	     i += variant->bytes) {
		__u32 bits = 0;

		memcpy(&bits, buf->image + i, variant->bytes);
		/* Near magnitudes are where rounding is interesting. */
		if (tdma_rand_below(&self->rng, 2))
			bits = (bits & ~variant->exponent) |
			       (variant->exponent & (variant->exponent >> 1));
		if ((bits & variant->exponent) == variant->exponent)
			bits &= ~variant->exponent;
		memcpy(buf->image + i, &bits, variant->bytes);
	}
	memcpy(buf->mem, buf->image, buf->len);
}

FIXTURE_SETUP(accumulate)
{
	size_t len = 2 * ELEMENTS * variant->bytes;

	self->fd = tdma_open(0);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, tdma_query(self->fd, &self->caps));
	SKIP_WITHOUT_OPCODE(&self->caps, TDMA_OP_ACCUMULATE);
	if (!(self->caps.types & 1U << variant->type))
		SKIP(return, "device does not offer type %u", variant->type);
	ASSERT_EQ(0, tdma_buf_create(&self->src, self->fd, TDMA_MEM_USER,
				     len));
	ASSERT_EQ(0, tdma_buf_create(&self->dst, self->fd, TDMA_MEM_USER,
				     len));
	fill(self, &self->src, variant);
	fill(self, &self->dst, variant);
}

FIXTURE_TEARDOWN(accumulate)
{
	close(self->fd);
}

/* The same, but all positive and of one magnitude: no sum gets far. */
static void tame(struct tdma_buf *buf,
		 const FIXTURE_VARIANT(accumulate) *variant)
{
	for (size_t i = 0; variant->exponent && i < buf->len;
	     i += variant->bytes) {
		__u32 bits = 0;

		memcpy(&bits, buf->image + i, variant->bytes);
		bits &= ~(variant->exponent | variant->exponent << 1);
		bits |= variant->exponent & (variant->exponent >> 1);
		memcpy(buf->image + i, &bits, variant->bytes);
	}
	memcpy(buf->mem, buf->image, buf->len);
}

static struct tdma_desc add_desc(FIXTURE_DATA(accumulate) *self,
				 const FIXTURE_VARIANT(accumulate) *variant)
{
	struct tdma_desc d = tdma_desc_copy(self->src.handle,
					    self->dst.handle, variant->bytes);

	d.opcode = TDMA_OP_ACCUMULATE;
	d.type = variant->type;
	return d;
}

static void check(struct __test_metadata *_metadata,
		  FIXTURE_DATA(accumulate) *self, const struct tdma_desc *d)
{
	union tdma_slot slot = { .desc = *d };

	EXPECT_RUN(TDMA_STATUS_OK, self->fd, &slot);
	tdma_ref_run(d, NULL, self->src.image, self->dst.image);
	EXPECT_IMAGE(&self->src);
	EXPECT_IMAGE(&self->dst);
}

TEST_F(accumulate, contiguous)
{
	struct tdma_desc d = add_desc(self, variant);

	tdma_dim(&d, 2 * ELEMENTS, variant->bytes, variant->bytes);
	check(_metadata, self, &d);
}

TEST_F(accumulate, transposed)
{
	struct tdma_desc d = add_desc(self, variant);

	tdma_dim(&d, 50, variant->bytes, 80 * variant->bytes);
	tdma_dim(&d, 80, 50 * variant->bytes, variant->bytes);
	check(_metadata, self, &d);
}

/* Unaligned, with gaps, over valid numbers */
TEST_F(accumulate, strided)
{
	struct tdma_desc d = add_desc(self, variant);
	unsigned int pitch = variant->bytes + 1;

	for (int i = 0; i < 1000; i++)
		memcpy(self->dst.image + 1 + i * pitch,
		       self->src.image + i * variant->bytes, variant->bytes);
	memcpy(self->dst.mem, self->dst.image, self->dst.len);
	d.dst_offset = 1;
	tdma_dim(&d, 1000, 2 * variant->bytes, pitch);
	check(_metadata, self, &d);
}

/* A sum of many elements in element order, as rounding makes visible */
TEST_F(accumulate, reduction)
{
	struct tdma_desc d = add_desc(self, variant);

	tame(&self->src, variant);
	tame(&self->dst, variant);
	tdma_dim(&d, ELEMENTS, variant->bytes, 0);
	check(_metadata, self, &d);
}

/* x += x^T on one buffer, in element order */
TEST_F(accumulate, same_buffer)
{
	union tdma_slot slot = { .desc = add_desc(self, variant) };
	struct tdma_desc *d = &slot.desc;

	tame(&self->dst, variant);
	d->src_segment = self->dst.handle;
	tdma_dim(d, 20, 20 * variant->bytes, variant->bytes);
	tdma_dim(d, 20, variant->bytes, 20 * variant->bytes);
	EXPECT_RUN(TDMA_STATUS_OK, self->fd, &slot);
	tdma_ref_run(d, NULL, self->dst.image, self->dst.image);
	EXPECT_IMAGE(&self->dst);
}

TDMA_HARNESS_MAIN
