// SPDX-License-Identifier: GPL-2.0
/*
 * tensordma selftests: extension blocks. Elements outside an axis read as the
 * fill value or are dropped; only what lies inside must be in the buffer.
 */
#include "tdma_harness.h"
#include "tdma_random.h"
#include "tdma_ref.h"

#define BUF_BYTES	65536
#define SRC		0
#define DST		1

FIXTURE(pad)
{
	int fd;
	struct tdma_query caps;
	struct tdma_rng rng;
	struct tdma_buf src;
	struct tdma_buf dst;
	union tdma_slot slots[2];
	struct tdma_desc *desc;
	struct tdma_desc_ext *ext;
};

FIXTURE_SETUP(pad)
{
	self->fd = tdma_open(0);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, tdma_query(self->fd, &self->caps));
	SKIP_WITHOUT_FEATURE(&self->caps, TDMA_FEATURE_EXT);
	ASSERT_EQ(0, tdma_buf_create(&self->src, self->fd, TDMA_MEM_USER,
				     BUF_BYTES));
	ASSERT_EQ(0, tdma_buf_create(&self->dst, self->fd, TDMA_MEM_HBM,
				     BUF_BYTES));
	tdma_rand_fill(&self->rng, &self->src);
	tdma_rand_fill(&self->rng, &self->dst);
	self->desc = &self->slots[0].desc;
	self->ext = &self->slots[1].ext;
}

FIXTURE_TEARDOWN(pad)
{
	close(self->fd);
}

static void start(FIXTURE_DATA(pad) *self, __u32 elem_bytes, __u8 fill_bytes)
{
	memset(self->slots, 0, sizeof(self->slots));
	*self->desc = tdma_desc_copy(self->src.handle, self->dst.handle,
				     elem_bytes);
	self->desc->flags = TDMA_DESC_EXT;
	for (int i = 0; i < fill_bytes; i++)
		self->desc->fill[i] = 0xf0 + i;
	self->ext->version = TDMA_DESC_VERSION;
	self->ext->fill_bytes = fill_bytes;
}

/* A new axis, moved by one dimension. */
static void axis(FIXTURE_DATA(pad) *self, int side, int dim, __s32 coef,
		 __s64 from, __u64 extent)
{
	struct tdma_desc_ext *ext = self->ext;
	int a = ext->naxes++;

	ext->axis_side[a] = side;
	ext->axis_start[a] = from;
	ext->axis_extent[a] = extent;
	if (side == SRC) {
		ext->src_axis[dim] = a + 1;
		ext->src_coef[dim] = coef;
	} else {
		ext->dst_axis[dim] = a + 1;
		ext->dst_coef[dim] = coef;
	}
}

/* Let another dimension move the axis that @from_dim moves at the source. */
static void share_axis(FIXTURE_DATA(pad) *self, int from_dim, int dim,
		       __s32 coef)
{
	self->ext->src_axis[dim] = self->ext->src_axis[from_dim];
	self->ext->src_coef[dim] = coef;
}

static void check(struct __test_metadata *_metadata, FIXTURE_DATA(pad) *self)
{
	__u64 elements = tdma_ref_elements(self->desc);
	struct tdma_record rec;

	rec = EXPECT_RUN(TDMA_STATUS_OK, self->fd, self->slots);
	EXPECT_EQ(elements, rec.src_done);
	EXPECT_EQ(elements, rec.dst_done);
	tdma_ref_run(self->desc, self->ext, self->src.image, self->dst.image);
	EXPECT_IMAGE(&self->src);
	EXPECT_IMAGE(&self->dst);
}

/* A border of one pixel of zeros, and the job after it is whole. */
TEST_F(pad, border)
{
	start(self, 1, 1);
	self->desc->fill[0] = 0;
	self->desc->src_offset = 100;
	tdma_dim(self->desc, 5, 1, 1);
	tdma_dim(self->desc, 5, 3, 5);
	axis(self, SRC, 0, 1, -1, 3);
	axis(self, SRC, 1, 1, -1, 3);
	check(_metadata, self);
	start(self, 1, 1);
	self->desc->flags = 0;
	self->desc->fill[0] = 0;
	tdma_dim(self->desc, 16, 1, 1);
	check(_metadata, self);
}

/* The tensor fills the buffer from its first byte: its border lies below. */
TEST_F(pad, border_below_the_buffer)
{
	start(self, 4, 4);
	self->desc->src_offset = -(4ULL * 20 + 4);
	tdma_dim(self->desc, 22, 4, 4);
	tdma_dim(self->desc, 22, 80, 88);
	axis(self, SRC, 0, 1, -1, 20);
	axis(self, SRC, 1, 1, -1, 20);
	check(_metadata, self);
}

/* ...and to its last one: the border lies above. */
TEST_F(pad, border_above_the_buffer)
{
	start(self, 4, 4);
	self->desc->src_offset = BUF_BYTES - 4 * 20 * 20;
	tdma_dim(self->desc, 24, 4, 4);
	tdma_dim(self->desc, 24, 80, 96);
	axis(self, SRC, 0, 1, 0, 20);
	axis(self, SRC, 1, 1, 0, 20);
	check(_metadata, self);
}

TEST_F(pad, fill_patterns)
{
	for (__u8 len = 1; len <= TDMA_MAX_FILL_BYTES; len++) {
		start(self, 2 * len, len);
		self->desc->src_offset = 1000;
		tdma_dim(self->desc, 9, 2 * len, 2 * len + 1);
		axis(self, SRC, 0, 1, -3, 4);
		check(_metadata, self);
	}
}

/* Elements past the end of a destination box are dropped. */
TEST_F(pad, destination_dropped)
{
	start(self, 2, 1);
	self->desc->dst_offset = BUF_BYTES - 2 * 10;
	tdma_dim(self->desc, 16, 2, 2);
	axis(self, DST, 0, 1, 0, 10);
	check(_metadata, self);
	start(self, 2, 1);
	tdma_dim(self->desc, 16, 2, 2);
	tdma_dim(self->desc, 10, 32, 30);
	axis(self, DST, 0, -1, 11, 9);
	check(_metadata, self);
}

TEST_F(pad, both_sides)
{
	start(self, 4, 2);
	self->desc->src_offset = 400;
	tdma_dim(self->desc, 12, 4, 4);
	tdma_dim(self->desc, 9, 48, 60);
	axis(self, SRC, 0, 1, -2, 8);
	axis(self, DST, 1, 1, -1, 7);
	check(_metadata, self);
}

/* Nothing at all lies inside: all fill, or nothing written. */
TEST_F(pad, all_outside)
{
	start(self, 4, 4);
	self->desc->src_offset = 1ULL << 40;
	tdma_dim(self->desc, 30, 4, 4);
	axis(self, SRC, 0, 1, 100, 50);
	check(_metadata, self);
	start(self, 4, 4);
	self->desc->dst_offset = 1ULL << 40;
	tdma_dim(self->desc, 30, 4, 4);
	axis(self, DST, 0, 1, -200, 50);
	check(_metadata, self);
	start(self, 4, 4);
	tdma_dim(self->desc, 30, 4, 4);
	axis(self, SRC, 0, 1, 0, 0);
	check(_metadata, self);
}

/* An axis that no dimension moves is all or nothing. */
TEST_F(pad, still_axis)
{
	for (int from = -1; from <= 1; from++) {
		start(self, 4, 4);
		tdma_dim(self->desc, 30, 4, 4);
		self->ext->naxes = 1;
		self->ext->axis_start[0] = from;
		self->ext->axis_extent[0] = 1;
		check(_metadata, self);
	}
}

/* kernel x kernel windows over an image of side x side, as one matrix. */
static void im2col(FIXTURE_DATA(pad) *self, int side, int kernel, int stride,
		   int dilation, int border)
{
	int channels = 3, elem = 2, pixel = channels * elem;
	int row = side * pixel;
	int out = (side + 2 * border - dilation * (kernel - 1) - 1) / stride +
		  1;
	__s64 pitch = pixel;

	start(self, elem, 1);
	self->desc->src_offset = -(__u64)(border * (row + pixel));
	tdma_dim(self->desc, channels, elem, elem);
	tdma_dim(self->desc, kernel, dilation * pixel, pitch);
	pitch *= kernel;
	tdma_dim(self->desc, kernel, dilation * row, pitch);
	pitch *= kernel;
	tdma_dim(self->desc, out, stride * pixel, pitch);
	pitch *= out;
	tdma_dim(self->desc, out, stride * row, pitch);
	axis(self, SRC, 1, dilation, -border, side);
	share_axis(self, 1, 3, stride);
	axis(self, SRC, 2, dilation, -border, side);
	share_axis(self, 2, 4, stride);
}

TEST_F(pad, im2col)
{
	im2col(self, 10, 3, 1, 1, 1);
	check(_metadata, self);
	im2col(self, 14, 7, 2, 1, 3);
	check(_metadata, self);
	im2col(self, 12, 3, 1, 2, 2);
	check(_metadata, self);
	im2col(self, 11, 3, 2, 3, 0);
	check(_metadata, self);
}

/* Channels 7 to blocks of 8: the eighth of each block is written as zero. */
TEST_F(pad, blocked_layout)
{
	start(self, 4, 4);
	memset(self->desc->fill, 0, 4);
	tdma_dim(self->desc, 8, 25 * 4, 4);
	tdma_dim(self->desc, 25, 4, 32);
	tdma_dim(self->desc, 2, 8 * 25 * 4, 25 * 32);
	axis(self, SRC, 0, 1, 0, 11);
	share_axis(self, 0, 2, 8);
	check(_metadata, self);
}

TEST_F(pad, total)
{
	start(self, 4, 4);
	self->desc->src_offset = 4096;
	self->desc->flags |= TDMA_DESC_TOTAL;
	self->desc->total = 77;
	tdma_dim(self->desc, 10, 4, 4);
	tdma_dim(self->desc, 0, 40, 44);
	axis(self, SRC, 0, 1, -2, 6);
	axis(self, DST, 1, 1, -1, 5);
	check(_metadata, self);
}

TEST_F(pad, memset_dropped)
{
	start(self, 4, 4);
	self->desc->opcode = TDMA_OP_MEMSET;
	self->desc->type = 4;
	self->desc->src_segment = 0;
	self->ext->fill_bytes = 0;
	self->desc->dst_offset = BUF_BYTES - 40;
	tdma_dim(self->desc, 20, 0, 4);
	axis(self, DST, 0, 1, 0, 10);
	EXPECT_RUN(TDMA_STATUS_OK, self->fd, self->slots);
	tdma_ref_run(self->desc, self->ext, self->src.image, self->dst.image);
	EXPECT_IMAGE(&self->dst);
}

/* One element too many inside, or one byte too far, is refused. */
TEST_F(pad, extent_of_the_part_inside)
{
	struct tdma_record rec;

	start(self, 4, 4);
	self->desc->src_offset = BUF_BYTES - 4 * 10;
	tdma_dim(self->desc, 20, 4, 4);
	axis(self, SRC, 0, 1, 0, 11);
	rec = EXPECT_RUN(TDMA_STATUS_BAD_EXTENT, self->fd, self->slots);
	EXPECT_EQ(TDMA_SIDE_SRC, rec.fault_side);
	EXPECT_EQ(0, rec.dst_done);
	EXPECT_IMAGE(&self->dst);
	self->ext->axis_extent[0] = 10;
	self->desc->src_offset++;
	EXPECT_RUN(TDMA_STATUS_BAD_EXTENT, self->fd, self->slots);
	self->desc->src_offset--;
	check(_metadata, self);
	/* The same at the other end */
	self->desc->src_offset = -4 * 5LL;
	self->ext->axis_start[0] = -5;
	check(_metadata, self);
	self->desc->src_offset--;
	EXPECT_RUN(TDMA_STATUS_BAD_EXTENT, self->fd, self->slots);
}

TDMA_HARNESS_MAIN
