/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tensordma: the PCI device around the machine in core/.
 *
 * Three lanes:
 *  - registers: accesses of the CPUs, under the BQL;
 *  - data: one worker thread per DMA thread, never taking the BQL;
 *  - completions: interrupt messages, sent by a main-loop bottom half.
 *
 * Lock order: BQL, core_lock, gate_lock. A worker holds no lock while it moves
 * data. Whoever holds the BQL may wait for the workers (tensordma_hold()), so
 * no worker may ever wait for the BQL; where an IOMMU's translation needs it,
 * the worker asks for it to be done by whoever holds it (tensordma-worker.c).
 *
 * With x-inline=on there are no workers: a bottom half runs the quanta under
 * the BQL (qtest, fuzzing).
 */
#ifndef HW_TENSORDMA_H
#define HW_TENSORDMA_H

#include "qemu/bitops.h"
#include "qemu/main-loop.h"
#include "qemu/queue.h"
#include "qemu/thread.h"
#include "hw/pci/pci_device.h"
#include "system/runstate.h"
#include "../core/tdma_core.h"

#define TYPE_TENSORDMA "tensordma"
OBJECT_DECLARE_SIMPLE_TYPE(TensordmaState, TENSORDMA)

/* Why the workers stand still; any of these bits keeps them from running. */
enum {
    TENSORDMA_HOLD_REGISTER = 1 << 0,   /* the core asks, in a register write */
    TENSORDMA_HOLD_CONFIG = 1 << 1,     /* bus mastering went off */
    TENSORDMA_HOLD_RESET = 1 << 2,
    TENSORDMA_HOLD_STOPPED = 1 << 3,    /* the VM does not run */
    TENSORDMA_HOLD_EXIT = 1 << 4,       /* unplug */
};

typedef struct TensordmaWorker {
    TensordmaState *s;
    unsigned index;             /* DMA thread of the core */
    QemuThread thread;
    QemuCond wake;
    bool pending;               /* there may be work */
    bool running;               /* in tdma_core_run() */
    bool stopping;              /* leave the loop */
} TensordmaWorker;

typedef struct TensordmaDoorbell TensordmaDoorbell;

/* Plain RAM behind a bus address, valid within the RCU section it is from. */
typedef struct TensordmaPiece {
    MemoryRegion *mr;
    hwaddr offset;              /* in @mr */
    uint8_t *ptr;
    hwaddr len;
} TensordmaPiece;

/* A worker's wish to have an address translated under the BQL. */
typedef struct TensordmaTranslation {
    hwaddr addr;
    hwaddr len;
    bool is_write;
    bool done;
    bool ok;
    TensordmaPiece piece;
    QSIMPLEQ_ENTRY(TensordmaTranslation) next;
} TensordmaTranslation;

struct TensordmaState {
    PCIDevice parent_obj;

    MemoryRegion regs;
    MemoryRegion hbm;

    struct tdma_core *core;
    struct tdma_properties props;
    bool inline_mode;
    bool ioeventfd;

    QemuMutex core_lock;        /* the core's, see struct tdma_host_ops */

    QemuMutex gate_lock;        /* guards from here to @translations */
    QemuCond parked;            /* a worker stopped running, or asks */
    QemuCond translated;        /* a translation is done */
    unsigned holds;             /* TENSORDMA_HOLD_* */
    TensordmaWorker *workers;   /* props.threads of them */
    QSIMPLEQ_HEAD(, TensordmaTranslation) translations;
    QEMUBH *serve_bh;           /* serves @translations */
    QEMUBH *run_bh;             /* x-inline: runs the quanta */

    /* Written under the BQL while no worker runs or to switch DMA off. */
    bool dma_enabled;           /* bus master and D0; atomic */
    bool behind_iommu;          /* translation needs the BQL */

    unsigned long *irq_raised;  /* vectors to notify; atomic bitmap */
    QEMUBH *irq_bh;

    TensordmaDoorbell *doorbells;   /* ioeventfd: props.queues of them */

    VMChangeStateEntry *vm_state;
    Error *migration_blocker;
};

/* tensordma-dma.c: host memory */
int tensordma_dma_read(void *opaque, uint64_t addr, void *buf, size_t len);
int tensordma_dma_write(void *opaque, uint64_t addr, const void *buf,
                        size_t len);
bool tensordma_dma_window(void *opaque, uint64_t addr, uint64_t len,
                          bool is_write, struct tdma_window *window);
void tensordma_dma_written(void *opaque, const struct tdma_window *window,
                           uint64_t offset, uint64_t len);
void tensordma_hbm_written(void *opaque, uint64_t offset, uint64_t len);

/*
 * Find the RAM at the start of [@addr, @addr + @len); false if there is none.
 * Called within an RCU section, with the BQL held if behind an IOMMU.
 */
bool tensordma_translate(TensordmaState *s, hwaddr addr, hwaddr len,
                         bool is_write, TensordmaPiece *piece);

/* tensordma-worker.c: who runs the core, and when */
void tensordma_workers_start(TensordmaState *s);
/* Ends the threads; none runs afterwards. BQL held. */
void tensordma_workers_stop(TensordmaState *s);
/* Work for DMA thread @thread. Any thread. */
void tensordma_kick(void *opaque, unsigned thread);
/* No quantum starts from now on because of @reason; returns at once. */
void tensordma_forbid(TensordmaState *s, unsigned reason);
/* The same, and wait until no quantum is running. BQL held. */
void tensordma_hold(TensordmaState *s, unsigned reason);
/* @reason is over; go on if it was the last one. */
void tensordma_release(TensordmaState *s, unsigned reason);
bool tensordma_is_held(TensordmaState *s, unsigned reason);
/* Have the BQL's holder call tensordma_translate(). Within an RCU section. */
bool tensordma_translate_remote(TensordmaState *s, hwaddr addr, hwaddr len,
                                bool is_write, TensordmaPiece *piece);

/* tensordma-irq.c: interrupt messages */
void tensordma_irq_init(TensordmaState *s);
void tensordma_irq_exit(TensordmaState *s);
/* Send a message on @vector, soon. Any thread. */
void tensordma_irq_raise(void *opaque, unsigned vector);
/* Forget what was raised and not yet sent. */
void tensordma_irq_drop(TensordmaState *s);
/* Send what was raised while nothing could be sent. */
void tensordma_irq_resume(TensordmaState *s);

/* tensordma-doorbell.c: doorbells that are event notifiers */
void tensordma_doorbells_init(TensordmaState *s);
void tensordma_doorbells_exit(TensordmaState *s);
/* The control register of @queue was written. BQL held. */
void tensordma_doorbell_update(TensordmaState *s, unsigned queue);
/* All queues are off. BQL held. */
void tensordma_doorbells_detach(TensordmaState *s);

/* tensordma-info.c: the property that shows the machine's state */
void tensordma_class_add_info(ObjectClass *klass);

/* tensordma-props.c: the properties of core/tdma_properties.h */
void tensordma_class_add_properties(ObjectClass *klass);

#endif /* HW_TENSORDMA_H */
