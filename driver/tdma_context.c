// SPDX-License-Identifier: GPL-2.0-only
/*
 * Contexts: allocation of segment tables and of the entries in them.
 *
 * The device reads an entry anew for each descriptor, so that no invalidation
 * is needed. A user queue may have it read one at any time, whoever knows its
 * number: what makes an entry valid is written last and taken away first, and
 * nothing else changes before the number is given back.
 */
#include <linux/dma-mapping.h>

#include "tdma_context.h"
#include "tdma_device.h"

/**
 * tdma_context_init - allocate the table of a context, empty
 * @ctx: the context, zeroed
 * @tdev: the device
 * @id: number of the hardware context
 * @count: entries
 *
 * Return: 0 or -ENOMEM.
 */
int tdma_context_init(struct tdma_context *ctx, struct tdma_device *tdev,
		      u32 id, u32 count)
{
	ctx->tdev = tdev;
	ctx->id = id;
	ctx->count = count;
	ctx->table = dma_alloc_coherent(&tdev->pdev->dev,
					count * sizeof(*ctx->table),
					&ctx->table_dma, GFP_KERNEL);
	if (!ctx->table)
		return -ENOMEM;
	ida_init(&ctx->used);
	return 0;
}

/**
 * tdma_context_fini - free the table
 * @ctx: the context; the hardware does not use it any more
 *
 * May be called twice. Must be called before the device is unbound.
 */
void tdma_context_fini(struct tdma_context *ctx)
{
	if (!ctx->table)
		return;
	dma_free_coherent(&ctx->tdev->pdev->dev,
			  ctx->count * sizeof(*ctx->table), ctx->table,
			  ctx->table_dma);
	ctx->table = NULL;
}

/**
 * tdma_context_program - let the hardware use the table
 * @ctx: the context; the device's lock is held and the device runs
 */
void tdma_context_program(const struct tdma_context *ctx)
{
	tdma_hw_context_set(&ctx->tdev->hw, ctx->id, ctx->table_dma,
			    ctx->count);
}

/**
 * tdma_context_revoke - take all access away
 * @ctx: the context; the device's lock is held and the device runs
 */
void tdma_context_revoke(const struct tdma_context *ctx)
{
	tdma_hw_context_set(&ctx->tdev->hw, ctx->id, 0, 0);
}

/**
 * tdma_context_reserve - find a free entry
 * @ctx: the context
 *
 * Entry 0 stays empty: the segment number of a descriptor somebody forgot to
 * fill in is refused.
 *
 * Return: its number, -ENOSPC or -ENOMEM.
 */
int tdma_context_reserve(struct tdma_context *ctx)
{
	return ida_alloc_range(&ctx->used, 1, ctx->count - 1, GFP_KERNEL);
}

/**
 * tdma_context_set - fill an entry in
 * @ctx: the context
 * @index: number of the entry, reserved, not set since
 * @segment: its value
 */
void tdma_context_set(struct tdma_context *ctx, u32 index,
		      const struct tdma_segment *segment)
{
	struct tdma_segment *entry = &ctx->table[index];

	entry->flags = segment->flags;
	entry->page_shift = segment->page_shift;
	entry->page_offset = segment->page_offset;
	entry->length = segment->length;
	entry->base = segment->base;
	dma_wmb();	/* the device looks at the space first */
	WRITE_ONCE(entry->space, segment->space);
}

/**
 * tdma_context_clear - take an entry away
 * @ctx: the context
 * @index: number of the entry, set
 *
 * Descriptors that are fetched from now on do not find it.
 */
void tdma_context_clear(struct tdma_context *ctx, u32 index)
{
	if (!ctx->table)
		return;
	WRITE_ONCE(ctx->table[index].space, TDMA_SPACE_NONE);
	mb();	/* before the device is asked what it has fetched */
}

/**
 * tdma_context_release - give the number of an entry back
 * @ctx: the context
 * @index: number of the entry; clear, and no descriptor has found it
 */
void tdma_context_release(struct tdma_context *ctx, u32 index)
{
	ida_free(&ctx->used, index);
}
