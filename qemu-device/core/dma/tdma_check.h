/* SPDX-License-Identifier: MIT */
/*
 * tensordma core: is a descriptor valid?
 *
 * Pure functions of what they are given. Nothing is moved before both have
 * said yes; whatever they refuse they name by status, field and dimension.
 */
#ifndef TDMA_CHECK_H
#define TDMA_CHECK_H

#include <stdbool.h>
#include <stdint.h>
#include <linux/tensordma_desc.h>
#include "dma/tdma_extent.h"

/* What this device offers */
struct tdma_check_limits {
    unsigned dims;
    uint32_t opcodes;           /* bit n = opcode n */
    uint32_t types;             /* bit n = accumulate type n */
    uint32_t flags;             /* TDMA_DESC_* */
};

/* What an opcode does with a descriptor */
struct tdma_opcode_traits {
    bool side[2];               /* source, destination */
    uint32_t access[2];         /* TDMA_SEG_* the side needs */
    uint32_t flags;             /* flags that may be set */
    bool fills;                 /* with EXT: outside elements have a value */
};

/* Why a descriptor was refused */
struct tdma_verdict {
    uint32_t status;            /* TDMA_STATUS_OK if it was not */
    uint16_t field;
    uint8_t dim;
    uint8_t side;               /* TDMA_SIDE_* */
    uint64_t offset;
};

/* NULL if there is no such opcode */
const struct tdma_opcode_traits *tdma_opcode_traits(unsigned opcode);

/* Element size of an accumulate type, 0 if there is no such type */
unsigned tdma_type_bytes(unsigned type);

/*
 * Everything that can be said without the segments. @ext is the extension
 * block, NULL without TDMA_DESC_EXT. On success *shape is the loop nest.
 */
bool tdma_check_desc(const struct tdma_check_limits *limits,
                     const struct tdma_desc *desc,
                     const struct tdma_desc_ext *ext,
                     struct tdma_shape *shape, struct tdma_verdict *verdict);

/*
 * One side against its segment; @seg is NULL if it does not exist. On success
 * [*lo, *hi) are the bytes its elements lie in, empty if there are none.
 */
bool tdma_check_side(const struct tdma_desc *desc,
                     const struct tdma_desc_ext *ext,
                     const struct tdma_shape *shape, unsigned side,
                     const struct tdma_segment *seg, uint64_t *lo,
                     uint64_t *hi, struct tdma_verdict *verdict);

/* The extra completion record (TDMA_DESC_RECORD) against its segment. */
bool tdma_check_record(const struct tdma_desc *desc,
                       const struct tdma_segment *seg,
                       struct tdma_verdict *verdict);

#endif /* TDMA_CHECK_H */
