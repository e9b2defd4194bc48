/* SPDX-License-Identifier: GPL-2.0 */
/* tdma: operations on a tensor, one after the other. */
#ifndef TDMA_STEPS_H
#define TDMA_STEPS_H

#include "npy.h"
#include "work.h"

#define MOST_STEPS	32

struct step {
	int kind;
	const char *text;
};

/*
 * The command line's operations, and where they have come to: a view of memory
 * of the work, whose plan says how it gets its content.
 */
struct chain {
	struct work *work;
	const char *value;		/* to pad with; NULL: zeros */
	struct step steps[MOST_STEPS];
	int count;
	struct tensordma_tensor view;
	char descr[NPY_DESCR];		/* of the output; "": by its format */
	/* The view is all of a buffer of its own, in order. */
	bool fresh;
};

/* Options of the operations, for a chain as input */
extern const struct argp steps_argp;

/* From @view on, as it is, to the result in a buffer of its own; a status */
int chain_run(struct chain *chain);

#endif /* TDMA_STEPS_H */
