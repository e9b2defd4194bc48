// SPDX-License-Identifier: GPL-2.0
/*
 * tensordma selftests: counters (A20), throttle (A21) and trace of the DMA
 * threads, through debugfs.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "tdma_harness.h"
#include "tdma_util.h"

#include <linux/tensordma_regs.h>
#include <linux/tensordma_trace.h>

#define ELEMENTS	65536U
#define WINDOW		1000U

FIXTURE(debugfs)
{
	int fd;
	struct tdma_query caps;
	struct tdma_buf src;
	struct tdma_buf dst;
};

static void thread_path(char *path, size_t size, __u32 thread,
			const char *name)
{
	const char *device = strrchr(tdma_path(), '/');

	snprintf(path, size, "/sys/kernel/debug%s/thread%u/%s", device, thread,
		 name);
}

static int read_file(__u32 thread, const char *name, char *text, size_t size)
{
	char path[128];
	ssize_t len;
	int fd;

	thread_path(path, sizeof(path), thread, name);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return -errno;
	len = read(fd, text, size - 1);
	close(fd);
	if (len < 0)
		return -errno;
	text[len] = '\0';
	return 0;
}

static int write_file(__u32 thread, const char *name, const char *text)
{
	char path[128];
	int fd, ret;

	thread_path(path, sizeof(path), thread, name);
	fd = open(path, O_WRONLY);
	if (fd < 0)
		return -errno;
	ret = write(fd, text, strlen(text)) < 0 ? -errno : 0;
	close(fd);
	return ret;
}

/* Sum over all threads: the device chooses which one runs a job. */
static int counter(const struct tdma_query *caps, const char *name,
		   unsigned long long sum[2])
{
	unsigned long long value[2];
	char text[1024], *line;
	__u32 i;
	int ret;

	sum[0] = 0;
	sum[1] = 0;
	for (i = 0; i < caps->threads; i++) {
		ret = read_file(i, "counters", text, sizeof(text));
		if (ret)
			return ret;
		line = strstr(text, name);
		if (!line || sscanf(line + strlen(name), " %llu %llu",
				    &value[0], &value[1]) != 2)
			return -ENODATA;
		sum[0] += value[0];
		sum[1] += value[1];
	}
	return 0;
}

static int write_all(const struct tdma_query *caps, const char *name,
		     const char *text)
{
	int ret = 0;
	__u32 i;

	for (i = 0; i < caps->threads && !ret; i++)
		ret = write_file(i, name, text);
	return ret;
}

FIXTURE_SETUP(debugfs)
{
	char text[64];

	self->fd = tdma_open(0);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, tdma_query(self->fd, &self->caps));
	if (read_file(0, "throttle", text, sizeof(text)) == -ENOENT)
		SKIP(return, "no debugfs at /sys/kernel/debug");
	ASSERT_EQ(0, tdma_buf_create(&self->src, self->fd, TDMA_MEM_USER,
				     ELEMENTS));
	ASSERT_EQ(0, tdma_buf_create(&self->dst, self->fd, TDMA_MEM_USER,
				     ELEMENTS));
	ASSERT_EQ(0, write_all(&self->caps, "throttle", "0 0"));
	ASSERT_EQ(0, write_all(&self->caps, "counters", "0"));
}

FIXTURE_TEARDOWN(debugfs)
{
	write_all(&self->caps, "throttle", "0 0");
	write_all(&self->caps, "trace_enable", "0");
	close(self->fd);
}

/* ELEMENTS single bytes, so that the address rate is what limits. */
static __u64 copy_cycles(struct __test_metadata *_metadata,
			 FIXTURE_DATA(debugfs) *self)
{
	struct tdma_record rec = {};
	union tdma_slot slot = {
		.desc = tdma_desc_copy(self->src.handle, self->dst.handle, 1),
	};

	tdma_dim(&slot.desc, ELEMENTS, 1, 1);
	EXPECT_EQ(0, tdma_run(self->fd, &slot, &rec));
	EXPECT_EQ(TDMA_STATUS_OK, rec.status);
	return rec.cycles;
}

TEST_F(debugfs, requests_are_counted_and_cleared)
{
	unsigned long long requests[2];

	copy_cycles(_metadata, self);
	ASSERT_EQ(0, counter(&self->caps, "requests", requests));
	EXPECT_EQ(ELEMENTS, requests[0]);
	EXPECT_EQ(ELEMENTS, requests[1]);
	ASSERT_EQ(0, write_all(&self->caps, "counters", "0"));
	ASSERT_EQ(0, counter(&self->caps, "requests", requests));
	EXPECT_EQ(0, requests[0]);
	EXPECT_EQ(0, requests[1]);
}

/* 10, 25 and 50 % of the lanes' bandwidth, within 1 % over whole windows. */
TEST_F(debugfs, throttle_sets_the_rate)
{
	static const unsigned int percent[] = { 10, 25, 50 };
	unsigned long long stalls[2], budget, wanted;
	char text[32];
	__u64 cycles;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(percent); i++) {
		budget = self->caps.lanes * WINDOW * percent[i] / 100;
		snprintf(text, sizeof(text), "%u %llu", WINDOW, budget);
		ASSERT_EQ(0, write_all(&self->caps, "throttle", text));
		ASSERT_EQ(0, write_all(&self->caps, "counters", "0"));
		cycles = copy_cycles(_metadata, self);
		ASSERT_EQ(0, counter(&self->caps, "stall_throttle", stalls));
		/* The first window may have begun before, the last not end. */
		wanted = ELEMENTS / budget * WINDOW;
		EXPECT_LE(wanted - WINDOW, cycles);
		EXPECT_GE(wanted + WINDOW + wanted / 100, cycles);
		EXPECT_LT(wanted / 4, stalls[0]) {
			TH_LOG("%u %%: %llu cycles, %llu stalled", percent[i],
			       (unsigned long long)cycles, stalls[0]);
		}
	}
}

TEST_F(debugfs, throttle_reads_back)
{
	char text[64];

	ASSERT_EQ(0, write_file(0, "throttle", "1000 400\n"));
	ASSERT_EQ(0, read_file(0, "throttle", text, sizeof(text)));
	EXPECT_STREQ("1000 400\n", text);
}

TEST_F(debugfs, throttle_refuses_nonsense)
{
	static const char * const texts[] = {
		"", "1000", "1000 0", "0 400", "1000 400 x", "a b",
		"-1 5 and a text that is longer than any pair of numbers",
		"16777217 1", "4294967295 4294967295",
	};
	char text[64];
	size_t i;

	/* one request more than the lanes can issue */
	snprintf(text, sizeof(text), "1000 %u", self->caps.lanes * 1000 + 1);
	EXPECT_EQ(-EINVAL, write_file(0, "throttle", text));
	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		EXPECT_EQ(-EINVAL, write_file(0, "throttle", texts[i])) {
			TH_LOG("\"%s\"", texts[i]);
		}
	}
	ASSERT_EQ(0, read_file(0, "throttle", text, sizeof(text)));
	EXPECT_STREQ("0 0\n", text);
}

/* What the threads did, as an architect reads it */
struct trace_sum {
	__u32 entries;
	__u32 event[TDMA_TRACE_END + 1];
	__u32 issued[TDMA_SIDE_DST + 1];
	__u32 answered[TDMA_SIDE_DST + 1];
	__u64 committed;
	__u64 synced;
	__u64 cycles;
	__u8 status;
};

static void add_entry(struct trace_sum *sum, const struct tdma_trace_entry *e)
{
	sum->entries++;
	if (e->event > TDMA_TRACE_END || e->side > TDMA_SIDE_DST)
		return;
	sum->event[e->event]++;
	if (e->event == TDMA_TRACE_ISSUE)
		sum->issued[e->side]++;
	if (e->event == TDMA_TRACE_RESPONSE)
		sum->answered[e->side]++;
	if (e->event == TDMA_TRACE_COMMIT)
		sum->committed = e->value;
	if (e->event == TDMA_TRACE_SYNC && e->side == TDMA_SIDE_DST)
		sum->synced = e->value;
	if (e->event == TDMA_TRACE_END) {
		sum->status = e->code;
		sum->cycles = e->value;
	}
}

/* Empty the rings of all threads; each must be in order and without a gap. */
static int read_traces(const struct tdma_query *caps, struct trace_sum *sum)
{
	struct tdma_trace_entry entry[100];
	__u32 i, k, sequence;
	char path[128];
	int fd, ret = 0;
	ssize_t len;

	memset(sum, 0, sizeof(*sum));
	for (i = 0; i < caps->threads; i++) {
		thread_path(path, sizeof(path), i, "trace_ring");
		fd = open(path, O_RDONLY);
		if (fd < 0)
			return -errno;
		sequence = 0;
		while ((len = read(fd, entry, sizeof(entry))) > 0) {
			for (k = 0; k < len / sizeof(*entry); k++) {
				if (entry[k].sequence != sequence++ ||
				    entry[k].thread != i)
					ret = -EBADMSG;
				add_entry(sum, &entry[k]);
			}
		}
		if (len < 0)
			ret = -errno;
		close(fd);
	}
	return ret;
}

/* Descriptors and updates in both fidelities, requests in the cycle engine's */
TEST_F(debugfs, trace_of_a_copy)
{
	struct tdma_record rec = {};
	struct trace_sum sum;
	union tdma_slot slot = {
		.desc = tdma_desc_copy(self->src.handle, self->dst.handle, 1),
	};

	tdma_dim(&slot.desc, 500, 1, 1);
	slot.desc.dst_sync_interval = 200;
	ASSERT_EQ(0, write_all(&self->caps, "trace_enable", "13"));
	ASSERT_EQ(0, tdma_run(self->fd, &slot, &rec));
	ASSERT_EQ(TDMA_STATUS_OK, rec.status);
	ASSERT_EQ(0, read_traces(&self->caps, &sum));
	EXPECT_EQ(1, sum.event[TDMA_TRACE_START]);
	EXPECT_EQ(1, sum.event[TDMA_TRACE_END]);
	EXPECT_EQ(TDMA_STATUS_OK, sum.status);
	EXPECT_EQ(rec.cycles, sum.cycles);
	EXPECT_EQ(2, sum.event[TDMA_TRACE_SYNC]);
	EXPECT_LE(400, sum.synced);
	if (self->caps.features & TDMA_FEATURE_CYCLE) {
		EXPECT_EQ(500, sum.issued[TDMA_SIDE_SRC]);
		EXPECT_EQ(500, sum.issued[TDMA_SIDE_DST]);
		EXPECT_EQ(500, sum.answered[TDMA_SIDE_SRC]);
		EXPECT_EQ(500, sum.answered[TDMA_SIDE_DST]);
		EXPECT_EQ(500, sum.committed);
	} else {
		EXPECT_EQ(4, sum.entries);
	}
	/* What has been read is gone, and after the end nothing comes. */
	ASSERT_EQ(0, read_traces(&self->caps, &sum));
	EXPECT_EQ(0, sum.entries);
	ASSERT_EQ(0, write_all(&self->caps, "trace_enable", "0"));
	ASSERT_EQ(0, tdma_run(self->fd, &slot, &rec));
	ASSERT_EQ(0, read_traces(&self->caps, &sum));
	EXPECT_EQ(0, sum.entries);
}

/* Two entries hold no more than two; the job is none the worse for it. */
TEST_F(debugfs, trace_overflow_is_counted)
{
	unsigned long long lost, sum = 0;
	unsigned int head, heads = 0;
	char text[64];
	int fields;
	__u32 i;

	/* START and END only */
	ASSERT_EQ(0, write_all(&self->caps, "trace_enable", "1 0x82"));
	copy_cycles(_metadata, self);
	copy_cycles(_metadata, self);
	for (i = 0; i < self->caps.threads; i++) {
		ASSERT_EQ(0, read_file(i, "trace_enable", text, sizeof(text)));
		fields = sscanf(text, "on 1 0x82 %u %llu", &head, &lost);
		ASSERT_EQ(2, fields);
		EXPECT_GE(2, head);
		heads += head;
		sum += lost;
	}
	EXPECT_EQ(4, heads + sum);
}

TEST_F(debugfs, trace_refuses_nonsense)
{
	static const char * const texts[] = {
		"", "x", "17", "4294967295", "0 1", "4 0", "4 1", "4 0x100",
		"4 2 x", "4 2 and a text that is longer than two numbers",
	};
	char text[64];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		EXPECT_EQ(-EINVAL, write_file(0, "trace_enable", texts[i])) {
			TH_LOG("\"%s\"", texts[i]);
		}
	}
	ASSERT_EQ(0, read_file(0, "trace_enable", text, sizeof(text)));
	EXPECT_EQ(0, strncmp(text, "off ", 4));
}

TDMA_HARNESS_MAIN
