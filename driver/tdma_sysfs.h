/* SPDX-License-Identifier: GPL-2.0-only */
/* sysfs attributes of the PCI function; set up by the driver core. */
#ifndef TDMA_SYSFS_H
#define TDMA_SYSFS_H

#include <linux/sysfs.h>

extern const struct attribute_group *tdma_sysfs_groups[];

#endif /* TDMA_SYSFS_H */
