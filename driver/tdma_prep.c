// SPDX-License-Identifier: GPL-2.0-only
/*
 * dmaengine provider: descriptors of clients become descriptors of the
 * hardware. All of this may run in interrupt context; what is not valid or
 * not supported gives NULL, as the framework has no other answer.
 */
#include <linux/export.h>
#include <linux/slab.h>

#include "tdma_chan.h"
#include "tdma_desc.h"
#include "tdma_device.h"
#include "tensordma.h"

/* Parts of an interleaved transfer: one allocation without sleeping */
#define TDMA_MAX_PARTS		1024
/* Periods of a cyclic transfer that are in the ring at a time */
#define TDMA_CYCLIC_PARTS	16

/* What no capability of ours announces */
#define TDMA_FOREIGN_FLAGS \
	(DMA_PREP_REPEAT | DMA_PREP_LOAD_EOT | DMA_PREP_CMD)

static struct tdma_place tdma_host(dma_addr_t addr)
{
	return (struct tdma_place) {
		.segment = TDMA_KERNEL_HOST,
		.offset = addr,
	};
}

/* Residues are 32 bits wide; longer transfers could not report one. */
static bool tdma_request_ok(size_t len, unsigned long flags)
{
	return len && len <= U32_MAX && !(flags & TDMA_FOREIGN_FLAGS);
}

struct dma_async_tx_descriptor *
tdma_prep_memcpy(struct dma_chan *dchan, dma_addr_t dst, dma_addr_t src,
		 size_t len, unsigned long flags)
{
	struct tdma_chan *chan = to_tdma_chan(dchan);
	struct tdma_tx *tx;

	if (!tdma_request_ok(len, flags))
		return NULL;
	tx = tdma_tx_get(chan, 1);
	if (!tx)
		return NULL;
	tdma_desc_copy(&tx->part[0].desc, tdma_host(dst), tdma_host(src), len);
	return tdma_tx_ready(chan, tx, flags);
}

struct dma_async_tx_descriptor *
tdma_prep_memset(struct dma_chan *dchan, dma_addr_t dst, int value, size_t len,
		 unsigned long flags)
{
	struct tdma_chan *chan = to_tdma_chan(dchan);
	struct tdma_tx *tx;

	if (!tdma_request_ok(len, flags))
		return NULL;
	tx = tdma_tx_get(chan, 1);
	if (!tx)
		return NULL;
	tdma_desc_memset(&tx->part[0].desc, tdma_host(dst), value, len);
	return tdma_tx_ready(chan, tx, flags);
}

/* ---- tensors ---- */

static int tdma_check_tensor(struct tdma_device *tdev,
			     const struct tdma_desc *desc,
			     const struct tdma_desc_ext *ext)
{
	const struct tdma_segment *segments[TDMA_DESC_SIDES] = { };
	const struct tdma_segment *table = tdev->kernel_context.table;
	const u32 number[TDMA_DESC_SIDES] = {
		desc->src_segment, desc->dst_segment, desc->record_segment,
	};
	const bool has_ext = tdev->hw.features & TDMA_FEATURE_EXT;
	const struct tdma_desc_limits limits = {
		.opcodes = tdev->hw.opcodes,
		.types = tdev->hw.types,
		.flags = TDMA_DESC_FLAGS & ~(has_ext ? 0 : TDMA_DESC_EXT),
		.dims = tdev->hw.dims,
		.sync_flags = tdev->hw.sync_flags,
	};
	struct tdma_desc_report report;
	unsigned int i;

	for (i = 0; i < TDMA_DESC_SIDES; i++)
		if (number[i] < tdev->kernel_context.count)
			segments[i] = &table[number[i]];
	return tdma_desc_check(desc, ext, &limits, segments, &report);
}

static bool tdma_tensor_ok(struct tdma_device *tdev,
			   const struct tdma_desc *desc,
			   const struct tdma_desc_ext *ext)
{
	u64 bytes;

	if (!(desc->flags & TDMA_DESC_EXT) != !ext)
		return false;
	if (tdma_check_tensor(tdev, desc, ext))
		return false;
	return !check_mul_overflow(tdma_desc_elements(desc),
				   (u64)desc->elem_bytes, &bytes) &&
	       bytes <= U32_MAX;
}

/**
 * tensordma_prep_tensor - prepare a tensor transfer
 * @dchan: a channel of a tensordma device
 * @desc: the descriptor; segments are TENSORDMA_SEGMENT_*. Interrupt flags
 *	are ignored
 * @ext: its extension block (padding, im2col) if it has %TDMA_DESC_EXT,
 *	else NULL
 * @flags: DMA_PREP_*, DMA_CTRL_*
 *
 * May be called in any context. What can be said of transfers of at most
 * 2^32-1 bytes.
 *
 * In the callback of this and of every other transfer that is not cyclic,
 * dmaengine_desc_get_metadata_ptr() gives the &struct tdma_record of the
 * descriptor that failed, or of the last one.
 *
 * Return: the transfer, or NULL if @dchan is not such a channel, the descriptor
 * is not valid or memory is short.
 */
struct dma_async_tx_descriptor *
tensordma_prep_tensor(struct dma_chan *dchan, const struct tdma_desc *desc,
		      const struct tdma_desc_ext *ext, unsigned long flags)
{
	struct tdma_chan *chan;
	struct tdma_tx *tx;

	if (dchan->device->device_free_chan_resources !=
	    tdma_free_chan_resources)
		return NULL;
	chan = to_tdma_chan(dchan);
	if (flags & TDMA_FOREIGN_FLAGS ||
	    !tdma_tensor_ok(chan->queue.tdev, desc, ext))
		return NULL;
	if (ext) {
		ext = kmemdup(ext, sizeof(*ext), GFP_NOWAIT);
		if (!ext)
			return NULL;
	}
	tx = tdma_tx_get(chan, 1);
	if (!tx) {
		kfree(ext);
		return NULL;
	}
	tx->part[0].desc = *desc;
	tx->part[0].desc.flags &= ~TDMA_DESC_SYNC_IRQ;
	tx->ext = ext;
	return tdma_tx_ready(chan, tx, flags);
}
EXPORT_SYMBOL_GPL(tensordma_prep_tensor);

/* ---- interleaved ---- */

/**
 * struct tdma_frame - an interleaved frame, measured
 * @src: bytes from one frame to the next at the source
 * @dst: the same at the destination
 * @bytes: bytes moved per frame
 * @runs: runs of equal chunks, each equally far from the one before
 */
struct tdma_frame {
	size_t src;
	size_t dst;
	size_t bytes;
	size_t runs;
};

/* The icg of a direction applies whatever *_sgl says. */
static bool tdma_frame_add(struct tdma_frame *frame,
			   struct dma_interleaved_template *xt, size_t i)
{
	struct data_chunk *chunk = &xt->sgl[i];
	size_t src, dst;

	return chunk->size &&
	       !check_add_overflow(frame->bytes, chunk->size, &frame->bytes) &&
	       !check_add_overflow(chunk->size,
				   dmaengine_get_src_icg(xt, chunk), &src) &&
	       !check_add_overflow(chunk->size,
				   dmaengine_get_dst_icg(xt, chunk), &dst) &&
	       !check_add_overflow(frame->src, src, &frame->src) &&
	       !check_add_overflow(frame->dst, dst, &frame->dst);
}

static size_t tdma_src_pitch(struct dma_interleaved_template *xt, size_t i)
{
	return xt->sgl[i].size + dmaengine_get_src_icg(xt, &xt->sgl[i]);
}

static size_t tdma_dst_pitch(struct dma_interleaved_template *xt, size_t i)
{
	return xt->sgl[i].size + dmaengine_get_dst_icg(xt, &xt->sgl[i]);
}

/* How many chunks from @i on are equal and equally far apart? */
static size_t tdma_run_length(struct dma_interleaved_template *xt, size_t i)
{
	size_t end = i + 1;

	while (end < xt->frame_size && xt->sgl[end].size == xt->sgl[i].size &&
	       tdma_src_pitch(xt, end - 1) == tdma_src_pitch(xt, i) &&
	       tdma_dst_pitch(xt, end - 1) == tdma_dst_pitch(xt, i))
		end++;
	return end - i;
}

static bool tdma_frame_measure(struct tdma_frame *frame,
			       struct dma_interleaved_template *xt,
			       unsigned long flags)
{
	size_t i, total;

	*frame = (struct tdma_frame) { };
	for (i = 0; i < xt->frame_size; i++)
		if (!tdma_frame_add(frame, xt, i))
			return false;
	for (i = 0; i < xt->frame_size; i += tdma_run_length(xt, i))
		frame->runs++;
	return !check_mul_overflow(frame->bytes, xt->numf, &total) &&
	       tdma_request_ok(total, flags) &&
	       frame->runs && frame->runs <= TDMA_MAX_PARTS &&
	       frame->src <= S64_MAX && frame->dst <= S64_MAX;
}

/* Strides of a dimension of one step must be zero or do not matter. */
static void tdma_desc_add_dim(struct tdma_desc *desc, size_t steps, size_t src,
			      size_t dst)
{
	unsigned int dim;

	if (steps == 1)
		return;
	dim = desc->ndims++;
	desc->steps[dim] = steps;
	desc->src_stride[dim] = src;
	desc->dst_stride[dim] = dst;
}

/* Descriptors for all runs; false if one of them is not valid. */
static bool tdma_fill_interleaved(struct tdma_chan *chan, struct tdma_tx *tx,
				  struct dma_interleaved_template *xt,
				  const struct tdma_frame *frame)
{
	dma_addr_t src = xt->src_start, dst = xt->dst_start;
	struct tdma_part *part = tx->part;
	size_t i, count;

	for (i = 0; i < xt->frame_size; i += count, part++) {
		size_t src_pitch = tdma_src_pitch(xt, i);
		size_t dst_pitch = tdma_dst_pitch(xt, i);

		count = tdma_run_length(xt, i);
		tdma_desc_copy(&part->desc, tdma_host(dst), tdma_host(src),
			       xt->sgl[i].size);
		tdma_desc_add_dim(&part->desc, count, src_pitch, dst_pitch);
		tdma_desc_add_dim(&part->desc, xt->numf, frame->src,
				  frame->dst);
		if (tdma_check_tensor(chan->queue.tdev, &part->desc, NULL))
			return false;
		/* The last chunk of a run has a gap of its own behind it. */
		src += (count - 1) * src_pitch +
		       tdma_src_pitch(xt, i + count - 1);
		dst += (count - 1) * dst_pitch +
		       tdma_dst_pitch(xt, i + count - 1);
	}
	return true;
}

/*
 * Runs are moved one after the other, each in all frames: source and
 * destination must not overlap, as for every memory to memory transfer.
 */
struct dma_async_tx_descriptor *
tdma_prep_interleaved(struct dma_chan *dchan,
		      struct dma_interleaved_template *xt, unsigned long flags)
{
	struct tdma_chan *chan = to_tdma_chan(dchan);
	struct tdma_frame frame;
	struct tdma_tx *tx;

	if (xt->dir != DMA_MEM_TO_MEM || !xt->src_inc || !xt->dst_inc ||
	    !tdma_frame_measure(&frame, xt, flags))
		return NULL;
	tx = tdma_tx_get(chan, frame.runs);
	if (!tx)
		return NULL;
	if (!tdma_fill_interleaved(chan, tx, xt, &frame)) {
		tdma_tx_drop(chan, tx);
		return NULL;
	}
	return tdma_tx_ready(chan, tx, flags);
}

/* ---- cyclic ---- */

/**
 * struct tdma_port - the other side of a cyclic transfer
 * @address: where it begins
 * @width: bytes of a word
 * @window: number of words; one is a register
 */
struct tdma_port {
	dma_addr_t address;
	u32 width;
	u32 window;
};

bool tdma_width_ok(enum dma_slave_buswidth width)
{
	return width > 0 && width < 32 && TDMA_WIDTHS & BIT(width);
}

static bool tdma_port_get(struct tdma_chan *chan, struct tdma_port *port,
			  enum dma_transfer_direction direction)
{
	struct dma_slave_config config;
	unsigned long flags;

	spin_lock_irqsave(&chan->queue.lock, flags);
	config = chan->config;
	spin_unlock_irqrestore(&chan->queue.lock, flags);

	if (direction == DMA_MEM_TO_DEV)
		*port = (struct tdma_port) { config.dst_addr,
			config.dst_addr_width, config.dst_port_window_size };
	else if (direction == DMA_DEV_TO_MEM)
		*port = (struct tdma_port) { config.src_addr,
			config.src_addr_width, config.src_port_window_size };
	else
		return false;
	port->window = port->window ?: 1;
	return tdma_width_ok(port->width);
}

/* One period: words of the memory, around and around the port's window */
static void tdma_desc_period(struct tdma_desc *desc, dma_addr_t memory,
			     const struct tdma_port *port, u32 words,
			     bool to_port)
{
	s64 *at_memory = to_port ? desc->src_stride : desc->dst_stride;
	s64 *at_port = to_port ? desc->dst_stride : desc->src_stride;

	*desc = (struct tdma_desc) {
		.version = TDMA_DESC_VERSION,
		.opcode = TDMA_OP_COPY,
		.ndims = 2,
		.elem_bytes = port->width,
		.src_segment = TDMA_KERNEL_HOST,
		.dst_segment = TDMA_KERNEL_HOST,
		.src_offset = to_port ? memory : port->address,
		.dst_offset = to_port ? port->address : memory,
		.steps = { port->window, words / port->window },
	};
	at_memory[0] = port->width;
	at_memory[1] = (s64)port->width * port->window;
	at_port[0] = port->width;
}

static bool tdma_period_ok(const struct tdma_port *port, size_t len,
			   size_t period, unsigned long flags)
{
	return tdma_request_ok(len, flags) && period && len % period == 0 &&
	       period % port->width == 0 &&
	       period / port->width % port->window == 0;
}

/* A device with a single dimension cannot go around a window. */
static bool tdma_fill_cyclic(struct tdma_chan *chan, struct tdma_tx *tx,
			     const struct tdma_port *port)
{
	bool to_port = tx->memory_side == TDMA_SIDE_SRC;
	u32 words = tx->period_bytes / port->width;
	unsigned int i;

	for (i = 0; i < tx->capacity; i++) {
		struct tdma_desc *desc = &tx->part[i].desc;

		/* The last one lies behind all that will be used. */
		tdma_desc_period(desc, tx->memory + tx->bytes -
				 tx->period_bytes, port, words, to_port);
		if (tdma_check_tensor(chan->queue.tdev, desc, NULL))
			return false;
	}
	return true;
}

/*
 * The port is what the client has configured: a register, or a window of
 * registers, at an address that the device can reach. With a callback a period
 * is armed again when its callback has returned, so that nothing is overtaken
 * and interrupts cannot outrun the client; without one, as soon as it is over.
 */
struct dma_async_tx_descriptor *
tdma_prep_cyclic(struct dma_chan *dchan, dma_addr_t memory, size_t len,
		 size_t period, enum dma_transfer_direction direction,
		 unsigned long flags)
{
	struct tdma_chan *chan = to_tdma_chan(dchan);
	struct tdma_port port;
	struct tdma_tx *tx;
	u64 end;

	if (check_add_overflow(memory, (u64)len, &end) ||
	    !tdma_port_get(chan, &port, direction) ||
	    !tdma_period_ok(&port, len, period, flags))
		return NULL;
	tx = tdma_tx_get(chan, min_t(size_t, len / period, TDMA_CYCLIC_PARTS));
	if (!tx)
		return NULL;
	tx->bytes = len;
	tx->periods = len / period;
	tx->period_bytes = period;
	tx->memory = memory;
	tx->memory_side = direction == DMA_MEM_TO_DEV ? TDMA_SIDE_SRC :
							TDMA_SIDE_DST;
	if (!tdma_fill_cyclic(chan, tx, &port)) {
		tdma_tx_drop(chan, tx);
		return NULL;
	}
	return tdma_tx_ready(chan, tx, flags);
}
