// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory: pinning, allocation, mmap().
 *
 * Getting memory takes as long as page faults take and happens without a lock;
 * what the device may do with it is the business of buffers.
 */
#include <linux/dma-buf.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "tdma_compat.h"
#include "tdma_device.h"
#include "tdma_hbm.h"
#include "tdma_memory.h"

/* Pages pinned between two looks at signals */
#define TDMA_PIN_BATCH		1024UL

static struct tdma_memory *tdma_memory_new(struct tdma_device *tdev,
					   enum tdma_memory_kind kind,
					   u64 length)
{
	struct tdma_memory *mem;

	mem = kzalloc(sizeof(*mem), GFP_KERNEL_ACCOUNT);
	if (!mem)
		return NULL;
	refcount_set(&mem->refs, 1);
	tdma_device_get(tdev);
	mem->tdev = tdev;
	mem->kind = kind;
	mem->length = length;
	return mem;
}

/* ---- memory of a process ---- */

static int tdma_account(struct tdma_memory *mem, unsigned long nr_pages)
{
	unsigned long limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;
	struct mm_struct *mm = current->mm;
	s64 pinned;

	pinned = atomic64_add_return(nr_pages, &mm->pinned_vm);
	if (pinned > limit && !capable(CAP_IPC_LOCK)) {
		atomic64_sub(nr_pages, &mm->pinned_vm);
		return -ENOMEM;
	}
	mmgrab(mm);
	mem->mm = mm;
	mem->nr_pages = nr_pages;
	return 0;
}

static void tdma_unaccount(struct tdma_memory *mem)
{
	if (!mem->mm)
		return;
	atomic64_sub(mem->nr_pages, &mem->mm->pinned_vm);
	mmdrop(mem->mm);
}

/* Returns the number of pages pinned in *@pinned, also on failure. */
static int tdma_pin_pages(struct tdma_memory *mem, unsigned long addr,
			  unsigned long *pinned)
{
	unsigned int gup = FOLL_LONGTERM;
	unsigned long nr;
	int ret;

	if (mem->written)
		gup |= FOLL_WRITE;
	for (*pinned = 0; *pinned < mem->nr_pages; *pinned += ret) {
		if (fatal_signal_pending(current))
			return -EINTR;
		nr = min(mem->nr_pages - *pinned, TDMA_PIN_BATCH);
		ret = pin_user_pages_fast(addr + *pinned * PAGE_SIZE, nr, gup,
					  mem->pages + *pinned);
		if (ret <= 0)
			return ret ?: -EFAULT;
		cond_resched();
	}
	return 0;
}

static int tdma_pin(struct tdma_memory *mem, unsigned long addr)
{
	unsigned long pinned;
	int ret;

	mem->pages = kvmalloc_array(mem->nr_pages, sizeof(*mem->pages),
				    GFP_KERNEL_ACCOUNT);
	if (!mem->pages)
		return -ENOMEM;
	ret = tdma_pin_pages(mem, addr, &pinned);
	if (ret) {
		unpin_user_pages(mem->pages, pinned);
		kvfree(mem->pages);
		mem->pages = NULL;
	}
	return ret;
}

/* A buffer larger than memory is not worth the try. */
static int tdma_page_count(u64 length, unsigned int page_offset,
			   unsigned long *nr_pages)
{
	u64 end;

	if (check_add_overflow(length, (u64)page_offset + PAGE_SIZE - 1, &end))
		return -EOVERFLOW;
	if (end >> PAGE_SHIFT > totalram_pages())
		return -ENOMEM;
	*nr_pages = end >> PAGE_SHIFT;
	return 0;
}

/**
 * tdma_memory_pin - pin memory of the current process
 * @tdev: the device
 * @addr: user address
 * @length: bytes, not 0
 * @access: TDMA_BUF_*
 *
 * Return: the memory with one reference, or an ERR_PTR.
 */
struct tdma_memory *tdma_memory_pin(struct tdma_device *tdev, u64 addr,
				    u64 length, u32 access)
{
	unsigned long nr_pages;
	struct tdma_memory *mem;
	u64 end;
	int ret;

	if (check_add_overflow(addr, length, &end))
		return ERR_PTR(-EOVERFLOW);
	ret = tdma_page_count(length, offset_in_page(addr), &nr_pages);
	if (ret)
		return ERR_PTR(ret);
	if (!access_ok(u64_to_user_ptr(addr), length))
		return ERR_PTR(-EFAULT);

	mem = tdma_memory_new(tdev, TDMA_MEMORY_PINNED, length);
	if (!mem)
		return ERR_PTR(-ENOMEM);
	mem->written = access & TDMA_BUF_WRITE;
	mem->page_offset = offset_in_page(addr);
	ret = tdma_account(mem, nr_pages);
	if (!ret)
		ret = tdma_pin(mem, addr & PAGE_MASK);
	if (ret) {
		tdma_memory_put(mem);
		return ERR_PTR(ret);
	}
	return mem;
}

/* ---- memory of the driver ---- */

static void tdma_free_pages(struct tdma_memory *mem)
{
	unsigned long i;

	for (i = 0; i < mem->nr_pages && mem->pages[i]; i++)
		__free_page(mem->pages[i]);
}

static int tdma_alloc_host(struct tdma_memory *mem)
{
	const gfp_t gfp = GFP_HIGHUSER | __GFP_ZERO | __GFP_ACCOUNT |
			  __GFP_RETRY_MAYFAIL | __GFP_NOWARN;
	unsigned long nr_pages, i;
	int ret;

	ret = tdma_page_count(mem->length, 0, &nr_pages);
	if (ret)
		return ret;
	/* It is not swapped out either. */
	ret = tdma_account(mem, nr_pages);
	if (ret)
		return ret;
	mem->pages = kvcalloc(nr_pages, sizeof(*mem->pages),
			      GFP_KERNEL_ACCOUNT);
	if (!mem->pages)
		return -ENOMEM;
	for (i = 0; i < nr_pages; i++) {
		if (fatal_signal_pending(current))
			return -EINTR;
		mem->pages[i] = alloc_page(gfp);
		if (!mem->pages[i])
			return -ENOMEM;
		cond_resched();
	}
	return 0;
}

static int tdma_alloc_hbm(struct tdma_memory *mem)
{
	u64 length = mem->length;

	if (length > mem->tdev->hw.hbm_size)
		return -ENOSPC;
	if (tdma_hbm_alloc(mem->tdev, length, &mem->hbm))
		return -ENOSPC;
	mem->phys = mem->tdev->hbm_base + mem->hbm;
	mem->nr_pages = length >> PAGE_SHIFT;
	return 0;
}

/**
 * tdma_memory_alloc - allocate memory, host or device
 * @tdev: the device
 * @space: %TDMA_ALLOC_HBM or %TDMA_ALLOC_HOST
 * @length: bytes, not 0; rounded up to pages
 *
 * Device memory is not cleared: that takes the device.
 *
 * Return: the memory with one reference, or an ERR_PTR.
 */
struct tdma_memory *tdma_memory_alloc(struct tdma_device *tdev, u32 space,
				      u64 length)
{
	enum tdma_memory_kind kind;
	struct tdma_memory *mem;
	int ret;

	if (check_add_overflow(length, (u64)PAGE_SIZE - 1, &length))
		return ERR_PTR(-EOVERFLOW);
	length &= PAGE_MASK;

	kind = space == TDMA_ALLOC_HBM ? TDMA_MEMORY_HBM : TDMA_MEMORY_HOST;
	mem = tdma_memory_new(tdev, kind, length);
	if (!mem)
		return ERR_PTR(-ENOMEM);
	ret = kind == TDMA_MEMORY_HBM ? tdma_alloc_hbm(mem) :
					tdma_alloc_host(mem);
	if (ret) {
		tdma_memory_put(mem);
		return ERR_PTR(ret);
	}
	return mem;
}

/**
 * tdma_memory_contiguous - allocate host memory in one piece
 * @tdev: the device
 * @length: bytes, a multiple of the page size
 *
 * Return: the memory with one reference, or an ERR_PTR.
 */
struct tdma_memory *tdma_memory_contiguous(struct tdma_device *tdev,
					   u64 length)
{
	unsigned long i, nr_pages = length >> PAGE_SHIFT;
	struct tdma_memory *mem;
	void *start;

	mem = tdma_memory_new(tdev, TDMA_MEMORY_HOST, length);
	if (!mem)
		return ERR_PTR(-ENOMEM);
	mem->pages = kvcalloc(nr_pages, sizeof(*mem->pages),
			      GFP_KERNEL_ACCOUNT);
	start = alloc_pages_exact(length, GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!mem->pages || !start)
		goto err_free;
	/* Pages of their own from here on: mappings may outlive the whole. */
	for (i = 0; i < nr_pages; i++)
		mem->pages[i] = virt_to_page(start + i * PAGE_SIZE);
	mem->nr_pages = nr_pages;
	return mem;

err_free:
	if (start)
		free_pages_exact(start, length);
	tdma_memory_put(mem);
	return ERR_PTR(-ENOMEM);
}

/* ---- memory of the device's registers ---- */

/**
 * tdma_memory_doorbell - make the doorbell of a queue something to map
 * @tdev: the device
 * @queue: number of the queue
 *
 * Return: the memory with one reference, or an ERR_PTR.
 */
struct tdma_memory *tdma_memory_doorbell(struct tdma_device *tdev, u32 queue)
{
	struct tdma_memory *mem;

	BUILD_BUG_ON(TDMA_DOORBELL_STRIDE % PAGE_SIZE);
	mem = tdma_memory_new(tdev, TDMA_MEMORY_DOORBELL, PAGE_SIZE);
	if (!mem)
		return ERR_PTR(-ENOMEM);
	mem->nr_pages = 1;
	mem->phys = pci_resource_start(tdev->pdev, TDMA_BAR_REGS) +
		    TDMA_DOORBELL_BASE + queue * TDMA_DOORBELL_STRIDE;
	return mem;
}

/* ---- memory of others ---- */

/**
 * tdma_memory_import - use the memory behind a dma-buf
 * @tdev: the device
 * @dmabuf: the dma-buf; on success its reference is the memory's
 *
 * Return: the memory with one reference, or an ERR_PTR.
 */
struct tdma_memory *tdma_memory_import(struct tdma_device *tdev,
				       struct dma_buf *dmabuf)
{
	struct tdma_memory *mem;

	if (!dmabuf->size)
		return ERR_PTR(-EINVAL);
	mem = tdma_memory_new(tdev, TDMA_MEMORY_IMPORTED, dmabuf->size);
	if (!mem)
		return ERR_PTR(-ENOMEM);
	mem->dmabuf = dmabuf;
	return mem;
}

/* ---- lifetime ---- */

static void tdma_memory_free(struct tdma_memory *mem)
{
	switch (mem->kind) {
	case TDMA_MEMORY_PINNED:
		if (mem->pages)
			unpin_user_pages_dirty_lock(mem->pages, mem->nr_pages,
						    mem->written);
		tdma_unaccount(mem);
		break;
	case TDMA_MEMORY_HOST:
		if (mem->pages)
			tdma_free_pages(mem);
		tdma_unaccount(mem);
		break;
	case TDMA_MEMORY_HBM:
		if (mem->nr_pages)
			tdma_hbm_free(mem->tdev, mem->hbm, mem->length);
		break;
	case TDMA_MEMORY_DOORBELL:
		break;
	case TDMA_MEMORY_IMPORTED:
		dma_buf_put(mem->dmabuf);
		break;
	}
	kvfree(mem->pages);
	if (mem->orphan)
		__free_page(mem->orphan);
	tdma_device_put(mem->tdev);
	kfree(mem);
}

/**
 * tdma_memory_get - take another reference
 * @mem: the memory
 */
void tdma_memory_get(struct tdma_memory *mem)
{
	refcount_inc(&mem->refs);
}

/**
 * tdma_memory_put - drop a reference; the memory is released before the return
 * @mem: the memory; with the last reference nobody accesses it any more
 */
void tdma_memory_put(struct tdma_memory *mem)
{
	might_sleep();
	if (refcount_dec_and_test(&mem->refs))
		tdma_memory_free(mem);
}

/* ---- mmap ---- */

static void tdma_vma_open(struct vm_area_struct *vma)
{
	tdma_memory_get(vma->vm_private_data);
}

static void tdma_vma_close(struct vm_area_struct *vma)
{
	tdma_memory_put(vma->vm_private_data);
}

/* Index in the memory; stays right when the mapping is split or moved. */
static unsigned long tdma_fault_page(const struct vm_fault *vmf)
{
	return vmf->pgoff & ((1ULL << (TDMA_MMAP_SHIFT - PAGE_SHIFT)) - 1);
}

static vm_fault_t tdma_host_fault(struct vm_fault *vmf)
{
	struct tdma_memory *mem = vmf->vma->vm_private_data;
	unsigned long page = tdma_fault_page(vmf);

	if (page >= mem->nr_pages)
		return VM_FAULT_SIGBUS;
	vmf->page = mem->pages[page];
	get_page(vmf->page);
	return 0;
}

/*
 * The device is gone: the program finds memory there, not a signal. One page
 * serves all of the memory.
 */
static vm_fault_t tdma_orphan_fault(struct tdma_memory *mem,
				    struct vm_fault *vmf)
{
	struct page *page = READ_ONCE(mem->orphan);

	if (!page) {
		page = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
		if (!page)
			return VM_FAULT_OOM;
		if (cmpxchg(&mem->orphan, NULL, page)) {
			__free_page(page);
			page = READ_ONCE(mem->orphan);
		}
	}
	return vmf_insert_pfn(vmf->vma, vmf->address, page_to_pfn(page));
}

static vm_fault_t tdma_device_fault(struct vm_fault *vmf)
{
	struct tdma_memory *mem = vmf->vma->vm_private_data;
	struct tdma_device *tdev = mem->tdev;
	unsigned long page = tdma_fault_page(vmf);
	unsigned long pfn;
	vm_fault_t ret;

	if (page >= mem->nr_pages)
		return VM_FAULT_SIGBUS;
	/* Nothing is inserted once mappings are being taken out. */
	down_read(&tdev->map_lock);
	if (tdev->unmapped) {
		ret = tdma_orphan_fault(mem, vmf);
	} else {
		pfn = mem->phys >> PAGE_SHIFT;
		ret = vmf_insert_pfn(vmf->vma, vmf->address, pfn + page);
	}
	up_read(&tdev->map_lock);
	return ret;
}

static const struct vm_operations_struct tdma_host_vm_ops = {
	.open = tdma_vma_open,
	.close = tdma_vma_close,
	.fault = tdma_host_fault,
};

static const struct vm_operations_struct tdma_device_vm_ops = {
	.open = tdma_vma_open,
	.close = tdma_vma_close,
	.fault = tdma_device_fault,
};

/**
 * tdma_memory_mmap - map memory, or part of it
 * @mem: the memory
 * @access: TDMA_BUF_*: without WRITE it can be mapped for reading only
 * @vma: the mapping; the part of its offset below %TDMA_MMAP_SHIFT counts
 *
 * A mapping of a file that was opened for reading only is not VM_SHARED, but
 * VM_MAYSHARE, and cannot become writable.
 *
 * Return: 0, -EACCES, or -EINVAL for a private mapping, one that is too long,
 * or memory of others, which can be had from them.
 */
int tdma_memory_mmap(struct tdma_memory *mem, u32 access,
		     struct vm_area_struct *vma)
{
	const unsigned long mask =
		(1ULL << (TDMA_MMAP_SHIFT - PAGE_SHIFT)) - 1;
	unsigned long first = vma->vm_pgoff & mask;

	if (mem->kind == TDMA_MEMORY_PINNED ||
	    mem->kind == TDMA_MEMORY_IMPORTED)
		return -EINVAL;
	if (!(vma->vm_flags & VM_MAYSHARE))
		return -EINVAL;
	if (first >= mem->nr_pages || vma_pages(vma) > mem->nr_pages - first)
		return -EINVAL;

	if (!(access & TDMA_BUF_WRITE)) {
		if (vma->vm_flags & VM_WRITE)
			return -EACCES;
		tdma_vm_flags_clear(vma, VM_MAYWRITE);
	}

	tdma_vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP);
	if (mem->kind == TDMA_MEMORY_HOST) {
		vma->vm_ops = &tdma_host_vm_ops;
	} else {
		tdma_vm_flags_set(vma, VM_IO | VM_PFNMAP);
		vma->vm_page_prot = mem->kind == TDMA_MEMORY_HBM ?
				    pgprot_writecombine(vma->vm_page_prot) :
				    pgprot_noncached(vma->vm_page_prot);
		vma->vm_ops = &tdma_device_vm_ops;
	}
	tdma_memory_get(mem);
	vma->vm_private_data = mem;
	return 0;
}
