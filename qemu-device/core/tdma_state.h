/* SPDX-License-Identifier: MIT */
/*
 * tensordma core: the layout of a saved machine.
 *
 * Little endian, naturally aligned, without holes; every reserved bit is zero.
 * A state is, one after the other,
 *
 *      struct tdma_state_head
 *      struct tdma_properties                  all of them u64
 *      struct tdma_state_context[contexts]
 *      u64 sync flag[sync_flags]               value | control << 32
 *      struct tdma_state_thread[threads]
 *      struct tdma_state_queue[queues]
 *      struct tdma_state_job[jobs]             by queue, in ring order
 *
 * A job is its descriptor as it was fetched, the segments that it was checked
 * against, and how far it has come. Nothing in a state depends on how it is
 * executed; the version changes when the layout does.
 */
#ifndef TDMA_STATE_H
#define TDMA_STATE_H

#include <stdint.h>
#include <linux/tensordma_desc.h>
#include "tdma_properties.h"

#define TDMA_STATE_MAGIC        0x616d6474U     /* "tdma" */
#define TDMA_STATE_VERSION      1

enum { TDMA_STATE_COUNTERS = 7 };

struct tdma_state_head {
    uint32_t magic;
    uint32_t version;
    uint32_t bytes;             /* of the whole state */
    uint32_t jobs;
    uint32_t enabled;           /* 0 or 1 */
    uint32_t generation;
    uint32_t bad_access;
    uint32_t reserved;
};

struct tdma_state_context {
    uint64_t addr;
    uint32_t count;
    uint32_t reserved;
};

struct tdma_state_window {
    uint32_t window;
    uint32_t elapsed;
    uint32_t budget;
};

struct tdma_state_thread {
    uint64_t cycles;
    uint64_t counters[2][TDMA_STATE_COUNTERS];  /* as the registers */
    uint64_t inject_element;
    uint64_t clock;             /* cycles since reset */
    uint64_t random;            /* of the memory model */
    uint64_t trace_base;
    uint64_t trace_lost;
    uint32_t trace_order;
    uint32_t trace_events;
    uint32_t trace_state;
    uint32_t trace_head;
    uint32_t trace_tail;
    uint32_t trace_fresh;       /* 1: enabled, no quantum since */
    uint32_t throttle_window;   /* the registers */
    uint32_t throttle_budget;
    uint32_t throttle_status;
    uint32_t rate_window;       /* what is in effect */
    uint32_t rate_budget;
    struct tdma_state_window sample[2];
    uint32_t inject_kind;
    uint32_t inject_side;
    uint32_t next_queue;
};

/* flags of a queue */
#define TDMA_STATE_Q_ENABLED            (1U << 0)
#define TDMA_STATE_Q_PAUSE              (1U << 1)
#define TDMA_STATE_Q_ABORT              (1U << 2)
#define TDMA_STATE_Q_DOORBELL           (1U << 3)
#define TDMA_STATE_Q_QUIET              (1U << 4)
#define TDMA_STATE_Q_HALTED             (1U << 5)
#define TDMA_STATE_Q_ABORT_KNOWN        (1U << 6)
#define TDMA_STATE_Q_IRQ                (1U << 7)
#define TDMA_STATE_Q_FLAGS              0xffU

struct tdma_state_queue {
    uint64_t ring;
    uint64_t records;
    uint64_t tail_addr;
    uint64_t progress;
    uint32_t ring_order;
    uint32_t context;
    uint32_t vector;
    uint32_t thread;
    uint32_t priority;
    uint32_t policy;
    uint32_t flags;
    uint32_t owner;             /* thread, or UINT32_MAX */
    uint32_t error;
    uint32_t head;
    uint32_t tail;
    uint32_t done;
    uint32_t abort_tail;
    uint32_t jobs;              /* in flight: between done and head */
};

/* flags of a job */
#define TDMA_STATE_J_EXT                (1U << 0)       /* two ring slots */
#define TDMA_STATE_J_ACCEPTED           (1U << 1)       /* passed the check */
#define TDMA_STATE_J_STARTED            (1U << 2)
#define TDMA_STATE_J_LOST               (1U << 3)
#define TDMA_STATE_J_PUBLISH_FAILED     (1U << 4)
#define TDMA_STATE_J_EXTRA              (1U << 5)       /* a second record */
#define TDMA_STATE_J_EXTRA_HBM          (1U << 6)
#define TDMA_STATE_J_FLAGS              0x7fU

struct tdma_state_job {
    struct tdma_desc desc;
    struct tdma_desc_ext ext;           /* EXT */
    struct tdma_segment segment[2];     /* ACCEPTED: of the sides it has */
    uint64_t done[2];
    uint64_t flagged[2];        /* of those, already in the sync flag */
    uint64_t cycles;
    uint64_t stall_backpressure;
    uint64_t stall_throttle;
    uint64_t stall_ids;
    uint64_t fault_offset;
    uint64_t extra_addr[2];     /* EXTRA: the pieces of the record */
    uint32_t extra_split;
    uint32_t queue;
    uint32_t index;             /* ring index */
    uint32_t status;
    uint32_t flags;
    uint16_t fault_field;
    uint8_t fault_side;
    uint8_t fault_dim;
};

_Static_assert(sizeof(struct tdma_state_head) == 32, "no hole");
_Static_assert(sizeof(struct tdma_state_context) == 16, "no hole");
_Static_assert(sizeof(struct tdma_state_thread) == 8 * 20 + 4 * 20, "no hole");
_Static_assert(sizeof(struct tdma_state_queue) == 8 * 4 + 4 * 14, "no hole");
_Static_assert(sizeof(struct tdma_state_job) == 512 + 64 + 8 * 11 + 4 * 6,
               "no hole");

#endif /* TDMA_STATE_H */
