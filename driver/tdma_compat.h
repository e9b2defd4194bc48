/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Differences between the kernels this module builds against, 6.1 and later.
 * In a kernel tree this file is not needed.
 */
#ifndef TDMA_COMPAT_H
#define TDMA_COMPAT_H

#include <linux/eventfd.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/version.h>

static inline void tdma_vm_flags_set(struct vm_area_struct *vma,
				     unsigned long flags)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	vm_flags_set(vma, flags);
#else
	vma->vm_flags |= flags;
#endif
}

static inline void tdma_vm_flags_clear(struct vm_area_struct *vma,
				       unsigned long flags)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	vm_flags_clear(vma, flags);
#else
	vma->vm_flags &= ~flags;
#endif
}

static inline void tdma_eventfd_signal(struct eventfd_ctx *eventfd)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 8, 0)
	eventfd_signal(eventfd);
#else
	eventfd_signal(eventfd, 1);
#endif
}

/* The name became a string. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
#define TDMA_IMPORT_NS_DMA_BUF	MODULE_IMPORT_NS("DMA_BUF")
#else
#define TDMA_IMPORT_NS_DMA_BUF	MODULE_IMPORT_NS(DMA_BUF)
#endif

#endif /* TDMA_COMPAT_H */
