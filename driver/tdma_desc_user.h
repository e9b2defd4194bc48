/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What tdma_desc.c needs of the kernel, for a build in user space.
 */
#ifndef TDMA_DESC_USER_H
#define TDMA_DESC_USER_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define check_add_overflow(a, b, d)	__builtin_add_overflow(a, b, d)
#define check_mul_overflow(a, b, d)	__builtin_mul_overflow(a, b, d)

#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define memchr_inv(p, c, n)	tdma_memchr_inv(p, c, n)

static inline const void *tdma_memchr_inv(const void *start, int c, size_t n)
{
	const unsigned char *p = start;

	for (; n; p++, n--)
		if (*p != (unsigned char)c)
			return p;
	return NULL;
}

#endif /* TDMA_DESC_USER_H */
