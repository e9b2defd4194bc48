// SPDX-License-Identifier: GPL-2.0-only
/*
 * debugfs: what the DMA threads count, their throttle, and their trace.
 *
 *	/sys/kernel/debug/tensordmaN/threadM/counters
 *		cycles, then a line per counter: name, source, destination
 *		(A20). Writing anything clears them.
 *	/sys/kernel/debug/tensordmaN/threadM/throttle
 *		"WINDOW BUDGET": each side issues at most BUDGET requests per
 *		WINDOW cycles (A21). "0 0" is off, as after every reset. What
 *		cannot be is refused with EINVAL and changes nothing.
 *
 *	/sys/kernel/debug/tensordmaN/threadM/inject
 *		"KIND SIDE ELEMENT": the next descriptor of the thread that
 *		has this element on this side (0 source, 1 destination) meets
 *		with an error, %TDMA_INJECT_*. "0 0 0" takes it back. Only
 *		where the device has error injection.
 *
 *	/sys/kernel/debug/tensordmaN/threadM/trace_enable
 *		"ORDER EVENTS" begins a trace of the events in the mask EVENTS
 *		in a ring of 2^ORDER entries, ORDER alone one of all events; "0"
 *		ends it and forgets what has not been read. Shows state, order,
 *		mask, entries written and entries lost because it was full.
 *	/sys/kernel/debug/tensordmaN/threadM/trace_ring
 *		The entries, &struct tdma_trace_entry; each is read once.
 *
 * All fail with ENODEV while the device is being reset.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "tdma_counters.h"
#include "tdma_debugfs.h"
#include "tdma_device.h"
#include "tdma_tracering.h"

/**
 * struct tdma_debugfs_thread - what a file of a thread's directory is about
 * @tdev: the device
 * @thread: the thread
 * @trace: its trace ring
 */
struct tdma_debugfs_thread {
	struct tdma_device *tdev;
	u32 thread;
	struct tdma_tracering trace;
};

static const struct {
	const char *name;
	u32 offset;
} tdma_counters[] = {
	{ "requests", TDMA_COUNTER_REQUESTS },
	{ "stall_backpressure", TDMA_COUNTER_STALL_BACKPRESSURE },
	{ "stall_throttle", TDMA_COUNTER_STALL_THROTTLE },
	{ "stall_ids", TDMA_COUNTER_STALL_IDS },
	{ "stall_hazard", TDMA_COUNTER_STALL_HAZARD },
	{ "pipeline_fill", TDMA_COUNTER_PIPELINE_FILL },
	{ "outstanding_max", TDMA_COUNTER_OUTSTANDING_MAX },
};

/* Registers may be used until tdma_debugfs_put(). */
static int tdma_debugfs_get(struct tdma_device *tdev)
{
	down_read(&tdev->lock);
	if (tdev->state == TDMA_RUNNING)
		return 0;
	up_read(&tdev->lock);
	return -ENODEV;
}

static void tdma_debugfs_put(struct tdma_device *tdev)
{
	up_read(&tdev->lock);
}

static int counters_show(struct seq_file *seq, void *unused)
{
	const struct tdma_debugfs_thread *file = seq->private;
	const struct tdma_hw *hw = &file->tdev->hw;
	unsigned int i;
	int ret;

	ret = tdma_debugfs_get(file->tdev);
	if (ret)
		return ret;
	seq_printf(seq, "cycles %llu\n",
		   tdma_hw_thread_read64(hw, file->thread, TDMA_THREAD_CYCLES));
	for (i = 0; i < ARRAY_SIZE(tdma_counters); i++)
		seq_printf(seq, "%s %llu %llu\n", tdma_counters[i].name,
			   tdma_hw_thread_read64(hw, file->thread,
						 TDMA_THREAD_SRC_COUNTERS +
						 tdma_counters[i].offset),
			   tdma_hw_thread_read64(hw, file->thread,
						 TDMA_THREAD_DST_COUNTERS +
						 tdma_counters[i].offset));
	tdma_debugfs_put(file->tdev);
	return 0;
}

static ssize_t counters_write(struct file *filp, const char __user *from,
			      size_t count, loff_t *pos)
{
	const struct seq_file *seq = filp->private_data;
	const struct tdma_debugfs_thread *file = seq->private;
	int ret;

	ret = tdma_debugfs_get(file->tdev);
	if (ret)
		return ret;
	tdma_counters_clear_hw(file->tdev->counters, file->thread);
	tdma_debugfs_put(file->tdev);
	return count;
}

static int counters_open(struct inode *inode, struct file *filp)
{
	return single_open(filp, counters_show, inode->i_private);
}

static const struct file_operations tdma_counters_fops = {
	.owner = THIS_MODULE,
	.open = counters_open,
	.read = seq_read,
	.write = counters_write,
	.llseek = seq_lseek,
	.release = single_release,
};

static int throttle_show(struct seq_file *seq, void *unused)
{
	const struct tdma_debugfs_thread *file = seq->private;
	const struct tdma_hw *hw = &file->tdev->hw;
	int ret;

	ret = tdma_debugfs_get(file->tdev);
	if (ret)
		return ret;
	seq_printf(seq, "%u %u\n",
		   tdma_hw_thread_read(hw, file->thread,
				       TDMA_THREAD_THROTTLE_WINDOW),
		   tdma_hw_thread_read(hw, file->thread,
				       TDMA_THREAD_THROTTLE_BUDGET));
	tdma_debugfs_put(file->tdev);
	return 0;
}

/* The device's own rule: what it refuses would fail jobs until corrected. */
static bool throttle_ok(const struct tdma_hw *hw, u32 window, u32 budget)
{
	if (!window || !budget)
		return !window && !budget;
	return window <= TDMA_THROTTLE_WINDOW_MAX &&
	       budget <= (u64)window * hw->lanes;
}

static ssize_t throttle_write(struct file *filp, const char __user *from,
			      size_t count, loff_t *pos)
{
	const struct seq_file *seq = filp->private_data;
	const struct tdma_debugfs_thread *file = seq->private;
	u32 window, budget;
	char text[32] = "";
	char end;
	int ret;

	if (count >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, from, count))
		return -EFAULT;
	if (sscanf(strim(text), "%u %u%c", &window, &budget, &end) != 2)
		return -EINVAL;
	if (!throttle_ok(&file->tdev->hw, window, budget))
		return -EINVAL;

	ret = tdma_debugfs_get(file->tdev);
	if (ret)
		return ret;
	/* The write of WINDOW makes the pair take effect. */
	tdma_hw_thread_write(&file->tdev->hw, file->thread,
			     TDMA_THREAD_THROTTLE_BUDGET, budget);
	tdma_hw_thread_write(&file->tdev->hw, file->thread,
			     TDMA_THREAD_THROTTLE_WINDOW, window);
	tdma_debugfs_put(file->tdev);
	return count;
}

static int throttle_open(struct inode *inode, struct file *filp)
{
	return single_open(filp, throttle_show, inode->i_private);
}

static const struct file_operations tdma_throttle_fops = {
	.owner = THIS_MODULE,
	.open = throttle_open,
	.read = seq_read,
	.write = throttle_write,
	.llseek = seq_lseek,
	.release = single_release,
};

static int trace_enable_show(struct seq_file *seq, void *unused)
{
	static const char * const states[] = {
		[TDMA_TRSTATE_OFF] = "off",
		[TDMA_TRSTATE_ON] = "on",
		[TDMA_TRSTATE_STOPPING] = "stopping",
		[TDMA_TRSTATE_CONFIG] = "config",
		[TDMA_TRSTATE_FAULT] = "fault",
	};
	struct tdma_debugfs_thread *file = seq->private;
	struct tdma_tracering_info info;
	int ret;

	ret = tdma_tracering_info(&file->trace, &info);
	if (ret)
		return ret;
	seq_printf(seq, "%s %u %#x %u %llu\n",
		   info.state < ARRAY_SIZE(states) ? states[info.state] : "?",
		   info.order, info.events, info.head, info.lost);
	return 0;
}

static ssize_t trace_enable_write(struct file *filp, const char __user *from,
				  size_t count, loff_t *pos)
{
	const struct seq_file *seq = filp->private_data;
	struct tdma_debugfs_thread *file = seq->private;
	u32 order, events = TDMA_TRACE_ALL;
	char text[32] = "";
	char end;
	int ret;

	if (count >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, from, count))
		return -EFAULT;
	ret = sscanf(strim(text), "%u %i%c", &order, (int *)&events, &end);
	if (ret != 1 && ret != 2)
		return -EINVAL;
	if (!order && ret == 1)
		ret = tdma_tracering_stop(&file->trace);
	else
		ret = tdma_tracering_start(&file->trace, order, events);
	return ret ?: count;
}

static int trace_enable_open(struct inode *inode, struct file *filp)
{
	return single_open(filp, trace_enable_show, inode->i_private);
}

static const struct file_operations tdma_trace_enable_fops = {
	.owner = THIS_MODULE,
	.open = trace_enable_open,
	.read = seq_read,
	.write = trace_enable_write,
	.llseek = seq_lseek,
	.release = single_release,
};

static ssize_t trace_ring_read(struct file *filp, char __user *to,
			       size_t count, loff_t *pos)
{
	struct tdma_debugfs_thread *file = filp->private_data;

	return tdma_tracering_read(&file->trace, to, count);
}

static const struct file_operations tdma_trace_ring_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = trace_ring_read,
	.llseek = noop_llseek,
};

static int inject_show(struct seq_file *seq, void *unused)
{
	const struct tdma_debugfs_thread *file = seq->private;
	const struct tdma_hw *hw = &file->tdev->hw;
	int ret;

	ret = tdma_debugfs_get(file->tdev);
	if (ret)
		return ret;
	seq_printf(seq, "%u %u %llu\n",
		   tdma_hw_thread_read(hw, file->thread, TDMA_THREAD_INJECT),
		   tdma_hw_thread_read(hw, file->thread,
				       TDMA_THREAD_INJECT_SIDE),
		   tdma_hw_thread_read64(hw, file->thread,
					 TDMA_THREAD_INJECT_ELEMENT));
	tdma_debugfs_put(file->tdev);
	return 0;
}

static void tdma_arm(const struct tdma_hw *hw, u32 thread, u32 kind, u32 side,
		     u64 element)
{
	tdma_hw_thread_write(hw, thread, TDMA_THREAD_INJECT,
			     TDMA_INJECT_NONE);
	tdma_hw_thread_write(hw, thread, TDMA_THREAD_INJECT_SIDE, side);
	tdma_hw_thread_write(hw, thread, TDMA_THREAD_INJECT_ELEMENT,
			     lower_32_bits(element));
	tdma_hw_thread_write(hw, thread, TDMA_THREAD_INJECT_ELEMENT + 4,
			     upper_32_bits(element));
	tdma_hw_thread_write(hw, thread, TDMA_THREAD_INJECT, kind);
}

static ssize_t inject_write(struct file *filp, const char __user *from,
			    size_t count, loff_t *pos)
{
	const struct seq_file *seq = filp->private_data;
	const struct tdma_debugfs_thread *file = seq->private;
	unsigned int kind, side;
	char text[48] = "";
	u64 element;
	char end;
	int ret;

	if (count >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, from, count))
		return -EFAULT;
	if (sscanf(strim(text), "%u %u %llu%c", &kind, &side, &element,
		   &end) != 3 ||
	    kind > TDMA_INJECT_LOST_RESPONSE || side > 1)
		return -EINVAL;

	ret = tdma_debugfs_get(file->tdev);
	if (ret)
		return ret;
	tdma_arm(&file->tdev->hw, file->thread, kind, side, element);
	tdma_debugfs_put(file->tdev);
	return count;
}

static int inject_open(struct inode *inode, struct file *filp)
{
	return single_open(filp, inject_show, inode->i_private);
}

static const struct file_operations tdma_inject_fops = {
	.owner = THIS_MODULE,
	.open = inject_open,
	.read = seq_read,
	.write = inject_write,
	.llseek = seq_lseek,
	.release = single_release,
};

static void tdma_debugfs_thread(struct tdma_device *tdev,
				struct tdma_debugfs_thread *file)
{
	struct dentry *dir;
	char name[24];

	snprintf(name, sizeof(name), "thread%u", file->thread);
	dir = debugfs_create_dir(name, tdev->debugfs);
	debugfs_create_file("counters", 0600, dir, file, &tdma_counters_fops);
	debugfs_create_file("throttle", 0600, dir, file, &tdma_throttle_fops);
	if (!(tdev->hw.features & TDMA_FEATURE_TRACE))
		return;
	debugfs_create_file("trace_enable", 0600, dir, file,
			    &tdma_trace_enable_fops);
	debugfs_create_file("trace_ring", 0400, dir, file,
			    &tdma_trace_ring_fops);
	if (tdev->hw.features & TDMA_FEATURE_INJECT)
		debugfs_create_file("inject", 0600, dir, file,
				    &tdma_inject_fops);
}

/**
 * tdma_debugfs_init - create the device's directory
 * @tdev: the device, running
 *
 * A failure is no reason not to have the device.
 */
void tdma_debugfs_init(struct tdma_device *tdev)
{
	struct tdma_debugfs_thread *files;
	u32 i;

	files = devm_kcalloc(&tdev->pdev->dev, tdev->hw.threads, sizeof(*files),
			     GFP_KERNEL);
	if (!files)
		return;
	tdev->debugfs_threads = files;
	tdev->debugfs = debugfs_create_dir(tdev->misc_name, NULL);
	for (i = 0; i < tdev->hw.threads; i++) {
		files[i].tdev = tdev;
		files[i].thread = i;
		tdma_tracering_init(&files[i].trace, tdev, i);
		tdma_debugfs_thread(tdev, &files[i]);
	}
}

/**
 * tdma_debugfs_fini - remove the directory; returns when nobody is in a file
 * @tdev: the device
 *
 * Traces end with it.
 */
void tdma_debugfs_fini(struct tdma_device *tdev)
{
	u32 i;

	debugfs_remove_recursive(tdev->debugfs);
	tdev->debugfs = NULL;
	for (i = 0; tdev->debugfs_threads && i < tdev->hw.threads; i++)
		tdma_tracering_stop(&tdev->debugfs_threads[i].trace);
	tdev->debugfs_threads = NULL;
}
