// SPDX-License-Identifier: GPL-2.0
/* tensordma selftests: the device as sysfs shows it, for those who are root. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "tdma_sysfs.h"
#include "tdma_text.h"
#include "tdma_util.h"

int tdma_sysfs_find(struct tdma_sysfs *sysfs)
{
	char link[PATH_MAX + 16];
	struct stat st;

	if (stat(tdma_path(), &st))
		return -errno;
	snprintf(link, sizeof(link), "/sys/dev/char/%u:%u/device",
		 major(st.st_rdev), minor(st.st_rdev));
	if (!realpath(link, sysfs->device))
		return -errno;
	snprintf(link, sizeof(link), "%s/driver", sysfs->device);
	if (!realpath(link, sysfs->driver))
		return -errno;
	sysfs->name = strrchr(sysfs->device, '/') + 1;
	return 0;
}

int tdma_sysfs_write(const char *directory, const char *file,
		     const char *text)
{
	char path[PATH_MAX + 32];

	snprintf(path, sizeof(path), "%s/%s", directory, file);
	return tdma_text_write(path, text);
}

int tdma_sysfs_number(const struct tdma_sysfs *sysfs, const char *name,
		      unsigned long long *value)
{
	char path[PATH_MAX + 32];

	snprintf(path, sizeof(path), "%s/%s", sysfs->device, name);
	return tdma_text_number(path, value);
}

int tdma_open_again(void)
{
	__s64 deadline = tdma_patience();
	int fd;

	do {
		fd = tdma_open(0);
		if (fd >= 0)
			return fd;
		usleep(10000);
	} while (tdma_now() < deadline);
	return fd;
}
