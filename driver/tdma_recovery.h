/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Resets from outside and errors of the bus; see tdma_recovery.c.
 */
#ifndef TDMA_RECOVERY_H
#define TDMA_RECOVERY_H

struct pci_error_handlers;
struct tdma_device;

extern const struct pci_error_handlers tdma_error_handlers;

void tdma_recovery_init(struct tdma_device *tdev);
int tdma_recovery_start(struct tdma_device *tdev);
void tdma_recovery_cancel(struct tdma_device *tdev);
void tdma_recovery_stop(struct tdma_device *tdev);

#endif /* TDMA_RECOVERY_H */
