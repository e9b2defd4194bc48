// SPDX-License-Identifier: GPL-2.0
/* tensordma selftests: priorities of files, and what they do. */
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "tdma_busy.h"
#include "tdma_harness.h"

#define NOBODY		65534
#define BYTES		4096U
#define LOWER		(TDMA_PRIORITY_DEFAULT - 1)
#define HIGHER		(TDMA_PRIORITY_DEFAULT + 1)

FIXTURE(priority)
{
	int fd;
	struct tdma_query caps;
	struct tdma_buf src;
	struct tdma_buf dst;
	struct tdma_busy busy;
};

FIXTURE_SETUP(priority)
{
	self->busy.probe = -1;
	self->fd = tdma_open(0);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, tdma_query(self->fd, &self->caps));
	ASSERT_EQ(0, tdma_buf_create(&self->src, self->fd, TDMA_MEM_USER,
				     BYTES));
	ASSERT_EQ(0, tdma_buf_create(&self->dst, self->fd, TDMA_MEM_USER,
				     BYTES));
}

FIXTURE_TEARDOWN(priority)
{
	tdma_busy_end(&self->busy);
	close(self->fd);
}

static union tdma_slot copy_job(const FIXTURE_DATA(priority) *self)
{
	union tdma_slot slot = {
		.desc = tdma_desc_copy(self->src.handle, self->dst.handle, 1),
	};

	tdma_dim(&slot.desc, BYTES, 1, 1);
	return slot;
}

static int call(int fd, struct tdma_priority *arg)
{
	return ioctl(fd, TDMA_IOC_PRIORITY, arg) < 0 ? -errno : 0;
}

TEST_F(priority, reads_back)
{
	struct tdma_record rec;
	union tdma_slot slot = copy_job(self);

	EXPECT_EQ(TDMA_PRIORITY_DEFAULT, tdma_get_priority(self->fd));
	for (__u32 i = 0; i <= TDMA_PRIORITY_MAX; i++) {
		EXPECT_EQ(0, tdma_set_priority(self->fd, i));
		EXPECT_EQ(i, tdma_get_priority(self->fd));
		/* The queue has been off and on. */
		ASSERT_EQ(0, tdma_run(self->fd, &slot, &rec));
		EXPECT_EQ(TDMA_STATUS_OK, rec.status);
	}
}

TEST_F(priority, refuses_nonsense)
{
	const struct tdma_priority bad[] = {
		{ .flags = 2 }, { .flags = TDMA_PRIORITY_SET | 1U << 31 },
		{ .priority = 1 }, { .reserved = 1 },
		{ .flags = TDMA_PRIORITY_SET, .reserved = 1 },
		{ .flags = TDMA_PRIORITY_SET,
		  .priority = TDMA_PRIORITY_MAX + 1 },
		{ .flags = TDMA_PRIORITY_SET, .priority = ~0U },
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct tdma_priority arg = bad[i];

		arg.size = sizeof(arg);
		EXPECT_EQ(-EINVAL, call(self->fd, &arg)) {
			TH_LOG("argument %zu", i);
		}
	}
	EXPECT_EQ(TDMA_PRIORITY_DEFAULT, tdma_get_priority(self->fd));
}

/* What a process without capabilities finds; a bit for each thing wrong. */
static int unprivileged(int fd)
{
	int own, wrong = 0;

	if (setgid(NOBODY) || setuid(NOBODY))
		return 1;
	for (__u32 i = 0; i <= TDMA_PRIORITY_MAX; i++) {
		int wanted = i > TDMA_PRIORITY_DEFAULT ? -EPERM : 0;

		if (tdma_set_priority(fd, i) != wanted)
			wrong |= 2;
	}
	/* Refused: the last one that was granted holds. */
	if (tdma_get_priority(fd) != TDMA_PRIORITY_DEFAULT)
		wrong |= 4;
	/* Down, and back to where everybody begins */
	if (tdma_set_priority(fd, 0) ||
	    tdma_set_priority(fd, TDMA_PRIORITY_DEFAULT))
		wrong |= 8;
	own = tdma_open(0);
	if (own >= 0 && tdma_set_priority(own, HIGHER) != -EPERM)
		wrong |= 16;
	return wrong;
}

TEST_F(priority, raising_needs_a_capability)
{
	int status;
	pid_t pid;

	if (geteuid())
		SKIP(return, "root has capabilities to give up, others not");
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		_exit(unprivileged(self->fd));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_TRUE(WIFEXITED(status));
	EXPECT_EQ(0, WEXITSTATUS(status));
	EXPECT_EQ(0, tdma_set_priority(self->fd, HIGHER));
}

/* Is a job of @fd left alone while others of the default priority run? */
static bool starves(struct __test_metadata *_metadata,
		    FIXTURE_DATA(priority) *self)
{
	union tdma_slot slot = copy_job(self);
	struct tdma_submit report;
	struct tdma_record rec = {};
	int ret;

	ASSERT_EQ(0, tdma_submit(self->fd, &slot, 1, &report));
	ASSERT_EQ(0, tdma_busy_pass(&self->busy));
	ret = tdma_wait(self->fd, report.first_job, 0, &rec);
	if (ret == -ETIME)
		EXPECT_EQ(0, rec.dst_done);
	/* When the others are gone it is served. */
	tdma_busy_end(&self->busy);
	if (ret == -ETIME)
		EXPECT_EQ(0, tdma_wait(self->fd, report.first_job,
				       tdma_patience(), &rec));
	EXPECT_EQ(TDMA_STATUS_OK, rec.status);
	return ret == -ETIME;
}

TEST_F(priority, equals_take_turns)
{
	ASSERT_EQ(0, tdma_busy_start(&self->busy, self->caps.threads,
				     TDMA_PRIORITY_DEFAULT));
	EXPECT_FALSE(starves(_metadata, self));
}

TEST_F(priority, lower_ones_wait)
{
	ASSERT_EQ(0, tdma_set_priority(self->fd, LOWER));
	ASSERT_EQ(0, tdma_busy_start(&self->busy, self->caps.threads,
				     TDMA_PRIORITY_DEFAULT));
	EXPECT_TRUE(starves(_metadata, self));
}

TEST_F(priority, higher_ones_go_first)
{
	ASSERT_EQ(0, tdma_busy_start(&self->busy, self->caps.threads, HIGHER));
	EXPECT_TRUE(starves(_metadata, self));
}

/* A queue with work cannot change; it is no worse for the question. */
TEST_F(priority, not_while_jobs_are_unfinished)
{
	union tdma_slot slot = copy_job(self);
	struct tdma_submit report;
	struct tdma_record rec;

	ASSERT_EQ(0, tdma_busy_start(&self->busy, self->caps.threads, HIGHER));
	ASSERT_EQ(0, tdma_submit(self->fd, &slot, 1, &report));
	EXPECT_EQ(-EBUSY, tdma_set_priority(self->fd, LOWER));
	EXPECT_EQ(TDMA_PRIORITY_DEFAULT, tdma_get_priority(self->fd));
	/* What it has already is no change. */
	EXPECT_EQ(0, tdma_set_priority(self->fd, TDMA_PRIORITY_DEFAULT));
	tdma_busy_end(&self->busy);
	ASSERT_EQ(0, tdma_wait(self->fd, report.first_job, tdma_patience(),
			       &rec));
	EXPECT_EQ(TDMA_STATUS_OK, rec.status);
	EXPECT_EQ(0, tdma_set_priority(self->fd, LOWER));
}

TDMA_HARNESS_MAIN
