// SPDX-License-Identifier: GPL-2.0
/* tensordma selftests: other files that keep all DMA threads busy. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tdma_busy.h"
#include "tdma_slow.h"

/* A slow machine is slow to look, not to move. */
#define JOB_MS		(tdma_slow() ? 160 : 16)
#define JOBS		200U
#define PASSES		8

static unsigned char source[TDMA_SLOW_BYTES];
/* Each file has its own: the DMA API's checks count who writes to a place. */
static unsigned char results[TDMA_BUSY_FILES + 1][TDMA_SLOW_BYTES];

static int open_one(__u32 priority, unsigned int number, __u32 *src, __u32 *dst)
{
	int fd = tdma_open(0);
	int ret;

	if (fd < 0)
		return fd;
	ret = tdma_set_priority(fd, priority);
	if (!ret)
		ret = tdma_pin(fd, source, TDMA_SLOW_BYTES, TDMA_BUF_READ,
			       src);
	if (!ret)
		ret = tdma_pin(fd, results[number], TDMA_SLOW_BYTES,
			       TDMA_BUF_WRITE, dst);
	if (!ret)
		return fd;
	close(fd);
	return ret;
}

static int add_one(struct tdma_busy *busy, __u32 priority, __u32 repeat)
{
	union tdma_slot slots[JOBS];
	struct tdma_submit report;
	__u32 src, dst, i;
	int fd, ret;

	fd = open_one(priority, busy->count, &src, &dst);
	if (fd < 0)
		return fd;
	for (i = 0; i < JOBS; i++)
		slots[i].desc = tdma_slow_desc(src, dst, repeat);
	busy->fd[busy->count] = fd;
	ret = tdma_submit(fd, slots, JOBS, &report);
	busy->last[busy->count++] = report.first_job + JOBS - 1;
	return ret ? ret : report.accepted == JOBS ? 0 : -ENOSPC;
}

int tdma_busy_start(struct tdma_busy *busy, __u32 threads, __u32 priority)
{
	__u32 repeat;
	int ret = 0;

	memset(busy, 0, sizeof(*busy));
	busy->probe = open_one(priority, TDMA_BUSY_FILES, &busy->probe_src,
			       &busy->probe_dst);
	if (busy->probe < 0)
		return busy->probe;
	repeat = tdma_slow_repeat(busy->probe, busy->probe_src,
				  busy->probe_dst, JOB_MS);
	if (!repeat)
		return -EIO;
	while (busy->count < 2 * threads && !ret)
		ret = add_one(busy, priority, repeat);
	return ret;
}

static bool has_jobs(const struct tdma_busy *busy)
{
	struct tdma_record rec;
	unsigned int i;

	for (i = 0; i < busy->count; i++)
		if (tdma_wait(busy->fd[i], busy->last[i], 0, &rec) != -ETIME)
			return false;
	return true;
}

int tdma_busy_pass(struct tdma_busy *busy)
{
	struct tdma_record rec;
	union tdma_slot slot;
	int i, ret;

	slot.desc = tdma_desc_copy(busy->probe_src, busy->probe_dst, 1);
	tdma_dim(&slot.desc, TDMA_SLOW_ROW, 1, 1);
	for (i = 0; i < PASSES; i++) {
		ret = tdma_run(busy->probe, &slot, &rec);
		if (!ret && rec.status != TDMA_STATUS_OK)
			ret = -EIO;
		if (ret)
			return ret;
	}
	return has_jobs(busy) ? 0 : -EDOM;
}

void tdma_busy_end(struct tdma_busy *busy)
{
	if (busy->probe >= 0)
		close(busy->probe);
	while (busy->count)
		close(busy->fd[--busy->count]);
}
