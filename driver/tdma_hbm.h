/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Device memory: allocation by offset, access through BAR2.
 */
#ifndef TDMA_HBM_H
#define TDMA_HBM_H

#include <linux/types.h>

struct tdma_device;

int tdma_hbm_init(struct tdma_device *tdev);
int tdma_hbm_alloc(struct tdma_device *tdev, u64 length, unsigned long *offset);
void tdma_hbm_free(struct tdma_device *tdev, unsigned long offset, u64 length);
int tdma_hbm_clear(struct tdma_device *tdev, unsigned long offset, u64 length);

#endif /* TDMA_HBM_H */
