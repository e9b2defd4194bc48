/* SPDX-License-Identifier: MIT */
/*
 * The table of tensor moves that real software makes, in both fidelities,
 * against the reference. Rows are made smaller as cases.h says.
 */
#include "arena.h"
#include "cases.h"

/* The table with its rows made small enough: few and larger, many and smaller */
struct table {
    uint64_t payload, span;
    struct test_case *cases;
    unsigned count;
};

static struct table core_table = { .payload = 32 << 10, .span = 1 << 20 };
static struct table pool_table = { .payload = 4 << 10, .span = 64 << 10 };

static bool read_table(struct table *t)
{
    t->count = cases_read(TDMA_CASES, t->payload, t->span, &t->cases);
    return t->count;
}

static int read_tables(void **state)
{
    (void)state;
    return read_table(&core_table) && read_table(&pool_table) ? 0 : -1;
}

static int free_tables(void **state)
{
    (void)state;
    free(core_table.cases);
    free(pool_table.cases);
    return 0;
}

static void run_case(struct arena *a, const struct table *t, unsigned i)
{
    const struct test_case *c = &t->cases[i];
    struct tdma_desc d = c->desc;

    d.src_segment = i & 1 ? SEG_PAGED2 : SEG_HOST;
    d.dst_segment = i & 2 ? SEG_HBM : SEG_PAGED;
    if (c->src_bytes > t->span || c->dst_bytes > t->span) {
        fprintf(stderr, "# %s still reaches too far\n", c->name);
    }
    assert_true(c->src_bytes <= t->span && c->dst_bytes <= t->span);
    arena_run(a, &d, c->kind == CASE_PADDED ? &c->ext : NULL);
}

/* All cases of a kind, in both fidelities; how many there are */
static unsigned run_all(enum case_kind kind, bool core)
{
    const struct table *t = core ? &core_table : &pool_table;
    unsigned fidelity, i, ran = 0;

    for (fidelity = 0; fidelity < 2; fidelity++) {
        struct tdma_properties props = machine_properties();
        struct arena *a;

        props.fidelity = fidelity;
        a = arena_new(&props, WINDOWS_ALL, t->span, 1);
        for (i = 0; i < t->count; i++) {
            if (t->cases[i].kind == kind && t->cases[i].core == core) {
                run_case(a, t, i);
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
    assert_int_equal(run_all(CASE_AFFINE, true), 77);
}

static void test_core_padded(void **state)
{
    (void)state;
    assert_int_equal(run_all(CASE_PADDED, true), 7);
}

static void test_pool_affine(void **state)
{
    (void)state;
    assert_int_equal(run_all(CASE_AFFINE, false), 949);
}

/* No row is left out without a reason. */
static void test_every_row_has_its_place(void **state)
{
    unsigned kinds[2][CASE_DATA_DEPENDENT + 1] = { { 0 } }, i;

    (void)state;
    for (i = 0; i < core_table.count; i++) {
        const struct test_case *c = &core_table.cases[i];

        kinds[c->core][c->kind]++;
    }
    printf("# core: %u affine, %u padded, %u data dependent (not for a tensor "
           "descriptor)\n", kinds[1][CASE_AFFINE], kinds[1][CASE_PADDED],
           kinds[1][CASE_DATA_DEPENDENT]);
    printf("# pool: %u affine; %u by layout name, which the guest's tests "
           "run\n", kinds[0][CASE_AFFINE], kinds[0][CASE_BLOCKED]);
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

    return cmocka_run_group_tests_name("cases", tests, read_tables,
                                       free_tables);
}
