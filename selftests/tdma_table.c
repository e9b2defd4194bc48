// SPDX-License-Identifier: GPL-2.0
/* tensordma selftests: rows of cases/cases.tsv. */
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tdma_table.h"

/* Columns, in the order of the file. */
enum column {
	NAME, TIER, FAMILY, OP, ELEM_BYTES, SIZES, SRC_STRIDES, DST_STRIDES,
	SRC_OFFSET, DST_OFFSET, FILL_PAD, TABLE_ROWS, ROW_ELEMS, NUM_INDICES,
	POOLING, DISTRIBUTION, WEIGHT, PAYLOAD_BYTES, MIN_NDIM, SRC_RUN_BYTES,
	DST_RUN_BYTES, JOINT_RUN_BYTES, SOURCE, NOTES, COLUMNS,
};

FILE *tdma_table_open(void)
{
	const char *named = getenv("TDMA_CASES_FILE");
	char self[PATH_MAX], path[PATH_MAX + 32];
	ssize_t len;

	if (named)
		return fopen(named, "r");
	len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (len < 0)
		return NULL;
	self[len] = '\0';
	snprintf(path, sizeof(path), "%s/cases/cases.tsv", dirname(self));
	return fopen(path, "r");
}

/* Comma list, outermost first, into @list, innermost first; the count. */
static int parse_list(const char *text, __s64 *list)
{
	int count = 0;
	char *end;

	while (*text) {
		if (count == TDMA_MAX_DIMS)
			return -1;
		memmove(list + 1, list, count * sizeof(*list));
		list[0] = strtoll(text, &end, 10);
		if (end == text || (*end && *end != ','))
			return -1;
		count++;
		text = *end ? end + 1 : end;
	}
	return count;
}

static int parse_row(char *line, struct tdma_row *row)
{
	char *field[COLUMNS];

	for (int i = 0; i < COLUMNS; i++) {
		field[i] = strsep(&line, "\t\n");
		if (!field[i])
			return -1;
	}
	row->name = field[NAME];
	row->tier = field[TIER];
	row->family = field[FAMILY];
	row->op = field[OP];
	row->fill_pad = field[FILL_PAD];
	row->notes = field[NOTES];
	row->elem_bytes = strtoul(field[ELEM_BYTES], NULL, 10);
	row->src_offset = strtoll(field[SRC_OFFSET], NULL, 10);
	row->dst_offset = strtoll(field[DST_OFFSET], NULL, 10);
	row->ndims = parse_list(field[SIZES], row->size);
	if (row->ndims < 0 || !row->elem_bytes)
		return -1;
	/* Rows without strides are not affine. */
	if (!*field[SRC_STRIDES])
		return 1;
	if (parse_list(field[SRC_STRIDES], row->src_stride) != row->ndims ||
	    parse_list(field[DST_STRIDES], row->dst_stride) != row->ndims)
		return -1;
	return 1;
}

int tdma_table_next(FILE *file, struct tdma_row *row)
{
	size_t room = 0;
	int ret;

	do {
		memset(row, 0, sizeof(*row));
		if (getline(&row->line, &room, file) < 0) {
			tdma_row_free(row);
			return 0;
		}
		ret = strncmp(row->line, "name\t", 5) ?
			parse_row(row->line, row) : 0;
		if (ret <= 0)
			tdma_row_free(row);
		room = 0;
	} while (!ret);
	return ret;
}

void tdma_row_free(struct tdma_row *row)
{
	free(row->line);
	row->line = NULL;
}
