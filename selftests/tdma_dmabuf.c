// SPDX-License-Identifier: GPL-2.0
/*
 * tensordma selftests: dma-bufs, of this driver and of others.
 */
#include <fcntl.h>
#include <linux/dma-heap.h>
#include <linux/udmabuf.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "tdma_harness.h"
#include "tdma_random.h"

#define BYTES	(3 * 65536)
#define BOTH	(TDMA_BUF_READ | TDMA_BUF_WRITE)

FIXTURE(dmabuf)
{
	int fd;
	int other;			/* a file of its own */
	long pins;
	struct tdma_rng rng;
	struct tdma_buf buf;		/* random bytes, of @fd */
};

FIXTURE_SETUP(dmabuf)
{
	self->pins = tdma_pins();
	self->fd = tdma_open(0);
	self->other = tdma_open(0);
	ASSERT_LE(0, self->fd);
	ASSERT_LE(0, self->other);
	ASSERT_EQ(0, tdma_buf_create(&self->buf, self->fd, TDMA_MEM_HOST,
				     BYTES));
	tdma_rand_fill(&self->rng, &self->buf);
}

FIXTURE_TEARDOWN(dmabuf)
{
	munmap(self->buf.mem, self->buf.len);
	close(self->fd);
	close(self->other);
	EXPECT_EQ(self->pins, tdma_pins_settle(self->pins));
}

/* The dma-buf, or a negative errno */
static int export(int fd, __u32 handle, __u32 flags)
{
	struct tdma_buf_export arg = {
		.size = sizeof(arg),
		.flags = flags,
		.handle = handle,
	};

	return ioctl(fd, TDMA_IOC_BUF_EXPORT, &arg) ? -errno : arg.fd;
}

static int import(int fd, int dmabuf, __u32 flags, struct tdma_buf_import *arg)
{
	*arg = (struct tdma_buf_import){
		.size = sizeof(*arg),
		.flags = flags,
		.fd = dmabuf,
	};
	return ioctl(fd, TDMA_IOC_BUF_IMPORT, arg) ? -errno : 0;
}

static int run_copy(int fd, __u32 src, __u32 dst, __u32 bytes)
{
	union tdma_slot slot = { .desc = tdma_desc_copy(src, dst, 1) };
	struct tdma_record rec;
	int ret;

	tdma_dim(&slot.desc, bytes, 1, 1);
	ret = tdma_run(fd, &slot, &rec);
	return ret ? ret : (int)rec.status;
}

static unsigned char *map(int fd, int prot, off_t offset)
{
	return mmap(NULL, BYTES, prot, MAP_SHARED, fd, offset);
}

/* A dma-buf of the system's heap, or a negative errno */
static int heap_alloc(size_t len)
{
	struct dma_heap_allocation_data arg = {
		.len = len,
		.fd_flags = O_RDWR | O_CLOEXEC,
	};
	int heap = open("/dev/dma_heap/system", O_RDONLY | O_CLOEXEC);
	int ret;

	if (heap < 0)
		return -errno;
	ret = ioctl(heap, DMA_HEAP_IOCTL_ALLOC, &arg) ? -errno : (int)arg.fd;
	close(heap);
	return ret;
}

/* A dma-buf of every second page of a file in memory, or a negative errno */
static int udmabuf_create(int memfd, size_t len)
{
	const size_t page = tdma_page_size();
	const size_t count = len / page;
	struct udmabuf_create_list *list;
	int dev, ret;

	dev = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
	if (dev < 0)
		return -errno;
	list = calloc(1, sizeof(*list) + count * sizeof(list->list[0]));
	list->flags = UDMABUF_FLAGS_CLOEXEC;
	list->count = count;
	for (size_t i = 0; i < count; i++) {
		list->list[i].memfd = memfd;
		list->list[i].offset = 2 * i * page;
		list->list[i].size = page;
	}
	ret = ioctl(dev, UDMABUF_CREATE_LIST, list);
	ret = ret < 0 ? -errno : ret;
	free(list);
	close(dev);
	return ret;
}

TEST_F(dmabuf, mapped_by_the_cpu)
{
	int fd = export(self->fd, self->buf.handle, BOTH);
	unsigned char *mem;

	ASSERT_LE(0, fd);
	EXPECT_EQ(FD_CLOEXEC, fcntl(fd, F_GETFD));
	EXPECT_EQ(BYTES, lseek(fd, 0, SEEK_END));
	mem = map(fd, PROT_READ | PROT_WRITE, 0);
	ASSERT_NE(MAP_FAILED, mem);
	EXPECT_EQ(0, memcmp(mem, self->buf.image, BYTES));
	mem[BYTES - 1] ^= 0xff;
	EXPECT_EQ(mem[BYTES - 1], self->buf.mem[BYTES - 1]);
	munmap(mem, BYTES);
	close(fd);
}

/* Another file uses the same memory, as long as it wants to. */
static void share(struct __test_metadata *_metadata, FIXTURE_DATA(dmabuf) *self,
		  enum tdma_mem kind)
{
	struct tdma_buf_import got;
	struct tdma_buf shared, mine;
	unsigned char *mem;
	int fd;

	ASSERT_EQ(0, tdma_buf_create(&shared, self->fd, kind, BYTES));
	ASSERT_EQ(0, tdma_buf_create(&mine, self->other, TDMA_MEM_USER,
				     BYTES));
	fd = export(self->fd, shared.handle, BOTH);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, import(self->other, fd, BOTH, &got));
	EXPECT_EQ(BYTES, got.length);
	close(fd);

	ASSERT_EQ(TDMA_STATUS_OK, run_copy(self->fd, self->buf.handle,
					   shared.handle, BYTES));
	ASSERT_EQ(TDMA_STATUS_OK, run_copy(self->other, got.handle,
					   mine.handle, BYTES));
	EXPECT_EQ(0, memcmp(mine.mem, self->buf.image, BYTES));

	/* The first owner goes; its memory stays for the second. */
	munmap(shared.mem, BYTES);
	ASSERT_EQ(0, tdma_free(self->fd, shared.handle));
	memset(mine.mem, 0, BYTES);
	ASSERT_EQ(TDMA_STATUS_OK, run_copy(self->other, got.handle,
					   mine.handle, BYTES));
	EXPECT_EQ(0, memcmp(mine.mem, self->buf.image, BYTES));
	mem = map(self->other, PROT_READ, got.mmap_offset);
	ASSERT_NE(MAP_FAILED, mem);
	EXPECT_EQ(0, memcmp(mem, self->buf.image, BYTES));
	munmap(mem, BYTES);
	free(shared.image);
	EXPECT_EQ(0, tdma_free(self->other, got.handle));
	tdma_buf_destroy(&mine, self->other);
}

TEST_F(dmabuf, host_memory_shared)
{
	share(_metadata, self, TDMA_MEM_HOST);
}

TEST_F(dmabuf, device_memory_shared)
{
	share(_metadata, self, TDMA_MEM_HBM);
}

/* It is the memory that is exported, not the file. */
TEST_F(dmabuf, outlives_the_file)
{
	int fd = export(self->fd, self->buf.handle, BOTH);
	struct tdma_buf_import got;
	struct tdma_buf mine;
	unsigned char *mem;

	ASSERT_LE(0, fd);
	munmap(self->buf.mem, BYTES);
	close(self->fd);
	self->fd = -1;
	mem = map(fd, PROT_READ, 0);
	ASSERT_NE(MAP_FAILED, mem);
	EXPECT_EQ(0, memcmp(mem, self->buf.image, BYTES));
	munmap(mem, BYTES);

	ASSERT_EQ(0, tdma_buf_create(&mine, self->other, TDMA_MEM_HOST,
				     BYTES));
	ASSERT_EQ(0, import(self->other, fd, TDMA_BUF_READ, &got));
	close(fd);
	EXPECT_EQ(TDMA_STATUS_OK, run_copy(self->other, got.handle,
					   mine.handle, BYTES));
	EXPECT_EQ(0, memcmp(mine.mem, self->buf.image, BYTES));
	tdma_buf_destroy(&mine, self->other);
}

/* To foreign memory and back, by the device on both ways. */
static void round_trip(struct __test_metadata *_metadata,
		       FIXTURE_DATA(dmabuf) *self, int fd)
{
	struct tdma_buf_import got;
	struct tdma_buf back;

	ASSERT_EQ(0, tdma_buf_create(&back, self->fd, TDMA_MEM_USER, BYTES));
	ASSERT_EQ(0, import(self->fd, fd, BOTH, &got));
	EXPECT_EQ(BYTES, got.length);
	EXPECT_EQ(0, got.mmap_offset);
	EXPECT_EQ(TDMA_STATUS_OK, run_copy(self->fd, self->buf.handle,
					   got.handle, BYTES));
	EXPECT_EQ(TDMA_STATUS_OK, run_copy(self->fd, got.handle, back.handle,
					   BYTES));
	EXPECT_EQ(0, memcmp(back.mem, self->buf.image, BYTES));
	/* One byte beyond it is refused. */
	EXPECT_EQ(-EINVAL, run_copy(self->fd, got.handle, back.handle,
				    BYTES + 1));
	/* Others' memory is exported and mapped by others. */
	EXPECT_EQ(-EINVAL, export(self->fd, got.handle, BOTH));
	EXPECT_EQ(MAP_FAILED, map(self->fd, PROT_READ,
				  (off_t)got.handle << 40));
	EXPECT_EQ(0, tdma_free(self->fd, got.handle));
	tdma_buf_destroy(&back, self->fd);
}

TEST_F(dmabuf, system_heap)
{
	int fd = heap_alloc(BYTES);
	unsigned char *mem;

	if (fd == -ENOENT)
		SKIP(return, "kernel has no system heap");
	ASSERT_LE(0, fd);
	round_trip(_metadata, self, fd);
	mem = map(fd, PROT_READ, 0);
	ASSERT_NE(MAP_FAILED, mem);
	EXPECT_EQ(0, memcmp(mem, self->buf.image, BYTES));
	munmap(mem, BYTES);
	close(fd);
}

/* Pages that are scattered: only the listed ones are written. */
TEST_F(dmabuf, udmabuf)
{
	const size_t page = tdma_page_size();
	int memfd = memfd_create("tdma", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	unsigned char *mem;
	int fd;

	ASSERT_LE(0, memfd);
	ASSERT_EQ(0, ftruncate(memfd, 2 * BYTES));
	ASSERT_EQ(0, fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK));
	fd = udmabuf_create(memfd, BYTES);
	if (fd == -ENOENT)
		SKIP(return, "kernel has no udmabuf");
	ASSERT_LE(0, fd);
	round_trip(_metadata, self, fd);
	mem = mmap(NULL, 2 * BYTES, PROT_READ, MAP_SHARED, memfd, 0);
	ASSERT_NE(MAP_FAILED, mem);
	for (size_t at = 0; at < BYTES; at += page) {
		ASSERT_EQ(0, memcmp(mem + 2 * at, self->buf.image + at, page));
		ASSERT_EQ(0, mem[2 * at + page]);
		ASSERT_EQ(0, mem[2 * at + 2 * page - 1]);
	}
	munmap(mem, 2 * BYTES);
	close(memfd);
	close(fd);
}

/* A job holds what it uses, whoever closes what. */
TEST_F(dmabuf, freed_while_in_use)
{
	union tdma_slot slot;
	struct tdma_buf_import got;
	struct tdma_submit report;
	struct tdma_record rec;
	int fd = heap_alloc(BYTES);

	if (fd == -ENOENT)
		SKIP(return, "kernel has no system heap");
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, import(self->fd, fd, TDMA_BUF_WRITE, &got));
	slot.desc = tdma_desc_copy(self->buf.handle, got.handle, 1);
	tdma_dim(&slot.desc, BYTES, 1, 1);
	tdma_dim(&slot.desc, 500, 0, 0);
	ASSERT_EQ(0, tdma_submit(self->fd, &slot, 1, &report));
	EXPECT_EQ(0, tdma_free(self->fd, got.handle));
	close(fd);
	ASSERT_EQ(0, tdma_wait(self->fd, report.first_job, tdma_patience(),
			       &rec));
	EXPECT_EQ(TDMA_STATUS_OK, rec.status);
}

TEST_F(dmabuf, read_only)
{
	int fd = export(self->fd, self->buf.handle, TDMA_BUF_READ);
	struct tdma_buf_import got;

	ASSERT_LE(0, fd);
	EXPECT_EQ(MAP_FAILED, map(fd, PROT_READ | PROT_WRITE, 0));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(-EACCES, import(self->other, fd, TDMA_BUF_WRITE, &got));
	EXPECT_EQ(-EACCES, import(self->other, fd, BOTH, &got));
	ASSERT_EQ(0, import(self->other, fd, TDMA_BUF_READ, &got));
	/* What was imported for reading is passed on for reading. */
	EXPECT_EQ(-EACCES, export(self->other, got.handle, BOTH));
	EXPECT_EQ(-EACCES, run_copy(self->other, got.handle, got.handle, 1));
	close(fd);
}

/* Nor can the CPU write through what was exported for reading. */
static void check_read_only_maps(struct __test_metadata *_metadata,
				 FIXTURE_DATA(dmabuf) *self,
				 const struct tdma_buf *buf)
{
	int fd = export(self->fd, buf->handle, TDMA_BUF_READ);
	struct tdma_buf_import got;
	unsigned char *mem;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, import(self->other, fd, TDMA_BUF_READ, &got));
	EXPECT_EQ(MAP_FAILED, map(self->other, PROT_READ | PROT_WRITE,
				  got.mmap_offset));
	EXPECT_EQ(EACCES, errno);
	mem = map(self->other, PROT_READ, got.mmap_offset);
	ASSERT_NE(MAP_FAILED, mem);
	EXPECT_EQ(0, memcmp(mem, buf->image, BYTES));
	EXPECT_EQ(-1, mprotect(mem, BYTES, PROT_READ | PROT_WRITE));
	EXPECT_EQ(EACCES, errno);
	munmap(mem, BYTES);
	close(fd);
}

TEST_F(dmabuf, read_only_maps)
{
	struct tdma_rng rng = {};
	struct tdma_buf hbm;
	unsigned char *mem;
	int fd;

	ASSERT_EQ(0, tdma_buf_create(&hbm, self->fd, TDMA_MEM_HBM, BYTES));
	tdma_rand_fill(&rng, &hbm);
	tdma_rand_fill(&rng, &self->buf);
	check_read_only_maps(_metadata, self, &hbm);
	check_read_only_maps(_metadata, self, &self->buf);
	tdma_buf_destroy(&hbm, self->fd);
	/* The dma-buf itself can be looked at, and no more. */
	fd = export(self->fd, self->buf.handle, TDMA_BUF_READ);
	ASSERT_LE(0, fd);
	mem = map(fd, PROT_READ, 0);
	ASSERT_NE(MAP_FAILED, mem);
	EXPECT_EQ(0, memcmp(mem, self->buf.image, BYTES));
	EXPECT_EQ(-1, mprotect(mem, BYTES, PROT_READ | PROT_WRITE));
	munmap(mem, BYTES);
	close(fd);
}

TEST_F(dmabuf, device_memory_is_not_mapped_through_it)
{
	struct tdma_buf hbm;
	int fd;

	ASSERT_EQ(0, tdma_buf_create(&hbm, self->fd, TDMA_MEM_HBM, BYTES));
	fd = export(self->fd, hbm.handle, BOTH);
	ASSERT_LE(0, fd);
	EXPECT_EQ(MAP_FAILED, map(fd, PROT_READ, 0));
	EXPECT_EQ(EOPNOTSUPP, errno);
	close(fd);
	tdma_buf_destroy(&hbm, self->fd);
}

TEST_F(dmabuf, export_refused)
{
	struct tdma_buf_export arg = {
		.size = sizeof(arg),
		.flags = BOTH,
		.handle = self->buf.handle,
	};
	struct tdma_buf user;

	EXPECT_EQ(-EINVAL, export(self->fd, self->buf.handle, 0));
	EXPECT_EQ(-EINVAL, export(self->fd, self->buf.handle, BOTH | 4));
	EXPECT_EQ(-ENOENT, export(self->fd, 0, BOTH));
	EXPECT_EQ(-ENOENT, export(self->fd, self->buf.handle + 1, BOTH));
	EXPECT_EQ(-ENOENT, export(self->other, self->buf.handle, BOTH));
	arg.size = offsetof(struct tdma_buf_export, fd);
	EXPECT_EQ(-1, ioctl(self->fd, TDMA_IOC_BUF_EXPORT, &arg));
	EXPECT_EQ(EINVAL, errno);

	ASSERT_EQ(0, tdma_buf_create(&user, self->fd, TDMA_MEM_USER, BYTES));
	EXPECT_EQ(-EINVAL, export(self->fd, user.handle, BOTH));
	tdma_buf_destroy(&user, self->fd);
}

TEST_F(dmabuf, import_refused)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int fd = export(self->fd, self->buf.handle, BOTH);
	struct tdma_buf_import got;

	ASSERT_LE(0, fd);
	EXPECT_EQ(-EBADF, import(self->other, -1, BOTH, &got));
	EXPECT_EQ(-EINVAL, import(self->other, null, BOTH, &got));
	EXPECT_EQ(-EINVAL, import(self->other, self->fd, BOTH, &got));
	EXPECT_EQ(-EINVAL, import(self->other, fd, 0, &got));
	EXPECT_EQ(-EINVAL, import(self->other, fd, BOTH | 4, &got));
	close(fd);
	close(null);
}

/* Nothing is left behind by a call that found no file descriptor. */
TEST_F(dmabuf, out_of_descriptors)
{
	struct rlimit old, none = { .rlim_cur = 3 };

	ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &old));
	none.rlim_max = old.rlim_max;
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &none));
	for (int i = 0; i < 100; i++)
		EXPECT_EQ(-EMFILE, export(self->fd, self->buf.handle, BOTH));
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &old));
	EXPECT_EQ(0, tdma_free(self->fd, self->buf.handle));
}

TDMA_HARNESS_MAIN
