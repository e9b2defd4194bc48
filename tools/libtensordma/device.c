// SPDX-License-Identifier: MIT
/* The device node as a machine: one thin function per call. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <linux/tensordma.h>
#include <linux/tensordma_regs.h>

#include "backend.h"
#include "error.h"

struct tdl_backend {
	int fd;
	char *path;
	struct tdma_query query;
};

static int call(const struct tdl_backend *b, unsigned long request, void *arg)
{
	int ret;

	do {
		ret = ioctl(b->fd, request, arg);
	} while (ret && errno == EINTR);
	return ret ? -errno : 0;
}

static void device_close(struct tdl_backend *b)
{
	if (b->fd >= 0)
		close(b->fd);
	free(b->path);
	free(b);
}

static int open_file(struct tdl_backend *b, const char *path,
		     struct tensordma_error *err)
{
	int ret;

	b->query.size = sizeof(b->query);
	b->path = strdup(path);
	if (!b->path)
		return -ENOMEM;
	b->fd = open(path, O_RDWR | O_CLOEXEC);
	if (b->fd < 0)
		return tdl_fail(err, -errno, "backend", TENSORDMA_NO_DIM,
				"%s: %s", path, strerror(errno));
	ret = call(b, TDMA_IOC_QUERY, &b->query);
	if (ret)
		return tdl_fail(err, ret, "backend", TENSORDMA_NO_DIM,
				"%s is no tensordma device: %s", path,
				strerror(-ret));
	return 0;
}

static int device_open(struct tdl_backend **backend,
		       const struct tensordma_config *config,
		       struct tensordma_error *err)
{
	struct tdl_backend *b;
	int ret;

	if (config->properties && *config->properties)
		return tdl_fail(err, -EINVAL, "property", TENSORDMA_NO_DIM,
				"%s: a device has the properties it has",
				*config->properties);
	b = calloc(1, sizeof(*b));
	if (!b)
		return -ENOMEM;
	b->fd = -1;
	ret = open_file(b, config->backend, err);
	if (ret) {
		device_close(b);
		return ret;
	}
	*backend = b;
	return 0;
}

static void device_info(const struct tdl_backend *b,
			struct tensordma_info *info)
{
	*info = (struct tensordma_info) {
		.backend = b->path,
		.max_dims = b->query.queue_dims,
		.max_elem_bytes = b->query.max_elem_bytes,
		.opcodes = b->query.opcodes,
		.types = b->query.types,
		.padding = b->query.features & TDMA_FEATURE_EXT,
		.cycle_accurate = b->query.features & TDMA_FEATURE_CYCLE,
		.threads = b->query.threads,
		.lanes = b->query.lanes,
		.request_ids = b->query.request_ids,
		.max_buffers = b->query.max_buffers,
	};
}

static bool device_property(const struct tdl_backend *b, unsigned int index,
			    const char **name, uint64_t *value,
			    const char **text)
{
	(void)b;
	(void)index;
	(void)name;
	(void)value;
	(void)text;
	return false;
}

static int device_map(struct tdl_backend *b, void *addr, size_t length,
		      bool writable, uint32_t *segment)
{
	struct tdma_buf_pin pin = {
		.size = sizeof(pin),
		.flags = TDMA_BUF_READ | (writable ? TDMA_BUF_WRITE : 0),
		.addr = (uintptr_t)addr,
		.length = length,
	};
	int ret = call(b, TDMA_IOC_BUF_PIN, &pin);

	*segment = pin.handle;
	return ret;
}

static void device_unmap(struct tdl_backend *b, uint32_t segment)
{
	struct tdma_buf_free gone = {
		.size = sizeof(gone),
		.handle = segment,
	};

	call(b, TDMA_IOC_BUF_FREE, &gone);
}

static int device_submit(struct tdl_backend *b, const struct tdl_slot *slot,
			 uint64_t *job, struct tdl_refusal *refusal)
{
	struct tdma_submit submit = {
		.size = sizeof(submit),
		.flags = TDMA_SUBMIT_NONBLOCK,
		.descs = (uintptr_t)slot,
		.count = slot->desc.flags & TDMA_DESC_EXT ? 2 : 1,
		.stride = sizeof(slot->desc),
	};
	int ret = call(b, TDMA_IOC_SUBMIT, &submit);

	*job = submit.first_job;
	*refusal = (struct tdl_refusal) {
		.status = ret ? submit.error_status : 0,
		.field = submit.error_field,
		.dim = submit.error_dim,
		.side = submit.error_side,
	};
	return ret;
}

static int device_wait(struct tdl_backend *b, uint64_t job, int64_t deadline_ns,
		       uint64_t min_done, struct tdma_record *record)
{
	struct tdma_wait wait = {
		.size = sizeof(wait),
		.job = job,
		.deadline_ns = deadline_ns,
		.min_dst_done = min_done,
	};
	int ret = call(b, TDMA_IOC_WAIT, &wait);

	*record = wait.record;
	return ret;
}

const struct tdl_backend_ops tdl_device_backend = {
	.open = device_open,
	.close = device_close,
	.info = device_info,
	.property = device_property,
	.map = device_map,
	.unmap = device_unmap,
	.submit = device_submit,
	.wait = device_wait,
};
