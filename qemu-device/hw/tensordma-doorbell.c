/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tensordma: doorbells as event notifiers (ioeventfd=on).
 *
 * With KVM a doorbell that is an ioeventfd does not leave the kernel on the
 * CPU's side. The value written is lost, so only the doorbell of a queue that
 * keeps its tail in memory can be one, from when the queue is enabled until it
 * is disabled or the device is reset. All under the BQL.
 */
#include "qemu/osdep.h"
#include "qemu/event_notifier.h"
#include "tensordma.h"

struct TensordmaDoorbell {
    TensordmaState *s;
    EventNotifier notifier;
    bool active;
};

static unsigned tensordma_doorbell_queue(TensordmaDoorbell *d)
{
    return d - d->s->doorbells;
}

static hwaddr tensordma_doorbell_addr(TensordmaDoorbell *d)
{
    return TDMA_DOORBELL_BASE +
           (hwaddr)tensordma_doorbell_queue(d) * TDMA_DOORBELL_STRIDE;
}

static void tensordma_doorbell_rung(EventNotifier *notifier)
{
    TensordmaDoorbell *d = container_of(notifier, TensordmaDoorbell, notifier);

    if (event_notifier_test_and_clear(notifier)) {
        tdma_core_doorbell(d->s->core, tensordma_doorbell_queue(d));
    }
}

/* Without a notifier the doorbell still works, as a register. */
static void tensordma_doorbell_attach(TensordmaDoorbell *d)
{
    if (event_notifier_init(&d->notifier, 0) < 0) {
        return;
    }
    event_notifier_set_handler(&d->notifier, tensordma_doorbell_rung);
    memory_region_add_eventfd(&d->s->regs, tensordma_doorbell_addr(d), 4,
                              false, 0, &d->notifier);
    d->active = true;
}

static void tensordma_doorbell_detach(TensordmaDoorbell *d)
{
    memory_region_del_eventfd(&d->s->regs, tensordma_doorbell_addr(d), 4,
                              false, 0, &d->notifier);
    event_notifier_set_handler(&d->notifier, NULL);
    event_notifier_cleanup(&d->notifier);
    d->active = false;
}

void tensordma_doorbell_update(TensordmaState *s, unsigned queue)
{
    hwaddr base = TDMA_QUEUE_BASE + (hwaddr)queue * TDMA_QUEUE_STRIDE;
    TensordmaDoorbell *d;
    bool want;

    if (!s->doorbells || queue >= s->props.queues) {
        return;
    }
    d = &s->doorbells[queue];
    want = (tdma_core_reg_read(s->core, base + TDMA_QUEUE_CONTROL, 4) &
            TDMA_QCTL_ENABLE) &&
           tdma_core_reg_read(s->core, base + TDMA_QUEUE_TAIL_ADDR, 8);
    if (want && !d->active) {
        tensordma_doorbell_attach(d);
    } else if (!want && d->active) {
        tensordma_doorbell_detach(d);
    }
}

void tensordma_doorbells_detach(TensordmaState *s)
{
    memory_region_transaction_begin();
    for (unsigned q = 0; s->doorbells && q < s->props.queues; q++) {
        if (s->doorbells[q].active) {
            tensordma_doorbell_detach(&s->doorbells[q]);
        }
    }
    memory_region_transaction_commit();
}

void tensordma_doorbells_init(TensordmaState *s)
{
    if (!s->ioeventfd) {
        return;
    }
    s->doorbells = g_new0(TensordmaDoorbell, s->props.queues);
    for (unsigned q = 0; q < s->props.queues; q++) {
        s->doorbells[q].s = s;
    }
}

void tensordma_doorbells_exit(TensordmaState *s)
{
    tensordma_doorbells_detach(s);
    g_clear_pointer(&s->doorbells, g_free);
}
