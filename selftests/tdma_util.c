// SPDX-License-Identifier: GPL-2.0
/* tensordma selftests: the device file, one thin call per ioctl. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "kselftest.h"
#include "tdma_util.h"

const char *tdma_path(void)
{
	const char *path = getenv("TDMA_DEV");

	return path && *path ? path : "/dev/tensordma0";
}

int tdma_open(int flags)
{
	int fd = open(tdma_path(), O_RDWR | O_CLOEXEC | flags);

	return fd < 0 ? -errno : fd;
}

void tdma_require_device(void)
{
	/* Anything but absence is for the tests to report. */
	if (access(tdma_path(), F_OK) && errno == ENOENT) {
		ksft_print_header();
		ksft_exit_skip("no device %s\n", tdma_path());
	}
}

unsigned long tdma_env(const char *name, unsigned long fallback)
{
	const char *text = getenv(name);

	return text && *text ? strtoul(text, NULL, 0) : fallback;
}

bool tdma_slow(void)
{
	const char *text = getenv("KSFT_MACHINE_SLOW");

	return text && !strcmp(text, "yes");
}

size_t tdma_page_size(void)
{
	return sysconf(_SC_PAGESIZE);
}

static int do_ioctl(int fd, unsigned long request, void *arg)
{
	return ioctl(fd, request, arg) < 0 ? -errno : 0;
}

int tdma_query(int fd, struct tdma_query *query)
{
	*query = (struct tdma_query){ .size = sizeof(*query) };
	return do_ioctl(fd, TDMA_IOC_QUERY, query);
}

int tdma_pin(int fd, void *addr, __u64 length, __u32 flags, __u32 *handle)
{
	struct tdma_buf_pin pin = {
		.size = sizeof(pin),
		.flags = flags,
		.addr = (uintptr_t)addr,
		.length = length,
	};
	int ret = do_ioctl(fd, TDMA_IOC_BUF_PIN, &pin);

	*handle = pin.handle;
	return ret;
}

int tdma_alloc(int fd, __u32 space, __u64 length, __u32 *handle,
	       __u64 *mmap_offset)
{
	struct tdma_buf_alloc alloc = {
		.size = sizeof(alloc),
		.space = space,
		.length = length,
	};
	int ret = do_ioctl(fd, TDMA_IOC_BUF_ALLOC, &alloc);

	*handle = alloc.handle;
	*mmap_offset = alloc.mmap_offset;
	return ret;
}

int tdma_free(int fd, __u32 handle)
{
	struct tdma_buf_free arg = { .size = sizeof(arg), .handle = handle };

	return do_ioctl(fd, TDMA_IOC_BUF_FREE, &arg);
}

int tdma_submit(int fd, const void *slots, __u32 count,
		struct tdma_submit *report)
{
	struct tdma_submit arg = {
		.size = sizeof(arg),
		.descs = (uintptr_t)slots,
		.count = count,
		.stride = sizeof(union tdma_slot),
	};
	int ret = do_ioctl(fd, TDMA_IOC_SUBMIT, &arg);

	if (report)
		*report = arg;
	return ret;
}

int tdma_wait(int fd, __u64 job, __s64 deadline_ns, struct tdma_record *rec)
{
	struct tdma_wait wait = {
		.size = sizeof(wait),
		.job = job,
		.deadline_ns = deadline_ns,
	};
	int ret = do_ioctl(fd, TDMA_IOC_WAIT, &wait);

	*rec = wait.record;
	return ret;
}

int tdma_run(int fd, const union tdma_slot *slots, struct tdma_record *rec)
{
	__u32 count = slots[0].desc.flags & TDMA_DESC_EXT ? 2 : 1;
	struct tdma_submit report;
	int ret;

	memset(rec, 0, sizeof(*rec));
	ret = tdma_submit(fd, slots, count, &report);
	if (ret)
		return ret;
	return tdma_wait(fd, report.first_job, tdma_patience(), rec);
}

int tdma_get_priority(int fd)
{
	struct tdma_priority arg = { .size = sizeof(arg) };
	int ret = do_ioctl(fd, TDMA_IOC_PRIORITY, &arg);

	return ret ? ret : (int)arg.priority;
}

int tdma_set_priority(int fd, __u32 priority)
{
	struct tdma_priority arg = {
		.size = sizeof(arg),
		.flags = TDMA_PRIORITY_SET,
		.priority = priority,
	};

	return do_ioctl(fd, TDMA_IOC_PRIORITY, &arg);
}

__s64 tdma_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

__s64 tdma_patience(void)
{
	__s64 ms = tdma_slow() ? 10 * TDMA_PATIENCE_MS : TDMA_PATIENCE_MS;

	return tdma_now() + ms * 1000000;
}

static int create_user(struct tdma_buf *buf, int fd)
{
	buf->mem = mmap(NULL, buf->len, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (buf->mem == MAP_FAILED)
		return -errno;
	return tdma_pin(fd, buf->mem, buf->len, TDMA_BUF_READ | TDMA_BUF_WRITE,
			&buf->handle);
}

static int create_alloc(struct tdma_buf *buf, int fd, __u32 space)
{
	__u64 offset;
	int ret = tdma_alloc(fd, space, buf->len, &buf->handle, &offset);

	if (ret)
		return ret;
	buf->mem = mmap(NULL, buf->len, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			offset);
	return buf->mem == MAP_FAILED ? -errno : 0;
}

int tdma_buf_create(struct tdma_buf *buf, int fd, enum tdma_mem kind,
		    size_t len)
{
	*buf = (struct tdma_buf){ .len = len, .image = calloc(1, len) };
	if (!buf->image)
		return -ENOMEM;
	switch (kind) {
	case TDMA_MEM_HOST:
		return create_alloc(buf, fd, TDMA_ALLOC_HOST);
	case TDMA_MEM_HBM:
		return create_alloc(buf, fd, TDMA_ALLOC_HBM);
	default:
		return create_user(buf, fd);
	}
}

void tdma_buf_destroy(struct tdma_buf *buf, int fd)
{
	tdma_free(fd, buf->handle);
	munmap(buf->mem, buf->len);
	free(buf->image);
}

size_t tdma_buf_diff(const struct tdma_buf *buf)
{
	size_t i;

	if (!memcmp(buf->mem, buf->image, buf->len))
		return buf->len;
	for (i = 0; i < buf->len; i++)
		if (buf->mem[i] != buf->image[i])
			break;
	return i;
}

/* Counts are kept per CPU and folded now and then: have it done now. */
static void fold_counts(void)
{
	int fd = open("/proc/sys/vm/stat_refresh", O_WRONLY);

	if (fd < 0)
		return;
	if (write(fd, "1", 1) != 1)
		perror("stat_refresh");
	close(fd);
}

long tdma_pins(void)
{
	long acquired = -1, released = 0, value;
	char name[64];
	FILE *file;

	fold_counts();
	file = fopen("/proc/vmstat", "r");
	if (!file)
		return -1;
	while (fscanf(file, "%63s %ld", name, &value) == 2) {
		if (!strcmp(name, "nr_foll_pin_acquired"))
			acquired = value;
		else if (!strcmp(name, "nr_foll_pin_released"))
			released = value;
	}
	fclose(file);
	return acquired < 0 ? -1 : acquired - released;
}

long tdma_pins_settle(long wanted)
{
	__s64 deadline = tdma_patience();
	long pins = tdma_pins();

	while (pins != wanted && tdma_now() < deadline) {
		usleep(10000);
		pins = tdma_pins();
	}
	return pins;
}

struct tdma_desc tdma_desc_copy(__u32 src, __u32 dst, __u32 elem_bytes)
{
	return (struct tdma_desc){
		.version = TDMA_DESC_VERSION,
		.opcode = TDMA_OP_COPY,
		.elem_bytes = elem_bytes,
		.src_segment = src,
		.dst_segment = dst,
	};
}

struct tdma_desc tdma_desc_memset(__u32 dst, __u32 elem_bytes,
				  const void *fill, __u8 fill_bytes)
{
	struct tdma_desc d = {
		.version = TDMA_DESC_VERSION,
		.opcode = TDMA_OP_MEMSET,
		.type = fill_bytes,
		.elem_bytes = elem_bytes,
		.dst_segment = dst,
	};

	memcpy(d.fill, fill, fill_bytes);
	return d;
}

void tdma_dim(struct tdma_desc *d, __u32 steps, __s64 src_stride,
	      __s64 dst_stride)
{
	d->steps[d->ndims] = steps;
	d->src_stride[d->ndims] = src_stride;
	d->dst_stride[d->ndims] = dst_stride;
	d->ndims++;
}
