/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tensordma selftests: what every harness program shares. A program is skipped
 * as a whole only if there is no device; a test only if the device says in
 * TDMA_IOC_QUERY that it lacks what is tested.
 */
#ifndef TDMA_HARNESS_H
#define TDMA_HARNESS_H

#include <errno.h>
#include "kselftest_harness.h"
#include "tdma_util.h"

/* A kernel full of checks, emulated, is no reason to call a test hung. */
#define TDMA_SLOW_FACTOR	20

static inline void tdma_stretch_timeouts(void)
{
	struct __fixture_metadata *f;
	struct __test_metadata *t;

	if (!tdma_slow())
		return;
	for (f = __fixture_list; f; f = f->next)
		for (t = f->tests; t; t = t->next)
			t->timeout *= TDMA_SLOW_FACTOR;
}

#define TDMA_HARNESS_MAIN			\
int main(int argc, char **argv)			\
{						\
	tdma_require_device();			\
	tdma_stretch_timeouts();		\
	return test_harness_run(argc, argv);	\
}

/* @job ran and ended in @status; TH_LOG details follow the failing line. */
#define EXPECT_RUN(status_wanted, fd, slots)				\
({									\
	struct tdma_record __rec;					\
									\
	EXPECT_EQ(0, tdma_run(fd, slots, &__rec));			\
	EXPECT_EQ(status_wanted, __rec.status)				\
		TH_LOG("field %u dimension %u side %u",		\
		       __rec.fault_field, __rec.fault_dim,		\
		       __rec.fault_side);				\
	__rec;								\
})

/* Nothing but what the image says is in the buffer. */
#define EXPECT_IMAGE(buf)						\
({									\
	size_t __at = tdma_buf_diff(buf);				\
									\
	EXPECT_EQ((buf)->len, __at)					\
		TH_LOG("byte %zu is %#x, wanted %#x", __at,		\
		       (buf)->mem[__at], (buf)->image[__at]);		\
})

#define SKIP_WITHOUT_OPCODE(query, opcode)				\
do {									\
	if (!((query)->opcodes & 1U << (opcode)))			\
		SKIP(return, "device does not offer " #opcode);		\
} while (0)

#define SKIP_WITHOUT_FEATURE(query, feature)				\
do {									\
	if (!((query)->features & (feature)))				\
		SKIP(return, "device does not offer " #feature);	\
} while (0)

#endif /* TDMA_HARNESS_H */
