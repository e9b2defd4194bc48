// SPDX-License-Identifier: GPL-2.0
/*
 * tensordma selftests: the rules that hold for every ioctl, one by one.
 */
#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "tdma_harness.h"

/*
 * Layouts are fixed for good, the same for 32-bit and 64-bit programs: a size
 * per structure, an offset per member. Compiled with -m32 as well.
 */
#define LAYOUT_SIZE(type, bytes) \
	static_assert(sizeof(struct type) == (bytes), "size of " #type)
#define LAYOUT(type, member, offset) \
	static_assert(offsetof(struct type, member) == (offset), \
		       #type "." #member)

LAYOUT(tdma_desc, version, 0);
LAYOUT(tdma_desc, opcode, 1);
LAYOUT(tdma_desc, ndims, 2);
LAYOUT(tdma_desc, type, 3);
LAYOUT(tdma_desc, flags, 4);
LAYOUT(tdma_desc, elem_bytes, 8);
LAYOUT(tdma_desc, src_segment, 12);
LAYOUT(tdma_desc, dst_segment, 16);
LAYOUT(tdma_desc, record_segment, 20);
LAYOUT(tdma_desc, src_offset, 24);
LAYOUT(tdma_desc, dst_offset, 32);
LAYOUT(tdma_desc, record_offset, 40);
LAYOUT(tdma_desc, total, 48);
LAYOUT(tdma_desc, tag, 56);
LAYOUT(tdma_desc, steps, 64);
LAYOUT(tdma_desc, src_stride, 96);
LAYOUT(tdma_desc, dst_stride, 160);
LAYOUT(tdma_desc, fill, 224);
LAYOUT(tdma_desc, src_sync_interval, 240);
LAYOUT(tdma_desc, dst_sync_interval, 244);
LAYOUT(tdma_desc, src_sync_flag, 248);
LAYOUT(tdma_desc, dst_sync_flag, 252);
LAYOUT_SIZE(tdma_desc, 256);

LAYOUT(tdma_desc_ext, version, 0);
LAYOUT(tdma_desc_ext, naxes, 1);
LAYOUT(tdma_desc_ext, fill_bytes, 2);
LAYOUT(tdma_desc_ext, reserved0, 3);
LAYOUT(tdma_desc_ext, axis_side, 8);
LAYOUT(tdma_desc_ext, src_axis, 16);
LAYOUT(tdma_desc_ext, dst_axis, 24);
LAYOUT(tdma_desc_ext, src_coef, 32);
LAYOUT(tdma_desc_ext, dst_coef, 64);
LAYOUT(tdma_desc_ext, axis_start, 96);
LAYOUT(tdma_desc_ext, axis_extent, 160);
LAYOUT(tdma_desc_ext, reserved1, 224);
LAYOUT_SIZE(tdma_desc_ext, 256);

LAYOUT(tdma_record, tag, 0);
LAYOUT(tdma_record, src_done, 8);
LAYOUT(tdma_record, dst_done, 16);
LAYOUT(tdma_record, cycles, 24);
LAYOUT(tdma_record, fault_offset, 32);
LAYOUT(tdma_record, stall_backpressure, 40);
LAYOUT(tdma_record, stall_throttle, 44);
LAYOUT(tdma_record, stall_ids, 48);
LAYOUT(tdma_record, fault_field, 52);
LAYOUT(tdma_record, fault_side, 54);
LAYOUT(tdma_record, fault_dim, 55);
LAYOUT(tdma_record, status, 56);
LAYOUT(tdma_record, sequence, 60);
LAYOUT_SIZE(tdma_record, 64);

LAYOUT(tdma_segment, space, 0);
LAYOUT(tdma_segment, flags, 4);
LAYOUT(tdma_segment, page_shift, 8);
LAYOUT(tdma_segment, page_offset, 12);
LAYOUT(tdma_segment, length, 16);
LAYOUT(tdma_segment, base, 24);
LAYOUT_SIZE(tdma_segment, 32);

LAYOUT(tdma_query, size, 0);
LAYOUT(tdma_query, uapi_version, 4);
LAYOUT(tdma_query, features, 8);
LAYOUT(tdma_query, max_dims, 12);
LAYOUT(tdma_query, max_elem_bytes, 16);
LAYOUT(tdma_query, max_jobs, 20);
LAYOUT(tdma_query, opcodes, 24);
LAYOUT(tdma_query, types, 28);
LAYOUT(tdma_query, threads, 32);
LAYOUT(tdma_query, lanes, 36);
LAYOUT(tdma_query, request_ids, 40);
LAYOUT(tdma_query, max_buffers, 44);
LAYOUT(tdma_query, hbm_bytes, 48);
LAYOUT(tdma_query, reset_generation, 56);
LAYOUT(tdma_query, queue_dims, 60);
LAYOUT_SIZE(tdma_query, 64);

LAYOUT(tdma_buf_pin, size, 0);
LAYOUT(tdma_buf_pin, flags, 4);
LAYOUT(tdma_buf_pin, addr, 8);
LAYOUT(tdma_buf_pin, length, 16);
LAYOUT(tdma_buf_pin, handle, 24);
LAYOUT(tdma_buf_pin, reserved, 28);
LAYOUT_SIZE(tdma_buf_pin, 32);

LAYOUT(tdma_buf_alloc, size, 0);
LAYOUT(tdma_buf_alloc, space, 4);
LAYOUT(tdma_buf_alloc, length, 8);
LAYOUT(tdma_buf_alloc, mmap_offset, 16);
LAYOUT(tdma_buf_alloc, handle, 24);
LAYOUT(tdma_buf_alloc, reserved, 28);
LAYOUT_SIZE(tdma_buf_alloc, 32);

LAYOUT(tdma_buf_free, size, 0);
LAYOUT(tdma_buf_free, handle, 4);
LAYOUT_SIZE(tdma_buf_free, 8);

LAYOUT(tdma_submit, size, 0);
LAYOUT(tdma_submit, flags, 4);
LAYOUT(tdma_submit, descs, 8);
LAYOUT(tdma_submit, count, 16);
LAYOUT(tdma_submit, stride, 20);
LAYOUT(tdma_submit, accepted, 24);
LAYOUT(tdma_submit, error_status, 28);
LAYOUT(tdma_submit, first_job, 32);
LAYOUT(tdma_submit, error_index, 40);
LAYOUT(tdma_submit, error_field, 44);
LAYOUT(tdma_submit, error_dim, 46);
LAYOUT(tdma_submit, error_side, 47);
LAYOUT(tdma_submit, in_fence, 48);
LAYOUT(tdma_submit, out_fence, 52);
LAYOUT_SIZE(tdma_submit, 56);

LAYOUT(tdma_wait, size, 0);
LAYOUT(tdma_wait, flags, 4);
LAYOUT(tdma_wait, job, 8);
LAYOUT(tdma_wait, deadline_ns, 16);
LAYOUT(tdma_wait, min_src_done, 24);
LAYOUT(tdma_wait, min_dst_done, 32);
LAYOUT(tdma_wait, record, 40);
LAYOUT_SIZE(tdma_wait, 104);

LAYOUT(tdma_buf_export, size, 0);
LAYOUT(tdma_buf_export, flags, 4);
LAYOUT(tdma_buf_export, handle, 8);
LAYOUT(tdma_buf_export, fd, 12);
LAYOUT_SIZE(tdma_buf_export, 16);

LAYOUT(tdma_buf_import, size, 0);
LAYOUT(tdma_buf_import, flags, 4);
LAYOUT(tdma_buf_import, fd, 8);
LAYOUT(tdma_buf_import, handle, 12);
LAYOUT(tdma_buf_import, length, 16);
LAYOUT(tdma_buf_import, mmap_offset, 24);
LAYOUT_SIZE(tdma_buf_import, 32);

LAYOUT(tdma_wait_many, size, 0);
LAYOUT(tdma_wait_many, flags, 4);
LAYOUT(tdma_wait_many, jobs, 8);
LAYOUT(tdma_wait_many, deadline_ns, 16);
LAYOUT(tdma_wait_many, count, 24);
LAYOUT(tdma_wait_many, index, 28);
LAYOUT(tdma_wait_many, reserved, 32);
LAYOUT_SIZE(tdma_wait_many, 40);

LAYOUT(tdma_eventfd, size, 0);
LAYOUT(tdma_eventfd, flags, 4);
LAYOUT(tdma_eventfd, fd, 8);
LAYOUT(tdma_eventfd, reserved, 12);
LAYOUT_SIZE(tdma_eventfd, 16);

LAYOUT(tdma_priority, size, 0);
LAYOUT(tdma_priority, flags, 4);
LAYOUT(tdma_priority, priority, 8);
LAYOUT(tdma_priority, reserved, 12);
LAYOUT_SIZE(tdma_priority, 16);

LAYOUT(tdma_queue_create, size, 0);
LAYOUT(tdma_queue_create, flags, 4);
LAYOUT(tdma_queue_create, order, 8);
LAYOUT(tdma_queue_create, eventfd, 12);
LAYOUT(tdma_queue_create, ring_offset, 16);
LAYOUT(tdma_queue_create, records_offset, 24);
LAYOUT(tdma_queue_create, doorbell_offset, 32);
LAYOUT(tdma_queue_create, reserved, 40);
LAYOUT_SIZE(tdma_queue_create, 48);

LAYOUT(tdma_queue_status, size, 0);
LAYOUT(tdma_queue_status, state, 4);
LAYOUT(tdma_queue_status, error, 8);
LAYOUT(tdma_queue_status, done, 12);
LAYOUT_SIZE(tdma_queue_status, 16);

/* Any ioctl's argument, with room for the tail of a newer program. */
union args {
	__u32 size;
	struct tdma_query query;
	struct tdma_buf_pin pin;
	struct tdma_buf_alloc alloc;
	struct tdma_buf_free free;
	struct tdma_submit submit;
	struct tdma_wait wait;
	struct tdma_buf_export export;
	struct tdma_buf_import import;
	struct tdma_wait_many many;
	struct tdma_eventfd eventfd;
	struct tdma_priority priority;
	struct tdma_queue_create create;
	struct tdma_queue_status status;
	unsigned char bytes[256];
};

static int call(int fd, unsigned long request, void *arg)
{
	return ioctl(fd, request, arg) < 0 ? -errno : 0;
}

/*
 * Every ioctl, with an argument that is valid
 */
FIXTURE(cmd)
{
	int fd;
	size_t page;
	unsigned char *data;		/* a page to pin */
	unsigned char *guarded;		/* a page before one of PROT_NONE */
	struct tdma_desc nop;
	__u64 job;
};

FIXTURE_VARIANT(cmd)
{
	unsigned long request;
	size_t size;
};

FIXTURE_VARIANT_ADD(cmd, query)
{
	.request = TDMA_IOC_QUERY,
	.size = sizeof(struct tdma_query),
};

FIXTURE_VARIANT_ADD(cmd, buf_pin)
{
	.request = TDMA_IOC_BUF_PIN,
	.size = sizeof(struct tdma_buf_pin),
};

FIXTURE_VARIANT_ADD(cmd, buf_alloc)
{
	.request = TDMA_IOC_BUF_ALLOC,
	.size = sizeof(struct tdma_buf_alloc),
};

FIXTURE_VARIANT_ADD(cmd, buf_free)
{
	.request = TDMA_IOC_BUF_FREE,
	.size = sizeof(struct tdma_buf_free),
};

FIXTURE_VARIANT_ADD(cmd, submit)
{
	.request = TDMA_IOC_SUBMIT,
	.size = sizeof(struct tdma_submit),
};

FIXTURE_VARIANT_ADD(cmd, wait)
{
	.request = TDMA_IOC_WAIT,
	.size = sizeof(struct tdma_wait),
};

FIXTURE_VARIANT_ADD(cmd, buf_export)
{
	.request = TDMA_IOC_BUF_EXPORT,
	.size = sizeof(struct tdma_buf_export),
};

FIXTURE_VARIANT_ADD(cmd, buf_import)
{
	.request = TDMA_IOC_BUF_IMPORT,
	.size = sizeof(struct tdma_buf_import),
};

FIXTURE_VARIANT_ADD(cmd, wait_many)
{
	.request = TDMA_IOC_WAIT_MANY,
	.size = sizeof(struct tdma_wait_many),
};

FIXTURE_VARIANT_ADD(cmd, eventfd)
{
	.request = TDMA_IOC_EVENTFD,
	.size = sizeof(struct tdma_eventfd),
};

FIXTURE_VARIANT_ADD(cmd, priority)
{
	.request = TDMA_IOC_PRIORITY,
	.size = sizeof(struct tdma_priority),
};

FIXTURE_VARIANT_ADD(cmd, queue_create)
{
	.request = TDMA_IOC_QUEUE_CREATE,
	.size = sizeof(struct tdma_queue_create),
};

FIXTURE_VARIANT_ADD(cmd, queue_status)
{
	.request = TDMA_IOC_QUEUE_STATUS,
	.size = sizeof(struct tdma_queue_status),
};

FIXTURE_SETUP(cmd)
{
	self->page = tdma_page_size();
	self->fd = tdma_open(0);
	ASSERT_LE(0, self->fd);
	self->data = mmap(NULL, self->page, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->data);
	self->guarded = mmap(NULL, 2 * self->page, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->guarded);
	ASSERT_EQ(0, mprotect(self->guarded + self->page, self->page,
			      PROT_NONE));
	self->nop.version = TDMA_DESC_VERSION;
	self->nop.opcode = TDMA_OP_NOP;
}

FIXTURE_TEARDOWN(cmd)
{
	close(self->fd);
}

static int a_dmabuf(int fd)
{
	struct tdma_buf_export arg = {
		.size = sizeof(arg),
		.flags = TDMA_BUF_READ,
	};
	__u64 offset;

	if (tdma_alloc(fd, TDMA_ALLOC_HOST, 1, &arg.handle, &offset) ||
	    call(fd, TDMA_IOC_BUF_EXPORT, &arg))
		return -1;
	return arg.fd;
}

/* An argument with which the ioctl succeeds, once. */
static union args valid_args(struct __test_metadata *_metadata,
			     FIXTURE_DATA(cmd) *self, unsigned long request)
{
	union args args = {};
	struct tdma_submit report;
	__u64 offset;

	switch (request) {
	case TDMA_IOC_BUF_PIN:
		args.pin.flags = TDMA_BUF_READ;
		args.pin.addr = (uintptr_t)self->data;
		args.pin.length = self->page;
		break;
	case TDMA_IOC_BUF_ALLOC:
		args.alloc.space = TDMA_ALLOC_HBM;
		args.alloc.length = self->page;
		break;
	case TDMA_IOC_BUF_FREE:
		EXPECT_EQ(0, tdma_alloc(self->fd, TDMA_ALLOC_HBM, 1,
					&args.free.handle, &offset));
		break;
	case TDMA_IOC_SUBMIT:
		args.submit.descs = (uintptr_t)&self->nop;
		args.submit.count = 1;
		args.submit.stride = sizeof(self->nop);
		break;
	case TDMA_IOC_WAIT:
		EXPECT_EQ(0, tdma_submit(self->fd, &self->nop, 1, &report));
		args.wait.job = report.first_job;
		args.wait.deadline_ns = tdma_patience();
		break;
	case TDMA_IOC_BUF_EXPORT:
		EXPECT_EQ(0, tdma_alloc(self->fd, TDMA_ALLOC_HOST, 1,
					&args.export.handle, &offset));
		args.export.flags = TDMA_BUF_READ;
		break;
	case TDMA_IOC_BUF_IMPORT:
		args.import.flags = TDMA_BUF_READ;
		args.import.fd = a_dmabuf(self->fd);
		break;
	case TDMA_IOC_WAIT_MANY:
		EXPECT_EQ(0, tdma_submit(self->fd, &self->nop, 1, &report));
		self->job = report.first_job;
		args.many.jobs = (uintptr_t)&self->job;
		args.many.count = 1;
		args.many.deadline_ns = tdma_patience();
		break;
	case TDMA_IOC_EVENTFD:
		args.eventfd.fd = -1;
		break;
	case TDMA_IOC_QUEUE_CREATE:
		args.create.order = 1;
		args.create.eventfd = -1;
		break;
	case TDMA_IOC_QUEUE_STATUS:
		args.create.size = sizeof(args.create);
		args.create.order = 1;
		args.create.eventfd = -1;
		EXPECT_EQ(0, call(self->fd, TDMA_IOC_QUEUE_CREATE, &args));
		args = (union args){};
		break;
	}
	args.size = _IOC_SIZE(request);
	return args;
}

TEST_F(cmd, encoding)
{
	EXPECT_EQ(variant->size, _IOC_SIZE(variant->request));
	EXPECT_EQ(_IOC_READ | _IOC_WRITE, _IOC_DIR(variant->request));
	EXPECT_EQ(TDMA_IOC_MAGIC, _IOC_TYPE(variant->request));
}

TEST_F(cmd, exact_size)
{
	union args args = valid_args(_metadata, self, variant->request);

	EXPECT_EQ(0, call(self->fd, variant->request, &args));
}

TEST_F(cmd, short_size)
{
	union args args = valid_args(_metadata, self, variant->request);

	for (args.size = 0; args.size < variant->size; args.size++) {
		EXPECT_EQ(-EINVAL, call(self->fd, variant->request, &args))
			TH_LOG("size %u", args.size);
	}
}

TEST_F(cmd, long_size_zero_tail)
{
	union args args = valid_args(_metadata, self, variant->request);

	args.size += 8;
	EXPECT_EQ(0, call(self->fd, variant->request, &args));
}

TEST_F(cmd, long_size_nonzero_tail)
{
	union args args = valid_args(_metadata, self, variant->request);

	args.size += 8;
	for (int i = 0; i < 8; i++) {
		args.bytes[variant->size + i] = 1;
		EXPECT_EQ(-E2BIG, call(self->fd, variant->request, &args))
			TH_LOG("tail byte %d", i);
		args.bytes[variant->size + i] = 0;
	}
	/* None of them has used up the argument. */
	EXPECT_EQ(0, call(self->fd, variant->request, &args));
}

TEST_F(cmd, absurd_size)
{
	union args args = valid_args(_metadata, self, variant->request);

	/* The tail cannot be looked at, or is far beyond any structure. */
	args.size = UINT_MAX;
	EXPECT_NE(0, call(self->fd, variant->request, &args));
	args.size = variant->size;
	EXPECT_EQ(0, call(self->fd, variant->request, &args));
}

/* A structure that ends where its mapping ends is neither over-read... */
TEST_F(cmd, no_overrun)
{
	union args args = valid_args(_metadata, self, variant->request);
	unsigned char *at = self->guarded + self->page - variant->size;

	memcpy(at, &args, variant->size);
	EXPECT_EQ(0, call(self->fd, variant->request, at));
}

/* ...nor is one whose tail is out of reach taken for complete. */
TEST_F(cmd, tail_out_of_reach)
{
	union args args = valid_args(_metadata, self, variant->request);
	unsigned char *at = self->guarded + self->page - variant->size;

	args.size += 8;
	memcpy(at, &args, variant->size);
	EXPECT_EQ(-EFAULT, call(self->fd, variant->request, at));
}

TEST_F(cmd, bad_pointer)
{
	unsigned char *end = self->guarded + self->page;
	union args args = valid_args(_metadata, self, variant->request);

	EXPECT_EQ(-EFAULT, call(self->fd, variant->request, NULL));
	EXPECT_EQ(-EFAULT, call(self->fd, variant->request, end));
	EXPECT_EQ(-EFAULT, call(self->fd, variant->request, end - 2));
	EXPECT_EQ(-EFAULT, call(self->fd, variant->request, (void *)-4096L));
	/* @size can be read, the rest cannot. */
	memcpy(end - 4, &args.size, 4);
	EXPECT_EQ(-EFAULT, call(self->fd, variant->request, end - 4));
}

static bool has_results(unsigned long request)
{
	return request != TDMA_IOC_BUF_FREE && request != TDMA_IOC_EVENTFD;
}

/*
 * Where results cannot be delivered, nothing happens: the same call works once
 * they can.
 */
TEST_F(cmd, result_not_writable)
{
	bool has_result = has_results(variant->request);
	union args args = valid_args(_metadata, self, variant->request);
	long pins = tdma_pins();

	memcpy(self->guarded, &args, variant->size);
	ASSERT_EQ(0, mprotect(self->guarded, self->page, PROT_READ));
	EXPECT_EQ(has_result ? -EFAULT : 0,
		  call(self->fd, variant->request, self->guarded));
	EXPECT_EQ(pins, tdma_pins_settle(pins));
	ASSERT_EQ(0, mprotect(self->guarded, self->page,
			      PROT_READ | PROT_WRITE));
	EXPECT_EQ(variant->request == TDMA_IOC_BUF_FREE ? -ENOENT : 0,
		  call(self->fd, variant->request, self->guarded));
}

/* The same for a structure whose last bytes alone cannot be written. */
TEST_F(cmd, result_partly_writable)
{
	bool has_result = has_results(variant->request);
	union args args = valid_args(_metadata, self, variant->request);
	long pins = tdma_pins();
	unsigned char *pages;
	void *user;

	pages = mmap(NULL, 2 * self->page, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, pages);
	user = pages + self->page - variant->size + 4;
	memcpy(user, &args, variant->size);
	ASSERT_EQ(0, mprotect(pages + self->page, self->page, PROT_READ));
	EXPECT_EQ(has_result ? -EFAULT : 0,
		  call(self->fd, variant->request, user));
	EXPECT_EQ(pins, tdma_pins_settle(pins));
	ASSERT_EQ(0, mprotect(pages + self->page, self->page,
			      PROT_READ | PROT_WRITE));
	EXPECT_EQ(variant->request == TDMA_IOC_BUF_FREE ? -ENOENT : 0,
		  call(self->fd, variant->request, user));
}

/*
 * Members of each structure
 */
FIXTURE(uapi)
{
	int fd;
	size_t page;
	unsigned char *data;
	struct tdma_query caps;
	struct tdma_desc nop;
};

FIXTURE_SETUP(uapi)
{
	self->page = tdma_page_size();
	self->fd = tdma_open(0);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, tdma_query(self->fd, &self->caps));
	self->data = mmap(NULL, self->page, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->data);
	self->nop.version = TDMA_DESC_VERSION;
	self->nop.opcode = TDMA_OP_NOP;
}

FIXTURE_TEARDOWN(uapi)
{
	close(self->fd);
}

TEST_F(uapi, unknown_ioctl)
{
	union args args = { .size = sizeof(struct tdma_query) };

	for (unsigned int nr = _IOC_NR(TDMA_IOC_QUEUE_STATUS) + 1; nr < 256; nr++) {
		EXPECT_EQ(-ENOTTY,
			  call(self->fd, _IOWR(TDMA_IOC_MAGIC, nr,
					       struct tdma_query), &args));
	}
	EXPECT_EQ(-ENOTTY, call(self->fd, _IOWR('T', 0, struct tdma_query),
				&args));
}

TEST_F(uapi, query)
{
	struct tdma_query q;

	memset(&q, 0xff, sizeof(q));
	q.size = sizeof(q);
	ASSERT_EQ(0, call(self->fd, TDMA_IOC_QUERY, &q));
	EXPECT_EQ(sizeof(q), q.size);
	EXPECT_EQ(TDMA_UAPI_VERSION, q.uapi_version);
	EXPECT_EQ(TDMA_MAX_DIMS, q.max_dims);
	EXPECT_LE(1, q.queue_dims);
	EXPECT_GE(TDMA_MAX_DIMS, q.queue_dims);
	EXPECT_EQ(TDMA_MAX_ELEM_BYTES, q.max_elem_bytes);
	EXPECT_LE(1, q.max_jobs);
	EXPECT_TRUE(q.opcodes & 1U << TDMA_OP_COPY);
	EXPECT_TRUE(q.opcodes & 1U << TDMA_OP_MEMSET);
	EXPECT_LE(1, q.threads);
	EXPECT_GE(TDMA_MAX_THREADS, q.threads);
	EXPECT_LE(1, q.lanes);
	EXPECT_LE(1, q.request_ids);
	EXPECT_LE(2, q.max_buffers);
	EXPECT_LE(4096, q.hbm_bytes);
	EXPECT_GT(1U << 31, q.reset_generation);
}

TEST_F(uapi, pin_flags)
{
	__u32 handle;

	EXPECT_EQ(-EINVAL, tdma_pin(self->fd, self->data, 1, 0, &handle));
	for (int bit = 2; bit < 32; bit++) {
		EXPECT_EQ(-EINVAL, tdma_pin(self->fd, self->data, 1,
					    TDMA_BUF_READ | 1U << bit,
					    &handle))
			TH_LOG("bit %d", bit);
	}
}

TEST_F(uapi, pin_reserved)
{
	struct tdma_buf_pin pin = {
		.size = sizeof(pin),
		.flags = TDMA_BUF_READ,
		.addr = (uintptr_t)self->data,
		.length = 1,
	};

	for (int bit = 0; bit < 32; bit++) {
		pin.reserved = 1U << bit;
		EXPECT_EQ(-EINVAL, call(self->fd, TDMA_IOC_BUF_PIN, &pin));
	}
}

TEST_F(uapi, pin_zero_length)
{
	__u32 handle;

	EXPECT_EQ(-EINVAL, tdma_pin(self->fd, self->data, 0, TDMA_BUF_READ,
				    &handle));
}

TEST_F(uapi, alloc_space)
{
	static const __u32 bad[] = { 0, 3, 4, 1U << 31, UINT_MAX };
	__u64 offset;
	__u32 handle;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		EXPECT_EQ(-EINVAL, tdma_alloc(self->fd, bad[i], 1, &handle,
					      &offset));
	}
	EXPECT_EQ(-EINVAL, tdma_alloc(self->fd, TDMA_ALLOC_HBM, 0, &handle,
				      &offset));
	EXPECT_EQ(-EINVAL, tdma_alloc(self->fd, TDMA_ALLOC_HOST, 0, &handle,
				      &offset));
}

TEST_F(uapi, alloc_reserved)
{
	struct tdma_buf_alloc alloc = {
		.size = sizeof(alloc),
		.space = TDMA_ALLOC_HBM,
		.length = 1,
		.reserved = 1,
	};

	EXPECT_EQ(-EINVAL, call(self->fd, TDMA_IOC_BUF_ALLOC, &alloc));
}

TEST_F(uapi, alloc_too_much)
{
	__u64 offset;
	__u32 handle;

	EXPECT_EQ(-ENOSPC, tdma_alloc(self->fd, TDMA_ALLOC_HBM,
				      self->caps.hbm_bytes + 1, &handle,
				      &offset));
	EXPECT_NE(0, tdma_alloc(self->fd, TDMA_ALLOC_HBM, ~0ULL, &handle,
				&offset));
	EXPECT_NE(0, tdma_alloc(self->fd, TDMA_ALLOC_HOST, ~0ULL, &handle,
				&offset));
	EXPECT_NE(0, tdma_alloc(self->fd, TDMA_ALLOC_HOST, 1ULL << 62, &handle,
				&offset));
	/* All of it is still there. */
	EXPECT_EQ(0, tdma_alloc(self->fd, TDMA_ALLOC_HBM, self->page, &handle,
				&offset));
}

TEST_F(uapi, alloc_is_zeroed)
{
	struct tdma_buf buf;

	/* Memory that somebody has written to comes back clean. */
	for (int kind = TDMA_MEM_HOST; kind <= TDMA_MEM_HBM; kind++) {
		for (int i = 0; i < 3; i++) {
			ASSERT_EQ(0, tdma_buf_create(&buf, self->fd, kind,
						     4 * self->page));
			EXPECT_IMAGE(&buf);
			memset(buf.mem, 0xa5, buf.len);
			tdma_buf_destroy(&buf, self->fd);
		}
	}
}

TEST_F(uapi, submit_flags)
{
	struct tdma_submit submit = {
		.size = sizeof(submit),
		.descs = (uintptr_t)&self->nop,
		.count = 1,
		.stride = sizeof(self->nop),
	};

	for (int bit = 3; bit < 32; bit++) {
		submit.flags = 1U << bit;
		EXPECT_EQ(-EINVAL, call(self->fd, TDMA_IOC_SUBMIT, &submit))
			TH_LOG("bit %d", bit);
	}
}

TEST_F(uapi, submit_array)
{
	struct tdma_submit submit = {
		.size = sizeof(submit),
		.descs = (uintptr_t)&self->nop,
		.count = 0,
		.stride = sizeof(self->nop),
	};

	EXPECT_EQ(-EINVAL, call(self->fd, TDMA_IOC_SUBMIT, &submit));
	submit.count = 1;
	for (submit.stride = 0; submit.stride < 256; submit.stride += 15)
		EXPECT_EQ(-EINVAL, call(self->fd, TDMA_IOC_SUBMIT, &submit));
	submit.stride = sizeof(self->nop);
	submit.descs = 0;
	EXPECT_EQ(-EFAULT, call(self->fd, TDMA_IOC_SUBMIT, &submit));
	submit.descs = -256ULL;
	EXPECT_EQ(-EFAULT, call(self->fd, TDMA_IOC_SUBMIT, &submit));
}

/* Descriptors of a newer program: known part first, the rest zero. */
TEST_F(uapi, submit_stride)
{
	unsigned char descs[2][264] = {};
	struct tdma_submit submit = {
		.size = sizeof(submit),
		.descs = (uintptr_t)descs,
		.count = 2,
		.stride = sizeof(descs[0]),
	};

	memcpy(descs[0], &self->nop, sizeof(self->nop));
	memcpy(descs[1], &self->nop, sizeof(self->nop));
	EXPECT_EQ(0, call(self->fd, TDMA_IOC_SUBMIT, &submit));
	EXPECT_EQ(2, submit.accepted);
	for (int i = 256; i < 264; i++) {
		descs[0][i] = 1;
		EXPECT_EQ(-E2BIG, call(self->fd, TDMA_IOC_SUBMIT, &submit));
		descs[0][i] = 0;
	}
}

/* The array may end where its mapping ends. */
TEST_F(uapi, submit_no_overrun)
{
	unsigned char *two;
	struct tdma_submit report;

	two = mmap(NULL, 2 * self->page, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, two);
	ASSERT_EQ(0, mprotect(two + self->page, self->page, PROT_NONE));
	memcpy(two + self->page - sizeof(self->nop), &self->nop,
	       sizeof(self->nop));
	EXPECT_EQ(0, tdma_submit(self->fd,
				 two + self->page - sizeof(self->nop), 1,
				 &report));
	EXPECT_EQ(1, report.accepted);
	EXPECT_EQ(-EFAULT, tdma_submit(self->fd, two + self->page - 8, 1,
				       &report));
	EXPECT_EQ(0, report.accepted);
}

TEST_F(uapi, submit_results)
{
	struct tdma_submit submit;

	memset(&submit, 0xff, sizeof(submit));
	submit.size = sizeof(submit);
	submit.flags = 0;
	submit.descs = (uintptr_t)&self->nop;
	submit.count = 1;
	submit.stride = sizeof(self->nop);
	submit.in_fence = 0;
	submit.out_fence = 5;
	ASSERT_EQ(0, call(self->fd, TDMA_IOC_SUBMIT, &submit));
	EXPECT_EQ(-1, submit.out_fence);
	EXPECT_EQ(1, submit.accepted);
	EXPECT_EQ(1, submit.first_job);
	EXPECT_EQ(0, submit.error_status);
	EXPECT_EQ(0, submit.error_index);
	EXPECT_EQ(0, submit.error_field);
	EXPECT_EQ(0, submit.error_side);
}

TEST_F(uapi, wait_flags)
{
	struct tdma_wait wait = { .size = sizeof(wait) };

	for (int bit = 2; bit < 32; bit++) {
		wait.flags = 1U << bit;
		EXPECT_EQ(-EINVAL, call(self->fd, TDMA_IOC_WAIT, &wait))
			TH_LOG("bit %d", bit);
	}
	wait.flags = TDMA_WAIT_ANY;
	wait.job = 1;
	EXPECT_EQ(-EINVAL, call(self->fd, TDMA_IOC_WAIT, &wait));
}

TEST_F(uapi, wait_results)
{
	struct tdma_submit report;
	struct tdma_wait wait;

	self->nop.tag = 0x1122334455667788ULL;
	ASSERT_EQ(0, tdma_submit(self->fd, &self->nop, 1, &report));
	memset(&wait, 0xff, sizeof(wait));
	wait.size = sizeof(wait);
	wait.flags = 0;
	wait.job = report.first_job;
	wait.deadline_ns = tdma_patience();
	wait.min_src_done = 0;
	wait.min_dst_done = 0;
	ASSERT_EQ(0, call(self->fd, TDMA_IOC_WAIT, &wait));
	EXPECT_EQ(report.first_job, wait.job);
	EXPECT_EQ(self->nop.tag, wait.record.tag);
	EXPECT_EQ(TDMA_STATUS_OK, wait.record.status);
	EXPECT_EQ(0, wait.record.src_done);
	EXPECT_EQ(0, wait.record.dst_done);
	EXPECT_EQ(0, wait.record.fault_offset);
	EXPECT_EQ(0, wait.record.fault_field);
	EXPECT_EQ(TDMA_SIDE_NONE, wait.record.fault_side);
}

TEST_F(uapi, unknown_handle)
{
	static const __u32 bad[] = { 0x7fffffff, 0x80000000, UINT_MAX };
	struct tdma_record rec;
	struct tdma_desc d;
	__u64 offset;
	__u32 handle;

	ASSERT_EQ(0, tdma_alloc(self->fd, TDMA_ALLOC_HBM, 1, &handle,
				&offset));
	EXPECT_EQ(-ENOENT, tdma_free(self->fd, handle + 1));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		EXPECT_EQ(-ENOENT, tdma_free(self->fd, bad[i]));
		d = tdma_desc_copy(bad[i], handle, 1);
		EXPECT_EQ(-ENOENT, tdma_submit(self->fd, &d, 1, NULL));
		EXPECT_EQ(-ENOENT, tdma_wait(self->fd, bad[i], 0, &rec));
	}
	EXPECT_EQ(-ENOENT, tdma_wait(self->fd, 0, 0, &rec));
	EXPECT_EQ(-ENOENT, tdma_wait(self->fd, ~0ULL, 0, &rec));
	EXPECT_EQ(0, tdma_free(self->fd, handle));
	EXPECT_EQ(-ENOENT, tdma_free(self->fd, handle));
	d = tdma_desc_copy(handle, handle, 1);
	EXPECT_EQ(-ENOENT, tdma_submit(self->fd, &d, 1, NULL));
}

/* Handles and jobs belong to the open file. */
TEST_F(uapi, foreign_handle)
{
	struct tdma_submit report;
	struct tdma_record rec;
	struct tdma_desc d;
	__u64 offset;
	__u32 handle;
	int other = tdma_open(0);

	ASSERT_LE(0, other);
	ASSERT_EQ(0, tdma_alloc(self->fd, TDMA_ALLOC_HBM, 1, &handle,
				&offset));
	EXPECT_EQ(-ENOENT, tdma_free(other, handle));
	d = tdma_desc_copy(handle, handle, 1);
	EXPECT_EQ(-ENOENT, tdma_submit(other, &d, 1, NULL));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, self->page, PROT_READ, MAP_SHARED,
				   other, offset));
	ASSERT_EQ(0, tdma_submit(self->fd, &d, 1, &report));
	EXPECT_EQ(-ENOENT, tdma_wait(other, report.first_job, 0, &rec));
	EXPECT_EQ(0, tdma_wait(self->fd, report.first_job, tdma_patience(),
			       &rec));
	close(other);
}

TEST_F(uapi, mmap_bounds)
{
	__u64 offset;
	__u32 handle;
	void *mem;

	ASSERT_EQ(0, tdma_alloc(self->fd, TDMA_ALLOC_HBM, 2 * self->page,
				&handle, &offset));
	mem = mmap(NULL, 2 * self->page, PROT_READ | PROT_WRITE, MAP_SHARED,
		   self->fd, offset);
	EXPECT_NE(MAP_FAILED, mem);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 3 * self->page, PROT_READ, MAP_SHARED,
				   self->fd, offset));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, self->page, PROT_READ, MAP_SHARED,
				   self->fd, offset + 64 * self->page));
	EXPECT_EQ(0, tdma_free(self->fd, handle));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, self->page, PROT_READ, MAP_SHARED,
				   self->fd, offset));
	/* The mapping outlives the handle. */
	memset(mem, 1, 2 * self->page);
}

TDMA_HARNESS_MAIN
