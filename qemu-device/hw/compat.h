/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tensordma: what differs between the QEMU versions the device builds on.
 *
 * The reference is 10.0. Delete a branch when the version it serves is gone.
 */
#ifndef HW_TENSORDMA_COMPAT_H
#define HW_TENSORDMA_COMPAT_H

/* 11.0 moved the qdev headers. */
#if __has_include("hw/core/qdev-properties.h")
#include "hw/core/qdev-properties.h"
#include "hw/core/resettable.h"
#else
#include "hw/qdev-properties.h"
#include "hw/resettable.h"
#endif

/* 10.1 made class data and interface lists const. */
#if QEMU_VERSION_MAJOR > 10 || \
    (QEMU_VERSION_MAJOR == 10 && QEMU_VERSION_MINOR >= 1)
typedef const void TensordmaClassData;
typedef const InterfaceInfo TensordmaInterfaceInfo;
#else
typedef void TensordmaClassData;
typedef InterfaceInfo TensordmaInterfaceInfo;
#endif

#endif /* HW_TENSORDMA_COMPAT_H */
