/* SPDX-License-Identifier: MIT */
/*
 * tensordma core, fast engine: transposes of small units in registers.
 */
#ifndef FAST_TRANSPOSE_H
#define FAST_TRANSPOSE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Units on the edge of the square that is transposed at once, for units of
 * @unit_bytes; 0 if there is no such transpose.
 */
unsigned fast_transpose_edge(size_t unit_bytes);

/*
 * Move a whole number of squares: @rows x @cols units, both multiples of the
 * edge. The source is contiguous along the rows' direction and steps by
 * @src_col from column to column; the destination is contiguous along the
 * columns' direction and steps by @dst_row from row to row. No overlap.
 */
void fast_transpose(size_t unit_bytes, uint64_t rows, uint64_t cols,
                    uint8_t *dst, int64_t dst_row, const uint8_t *src,
                    int64_t src_col);

#endif /* FAST_TRANSPOSE_H */
