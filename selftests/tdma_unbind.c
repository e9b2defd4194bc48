// SPDX-License-Identifier: GPL-2.0
/*
 * tensordma selftests: the driver is unbound from the device while it is in
 * use. Everybody gets ENODEV, nobody hangs or crashes, and it can come back.
 */
#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>

#include "tdma_harness.h"
#include "tdma_random.h"
#include "tdma_slow.h"
#include "tdma_sysfs.h"

#define JOBS	16

FIXTURE(unbind)
{
	int fd;
	long pins;
	struct tdma_buf src;
	struct tdma_buf dst;
	__u64 job;
	struct tdma_sysfs sysfs;
	bool unbound;
};

static int queue_work(FIXTURE_DATA(unbind) *self)
{
	struct tdma_desc d[JOBS];
	struct tdma_submit report;
	__u32 repeat = tdma_slow_repeat(self->fd, self->src.handle,
					self->dst.handle, 2000);
	int ret;

	for (int i = 0; i < JOBS; i++)
		d[i] = tdma_slow_desc(self->src.handle, self->dst.handle,
				      repeat);
	ret = tdma_submit(self->fd, d, JOBS, &report);
	self->job = report.first_job;
	return ret;
}

FIXTURE_SETUP(unbind)
{
	if (getuid())
		SKIP(return, "needs root to unbind the driver");
	ASSERT_EQ(0, tdma_sysfs_find(&self->sysfs));
	self->pins = tdma_pins();
	self->fd = tdma_open(0);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, tdma_buf_create(&self->src, self->fd, TDMA_MEM_USER,
				     TDMA_SLOW_BYTES));
	ASSERT_EQ(0, tdma_buf_create(&self->dst, self->fd, TDMA_MEM_HBM,
				     TDMA_SLOW_BYTES));
	ASSERT_EQ(0, queue_work(self));
}

static int unbind(FIXTURE_DATA(unbind) *self)
{
	int ret = tdma_sysfs_write(self->sysfs.driver, "unbind",
				   self->sysfs.name);

	self->unbound = !ret;
	return ret;
}

static int rebind(FIXTURE_DATA(unbind) *self)
{
	int ret = tdma_sysfs_write(self->sysfs.driver, "bind",
				   self->sysfs.name);

	self->unbound = ret;
	return ret;
}

/* Other tests need the device, under its name, whoever still holds it open. */
FIXTURE_TEARDOWN(unbind)
{
	int fd;

	if (self->unbound)
		EXPECT_EQ(0, rebind(self));
	fd = tdma_open_again();
	EXPECT_LE(0, fd);
	close(fd);
	close(self->fd);
}

static void *sleeper(void *arg)
{
	FIXTURE_DATA(unbind) *self = arg;
	struct tdma_record rec;

	return (void *)(long)tdma_wait(self->fd, self->job + JOBS - 1,
				       tdma_patience(), &rec);
}

TEST_F_TIMEOUT(unbind, sleepers_wake, 60)
{
	pthread_t thread;
	void *result;

	ASSERT_EQ(0, pthread_create(&thread, NULL, sleeper, self));
	usleep(100000);
	ASSERT_EQ(0, unbind(self));
	ASSERT_EQ(0, pthread_join(thread, &result));
	EXPECT_EQ(-ENODEV, (long)result);
}

TEST_F_TIMEOUT(unbind, calls_fail, 60)
{
	struct pollfd pfd = { .fd = self->fd, .events = POLLIN };
	struct tdma_desc nop = { .version = TDMA_DESC_VERSION };
	struct tdma_query caps;
	struct tdma_record rec;
	__u64 offset;
	__u32 handle;

	ASSERT_EQ(0, unbind(self));
	EXPECT_EQ(-ENODEV, tdma_query(self->fd, &caps));
	EXPECT_EQ(-ENODEV, tdma_pin(self->fd, self->src.image, 1,
				    TDMA_BUF_READ, &handle));
	EXPECT_EQ(-ENODEV, tdma_alloc(self->fd, TDMA_ALLOC_HBM, 1, &handle,
				      &offset));
	EXPECT_EQ(-ENODEV, tdma_submit(self->fd, &nop, 1, NULL));
	EXPECT_EQ(-ENODEV, tdma_wait(self->fd, self->job, 0, &rec));
	EXPECT_EQ(1, poll(&pfd, 1, 0));
	EXPECT_TRUE(pfd.revents & (POLLERR | POLLHUP));
	EXPECT_GT(0, tdma_open(0));
}

/* Mappings stay, and show nothing that is the device's any more. */
TEST_F_TIMEOUT(unbind, mappings_stay, 60)
{
	ASSERT_EQ(0, unbind(self));
	memset(self->dst.mem, 1, self->dst.len);
	EXPECT_EQ(1, self->dst.mem[self->dst.len - 1]);
}

/* The pages go with the last user of the file. */
TEST_F_TIMEOUT(unbind, pins_released, 60)
{
	ASSERT_EQ(0, unbind(self));
	munmap(self->dst.mem, self->dst.len);
	close(self->fd);
	EXPECT_EQ(self->pins, tdma_pins_settle(self->pins));
	self->dst.mem = NULL;
	self->fd = -1;
}

/* The device works again, for those who open it again. */
TEST_F_TIMEOUT(unbind, rebind, 60)
{
	struct tdma_rng rng = {};
	struct tdma_query caps;
	struct tdma_buf buf;
	union tdma_slot slot;
	int fd;

	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(0, unbind(self));
		ASSERT_EQ(0, rebind(self));
	}
	fd = tdma_open_again();
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, tdma_buf_create(&buf, fd, TDMA_MEM_USER, 8192));
	tdma_rand_fill(&rng, &buf);
	slot.desc = tdma_desc_copy(buf.handle, buf.handle, 4096);
	slot.desc.dst_offset = 4096;
	EXPECT_RUN(TDMA_STATUS_OK, fd, &slot);
	memcpy(buf.image + 4096, buf.image, 4096);
	EXPECT_IMAGE(&buf);
	/* A file from before stays dead. */
	EXPECT_EQ(-ENODEV, tdma_query(self->fd, &caps));
	close(fd);
}

TDMA_HARNESS_MAIN
