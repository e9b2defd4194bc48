// SPDX-License-Identifier: GPL-2.0
/*
 * tensordma selftests: many processes, random jobs, sudden deaths, signals,
 * closed files, forks and resets. Who survives has the right data; nothing
 * stays behind.
 *
 * TDMA_STRESS_PROCESSES (64) processes check TDMA_STRESS_JOBS jobs each (10;
 * 1000 is a long run), from TDMA_SEED.
 */
#include <signal.h>

#include "tdma_harness.h"
#include "tdma_random.h"
#include "tdma_sysfs.h"
#include "tdma_worker.h"

#define MAX_PROCESSES	1024

FIXTURE(stress)
{
	long pins;
	__u64 seed;
	struct tdma_rng rng;
	struct tdma_sysfs sysfs;
	unsigned int count;
	struct tdma_worker *workers;
	pid_t pids[MAX_PROCESSES];
	unsigned long troubles;
	unsigned long deaths;
	unsigned long signals;
	unsigned long resets;
};

FIXTURE_VARIANT(stress)
{
	bool resets;
};

FIXTURE_VARIANT_ADD(stress, deaths)
{
	.resets = false,
};

FIXTURE_VARIANT_ADD(stress, deaths_and_resets)
{
	.resets = true,
};

FIXTURE_SETUP(stress)
{
	unsigned long jobs = tdma_env("TDMA_STRESS_JOBS", 10);

	if (variant->resets && getuid())
		SKIP(return, "needs root to reset the device");
	ASSERT_EQ(0, tdma_sysfs_find(&self->sysfs));
	self->pins = tdma_pins();
	ASSERT_LE(0, self->pins);
	self->seed = tdma_env("TDMA_SEED", tdma_now());
	self->rng.state = self->seed;
	self->count = tdma_env("TDMA_STRESS_PROCESSES", 64);
	ASSERT_GE(MAX_PROCESSES, self->count);
	self->workers = tdma_workers_alloc(self->count, self->seed, jobs);
	ASSERT_NE(NULL, self->workers);
}

FIXTURE_TEARDOWN(stress)
{
	tdma_workers_free(self->workers, self->count);
	EXPECT_EQ(self->pins, tdma_pins_settle(self->pins));
}

static int find_pid(const FIXTURE_DATA(stress) *self, pid_t pid)
{
	for (unsigned int i = 0; i < self->count; i++)
		if (self->pids[i] == pid)
			return i;
	return -1;
}

/* Those that were killed come back; true if somebody ended for good. */
static bool bury(struct __test_metadata *_metadata,
		 FIXTURE_DATA(stress) *self, pid_t pid, int status)
{
	struct tdma_worker *worker;
	int i = find_pid(self, pid);

	ASSERT_LE(0, i);
	worker = &self->workers[i];
	self->pids[i] = 0;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
		self->deaths++;
		self->pids[i] = tdma_worker_start(worker);
		ASSERT_LT(0, self->pids[i]);
		return false;
	}
	EXPECT_EQ(0, status)
		TH_LOG("worker %d: error %d at line %d, %lu jobs, seed %llu",
		       i, worker->error, worker->line, worker->checked,
		       self->seed);
	return true;
}

/* The number of workers that have ended for good meanwhile */
static unsigned int bury_all(struct __test_metadata *_metadata,
			     FIXTURE_DATA(stress) *self)
{
	unsigned int ended = 0;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		ended += bury(_metadata, self, pid, status);
	return ended;
}

/* Something that a program must live with, or die of; first of all a death. */
static void make_trouble(struct __test_metadata *_metadata,
			 FIXTURE_DATA(stress) *self, bool resets)
{
	pid_t victim = self->pids[tdma_rand_below(&self->rng, self->count)];
	unsigned long n = self->troubles++;

	if (resets && n % 64 == 1) {
		ASSERT_EQ(0, tdma_sysfs_write(self->sysfs.device, "reset",
					      "1"));
		self->resets++;
	} else if (!victim) {
		return;
	} else if (n % 4 == 0) {
		ASSERT_EQ(0, kill(victim, SIGKILL));
	} else {
		ASSERT_EQ(0, kill(victim, SIGUSR1));
		self->signals++;
	}
}

static void expect_device_works(struct __test_metadata *_metadata)
{
	struct tdma_worker *one = tdma_workers_alloc(1, 1, 20);
	int status;
	pid_t pid;

	ASSERT_NE(NULL, one);
	one->go = true;
	pid = tdma_worker_start(one);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status)
		TH_LOG("error %d at line %d", one->error, one->line);
	tdma_workers_free(one, 1);
}

/* Deaths, signals and resets until all have done their work. */
TEST_F_TIMEOUT(stress, survivors, 7200)
{
	unsigned int left = self->count;
	unsigned long lost = 0;

	for (unsigned int i = 0; i < self->count; i++) {
		self->pids[i] = tdma_worker_start(&self->workers[i]);
		ASSERT_LT(0, self->pids[i]);
	}
	make_trouble(_metadata, self, variant->resets);
	for (unsigned int i = 0; i < self->count; i++)
		self->workers[i].go = true;
	while (left) {
		left -= bury_all(_metadata, self);
		make_trouble(_metadata, self, variant->resets);
		usleep(tdma_rand_below(&self->rng, 20000));
	}
	EXPECT_LT(0, self->deaths);
	EXPECT_EQ(variant->resets, !!self->resets);
	for (unsigned int i = 0; i < self->count; i++)
		lost += self->workers[i].lost;
	TH_LOG("seed %llu: %lu jobs right, %lu deaths, %lu signals",
	       self->seed, tdma_workers_checked(self->workers, self->count),
	       self->deaths, self->signals);
	TH_LOG("%lu resets, %lu files lost to them", self->resets, lost);
	expect_device_works(_metadata);
}

TDMA_HARNESS_MAIN
