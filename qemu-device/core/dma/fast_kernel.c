/* SPDX-License-Identifier: MIT */
/*
 * tensordma core, fast engine: loop nests over plain pointers.
 */
#include <string.h>
#include "dma/fast_kernel.h"
#include "dma/fast_transpose.h"
#include "dma/fast_zip.h"
#include "dma/tdma_check.h"
#include "dma/tdma_engine.h"

/* The two innermost loops: rows of units */
struct sheet {
    uint64_t rows;
    uint64_t cols;
    int64_t src_row, dst_row;
    int64_t src_col, dst_col;
    size_t unit_bytes;
};

typedef void sheet_fn(const struct sheet *sheet, uint8_t *dst,
                      const uint8_t *src);

/*
 * A unit of fixed size is loaded whole before it is stored, so a sheet is also
 * right for units that overlap.
 */
#define FIXED_SHEET(bytes)                                                  \
    static void sheet_##bytes(const struct sheet *s, uint8_t *dst,          \
                              const uint8_t *src)                           \
    {                                                                       \
        const struct sheet k = *s;  /* stores might alias *s */             \
        uint64_t row, col;                                                  \
                                                                            \
        for (row = 0; row < k.rows; row++) {                                \
            const uint8_t *from = src;                                      \
            uint8_t *to = dst;                                              \
                                                                            \
            for (col = 0; col < k.cols; col++) {                            \
                uint8_t unit[bytes];                                        \
                                                                            \
                memcpy(unit, from, bytes);                                  \
                memcpy(to, unit, bytes);                                    \
                from += k.src_col;                                          \
                to += k.dst_col;                                            \
            }                                                               \
            src += k.src_row;                                               \
            dst += k.dst_row;                                               \
        }                                                                   \
    }

FIXED_SHEET(1)
FIXED_SHEET(2)
FIXED_SHEET(3)
FIXED_SHEET(4)
FIXED_SHEET(6)
FIXED_SHEET(8)
FIXED_SHEET(12)
FIXED_SHEET(16)
FIXED_SHEET(32)
FIXED_SHEET(64)

static void sheet_any(const struct sheet *s, uint8_t *dst, const uint8_t *src)
{
    uint64_t row, col;

    for (row = 0; row < s->rows; row++) {
        const uint8_t *from = src;
        uint8_t *to = dst;

        for (col = 0; col < s->cols; col++) {
            memmove(to, from, s->unit_bytes);
            from += s->src_col;
            to += s->dst_col;
        }
        src += s->src_row;
        dst += s->dst_row;
    }
}

/*
 * Units of 17 to 512 bytes that do not overlap: in pieces, the last one up to
 * the unit's end, which is less work than to call someone.
 */
static void sheet_in_pieces(const struct sheet *s, uint8_t *dst,
                            const uint8_t *src)
{
    enum { PIECE = 16 };
    const struct sheet k = *s;
    size_t last = k.unit_bytes - PIECE, at;
    uint64_t row, col;

    for (row = 0; row < k.rows; row++) {
        const uint8_t *from = src;
        uint8_t *to = dst;

        for (col = 0; col < k.cols; col++) {
            for (at = 0; at < last; at += PIECE) {
                memcpy(to + at, from + at, PIECE);
            }
            memcpy(to + last, from + last, PIECE);
            from += k.src_col;
            to += k.dst_col;
        }
        src += k.src_row;
        dst += k.dst_row;
    }
}

enum { PIECES_MIN = 17, PIECES_MAX = 512 };

/* Without overlap there is more choice. */
static sheet_fn *choose_sheet(size_t unit_bytes, bool any_order)
{
    if (any_order && unit_bytes >= PIECES_MIN && unit_bytes <= PIECES_MAX &&
        unit_bytes != 32 && unit_bytes != 64) {
        return sheet_in_pieces;
    }
    switch (unit_bytes) {
    case 1: return sheet_1;
    case 2: return sheet_2;
    case 3: return sheet_3;
    case 4: return sheet_4;
    case 6: return sheet_6;
    case 8: return sheet_8;
    case 12: return sheet_12;
    case 16: return sheet_16;
    case 32: return sheet_32;
    case 64: return sheet_64;
    default: return sheet_any;
    }
}

/* Call @fn for the two innermost dimensions at every index of the others. */
static void walk_sheets(const struct fast_nest *nest, unsigned dim,
                        const struct sheet *sheet, sheet_fn *fn, uint8_t *dst,
                        const uint8_t *src)
{
    uint64_t i;

    if (dim < 2) {
        fn(sheet, dst, src);
        return;
    }
    for (i = 0; i < nest->n[dim]; i++) {
        walk_sheets(nest, dim - 1, sheet, fn, dst, src);
        src += nest->src_step[dim];
        dst += nest->dst_step[dim];
    }
}

static struct sheet sheet_of(const struct fast_nest *nest)
{
    struct sheet sheet = {
        .rows = 1,
        .cols = 1,
        .unit_bytes = nest->unit_bytes,
    };

    if (nest->ndims > 0) {
        sheet.cols = nest->n[0];
        sheet.src_col = nest->src_step[0];
        sheet.dst_col = nest->dst_step[0];
    }
    if (nest->ndims > 1) {
        sheet.rows = nest->n[1];
        sheet.src_row = nest->src_step[1];
        sheet.dst_row = nest->dst_step[1];
    }
    return sheet;
}

/* A strip that is contiguous on both sides is one longer unit. */
static void join_strip(struct fast_nest *nest)
{
    int64_t unit = nest->unit_bytes;

    if (nest->ndims && nest->src_step[0] == unit &&
        nest->dst_step[0] == unit) {
        nest->unit_bytes *= nest->n[0];
        nest->ndims--;
        memmove(nest->n, nest->n + 1, nest->ndims * sizeof(nest->n[0]));
        memmove(nest->src_step, nest->src_step + 1,
                nest->ndims * sizeof(nest->src_step[0]));
        memmove(nest->dst_step, nest->dst_step + 1,
                nest->ndims * sizeof(nest->dst_step[0]));
    }
}

static uint64_t min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t magnitude(int64_t a)
{
    return a < 0 ? -(uint64_t)a : (uint64_t)a;
}

static void swap_dims(struct fast_nest *nest, unsigned a, unsigned b)
{
    uint64_t n = nest->n[a];
    int64_t src = nest->src_step[a], dst = nest->dst_step[a];

    nest->n[a] = nest->n[b];
    nest->src_step[a] = nest->src_step[b];
    nest->dst_step[a] = nest->dst_step[b];
    nest->n[b] = n;
    nest->src_step[b] = src;
    nest->dst_step[b] = dst;
}

/* Order the dimensions from @first on by growing step in @step. */
static void sort_dims(struct fast_nest *nest, unsigned first,
                      const int64_t *step)
{
    unsigned i, j;

    for (i = first; i < nest->ndims; i++) {
        for (j = i + 1; j < nest->ndims; j++) {
            if (magnitude(step[j]) < magnitude(step[i])) {
                swap_dims(nest, i, j);
            }
        }
    }
}

/* Index of the dimension, from 1 on, in which the source steps least */
static unsigned least_source_step(const struct fast_nest *nest)
{
    unsigned i, best = 1;

    for (i = 2; i < nest->ndims; i++) {
        if (magnitude(nest->src_step[i]) < magnitude(nest->src_step[best])) {
            best = i;
        }
    }
    return best;
}

/*
 * How to move a sheet with the cache in mind. In blocks, so that the lines of
 * a block stay until all of each has been used; square ones, in registers,
 * where the destination is contiguous along columns and the source along rows;
 * or, where rows are planes on one side and interleaved on the other, some of
 * each plane at once.
 */
struct tiling {
    sheet_fn *fn;
    uint64_t rows;              /* of a block */
    uint64_t cols;
    unsigned edge;              /* of a square, or 0 */
    bool zipped;
    struct fast_zip zip;        /* valid if zipped */
};

static void sheet_in_blocks(const struct sheet *s, const struct tiling *tiling,
                            uint8_t *dst, const uint8_t *src)
{
    uint64_t row, col;

    for (row = 0; row < s->rows; row += tiling->rows) {
        for (col = 0; col < s->cols; col += tiling->cols) {
            struct sheet block = *s;

            block.rows = min_u64(s->rows - row, tiling->rows);
            block.cols = min_u64(s->cols - col, tiling->cols);
            tiling->fn(&block,
                       dst + (int64_t)row * s->dst_row +
                       (int64_t)col * s->dst_col,
                       src + (int64_t)row * s->src_row +
                       (int64_t)col * s->src_col);
        }
    }
}

/* The part of a sheet from (@row, @col) on, if there is any */
static void sheet_rest(const struct sheet *s, const struct tiling *tiling,
                       uint64_t row, uint64_t col, uint64_t rows,
                       uint64_t cols, uint8_t *dst, const uint8_t *src)
{
    struct sheet rest = *s;

    rest.rows = rows;
    rest.cols = cols;
    sheet_in_blocks(&rest, tiling,
                    dst + (int64_t)row * s->dst_row + (int64_t)col * s->dst_col,
                    src + (int64_t)row * s->src_row +
                    (int64_t)col * s->src_col);
}

static void sheet_in_squares(const struct sheet *s, const struct tiling *tiling,
                             uint8_t *dst, const uint8_t *src)
{
    uint64_t rows = s->rows - s->rows % tiling->edge;
    uint64_t cols = s->cols - s->cols % tiling->edge;

    fast_transpose(s->unit_bytes, rows, cols, dst, s->dst_row, src,
                   s->src_col);
    sheet_rest(s, tiling, 0, cols, rows, s->cols - cols, dst, src);
    sheet_rest(s, tiling, rows, 0, s->rows - rows, s->cols, dst, src);
}

static void sheet_of_planes(const struct sheet *s, const struct tiling *tiling,
                            uint8_t *dst, const uint8_t *src)
{
    uint64_t cols_per_row = FAST_ZIP_ROW / s->unit_bytes;
    uint64_t rest = s->cols % cols_per_row;

    fast_zip_move(&tiling->zip, s->cols / cols_per_row,
                  tiling->zip.interleave ? s->src_row : s->dst_row, dst, src);
    sheet_rest(s, tiling, 0, s->cols - rest, s->rows, rest, dst, src);
}

static void walk_tiles(const struct fast_nest *nest, unsigned dim,
                       const struct sheet *sheet, const struct tiling *tiling,
                       uint8_t *dst, const uint8_t *src)
{
    uint64_t i;

    if (dim < 2) {
        if (tiling->zipped) {
            sheet_of_planes(sheet, tiling, dst, src);
        } else if (tiling->edge) {
            sheet_in_squares(sheet, tiling, dst, src);
        } else {
            sheet_in_blocks(sheet, tiling, dst, src);
        }
        return;
    }
    for (i = 0; i < nest->n[dim]; i++) {
        walk_tiles(nest, dim - 1, sheet, tiling, dst, src);
        src += nest->src_step[dim];
        dst += nest->dst_step[dim];
    }
}

enum {
    CACHE_LINE = 64,
    /* Units at most this long are worth a detour */
    TILE_UNIT_MAX = 16,
    BLOCK_SIDE = 32,
    /* Rows this short are walked the other way round, in blocks this long */
    SHORT_ROW = 8,
    LONG_BLOCK = 512,
};

static unsigned square_edge(const struct sheet *s)
{
    int64_t unit = s->unit_bytes;
    unsigned edge = fast_transpose_edge(s->unit_bytes);

    return s->dst_col == unit && s->src_row == unit && s->rows >= edge &&
           s->cols >= edge ? edge : 0;
}

/* A transpose: the source runs along another dimension than the destination. */
static bool is_transpose(const struct fast_nest *nest, unsigned row)
{
    return magnitude(nest->src_step[0]) >= CACHE_LINE &&
           magnitude(nest->src_step[row]) < magnitude(nest->src_step[0]);
}

/* Dimension whose steps are these, or ndims */
static unsigned find_dim(const struct fast_nest *nest, int64_t src_step,
                         int64_t dst_step)
{
    unsigned i;

    for (i = 0; i < nest->ndims; i++) {
        if (nest->src_step[i] == src_step && nest->dst_step[i] == dst_step) {
            break;
        }
    }
    return i;
}

/*
 * Are the steps of dimension @planes those between planes that are being
 * interleaved, or the other way round? Returns the dimension that runs along
 * the planes, or ndims.
 */
static unsigned along_planes(const struct fast_nest *nest, unsigned planes,
                             bool interleave)
{
    int64_t unit = nest->unit_bytes, apart = unit * (int64_t)nest->n[planes];
    int64_t close = interleave ? nest->dst_step[planes]
                               : nest->src_step[planes];
    unsigned run = interleave ? find_dim(nest, unit, apart)
                              : find_dim(nest, apart, unit);

    return close == unit && run < nest->ndims &&
           nest->n[run] >= FAST_ZIP_ROW / nest->unit_bytes ? run : nest->ndims;
}

/* Less than this is done before a zip has been set up. */
enum { ZIP_BYTES_MIN = 2048 };

static uint64_t nest_bytes(const struct fast_nest *nest)
{
    uint64_t bytes = nest->unit_bytes;
    unsigned i;

    for (i = 0; i < nest->ndims; i++) {
        bytes *= nest->n[i];
    }
    return bytes;
}

/* Planes become dimension 1, what runs along them dimension 0. */
static bool choose_zip(struct fast_nest *nest, struct tiling *tiling)
{
    unsigned i, run;

    if (nest_bytes(nest) < ZIP_BYTES_MIN) {
        return false;
    }
    for (i = 0; i < nest->ndims; i++) {
        bool interleave = nest->dst_step[i] == (int64_t)nest->unit_bytes;

        if (nest->n[i] > FAST_ZIP_MAX) {
            continue;
        }
        run = along_planes(nest, i, interleave);
        if (run < nest->ndims &&
            fast_zip_init(&tiling->zip, nest->unit_bytes, nest->n[i],
                          interleave)) {
            swap_dims(nest, 0, run);
            swap_dims(nest, 1, i ? i : run);
            return true;
        }
    }
    return false;
}

static void choose_tiling(struct fast_nest *nest, struct tiling *tiling)
{
    unsigned row;

    tiling->rows = UINT64_MAX / 2;
    tiling->cols = UINT64_MAX / 2;
    tiling->zipped = false;
    if (nest->ndims < 2 || nest->unit_bytes > TILE_UNIT_MAX) {
        return;
    }
    row = least_source_step(nest);
    if (choose_zip(nest, tiling)) {
        tiling->zipped = true;
    } else if (nest->n[0] < SHORT_ROW && nest->n[1] > nest->n[0]) {
        swap_dims(nest, 0, 1);
        tiling->cols = LONG_BLOCK;
    } else if (is_transpose(nest, row)) {
        swap_dims(nest, 1, row);
        sort_dims(nest, 2, nest->dst_step);
        tiling->rows = BLOCK_SIDE;
        tiling->cols = BLOCK_SIDE;
    }
}

static void copy_any_order(struct fast_nest *nest, uint8_t *dst,
                           const uint8_t *src)
{
    struct tiling tiling;
    struct sheet sheet;

    sort_dims(nest, 0, nest->dst_step);
    join_strip(nest);
    choose_tiling(nest, &tiling);
    sheet = sheet_of(nest);
    tiling.fn = choose_sheet(nest->unit_bytes, true);
    tiling.edge = tiling.rows == BLOCK_SIDE ? square_edge(&sheet) : 0;
    walk_tiles(nest, nest->ndims ? nest->ndims - 1 : 0, &sheet, &tiling, dst,
               src);
}

void fast_copy(const struct fast_nest *nest, bool any_order, uint8_t *dst,
               const uint8_t *src)
{
    struct fast_nest copy = *nest;
    struct sheet sheet;

    if (any_order) {
        copy_any_order(&copy, dst, src);
        return;
    }
    sheet = sheet_of(nest);
    walk_sheets(nest, nest->ndims ? nest->ndims - 1 : 0, &sheet,
                choose_sheet(nest->unit_bytes, false), dst, src);
}

static void add_walk(const struct fast_nest *nest, unsigned dims,
                     unsigned type, size_t numbers, uint8_t *dst,
                     const uint8_t *src)
{
    uint64_t i;

    if (!dims) {
        tdma_accumulate(type, dst, src, numbers);
        return;
    }
    for (i = 0; i < nest->n[dims - 1]; i++) {
        add_walk(nest, dims - 1, type, numbers, dst, src);
        src += nest->src_step[dims - 1];
        dst += nest->dst_step[dims - 1];
    }
}

void fast_accumulate(const struct fast_nest *nest, unsigned type, uint8_t *dst,
                     const uint8_t *src)
{
    add_walk(nest, nest->ndims, type,
             nest->unit_bytes / tdma_type_bytes(type), dst, src);
}
