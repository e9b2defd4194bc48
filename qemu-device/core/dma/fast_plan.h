/* SPDX-License-Identifier: MIT */
/*
 * tensordma core, fast engine: a job as the fewest and largest pieces.
 *
 * Dimensions of one step are dropped, neighbours that step evenly are joined,
 * and what is contiguous on both sides becomes the unit. The position counts
 * elements in element order and can be set to any of them, so a job can be
 * left and taken up anywhere.
 */
#ifndef FAST_PLAN_H
#define FAST_PLAN_H

#include <stdbool.h>
#include <stdint.h>
#include "dma/tdma_engine.h"

struct fast_dim {
    uint64_t n;
    int64_t step[TDMA_SIDES];   /* bytes */
    int axis[TDMA_SIDES];       /* axis it moves, or -1 */
    int64_t coef[TDMA_SIDES];
};

struct fast_plan {
    struct tdma_job *job;
    uint64_t elem;              /* bytes per element */
    uint64_t unit;              /* elements per unit */
    uint64_t unit_bytes;
    unsigned ndims;             /* at least 1 */
    struct fast_dim dim[TDMA_MAX_DIMS];
    uint64_t row[TDMA_MAX_DIMS];        /* elements per step of a dimension */
    uint64_t units[TDMA_MAX_DIMS];      /* the same in units */

    /* Reach of all dimensions below one: offsets relative to its start */
    int64_t low[TDMA_SIDES][TDMA_MAX_DIMS];
    int64_t high[TDMA_SIDES][TDMA_MAX_DIMS];
    /* The same of coordinates, per axis */
    int64_t axis_low[TDMA_MAX_AXES][TDMA_MAX_DIMS];
    int64_t axis_high[TDMA_MAX_AXES][TDMA_MAX_DIMS];

    bool ordered;               /* the sides may overlap: element by element */
    bool disjoint;              /* no two elements share destination bytes */
    bool axes;                  /* some dimension moves along an axis */

    /* Position: elements done, and as indices */
    uint64_t done;
    uint64_t index[TDMA_MAX_DIMS];
    uint64_t sub;               /* elements into the unit */
};

/* A place in the loop nest */
struct fast_place {
    uint64_t offset[TDMA_SIDES];
    int64_t coord[TDMA_MAX_AXES];
};

void fast_plan_init(struct fast_plan *plan, struct tdma_job *job);

/* Go to element @done. */
void fast_plan_seek(struct fast_plan *plan, uint64_t done);

/* Go on by @count steps of dimension @dim; all indices below it are 0. */
void fast_plan_advance(struct fast_plan *plan, unsigned dim, uint64_t count);

/* Where the position is. */
void fast_plan_place(const struct fast_plan *plan, struct fast_place *place);

/* Move @place by @count steps of dimension @dim. */
void fast_place_step(const struct fast_plan *plan, struct fast_place *place,
                     unsigned dim, uint64_t count);

#endif /* FAST_PLAN_H */
