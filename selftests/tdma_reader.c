// SPDX-License-Identifier: GPL-2.0
/* tensordma selftests: readers that race with the end; see tdma_reader.h. */
#include <errno.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "tdma_reader.h"
#include "tdma_text.h"
#include "tdma_util.h"

static const char *const attributes[] = {
	"fidelity", "hbm_free", "open_files", "queues", "recoveries", "resets",
	"state", "dma/dma*chan*/in_use",
};

static const char *const files[] = {
	"/sys/kernel/debug/tensordma*/thread*/counters",
	"/sys/kernel/debug/tensordma*/thread*/throttle",
	"/sys/kernel/debug/tensordma*/thread*/trace_enable",
	"/sys/kernel/debug/dmaengine/summary",
	"/sys/class/devcoredump/devcd*/data",
};

/* A file may be gone (EIO: of debugfs, while open), or its device. */
static void read_one(struct tdma_reader *reader, const char *path)
{
	char text[32768];
	int ret = tdma_text_read(path, text, sizeof(text));

	if (!ret)
		reader->reads++;
	else if (ret == -ENODEV || ret == -ENOENT || ret == -EIO)
		reader->gone++;
	else if (!reader->error)
		reader->error = ret;
}

static void read_all(struct tdma_reader *reader, const char *pattern)
{
	glob_t found;

	if (glob(pattern, 0, NULL, &found))
		return;
	for (size_t i = 0; i < found.gl_pathc; i++)
		read_one(reader, found.gl_pathv[i]);
	globfree(&found);
}

static void read_fdinfo(struct tdma_reader *reader)
{
	int fd = tdma_open(0);
	char path[64];

	if (fd < 0)
		return;
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	for (int i = 0; i < 10; i++)
		read_one(reader, path);
	close(fd);
}

static void read_for_ever(struct tdma_reader *reader,
			  const struct tdma_sysfs *sysfs)
{
	char path[PATH_MAX + 32];

	for (;;) {
		for (size_t i = 0; i < ARRAY_SIZE(attributes); i++) {
			snprintf(path, sizeof(path), "%s/%s", sysfs->device,
				 attributes[i]);
			read_all(reader, path);
		}
		for (size_t i = 0; i < ARRAY_SIZE(files); i++)
			read_all(reader, files[i]);
		read_fdinfo(reader);
		usleep(1000);
	}
}

struct tdma_reader *tdma_reader_start(const struct tdma_sysfs *sysfs,
				      pid_t *pid)
{
	struct tdma_reader *reader;

	reader = mmap(NULL, sizeof(*reader), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (reader == MAP_FAILED)
		return NULL;
	*pid = fork();
	if (!*pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		read_for_ever(reader, sysfs);
	}
	return reader;
}

void tdma_reader_stop(struct tdma_reader *reader, pid_t pid)
{
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	munmap(reader, sizeof(*reader));
}
