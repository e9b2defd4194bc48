// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a queue was doing when it hung, for /sys/class/devcoredump (root only).
 *
 * Text, a line per thing, "WORD NUMBER" pairs in any order after the first
 * word; Documentation/hang-dump.md describes it. Descriptors are in it, the
 * values that they fill with and other contents of memory are not.
 */
#include <linux/devcoredump.h>
#include <linux/minmax.h>
#include <linux/seq_buf.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "tdma_coredump.h"
#include "tdma_device.h"
#include "tdma_queue.h"

#define TDMA_DUMP_BYTES		SZ_32K
/* Slots of the ring, from the oldest that is not retired */
#define TDMA_DUMP_SLOTS		8

/**
 * struct tdma_dump - a queue at one moment
 * @state: TDMA_QSTATE_*
 * @error: TDMA_QERR_*
 * @waits: TDMA_QWAIT_*
 * @head: next slot to be fetched
 * @tail: as the device knows it
 * @done: slots retired
 * @progress: elements moved
 * @nr_slots: number of @slots
 * @slots: from index @done on
 * @records: theirs, if their sequence says so
 */
struct tdma_dump {
	u32 state;
	u32 error;
	u32 waits;
	u32 head;
	u32 tail;
	u32 done;
	u64 progress;
	u32 nr_slots;
	struct tdma_desc slots[TDMA_DUMP_SLOTS];
	struct tdma_record records[TDMA_DUMP_SLOTS];
};

static void tdma_dump_take(struct tdma_dump *dump,
			   const struct tdma_queue *queue)
{
	const struct tdma_hw *hw = &queue->tdev->hw;
	u32 slots = 1U << queue->hw.order;
	u32 i, slot;

	lockdep_assert_held(&queue->lock);
	dump->state = tdma_hw_queue_state(hw, queue->id);
	dump->error = tdma_hw_queue_error(hw, queue->id);
	dump->waits = tdma_hw_queue_waits(hw, queue->id);
	dump->head = tdma_hw_queue_head(hw, queue->id);
	dump->tail = tdma_hw_queue_tail(hw, queue->id);
	dump->done = tdma_hw_queue_done(hw, queue->id);
	dump->progress = tdma_hw_queue_progress(hw, queue->id);
	/* The tail of a user queue may be anything. */
	dump->nr_slots = min3(dump->tail - dump->done, slots,
			      (u32)TDMA_DUMP_SLOTS);
	for (i = 0; i < dump->nr_slots; i++) {
		slot = (dump->done + i) & (slots - 1);
		dump->slots[i] = queue->ring[slot];
		dump->records[i] = queue->records[slot];
	}
}

static const char *tdma_dump_owner(const struct tdma_queue *queue)
{
	if (queue->user)
		return "user";
	return queue->survives_reset ? "channel" : "file";
}

static void tdma_dump_queue(struct seq_buf *out, const struct tdma_dump *dump,
			    const struct tdma_queue *queue)
{
	seq_buf_printf(out,
		       "queue %u owner %s context %u thread %d priority %u slots %u\n",
		       queue->id, tdma_dump_owner(queue), queue->hw.context,
		       (int)queue->hw.thread, queue->hw.priority,
		       1U << queue->hw.order);
	seq_buf_printf(out,
		       "state %u error %u waits %u still_ms %u head %u tail %u done %u progress %llu\n",
		       dump->state, dump->error, dump->waits,
		       jiffies_to_msecs(queue->watch.still), dump->head,
		       dump->tail, dump->done, dump->progress);
}

static void tdma_dump_threads(struct seq_buf *out, const struct tdma_hw *hw)
{
	const u32 src = TDMA_THREAD_SRC_COUNTERS + TDMA_COUNTER_REQUESTS;
	const u32 dst = TDMA_THREAD_DST_COUNTERS + TDMA_COUNTER_REQUESTS;
	u32 i;

	for (i = 0; i < hw->threads; i++)
		seq_buf_printf(out,
			       "thread %u cycles %llu src_requests %llu dst_requests %llu window %u budget %u\n",
			       i,
			       tdma_hw_thread_read64(hw, i, TDMA_THREAD_CYCLES),
			       tdma_hw_thread_read64(hw, i, src),
			       tdma_hw_thread_read64(hw, i, dst),
			       tdma_hw_thread_read(hw, i,
						   TDMA_THREAD_THROTTLE_WINDOW),
			       tdma_hw_thread_read(hw, i,
						   TDMA_THREAD_THROTTLE_BUDGET));
}

static void tdma_dump_record(struct seq_buf *out, u32 index,
			     const struct tdma_record *record)
{
	if (record->sequence != index + 1)
		return;
	seq_buf_printf(out,
		       "record %u status %u src_done %llu dst_done %llu cycles %llu\n",
		       index, record->status, record->src_done,
		       record->dst_done, record->cycles);
}

static void tdma_dump_desc(struct seq_buf *out, u32 index,
			   const struct tdma_desc *d)
{
	unsigned int i;

	seq_buf_printf(out,
		       "slot %u tag %llu version %u opcode %u type %u flags %#x elem_bytes %u ndims %u total %llu\n",
		       index, d->tag, d->version, d->opcode, d->type, d->flags,
		       d->elem_bytes, d->ndims, d->total);
	seq_buf_printf(out, "src %u segment %u offset %llu sync_interval %u\n",
		       index, d->src_segment, d->src_offset,
		       d->src_sync_interval);
	seq_buf_printf(out, "dst %u segment %u offset %llu sync_interval %u\n",
		       index, d->dst_segment, d->dst_offset,
		       d->dst_sync_interval);
	for (i = 0; i < min_t(u32, d->ndims, TDMA_MAX_DIMS); i++)
		seq_buf_printf(out,
			       "dim %u number %u steps %u src_stride %lld dst_stride %lld\n",
			       index, i, d->steps[i], d->src_stride[i],
			       d->dst_stride[i]);
}

static void tdma_dump_slots(struct seq_buf *out, const struct tdma_dump *dump)
{
	bool ext = false;
	u32 i, index;

	for (i = 0; i < dump->nr_slots; i++) {
		index = dump->done + i;
		if (ext) {	/* belongs to the descriptor before */
			seq_buf_printf(out, "ext %u\n", index);
			ext = false;
			continue;
		}
		tdma_dump_desc(out, index, &dump->slots[i]);
		tdma_dump_record(out, index, &dump->records[i]);
		ext = dump->slots[i].flags & TDMA_DESC_EXT;
	}
}

static size_t tdma_dump_write(char *text, const struct tdma_dump *dump,
			      const struct tdma_queue *queue)
{
	const struct tdma_device *tdev = queue->tdev;
	struct seq_buf out;

	seq_buf_init(&out, text, TDMA_DUMP_BYTES);
	seq_buf_printf(&out, "tensordma hang 1\n");
	seq_buf_printf(&out, "device %s generation %u features %#x\n",
		       pci_name(tdev->pdev), tdev->generation,
		       tdev->hw.features);
	tdma_dump_queue(&out, dump, queue);
	tdma_dump_threads(&out, &tdev->hw);
	tdma_dump_slots(&out, dump);
	return seq_buf_used(&out);
}

/**
 * tdma_coredump - keep what a queue that hangs is doing
 * @queue: the queue; its watch tells for how long
 *
 * The caller holds the device's lock for reading, has found the device running
 * and is among the queue's @users. Without memory there is no dump; if one of
 * the device has not been read yet, that stays. May sleep.
 */
void tdma_coredump(struct tdma_queue *queue)
{
	struct tdma_dump *dump = kzalloc(sizeof(*dump), GFP_KERNEL);
	char *text = vmalloc(TDMA_DUMP_BYTES);
	bool on;

	lockdep_assert_held(&queue->tdev->lock);
	if (!dump || !text)
		goto out;
	spin_lock_irq(&queue->lock);
	on = queue->state == TDMA_QUEUE_ON;
	if (on)
		tdma_dump_take(dump, queue);
	spin_unlock_irq(&queue->lock);
	if (on) {
		dev_coredumpv(&queue->tdev->pdev->dev, text,
			      tdma_dump_write(text, dump, queue), GFP_KERNEL);
		text = NULL;
	}
out:
	vfree(text);
	kfree(dump);
}
