/* SPDX-License-Identifier: GPL-2.0 */
/* tdma: descriptors and buffers of a JSON job, understood strictly. */
#ifndef TDMA_JOB_FILE_H
#define TDMA_JOB_FILE_H

#include <jansson.h>
#include <linux/tensordma_desc.h>
#include "tool.h"

/* Buffer of a job: where its bytes come from and go to */
struct job_buffer {
	const char *name;
	const char *input;		/* .npy file, or NULL */
	const char *output;		/* file of raw bytes or .npy, or NULL */
	uint64_t bytes;			/* without input */
	int64_t fill;			/* byte, or -1: random by @seed */
	uint64_t seed;
};

struct job_desc {
	struct tdma_desc desc;
	struct tdma_desc_ext ext;
	int src;			/* buffer, or -1 */
	int dst;
};

struct job_file {
	const char *path;
	json_t *root;
	struct job_buffer *buffers;
	int buffer_count;
	struct job_desc *descs;
	size_t desc_count;
	bool optimize;
};

/* EXIT_OK, or EXIT_INPUT with what is wrong, and where, on standard error */
int job_read(const char *path, struct job_file *job);
void job_free(struct job_file *job);

#endif /* TDMA_JOB_FILE_H */
