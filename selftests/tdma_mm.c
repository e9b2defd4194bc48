// SPDX-License-Identifier: GPL-2.0
/*
 * tensordma selftests: what may be pinned, what it costs, and that every pin is
 * undone.
 */
#include <limits.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "tdma_harness.h"
#include "tdma_random.h"
#include "tdma_slow.h"

#define NOBODY		65534
#define ANON		(MAP_PRIVATE | MAP_ANONYMOUS)

FIXTURE(mm)
{
	int fd;
	size_t page;
	long pins;
	struct tdma_query caps;
	struct tdma_buf buf;		/* the other side of copies */
};

FIXTURE_SETUP(mm)
{
	struct tdma_rng rng = {};

	self->page = tdma_page_size();
	self->pins = tdma_pins();
	ASSERT_LE(0, self->pins);
	self->fd = tdma_open(0);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, tdma_query(self->fd, &self->caps));
	ASSERT_EQ(0, tdma_buf_create(&self->buf, self->fd, TDMA_MEM_HOST,
				     TDMA_SLOW_BYTES));
	tdma_rand_fill(&rng, &self->buf);
}

/* Whatever a test did, closing the file undoes it; a mapping keeps it open. */
FIXTURE_TEARDOWN(mm)
{
	munmap(self->buf.mem, self->buf.len);
	close(self->fd);
	EXPECT_EQ(self->pins, tdma_pins_settle(self->pins));
}

static unsigned char *map(size_t len, int prot)
{
	return mmap(NULL, len, prot, ANON, -1, 0);
}

static int run_copy(int fd, __u32 src, __u32 dst, __u32 bytes)
{
	union tdma_slot slot = { .desc = tdma_desc_copy(src, dst, 1) };
	struct tdma_record rec;
	int ret;

	tdma_dim(&slot.desc, bytes, 1, 1);
	ret = tdma_run(fd, &slot, &rec);
	return ret ? ret : (int)rec.status;
}

/* Value in kB of a line of /proc/self/status. */
static long status_kb(const char *name)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[128];
	long value = -1;

	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, name, strlen(name)))
			sscanf(line + strlen(name), ": %ld", &value);
	if (file)
		fclose(file);
	return value;
}

static long locked_kb(void)
{
	return status_kb("VmLck") + status_kb("VmPin");
}

TEST_F(mm, read_only_memory)
{
	unsigned char *mem = map(4 * self->page, PROT_READ | PROT_WRITE);
	__u32 handle;

	ASSERT_NE(MAP_FAILED, mem);
	memset(mem, 0x5a, 4 * self->page);
	ASSERT_EQ(0, mprotect(mem, 4 * self->page, PROT_READ));
	EXPECT_EQ(-EFAULT, tdma_pin(self->fd, mem, 4 * self->page,
				    TDMA_BUF_WRITE, &handle));
	EXPECT_EQ(-EFAULT, tdma_pin(self->fd, mem, 4 * self->page,
				    TDMA_BUF_READ | TDMA_BUF_WRITE, &handle));
	ASSERT_EQ(0, tdma_pin(self->fd, mem, 4 * self->page, TDMA_BUF_READ,
			      &handle));
	EXPECT_EQ(TDMA_STATUS_OK, run_copy(self->fd, handle, self->buf.handle,
					   4 * self->page));
	memset(self->buf.image, 0x5a, 4 * self->page);
	EXPECT_IMAGE(&self->buf);
	/* As a destination it is refused by its permission. */
	EXPECT_EQ(-EACCES, run_copy(self->fd, self->buf.handle, handle, 1));
}

TEST_F(mm, write_only_buffer)
{
	unsigned char *mem = map(self->page, PROT_READ | PROT_WRITE);
	__u32 handle;

	ASSERT_NE(MAP_FAILED, mem);
	ASSERT_EQ(0, tdma_pin(self->fd, mem, self->page, TDMA_BUF_WRITE,
			      &handle));
	EXPECT_EQ(-EACCES, run_copy(self->fd, handle, self->buf.handle, 1));
	EXPECT_EQ(TDMA_STATUS_OK, run_copy(self->fd, self->buf.handle, handle,
					   self->page));
	EXPECT_EQ(0, memcmp(mem, self->buf.image, self->page));
}

TEST_F(mm, never_touched_memory)
{
	unsigned char *from = map(TDMA_SLOW_BYTES, PROT_READ | PROT_WRITE);
	unsigned char *to = map(TDMA_SLOW_BYTES, PROT_READ | PROT_WRITE);
	__u32 src, dst;

	ASSERT_NE(MAP_FAILED, from);
	ASSERT_NE(MAP_FAILED, to);
	ASSERT_EQ(0, tdma_pin(self->fd, to, TDMA_SLOW_BYTES, TDMA_BUF_WRITE,
			      &dst));
	EXPECT_EQ(TDMA_STATUS_OK, run_copy(self->fd, self->buf.handle, dst,
					   TDMA_SLOW_BYTES));
	EXPECT_EQ(0, memcmp(to, self->buf.image, TDMA_SLOW_BYTES));
	ASSERT_EQ(0, tdma_pin(self->fd, from, TDMA_SLOW_BYTES, TDMA_BUF_READ,
			      &src));
	EXPECT_EQ(TDMA_STATUS_OK, run_copy(self->fd, src, self->buf.handle,
					   TDMA_SLOW_BYTES));
	memset(self->buf.image, 0, TDMA_SLOW_BYTES);
	EXPECT_IMAGE(&self->buf);
}

TEST_F(mm, shared_memory)
{
	int memfd = memfd_create("tdma", MFD_CLOEXEC);
	unsigned char *mem, *other;
	__u32 handle;

	ASSERT_LE(0, memfd);
	ASSERT_EQ(0, ftruncate(memfd, 2 * self->page));
	mem = mmap(NULL, 2 * self->page, PROT_READ | PROT_WRITE, MAP_SHARED,
		   memfd, 0);
	other = mmap(NULL, 2 * self->page, PROT_READ, MAP_SHARED, memfd, 0);
	ASSERT_NE(MAP_FAILED, mem);
	ASSERT_NE(MAP_FAILED, other);
	ASSERT_EQ(0, tdma_pin(self->fd, mem, 2 * self->page, TDMA_BUF_WRITE,
			      &handle));
	EXPECT_EQ(TDMA_STATUS_OK, run_copy(self->fd, self->buf.handle, handle,
					   2 * self->page));
	EXPECT_EQ(0, memcmp(other, self->buf.image, 2 * self->page));
	close(memfd);
}

/* A buffer has the bytes it was given, not the pages they lie in. */
TEST_F(mm, unaligned)
{
	unsigned char *mem = map(4 * self->page, PROT_READ | PROT_WRITE);
	size_t len = 2 * self->page + 5;
	__u32 handle;

	ASSERT_NE(MAP_FAILED, mem);
	memset(mem, 0x11, 4 * self->page);
	ASSERT_EQ(0, tdma_pin(self->fd, mem + 3, len, TDMA_BUF_WRITE,
			      &handle));
	EXPECT_EQ(TDMA_STATUS_OK, run_copy(self->fd, self->buf.handle, handle,
					   len));
	EXPECT_EQ(0, memcmp(mem + 3, self->buf.image, len));
	EXPECT_EQ(0x11, mem[2]);
	EXPECT_EQ(0x11, mem[3 + len]);
	EXPECT_EQ(-EINVAL, run_copy(self->fd, self->buf.handle, handle,
				    len + 1));
	EXPECT_EQ(0x11, mem[3 + len]);
}

TEST_F(mm, unmapped)
{
	unsigned char *mem = map(4 * self->page, PROT_READ | PROT_WRITE);
	__u32 handle;

	ASSERT_NE(MAP_FAILED, mem);
	ASSERT_EQ(0, munmap(mem + 2 * self->page, self->page));
	EXPECT_EQ(-EFAULT, tdma_pin(self->fd, mem, 4 * self->page,
				    TDMA_BUF_READ, &handle));
	EXPECT_EQ(-EFAULT, tdma_pin(self->fd, mem + 2 * self->page, 1,
				    TDMA_BUF_READ, &handle));
	EXPECT_EQ(-EFAULT, tdma_pin(self->fd, NULL, 1, TDMA_BUF_READ,
				    &handle));
	/* The pages before the hole are not left pinned. */
	EXPECT_EQ(self->pins, tdma_pins_settle(self->pins));
}

TEST_F(mm, absurd_length)
{
	unsigned char *mem = map(self->page, PROT_READ | PROT_WRITE);
	__u32 handle;

	ASSERT_NE(MAP_FAILED, mem);
	EXPECT_EQ(-EOVERFLOW, tdma_pin(self->fd, mem, ~0ULL, TDMA_BUF_READ,
				       &handle));
	EXPECT_EQ(-EOVERFLOW, tdma_pin(self->fd, mem, -(uintptr_t)mem + 1ULL,
				       TDMA_BUF_READ, &handle));
	/* No overflow, but nothing that could be there. */
	EXPECT_NE(0, tdma_pin(self->fd, mem, 1ULL << 62, TDMA_BUF_READ,
			      &handle));
	EXPECT_NE(0, tdma_pin(self->fd, mem, 1ULL << 44, TDMA_BUF_READ,
			      &handle));
	EXPECT_EQ(self->pins, tdma_pins_settle(self->pins));
}

/* What an ordinary user may pin is limited, and counted once. */
static int limited_user(int fd, size_t page)
{
	struct rlimit limit = { .rlim_cur = 16 * page, .rlim_max = 16 * page };
	unsigned char *mem = map(64 * page, PROT_READ | PROT_WRITE);
	long before = locked_kb();
	__u32 handle, more;
	__u64 offset;

	if (setrlimit(RLIMIT_MEMLOCK, &limit) || setuid(NOBODY))
		return 1;
	if (tdma_pin(fd, mem, 17 * page, TDMA_BUF_READ, &handle) != -ENOMEM)
		return 2;
	if (locked_kb() != before)
		return 3;
	for (int i = 0; i < 20; i++) {
		if (tdma_pin(fd, mem, 16 * page, TDMA_BUF_READ, &handle))
			return 4;
		if (tdma_pin(fd, mem + 32 * page, 1, TDMA_BUF_READ, &more) !=
		    -ENOMEM)
			return 5;
		if (locked_kb() != before + (long)(16 * page / 1024))
			return 6;
		if (tdma_free(fd, handle))
			return 7;
		if (locked_kb() != before)
			return 8;
	}
	/* Memory of the driver is not swapped out either. */
	if (tdma_alloc(fd, TDMA_ALLOC_HOST, 17 * page, &handle, &offset) !=
	    -ENOMEM)
		return 9;
	if (tdma_alloc(fd, TDMA_ALLOC_HOST, 16 * page, &handle, &offset))
		return 10;
	if (locked_kb() != before + (long)(16 * page / 1024))
		return 11;
	if (tdma_free(fd, handle) || locked_kb() != before)
		return 12;
	return 0;
}

TEST_F(mm, memlock_limit)
{
	int status;
	pid_t pid;

	if (getuid())
		SKIP(return, "needs root to become an ordinary user");
	pid = fork();
	if (!pid)
		_exit(limited_user(self->fd, self->page));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, WEXITSTATUS(status));
	EXPECT_TRUE(WIFEXITED(status));
}

TEST_F(mm, munmap_with_a_job_in_flight)
{
	unsigned char *mem = map(TDMA_SLOW_BYTES, PROT_READ | PROT_WRITE);
	struct tdma_submit report;
	struct tdma_record rec;
	struct tdma_desc d;
	__u32 handle, repeat;

	ASSERT_NE(MAP_FAILED, mem);
	ASSERT_EQ(0, tdma_pin(self->fd, mem, TDMA_SLOW_BYTES, TDMA_BUF_WRITE,
			      &handle));
	repeat = tdma_slow_repeat(self->fd, self->buf.handle, handle, 100);
	d = tdma_slow_desc(self->buf.handle, handle, repeat);
	ASSERT_EQ(0, tdma_submit(self->fd, &d, 1, &report));
	ASSERT_EQ(0, munmap(mem, TDMA_SLOW_BYTES));
	/* Whoever gets this memory next must not see the engine's writes. */
	mem = map(TDMA_SLOW_BYTES, PROT_READ | PROT_WRITE);
	ASSERT_NE(MAP_FAILED, mem);
	memset(mem, 0x77, TDMA_SLOW_BYTES);
	EXPECT_EQ(0, tdma_wait(self->fd, report.first_job, tdma_patience(),
			       &rec));
	EXPECT_EQ(TDMA_STATUS_OK, rec.status);
	for (size_t i = 0; i < TDMA_SLOW_BYTES; i++)
		ASSERT_EQ(0x77, mem[i]);
}

TEST_F(mm, free_with_a_job_in_flight)
{
	unsigned char *mem = map(TDMA_SLOW_BYTES, PROT_READ | PROT_WRITE);
	struct tdma_submit report;
	struct tdma_record rec;
	struct tdma_desc d;
	__u32 handle, repeat;

	ASSERT_NE(MAP_FAILED, mem);
	ASSERT_EQ(0, tdma_pin(self->fd, mem, TDMA_SLOW_BYTES, TDMA_BUF_WRITE,
			      &handle));
	repeat = tdma_slow_repeat(self->fd, self->buf.handle, handle, 200);
	d = tdma_slow_desc(self->buf.handle, handle, repeat);
	ASSERT_EQ(0, tdma_submit(self->fd, &d, 1, &report));
	EXPECT_EQ(0, tdma_free(self->fd, handle));
	/* The handle is gone at once, the memory when the job is over. */
	EXPECT_EQ(-ENOENT, tdma_free(self->fd, handle));
	EXPECT_EQ(-ENOENT, tdma_submit(self->fd, &d, 1, NULL));
	EXPECT_LT(self->pins, tdma_pins());
	EXPECT_EQ(0, tdma_wait(self->fd, report.first_job, tdma_patience(),
			       &rec));
	EXPECT_EQ(TDMA_STATUS_OK, rec.status);
	EXPECT_EQ(0, memcmp(mem, self->buf.image, TDMA_SLOW_BYTES));
	EXPECT_EQ(self->pins, tdma_pins_settle(self->pins));
}

/* After fork() the buffer stays with the parent, whoever writes first. */
TEST_F(mm, fork)
{
	unsigned char *mem = map(8 * self->page, PROT_READ | PROT_WRITE);
	__u32 handle;
	int status;
	pid_t pid;

	ASSERT_NE(MAP_FAILED, mem);
	memset(mem, 1, 8 * self->page);
	ASSERT_EQ(0, tdma_pin(self->fd, mem, 8 * self->page,
			      TDMA_BUF_READ | TDMA_BUF_WRITE, &handle));
	pid = fork();
	if (!pid) {
		memset(mem, 2, 8 * self->page);
		_exit(mem[0] != 2);
	}
	memset(mem, 3, self->page);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(3, mem[0]);
	EXPECT_EQ(TDMA_STATUS_OK, run_copy(self->fd, self->buf.handle, handle,
					   8 * self->page));
	EXPECT_EQ(0, memcmp(mem, self->buf.image, 8 * self->page));
}

TEST_F(mm, same_memory_twice)
{
	unsigned char *mem = map(self->page, PROT_READ | PROT_WRITE);
	__u32 one, two;

	ASSERT_NE(MAP_FAILED, mem);
	ASSERT_EQ(0, tdma_pin(self->fd, mem, self->page, TDMA_BUF_WRITE,
			      &one));
	ASSERT_EQ(0, tdma_pin(self->fd, mem, self->page, TDMA_BUF_WRITE,
			      &two));
	EXPECT_NE(one, two);
	EXPECT_EQ(0, tdma_free(self->fd, one));
	EXPECT_EQ(TDMA_STATUS_OK, run_copy(self->fd, self->buf.handle, two,
					   self->page));
	EXPECT_EQ(0, memcmp(mem, self->buf.image, self->page));
}

TEST_F(mm, pin_cycles)
{
	unsigned char *mem = map(16 * self->page, PROT_READ | PROT_WRITE);
	int cycles = tdma_slow() ? 500 : 5000;
	long locked = locked_kb();
	__u32 handle;

	ASSERT_NE(MAP_FAILED, mem);
	for (int i = 0; i < cycles; i++) {
		ASSERT_EQ(0, tdma_pin(self->fd, mem + i % 7,
				      15 * self->page, TDMA_BUF_READ,
				      &handle));
		ASSERT_EQ(0, tdma_free(self->fd, handle));
	}
	EXPECT_EQ(self->pins, tdma_pins_settle(self->pins));
	EXPECT_EQ(locked, locked_kb());
}

TEST_F(mm, buffers_used_up)
{
	__u32 handle, count = 0, last = 0;
	unsigned char *mem = map(self->page, PROT_READ | PROT_WRITE);
	int ret;

	ASSERT_NE(MAP_FAILED, mem);
	/* One is taken by the fixture. */
	while (!(ret = tdma_pin(self->fd, mem, self->page, TDMA_BUF_READ,
				&handle))) {
		last = handle;
		if (++count > self->caps.max_buffers)
			break;
	}
	EXPECT_EQ(-ENOSPC, ret);
	EXPECT_EQ(self->caps.max_buffers - 1, count);
	EXPECT_EQ(0, tdma_free(self->fd, last));
	EXPECT_EQ(0, tdma_pin(self->fd, mem, self->page, TDMA_BUF_READ,
			      &handle));
}

/* Device memory comes back when its owner goes. */
TEST_F(mm, hbm_returns)
{
	__u64 half = self->caps.hbm_bytes / 2 + self->page, offset;
	__u32 handle;
	int other;

	for (int i = 0; i < 5; i++) {
		other = tdma_open(0);
		ASSERT_LE(0, other);
		EXPECT_EQ(0, tdma_alloc(other, TDMA_ALLOC_HBM, half, &handle,
					&offset));
		EXPECT_EQ(-ENOSPC, tdma_alloc(self->fd, TDMA_ALLOC_HBM, half,
					      &handle, &offset));
		close(other);
	}
}

TDMA_HARNESS_MAIN
