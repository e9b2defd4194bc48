/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tdma: what copy and run do: a plan made of a command line, with files that it
 * reads and files that appear when it has ended well.
 */
#ifndef TDMA_WORK_H
#define TDMA_WORK_H

#include "npy.h"
#include "tool.h"

#define MOST_BUFFERS	64

struct work;

/* Memory by name */
struct work_buffer {
	char *name;
	void *data;
	size_t bytes;
};

struct work {
	struct options options;
	struct tensordma *machine;
	struct tensordma_plan *plan;
	char *title;
	struct work_buffer buffers[MOST_BUFFERS];
	unsigned int buffer_count;
	/* Write what is to be written; a status */
	int (*commit)(struct work *work);
	/* What has become of it, for people and for programs */
	void (*describe)(const struct work *work, FILE *to);
	void (*release)(struct work *work);
	void *own;		/* of the kind of work */
};

/*
 * By the command's words; argv[0] is "copy" or "run". @preset: options that the
 * words can change. Whatever the status, work_free() is to follow.
 */
int work_prepare(struct work *work, int argc, char **argv,
		 const struct options *preset);
void work_free(struct work *work);

/* Kinds of work; called by work_prepare() */
int copy_prepare(struct work *work, int argc, char **argv);
int run_prepare(struct work *work, int argc, char **argv);

/* Zeroed memory with a name, freed with the work; NULL: none left */
void *work_buffer(struct work *work, const char *name, size_t bytes);
/* The memory of a file belongs to the work from here on; a status */
int work_keep(struct work *work, struct npy_array *a, const char *name);
/* The name of memory of the plan, with the offset at which it begins */
const char *work_name(const struct work *work, const void *data,
		      uint64_t *offset);
/* The plan carried out, with progress on a terminal; a status */
int work_run(struct work *work, struct tensordma_status *status);
/* Check, run, write, say what was done; a status */
int work_do(struct work *work);

#endif /* TDMA_WORK_H */
