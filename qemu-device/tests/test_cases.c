/* SPDX-License-Identifier: MIT */
/*
 * The table of tensor moves that real software makes, in both fidelities,
 * against the reference. Rows are made smaller as cases.h says.
 */
#include "arena.h"
#include "cases.h"

enum { PAYLOAD = 32 << 10, SPAN = 1 << 20 };

static struct test_case *cases;
static unsigned count;

static int read_table(void **state)
{
    (void)state;
    count = cases_read(TDMA_CASES, PAYLOAD, SPAN, &cases);
    return count ? 0 : -1;
}

static int free_table(void **state)
{
    (void)state;
    free(cases);
    return 0;
}

static void run_case(struct arena *a, const struct test_case *c, unsigned src,
                     unsigned dst)
{
    struct tdma_desc d = c->desc;

    d.src_segment = src;
    d.dst_segment = dst;
    if (c->src_bytes > SPAN || c->dst_bytes > SPAN) {
        fprintf(stderr, "# %s still reaches too far\n", c->name);
    }
    assert_true(c->src_bytes <= SPAN && c->dst_bytes <= SPAN);
    arena_run(a, &d, c->kind == CASE_PADDED ? &c->ext : NULL);
}

/* All cases of a kind; every @step-th of the pool */
static unsigned run_all(enum case_kind kind, bool core, unsigned step)
{
    unsigned fidelity, i, ran = 0;

    for (fidelity = 0; fidelity < 2; fidelity++) {
        struct tdma_properties props = machine_properties();
        struct arena *a;

        props.fidelity = fidelity;
        a = arena_new(&props, WINDOWS_ALL, SPAN, 1);
        for (i = 0; i < count; i++) {
            if (cases[i].kind == kind && cases[i].core == core &&
                i % step == 0) {
                run_case(a, &cases[i], i & 1 ? SEG_PAGED2 : SEG_HOST,
                         i & 2 ? SEG_HBM : SEG_PAGED);
                ran++;
            }
        }
        arena_free(a);
    }
    printf("# %u cases in each fidelity\n", ran / 2);
    return ran / 2;
}

static void test_core_affine(void **state)
{
    (void)state;
    assert_int_equal(run_all(CASE_AFFINE, true, 1), 77);
}

static void test_core_padded(void **state)
{
    (void)state;
    assert_int_equal(run_all(CASE_PADDED, true, 1), 7);
}

static void test_pool_affine(void **state)
{
    (void)state;
    assert_true(run_all(CASE_AFFINE, false, 8) > 100);
}

/* No row is left out without a reason. */
static void test_every_row_has_its_place(void **state)
{
    unsigned kinds[2][CASE_DATA_DEPENDENT + 1] = { { 0 } }, i;

    (void)state;
    for (i = 0; i < count; i++) {
        kinds[cases[i].core][cases[i].kind]++;
    }
    printf("# core: %u affine, %u padded, %u data dependent (not for a tensor "
           "descriptor)\n", kinds[1][CASE_AFFINE], kinds[1][CASE_PADDED],
           kinds[1][CASE_DATA_DEPENDENT]);
    printf("# pool: %u affine, of which every eighth runs here; %u by layout "
           "name, which the guest's tests run\n", kinds[0][CASE_AFFINE],
           kinds[0][CASE_BLOCKED]);
    assert_int_equal(kinds[1][CASE_BLOCKED], 0);
    assert_int_equal(kinds[0][CASE_DATA_DEPENDENT], 0);
    assert_int_equal(kinds[0][CASE_PADDED], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_core_affine),
        cmocka_unit_test(test_core_padded),
        cmocka_unit_test(test_pool_affine),
        cmocka_unit_test(test_every_row_has_its_place),
    };

    return cmocka_run_group_tests_name("cases", tests, read_table, free_table);
}
