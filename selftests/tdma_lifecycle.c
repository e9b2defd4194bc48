// SPDX-License-Identifier: GPL-2.0
/*
 * tensordma selftests: the device is reset, unbound, unplugged and hit by bus
 * errors over and over while processes work with it, and another one reads all
 * that the driver shows. Every file from before dies with ENODEV, every new one
 * works, and nothing stays behind.
 *
 * TDMA_ROUNDS: how often (3; 100 is a long run). TDMA_WORKERS: how many
 * processes (8; 2 on a slow machine, where they would leave it no time).
 */
#include <fcntl.h>
#include <signal.h>

#include "tdma_aer.h"
#include "tdma_event.h"
#include "tdma_harness.h"
#include "tdma_reader.h"
#include "tdma_sysfs.h"
#include "tdma_text.h"
#include "tdma_worker.h"

#define MAX_WORKERS	64

FIXTURE(lifecycle)
{
	long pins;
	struct tdma_sysfs sysfs;
	struct tdma_worker *workers;
	unsigned int count;
	pid_t pids[MAX_WORKERS];
	struct tdma_reader *reader;
	pid_t reader_pid;
};

FIXTURE_VARIANT(lifecycle)
{
	int (*event)(const struct tdma_sysfs *sysfs);
	const char *needs;
};

static int reset(const struct tdma_sysfs *sysfs)
{
	return tdma_sysfs_write(sysfs->device, "reset", "1");
}

static int unbind_and_bind(const struct tdma_sysfs *sysfs)
{
	int ret = tdma_sysfs_write(sysfs->driver, "unbind", sysfs->name);

	return ret ?: tdma_sysfs_write(sysfs->driver, "bind", sysfs->name);
}

static int unplug_and_plug(const struct tdma_sysfs *sysfs)
{
	int ret = tdma_sysfs_write(sysfs->device, "remove", "1");

	return ret ?: tdma_sysfs_write("/sys/bus/pci", "rescan", "1");
}

FIXTURE_VARIANT_ADD(lifecycle, function_level_reset)
{
	.event = reset,
};

FIXTURE_VARIANT_ADD(lifecycle, unbind)
{
	.event = unbind_and_bind,
};

FIXTURE_VARIANT_ADD(lifecycle, unplug)
{
	.event = unplug_and_plug,
};

FIXTURE_VARIANT_ADD(lifecycle, bus_error)
{
	.event = tdma_aer_inject,
	.needs = TDMA_AER_INJECT,
};

FIXTURE_SETUP(lifecycle)
{
	if (getuid())
		SKIP(return, "needs root");
	if (variant->needs && access(variant->needs, F_OK))
		SKIP(return, "the kernel has no %s", variant->needs);
	ASSERT_EQ(0, tdma_sysfs_find(&self->sysfs));
	self->pins = tdma_pins();
	ASSERT_LE(0, self->pins);
	self->count = tdma_env("TDMA_WORKERS", tdma_slow() ? 2 : 8);
	ASSERT_GE(MAX_WORKERS, self->count);
	self->workers = tdma_workers_alloc(self->count,
					   tdma_env("TDMA_SEED", 1), ~0UL);
	ASSERT_NE(NULL, self->workers);
	for (unsigned int i = 0; i < self->count; i++) {
		self->workers[i].go = true;
		self->pids[i] = tdma_worker_start(&self->workers[i]);
		ASSERT_LT(0, self->pids[i]);
	}
	self->reader = tdma_reader_start(&self->sysfs, &self->reader_pid);
	ASSERT_NE(NULL, self->reader);
	ASSERT_LT(0, self->reader_pid);
}

FIXTURE_TEARDOWN(lifecycle)
{
	tdma_reader_stop(self->reader, self->reader_pid);
	tdma_workers_free(self->workers, self->count);
	EXPECT_EQ(self->pins, tdma_pins_settle(self->pins));
}

/* The device is busy again: somebody's job was right after the last event. */
static bool workers_go_on(const FIXTURE_DATA(lifecycle) *self)
{
	unsigned long before = tdma_workers_checked(self->workers, self->count);
	__s64 deadline = tdma_patience();

	while (tdma_workers_checked(self->workers, self->count) == before) {
		if (tdma_now() > deadline)
			return false;
		usleep(1000);
	}
	return true;
}

/* A file from before the event learns of it. */
static int end_of_file(int fd)
{
	__s64 deadline = tdma_patience();
	struct tdma_query caps;
	int ret;

	do {
		ret = tdma_query(fd, &caps);
		if (ret)
			return ret;
		usleep(1000);
	} while (tdma_now() < deadline);
	return -ETIME;
}

static void stop_workers(struct __test_metadata *_metadata,
			 FIXTURE_DATA(lifecycle) *self)
{
	int status;

	for (unsigned int i = 0; i < self->count; i++)
		self->workers[i].stop = true;
	for (unsigned int i = 0; i < self->count; i++) {
		struct tdma_worker *worker = &self->workers[i];

		ASSERT_EQ(self->pids[i], waitpid(self->pids[i], &status, 0));
		EXPECT_EQ(0, status)
			TH_LOG("worker %u: error %d at line %d after %lu jobs",
			       i, worker->error, worker->line,
			       worker->checked);
	}
}

TEST_F_TIMEOUT(lifecycle, under_load, 7200)
{
	unsigned long rounds = tdma_env("TDMA_ROUNDS", 3);
	unsigned long lost = 0;
	int fd;

	for (unsigned long i = 0; i < rounds; i++) {
		fd = tdma_open_again();
		ASSERT_LE(0, fd);
		ASSERT_TRUE(workers_go_on(self));
		ASSERT_EQ(0, variant->event(&self->sysfs))
			TH_LOG("round %lu", i);
		EXPECT_EQ(-ENODEV, end_of_file(fd));
		close(fd);
	}
	ASSERT_TRUE(workers_go_on(self));
	stop_workers(_metadata, self);
	for (unsigned int i = 0; i < self->count; i++)
		lost += self->workers[i].lost;
	EXPECT_LT(0, lost);
	EXPECT_EQ(0, self->reader->error);
	EXPECT_LT(0, self->reader->reads);
	TH_LOG("%lu rounds: %lu jobs right, %lu files lost", rounds,
	       tdma_workers_checked(self->workers, self->count), lost);
	TH_LOG("%lu files of the driver read, %lu gone meanwhile",
	       self->reader->reads, self->reader->gone);
}

TEST(resets_are_counted)
{
	unsigned long long before, after;
	struct tdma_sysfs sysfs;
	char path[PATH_MAX + 16], text[32];

	if (getuid())
		SKIP(return, "needs root");
	ASSERT_EQ(0, tdma_sysfs_find(&sysfs));
	ASSERT_EQ(0, tdma_sysfs_number(&sysfs, "resets", &before));
	ASSERT_EQ(0, reset(&sysfs));
	ASSERT_EQ(0, tdma_sysfs_number(&sysfs, "resets", &after));
	EXPECT_EQ(before + 1, after);
	snprintf(path, sizeof(path), "%s/state", sysfs.device);
	ASSERT_EQ(0, tdma_text_read(path, text, sizeof(text)));
	EXPECT_STREQ("running\n", text);
}

/* The registers start at zero again; who counts does not. */
TEST(counts_go_on_after_a_reset)
{
	struct tdma_sysfs sysfs;
	int event;

	if (getuid())
		SKIP(return, "needs root");
	ASSERT_EQ(0, tdma_sysfs_find(&sysfs));
	event = tdma_event_open("dst_requests", 0);
	ASSERT_LE(0, event);
	for (int i = 0; i < 3; i++) {
		union tdma_slot slot;
		struct tdma_buf dst;
		int fd = tdma_open(0);

		ASSERT_LE(0, fd);
		ASSERT_EQ(0, tdma_buf_create(&dst, fd, TDMA_MEM_USER, 4096));
		slot.desc = tdma_desc_memset(dst.handle, 1, "x", 1);
		tdma_dim(&slot.desc, 4096, 0, 1);
		EXPECT_RUN(TDMA_STATUS_OK, fd, &slot);
		ASSERT_EQ(0, reset(&sysfs));
		EXPECT_EQ(4096 * (i + 1), tdma_event_read(event));
		close(fd);
	}
	close(event);
}

TDMA_HARNESS_MAIN
