/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * /dev/tensordmaN
 */
#ifndef TDMA_CDEV_H
#define TDMA_CDEV_H

struct tdma_device;

int tdma_cdev_register(struct tdma_device *tdev);
void tdma_cdev_unregister(struct tdma_device *tdev);

#endif /* TDMA_CDEV_H */
