/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tensordma selftests: rows of cases/cases.tsv and the descriptors they are.
 */
#ifndef TDMA_TABLE_H
#define TDMA_TABLE_H

#include <stdio.h>
#include "tdma_util.h"

/* A row; dimension 0 is the innermost here, unlike in the file. */
struct tdma_row {
	const char *name;
	const char *tier;
	const char *family;
	const char *op;
	const char *fill_pad;
	const char *notes;
	__u32 elem_bytes;
	int ndims;
	__s64 size[TDMA_MAX_DIMS];
	__s64 src_stride[TDMA_MAX_DIMS];
	__s64 dst_stride[TDMA_MAX_DIMS];
	__s64 src_offset;
	__s64 dst_offset;
	char *line;
};

/* What one descriptor may take; larger rows are made smaller. */
struct tdma_row_limits {
	__u64 payload;		/* bytes moved */
	__u64 span;		/* bytes from first to last, each side */
};

/* cases/cases.tsv beside the program, or $TDMA_CASES_FILE. */
FILE *tdma_table_open(void);
/* Next row: 1, 0 at the end, or -1 if it cannot be understood. */
int tdma_table_next(FILE *file, struct tdma_row *row);
void tdma_row_free(struct tdma_row *row);

/*
 * The descriptor of a row, placed from byte 0 of both buffers on, scaled to
 * @limits by the rules of cases/README.md. NULL, or what would be needed to
 * run it. Rows that are layout names are for tdma_blocked.h.
 */
const char *tdma_row_plan(const struct tdma_row *row,
			  const struct tdma_row_limits *limits,
			  union tdma_slot slots[2]);

#endif /* TDMA_TABLE_H */
