// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hardware layer: the registers of the tensor DMA function.
 */
#include <linux/errno.h>
#include <linux/iopoll.h>
#include <linux/log2.h>

#include "tdma_hw.h"

/*
 * The device stops within one bounded quantum; that is milliseconds, also
 * when it is emulated on a busy host. The limits are generous because what
 * follows a timeout is a reset of the whole function.
 */
#define TDMA_RESET_TIMEOUT_US	2000000
#define TDMA_OFF_TIMEOUT_US	5000000
#define TDMA_PAUSE_TIMEOUT_US	100000

static u32 tdma_global_read(const struct tdma_hw *hw, u32 reg)
{
	return readl(hw->regs + TDMA_GLOBAL_BASE + reg);
}

static void tdma_global_write(const struct tdma_hw *hw, u32 reg, u32 value)
{
	writel(value, hw->regs + TDMA_GLOBAL_BASE + reg);
}

static void __iomem *tdma_queue_reg(const struct tdma_hw *hw, u32 queue,
				    u32 reg)
{
	return hw->regs + TDMA_QUEUE_BASE + queue * TDMA_QUEUE_STRIDE + reg;
}

static void __iomem *tdma_thread_reg(const struct tdma_hw *hw, u32 thread,
				     u32 reg)
{
	return hw->regs + TDMA_THREAD_BASE + thread * TDMA_THREAD_STRIDE + reg;
}

/* Two 4-byte writes: not every architecture has an 8-byte one. */
static void tdma_write64(u64 value, void __iomem *addr)
{
	writel(lower_32_bits(value), addr);
	writel(upper_32_bits(value), addr + 4);
}

/* The counter may be running: read again if the upper half moved meanwhile. */
static u64 tdma_read64(void __iomem *addr)
{
	u32 high, low, next = readl(addr + 4);

	do {
		high = next;
		low = readl(addr);
		next = readl(addr + 4);
	} while (next != high);
	return (u64)high << 32 | low;
}

static bool tdma_hw_plausible(const struct tdma_hw *hw)
{
	return hw->threads && hw->threads <= TDMA_MAX_THREADS &&
	       hw->queues && hw->queues <= TDMA_MAX_QUEUES &&
	       hw->contexts && hw->contexts <= TDMA_MAX_CONTEXTS &&
	       hw->segments && hw->ring_order && hw->ring_order < 32 &&
	       hw->dims && hw->vectors;
}

/**
 * tdma_hw_init - identify the device and read its capabilities
 * @hw: filled in
 * @regs: mapping of BAR0
 *
 * Return: 0, or -ENODEV if this is not a device that the driver understands.
 */
int tdma_hw_init(struct tdma_hw *hw, void __iomem *regs)
{
	u32 major = TDMA_VERSION_VALUE >> 16;

	hw->regs = regs;
	if (tdma_global_read(hw, TDMA_REG_ID) != TDMA_ID_VALUE ||
	    tdma_global_read(hw, TDMA_REG_VERSION) >> 16 != major)
		return -ENODEV;

	hw->features = tdma_global_read(hw, TDMA_REG_FEATURES);
	hw->threads = tdma_global_read(hw, TDMA_REG_THREADS);
	hw->queues = tdma_global_read(hw, TDMA_REG_QUEUES);
	hw->contexts = tdma_global_read(hw, TDMA_REG_CONTEXTS);
	hw->segments = tdma_global_read(hw, TDMA_REG_SEGMENTS);
	hw->ring_order = tdma_global_read(hw, TDMA_REG_RING_ORDER);
	hw->dims = tdma_global_read(hw, TDMA_REG_DIMS);
	hw->lanes = tdma_global_read(hw, TDMA_REG_LANES);
	hw->ids = tdma_global_read(hw, TDMA_REG_IDS);
	hw->vectors = tdma_global_read(hw, TDMA_REG_VECTORS);
	hw->opcodes = tdma_global_read(hw, TDMA_REG_OPCODES);
	hw->types = tdma_global_read(hw, TDMA_REG_TYPES);
	hw->sync_flags = tdma_global_read(hw, TDMA_REG_SYNC_FLAGS);
	hw->hbm_size = tdma_global_read(hw, TDMA_REG_HBM_SIZE) |
		(u64)tdma_global_read(hw, TDMA_REG_HBM_SIZE + 4) << 32;
	return tdma_hw_plausible(hw) ? 0 : -ENODEV;
}

/**
 * tdma_hw_thread_read - read a register of a DMA thread
 * @hw: the device
 * @thread: the thread
 * @reg: TDMA_THREAD_*
 *
 * Return: its value.
 */
u32 tdma_hw_thread_read(const struct tdma_hw *hw, u32 thread, u32 reg)
{
	return readl(tdma_thread_reg(hw, thread, reg));
}

/**
 * tdma_hw_thread_read64 - read a 64-bit counter of a DMA thread
 * @hw: the device
 * @thread: the thread
 * @reg: TDMA_THREAD_*, TDMA_COUNTER_*
 *
 * Return: its value.
 */
u64 tdma_hw_thread_read64(const struct tdma_hw *hw, u32 thread, u32 reg)
{
	return tdma_read64(tdma_thread_reg(hw, thread, reg));
}

/**
 * tdma_hw_thread_write - write a register of a DMA thread
 * @hw: the device
 * @thread: the thread
 * @reg: TDMA_THREAD_*
 * @value: the value
 */
void tdma_hw_thread_write(const struct tdma_hw *hw, u32 thread, u32 reg,
			  u32 value)
{
	writel(value, tdma_thread_reg(hw, thread, reg));
}

/**
 * tdma_hw_trace_start - have a DMA thread write a trace
 * @hw: the device
 * @thread: the thread, whose trace is off
 * @ring: bus address of the ring
 * @order: log2 of its entries
 * @events: bit n: event n goes into it
 *
 * Return: 0, or -EIO if the device refuses.
 */
int tdma_hw_trace_start(const struct tdma_hw *hw, u32 thread, u64 ring,
			u32 order, u32 events)
{
	tdma_write64(ring, tdma_thread_reg(hw, thread, TDMA_THREAD_TRACE_BASE));
	tdma_hw_thread_write(hw, thread, TDMA_THREAD_TRACE_ORDER, order);
	tdma_hw_thread_write(hw, thread, TDMA_THREAD_TRACE_EVENTS, events);
	tdma_hw_thread_write(hw, thread, TDMA_THREAD_TRACE_CONTROL,
			     TDMA_TRCTL_ENABLE);
	return tdma_hw_thread_read(hw, thread, TDMA_THREAD_TRACE_STATE) ==
	       TDMA_TRSTATE_ON ? 0 : -EIO;
}

/**
 * tdma_hw_trace_stop - end the trace of a DMA thread; sleeps
 * @hw: the device
 * @thread: the thread
 *
 * Return: 0 if the ring is written no more, also if the device is gone, or
 * -ETIMEDOUT.
 */
int tdma_hw_trace_stop(const struct tdma_hw *hw, u32 thread)
{
	u32 state;

	tdma_hw_thread_write(hw, thread, TDMA_THREAD_TRACE_CONTROL, 0);
	return readl_poll_timeout(tdma_thread_reg(hw, thread,
						  TDMA_THREAD_TRACE_STATE),
				  state, state != TDMA_TRSTATE_STOPPING,
				  50, TDMA_OFF_TIMEOUT_US);
}

/**
 * tdma_hw_present - does the device still answer?
 * @hw: the device
 *
 * Return: false after surprise removal or while its BARs are disabled.
 */
bool tdma_hw_present(const struct tdma_hw *hw)
{
	return tdma_global_read(hw, TDMA_REG_ID) == TDMA_ID_VALUE;
}

/**
 * tdma_hw_generation - number of device resets since power-on
 * @hw: the device
 *
 * Return: the count, or %TDMA_HW_GONE.
 */
u32 tdma_hw_generation(const struct tdma_hw *hw)
{
	return tdma_global_read(hw, TDMA_REG_GENERATION);
}

/**
 * tdma_hw_enable - let queues run, or stop fetching altogether
 * @hw: the device
 * @enable: queues may run
 */
void tdma_hw_enable(const struct tdma_hw *hw, bool enable)
{
	tdma_global_write(hw, TDMA_REG_CONTROL,
			  enable ? TDMA_CONTROL_ENABLE : 0);
}

/**
 * tdma_hw_reset - bring the device to its power-on state
 * @hw: the device
 *
 * On success nothing of earlier descriptors moves any more.
 *
 * Return: 0, -ENODEV if the device is gone, -ETIMEDOUT if it hangs.
 */
int tdma_hw_reset(const struct tdma_hw *hw)
{
	u32 status;
	int ret;

	tdma_global_write(hw, TDMA_REG_CONTROL, TDMA_CONTROL_RESET);
	/* All ones has READY set: a device that is gone ends the wait too. */
	ret = readl_poll_timeout(hw->regs + TDMA_REG_STATUS, status,
				 status & TDMA_STATUS_REG_READY, 50,
				 TDMA_RESET_TIMEOUT_US);
	if (status == TDMA_HW_GONE)
		return -ENODEV;
	return ret;
}

/**
 * tdma_hw_context_set - point a context at its segment table
 * @hw: the device
 * @context: number of the context
 * @table: bus address of the table
 * @count: entries; 0 takes all access away
 */
void tdma_hw_context_set(const struct tdma_hw *hw, u32 context, u64 table,
			 u32 count)
{
	void __iomem *base = hw->regs + TDMA_CONTEXT_BASE +
			     context * TDMA_CONTEXT_STRIDE;

	/* No count while the address is half written. */
	writel(0, base + TDMA_CONTEXT_COUNT);
	tdma_write64(table, base + TDMA_CONTEXT_TABLE);
	writel(count, base + TDMA_CONTEXT_COUNT);
}

/**
 * tdma_hw_queue_enable - start a queue that is off, at index 0
 * @hw: the device
 * @queue: number of the queue
 * @config: its registers
 *
 * Return: 0, -ENODEV if the device is gone, -EIO if it refused.
 */
int tdma_hw_queue_enable(const struct tdma_hw *hw, u32 queue,
			 const struct tdma_hw_queue *config)
{
	u32 pause = config->paused ? TDMA_QCTL_PAUSE : 0;
	u32 state;

	tdma_write64(config->ring, tdma_queue_reg(hw, queue, TDMA_QUEUE_RING));
	tdma_write64(config->records,
		     tdma_queue_reg(hw, queue, TDMA_QUEUE_RECORDS));
	/* No tail in memory: the doorbell carries it. */
	tdma_write64(0, tdma_queue_reg(hw, queue, TDMA_QUEUE_TAIL_ADDR));
	writel(config->order, tdma_queue_reg(hw, queue, TDMA_QUEUE_RING_ORDER));
	writel(config->context, tdma_queue_reg(hw, queue, TDMA_QUEUE_CONTEXT));
	writel(config->vector, tdma_queue_reg(hw, queue, TDMA_QUEUE_VECTOR));
	writel(config->thread, tdma_queue_reg(hw, queue, TDMA_QUEUE_THREAD));
	writel(config->priority,
	       tdma_queue_reg(hw, queue, TDMA_QUEUE_PRIORITY));
	writel(TDMA_POLICY_CONTINUE,
	       tdma_queue_reg(hw, queue, TDMA_QUEUE_POLICY));
	writel(TDMA_QCTL_ENABLE | pause,
	       tdma_queue_reg(hw, queue, TDMA_QUEUE_CONTROL));

	state = tdma_hw_queue_state(hw, queue);
	if (state == TDMA_HW_GONE)
		return -ENODEV;
	return state == (pause ? TDMA_QSTATE_PAUSED : TDMA_QSTATE_IDLE) ?
	       0 : -EIO;
}

/**
 * tdma_hw_queue_disable - abort what runs and drop what waits
 * @hw: the device
 * @queue: number of the queue
 *
 * Complete when tdma_hw_queue_wait_off() says so.
 */
void tdma_hw_queue_disable(const struct tdma_hw *hw, u32 queue)
{
	writel(0, tdma_queue_reg(hw, queue, TDMA_QUEUE_CONTROL));
}

/**
 * tdma_hw_queue_wait_off - sleep until a disabled queue has nothing in flight
 * @hw: the device
 * @queue: number of the queue
 *
 * Return: 0, also if the device is gone, or -ETIMEDOUT.
 */
int tdma_hw_queue_wait_off(const struct tdma_hw *hw, u32 queue)
{
	u32 state;

	return readl_poll_timeout(tdma_queue_reg(hw, queue, TDMA_QUEUE_STATE),
				  state,
				  state == TDMA_QSTATE_OFF ||
				  state == TDMA_HW_GONE,
				  50, TDMA_OFF_TIMEOUT_US);
}

/**
 * tdma_hw_queue_wait_done - sleep until a queue retires another slot
 * @hw: the device
 * @queue: number of the queue
 * @since: slots that it has retired so far
 *
 * Return: 0, also if the device is gone, or -ETIMEDOUT.
 */
int tdma_hw_queue_wait_done(const struct tdma_hw *hw, u32 queue, u32 since)
{
	u32 done;

	return readl_poll_timeout(tdma_queue_reg(hw, queue, TDMA_QUEUE_DONE),
				  done, done != since,
				  50, TDMA_OFF_TIMEOUT_US);
}

/**
 * tdma_hw_queue_state - what a queue is doing
 * @hw: the device
 * @queue: number of the queue
 *
 * Return: TDMA_QSTATE_*, or %TDMA_HW_GONE.
 */
u32 tdma_hw_queue_state(const struct tdma_hw *hw, u32 queue)
{
	return readl(tdma_queue_reg(hw, queue, TDMA_QUEUE_STATE));
}

/**
 * tdma_hw_queue_head - the slot that a queue fetches next
 * @hw: the device
 * @queue: number of the queue
 *
 * Return: its index, all ones if the device is gone.
 */
u32 tdma_hw_queue_head(const struct tdma_hw *hw, u32 queue)
{
	return readl(tdma_queue_reg(hw, queue, TDMA_QUEUE_HEAD));
}

/**
 * tdma_hw_queue_tail - the end of a queue's work, as the device knows it
 * @hw: the device
 * @queue: number of the queue
 *
 * Return: the index behind the last slot, all ones if the device is gone.
 */
u32 tdma_hw_queue_tail(const struct tdma_hw *hw, u32 queue)
{
	return readl(tdma_queue_reg(hw, queue, TDMA_QUEUE_TAIL));
}

/**
 * tdma_hw_queue_done - slots that a queue has retired
 * @hw: the device
 * @queue: number of the queue
 *
 * Return: the number since it was enabled, or %TDMA_HW_GONE.
 */
u32 tdma_hw_queue_done(const struct tdma_hw *hw, u32 queue)
{
	return readl(tdma_queue_reg(hw, queue, TDMA_QUEUE_DONE));
}

/**
 * tdma_hw_queue_waits - what the work of a queue waits for now
 * @hw: the device
 * @queue: number of the queue
 *
 * Return: TDMA_QWAIT_*, or %TDMA_HW_GONE.
 */
u32 tdma_hw_queue_waits(const struct tdma_hw *hw, u32 queue)
{
	return readl(tdma_queue_reg(hw, queue, TDMA_QUEUE_WAIT));
}

/**
 * tdma_hw_queue_progress - elements that a queue has moved
 * @hw: the device
 * @queue: number of the queue
 *
 * Return: the number since it was enabled.
 */
u64 tdma_hw_queue_progress(const struct tdma_hw *hw, u32 queue)
{
	return tdma_read64(tdma_queue_reg(hw, queue, TDMA_QUEUE_PROGRESS));
}

/**
 * tdma_hw_queue_error - why a queue halted
 * @hw: the device
 * @queue: number of the queue
 *
 * Return: TDMA_QERR_*, or %TDMA_HW_GONE.
 */
u32 tdma_hw_queue_error(const struct tdma_hw *hw, u32 queue)
{
	return readl(tdma_queue_reg(hw, queue, TDMA_QUEUE_ERROR));
}

/**
 * tdma_hw_queue_abort - end every descriptor up to the tail as ABORTED
 * @hw: the device
 * @queue: number of the queue, enabled
 *
 * Takes a pause back as well. The records tell when it is done.
 */
void tdma_hw_queue_abort(const struct tdma_hw *hw, u32 queue)
{
	writel(TDMA_QCTL_ENABLE | TDMA_QCTL_ABORT,
	       tdma_queue_reg(hw, queue, TDMA_QUEUE_CONTROL));
}

/**
 * tdma_hw_queue_settle - wait until an abort is over; in any context
 * @hw: the device
 * @queue: number of the queue, all of whose descriptors are retired
 */
void tdma_hw_queue_settle(const struct tdma_hw *hw, u32 queue)
{
	u32 state;

	readl_poll_timeout_atomic(tdma_queue_reg(hw, queue, TDMA_QUEUE_STATE),
				  state, state != TDMA_QSTATE_RUNNING,
				  10, TDMA_PAUSE_TIMEOUT_US);
}

/**
 * tdma_hw_queue_pause - stop between two quanta; may be called in any context
 * @hw: the device
 * @queue: number of the queue, enabled
 *
 * Return: 0, -ENODEV if the device is gone, -ETIMEDOUT.
 */
int tdma_hw_queue_pause(const struct tdma_hw *hw, u32 queue)
{
	u32 state;
	int ret;

	writel(TDMA_QCTL_ENABLE | TDMA_QCTL_PAUSE,
	       tdma_queue_reg(hw, queue, TDMA_QUEUE_CONTROL));
	ret = readl_poll_timeout_atomic(tdma_queue_reg(hw, queue,
						       TDMA_QUEUE_STATE),
					state, state == TDMA_QSTATE_PAUSED ||
					state == TDMA_HW_GONE,
					10, TDMA_PAUSE_TIMEOUT_US);
	if (state == TDMA_HW_GONE)
		return -ENODEV;
	return ret;
}

/**
 * tdma_hw_queue_unpause - go on after tdma_hw_queue_pause()
 * @hw: the device
 * @queue: number of the queue, enabled
 */
void tdma_hw_queue_unpause(const struct tdma_hw *hw, u32 queue)
{
	writel(TDMA_QCTL_ENABLE, tdma_queue_reg(hw, queue, TDMA_QUEUE_CONTROL));
}

/**
 * tdma_hw_doorbell - tell the device that descriptors up to @tail are there
 * @hw: the device
 * @queue: number of the queue
 * @tail: index after the last slot
 *
 * writel() orders the descriptors in coherent memory before the doorbell.
 */
void tdma_hw_doorbell(const struct tdma_hw *hw, u32 queue, u32 tail)
{
	writel(tail, hw->regs + TDMA_DOORBELL_BASE +
	       queue * TDMA_DOORBELL_STRIDE);
}
