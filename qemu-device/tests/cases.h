/* SPDX-License-Identifier: MIT */
/*
 * The table of tensor moves that real software makes, as descriptors.
 */
#ifndef TDMA_TEST_CASES_H
#define TDMA_TEST_CASES_H

#include <stdbool.h>
#include <stdint.h>
#include <linux/tensordma_desc.h>

enum case_kind {
    CASE_AFFINE,                /* one descriptor */
    CASE_PADDED,                /* one with an extension block */
    CASE_BLOCKED,               /* given by layout names, not by strides */
    CASE_DATA_DEPENDENT,        /* addresses come from memory */
};

struct test_case {
    char name[96];
    bool core;                  /* tier: core or pool */
    enum case_kind kind;
    struct tdma_desc desc;      /* segments not filled in */
    struct tdma_desc_ext ext;
    uint64_t src_bytes;         /* a segment must have, from offset 0 on */
    uint64_t dst_bytes;
};

/*
 * Read the table; returns the number of rows and in *cases an array to be
 * freed. Rows are made smaller where they move more than @payload bytes or
 * reach further than @span: dimensions are cut, outermost first, none below 2;
 * then the one that reaches furthest is halved until it fits, and an offset
 * that still ends beyond is taken modulo 4096 elements. Strides are never
 * touched. 0: as they are.
 */
unsigned cases_read(const char *path, uint64_t payload, uint64_t span,
                    struct test_case **cases);

#endif /* TDMA_TEST_CASES_H */
