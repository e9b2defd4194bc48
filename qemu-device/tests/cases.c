/* SPDX-License-Identifier: MIT */
/*
 * The table of tensor moves that real software makes, as descriptors.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cases.h"

enum {
    COLUMNS = 23,
    COL_NAME = 0, COL_TIER = 1, COL_OP = 3, COL_ELEM = 4, COL_SIZES = 5,
    COL_SRC_STRIDES = 6, COL_DST_STRIDES = 7, COL_SRC_OFFSET = 8,
    COL_DST_OFFSET = 9, COL_PAD = 10,
    WRAP_ELEMENTS = 4096,
};

/* A row as the table has it: outermost first, in elements */
struct row {
    unsigned ndims;
    uint64_t elem;
    uint64_t size[TDMA_MAX_DIMS];
    int64_t src[TDMA_MAX_DIMS];
    int64_t dst[TDMA_MAX_DIMS];
    int64_t src_offset;
    int64_t dst_offset;
    /* Padding: bounds of each axis, and the dimensions that move it */
    unsigned naxes;
    int64_t start[TDMA_MAX_AXES];
    int64_t extent[TDMA_MAX_AXES];
    int axis[TDMA_MAX_DIMS];    /* -1: none */
    int32_t coef[TDMA_MAX_DIMS];
    bool cut;                   /* has been made smaller */
};

static unsigned split(char *line, char *column[COLUMNS])
{
    unsigned n = 0;

    line[strcspn(line, "\r\n")] = 0;
    while (line && n < COLUMNS) {
        column[n++] = strsep(&line, "\t");
    }
    return n;
}

static unsigned numbers(const char *text, int64_t *out)
{
    unsigned n = 0;
    char *end;

    while (*text && n < TDMA_MAX_DIMS) {
        out[n++] = strtoll(text, &end, 10);
        if (end == text) {
            return 0;
        }
        text = *end ? end + 1 : end;
    }
    return n;
}

static enum case_kind kind_of(const char *op, const char *strides,
                              const char *pad)
{
    static const char *const affine[] = {
        "permute", "copy", "copy_nd", "strided", "broadcast", "box",
    };
    unsigned i;

    if (!strcmp(op, "reorder_pad")) {
        return CASE_BLOCKED;
    }
    for (i = 0; i < sizeof(affine) / sizeof(affine[0]); i++) {
        if (!strcmp(op, affine[i])) {
            return *strides ? CASE_AFFINE : CASE_BLOCKED;
        }
    }
    if (!strcmp(op, "im2col")) {
        return *pad ? CASE_PADDED : CASE_AFFINE;
    }
    return !strcmp(op, "pad_copy") || !strcmp(op, "box_oob")
           ? CASE_PADDED : CASE_DATA_DEPENDENT;
}

static bool read_row(char *const column[], struct row *row)
{
    int64_t size[TDMA_MAX_DIMS];
    unsigned i;

    memset(row, 0, sizeof(*row));
    row->elem = strtoull(column[COL_ELEM], NULL, 10);
    row->ndims = numbers(column[COL_SIZES], size);
    row->src_offset = strtoll(column[COL_SRC_OFFSET], NULL, 10);
    row->dst_offset = strtoll(column[COL_DST_OFFSET], NULL, 10);
    for (i = 0; i < TDMA_MAX_DIMS; i++) {
        row->axis[i] = -1;
        row->size[i] = i < row->ndims ? size[i] : 1;
    }
    return row->ndims && row->elem &&
           numbers(column[COL_SRC_STRIDES], row->src) == row->ndims &&
           numbers(column[COL_DST_STRIDES], row->dst) == row->ndims;
}

static void move_axis(struct row *row, unsigned dim, unsigned axis,
                      int32_t coef)
{
    row->axis[dim] = axis;
    row->coef[dim] = coef;
}

/* Dimensions n, oh, ow, kh, kw, c; "h:lo..hi,w:lo..hi" are padded bounds. */
static bool pad_im2col(const char *pad, struct row *row)
{
    long long h_lo, h_hi, w_lo, w_hi;

    if (row->ndims != 6 || sscanf(pad, "h:%lld..%lld,w:%lld..%lld", &h_lo,
                                  &h_hi, &w_lo, &w_hi) != 4) {
        return false;
    }
    row->naxes = 2;
    row->start[0] = h_lo;
    row->extent[0] = h_hi + h_lo + 1;
    row->start[1] = w_lo;
    row->extent[1] = w_hi + w_lo + 1;
    move_axis(row, 1, 0, row->src[1] / row->src[3]);
    move_axis(row, 3, 0, 1);
    move_axis(row, 2, 1, row->src[2] / row->src[4]);
    move_axis(row, 4, 1, 1);
    return true;
}

/* "before a,b after c,d": the row is the inside; the nest is all of it. */
static bool pad_copy(const char *pad, struct row *row)
{
    long long before[2], after[2];
    unsigned i;

    if (row->ndims != 2 ||
        sscanf(pad, "before %lld,%lld after %lld,%lld", &before[0], &before[1],
               &after[0], &after[1]) != 4) {
        return false;
    }
    row->naxes = 2;
    for (i = 0; i < 2; i++) {
        row->start[i] = -before[i];
        row->extent[i] = row->size[i];
        row->size[i] += before[i] + after[i];
        row->src_offset -= before[i] * row->src[i];
        row->dst_offset -= before[i] * row->dst[i];
        move_axis(row, i, i, 1);
    }
    return true;
}

/* "columns n.. of row are outside" */
static bool pad_box(const char *pad, struct row *row)
{
    long long columns;

    if (row->ndims != 2 || sscanf(pad, "columns %lld", &columns) != 1) {
        return false;
    }
    row->naxes = 1;
    row->start[0] = row->src_offset;
    row->extent[0] = columns;
    move_axis(row, 1, 0, 1);
    return true;
}

static bool read_padding(const char *op, const char *pad, struct row *row)
{
    if (!strcmp(op, "im2col")) {
        return pad_im2col(pad, row);
    }
    return !strcmp(op, "pad_copy") ? pad_copy(pad, row) : pad_box(pad, row);
}

static void cut_payload(struct row *row, uint64_t payload)
{
    uint64_t inner = row->elem, room;
    unsigned i;

    for (i = 0; i < row->ndims; i++) {
        inner *= row->size[i];
    }
    for (i = 0; payload && i < row->ndims && inner > payload; i++) {
        inner /= row->size[i];
        room = payload / inner;
        room = room < 2 ? 2 : room;
        if (row->size[i] > room) {
            row->size[i] = room;
            row->cut = true;
        }
        inner *= row->size[i];
    }
}

/* Bytes from the segment's start to the end of the last element */
static uint64_t reach(const struct row *row, const int64_t *stride,
                      int64_t offset, unsigned *furthest)
{
    int64_t end = offset, most = -1;
    unsigned i;

    for (i = 0; i < row->ndims; i++) {
        int64_t far = stride[i] * (int64_t)(row->size[i] - 1);

        end += far > 0 ? far : 0;
        if (far > most) {
            most = far;
            *furthest = i;
        }
    }
    return (uint64_t)(end + 1) * row->elem;
}

static void cut_span(struct row *row, const int64_t *stride, int64_t *offset,
                     uint64_t span)
{
    unsigned dim = 0;

    while (span && reach(row, stride, 0, &dim) > span) {
        row->size[dim] /= 2;
        row->cut = true;
    }
    if (span && *offset > 0 && reach(row, stride, *offset, &dim) > span) {
        *offset %= WRAP_ELEMENTS;
    }
}

/* So that the upper border is still padded as much as the lower one is */
static void cut_extents(struct row *row)
{
    unsigned axis, i;

    for (axis = 0; row->cut && axis < row->naxes; axis++) {
        int64_t last = row->start[axis];

        for (i = 0; i < row->ndims; i++) {
            if (row->axis[i] == (int)axis) {
                last += row->coef[i] * (int64_t)(row->size[i] - 1);
            }
        }
        if (row->start[axis] < 0 && last + row->start[axis] + 1 > 0 &&
            last + row->start[axis] + 1 < row->extent[axis]) {
            row->extent[axis] = last + row->start[axis] + 1;
        }
    }
}

static void make_desc(const struct row *row, struct test_case *c)
{
    struct tdma_desc *d = &c->desc;
    struct tdma_desc_ext *e = &c->ext;
    unsigned unused, i;

    *d = (struct tdma_desc) {
        .version = TDMA_DESC_VERSION,
        .opcode = TDMA_OP_COPY,
        .ndims = row->ndims,
        .elem_bytes = row->elem,
        .src_offset = (uint64_t)(row->src_offset * (int64_t)row->elem),
        .dst_offset = (uint64_t)(row->dst_offset * (int64_t)row->elem),
        .flags = row->naxes ? TDMA_DESC_EXT : 0,
    };
    *e = (struct tdma_desc_ext) {
        .version = TDMA_DESC_VERSION, .naxes = row->naxes, .fill_bytes = 1,
    };
    for (i = 0; i < row->ndims; i++) {
        unsigned dim = row->ndims - 1 - i;

        d->steps[dim] = row->size[i];
        d->src_stride[dim] = row->src[i] * (int64_t)row->elem;
        d->dst_stride[dim] = row->dst[i] * (int64_t)row->elem;
        if (row->axis[i] >= 0) {
            e->src_axis[dim] = row->axis[i] + 1;
            e->src_coef[dim] = row->coef[i];
        }
    }
    for (i = 0; i < row->naxes; i++) {
        e->axis_start[i] = row->start[i];
        e->axis_extent[i] = row->extent[i];
    }
    c->src_bytes = reach(row, row->src, row->src_offset, &unused);
    c->dst_bytes = reach(row, row->dst, row->dst_offset, &unused);
}

static void read_case(char *const column[], uint64_t payload, uint64_t span,
                      struct test_case *c)
{
    struct row row;

    memset(c, 0, sizeof(*c));
    snprintf(c->name, sizeof(c->name), "%s", column[COL_NAME]);
    c->core = !strcmp(column[COL_TIER], "core");
    c->kind = kind_of(column[COL_OP], column[COL_SRC_STRIDES],
                      column[COL_PAD]);
    if (c->kind != CASE_AFFINE && c->kind != CASE_PADDED) {
        return;
    }
    if (!read_row(column, &row) ||
        (c->kind == CASE_PADDED &&
         !read_padding(column[COL_OP], column[COL_PAD], &row))) {
        fprintf(stderr, "# cannot make sense of case %s\n", c->name);
        abort();
    }
    cut_payload(&row, payload);
    cut_span(&row, row.src, &row.src_offset, span);
    cut_span(&row, row.dst, &row.dst_offset, span);
    cut_extents(&row);
    make_desc(&row, c);
}

unsigned cases_read(const char *path, uint64_t payload, uint64_t span,
                    struct test_case **cases)
{
    FILE *file = fopen(path, "r");
    char *line = NULL, *column[COLUMNS];
    unsigned count = 0, room = 0;
    size_t size = 0;

    *cases = NULL;
    if (!file) {
        perror(path);
        return 0;
    }
    while (getline(&line, &size, file) > 0) {
        if (split(line, column) <= COL_PAD ||
            !strcmp(column[COL_NAME], "name")) {
            continue;
        }
        if (count == room) {
            room = room ? 2 * room : 256;
            *cases = realloc(*cases, room * sizeof(**cases));
            if (!*cases) {
                abort();
            }
        }
        read_case(column, payload, span, &(*cases)[count++]);
    }
    free(line);
    fclose(file);
    return count;
}
