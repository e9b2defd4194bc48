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

struct tdma_debugfs_thread;

/**
 * struct tdma_debugfs_op - what makes a file of a thread's directory
 * @name: its name
 * @features: what the device must have of %TDMA_FEATURE_*
 * @show: print the content; 0 or a negative errno
 * @write: obey what was written, at most %TDMA_DEBUGFS_TEXT - 1 characters
 *	without white space around; 0 or a negative errno
 */
struct tdma_debugfs_op {
	const char *name;
	u32 features;
	int (*show)(struct seq_file *seq, struct tdma_debugfs_thread *dir);
	int (*write)(struct tdma_debugfs_thread *dir, const char *text);
};

/**
 * struct tdma_debugfs_file - a file of a thread's directory
 * @dir: where it is
 * @op: what it does
 */
struct tdma_debugfs_file {
	struct tdma_debugfs_thread *dir;
	const struct tdma_debugfs_op *op;
};

#define TDMA_DEBUGFS_TEXT	48
#define TDMA_DEBUGFS_FILES	4

/**
 * struct tdma_debugfs_thread - a thread's directory
 * @tdev: the device
 * @thread: the thread
 * @trace: its trace ring
 * @files: its files, as in tdma_debugfs_ops
 */
struct tdma_debugfs_thread {
	struct tdma_device *tdev;
	u32 thread;
	struct tdma_tracering trace;
	struct tdma_debugfs_file files[TDMA_DEBUGFS_FILES];
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

static int counters_show(struct seq_file *seq, struct tdma_debugfs_thread *dir)
{
	const struct tdma_hw *hw = &dir->tdev->hw;
	unsigned int i;
	int ret;

	ret = tdma_debugfs_get(dir->tdev);
	if (ret)
		return ret;
	seq_printf(seq, "cycles %llu\n",
		   tdma_hw_thread_read64(hw, dir->thread, TDMA_THREAD_CYCLES));
	for (i = 0; i < ARRAY_SIZE(tdma_counters); i++)
		seq_printf(seq, "%s %llu %llu\n", tdma_counters[i].name,
			   tdma_hw_thread_read64(hw, dir->thread,
						 TDMA_THREAD_SRC_COUNTERS +
						 tdma_counters[i].offset),
			   tdma_hw_thread_read64(hw, dir->thread,
						 TDMA_THREAD_DST_COUNTERS +
						 tdma_counters[i].offset));
	tdma_debugfs_put(dir->tdev);
	return 0;
}

static int counters_write(struct tdma_debugfs_thread *dir, const char *text)
{
	int ret;

	ret = tdma_debugfs_get(dir->tdev);
	if (ret)
		return ret;
	tdma_counters_clear_hw(dir->tdev->counters, dir->thread);
	tdma_debugfs_put(dir->tdev);
	return 0;
}

static int throttle_show(struct seq_file *seq, struct tdma_debugfs_thread *dir)
{
	const struct tdma_hw *hw = &dir->tdev->hw;
	int ret;

	ret = tdma_debugfs_get(dir->tdev);
	if (ret)
		return ret;
	seq_printf(seq, "%u %u\n",
		   tdma_hw_thread_read(hw, dir->thread,
				       TDMA_THREAD_THROTTLE_WINDOW),
		   tdma_hw_thread_read(hw, dir->thread,
				       TDMA_THREAD_THROTTLE_BUDGET));
	tdma_debugfs_put(dir->tdev);
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

static int throttle_write(struct tdma_debugfs_thread *dir, const char *text)
{
	u32 window, budget;
	char end;
	int ret;

	if (sscanf(text, "%u %u%c", &window, &budget, &end) != 2)
		return -EINVAL;
	if (!throttle_ok(&dir->tdev->hw, window, budget))
		return -EINVAL;

	ret = tdma_debugfs_get(dir->tdev);
	if (ret)
		return ret;
	/* The write of WINDOW makes the pair take effect. */
	tdma_hw_thread_write(&dir->tdev->hw, dir->thread,
			     TDMA_THREAD_THROTTLE_BUDGET, budget);
	tdma_hw_thread_write(&dir->tdev->hw, dir->thread,
			     TDMA_THREAD_THROTTLE_WINDOW, window);
	tdma_debugfs_put(dir->tdev);
	return 0;
}

static int trace_enable_show(struct seq_file *seq,
			     struct tdma_debugfs_thread *dir)
{
	static const char * const states[] = {
		[TDMA_TRSTATE_OFF] = "off",
		[TDMA_TRSTATE_ON] = "on",
		[TDMA_TRSTATE_STOPPING] = "stopping",
		[TDMA_TRSTATE_CONFIG] = "config",
		[TDMA_TRSTATE_FAULT] = "fault",
	};
	struct tdma_tracering_info info;
	int ret;

	ret = tdma_tracering_info(&dir->trace, &info);
	if (ret)
		return ret;
	seq_printf(seq, "%s %u %#x %u %llu\n",
		   info.state < ARRAY_SIZE(states) ? states[info.state] : "?",
		   info.order, info.events, info.head, info.lost);
	return 0;
}

static int trace_enable_write(struct tdma_debugfs_thread *dir,
			      const char *text)
{
	u32 order, events = TDMA_TRACE_ALL;
	char end;
	int ret;

	ret = sscanf(text, "%u %i%c", &order, (int *)&events, &end);
	if (ret != 1 && ret != 2)
		return -EINVAL;
	if (!order && ret == 1)
		return tdma_tracering_stop(&dir->trace);
	return tdma_tracering_start(&dir->trace, order, events);
}

static int inject_show(struct seq_file *seq, struct tdma_debugfs_thread *dir)
{
	const struct tdma_hw *hw = &dir->tdev->hw;
	int ret;

	ret = tdma_debugfs_get(dir->tdev);
	if (ret)
		return ret;
	seq_printf(seq, "%u %u %llu\n",
		   tdma_hw_thread_read(hw, dir->thread, TDMA_THREAD_INJECT),
		   tdma_hw_thread_read(hw, dir->thread,
				       TDMA_THREAD_INJECT_SIDE),
		   tdma_hw_thread_read64(hw, dir->thread,
					 TDMA_THREAD_INJECT_ELEMENT));
	tdma_debugfs_put(dir->tdev);
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

static int inject_write(struct tdma_debugfs_thread *dir, const char *text)
{
	unsigned int kind, side;
	u64 element;
	char end;
	int ret;

	if (sscanf(text, "%u %u %llu%c", &kind, &side, &element,
		   &end) != 3 ||
	    kind > TDMA_INJECT_LOST_RESPONSE || side > 1)
		return -EINVAL;

	ret = tdma_debugfs_get(dir->tdev);
	if (ret)
		return ret;
	tdma_arm(&dir->tdev->hw, dir->thread, kind, side, element);
	tdma_debugfs_put(dir->tdev);
	return 0;
}

static const struct tdma_debugfs_op tdma_debugfs_ops[TDMA_DEBUGFS_FILES] = {
	{ "counters", 0, counters_show, counters_write },
	{ "throttle", 0, throttle_show, throttle_write },
	{ "trace_enable", TDMA_FEATURE_TRACE, trace_enable_show,
	  trace_enable_write },
	{ "inject", TDMA_FEATURE_INJECT, inject_show, inject_write },
};

static int tdma_debugfs_show(struct seq_file *seq, void *unused)
{
	const struct tdma_debugfs_file *file = seq->private;

	return file->op->show(seq, file->dir);
}

static int tdma_debugfs_open(struct inode *inode, struct file *filp)
{
	return single_open(filp, tdma_debugfs_show, inode->i_private);
}

static ssize_t tdma_debugfs_write(struct file *filp, const char __user *from,
				  size_t count, loff_t *pos)
{
	const struct seq_file *seq = filp->private_data;
	const struct tdma_debugfs_file *file = seq->private;
	char text[TDMA_DEBUGFS_TEXT] = "";

	if (count >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, from, count))
		return -EFAULT;
	return file->op->write(file->dir, strim(text)) ?: count;
}

static const struct file_operations tdma_debugfs_fops = {
	.owner = THIS_MODULE,
	.open = tdma_debugfs_open,
	.read = seq_read,
	.write = tdma_debugfs_write,
	.llseek = seq_lseek,
	.release = single_release,
};

static ssize_t trace_ring_read(struct file *filp, char __user *to,
			       size_t count, loff_t *pos)
{
	struct tdma_debugfs_thread *dir = filp->private_data;

	return tdma_tracering_read(&dir->trace, to, count);
}

static const struct file_operations tdma_trace_ring_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = trace_ring_read,
	.llseek = noop_llseek,
};

static void tdma_debugfs_thread(struct tdma_device *tdev,
				struct tdma_debugfs_thread *dir)
{
	struct dentry *dentry;
	char name[24];
	unsigned int i;

	snprintf(name, sizeof(name), "thread%u", dir->thread);
	dentry = debugfs_create_dir(name, tdev->debugfs);
	for (i = 0; i < ARRAY_SIZE(tdma_debugfs_ops); i++) {
		const struct tdma_debugfs_op *op = &tdma_debugfs_ops[i];

		if (op->features & ~tdev->hw.features)
			continue;
		dir->files[i].dir = dir;
		dir->files[i].op = op;
		debugfs_create_file(op->name, 0600, dentry, &dir->files[i],
				    &tdma_debugfs_fops);
	}
	if (tdev->hw.features & TDMA_FEATURE_TRACE)
		debugfs_create_file("trace_ring", 0400, dentry, dir,
				    &tdma_trace_ring_fops);
}

/**
 * tdma_debugfs_init - create the device's directory
 * @tdev: the device, running
 *
 * A failure is no reason not to have the device.
 */
void tdma_debugfs_init(struct tdma_device *tdev)
{
	struct tdma_debugfs_thread *dirs;
	u32 i;

	dirs = devm_kcalloc(&tdev->pdev->dev, tdev->hw.threads, sizeof(*dirs),
			    GFP_KERNEL);
	if (!dirs)
		return;
	tdev->debugfs_threads = dirs;
	tdev->debugfs = debugfs_create_dir(tdev->misc_name, NULL);
	for (i = 0; i < tdev->hw.threads; i++) {
		dirs[i].tdev = tdev;
		dirs[i].thread = i;
		tdma_tracering_init(&dirs[i].trace, tdev, i);
		tdma_debugfs_thread(tdev, &dirs[i]);
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
