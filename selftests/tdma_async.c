// SPDX-License-Identifier: GPL-2.0
/*
 * tensordma selftests: waiting without TDMA_IOC_WAIT: eventfd, several jobs at
 * once, fences in and out.
 */
#include <fcntl.h>
#include <linux/sync_file.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/resource.h>

#include "tdma_harness.h"
#include "tdma_random.h"
#include "tdma_slow.h"

#define SLOW_MS		400
#define MODULE_USERS	"/sys/module/tensordma/refcnt"
#define FENCE_LIMIT	"/sys/module/tensordma/parameters/fence_timeout_ms"

FIXTURE(async)
{
	int fd;
	int other;			/* a file with a slow job */
	struct tdma_rng rng;
	struct tdma_buf src;
	struct tdma_buf dst;
	struct tdma_buf other_src;
	struct tdma_buf other_dst;
	__u32 repeat;			/* for a job of about SLOW_MS */
};

FIXTURE_SETUP(async)
{
	self->fd = tdma_open(0);
	self->other = tdma_open(0);
	ASSERT_LE(0, self->fd);
	ASSERT_LE(0, self->other);
	ASSERT_EQ(0, tdma_buf_create(&self->src, self->fd, TDMA_MEM_USER,
				     TDMA_SLOW_BYTES));
	ASSERT_EQ(0, tdma_buf_create(&self->dst, self->fd, TDMA_MEM_USER,
				     TDMA_SLOW_BYTES));
	ASSERT_EQ(0, tdma_buf_create(&self->other_src, self->other,
				     TDMA_MEM_USER, TDMA_SLOW_BYTES));
	ASSERT_EQ(0, tdma_buf_create(&self->other_dst, self->other,
				     TDMA_MEM_USER, TDMA_SLOW_BYTES));
	self->repeat = tdma_slow_repeat(self->other, self->other_src.handle,
					self->other_dst.handle, SLOW_MS);
	ASSERT_NE(0, self->repeat);
	tdma_rand_fill(&self->rng, &self->src);
	tdma_rand_fill(&self->rng, &self->dst);
}

FIXTURE_TEARDOWN(async)
{
	close(self->fd);
	close(self->other);
}

static const struct tdma_desc nop = {
	.version = TDMA_DESC_VERSION,
	.opcode = TDMA_OP_NOP,
};

static struct tdma_desc copy_desc(FIXTURE_DATA(async) *self)
{
	struct tdma_desc d = tdma_desc_copy(self->src.handle,
					    self->dst.handle, 1);

	tdma_dim(&d, TDMA_SLOW_BYTES, 1, 1);
	return d;
}

static struct tdma_desc slow_desc(FIXTURE_DATA(async) *self, __u32 factor)
{
	return tdma_slow_desc(self->other_src.handle, self->other_dst.handle,
			      self->repeat * factor);
}

/* Far longer than any test waits */
static struct tdma_desc endless_desc(FIXTURE_DATA(async) *self)
{
	struct tdma_desc d = slow_desc(self, 1);

	tdma_dim(&d, 1U << 20, 0, 0);
	return d;
}

static int submit(int fd, const struct tdma_desc *descs, __u32 count,
		  __u32 flags, int in_fence, struct tdma_submit *arg)
{
	*arg = (struct tdma_submit){
		.size = sizeof(*arg),
		.flags = flags,
		.descs = (uintptr_t)descs,
		.count = count,
		.stride = sizeof(*descs),
		.in_fence = in_fence,
	};
	return ioctl(fd, TDMA_IOC_SUBMIT, arg) < 0 ? -errno : 0;
}

static int wait_many(int fd, __u32 flags, const __u64 *jobs, __u32 count,
		     __s64 deadline, __u32 *index)
{
	struct tdma_wait_many arg = {
		.size = sizeof(arg),
		.flags = flags,
		.jobs = (uintptr_t)jobs,
		.deadline_ns = deadline,
		.count = count,
	};
	int ret = ioctl(fd, TDMA_IOC_WAIT_MANY, &arg) < 0 ? -errno : 0;

	*index = arg.index;
	return ret;
}

static int set_eventfd(int fd, int eventfd)
{
	struct tdma_eventfd arg = { .size = sizeof(arg), .fd = eventfd };

	return ioctl(fd, TDMA_IOC_EVENTFD, &arg) < 0 ? -errno : 0;
}

/* Status of a sync_file: 0 = pending, 1 = signalled, or a negative errno */
static int fence_status(int fence)
{
	struct sync_file_info info = {};

	return ioctl(fence, SYNC_IOC_FILE_INFO, &info) ? -1000 : info.status;
}

static bool fence_wait(int fence, int ms)
{
	struct pollfd pfd = { .fd = fence, .events = POLLIN };

	return poll(&pfd, 1, ms) == 1 && pfd.revents & POLLIN;
}

/* ---- eventfd ---- */

TEST_F(async, eventfd_counts_jobs)
{
	struct tdma_desc d[8];
	struct tdma_submit arg;
	struct pollfd pfd;
	eventfd_t n, total = 0;
	int event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	ASSERT_LE(0, event);
	ASSERT_EQ(0, set_eventfd(self->fd, event));
	EXPECT_EQ(-1, eventfd_read(event, &n));
	for (int i = 0; i < 8; i++)
		d[i] = copy_desc(self);
	ASSERT_EQ(0, submit(self->fd, d, 8, 0, 0, &arg));
	pfd = (struct pollfd){ .fd = event, .events = POLLIN };
	while (total < 8 && poll(&pfd, 1, TDMA_PATIENCE_MS) == 1) {
		ASSERT_EQ(0, eventfd_read(event, &n));
		total += n;
	}
	EXPECT_EQ(8, total);
	/* Taken off, it is told of nothing; and it may be closed. */
	ASSERT_EQ(0, set_eventfd(self->fd, -1));
	close(event);
	ASSERT_EQ(0, submit(self->fd, d, 1, 0, 0, &arg));
	ASSERT_EQ(0, tdma_wait(self->fd, arg.first_job, tdma_patience(),
			       &(struct tdma_record){}));
}

TEST_F(async, eventfd_replaced)
{
	int first = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	int second = eventfd(0, EFD_CLOEXEC);
	struct tdma_submit arg;
	eventfd_t n;

	ASSERT_EQ(0, set_eventfd(self->fd, first));
	ASSERT_EQ(0, set_eventfd(self->fd, second));
	ASSERT_EQ(0, submit(self->fd, &nop, 1, 0, 0, &arg));
	ASSERT_EQ(0, eventfd_read(second, &n));
	EXPECT_EQ(1, n);
	EXPECT_EQ(-1, eventfd_read(first, &n));
}

TEST_F(async, eventfd_refused)
{
	struct tdma_eventfd arg = { .size = sizeof(arg), .fd = -1 };

	EXPECT_EQ(-EBADF, set_eventfd(self->fd, 1000));
	EXPECT_EQ(-EBADF, set_eventfd(self->fd, -2));
	EXPECT_EQ(-EINVAL, set_eventfd(self->fd, self->fd));
	arg.flags = 1;
	EXPECT_EQ(-1, ioctl(self->fd, TDMA_IOC_EVENTFD, &arg));
	EXPECT_EQ(EINVAL, errno);
	arg.flags = 0;
	arg.reserved = 1;
	EXPECT_EQ(-1, ioctl(self->fd, TDMA_IOC_EVENTFD, &arg));
	EXPECT_EQ(EINVAL, errno);
}

/* ---- several jobs ---- */

TEST_F(async, any_and_all)
{
	struct tdma_desc d[3] = { nop, slow_desc(self, 1), nop };
	struct tdma_record rec;
	struct tdma_submit arg;
	__u64 jobs[3];
	__u32 index;

	ASSERT_EQ(0, submit(self->other, d, 3, 0, 0, &arg));
	for (int i = 0; i < 3; i++)
		jobs[i] = arg.first_job + 2 - i;
	ASSERT_EQ(0, wait_many(self->other, 0, jobs, 3, tdma_patience(),
			       &index));
	EXPECT_EQ(2, index);
	for (int i = 0; i < 3; i++)
		jobs[i] = arg.first_job + i;
	ASSERT_EQ(0, wait_many(self->other, TDMA_WAIT_ALL, jobs, 3,
			       tdma_patience(), &index));
	EXPECT_EQ(0, index);
	/* Nothing has been taken. */
	for (int i = 0; i < 3; i++)
		EXPECT_EQ(0, tdma_wait(self->other, jobs[i], 0, &rec));
	EXPECT_EQ(-ENOENT, wait_many(self->other, 0, jobs, 1, 0, &index));
}

TEST_F(async, many_deadline)
{
	struct tdma_desc d[2] = { nop, endless_desc(self) };
	struct tdma_submit arg;
	__u64 jobs[2];
	__u32 index;

	ASSERT_EQ(0, submit(self->other, d, 2, 0, 0, &arg));
	jobs[0] = arg.first_job;
	jobs[1] = arg.first_job + 1;
	EXPECT_EQ(0, wait_many(self->other, 0, jobs, 2, tdma_patience(),
			       &index));
	EXPECT_EQ(0, index);
	EXPECT_EQ(-ETIME, wait_many(self->other, TDMA_WAIT_ALL, jobs, 2,
				    tdma_now() + 20000000, &index));
	EXPECT_EQ(1, index);
	EXPECT_EQ(-ETIME, wait_many(self->other, 0, jobs + 1, 1, 0, &index));
}

TEST_F(async, many_refused)
{
	struct tdma_query caps;
	struct tdma_submit arg;
	__u64 *jobs;
	__u32 index;

	ASSERT_EQ(0, tdma_query(self->fd, &caps));
	jobs = calloc(caps.max_jobs + 1, sizeof(*jobs));
	ASSERT_EQ(0, submit(self->fd, &nop, 1, 0, 0, &arg));
	jobs[0] = arg.first_job;
	jobs[1] = arg.first_job + 1;
	/* An unknown job is found, whatever the others are. */
	EXPECT_EQ(-ENOENT, wait_many(self->fd, 0, jobs, 2, tdma_patience(),
				     &index));
	EXPECT_EQ(1, index);
	EXPECT_EQ(-EINVAL, wait_many(self->fd, 0, jobs, 0, 0, &index));
	EXPECT_EQ(-EINVAL, wait_many(self->fd, 0, jobs, caps.max_jobs + 1, 0,
				     &index));
	EXPECT_EQ(-EINVAL, wait_many(self->fd, 2, jobs, 1, 0, &index));
	EXPECT_EQ(-EFAULT, wait_many(self->fd, 0, NULL, 1, 0, &index));
	free(jobs);
}

/* ---- fences ---- */

TEST_F(async, out_fence)
{
	struct tdma_desc d[2] = { slow_desc(self, 1), nop };
	struct tdma_submit arg;
	struct tdma_record rec;

	ASSERT_EQ(0, submit(self->other, d, 2, TDMA_SUBMIT_OUT_FENCE, 0,
			    &arg));
	ASSERT_LE(0, arg.out_fence);
	EXPECT_EQ(FD_CLOEXEC, fcntl(arg.out_fence, F_GETFD));
	ASSERT_TRUE(fence_wait(arg.out_fence, TDMA_PATIENCE_MS));
	EXPECT_EQ(1, fence_status(arg.out_fence));
	/* It speaks for the last job, and so for those before. */
	EXPECT_EQ(0, tdma_wait(self->other, arg.first_job, 0, &rec));
	EXPECT_EQ(0, tdma_wait(self->other, arg.first_job + 1, 0, &rec));
	close(arg.out_fence);
}

TEST_F(async, no_out_fence)
{
	struct tdma_submit arg;

	ASSERT_EQ(0, submit(self->fd, &nop, 1, 0, 0, &arg));
	EXPECT_EQ(-1, arg.out_fence);
	EXPECT_EQ(-EINVAL, submit(self->fd, &nop, 1, 0, 5, &arg));
}

/* A job of one file waits for the job of another. */
TEST_F(async, in_fence)
{
	struct tdma_desc first = slow_desc(self, 2);
	struct tdma_desc then = copy_desc(self);
	struct tdma_submit before, arg, after;
	struct tdma_record rec;
	size_t at;
	int ret;

	ASSERT_EQ(0, submit(self->other, &first, 1, TDMA_SUBMIT_OUT_FENCE, 0,
			    &before));
	ASSERT_EQ(0, submit(self->fd, &then, 1, TDMA_SUBMIT_IN_FENCE |
			    TDMA_SUBMIT_OUT_FENCE, before.out_fence, &arg));
	/* The call did not wait, and until the fence signals nothing moves. */
	at = tdma_buf_diff(&self->dst);
	ret = tdma_wait(self->fd, arg.first_job, 0, &rec);
	if (!fence_status(before.out_fence)) {
		EXPECT_EQ(-ETIME, ret);
		EXPECT_EQ(TDMA_STATUS_PENDING, rec.status);
		EXPECT_EQ(self->dst.len, at);
	}
	/* A job behind it waits with it, in order. */
	ASSERT_EQ(0, submit(self->fd, &nop, 1, 0, 0, &after));
	ASSERT_EQ(0, tdma_wait(self->fd, after.first_job, tdma_patience(),
			       &rec));
	EXPECT_EQ(1, fence_status(before.out_fence));
	EXPECT_EQ(1, fence_status(arg.out_fence));
	ASSERT_EQ(0, tdma_wait(self->fd, arg.first_job, 0, &rec));
	EXPECT_EQ(TDMA_STATUS_OK, rec.status);
	memcpy(self->dst.image, self->src.image, TDMA_SLOW_BYTES);
	EXPECT_IMAGE(&self->dst);
}

/* More jobs than the ring has slots wait for one fence. */
TEST_F(async, many_held)
{
	struct tdma_desc first = slow_desc(self, 1);
	struct tdma_submit before, arg;
	struct tdma_record rec;
	struct tdma_query caps;
	struct tdma_desc *d;
	__u32 left;

	ASSERT_EQ(0, tdma_query(self->fd, &caps));
	d = calloc(caps.max_jobs, sizeof(*d));
	for (__u32 i = 0; i < caps.max_jobs; i++)
		d[i] = nop;
	ASSERT_EQ(0, submit(self->other, &first, 1, TDMA_SUBMIT_OUT_FENCE, 0,
			    &before));
	for (left = caps.max_jobs; left; left -= arg.accepted)
		ASSERT_EQ(0, submit(self->fd, d, left, TDMA_SUBMIT_IN_FENCE,
				    before.out_fence, &arg));
	EXPECT_EQ(-EAGAIN, submit(self->fd, d, 1, TDMA_SUBMIT_NONBLOCK, 0,
				  &arg));
	for (__u32 i = 0; i < caps.max_jobs; i++) {
		ASSERT_EQ(0, tdma_wait(self->fd, i + 1, tdma_patience(),
				       &rec));
		ASSERT_EQ(TDMA_STATUS_OK, rec.status);
	}
	free(d);
}

TEST_F(async, in_fence_refused)
{
	struct tdma_submit arg;
	__u32 flags = TDMA_SUBMIT_IN_FENCE | TDMA_SUBMIT_OUT_FENCE;

	EXPECT_EQ(-EBADF, submit(self->fd, &nop, 1, flags, -1, &arg));
	EXPECT_EQ(-EBADF, submit(self->fd, &nop, 1, flags, self->fd, &arg));
	EXPECT_EQ(0, submit(self->fd, &nop, 1, 0, 0, &arg));
	EXPECT_EQ(1, arg.first_job);
}

/* A call that fails leaves neither a job nor a file descriptor. */
TEST_F(async, out_of_descriptors)
{
	struct rlimit old, none = { .rlim_cur = 3 };
	struct tdma_submit arg;

	ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &old));
	none.rlim_max = old.rlim_max;
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &none));
	EXPECT_EQ(-EMFILE, submit(self->fd, &nop, 1, TDMA_SUBMIT_OUT_FENCE, 0,
				  &arg));
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &old));
	ASSERT_EQ(0, submit(self->fd, &nop, 1, TDMA_SUBMIT_OUT_FENCE, 0,
			    &arg));
	EXPECT_EQ(1, arg.first_job);
}

/* Who closes the file ends the jobs; nobody is left waiting. */
TEST_F(async, fences_of_a_closed_file)
{
	struct tdma_desc d = endless_desc(self);
	struct tdma_submit first, second, third;
	struct tdma_record rec;

	ASSERT_EQ(0, submit(self->other, &d, 1, TDMA_SUBMIT_OUT_FENCE, 0,
			    &first));
	/* Held, in the same file and in another */
	ASSERT_EQ(0, submit(self->other, &nop, 1, TDMA_SUBMIT_IN_FENCE |
			    TDMA_SUBMIT_OUT_FENCE, first.out_fence, &second));
	d = copy_desc(self);
	ASSERT_EQ(0, submit(self->fd, &d, 1, TDMA_SUBMIT_IN_FENCE |
			    TDMA_SUBMIT_OUT_FENCE, first.out_fence, &third));
	EXPECT_EQ(0, fence_status(third.out_fence));
	close(self->other);
	self->other = -1;
	EXPECT_EQ(-ECANCELED, fence_status(first.out_fence));
	EXPECT_EQ(-ECANCELED, fence_status(second.out_fence));
	/* What waited for data that never came is not run. */
	ASSERT_TRUE(fence_wait(third.out_fence, TDMA_PATIENCE_MS));
	EXPECT_EQ(-ECANCELED, fence_status(third.out_fence));
	ASSERT_EQ(0, tdma_wait(self->fd, third.first_job, tdma_patience(),
			       &rec));
	EXPECT_EQ(TDMA_STATUS_ABORTED, rec.status);
	EXPECT_EQ(0, rec.dst_done);
	EXPECT_IMAGE(&self->dst);
}

TEST_F(async, closed_while_held)
{
	struct tdma_desc d = endless_desc(self);
	struct tdma_submit first, second;

	ASSERT_EQ(0, submit(self->other, &d, 1, TDMA_SUBMIT_OUT_FENCE, 0,
			    &first));
	for (int i = 0; i < 10; i++)
		ASSERT_EQ(0, submit(self->fd, &nop, 1, TDMA_SUBMIT_IN_FENCE |
				    TDMA_SUBMIT_OUT_FENCE, first.out_fence,
				    &second));
	close(self->fd);
	self->fd = -1;
	EXPECT_EQ(-ECANCELED, fence_status(second.out_fence));
	EXPECT_EQ(0, fence_status(first.out_fence));
}

/* What a file of sysfs says, or -1 */
static long read_number(const char *path)
{
	FILE *file = fopen(path, "r");
	long number = -1;

	if (!file)
		return -1;
	if (fscanf(file, "%ld", &number) != 1)
		number = -1;
	fclose(file);
	return number;
}

static bool write_limit(int ms)
{
	FILE *file = fopen(FENCE_LIMIT, "w");
	bool good;

	if (!file)
		return false;
	good = fprintf(file, "%d", ms) > 0;
	return !fclose(file) && good;
}

/* A fence signals in bounded time, and the memory is free when it says so. */
TEST_F(async, fence_limit)
{
	struct tdma_desc d[2] = { endless_desc(self), nop };
	struct tdma_submit ahead, arg;
	struct tdma_record rec;
	int limit = read_number(FENCE_LIMIT);

	if (getuid())
		SKIP(return, "needs root to shorten the time");
	ASSERT_LT(0, limit);
	ASSERT_TRUE(write_limit(200));
	EXPECT_EQ(0, submit(self->other, d, 1, 0, 0, &ahead));
	EXPECT_EQ(0, submit(self->other, d + 1, 1, TDMA_SUBMIT_OUT_FENCE, 0,
			    &arg));
	EXPECT_TRUE(fence_wait(arg.out_fence, TDMA_PATIENCE_MS));
	EXPECT_TRUE(write_limit(limit));
	EXPECT_EQ(-ETIMEDOUT, fence_status(arg.out_fence));
	/* Both have ended; the queue goes on. */
	EXPECT_EQ(0, tdma_wait(self->other, ahead.first_job, 0, &rec));
	EXPECT_EQ(TDMA_STATUS_ABORTED, rec.status);
	EXPECT_EQ(0, tdma_wait(self->other, arg.first_job, 0, &rec));
	EXPECT_EQ(TDMA_STATUS_ABORTED, rec.status);
	EXPECT_EQ(0, submit(self->other, d + 1, 1, 0, 0, &arg));
	EXPECT_EQ(0, tdma_wait(self->other, arg.first_job, tdma_patience(),
			       &rec));
	EXPECT_EQ(TDMA_STATUS_OK, rec.status);
}

/*
 * The same for a job that never got into the ring: no fence of others' keeps it
 * from there, but jobs that nobody waits for.
 */
TEST_F(async, fence_limit_behind_a_full_ring)
{
	struct tdma_desc endless = endless_desc(self);
	struct tdma_submit ahead, arg;
	int limit = read_number(FENCE_LIMIT);
	struct tdma_record rec;

	if (getuid())
		SKIP(return, "needs root to shorten the time");
	ASSERT_LT(0, limit);
	ASSERT_EQ(0, submit(self->fd, &nop, 1, TDMA_SUBMIT_OUT_FENCE, 0,
			    &ahead));
	ASSERT_TRUE(fence_wait(ahead.out_fence, TDMA_PATIENCE_MS));
	while (!submit(self->other, &endless, 1, TDMA_SUBMIT_NONBLOCK, 0, &arg))
		;
	ASSERT_TRUE(write_limit(200));
	EXPECT_EQ(0, submit(self->other, &nop, 1, TDMA_SUBMIT_IN_FENCE |
			    TDMA_SUBMIT_OUT_FENCE, ahead.out_fence, &arg));
	EXPECT_TRUE(fence_wait(arg.out_fence, TDMA_PATIENCE_MS));
	EXPECT_TRUE(write_limit(limit));
	/* It was late, or had its turn when the ring was emptied for it. */
	EXPECT_NE(0, fence_status(arg.out_fence));
	EXPECT_EQ(0, tdma_wait(self->other, arg.first_job, 0, &rec));
}

/* The driver's code is there for as long as somebody may ask a fence. */
TEST_F(async, fence_keeps_the_module)
{
	struct tdma_submit arg;
	long with, without;

	ASSERT_EQ(0, submit(self->fd, &nop, 1, TDMA_SUBMIT_OUT_FENCE, 0, &arg));
	ASSERT_TRUE(fence_wait(arg.out_fence, TDMA_PATIENCE_MS));
	with = read_number(MODULE_USERS);
	if (with < 0)
		SKIP(return, "the driver is not a module that can be unloaded");
	close(arg.out_fence);
	for (int i = 0; i < 100; i++) {
		without = read_number(MODULE_USERS);
		if (without < with)
			break;
		usleep(20000);
	}
	EXPECT_EQ(with - 1, without);
}

TDMA_HARNESS_MAIN
