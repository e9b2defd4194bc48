/* SPDX-License-Identifier: MIT */
/*
 * Random descriptors that are valid in an arena.
 */
#ifndef TDMA_TEST_RANDOM_DESC_H
#define TDMA_TEST_RANDOM_DESC_H

#include "arena.h"

/* Bytes that each data segment of the arena has */
enum { RANDOM_DESC_BYTES = 1 << 14 };

/* False if this one did not fit into the segments: try again. */
bool random_desc(struct rng *rng, struct tdma_desc *d);

/* Give the nest axes, so that parts of it are outside. */
void random_axes(struct rng *rng, struct tdma_desc *d,
                 struct tdma_desc_ext *e);

#endif /* TDMA_TEST_RANDOM_DESC_H */
