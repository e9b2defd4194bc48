/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tdma: rows of a case table, checked before anything is computed with them.
 * The selftests' code makes descriptors of the rows; it trusts its own table.
 */
#ifndef TDMA_TABLE_CHECK_H
#define TDMA_TABLE_CHECK_H

#include "tdma_table.h"

struct table {
	const char *path;
	char *text;
	char *rest;
	unsigned int line;
};

/* A status of the program */
int table_open(struct table *t, const char *path);
void table_close(struct table *t);
/*
 * The next row, whose text is the table's: 1, 0 at the end, or -1 after a
 * message on standard error.
 */
int table_next(struct table *t, struct tdma_row *row);

#endif /* TDMA_TABLE_CHECK_H */
