/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Watchdog: interrupts that were lost, queues that stopped or hang.
 */
#ifndef TDMA_WATCHDOG_H
#define TDMA_WATCHDOG_H

struct tdma_device;

void tdma_watchdog_init(struct tdma_device *tdev);
void tdma_watchdog_kick(struct tdma_device *tdev);
void tdma_watchdog_stop(struct tdma_device *tdev);

#endif /* TDMA_WATCHDOG_H */
