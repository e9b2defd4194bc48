// SPDX-License-Identifier: GPL-2.0
/* tdma: rows of a case table, parsed strictly. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"
#include "tool.h"

#define MOST_BYTES	(64U << 20)
/* So that no product of a row comes near the end of 64 bits */
#define MOST_SIZE	(1LL << 40)
#define MOST_STRIDE	(1LL << 40)
#define MOST_PAYLOAD	(1LL << 60)

/* In the order of the file; see cases/README.md of the selftests */
static const char *const columns[] = {
	"name", "tier", "family", "op", "elem_bytes", "sizes", "src_strides",
	"dst_strides", "src_offset", "dst_offset", "fill_pad", "table_rows",
	"row_elems", "num_indices", "pooling", "distribution", "weight",
	"payload_bytes", "min_ndim", "src_run_bytes", "dst_run_bytes",
	"joint_run_bytes", "source", "notes",
};

#define COLUMNS	ARRAY_SIZE(columns)

enum column {
	NAME, TIER, FAMILY, OP, ELEM_BYTES, SIZES, SRC_STRIDES, DST_STRIDES,
	SRC_OFFSET, DST_OFFSET, FILL_PAD, NOTES = COLUMNS - 1,
};

static int wrong(const struct table *t, int column, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int wrong(const struct table *t, int column, const char *format, ...)
{
	char text[160];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	complain(EXIT_INPUT, "%s:%u: %s%s%s", t->path, t->line,
		 column < 0 ? "" : columns[column], column < 0 ? "" : ": ",
		 text);
	return -1;
}

int table_open(struct table *t, const char *path)
{
	size_t length;
	int status;

	memset(t, 0, sizeof(*t));
	t->path = path;
	status = read_file(path, MOST_BYTES, &t->text, &length);
	if (status)
		return status;
	if (strlen(t->text) != length) {
		t->line = 1;
		wrong(t, -1, "not text: byte %zu is zero", strlen(t->text));
		free(t->text);
		return EXIT_INPUT;
	}
	t->rest = t->text;
	return EXIT_OK;
}

void table_close(struct table *t)
{
	free(t->text);
}

static int get_number(const struct table *t, int column, const char *text,
		      int64_t min, int64_t max, int64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoll(text, &end, 10);
	if (end == text || *end || errno)
		return wrong(t, column, "\"%s\" is no number", text);
	if (*number < min || *number > max)
		return wrong(t, column, "%s is not within %lld to %lld", text,
			     (long long)min, (long long)max);
	return 0;
}

/* Comma list, outermost first, into @list, innermost first; the count or -1 */
static int get_list(const struct table *t, int column, char *text, int64_t min,
		    int64_t max, __s64 *list)
{
	int64_t number;
	int count = 0;
	char *word;

	if (!*text)
		return 0;
	while ((word = strsep(&text, ","))) {
		if (count == TDMA_MAX_DIMS)
			return wrong(t, column, "more than %d numbers",
				     TDMA_MAX_DIMS);
		if (get_number(t, column, word, min, max, &number))
			return -1;
		memmove(list + 1, list, count * sizeof(*list));
		list[0] = number;
		count++;
	}
	return count;
}

static int check_payload(const struct table *t, const struct tdma_row *row)
{
	int64_t bytes = row->elem_bytes;

	for (int i = 0; i < row->ndims; i++)
		if (__builtin_mul_overflow(bytes, row->size[i], &bytes) ||
		    bytes > MOST_PAYLOAD)
			return wrong(t, SIZES, "more than 2^60 bytes");
	return 1;
}

static int parse_strides(const struct table *t, char **field,
			 struct tdma_row *row)
{
	__s64 *const to[] = { row->src_stride, row->dst_stride };

	for (int side = 0; side < 2; side++) {
		int column = SRC_STRIDES + side;
		int n = get_list(t, column, field[column], -MOST_STRIDE,
				 MOST_STRIDE, to[side]);

		if (n < 0)
			return -1;
		if (n != row->ndims)
			return wrong(t, column, "%d numbers for %d sizes", n,
				     row->ndims);
	}
	return check_payload(t, row);
}

static int parse_row(const struct table *t, char *line, struct tdma_row *row)
{
	int64_t elem, offset[2] = { 0 };
	char *field[COLUMNS];

	for (size_t i = 0; i < COLUMNS; i++) {
		field[i] = strsep(&line, "\t");
		if (!field[i])
			return wrong(t, -1, "%zu columns, %zu expected", i,
				     COLUMNS);
	}
	if (line)
		return wrong(t, -1, "more than %zu columns", COLUMNS);
	row->name = field[NAME];
	row->tier = field[TIER];
	row->family = field[FAMILY];
	row->op = field[OP];
	row->fill_pad = field[FILL_PAD];
	row->notes = field[NOTES];
	if (get_number(t, ELEM_BYTES, field[ELEM_BYTES], 1,
		       TDMA_MAX_ELEM_BYTES, &elem))
		return -1;
	row->elem_bytes = elem;
	for (int i = 0; i < 2; i++)
		if (*field[SRC_OFFSET + i] &&
		    get_number(t, SRC_OFFSET + i, field[SRC_OFFSET + i],
			       -MOST_STRIDE, MOST_STRIDE, &offset[i]))
			return -1;
	row->src_offset = offset[0];
	row->dst_offset = offset[1];
	row->ndims = get_list(t, SIZES, field[SIZES], 0, MOST_SIZE, row->size);
	if (row->ndims < 0)
		return -1;
	/* Rows without strides are not affine. */
	return *field[SRC_STRIDES] ? parse_strides(t, field, row) : 1;
}

int table_next(struct table *t, struct tdma_row *row)
{
	char *line;

	while ((line = strsep(&t->rest, "\n"))) {
		t->line++;
		memset(row, 0, sizeof(*row));
		if (*line && strncmp(line, "name\t", 5))
			return parse_row(t, line, row);
	}
	return 0;
}
