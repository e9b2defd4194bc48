/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tensordma selftests: a process that reads whatever the driver shows of itself
 * in sysfs, debugfs and fdinfo, again and again, while the device comes and
 * goes.
 */
#ifndef TDMA_READER_H
#define TDMA_READER_H

#include <sys/types.h>

#include "tdma_sysfs.h"

/* What the reader and its parent share */
struct tdma_reader {
	_Atomic unsigned long reads;	/* files read to their end */
	_Atomic unsigned long gone;	/* files that went meanwhile */
	_Atomic int error;		/* what must not be, negative, or 0 */
};

/* Returns NULL, or what is shared with the process that it has started. */
struct tdma_reader *tdma_reader_start(const struct tdma_sysfs *sysfs,
				      pid_t *pid);
/* End the process. */
void tdma_reader_stop(struct tdma_reader *reader, pid_t pid);

#endif /* TDMA_READER_H */
