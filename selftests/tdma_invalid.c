// SPDX-License-Identifier: GPL-2.0
/*
 * tensordma selftests: one wrong field at a time. Each is refused with its
 * documented error, the report names the field, dimension and side, nothing is
 * moved, and the next job is not disturbed.
 */
#include <limits.h>
#include <sys/mman.h>

#include "tdma_harness.h"
#include "tdma_random.h"
#include "tdma_ref.h"

#define BUF_BYTES	4096
#define EXT_AT		sizeof(struct tdma_desc)
#define NO_SUCH_BUFFER	0x7ffffff0

/* A valid descriptor, in which one field is spoiled. */
enum base {
	NOP,		/* nothing set */
	COPY,		/* 5 x 4 x 3 elements of 4 bytes, dense */
	MEMSET,		/* the same, pattern of 4 bytes */
	READ,		/* the same, without destination */
	RECORD,		/* COPY with a record at offset 64 of the destination */
	TOTAL,		/* COPY of 50 elements, outermost bound implied */
	PADDED,		/* COPY with one axis per side */
};

FIXTURE(invalid)
{
	int fd;
	struct tdma_query caps;
	struct tdma_buf src;
	struct tdma_buf dst;
	__u32 read_only;
	__u32 write_only;
};

FIXTURE_SETUP(invalid)
{
	struct tdma_rng rng = {};
	unsigned char *mem;

	self->fd = tdma_open(0);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, tdma_query(self->fd, &self->caps));
	ASSERT_EQ(0, tdma_buf_create(&self->src, self->fd, TDMA_MEM_USER,
				     BUF_BYTES));
	ASSERT_EQ(0, tdma_buf_create(&self->dst, self->fd, TDMA_MEM_USER,
				     BUF_BYTES));
	tdma_rand_fill(&rng, &self->src);
	tdma_rand_fill(&rng, &self->dst);
	mem = mmap(NULL, BUF_BYTES, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, mem);
	ASSERT_EQ(0, tdma_pin(self->fd, mem, BUF_BYTES, TDMA_BUF_READ,
			      &self->read_only));
	ASSERT_EQ(0, tdma_pin(self->fd, mem, BUF_BYTES, TDMA_BUF_WRITE,
			      &self->write_only));
}

FIXTURE_TEARDOWN(invalid)
{
	close(self->fd);
}

static struct tdma_desc dense(struct tdma_desc d)
{
	static const __u32 steps[] = { 5, 4, 3 };
	__s64 pitch = 4;

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		tdma_dim(&d, steps[i], d.opcode == TDMA_OP_MEMSET ? 0 : pitch,
			 d.opcode == TDMA_OP_READ ? 0 : pitch);
		pitch *= steps[i];
	}
	return d;
}

static struct tdma_desc copy_desc(FIXTURE_DATA(invalid) *self)
{
	return dense(tdma_desc_copy(self->src.handle, self->dst.handle, 4));
}

static void pad(union tdma_slot *slots)
{
	struct tdma_desc_ext *ext = &slots[1].ext;

	slots[0].desc.flags = TDMA_DESC_EXT;
	ext->version = TDMA_DESC_VERSION;
	ext->naxes = 2;
	ext->fill_bytes = 4;
	ext->axis_side[1] = 1;
	ext->src_axis[0] = 1;
	ext->src_coef[0] = 1;
	ext->dst_axis[1] = 2;
	ext->dst_coef[1] = -1;
	ext->axis_start[1] = 3;
	ext->axis_extent[0] = 4;
	ext->axis_extent[1] = 4;
}

static void make_base(FIXTURE_DATA(invalid) *self, enum base base,
		      union tdma_slot *slots)
{
	struct tdma_desc *d = &slots[0].desc;

	memset(slots, 0, 2 * sizeof(*slots));
	*d = copy_desc(self);
	switch (base) {
	case NOP:
		memset(d, 0, sizeof(*d));
		d->version = TDMA_DESC_VERSION;
		break;
	case MEMSET:
		*d = dense(tdma_desc_memset(self->dst.handle, 4, "abcd", 4));
		break;
	case READ:
		d->opcode = TDMA_OP_READ;
		d->dst_segment = 0;
		memset(d->dst_stride, 0, sizeof(d->dst_stride));
		break;
	case RECORD:
		d->flags = TDMA_DESC_RECORD;
		d->record_segment = self->dst.handle;
		d->record_offset = 1024;
		break;
	case TOTAL:
		d->flags = TDMA_DESC_TOTAL;
		d->total = 50;
		d->steps[2] = 0;
		break;
	case PADDED:
		pad(slots);
		break;
	case COPY:
		break;
	}
}

/* What TDMA_IOC_SUBMIT must say. */
struct refusal {
	int error;
	__u32 status;
	__u16 field;
	__u8 dim;
	__u8 side;
};

static void expect_refused(struct __test_metadata *_metadata,
			   FIXTURE_DATA(invalid) *self,
			   const union tdma_slot *slots,
			   const struct refusal *wanted)
{
	__u32 count = slots[0].desc.flags & TDMA_DESC_EXT ? 2 : 1;
	struct tdma_submit report;

	EXPECT_EQ(wanted->error, tdma_submit(self->fd, slots, count, &report));
	EXPECT_EQ(0, report.accepted);
	EXPECT_EQ(0, report.error_index);
	EXPECT_EQ(wanted->status, report.error_status);
	EXPECT_EQ(wanted->field, report.error_field);
	EXPECT_EQ(wanted->dim, report.error_dim);
	EXPECT_EQ(wanted->side, report.error_side);
}

/* Nothing has changed, and a good job still does what it should. */
static void expect_undisturbed(struct __test_metadata *_metadata,
			       FIXTURE_DATA(invalid) *self)
{
	union tdma_slot slot = { .desc = copy_desc(self) };

	EXPECT_IMAGE(&self->src);
	EXPECT_IMAGE(&self->dst);
	slot.desc.dst_offset = 333;
	EXPECT_RUN(TDMA_STATUS_OK, self->fd, &slot);
	tdma_ref_run(&slot.desc, NULL, self->src.image, self->dst.image);
	EXPECT_IMAGE(&self->dst);
}

static bool lacks_base(const struct tdma_query *caps, enum base base)
{
	if (base == PADDED)
		return !(caps->features & TDMA_FEATURE_EXT);
	return base == READ && !(caps->opcodes & 1U << TDMA_OP_READ);
}

/*
 * One field of a valid descriptor
 */
FIXTURE(field)
{
	FIXTURE_DATA(invalid) common;
};

FIXTURE_VARIANT(field)
{
	enum base base;
	__u16 at;
	__u8 bytes;
	__u64 value;
	struct refusal refusal;
};

FIXTURE_SETUP(field)
{
	invalid_setup(_metadata, &self->common, NULL);
}

FIXTURE_TEARDOWN(field)
{
	close(self->common.fd);
}

#define CASE(name) FIXTURE_VARIANT_ADD(field, name)

/*
 * The field and its bad value, the errno and the report. The field at fault is
 * the one that was spoiled.
 */
#define FIELD(base_, type_, origin_, member_, value_, error_, status_,	\
	      dim_, side_)						\
	.base = base_,							\
	.at = (origin_) + offsetof(struct type_, member_),		\
	.bytes = sizeof(((struct type_ *)0)->member_),			\
	.value = (value_),						\
	.refusal = {							\
		.error = error_,					\
		.status = TDMA_STATUS_##status_,			\
		.field = (origin_) + offsetof(struct type_, member_),	\
		.dim = dim_,						\
		.side = TDMA_SIDE_##side_,				\
	}

/* A field of the descriptor; of one dimension; of the extension block */
#define BAD(base, member, value, status, side)				\
	FIELD(base, tdma_desc, 0, member, value, -EINVAL, BAD_##status,	\
	      TDMA_DIM_NONE, side)
#define BAD_DIM(base, member, dim, value, status, side)			\
	FIELD(base, tdma_desc, 0, member[dim], value, -EINVAL,		\
	      BAD_##status, dim, side)
#define BAD_EXT(member, value, status, side)				\
	FIELD(PADDED, tdma_desc_ext, EXT_AT, member, value, -EINVAL,	\
	      BAD_##status, TDMA_DIM_NONE, side)
#define BAD_EXT_DIM(member, dim, value, side)				\
	FIELD(PADDED, tdma_desc_ext, EXT_AT, member[dim], value,	\
	      -EINVAL, BAD_AXIS, dim, side)
#define NO_BUFFER(base, member, side)					\
	FIELD(base, tdma_desc, 0, member, NO_SUCH_BUFFER, -ENOENT,	\
	      BAD_SEGMENT, TDMA_DIM_NONE, side)

CASE(version_0) { BAD(COPY, version, 0, VERSION, NONE) };
CASE(version_2) { BAD(COPY, version, 2, VERSION, NONE) };
CASE(version_255) { BAD(COPY, version, 255, VERSION, NONE) };
CASE(opcode_5) { BAD(COPY, opcode, 5, OPCODE, NONE) };
CASE(opcode_255) { BAD(COPY, opcode, 255, OPCODE, NONE) };
CASE(ndims_9) { BAD(COPY, ndims, 9, NDIMS, NONE) };
CASE(ndims_255) { BAD(COPY, ndims, 255, NDIMS, NONE) };
CASE(copy_type) { BAD(COPY, type, 1, TYPE, NONE) };
CASE(read_type) { BAD(READ, type, 1, TYPE, NONE) };
CASE(nop_type) { BAD(NOP, type, 1, TYPE, NONE) };
CASE(memset_type_0) { BAD(MEMSET, type, 0, TYPE, NONE) };
CASE(memset_type_3) { BAD(MEMSET, type, 3, TYPE, NONE) };
CASE(memset_type_8) { BAD(MEMSET, type, 8, TYPE, NONE) };
CASE(memset_type_17) { BAD(MEMSET, type, 17, TYPE, NONE) };
CASE(elem_0) { BAD(COPY, elem_bytes, 0, ELEM, NONE) };
CASE(elem_65537) { BAD(COPY, elem_bytes, 65537, ELEM, NONE) };
CASE(elem_max) { BAD(COPY, elem_bytes, UINT_MAX, ELEM, NONE) };

CASE(flags_nop_total) { BAD(NOP, flags, TDMA_DESC_TOTAL, FLAGS, NONE) };
CASE(flags_nop_sync_irq) { BAD(NOP, flags, TDMA_DESC_SYNC_IRQ, FLAGS, NONE) };

CASE(flags_nop_src_mille) {
	BAD(NOP, flags, TDMA_DESC_SRC_PER_MILLE, FLAGS, NONE)
};

CASE(flags_nop_dst_mille) {
	BAD(NOP, flags, TDMA_DESC_DST_PER_MILLE, FLAGS, NONE)
};

CASE(flags_nop_src_flag) {
	BAD(NOP, flags, TDMA_DESC_SRC_SYNC_FLAG, FLAGS, NONE)
};

CASE(flags_nop_dst_flag) {
	BAD(NOP, flags, TDMA_DESC_DST_SYNC_FLAG, FLAGS, NONE)
};

CASE(flags_memset_src_mille) {
	BAD(MEMSET, flags, TDMA_DESC_SRC_PER_MILLE, FLAGS, NONE)
};

CASE(flags_memset_src_flag) {
	BAD(MEMSET, flags, TDMA_DESC_SRC_SYNC_FLAG, FLAGS, NONE)
};

CASE(flags_read_dst_mille) {
	BAD(READ, flags, TDMA_DESC_DST_PER_MILLE, FLAGS, NONE)
};

CASE(flags_read_dst_flag) {
	BAD(READ, flags, TDMA_DESC_DST_SYNC_FLAG, FLAGS, NONE)
};

CASE(nop_ndims) { BAD(NOP, ndims, 1, RESERVED, NONE) };
CASE(nop_elem) { BAD(NOP, elem_bytes, 4, RESERVED, NONE) };
CASE(nop_total) { BAD(NOP, total, 1, RESERVED, NONE) };
CASE(nop_fill) { BAD(NOP, fill[0], 1, RESERVED, NONE) };
CASE(nop_src_segment) { BAD(NOP, src_segment, 1, RESERVED, SRC) };
CASE(nop_src_offset) { BAD(NOP, src_offset, 1, RESERVED, SRC) };
CASE(nop_src_interval) { BAD(NOP, src_sync_interval, 1, RESERVED, SRC) };
CASE(nop_src_flag) { BAD(NOP, src_sync_flag, 1, RESERVED, SRC) };
CASE(nop_dst_segment) { BAD(NOP, dst_segment, 1, RESERVED, DST) };
CASE(nop_dst_offset) { BAD(NOP, dst_offset, 1, RESERVED, DST) };
CASE(nop_dst_interval) { BAD(NOP, dst_sync_interval, 1, RESERVED, DST) };
CASE(nop_dst_flag) { BAD(NOP, dst_sync_flag, 1, RESERVED, DST) };
CASE(nop_steps) { BAD_DIM(NOP, steps, 0, 1, RESERVED, NONE) };
CASE(nop_src_stride) { BAD_DIM(NOP, src_stride, 0, 1, RESERVED, SRC) };
CASE(nop_dst_stride) { BAD_DIM(NOP, dst_stride, 7, 1, RESERVED, DST) };
CASE(memset_src_segment) { BAD(MEMSET, src_segment, 1, RESERVED, SRC) };
CASE(memset_src_offset) { BAD(MEMSET, src_offset, 1, RESERVED, SRC) };
CASE(memset_src_interval) { BAD(MEMSET, src_sync_interval, 1, RESERVED, SRC) };
CASE(memset_src_stride) { BAD_DIM(MEMSET, src_stride, 1, 4, RESERVED, SRC) };
CASE(read_dst_segment) { BAD(READ, dst_segment, 1, RESERVED, DST) };
CASE(read_dst_offset) { BAD(READ, dst_offset, 1, RESERVED, DST) };
CASE(read_dst_interval) { BAD(READ, dst_sync_interval, 1, RESERVED, DST) };
CASE(read_dst_stride) { BAD_DIM(READ, dst_stride, 1, 4, RESERVED, DST) };
CASE(copy_record_segment) { BAD(COPY, record_segment, 1, RESERVED, NONE) };
CASE(copy_record_offset) { BAD(COPY, record_offset, 64, RESERVED, NONE) };
CASE(copy_total) { BAD(COPY, total, 60, RESERVED, NONE) };
CASE(copy_fill) { BAD(COPY, fill, 1, RESERVED, NONE) };
CASE(copy_src_flag) { BAD(COPY, src_sync_flag, 1, RESERVED, SRC) };
CASE(copy_dst_flag) { BAD(COPY, dst_sync_flag, 1, RESERVED, DST) };
CASE(steps_3) { BAD_DIM(COPY, steps, 3, 1, RESERVED, NONE) };
CASE(steps_7) { BAD_DIM(COPY, steps, 7, UINT_MAX, RESERVED, NONE) };
CASE(src_stride_3) { BAD_DIM(COPY, src_stride, 3, 4, RESERVED, SRC) };
CASE(src_stride_7) { BAD_DIM(COPY, src_stride, 7, LLONG_MIN, RESERVED, SRC) };
CASE(dst_stride_3) { BAD_DIM(COPY, dst_stride, 3, 4, RESERVED, DST) };
CASE(dst_stride_7) { BAD_DIM(COPY, dst_stride, 7, ~0ULL, RESERVED, DST) };
CASE(total_steps) { BAD_DIM(TOTAL, steps, 2, 3, RESERVED, NONE) };

CASE(total_too_long) { BAD(TOTAL, total, 20ULL * INT_MAX + 1, TOTAL, NONE) };
CASE(total_2_63) { BAD(TOTAL, total, (1ULL << 63) + 1, TOTAL, NONE) };
CASE(total_max) { BAD(TOTAL, total, ~0ULL, TOTAL, NONE) };

CASE(record_unaligned_1) { BAD(RECORD, record_offset, 1025, ALIGN, RECORD) };

CASE(record_unaligned_32) {
	BAD(RECORD, record_offset, 1024 + 32, ALIGN, RECORD)
};

CASE(record_past_end) { BAD(RECORD, record_offset, BUF_BYTES, EXTENT, RECORD) };

CASE(record_past_2_63) {
	BAD(RECORD, record_offset, 1ULL << 63, EXTENT, RECORD)
};

CASE(record_past_2_64) { BAD(RECORD, record_offset, -64ULL, EXTENT, RECORD) };

CASE(src_offset_one_past) { BAD(COPY, src_offset, BUF_BYTES - 3, EXTENT, SRC) };
CASE(src_offset_end) { BAD(COPY, src_offset, BUF_BYTES, EXTENT, SRC) };
CASE(src_offset_2_63) { BAD(COPY, src_offset, 1ULL << 63, EXTENT, SRC) };
CASE(src_offset_max) { BAD(COPY, src_offset, ~0ULL, EXTENT, SRC) };
CASE(dst_offset_one_past) { BAD(COPY, dst_offset, BUF_BYTES - 3, EXTENT, DST) };
CASE(dst_offset_end) { BAD(COPY, dst_offset, BUF_BYTES, EXTENT, DST) };
CASE(dst_offset_2_63) { BAD(COPY, dst_offset, 1ULL << 63, EXTENT, DST) };
CASE(dst_offset_max) { BAD(COPY, dst_offset, ~0ULL, EXTENT, DST) };
CASE(memset_offset_end) { BAD(MEMSET, dst_offset, BUF_BYTES - 3, EXTENT, DST) };
CASE(read_offset_end) { BAD(READ, src_offset, BUF_BYTES - 3, EXTENT, SRC) };
CASE(src_stride_below) { BAD_DIM(COPY, src_stride, 0, -1ULL, EXTENT, SRC) };
CASE(src_stride_min) { BAD_DIM(COPY, src_stride, 1, LLONG_MIN, EXTENT, SRC) };
CASE(src_stride_max) { BAD_DIM(COPY, src_stride, 2, LLONG_MAX, EXTENT, SRC) };

CASE(src_stride_past) {
	BAD_DIM(COPY, src_stride, 0, BUF_BYTES / 4, EXTENT, SRC)
};

CASE(dst_stride_below) { BAD_DIM(COPY, dst_stride, 1, -1ULL, EXTENT, DST) };
CASE(dst_stride_min) { BAD_DIM(COPY, dst_stride, 0, LLONG_MIN, EXTENT, DST) };
CASE(dst_stride_max) { BAD_DIM(COPY, dst_stride, 2, LLONG_MAX, EXTENT, DST) };

CASE(dst_stride_past) {
	BAD_DIM(COPY, dst_stride, 2, BUF_BYTES / 2, EXTENT, DST)
};

CASE(no_source) { NO_BUFFER(COPY, src_segment, SRC) };
CASE(no_destination) { NO_BUFFER(COPY, dst_segment, DST) };
CASE(no_record) { NO_BUFFER(RECORD, record_segment, RECORD) };
CASE(memset_no_destination) { NO_BUFFER(MEMSET, dst_segment, DST) };
CASE(read_no_source) { NO_BUFFER(READ, src_segment, SRC) };

CASE(ext_version_0) { BAD_EXT(version, 0, VERSION, NONE) };
CASE(ext_version_2) { BAD_EXT(version, 2, VERSION, NONE) };
CASE(ext_naxes_0) { BAD_EXT(naxes, 0, AXIS, NONE) };
CASE(ext_naxes_9) { BAD_EXT(naxes, 9, AXIS, NONE) };
CASE(ext_fill_0) { BAD_EXT(fill_bytes, 0, TYPE, NONE) };
CASE(ext_fill_3) { BAD_EXT(fill_bytes, 3, TYPE, NONE) };
CASE(ext_fill_17) { BAD_EXT(fill_bytes, 17, TYPE, NONE) };
CASE(ext_reserved0) { BAD_EXT(reserved0, 1, RESERVED, NONE) };
CASE(ext_reserved1) { BAD_EXT(reserved1, 1, RESERVED, NONE) };
CASE(ext_side_2) { BAD_EXT(axis_side[0], 2, AXIS, NONE) };
CASE(ext_unused_side) { BAD_EXT(axis_side[2], 1, RESERVED, NONE) };
CASE(ext_unused_start) { BAD_EXT(axis_start[7], 1, RESERVED, NONE) };
CASE(ext_unused_extent) { BAD_EXT(axis_extent[5], 1, RESERVED, NONE) };
CASE(ext_extent_2_63) { BAD_EXT(axis_extent[0], 1ULL << 63, AXIS, SRC) };
CASE(ext_start_max) { BAD_EXT(axis_start[0], LLONG_MAX, AXIS, SRC) };
CASE(ext_start_min) { BAD_EXT(axis_start[1], LLONG_MIN, AXIS, DST) };
CASE(ext_src_axis_3) { BAD_EXT_DIM(src_axis, 0, 3, SRC) };
CASE(ext_src_axis_other) { BAD_EXT_DIM(src_axis, 1, 2, SRC) };
CASE(ext_dst_axis_other) { BAD_EXT_DIM(dst_axis, 0, 1, DST) };
CASE(ext_src_axis_no_dim) { BAD_EXT_DIM(src_axis, 3, 1, SRC) };
CASE(ext_src_coef_alone) { BAD_EXT_DIM(src_coef, 2, 1, SRC) };
CASE(ext_dst_coef_alone) { BAD_EXT_DIM(dst_coef, 7, 1, DST) };

TEST_F(field, refused)
{
	FIXTURE_DATA(invalid) *common = &self->common;
	union tdma_slot slots[2];
	size_t bytes = variant->bytes;

	if (lacks_base(&common->caps, variant->base))
		SKIP(return, "device lacks what the field belongs to");
	make_base(common, variant->base, slots);
	if (bytes > sizeof(variant->value))
		bytes = sizeof(variant->value);
	memcpy((char *)slots + variant->at, &variant->value, bytes);
	expect_refused(_metadata, common, slots, &variant->refusal);
	expect_undisturbed(_metadata, common);
}

/*
 * More than one field, or one that depends on the device
 */
static struct refusal refusal(int error, __u32 status, size_t field)
{
	return (struct refusal){
		.error = error,
		.status = status,
		.field = field,
		.dim = TDMA_DIM_NONE,
	};
}

#define REFUSAL(error, status, member) \
	refusal(error, TDMA_STATUS_##status, \
		offsetof(struct tdma_desc, member))

TEST_F(invalid, reserved_flags)
{
	struct refusal wanted = REFUSAL(-EINVAL, BAD_FLAGS, flags);
	union tdma_slot slots[2];

	for (int bit = 10; bit < 32; bit++) {
		make_base(self, COPY, slots);
		slots[0].desc.flags = 1U << bit;
		expect_refused(_metadata, self, slots, &wanted);
	}
	expect_undisturbed(_metadata, self);
}

TEST_F(invalid, fill_beyond_the_pattern)
{
	struct refusal wanted = REFUSAL(-EINVAL, BAD_RESERVED, fill);
	union tdma_slot slots[2];

	for (int i = 4; i < TDMA_MAX_FILL_BYTES; i++) {
		make_base(self, MEMSET, slots);
		slots[0].desc.fill[i] = 1;
		expect_refused(_metadata, self, slots, &wanted);
	}
	expect_undisturbed(_metadata, self);
}

TEST_F(invalid, extension_missing)
{
	struct refusal wanted = REFUSAL(-EINVAL, BAD_FLAGS, flags);
	struct tdma_submit report;
	union tdma_slot slots[2];

	SKIP_WITHOUT_FEATURE(&self->caps, TDMA_FEATURE_EXT);
	make_base(self, PADDED, slots);
	EXPECT_EQ(wanted.error, tdma_submit(self->fd, slots, 1, &report));
	EXPECT_EQ(wanted.status, report.error_status);
	EXPECT_EQ(wanted.field, report.error_field);
	expect_undisturbed(_metadata, self);
}

TEST_F(invalid, extension_reserved_bytes)
{
	struct refusal wanted;
	union tdma_slot slots[2];

	SKIP_WITHOUT_FEATURE(&self->caps, TDMA_FEATURE_EXT);
	wanted = refusal(-EINVAL, TDMA_STATUS_BAD_RESERVED,
			 EXT_AT + offsetof(struct tdma_desc_ext, reserved0));
	for (int i = 0; i < 5; i++) {
		make_base(self, PADDED, slots);
		slots[1].ext.reserved0[i] = 0x80;
		expect_refused(_metadata, self, slots, &wanted);
	}
	wanted.field = EXT_AT + offsetof(struct tdma_desc_ext, reserved1);
	for (int i = 0; i < 32; i++) {
		make_base(self, PADDED, slots);
		slots[1].ext.reserved1[i] = 0x80;
		expect_refused(_metadata, self, slots, &wanted);
	}
	expect_undisturbed(_metadata, self);
}

/* Known, but not on offer: a program can tell it from nonsense. */
TEST_F(invalid, opcode_not_offered)
{
	struct refusal wanted = REFUSAL(-EOPNOTSUPP, BAD_OPCODE, opcode);
	union tdma_slot slots[2];
	int missing = -1;

	for (int op = TDMA_OP_NOP; op <= TDMA_OP_READ; op++)
		if (!(self->caps.opcodes & 1U << op))
			missing = op;
	if (missing < 0)
		SKIP(return, "device offers every opcode");
	make_base(self, COPY, slots);
	slots[0].desc.opcode = missing;
	expect_refused(_metadata, self, slots, &wanted);
	expect_undisturbed(_metadata, self);
}

TEST_F(invalid, extension_not_offered)
{
	struct refusal wanted = REFUSAL(-EOPNOTSUPP, BAD_FLAGS, flags);
	union tdma_slot slots[2];

	if (self->caps.features & TDMA_FEATURE_EXT)
		SKIP(return, "device offers extension blocks");
	make_base(self, PADDED, slots);
	expect_refused(_metadata, self, slots, &wanted);
	expect_undisturbed(_metadata, self);
}

TEST_F(invalid, accumulate_type)
{
	struct refusal wanted = REFUSAL(-EINVAL, BAD_TYPE, type);
	static const __u8 bad[] = { 0, 6, 255 };
	union tdma_slot slots[2];

	SKIP_WITHOUT_OPCODE(&self->caps, TDMA_OP_ACCUMULATE);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		make_base(self, COPY, slots);
		slots[0].desc.opcode = TDMA_OP_ACCUMULATE;
		slots[0].desc.type = bad[i];
		expect_refused(_metadata, self, slots, &wanted);
	}
	expect_undisturbed(_metadata, self);
}

TEST_F(invalid, accumulate_element)
{
	struct refusal wanted = REFUSAL(-EINVAL, BAD_ELEM, elem_bytes);
	union tdma_slot slots[2];

	SKIP_WITHOUT_OPCODE(&self->caps, TDMA_OP_ACCUMULATE);
	for (int type = TDMA_TYPE_S16; type <= TDMA_TYPE_F32; type++) {
		if (!(self->caps.types & 1U << type))
			continue;
		make_base(self, COPY, slots);
		slots[0].desc.opcode = TDMA_OP_ACCUMULATE;
		slots[0].desc.type = type;
		slots[0].desc.elem_bytes = 3;
		expect_refused(_metadata, self, slots, &wanted);
	}
	expect_undisturbed(_metadata, self);
}

TEST_F(invalid, per_mille)
{
	static const __u32 bad[] = { 0, 1001, UINT_MAX };
	struct refusal wanted;
	union tdma_slot slots[2];
	struct tdma_desc *d = &slots[0].desc;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		wanted = REFUSAL(-EINVAL, BAD_SYNC, src_sync_interval);
		wanted.side = TDMA_SIDE_SRC;
		make_base(self, COPY, slots);
		d->flags = TDMA_DESC_SRC_PER_MILLE;
		d->src_sync_interval = bad[i];
		expect_refused(_metadata, self, slots, &wanted);
		wanted = REFUSAL(-EINVAL, BAD_SYNC, dst_sync_interval);
		wanted.side = TDMA_SIDE_DST;
		make_base(self, COPY, slots);
		d->flags = TDMA_DESC_DST_PER_MILLE;
		d->dst_sync_interval = bad[i];
		expect_refused(_metadata, self, slots, &wanted);
	}
	expect_undisturbed(_metadata, self);
}

TEST_F(invalid, per_mille_limits)
{
	union tdma_slot slots[2];
	struct tdma_desc *d = &slots[0].desc;

	for (__u32 i = 1; i <= 1000; i += 333) {
		make_base(self, COPY, slots);
		d->flags = TDMA_DESC_SRC_PER_MILLE | TDMA_DESC_DST_PER_MILLE;
		d->src_sync_interval = i;
		d->dst_sync_interval = 1001 - i;
		EXPECT_RUN(TDMA_STATUS_OK, self->fd, slots);
	}
}

/* 2^63 elements are countable (and lie outside), more are not. */
TEST_F(invalid, steps_product)
{
	union tdma_slot slots[2];
	struct tdma_desc *d = &slots[0].desc;
	struct refusal wanted = REFUSAL(-EINVAL, BAD_EXTENT, src_stride);

	wanted.dim = 0;
	wanted.side = TDMA_SIDE_SRC;
	make_base(self, COPY, slots);
	d->steps[0] = 1U << 31;
	d->steps[1] = 1U << 31;
	d->steps[2] = 2;
	expect_refused(_metadata, self, slots, &wanted);
	wanted = REFUSAL(-EOVERFLOW, BAD_STEPS, steps[2]);
	wanted.dim = 2;
	d->steps[2] = 3;
	expect_refused(_metadata, self, slots, &wanted);
	d->steps[0] = UINT_MAX;
	d->steps[1] = UINT_MAX;
	d->steps[2] = UINT_MAX;
	wanted = REFUSAL(-EOVERFLOW, BAD_STEPS, steps[1]);
	wanted.dim = 1;
	expect_refused(_metadata, self, slots, &wanted);
	expect_undisturbed(_metadata, self);
}

/* Sums that come back into the buffer after leaving 64 bits. */
TEST_F(invalid, extent_that_wraps)
{
	union tdma_slot slots[2];
	struct tdma_desc *d = &slots[0].desc;
	struct refusal wanted = REFUSAL(-EINVAL, BAD_EXTENT, dst_stride[0]);

	wanted.dim = 0;
	wanted.side = TDMA_SIDE_DST;
	make_base(self, COPY, slots);
	d->steps[0] = 3;
	d->dst_stride[0] = LLONG_MIN;	/* twice that is 2^64 */
	expect_refused(_metadata, self, slots, &wanted);
	d->steps[0] = 5;
	d->dst_stride[0] = 1LL << 62;	/* four times that is, too */
	expect_refused(_metadata, self, slots, &wanted);
	expect_undisturbed(_metadata, self);
}

TEST_F(invalid, permissions)
{
	union tdma_slot slots[2];
	struct tdma_desc *d = &slots[0].desc;
	struct refusal wanted = REFUSAL(-EACCES, BAD_ACCESS, dst_segment);

	wanted.side = TDMA_SIDE_DST;
	make_base(self, COPY, slots);
	d->dst_segment = self->read_only;
	expect_refused(_metadata, self, slots, &wanted);
	make_base(self, MEMSET, slots);
	d->dst_segment = self->read_only;
	expect_refused(_metadata, self, slots, &wanted);
	wanted = REFUSAL(-EACCES, BAD_ACCESS, src_segment);
	wanted.side = TDMA_SIDE_SRC;
	make_base(self, COPY, slots);
	d->src_segment = self->write_only;
	expect_refused(_metadata, self, slots, &wanted);
	wanted = REFUSAL(-EACCES, BAD_ACCESS, record_segment);
	wanted.side = TDMA_SIDE_RECORD;
	make_base(self, RECORD, slots);
	d->record_segment = self->read_only;
	expect_refused(_metadata, self, slots, &wanted);
	expect_undisturbed(_metadata, self);
}

/* Accumulating reads the destination. */
TEST_F(invalid, accumulate_permissions)
{
	union tdma_slot slots[2];
	struct tdma_desc *d = &slots[0].desc;
	struct refusal wanted = REFUSAL(-EACCES, BAD_ACCESS, dst_segment);

	SKIP_WITHOUT_OPCODE(&self->caps, TDMA_OP_ACCUMULATE);
	wanted.side = TDMA_SIDE_DST;
	make_base(self, COPY, slots);
	d->opcode = TDMA_OP_ACCUMULATE;
	d->type = TDMA_TYPE_S32;
	d->dst_segment = self->write_only;
	expect_refused(_metadata, self, slots, &wanted);
	expect_undisturbed(_metadata, self);
}

TEST_F(invalid, sync_flags)
{
	union tdma_slot slots[2];
	struct tdma_desc *d = &slots[0].desc;
	struct tdma_submit report;

	make_base(self, COPY, slots);
	d->flags = TDMA_DESC_DST_SYNC_FLAG;
	d->dst_sync_flag = UINT_MAX;
	/* Not on offer to user space yet, or out of range. */
	if (tdma_submit(self->fd, slots, 1, &report) == -EOPNOTSUPP) {
		EXPECT_EQ(TDMA_STATUS_BAD_FLAGS, report.error_status);
	} else {
		EXPECT_EQ(TDMA_STATUS_BAD_SYNC, report.error_status);
		EXPECT_EQ(offsetof(struct tdma_desc, dst_sync_flag),
			  report.error_field);
	}
	EXPECT_EQ(0, report.accepted);
	expect_undisturbed(_metadata, self);
}

/* Extents behind axes are known to the device alone: the job ends in error. */
TEST_F(invalid, padded_extent)
{
	struct tdma_record rec;
	union tdma_slot slots[2];

	SKIP_WITHOUT_FEATURE(&self->caps, TDMA_FEATURE_EXT);
	make_base(self, PADDED, slots);
	slots[0].desc.src_offset = BUF_BYTES - 200;
	slots[0].desc.tag = 5;
	rec = EXPECT_RUN(TDMA_STATUS_BAD_EXTENT, self->fd, slots);
	EXPECT_EQ(TDMA_SIDE_SRC, rec.fault_side);
	EXPECT_EQ(0, rec.src_done);
	EXPECT_EQ(0, rec.dst_done);
	EXPECT_EQ(5, rec.tag);
	expect_undisturbed(_metadata, self);
}

TDMA_HARNESS_MAIN
