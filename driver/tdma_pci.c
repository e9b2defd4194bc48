// SPDX-License-Identifier: GPL-2.0-only
/*
 * tensordma: the PCI function, from probe to remove.
 */
#include <linux/dma-mapping.h>
#include <linux/interrupt.h>
#include <linux/module.h>
#include <linux/pci.h>

#include "tdma_cdev.h"
#include "tdma_context.h"
#include "tdma_counters.h"
#include "tdma_debugfs.h"
#include "tdma_device.h"
#include "tdma_dmaengine.h"
#include "tdma_fence.h"
#include "tdma_file.h"
#include "tdma_hbm.h"
#include "tdma_pmu.h"
#include "tdma_queue.h"
#include "tdma_recovery.h"
#include "tdma_sysfs.h"
#include "tdma_watchdog.h"

static int tdma_map_registers(struct tdma_device *tdev)
{
	struct pci_dev *pdev = tdev->pdev;
	void __iomem *regs;
	int ret;

	if (pci_resource_len(pdev, TDMA_BAR_REGS) < TDMA_BAR0_SIZE)
		return dev_err_probe(&pdev->dev, -ENODEV,
				     "BAR0 is too small\n");
	regs = pcim_iomap(pdev, TDMA_BAR_REGS, 0);
	if (!regs)
		return -ENOMEM;
	ret = tdma_hw_init(&tdev->hw, regs);
	if (ret)
		return dev_err_probe(&pdev->dev, ret, "unknown hardware\n");
	return 0;
}

static void tdma_release_regions(void *pdev)
{
	pci_release_regions(pdev);
}

/* Before Linux 6.14 they would also be released with the enabled device. */
static int tdma_request_regions(struct pci_dev *pdev)
{
	int ret = pci_request_regions(pdev, TDMA_NAME);

	if (ret)
		return ret;
	return devm_add_action_or_reset(&pdev->dev, tdma_release_regions, pdev);
}

static int tdma_enable_pci(struct tdma_device *tdev)
{
	struct pci_dev *pdev = tdev->pdev;
	int ret;

	ret = pcim_enable_device(pdev);
	if (ret)
		return ret;
	ret = tdma_request_regions(pdev);
	if (ret)
		return ret;
	ret = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));
	if (ret)
		return ret;
	dma_set_max_seg_size(&pdev->dev, UINT_MAX);
	return tdma_map_registers(tdev);
}

static void tdma_free_irqs(struct tdma_device *tdev)
{
	unsigned int i;

	if (tdev->polled)
		return;
	for (i = 0; i < tdev->nr_vectors; i++)
		free_irq(pci_irq_vector(tdev->pdev, i), &tdev->vectors[i]);
	pci_free_irq_vectors(tdev->pdev);
}

/*
 * Without MSI-X the queues are polled: slow, but everything works. Memory that
 * is short now is no reason to be slow for ever.
 */
static int tdma_request_irqs(struct tdma_device *tdev)
{
	struct pci_dev *pdev = tdev->pdev;
	int nr, ret;

	nr = pci_alloc_irq_vectors(pdev, 1, min_t(u32, tdev->hw.vectors,
						  TDMA_MAX_VECTORS),
				   PCI_IRQ_MSIX);
	if (nr == -ENOMEM)
		return nr;
	if (nr < 0) {
		dev_warn(&pdev->dev, "no MSI-X (%d), polling\n", nr);
		tdev->polled = true;
		tdev->nr_vectors = 1;
		return 0;
	}
	for (; tdev->nr_vectors < nr; tdev->nr_vectors++) {
		ret = request_irq(pci_irq_vector(pdev, tdev->nr_vectors),
				  tdma_vector_interrupt, 0, tdev->misc_name,
				  &tdev->vectors[tdev->nr_vectors]);
		if (ret) {
			tdma_free_irqs(tdev);
			return ret;
		}
	}
	return 0;
}

/* The kernel's own context: all of both memories, offset = address */
static int tdma_init_kernel_context(struct tdma_device *tdev)
{
	const u32 access = TDMA_SEG_READ | TDMA_SEG_WRITE | TDMA_SEG_ATOMIC;
	const struct tdma_segment host = {
		.space = TDMA_SPACE_HOST,
		.flags = access,
		.length = U64_MAX,
	};
	const struct tdma_segment hbm = {
		.space = TDMA_SPACE_HBM,
		.flags = access,
		.length = tdev->hw.hbm_size,
	};
	int ret;

	ret = tdma_context_init(&tdev->kernel_context, tdev,
				TDMA_KERNEL_CONTEXT, 2);
	if (ret)
		return ret;
	tdma_context_set(&tdev->kernel_context, TDMA_KERNEL_HOST, &host);
	tdma_context_set(&tdev->kernel_context, TDMA_KERNEL_HBM, &hbm);
	return 0;
}

/*
 * End everything that needs the PCI binding. Order: nobody new comes in, the
 * hardware stops, all jobs are handed back, then memory and interrupts go.
 */
static void tdma_shut_down(struct tdma_device *tdev)
{
	tdma_dmaengine_unregister(tdev);
	tdma_device_quiesce(tdev, TDMA_GONE);
	tdma_watchdog_stop(tdev);
	tdma_recovery_stop(tdev);
	tdma_files_detach(tdev);
	tdma_dmaengine_detach(tdev);
	tdma_context_fini(&tdev->kernel_context);
	tdma_free_irqs(tdev);
	pci_clear_master(tdev->pdev);
}

static int tdma_set_up(struct tdma_device *tdev)
{
	int ret;

	tdev->counters = tdma_counters_new(&tdev->hw);
	if (!tdev->counters)
		return -ENOMEM;
	ret = tdma_hbm_init(tdev);
	if (ret)
		return ret;
	ret = tdma_init_kernel_context(tdev);
	if (ret)
		return ret;
	ret = tdma_request_irqs(tdev);
	if (ret)
		goto err_fini_context;
	ret = tdma_device_start(tdev);
	if (ret)
		goto err_shut_down;
	ret = tdma_recovery_start(tdev);
	if (ret)
		goto err_shut_down;
	ret = tdma_dmaengine_register(tdev);
	if (ret)
		goto err_shut_down;
	ret = tdma_cdev_register(tdev);
	if (ret)
		goto err_shut_down;
	return 0;

err_shut_down:
	tdma_shut_down(tdev);
	return ret;
err_fini_context:
	tdma_context_fini(&tdev->kernel_context);
	return ret;
}

/* The kernel's own channels come first; say if nothing is left. */
static void tdma_warn_if_scarce(const struct tdma_device *tdev)
{
	const struct tdma_hw *hw = &tdev->hw;

	if (hw->queues <= hw->threads || hw->contexts < 2)
		dev_warn(&tdev->pdev->dev,
			 "no queue or context left for users: open() fails\n");
	else if (hw->segments < 2)
		dev_warn(&tdev->pdev->dev,
			 "no segment left for user space: no buffers\n");
}

static int tdma_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct tdma_device *tdev;
	int ret;

	tdev = tdma_device_alloc(pdev);
	if (!tdev)
		return -ENOMEM;
	ret = tdma_enable_pci(tdev);
	if (!ret)
		ret = tdma_set_up(tdev);
	if (ret) {
		tdma_device_release_name(tdev);
		tdma_device_put(tdev);
		return ret;
	}
	pci_set_drvdata(pdev, tdev);
	tdma_debugfs_init(tdev);
	tdma_pmu_attach(tdev);
	dev_info(&pdev->dev,
		 "%s: %u threads, %u queues, %llu MiB HBM, %s fidelity\n",
		 tdev->misc_name, tdev->hw.threads, tdev->hw.queues,
		 tdev->hw.hbm_size >> 20,
		 tdev->hw.features & TDMA_FEATURE_CYCLE ? "cycle" : "fast");
	tdma_warn_if_scarce(tdev);
	return 0;
}

static void tdma_remove(struct pci_dev *pdev)
{
	struct tdma_device *tdev = pci_get_drvdata(pdev);

	tdma_pmu_detach(tdev);
	tdma_debugfs_fini(tdev);
	tdma_cdev_unregister(tdev);
	tdma_device_release_name(tdev);
	tdma_shut_down(tdev);
	tdma_device_put(tdev);
}

/* Leave nothing running for the next kernel (kexec). */
static void tdma_shutdown(struct pci_dev *pdev)
{
	struct tdma_device *tdev = pci_get_drvdata(pdev);

	tdma_device_quiesce(tdev, TDMA_GONE);
	pci_clear_master(pdev);
}

/*
 * System sleep powers the function off: HBM and all queues are lost. For
 * users that is a reset.
 */
static int tdma_suspend(struct device *dev)
{
	struct tdma_device *tdev = dev_get_drvdata(dev);

	tdma_recovery_cancel(tdev);
	tdma_device_quiesce(tdev, TDMA_RESETTING);
	return 0;
}

static int tdma_resume(struct device *dev)
{
	return tdma_device_restart(dev_get_drvdata(dev));
}

static DEFINE_SIMPLE_DEV_PM_OPS(tdma_pm_ops, tdma_suspend, tdma_resume);

static const struct pci_device_id tdma_ids[] = {
	{ PCI_DEVICE(TDMA_PCI_VENDOR_ID, TDMA_PCI_DEVICE_ID) },
	{ }
};
MODULE_DEVICE_TABLE(pci, tdma_ids);

static struct pci_driver tdma_driver = {
	.name = TDMA_NAME,
	.id_table = tdma_ids,
	.probe = tdma_probe,
	.remove = tdma_remove,
	.shutdown = tdma_shutdown,
	.err_handler = &tdma_error_handlers,
	.driver.pm = pm_sleep_ptr(&tdma_pm_ops),
	.dev_groups = tdma_sysfs_groups,
};

static int __init tdma_init(void)
{
	int ret;

	ret = tdma_pmu_init();
	if (ret)
		return ret;
	ret = pci_register_driver(&tdma_driver);
	if (ret)
		tdma_pmu_exit();
	return ret;
}
module_init(tdma_init);

static void __exit tdma_exit(void)
{
	pci_unregister_driver(&tdma_driver);
	tdma_pmu_exit();
	tdma_fences_flush();
}
module_exit(tdma_exit);

MODULE_DESCRIPTION("Tensor DMA engine");
MODULE_LICENSE("GPL");
