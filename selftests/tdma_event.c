// SPDX-License-Identifier: GPL-2.0
/* tensordma selftests: events of the device's PMU, without the perf tool. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/perf_event.h>

#include "tdma_event.h"
#include "tdma_text.h"
#include "tdma_util.h"

int tdma_event_text(const char *name, char *text, int size)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices%s/%s",
		 strrchr(tdma_path(), '/'), name);
	return tdma_text_read(path, text, size);
}

static int event_number(const char *name)
{
	char text[64], *end;
	long value;
	int ret;

	ret = tdma_event_text(name, text, sizeof(text));
	if (ret)
		return ret;
	value = strtol(text, &end, 10);
	return end != text && *end == '\n' ? value : -EINVAL;
}

int tdma_event_cpu(void)
{
	return event_number("cpumask");
}

/* Put @value where format/@term says, as the perf tool would. */
static int add_term(struct perf_event_attr *attr, const char *term,
		    __u64 value)
{
	char path[64], text[64], word[16];
	int low, high, n;

	snprintf(path, sizeof(path), "format/%s", term);
	n = tdma_event_text(path, text, sizeof(text));
	if (n)
		return n;
	n = sscanf(text, "%15[a-z0-9]:%d-%d", word, &low, &high);
	if (n < 2)
		return -EINVAL;
	if (n == 2)
		high = low;
	if (value >> (high - low + 1))
		return -ERANGE;
	if (!strcmp(word, "config"))
		attr->config |= value << low;
	else if (!strcmp(word, "config1"))
		attr->config1 |= value << low;
	else
		return -EINVAL;
	return 0;
}

int tdma_event_attr(const char *name, struct perf_event_attr *attr)
{
	char path[64], text[128], *term, *next = text;
	int ret;

	memset(attr, 0, sizeof(*attr));
	attr->size = sizeof(*attr);
	ret = event_number("type");
	if (ret < 0)
		return ret;
	attr->type = ret;
	snprintf(path, sizeof(path), "events/%s", name);
	ret = tdma_event_text(path, text, sizeof(text));
	while (!ret && (term = strsep(&next, ",\n")) && *term) {
		char *value = strchr(term, '=');

		if (!value)
			return -EINVAL;
		*value++ = '\0';
		ret = add_term(attr, term, strtoull(value, NULL, 0));
	}
	return ret;
}

int tdma_event_open_attr(struct perf_event_attr *attr, int pid, int cpu)
{
	int fd = syscall(SYS_perf_event_open, attr, pid, cpu, -1,
			 PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int tdma_event_open(const char *name, __u64 threads)
{
	struct perf_event_attr attr;
	int cpu, ret;

	ret = tdma_event_attr(name, &attr);
	if (!ret && threads)
		ret = add_term(&attr, "threads", threads);
	if (ret)
		return ret;
	cpu = tdma_event_cpu();
	return cpu < 0 ? cpu : tdma_event_open_attr(&attr, -1, cpu);
}

long long tdma_event_read(int fd)
{
	__u64 value;

	if (read(fd, &value, sizeof(value)) != sizeof(value))
		return -errno;
	return value;
}
