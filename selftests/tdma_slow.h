/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tensordma selftests: jobs that take as long as a test needs, on any device.
 */
#ifndef TDMA_SLOW_H
#define TDMA_SLOW_H

#include "tdma_util.h"

/* Bytes of each buffer that a slow job needs. */
#define TDMA_SLOW_BYTES		(256U << 10)
/* Bytes of it that are moved over and over before the next are. */
#define TDMA_SLOW_ROW		64

/*
 * A copy of TDMA_SLOW_BYTES single bytes, in order, from @src to @dst. Each row
 * is moved @repeat times before the next, so that the first tenth of the
 * elements still is the first tenth of the bytes.
 */
struct tdma_desc tdma_slow_desc(__u32 src, __u32 dst, __u32 repeat);

/* @repeat with which such a job takes about @ms; 0 on failure. */
__u32 tdma_slow_repeat(int fd, __u32 src, __u32 dst, unsigned int ms);

#endif /* TDMA_SLOW_H */
