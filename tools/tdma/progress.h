/* SPDX-License-Identifier: GPL-2.0 */
/* tdma: how far long work is, one line on a terminal. */
#ifndef TDMA_PROGRESS_H
#define TDMA_PROGRESS_H

#include "tensordma.h"

struct progress {
	const char *what;
	bool shown;		/* on a terminal, and wanted */
	bool drawn;
	int64_t start_ns;
	int64_t last_ns;
};

/* @what: one word for what goes on, "moving" */
void progress_begin(struct progress *p, const char *what, bool wanted);
void progress_bytes(struct progress *p, uint64_t done, uint64_t total);
/* A tensordma_progress_fn */
void progress_update(void *progress, const struct tensordma_status *status);
/* Remove the line. */
void progress_end(struct progress *p);
/* Seconds since the beginning */
double progress_seconds(const struct progress *p);

#endif /* TDMA_PROGRESS_H */
