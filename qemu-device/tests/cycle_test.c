/* SPDX-License-Identifier: MIT */
/* Random numbers of the cycle engine's tests; see cycle_test.h. */
#include "cycle_test.h"

static uint64_t random_state;

void test_seed(void)
{
    const char *text = getenv("TDMA_SEED");

    random_state = text ? strtoull(text, NULL, 0) : 1;
    printf("# TDMA_SEED=%llu\n", (unsigned long long)random_state);
}

uint32_t test_random(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return random_state >> 33;
}
