// SPDX-License-Identifier: GPL-2.0
/* tensordma selftests: the device's attributes in sysfs. */
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tdma_harness.h"
#include "tdma_sysfs.h"
#include "tdma_text.h"

#define ROUNDS	4

static const char * const attributes[] = {
	"contexts", "fidelity", "hbm_free", "hbm_size", "lanes", "max_dims",
	"open_files", "queues", "recoveries", "request_ids", "resets", "state",
	"threads",
};

FIXTURE(attributes)
{
	struct tdma_sysfs sysfs;
	struct tdma_query caps;
	int fd;
};

FIXTURE_SETUP(attributes)
{
	ASSERT_EQ(0, tdma_sysfs_find(&self->sysfs));
	self->fd = tdma_open(0);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, tdma_query(self->fd, &self->caps));
}

FIXTURE_TEARDOWN(attributes)
{
	if (self->fd >= 0)
		close(self->fd);
}

static void path_of(char *path, size_t size, const struct tdma_sysfs *sysfs,
		    const char *name)
{
	snprintf(path, size, "%s/%s", sysfs->device, name);
}

static int text_of(const struct tdma_sysfs *sysfs, const char *name,
		   char *text, size_t size)
{
	char path[PATH_MAX + 32];

	path_of(path, sizeof(path), sysfs, name);
	return tdma_text_read(path, text, size);
}

#define EXPECT_NUMBER(wanted, name)					\
({									\
	unsigned long long __value;					\
									\
	EXPECT_EQ(0, tdma_sysfs_number(&self->sysfs, name, &__value));	\
	EXPECT_EQ(wanted, __value)					\
		TH_LOG("%s", name);					\
})

TEST_F(attributes, what_the_device_is)
{
	bool cycle = self->caps.features & TDMA_FEATURE_CYCLE;
	unsigned long long value;
	char text[32];

	EXPECT_NUMBER(self->caps.threads, "threads");
	EXPECT_NUMBER(self->caps.lanes, "lanes");
	EXPECT_NUMBER(self->caps.request_ids, "request_ids");
	EXPECT_NUMBER(self->caps.queue_dims, "max_dims");
	EXPECT_NUMBER(self->caps.hbm_bytes, "hbm_size");
	ASSERT_EQ(0, text_of(&self->sysfs, "fidelity", text, sizeof(text)));
	EXPECT_STREQ(cycle ? "cycle\n" : "fast\n", text);
	ASSERT_EQ(0, text_of(&self->sysfs, "state", text, sizeof(text)));
	EXPECT_STREQ("running\n", text);
	/* One for each thread, and at least that of this file */
	ASSERT_EQ(0, tdma_sysfs_number(&self->sysfs, "queues", &value));
	EXPECT_LT(self->caps.threads, value);
	ASSERT_EQ(0, tdma_sysfs_number(&self->sysfs, "contexts", &value));
	EXPECT_LE(2, value);
}

TEST_F(attributes, what_is_in_use)
{
	size_t length = 3 * tdma_page_size();
	unsigned long long before, files;
	__u64 offset;
	__u32 handle;
	int fd;

	ASSERT_EQ(0, tdma_sysfs_number(&self->sysfs, "hbm_free", &before));
	ASSERT_EQ(0, tdma_alloc(self->fd, TDMA_ALLOC_HBM, length, &handle,
				&offset));
	EXPECT_NUMBER(before - length, "hbm_free");
	ASSERT_EQ(0, tdma_free(self->fd, handle));
	EXPECT_NUMBER(before, "hbm_free");

	ASSERT_EQ(0, tdma_sysfs_number(&self->sysfs, "open_files", &files));
	EXPECT_LE(1, files);
	fd = tdma_open(0);
	ASSERT_LE(0, fd);
	EXPECT_NUMBER(files + 1, "open_files");
	close(fd);
	EXPECT_NUMBER(files, "open_files");
}

/* Everybody may read them and nobody may write. */
TEST_F(attributes, read_only)
{
	char path[PATH_MAX + 32];
	struct stat st;

	for (size_t i = 0; i < ARRAY_SIZE(attributes); i++) {
		path_of(path, sizeof(path), &self->sysfs, attributes[i]);
		ASSERT_EQ(0, stat(path, &st))
			TH_LOG("%s", path);
		EXPECT_EQ(0444, st.st_mode & 0777)
			TH_LOG("%s", path);
		EXPECT_GT(0, tdma_text_write(path, "1"))
			TH_LOG("%s", path);
	}
}

/* Read everything, again and again; true if anything but absence went wrong. */
static bool read_for_ever(const struct tdma_sysfs *sysfs,
			  unsigned long *rounds)
{
	char debugfs[128], text[256];
	int ret;

	snprintf(debugfs, sizeof(debugfs),
		 "/sys/kernel/debug%s/thread0/counters",
		 strrchr(tdma_path(), '/'));
	for (;; __atomic_add_fetch(rounds, 1, __ATOMIC_RELAXED)) {
		for (size_t i = 0; i < ARRAY_SIZE(attributes); i++) {
			ret = text_of(sysfs, attributes[i], text,
				      sizeof(text));
			if (ret && ret != -ENOENT && ret != -ENODEV)
				return true;
		}
		ret = tdma_text_read(debugfs, text, sizeof(text));
		if (ret && ret != -ENOENT && ret != -ENODEV && ret != -EIO)
			return true;
	}
}

/* A full round has begun and ended since the call. */
static bool readers_go_on(const unsigned long *rounds)
{
	unsigned long before = __atomic_load_n(rounds, __ATOMIC_RELAXED);
	__s64 deadline = tdma_patience();

	while (__atomic_load_n(rounds, __ATOMIC_RELAXED) < before + 2)
		if (tdma_now() > deadline)
			return false;
	return true;
}

TEST_F(attributes, readers_while_unbound)
{
	unsigned long *rounds;
	int status;
	pid_t pid;

	if (getuid())
		SKIP(return, "needs root to unbind the driver");
	rounds = mmap(NULL, sizeof(*rounds), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, rounds);
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		_exit(read_for_ever(&self->sysfs, rounds));
	for (int i = 0; i < ROUNDS; i++) {
		EXPECT_TRUE(readers_go_on(rounds));
		EXPECT_EQ(0, tdma_sysfs_write(self->sysfs.driver, "unbind",
					      self->sysfs.name));
		EXPECT_TRUE(readers_go_on(rounds));
		EXPECT_EQ(0, tdma_sysfs_write(self->sysfs.driver, "bind",
					      self->sysfs.name));
	}
	kill(pid, SIGKILL);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status));
	close(self->fd);
	self->fd = tdma_open_again();
	EXPECT_LE(0, self->fd);
	EXPECT_NUMBER(0, "resets");
	EXPECT_NUMBER(0, "recoveries");
}

TDMA_HARNESS_MAIN
