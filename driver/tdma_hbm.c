// SPDX-License-Identifier: GPL-2.0-only
/*
 * Device memory.
 */
#include <linux/genalloc.h>
#include <linux/io.h>
#include <linux/sched.h>

#include "tdma_device.h"
#include "tdma_hbm.h"

/* Bytes of BAR2 the kernel maps at a time */
#define TDMA_HBM_WINDOW		(16UL << 20)

/* The allocator takes address 0 for a failure. */
#define TDMA_HBM_BIAS		PAGE_SIZE

/**
 * tdma_hbm_init - set the allocator up
 * @tdev: the device
 *
 * What does not fit BAR2 is not handed out: it could not be mapped.
 *
 * Return: 0 or -ENOMEM.
 */
int tdma_hbm_init(struct tdma_device *tdev)
{
	u64 size = min_t(u64, tdev->hw.hbm_size,
			 pci_resource_len(tdev->pdev, TDMA_BAR_HBM));

	tdev->hbm_base = pci_resource_start(tdev->pdev, TDMA_BAR_HBM);
	tdev->hw.hbm_size = size & PAGE_MASK;
	tdev->hbm_pool = gen_pool_create(PAGE_SHIFT, NUMA_NO_NODE);
	if (!tdev->hbm_pool)
		return -ENOMEM;
	if (!tdev->hw.hbm_size)
		return 0;
	return gen_pool_add(tdev->hbm_pool, TDMA_HBM_BIAS, tdev->hw.hbm_size,
			    NUMA_NO_NODE);
}

/**
 * tdma_hbm_alloc - allocate device memory
 * @tdev: the device
 * @length: bytes, whole pages
 * @offset: where it begins
 *
 * Return: 0 or -ENOSPC.
 */
int tdma_hbm_alloc(struct tdma_device *tdev, u64 length, unsigned long *offset)
{
	unsigned long addr = gen_pool_alloc(tdev->hbm_pool, length);

	if (!addr)
		return -ENOSPC;
	*offset = addr - TDMA_HBM_BIAS;
	return 0;
}

/**
 * tdma_hbm_free - give device memory back
 * @tdev: the device
 * @offset: where it begins
 * @length: bytes
 */
void tdma_hbm_free(struct tdma_device *tdev, unsigned long offset, u64 length)
{
	gen_pool_free(tdev->hbm_pool, offset + TDMA_HBM_BIAS, length);
}

/**
 * tdma_hbm_clear - fill device memory with zeros
 * @tdev: the device; its lock is held and it runs
 * @offset: first byte, page aligned
 * @length: bytes
 *
 * Return: 0, -ENOMEM, or -EINTR by a fatal signal.
 */
int tdma_hbm_clear(struct tdma_device *tdev, unsigned long offset, u64 length)
{
	void __iomem *window;
	size_t n;

	for (; length; offset += n, length -= n) {
		if (fatal_signal_pending(current))
			return -EINTR;
		n = min_t(u64, length, TDMA_HBM_WINDOW);
		window = ioremap_wc(tdev->hbm_base + offset, n);
		if (!window)
			return -ENOMEM;
		memset_io(window, 0, n);
		iounmap(window);
		cond_resched();
	}
	return 0;
}
