/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * tensordma: the layouts that cross the bus.
 *
 * The tensor descriptor, its extension block, the completion record and the
 * segment table entry, as the device reads and writes them. Device model,
 * driver and user space include this one file; nothing here is repeated
 * elsewhere. All fields are little endian and naturally aligned, no structure
 * has a hole, and a version byte fixes each layout for good.
 *
 * Conventions, valid for every field below:
 *  - dimension 0 is the innermost; dimensions at or beyond @ndims must be zero;
 *  - strides are signed *bytes*; zero repeats, negative walks backwards;
 *  - addresses are (segment, byte offset); a segment is an index into the
 *    segment table of the context that owns the queue;
 *  - fields that an operation does not use must be zero.
 */
#ifndef _LINUX_TENSORDMA_DESC_H
#define _LINUX_TENSORDMA_DESC_H

#include <linux/types.h>

#define TDMA_DESC_VERSION	1
#define TDMA_MAX_DIMS		8
#define TDMA_MAX_AXES		8
#define TDMA_MAX_FILL_BYTES	16
/* Largest element, in bytes. */
#define TDMA_MAX_ELEM_BYTES	65536
/* Largest number of elements one descriptor may move: 2^63. */
#define TDMA_MAX_ELEMENTS	(1ULL << 63)
/* Sync intervals with TDMA_DESC_*_PER_MILLE range over 1..1000. */
#define TDMA_MAX_PER_MILLE	1000

/**
 * enum tdma_opcode - what a descriptor does with its elements (A7)
 * @TDMA_OP_NOP: nothing moves; completes in order. only @tag, the record and
 *	the interrupt and fence flags may be set
 * @TDMA_OP_COPY: destination element = source element
 * @TDMA_OP_MEMSET: destination element = @fill repeated; no source side
 * @TDMA_OP_ACCUMULATE: destination element += source element, in @type
 * @TDMA_OP_READ: source elements are read and dropped (prefetch, verify); no
 *	destination side
 */
enum tdma_opcode {
	TDMA_OP_NOP		= 0,
	TDMA_OP_COPY		= 1,
	TDMA_OP_MEMSET		= 2,
	TDMA_OP_ACCUMULATE	= 3,
	TDMA_OP_READ		= 4,
};

/**
 * enum tdma_type - number format of an accumulate; the element size must match
 * @TDMA_TYPE_NONE: not a number (every other opcode)
 * @TDMA_TYPE_S16: 16-bit two's complement, wraps
 * @TDMA_TYPE_S32: 32-bit two's complement, wraps
 * @TDMA_TYPE_F16: IEEE 754 binary16, round to nearest even
 * @TDMA_TYPE_BF16: bfloat16, round to nearest even
 * @TDMA_TYPE_F32: IEEE 754 binary32, round to nearest even
 */
enum tdma_type {
	TDMA_TYPE_NONE	= 0,
	TDMA_TYPE_S16	= 1,
	TDMA_TYPE_S32	= 2,
	TDMA_TYPE_F16	= 3,
	TDMA_TYPE_BF16	= 4,
	TDMA_TYPE_F32	= 5,
};

/*
 * Descriptor flags.
 *
 * EXT: the next ring slot holds the extension block (padding, im2col).
 * TOTAL: @total elements are moved; the outermost step count is implied and
 *	must be zero (A5).
 * RECORD: the completion record is also written to @record_segment:
 *	@record_offset, which must be 64-byte aligned.
 * IRQ: raise the queue's interrupt on completion.
 * SYNC_IRQ: raise it on every partial sync update too.
 * *_PER_MILLE: the sync interval of that side is a share of the elements.
 * *_SYNC_FLAG: partial updates of that side are added to the sync flag named
 *	by @src_sync_flag / @dst_sync_flag, and its done bit is set at the end.
 * FENCE: start only when every earlier descriptor of the queue is complete.
 */
#define TDMA_DESC_EXT			(1U << 0)
#define TDMA_DESC_TOTAL			(1U << 1)
#define TDMA_DESC_RECORD		(1U << 2)
#define TDMA_DESC_IRQ			(1U << 3)
#define TDMA_DESC_SYNC_IRQ		(1U << 4)
#define TDMA_DESC_SRC_PER_MILLE		(1U << 5)
#define TDMA_DESC_DST_PER_MILLE		(1U << 6)
#define TDMA_DESC_SRC_SYNC_FLAG		(1U << 7)
#define TDMA_DESC_DST_SYNC_FLAG		(1U << 8)
#define TDMA_DESC_FENCE			(1U << 9)
#define TDMA_DESC_FLAGS			0x3ffU

/**
 * struct tdma_desc - tensor descriptor, 256 bytes (A4, A5)
 * @version: %TDMA_DESC_VERSION
 * @opcode: &enum tdma_opcode
 * @ndims: number of dimensions, 0..8; 0 moves exactly one element
 * @type: accumulate: &enum tdma_type. memset: length of the fill pattern,
 *	1..16 bytes, a divisor of @elem_bytes. Otherwise 0
 * @flags: TDMA_DESC_*
 * @elem_bytes: element size, 1..%TDMA_MAX_ELEM_BYTES
 * @src_segment: segment of the source
 * @dst_segment: segment of the destination
 * @record_segment: segment of the extra completion record (RECORD)
 * @src_offset: byte offset of source element 0 in its segment
 * @dst_offset: byte offset of destination element 0 in its segment
 * @record_offset: byte offset of the extra completion record (RECORD)
 * @total: number of elements to move (TOTAL)
 * @tag: copied to the completion record, not interpreted
 * @steps: elements per dimension, both sides; a zero makes the tensor empty
 * @src_stride: bytes between neighbours of a dimension on the source side
 * @dst_stride: the same on the destination side
 * @fill: memset: the pattern, restarted at every element. With EXT: the
 *	value of an element that lies outside the source
 * @src_sync_interval: partial update each time this many more elements have
 *	been read (or per mille of all); 0 = only the final update (A36)
 * @dst_sync_interval: the same for elements written
 * @src_sync_flag: sync flag address (SRC_SYNC_FLAG)
 * @dst_sync_flag: sync flag address (DST_SYNC_FLAG)
 *
 * Element i of the loop nest over @steps is read from
 * @src_offset + sum(index[d] * @src_stride[d]) and written to
 * @dst_offset + sum(index[d] * @dst_stride[d]). Where elements overlap in
 * memory the result is that of the plain loop nest in element order.
 */
struct tdma_desc {
	__u8	version;
	__u8	opcode;
	__u8	ndims;
	__u8	type;
	__u32	flags;
	__u32	elem_bytes;
	__u32	src_segment;
	__u32	dst_segment;
	__u32	record_segment;
	__u64	src_offset;
	__u64	dst_offset;
	__u64	record_offset;
	__u64	total;
	__u64	tag;
	__u32	steps[TDMA_MAX_DIMS];
	__s64	src_stride[TDMA_MAX_DIMS];
	__s64	dst_stride[TDMA_MAX_DIMS];
	__u8	fill[TDMA_MAX_FILL_BYTES];
	__u32	src_sync_interval;
	__u32	dst_sync_interval;
	__u32	src_sync_flag;
	__u32	dst_sync_flag;
};

/**
 * struct tdma_desc_ext - extension block, the ring slot after an EXT descriptor
 * @version: %TDMA_DESC_VERSION
 * @naxes: number of axes, 1..8
 * @fill_bytes: length of @fill in the descriptor, 1..16, a divisor of
 *	the element size; applies to source elements outside their axis
 * @reserved0: zero
 * @axis_side: per axis, 0 = source, 1 = destination
 * @src_axis: per dimension, 1 + axis its index moves on the source side, or 0
 * @dst_axis: the same on the destination side
 * @reserved1: zero
 * @src_coef: signed step along that axis per index step
 * @dst_coef: the same on the destination side
 * @axis_start: coordinate of element 0 on the axis (may be negative)
 * @axis_extent: coordinates 0..extent-1 are inside
 *
 * A source element with any coordinate outside reads as @fill; a destination
 * element with any coordinate outside is dropped. The segment check covers the
 * elements inside only. Element 0 may be outside too: where a side has an axis,
 * its offset in the descriptor is taken as signed and may be negative.
 */
struct tdma_desc_ext {
	__u8	version;
	__u8	naxes;
	__u8	fill_bytes;
	__u8	reserved0[5];
	__u8	axis_side[TDMA_MAX_AXES];
	__u8	src_axis[TDMA_MAX_DIMS];
	__u8	dst_axis[TDMA_MAX_DIMS];
	__s32	src_coef[TDMA_MAX_DIMS];
	__s32	dst_coef[TDMA_MAX_DIMS];
	__s64	axis_start[TDMA_MAX_AXES];
	__u64	axis_extent[TDMA_MAX_AXES];
	__u8	reserved1[32];
};

/**
 * enum tdma_status - status word of a completion record
 * @TDMA_STATUS_PENDING: queued or running; the counts may still grow
 * @TDMA_STATUS_OK: all elements moved
 * @TDMA_STATUS_ABORTED: ended by reset, terminate or a halted queue; the
 *	counts tell how far it came and do not grow any more
 *
 * Statuses from %TDMA_STATUS_REJECTED on name a check that the descriptor
 * failed before anything moved; the record's fault_field and fault_dim say
 * where:
 * @TDMA_STATUS_REJECTED: the first of them
 * @TDMA_STATUS_BAD_VERSION: version not known
 * @TDMA_STATUS_BAD_OPCODE: opcode not known, or not offered by this device
 * @TDMA_STATUS_BAD_FLAGS: reserved flag, or one the opcode does not allow
 * @TDMA_STATUS_BAD_NDIMS: more dimensions than the device has
 * @TDMA_STATUS_BAD_TYPE: type or pattern length not valid for the opcode
 * @TDMA_STATUS_BAD_ELEM: element size 0, too large, or not fitting the type
 * @TDMA_STATUS_BAD_STEPS: the product of the steps exceeds 2^63
 * @TDMA_STATUS_BAD_TOTAL: total exceeds what the implied loop can reach
 * @TDMA_STATUS_BAD_SYNC: sync interval or sync flag out of range
 * @TDMA_STATUS_BAD_RESERVED: a field that must be zero is not
 * @TDMA_STATUS_BAD_SEGMENT: no such segment in the context
 * @TDMA_STATUS_BAD_ACCESS: the segment does not permit the access
 * @TDMA_STATUS_BAD_EXTENT: an element lies outside the segment
 * @TDMA_STATUS_BAD_ALIGN: the record offset is not 64-byte aligned
 * @TDMA_STATUS_BAD_AXIS: axis number, side, coefficient or extent not valid
 * @TDMA_STATUS_BAD_THROTTLE: no field of the descriptor: the throttle of the
 *	DMA thread is set to something impossible (TDMA_THREAD_THROTTLE_STATUS)
 *
 * Statuses from %TDMA_STATUS_FAULT on ended a transfer that had begun:
 * @TDMA_STATUS_FAULT: the first of them
 * @TDMA_STATUS_BUS_ERROR: memory refused an access; fault_offset says where
 * @TDMA_STATUS_POISONED: a read response carried poisoned data
 * @TDMA_STATUS_BAD_RESPONSE: unknown or duplicate response ID
 * @TDMA_STATUS_TIMEOUT: given by the driver: nothing moved for too long; the
 *	jobs behind it in the queue end ABORTED
 */
enum tdma_status {
	TDMA_STATUS_PENDING		= 0,
	TDMA_STATUS_OK			= 1,
	TDMA_STATUS_ABORTED		= 2,

	TDMA_STATUS_REJECTED		= 16,
	TDMA_STATUS_BAD_VERSION		= 16,
	TDMA_STATUS_BAD_OPCODE		= 17,
	TDMA_STATUS_BAD_FLAGS		= 18,
	TDMA_STATUS_BAD_NDIMS		= 19,
	TDMA_STATUS_BAD_TYPE		= 20,
	TDMA_STATUS_BAD_ELEM		= 21,
	TDMA_STATUS_BAD_STEPS		= 22,
	TDMA_STATUS_BAD_TOTAL		= 23,
	TDMA_STATUS_BAD_SYNC		= 24,
	TDMA_STATUS_BAD_RESERVED	= 25,
	TDMA_STATUS_BAD_SEGMENT		= 26,
	TDMA_STATUS_BAD_ACCESS		= 27,
	TDMA_STATUS_BAD_EXTENT		= 28,
	TDMA_STATUS_BAD_ALIGN		= 29,
	TDMA_STATUS_BAD_AXIS		= 30,
	TDMA_STATUS_BAD_THROTTLE	= 31,

	TDMA_STATUS_FAULT		= 64,
	TDMA_STATUS_BUS_ERROR		= 64,
	TDMA_STATUS_POISONED		= 65,
	TDMA_STATUS_BAD_RESPONSE	= 66,
	TDMA_STATUS_TIMEOUT		= 67,
};

/* fault_side of a completion record */
#define TDMA_SIDE_NONE		0
#define TDMA_SIDE_SRC		1
#define TDMA_SIDE_DST		2
#define TDMA_SIDE_RECORD	3
/* fault_dim where no dimension is to blame */
#define TDMA_DIM_NONE		0xff

/**
 * struct tdma_record - completion record, 64 bytes, written by the device
 * @tag: tag of the descriptor
 * @src_done: source elements read; what may be overwritten (A38)
 * @dst_done: destination elements written; what may be consumed (A38)
 * @cycles: engine cycles from first request to last response
 * @fault_offset: byte offset in the segment of the first element at fault
 * @stall_backpressure: cycles stalled by the interconnect (A20), saturating
 * @stall_throttle: cycles stalled by the bandwidth throttle, saturating
 * @stall_ids: cycles stalled for want of request IDs, saturating
 * @fault_field: byte offset in the descriptor (256.. = extension block) of
 *	the field at fault
 * @fault_side: TDMA_SIDE_*
 * @fault_dim: dimension at fault, or %TDMA_DIM_NONE
 * @status: &enum tdma_status
 * @sequence: ring index of the descriptor plus 1, modulo 2^32; tells a fresh
 *	record from the one that used the slot before
 *
 * The counts are cumulative, in element order and never ahead of what is
 * visible in memory. Partial updates rewrite them; @status and @sequence are
 * one 8-byte store, the last one, with release semantics.
 */
struct tdma_record {
	__u64	tag;
	__u64	src_done;
	__u64	dst_done;
	__u64	cycles;
	__u64	fault_offset;
	__u32	stall_backpressure;
	__u32	stall_throttle;
	__u32	stall_ids;
	__u16	fault_field;
	__u8	fault_side;
	__u8	fault_dim;
	__u32	status;
	__u32	sequence;
};

/* space of a segment */
#define TDMA_SPACE_NONE		0	/* entry not in use */
#define TDMA_SPACE_HOST		1	/* host memory, by bus-master DMA */
#define TDMA_SPACE_HBM		2	/* device memory */

/* permissions of a segment */
#define TDMA_SEG_READ		(1U << 0)
#define TDMA_SEG_WRITE		(1U << 1)
#define TDMA_SEG_ATOMIC		(1U << 2)
/* @base points at a list of page addresses instead of at the memory itself */
#define TDMA_SEG_PAGED		(1U << 3)
#define TDMA_SEG_FLAGS		0xfU

/**
 * struct tdma_segment - segment table entry, 32 bytes, written by the driver
 *
 * The device may read an entry at any time. It reads @space before the rest:
 * an entry is made by writing @space last, and taken back by writing
 * TDMA_SPACE_NONE there. It may be made anew once no queue of the context can
 * still have descriptors that were fetched before.
 *
 * @space: TDMA_SPACE_*
 * @flags: TDMA_SEG_*
 * @page_shift: PAGED: log2 of the page size, 12..40; else 0
 * @page_offset: PAGED: where in the first page offset 0 lies; else 0
 * @length: bytes that may be accessed, from offset 0
 * @base: address of offset 0 in its space. PAGED: bus address of an array of
 *	64-bit page addresses, each aligned to the page size
 */
struct tdma_segment {
	__u32	space;
	__u32	flags;
	__u32	page_shift;
	__u32	page_offset;
	__u64	length;
	__u64	base;
};

#endif /* _LINUX_TENSORDMA_DESC_H */
