/* SPDX-License-Identifier: MIT */
/*
 * Step-increment units, chains and step trackers (A11, A14-A16), against
 * counting with division and remainder.
 */
#include "cycle_test.h"
#include "dma/cycle_address.h"
#include "dma/cycle_tracker.h"

enum { RANDOM_CHAINS = 20000 };

static struct tdma_chain_params params_of(unsigned ndims,
                                          const uint32_t *steps)
{
    static const int64_t stride[TDMA_MAX_DIMS];
    struct tdma_chain_params p;

    tdma_chain_precompute(&p, ndims, steps, stride);
    return p;
}

/* The document's example: 0 to 3, again from 0, one step more. */
static void test_wrap_example(void **state)
{
    struct tdma_chain_params p = params_of(1, (uint32_t[]) { 3 });
    unsigned wrap;

    (void)state;
    assert_int_equal(tdma_unit_increment(&p.unit[0], 0, 4, &wrap), 1);
    assert_int_equal(wrap, 1);
}

static void test_compare_values(void **state)
{
    struct tdma_chain_params p = params_of(2, (uint32_t[]) { 10, 2 });

    (void)state;
    for (unsigned k = 1; k <= TDMA_MAX_LANES; k++) {
        assert_int_equal(p.unit[0].compare[k], 10 - k);
    }
    assert_int_equal(p.unit[1].compare[1], 1);
    assert_int_equal(p.unit[1].compare[2], 0);
    /* there is no step -1: the value must match no index */
    assert_int_equal(p.unit[1].compare[3], UINT32_MAX);
}

/* Every unit with a small bound, every index, every amount. */
static void test_unit_exhaustive(void **state)
{
    (void)state;
    for (uint32_t steps = 1; steps <= 40; steps++) {
        struct tdma_chain_params p = params_of(1, &steps);

        for (uint32_t index = 0; index < steps; index++) {
            for (unsigned amount = 0; amount <= TDMA_MAX_LANES; amount++) {
                unsigned wrap;
                uint32_t next = tdma_unit_increment(&p.unit[0], index, amount,
                                                    &wrap);

                assert_int_equal(next, (index + amount) % steps);
                assert_int_equal(wrap, (index + amount) / steps);
            }
        }
    }
}

/* Bounds where 32 bits nearly run out, the implied one among them. */
static void test_unit_large(void **state)
{
    static const uint32_t bounds[] = { TDMA_IMPLIED_STEPS, UINT32_MAX,
                                       UINT32_MAX - 1, 1U << 31 };

    (void)state;
    for (unsigned b = 0; b < 4; b++) {
        struct tdma_chain_params p = params_of(1, &bounds[b]);

        for (uint64_t back = 1; back <= 20; back++) {
            for (unsigned amount = 0; amount <= TDMA_MAX_LANES; amount++) {
                uint64_t index = bounds[b] - back;
                unsigned wrap;

                assert_int_equal(tdma_unit_increment(&p.unit[0], index,
                                                     amount, &wrap),
                                 (index + amount) % bounds[b]);
                assert_int_equal(wrap, (index + amount) / bounds[b]);
            }
        }
    }
}

/* 1 x 1 x 1 x N: all wraps of a cycle go through three units of one step. */
static void test_multiple_wraps(void **state)
{
    static const unsigned amounts[] = { 4, 8 };

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        unsigned amount = amounts[i], wrap;
        struct tdma_chain_params one = params_of(4, (uint32_t[]) {
            1, 1, 1, 100 });
        struct tdma_chain_params two = params_of(4, (uint32_t[]) {
            2, 1, 1, 100 });
        struct tdma_chain c;

        assert_int_equal(tdma_unit_increment(&one.unit[0], 0, amount, &wrap),
                         0);
        assert_int_equal(wrap, amount);
        assert_int_equal(tdma_unit_increment(&two.unit[0], 1, amount, &wrap),
                         1);
        assert_int_equal(wrap, amount / 2);
        /* from 1, three steps of two: double wrap */
        assert_int_equal(tdma_unit_increment(&two.unit[0], 1, 3, &wrap), 0);
        assert_int_equal(wrap, 2);

        tdma_chain_init(&c);
        tdma_chain_step(&c, &one, amount);
        assert_int_equal(c.index[3], amount);
        tdma_chain_init(&c);
        tdma_chain_step(&c, &two, amount);
        assert_int_equal(c.index[0], 0);
        assert_int_equal(c.index[3], amount / 2);
    }
}

/* Mixed radix number of @element. */
static void expect_indices(const struct tdma_chain *c, unsigned ndims,
                           const uint32_t *steps, uint64_t element)
{
    for (unsigned d = 0; d < ndims; d++) {
        assert_int_equal(c->index[d], element % steps[d]);
        element /= steps[d];
    }
}

static void random_shape(unsigned ndims, uint32_t *steps, int64_t *stride)
{
    for (unsigned d = 0; d < ndims; d++) {
        steps[d] = 1 + test_random() % (test_random() % 4 ? 4 : 30);
        stride[d] = (int64_t)test_random() - INT32_MAX;
    }
}

/* Random shapes, walked with random amounts: indices, offsets, address. */
static void test_chain_random(void **state)
{
    (void)state;
    for (unsigned n = 0; n < RANDOM_CHAINS; n++) {
        unsigned ndims = 1 + test_random() % TDMA_MAX_DIMS;
        uint32_t steps[TDMA_MAX_DIMS];
        int64_t stride[TDMA_MAX_DIMS];
        struct tdma_chain_params p;
        struct tdma_chain c;
        uint64_t element = 0;

        random_shape(ndims, steps, stride);
        tdma_chain_precompute(&p, ndims, steps, stride);
        tdma_chain_init(&c);
        for (unsigned i = 0; i < 20; i++) {
            unsigned amount = test_random() % (TDMA_MAX_LANES + 1);
            uint64_t sum = 0;

            tdma_chain_step(&c, &p, amount);
            element += amount;
            expect_indices(&c, ndims, steps, element);
            for (unsigned d = 0; d < ndims; d++) {
                sum += (uint64_t)c.index[d] * (uint64_t)stride[d];
            }
            assert_int_equal(tdma_address_sum(c.offset), sum);
            assert_int_equal(tdma_address_add(77, sum), sum + 77);
        }
    }
}

/* 2 x 2 x 2 x 2 and four lanes: lane k sees elements k, k+4, k+8, k+12. */
static void test_lanes(void **state)
{
    static const uint32_t steps[] = { 2, 2, 2, 2 };
    struct tdma_chain_params p = params_of(4, steps);

    (void)state;
    for (unsigned lane = 0; lane < 4; lane++) {
        struct tdma_tracker t;

        tdma_tracker_init(&t, 0);
        tdma_tracker_start(&t, 0, &p, lane);
        expect_indices(tdma_tracker_output(&t, 0), 4, steps, lane);
        for (unsigned cycle = 1; cycle < 4; cycle++) {
            tdma_tracker_advance(&t, 0, &p, 4);
            expect_indices(tdma_tracker_output(&t, 0), 4, steps,
                           lane + 4 * cycle);
        }
    }
}

/* One chain runs while the other one is initialised for the next tensor. */
static void test_two_chains(void **state)
{
    static const uint32_t first[] = { 3, 4 }, second[] = { 5, 2 };
    struct tdma_chain_params p = params_of(2, first);
    struct tdma_chain_params q = params_of(2, second);
    struct tdma_tracker t;

    (void)state;
    tdma_tracker_init(&t, 0);
    tdma_tracker_start(&t, 0, &p, 2);
    tdma_tracker_init(&t, 1);
    tdma_tracker_advance(&t, 0, &p, 4);
    expect_indices(tdma_tracker_output(&t, 0), 2, first, 6);
    tdma_tracker_start(&t, 1, &q, 2);
    expect_indices(tdma_tracker_output(&t, 1), 2, second, 2);
    expect_indices(tdma_tracker_output(&t, 0), 2, first, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrap_example),
        cmocka_unit_test(test_compare_values),
        cmocka_unit_test(test_unit_exhaustive),
        cmocka_unit_test(test_unit_large),
        cmocka_unit_test(test_multiple_wraps),
        cmocka_unit_test(test_chain_random),
        cmocka_unit_test(test_lanes),
        cmocka_unit_test(test_two_chains),
    };

    test_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
