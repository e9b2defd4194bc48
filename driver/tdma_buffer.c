// SPDX-License-Identifier: GPL-2.0-only
/*
 * Buffers: what makes memory reachable for the device.
 *
 * A buffer is made in two steps: tdma_buffer_new() for memory that somebody
 * took the time to get, and tdma_buffer_publish() under the device's lock.
 */
#include <linux/device.h>
#include <linux/dma-buf.h>
#include <linux/dma-map-ops.h>
#include <linux/dma-mapping.h>
#include <linux/iommu.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>

#include "tdma_buffer.h"
#include "tdma_device.h"
#include "tdma_hbm.h"
#include "tdma_queue.h"

/* Page sizes the device knows, as far as segment.page_offset can express */
#define TDMA_PAGE_SHIFT_MIN	12
#define TDMA_PAGE_SHIFT_MAX	30

/* Between two looks at a user queue that may still use buffers */
#define TDMA_LINGER_MS		10

static void tdma_buffer_release(struct work_struct *work);

/**
 * tdma_buffer_new - make a buffer of memory
 * @ctx: context of the buffer
 * @mem: the memory, or an ERR_PTR to pass on; its reference becomes the
 *	buffer's, also on failure
 * @access: TDMA_BUF_*
 *
 * Return: the buffer with one reference, not yet known to the device, or an
 * ERR_PTR.
 */
struct tdma_buffer *tdma_buffer_new(struct tdma_context *ctx,
				    struct tdma_memory *mem, u32 access)
{
	struct tdma_buffer *buf;

	if (IS_ERR(mem))
		return ERR_CAST(mem);
	buf = kzalloc(sizeof(*buf), GFP_KERNEL_ACCOUNT);
	if (!buf) {
		tdma_memory_put(mem);
		return ERR_PTR(-ENOMEM);
	}
	refcount_set(&buf->refs, 1);
	INIT_WORK(&buf->release, tdma_buffer_release);
	buf->tdev = ctx->tdev;
	buf->ctx = ctx;
	buf->access = access;
	buf->memory = mem;
	buf->segment.length = mem->length;

	mutex_lock(&buf->tdev->buffers_lock);
	list_add_tail(&buf->node, &buf->tdev->buffers);
	mutex_unlock(&buf->tdev->buffers_lock);
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
	for_each_sgtable_dma_sg(buf->sgt, sg, i)
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
	u64 start = sg_dma_address(buf->sgt->sgl);
	unsigned int shift;
	bool contiguous;

	seg->space = TDMA_SPACE_HOST;
	shift = tdma_list_shift(buf->sgt, &contiguous);
	if (contiguous) {
		seg->base = start;
		return 0;
	}
	/* Pieces of pages come from a dma-buf, if at all. */
	if (shift < TDMA_PAGE_SHIFT_MIN)
		return -EOPNOTSUPP;

	buf->list_bytes = tdma_list_fill(buf->sgt, shift, NULL) *
			  sizeof(*buf->list);
	buf->list = dma_alloc_coherent(&buf->tdev->pdev->dev, buf->list_bytes,
				       &buf->list_dma,
				       GFP_KERNEL | __GFP_NOWARN);
	if (!buf->list)
		return -ENOMEM;
	tdma_list_fill(buf->sgt, shift, buf->list);
	seg->flags |= TDMA_SEG_PAGED;
	seg->page_shift = shift;
	seg->page_offset = start & ((1U << shift) - 1);
	seg->base = buf->list_dma;
	return 0;
}

/* ---- where the scatterlist comes from ---- */

/*
 * The same memory may be in several buffers, all of which the device writes,
 * and programs look at it meanwhile: it is never handed over, only shared. With
 * tdma_bounces() out of the way there is nothing to synchronise.
 */
#define TDMA_MAP_ATTRS	DMA_ATTR_SKIP_CPU_SYNC

static int tdma_sgt_from_pages(struct tdma_buffer *buf)
{
	struct tdma_memory *mem = buf->memory;
	int ret;

	ret = sg_alloc_table_from_pages(&buf->own_sgt, mem->pages,
					mem->nr_pages, mem->page_offset,
					mem->length, GFP_KERNEL);
	if (ret)
		return ret;
	ret = dma_map_sgtable(&buf->tdev->pdev->dev, &buf->own_sgt,
			      tdma_direction(buf), TDMA_MAP_ATTRS);
	if (ret) {
		sg_free_table(&buf->own_sgt);
		return ret == -EIO ? -ENOMEM : ret;
	}
	buf->sgt = &buf->own_sgt;
	return 0;
}

static int tdma_sgt_from_dmabuf(struct tdma_buffer *buf)
{
	struct dma_buf_attachment *attach;
	struct sg_table *sgt;

	attach = dma_buf_attach(buf->memory->dmabuf, &buf->tdev->pdev->dev);
	if (IS_ERR(attach))
		return PTR_ERR(attach);
	sgt = dma_buf_map_attachment_unlocked(attach, tdma_direction(buf));
	if (IS_ERR(sgt)) {
		dma_buf_detach(buf->memory->dmabuf, attach);
		return PTR_ERR(sgt);
	}
	buf->attach = attach;
	buf->sgt = sgt;
	return 0;
}

static void tdma_sgt_put(struct tdma_buffer *buf)
{
	enum dma_data_direction dir = tdma_direction(buf);

	if (buf->attach) {
		dma_buf_unmap_attachment_unlocked(buf->attach, buf->sgt, dir);
		dma_buf_detach(buf->memory->dmabuf, buf->attach);
		buf->attach = NULL;
	} else {
		dma_unmap_sgtable(&buf->tdev->pdev->dev, buf->sgt, dir,
				  TDMA_MAP_ATTRS);
		sg_free_table(buf->sgt);
	}
	buf->sgt = NULL;
}

static int tdma_sgt_get(struct tdma_buffer *buf)
{
	struct scatterlist *sg;
	u64 bytes = 0;
	unsigned int i;
	int ret;

	ret = buf->memory->kind == TDMA_MEMORY_IMPORTED ?
	      tdma_sgt_from_dmabuf(buf) : tdma_sgt_from_pages(buf);
	if (ret)
		return ret;
	/* An exporter is another driver; its word is not taken for it. */
	for_each_sgtable_dma_sg(buf->sgt, sg, i)
		bytes += sg_dma_len(sg);
	if (bytes >= buf->memory->length)
		return 0;
	tdma_sgt_put(buf);
	return -EIO;
}

/* ---- publication ---- */

static void tdma_unmap_host(struct tdma_buffer *buf)
{
	if (buf->list)
		dma_free_coherent(&buf->tdev->pdev->dev, buf->list_bytes,
				  buf->list, buf->list_dma);
	buf->list = NULL;
	tdma_sgt_put(buf);
}

static int tdma_map_host(struct tdma_buffer *buf)
{
	int ret;

	ret = tdma_sgt_get(buf);
	if (ret)
		return ret;
	ret = tdma_bounces(buf) ? -EOPNOTSUPP : tdma_describe_host(buf);
	if (ret)
		tdma_unmap_host(buf);
	return ret;
}

static int tdma_map_hbm(struct tdma_buffer *buf)
{
	struct tdma_memory *mem = buf->memory;
	int ret;

	buf->segment.space = TDMA_SPACE_HBM;
	buf->segment.base = mem->hbm;
	if (mem->cleared)
		return 0;
	ret = tdma_hbm_clear(buf->tdev, mem->hbm, mem->length);
	mem->cleared = !ret;
	return ret;
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
	ret = buf->memory->kind == TDMA_MEMORY_HBM ? tdma_map_hbm(buf) :
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
	if (buf->sgt)
		tdma_unmap_host(buf);
}

/* ---- lifetime ---- */

/* Looks again, in a while, at those whose turn has not come. */
static void tdma_linger(struct tdma_context *ctx)
{
	lockdep_assert_held(&ctx->tdev->buffers_lock);
	queue_delayed_work(ctx->tdev->wq, &ctx->linger_work,
			   msecs_to_jiffies(TDMA_LINGER_MS));
}

/*
 * Takes the buffer away from the device. False if it may still be in use: then
 * it lingers, and keeps its number.
 */
static bool tdma_buffer_withdraw(struct tdma_buffer *buf)
{
	struct tdma_context *ctx = buf->ctx;
	struct tdma_queue_look look = { .idle = true };

	mutex_lock(&buf->tdev->buffers_lock);
	if (buf->handle)
		tdma_context_clear(ctx, buf->handle);
	if (buf->handle && ctx->user_queue)
		tdma_queue_look(ctx->user_queue, &look);
	if (!look.idle) {
		/* The one at the head may be on its way into the device. */
		buf->mark = look.head;
		list_add_tail(&buf->linger, &ctx->linger);
		tdma_linger(ctx);
	}
	mutex_unlock(&buf->tdev->buffers_lock);
	return look.idle;
}

static void tdma_buffer_free(struct tdma_buffer *buf)
{
	struct tdma_context *ctx = buf->ctx;

	/* The device first, then the DMA API, then the memory. */
	mutex_lock(&buf->tdev->buffers_lock);
	list_del(&buf->node);
	tdma_buffer_unmap(buf);
	mutex_unlock(&buf->tdev->buffers_lock);
	if (buf->handle)
		tdma_context_release(ctx, buf->handle);
	tdma_memory_put(buf->memory);
	kfree(buf);
	if (atomic_dec_and_test(&ctx->releasing))
		wake_up_var(&ctx->releasing);
}

/* Nobody uses the buffer any more; it is counted as being released. */
static void tdma_buffer_let_go(struct tdma_buffer *buf)
{
	if (tdma_buffer_withdraw(buf))
		tdma_buffer_free(buf);
}

static void tdma_buffer_release(struct work_struct *work)
{
	tdma_buffer_let_go(container_of(work, struct tdma_buffer, release));
}

/* One look for all that linger, however many they are. */
static void tdma_linger_work(struct work_struct *work)
{
	struct tdma_context *ctx = container_of(to_delayed_work(work),
						struct tdma_context,
						linger_work);
	struct tdma_queue_look look = { .idle = true };
	struct tdma_buffer *buf, *next;
	LIST_HEAD(free);

	mutex_lock(&ctx->tdev->buffers_lock);
	if (ctx->user_queue)
		tdma_queue_look(ctx->user_queue, &look);
	list_for_each_entry_safe(buf, next, &ctx->linger, linger)
		if (tdma_look_passed(&look, buf->mark))
			list_move_tail(&buf->linger, &free);
	if (!list_empty(&ctx->linger))
		tdma_linger(ctx);
	mutex_unlock(&ctx->tdev->buffers_lock);
	/* The last one may end a wait of tdma_buffers_settle(). */
	list_for_each_entry_safe(buf, next, &free, linger)
		tdma_buffer_free(buf);
}

/**
 * tdma_buffers_init - prepare a context for buffers
 * @ctx: the context
 */
void tdma_buffers_init(struct tdma_context *ctx)
{
	INIT_LIST_HEAD(&ctx->linger);
	INIT_DELAYED_WORK(&ctx->linger_work, tdma_linger_work);
}

/**
 * tdma_buffers_settle - wait until no buffer of a context is being released
 * @ctx: the context, without a user queue that runs
 */
void tdma_buffers_settle(struct tdma_context *ctx)
{
	wait_var_event(&ctx->releasing, !atomic_read_acquire(&ctx->releasing));
	cancel_delayed_work_sync(&ctx->linger_work);
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
 * tdma_buffer_put - drop a reference
 * @buf: the buffer
 *
 * The memory is let go before the return, unless a user queue is in the way.
 */
void tdma_buffer_put(struct tdma_buffer *buf)
{
	might_sleep();
	if (!refcount_dec_and_test(&buf->refs))
		return;
	atomic_inc(&buf->ctx->releasing);
	tdma_buffer_let_go(buf);
}

/**
 * tdma_buffer_put_atomic - drop a reference in any context
 * @buf: the buffer
 *
 * Releasing memory sleeps; if it is due it is left to the device's workqueue.
 */
void tdma_buffer_put_atomic(struct tdma_buffer *buf)
{
	if (!refcount_dec_and_test(&buf->refs))
		return;
	atomic_inc(&buf->ctx->releasing);
	queue_work(buf->tdev->wq, &buf->release);
}

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
