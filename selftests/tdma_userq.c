// SPDX-License-Identifier: GPL-2.0
/*
 * tensordma selftests: a queue that the process fills by itself, and what it
 * must not be able to do with it.
 */
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "tdma_busy.h"
#include "tdma_harness.h"
#include "tdma_random.h"
#include "tdma_ref.h"
#include "tdma_ring.h"
#include "tdma_slow.h"
#include "tdma_sysfs.h"
#include "tdma_text.h"

#define BYTES	TDMA_SLOW_BYTES
#define LOST_AT	100U	/* element whose response does not come */

#define TIMEOUT_FILE	"/sys/module/tensordma/parameters/hang_timeout_ms"

FIXTURE(userq)
{
	int fd;
	long pins;
	struct tdma_query caps;
	struct tdma_rng rng;
	struct tdma_buf src;
	struct tdma_buf dst;
	struct tdma_ring ring;
};

FIXTURE_SETUP(userq)
{
	struct tdma_queue_create arg;

	self->pins = tdma_pins();
	self->fd = tdma_open(0);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, tdma_query(self->fd, &self->caps));
	self->caps.max_dims = self->caps.queue_dims;
	ASSERT_EQ(0, tdma_buf_create(&self->src, self->fd, TDMA_MEM_USER,
				     BYTES));
	ASSERT_EQ(0, tdma_buf_create(&self->dst, self->fd, TDMA_MEM_USER,
				     BYTES));
	tdma_rand_fill(&self->rng, &self->src);
	tdma_rand_fill(&self->rng, &self->dst);
	ASSERT_EQ(0, tdma_ring_create(self->fd, TDMA_RING_ORDER, -1, &arg));
	ASSERT_TRUE(tdma_ring_map(&self->ring, self->fd, &arg));
}

FIXTURE_TEARDOWN(userq)
{
	tdma_ring_unmap(&self->ring);
	close(self->fd);
	EXPECT_EQ(self->pins, tdma_pins_settle(self->pins));
}

static union tdma_slot copy_slot(__u32 src, __u32 dst, __u32 bytes)
{
	union tdma_slot slot = { .desc = tdma_desc_copy(src, dst, 1) };

	tdma_dim(&slot.desc, bytes, 1, 1);
	return slot;
}

static union tdma_slot endless_slot(FIXTURE_DATA(userq) *self)
{
	union tdma_slot slot = {
		.desc = tdma_slow_desc(self->src.handle, self->dst.handle,
				       1U << 20),
	};

	tdma_dim(&slot.desc, 1U << 20, 0, 0);
	slot.desc.dst_sync_interval = TDMA_SLOW_ROW;
	return slot;
}

/* Many laps, jobs of one slot and of two, one at a time and several. */
TEST_F(userq, random)
{
	unsigned int laps = tdma_env("TDMA_LAPS", 40);
	struct tdma_queue_status state;
	union tdma_slot slots[2];
	struct tdma_record rec;
	__u32 last = 0;

	TH_LOG("TDMA_SEED=%#llx", (unsigned long long)self->rng.state);
	while (self->ring.tail < laps * TDMA_RING_SLOTS) {
		__u32 first = self->ring.tail;

		while (self->ring.tail - first <= TDMA_RING_SLOTS - 2) {
			tdma_rand_job(&self->rng, &self->caps, &self->src,
				      &self->dst, 2000, slots);
			tdma_ref_run(&slots[0].desc, &slots[1].ext,
				     self->src.image, self->dst.image);
			last = tdma_ring_add(&self->ring, slots);
			if (!tdma_rand_below(&self->rng, 4))
				break;
		}
		tdma_ring_bell(&self->ring);
		rec = tdma_ring_wait(&self->ring, last);
		ASSERT_EQ(TDMA_STATUS_OK, rec.status);
		EXPECT_IMAGE(&self->dst);
	}
	ASSERT_EQ(0, tdma_ring_status(self->fd, &state));
	EXPECT_EQ(TDMA_QSTATE_IDLE, state.state);
	EXPECT_EQ(TDMA_QERR_NONE, state.error);
	EXPECT_EQ(self->ring.tail, state.done);
}

/* What the device refuses, and that nothing moves. */
TEST_F(userq, refused_by_the_device)
{
	union tdma_slot good = copy_slot(self->src.handle, self->dst.handle,
					 64);
	union tdma_slot bad;
	struct tdma_buf foreign;
	int other = tdma_open(0);

	ASSERT_LE(0, other);
	/* Handles of another file: some are not here, and none is theirs. */
	for (int i = 0; i < 8; i++)
		ASSERT_EQ(0, tdma_buf_create(&foreign, other, TDMA_MEM_HOST,
					     4096));
	bad = copy_slot(self->src.handle, foreign.handle, 64);
	EXPECT_EQ(TDMA_STATUS_BAD_SEGMENT, tdma_ring_run(&self->ring, &bad).status);
	bad = copy_slot(0, self->dst.handle, 64);
	EXPECT_EQ(TDMA_STATUS_BAD_SEGMENT, tdma_ring_run(&self->ring, &bad).status);
	bad = copy_slot(1U << 31, self->dst.handle, 64);
	EXPECT_EQ(TDMA_STATUS_BAD_SEGMENT, tdma_ring_run(&self->ring, &bad).status);
	bad = copy_slot(self->src.handle, self->dst.handle, BYTES + 1);
	EXPECT_EQ(TDMA_STATUS_BAD_EXTENT, tdma_ring_run(&self->ring, &bad).status);
	bad = good;
	bad.desc.opcode = 0xff;
	EXPECT_LE(TDMA_STATUS_REJECTED, tdma_ring_run(&self->ring, &bad).status);
	/* A sync flag of nobody's */
	bad = good;
	bad.desc.flags |= TDMA_DESC_DST_SYNC_FLAG;
	EXPECT_LE(TDMA_STATUS_REJECTED, tdma_ring_run(&self->ring, &bad).status);
	EXPECT_IMAGE(&self->dst);
	EXPECT_EQ(0, tdma_buf_diff(&foreign) - foreign.len);
	EXPECT_EQ(TDMA_STATUS_OK, tdma_ring_run(&self->ring, &good).status);
	memcpy(self->dst.image, self->src.image, 64);
	EXPECT_IMAGE(&self->dst);
	close(other);
}

TEST_F(userq, permission)
{
	unsigned char *mem = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	union tdma_slot slot;
	__u32 handle;

	ASSERT_NE(MAP_FAILED, mem);
	ASSERT_EQ(0, tdma_pin(self->fd, mem, 4096, TDMA_BUF_READ, &handle));
	slot = copy_slot(self->src.handle, handle, 64);
	EXPECT_EQ(TDMA_STATUS_BAD_ACCESS, tdma_ring_run(&self->ring, &slot).status);
	EXPECT_EQ(0, mem[0]);
}

TEST_F(userq, records_are_read_only)
{
	struct tdma_queue_create arg = {};
	off_t records = (1ULL << 62) + (1ULL << 40);

	EXPECT_EQ(-EBUSY, tdma_ring_create(self->fd, TDMA_RING_ORDER, -1, &arg));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				   MAP_SHARED, self->fd, records));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(-1, mprotect((void *)self->ring.records, 4096,
			       PROT_READ | PROT_WRITE));
	EXPECT_EQ(EACCES, errno);
}

/* Too long, beyond the last part, of one's own: no mapping. */
TEST_F(userq, mappings_refused)
{
	const off_t base = 1ULL << 62;
	size_t page = tdma_page_size();

	EXPECT_EQ(MAP_FAILED, mmap(NULL, 2 * page, PROT_READ, MAP_SHARED,
				   self->fd, base));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, page, PROT_READ, MAP_SHARED,
				   self->fd, base + page));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, page, PROT_READ, MAP_PRIVATE,
				   self->fd, base));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 2 * page, PROT_READ, MAP_SHARED,
				   self->fd, base + (2ULL << 40)));
	for (int part = 3; part < 16; part++)
		EXPECT_EQ(MAP_FAILED, mmap(NULL, page, PROT_READ, MAP_SHARED,
					   self->fd,
					   base + ((off_t)part << 40)));
}

TEST_F(userq, arguments_refused)
{
	struct tdma_queue_create arg;
	struct tdma_queue_status state;
	int fd = tdma_open(0);

	ASSERT_LE(0, fd);
	EXPECT_EQ(-ENOENT, tdma_ring_status(fd, &state));
	EXPECT_EQ(-EINVAL, tdma_ring_create(fd, 0, -1, &arg));
	EXPECT_EQ(-EINVAL, tdma_ring_create(fd, TDMA_USERQ_MAX_ORDER + 1, -1,
					    &arg));
	EXPECT_EQ(-EINVAL, tdma_ring_create(fd, ~0U, -1, &arg));
	EXPECT_EQ(-EBADF, tdma_ring_create(fd, TDMA_RING_ORDER, 1000, &arg));
	EXPECT_EQ(-EINVAL, tdma_ring_create(fd, TDMA_RING_ORDER, fd, &arg));
	arg = (struct tdma_queue_create){
		.size = sizeof(arg),
		.order = TDMA_RING_ORDER,
		.eventfd = -1,
		.flags = 1,
	};
	EXPECT_EQ(-1, ioctl(fd, TDMA_IOC_QUEUE_CREATE, &arg));
	EXPECT_EQ(EINVAL, errno);
	arg.flags = 0;
	arg.reserved = 1;
	EXPECT_EQ(-1, ioctl(fd, TDMA_IOC_QUEUE_CREATE, &arg));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(0, tdma_ring_create(fd, TDMA_USERQ_MAX_ORDER, -1, &arg));
	close(fd);
}

/* A tail beyond the ring: the queue is at an end, the file is not. */
TEST_F(userq, absurd_tail)
{
	__s64 deadline = tdma_patience();
	struct tdma_queue_status state;
	union tdma_slot slot;

	self->ring.tail = TDMA_RING_SLOTS + 1;
	tdma_ring_bell(&self->ring);
	do {
		ASSERT_EQ(0, tdma_ring_status(self->fd, &state));
	} while (state.state != TDMA_QSTATE_HALTED && tdma_now() < deadline);
	EXPECT_EQ(TDMA_QSTATE_HALTED, state.state);
	EXPECT_EQ(TDMA_QERR_TAIL, state.error);
	EXPECT_EQ(0, state.done);
	slot = copy_slot(self->src.handle, self->dst.handle, BYTES);
	EXPECT_RUN(TDMA_STATUS_OK, self->fd, &slot);
	/* A buffer is let go although the queue will never get on. */
	EXPECT_EQ(0, tdma_free(self->fd, self->dst.handle));
	EXPECT_EQ(0, tdma_free(self->fd, self->src.handle));
	EXPECT_EQ(self->pins, tdma_pins_settle(self->pins));
}

/* The device chooses the thread of a job: arm all of them. */
static int arm(const FIXTURE_DATA(userq) *self, int kind)
{
	char text[48];
	int ret = 0;

	snprintf(text, sizeof(text), "%d 0 %u", kind, LOST_AT);
	for (__u32 i = 0; i < self->caps.threads && !ret; i++)
		ret = tdma_thread_write(i, "inject", text);
	return ret;
}

/*
 * Jobs that hang end, and those behind them; the queue goes on where it is.
 * Nobody else notices, and the file's own jobs go on.
 */
TEST_F(userq, hung)
{
	union tdma_slot slot = copy_slot(self->src.handle, self->dst.handle,
					 BYTES);
	struct tdma_query after;
	struct tdma_record rec;
	char timeout[32];
	__u32 first, second;

	if (!(self->caps.features & TDMA_FEATURE_INJECT))
		SKIP(return, "the device was made without error injection");
	ASSERT_EQ(0, tdma_text_read(TIMEOUT_FILE, timeout, sizeof(timeout)));
	ASSERT_EQ(0, tdma_text_write(TIMEOUT_FILE, "200"));
	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(0, arm(self, TDMA_INJECT_LOST_RESPONSE));
		first = tdma_ring_add(&self->ring, &slot);
		second = tdma_ring_add(&self->ring, &slot);
		tdma_ring_bell(&self->ring);
		rec = tdma_ring_wait(&self->ring, first);
		EXPECT_EQ(TDMA_STATUS_ABORTED, rec.status);
		EXPECT_GE(LOST_AT, rec.dst_done);
		rec = tdma_ring_wait(&self->ring, second);
		EXPECT_EQ(TDMA_STATUS_ABORTED, rec.status);
		EXPECT_EQ(0, rec.dst_done);
		ASSERT_EQ(0, arm(self, 0));
		rec = tdma_ring_run(&self->ring, &slot);
		EXPECT_EQ(TDMA_STATUS_OK, rec.status);
	}
	EXPECT_EQ(0, tdma_text_write(TIMEOUT_FILE, timeout));
	memcpy(self->dst.image, self->src.image, BYTES);
	EXPECT_IMAGE(&self->dst);
	EXPECT_RUN(TDMA_STATUS_OK, self->fd, &slot);
	ASSERT_EQ(0, tdma_query(self->fd, &after));
	EXPECT_EQ(self->caps.reset_generation, after.reset_generation);
}

/* The device has a copy: what is in the ring afterwards does not matter. */
TEST_F(userq, ring_overwritten)
{
	union tdma_slot slot = {
		.desc = tdma_slow_desc(self->src.handle, self->dst.handle,
				       100),
	};
	struct tdma_record rec;
	__u32 index;

	slot.desc.dst_sync_interval = 100 * TDMA_SLOW_ROW;
	index = tdma_ring_add(&self->ring, &slot);
	tdma_ring_bell(&self->ring);
	ASSERT_TRUE(tdma_ring_started(&self->ring, index));
	for (int i = 0; i < 1000; i++)
		memset(self->ring.slots, i, TDMA_RING_SLOTS * sizeof(slot));
	rec = tdma_ring_wait(&self->ring, index);
	EXPECT_EQ(TDMA_STATUS_OK, rec.status);
	memcpy(self->dst.image, self->src.image, BYTES);
	EXPECT_IMAGE(&self->dst);
}

TEST_F(userq, eventfd)
{
	int event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct pollfd pfd = { .fd = event, .events = POLLIN };
	struct tdma_queue_create arg;
	union tdma_slot slot = {
		.desc = {
			.version = TDMA_DESC_VERSION,
			.opcode = TDMA_OP_NOP,
		},
	};
	int fd = tdma_open(0);
	struct tdma_ring ring;
	eventfd_t n;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, tdma_ring_create(fd, TDMA_RING_ORDER, event, &arg));
	ASSERT_TRUE(tdma_ring_map(&ring, fd, &arg));
	for (int i = 0; i < 5; i++) {
		slot.desc.flags = i == 4 ? TDMA_DESC_IRQ : 0;
		tdma_ring_add(&ring, &slot);
	}
	tdma_ring_bell(&ring);
	/* One job of five asks for it; it is told when that is over. */
	ASSERT_EQ(1, poll(&pfd, 1, TDMA_PATIENCE_MS));
	ASSERT_EQ(0, eventfd_read(event, &n));
	EXPECT_EQ(1, n);
	EXPECT_EQ(TDMA_STATUS_OK, tdma_ring_wait(&ring, 4).status);
	/* So is a job that fails, whether it asks or not. */
	slot.desc.flags = 0;
	slot.desc.opcode = 0xff;
	EXPECT_LE(TDMA_STATUS_REJECTED, tdma_ring_run(&ring, &slot).status);
	ASSERT_EQ(1, poll(&pfd, 1, TDMA_PATIENCE_MS));
	tdma_ring_unmap(&ring);
	close(fd);
}

/*
 * Nobody counts the jobs that use a buffer; its pages stay where they are until
 * the device is done with them all the same.
 */
TEST_F(userq, freed_while_in_use)
{
	union tdma_slot slot = endless_slot(self);
	struct tdma_record rec;
	__u32 index;

	index = tdma_ring_add(&self->ring, &slot);
	tdma_ring_bell(&self->ring);
	ASSERT_TRUE(tdma_ring_started(&self->ring, index));
	ASSERT_EQ(0, tdma_free(self->fd, self->dst.handle));
	ASSERT_EQ(0, tdma_free(self->fd, self->src.handle));
	for (int i = 0; i < 20; i++) {
		usleep(5000);
		ASSERT_LT(self->pins, tdma_pins());
	}
	/* The handles are gone at once, for what the device fetches now. */
	slot = copy_slot(self->src.handle, self->dst.handle, 1);
	tdma_ring_add(&self->ring, &slot);
	tdma_ring_bell(&self->ring);
	/* The end of the file is the end of the job, and of the wait. */
	rec = self->ring.records[index];
	EXPECT_EQ(TDMA_STATUS_PENDING, rec.status);
}

TEST_F(userq, freed_when_idle)
{
	union tdma_slot slot = copy_slot(self->src.handle, self->dst.handle,
					 BYTES);

	EXPECT_EQ(TDMA_STATUS_OK, tdma_ring_run(&self->ring, &slot).status);
	ASSERT_EQ(0, tdma_free(self->fd, self->dst.handle));
	ASSERT_EQ(0, tdma_free(self->fd, self->src.handle));
	EXPECT_EQ(self->pins, tdma_pins_settle(self->pins));
	EXPECT_EQ(TDMA_STATUS_BAD_SEGMENT,
		  tdma_ring_run(&self->ring, &slot).status);
}

/* Memory that waits for the queue keeps its handle: there is only so much. */
TEST_F(userq, freed_memory_is_counted)
{
	union tdma_slot slot = endless_slot(self);
	unsigned int count = 0;
	__u32 handle;
	int ret;

	tdma_ring_add(&self->ring, &slot);
	tdma_ring_bell(&self->ring);
	ASSERT_TRUE(tdma_ring_started(&self->ring, 0));
	while (!(ret = tdma_pin(self->fd, self->src.mem, 1, TDMA_BUF_READ,
				&handle))) {
		ASSERT_EQ(0, tdma_free(self->fd, handle));
		ASSERT_LT(count++, self->caps.max_buffers);
	}
	EXPECT_EQ(-ENOSPC, ret);
	EXPECT_LT(0, count);
}

/* A process that is killed with its queue full of work leaves nothing. */
TEST_F(userq, killed)
{
	for (int round = 0; round < 8; round++) {
		pid_t pid = fork();

		if (!pid) {
			FIXTURE_DATA(userq) own = {};
			struct tdma_queue_create arg;
			union tdma_slot slot;
			int fd = tdma_open(0);

			if (tdma_buf_create(&own.src, fd, TDMA_MEM_USER,
					    BYTES) ||
			    tdma_buf_create(&own.dst, fd, TDMA_MEM_USER,
					    BYTES) ||
			    tdma_ring_create(fd, TDMA_RING_ORDER, -1, &arg) ||
			    !tdma_ring_map(&own.ring, fd, &arg))
				_exit(1);
			slot = endless_slot(&own);
			for (__u32 i = 0; i < TDMA_RING_SLOTS; i++)
				tdma_ring_add(&own.ring, &slot);
			tdma_ring_bell(&own.ring);
			raise(SIGKILL);
		}
		ASSERT_EQ(pid, waitpid(pid, NULL, 0));
	}
	munmap(self->dst.mem, BYTES);
	EXPECT_EQ(0, tdma_free(self->fd, self->dst.handle));
	EXPECT_EQ(0, tdma_free(self->fd, self->src.handle));
	EXPECT_EQ(self->pins, tdma_pins_settle(self->pins));
}

/* A queue has the priority that its file had when it was made. */
TEST_F(userq, priority)
{
	union tdma_slot slot;
	struct tdma_queue_create arg;
	struct tdma_record rec;
	struct tdma_busy busy;
	struct tdma_ring ring;
	__u32 src, dst, job;
	int fd = tdma_open(0);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, tdma_set_priority(fd, 0));
	ASSERT_EQ(0, tdma_pin(fd, self->src.mem, BYTES, TDMA_BUF_READ, &src));
	ASSERT_EQ(0, tdma_pin(fd, self->dst.mem, BYTES, TDMA_BUF_WRITE, &dst));
	ASSERT_EQ(0, tdma_ring_create(fd, TDMA_RING_ORDER, -1, &arg));
	ASSERT_TRUE(tdma_ring_map(&ring, fd, &arg));
	EXPECT_EQ(-EBUSY, tdma_set_priority(fd, 1));

	ASSERT_EQ(0, tdma_busy_start(&busy, self->caps.threads, 1));
	slot = copy_slot(src, dst, 64);
	job = tdma_ring_add(&ring, &slot);
	tdma_ring_bell(&ring);
	EXPECT_EQ(0, tdma_busy_pass(&busy));
	EXPECT_IMAGE(&self->dst);
	tdma_busy_end(&busy);
	rec = tdma_ring_wait(&ring, job);
	EXPECT_EQ(TDMA_STATUS_OK, rec.status);
	memcpy(self->dst.image, self->src.image, 64);
	EXPECT_IMAGE(&self->dst);
	tdma_ring_unmap(&ring);
	close(fd);
}

/* The device goes, the mappings stay, and ring nobody's bell. */
TEST_F(userq, unbound)
{
	union tdma_slot slot = endless_slot(self);
	struct tdma_sysfs sysfs;

	if (getuid())
		SKIP(return, "needs root to unbind the driver");
	ASSERT_EQ(0, tdma_sysfs_find(&sysfs));
	tdma_ring_add(&self->ring, &slot);
	tdma_ring_bell(&self->ring);
	ASSERT_EQ(0, tdma_sysfs_write(sysfs.driver, "unbind", sysfs.name));
	tdma_ring_bell(&self->ring);
	self->ring.slots[0] = slot;
	EXPECT_NE(TDMA_STATUS_OK, self->ring.records[0].status);
	ASSERT_EQ(0, tdma_sysfs_write(sysfs.driver, "bind", sysfs.name));
	tdma_ring_bell(&self->ring);
	close(self->fd);
	self->fd = tdma_open_again();
	EXPECT_LE(0, self->fd);
}

TDMA_HARNESS_MAIN
