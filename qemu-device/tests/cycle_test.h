/* SPDX-License-Identifier: MIT */
/* What the tests of the cycle engine share: one random sequence per program */
#ifndef TDMA_CYCLE_TEST_H
#define TDMA_CYCLE_TEST_H

#include "test.h"

static struct rng test_rng;

/* Seed from $TDMA_SEED, else a fixed one; said on standard output. */
static inline void test_seed(void)
{
    test_rng.state = test_env("TDMA_SEED", 1);
    printf("# TDMA_SEED=%llu\n", (unsigned long long)test_rng.state);
}

/* 31 random bits */
static inline uint32_t test_random(void)
{
    return rng_next(&test_rng) >> 33;
}

#endif /* TDMA_CYCLE_TEST_H */
