/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints: /sys/kernel/tracing/events/tensordma
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM tensordma

#if !defined(TDMA_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define TDMA_TRACE_H

#include <linux/tensordma_desc.h>
#include <linux/tracepoint.h>

#include "tdma_queue.h"

TRACE_EVENT(tdma_job_push,
	TP_PROTO(const struct tdma_queue *queue, const struct tdma_job *job,
		 const struct tdma_desc *desc),
	TP_ARGS(queue, job, desc),
	TP_STRUCT__entry(
		__field(u32, queue)
		__field(u32, index)
		__field(u64, tag)
		__field(u32, flags)
		__field(u8, opcode)
		__field(u8, ndims)
	),
	TP_fast_assign(
		__entry->queue = queue->id;
		__entry->index = job->index;
		__entry->tag = desc->tag;
		__entry->flags = desc->flags;
		__entry->opcode = desc->opcode;
		__entry->ndims = desc->ndims;
	),
	TP_printk("queue=%u index=%u opcode=%u ndims=%u flags=%#x tag=%#llx",
		  __entry->queue, __entry->index, __entry->opcode,
		  __entry->ndims, __entry->flags, __entry->tag)
);

TRACE_EVENT(tdma_job_done,
	TP_PROTO(const struct tdma_queue *queue, const struct tdma_job *job),
	TP_ARGS(queue, job),
	TP_STRUCT__entry(
		__field(u32, queue)
		__field(u32, index)
		__field(u32, status)
		__field(u64, src_done)
		__field(u64, dst_done)
		__field(u64, cycles)
	),
	TP_fast_assign(
		__entry->queue = queue->id;
		__entry->index = job->index;
		__entry->status = job->record.status;
		__entry->src_done = job->record.src_done;
		__entry->dst_done = job->record.dst_done;
		__entry->cycles = job->record.cycles;
	),
	TP_printk("queue=%u index=%u status=%u src=%llu dst=%llu cycles=%llu",
		  __entry->queue, __entry->index, __entry->status,
		  __entry->src_done, __entry->dst_done, __entry->cycles)
);

TRACE_EVENT(tdma_queue_state,
	TP_PROTO(const struct tdma_queue *queue),
	TP_ARGS(queue),
	TP_STRUCT__entry(
		__field(u32, queue)
		__field(u32, state)
	),
	TP_fast_assign(
		__entry->queue = queue->id;
		__entry->state = queue->state;
	),
	TP_printk("queue=%u state=%s", __entry->queue,
		  __print_symbolic(__entry->state, { TDMA_QUEUE_OFF, "off" },
				   { TDMA_QUEUE_ON, "on" },
				   { TDMA_QUEUE_DEAD, "dead" }))
);

#endif /* TDMA_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE tdma_trace
#include <trace/define_trace.h>
