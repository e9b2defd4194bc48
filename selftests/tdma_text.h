/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tensordma selftests: files of sysfs and debugfs, as text.
 *
 * Every call returns 0 or a negative errno.
 */
#ifndef TDMA_TEXT_H
#define TDMA_TEXT_H

#include <stddef.h>
#include <linux/types.h>

int tdma_text_read(const char *path, char *text, size_t size);
int tdma_text_write(const char *path, const char *text);
/* A file that holds one number */
int tdma_text_number(const char *path, unsigned long long *value);

/* A file of a DMA thread in debugfs */
int tdma_thread_write(__u32 thread, const char *name, const char *text);

#endif /* TDMA_TEXT_H */
