/* SPDX-License-Identifier: MIT */
/*
 * The figures of document A, measured on the cycle engine: run it and compare.
 * `make figures` builds and runs it.
 */
#include <stdio.h>
#include "cycle_rig.h"
#include "dma/cycle_chain.h"

static void title(const char *text)
{
    printf("\n%s\n", text);
}

/* Requests of @side in each cycle from its first one on. */
static void print_per_cycle(const struct rig *rig, unsigned side)
{
    uint64_t last = 0;
    unsigned n = 0;

    for (size_t i = 0; i < rig->requests.count; i++) {
        const struct rig_event *e = &rig->requests.event[i];

        if (e->side != side) {
            continue;
        }
        if (n && e->cycle != last) {
            printf(" %u", n);
            n = 0;
        }
        last = e->cycle;
        n++;
    }
    printf(" %u\n", n);
}

static void advances(void)
{
    struct tdma_properties p = rig_properties();
    struct rig *rig = rig_new(&p);
    struct tdma_desc d = rig_copy(18, 4);

    title("Advance amounts: 18 elements, 4 lanes (A13); both sides (A3)");
    rig_submit(rig, 0, &d, NULL);
    rig_run(rig);
    printf("  source       ");
    print_per_cycle(rig, TDMA_SRC);
    printf("  destination  ");
    print_per_cycle(rig, TDMA_DST);
    rig_free(rig);
}

/* Elements each lane generates, from the addresses of 1-byte elements. */
static void lanes(void)
{
    struct tdma_properties p = rig_properties();
    struct rig *rig = rig_new(&p);
    struct tdma_desc d = rig_copy(0, 1);

    title("Elements per lane: 2 x 2 x 2 x 2, counted from 1 (A14)");
    d.ndims = 4;
    for (unsigned i = 0; i < 4; i++) {
        d.steps[i] = 2;
        d.src_stride[i] = d.dst_stride[i] = 1 << i;
    }
    rig_submit(rig, 0, &d, NULL);
    rig_run(rig);
    for (unsigned lane = 0; lane < 4; lane++) {
        unsigned n = 0;

        printf("  lane %u:", lane);
        for (size_t i = 0; i < rig->requests.count; i++) {
            const struct rig_event *e = &rig->requests.event[i];

            if (e->side == TDMA_SRC && n++ % 4 == lane) {
                printf(" %u", (unsigned)e->address + 1);
            }
        }
        printf("\n");
    }
    rig_free(rig);
}

/* Cycles per tensor, back to back, once the pipeline is full. */
static double cycles_per_tensor(unsigned chains, unsigned elements)
{
    enum { TENSORS = 300, FROM = 100, TO = 200 };
    struct tdma_properties p = rig_properties();
    struct tdma_desc d = rig_copy(elements, 4);
    uint64_t cycles;
    struct rig *rig;

    p.chains = chains;
    p.latency_min = p.latency_max = 5;
    rig = rig_new(&p);
    for (unsigned i = 0; i < TENSORS; i++) {
        d.src_offset = i * 256;
        d.dst_offset = RIG_DATA / 2 + i * 256;
        rig_submit(rig, 0, &d, NULL);
    }
    rig_run(rig);
    cycles = rig->requests.event[TO * 2 * elements].cycle -
             rig->requests.event[FROM * 2 * elements].cycle;
    rig_free(rig);
    return (double)cycles / (TO - FROM);
}

static void chains(void)
{
    static const unsigned elements[] = { 4, 8, 12, 16, 32, 64 };

    title("Back-to-back tensors, cycles each: chains per step tracker (A17)");
    printf("  elements  one chain  two chains  throughput with one\n");
    for (unsigned i = 0; i < 6; i++) {
        double one = cycles_per_tensor(1, elements[i]);
        double two = cycles_per_tensor(2, elements[i]);

        printf("  %8u  %9.2f  %10.2f  %17.0f %%\n", elements[i], one, two,
               100 * two / one);
    }
}

/* Requests per cycle and side in the middle of a long copy. */
static double rate_of(const struct tdma_properties *p)
{
    enum { ELEMENTS = 60000, FROM = ELEMENTS / 4, TO = 3 * ELEMENTS / 4 };
    struct tdma_desc d = rig_copy(ELEMENTS, 4);
    struct rig *rig = rig_new(p);
    const struct rig_event *e;
    double rate;

    rig_submit(rig, 0, &d, NULL);
    rig_run(rig);
    e = rig->requests.event;
    rate = (TO - FROM) / (double)(e[2 * TO].cycle - e[2 * FROM].cycle);
    rig_free(rig);
    return rate;
}

static void rates(void)
{
    static const unsigned windows[] = { 16, 64, 200, 500, 2000 };
    static const unsigned latencies[] = { 50, 100, 400, 1000 };
    struct tdma_properties p = rig_properties();

    title("Requests per cycle and side: IDs W, latency L, 4 lanes; in "
          "brackets min(4, W / T), T = L + 3");
    p.release_threshold = 1;
    printf("    W \\ L");
    for (unsigned t = 0; t < 4; t++) {
        printf("  %14u", latencies[t]);
    }
    printf("\n");
    for (unsigned w = 0; w < 5; w++) {
        printf("  %7u", windows[w]);
        for (unsigned t = 0; t < 4; t++) {
            double law = windows[w] /
                         (double)(latencies[t] + TDMA_CREDIT_CYCLES);

            p.ids = windows[w];
            p.latency_min = p.latency_max = latencies[t];
            printf("  %6.3f (%5.3f)", rate_of(&p), law < 4 ? law : 4);
        }
        printf("\n");
    }
}

/* Requests of the destination in @count windows from the second one on */
static uint64_t in_windows(const struct rig *rig, unsigned window,
                           unsigned count)
{
    uint64_t n = 0;

    for (size_t i = 0; i < rig->requests.count; i++) {
        const struct rig_event *e = &rig->requests.event[i];
        uint64_t w = e->cycle / window;

        n += e->side == TDMA_DST && w >= 1 && w <= count;
    }
    return n;
}

static void throttle(void)
{
    static const unsigned percent[] = { 10, 25, 50, 100 };
    enum { ELEMENTS = 40000, WINDOW = 1000 };
    struct tdma_properties p = rig_properties();

    title("Throttle, window of 1000 cycles, 4 lanes, destination side (A21)");
    printf("   set  achieved (8 windows)  stalled cycles  + 4 lanes busy  = "
           "cycles\n");
    for (unsigned i = 0; i < 4; i++) {
        struct tdma_desc d = rig_copy(ELEMENTS, 4);
        struct rig *rig = rig_new(&p);
        const struct tdma_counters *c;
        uint64_t span;

        rig_throttle(rig, WINDOW, percent[i] * 4 * WINDOW / 100);
        rig_submit(rig, 0, &d, NULL);
        rig_run(rig);
        c = rig_counters(rig, TDMA_DST);
        span = rig->requests.event[rig->requests.count - 1].cycle -
               rig->requests.event[0].cycle + 1;
        printf("  %3u%%  %19.2f%%  %14llu  %14u  %8llu\n", percent[i],
               100.0 * in_windows(rig, WINDOW, 8) / (8 * 4 * WINDOW),
               (unsigned long long)c->stall_throttle, ELEMENTS / 4,
               (unsigned long long)span);
        rig_free(rig);
    }
}

static void stalls(void)
{
    struct tdma_properties p = rig_properties();
    struct tdma_desc d = rig_copy(100000, 4);
    struct rig *rig;

    title("Where the cycles of a side go: copy of 100000 elements, latency "
          "100-300, 4 lanes (A20)");
    printf("  IDs  HBM/cycle  cycles  back-pressure  throttle  IDs used up  "
           "fill  most outstanding\n");
    p.latency_max = 300;
    for (p.ids = 100; p.ids <= 1600; p.ids *= 4) {
        for (p.hbm_bandwidth = 4; p.hbm_bandwidth <= 8; p.hbm_bandwidth += 4) {
            const struct tdma_counters *c;

            rig = rig_new(&p);
            rig_submit(rig, 0, &d, NULL);
            rig_run(rig);
            c = rig_counters(rig, TDMA_DST);
            printf("  %4u  %8u  %6llu  %13llu  %8llu  %11llu  %4llu  %16llu\n",
                   (unsigned)p.ids, (unsigned)p.hbm_bandwidth,
                   (unsigned long long)rig_record(rig, 0, 0)->cycles,
                   (unsigned long long)c->stall_backpressure,
                   (unsigned long long)c->stall_throttle,
                   (unsigned long long)c->stall_ids,
                   (unsigned long long)c->pipeline_fill,
                   (unsigned long long)c->outstanding_max);
            rig_free(rig);
        }
    }
}

int main(void)
{
    advances();
    lanes();
    chains();
    rates();
    throttle();
    stalls();
    return 0;
}
