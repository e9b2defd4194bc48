/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tensordma selftests: a process that runs random jobs and checks every byte
 * of their result, whatever happens to the device and to itself meanwhile.
 */
#ifndef TDMA_WORKER_H
#define TDMA_WORKER_H

#include <stdbool.h>
#include <sys/types.h>

#include "tdma_util.h"

/*
 * What a worker and its parent share. The worker may be killed at any time and
 * started again: it goes on counting.
 */
struct tdma_worker {
	__u64 seed;
	unsigned long wanted;		/* jobs to be checked */
	_Atomic unsigned long checked;	/* jobs whose result was right */
	_Atomic unsigned long sessions;	/* files opened */
	_Atomic unsigned long lost;	/* files that a reset took */
	_Atomic bool go;		/* begin */
	_Atomic bool stop;		/* end before @wanted */
	_Atomic int error;		/* what went wrong, negative, or 0 */
	_Atomic int line;		/* and where */
};

/* @count workers in memory that children share; NULL on failure. */
struct tdma_worker *tdma_workers_alloc(unsigned int count, __u64 seed,
				       unsigned long wanted);
void tdma_workers_free(struct tdma_worker *workers, unsigned int count);
/* The child's process, or -1. It ends with status 0 if nothing went wrong. */
pid_t tdma_worker_start(struct tdma_worker *worker);
/* Jobs checked by all of them. */
unsigned long tdma_workers_checked(const struct tdma_worker *workers,
				   unsigned int count);

#endif /* TDMA_WORKER_H */
