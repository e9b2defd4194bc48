/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Descriptor validation and encoding: pure code, no device and no memory
 * beyond its arguments, so that it also compiles and is tested in user space.
 */
#ifndef TDMA_DESC_H
#define TDMA_DESC_H

#include <linux/tensordma_desc.h>

#ifdef __KERNEL__
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/overflow.h>
#include <linux/stddef.h>
#include <linux/string.h>
#else
#include "tdma_desc_user.h"
#endif

/* Index of a side in arrays; TDMA_SIDE_* minus 1 */
enum tdma_desc_side {
	TDMA_DESC_SRC,
	TDMA_DESC_DST,
	TDMA_DESC_RECORD_SIDE,
	TDMA_DESC_SIDES,
};

/**
 * struct tdma_desc_limits - what the device and the owner of a queue may use
 * @opcodes: bit n: opcode n is offered
 * @types: bit n: accumulate type n is offered
 * @flags: TDMA_DESC_* that may be set
 * @dims: dimensions per descriptor
 * @sync_flags: number of sync flags
 */
struct tdma_desc_limits {
	__u32 opcodes;
	__u32 types;
	__u32 flags;
	__u32 dims;
	__u32 sync_flags;
};

/**
 * struct tdma_desc_report - why a descriptor was refused
 * @error: negative errno
 * @status: &enum tdma_status
 * @field: byte offset of the field at fault; 256.. is the extension block
 * @dim: dimension at fault, or %TDMA_DIM_NONE
 * @side: TDMA_SIDE_*
 */
struct tdma_desc_report {
	int error;
	__u32 status;
	__u16 field;
	__u8 dim;
	__u8 side;
};

bool tdma_desc_uses(const struct tdma_desc *desc, enum tdma_desc_side side);
unsigned int tdma_desc_access(const struct tdma_desc *desc,
			      enum tdma_desc_side side);
__u64 tdma_desc_elements(const struct tdma_desc *desc);
int tdma_desc_check(const struct tdma_desc *desc,
		    const struct tdma_desc_ext *ext,
		    const struct tdma_desc_limits *limits,
		    const struct tdma_segment *const seg[TDMA_DESC_SIDES],
		    struct tdma_desc_report *report);

/**
 * struct tdma_place - one side of a linear move
 * @segment: segment number
 * @offset: byte offset in it
 */
struct tdma_place {
	__u32 segment;
	__u64 offset;
};

void tdma_desc_copy(struct tdma_desc *desc, struct tdma_place dst,
		    struct tdma_place src, __u64 len);
void tdma_desc_memset(struct tdma_desc *desc, struct tdma_place dst,
		      __u8 value, __u64 len);

#endif /* TDMA_DESC_H */
