/* SPDX-License-Identifier: MIT */
/*
 * A machine with memory around it, for the tests of the core: host RAM at a
 * bus address that is not zero, HBM, page lists, segment tables and queues.
 */
#ifndef TDMA_TEST_MACHINE_H
#define TDMA_TEST_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "tdma_core.h"

enum {
    MACHINE_PAGE = 4096,
    MACHINE_SEGMENTS = 64,
    MACHINE_VECTORS = 8,
    MACHINE_FAULTS = 4,
};

#define MACHINE_RAM_BASE 0x140000000ULL

/* How much of RAM can be reached through a pointer */
enum machine_windows {
    WINDOWS_NONE,               /* the host has no window operation */
    WINDOWS_ALL,
    WINDOWS_SHORT,              /* a few bytes at a time */
    WINDOWS_SOME,               /* every other page only */
};

struct machine {
    struct tdma_core *core;
    struct tdma_properties props;
    struct tdma_host_ops ops;

    uint8_t *ram;
    uint64_t ram_size;
    uint64_t ram_used;
    uint8_t *hbm;
    uint64_t hbm_used;
    enum machine_windows windows;

    /* Bus addresses [lo, hi) that refuse accesses */
    struct {
        uint64_t lo, hi;
    } fault[MACHINE_FAULTS];
    unsigned faults;

    /*
     * RAM [told_lo, told_hi) and HBM as far as the host has been told that
     * they were written: equal to memory whenever the core says that something
     * is done. NULL if not wanted.
     */
    uint8_t *told;
    uint8_t *told_hbm;
    uint64_t told_lo, told_hi;

    uint32_t kicked;            /* threads, bit mask */
    unsigned irqs[MACHINE_VECTORS];
    unsigned events[TDMA_EVENT_JOB_REJECT + 1];
    unsigned quiesced;

    /* Called for each partial update, after it has been published */
    void (*on_progress)(struct machine *m, unsigned queue, uint32_t index);
    void *progress_opaque;
    /* Called after each read, which software may have waited for */
    void (*on_read)(struct machine *m, uint64_t addr, size_t len);

    /* Segment tables, one per context used */
    struct tdma_segment table[4][MACHINE_SEGMENTS];
    uint64_t table_addr[4];
};

/* A queue as a driver has it */
struct queue {
    struct machine *m;
    unsigned number;
    unsigned order;
    uint64_t ring;
    uint64_t records;
    uint64_t tail_addr;         /* 0: the tail goes into the doorbell */
    uint32_t tail;
};

struct queue_config {
    unsigned order;
    unsigned context;
    unsigned vector;
    uint32_t thread;
    unsigned priority;
    unsigned policy;
    bool tail_in_memory;
};

/*
 * The properties' defaults, with little HBM; TDMA_FIDELITY in the environment
 * (0 or 1) chooses the engine.
 */
struct tdma_properties machine_properties(void);

/* A machine that is enabled and has the tables of contexts 0..3 set up */
struct machine *machine_new(const struct tdma_properties *props,
                            enum machine_windows windows);
/* The same with so many bytes of RAM */
struct machine *machine_new_sized(const struct tdma_properties *props,
                                  enum machine_windows windows,
                                  uint64_t ram_size);
void machine_free(struct machine *m);
/* What software does after a reset: enable, and set up the tables again. */
void machine_setup(struct machine *m);
/* From now on, keep account of what is said to be written to [lo, hi). */
void machine_watch_writes(struct machine *m, uint64_t lo, uint64_t hi);
/* The host has been told of every byte that changed. */
bool machine_told_all(const struct machine *m);

uint64_t machine_read(struct machine *m, uint64_t reg);
void machine_write(struct machine *m, uint64_t reg, uint64_t value);
uint64_t machine_read64(struct machine *m, uint64_t reg);
void machine_write64(struct machine *m, uint64_t reg, uint64_t value);
uint64_t queue_reg(unsigned queue, uint64_t reg);

/* RAM, zeroed: its bus address. Pointer to a bus address. */
uint64_t machine_alloc(struct machine *m, uint64_t bytes, uint64_t align);
uint8_t *machine_ptr(struct machine *m, uint64_t addr);

/* Refuse accesses to bus addresses [lo, hi). */
void machine_fault(struct machine *m, uint64_t lo, uint64_t hi);

/*
 * Segments of a context. PAGED ones get shuffled pages; with @at below the
 * page size they begin inside the first.
 */
void machine_segment(struct machine *m, unsigned context, unsigned index,
                     const struct tdma_segment *seg);
void machine_segment_host(struct machine *m, unsigned context, unsigned index,
                          uint64_t bytes, uint32_t access);
void machine_segment_hbm(struct machine *m, unsigned context, unsigned index,
                         uint64_t bytes, uint32_t access);
void machine_segment_paged(struct machine *m, unsigned context, unsigned index,
                           uint64_t bytes, uint32_t access, uint32_t at,
                           uint64_t seed);
/* The byte at @offset of a segment, found without the core's help */
uint8_t *machine_byte(struct machine *m, unsigned context, unsigned index,
                      uint64_t offset);

/* Run thread @thread, or all that were kicked, until nothing is left to do. */
void machine_run_thread(struct machine *m, unsigned thread);
void machine_run(struct machine *m);

/*
 * Stop the machine: its state, to be freed, and the length of it. Another
 * machine with the same memory around it: NULL if it takes the state, which
 * then runs, or why it does not; the old one is left as it was.
 */
uint8_t *machine_save(struct machine *m, size_t *len);
const char *machine_load(struct machine *m,
                         const struct tdma_properties *props,
                         const uint8_t *state, size_t len);

/* A queue in its own memory, enabled */
struct queue machine_queue(struct machine *m, unsigned number,
                           const struct queue_config *config);
/* Write a slot, or a descriptor with its extension block, at the tail. */
uint32_t queue_put(struct queue *q, const struct tdma_desc *desc,
                   const struct tdma_desc_ext *ext);
/* Publish the tail. */
void queue_ring(struct queue *q);
/* put, ring and run */
struct tdma_record queue_do(struct queue *q, const struct tdma_desc *desc,
                            const struct tdma_desc_ext *ext);
struct tdma_record queue_record(struct queue *q, uint32_t index);
uint32_t queue_state(struct queue *q);
uint32_t queue_error(struct queue *q);
uint32_t queue_done(struct queue *q);

/* A valid descriptor of @elements contiguous elements of @bytes each */
struct tdma_desc desc_copy(uint32_t src, uint32_t dst, uint32_t bytes,
                           uint32_t elements);
struct tdma_desc desc_memset(uint32_t dst, uint32_t bytes, uint32_t elements,
                             uint8_t value);
struct tdma_desc desc_nop(void);

#endif /* TDMA_TEST_MACHINE_H */
