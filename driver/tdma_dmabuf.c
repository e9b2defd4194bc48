// SPDX-License-Identifier: GPL-2.0-only
/*
 * dma-buf: memory of this driver for other drivers, and theirs for this one.
 *
 * Host memory can be mapped by any importer. Device memory is for files of the
 * same device, which may also map it for the CPU: a dma-buf that comes home is
 * not mapped for DMA but recognised.
 *
 * Synchronisation is explicit, by sync_file: implicit fences of the dma-buf are
 * neither waited for nor set.
 */
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/fcntl.h>
#include <linux/list.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "tdma_compat.h"
#include "tdma_device.h"
#include "tdma_dmabuf.h"
#include "tdma_memory.h"

TDMA_IMPORT_NS_DMA_BUF;

/**
 * struct tdma_export - a dma-buf of this driver
 * @memory: its memory, referenced
 * @lock: protects @mappings
 * @mappings: &struct tdma_export_mapping
 */
struct tdma_export {
	struct tdma_memory *memory;
	struct mutex lock;	/* @mappings */
	struct list_head mappings;
};

/**
 * struct tdma_export_mapping - an importer's mapping
 * @node: in tdma_export.mappings
 * @dev: the importer
 * @dir: what it does
 * @sgt: the mapping
 */
struct tdma_export_mapping {
	struct list_head node;
	struct device *dev;
	enum dma_data_direction dir;
	struct sg_table sgt;
};

static int tdma_export_attach(struct dma_buf *dmabuf,
			      struct dma_buf_attachment *attach)
{
	struct tdma_export *export = dmabuf->priv;

	/* Device memory has no pages that another device could be given. */
	return export->memory->kind == TDMA_MEMORY_HOST ? 0 : -EOPNOTSUPP;
}

static struct sg_table *tdma_export_map(struct dma_buf_attachment *attach,
					enum dma_data_direction dir)
{
	struct tdma_export *export = attach->dmabuf->priv;
	struct tdma_memory *mem = export->memory;
	struct tdma_export_mapping *map;
	int ret;

	map = kzalloc(sizeof(*map), GFP_KERNEL);
	if (!map)
		return ERR_PTR(-ENOMEM);
	map->dev = attach->dev;
	map->dir = dir;
	ret = sg_alloc_table_from_pages(&map->sgt, mem->pages, mem->nr_pages,
					0, mem->length, GFP_KERNEL);
	if (ret)
		goto err_free;
	ret = dma_map_sgtable(map->dev, &map->sgt, dir, 0);
	if (ret)
		goto err_free_table;

	mutex_lock(&export->lock);
	list_add(&map->node, &export->mappings);
	mutex_unlock(&export->lock);
	return &map->sgt;

err_free_table:
	sg_free_table(&map->sgt);
err_free:
	kfree(map);
	return ERR_PTR(ret);
}

static void tdma_export_unmap(struct dma_buf_attachment *attach,
			      struct sg_table *sgt,
			      enum dma_data_direction dir)
{
	struct tdma_export_mapping *map =
		container_of(sgt, struct tdma_export_mapping, sgt);
	struct tdma_export *export = attach->dmabuf->priv;

	mutex_lock(&export->lock);
	list_del(&map->node);
	mutex_unlock(&export->lock);
	dma_unmap_sgtable(map->dev, sgt, dir, 0);
	sg_free_table(sgt);
	kfree(map);
}

/* Bounce buffers and caches of importers, if they have any */
static int tdma_export_begin_cpu(struct dma_buf *dmabuf,
				 enum dma_data_direction dir)
{
	struct tdma_export *export = dmabuf->priv;
	struct tdma_export_mapping *map;

	mutex_lock(&export->lock);
	list_for_each_entry(map, &export->mappings, node)
		dma_sync_sgtable_for_cpu(map->dev, &map->sgt, map->dir);
	mutex_unlock(&export->lock);
	return 0;
}

static int tdma_export_end_cpu(struct dma_buf *dmabuf,
			       enum dma_data_direction dir)
{
	struct tdma_export *export = dmabuf->priv;
	struct tdma_export_mapping *map;

	mutex_lock(&export->lock);
	list_for_each_entry(map, &export->mappings, node)
		dma_sync_sgtable_for_device(map->dev, &map->sgt, map->dir);
	mutex_unlock(&export->lock);
	return 0;
}

static int tdma_export_mmap(struct dma_buf *dmabuf, struct vm_area_struct *vma)
{
	struct tdma_export *export = dmabuf->priv;

	/* Nobody could take it out again when the device goes. */
	if (export->memory->kind != TDMA_MEMORY_HOST)
		return -EOPNOTSUPP;
	/* The file was opened with what was exported. */
	return tdma_memory_mmap(export->memory, TDMA_BUF_READ | TDMA_BUF_WRITE,
				vma);
}

static void tdma_export_release(struct dma_buf *dmabuf)
{
	struct tdma_export *export = dmabuf->priv;

	tdma_memory_put(export->memory);
	mutex_destroy(&export->lock);
	kfree(export);
}

static const struct dma_buf_ops tdma_export_ops = {
	.attach = tdma_export_attach,
	.map_dma_buf = tdma_export_map,
	.unmap_dma_buf = tdma_export_unmap,
	.begin_cpu_access = tdma_export_begin_cpu,
	.end_cpu_access = tdma_export_end_cpu,
	.mmap = tdma_export_mmap,
	.release = tdma_export_release,
};

/**
 * tdma_dmabuf_export - make a dma-buf of memory
 * @mem: the memory; the dma-buf takes a reference of its own
 * @access: TDMA_BUF_*: without WRITE the CPU can map it for reading only
 *
 * Return: the dma-buf, or an ERR_PTR: EINVAL for memory of others.
 */
struct dma_buf *tdma_dmabuf_export(struct tdma_memory *mem, u32 access)
{
	DEFINE_DMA_BUF_EXPORT_INFO(info);
	struct tdma_export *export;
	struct dma_buf *dmabuf;

	if (mem->kind != TDMA_MEMORY_HOST && mem->kind != TDMA_MEMORY_HBM)
		return ERR_PTR(-EINVAL);
	export = kzalloc(sizeof(*export), GFP_KERNEL_ACCOUNT);
	if (!export)
		return ERR_PTR(-ENOMEM);
	export->memory = mem;
	mutex_init(&export->lock);
	INIT_LIST_HEAD(&export->mappings);

	info.ops = &tdma_export_ops;
	info.size = mem->length;
	info.flags = access & TDMA_BUF_WRITE ? O_RDWR : O_RDONLY;
	info.priv = export;
	dmabuf = dma_buf_export(&info);
	if (IS_ERR(dmabuf)) {
		kfree(export);
		return dmabuf;
	}
	tdma_memory_get(mem);
	return dmabuf;
}

/* Memory of this very device, or NULL */
static struct tdma_memory *tdma_dmabuf_own(struct tdma_device *tdev,
					   struct dma_buf *dmabuf)
{
	struct tdma_export *export = dmabuf->priv;

	if (dmabuf->ops != &tdma_export_ops || export->memory->tdev != tdev)
		return NULL;
	tdma_memory_get(export->memory);
	return export->memory;
}

/**
 * tdma_dmabuf_import - find the memory behind a dma-buf
 * @tdev: the device
 * @fd: file descriptor of the dma-buf
 * @access: TDMA_BUF_*
 *
 * Return: the memory with a reference for the caller, or an ERR_PTR: EBADF or
 * EINVAL if @fd is no dma-buf, EACCES if it was opened for reading only.
 */
struct tdma_memory *tdma_dmabuf_import(struct tdma_device *tdev, int fd,
				       u32 access)
{
	struct dma_buf *dmabuf = dma_buf_get(fd);
	struct tdma_memory *mem;

	if (IS_ERR(dmabuf))
		return ERR_CAST(dmabuf);
	if (access & TDMA_BUF_WRITE && !(dmabuf->file->f_mode & FMODE_WRITE)) {
		mem = ERR_PTR(-EACCES);
		goto out_put;
	}
	mem = tdma_dmabuf_own(tdev, dmabuf);
	if (mem)
		goto out_put;
	mem = tdma_memory_import(tdev, dmabuf);
	if (!IS_ERR(mem))
		return mem;

out_put:
	dma_buf_put(dmabuf);
	return mem;
}
