// SPDX-License-Identifier: GPL-2.0
/*
 * tensordma selftests: a response that never comes, and what the driver makes
 * of it. The job that hangs ends with a status of its own, those behind it are
 * aborted, and its file goes on; nobody else notices.
 */
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tdma_busy.h"
#include "tdma_harness.h"
#include "tdma_sysfs.h"
#include "tdma_text.h"
#include "tdma_util.h"

#define ELEMENTS	4096U
#define LOST_AT		100U
#define TIMEOUT_FILE	"/sys/module/tensordma/parameters/hang_timeout_ms"

FIXTURE(hang)
{
	int fd;
	struct tdma_query caps;
	struct tdma_buf src;
	struct tdma_buf dst;
	char timeout[32];
};

/* The device chooses the thread of a job: arm all of them. */
static int arm(const struct tdma_query *caps, int kind)
{
	char text[48];
	int ret = 0;
	__u32 i;

	snprintf(text, sizeof(text), "%d 0 %u", kind, LOST_AT);
	for (i = 0; i < caps->threads && !ret; i++)
		ret = tdma_thread_write(i, "inject", text);
	return ret;
}

FIXTURE_SETUP(hang)
{
	self->fd = tdma_open(0);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, tdma_query(self->fd, &self->caps));
	if (!(self->caps.features & TDMA_FEATURE_INJECT))
		SKIP(return, "the device was made without error injection");
	ASSERT_EQ(0, tdma_text_read(TIMEOUT_FILE, self->timeout,
				    sizeof(self->timeout)));
	ASSERT_EQ(0, tdma_text_write(TIMEOUT_FILE, "200"));
	ASSERT_EQ(0, tdma_buf_create(&self->src, self->fd, TDMA_MEM_USER,
				     ELEMENTS));
	ASSERT_EQ(0, tdma_buf_create(&self->dst, self->fd, TDMA_MEM_USER,
				     ELEMENTS));
}

FIXTURE_TEARDOWN(hang)
{
	if (self->timeout[0]) {
		arm(&self->caps, 0);
		tdma_text_write(TIMEOUT_FILE, self->timeout);
	}
	close(self->fd);
}

static union tdma_slot copy_job(const FIXTURE_DATA(hang) *self)
{
	union tdma_slot slot = {
		.desc = tdma_desc_copy(self->src.handle, self->dst.handle, 1),
	};

	tdma_dim(&slot.desc, ELEMENTS, 1, 1);
	return slot;
}

/* Queue @count jobs the first of which hangs. */
static __u64 submit_hanging(struct __test_metadata *_metadata,
			    FIXTURE_DATA(hang) *self, __u32 count)
{
	union tdma_slot slots[8];
	struct tdma_submit report;
	__u32 i;

	for (i = 0; i < count; i++)
		slots[i] = copy_job(self);
	ASSERT_EQ(0, arm(&self->caps, TDMA_INJECT_LOST_RESPONSE));
	ASSERT_EQ(0, tdma_submit(self->fd, slots, count, &report));
	ASSERT_EQ(count, report.accepted);
	return report.first_job;
}

TEST_F(hang, only_the_queue_is_recovered)
{
	union tdma_slot slot = copy_job(self);
	struct tdma_record rec;
	unsigned long long before, recoveries;
	struct tdma_sysfs sysfs;
	struct tdma_query after;
	__u64 first;
	__u32 i;

	ASSERT_EQ(0, tdma_sysfs_find(&sysfs));
	ASSERT_EQ(0, tdma_sysfs_number(&sysfs, "recoveries", &before));
	first = submit_hanging(_metadata, self, 8);
	for (i = 0; i < 8; i++) {
		ASSERT_EQ(0, tdma_wait(self->fd, first + i, tdma_patience(),
				       &rec));
		EXPECT_EQ(i ? TDMA_STATUS_ABORTED : TDMA_STATUS_TIMEOUT,
			  rec.status);
		EXPECT_GE(i ? 0 : LOST_AT, rec.dst_done);
	}
	ASSERT_EQ(0, arm(&self->caps, 0));
	ASSERT_EQ(0, tdma_run(self->fd, &slot, &rec));
	EXPECT_EQ(TDMA_STATUS_OK, rec.status);
	EXPECT_EQ(0, memcmp(self->src.mem, self->dst.mem, ELEMENTS));
	ASSERT_EQ(0, tdma_query(self->fd, &after));
	EXPECT_EQ(self->caps.reset_generation, after.reset_generation);
	ASSERT_EQ(0, tdma_sysfs_number(&sysfs, "recoveries", &recoveries));
	EXPECT_EQ(before + 1, recoveries);
}

/* Does a job wait while files of a higher priority have theirs? */
static bool gives_way(struct __test_metadata *_metadata,
		      FIXTURE_DATA(hang) *self)
{
	union tdma_slot slot = copy_job(self);
	struct tdma_submit report;
	struct tdma_busy busy;
	struct tdma_record rec;
	bool waits;

	ASSERT_EQ(0, tdma_busy_start(&busy, self->caps.threads, 1));
	ASSERT_EQ(0, tdma_submit(self->fd, &slot, 1, &report));
	EXPECT_EQ(0, tdma_busy_pass(&busy));
	waits = tdma_wait(self->fd, report.first_job, 0, &rec) == -ETIME;
	tdma_busy_end(&busy);
	if (waits)
		EXPECT_EQ(0, tdma_wait(self->fd, report.first_job,
				       tdma_patience(), &rec));
	EXPECT_EQ(TDMA_STATUS_OK, rec.status);
	return waits;
}

/*
 * Where the host keeps the device from running for longer than the short time
 * that a hang takes here, the busy files are recovered, and make room.
 */
TEST_F(hang, priority_outlives_recovery)
{
	bool waits = false;
	struct tdma_record rec;
	__u64 job;

	ASSERT_EQ(0, tdma_set_priority(self->fd, 0));
	job = submit_hanging(_metadata, self, 1);
	ASSERT_EQ(0, tdma_wait(self->fd, job, tdma_patience(), &rec));
	ASSERT_EQ(TDMA_STATUS_TIMEOUT, rec.status);
	ASSERT_EQ(0, arm(&self->caps, 0));
	EXPECT_EQ(0, tdma_get_priority(self->fd));

	for (int i = 0; i < 3 && !waits; i++)
		waits = gives_way(_metadata, self);
	EXPECT_TRUE(waits);
}

/* ---- the dump that a hang leaves ---- */

/* Directory of the device's dump, or -ENOENT */
static int find_dump(char *directory, size_t size)
{
	char link[PATH_MAX], target[PATH_MAX];
	struct tdma_sysfs sysfs;
	glob_t found;
	int ret;

	ret = tdma_sysfs_find(&sysfs);
	if (ret)
		return ret;
	ret = -ENOENT;
	if (glob("/sys/class/devcoredump/devcd*", 0, NULL, &found))
		return ret;
	for (size_t i = 0; i < found.gl_pathc && ret; i++) {
		snprintf(directory, size, "%s", found.gl_pathv[i]);
		snprintf(link, sizeof(link), "%s/failing_device", directory);
		if (realpath(link, target) && !strcmp(target, sysfs.device))
			ret = 0;
	}
	globfree(&found);
	return ret;
}

/* What an earlier hang has left would keep a new one from leaving anything. */
static int forget_dump(void)
{
	__s64 deadline = tdma_patience();
	char directory[PATH_MAX];
	int ret;

	while (!find_dump(directory, sizeof(directory))) {
		ret = tdma_sysfs_write(directory, "data", "1");
		if (ret && ret != -ENOENT)
			return ret;
		if (tdma_now() > deadline)
			return -ETIME;
		usleep(10000);
	}
	return 0;
}

/* The @nth line of the dump that begins so; NULL if there is none. */
static const char *dump_line(const char *text, const char *begin, int nth)
{
	size_t length = strlen(begin);

	for (; text; text = strchr(text, '\n'), text += !!text)
		if (!strncmp(text, begin, length) && !nth--)
			return text;
	return NULL;
}

/* The number behind @word in a line; all ones if there is none. */
static unsigned long long dump_value(const char *line, const char *word)
{
	size_t length = line ? strcspn(line, "\n") : 0;
	char pattern[32];
	const char *at;

	snprintf(pattern, sizeof(pattern), " %s ", word);
	at = memmem(line, length, pattern, strlen(pattern));
	return at ? strtoull(at + strlen(pattern), NULL, 0) : -1ULL;
}

static void read_dump(struct __test_metadata *_metadata, char *text,
		      size_t size)
{
	char directory[PATH_MAX], path[PATH_MAX + 8];
	struct stat st;

	ASSERT_EQ(0, find_dump(directory, sizeof(directory)));
	snprintf(path, sizeof(path), "%s/data", directory);
	ASSERT_EQ(0, stat(path, &st));
	EXPECT_EQ(0600, st.st_mode & 07777);
	ASSERT_EQ(0, tdma_text_read(path, text, size));
}

static void expect_dump(struct __test_metadata *_metadata, const char *text,
			const struct tdma_record *rec, __u32 threads)
{
	const char *line = dump_line(text, "state ", 0);

	EXPECT_EQ(0, strncmp(text, "tensordma hang 1\n", 17));
	EXPECT_NE(NULL, strstr(text, " owner file "));
	EXPECT_EQ(TDMA_QWAIT_MEMORY, dump_value(line, "waits"));
	EXPECT_LE(200, dump_value(line, "still_ms"));
	EXPECT_EQ(0, dump_value(line, "done"));
	EXPECT_EQ(3, dump_value(line, "tail"));
	EXPECT_EQ(rec->dst_done, dump_value(line, "progress"));
	for (int i = 0; i < 3; i++) {
		line = dump_line(text, "slot ", i);
		EXPECT_EQ(1000 + i, dump_value(line, "tag"));
		line = dump_line(text, "dim ", i);
		EXPECT_EQ(ELEMENTS, dump_value(line, "steps"));
		EXPECT_EQ(1, dump_value(line, "src_stride"));
	}
	EXPECT_EQ(NULL, dump_line(text, "slot ", 3));
	EXPECT_NE(NULL, dump_line(text, "thread ", threads - 1));
	EXPECT_EQ(NULL, dump_line(text, "thread ", threads));
}

TEST_F(hang, dump)
{
	union tdma_slot slots[3];
	struct tdma_submit report;
	struct tdma_record rec;
	char text[32768];

	if (access("/sys/class/devcoredump", F_OK))
		SKIP(return, "the kernel has no device core dumps");
	ASSERT_EQ(0, forget_dump());
	for (int i = 0; i < 3; i++) {
		slots[i] = copy_job(self);
		slots[i].desc.tag = 1000 + i;
	}
	ASSERT_EQ(0, arm(&self->caps, TDMA_INJECT_LOST_RESPONSE));
	ASSERT_EQ(0, tdma_submit(self->fd, slots, 3, &report));
	ASSERT_EQ(0, tdma_wait(self->fd, report.first_job, tdma_patience(),
			       &rec));
	EXPECT_EQ(TDMA_STATUS_TIMEOUT, rec.status);
	read_dump(_metadata, text, sizeof(text));
	expect_dump(_metadata, text, &rec, self->caps.threads);
	ASSERT_EQ(0, forget_dump());
}

/* A file opened before knows nothing of what happens to another's queue. */
TEST_F(hang, other_files_go_on)
{
	struct tdma_buf src, dst;
	union tdma_slot slot;
	struct tdma_record rec;
	int fd = tdma_open(0);
	__u64 job;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, tdma_buf_create(&src, fd, TDMA_MEM_USER, LOST_AT));
	ASSERT_EQ(0, tdma_buf_create(&dst, fd, TDMA_MEM_USER, LOST_AT));
	job = submit_hanging(_metadata, self, 1);
	slot.desc = tdma_desc_copy(src.handle, dst.handle, 1);
	tdma_dim(&slot.desc, LOST_AT, 1, 1);
	ASSERT_EQ(0, tdma_run(fd, &slot, &rec));
	EXPECT_EQ(TDMA_STATUS_OK, rec.status);
	ASSERT_EQ(0, tdma_wait(self->fd, job, tdma_patience(), &rec));
	EXPECT_EQ(TDMA_STATUS_TIMEOUT, rec.status);
	ASSERT_EQ(0, tdma_run(fd, &slot, &rec));
	EXPECT_EQ(TDMA_STATUS_OK, rec.status);
	close(fd);
}

/* Switched off, it waits for ever; close() and a killer need no watchdog. */
TEST_F(hang, without_detection_close_still_works)
{
	union tdma_slot slot;
	struct tdma_record rec;
	__u64 job;
	int fd;

	ASSERT_EQ(0, tdma_text_write(TIMEOUT_FILE, "0"));
	job = submit_hanging(_metadata, self, 1);
	EXPECT_EQ(-ETIME, tdma_wait(self->fd, job, tdma_now() + 1000000000LL,
				    &rec));
	EXPECT_GE(LOST_AT, rec.dst_done);
	ASSERT_EQ(0, arm(&self->caps, 0));
	ASSERT_EQ(0, close(self->fd));
	fd = tdma_open(0);
	ASSERT_LE(0, fd);
	self->fd = fd;
	ASSERT_EQ(0, tdma_pin(fd, self->src.mem, ELEMENTS, TDMA_BUF_READ,
			      &self->src.handle));
	ASSERT_EQ(0, tdma_pin(fd, self->dst.mem, ELEMENTS, TDMA_BUF_WRITE,
			      &self->dst.handle));
	slot = copy_job(self);
	ASSERT_EQ(0, tdma_run(fd, &slot, &rec));
	EXPECT_EQ(TDMA_STATUS_OK, rec.status);
}

TEST_F(hang, process_killed_while_it_waits)
{
	struct tdma_record rec;
	int status, ready[2];
	char byte;
	pid_t pid;

	ASSERT_EQ(0, tdma_text_write(TIMEOUT_FILE, "0"));
	ASSERT_EQ(0, pipe(ready));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		__u64 job = submit_hanging(_metadata, self, 4);

		if (write(ready[1], "", 1) != 1)
			_exit(1);
		_exit(tdma_wait(self->fd, job, TDMA_WAIT_FOREVER, &rec));
	}
	ASSERT_EQ(1, read(ready[0], &byte, 1));
	ASSERT_EQ(0, kill(pid, SIGKILL));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status));
	close(ready[0]);
	close(ready[1]);
}

TDMA_HARNESS_MAIN
