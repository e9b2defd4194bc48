/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tensordma selftests: other files that keep all DMA threads busy, to see who
 * is served before them and who is not.
 */
#ifndef TDMA_BUSY_H
#define TDMA_BUSY_H

#include "tdma_util.h"

#define TDMA_BUSY_FILES		(2 * TDMA_MAX_THREADS)

struct tdma_busy {
	int fd[TDMA_BUSY_FILES];
	__u64 last[TDMA_BUSY_FILES];	/* job of each file */
	unsigned int count;
	int probe;			/* a file beside them */
	__u32 probe_src;
	__u32 probe_dst;
};

/*
 * Two files for each of @threads threads, with so many jobs that the last of
 * them are far off, all of @priority. 0 or a negative errno; in either case
 * end it.
 */
int tdma_busy_start(struct tdma_busy *busy, __u32 threads, __u32 priority);
/*
 * Run some jobs of the same priority to their end, which shows that whatever
 * had a claim to be served before them has been. 0 or a negative errno; -EDOM
 * if the files have run out of jobs meanwhile, so that it shows nothing.
 */
int tdma_busy_pass(struct tdma_busy *busy);
void tdma_busy_end(struct tdma_busy *busy);

#endif /* TDMA_BUSY_H */
