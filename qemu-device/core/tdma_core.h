/* SPDX-License-Identifier: MIT */
/*
 * tensordma core: the machine, without a bus around it.
 *
 * Plain C11, no I/O of its own, no global state: everything the machine needs
 * from the world comes through struct tdma_host_ops. The QEMU device, the
 * native simulator and the tests are three users of this one header.
 *
 * Threads. Register and doorbell calls may come from any thread; one
 * tdma_core_run() per DMA thread may be active at a time. The core guards its
 * state with ops->lock/unlock, which it never holds while it moves data or
 * calls read, write or window. Neither may be called recursively.
 */
#ifndef TDMA_CORE_H
#define TDMA_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/tensordma_desc.h>
#include <linux/tensordma_regs.h>
#include "tdma_properties.h"

struct tdma_core;

/*
 * A stretch of host RAM that may be accessed through a pointer until the
 * tdma_core_run() call that obtained it returns. @cookie is the host's own.
 */
struct tdma_window {
    uint8_t *ptr;
    uint64_t len;
    void *cookie;
    uint64_t cookie_offset;
};

/* State changes worth a trace line; the arguments depend on the event. */
enum tdma_event {
    TDMA_EVENT_RESET,           /* generation */
    TDMA_EVENT_QUEUE_STATE,     /* queue, state, error */
    TDMA_EVENT_DOORBELL,        /* queue, tail */
    TDMA_EVENT_JOB_START,       /* queue, index, opcode */
    TDMA_EVENT_JOB_PROGRESS,    /* queue, index, destination elements */
    TDMA_EVENT_JOB_END,         /* queue, index, status */
    TDMA_EVENT_JOB_REJECT,      /* queue, field, dimension */
};

struct tdma_host_ops {
    /*
     * Host memory at bus address @addr. Return 0, or -1 if any byte is not
     * plain memory the device may reach; then nothing counts as moved.
     */
    int (*read)(void *opaque, uint64_t addr, void *buf, size_t len);
    int (*write)(void *opaque, uint64_t addr, const void *buf, size_t len);
    /*
     * Optional. Map up to @len bytes at @addr; false if they are not directly
     * reachable RAM (the core falls back to read/write). @w->len may be
     * shorter. After writing through a window the core calls written() before
     * tdma_core_run() returns and before any progress is published.
     */
    bool (*window)(void *opaque, uint64_t addr, uint64_t len, bool is_write,
                   struct tdma_window *w);
    void (*written)(void *opaque, const struct tdma_window *w,
                    uint64_t offset, uint64_t len);
    /* Optional. HBM bytes were changed by the device. */
    void (*hbm_written)(void *opaque, uint64_t offset, uint64_t len);
    /* An interrupt message on MSI-X vector @vector. Called without the lock. */
    void (*interrupt)(void *opaque, unsigned vector);
    /* DMA thread @thread has work; see that tdma_core_run() is called. */
    void (*kick)(void *opaque, unsigned thread);
    /*
     * quiesce: return when no tdma_core_run() is active and keep it so until
     * resume. Optional for single-threaded hosts. Called without the lock,
     * from register writes only.
     */
    void (*quiesce)(void *opaque);
    void (*resume)(void *opaque);
    /* Optional for single-threaded hosts. */
    void (*lock)(void *opaque);
    void (*unlock)(void *opaque);
    /* Optional. May be called with or without the lock; must not call back. */
    void (*event)(void *opaque, enum tdma_event event,
                  uint64_t a, uint64_t b, uint64_t c);
};

struct tdma_config {
    struct tdma_properties props;
    uint8_t *hbm;               /* props.hbm_size bytes, owned by the host */
};

/*
 * Create a machine in its power-on state. On an invalid property returns NULL
 * and sets *error to a static text naming it.
 */
struct tdma_core *tdma_core_new(const struct tdma_config *config,
                                const struct tdma_host_ops *ops, void *opaque,
                                const char **error);
void tdma_core_free(struct tdma_core *core);

/*
 * Back to the power-on state; in-flight descriptors vanish without a record.
 * The caller guarantees that no tdma_core_run() is active.
 */
void tdma_core_reset(struct tdma_core *core);

/*
 * Registers and doorbells: @addr is an offset in BAR0, naturally aligned,
 * @size 4 or 8.
 */
uint64_t tdma_core_reg_read(struct tdma_core *core, uint64_t addr,
                            unsigned size);
void tdma_core_reg_write(struct tdma_core *core, uint64_t addr,
                         uint64_t value, unsigned size);

/* Queue @queue's tail in memory may have moved (eventfd doorbell). */
void tdma_core_doorbell(struct tdma_core *core, unsigned queue);

/*
 * Run DMA thread @thread for one bounded quantum (props.quantum_bytes and
 * props.quantum_steps). Returns true if there is more to do now.
 */
bool tdma_core_run(struct tdma_core *core, unsigned thread);

/*
 * Until the next tdma_core_run() nothing of the machine moves and nothing is
 * written: what is in flight is completed, the rest of each descriptor put
 * aside at the count it has. Takes no longer than the memory system needs to
 * answer. The caller guarantees that no tdma_core_run() is active. Threads that
 * have something to go on with are kicked.
 */
void tdma_core_stop(struct tdma_core *core);

/*
 * The whole state of a machine that has been stopped, in the layout of
 * tdma_state.h; memory is the host's. Returns the bytes put into @buf, which
 * has room for tdma_core_state_max(). Without tdma_core_run() since
 * tdma_core_stop(); register writes may have come between.
 */
size_t tdma_core_state_max(const struct tdma_core *core);
size_t tdma_core_save(struct tdma_core *core, void *buf);

/*
 * Become the machine that was saved. The state is not trusted; one that no
 * machine with these properties could have been in is refused with the reason
 * in @why, and leaves the machine in its power-on state. Memory is not looked
 * at, and nothing runs before tdma_core_run(), for which threads are kicked.
 * The caller guarantees that none is active.
 */
bool tdma_core_load(struct tdma_core *core, const void *state, size_t len,
                    char *why, size_t why_size);

/* True if no descriptor is queued or in flight on any enabled queue. */
bool tdma_core_idle(struct tdma_core *core);

#endif /* TDMA_CORE_H */
