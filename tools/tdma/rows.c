// SPDX-License-Identifier: GPL-2.0
/*
 * tdma: what the selftests' code for rows needs of their library, without the
 * device that comes with it there.
 */
#include "tdma_util.h"

struct tdma_desc tdma_desc_copy(__u32 src, __u32 dst, __u32 elem_bytes)
{
	return (struct tdma_desc) {
		.version = TDMA_DESC_VERSION,
		.opcode = TDMA_OP_COPY,
		.elem_bytes = elem_bytes,
		.src_segment = src,
		.dst_segment = dst,
	};
}

void tdma_dim(struct tdma_desc *d, __u32 steps, __s64 src_stride,
	      __s64 dst_stride)
{
	d->steps[d->ndims] = steps;
	d->src_stride[d->ndims] = src_stride;
	d->dst_stride[d->ndims] = dst_stride;
	d->ndims++;
}
