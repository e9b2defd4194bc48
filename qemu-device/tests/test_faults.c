/* SPDX-License-Identifier: MIT */
/*
 * What memory refuses, and what the segment table forbids: the status names
 * the place, what the record counts is done, and the queue goes on.
 */
#include "arena.h"

enum { BYTES = 1 << 16 };

static struct arena *new_arena(enum machine_windows windows)
{
    struct tdma_properties props = machine_properties();

    return arena_new(&props, windows, BYTES, 21 + windows);
}

/*
 * Bytes of the destination below element @count are as they should be. What
 * the element at fault and those behind it left there is not defined.
 */
static void check_done(struct arena *a, const struct tdma_desc *d,
                       uint64_t count)
{
    struct reference r = { a->m, 1, d, NULL };
    uint8_t *after = malloc(BYTES);
    uint64_t i;

    for (i = 0; i < BYTES; i++) {
        after[i] = *machine_byte(a->m, 1, d->dst_segment, i);
    }
    memcpy(machine_ptr(a->m, a->lo), a->before, a->hi - a->lo);
    memcpy(a->m->hbm, a->before + (a->hi - a->lo), a->m->hbm_used);
    reference_run(&r, 0, count);
    for (i = 0; i < count; i++) {
        uint64_t at = d->dst_offset + i * d->dst_stride[0], byte;

        for (byte = 0; byte < d->elem_bytes; byte++) {
            assert_int_equal(after[at + byte],
                             *machine_byte(a->m, 1, d->dst_segment,
                                           at + byte));
        }
    }
    free(after);
}

static void fault_at(struct arena *a, struct tdma_desc d, unsigned side,
                     uint64_t element, unsigned byte)
{
    unsigned segment = side ? d.dst_segment : d.src_segment;
    uint64_t offset = side ? d.dst_offset + element * d.dst_stride[0]
                           : d.src_offset + element * d.src_stride[0];
    uint64_t addr = MACHINE_RAM_BASE +
                    (machine_byte(a->m, 1, segment, offset + byte) -
                     a->m->ram);
    struct tdma_desc next = desc_copy(SEG_HBM, SEG_HBM2, 1, 10);
    struct tdma_record r;

    machine_fault(a->m, addr, addr + 1);
    arena_save(a);
    r = queue_do(&a->q, &d, NULL);
    a->m->faults = 0;
    assert_int_equal(r.status, TDMA_STATUS_BUS_ERROR);
    assert_int_equal(r.fault_side, side ? TDMA_SIDE_DST : TDMA_SIDE_SRC);
    assert_int_equal(r.fault_offset, offset);
    assert_int_equal(r.src_done, d.opcode == TDMA_OP_MEMSET ? 0 : element);
    assert_int_equal(r.dst_done, d.opcode == TDMA_OP_READ ? 0 : element);
    if (d.opcode != TDMA_OP_READ) {
        check_done(a, &d, element);
    }
    arena_run(a, &next, NULL);
}

/* Every kind of memory, near its start, at borders of pages, at its end */
static void fault_everywhere(const struct tdma_desc *desc, unsigned side)
{
    static const unsigned segments[] = { SEG_HOST, SEG_PAGED, SEG_PAGED2 };
    unsigned windows, s, i;

    for (windows = WINDOWS_NONE; windows <= WINDOWS_SOME; windows++) {
        struct arena *a = new_arena(windows);

        for (s = 0; s < TEST_COUNT(segments); s++) {
            struct tdma_desc d = *desc;
            uint64_t last = d.steps[0] - 1;
            const uint64_t elements[] = { 0, 1, last / 3, last / 2, last };

            if (side) {
                d.dst_segment = segments[s];
            } else {
                d.src_segment = segments[s];
            }
            for (i = 0; i < TEST_COUNT(elements); i++) {
                fault_at(a, d, side, elements[i],
                         elements[i] % d.elem_bytes);
            }
        }
        arena_free(a);
    }
}

static void test_copy_source(void **state)
{
    struct tdma_desc d = desc_copy(0, SEG_HBM, 4, BYTES / 4);

    (void)state;
    fault_everywhere(&d, 0);
    d = desc_copy(0, SEG_HBM, 7, BYTES / 20);
    d.src_stride[0] = 19;
    fault_everywhere(&d, 0);
    d = desc_copy(0, SEG_HBM, 3000, 20);
    fault_everywhere(&d, 0);
}

static void test_copy_destination(void **state)
{
    struct tdma_desc d = desc_copy(SEG_HBM, 0, 4, BYTES / 4);

    (void)state;
    fault_everywhere(&d, 1);
    d = desc_copy(SEG_HBM, 0, 7, BYTES / 20);
    d.dst_stride[0] = 19;
    fault_everywhere(&d, 1);
    d = desc_copy(SEG_HBM, 0, 3000, 20);
    fault_everywhere(&d, 1);
}

static void test_memset(void **state)
{
    struct tdma_desc d = desc_memset(0, 3, BYTES / 3, 0x77);

    (void)state;
    fault_everywhere(&d, 1);
}

static void test_read(void **state)
{
    struct tdma_desc d = desc_copy(0, 0, 8, BYTES / 8);

    (void)state;
    d.opcode = TDMA_OP_READ;
    d.dst_stride[0] = 0;
    fault_everywhere(&d, 0);
}

/* Nothing is added twice. */
static void test_accumulate(void **state)
{
    struct tdma_desc d = desc_copy(SEG_HBM, 0, 4, BYTES / 4);

    (void)state;
    d.opcode = TDMA_OP_ACCUMULATE;
    d.type = TDMA_TYPE_S32;
    fault_everywhere(&d, 1);
    d.dst_segment = SEG_HBM2;
    fault_everywhere(&d, 0);
}

static void test_policy_halt_on_fault(void **state)
{
    struct arena *a = new_arena(WINDOWS_ALL);
    struct queue_config config = { .context = 1, .policy = TDMA_POLICY_HALT };
    struct queue q = machine_queue(a->m, 3, &config);
    struct tdma_desc d = desc_copy(SEG_HOLE, SEG_HBM, 4, 10);

    (void)state;
    queue_put(&q, &d, NULL);
    queue_put(&q, &d, NULL);
    queue_ring(&q);
    machine_run(a->m);
    assert_int_equal(queue_state(&q), TDMA_QSTATE_HALTED);
    assert_int_equal(queue_error(&q), TDMA_QERR_JOB);
    assert_int_equal(queue_done(&q), 1);
    assert_int_equal(queue_record(&q, 0).status, TDMA_STATUS_BUS_ERROR);
    arena_free(a);
}

static void test_bad_page_list(void **state)
{
    struct arena *a = new_arena(WINDOWS_ALL);
    struct tdma_desc d = desc_copy(SEG_BAD_LIST, SEG_HOST, 4, 10);
    struct tdma_record r;

    (void)state;
    r = queue_do(&a->q, &d, NULL);
    assert_int_equal(r.status, TDMA_STATUS_BUS_ERROR);
    assert_int_equal(r.src_done, 0);
    d.src_segment = SEG_BAD_PAGE;
    d.src_offset = MACHINE_PAGE;
    r = queue_do(&a->q, &d, NULL);
    assert_int_equal(r.status, TDMA_STATUS_BUS_ERROR);
    assert_int_equal(r.fault_offset, MACHINE_PAGE);
    arena_free(a);
}

/* A page list that changes between two descriptors: nothing old is used. */
static void test_page_list_is_not_kept(void **state)
{
    struct arena *a = new_arena(WINDOWS_ALL);
    struct tdma_desc d = desc_copy(SEG_PAGED, SEG_HOST, 1, 3 * MACHINE_PAGE);
    uint64_t *page = (uint64_t *)machine_ptr(a->m,
                                             a->m->table[1][SEG_PAGED].base);
    uint64_t swap;

    (void)state;
    arena_run(a, &d, NULL);
    swap = page[0];
    page[0] = page[2];
    page[2] = swap;
    arena_run(a, &d, NULL);
    arena_free(a);
}

static void refused(struct arena *a, const struct tdma_desc *d,
                    uint32_t status, unsigned side, unsigned field)
{
    struct tdma_record r = arena_refuse(a, d, NULL, status);

    assert_int_equal(r.fault_side, side);
    assert_int_equal(r.fault_field, field);
    assert_int_equal(r.fault_dim, TDMA_DIM_NONE);
}

static void test_permissions(void **state)
{
    struct arena *a = new_arena(WINDOWS_ALL);
    struct tdma_desc d = desc_copy(SEG_READ_ONLY, SEG_WRITE_ONLY, 4, 10);
    unsigned src = offsetof(struct tdma_desc, src_segment);
    unsigned dst = offsetof(struct tdma_desc, dst_segment);

    (void)state;
    arena_run(a, &d, NULL);
    d.src_segment = SEG_WRITE_ONLY;
    refused(a, &d, TDMA_STATUS_BAD_ACCESS, TDMA_SIDE_SRC, src);
    d.src_segment = SEG_READ_ONLY;
    d.dst_segment = SEG_READ_ONLY;
    refused(a, &d, TDMA_STATUS_BAD_ACCESS, TDMA_SIDE_DST, dst);
    /* Adding reads its destination. */
    d.dst_segment = SEG_WRITE_ONLY;
    d.opcode = TDMA_OP_ACCUMULATE;
    d.type = TDMA_TYPE_S32;
    refused(a, &d, TDMA_STATUS_BAD_ACCESS, TDMA_SIDE_DST, dst);
    d = desc_memset(SEG_READ_ONLY, 1, 1, 0);
    refused(a, &d, TDMA_STATUS_BAD_ACCESS, TDMA_SIDE_DST, dst);
    d = desc_memset(SEG_WRITE_ONLY, 1, 1, 0);
    arena_run(a, &d, NULL);
    arena_free(a);
}

static void test_segment_numbers(void **state)
{
    struct arena *a = new_arena(WINDOWS_ALL);
    struct tdma_desc d = desc_copy(SEG_HOST, SEG_HOST2, 4, 10);
    unsigned src = offsetof(struct tdma_desc, src_segment);
    static const uint32_t bad[] = {
        0, SEG_NONE, MACHINE_SEGMENTS, MACHINE_SEGMENTS + 1, UINT32_MAX,
    };
    unsigned i;

    (void)state;
    a->m->table[1][MACHINE_SEGMENTS - 1] = a->m->table[1][SEG_HOST];
    machine_segment(a->m, 1, SEG_HOST, &a->m->table[1][SEG_HOST]);
    d.src_segment = MACHINE_SEGMENTS - 1;
    arena_run(a, &d, NULL);
    for (i = 0; i < TEST_COUNT(bad); i++) {
        d.src_segment = bad[i];
        refused(a, &d, TDMA_STATUS_BAD_SEGMENT, TDMA_SIDE_SRC, src);
    }
    arena_free(a);
}

/* Count 0: no access at all. The table of another context is not used. */
static void test_contexts_are_apart(void **state)
{
    struct arena *a = new_arena(WINDOWS_ALL);
    struct tdma_desc d = desc_copy(SEG_HOST, SEG_HOST2, 4, 10);
    struct queue_config config = { .context = 2 };
    struct queue q = machine_queue(a->m, 4, &config);
    uint64_t reg = TDMA_CONTEXT_BASE + TDMA_CONTEXT_STRIDE;

    (void)state;
    arena_save(a);
    assert_int_equal(queue_do(&q, &d, NULL).status, TDMA_STATUS_BAD_SEGMENT);
    machine_write(a->m, reg + TDMA_CONTEXT_COUNT, 0);
    assert_int_equal(queue_do(&a->q, &d, NULL).status,
                     TDMA_STATUS_BAD_SEGMENT);
    assert_true(arena_unchanged(a));
    machine_write(a->m, reg + TDMA_CONTEXT_COUNT, MACHINE_SEGMENTS);
    machine_write64(a->m, reg + TDMA_CONTEXT_TABLE, 0x1000);
    assert_int_equal(queue_do(&a->q, &d, NULL).status,
                     TDMA_STATUS_BAD_SEGMENT);
    machine_write64(a->m, reg + TDMA_CONTEXT_TABLE, UINT64_MAX - 31);
    assert_int_equal(queue_do(&a->q, &d, NULL).status,
                     TDMA_STATUS_BAD_SEGMENT);
    assert_true(arena_unchanged(a));
    arena_free(a);
}

/* Entries that describe no memory there could be */
static void test_bad_segment_entries(void **state)
{
    struct arena *a = new_arena(WINDOWS_ALL);
    struct tdma_segment host = a->m->table[1][SEG_HOST];
    struct tdma_segment paged = a->m->table[1][SEG_PAGED];
    struct tdma_segment hbm = a->m->table[1][SEG_HBM];
    struct tdma_segment bad[16];
    struct tdma_desc d = desc_copy(20, SEG_HBM2, 1, 1);
    unsigned n = 0, i;

    (void)state;
    bad[n] = host, bad[n++].space = 3;
    bad[n] = host, bad[n++].space = UINT32_MAX;
    bad[n] = host, bad[n++].flags |= 1U << 4;
    bad[n] = host, bad[n++].flags |= 1U << 31;
    bad[n] = host, bad[n++].page_shift = 12;
    bad[n] = host, bad[n++].page_offset = 1;
    bad[n] = host, bad[n++].length = UINT64_MAX - host.base + 1;
    bad[n] = hbm, bad[n++].flags |= TDMA_SEG_PAGED;
    bad[n] = hbm, bad[n++].length = a->m->props.hbm_size - hbm.base + 1;
    bad[n] = hbm, bad[n++].base = UINT64_MAX;
    bad[n] = paged, bad[n++].page_shift = 11;
    bad[n] = paged, bad[n++].page_shift = 41;
    bad[n] = paged, bad[n++].page_offset = MACHINE_PAGE;
    bad[n] = paged, bad[n++].base++;
    bad[n] = paged, bad[n++].length = UINT64_MAX;
    bad[n] = paged, bad[n].page_shift = 0, n++;
    for (i = 0; i < n; i++) {
        if (i == 14) {
            bad[i].page_offset = 1;
        }
        machine_segment(a->m, 1, 20, &bad[i]);
        arena_refuse(a, &d, NULL, TDMA_STATUS_BAD_SEGMENT);
    }
    hbm.length = a->m->props.hbm_size - hbm.base;
    machine_segment(a->m, 1, 20, &hbm);
    assert_int_equal(queue_do(&a->q, &d, NULL).status, TDMA_STATUS_OK);
    arena_free(a);
}

/*
 * Pages so large that the offset of the first is no 32-bit matter: the entry is
 * right, but the pages of this list are not where such pages could be.
 */
static void test_huge_pages(void **state)
{
    struct arena *a = new_arena(WINDOWS_ALL);
    struct tdma_segment paged = a->m->table[1][SEG_PAGED];
    struct tdma_desc d = desc_copy(20, SEG_HBM2, 1, 1);

    (void)state;
    paged.page_offset = 16;
    paged.length = 16;
    for (paged.page_shift = 31; paged.page_shift <= 40; paged.page_shift++) {
        machine_segment(a->m, 1, 20, &paged);
        assert_int_equal(queue_do(&a->q, &d, NULL).status,
                         TDMA_STATUS_BUS_ERROR);
    }
    arena_free(a);
}

static void inject(struct machine *m, unsigned kind, unsigned side,
                   uint64_t element)
{
    machine_write(m, TDMA_THREAD_BASE + TDMA_THREAD_INJECT_SIDE, side);
    machine_write64(m, TDMA_THREAD_BASE + TDMA_THREAD_INJECT_ELEMENT, element);
    machine_write(m, TDMA_THREAD_BASE + TDMA_THREAD_INJECT, kind);
}

static uint32_t inject_left(struct machine *m)
{
    return machine_read(m, TDMA_THREAD_BASE + TDMA_THREAD_INJECT);
}

/* An error strikes where it is told to, once, and the next job is well. */
static void test_injected_errors(void **state)
{
    static const struct {
        unsigned kind, side;
        uint32_t status;
    } cases[] = {
        { TDMA_INJECT_BUS_ERROR, 0, TDMA_STATUS_BUS_ERROR },
        { TDMA_INJECT_BUS_ERROR, 1, TDMA_STATUS_BUS_ERROR },
        { TDMA_INJECT_POISON, 0, TDMA_STATUS_POISONED },
        { TDMA_INJECT_UNKNOWN_ID, 0, TDMA_STATUS_BAD_RESPONSE },
        { TDMA_INJECT_UNKNOWN_ID, 1, TDMA_STATUS_BAD_RESPONSE },
        { TDMA_INJECT_DUPLICATE_ID, 0, TDMA_STATUS_BAD_RESPONSE },
        { TDMA_INJECT_DUPLICATE_ID, 1, TDMA_STATUS_BAD_RESPONSE },
    };
    static const uint64_t elements[] = { 0, 1, 500, 999 };
    struct tdma_properties props = machine_properties();
    struct tdma_desc d = desc_copy(SEG_HOST, SEG_HOST2, 4, 1000), small;
    struct tdma_record r;
    struct arena *a;
    unsigned i, e;

    (void)state;
    props.inject = 1;
    a = arena_new(&props, WINDOWS_ALL, BYTES, 3);
    assert_true(machine_read(a->m, TDMA_REG_FEATURES) & TDMA_FEATURE_INJECT);
    small = desc_copy(SEG_HOST, SEG_HOST2, 4, 10);
    for (i = 0; i < TEST_COUNT(cases); i++) {
        for (e = 0; e < TEST_COUNT(elements); e++) {
            inject(a->m, cases[i].kind, cases[i].side, elements[e]);
            /* A job without such an element goes through. */
            if (elements[e] >= 10) {
                arena_run(a, &small, NULL);
                assert_int_equal(inject_left(a->m), cases[i].kind);
            }
            arena_save(a);
            r = queue_do(&a->q, &d, NULL);
            assert_int_equal(r.status, cases[i].status);
            assert_int_equal(r.src_done, elements[e]);
            assert_int_equal(r.dst_done, elements[e]);
            assert_int_equal(r.fault_side, cases[i].side + TDMA_SIDE_SRC);
            assert_int_equal(r.fault_offset, elements[e] * 4);
            check_done(a, &d, elements[e]);
            assert_int_equal(inject_left(a->m), TDMA_INJECT_NONE);
            arena_run(a, &d, NULL);
        }
    }
    arena_free(a);
}

/* Unless the machine was made for it there are no such registers. */
static void test_no_injection_by_default(void **state)
{
    struct arena *a = new_arena(WINDOWS_ALL);
    struct tdma_desc d = desc_copy(SEG_HOST, SEG_HOST2, 4, 1000);

    (void)state;
    inject(a->m, TDMA_INJECT_BUS_ERROR, 0, 0);
    assert_int_equal(inject_left(a->m), 0);
    assert_int_equal(machine_read(a->m, TDMA_REG_BAD_ACCESS), 4);
    arena_run(a, &d, NULL);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copy_source),
        cmocka_unit_test(test_copy_destination),
        cmocka_unit_test(test_memset),
        cmocka_unit_test(test_read),
        cmocka_unit_test(test_accumulate),
        cmocka_unit_test(test_policy_halt_on_fault),
        cmocka_unit_test(test_bad_page_list),
        cmocka_unit_test(test_page_list_is_not_kept),
        cmocka_unit_test(test_permissions),
        cmocka_unit_test(test_segment_numbers),
        cmocka_unit_test(test_contexts_are_apart),
        cmocka_unit_test(test_bad_segment_entries),
        cmocka_unit_test(test_huge_pages),
        cmocka_unit_test(test_injected_errors),
        cmocka_unit_test(test_no_injection_by_default),
    };

    return cmocka_run_group_tests_name("faults", tests, NULL, NULL);
}
