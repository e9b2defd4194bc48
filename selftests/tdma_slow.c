// SPDX-License-Identifier: GPL-2.0
/* tensordma selftests: jobs that take as long as a test needs. */
#include "tdma_slow.h"

#define ROW_BYTES	64
#define TRIAL_NS	20000000LL
#define MAX_REPEAT	16777216U

struct tdma_desc tdma_slow_desc(__u32 src, __u32 dst, __u32 repeat)
{
	struct tdma_desc d = tdma_desc_copy(src, dst, 1);

	tdma_dim(&d, ROW_BYTES, 1, 1);
	tdma_dim(&d, repeat, 0, 0);
	tdma_dim(&d, TDMA_SLOW_BYTES / ROW_BYTES, ROW_BYTES, ROW_BYTES);
	return d;
}

__u32 tdma_slow_repeat(int fd, __u32 src, __u32 dst, unsigned int ms)
{
	struct tdma_record rec;

	for (__u32 repeat = 1; repeat < MAX_REPEAT; repeat *= 2) {
		union tdma_slot slot = {
			.desc = tdma_slow_desc(src, dst, repeat),
		};
		__s64 start = tdma_now(), spent;
		__u64 wanted;

		if (tdma_run(fd, &slot, &rec) || rec.status != TDMA_STATUS_OK)
			return 0;
		spent = tdma_now() - start;
		if (spent < TRIAL_NS)
			continue;
		wanted = (__u64)repeat * ms * 1000000 / spent + 1;
		return wanted < MAX_REPEAT ? wanted : MAX_REPEAT;
	}
	return MAX_REPEAT;
}
