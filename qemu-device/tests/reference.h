/* SPDX-License-Identifier: MIT */
/*
 * The reference: the loop nest of a descriptor, element after element, byte
 * after byte, with none of the core's code.
 */
#ifndef TDMA_TEST_REFERENCE_H
#define TDMA_TEST_REFERENCE_H

#include "machine.h"

struct reference {
    struct machine *m;
    unsigned context;
    const struct tdma_desc *desc;
    const struct tdma_desc_ext *ext;    /* or NULL */
};

/* Elements the descriptor names */
uint64_t reference_elements(const struct reference *r);

/* Execute elements [first, first + count) on the machine's memory. */
void reference_run(const struct reference *r, uint64_t first, uint64_t count);

/* Sum of one element in format @type; bytes of @a are replaced. */
void reference_add(unsigned type, uint8_t *a, const uint8_t *b);

#endif /* TDMA_TEST_REFERENCE_H */
