// SPDX-License-Identifier: GPL-2.0
/*
 * tensordma selftests: deadlines, progress, completions taken exactly once,
 * full queues, signals.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/time.h>

#include "tdma_harness.h"
#include "tdma_random.h"
#include "tdma_slow.h"

#define SLOW_MS		500
#define ATTEMPTS	4
#define MS		1000000LL

FIXTURE(wait)
{
	int fd;
	struct tdma_query caps;
	struct tdma_rng rng;
	struct tdma_buf src;
	struct tdma_buf dst;
	__u32 repeat;			/* for a job of about SLOW_MS */
};

FIXTURE_SETUP(wait)
{
	self->fd = tdma_open(0);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, tdma_query(self->fd, &self->caps));
	ASSERT_EQ(0, tdma_buf_create(&self->src, self->fd, TDMA_MEM_USER,
				     TDMA_SLOW_BYTES));
	ASSERT_EQ(0, tdma_buf_create(&self->dst, self->fd, TDMA_MEM_USER,
				     TDMA_SLOW_BYTES));
	self->repeat = tdma_slow_repeat(self->fd, self->src.handle,
					self->dst.handle, SLOW_MS);
	ASSERT_NE(0, self->repeat);
	tdma_rand_fill(&self->rng, &self->src);
	tdma_rand_fill(&self->rng, &self->dst);
}

FIXTURE_TEARDOWN(wait)
{
	close(self->fd);
}

static const struct tdma_desc nop = {
	.version = TDMA_DESC_VERSION,
	.opcode = TDMA_OP_NOP,
};

static struct tdma_desc slow_desc(FIXTURE_DATA(wait) *self)
{
	return tdma_slow_desc(self->src.handle, self->dst.handle,
			      self->repeat);
}

/*
 * A busy host may keep the guest from looking until a job is over: let the
 * test try again with a longer one.
 */
static bool longer(FIXTURE_DATA(wait) *self, int *attempt)
{
	self->repeat *= 3;
	return ++*attempt < ATTEMPTS;
}

static __u64 submit(struct __test_metadata *_metadata,
		    FIXTURE_DATA(wait) *self, const struct tdma_desc *d)
{
	struct tdma_submit report;

	EXPECT_EQ(0, tdma_submit(self->fd, d, 1, &report));
	EXPECT_EQ(1, report.accepted);
	return report.first_job;
}

static int wait_args(int fd, struct tdma_wait *args)
{
	args->size = sizeof(*args);
	return ioctl(fd, TDMA_IOC_WAIT, args) < 0 ? -errno : 0;
}

static int wait_any(int fd, __u32 flags, __s64 deadline, __u64 *job)
{
	struct tdma_wait args = {
		.flags = TDMA_WAIT_ANY | flags,
		.deadline_ns = deadline,
	};
	int ret = wait_args(fd, &args);

	*job = args.job;
	return ret;
}

TEST_F(wait, no_deadline_no_sleep)
{
	struct tdma_record rec;
	int ret, attempt = 0;
	struct tdma_desc d;
	__u64 job;

	do {
		d = slow_desc(self);
		job = submit(_metadata, self, &d);
		ret = tdma_wait(self->fd, job, 0, &rec);
	} while (!ret && longer(self, &attempt));
	ASSERT_EQ(-ETIME, ret);
	EXPECT_EQ(TDMA_STATUS_PENDING, rec.status);
	EXPECT_EQ(0, tdma_wait(self->fd, job, tdma_patience(), &rec));
	EXPECT_EQ(TDMA_STATUS_OK, rec.status);
}

TEST_F(wait, deadline_is_absolute)
{
	struct tdma_record rec;
	int ret, attempt = 0;
	struct tdma_desc d;
	__s64 deadline;
	__u64 job;

	do {
		d = slow_desc(self);
		job = submit(_metadata, self, &d);
		deadline = tdma_now() + SLOW_MS / 8 * MS;
		ret = tdma_wait(self->fd, job, deadline, &rec);
	} while (!ret && longer(self, &attempt));
	ASSERT_EQ(-ETIME, ret);
	EXPECT_LE(deadline, tdma_now());
	EXPECT_EQ(TDMA_STATUS_PENDING, rec.status);
	EXPECT_EQ(0, tdma_wait(self->fd, job, TDMA_WAIT_FOREVER, &rec));
	EXPECT_EQ(TDMA_STATUS_OK, rec.status);
}

TEST_F(wait, taken_once)
{
	__u64 job = submit(_metadata, self, &nop);
	struct tdma_record rec;

	EXPECT_EQ(0, tdma_wait(self->fd, job, tdma_patience(), &rec));
	EXPECT_EQ(-ENOENT, tdma_wait(self->fd, job, tdma_patience(), &rec));
}

TEST_F(wait, keep)
{
	struct tdma_wait args = {
		.flags = TDMA_WAIT_KEEP,
		.job = submit(_metadata, self, &nop),
		.deadline_ns = tdma_patience(),
	};

	for (int i = 0; i < 3; i++) {
		EXPECT_EQ(0, wait_args(self->fd, &args));
		EXPECT_EQ(TDMA_STATUS_OK, args.record.status);
	}
	args.flags = 0;
	EXPECT_EQ(0, wait_args(self->fd, &args));
	EXPECT_EQ(-ENOENT, wait_args(self->fd, &args));
}

TEST_F(wait, job_numbers_count_up)
{
	struct tdma_record rec;

	/* 1 was taken by the set-up or is the first here; never reused. */
	__u64 last = submit(_metadata, self, &nop);

	EXPECT_LE(1, last);
	for (int i = 0; i < 100; i++) {
		__u64 job = submit(_metadata, self, &nop);

		EXPECT_EQ(last + 1, job);
		EXPECT_EQ(0, tdma_wait(self->fd, job, tdma_patience(), &rec));
		last = job;
	}
}

TEST_F(wait, any_oldest_first)
{
	struct tdma_desc d[5] = { nop, nop, nop, nop, nop };
	struct tdma_submit report;
	__u64 job;

	ASSERT_EQ(0, tdma_submit(self->fd, d, ARRAY_SIZE(d), &report));
	ASSERT_EQ(ARRAY_SIZE(d), report.accepted);
	for (size_t i = 0; i < ARRAY_SIZE(d); i++) {
		EXPECT_EQ(0, wait_any(self->fd, TDMA_WAIT_KEEP,
				      tdma_patience(), &job));
		EXPECT_EQ(report.first_job + i, job);
		EXPECT_EQ(0, wait_any(self->fd, 0, tdma_patience(), &job));
		EXPECT_EQ(report.first_job + i, job);
	}
	EXPECT_EQ(-ENOENT, wait_any(self->fd, 0, tdma_patience(), &job));
}

TEST_F(wait, any_on_a_running_job)
{
	int ret, attempt = 0;
	struct tdma_desc d;
	__u64 wanted, job;

	do {
		d = slow_desc(self);
		wanted = submit(_metadata, self, &d);
		ret = wait_any(self->fd, 0, 0, &job);
	} while (!ret && longer(self, &attempt));
	ASSERT_EQ(-ETIME, ret);
	EXPECT_EQ(0, wait_any(self->fd, 0, tdma_patience(), &job));
	EXPECT_EQ(wanted, job);
}

/* Use the first tenth of a job; its number, or 0 if it is over by then. */
static __u64 use_first_tenth(struct __test_metadata *_metadata,
			     FIXTURE_DATA(wait) *self)
{
	__u64 tenth = TDMA_SLOW_BYTES / 10, seen = 0, wanted = 0;
	struct tdma_desc d = slow_desc(self);
	struct tdma_wait args = {
		.flags = TDMA_WAIT_KEEP,
		.deadline_ns = tdma_patience(),
		.min_dst_done = tenth * self->repeat,
	};

	memset(self->dst.mem, 0, TDMA_SLOW_BYTES);
	d.flags = TDMA_DESC_DST_PER_MILLE;
	d.dst_sync_interval = 100;
	args.job = submit(_metadata, self, &d);
	EXPECT_EQ(0, wait_args(self->fd, &args));
	EXPECT_LE(args.min_dst_done, args.record.dst_done);
	for (__u64 i = 0; i < tenth; i++) {
		seen = seen * 31 + self->dst.mem[i];
		wanted = wanted * 31 + self->src.image[i];
	}
	EXPECT_EQ(wanted, seen);
	args.min_dst_done = 0;
	args.deadline_ns = 0;
	return wait_args(self->fd, &args) == -ETIME ? args.job : 0;
}

/*
 * The point of progress counts (A39): work on the first tenth of the result
 * while the engine still moves the rest.
 */
TEST_F(wait, first_tenth_while_the_rest_is_moving)
{
	struct tdma_record rec;
	int attempt = 0;
	__u64 job;

	do {
		job = use_first_tenth(_metadata, self);
	} while (!job && longer(self, &attempt));
	/* The job still runs: the consumer was ahead of its end. */
	ASSERT_NE(0, job);
	EXPECT_EQ(0, tdma_wait(self->fd, job, tdma_patience(), &rec));
	EXPECT_EQ(TDMA_STATUS_OK, rec.status);
	memcpy(self->dst.image, self->src.image, TDMA_SLOW_BYTES);
	EXPECT_IMAGE(&self->dst);
}

TEST_F(wait, source_progress)
{
	struct tdma_wait args = { .deadline_ns = tdma_patience() };
	struct tdma_desc d;
	int attempt = 0;
	__u64 total;

	do {
		total = (__u64)TDMA_SLOW_BYTES * self->repeat;
		d = slow_desc(self);
		d.flags = TDMA_DESC_SRC_PER_MILLE;
		d.src_sync_interval = 50;
		args.job = submit(_metadata, self, &d);
		args.min_src_done = total / 4;
		ASSERT_EQ(0, wait_args(self->fd, &args));
		EXPECT_LE(total / 4, args.record.src_done);
	} while (args.record.status && longer(self, &attempt));
	ASSERT_EQ(TDMA_STATUS_PENDING, args.record.status);
	args.min_src_done = 0;
	EXPECT_EQ(0, wait_args(self->fd, &args));
	EXPECT_EQ(total, args.record.src_done);
	EXPECT_EQ(total, args.record.dst_done);
}

/* Waiting for more than there is ends with the job. */
TEST_F(wait, progress_beyond_the_end)
{
	struct tdma_wait args = {
		.job = submit(_metadata, self, &nop),
		.deadline_ns = tdma_patience(),
		.min_dst_done = 1000,
	};

	EXPECT_EQ(0, wait_args(self->fd, &args));
	EXPECT_EQ(TDMA_STATUS_OK, args.record.status);
	EXPECT_EQ(-ENOENT, wait_args(self->fd, &args));
}

/*
 * Bytes of a slow job that are there after @done elements: whole rows, and of
 * the row at work what its first of many turns has reached.
 */
static size_t promised(FIXTURE_DATA(wait) *self, __u64 done)
{
	__u64 row = (__u64)TDMA_SLOW_ROW * self->repeat, turn = done % row;

	if (turn > TDMA_SLOW_ROW)
		turn = TDMA_SLOW_ROW;
	return done / row * TDMA_SLOW_ROW + turn;
}

/*
 * Watch a record until it is final. Counts only grow, and what they promise is
 * there at that moment: the newest bytes are looked at first, before the
 * engine has moved on. Returns the number of updates seen.
 */
static unsigned int watch(struct __test_metadata *_metadata,
			  FIXTURE_DATA(wait) *self,
			  const struct tdma_record *rec)
{
	__s64 deadline = tdma_patience();
	unsigned int updates = 0;
	__u64 last = 0;

	while (__atomic_load_n(&rec->status, __ATOMIC_ACQUIRE) ==
	       TDMA_STATUS_PENDING && tdma_now() < deadline) {
		__u64 done = __atomic_load_n(&rec->dst_done, __ATOMIC_ACQUIRE);
		size_t bytes = promised(self, done);
		size_t newest = bytes < 16 ? bytes : 16;

		if (done == last)
			continue;
		EXPECT_EQ(0, memcmp(self->dst.mem + bytes - newest,
				    self->src.image + bytes - newest, newest));
		EXPECT_EQ(0, memcmp(self->dst.mem, self->src.image, bytes));
		EXPECT_LT(last, done);
		last = done;
		updates++;
	}
	return updates;
}

/* One job with its record at @at in @own; the number of updates seen. */
static unsigned int run_watched(struct __test_metadata *_metadata,
				FIXTURE_DATA(wait) *self, struct tdma_buf *own,
				size_t at)
{
	struct tdma_record *rec = (void *)(own->mem + at);
	struct tdma_desc d = slow_desc(self);
	struct tdma_record end;
	unsigned int updates;
	__u64 job;

	d.flags = TDMA_DESC_DST_PER_MILLE | TDMA_DESC_RECORD;
	d.dst_sync_interval = 1;
	d.record_segment = own->handle;
	d.record_offset = at;
	d.tag = 77;
	/* No byte is right by chance. */
	for (size_t i = 0; i < TDMA_SLOW_BYTES; i++)
		self->dst.mem[i] = ~self->src.image[i];
	memset(rec, 0, sizeof(*rec));
	job = submit(_metadata, self, &d);
	updates = watch(_metadata, self, rec);
	EXPECT_EQ(TDMA_STATUS_OK, rec->status);
	EXPECT_EQ(77, rec->tag);
	EXPECT_EQ((__u64)TDMA_SLOW_BYTES * self->repeat, rec->dst_done);
	EXPECT_EQ(0, tdma_wait(self->fd, job, tdma_patience(), &end));
	/* Nothing around the record was written. */
	memcpy(own->image + at, own->mem + at, sizeof(*rec));
	EXPECT_IMAGE(own);
	return updates;
}

/* The record in the program's own memory needs no system call at all. */
TEST_F(wait, record_in_own_memory)
{
	unsigned int updates;
	struct tdma_buf own;
	int attempt = 0;

	ASSERT_EQ(0, tdma_buf_create(&own, self->fd, TDMA_MEM_USER, 4096));
	do {
		updates = run_watched(_metadata, self, &own, 128);
	} while (updates <= 3 && longer(self, &attempt));
	EXPECT_LT(3, updates);
}

TEST_F(wait, poll)
{
	struct pollfd pfd = { .fd = self->fd, .events = POLLIN };
	struct tdma_desc d = slow_desc(self);
	struct tdma_wait args = { .flags = TDMA_WAIT_KEEP };
	int ready;

	EXPECT_EQ(0, poll(&pfd, 1, 0));
	args.job = submit(_metadata, self, &d);
	ready = poll(&pfd, 1, 0);
	/* If the job still runs now, nothing can have been ready before. */
	if (wait_args(self->fd, &args) == -ETIME)
		EXPECT_EQ(0, ready);
	EXPECT_EQ(1, poll(&pfd, 1, TDMA_PATIENCE_MS));
	EXPECT_EQ(POLLIN, pfd.revents);
	EXPECT_EQ(1, poll(&pfd, 1, 0));
	args.flags = 0;
	EXPECT_EQ(0, wait_args(self->fd, &args));
	EXPECT_EQ(0, poll(&pfd, 1, 0));
}

static void on_alarm(int sig)
{
	(void)sig;
}

static void storm(unsigned int us)
{
	struct itimerval timer = {
		.it_interval.tv_usec = us,
		.it_value.tv_usec = us,
	};
	struct sigaction action = { .sa_handler = on_alarm };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
}

/* Signals interrupt, but neither lose nor double a completion. */
TEST_F(wait, signal_storm)
{
	__s64 deadline = tdma_patience();
	unsigned int interrupted = 0, jobs = tdma_slow() ? 50 : 200;
	struct tdma_desc d = slow_desc(self);
	struct tdma_submit report;
	struct tdma_record rec;
	int ret;

	storm(tdma_slow() ? 20000 : 1000);
	for (unsigned int i = 0; i < jobs; i++) {
		const struct tdma_desc *job = i ? &nop : &d;

		while ((ret = tdma_submit(self->fd, job, 1, &report)) ==
		       -EINTR)
			interrupted++;
		ASSERT_EQ(0, ret);
		while ((ret = tdma_wait(self->fd, report.first_job, deadline,
					&rec)) == -EINTR)
			interrupted++;
		ASSERT_EQ(0, ret);
		ASSERT_EQ(TDMA_STATUS_OK, rec.status);
		ASSERT_EQ(-ENOENT, tdma_wait(self->fd, report.first_job, 0,
					     &rec));
	}
	storm(0);
	/* The first job alone outlasts many signals. */
	EXPECT_LT(0, interrupted);
}

static unsigned int fill_queue(struct __test_metadata *_metadata,
			       FIXTURE_DATA(wait) *self, __u64 *first)
{
	unsigned int accepted = 1;
	struct tdma_desc d = slow_desc(self), batch[64];
	struct tdma_submit report;
	int ret;

	for (size_t i = 0; i < ARRAY_SIZE(batch); i++)
		batch[i] = nop;
	*first = submit(_metadata, self, &d);
	while (!(ret = tdma_submit(self->fd, batch, ARRAY_SIZE(batch),
				   &report))) {
		EXPECT_EQ(*first + accepted, report.first_job);
		EXPECT_LT(0, report.accepted);
		EXPECT_EQ(0, report.error_status);
		accepted += report.accepted;
		if (accepted > self->caps.max_jobs)
			break;
	}
	EXPECT_EQ(-EAGAIN, ret);
	EXPECT_EQ(0, report.accepted);
	return accepted;
}

TEST_F(wait, full_queue_nonblocking)
{
	struct tdma_record rec;
	unsigned int accepted;
	__u64 first;

	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, O_NONBLOCK));
	accepted = fill_queue(_metadata, self, &first);
	EXPECT_LE(2, accepted);
	EXPECT_GE(self->caps.max_jobs, accepted);
	for (unsigned int i = 0; i < accepted; i++) {
		ASSERT_EQ(0, tdma_wait(self->fd, first + i, tdma_patience(),
				       &rec));
		ASSERT_EQ(TDMA_STATUS_OK, rec.status);
	}
	/* There is room again, and nothing else was queued. */
	EXPECT_EQ(first + accepted, submit(_metadata, self, &nop));
}

static void *take_all(void *arg)
{
	FIXTURE_DATA(wait) *self = arg;
	long taken = 0;
	__u64 job;

	while (taken < 2L * self->caps.max_jobs) {
		int ret = wait_any(self->fd, 0, tdma_patience(), &job);

		if (ret && ret != -ENOENT)
			break;
		taken += !ret;
	}
	return (void *)taken;
}

/* A call that may sleep queues everything, however long the queue. */
TEST_F(wait, full_queue_blocking)
{
	__u64 wanted = 2ULL * self->caps.max_jobs, queued = 0;
	struct tdma_desc *batch = calloc(wanted, sizeof(*batch));
	struct tdma_submit report;
	pthread_t taker;
	void *taken;

	ASSERT_NE(NULL, batch);
	for (__u64 i = 0; i < wanted; i++)
		batch[i] = nop;
	ASSERT_EQ(0, pthread_create(&taker, NULL, take_all, self));
	while (queued < wanted) {
		ASSERT_EQ(0, tdma_submit(self->fd, batch + queued,
					 wanted - queued, &report));
		ASSERT_LT(0, report.accepted);
		queued += report.accepted;
	}
	ASSERT_EQ(0, pthread_join(taker, &taken));
	EXPECT_EQ(wanted, (long)taken);
	free(batch);
}

/* The good part of a batch is queued, the bad descriptor is named. */
TEST_F(wait, batch_with_a_bad_descriptor)
{
	struct tdma_desc d[8];
	struct tdma_submit report;
	struct tdma_record rec;

	for (size_t i = 0; i < ARRAY_SIZE(d); i++)
		d[i] = nop;
	d[5].elem_bytes = 4;
	d[5].opcode = 99;
	ASSERT_EQ(0, tdma_submit(self->fd, d, ARRAY_SIZE(d), &report));
	EXPECT_EQ(5, report.accepted);
	EXPECT_EQ(5, report.error_index);
	EXPECT_EQ(TDMA_STATUS_BAD_OPCODE, report.error_status);
	EXPECT_EQ(offsetof(struct tdma_desc, opcode), report.error_field);
	for (int i = 0; i < 5; i++)
		EXPECT_EQ(0, tdma_wait(self->fd, report.first_job + i,
				       tdma_patience(), &rec));
	EXPECT_EQ(-ENOENT, tdma_wait(self->fd, report.first_job + 5, 0, &rec));
	/* Go on from the bad one: refused, then corrected. */
	EXPECT_EQ(-EINVAL, tdma_submit(self->fd, d + 5, 3, &report));
	EXPECT_EQ(0, report.accepted);
	EXPECT_EQ(0, report.error_index);
	d[5] = nop;
	EXPECT_EQ(0, tdma_submit(self->fd, d + 5, 3, &report));
	EXPECT_EQ(3, report.accepted);
	EXPECT_EQ(0, tdma_wait(self->fd, report.first_job + 2, tdma_patience(),
			       &rec));
}

/* Jobs belong to the file, whoever waits. */
TEST_F(wait, in_a_child)
{
	struct tdma_desc d = slow_desc(self);
	__u64 job = submit(_metadata, self, &d);
	struct tdma_record rec;
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(tdma_wait(self->fd, job, tdma_patience(), &rec) ||
		      rec.status != TDMA_STATUS_OK);
	ASSERT_LT(0, pid);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(-ENOENT, tdma_wait(self->fd, job, 0, &rec));
}

TDMA_HARNESS_MAIN
