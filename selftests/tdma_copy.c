// SPDX-License-Identifier: GPL-2.0
/*
 * tensordma selftests: every kind of valid job moves exactly the bytes that a
 * plain loop nest moves, and no other byte changes.
 */
#include <sys/mman.h>

#include "tdma_harness.h"
#include "tdma_random.h"
#include "tdma_ref.h"

#define BUF_BYTES	65536
#define RANDOM_JOBS	1000
#define RANDOM_BATCH	16
#define RANDOM_ELEMENTS	1024

FIXTURE(copy)
{
	int fd;
	struct tdma_query caps;
	struct tdma_rng rng;
	struct tdma_buf src;
	struct tdma_buf dst;
};

FIXTURE_VARIANT(copy)
{
	enum tdma_mem src;
	enum tdma_mem dst;
};

FIXTURE_VARIANT_ADD(copy, user_to_user)
{
	.src = TDMA_MEM_USER,
	.dst = TDMA_MEM_USER,
};

FIXTURE_VARIANT_ADD(copy, user_to_hbm)
{
	.src = TDMA_MEM_USER,
	.dst = TDMA_MEM_HBM,
};

FIXTURE_VARIANT_ADD(copy, hbm_to_host)
{
	.src = TDMA_MEM_HBM,
	.dst = TDMA_MEM_HOST,
};

FIXTURE_SETUP(copy)
{
	self->fd = tdma_open(0);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, tdma_query(self->fd, &self->caps));
	ASSERT_EQ(0, tdma_buf_create(&self->src, self->fd, variant->src,
				     BUF_BYTES));
	ASSERT_EQ(0, tdma_buf_create(&self->dst, self->fd, variant->dst,
				     BUF_BYTES));
	tdma_rand_fill(&self->rng, &self->src);
	tdma_rand_fill(&self->rng, &self->dst);
}

FIXTURE_TEARDOWN(copy)
{
	close(self->fd);
}

static struct tdma_desc copy_desc(FIXTURE_DATA(copy) *self, __u32 elem_bytes)
{
	return tdma_desc_copy(self->src.handle, self->dst.handle, elem_bytes);
}

/* The bytes of a segment as they should be. */
static unsigned char *image_of(FIXTURE_DATA(copy) *self, __u32 handle)
{
	return handle == self->src.handle ? self->src.image : self->dst.image;
}

static void reference(FIXTURE_DATA(copy) *self, const union tdma_slot *slots)
{
	const struct tdma_desc *d = &slots[0].desc;

	tdma_ref_run(d, d->flags & TDMA_DESC_EXT ? &slots[1].ext : NULL,
		     image_of(self, d->src_segment),
		     image_of(self, d->dst_segment));
}

static void check_slots(struct __test_metadata *_metadata,
			FIXTURE_DATA(copy) *self, const union tdma_slot *slots)
{
	const struct tdma_desc *d = &slots[0].desc;
	__u64 elements = tdma_ref_elements(d);
	struct tdma_record rec;

	rec = EXPECT_RUN(TDMA_STATUS_OK, self->fd, slots);
	if (d->opcode == TDMA_OP_NOP)
		elements = 0;
	EXPECT_EQ(d->opcode == TDMA_OP_MEMSET ? 0 : elements, rec.src_done);
	EXPECT_EQ(d->opcode == TDMA_OP_READ ? 0 : elements, rec.dst_done);
	EXPECT_EQ(d->tag, rec.tag);
	reference(self, slots);
	EXPECT_IMAGE(&self->src);
	EXPECT_IMAGE(&self->dst);
}

/* Run one job and compare both buffers, whole, with the reference. */
static void check(struct __test_metadata *_metadata, FIXTURE_DATA(copy) *self,
		  const struct tdma_desc *d)
{
	union tdma_slot slot = { .desc = *d };

	check_slots(_metadata, self, &slot);
}

TEST_F(copy, one_element)
{
	struct tdma_desc d = copy_desc(self, 4);

	d.src_offset = 12;
	d.dst_offset = 40;
	d.tag = ~0ULL;
	check(_metadata, self, &d);
}

TEST_F(copy, contiguous)
{
	struct tdma_desc d = copy_desc(self, 1);

	tdma_dim(&d, BUF_BYTES, 1, 1);
	check(_metadata, self, &d);
}

TEST_F(copy, all_steps_one)
{
	struct tdma_desc d = copy_desc(self, 8);

	for (int i = 0; i < TDMA_MAX_DIMS; i++)
		tdma_dim(&d, 1, 8, 16);
	check(_metadata, self, &d);
}

TEST_F(copy, zero_step_in_each_dimension)
{
	for (int zero = 0; zero < TDMA_MAX_DIMS; zero++) {
		struct tdma_desc d = copy_desc(self, 4);

		for (int i = 0; i < TDMA_MAX_DIMS; i++)
			tdma_dim(&d, i == zero ? 0 : 3, 4, 4);
		check(_metadata, self, &d);
		/* The next job is not held up. */
		d = copy_desc(self, 4);
		tdma_dim(&d, 5, 4, 4);
		d.dst_offset = 64 * zero;
		check(_metadata, self, &d);
	}
}

/* An empty tensor touches no byte: its strides cannot be wrong. */
TEST_F(copy, zero_step_absurd_strides)
{
	struct tdma_desc d = copy_desc(self, 4);

	tdma_dim(&d, 0xffffffff, INT64_MAX, INT64_MIN);
	tdma_dim(&d, 0, INT64_MIN, INT64_MAX);
	tdma_dim(&d, 0xffffffff, INT64_MIN, INT64_MIN);
	tdma_dim(&d, 0xffffffff, 1, 1);
	check(_metadata, self, &d);
}

TEST_F(copy, size_one_absurd_stride)
{
	static const __s64 absurd[] = {
		INT64_MIN, INT64_MAX, -1, 1LL << 40, -(1LL << 32),
	};

	for (size_t i = 0; i < ARRAY_SIZE(absurd); i++) {
		struct tdma_desc d = copy_desc(self, 4);

		tdma_dim(&d, 1, absurd[i], absurd[i]);
		tdma_dim(&d, 7, 4, 8);
		tdma_dim(&d, 1, absurd[i], -absurd[i]);
		check(_metadata, self, &d);
	}
}

TEST_F(copy, source_stride_zero_at_each_level)
{
	for (int level = 0; level < 4; level++) {
		struct tdma_desc d = copy_desc(self, 2);

		for (int i = 0; i < 4; i++)
			tdma_dim(&d, 5, i == level ? 0 : 2 << (2 * i),
				 i ? d.dst_stride[i - 1] * 5 : 2);
		check(_metadata, self, &d);
	}
}

/* Every element of the level lands on the same place; the last one stays. */
TEST_F(copy, destination_stride_zero_at_each_level)
{
	for (int level = 0; level < 4; level++) {
		struct tdma_desc d = copy_desc(self, 2);

		for (int i = 0; i < 4; i++)
			tdma_dim(&d, 5, i ? d.src_stride[i - 1] * 5 : 2,
				 i == level ? 0 : 2 << (2 * i));
		check(_metadata, self, &d);
	}
}

TEST_F(copy, both_strides_zero)
{
	struct tdma_desc d = copy_desc(self, 16);

	tdma_dim(&d, 1000, 0, 0);
	check(_metadata, self, &d);
}

TEST_F(copy, reversed_source)
{
	struct tdma_desc d = copy_desc(self, 4);

	d.src_offset = BUF_BYTES - 4;
	tdma_dim(&d, BUF_BYTES / 4, -4, 4);
	check(_metadata, self, &d);
}

TEST_F(copy, reversed_destination)
{
	struct tdma_desc d = copy_desc(self, 4);

	d.dst_offset = BUF_BYTES - 4;
	tdma_dim(&d, BUF_BYTES / 4, 4, -4);
	check(_metadata, self, &d);
}

TEST_F(copy, negative_at_each_level)
{
	for (int level = 0; level < 3; level++) {
		struct tdma_desc d = copy_desc(self, 2);

		for (int i = 0; i < 3; i++) {
			__s64 stride = i ? 2 << (3 * i) : 2;

			tdma_dim(&d, 8, i == level ? -stride : stride,
				 stride);
			if (i == level)
				d.src_offset = 7 * stride;
		}
		check(_metadata, self, &d);
	}
}

/* Strides are bytes: elements may overlap and lie on any address. */
TEST_F(copy, strides_not_multiples_of_the_element)
{
	static const __s64 strides[] = { 1, 2, 3, 5, 7, 9, 11, 13, 31, 63 };

	for (size_t i = 0; i < ARRAY_SIZE(strides); i++) {
		struct tdma_desc d = copy_desc(self, 8);

		d.src_offset = 1;
		d.dst_offset = 3;
		tdma_dim(&d, 50, strides[i], 9);
		tdma_dim(&d, 5, 451, 457);
		check(_metadata, self, &d);
		d = copy_desc(self, 8);
		tdma_dim(&d, 50, 8, strides[i]);
		check(_metadata, self, &d);
	}
}

TEST_F(copy, eight_dimensions)
{
	static const __u32 steps[TDMA_MAX_DIMS] = { 2, 3, 2, 4, 3, 2, 5, 2 };
	struct tdma_desc d = copy_desc(self, 4);
	__s64 pitch = 4;

	for (int i = 0; i < TDMA_MAX_DIMS; i++) {
		tdma_dim(&d, steps[i], pitch, 0);
		pitch *= steps[i];
	}
	/* The destination has its dimensions the other way round. */
	pitch = 4;
	for (int i = TDMA_MAX_DIMS - 1; i >= 0; i--) {
		d.dst_stride[i] = pitch;
		pitch *= steps[i];
	}
	check(_metadata, self, &d);
}

TEST_F(copy, transpose)
{
	struct tdma_desc d = copy_desc(self, 2);

	tdma_dim(&d, 181, 2, 2 * 173);
	tdma_dim(&d, 173, 2 * 181, 2);
	check(_metadata, self, &d);
}

TEST_F(copy, extent_ends_on_the_buffer)
{
	struct tdma_desc d = copy_desc(self, 3);

	/* Both ends of both buffers are touched. */
	d.src_offset = BUF_BYTES - 3;
	tdma_dim(&d, 2, -(BUF_BYTES - 3), BUF_BYTES - 3);
	check(_metadata, self, &d);
}

TEST_F(copy, same_buffer_apart)
{
	struct tdma_desc d = tdma_desc_copy(self->src.handle,
					    self->src.handle, 4);

	d.dst_offset = BUF_BYTES / 2;
	tdma_dim(&d, BUF_BYTES / 8, 4, 4);
	check(_metadata, self, &d);
}

/* The loop nest smears the first element over the row. */
TEST_F(copy, same_buffer_one_ahead)
{
	struct tdma_desc d = tdma_desc_copy(self->src.handle,
					    self->src.handle, 4);

	d.dst_offset = 4;
	tdma_dim(&d, 1000, 4, 4);
	check(_metadata, self, &d);
}

TEST_F(copy, same_buffer_one_behind)
{
	struct tdma_desc d = tdma_desc_copy(self->src.handle,
					    self->src.handle, 4);

	d.src_offset = 4;
	tdma_dim(&d, 1000, 4, 4);
	check(_metadata, self, &d);
}

TEST_F(copy, same_buffer_overlapping_bytes)
{
	for (int shift = -9; shift <= 9; shift++) {
		struct tdma_desc d = tdma_desc_copy(self->src.handle,
						    self->src.handle, 8);

		d.src_offset = 1000;
		d.dst_offset = 1000 + shift;
		tdma_dim(&d, 100, 8, 8);
		check(_metadata, self, &d);
	}
}

TEST_F(copy, same_buffer_reversed_in_place)
{
	struct tdma_desc d = tdma_desc_copy(self->src.handle,
					    self->src.handle, 2);

	d.dst_offset = 2 * 999;
	tdma_dim(&d, 1000, 2, -2);
	check(_metadata, self, &d);
}

TEST_F(copy, same_buffer_transposed_in_place)
{
	struct tdma_desc d = tdma_desc_copy(self->src.handle,
					    self->src.handle, 4);

	tdma_dim(&d, 40, 4, 160);
	tdma_dim(&d, 40, 160, 4);
	check(_metadata, self, &d);
}

TEST_F(copy, memset_patterns)
{
	static const char pattern[] = "0123456789abcdef";

	for (__u32 len = 1; len <= TDMA_MAX_FILL_BYTES; len++) {
		struct tdma_desc d = tdma_desc_memset(self->dst.handle,
						      3 * len, pattern, len);

		d.dst_offset = len;
		tdma_dim(&d, 37, 0, 3 * len + 5);
		tdma_dim(&d, 3, 0, 5000);
		check(_metadata, self, &d);
	}
}

TEST_F(copy, memset_whole_buffer)
{
	struct tdma_desc d = tdma_desc_memset(self->dst.handle, 4096, "\xa5",
					      1);

	tdma_dim(&d, BUF_BYTES / 4096, 0, 4096);
	check(_metadata, self, &d);
}

TEST_F(copy, nop)
{
	struct tdma_desc d = {
		.version = TDMA_DESC_VERSION,
		.opcode = TDMA_OP_NOP,
		.tag = 42,
	};

	SKIP_WITHOUT_OPCODE(&self->caps, TDMA_OP_NOP);
	check(_metadata, self, &d);
}

TEST_F(copy, read)
{
	struct tdma_desc d = copy_desc(self, 4);

	SKIP_WITHOUT_OPCODE(&self->caps, TDMA_OP_READ);
	d.opcode = TDMA_OP_READ;
	d.dst_segment = 0;
	tdma_dim(&d, 100, 8, 0);
	check(_metadata, self, &d);
}

/* The element count ends the job in the middle of a row. */
TEST_F(copy, total)
{
	for (__u64 total = 0; total < 40; total += 7) {
		struct tdma_desc d = copy_desc(self, 4);

		d.flags = TDMA_DESC_TOTAL;
		d.total = total;
		tdma_dim(&d, 5, 4, 8);
		tdma_dim(&d, 2, 20, 100);
		tdma_dim(&d, 0, 40, 300);
		check(_metadata, self, &d);
	}
}

TEST_F(copy, total_one_dimension)
{
	struct tdma_desc d = copy_desc(self, 4);

	d.flags = TDMA_DESC_TOTAL;
	d.total = 1000;
	tdma_dim(&d, 0, 8, 4);
	check(_metadata, self, &d);
}

/* Later jobs see what earlier ones of the same call wrote. */
TEST_F(copy, program_order)
{
	struct tdma_record rec;
	struct tdma_submit report;
	struct tdma_desc d[8];

	for (size_t i = 0; i < ARRAY_SIZE(d); i++) {
		bool forth = i % 2 == 0;

		d[i] = tdma_desc_copy(forth ? self->src.handle :
				      self->dst.handle,
				      forth ? self->dst.handle :
				      self->src.handle, 4);
		d[i].dst_offset = 4 * (i + 1);
		tdma_dim(&d[i], 2000, 4, 4);
	}
	ASSERT_EQ(0, tdma_submit(self->fd, d, ARRAY_SIZE(d), &report));
	ASSERT_EQ(ARRAY_SIZE(d), report.accepted);
	for (size_t i = 0; i < ARRAY_SIZE(d); i++) {
		reference(self, (union tdma_slot *)&d[i]);
		EXPECT_EQ(0, tdma_wait(self->fd, report.first_job + i,
				       tdma_patience(), &rec));
		EXPECT_EQ(TDMA_STATUS_OK, rec.status);
	}
	EXPECT_IMAGE(&self->src);
	EXPECT_IMAGE(&self->dst);
}

TEST_F(copy, many_buffers)
{
	struct tdma_buf buf[16];

	for (size_t i = 0; i < ARRAY_SIZE(buf); i++)
		ASSERT_EQ(0, tdma_buf_create(&buf[i], self->fd,
					     i % 2 ? variant->src :
					     variant->dst, 5000 + i));
	/* Hand one row on from buffer to buffer. */
	tdma_rand_fill(&self->rng, &buf[0]);
	for (size_t i = 1; i < ARRAY_SIZE(buf); i++) {
		union tdma_slot slot;

		slot.desc = tdma_desc_copy(buf[i - 1].handle, buf[i].handle,
					   1);
		slot.desc.src_offset = 100 * (i - 1);
		slot.desc.dst_offset = 100 * i;
		tdma_dim(&slot.desc, 777, 1, 1);
		EXPECT_RUN(TDMA_STATUS_OK, self->fd, &slot);
		tdma_ref_run(&slot.desc, NULL, buf[i - 1].image, buf[i].image);
	}
	for (size_t i = 0; i < ARRAY_SIZE(buf); i++) {
		EXPECT_IMAGE(&buf[i]);
		tdma_buf_destroy(&buf[i], self->fd);
	}
}

static void random_batch(struct __test_metadata *_metadata,
			 FIXTURE_DATA(copy) *self, int jobs)
{
	union tdma_slot slots[2 * RANDOM_BATCH];
	struct tdma_submit report;
	struct tdma_record rec;
	int used = 0;

	for (int i = 0; i < jobs; i++) {
		bool swap = !tdma_rand_below(&self->rng, 4);
		bool same = !tdma_rand_below(&self->rng, 4);
		struct tdma_buf *src = swap ? &self->dst : &self->src;
		struct tdma_buf *dst = swap ? &self->src : &self->dst;
		union tdma_slot *slot = &slots[used];

		tdma_rand_job(&self->rng, &self->caps, src, same ? src : dst,
			      RANDOM_ELEMENTS, slot);
		reference(self, slot);
		used += slot->desc.flags & TDMA_DESC_EXT ? 2 : 1;
	}
	ASSERT_EQ(0, tdma_submit(self->fd, slots, used, &report))
		TH_LOG("status %u slot %u field %u", report.error_status,
		       report.error_index, report.error_field);
	ASSERT_EQ(used, report.accepted)
		TH_LOG("status %u slot %u field %u", report.error_status,
		       report.error_index, report.error_field);
	for (int i = 0; i < jobs; i++) {
		ASSERT_EQ(0, tdma_wait(self->fd, report.first_job + i,
				       tdma_patience(), &rec));
		ASSERT_EQ(TDMA_STATUS_OK, rec.status);
	}
}

/* $TDMA_JOBS and $TDMA_SEED choose how many jobs and which. */
TEST_F_TIMEOUT(copy, random, 300)
{
	unsigned long jobs = tdma_env("TDMA_JOBS", RANDOM_JOBS);
	unsigned long seed = tdma_env("TDMA_SEED", tdma_now());
	unsigned long done = 0;

	ksft_print_msg("%lu random jobs, TDMA_SEED=%lu\n", jobs, seed);
	self->rng.state = seed;
	while (done < jobs) {
		int batch = 1 + tdma_rand_below(&self->rng, RANDOM_BATCH);

		random_batch(_metadata, self, batch);
		done += batch;
		ASSERT_EQ(BUF_BYTES, tdma_buf_diff(&self->src))
			TH_LOG("TDMA_SEED=%lu, jobs %lu..%lu", seed,
			       done - batch, done - 1);
		ASSERT_EQ(BUF_BYTES, tdma_buf_diff(&self->dst))
			TH_LOG("TDMA_SEED=%lu, jobs %lu..%lu", seed,
			       done - batch, done - 1);
	}
}

/*
 * Element sizes
 */
FIXTURE(elem)
{
	int fd;
	struct tdma_rng rng;
	struct tdma_buf src;
	struct tdma_buf dst;
};

FIXTURE_VARIANT(elem)
{
	__u32 bytes;
};

FIXTURE_VARIANT_ADD(elem, 1) { .bytes = 1 };
FIXTURE_VARIANT_ADD(elem, 2) { .bytes = 2 };
FIXTURE_VARIANT_ADD(elem, 3) { .bytes = 3 };
FIXTURE_VARIANT_ADD(elem, 4) { .bytes = 4 };
FIXTURE_VARIANT_ADD(elem, 8) { .bytes = 8 };
FIXTURE_VARIANT_ADD(elem, 16) { .bytes = 16 };
FIXTURE_VARIANT_ADD(elem, 512) { .bytes = 512 };
FIXTURE_VARIANT_ADD(elem, 4096) { .bytes = 4096 };
FIXTURE_VARIANT_ADD(elem, 65535) { .bytes = 65535 };
FIXTURE_VARIANT_ADD(elem, 65536) { .bytes = 65536 };

FIXTURE_SETUP(elem)
{
	size_t len = 14 * variant->bytes + 100;

	self->fd = tdma_open(0);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, tdma_buf_create(&self->src, self->fd, TDMA_MEM_USER,
				     len));
	ASSERT_EQ(0, tdma_buf_create(&self->dst, self->fd, TDMA_MEM_USER,
				     len));
	tdma_rand_fill(&self->rng, &self->src);
	tdma_rand_fill(&self->rng, &self->dst);
}

FIXTURE_TEARDOWN(elem)
{
	close(self->fd);
}

TEST_F(elem, transpose)
{
	union tdma_slot slot;
	struct tdma_desc *d = &slot.desc;
	__s64 size = variant->bytes;

	*d = tdma_desc_copy(self->src.handle, self->dst.handle, size);
	d->src_offset = 5;
	d->dst_offset = 11;
	tdma_dim(d, 4, 3 * size + 1, size);
	tdma_dim(d, 3, size, 4 * size + 3);
	EXPECT_RUN(TDMA_STATUS_OK, self->fd, &slot);
	tdma_ref_run(d, NULL, self->src.image, self->dst.image);
	EXPECT_IMAGE(&self->src);
	EXPECT_IMAGE(&self->dst);
}

TEST_F(elem, every_second)
{
	union tdma_slot slot;
	struct tdma_desc *d = &slot.desc;
	__s64 size = variant->bytes;

	*d = tdma_desc_copy(self->src.handle, self->dst.handle, size);
	tdma_dim(d, 7, 2 * size, -2 * size);
	d->dst_offset = 12 * size;
	EXPECT_RUN(TDMA_STATUS_OK, self->fd, &slot);
	tdma_ref_run(d, NULL, self->src.image, self->dst.image);
	EXPECT_IMAGE(&self->dst);
}

TDMA_HARNESS_MAIN
