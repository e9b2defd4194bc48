/* SPDX-License-Identifier: MIT */
/*
 * tensordma core, fast engine: moving one piece of a plan.
 */
#ifndef FAST_MOVE_H
#define FAST_MOVE_H

#include <stdbool.h>
#include <stdint.h>
#include "dma/fast_plan.h"

enum {
    FAST_BUFFER = TDMA_MAX_ELEM_BYTES,
    FAST_GATHER = 4 * FAST_BUFFER,      /* runs of a source, with gaps */
};

struct fast_mover {
    struct fast_plan *plan;
    uint64_t moved;             /* elements, in element order */
    unsigned fault;             /* side that refused */
    /* The fill pattern, a whole number of elements; valid if pattern_bytes */
    uint64_t pattern_bytes;
    bool uniform;               /* all its bytes are the same */
    uint8_t pattern[FAST_BUFFER];
    uint8_t buffer[TDMA_SIDES][FAST_BUFFER];
    uint8_t gather[FAST_GATHER];
};

/* Get ready for a plan, which may be anywhere in its job. */
void fast_mover_init(struct fast_mover *mover, struct fast_plan *plan);

/* Is the unit at @place within reach of a pointer on each side? */
bool fast_move_is_mapped(struct fast_mover *mover,
                         const struct fast_place *place);

/*
 * Move @count steps of dimension @dim, or @count elements of one unit, from
 * @place on. False if memory refused; then @moved counts the elements before
 * the piece that holds the one at fault.
 */
bool fast_move_steps(struct fast_mover *mover, unsigned dim, uint64_t count,
                     struct fast_place place);
bool fast_move_elements(struct fast_mover *mover, uint64_t count,
                        struct fast_place place);

#endif /* FAST_MOVE_H */
