/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * tensordma: entries of a DMA thread's trace ring (TDMA_THREAD_TRACE_*).
 *
 * Little endian, naturally aligned, no padding.
 */
#ifndef _LINUX_TENSORDMA_TRACE_H
#define _LINUX_TENSORDMA_TRACE_H

#include <linux/types.h>

/**
 * enum tdma_trace_event - what an entry tells
 * @TDMA_TRACE_START: a descriptor enters the engine; code: its opcode,
 *	value: its elements
 * @TDMA_TRACE_ISSUE: a request leaves; code: &enum tdma_trace_op,
 *	value: byte offset in the segment of that side
 * @TDMA_TRACE_RESPONSE: its response arrives; code and value as before
 * @TDMA_TRACE_COMMIT: elements become visible in memory; value: how many of
 *	the descriptor are by now
 * @TDMA_TRACE_STALL: requests of the descriptor were held back; code:
 *	&enum tdma_trace_stall, value: for how many cycles from @cycle on
 * @TDMA_TRACE_SYNC: a partial update was published; value: elements done
 * @TDMA_TRACE_END: the descriptor leaves; code: &enum tdma_status,
 *	value: its cycles
 *
 * ISSUE to STALL exist in cycle fidelity only.
 */
enum tdma_trace_event {
	TDMA_TRACE_START	= 1,
	TDMA_TRACE_ISSUE	= 2,
	TDMA_TRACE_RESPONSE	= 3,
	TDMA_TRACE_COMMIT	= 4,
	TDMA_TRACE_STALL	= 5,
	TDMA_TRACE_SYNC		= 6,
	TDMA_TRACE_END		= 7,
};

/* All of them, as a mask for TDMA_THREAD_TRACE_EVENTS */
#define TDMA_TRACE_ALL		0xfeU

/**
 * enum tdma_trace_op - opcode of a request (A7)
 * @TDMA_TRACE_OP_NULL: an element outside its axes: an ID, but no request
 * @TDMA_TRACE_OP_READ: read, paired with a write
 * @TDMA_TRACE_OP_DISCARD: read without a write
 * @TDMA_TRACE_OP_WRITE: write, paired with a read
 * @TDMA_TRACE_OP_ACCUMULATE: read-modify-write, paired with a read
 * @TDMA_TRACE_OP_MEMSET: write of the fill pattern
 * @TDMA_TRACE_OP_ADD_FILL: read-modify-write with the fill pattern
 * @TDMA_TRACE_OP_UNKNOWN: a response whose ID names no request
 */
enum tdma_trace_op {
	TDMA_TRACE_OP_NULL		= 0,
	TDMA_TRACE_OP_READ		= 1,
	TDMA_TRACE_OP_DISCARD		= 2,
	TDMA_TRACE_OP_WRITE		= 3,
	TDMA_TRACE_OP_ACCUMULATE	= 4,
	TDMA_TRACE_OP_MEMSET		= 5,
	TDMA_TRACE_OP_ADD_FILL		= 6,
	TDMA_TRACE_OP_UNKNOWN		= 255,
};

/**
 * enum tdma_trace_stall - why requests are held back (A20)
 * @TDMA_TRACE_STALL_BACKPRESSURE: memory accepts no more in this cycle
 * @TDMA_TRACE_STALL_THROTTLE: the budget of the window is used up
 * @TDMA_TRACE_STALL_IDS: no request ID is free
 */
enum tdma_trace_stall {
	TDMA_TRACE_STALL_BACKPRESSURE	= 0,
	TDMA_TRACE_STALL_THROTTLE	= 1,
	TDMA_TRACE_STALL_IDS		= 2,
};

/**
 * struct tdma_trace_entry - 32 bytes, written by the device
 * @cycle: of the thread, since reset
 * @value: see &enum tdma_trace_event
 * @index: ring index of the descriptor
 * @sequence: events so far, modulo 2^32; a gap is what found the ring full
 * @id: request ID
 * @queue: of the descriptor
 * @thread: DMA thread
 * @event: &enum tdma_trace_event; 0 = never written
 * @side: TDMA_SIDE_SRC or TDMA_SIDE_DST; TDMA_SIDE_NONE for START and END
 * @lane: that generated the request
 * @code: see &enum tdma_trace_event
 *
 * Fields that an event does not have are 0.
 */
struct tdma_trace_entry {
	__u64	cycle;
	__u64	value;
	__u32	index;
	__u32	sequence;
	__u16	id;
	__u8	queue;
	__u8	thread;
	__u8	event;
	__u8	side;
	__u8	lane;
	__u8	code;
};

#endif /* _LINUX_TENSORDMA_TRACE_H */
