/* SPDX-License-Identifier: MIT */
/*
 * Segments of every kind, and the comparison with the reference.
 */
#include "arena.h"

enum { GAP = 4096, RW = TDMA_SEG_READ | TDMA_SEG_WRITE };

static void fill_noise(struct arena *a, uint64_t seed)
{
    struct rng rng = { seed };
    uint64_t i;

    for (i = a->lo; i < a->hi; i += 8) {
        uint64_t noise = rng_next(&rng);

        memcpy(machine_ptr(a->m, i), &noise, 8);
    }
    for (i = 0; i < a->m->hbm_used; i += 8) {
        uint64_t noise = rng_next(&rng);

        memcpy(a->m->hbm + i, &noise, 8);
    }
}

static void bad_segments(struct arena *a)
{
    struct machine *m = a->m;
    struct tdma_segment seg = {
        .space = TDMA_SPACE_HOST,
        .flags = RW,
        .length = a->bytes,
        .base = 0x1000,
    };
    uint64_t *page;

    machine_segment(m, 1, SEG_HOLE, &seg);
    seg.flags |= TDMA_SEG_PAGED;
    seg.page_shift = 12;
    machine_segment(m, 1, SEG_BAD_LIST, &seg);
    seg.base = machine_alloc(m, 64 * sizeof(uint64_t), 8);
    page = (uint64_t *)machine_ptr(m, seg.base);
    page[0] = a->hi;
    page[1] = a->hi + 8;
    machine_segment(m, 1, SEG_BAD_PAGE, &seg);
}

struct arena *arena_new(const struct tdma_properties *props,
                        enum machine_windows windows, uint64_t bytes,
                        uint64_t seed)
{
    struct arena *a = calloc(1, sizeof(*a));
    struct queue_config config = { .context = 1 };
    struct machine *m = machine_new(props, windows);
    unsigned i;

    a->m = m;
    a->bytes = bytes;
    a->lo = machine_alloc(m, GAP, 8);
    machine_segment_host(m, 1, SEG_HOST, bytes, RW);
    machine_alloc(m, GAP + 8, 8);
    machine_segment_host(m, 1, SEG_HOST2, bytes, RW);
    machine_alloc(m, GAP, 8);
    machine_segment_host(m, 1, SEG_READ_ONLY, bytes, TDMA_SEG_READ);
    machine_segment_host(m, 1, SEG_WRITE_ONLY, bytes, TDMA_SEG_WRITE);
    m->hbm_used = GAP;
    machine_segment_hbm(m, 1, SEG_HBM, bytes, RW);
    m->hbm_used += GAP;
    machine_segment_hbm(m, 1, SEG_HBM2, bytes, RW);
    m->hbm_used += GAP;
    a->hi = machine_alloc(m, GAP, 8) + GAP;
    fill_noise(a, seed);
    /* Page lists lie between the pages, where noise would destroy them. */
    machine_segment_paged(m, 1, SEG_PAGED, bytes, RW, 0, seed);
    machine_segment_paged(m, 1, SEG_PAGED2, bytes, RW, 1234, seed + 1);
    a->hi = machine_alloc(m, GAP, 8) + GAP;
    for (i = SEG_PAGED; i <= SEG_PAGED2; i++) {
        struct rng rng = { seed + i };
        uint64_t at;

        for (at = 0; at < bytes; at++) {
            *machine_byte(m, 1, i, at) = rng_next(&rng);
        }
    }
    bad_segments(a);
    a->before = malloc(a->hi - a->lo + m->hbm_used);
    a->after = malloc(a->hi - a->lo + m->hbm_used);
    a->q = machine_queue(m, 0, &config);
    return a;
}

void arena_free(struct arena *a)
{
    machine_free(a->m);
    free(a->before);
    free(a->after);
    free(a);
}

static void copy_out(const struct arena *a, uint8_t *to)
{
    uint64_t ram = a->hi - a->lo;

    memcpy(to, machine_ptr(a->m, a->lo), ram);
    memcpy(to + ram, a->m->hbm, a->m->hbm_used);
}

static void copy_in(struct arena *a, const uint8_t *from)
{
    uint64_t ram = a->hi - a->lo;

    memcpy(machine_ptr(a->m, a->lo), from, ram);
    memcpy(a->m->hbm, from + ram, a->m->hbm_used);
}

void arena_save(struct arena *a)
{
    copy_out(a, a->before);
}

static bool same(const struct arena *a, const uint8_t *as)
{
    uint64_t ram = a->hi - a->lo;

    return !memcmp(machine_ptr(a->m, a->lo), as, ram) &&
           !memcmp(a->m->hbm, as + ram, a->m->hbm_used);
}

bool arena_unchanged(const struct arena *a)
{
    return same(a, a->before);
}

static void print_steps(const char *name, const int64_t *v)
{
    unsigned i;

    fprintf(stderr, "#  %s", name);
    for (i = 0; i < TDMA_MAX_DIMS; i++) {
        fprintf(stderr, " %lld", (long long)v[i]);
    }
    fprintf(stderr, "\n");
}

void arena_print(const struct tdma_desc *d, const struct tdma_desc_ext *e)
{
    unsigned i;

    fprintf(stderr, "# op %u ndims %u type %u flags %#x elem %u total %llu\n",
            d->opcode, d->ndims, d->type, d->flags, d->elem_bytes,
            (unsigned long long)d->total);
    fprintf(stderr, "#  src %u+%llu dst %u+%llu sync %u %u\n#  steps",
            d->src_segment, (unsigned long long)d->src_offset,
            d->dst_segment, (unsigned long long)d->dst_offset,
            d->src_sync_interval, d->dst_sync_interval);
    for (i = 0; i < TDMA_MAX_DIMS; i++) {
        fprintf(stderr, " %u", d->steps[i]);
    }
    fprintf(stderr, "\n");
    print_steps("src_stride", (const int64_t *)d->src_stride);
    print_steps("dst_stride", (const int64_t *)d->dst_stride);
    for (i = 0; e && i < e->naxes; i++) {
        fprintf(stderr, "#  axis %u side %u start %lld extent %llu\n", i,
                e->axis_side[i], (long long)e->axis_start[i],
                (unsigned long long)e->axis_extent[i]);
    }
    for (i = 0; e && i < d->ndims; i++) {
        fprintf(stderr, "#  dim %u src axis %u coef %d dst axis %u coef %d\n",
                i, e->src_axis[i], e->src_coef[i], e->dst_axis[i],
                e->dst_coef[i]);
    }
}

bool arena_matches_all(struct arena *a, const struct arena_job *jobs,
                       unsigned count)
{
    bool equal;
    unsigned i;

    copy_out(a, a->after);
    copy_in(a, a->before);
    for (i = 0; i < count; i++) {
        struct reference r = {
            a->m, 1, &jobs[i].desc, jobs[i].has_ext ? &jobs[i].ext : NULL,
        };

        reference_run(&r, 0, reference_elements(&r));
    }
    equal = same(a, a->after);
    copy_in(a, a->after);
    return equal;
}

bool arena_matches(struct arena *a, const struct tdma_desc *desc,
                   const struct tdma_desc_ext *ext, uint64_t count)
{
    struct reference r = { a->m, 1, desc, ext };
    bool equal;

    copy_out(a, a->after);
    copy_in(a, a->before);
    reference_run(&r, 0, count);
    equal = same(a, a->after);
    if (!equal) {
        const uint8_t *is = machine_ptr(a->m, a->lo);
        uint64_t i = 0;

        while (i < a->hi - a->lo && is[i] == a->after[i]) {
            i++;
        }
        fprintf(stderr, "# memory differs, first at %#llx of RAM\n",
                (unsigned long long)i);
        arena_print(desc, ext);
    }
    copy_in(a, a->after);
    return equal;
}

struct tdma_record arena_run(struct arena *a, const struct tdma_desc *desc,
                             const struct tdma_desc_ext *ext)
{
    struct reference r = { a->m, 1, desc, ext };
    uint64_t count = reference_elements(&r);
    struct tdma_record record;

    arena_save(a);
    machine_watch_writes(a->m, a->lo, a->hi);
    record = queue_do(&a->q, desc, ext);
    if (record.status != TDMA_STATUS_OK || !machine_told_all(a->m)) {
        arena_print(desc, ext);
    }
    assert_int_equal(record.status, TDMA_STATUS_OK);
    assert_true(machine_told_all(a->m));
    assert_true(arena_matches(a, desc, ext, count));
    assert_int_equal(record.src_done,
                     desc->opcode == TDMA_OP_MEMSET ? 0 : count);
    assert_int_equal(record.dst_done,
                     desc->opcode == TDMA_OP_READ ? 0 : count);
    return record;
}

struct tdma_record arena_refuse(struct arena *a, const struct tdma_desc *desc,
                                const struct tdma_desc_ext *ext,
                                uint32_t status)
{
    struct tdma_record record;

    arena_save(a);
    record = queue_do(&a->q, desc, ext);
    if (record.status != status) {
        arena_print(desc, ext);
    }
    assert_int_equal(record.status, status);
    assert_int_equal(record.src_done, 0);
    assert_int_equal(record.dst_done, 0);
    assert_true(arena_unchanged(a));
    return record;
}
