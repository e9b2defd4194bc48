/* SPDX-License-Identifier: GPL-2.0 */
/* tensordma selftests: events of the device's PMU, without the perf tool. */
#ifndef TDMA_EVENT_H
#define TDMA_EVENT_H

#include <linux/types.h>

struct perf_event_attr;

/* "SYSFS/event_source/devices/tensordmaN/NAME" as text: 0 or a negative errno */
int tdma_event_text(const char *name, char *text, int size);
/* The CPU on which events count, or a negative errno */
int tdma_event_cpu(void);
/* Attributes of an event that sysfs names: 0 or a negative errno */
int tdma_event_attr(const char *name, struct perf_event_attr *attr);
/* Open such an event: a file descriptor or a negative errno */
int tdma_event_open_attr(struct perf_event_attr *attr, int pid, int cpu);
/* The same by name, for the threads of the mask; 0 = all */
int tdma_event_open(const char *name, __u64 threads);
/* What it has counted, or a negative errno */
long long tdma_event_read(int fd);

#endif /* TDMA_EVENT_H */
