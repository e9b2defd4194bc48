/* SPDX-License-Identifier: GPL-2.0 */
/* tensordma selftests: the device as sysfs shows it, for those who are root. */
#ifndef TDMA_SYSFS_H
#define TDMA_SYSFS_H

#include <limits.h>

struct tdma_sysfs {
	char device[PATH_MAX];		/* directory of the device */
	char driver[PATH_MAX];		/* directory of its driver */
	const char *name;		/* of the device on its bus */
};

/* 0, or a negative errno. The device must be bound. */
int tdma_sysfs_find(struct tdma_sysfs *sysfs);
/* Write @text to @directory/@file: 0 or a negative errno. */
int tdma_sysfs_write(const char *directory, const char *file,
		     const char *text);
/* An attribute of the device that is a number: 0 or a negative errno. */
int tdma_sysfs_number(const struct tdma_sysfs *sysfs, const char *name,
		      unsigned long long *value);
/* Open the device file when there is one again; as tdma_open(). */
int tdma_open_again(void);

#endif /* TDMA_SYSFS_H */
