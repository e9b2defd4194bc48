/* SPDX-License-Identifier: MIT */
/*
 * tensordma core, fast engine: planes of small units, and the same units
 * interleaved.
 */
#ifndef FAST_ZIP_H
#define FAST_ZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    FAST_ZIP_MIN = 2,           /* planes */
    FAST_ZIP_MAX = 4,
    FAST_ZIP_ROW = 16,          /* bytes of a plane that are moved at once */
};

struct fast_zip {
    unsigned planes;
    bool interleave;            /* or take apart */
    /* mask[to][from]: which byte of one row goes where in the other */
    uint8_t mask[FAST_ZIP_MAX][FAST_ZIP_MAX][FAST_ZIP_ROW];
};

/* False if this machine has no better way than one unit after the other. */
bool fast_zip_init(struct fast_zip *zip, size_t unit_bytes, unsigned planes,
                   bool interleave);

/*
 * Move @rows rows of each plane. Planes are @plane bytes apart on their side,
 * rows of a plane follow each other; the other side is contiguous. No overlap.
 */
void fast_zip_move(const struct fast_zip *zip, uint64_t rows, int64_t plane,
                   uint8_t *dst, const uint8_t *src);

#endif /* FAST_ZIP_H */
