// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf: the counters of the DMA threads as a PMU of their own.
 *
 *	perf stat -e tensordma0/src_requests/,tensordma0/cycles,threads=0x3/
 *
 * The counters are 64 bits wide, run freely and belong to the device, not to a
 * CPU or a task: events count for the whole system, on the CPU in cpumask, and
 * cannot sample.
 *
 * perf does not let a PMU go while it has events, and an event may stay open as
 * long as somebody likes. So a PMU is of the name tensordmaN, not of a device:
 * it is registered when that name is first used and stays until the module goes,
 * which it cannot while there are events. An event has a reference to the
 * counters of the device for which it was opened; when that is unbound they
 * stand still.
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/slab.h>

#include "tdma_counters.h"
#include "tdma_device.h"
#include "tdma_pmu.h"

/* attr.config; see tdma_pmu_formats. Event 0 is cycles, 1.. as tdma_counter */
#define TDMA_PMU_EVENT		GENMASK_ULL(7, 0)
#define TDMA_PMU_SIDE		BIT_ULL(8)
/* attr.config1: bit n = thread n; 0 = all */
#define TDMA_PMU_THREADS	GENMASK_ULL(TDMA_MAX_THREADS - 1, 0)

/**
 * struct tdma_pmu - the PMU of a name
 * @pmu: for perf
 * @node: in the CPU hotplug state
 * @list: in tdma_pmus
 * @index: N of its name
 * @name: tensordmaN
 * @cpu: where events count
 * @lock: protects @counters
 * @counters: of the device that has the name, or NULL
 */
struct tdma_pmu {
	struct pmu pmu;
	struct hlist_node node;
	struct list_head list;
	int index;
	char name[16];
	unsigned int cpu;
	spinlock_t lock;	/* @counters */
	struct tdma_counters *counters;
};

static DEFINE_MUTEX(tdma_pmus_lock);	/* tdma_pmus */
static LIST_HEAD(tdma_pmus);
static int tdma_pmu_cpuhp;

static struct tdma_pmu *to_tdma_pmu(struct pmu *pmu)
{
	return container_of(pmu, struct tdma_pmu, pmu);
}

/* ---- attributes ---- */

PMU_FORMAT_ATTR(event, "config:0-7");
PMU_FORMAT_ATTR(side, "config:8");
PMU_FORMAT_ATTR(threads, "config1:0-15");

static struct attribute *tdma_pmu_formats[] = {
	&format_attr_event.attr,
	&format_attr_side.attr,
	&format_attr_threads.attr,
	NULL
};

static const struct attribute_group tdma_pmu_format_group = {
	.name = "format",
	.attrs = tdma_pmu_formats,
};

PMU_EVENT_ATTR_STRING(cycles, tdma_cycles, "event=0x00");

PMU_EVENT_ATTR_STRING(src_requests, tdma_src_requests,
		      "event=0x01,side=0");
PMU_EVENT_ATTR_STRING(dst_requests, tdma_dst_requests,
		      "event=0x01,side=1");
PMU_EVENT_ATTR_STRING(src_stall_backpressure, tdma_src_stall_backpressure,
		      "event=0x02,side=0");
PMU_EVENT_ATTR_STRING(dst_stall_backpressure, tdma_dst_stall_backpressure,
		      "event=0x02,side=1");
PMU_EVENT_ATTR_STRING(src_stall_throttle, tdma_src_stall_throttle,
		      "event=0x03,side=0");
PMU_EVENT_ATTR_STRING(dst_stall_throttle, tdma_dst_stall_throttle,
		      "event=0x03,side=1");
PMU_EVENT_ATTR_STRING(src_stall_ids, tdma_src_stall_ids,
		      "event=0x04,side=0");
PMU_EVENT_ATTR_STRING(dst_stall_ids, tdma_dst_stall_ids,
		      "event=0x04,side=1");
PMU_EVENT_ATTR_STRING(src_stall_hazard, tdma_src_stall_hazard,
		      "event=0x05,side=0");
PMU_EVENT_ATTR_STRING(dst_stall_hazard, tdma_dst_stall_hazard,
		      "event=0x05,side=1");
PMU_EVENT_ATTR_STRING(src_pipeline_fill, tdma_src_pipeline_fill,
		      "event=0x06,side=0");
PMU_EVENT_ATTR_STRING(dst_pipeline_fill, tdma_dst_pipeline_fill,
		      "event=0x06,side=1");

static struct attribute *tdma_pmu_events[] = {
	&tdma_cycles.attr.attr,
	&tdma_src_requests.attr.attr,
	&tdma_dst_requests.attr.attr,
	&tdma_src_stall_backpressure.attr.attr,
	&tdma_dst_stall_backpressure.attr.attr,
	&tdma_src_stall_throttle.attr.attr,
	&tdma_dst_stall_throttle.attr.attr,
	&tdma_src_stall_ids.attr.attr,
	&tdma_dst_stall_ids.attr.attr,
	&tdma_src_stall_hazard.attr.attr,
	&tdma_dst_stall_hazard.attr.attr,
	&tdma_src_pipeline_fill.attr.attr,
	&tdma_dst_pipeline_fill.attr.attr,
	NULL
};

static const struct attribute_group tdma_pmu_event_group = {
	.name = "events",
	.attrs = tdma_pmu_events,
};

static ssize_t cpumask_show(struct device *dev, struct device_attribute *attr,
			    char *buf)
{
	struct tdma_pmu *pmu = to_tdma_pmu(dev_get_drvdata(dev));

	return sysfs_emit(buf, "%*pbl\n",
			  cpumask_pr_args(cpumask_of(READ_ONCE(pmu->cpu))));
}
static DEVICE_ATTR_RO(cpumask);

static struct attribute *tdma_pmu_attrs[] = {
	&dev_attr_cpumask.attr,
	NULL
};

static const struct attribute_group tdma_pmu_group = {
	.attrs = tdma_pmu_attrs,
};

static const struct attribute_group *tdma_pmu_groups[] = {
	&tdma_pmu_group,
	&tdma_pmu_event_group,
	&tdma_pmu_format_group,
	NULL
};

/* ---- events ---- */

static struct tdma_counters *tdma_pmu_counters(struct tdma_pmu *pmu)
{
	struct tdma_counters *counters;

	spin_lock(&pmu->lock);
	counters = pmu->counters;
	if (counters)
		tdma_counters_get(counters);
	spin_unlock(&pmu->lock);
	return counters;
}

static int tdma_event_check(const struct perf_event *event, u32 threads)
{
	u64 number = event->attr.config & TDMA_PMU_EVENT;

	if (event->attr.config & ~(TDMA_PMU_EVENT | TDMA_PMU_SIDE) ||
	    event->attr.config1 & ~GENMASK_ULL(threads - 1, 0) ||
	    event->attr.config2)
		return -EINVAL;
	if (number > TDMA_COUNTS)
		return -EINVAL;
	/* Cycles are the whole thread's. */
	return !number && event->attr.config & TDMA_PMU_SIDE ? -EINVAL : 0;
}

static void tdma_event_destroy(struct perf_event *event)
{
	tdma_counters_put(event->pmu_private);
}

static int tdma_event_init(struct perf_event *event)
{
	struct tdma_pmu *pmu = to_tdma_pmu(event->pmu);
	struct tdma_counters *counters;
	int ret;

	if (event->attr.type != event->pmu->type)
		return -ENOENT;
	if (is_sampling_event(event) || event->attach_state & PERF_ATTACH_TASK ||
	    event->cpu < 0)
		return -EINVAL;
	counters = tdma_pmu_counters(pmu);
	if (!counters)
		return -ENODEV;
	ret = tdma_event_check(event, counters->threads);
	if (ret) {
		tdma_counters_put(counters);
		return ret;
	}
	event->cpu = READ_ONCE(pmu->cpu);
	event->pmu_private = counters;
	event->destroy = tdma_event_destroy;
	return 0;
}

static u64 tdma_event_thread(struct perf_event *event, u32 thread)
{
	struct tdma_counters *counters = event->pmu_private;
	unsigned int number = event->attr.config & TDMA_PMU_EVENT;

	if (!number)
		return tdma_counters_cycles(counters, thread);
	return tdma_counters_side(counters, thread,
				  !!(event->attr.config & TDMA_PMU_SIDE),
				  number - 1);
}

static u64 tdma_event_value(struct perf_event *event)
{
	const struct tdma_counters *counters = event->pmu_private;
	u64 threads = event->attr.config1 ?: TDMA_PMU_THREADS;
	u64 sum = 0;
	u32 i;

	for (i = 0; i < counters->threads; i++)
		if (threads & BIT_ULL(i))
			sum += tdma_event_thread(event, i);
	return sum;
}

/* perf calls these on the event's CPU, with interrupts off. */

static void tdma_event_read(struct perf_event *event)
{
	u64 now = tdma_event_value(event);
	u64 before = local64_xchg(&event->hw.prev_count, now);

	local64_add(now - before, &event->count);
}

static void tdma_event_start(struct perf_event *event, int flags)
{
	local64_set(&event->hw.prev_count, tdma_event_value(event));
	event->hw.state = 0;
}

static void tdma_event_stop(struct perf_event *event, int flags)
{
	if (event->hw.state & PERF_HES_STOPPED)
		return;
	tdma_event_read(event);
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
}

static int tdma_event_add(struct perf_event *event, int flags)
{
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (flags & PERF_EF_START)
		tdma_event_start(event, flags);
	return 0;
}

static void tdma_event_del(struct perf_event *event, int flags)
{
	tdma_event_stop(event, PERF_EF_UPDATE);
}

/* ---- CPUs ---- */

static int tdma_pmu_online(unsigned int cpu, struct hlist_node *node)
{
	struct tdma_pmu *pmu = hlist_entry(node, struct tdma_pmu, node);

	/* The one that was chosen may have gone before anybody told us. */
	if (!cpu_online(pmu->cpu))
		WRITE_ONCE(pmu->cpu, cpu);
	return 0;
}

static int tdma_pmu_offline(unsigned int cpu, struct hlist_node *node)
{
	struct tdma_pmu *pmu = hlist_entry(node, struct tdma_pmu, node);
	unsigned int target;

	if (cpu != pmu->cpu)
		return 0;
	target = cpumask_any_but(cpu_online_mask, cpu);
	if (target >= nr_cpu_ids)
		return 0;
	perf_pmu_migrate_context(&pmu->pmu, cpu, target);
	WRITE_ONCE(pmu->cpu, target);
	return 0;
}

/* ---- life ---- */

static struct tdma_pmu *tdma_pmu_new(const struct tdma_device *tdev)
{
	struct tdma_pmu *pmu;

	pmu = kzalloc(sizeof(*pmu), GFP_KERNEL);
	if (!pmu)
		return NULL;
	spin_lock_init(&pmu->lock);
	pmu->index = tdev->index;
	strscpy(pmu->name, tdev->misc_name, sizeof(pmu->name));
	/* Whatever is on the first CPU for want of a choice is there already. */
	pmu->cpu = cpumask_last(cpu_online_mask);
	pmu->pmu = (struct pmu) {
		.module = THIS_MODULE,
		.attr_groups = tdma_pmu_groups,
		.capabilities = PERF_PMU_CAP_NO_INTERRUPT |
				PERF_PMU_CAP_NO_EXCLUDE,
		.task_ctx_nr = perf_invalid_context,
		.event_init = tdma_event_init,
		.add = tdma_event_add,
		.del = tdma_event_del,
		.start = tdma_event_start,
		.stop = tdma_event_stop,
		.read = tdma_event_read,
	};
	return pmu;
}

static int tdma_pmu_register(struct tdma_pmu *pmu)
{
	int ret;

	ret = perf_pmu_register(&pmu->pmu, pmu->name, -1);
	if (ret)
		return ret;
	ret = cpuhp_state_add_instance(tdma_pmu_cpuhp, &pmu->node);
	if (ret)
		perf_pmu_unregister(&pmu->pmu);
	return ret;
}

/* The PMU of a name, made if there is none, or NULL. */
static struct tdma_pmu *tdma_pmu_find(const struct tdma_device *tdev)
{
	struct tdma_pmu *pmu;

	lockdep_assert_held(&tdma_pmus_lock);
	list_for_each_entry(pmu, &tdma_pmus, list)
		if (pmu->index == tdev->index)
			return pmu;
	pmu = tdma_pmu_new(tdev);
	if (!pmu)
		return NULL;
	if (tdma_pmu_register(pmu)) {
		kfree(pmu);
		return NULL;
	}
	list_add(&pmu->list, &tdma_pmus);
	return pmu;
}

static void tdma_pmu_set(struct tdma_pmu *pmu, struct tdma_counters *counters)
{
	struct tdma_counters *before;

	spin_lock(&pmu->lock);
	before = pmu->counters;
	pmu->counters = counters;
	spin_unlock(&pmu->lock);
	tdma_counters_put(before);
}

/**
 * tdma_pmu_attach - events may be opened for a device
 * @tdev: the device, running
 *
 * A failure is no reason not to have the device.
 */
void tdma_pmu_attach(struct tdma_device *tdev)
{
	struct tdma_pmu *pmu;

	mutex_lock(&tdma_pmus_lock);
	pmu = tdma_pmu_find(tdev);
	if (pmu) {
		tdma_counters_get(tdev->counters);
		tdma_pmu_set(pmu, tdev->counters);
	}
	mutex_unlock(&tdma_pmus_lock);
	if (!pmu)
		dev_warn(&tdev->pdev->dev, "no counters for perf\n");
}

/**
 * tdma_pmu_detach - no more events for a device
 * @tdev: the device; it still has its name
 *
 * Events that are open stay, and count no more once the device is quiesced.
 */
void tdma_pmu_detach(struct tdma_device *tdev)
{
	struct tdma_pmu *pmu;

	mutex_lock(&tdma_pmus_lock);
	list_for_each_entry(pmu, &tdma_pmus, list)
		if (pmu->index == tdev->index)
			tdma_pmu_set(pmu, NULL);
	mutex_unlock(&tdma_pmus_lock);
}

/**
 * tdma_pmu_init - before the first device
 *
 * Return: 0 or a negative errno.
 */
int tdma_pmu_init(void)
{
	int ret;

	ret = cpuhp_setup_state_multi(CPUHP_AP_ONLINE_DYN,
				      "perf/tensordma:online", tdma_pmu_online,
				      tdma_pmu_offline);
	if (ret < 0)
		return ret;
	tdma_pmu_cpuhp = ret;
	return 0;
}

/**
 * tdma_pmu_exit - after the last device
 *
 * There are no events: each holds a reference to the module.
 */
void tdma_pmu_exit(void)
{
	struct tdma_pmu *pmu, *next;

	list_for_each_entry_safe(pmu, next, &tdma_pmus, list) {
		cpuhp_state_remove_instance_nocalls(tdma_pmu_cpuhp, &pmu->node);
		perf_pmu_unregister(&pmu->pmu);
		kfree(pmu);
	}
	cpuhp_remove_multi_state(tdma_pmu_cpuhp);
}
