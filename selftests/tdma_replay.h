/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tensordma selftests: rows of cases/cases.tsv carried out and compared.
 */
#ifndef TDMA_REPLAY_H
#define TDMA_REPLAY_H

#include "tdma_table.h"

struct tdma_replay {
	int fd;
	struct tdma_query caps;
	struct tdma_row_limits limits;
	struct tdma_buf src;
	struct tdma_buf dst;
};

/* What became of one row. */
struct tdma_verdict {
	int result;		/* KSFT_* */
	char why[96];
	__u64 bytes;
	__u64 cycles;
};

/* Open the device and make buffers. Returns 0 or a negative errno. */
int tdma_replay_open(struct tdma_replay *r);
/*
 * Carry out a row and compare as far as it reaches.
 * KSFT_SKIP if the row needs what the device lacks; else it must succeed.
 */
void tdma_replay_row(struct tdma_replay *r, const struct tdma_row *row,
		     struct tdma_verdict *v);
/* All of both buffers is as it should be. */
bool tdma_replay_clean(const struct tdma_replay *r);

#endif /* TDMA_REPLAY_H */
