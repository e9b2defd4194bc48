/* SPDX-License-Identifier: GPL-2.0 */
/* tdma: how far long work is, one line on a terminal. */
#ifndef TDMA_PROGRESS_H
#define TDMA_PROGRESS_H

#include "tensordma.h"

struct progress {
	bool shown;		/* on a terminal, and wanted */
	bool drawn;
	int64_t start_ns;
	int64_t last_ns;
};

void progress_begin(struct progress *p, bool wanted);
/* A tensordma_progress_fn */
void progress_update(void *progress, const struct tensordma_status *status);
/* Remove the line. */
void progress_end(struct progress *p);
/* Seconds since the beginning */
double progress_seconds(const struct progress *p);

#endif /* TDMA_PROGRESS_H */
