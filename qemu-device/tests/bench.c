/* SPDX-License-Identifier: MIT */
/*
 * Speed of the fast engine, as ratios within one run: contiguous copies and
 * fills against memcpy and memset, and the affine moves of the case table
 * against memcpy of as many bytes. One thread; descriptors pass through ring
 * and record like any other. Times are those of the thread, so that other work
 * on the machine disturbs little.
 *
 * With -c it prints the cases for bench_numpy.py to compare with: name, bytes,
 * seconds, element size, then steps, source and destination strides, innermost
 * first, and both offsets. With -p source and destination are lists of pages.
 * A further argument selects cases by name.
 */
#include <math.h>
#include <time.h>
#include "cases.h"
#include "machine.h"
#include "test.h"

enum {
    RAM_SEGMENT = 20 << 20,
    PAYLOAD = 8 << 20,
    SPAN = 16 << 20,
    RW = TDMA_SEG_READ | TDMA_SEG_WRITE,
};

#define SECONDS_MIN 0.02

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

struct bench {
    struct machine *m;
    struct queue q;
    const struct tdma_desc *desc;
    const struct tdma_desc_ext *ext;
    uint64_t bytes;
};

static void run_job(struct bench *b)
{
    if (queue_do(&b->q, b->desc, b->ext).status != TDMA_STATUS_OK) {
        fprintf(stderr, "a benchmark's descriptor was refused\n");
        exit(1);
    }
}

static void run_memcpy(struct bench *b)
{
    memcpy(machine_byte(b->m, 1, 2, 0), machine_byte(b->m, 1, 1, 0), b->bytes);
}

static void run_memset(struct bench *b)
{
    memset(machine_byte(b->m, 1, 2, 0), 0x5a, b->bytes);
}

/* Best time of one call among several rounds: least disturbed by others */
static double best_time(struct bench *b, void (*fn)(struct bench *))
{
    double best = INFINITY, all = 0;
    unsigned round, calls = 1, i;

    for (round = 0; round < 40 && (round < 5 || all < 5 * SECONDS_MIN);
         round++) {
        double start = now(), t;

        for (i = 0; i < calls; i++) {
            fn(b);
        }
        t = now() - start;
        all += t;
        if (t / calls < best) {
            best = t / calls;
        }
        if (t < SECONDS_MIN / 4) {
            calls *= 2;
        }
    }
    return best;
}

static void print_ratio(const char *name, uint64_t bytes, double t,
                        double reference, const char *against)
{
    printf("%-44s %8.2f GB/s  %5.2f x %s\n", name, bytes / t * 1e-9,
           reference / t, against);
}

static void bench_contiguous(struct bench *b, uint64_t bytes)
{
    struct tdma_desc copy = desc_copy(1, 2, 1, bytes);
    struct tdma_desc fill = desc_memset(2, 1, bytes, 0x5a);
    char name[64];

    b->bytes = bytes;
    b->ext = NULL;
    b->desc = &copy;
    snprintf(name, sizeof(name), "copy, contiguous, %llu KiB",
             (unsigned long long)bytes >> 10);
    print_ratio(name, bytes, best_time(b, run_job), best_time(b, run_memcpy),
                "memcpy");
    b->desc = &fill;
    snprintf(name, sizeof(name), "memset, contiguous, %llu KiB",
             (unsigned long long)bytes >> 10);
    print_ratio(name, bytes, best_time(b, run_job), best_time(b, run_memset),
                "memset");
}

static uint64_t payload(const struct tdma_desc *d)
{
    uint64_t bytes = d->elem_bytes;
    unsigned i;

    for (i = 0; i < d->ndims; i++) {
        bytes *= d->steps[i];
    }
    return bytes;
}

static void print_list(const char *what, const int64_t *v, unsigned n)
{
    unsigned i;

    printf(" %s", what);
    for (i = 0; i < n; i++) {
        printf("%c%lld", i ? ',' : '=', (long long)v[i]);
    }
}

static void print_case(const struct test_case *c, uint64_t bytes, double t)
{
    const struct tdma_desc *d = &c->desc;
    int64_t steps[TDMA_MAX_DIMS];
    unsigned i;

    for (i = 0; i < d->ndims; i++) {
        steps[i] = d->steps[i];
    }
    printf("%s bytes=%llu seconds=%.9f elem=%u", c->name,
           (unsigned long long)bytes, t, d->elem_bytes);
    print_list("steps", steps, d->ndims);
    print_list("src", (const int64_t *)d->src_stride, d->ndims);
    print_list("dst", (const int64_t *)d->dst_stride, d->ndims);
    printf(" src_offset=%llu dst_offset=%llu\n",
           (unsigned long long)d->src_offset,
           (unsigned long long)d->dst_offset);
}

static void bench_cases(struct bench *b, bool plain, const char *only)
{
    struct test_case *cases;
    unsigned count = cases_read(TDMA_CASES, PAYLOAD, SPAN, &cases), i, n = 0;
    double log_sum = 0;

    for (i = 0; i < count; i++) {
        struct test_case *c = &cases[i];
        double t, reference;

        if (!c->core || (only && !strstr(c->name, only)) ||
            (c->kind != CASE_AFFINE && (plain || c->kind != CASE_PADDED))) {
            continue;
        }
        c->desc.src_segment = 1;
        c->desc.dst_segment = 2;
        b->desc = &c->desc;
        b->ext = c->kind == CASE_PADDED ? &c->ext : NULL;
        b->bytes = payload(&c->desc);
        t = best_time(b, run_job);
        if (plain) {
            print_case(c, b->bytes, t);
            continue;
        }
        reference = best_time(b, run_memcpy);
        print_ratio(c->name, b->bytes, t, reference, "memcpy");
        log_sum += log(reference / t);
        n++;
    }
    if (n) {
        printf("%u cases, geometric mean %.2f x memcpy\n", n,
               exp(log_sum / n));
    }
    free(cases);
}

static void make_segments(struct machine *m, bool paged)
{
    unsigned segment;
    uint64_t i;

    for (segment = 1; segment <= 2; segment++) {
        if (paged) {
            machine_segment_paged(m, 1, segment, RAM_SEGMENT, RW, 0, segment);
        } else {
            machine_segment_host(m, 1, segment, RAM_SEGMENT, RW);
        }
        for (i = 0; i < RAM_SEGMENT; i += MACHINE_PAGE) {
            memset(machine_byte(m, 1, segment, i), segment, MACHINE_PAGE);
        }
    }
}

int main(int argc, char **argv)
{
    bool plain = argc > 1 && !strcmp(argv[1], "-c");
    bool paged = argc > 1 && !strcmp(argv[1], "-p");
    const char *only = argc > 1 + (plain || paged) ? argv[argc - 1] : NULL;
    struct tdma_properties props = machine_properties();
    struct queue_config config = { .context = 1 };
    struct bench b = { .m = machine_new(&props, WINDOWS_ALL) };
    uint64_t bytes;

    make_segments(b.m, paged);
    b.q = machine_queue(b.m, 0, &config);
    for (bytes = 1 << 12; !plain && !only && bytes <= 16 << 20; bytes *= 16) {
        bench_contiguous(&b, bytes);
    }
    bench_cases(&b, plain, only);
    machine_free(b.m);
    return 0;
}
