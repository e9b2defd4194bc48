// SPDX-License-Identifier: GPL-2.0
/* tensordma selftests: the device's counters as perf shows them. */
#include <sys/ioctl.h>
#include <linux/perf_event.h>

#include "tdma_event.h"
#include "tdma_harness.h"
#include "tdma_sysfs.h"
#include "tdma_text.h"

#define ELEMENTS	65536U

static const char * const names[] = {
	"cycles", "src_requests", "dst_requests",
	"src_stall_backpressure", "dst_stall_backpressure",
	"src_stall_throttle", "dst_stall_throttle",
	"src_stall_ids", "dst_stall_ids",
	"src_stall_hazard", "dst_stall_hazard",
	"src_pipeline_fill", "dst_pipeline_fill",
};

FIXTURE(perf)
{
	int fd;
	struct tdma_query caps;
	struct tdma_buf src;
	struct tdma_buf dst;
};

FIXTURE_SETUP(perf)
{
	char text[64];

	self->fd = -1;
	if (geteuid())
		SKIP(return, "events of the whole system are root's");
	if (access("/sys/bus/event_source", F_OK))
		SKIP(return, "a kernel without perf events");
	ASSERT_EQ(0, tdma_event_text("type", text, sizeof(text)));
	self->fd = tdma_open(0);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, tdma_query(self->fd, &self->caps));
	ASSERT_EQ(0, tdma_buf_create(&self->src, self->fd, TDMA_MEM_USER,
				     ELEMENTS));
	ASSERT_EQ(0, tdma_buf_create(&self->dst, self->fd, TDMA_MEM_USER,
				     ELEMENTS));
}

FIXTURE_TEARDOWN(perf)
{
	if (self->fd >= 0)
		close(self->fd);
}

/* As many requests on each side as there are elements */
static __u64 copy(struct __test_metadata *_metadata, FIXTURE_DATA(perf) *self)
{
	union tdma_slot slot = {
		.desc = tdma_desc_copy(self->src.handle, self->dst.handle, 1),
	};

	tdma_dim(&slot.desc, ELEMENTS, 1, 1);
	return EXPECT_RUN(TDMA_STATUS_OK, self->fd, &slot).cycles;
}

/* Every event can be opened, no two are the same, and none is missing. */
TEST_F(perf, names)
{
	struct perf_event_attr attr[ARRAY_SIZE(names)];
	int cpu = tdma_event_cpu();

	ASSERT_LE(0, cpu);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		int fd;

		ASSERT_EQ(0, tdma_event_attr(names[i], &attr[i]))
			TH_LOG("%s", names[i]);
		for (size_t k = 0; k < i; k++)
			EXPECT_NE(attr[k].config, attr[i].config);
		fd = tdma_event_open(names[i], 0);
		EXPECT_LE(0, fd)
			TH_LOG("%s", names[i]);
		EXPECT_LE(0, tdma_event_read(fd));
		close(fd);
	}
}

TEST_F(perf, requests_and_cycles)
{
	int src = tdma_event_open("src_requests", 0);
	int dst = tdma_event_open("dst_requests", 0);
	int cycles = tdma_event_open("cycles", 0);
	__u64 spent;

	ASSERT_LE(0, src);
	ASSERT_LE(0, dst);
	ASSERT_LE(0, cycles);
	EXPECT_EQ(0, tdma_event_read(src));
	spent = copy(_metadata, self);
	EXPECT_EQ(ELEMENTS, tdma_event_read(src));
	EXPECT_EQ(ELEMENTS, tdma_event_read(dst));
	EXPECT_EQ(spent, tdma_event_read(cycles));
	/* From when it was opened, not from when the device was bound */
	close(src);
	src = tdma_event_open("src_requests", 0);
	EXPECT_EQ(0, tdma_event_read(src));
	copy(_metadata, self);
	EXPECT_EQ(ELEMENTS, tdma_event_read(src));
	EXPECT_EQ(2 * ELEMENTS, tdma_event_read(dst));
}

/* The threads' own counts add up to that of all. */
TEST_F(perf, threads)
{
	int fd[TDMA_MAX_THREADS], rest;
	long long sum = 0, first;

	for (__u32 i = 0; i < self->caps.threads; i++) {
		fd[i] = tdma_event_open("src_requests", 1ULL << i);
		ASSERT_LE(0, fd[i]);
	}
	for (int i = 0; i < 8; i++)
		copy(_metadata, self);
	for (__u32 i = 0; i < self->caps.threads; i++)
		sum += tdma_event_read(fd[i]);
	EXPECT_EQ(8 * ELEMENTS, sum);

	/* All but the first */
	if (self->caps.threads < 2)
		return;
	rest = tdma_event_open("src_requests",
			       (1ULL << self->caps.threads) - 2);
	ASSERT_LE(0, rest);
	first = tdma_event_read(fd[0]);
	copy(_metadata, self);
	EXPECT_EQ(ELEMENTS, tdma_event_read(fd[0]) - first +
			    tdma_event_read(rest));
}

TEST_F(perf, stalls)
{
	int src, dst;
	__u32 i;

	src = tdma_event_open("src_stall_throttle", 0);
	dst = tdma_event_open("dst_stall_throttle", 0);
	ASSERT_LE(0, src);
	ASSERT_LE(0, dst);
	copy(_metadata, self);
	EXPECT_EQ(0, tdma_event_read(src));
	for (i = 0; i < self->caps.threads; i++)
		ASSERT_EQ(0, tdma_thread_write(i, "throttle", "1000 100"));
	copy(_metadata, self);
	for (i = 0; i < self->caps.threads; i++)
		EXPECT_EQ(0, tdma_thread_write(i, "throttle", "0 0"));
	EXPECT_LT(0, tdma_event_read(src));
	EXPECT_LT(0, tdma_event_read(dst));
}

TEST_F(perf, disabled)
{
	int fd = tdma_event_open("src_requests", 0);

	ASSERT_LE(0, fd);
	copy(_metadata, self);
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_DISABLE, 0));
	copy(_metadata, self);
	EXPECT_EQ(ELEMENTS, tdma_event_read(fd));
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	copy(_metadata, self);
	EXPECT_EQ(2 * ELEMENTS, tdma_event_read(fd));
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_RESET, 0));
	EXPECT_EQ(0, tdma_event_read(fd));
}

/* Who clears the registers takes nothing away from who counts. */
TEST_F(perf, registers_cleared)
{
	int fd = tdma_event_open("src_requests", 0);

	ASSERT_LE(0, fd);
	for (int i = 0; i < 3; i++) {
		copy(_metadata, self);
		for (__u32 k = 0; k < self->caps.threads; k++)
			ASSERT_EQ(0, tdma_thread_write(k, "counters", "0"));
	}
	EXPECT_EQ(3 * ELEMENTS, tdma_event_read(fd));
	copy(_metadata, self);
	EXPECT_EQ(4 * ELEMENTS, tdma_event_read(fd));
}

TEST_F(perf, refuses_nonsense)
{
	struct perf_event_attr good, attr;
	int cpu = tdma_event_cpu();

	ASSERT_EQ(0, tdma_event_attr("src_requests", &good));
#define REFUSED(change)							\
({									\
	attr = good;							\
	attr.change;							\
	EXPECT_EQ(-EINVAL, tdma_event_open_attr(&attr, -1, cpu))	\
		TH_LOG(#change);					\
})
	REFUSED(sample_period = 1000);
	REFUSED(config = 0x07);
	REFUSED(config = 0xff);
	REFUSED(config = 0x100);	/* a side of the cycles */
	REFUSED(config |= 0x200);
	REFUSED(config |= 1ULL << 63);
	REFUSED(config1 = 1ULL << self->caps.threads);
	REFUSED(config1 = 1ULL << 63);
	REFUSED(config2 = 1);
	REFUSED(exclude_kernel = 1);
#undef REFUSED
	/* Nobody's in particular: not of a task, not of all CPUs */
	attr = good;
	EXPECT_EQ(-EINVAL, tdma_event_open_attr(&attr, 0, -1));
	EXPECT_EQ(-EINVAL, tdma_event_open_attr(&attr, getpid(), cpu));
}

/*
 * An event outlives its device with the last value; the next device under the
 * name is another one.
 */
TEST_F(perf, unbound)
{
	struct tdma_sysfs sysfs;
	int old, new;

	ASSERT_EQ(0, tdma_sysfs_find(&sysfs));
	old = tdma_event_open("src_requests", 0);
	ASSERT_LE(0, old);
	copy(_metadata, self);
	ASSERT_EQ(0, tdma_sysfs_write(sysfs.driver, "unbind", sysfs.name));
	EXPECT_EQ(ELEMENTS, tdma_event_read(old));
	EXPECT_EQ(-ENODEV, tdma_event_open("src_requests", 0));
	EXPECT_EQ(0, ioctl(old, PERF_EVENT_IOC_DISABLE, 0));
	EXPECT_EQ(0, ioctl(old, PERF_EVENT_IOC_ENABLE, 0));
	ASSERT_EQ(0, tdma_sysfs_write(sysfs.driver, "bind", sysfs.name));

	close(self->fd);
	self->fd = tdma_open_again();
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, tdma_buf_create(&self->src, self->fd, TDMA_MEM_USER,
				     ELEMENTS));
	ASSERT_EQ(0, tdma_buf_create(&self->dst, self->fd, TDMA_MEM_USER,
				     ELEMENTS));
	new = tdma_event_open("src_requests", 0);
	ASSERT_LE(0, new);
	copy(_metadata, self);
	EXPECT_EQ(ELEMENTS, tdma_event_read(old));
	EXPECT_EQ(ELEMENTS, tdma_event_read(new));
	close(old);
	EXPECT_EQ(ELEMENTS, tdma_event_read(new));
}

/* The CPU that counts goes: another one goes on, and loses nothing. */
TEST_F(perf, cpu_goes)
{
	char online[64];
	int fd, cpu = tdma_event_cpu();

	ASSERT_LE(0, cpu);
	snprintf(online, sizeof(online),
		 "/sys/devices/system/cpu/cpu%d/online", cpu);
	if (access(online, F_OK))
		SKIP(return, "CPU %d cannot go", cpu);
	fd = tdma_event_open("src_requests", 0);
	ASSERT_LE(0, fd);
	copy(_metadata, self);
	ASSERT_EQ(0, tdma_text_write(online, "0"));
	EXPECT_NE(cpu, tdma_event_cpu());
	copy(_metadata, self);
	EXPECT_EQ(2 * ELEMENTS, tdma_event_read(fd));
	ASSERT_EQ(0, tdma_text_write(online, "1"));
	copy(_metadata, self);
	EXPECT_EQ(3 * ELEMENTS, tdma_event_read(fd));
}

TDMA_HARNESS_MAIN
