/* SPDX-License-Identifier: MIT */
/*
 * tensordma core: the exact bytes a side of a descriptor touches.
 */
#ifndef TDMA_EXTENT_H
#define TDMA_EXTENT_H

#include <stdbool.h>
#include <stdint.h>
#include <linux/tensordma_desc.h>

/* Wide enough for any sum of offsets a descriptor can name */
typedef __int128 tdma_wide;

/* The loop nest, with an implied outermost bound resolved */
struct tdma_shape {
    unsigned ndims;
    uint32_t steps[TDMA_MAX_DIMS];      /* 1 at and beyond ndims */
    uint64_t elements;          /* may end the nest early; 0 = empty */
};

/* One side of a descriptor */
struct tdma_walk {
    unsigned ndims;             /* beyond, strides are 0 */
    tdma_wide offset;           /* of element 0 */
    int64_t stride[TDMA_MAX_DIMS];
    /* Axis of each dimension, or -1, and, if there is one, its coefficient */
    int8_t axis[TDMA_MAX_DIMS];
    int32_t coef[TDMA_MAX_DIMS];
    uint32_t axes;              /* of this side: bit n = axis n */
    int64_t start[TDMA_MAX_AXES];
    uint64_t extent[TDMA_MAX_AXES];
};

/* Side @side (0 = source, 1 = destination); @ext may be NULL. */
void tdma_walk_init(struct tdma_walk *walk, const struct tdma_desc *desc,
                    const struct tdma_desc_ext *ext, unsigned side);

/*
 * Lowest and highest offset of an element that lies inside its axes. False if
 * there is none. Exact, except where several dimensions move one axis in more
 * than a few thousand irregular combinations: then the range may be too wide,
 * never too narrow.
 */
bool tdma_walk_range(const struct tdma_walk *walk,
                     const struct tdma_shape *shape, tdma_wide *min,
                     tdma_wide *max);

/*
 * First element, in element order, whose offset is not within [0, limit]; the
 * walk has no axes and there is such an element. Returns its offset; *dim is
 * the outermost dimension whose index is not 0 there, or TDMA_DIM_NONE.
 */
tdma_wide tdma_walk_first_outside(const struct tdma_walk *walk,
                                  const struct tdma_shape *shape,
                                  tdma_wide limit, uint8_t *dim);

#endif /* TDMA_EXTENT_H */
