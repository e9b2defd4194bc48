/* SPDX-License-Identifier: MIT */
/*
 * tensordma core, fast engine: transposes of small units in registers.
 *
 * A square of 16-byte rows is transposed by interleaving row i with row
 * i + edge / 2, for all i, log2(edge) times over. Written with the compiler's
 * generic vectors: it picks the machine's own interleave instructions.
 */
#include <string.h>
#include "dma/fast_transpose.h"

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define HAVE_SHUFFLE 1
#endif
#endif

#ifdef HAVE_SHUFFLE

typedef uint8_t vec1 __attribute__((vector_size(16)));
typedef uint16_t vec2 __attribute__((vector_size(16)));
typedef uint32_t vec4 __attribute__((vector_size(16)));
typedef uint64_t vec8 __attribute__((vector_size(16)));

#define LOW_1(a, b) __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, \
                                            4, 20, 5, 21, 6, 22, 7, 23)
#define HIGH_1(a, b) __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, \
                                             27, 12, 28, 13, 29, 14, 30, 15, \
                                             31)
#define LOW_2(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define HIGH_2(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#define LOW_4(a, b) __builtin_shufflevector(a, b, 0, 4, 1, 5)
#define HIGH_4(a, b) __builtin_shufflevector(a, b, 2, 6, 3, 7)
#define LOW_8(a, b) __builtin_shufflevector(a, b, 0, 2)
#define HIGH_8(a, b) __builtin_shufflevector(a, b, 1, 3)

/* Squares of a band: a cache line of source per column is used up at once. */
enum { BAND_BYTES = 64 };

/* So that the rows of a square stay in registers */
#define UNROLL _Pragma("GCC unroll 16")

#define TRANSPOSE(unit, edge, rounds)                                       \
    static inline void square_##unit(uint8_t *dst, int64_t dst_row,         \
                                     const uint8_t *src, int64_t src_col)   \
    {                                                                       \
        vec##unit a[edge], b[edge];                                         \
                                                                            \
        UNROLL                                                              \
        for (unsigned i = 0; i < (edge); i++) {                             \
            memcpy(&a[i], src, sizeof(a[i]));                               \
            src += src_col;                                                 \
        }                                                                   \
        UNROLL                                                              \
        for (unsigned round = 0; round < (rounds); round++) {               \
            UNROLL                                                          \
            for (unsigned i = 0; i < (edge) / 2; i++) {                     \
                b[2 * i] = LOW_##unit(a[i], a[i + (edge) / 2]);             \
                b[2 * i + 1] = HIGH_##unit(a[i], a[i + (edge) / 2]);        \
            }                                                               \
            UNROLL                                                          \
            for (unsigned i = 0; i < (edge); i++) {                         \
                a[i] = b[i];                                                \
            }                                                               \
        }                                                                   \
        UNROLL                                                              \
        for (unsigned i = 0; i < (edge); i++) {                             \
            memcpy(dst, &a[i], sizeof(a[i]));                               \
            dst += dst_row;                                                 \
        }                                                                   \
    }                                                                       \
                                                                            \
    static void band_##unit(uint64_t rows, uint64_t cols, uint8_t *dst,     \
                            int64_t dst_row, const uint8_t *src,            \
                            int64_t src_col)                                \
    {                                                                       \
        uint64_t row, col;                                                  \
                                                                            \
        for (col = 0; col < cols; col += (edge)) {                          \
            for (row = 0; row < rows; row += (edge)) {                      \
                square_##unit(dst + (int64_t)row * dst_row + col * (unit),  \
                              dst_row,                                      \
                              src + (int64_t)col * src_col + row * (unit),  \
                              src_col);                                     \
            }                                                               \
        }                                                                   \
    }

TRANSPOSE(1, 16, 4)
TRANSPOSE(2, 8, 3)
TRANSPOSE(4, 4, 2)
TRANSPOSE(8, 2, 1)

typedef void band_fn(uint64_t rows, uint64_t cols, uint8_t *dst,
                     int64_t dst_row, const uint8_t *src, int64_t src_col);

static band_fn *choose_band(size_t unit_bytes)
{
    switch (unit_bytes) {
    case 1:
        return band_1;
    case 2:
        return band_2;
    case 4:
        return band_4;
    default:
        return band_8;
    }
}

unsigned fast_transpose_edge(size_t unit_bytes)
{
    switch (unit_bytes) {
    case 1:
    case 2:
    case 4:
    case 8:
        return 16 / unit_bytes;
    default:
        return 0;
    }
}

void fast_transpose(size_t unit_bytes, uint64_t rows, uint64_t cols,
                    uint8_t *dst, int64_t dst_row, const uint8_t *src,
                    int64_t src_col)
{
    band_fn *band = choose_band(unit_bytes);
    uint64_t height = BAND_BYTES / unit_bytes, row;

    for (row = 0; row < rows; row += height) {
        band(rows - row < height ? rows - row : height, cols,
             dst + (int64_t)row * dst_row, dst_row, src + row * unit_bytes,
             src_col);
    }
}

#else

unsigned fast_transpose_edge(size_t unit_bytes)
{
    (void)unit_bytes;
    return 0;
}

void fast_transpose(size_t unit_bytes, uint64_t rows, uint64_t cols,
                    uint8_t *dst, int64_t dst_row, const uint8_t *src,
                    int64_t src_col)
{
    (void)unit_bytes;
    (void)rows;
    (void)cols;
    (void)dst;
    (void)dst_row;
    (void)src;
    (void)src_col;
}

#endif
