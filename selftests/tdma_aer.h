/* SPDX-License-Identifier: GPL-2.0 */
/* tensordma selftests: errors of the bus, and what the kernel makes of them. */
#ifndef TDMA_AER_H
#define TDMA_AER_H

#include "tdma_sysfs.h"

#define TDMA_AER_INJECT	"/dev/aer_inject"

/* A fatal error of the device: 0 or a negative errno. Recovery goes on. */
int tdma_aer_inject(const struct tdma_sysfs *sysfs);

/* A socket that hears what the kernel tells user space; or a negative errno */
int tdma_aer_listen(void);
/*
 * Wait until the kernel says of the device that a recovery has failed: 0,
 * -EEXIST if it has succeeded, or -ETIME.
 */
int tdma_aer_failed(int socket, const struct tdma_sysfs *sysfs);

#endif /* TDMA_AER_H */
