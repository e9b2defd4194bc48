// SPDX-License-Identifier: GPL-2.0
/*
 * tensordma selftests: processes that go away with jobs in flight leave no
 * pinned page and no write after the release; others do not notice.
 */
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "tdma_harness.h"
#include "tdma_random.h"
#include "tdma_ref.h"
#include "tdma_slow.h"

#define JOBS		32
#define POISON		0xee
#define BUF_BYTES	16384

FIXTURE(kill)
{
	long pins;
	unsigned char *shared;		/* destination, outlives the child */
	int ready[2];
};

FIXTURE_SETUP(kill)
{
	self->pins = tdma_pins();
	ASSERT_LE(0, self->pins);
	self->shared = mmap(NULL, TDMA_SLOW_BYTES, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->shared);
	ASSERT_EQ(0, pipe(self->ready));
}

FIXTURE_TEARDOWN(kill)
{
	EXPECT_EQ(self->pins, tdma_pins_settle(self->pins));
}

/* Queue many seconds of work that writes to @shared; the file. */
static int start_jobs(unsigned char *shared)
{
	struct tdma_desc d[JOBS];
	struct tdma_submit report;
	struct tdma_buf src;
	__u32 dst, repeat;
	int fd = tdma_open(0);

	if (fd < 0 || tdma_buf_create(&src, fd, TDMA_MEM_USER,
				      TDMA_SLOW_BYTES) ||
	    tdma_pin(fd, shared, TDMA_SLOW_BYTES, TDMA_BUF_WRITE, &dst))
		return -1;
	repeat = tdma_slow_repeat(fd, src.handle, dst, 2000);
	for (int i = 0; i < JOBS; i++)
		d[i] = tdma_slow_desc(src.handle, dst, repeat);
	if (!repeat || tdma_submit(fd, d, JOBS, &report) ||
	    report.accepted != JOBS)
		return -1;
	return fd;
}

/* No byte of the memory changes any more. */
static void expect_quiet(struct __test_metadata *_metadata,
			 unsigned char *mem)
{
	memset(mem, POISON, TDMA_SLOW_BYTES);
	usleep(300000);
	for (size_t i = 0; i < TDMA_SLOW_BYTES; i++)
		ASSERT_EQ(POISON, mem[i]);
}

static void expect_device_works(struct __test_metadata *_metadata)
{
	struct tdma_rng rng = {};
	struct tdma_buf src, dst;
	union tdma_slot slot;
	int fd = tdma_open(0);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, tdma_buf_create(&src, fd, TDMA_MEM_USER, BUF_BYTES));
	ASSERT_EQ(0, tdma_buf_create(&dst, fd, TDMA_MEM_HBM, BUF_BYTES));
	tdma_rand_fill(&rng, &src);
	slot.desc = tdma_desc_copy(src.handle, dst.handle, 2);
	tdma_dim(&slot.desc, 100, 160, 2);
	tdma_dim(&slot.desc, 80, 2, 200);
	EXPECT_RUN(TDMA_STATUS_OK, fd, &slot);
	tdma_ref_run(&slot.desc, NULL, src.image, dst.image);
	EXPECT_IMAGE(&dst);
	tdma_buf_destroy(&src, fd);
	tdma_buf_destroy(&dst, fd);
	close(fd);
}

static pid_t spawn_worker(FIXTURE_DATA(kill) *self)
{
	pid_t pid = fork();
	char go;

	if (pid)
		return pid;
	/* Not even a failing test leaves it behind. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	go = start_jobs(self->shared) < 0;
	if (write(self->ready[1], &go, 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

static void kill_worker(struct __test_metadata *_metadata,
			FIXTURE_DATA(kill) *self, pid_t pid)
{
	int status;
	char go;

	ASSERT_LT(0, pid);
	ASSERT_EQ(1, read(self->ready[0], &go, 1));
	EXPECT_EQ(0, go);
	EXPECT_LT(self->pins, tdma_pins());
	ASSERT_EQ(0, kill(pid, SIGKILL));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(self->pins, tdma_pins_settle(self->pins));
}

TEST_F_TIMEOUT(kill, jobs_in_flight, 60)
{
	kill_worker(_metadata, self, spawn_worker(self));
	expect_quiet(_metadata, self->shared);
	expect_device_works(_metadata);
}

TEST_F_TIMEOUT(kill, again_and_again, 120)
{
	int rounds = tdma_slow() ? 3 : 10;

	for (int i = 0; i < rounds; i++)
		kill_worker(_metadata, self, spawn_worker(self));
	expect_quiet(_metadata, self->shared);
	expect_device_works(_metadata);
}

static void wait_for_ever(int fd)
{
	struct tdma_record rec;

	for (__u64 job = 1;; job++)
		tdma_wait(fd, job, TDMA_WAIT_FOREVER, &rec);
}

/* A sleeping waiter can be killed. */
TEST_F_TIMEOUT(kill, while_waiting, 60)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		wait_for_ever(start_jobs(self->shared));
	}
	ASSERT_LT(0, pid);
	usleep(700000);
	ASSERT_EQ(0, kill(pid, SIGKILL));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(self->pins, tdma_pins_settle(self->pins));
	expect_quiet(_metadata, self->shared);
}

/* close() has the same effect as the end of the process. */
TEST_F_TIMEOUT(kill, close_with_jobs_in_flight, 60)
{
	int fd = start_jobs(self->shared);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, close(fd));
	EXPECT_EQ(self->pins, tdma_pins_settle(self->pins));
	expect_quiet(_metadata, self->shared);
	expect_device_works(_metadata);
}

/* One process' work; others run and die at the same time. */
static int worker(unsigned int seed)
{
	struct tdma_rng rng = { .state = seed };
	struct tdma_query caps;
	struct tdma_buf src, dst;
	int fd = tdma_open(0);

	if (fd < 0 || tdma_query(fd, &caps) ||
	    tdma_buf_create(&src, fd, TDMA_MEM_USER, BUF_BYTES) ||
	    tdma_buf_create(&dst, fd, TDMA_MEM_USER, BUF_BYTES))
		return 1;
	tdma_rand_fill(&rng, &src);
	tdma_rand_fill(&rng, &dst);
	for (int i = 0; i < 40; i++) {
		struct tdma_record rec;
		union tdma_slot slots[2];
		struct tdma_desc *d = &slots[0].desc;

		tdma_rand_job(&rng, &caps, &src, &dst, 500, slots);
		if (tdma_run(fd, slots, &rec) || rec.status != TDMA_STATUS_OK)
			return 2;
		tdma_ref_run(d, d->flags & TDMA_DESC_EXT ? &slots[1].ext :
			     NULL, src.image, dst.image);
	}
	return tdma_buf_diff(&src) != BUF_BYTES ||
	       tdma_buf_diff(&dst) != BUF_BYTES ? 3 : 0;
}

TEST_F_TIMEOUT(kill, many_processes, 120)
{
	int count = tdma_slow() ? 8 : 24;
	pid_t victim = spawn_worker(self);
	pid_t pids[24];
	int status;

	for (int i = 0; i < count; i++) {
		pids[i] = fork();
		if (!pids[i])
			_exit(worker(i));
		ASSERT_LT(0, pids[i]);
	}
	for (int i = 0; i < count; i++) {
		ASSERT_EQ(pids[i], waitpid(pids[i], &status, 0));
		EXPECT_EQ(0, status);
		if (i == count / 2)
			ASSERT_EQ(0, kill(victim, SIGKILL));
	}
	ASSERT_EQ(victim, waitpid(victim, &status, 0));
}

TDMA_HARNESS_MAIN
