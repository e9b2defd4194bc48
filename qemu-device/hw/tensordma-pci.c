/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tensordma: tensor DMA engine, the PCI function.
 *
 * BARs, capabilities, reset and life cycle. What the registers mean is the
 * business of core/; how to program them is in tensordma.rst.
 */
#include "qemu/osdep.h"
#include "qemu/log.h"
#include "qemu/module.h"
#include "qemu/range.h"
#include "qapi/error.h"
#include "hw/pci/msix.h"
#include "hw/pci/pci.h"
#include "hw/pci/pcie.h"
#include "hw/pci/pcie_aer.h"
#include "migration/blocker.h"
#include "tensordma.h"
#include "compat.h"
#include "../trace.h"

#define TENSORDMA_PM_OFFSET     0x40
#define TENSORDMA_EXP_OFFSET    0x80
#define TENSORDMA_AER_OFFSET    PCI_CONFIG_SPACE_SIZE

/* What the core asks of us */

static void tensordma_core_lock(void *opaque)
{
    qemu_mutex_lock(&((TensordmaState *)opaque)->core_lock);
}

static void tensordma_core_unlock(void *opaque)
{
    qemu_mutex_unlock(&((TensordmaState *)opaque)->core_lock);
}

static void tensordma_core_quiesce(void *opaque)
{
    tensordma_hold(opaque, TENSORDMA_HOLD_REGISTER);
}

static void tensordma_core_resume(void *opaque)
{
    tensordma_release(opaque, TENSORDMA_HOLD_REGISTER);
}

static void tensordma_core_event(void *opaque, enum tdma_event event,
                                 uint64_t a, uint64_t b, uint64_t c)
{
    switch (event) {
    case TDMA_EVENT_RESET:
        trace_tensordma_reset(opaque, a);
        tensordma_irq_drop(opaque);
        tensordma_doorbells_detach(opaque);
        break;
    case TDMA_EVENT_QUEUE_STATE:
        trace_tensordma_queue_state(opaque, a, b, c);
        break;
    case TDMA_EVENT_DOORBELL:
        trace_tensordma_doorbell(opaque, a, b);
        break;
    case TDMA_EVENT_JOB_START:
        trace_tensordma_job_start(opaque, a, b, c);
        break;
    case TDMA_EVENT_JOB_PROGRESS:
        trace_tensordma_job_progress(opaque, a, b, c);
        break;
    case TDMA_EVENT_JOB_END:
        trace_tensordma_job_end(opaque, a, b, c);
        break;
    case TDMA_EVENT_JOB_REJECT:
        trace_tensordma_err_job_reject(opaque, a, b, c);
        qemu_log_mask(LOG_GUEST_ERROR, "tensordma: queue %" PRIu64
                      ": descriptor rejected, field at byte %" PRIu64
                      ", dimension %" PRIu64 "\n", a, b, c);
        break;
    }
}

static const struct tdma_host_ops tensordma_host_ops = {
    .read = tensordma_dma_read,
    .write = tensordma_dma_write,
    .window = tensordma_dma_window,
    .written = tensordma_dma_written,
    .hbm_written = tensordma_hbm_written,
    .interrupt = tensordma_irq_raise,
    .kick = tensordma_kick,
    .quiesce = tensordma_core_quiesce,
    .resume = tensordma_core_resume,
    .lock = tensordma_core_lock,
    .unlock = tensordma_core_unlock,
    .event = tensordma_core_event,
};

/* BAR 0 */

static uint64_t tensordma_reg_read(void *opaque, hwaddr addr, unsigned size)
{
    TensordmaState *s = opaque;
    uint64_t value = tdma_core_reg_read(s->core, addr, size);

    trace_tensordma_reg_read(s, addr, size, value);
    return value;
}

static void tensordma_reg_write(void *opaque, hwaddr addr, uint64_t value,
                                unsigned size)
{
    TensordmaState *s = opaque;

    trace_tensordma_reg_write(s, addr, size, value);
    tdma_core_reg_write(s->core, addr, value, size);
    if (addr >= TDMA_QUEUE_BASE && addr < TDMA_DOORBELL_BASE &&
        (addr - TDMA_QUEUE_BASE) % TDMA_QUEUE_STRIDE == TDMA_QUEUE_CONTROL) {
        tensordma_doorbell_update(s, (addr - TDMA_QUEUE_BASE) /
                                     TDMA_QUEUE_STRIDE);
    }
}

static const MemoryRegionOps tensordma_reg_ops = {
    .read = tensordma_reg_read,
    .write = tensordma_reg_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = {
        .min_access_size = 4,
        .max_access_size = 8,
    },
    .impl = {
        .min_access_size = 4,
        .max_access_size = 8,
    },
};

/* Configuration space */

static unsigned tensordma_power_state(PCIDevice *pdev)
{
    return pci_get_word(pdev->config + TENSORDMA_PM_OFFSET + PCI_PM_CTRL) &
           PCI_PM_CTRL_STATE_MASK;
}

/*
 * QEMU does not tie bus mastering to the power state, and a reset clears the
 * command register without closing the address space; so it is tracked here.
 * When it goes off, no access is under way once the write has returned.
 */
static void tensordma_set_dma_enabled(TensordmaState *s, bool enabled)
{
    if (s->dma_enabled == enabled) {
        return;
    }
    trace_tensordma_bus_master(s, enabled);
    qatomic_set(&s->dma_enabled, enabled);
    if (enabled) {
        tensordma_irq_resume(s);
    } else {
        tensordma_hold(s, TENSORDMA_HOLD_CONFIG);
        tensordma_release(s, TENSORDMA_HOLD_CONFIG);
    }
}

static void tensordma_config_write(PCIDevice *pdev, uint32_t addr,
                                   uint32_t value, int len)
{
    TensordmaState *s = TENSORDMA(pdev);
    unsigned old_power = tensordma_power_state(pdev);
    unsigned power;

    pci_default_write_config(pdev, addr, value, len);
    pcie_aer_write_config(pdev, addr, value, len);
    pcie_cap_flr_write_config(pdev, addr, value, len);

    power = tensordma_power_state(pdev);
    if (old_power && !power) {
        /* No_Soft_Reset is clear: D3hot to D0 starts from nothing. */
        pci_device_reset(pdev);
    }
    tensordma_set_dma_enabled(s, !power &&
        (pci_get_word(pdev->config + PCI_COMMAND) & PCI_COMMAND_MASTER));
}

/* Reset: FLR, D3hot to D0, secondary bus reset, system reset */

static void tensordma_reset_enter(Object *obj, ResetType type)
{
    tensordma_forbid(TENSORDMA(obj), TENSORDMA_HOLD_RESET);
}

static void tensordma_reset_hold(Object *obj, ResetType type)
{
    TensordmaState *s = TENSORDMA(obj);

    trace_tensordma_pci_reset(s);
    tensordma_hold(s, TENSORDMA_HOLD_RESET);
    tdma_core_reset(s->core);
    tensordma_set_dma_enabled(s, false);
    /* Not earlier: an IOMMU may be created after us and before this. */
    s->behind_iommu = pci_device_iommu_address_space(PCI_DEVICE(s)) !=
                      &address_space_memory;
}

static void tensordma_reset_exit(Object *obj, ResetType type)
{
    tensordma_release(TENSORDMA(obj), TENSORDMA_HOLD_RESET);
}

/* Life cycle */

static void tensordma_vm_state_change(void *opaque, bool running,
                                      RunState state)
{
    TensordmaState *s = opaque;

    if (running) {
        tensordma_release(s, TENSORDMA_HOLD_STOPPED);
        tensordma_irq_resume(s);
    } else {
        tensordma_hold(s, TENSORDMA_HOLD_STOPPED);
    }
}

static bool tensordma_init_memory(TensordmaState *s, Error **errp)
{
    PCIDevice *pdev = PCI_DEVICE(s);
    Object *owner = OBJECT(s);

    if (!is_power_of_2(s->props.hbm_size)) {
        error_setg(errp, "hbm-size must be a power of two");
        return false;
    }
    if (!memory_region_init_ram(&s->hbm, owner, "tensordma-hbm",
                                s->props.hbm_size, errp)) {
        return false;
    }
    memory_region_init_io(&s->regs, owner, &tensordma_reg_ops, s,
                          "tensordma-regs", TDMA_BAR0_SIZE);
    pci_register_bar(pdev, TDMA_BAR_REGS, PCI_BASE_ADDRESS_SPACE_MEMORY,
                     &s->regs);
    pci_register_bar(pdev, TDMA_BAR_HBM, PCI_BASE_ADDRESS_SPACE_MEMORY |
                     PCI_BASE_ADDRESS_MEM_TYPE_64 |
                     PCI_BASE_ADDRESS_MEM_PREFETCH, &s->hbm);
    return true;
}

static bool tensordma_init_core(TensordmaState *s, Error **errp)
{
    struct tdma_config config = {
        .props = s->props,
        .hbm = memory_region_get_ram_ptr(&s->hbm),
    };
    const char *reason = NULL;

    s->core = tdma_core_new(&config, &tensordma_host_ops, s, &reason);
    if (!s->core) {
        error_setg(errp, "invalid configuration: %s", reason);
        return false;
    }
    return true;
}

static bool tensordma_init_pm(PCIDevice *pdev, Error **errp)
{
    if (pci_pm_init(pdev, TENSORDMA_PM_OFFSET, errp) < 0) {
        return false;
    }
    pci_set_word(pdev->config + TENSORDMA_PM_OFFSET + PCI_PM_PMC,
                 PCI_PM_CAP_VER_1_1);
    pci_set_word(pdev->wmask + TENSORDMA_PM_OFFSET + PCI_PM_CTRL,
                 PCI_PM_CTRL_STATE_MASK);
    return true;
}

static bool tensordma_init_capabilities(TensordmaState *s, Error **errp)
{
    PCIDevice *pdev = PCI_DEVICE(s);

    if (!tensordma_init_pm(pdev, errp)) {
        return false;
    }
    if (pcie_endpoint_cap_init(pdev, TENSORDMA_EXP_OFFSET) < 0) {
        error_setg(errp, "cannot add the PCI Express capability");
        return false;
    }
    pcie_cap_flr_init(pdev);
    pcie_cap_deverr_init(pdev);
    if (msix_init_exclusive_bar(pdev, s->props.vectors, TDMA_BAR_MSIX,
                                errp) < 0) {
        goto undo_express;
    }
    for (unsigned v = 0; v < s->props.vectors; v++) {
        msix_vector_use(pdev, v);
    }
    if (pcie_aer_init(pdev, PCI_ERR_VER, TENSORDMA_AER_OFFSET,
                      PCI_ERR_SIZEOF, errp) < 0) {
        goto undo_msix;
    }
    return true;

undo_msix:
    msix_uninit_exclusive_bar(pdev);
undo_express:
    pcie_cap_exit(pdev);
    return false;
}

static void tensordma_exit_capabilities(PCIDevice *pdev)
{
    pcie_aer_exit(pdev);
    msix_uninit_exclusive_bar(pdev);
    pcie_cap_exit(pdev);
}

/* The machine's state (queues, descriptors in flight) has no stream format. */
static bool tensordma_block_migration(TensordmaState *s, Error **errp)
{
    error_setg(&s->migration_blocker, "tensordma: saving the state of queues "
               "and running descriptors is not implemented");
    return migrate_add_blocker(&s->migration_blocker, errp) >= 0;
}

static void tensordma_realize(PCIDevice *pdev, Error **errp)
{
    TensordmaState *s = TENSORDMA(pdev);

    if (!pci_bus_is_express(pci_get_bus(pdev))) {
        error_setg(errp, "tensordma needs a PCI Express bus");
        return;
    }
    if (!tensordma_init_memory(s, errp)) {
        return;
    }
    qemu_mutex_init(&s->core_lock);
    tensordma_irq_init(s);
    if (!tensordma_init_core(s, errp)) {
        goto undo_irq;
    }
    if (!tensordma_init_capabilities(s, errp)) {
        goto undo_core;
    }
    if (!tensordma_block_migration(s, errp)) {
        goto undo_capabilities;
    }
    tensordma_doorbells_init(s);
    tensordma_workers_start(s);
    if (!runstate_is_running()) {
        tensordma_forbid(s, TENSORDMA_HOLD_STOPPED);
    }
    s->vm_state = qemu_add_vm_change_state_handler(tensordma_vm_state_change,
                                                   s);
    return;

undo_capabilities:
    tensordma_exit_capabilities(pdev);
undo_core:
    g_clear_pointer(&s->core, tdma_core_free);
undo_irq:
    tensordma_irq_exit(s);
    qemu_mutex_destroy(&s->core_lock);
}

static void tensordma_exit(PCIDevice *pdev)
{
    TensordmaState *s = TENSORDMA(pdev);

    qemu_del_vm_change_state_handler(s->vm_state);
    tensordma_doorbells_exit(s);
    tensordma_workers_stop(s);
    migrate_del_blocker(&s->migration_blocker);
    tensordma_exit_capabilities(pdev);
    g_clear_pointer(&s->core, tdma_core_free);
    tensordma_irq_exit(s);
    qemu_mutex_destroy(&s->core_lock);
}

static const Property tensordma_qdev_properties[] = {
    DEFINE_PROP_BOOL("x-inline", TensordmaState, inline_mode, false),
    DEFINE_PROP_BOOL("ioeventfd", TensordmaState, ioeventfd, false),
};

static void tensordma_class_init(ObjectClass *klass, TensordmaClassData *data)
{
    DeviceClass *dc = DEVICE_CLASS(klass);
    PCIDeviceClass *pc = PCI_DEVICE_CLASS(klass);
    ResettableClass *rc = RESETTABLE_CLASS(klass);

    pc->realize = tensordma_realize;
    pc->exit = tensordma_exit;
    pc->config_write = tensordma_config_write;
    pc->vendor_id = TDMA_PCI_VENDOR_ID;
    pc->device_id = TDMA_PCI_DEVICE_ID;
    pc->revision = 1;
    pc->class_id = TDMA_PCI_CLASS;

    rc->phases.enter = tensordma_reset_enter;
    rc->phases.hold = tensordma_reset_hold;
    rc->phases.exit = tensordma_reset_exit;

    dc->desc = "Tensor DMA engine";
    set_bit(DEVICE_CATEGORY_MISC, dc->categories);
    device_class_set_props(dc, tensordma_qdev_properties);
    object_class_property_set_description(klass, "x-inline",
        "run DMA in the main loop instead of on threads of its own");
    object_class_property_set_description(klass, "ioeventfd",
        "doorbells with the tail in memory as event notifiers");
    tensordma_class_add_properties(klass);
    tensordma_class_add_info(klass);
}

static TensordmaInterfaceInfo tensordma_interfaces[] = {
    { INTERFACE_PCIE_DEVICE },
    { }
};

static const TypeInfo tensordma_types[] = {
    {
        .name = TYPE_TENSORDMA,
        .parent = TYPE_PCI_DEVICE,
        .instance_size = sizeof(TensordmaState),
        .class_init = tensordma_class_init,
        .interfaces = tensordma_interfaces,
    },
};

DEFINE_TYPES(tensordma_types)
