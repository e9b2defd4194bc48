/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tensordma selftests: what a descriptor means, as plain recursion over its
 * dimensions. Slow and obvious on purpose; shares no code with the device.
 */
#ifndef TDMA_REF_H
#define TDMA_REF_H

#include <linux/tensordma_desc.h>

/* Number of elements the descriptor names. */
__u64 tdma_ref_elements(const struct tdma_desc *d);

/*
 * Carry out @d on plain memory. @src and @dst are the bytes of the two
 * segments (the same pointer for the same buffer); @ext may be NULL.
 */
void tdma_ref_run(const struct tdma_desc *d, const struct tdma_desc_ext *ext,
		  unsigned char *src, unsigned char *dst);

#endif /* TDMA_REF_H */
