/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tensordma selftests: blocked tensor layouts by name, as in "ABcd16a8b".
 *
 * The letters are the axes of a tensor, outermost in memory first. A number
 * and a letter is a block: that many neighbours of the axis lie together; the
 * upper case letter stands for the blocks of its axis. What does not fill a
 * block is padding, which must be zero.
 */
#ifndef TDMA_BLOCKED_H
#define TDMA_BLOCKED_H

#include "tdma_util.h"

#define TDMA_MAX_LETTERS	6
#define TDMA_MAX_DIGITS		12

/* A loop of a layout: @size steps of @coef on an axis, @stride in memory */
struct tdma_digit {
	int letter;
	__u64 size;
	__u64 coef;
	__u64 stride;
};

/* Innermost first; strides in elements */
struct tdma_layout {
	int digits;
	struct tdma_digit digit[TDMA_MAX_DIGITS];
	__u64 padded[TDMA_MAX_LETTERS];
};

struct tdma_blocked {
	int letters;
	__u32 elem_bytes;
	__u64 dims[TDMA_MAX_LETTERS];	/* without padding */
	struct tdma_layout src;
	struct tdma_layout dst;
};

/*
 * Understand a reorder: @names "abcd->ABcd16a16b dims 4x3x2x1", made smaller
 * along axes without padding until it moves no more than @payload bytes, if
 * that is possible. False if @names is not of that form.
 */
bool tdma_blocked_parse(struct tdma_blocked *b, const char *names,
			__u32 elem_bytes, __u64 payload);
/* The one descriptor that does it. NULL, or why there is none. */
const char *tdma_blocked_plan(const struct tdma_blocked *b,
			      union tdma_slot slots[2]);
/* Bytes of one side, padding included */
__u64 tdma_blocked_bytes(const struct tdma_blocked *b,
			 const struct tdma_layout *l);
/* What it must do, coordinate by coordinate. */
void tdma_blocked_reference(const struct tdma_blocked *b,
			    const unsigned char *src, unsigned char *dst);

#endif /* TDMA_BLOCKED_H */
