// SPDX-License-Identifier: GPL-2.0
/* Files of sysfs and debugfs; see tdma_text.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tdma_text.h"
#include "tdma_util.h"

int tdma_text_read(const char *path, char *text, size_t size)
{
	size_t len = 0;
	ssize_t got;
	int fd;

	fd = open(path, O_RDONLY);
	if (fd < 0)
		return -errno;
	while ((got = read(fd, text + len, size - 1 - len)) > 0)
		len += got;
	got = got < 0 ? -errno : 0;
	close(fd);
	text[len] = '\0';
	return got;
}

int tdma_text_write(const char *path, const char *text)
{
	int fd, ret;

	fd = open(path, O_WRONLY);
	if (fd < 0)
		return -errno;
	ret = write(fd, text, strlen(text)) < 0 ? -errno : 0;
	close(fd);
	return ret;
}

int tdma_text_number(const char *path, unsigned long long *value)
{
	char text[64], *end;
	int ret;

	ret = tdma_text_read(path, text, sizeof(text));
	if (ret)
		return ret;
	*value = strtoull(text, &end, 0);
	return end != text && *end == '\n' ? 0 : -EINVAL;
}

int tdma_thread_write(__u32 thread, const char *name, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/kernel/debug%s/thread%u/%s",
		 strrchr(tdma_path(), '/'), thread, name);
	return tdma_text_write(path, text);
}
