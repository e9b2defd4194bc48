/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters, throttle and trace of the DMA threads in debugfs.
 */
#ifndef TDMA_DEBUGFS_H
#define TDMA_DEBUGFS_H

struct tdma_device;

void tdma_debugfs_init(struct tdma_device *tdev);
void tdma_debugfs_fini(struct tdma_device *tdev);

#endif /* TDMA_DEBUGFS_H */
