// SPDX-License-Identifier: GPL-2.0-only
/*
 * Buffers: pinning, allocation, DMA mapping, mmap().
 *
 * A buffer is made in two steps. tdma_buffer_pin() and tdma_buffer_alloc()
 * get the memory, which can take as long as a page fault takes, and hold no
 * lock. tdma_buffer_publish() makes it reachable for the device, under the
 * device's lock.
 */
#include <linux/device.h>
#include <linux/dma-map-ops.h>
#include <linux/dma-mapping.h>
#include <linux/genalloc.h>
#include <linux/iommu.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "tdma_buffer.h"
#include "tdma_compat.h"
#include "tdma_device.h"
#include "tdma_hbm.h"

/* Pages pinned between two looks at signals */
#define TDMA_PIN_BATCH		1024UL
/* Page sizes the device knows, as far as segment.page_offset can express */
#define TDMA_PAGE_SHIFT_MIN	12
#define TDMA_PAGE_SHIFT_MAX	30

static void tdma_buffer_release(struct work_struct *work);

static struct tdma_buffer *tdma_buffer_new(struct tdma_context *ctx,
					   enum tdma_buffer_kind kind,
					   u32 access, u64 length)
{
	struct tdma_buffer *buf;

	buf = kzalloc(sizeof(*buf), GFP_KERNEL_ACCOUNT);
	if (!buf)
		return NULL;
	refcount_set(&buf->refs, 1);
	INIT_WORK(&buf->release, tdma_buffer_release);
	buf->tdev = ctx->tdev;
	buf->ctx = ctx;
	buf->kind = kind;
	buf->access = access;
	buf->segment.length = length;

	mutex_lock(&buf->tdev->buffers_lock);
	list_add_tail(&buf->node, &buf->tdev->buffers);
	mutex_unlock(&buf->tdev->buffers_lock);
	return buf;
}

/* ---- memory of a process ---- */

static int tdma_account(struct tdma_buffer *buf, unsigned long nr_pages)
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
	buf->mm = mm;
	buf->nr_pages = nr_pages;
	return 0;
}

static void tdma_unaccount(struct tdma_buffer *buf)
{
	if (!buf->mm)
		return;
	atomic64_sub(buf->nr_pages, &buf->mm->pinned_vm);
	mmdrop(buf->mm);
}

/* Returns the number of pages pinned in *@pinned, also on failure. */
static int tdma_pin_pages(struct tdma_buffer *buf, unsigned long addr,
			  unsigned long *pinned)
{
	unsigned int gup = FOLL_LONGTERM;
	unsigned long nr;
	int ret;

	if (buf->access & TDMA_BUF_WRITE)
		gup |= FOLL_WRITE;
	for (*pinned = 0; *pinned < buf->nr_pages; *pinned += ret) {
		if (fatal_signal_pending(current))
			return -EINTR;
		nr = min(buf->nr_pages - *pinned, TDMA_PIN_BATCH);
		ret = pin_user_pages_fast(addr + *pinned * PAGE_SIZE, nr, gup,
					  buf->pages + *pinned);
		if (ret <= 0)
			return ret ?: -EFAULT;
		cond_resched();
	}
	return 0;
}

static int tdma_pin(struct tdma_buffer *buf, unsigned long addr)
{
	unsigned long pinned;
	int ret;

	buf->pages = kvmalloc_array(buf->nr_pages, sizeof(*buf->pages),
				    GFP_KERNEL_ACCOUNT);
	if (!buf->pages)
		return -ENOMEM;
	ret = tdma_pin_pages(buf, addr, &pinned);
	if (ret) {
		unpin_user_pages(buf->pages, pinned);
		kvfree(buf->pages);
		buf->pages = NULL;
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
 * tdma_buffer_pin - make a buffer of memory of the current process
 * @ctx: context of the buffer
 * @addr: user address
 * @length: bytes, not 0
 * @access: TDMA_BUF_*
 *
 * Return: the buffer with one reference, not yet known to the device, or an
 * ERR_PTR.
 */
struct tdma_buffer *tdma_buffer_pin(struct tdma_context *ctx, u64 addr,
				    u64 length, u32 access)
{
	unsigned long nr_pages;
	struct tdma_buffer *buf;
	u64 end;
	int ret;

	if (check_add_overflow(addr, length, &end))
		return ERR_PTR(-EOVERFLOW);
	ret = tdma_page_count(length, offset_in_page(addr), &nr_pages);
	if (ret)
		return ERR_PTR(ret);
	if (!access_ok(u64_to_user_ptr(addr), length))
		return ERR_PTR(-EFAULT);

	buf = tdma_buffer_new(ctx, TDMA_BUFFER_PINNED, access, length);
	if (!buf)
		return ERR_PTR(-ENOMEM);
	buf->page_offset = offset_in_page(addr);
	ret = tdma_account(buf, nr_pages);
	if (!ret)
		ret = tdma_pin(buf, addr & PAGE_MASK);
	if (ret) {
		tdma_buffer_put(buf);
		return ERR_PTR(ret);
	}
	return buf;
}

/* ---- memory of the driver ---- */

static void tdma_free_pages(struct tdma_buffer *buf)
{
	unsigned long i;

	for (i = 0; i < buf->nr_pages && buf->pages[i]; i++)
		__free_page(buf->pages[i]);
}

static int tdma_alloc_host(struct tdma_buffer *buf)
{
	const gfp_t gfp = GFP_HIGHUSER | __GFP_ZERO | __GFP_ACCOUNT |
			  __GFP_RETRY_MAYFAIL | __GFP_NOWARN;
	unsigned long nr_pages, i;
	int ret;

	ret = tdma_page_count(buf->segment.length, 0, &nr_pages);
	if (ret)
		return ret;
	buf->pages = kvcalloc(nr_pages, sizeof(*buf->pages),
			      GFP_KERNEL_ACCOUNT);
	if (!buf->pages)
		return -ENOMEM;
	buf->nr_pages = nr_pages;
	for (i = 0; i < nr_pages; i++) {
		if (fatal_signal_pending(current))
			return -EINTR;
		buf->pages[i] = alloc_page(gfp);
		if (!buf->pages[i])
			return -ENOMEM;
		cond_resched();
	}
	return 0;
}

static int tdma_alloc_hbm(struct tdma_buffer *buf)
{
	u64 length = buf->segment.length;

	if (length > buf->tdev->hw.hbm_size)
		return -ENOSPC;
	if (tdma_hbm_alloc(buf->tdev, length, &buf->hbm))
		return -ENOSPC;
	buf->nr_pages = length >> PAGE_SHIFT;
	return 0;
}

/**
 * tdma_buffer_alloc - make a buffer of fresh memory
 * @ctx: context of the buffer
 * @space: %TDMA_ALLOC_HBM or %TDMA_ALLOC_HOST
 * @length: bytes, not 0; rounded up to pages
 *
 * Return: the buffer with one reference, not yet known to the device, or an
 * ERR_PTR.
 */
struct tdma_buffer *tdma_buffer_alloc(struct tdma_context *ctx, u32 space,
				      u64 length)
{
	enum tdma_buffer_kind kind;
	struct tdma_buffer *buf;
	int ret;

	if (check_add_overflow(length, (u64)PAGE_SIZE - 1, &length))
		return ERR_PTR(-EOVERFLOW);
	length &= PAGE_MASK;

	kind = space == TDMA_ALLOC_HBM ? TDMA_BUFFER_HBM : TDMA_BUFFER_HOST;
	buf = tdma_buffer_new(ctx, kind, TDMA_BUF_READ | TDMA_BUF_WRITE,
			      length);
	if (!buf)
		return ERR_PTR(-ENOMEM);
	ret = kind == TDMA_BUFFER_HBM ? tdma_alloc_hbm(buf) :
					tdma_alloc_host(buf);
	if (ret) {
		tdma_buffer_put(buf);
		return ERR_PTR(ret);
	}
	return buf;
}

/* ---- DMA mapping ---- */

static enum dma_data_direction tdma_direction(const struct tdma_buffer *buf)
{
	switch (buf->access) {
	case TDMA_BUF_READ:
		return DMA_TO_DEVICE;
	case TDMA_BUF_WRITE:
		return DMA_FROM_DEVICE;
	default:
		return DMA_BIDIRECTIONAL;
	}
}

/*
 * Would the mapping go through bounce buffers? Those need explicit hand-over
 * in both directions, which does not exist while several jobs share a buffer
 * and the consumer reads along.
 */
static bool tdma_bounces(struct tdma_buffer *buf)
{
	struct pci_dev *pdev = buf->tdev->pdev;
	struct device *dev = &pdev->dev;
	struct iommu_domain *domain = iommu_get_domain_for_dev(dev);
	struct scatterlist *sg;
	unsigned int i;

	if (domain && domain->type & __IOMMU_DOMAIN_PAGING)
		return pdev->untrusted || !dev_is_dma_coherent(dev);
	for_each_sgtable_dma_sg(&buf->sgt, sg, i)
		if (dma_need_sync(dev, sg_dma_address(sg)))
			return true;
	return false;
}

/*
 * One contiguous piece of bus address space. Neighbouring entries of a
 * scatterlist are often contiguous without having been merged.
 */
struct tdma_range {
	struct scatterlist *sg;
	unsigned int left;
	u64 start;
	u64 end;
};

static void tdma_range_first(struct tdma_range *r, struct sg_table *sgt)
{
	*r = (struct tdma_range) { .sg = sgt->sgl, .left = sgt->nents };
}

static bool tdma_range_next(struct tdma_range *r)
{
	if (!r->left)
		return false;
	r->start = sg_dma_address(r->sg);
	r->end = r->start;
	do {
		r->end += sg_dma_len(r->sg);
		r->sg = sg_next(r->sg);
		r->left--;
	} while (r->left && sg_dma_address(r->sg) == r->end);
	return true;
}

/* The largest page size of which all inner borders are multiples. */
static unsigned int tdma_list_shift(struct sg_table *sgt, bool *contiguous)
{
	u64 borders = 1ULL << TDMA_PAGE_SHIFT_MAX;
	struct tdma_range r;
	u64 end;

	tdma_range_first(&r, sgt);
	tdma_range_next(&r);
	*contiguous = !r.left;
	for (end = r.end; tdma_range_next(&r); end = r.end)
		borders |= end | r.start;
	return __ffs64(borders);
}

static size_t tdma_list_fill(struct sg_table *sgt, unsigned int shift,
			     __le64 *list)
{
	struct tdma_range r;
	size_t n = 0;
	u64 page;

	tdma_range_first(&r, sgt);
	while (tdma_range_next(&r)) {
		page = r.start >> shift << shift;
		for (; page < r.end; page += 1ULL << shift, n++)
			if (list)
				list[n] = cpu_to_le64(page);
	}
	return n;
}

static int tdma_describe_host(struct tdma_buffer *buf)
{
	struct tdma_segment *seg = &buf->segment;
	u64 start = sg_dma_address(buf->sgt.sgl);
	unsigned int shift;
	bool contiguous;

	seg->space = TDMA_SPACE_HOST;
	shift = tdma_list_shift(&buf->sgt, &contiguous);
	if (contiguous) {
		seg->base = start;
		return 0;
	}
	if (WARN_ON_ONCE(shift < TDMA_PAGE_SHIFT_MIN))
		return -EIO;

	buf->list_bytes = tdma_list_fill(&buf->sgt, shift, NULL) *
			  sizeof(*buf->list);
	buf->list = dma_alloc_coherent(&buf->tdev->pdev->dev, buf->list_bytes,
				       &buf->list_dma,
				       GFP_KERNEL | __GFP_NOWARN);
	if (!buf->list)
		return -ENOMEM;
	tdma_list_fill(&buf->sgt, shift, buf->list);
	seg->flags |= TDMA_SEG_PAGED;
	seg->page_shift = shift;
	seg->page_offset = start & ((1U << shift) - 1);
	seg->base = buf->list_dma;
	return 0;
}

static void tdma_unmap_host(struct tdma_buffer *buf)
{
	struct device *dev = &buf->tdev->pdev->dev;

	if (buf->list)
		dma_free_coherent(dev, buf->list_bytes, buf->list,
				  buf->list_dma);
	buf->list = NULL;
	dma_unmap_sgtable(dev, &buf->sgt, tdma_direction(buf), 0);
	sg_free_table(&buf->sgt);
}

static int tdma_map_host(struct tdma_buffer *buf)
{
	struct device *dev = &buf->tdev->pdev->dev;
	int ret;

	ret = sg_alloc_table_from_pages(&buf->sgt, buf->pages, buf->nr_pages,
					buf->page_offset, buf->segment.length,
					GFP_KERNEL);
	if (ret)
		return ret;
	ret = dma_map_sgtable(dev, &buf->sgt, tdma_direction(buf), 0);
	if (ret) {
		sg_free_table(&buf->sgt);
		return ret == -EIO ? -ENOMEM : ret;
	}
	ret = tdma_bounces(buf) ? -EOPNOTSUPP : tdma_describe_host(buf);
	if (ret) {
		tdma_unmap_host(buf);
		return ret;
	}
	buf->mapped = true;
	return 0;
}

static int tdma_map_hbm(struct tdma_buffer *buf)
{
	buf->segment.space = TDMA_SPACE_HBM;
	buf->segment.base = buf->hbm;
	return tdma_hbm_clear(buf->tdev, buf->hbm, buf->segment.length);
}

/**
 * tdma_buffer_publish - give a buffer its handle
 * @buf: the buffer; the device's lock is held and the device runs
 *
 * Return: 0 or a negative errno. The caller keeps its reference either way.
 */
int tdma_buffer_publish(struct tdma_buffer *buf)
{
	const u32 both = TDMA_BUF_READ | TDMA_BUF_WRITE;
	int index, ret;

	lockdep_assert_held(&buf->tdev->lock);
	ret = buf->kind == TDMA_BUFFER_HBM ? tdma_map_hbm(buf) :
					     tdma_map_host(buf);
	if (ret)
		return ret;
	if (buf->access & TDMA_BUF_READ)
		buf->segment.flags |= TDMA_SEG_READ;
	if (buf->access & TDMA_BUF_WRITE)
		buf->segment.flags |= TDMA_SEG_WRITE;
	if ((buf->access & both) == both)
		buf->segment.flags |= TDMA_SEG_ATOMIC;

	index = tdma_context_reserve(buf->ctx);
	if (index < 0)
		return index;
	tdma_context_set(buf->ctx, index, &buf->segment);
	buf->handle = index;
	return 0;
}

/**
 * tdma_buffer_unmap - take a buffer away from the DMA API
 * @buf: the buffer; tdma_device.buffers_lock is held
 *
 * May be called twice. Must be called before the device is unbound.
 */
void tdma_buffer_unmap(struct tdma_buffer *buf)
{
	lockdep_assert_held(&buf->tdev->buffers_lock);
	if (!buf->mapped)
		return;
	buf->mapped = false;
	tdma_unmap_host(buf);
}

/* ---- lifetime ---- */

static void tdma_release_memory(struct tdma_buffer *buf)
{
	switch (buf->kind) {
	case TDMA_BUFFER_PINNED:
		if (buf->pages)
			unpin_user_pages_dirty_lock(buf->pages, buf->nr_pages,
						    buf->access &
						    TDMA_BUF_WRITE);
		tdma_unaccount(buf);
		break;
	case TDMA_BUFFER_HOST:
		if (buf->pages)
			tdma_free_pages(buf);
		break;
	case TDMA_BUFFER_HBM:
		if (buf->nr_pages)
			tdma_hbm_free(buf->tdev, buf->hbm,
				      buf->segment.length);
		break;
	}
	kvfree(buf->pages);
}

static void tdma_buffer_free(struct tdma_buffer *buf)
{
	/* The device first, then the DMA API, then the memory. */
	mutex_lock(&buf->tdev->buffers_lock);
	if (buf->handle)
		tdma_context_release(buf->ctx, buf->handle);
	list_del(&buf->node);
	tdma_buffer_unmap(buf);
	mutex_unlock(&buf->tdev->buffers_lock);
	tdma_release_memory(buf);
	if (buf->orphan)
		__free_page(buf->orphan);
	kfree(buf);
}

static void tdma_buffer_release(struct work_struct *work)
{
	tdma_buffer_free(container_of(work, struct tdma_buffer, release));
}

/**
 * tdma_buffer_get - take another reference
 * @buf: the buffer
 */
void tdma_buffer_get(struct tdma_buffer *buf)
{
	refcount_inc(&buf->refs);
}

/**
 * tdma_buffer_put - drop a reference; the memory is released before the return
 * @buf: the buffer
 */
void tdma_buffer_put(struct tdma_buffer *buf)
{
	might_sleep();
	if (refcount_dec_and_test(&buf->refs))
		tdma_buffer_free(buf);
}

/**
 * tdma_buffer_put_atomic - drop a reference in any context
 * @buf: the buffer
 *
 * Releasing memory sleeps; if it is due it is left to the device's workqueue.
 */
void tdma_buffer_put_atomic(struct tdma_buffer *buf)
{
	if (refcount_dec_and_test(&buf->refs))
		queue_work(buf->tdev->wq, &buf->release);
}

/* ---- mmap ---- */

static void tdma_vma_open(struct vm_area_struct *vma)
{
	tdma_buffer_get(vma->vm_private_data);
}

static void tdma_vma_close(struct vm_area_struct *vma)
{
	tdma_buffer_put(vma->vm_private_data);
}

/* Index in the buffer; stays right when the mapping is split or moved. */
static unsigned long tdma_fault_page(const struct vm_fault *vmf)
{
	return vmf->pgoff & ((1ULL << (TDMA_MMAP_SHIFT - PAGE_SHIFT)) - 1);
}

static vm_fault_t tdma_host_fault(struct vm_fault *vmf)
{
	struct tdma_buffer *buf = vmf->vma->vm_private_data;
	unsigned long page = tdma_fault_page(vmf);

	if (page >= buf->nr_pages)
		return VM_FAULT_SIGBUS;
	vmf->page = buf->pages[page];
	get_page(vmf->page);
	return 0;
}

/*
 * The device is gone: the program finds memory there, not a signal. One page
 * serves the whole buffer.
 */
static vm_fault_t tdma_orphan_fault(struct tdma_buffer *buf,
				    struct vm_fault *vmf)
{
	struct page *page = READ_ONCE(buf->orphan);

	if (!page) {
		page = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
		if (!page)
			return VM_FAULT_OOM;
		if (cmpxchg(&buf->orphan, NULL, page)) {
			__free_page(page);
			page = READ_ONCE(buf->orphan);
		}
	}
	return vmf_insert_pfn(vmf->vma, vmf->address, page_to_pfn(page));
}

static vm_fault_t tdma_hbm_fault(struct vm_fault *vmf)
{
	struct tdma_buffer *buf = vmf->vma->vm_private_data;
	struct tdma_device *tdev = buf->tdev;
	unsigned long page = tdma_fault_page(vmf);
	unsigned long pfn;
	vm_fault_t ret;

	if (page >= buf->nr_pages)
		return VM_FAULT_SIGBUS;
	/* Nothing is inserted once mappings are being taken out. */
	down_read(&tdev->map_lock);
	if (tdev->unmapped) {
		ret = tdma_orphan_fault(buf, vmf);
	} else {
		pfn = (tdev->hbm_base + buf->hbm) >> PAGE_SHIFT;
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

static const struct vm_operations_struct tdma_hbm_vm_ops = {
	.open = tdma_vma_open,
	.close = tdma_vma_close,
	.fault = tdma_hbm_fault,
};

/**
 * tdma_buffer_mmap_offset - where mmap() finds a buffer
 * @buf: the buffer, published
 *
 * Return: offset for mmap().
 */
u64 tdma_buffer_mmap_offset(const struct tdma_buffer *buf)
{
	return (u64)buf->handle << TDMA_MMAP_SHIFT;
}

/**
 * tdma_buffer_mmap - map a buffer, or part of it
 * @buf: the buffer
 * @vma: the mapping; its offset names @buf
 *
 * Return: 0, or -EINVAL for a private mapping, one that is too long, or memory
 * that is the process's own anyway.
 */
int tdma_buffer_mmap(struct tdma_buffer *buf, struct vm_area_struct *vma)
{
	const unsigned long mask =
		(1ULL << (TDMA_MMAP_SHIFT - PAGE_SHIFT)) - 1;
	unsigned long first = vma->vm_pgoff & mask;

	if (buf->kind == TDMA_BUFFER_PINNED || !(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	if (first >= buf->nr_pages || vma_pages(vma) > buf->nr_pages - first)
		return -EINVAL;

	tdma_vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP);
	if (buf->kind == TDMA_BUFFER_HBM) {
		tdma_vm_flags_set(vma, VM_IO | VM_PFNMAP);
		vma->vm_page_prot = pgprot_writecombine(vma->vm_page_prot);
		vma->vm_ops = &tdma_hbm_vm_ops;
	} else {
		vma->vm_ops = &tdma_host_vm_ops;
	}
	tdma_buffer_get(buf);
	vma->vm_private_data = buf;
	return 0;
}
