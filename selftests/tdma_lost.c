// SPDX-License-Identifier: GPL-2.0
/*
 * tensordma selftests: the bus reports a fatal error, and the kernel fails to
 * recover from it. The driver does by itself; where it cannot, everybody is
 * told that the device is gone, and it can be bound again.
 *
 * For a machine whose root port cannot reset its link; on any other one each
 * test fails.
 */
#include <pthread.h>
#include <sys/eventfd.h>

#include "tdma_aer.h"
#include "tdma_harness.h"
#include "tdma_slow.h"
#include "tdma_text.h"

#define TIMEOUT_FILE	"/sys/module/tensordma/parameters/recovery_timeout_ms"

FIXTURE(lost)
{
	long pins;
	struct tdma_sysfs sysfs;
	char timeout[32];
	int socket;
	int fd;
	struct tdma_buf src;
	struct tdma_buf dst;
	__u64 job;
};

/* A job that would take minutes */
static int queue_work(FIXTURE_DATA(lost) *self)
{
	struct tdma_submit report;
	struct tdma_desc desc;
	__u32 repeat;
	int ret;

	repeat = tdma_slow_repeat(self->fd, self->src.handle,
				  self->dst.handle, 300000);
	desc = tdma_slow_desc(self->src.handle, self->dst.handle, repeat);
	ret = tdma_submit(self->fd, &desc, 1, &report);
	self->job = report.first_job;
	return ret;
}

FIXTURE_SETUP(lost)
{
	if (getuid())
		SKIP(return, "needs root");
	if (access(TDMA_AER_INJECT, F_OK))
		SKIP(return, "the kernel has no " TDMA_AER_INJECT);
	ASSERT_EQ(0, tdma_sysfs_find(&self->sysfs));
	ASSERT_EQ(0, tdma_text_read(TIMEOUT_FILE, self->timeout,
				    sizeof(self->timeout)));
	self->pins = tdma_pins();
	self->socket = tdma_aer_listen();
	ASSERT_LE(0, self->socket);
	self->fd = tdma_open(0);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, tdma_buf_create(&self->src, self->fd, TDMA_MEM_USER,
				     TDMA_SLOW_BYTES));
	ASSERT_EQ(0, tdma_buf_create(&self->dst, self->fd, TDMA_MEM_USER,
				     TDMA_SLOW_BYTES));
	ASSERT_EQ(0, queue_work(self));
}

FIXTURE_TEARDOWN(lost)
{
	EXPECT_EQ(0, tdma_text_write(TIMEOUT_FILE, self->timeout));
	close(self->fd);
	close(self->socket);
	EXPECT_EQ(self->pins, tdma_pins_settle(self->pins));
}

static void *sleeper(void *arg)
{
	FIXTURE_DATA(lost) *self = arg;
	struct tdma_record rec;

	return (void *)(long)tdma_wait(self->fd, self->job,
				       TDMA_WAIT_FOREVER, &rec);
}

/* Who waits when the error comes is told, whether the device returns or not. */
static void lose(struct __test_metadata *_metadata, FIXTURE_DATA(lost) *self,
		 const char *timeout)
{
	struct tdma_query caps;
	pthread_t thread;
	void *result;

	ASSERT_EQ(0, tdma_text_write(TIMEOUT_FILE, timeout));
	ASSERT_EQ(0, pthread_create(&thread, NULL, sleeper, self));
	ASSERT_EQ(0, tdma_aer_inject(&self->sysfs));
	ASSERT_EQ(0, pthread_join(thread, &result));
	EXPECT_EQ(-ENODEV, (long)result);
	EXPECT_EQ(-ENODEV, tdma_query(self->fd, &caps));
	ASSERT_EQ(0, tdma_aer_failed(self->socket, &self->sysfs));
}

static void expect_works(struct __test_metadata *_metadata)
{
	struct tdma_buf src, dst;
	union tdma_slot slot;
	int fd = tdma_open_again();

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, tdma_buf_create(&src, fd, TDMA_MEM_USER, 4096));
	ASSERT_EQ(0, tdma_buf_create(&dst, fd, TDMA_MEM_HBM, 4096));
	memset(src.mem, 0x5a, 4096);
	memset(dst.image, 0x5a, 4096);
	slot.desc = tdma_desc_copy(src.handle, dst.handle, 4096);
	EXPECT_RUN(TDMA_STATUS_OK, fd, &slot);
	EXPECT_IMAGE(&dst);
	tdma_buf_destroy(&src, fd);
	tdma_buf_destroy(&dst, fd);
	close(fd);
}

/* Again and again: what was repaired can break. */
TEST_F_TIMEOUT(lost, driver_recovers, 120)
{
	lose(_metadata, self, "200");
	expect_works(_metadata);
	close(self->fd);
	self->fd = tdma_open_again();
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, tdma_buf_create(&self->src, self->fd, TDMA_MEM_USER,
				     TDMA_SLOW_BYTES));
	ASSERT_EQ(0, tdma_buf_create(&self->dst, self->fd, TDMA_MEM_USER,
				     TDMA_SLOW_BYTES));
	ASSERT_EQ(0, queue_work(self));
	lose(_metadata, self, "200");
	expect_works(_metadata);
}

/* A reset by hand works although the failed one has wiped out all settings. */
TEST_F_TIMEOUT(lost, reset_by_hand, 120)
{
	lose(_metadata, self, "0");
	EXPECT_EQ(-EBUSY, tdma_open(0));
	EXPECT_EQ(0, tdma_sysfs_write(self->sysfs.device, "reset", "1"));
	expect_works(_metadata);
}

static int end_of_device(void)
{
	__s64 deadline = tdma_patience();
	int fd;

	do {
		fd = tdma_open(0);
		if (fd != -EBUSY)
			return fd;
		usleep(10000);
	} while (tdma_now() < deadline);
	return -ETIME;
}

/* The function cannot be reset either: nobody has to wait for anything. */
TEST_F_TIMEOUT(lost, nothing_helps, 120)
{
	ASSERT_EQ(0, tdma_sysfs_write(self->sysfs.device, "reset_method",
				      "\n"));
	lose(_metadata, self, "200");
	EXPECT_EQ(-ENODEV, end_of_device());
	EXPECT_EQ(0, tdma_sysfs_write(self->sysfs.device, "reset_method",
				      "default"));
	EXPECT_EQ(-ENODEV, tdma_open(0));
	ASSERT_EQ(0, tdma_sysfs_write(self->sysfs.driver, "unbind",
				      self->sysfs.name));
	ASSERT_EQ(0, tdma_sysfs_write(self->sysfs.driver, "bind",
				      self->sysfs.name));
	expect_works(_metadata);
}

/* Unbinding ends the wait for a recovery. */
TEST_F_TIMEOUT(lost, unbound, 120)
{
	lose(_metadata, self, "1000000");
	EXPECT_EQ(-EBUSY, tdma_open(0));
	ASSERT_EQ(0, tdma_sysfs_write(self->sysfs.driver, "unbind",
				      self->sysfs.name));
	ASSERT_EQ(0, tdma_sysfs_write(self->sysfs.device, "remove", "1"));
	ASSERT_EQ(0, tdma_sysfs_write("/sys/bus/pci", "rescan", "1"));
	expect_works(_metadata);
}

TDMA_HARNESS_MAIN
