// SPDX-License-Identifier: GPL-2.0-only
/*
 * dmaengine provider: registration. One channel per DMA thread; what the
 * channels do is in tdma_chan*.c, tdma_tx.c and tdma_prep.c.
 */
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "tdma_chan.h"
#include "tdma_device.h"
#include "tdma_dmaengine.h"

/**
 * struct tdma_dmaengine - the registration
 * @ref: held by the PCI binding, and by the framework until the last client
 *	has left
 * @dma: what the framework sees
 * @tdev: the device
 * @registered: the framework knows the channels
 * @nr: number of channels
 * @chan: the channels
 */
struct tdma_dmaengine {
	struct kref ref;
	struct dma_device dma;
	struct tdma_device *tdev;
	bool registered;
	unsigned int nr;
	struct tdma_chan chan[];
};

static void tdma_dmaengine_free(struct kref *ref)
{
	struct tdma_dmaengine *engine = container_of(ref, struct tdma_dmaengine,
						     ref);
	unsigned int i;

	for (i = 0; i < engine->nr; i++)
		tasklet_kill(&engine->chan[i].tasklet);
	tdma_device_put(engine->tdev);
	kfree(engine);
}

static void tdma_dmaengine_release(struct dma_device *dma)
{
	struct tdma_dmaengine *engine = container_of(dma, struct tdma_dmaengine,
						     dma);

	kref_put(&engine->ref, tdma_dmaengine_free);
}

/* For each channel that a client has: who it is, and how it stands */
static void __maybe_unused
tdma_summary_show(struct seq_file *seq, struct dma_device *dma)
{
	struct dma_chan *dchan;

	list_for_each_entry(dchan, &dma->channels, device_node) {
		if (!dchan->client_count)
			continue;
		seq_printf(seq, " %-13s| ", dma_chan_name(dchan));
		tdma_chan_show(seq, to_tdma_chan(dchan));
	}
}

static void tdma_dma_device_init(struct tdma_dmaengine *engine)
{
	struct dma_device *dma = &engine->dma;

	dma->dev = &engine->tdev->pdev->dev;
	INIT_LIST_HEAD(&dma->channels);
	/* Only for those who ask for it: the engine has a work of its own. */
	dma_cap_set(DMA_PRIVATE, dma->cap_mask);
	dma_cap_set(DMA_MEMCPY, dma->cap_mask);
	dma_cap_set(DMA_MEMSET, dma->cap_mask);
	dma_cap_set(DMA_INTERLEAVE, dma->cap_mask);
	dma_cap_set(DMA_CYCLIC, dma->cap_mask);
	dma->directions = BIT(DMA_MEM_TO_MEM) | BIT(DMA_MEM_TO_DEV) |
			  BIT(DMA_DEV_TO_MEM);
	dma->src_addr_widths = TDMA_WIDTHS;
	dma->dst_addr_widths = TDMA_WIDTHS;
	/* A burst is what lies between two updates of a descriptor's counts. */
	dma->residue_granularity = DMA_RESIDUE_GRANULARITY_BURST;
	dma->descriptor_reuse = true;
	dma->desc_metadata_modes = DESC_METADATA_ENGINE;
	dma->device_alloc_chan_resources = tdma_alloc_chan_resources;
	dma->device_free_chan_resources = tdma_free_chan_resources;
	dma->device_prep_dma_memcpy = tdma_prep_memcpy;
	dma->device_prep_dma_memset = tdma_prep_memset;
	dma->device_prep_interleaved_dma = tdma_prep_interleaved;
	dma->device_prep_dma_cyclic = tdma_prep_cyclic;
	dma->device_config = tdma_config;
	dma->device_pause = tdma_pause;
	dma->device_resume = tdma_resume;
	dma->device_terminate_all = tdma_terminate_all;
	dma->device_synchronize = tdma_synchronize;
	dma->device_tx_status = tdma_tx_status;
	dma->device_issue_pending = tdma_issue_pending;
	dma->device_release = tdma_dmaengine_release;
#ifdef CONFIG_DEBUG_FS
	dma->dbg_summary_show = tdma_summary_show;
#endif
}

/* Channel @id is hardware queue @id and runs on DMA thread @id. */
static int tdma_dmaengine_add(struct tdma_dmaengine *engine, unsigned int id)
{
	struct tdma_chan *chan = &engine->chan[id];

	chan->chan.device = &engine->dma;
	list_add_tail(&chan->chan.device_node, &engine->dma.channels);
	return tdma_chan_start(chan, engine->tdev, id);
}

static void tdma_dmaengine_fini_queues(struct tdma_dmaengine *engine)
{
	unsigned int i;

	for (i = 0; i < engine->nr; i++)
		tdma_queue_fini(&engine->chan[i].queue);
}

/**
 * tdma_dmaengine_register - offer the channels to the kernel
 * @tdev: the device, running
 *
 * Return: 0 or a negative errno. After an error the caller quiesces the device
 * and calls tdma_dmaengine_detach().
 */
int tdma_dmaengine_register(struct tdma_device *tdev)
{
	unsigned int nr = min(tdev->hw.threads, tdev->hw.queues);
	struct tdma_dmaengine *engine;
	unsigned int i;
	int ret;

	engine = kzalloc(struct_size(engine, chan, nr), GFP_KERNEL);
	if (!engine)
		return -ENOMEM;
	kref_init(&engine->ref);
	engine->nr = nr;
	engine->tdev = tdev;
	tdma_device_get(tdev);
	tdev->dma = engine;
	tdma_dma_device_init(engine);
	for (i = 0; i < nr; i++)
		tdma_chan_init(&engine->chan[i]);
	for (i = 0; i < nr; i++) {
		ret = tdma_dmaengine_add(engine, i);
		if (ret)
			return ret;
	}
	ret = dma_async_device_register(&engine->dma);
	if (!ret) {
		kref_get(&engine->ref);
		engine->registered = true;
	}
	return ret;
}

/**
 * tdma_dmaengine_unregister - take the channels back
 * @tdev: the device
 *
 * Clients that have not let go keep their channel; from tdma_device_quiesce()
 * on every transfer of theirs ends as aborted.
 */
void tdma_dmaengine_unregister(struct tdma_device *tdev)
{
	if (tdev->dma && tdev->dma->registered)
		dma_async_device_unregister(&tdev->dma->dma);
}

/**
 * tdma_dmaengine_detach - free the DMA memory of the channels
 * @tdev: the device, unregistered, quiesced and never to run again
 */
void tdma_dmaengine_detach(struct tdma_device *tdev)
{
	if (!tdev->dma)
		return;
	tdma_dmaengine_fini_queues(tdev->dma);
	kref_put(&tdev->dma->ref, tdma_dmaengine_free);
	tdev->dma = NULL;
}
