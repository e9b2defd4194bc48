/* SPDX-License-Identifier: MIT */
/* Benchmark of the cycle engine: how fast it simulates. */
#include "bench.h"
#include "cycle_rig.h"

/* Transposed on its way: the addresses of each side step in all dimensions. */
static struct tdma_desc transpose(void)
{
    static const uint32_t steps[] = { 10, 10, 50, 20 };
    static const int64_t src[] = { 4, 40, 400, 20000 };
    static const int64_t dst[] = { 80, 800, 8000, 4 };
    struct tdma_desc d = rig_copy(0, 4);
    unsigned i;

    d.ndims = 4;
    for (i = 0; i < d.ndims; i++) {
        d.steps[i] = steps[i];
        d.src_stride[i] = src[i];
        d.dst_stride[i] = dst[i];
    }
    return d;
}

static struct rig *make_rig(bool any_order)
{
    struct tdma_properties p = rig_properties();
    struct rig *rig;

    if (any_order) {
        p.latency_min = 20;
    }
    rig = rig_new(&p);
    rig_trace(rig, false);
    return rig;
}

double bench_cycle(unsigned any_order, unsigned calls, uint64_t *cycles,
                   uint64_t *requests)
{
    struct rig *rig = make_rig(any_order);
    struct tdma_desc d = transpose();
    double seconds;
    unsigned i;

    for (i = 0; i < calls; i++) {
        rig_submit(rig, 0, &d, NULL);
    }
    seconds = bench_now();
    rig_run(rig);
    seconds = bench_now() - seconds;
    *cycles += rig_cycles(rig);
    for (i = 0; i < TDMA_SIDES; i++) {
        *requests += rig_counters(rig, i)->requests;
    }
    rig_free(rig);
    return seconds;
}
