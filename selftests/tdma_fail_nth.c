// SPDX-License-Identifier: GPL-2.0
/*
 * tensordma selftests: every allocation and every copy from or to user space
 * fails once, from the first to the last, by the kernel's fault injection. The
 * call says so with an errno that means it, and nothing is lost.
 *
 * Needs CONFIG_FAULT_INJECTION with failslab and fail_page_alloc.
 */
#include <fcntl.h>
#include <linux/dma-heap.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "tdma_harness.h"
#include "tdma_sysfs.h"

#define BYTES		16384
/* More than there can be: the sweep has lost its way. */
#define MAX_NTH		20000

/* ---- the kernel's fault injection ---- */

struct knob {
	const char *directory;
	const char *file;
	const char *value;
	char saved[16];
};

/* Let everything fail that can, and say nothing in the log. */
static struct knob knobs[] = {
	{ "/sys/kernel/debug/failslab", "ignore-gfp-wait", "N" },
	{ "/sys/kernel/debug/failslab", "verbose", "0" },
	{ "/sys/kernel/debug/fail_page_alloc", "ignore-gfp-wait", "N" },
	{ "/sys/kernel/debug/fail_page_alloc", "ignore-gfp-highmem", "N" },
	{ "/sys/kernel/debug/fail_page_alloc", "min-order", "0" },
	{ "/sys/kernel/debug/fail_page_alloc", "verbose", "0" },
	{ "/sys/kernel/debug/fail_usercopy", "verbose", "0" },
};

static int read_knob(struct knob *knob)
{
	char path[128];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", knob->directory, knob->file);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return -errno;
	n = read(fd, knob->saved, sizeof(knob->saved) - 1);
	close(fd);
	return n > 0 ? 0 : -EIO;
}

/* Not every kernel has every kind of fault; the first two are needed. */
static int turn_knobs(void)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(knobs); i++) {
		int ret = read_knob(&knobs[i]);

		if (ret == -ENOENT && strstr(knobs[i].directory, "usercopy"))
			continue;
		if (!ret)
			ret = tdma_sysfs_write(knobs[i].directory,
					       knobs[i].file, knobs[i].value);
		if (ret)
			return ret;
	}
	return 0;
}

static void turn_knobs_back(void)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(knobs); i++)
		if (knobs[i].saved[0])
			tdma_sysfs_write(knobs[i].directory, knobs[i].file,
					 knobs[i].saved);
}

/* The @n-th fault point from here on fails, of this thread alone. */
static int arm(int fd, unsigned int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", n);

	return pwrite(fd, text, len, 0) == len ? 0 : -errno;
}

/*
 * Nothing fails any more; did anything? Reading and writing the count are
 * fault points themselves: the one that fails is past the sequence.
 */
static bool disarm(int fd)
{
	char text[16] = "";
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	while (pwrite(fd, "0", 1, 0) < 0)
		;
	return n > 0 && !strcmp(text, "0\n");
}

/* ---- the life of a file, step by step ---- */

struct life {
	int fd;
	unsigned char *user;
	__u32 user_handle;
	__u32 handle[2];
	__u64 offset[2];
	unsigned char *mem[2];
	__u64 job;
	int foreign;			/* dma-buf of another driver, or -1 */
	int exported;			/* dma-buf of ours */
};

static int life_open(struct life *l)
{
	l->fd = tdma_open(0);
	return l->fd < 0 ? l->fd : 0;
}

static int life_query(struct life *l)
{
	struct tdma_query caps;

	return tdma_query(l->fd, &caps);
}

static int life_pin(struct life *l)
{
	return tdma_pin(l->fd, l->user, BYTES, TDMA_BUF_READ | TDMA_BUF_WRITE,
			&l->user_handle);
}

static int life_alloc_host(struct life *l)
{
	return tdma_alloc(l->fd, TDMA_ALLOC_HOST, BYTES, &l->handle[0],
			  &l->offset[0]);
}

static int life_alloc_hbm(struct life *l)
{
	return tdma_alloc(l->fd, TDMA_ALLOC_HBM, BYTES, &l->handle[1],
			  &l->offset[1]);
}

static int life_map(struct life *l, int i)
{
	void *mem = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
			 l->fd, l->offset[i]);

	if (mem == MAP_FAILED)
		return -errno;
	l->mem[i] = mem;
	return 0;
}

static int life_map_host(struct life *l)
{
	return life_map(l, 0);
}

static int life_map_hbm(struct life *l)
{
	return life_map(l, 1);
}

/* A page fault that finds no memory is tried again. */
static int life_touch(struct life *l)
{
	memset(l->mem[0], 1, BYTES);
	memset(l->mem[1], 2, BYTES);
	return 0;
}

/* user memory to buffer @i */
static int life_submit(struct life *l, int i)
{
	struct tdma_desc d = tdma_desc_copy(l->user_handle, l->handle[i],
					    BYTES);
	struct tdma_submit report;
	int ret = tdma_submit(l->fd, &d, 1, &report);

	if (!ret)
		l->job = report.first_job;
	return ret;
}

static int life_submit_host(struct life *l)
{
	return life_submit(l, 0);
}

static int life_submit_hbm(struct life *l)
{
	return life_submit(l, 1);
}

static int life_poll(struct life *l)
{
	struct pollfd pfd = { .fd = l->fd, .events = POLLIN };

	return poll(&pfd, 1, TDMA_PATIENCE_MS) < 0 ? -errno : 0;
}

static int life_wait(struct life *l)
{
	struct tdma_record rec;
	int ret = tdma_wait(l->fd, l->job, tdma_patience(), &rec);

	if (!ret && rec.status != TDMA_STATUS_OK)
		return -EPROTO;
	return ret;
}

static int life_compare(struct life *l)
{
	return memcmp(l->mem[0], l->user, BYTES) ||
	       memcmp(l->mem[1], l->user, BYTES) ? -EBADMSG : 0;
}

static int life_free(struct life *l)
{
	int ret = tdma_free(l->fd, l->user_handle);

	return ret ?: tdma_free(l->fd, l->handle[0]);
}

static int life_import(struct life *l, int dmabuf)
{
	struct tdma_buf_import arg = {
		.size = sizeof(arg),
		.flags = TDMA_BUF_READ | TDMA_BUF_WRITE,
		.fd = dmabuf,
	};

	return ioctl(l->fd, TDMA_IOC_BUF_IMPORT, &arg) ? -errno : 0;
}

static int life_import_foreign(struct life *l)
{
	return l->foreign < 0 ? 0 : life_import(l, l->foreign);
}

static int life_export(struct life *l)
{
	struct tdma_buf_export arg = {
		.size = sizeof(arg),
		.flags = TDMA_BUF_READ | TDMA_BUF_WRITE,
		.handle = l->handle[0],
	};

	if (ioctl(l->fd, TDMA_IOC_BUF_EXPORT, &arg))
		return -errno;
	l->exported = arg.fd;
	return 0;
}

static int life_import_own(struct life *l)
{
	return life_import(l, l->exported);
}

/* HBM stays mapped and allocated, and a job is in flight */
static int life_close(struct life *l)
{
	int ret = close(l->fd) ? -errno : 0;

	l->fd = -1;
	return ret;
}

static const struct {
	const char *name;
	int (*fn)(struct life *l);
} steps[] = {
	{ "open", life_open },
	{ "query", life_query },
	{ "pin", life_pin },
	{ "alloc host", life_alloc_host },
	{ "alloc hbm", life_alloc_hbm },
	{ "map host", life_map_host },
	{ "map hbm", life_map_hbm },
	{ "touch", life_touch },
	{ "submit to host", life_submit_host },
	{ "poll", life_poll },
	{ "wait", life_wait },
	{ "submit to hbm", life_submit_hbm },
	{ "wait", life_wait },
	{ "compare", life_compare },
	{ "import", life_import_foreign },
	{ "export", life_export },
	{ "import of the export", life_import_own },
	{ "submit again", life_submit_host },
	{ "free", life_free },
	{ "close", life_close },
};

static void life_end(struct life *l)
{
	for (int i = 0; i < 2; i++)
		if (l->mem[i])
			munmap(l->mem[i], BYTES);
	if (l->exported >= 0)
		close(l->exported);
	if (l->fd >= 0)
		close(l->fd);
}

/* A dma-buf of the system heap, or -1 if the kernel has none */
static int foreign_dmabuf(void)
{
	struct dma_heap_allocation_data arg = {
		.len = BYTES,
		.fd_flags = O_RDWR | O_CLOEXEC,
	};
	int heap = open("/dev/dma_heap/system", O_RDONLY);
	int ret;

	if (heap < 0)
		return -1;
	ret = ioctl(heap, DMA_HEAP_IOCTL_ALLOC, &arg);
	close(heap);
	return ret < 0 ? -1 : (int)arg.fd;
}

/* ---- the tests ---- */

FIXTURE(fail_nth)
{
	long pins;
	int fd;			/* /proc/.../fail-nth of this thread */
	unsigned char *user;
	struct tdma_sysfs sysfs;
};

FIXTURE_SETUP(fail_nth)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%ld/fail-nth",
		 syscall(SYS_gettid));
	self->fd = open(path, O_RDWR);
	if (self->fd < 0)
		SKIP(return, "the kernel has no fault injection (%s)", path);
	ASSERT_EQ(0, tdma_sysfs_find(&self->sysfs));
	ASSERT_EQ(0, turn_knobs());
	self->user = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	ASSERT_NE(MAP_FAILED, self->user);
	memset(self->user, 0x5a, BYTES);
	self->pins = tdma_pins();
	ASSERT_LE(0, self->pins);
}

FIXTURE_TEARDOWN(fail_nth)
{
	if (self->fd < 0)
		return;
	turn_knobs_back();
	EXPECT_EQ(self->pins, tdma_pins_settle(self->pins));
}

/* The first step that fails, or past the last one, and how it failed. */
static unsigned int live(struct life *l, int *ret)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(steps); i++) {
		*ret = steps[i].fn(l);
		if (*ret)
			return i;
	}
	*ret = 0;
	return ARRAY_SIZE(steps);
}

/* Memory is short, or a structure could not be copied; else all must work. */
static bool is_clean(int error, bool fired)
{
	return !error || (fired && (error == -ENOMEM || error == -EFAULT));
}

TEST_F_TIMEOUT(fail_nth, life_of_a_file, 3600)
{
	int foreign = foreign_dmabuf();
	bool fired = true;
	unsigned int n;

	for (n = 1; fired; n++) {
		struct life l = {
			.fd = -1,
			.user = self->user,
			.foreign = foreign,
			.exported = -1,
		};
		unsigned int step;
		int ret;

		ASSERT_GT(MAX_NTH, n);
		ASSERT_EQ(0, arm(self->fd, n));
		step = live(&l, &ret);
		fired = disarm(self->fd);
		life_end(&l);
		EXPECT_TRUE(is_clean(ret, fired))
			TH_LOG("fault %u, %s: %d", n, steps[step].name, ret);
		ASSERT_EQ(self->pins, tdma_pins_settle(self->pins))
			TH_LOG("fault %u leaves pages pinned", n);
	}
	close(foreign);
	TH_LOG("%u faults", n - 2);
	/* Opening alone has more of them. */
	EXPECT_LT(20, n);
}

/*
 * The driver comes to the device with every TDMA_FAIL_STEP-th (5) allocation
 * failing once. There are hundreds.
 */
TEST_F_TIMEOUT(fail_nth, probe, 3600)
{
	const struct tdma_sysfs *sysfs = &self->sysfs;
	unsigned int step = tdma_env("TDMA_FAIL_STEP", 5);
	bool fired = true;
	unsigned int n, failed = 0;
	char bind[PATH_MAX + 8];
	int fd, ret;

	snprintf(bind, sizeof(bind), "%s/bind", sysfs->driver);
	ASSERT_LT(0, step);
	for (n = 1; fired; n += step) {
		ASSERT_GT(MAX_NTH, n);
		ASSERT_EQ(0, tdma_sysfs_write(sysfs->driver, "unbind",
					      sysfs->name));
		fd = open(bind, O_WRONLY);
		ASSERT_LE(0, fd);
		ASSERT_EQ(0, arm(self->fd, n));
		ret = write(fd, sysfs->name, strlen(sysfs->name)) < 0 ?
		      -errno : 0;
		fired = disarm(self->fd);
		close(fd);
		failed += !!ret;
		if (!fired)
			EXPECT_EQ(0, ret);
		/* Without the fault it works. */
		if (ret)
			ASSERT_EQ(0, tdma_sysfs_write(sysfs->driver, "bind",
						      sysfs->name))
				TH_LOG("after fault %u: %d", n, ret);
		fd = tdma_open_again();
		EXPECT_LE(0, fd)
			TH_LOG("fault %u", n);
		close(fd);
	}
	TH_LOG("%u places for a fault, every %u. tried, %u fatal to probe",
	       n - step - 1, step, failed);
	EXPECT_LT(0, failed);
}

TDMA_HARNESS_MAIN
