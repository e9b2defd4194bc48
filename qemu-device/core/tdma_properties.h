/* SPDX-License-Identifier: MIT */
/*
 * tensordma core: the one table of configuration properties.
 *
 * TDMA_PROPERTIES(X) lists X(field, "name", default, min, max, "description").
 * The QEMU device, the simulator's command line and the range check in
 * tdma_core_new() are generated from it; the capability registers report what
 * was chosen.
 */
#ifndef TDMA_PROPERTIES_H
#define TDMA_PROPERTIES_H

#include <stdint.h>

enum {
    TDMA_FIDELITY_FAST = 0,
    TDMA_FIDELITY_CYCLE = 1,
};

#define TDMA_PROPERTIES(X)                                                  \
    X(threads, "threads", 4, 1, 16, "DMA threads")                          \
    X(queues, "queues", 128, 1, 256, "descriptor queues")                   \
    X(contexts, "contexts", 128, 1, 256, "contexts (segment tables)")       \
    X(segments, "segments", 4096, 1, 65536, "entries per segment table")    \
    X(vectors, "vectors", 32, 1, 2048, "MSI-X vectors")                     \
    X(ring_order, "ring-order", 12, 1, 16, "log2 of the largest ring")      \
    X(dims, "dims", 8, 1, 8, "dimensions per descriptor")                   \
    X(lanes, "lanes", 4, 1, 8, "addresses per cycle and side")              \
    X(chains, "chains", 2, 1, 2, "step-increment chains per tracker")       \
    X(ids, "ids", 500, 1, 4096, "request IDs per sub-thread")               \
    X(pop_max, "pop-max", 4, 1, 64, "responses popped per cycle")           \
    X(release_threshold, "release-threshold", 16, 1, 4096,                  \
      "consecutive request IDs per credit return")                          \
    X(latency_min, "latency-min", 100, 0, 1000000,                          \
      "shortest memory latency, cycles")                                    \
    X(latency_max, "latency-max", 100, 0, 1000000,                          \
      "longest memory latency, cycles (uniform between the two)")           \
    X(host_bandwidth, "host-bandwidth", 8, 1, 64,                           \
      "host requests accepted per cycle")                                   \
    X(hbm_bandwidth, "hbm-bandwidth", 16, 1, 64,                            \
      "HBM requests accepted per cycle")                                    \
    X(seed, "seed", 1, 0, UINT32_MAX, "seed of the memory model")           \
    X(sync_flags, "sync-flags", 1024, 1, 65536, "sync flags")               \
    X(fidelity, "fidelity", TDMA_FIDELITY_FAST, TDMA_FIDELITY_FAST,         \
      TDMA_FIDELITY_CYCLE, "0 = fast, 1 = cycle")                           \
    X(inject, "inject", 0, 0, 1, "error injection registers exist")         \
    X(quantum_bytes, "quantum-bytes", 1048576, 4096, 67108864,              \
      "bytes moved before a thread looks up")                               \
    X(quantum_steps, "quantum-steps", 65536, 64, 16777216,                  \
      "address steps before a thread looks up")                             \
    X(hbm_size, "hbm-size", 268435456, 4096, 1ULL << 40,                    \
      "bytes of device memory, a power of two")

struct tdma_properties {
#define TDMA_PROPERTY_FIELD(field, name, def, min, max, text) uint64_t field;
    TDMA_PROPERTIES(TDMA_PROPERTY_FIELD)
#undef TDMA_PROPERTY_FIELD
};

#endif /* TDMA_PROPERTIES_H */
