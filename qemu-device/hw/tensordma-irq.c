/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tensordma: interrupt messages.
 *
 * The MSI-X table belongs to the BQL, so a worker only marks the vector; a
 * bottom half sends the message. Marks of one vector merge, as messages on a
 * real link may. A mark is forgotten by a reset, so nothing that was raised
 * before a reset arrives after it. It is kept while the VM is stopped, when the
 * state of the interrupt controllers may already have been saved, and while
 * the function may not write to the bus, which is what a message is.
 */
#include "qemu/osdep.h"
#include "qemu/bitmap.h"
#include "hw/pci/msix.h"
#include "tensordma.h"
#include "../trace.h"

static void tensordma_irq_deliver(void *opaque)
{
    TensordmaState *s = opaque;
    PCIDevice *pdev = PCI_DEVICE(s);
    unsigned vectors = s->props.vectors;

    if (!s->dma_enabled || tensordma_is_held(s, TENSORDMA_HOLD_STOPPED)) {
        return;
    }
    for (unsigned v = find_first_bit(s->irq_raised, vectors); v < vectors;
         v = find_next_bit(s->irq_raised, vectors, v + 1)) {
        if (bitmap_test_and_clear_atomic(s->irq_raised, v, 1) &&
            msix_enabled(pdev)) {
            trace_tensordma_irq_deliver(s, v);
            msix_notify(pdev, v);
        }
    }
}

void tensordma_irq_raise(void *opaque, unsigned vector)
{
    TensordmaState *s = opaque;

    if (vector >= s->props.vectors) {
        return;
    }
    trace_tensordma_irq_raise(s, vector);
    set_bit_atomic(vector, s->irq_raised);
    qemu_bh_schedule(s->irq_bh);
}

void tensordma_irq_drop(TensordmaState *s)
{
    bitmap_test_and_clear_atomic(s->irq_raised, 0, s->props.vectors);
}

void tensordma_irq_resume(TensordmaState *s)
{
    qemu_bh_schedule(s->irq_bh);
}

void tensordma_irq_init(TensordmaState *s)
{
    s->irq_raised = bitmap_new(s->props.vectors);
    s->irq_bh = qemu_bh_new_guarded(tensordma_irq_deliver, s,
                                    &DEVICE(s)->mem_reentrancy_guard);
}

void tensordma_irq_exit(TensordmaState *s)
{
    g_clear_pointer(&s->irq_bh, qemu_bh_delete);
    g_clear_pointer(&s->irq_raised, g_free);
}
