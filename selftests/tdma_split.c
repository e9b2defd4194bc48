// SPDX-License-Identifier: GPL-2.0
/*
 * tensordma selftests: jobs with more dimensions than the device has, which the
 * driver carries out in parts. Where the device has all that a descriptor can
 * name there is nothing to split: make it with dims=2.
 *
 * TDMA_SEED, TDMA_JOBS: random jobs.
 */
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "tdma_harness.h"
#include "tdma_random.h"
#include "tdma_ref.h"
#include "tdma_ring.h"
#include "tdma_text.h"

#define BYTES		(256U << 10)
#define BATCH		8
#define LOST_AT		5U

FIXTURE(split)
{
	int fd;
	long pins;
	__u32 dims;			/* of the device */
	struct tdma_query caps;
	struct tdma_rng rng;
	struct tdma_buf src;
	struct tdma_buf dst;
};

FIXTURE_SETUP(split)
{
	self->pins = tdma_pins();
	self->fd = tdma_open(0);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, tdma_query(self->fd, &self->caps));
	ASSERT_EQ(TDMA_MAX_DIMS, self->caps.max_dims);
	self->dims = self->caps.queue_dims;
	if (self->dims == TDMA_MAX_DIMS)
		SKIP(return, "the device has all dimensions itself");
	self->rng.state = tdma_env("TDMA_SEED", 1);
	ASSERT_EQ(0, tdma_buf_create(&self->src, self->fd, TDMA_MEM_USER,
				     BYTES));
	ASSERT_EQ(0, tdma_buf_create(&self->dst, self->fd, TDMA_MEM_USER,
				     BYTES));
	tdma_rand_fill(&self->rng, &self->src);
	tdma_rand_fill(&self->rng, &self->dst);
}

FIXTURE_TEARDOWN(split)
{
	close(self->fd);
	EXPECT_EQ(self->pins, tdma_pins_settle(self->pins));
}

/*
 * A copy with two dimensions too many: @parts parts, each of @size consecutive
 * bytes.
 */
static union tdma_slot job_in_parts(const FIXTURE_DATA(split) *self,
				    __u32 parts, __u32 size)
{
	union tdma_slot slot = {
		.desc = tdma_desc_copy(self->src.handle, self->dst.handle, 1),
	};

	tdma_dim(&slot.desc, size, 1, 1);
	while (slot.desc.ndims < self->dims)
		tdma_dim(&slot.desc, 1, 0, 0);
	tdma_dim(&slot.desc, parts / 2, size, size);
	tdma_dim(&slot.desc, 2, size * (parts / 2), size * (parts / 2));
	return slot;
}

/* One of these never ends, and is between two parts more often than not. */
static union tdma_slot endless_job(const FIXTURE_DATA(split) *self)
{
	union tdma_slot slot = job_in_parts(self, 2, 1);

	slot.desc.steps[self->dims] = 1U << 31;
	slot.desc.src_stride[self->dims] = 0;
	slot.desc.dst_stride[self->dims] = 0;
	return slot;
}

/* Several at once, with and without too many dimensions, in order */
TEST_F(split, random)
{
	unsigned long jobs = tdma_env("TDMA_JOBS", 400), in_parts = 0;
	union tdma_slot slots[2 * BATCH];
	struct tdma_submit report;
	struct tdma_record rec;

	TH_LOG("TDMA_SEED=%#llx", (unsigned long long)self->rng.state);
	for (unsigned long i = 0; i < jobs; i += BATCH) {
		__u64 elements[BATCH];
		__u32 n = 0, k;

		for (k = 0; k < BATCH; k++) {
			union tdma_slot *slot = &slots[n];

			tdma_rand_job(&self->rng, &self->caps, &self->src,
				      &self->dst, 500, slot);
			tdma_ref_run(&slot[0].desc, &slot[1].ext,
				     self->src.image, self->dst.image);
			elements[k] = slot->desc.opcode == TDMA_OP_NOP ? 0 :
				      tdma_ref_elements(&slot->desc);
			in_parts += slot->desc.ndims > self->dims;
			n += slot->desc.flags & TDMA_DESC_EXT ? 2 : 1;
		}
		ASSERT_EQ(0, tdma_submit(self->fd, slots, n, &report));
		ASSERT_EQ(n, report.accepted);
		for (k = 0, n = 0; k < BATCH; k++) {
			const struct tdma_desc *d = &slots[n].desc;

			ASSERT_EQ(0, tdma_wait(self->fd, report.first_job + k,
					       tdma_patience(), &rec));
			EXPECT_EQ(TDMA_STATUS_OK, rec.status)
				TH_LOG("%u dimensions, field %u",
				       d->ndims, rec.fault_field);
			EXPECT_EQ(d->tag, rec.tag);
			if (d->opcode != TDMA_OP_READ)
				EXPECT_EQ(elements[k], rec.dst_done);
			if (d->opcode != TDMA_OP_MEMSET)
				EXPECT_EQ(elements[k], rec.src_done);
			n += d->flags & TDMA_DESC_EXT ? 2 : 1;
		}
		EXPECT_IMAGE(&self->dst);
	}
	EXPECT_LT(jobs / 4, in_parts);
}

TEST_F(split, no_elements)
{
	union tdma_slot slot = job_in_parts(self, 64, 100);

	slot.desc.steps[self->dims] = 0;
	slot.desc.steps[0] = ~0U;
	slot.desc.steps[self->dims + 1] = ~0U;
	EXPECT_EQ(0, EXPECT_RUN(TDMA_STATUS_OK, self->fd, &slot).dst_done);
	EXPECT_IMAGE(&self->dst);
}

/* Part of it can be awaited, and used, while the rest moves. */
TEST_F(split, progress)
{
	union tdma_slot slot = job_in_parts(self, 256, BYTES / 256);
	struct tdma_wait wait = {
		.size = sizeof(wait),
		.deadline_ns = tdma_patience(),
		.min_dst_done = BYTES / 2,
	};
	struct tdma_submit report;

	memcpy(self->dst.image, self->src.image, BYTES);
	ASSERT_EQ(0, tdma_submit(self->fd, &slot, 1, &report));
	wait.job = report.first_job;
	ASSERT_EQ(0, ioctl(self->fd, TDMA_IOC_WAIT, &wait));
	EXPECT_LE(BYTES / 2, wait.record.dst_done);
	EXPECT_EQ(0, memcmp(self->dst.mem, self->dst.image, BYTES / 2));
	if (wait.record.status == TDMA_STATUS_PENDING)
		ASSERT_EQ(0, tdma_wait(self->fd, report.first_job,
				       tdma_patience(), &wait.record));
	EXPECT_EQ(TDMA_STATUS_OK, wait.record.status);
	EXPECT_EQ(BYTES, wait.record.dst_done);
	EXPECT_EQ(BYTES, wait.record.src_done);
	EXPECT_LT(0, wait.record.cycles);
	EXPECT_IMAGE(&self->dst);
}

/* What a part of one cannot do: say so, and move nothing. */
TEST_F(split, limits_are_reported)
{
	union tdma_slot slot = job_in_parts(self, 64, 64);
	struct tdma_submit report;

	slot.desc.flags |= TDMA_DESC_RECORD;
	slot.desc.record_segment = self->dst.handle;
	EXPECT_EQ(-EOPNOTSUPP, tdma_submit(self->fd, &slot, 1, &report));
	EXPECT_EQ(TDMA_STATUS_BAD_NDIMS, report.error_status);
	EXPECT_EQ(offsetof(struct tdma_desc, ndims), report.error_field);
	/* Nor is any part looked at alone: the last byte is one too far. */
	slot = job_in_parts(self, 256, BYTES / 256);
	slot.desc.dst_offset = 1;
	EXPECT_EQ(-EINVAL, tdma_submit(self->fd, &slot, 1, &report));
	EXPECT_EQ(TDMA_STATUS_BAD_EXTENT, report.error_status);
	EXPECT_IMAGE(&self->dst);
}

/* Nobody stands between a user queue and the device. */
TEST_F(split, not_in_a_user_queue)
{
	union tdma_slot slot = job_in_parts(self, 64, 64);
	struct tdma_queue_create arg;
	struct tdma_record rec;
	struct tdma_ring ring;

	ASSERT_EQ(0, tdma_ring_create(self->fd, TDMA_RING_ORDER, -1, &arg));
	ASSERT_TRUE(tdma_ring_map(&ring, self->fd, &arg));
	rec = tdma_ring_run(&ring, &slot);
	EXPECT_EQ(TDMA_STATUS_BAD_NDIMS, rec.status);
	EXPECT_IMAGE(&self->dst);
	tdma_ring_unmap(&ring);
}

/* A part fails: so does the job, there, and nothing behind it moves. */
TEST_F(split, part_fails)
{
	union tdma_slot slots[2] = {
		job_in_parts(self, 64, 64), job_in_parts(self, 2, 64),
	};
	struct tdma_submit report;
	struct tdma_record rec;
	char text[48];

	SKIP_WITHOUT_FEATURE(&self->caps, TDMA_FEATURE_INJECT);
	/* The job behind moves other bytes. */
	slots[1].desc.src_offset = BYTES / 2;
	slots[1].desc.dst_offset = BYTES / 2;
	snprintf(text, sizeof(text), "%u 1 %u", TDMA_INJECT_BUS_ERROR,
		 LOST_AT);
	for (__u32 i = 0; i < self->caps.threads; i++)
		ASSERT_EQ(0, tdma_thread_write(i, "inject", text));
	ASSERT_EQ(0, tdma_submit(self->fd, slots, 1, &report));
	ASSERT_EQ(0, tdma_wait(self->fd, report.first_job, tdma_patience(),
			       &rec));
	for (__u32 i = 0; i < self->caps.threads; i++)
		ASSERT_EQ(0, tdma_thread_write(i, "inject", "0 0 0"));
	EXPECT_EQ(TDMA_STATUS_BUS_ERROR, rec.status);
	EXPECT_EQ(LOST_AT, rec.dst_done);
	memcpy(self->dst.image, self->src.image, LOST_AT);
	EXPECT_IMAGE(&self->dst);
	EXPECT_RUN(TDMA_STATUS_OK, self->fd, &slots[1]);
	memcpy(self->dst.image + BYTES / 2, self->src.image + BYTES / 2, 128);
	EXPECT_IMAGE(&self->dst);
}

/* It can be ended whenever somebody likes, and so can those behind it. */
TEST_F(split, closed)
{
	union tdma_slot slots[3] = {
		endless_job(self), job_in_parts(self, 2, 1), endless_job(self),
	};
	struct tdma_submit report;
	struct tdma_record rec;
	int status;
	pid_t pid;

	for (int i = 0; i < 8; i++) {
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid) {
			FIXTURE_DATA(split) own = *self;

			own.fd = tdma_open(0);
			if (tdma_buf_create(&own.src, own.fd, TDMA_MEM_USER,
					    BYTES) ||
			    tdma_buf_create(&own.dst, own.fd, TDMA_MEM_USER,
					    BYTES))
				_exit(1);
			slots[0] = endless_job(&own);
			if (tdma_submit(own.fd, slots, 1, &report))
				_exit(2);
			usleep(1000 * i);
			if (tdma_wait(own.fd, report.first_job, 0, &rec) !=
			    -ETIME)
				_exit(3);
			raise(SIGKILL);
		}
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		EXPECT_TRUE(WIFSIGNALED(status))
			TH_LOG("status %#x", status);
	}
	slots[0] = endless_job(self);
	ASSERT_EQ(0, tdma_submit(self->fd, slots, 1, &report));
	ASSERT_EQ(0, tdma_submit(self->fd, &slots[1], 2, &report));
	EXPECT_EQ(-ETIME, tdma_wait(self->fd, report.first_job, 0, &rec));
	EXPECT_EQ(0, rec.dst_done);
}

TDMA_HARNESS_MAIN
