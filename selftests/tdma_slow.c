// SPDX-License-Identifier: GPL-2.0
/* tensordma selftests: jobs that take as long as a test needs. */
#include "tdma_slow.h"

#define TRIALS		3
#define TRIAL_NS	10000000LL
#define MAX_REPEAT	16777216U

struct tdma_desc tdma_slow_desc(__u32 src, __u32 dst, __u32 repeat)
{
	struct tdma_desc d = tdma_desc_copy(src, dst, 1);

	tdma_dim(&d, TDMA_SLOW_ROW, 1, 1);
	tdma_dim(&d, repeat, 0, 0);
	tdma_dim(&d, TDMA_SLOW_BYTES / TDMA_SLOW_ROW, TDMA_SLOW_ROW,
		 TDMA_SLOW_ROW);
	return d;
}

/* Least time of some runs: a busy host only ever makes them longer. */
static __s64 time_of(int fd, const union tdma_slot *slot)
{
	__s64 best = TDMA_PATIENCE_MS * 1000000LL;
	struct tdma_record rec;

	for (int i = 0; i < TRIALS; i++) {
		__s64 start = tdma_now(), spent;

		if (tdma_run(fd, slot, &rec) || rec.status != TDMA_STATUS_OK)
			return -1;
		spent = tdma_now() - start;
		if (spent < best)
			best = spent;
	}
	return best;
}

__u32 tdma_slow_repeat(int fd, __u32 src, __u32 dst, unsigned int ms)
{
	for (__u32 repeat = 1; repeat < MAX_REPEAT; repeat *= 2) {
		union tdma_slot slot = {
			.desc = tdma_slow_desc(src, dst, repeat),
		};
		__s64 spent = time_of(fd, &slot);
		__u64 wanted;

		if (spent < 0)
			return 0;
		if (spent < TRIAL_NS)
			continue;
		wanted = (__u64)repeat * ms * 1000000 / spent + 1;
		return wanted < MAX_REPEAT ? wanted : MAX_REPEAT;
	}
	return MAX_REPEAT;
}
