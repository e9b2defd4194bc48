/* SPDX-License-Identifier: MIT */
/* FSM of the request generator (A13, A17) and throttle FSM (A21). */
#include "cycle_test.h"
#include "dma/cycle_fsm.h"
#include "dma/cycle_throttle.h"

/* One cycle as the generator does it: emit, then load a chain free before. */
static unsigned cycle(struct tdma_fsm *fsm, unsigned *waiting, uint64_t total)
{
    int chain = tdma_fsm_free_chain(fsm);
    struct tdma_fsm_output out;
    unsigned amount = tdma_fsm_emit(fsm, &out) ? out.amount : 0;

    if (*waiting && chain >= 0) {
        tdma_fsm_load(fsm, chain, total);
        --*waiting;
    }
    return amount;
}

/* 18 addresses, four lanes: 4, 4, 4, 4, 2 in five cycles. */
static void test_advances(void **state)
{
    static const unsigned expected[] = { 4, 4, 4, 4, 2 };
    struct tdma_fsm_output out;
    struct tdma_fsm fsm;

    (void)state;
    tdma_fsm_reset(&fsm, 4, 2);
    tdma_fsm_load(&fsm, 0, 18);
    for (unsigned i = 0; i < 5; i++) {
        assert_true(tdma_fsm_emit(&fsm, &out));
        assert_int_equal(out.amount, expected[i]);
        assert_int_equal(out.first, i == 0);
        assert_int_equal(out.last, i == 4);
        if (i) {
            assert_int_equal(out.previous, expected[i - 1]);
        }
    }
    assert_false(tdma_fsm_emit(&fsm, &out));
}

/* For all numbers of lanes: full amounts, then the remainder. */
static void test_advances_all(void **state)
{
    (void)state;
    for (unsigned lanes = 1; lanes <= TDMA_MAX_LANES; lanes++) {
        for (unsigned total = 1; total < 40; total++) {
            struct tdma_fsm_output out;
            struct tdma_fsm fsm;
            unsigned sum = 0, cycles = 0;

            tdma_fsm_reset(&fsm, lanes, 2);
            tdma_fsm_load(&fsm, 0, total);
            while (tdma_fsm_emit(&fsm, &out)) {
                assert_true(out.amount == lanes || out.last);
                sum += out.amount;
                cycles++;
            }
            assert_int_equal(sum, total);
            assert_int_equal(cycles, (total + lanes - 1) / lanes);
        }
    }
}

/* Cycles that @count tensors of @total elements take once the first began. */
static unsigned back_to_back(unsigned chains, unsigned count, unsigned total)
{
    unsigned waiting = count, cycles = 0, sum = 0;
    struct tdma_fsm fsm;

    tdma_fsm_reset(&fsm, 4, chains);
    assert_int_equal(cycle(&fsm, &waiting, total), 0);
    while (sum < count * total) {
        sum += cycle(&fsm, &waiting, total);
        cycles++;
        assert_true(cycles < 10 * count * total);
    }
    return cycles;
}

/* 12 elements, four lanes: 3 cycles each with two chains, 4 with one. */
static void test_bubble(void **state)
{
    (void)state;
    assert_int_equal(back_to_back(2, 100, 12), 3 * 100);
    assert_int_equal(back_to_back(1, 100, 12), 4 * 100 - 1);
    /* two chains keep up even with one tensor per cycle */
    assert_int_equal(back_to_back(2, 100, 1), 100);
    assert_int_equal(back_to_back(1, 100, 1), 2 * 100 - 1);
}

static void test_cut(void **state)
{
    struct tdma_fsm_output out;
    struct tdma_fsm fsm;

    (void)state;
    tdma_fsm_reset(&fsm, 4, 2);
    tdma_fsm_load(&fsm, 0, 100);
    assert_true(tdma_fsm_emit(&fsm, &out));
    tdma_fsm_load(&fsm, 1, 3);
    assert_int_equal(tdma_fsm_free_chain(&fsm), -1);
    tdma_fsm_cut(&fsm, 0);
    assert_true(tdma_fsm_emit(&fsm, &out));
    assert_int_equal(out.chain, 1);
    assert_true(out.first);
    assert_int_equal(out.amount, 3);
    assert_false(tdma_fsm_emit(&fsm, &out));
}

/* Requests that go out in @cycles cycles with up to @want in each. */
static unsigned throttled(struct tdma_throttle *t, uint32_t window,
                          uint32_t budget, unsigned cycles, unsigned want)
{
    unsigned sum = 0;

    for (unsigned i = 0; i < cycles; i++) {
        tdma_throttle_tick(t, window, budget);
        for (unsigned k = 0; k < want && tdma_throttle_room(t); k++) {
            tdma_throttle_take(t, 1);
            sum++;
        }
    }
    return sum;
}

static void test_throttle(void **state)
{
    struct tdma_throttle t = { 0 };

    (void)state;
    assert_int_equal(throttled(&t, 0, 0, 100, 4), 400);
    assert_int_equal(throttled(&t, 0, 5, 100, 4), 400);
    assert_int_equal(throttled(&t, 50, 0, 100, 4), 400);
    assert_int_equal(throttled(&t, 50, 60, 200, 4), 4 * 60);
    /* more than the lanes can use: not felt */
    t = (struct tdma_throttle) { 0 };
    assert_int_equal(throttled(&t, 10, 1000, 100, 4), 400);
}

/* New settings hold from the next window on. */
static void test_throttle_latch(void **state)
{
    struct tdma_throttle t = { 0 };

    (void)state;
    assert_int_equal(throttled(&t, 100, 10, 50, 4), 10);
    assert_int_equal(throttled(&t, 100, 40, 50, 4), 0);
    assert_int_equal(throttled(&t, 100, 40, 100, 4), 40);
    assert_int_equal(throttled(&t, 0, 0, 10, 4), 40);
}

/* Skipping idle cycles leaves the FSM where ticking would have. */
static void test_throttle_skip(void **state)
{
    (void)state;
    for (unsigned n = 0; n < 10000; n++) {
        uint32_t window = test_random() % 12, budget = test_random() % 4;
        struct tdma_throttle a = { 0 }, b;
        unsigned skip = test_random() % 40;

        throttled(&a, window, budget, 1 + test_random() % 20, 2);
        b = a;
        window = test_random() % 12;
        for (unsigned i = 0; i < skip; i++) {
            tdma_throttle_tick(&a, window, budget);
        }
        tdma_throttle_skip(&b, skip, window, budget);
        assert_int_equal(throttled(&a, window, budget, 30, 2),
                         throttled(&b, window, budget, 30, 2));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_advances),
        cmocka_unit_test(test_advances_all),
        cmocka_unit_test(test_bubble),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_throttle),
        cmocka_unit_test(test_throttle_latch),
        cmocka_unit_test(test_throttle_skip),
    };

    test_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
