// SPDX-License-Identifier: GPL-2.0-only
/*
 * Resets from outside: function level resets that others ask for, and errors
 * of the bus.
 *
 * After an error of the bus the kernel resets the link and tells us when the
 * device may be used again. Where that reset fails it tells user space only
 * (Linux before 6.18) and nothing follows. So who waits has a limit: at its
 * end the function is reset by ourselves, and if that fails as well the device
 * is given up.
 *
 * Callbacks of the PCI core hold the lock of the device; so does the work here
 * while it changes anything, which keeps them apart.
 */
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/slab.h>

#include "tdma_device.h"
#include "tdma_recovery.h"

/* The lock of the device is taken: look again so much later. */
#define TDMA_RECOVERY_RETRY	(HZ / 10)

static unsigned int recovery_timeout_ms = 10000;
module_param(recovery_timeout_ms, uint, 0644);
MODULE_PARM_DESC(recovery_timeout_ms,
		 "time for the kernel to recover the device from a bus error (0 = no limit, default 10000)");

/*
 * What the configuration space held after probe. The copy of the PCI core is
 * used up whenever it is restored.
 */
static void tdma_restore_config(struct tdma_device *tdev)
{
	pci_load_saved_state(tdev->pdev, tdev->pci_state);
	pci_restore_state(tdev->pdev);
}

static bool tdma_awaits_recovery(struct tdma_device *tdev)
{
	bool awaits;

	down_read(&tdev->lock);
	awaits = tdev->state == TDMA_RESETTING;
	up_read(&tdev->lock);
	return awaits;
}

static int tdma_recover_function(struct tdma_device *tdev)
{
	struct pci_dev *pdev = tdev->pdev;
	int ret;

	if (!pci_device_is_present(pdev))
		return -ENODEV;
	ret = __pci_reset_function_locked(pdev);
	/* Also for the sake of the next probe, after a reset of the link. */
	tdma_restore_config(tdev);
	if (ret)
		return ret;
	/* The kernel's own idea of it stays as the error has left it. */
	pdev->error_state = pci_channel_io_normal;
	return tdma_device_restart(tdev);
}

static void tdma_recover_locked(struct tdma_device *tdev)
{
	struct pci_dev *pdev = tdev->pdev;
	int ret;

	if (!tdma_awaits_recovery(tdev))
		return;
	dev_warn(&pdev->dev,
		 "nobody recovers from the bus error, resetting the function\n");
	ret = tdma_recover_function(tdev);
	if (!ret)
		return;
	dev_err(&pdev->dev,
		"the device is lost (%d) until it is bound again\n", ret);
	tdma_device_quiesce(tdev, TDMA_GONE);
	pci_clear_master(pdev);
}

/* Whoever ends this work may hold the lock of the device: only try to get it */
static void tdma_recovery(struct work_struct *work)
{
	struct tdma_device *tdev = container_of(to_delayed_work(work),
						struct tdma_device, recovery);

	if (!pci_dev_trylock(tdev->pdev)) {
		queue_delayed_work(tdev->wq, &tdev->recovery,
				   TDMA_RECOVERY_RETRY);
		return;
	}
	tdma_recover_locked(tdev);
	pci_dev_unlock(tdev->pdev);
}

/**
 * tdma_recovery_init - prepare for errors
 * @tdev: the device
 */
void tdma_recovery_init(struct tdma_device *tdev)
{
	INIT_DELAYED_WORK(&tdev->recovery, tdma_recovery);
}

/**
 * tdma_recovery_start - remember the configuration that is to be restored
 * @tdev: the device, as it is to be
 *
 * Return: 0 or -ENOMEM.
 */
int tdma_recovery_start(struct tdma_device *tdev)
{
	pci_save_state(tdev->pdev);
	tdev->pci_state = pci_store_saved_state(tdev->pdev);
	return tdev->pci_state ? 0 : -ENOMEM;
}

/**
 * tdma_recovery_cancel - wait for no recovery any more
 * @tdev: the device, which somebody else resets or has quiesced for good
 */
void tdma_recovery_cancel(struct tdma_device *tdev)
{
	cancel_delayed_work_sync(&tdev->recovery);
}

/**
 * tdma_recovery_stop - the same, for good
 * @tdev: the device, quiesced for good
 */
void tdma_recovery_stop(struct tdma_device *tdev)
{
	tdma_recovery_cancel(tdev);
	kfree(tdev->pci_state);
	tdev->pci_state = NULL;
}

static void tdma_reset_prepare(struct pci_dev *pdev)
{
	struct tdma_device *tdev = pci_get_drvdata(pdev);

	tdma_recovery_cancel(tdev);
	tdma_device_quiesce(tdev, TDMA_RESETTING);
	/*
	 * The PCI core saves the configuration next. After a reset of the link
	 * that failed there is none.
	 */
	if (!tdma_hw_present(&tdev->hw))
		tdma_restore_config(tdev);
}

static void tdma_reset_done(struct pci_dev *pdev)
{
	tdma_device_restart(pci_get_drvdata(pdev));
}

static pci_ers_result_t tdma_error_detected(struct pci_dev *pdev,
					    pci_channel_state_t state)
{
	struct tdma_device *tdev = pci_get_drvdata(pdev);
	unsigned int timeout = READ_ONCE(recovery_timeout_ms);

	if (state == pci_channel_io_perm_failure) {
		tdma_recovery_cancel(tdev);
		tdma_device_quiesce(tdev, TDMA_GONE);
		return PCI_ERS_RESULT_DISCONNECT;
	}
	tdma_device_quiesce(tdev, TDMA_RESETTING);
	if (timeout)
		mod_delayed_work(tdev->wq, &tdev->recovery,
				 msecs_to_jiffies(timeout));
	return PCI_ERS_RESULT_NEED_RESET;
}

static pci_ers_result_t tdma_slot_reset(struct pci_dev *pdev)
{
	struct tdma_device *tdev = pci_get_drvdata(pdev);

	/* We may have been faster, and what we started is lost. */
	tdma_device_quiesce(tdev, TDMA_RESETTING);
	tdma_restore_config(tdev);
	return PCI_ERS_RESULT_RECOVERED;
}

static void tdma_error_resume(struct pci_dev *pdev)
{
	struct tdma_device *tdev = pci_get_drvdata(pdev);

	tdma_recovery_cancel(tdev);
	tdma_device_restart(tdev);
}

const struct pci_error_handlers tdma_error_handlers = {
	.error_detected = tdma_error_detected,
	.slot_reset = tdma_slot_reset,
	.resume = tdma_error_resume,
	.reset_prepare = tdma_reset_prepare,
	.reset_done = tdma_reset_done,
};
