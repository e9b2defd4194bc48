/* SPDX-License-Identifier: MIT */
/*
 * tensordma core tests: cmocka with the headers it wants, and random numbers
 * whose seed is printed.
 */
#ifndef TDMA_TEST_H
#define TDMA_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define TEST_COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* splitmix64: every seed gives a different sequence. */
struct rng {
    uint64_t state;
};

static inline uint64_t rng_next(struct rng *rng)
{
    uint64_t z = rng->state += 0x9e3779b97f4a7c15ULL;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
    return z ^ z >> 31;
}

/* Uniform enough in [0, n) */
static inline uint64_t rng_below(struct rng *rng, uint64_t n)
{
    return rng_next(rng) % n;
}

static inline bool rng_one_in(struct rng *rng, unsigned n)
{
    return rng_below(rng, n) == 0;
}

/* Number in environment variable @name, or @value */
static inline uint64_t test_env(const char *name, uint64_t value)
{
    const char *text = getenv(name);

    return text ? strtoull(text, NULL, 0) : value;
}

#endif /* TDMA_TEST_H */
