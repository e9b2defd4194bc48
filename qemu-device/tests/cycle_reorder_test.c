/* SPDX-License-Identifier: MIT */
/*
 * Response reorder unit, in-order item register and credit return (A31-A35),
 * tracker queue (A30) and sync unit (A36, A37).
 */
#include "cycle_test.h"
#include "dma/cycle_credit.h"
#include "dma/cycle_reorder.h"
#include "dma/cycle_trackerq.h"

static struct tdma_reorder reorder;

static void issue_all(unsigned ids, unsigned pop_max)
{
    tdma_reorder_reset(&reorder, ids, pop_max);
    tdma_reorder_issue(&reorder, ids);
}

static void answer(unsigned first, unsigned last)
{
    for (unsigned id = first; id <= last; id++) {
        assert_int_equal(tdma_reorder_receive(&reorder, id), TDMA_RESPONSE_OK);
    }
}

static void settle(void)
{
    for (unsigned i = 0; i < 1000; i++) {
        tdma_reorder_tick(&reorder, UINT32_MAX);
    }
}

/* Answered 0-8, 11, 56, 61-78: head 9. Then 9 and 10: head 12. */
static void test_head(void **state)
{
    (void)state;
    issue_all(500, 4);
    answer(0, 8);
    answer(11, 11);
    answer(56, 56);
    answer(61, 78);
    settle();
    assert_int_equal(reorder.head, 9);
    assert_int_equal(reorder.items, 9);
    answer(9, 10);
    settle();
    assert_int_equal(reorder.head, 12);
    assert_int_equal(reorder.items, 12);
}

/* The head can move by 10, at most 4 per cycle: 4, 4, 2. */
static void test_pop_limit(void **state)
{
    (void)state;
    issue_all(500, 4);
    answer(0, 9);
    /* the responses enter the reorder vector at the end of this cycle */
    assert_int_equal(tdma_reorder_tick(&reorder, UINT32_MAX), 0);
    assert_int_equal(tdma_reorder_tick(&reorder, UINT32_MAX), 4);
    assert_int_equal(tdma_reorder_tick(&reorder, UINT32_MAX), 4);
    assert_int_equal(tdma_reorder_tick(&reorder, UINT32_MAX), 2);
    assert_int_equal(tdma_reorder_tick(&reorder, UINT32_MAX), 0);
}

/* 15 items popped, 10 released: 5. */
static void test_item_register(void **state)
{
    (void)state;
    issue_all(500, 4);
    answer(0, 14);
    settle();
    assert_int_equal(reorder.items, 15);
    tdma_reorder_release(&reorder, 10);
    assert_int_equal(reorder.items, 5);
    /* popping and releasing in one cycle add up */
    answer(15, 16);
    tdma_reorder_tick(&reorder, UINT32_MAX);
    tdma_reorder_release(&reorder, 5);
    tdma_reorder_tick(&reorder, UINT32_MAX);
    assert_int_equal(reorder.items, 2);
}

/* IDs 0-15 of 500 answered, threshold 15: they come back before any other. */
static void test_credit_return(void **state)
{
    struct tdma_credit c;

    (void)state;
    tdma_credit_reset(&c, 500, 15);
    tdma_reorder_reset(&reorder, 500, 4);
    for (unsigned id = 0; id < 500; id++) {
        assert_int_equal(c.next, id);
        tdma_credit_take(&c, 1);
        tdma_reorder_issue(&reorder, 1);
    }
    assert_int_equal(c.available, 0);
    answer(0, 15);
    for (unsigned cycle = 0; cycle < 10; cycle++) {
        tdma_credit_tick(&c);
        tdma_reorder_release(&reorder,
                             tdma_credit_release(&c, reorder.items));
        tdma_reorder_tick(&reorder, UINT32_MAX);
    }
    assert_int_equal(c.available, 16);
    assert_int_equal(c.next, 0);
    tdma_credit_take(&c, 16);
    assert_int_equal(c.next, 16);
    assert_int_equal(c.available, 0);
}

/* Below the threshold nothing comes back; beyond the window it is clamped. */
static void test_threshold(void **state)
{
    struct tdma_credit c;

    (void)state;
    tdma_credit_reset(&c, 500, 16);
    assert_int_equal(tdma_credit_release(&c, 15), 0);
    assert_int_equal(tdma_credit_release(&c, 16), 16);
    tdma_credit_reset(&c, 4, 16);
    assert_int_equal(tdma_credit_release(&c, 3), 0);
    assert_int_equal(tdma_credit_release(&c, 4), 4);
}

static void test_bad_responses(void **state)
{
    (void)state;
    tdma_reorder_reset(&reorder, 100, 4);
    tdma_reorder_issue(&reorder, 2);
    assert_int_equal(tdma_reorder_receive(&reorder, 2), TDMA_RESPONSE_UNKNOWN);
    assert_int_equal(tdma_reorder_receive(&reorder, 100),
                     TDMA_RESPONSE_UNKNOWN);
    assert_int_equal(tdma_reorder_receive(&reorder, 5000),
                     TDMA_RESPONSE_UNKNOWN);
    answer(1, 1);
    assert_int_equal(tdma_reorder_receive(&reorder, 1),
                     TDMA_RESPONSE_DUPLICATE);
    settle();
    assert_int_equal(tdma_reorder_receive(&reorder, 1),
                     TDMA_RESPONSE_DUPLICATE);
    answer(0, 0);
    settle();
    assert_int_equal(reorder.head, 2);
    assert_int_equal(tdma_reorder_receive(&reorder, 1), TDMA_RESPONSE_UNKNOWN);
}

/* No more than the caller allows. */
static void test_commit_limit(void **state)
{
    (void)state;
    issue_all(10, 4);
    answer(0, 9);
    settle();
    issue_all(10, 4);
    answer(0, 9);
    tdma_reorder_tick(&reorder, 0);
    assert_int_equal(tdma_reorder_tick(&reorder, 3), 3);
    assert_int_equal(tdma_reorder_tick(&reorder, 0), 0);
    assert_int_equal(tdma_reorder_tick(&reorder, 100), 4);
    assert_int_equal(reorder.head, 7);
}

/*
 * Random windows and orders against a plain list: what is popped is the run
 * of answered requests from the oldest one on, whatever the ID wraps.
 */
static void random_window(unsigned ids, unsigned pop_max, unsigned cycles)
{
    bool *answered = calloc(cycles * 8, sizeof(*answered));
    unsigned issued = 0, popped = 0;

    assert_non_null(answered);
    tdma_reorder_reset(&reorder, ids, pop_max);
    for (unsigned c = 0; c < cycles; c++) {
        bool before[4096];
        unsigned run = 0, got, n = issued - popped;

        memcpy(before, answered + popped, n * sizeof(*before));
        for (unsigned k = 0; k < 8 && issued - popped < ids; k++) {
            tdma_reorder_issue(&reorder, 1);
            issued++;
        }
        for (unsigned k = test_random() % 12; k && issued != popped; k--) {
            unsigned i = popped + test_random() % (issued - popped);

            assert_int_equal(tdma_reorder_receive(&reorder, i % ids),
                             answered[i] ? TDMA_RESPONSE_DUPLICATE
                                         : TDMA_RESPONSE_OK);
            answered[i] = true;
        }
        got = tdma_reorder_tick(&reorder, UINT32_MAX);
        while (run < n && run < pop_max && before[run]) {
            run++;
        }
        assert_int_equal(got, run);
        popped += got;
        assert_int_equal(reorder.head, popped % ids);
    }
    free(answered);
}

static void test_random_windows(void **state)
{
    static const unsigned ids[] = { 1, 2, 3, 63, 64, 65, 500, 4096 };

    (void)state;
    for (unsigned i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        for (unsigned pop_max = 1; pop_max <= 64; pop_max *= 2) {
            random_window(ids[i], pop_max, 3000);
        }
    }
}

/* Updates after each interval and at the end; several at once are one. */
static void test_sync_count(void **state)
{
    struct tdma_sync s;
    unsigned updates = 0;

    (void)state;
    tdma_sync_init(&s, 100, 30);
    for (unsigned done = 1; done <= 100; done++) {
        bool due = tdma_sync_update(&s, done);

        assert_int_equal(due, done % 30 == 0 || done == 100);
        updates += due;
    }
    assert_int_equal(updates, 4);
    tdma_sync_init(&s, 100, 10);
    assert_true(tdma_sync_update(&s, 35));
    assert_false(tdma_sync_update(&s, 39));
    assert_true(tdma_sync_update(&s, 40));
}

static void test_sync_final_only(void **state)
{
    static const uint64_t intervals[] = { 0, 100, 101, UINT64_MAX };
    struct tdma_sync s;

    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        tdma_sync_init(&s, 100, intervals[i]);
        assert_false(tdma_sync_update(&s, 99));
        assert_true(tdma_sync_update(&s, 100));
    }
    tdma_sync_init(&s, 1ULL << 63, 1ULL << 62);
    assert_false(tdma_sync_update(&s, (1ULL << 62) - 1));
    assert_true(tdma_sync_update(&s, 1ULL << 62));
}

static void test_tracker_queue(void **state)
{
    struct tdma_trackerq q;

    (void)state;
    tdma_trackerq_reset(&q);
    assert_null(tdma_trackerq_head(&q));
    for (unsigned i = 0; i < TDMA_TRACKER_QUEUE; i++) {
        assert_false(tdma_trackerq_full(&q));
        tdma_trackerq_push(&q, i, 0, 10 + i, 0);
    }
    assert_true(tdma_trackerq_full(&q));
    tdma_trackerq_cut(&q, 1, 3);
    for (unsigned i = 0; i < TDMA_TRACKER_QUEUE; i++) {
        assert_int_equal(tdma_trackerq_head(&q)->flight, i);
        assert_int_equal(tdma_trackerq_head(&q)->expected,
                         i == 1 ? 3 : 10 + i);
        tdma_trackerq_drop(&q);
    }
    assert_true(tdma_trackerq_empty(&q));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_head),
        cmocka_unit_test(test_pop_limit),
        cmocka_unit_test(test_item_register),
        cmocka_unit_test(test_credit_return),
        cmocka_unit_test(test_threshold),
        cmocka_unit_test(test_bad_responses),
        cmocka_unit_test(test_commit_limit),
        cmocka_unit_test(test_random_windows),
        cmocka_unit_test(test_sync_count),
        cmocka_unit_test(test_sync_final_only),
        cmocka_unit_test(test_tracker_queue),
    };

    test_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
