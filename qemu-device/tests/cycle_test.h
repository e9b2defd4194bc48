/* SPDX-License-Identifier: MIT */
/*
 * What the tests of the cycle engine share: cmocka with the headers it wants,
 * and random numbers with a seed that is printed.
 */
#ifndef TDMA_CYCLE_TEST_H
#define TDMA_CYCLE_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* Seed from $TDMA_SEED, else a fixed one; said on standard output. */
void test_seed(void);

/* 31 random bits. */
uint32_t test_random(void);

#endif /* TDMA_CYCLE_TEST_H */
