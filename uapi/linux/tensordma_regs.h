/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * tensordma: registers of the PCI function.
 *
 * Device model and driver include this one file. BAR0 holds registers and
 * doorbells, BAR2 the HBM (RAM, 64-bit, prefetchable), BAR4 the MSI-X table.
 * Registers are 32 bits wide; a 64-bit register is a low/high pair at +0/+4
 * and also takes one aligned 8-byte access. Reads of anything not listed give
 * zero, writes are ignored and counted in TDMA_REG_BAD_ACCESS.
 */
#ifndef _LINUX_TENSORDMA_REGS_H
#define _LINUX_TENSORDMA_REGS_H

#define TDMA_PCI_VENDOR_ID	0x1234
#define TDMA_PCI_DEVICE_ID	0x7da0
#define TDMA_PCI_CLASS		0x1200	/* processing accelerator */
#define TDMA_BAR_REGS		0
#define TDMA_BAR_HBM		2
#define TDMA_BAR_MSIX		4

/* Geometry of BAR0 */
#define TDMA_MAX_THREADS	16
#define TDMA_MAX_CONTEXTS	256
#define TDMA_MAX_QUEUES		256
#define TDMA_BAR0_SIZE		0x200000
#define TDMA_GLOBAL_BASE	0x000000
#define TDMA_THREAD_BASE	0x001000
#define TDMA_THREAD_STRIDE	0x100
#define TDMA_CONTEXT_BASE	0x004000
#define TDMA_CONTEXT_STRIDE	0x20
#define TDMA_QUEUE_BASE		0x010000
#define TDMA_QUEUE_STRIDE	0x100
#define TDMA_SYNC_BASE		0x080000
#define TDMA_SYNC_STRIDE	0x8
#define TDMA_MAX_SYNC_FLAGS	65536
#define TDMA_DOORBELL_BASE	0x100000
#define TDMA_DOORBELL_STRIDE	0x1000

/*
 * Global registers, offsets from TDMA_GLOBAL_BASE.
 * ro = read only, rw = read/write, rc = read/write, any write clears.
 */
#define TDMA_REG_ID		0x000	/* ro: TDMA_ID_VALUE */
#define TDMA_REG_VERSION	0x004	/* ro: TDMA_VERSION_VALUE */
#define TDMA_REG_FEATURES	0x008	/* ro: TDMA_FEATURE_* */
#define TDMA_REG_THREADS	0x00c	/* ro: DMA threads */
#define TDMA_REG_QUEUES		0x010	/* ro: queues */
#define TDMA_REG_CONTEXTS	0x014	/* ro: contexts */
#define TDMA_REG_SEGMENTS	0x018	/* ro: largest segment table, entries */
#define TDMA_REG_RING_ORDER	0x01c	/* ro: log2 of the largest ring */
#define TDMA_REG_DIMS		0x020	/* ro: dimensions per descriptor */
#define TDMA_REG_LANES		0x024	/* ro: lanes per sub-thread (M) */
#define TDMA_REG_IDS		0x028	/* ro: request IDs per sub-thread (W) */
#define TDMA_REG_VECTORS	0x02c	/* ro: MSI-X vectors */
#define TDMA_REG_HBM_SIZE	0x030	/* ro, 64 bit: bytes of HBM */
#define TDMA_REG_OPCODES	0x038	/* ro: bit n = opcode n is offered */
#define TDMA_REG_TYPES		0x03c	/* ro: bit n = accumulate type n */
#define TDMA_REG_CONTROL	0x040	/* rw: TDMA_CONTROL_* */
#define TDMA_REG_STATUS		0x044	/* ro: TDMA_STATUS_REG_* */
#define TDMA_REG_GENERATION	0x048	/* ro: counts resets since power-on */
#define TDMA_REG_BAD_ACCESS	0x04c	/* rc: accesses to nothing */
#define TDMA_REG_SYNC_FLAGS	0x050	/* ro: sync flags, count */

#define TDMA_ID_VALUE		0x414d4454	/* "TDMA" */
#define TDMA_VERSION_VALUE	0x00010000	/* 1.0 */

#define TDMA_FEATURE_CYCLE	(1U << 0)	/* cycle fidelity is running */
#define TDMA_FEATURE_EXT	(1U << 1)	/* extension blocks (padding) */
#define TDMA_FEATURE_SYNC_FLAGS	(1U << 2)	/* sync flags */
#define TDMA_FEATURE_INJECT	(1U << 3)	/* error injection is on */
#define TDMA_FEATURE_TRACE	(1U << 4)	/* trace rings */

#define TDMA_CONTROL_ENABLE	(1U << 0)	/* queues may run */
#define TDMA_CONTROL_RESET	(1U << 1)	/* write 1: reset; reads 0 */

#define TDMA_STATUS_REG_READY	(1U << 0)	/* no reset in progress */
#define TDMA_STATUS_REG_IDLE	(1U << 1)	/* no descriptor in flight */

/*
 * Thread registers, offsets from the thread's block
 *
 * Throttle (A21): each side issues at most BUDGET requests per WINDOW cycles.
 * Both take effect with the write of WINDOW; 0 in both is off. A pair that
 * means nothing is refused: THROTTLE_STATUS says why, descriptors that the
 * thread fetches meanwhile end with TDMA_STATUS_BAD_THROTTLE, and those that
 * it has go on as set before.
 */
#define TDMA_THREAD_THROTTLE_WINDOW	0x00	/* rw: cycles, up to ..._MAX */
#define TDMA_THREAD_THROTTLE_BUDGET	0x04	/* rw: up to lanes * WINDOW */
#define TDMA_THREAD_COUNTER_CLEAR	0x08	/* wo: any write clears counters */
#define TDMA_THREAD_THROTTLE_STATUS	0x0c	/* ro: TDMA_THROTTLE_* */
#define TDMA_THREAD_CYCLES		0x10	/* ro, 64 bit */
#define TDMA_THREAD_INJECT		0x18	/* rw: TDMA_INJECT_*, one shot */
#define TDMA_THREAD_INJECT_SIDE		0x1c	/* rw: 0 = source, 1 = dest. */
#define TDMA_THREAD_INJECT_ELEMENT	0x20	/* rw, 64 bit: element number */
#define TDMA_THREAD_SRC_COUNTERS	0x40	/* ro: TDMA_COUNTER_*, source */
#define TDMA_THREAD_TRACE_BASE		0x80	/* rw, 64 bit: bus address */
#define TDMA_THREAD_TRACE_ORDER		0x88	/* rw: log2 of entries, 1.. */
#define TDMA_THREAD_TRACE_EVENTS	0x8c	/* rw: bit n = event n */
#define TDMA_THREAD_TRACE_CONTROL	0x90	/* rw: TDMA_TRCTL_* */
#define TDMA_THREAD_TRACE_STATE		0x94	/* ro: TDMA_TRSTATE_* */
#define TDMA_THREAD_TRACE_HEAD		0x98	/* ro: entries written */
#define TDMA_THREAD_TRACE_TAIL		0x9c	/* rw: entries read */
#define TDMA_THREAD_DST_COUNTERS	0xa0	/* ro: the same, destination */
#define TDMA_THREAD_TRACE_LOST		0xe0	/* ro, 64 bit: found it full */

/*
 * Trace ring: struct tdma_trace_entry of the events that EVENTS selects, see
 * <linux/tensordma_trace.h>. BASE, ORDER and EVENTS may be written only while
 * CONTROL reads 0; setting ENABLE starts with HEAD, TAIL and LOST at 0, which
 * run freely modulo 2^32. The entries from TAIL up to HEAD are in memory;
 * software writes TAIL once it has read them. What a descriptor has to tell is
 * there before its record is final, but for a stall that goes on. The engine
 * never waits: events that find the ring full are counted in LOST. Memory that
 * refuses an entry ends the trace with FAULT and nothing else. When ENABLE has
 * been cleared the ring is written no more once STATE is OFF.
 */
#define TDMA_TRACE_ALIGN		64
#define TDMA_TRACE_ORDER_MAX		20

#define TDMA_TRCTL_ENABLE		(1U << 0)

#define TDMA_TRSTATE_OFF		0
#define TDMA_TRSTATE_ON			1
#define TDMA_TRSTATE_STOPPING		2	/* on the way to OFF */
#define TDMA_TRSTATE_CONFIG		3	/* ENABLE with a bad value */
#define TDMA_TRSTATE_FAULT		4	/* the ring cannot be written */

#define TDMA_THROTTLE_WINDOW_MAX	(1U << 24)

#define TDMA_THROTTLE_OFF		0
#define TDMA_THROTTLE_ON		1
#define TDMA_THROTTLE_BAD		2	/* this and all above are errors */
#define TDMA_THROTTLE_BAD_ZERO		2	/* one of the two is 0 */
#define TDMA_THROTTLE_BAD_WINDOW	3	/* longer than WINDOW_MAX */
#define TDMA_THROTTLE_BAD_BUDGET	4	/* more than the lanes can issue */

/*
 * Error injection (TDMA_FEATURE_INJECT; else these registers do not exist).
 * INJECT arms it, last: it strikes the first descriptor of the thread that has
 * a request for that element on that side, and reads NONE again afterwards.
 */
#define TDMA_INJECT_NONE		0
#define TDMA_INJECT_BUS_ERROR		1	/* memory refuses the access */
#define TDMA_INJECT_POISON		2	/* the read response is poisoned */
#define TDMA_INJECT_UNKNOWN_ID		3	/* a response with a stray ID */
#define TDMA_INJECT_DUPLICATE_ID	4	/* the response comes twice */
#define TDMA_INJECT_LOST_RESPONSE	5	/* it never comes: the queue hangs */

/* Counters of a sub-thread, 64 bits each, from TDMA_THREAD_*_COUNTERS (A20) */
#define TDMA_COUNTER_REQUESTS		0x00
#define TDMA_COUNTER_STALL_BACKPRESSURE	0x08
#define TDMA_COUNTER_STALL_THROTTLE	0x10
#define TDMA_COUNTER_STALL_IDS		0x18
#define TDMA_COUNTER_STALL_HAZARD	0x20
#define TDMA_COUNTER_PIPELINE_FILL	0x28
#define TDMA_COUNTER_OUTSTANDING_MAX	0x30

/*
 * Sync flags, offsets from the flag's block (B20). A descriptor of context 0
 * may update any flag; one of another context only flags with PUBLIC set.
 */
#define TDMA_SYNC_VALUE		0x00	/* rw: elements moved, modulo 2^32 */
#define TDMA_SYNC_CONTROL	0x04	/* rw: TDMA_SYNC_DONE, TDMA_SYNC_PUBLIC */

#define TDMA_SYNC_DONE		(1U << 0)	/* a descriptor ended well */
#define TDMA_SYNC_PUBLIC	(1U << 1)	/* enable_public_access */

/* Context registers, offsets from the context's block */
#define TDMA_CONTEXT_TABLE	0x00	/* rw, 64 bit: bus address of segments */
#define TDMA_CONTEXT_COUNT	0x08	/* rw: entries; 0 = no access at all */

/*
 * Queue registers, offsets from the queue's block. The fields above CONTROL
 * may be written only while the queue is disabled. Indices count slots (a
 * descriptor with an extension block takes two) and run freely modulo 2^32;
 * the place in the ring is the index modulo the ring size. The completion
 * record of the descriptor at index i is entry (i modulo ring size) of the
 * record array.
 */
#define TDMA_QUEUE_RING		0x00	/* rw, 64 bit: bus address, 256-aligned */
#define TDMA_QUEUE_RECORDS	0x08	/* rw, 64 bit: bus address, 64-aligned */
#define TDMA_QUEUE_TAIL_ADDR	0x10	/* rw, 64 bit: tail in memory, 4-aligned;
					 * 0 = the doorbell's value is the tail
					 */
#define TDMA_QUEUE_RING_ORDER	0x18	/* rw: log2 of slots, 1..RING_ORDER */
#define TDMA_QUEUE_CONTEXT	0x1c	/* rw: context of the segments */
#define TDMA_QUEUE_VECTOR	0x20	/* rw: MSI-X vector */
#define TDMA_QUEUE_THREAD	0x24	/* rw: thread, or TDMA_THREAD_ANY */
#define TDMA_QUEUE_PRIORITY	0x28	/* rw: 0 (lowest) .. 7 */
#define TDMA_QUEUE_POLICY	0x2c	/* rw: TDMA_POLICY_* */
#define TDMA_QUEUE_CONTROL	0x40	/* rw: TDMA_QCTL_* */
#define TDMA_QUEUE_STATE	0x44	/* ro: TDMA_QSTATE_* */
#define TDMA_QUEUE_HEAD		0x48	/* ro: next slot to be fetched */
#define TDMA_QUEUE_TAIL		0x4c	/* ro: tail last seen */
#define TDMA_QUEUE_DONE		0x50	/* ro: slots retired; records are final */
#define TDMA_QUEUE_ERROR	0x54	/* ro: TDMA_QERR_* */
#define TDMA_QUEUE_IRQ_STATUS	0x58	/* rc: interrupt raised since clear */
#define TDMA_QUEUE_WAIT		0x5c	/* ro: TDMA_QWAIT_* */
#define TDMA_QUEUE_PROGRESS	0x60	/* ro, 64 bit: elements moved since
					 * ENABLE, of all descriptors
					 */

#define TDMA_THREAD_ANY		0xffffffffU

/* what the queue does after a descriptor ends in error */
#define TDMA_POLICY_CONTINUE	0	/* run the next descriptor */
#define TDMA_POLICY_HALT	1	/* halt; the next ones wait */

/*
 * ENABLE: 0 -> 1 starts at head = tail = done = 0; 1 -> 0 aborts what runs
 * and drops what waits; complete when STATE is OFF. With a bad register value
 * the queue stays off, the bit reads 0 and QUEUE_ERROR is CONFIG. 0 -> 1 is
 * ignored until STATE is OFF.
 * PAUSE: stops between bounded quanta; complete when STATE is PAUSED.
 * ABORT (write 1, reads 0): every descriptor up to the tail ends ABORTED; works
 * while paused or halted, too. Complete when DONE has reached the tail.
 * RESUME (write 1, reads 0): leaves HALTED and clears QUEUE_ERROR.
 *
 * The interrupt is raised for a descriptor that asks for it, for every one
 * that does not end OK, and when the queue halts.
 */
#define TDMA_QCTL_ENABLE	(1U << 0)
#define TDMA_QCTL_PAUSE		(1U << 1)
#define TDMA_QCTL_ABORT		(1U << 2)
#define TDMA_QCTL_RESUME	(1U << 3)

#define TDMA_QSTATE_OFF		0	/* disabled, nothing in flight */
#define TDMA_QSTATE_IDLE	1	/* enabled, nothing to do */
#define TDMA_QSTATE_RUNNING	2
#define TDMA_QSTATE_STOPPING	3	/* on the way to OFF or PAUSED */
#define TDMA_QSTATE_PAUSED	4
#define TDMA_QSTATE_HALTED	5	/* after an error; see QUEUE_ERROR */

/*
 * What the work of the queue waits for at this moment. A queue that hangs shows
 * MEMORY and the same PROGRESS and DONE at every look; one that is paused,
 * throttled or kept from the thread by others never does.
 */
#define TDMA_QWAIT_NONE		0	/* there is none, or it is paused */
#define TDMA_QWAIT_TURN		1	/* for its turn, or not: it moves */
#define TDMA_QWAIT_MEMORY	2	/* for a response to its oldest request */

#define TDMA_QERR_NONE		0
#define TDMA_QERR_CONFIG	1	/* a register value out of range or unaligned */
#define TDMA_QERR_RING		2	/* the ring could not be read */
#define TDMA_QERR_RECORD	3	/* a record could not be written */
#define TDMA_QERR_TAIL		4	/* tail further ahead than the ring is long */
#define TDMA_QERR_JOB		5	/* policy HALT: a descriptor failed */

#endif /* _LINUX_TENSORDMA_REGS_H */
