// SPDX-License-Identifier: GPL-2.0-only
/*
 * sysfs: what the device is and how it fares, for those who do not want to take
 * a queue for the question. Documentation/ABI/testing/sysfs-driver-tensordma
 * says what each attribute means.
 *
 * The driver core adds the attributes after probe and removes them before
 * remove, waiting for readers: the device is there throughout. Registers are
 * left alone, so that they can be read during a reset as well.
 */
#include <linux/device.h>
#include <linux/genalloc.h>

#include "tdma_device.h"
#include "tdma_sysfs.h"

#define TDMA_HW_ATTR(_name, _member)					\
static ssize_t _name##_show(struct device *dev,				\
			    struct device_attribute *attr, char *buf)	\
{									\
	const struct tdma_device *tdev = dev_get_drvdata(dev);		\
									\
	return sysfs_emit(buf, "%u\n", tdev->hw._member);		\
}									\
static DEVICE_ATTR_RO(_name)

TDMA_HW_ATTR(contexts, contexts);
TDMA_HW_ATTR(lanes, lanes);
TDMA_HW_ATTR(max_dims, dims);
TDMA_HW_ATTR(queues, queues);
TDMA_HW_ATTR(request_ids, ids);
TDMA_HW_ATTR(threads, threads);

static ssize_t fidelity_show(struct device *dev, struct device_attribute *attr,
			     char *buf)
{
	const struct tdma_device *tdev = dev_get_drvdata(dev);

	return sysfs_emit(buf, "%s\n",
			  tdev->hw.features & TDMA_FEATURE_CYCLE ? "cycle" :
								   "fast");
}
static DEVICE_ATTR_RO(fidelity);

static ssize_t hbm_size_show(struct device *dev, struct device_attribute *attr,
			     char *buf)
{
	const struct tdma_device *tdev = dev_get_drvdata(dev);

	return sysfs_emit(buf, "%llu\n", tdev->hw.hbm_size);
}
static DEVICE_ATTR_RO(hbm_size);

static ssize_t hbm_free_show(struct device *dev, struct device_attribute *attr,
			     char *buf)
{
	const struct tdma_device *tdev = dev_get_drvdata(dev);

	return sysfs_emit(buf, "%zu\n", gen_pool_avail(tdev->hbm_pool));
}
static DEVICE_ATTR_RO(hbm_free);

static ssize_t open_files_show(struct device *dev,
			       struct device_attribute *attr, char *buf)
{
	struct tdma_device *tdev = dev_get_drvdata(dev);
	unsigned int files = 0;
	struct list_head *node;

	mutex_lock(&tdev->files_lock);
	list_for_each(node, &tdev->files)
		files++;
	mutex_unlock(&tdev->files_lock);
	return sysfs_emit(buf, "%u\n", files);
}
static DEVICE_ATTR_RO(open_files);

static ssize_t recoveries_show(struct device *dev,
			       struct device_attribute *attr, char *buf)
{
	const struct tdma_device *tdev = dev_get_drvdata(dev);

	return sysfs_emit(buf, "%u\n", atomic_read(&tdev->recoveries));
}
static DEVICE_ATTR_RO(recoveries);

static ssize_t resets_show(struct device *dev, struct device_attribute *attr,
			   char *buf)
{
	const struct tdma_device *tdev = dev_get_drvdata(dev);

	return sysfs_emit(buf, "%u\n", READ_ONCE(tdev->generation));
}
static DEVICE_ATTR_RO(resets);

static ssize_t state_show(struct device *dev, struct device_attribute *attr,
			  char *buf)
{
	static const char * const names[] = {
		[TDMA_RUNNING] = "running",
		[TDMA_RESETTING] = "resetting",
		[TDMA_GONE] = "gone",
	};
	const struct tdma_device *tdev = dev_get_drvdata(dev);

	/* Without the lock, which a reset holds for as long as it takes. */
	return sysfs_emit(buf, "%s\n", names[READ_ONCE(tdev->state)]);
}
static DEVICE_ATTR_RO(state);

static struct attribute *tdma_sysfs_attrs[] = {
	&dev_attr_contexts.attr,
	&dev_attr_fidelity.attr,
	&dev_attr_hbm_free.attr,
	&dev_attr_hbm_size.attr,
	&dev_attr_lanes.attr,
	&dev_attr_max_dims.attr,
	&dev_attr_open_files.attr,
	&dev_attr_queues.attr,
	&dev_attr_recoveries.attr,
	&dev_attr_request_ids.attr,
	&dev_attr_resets.attr,
	&dev_attr_state.attr,
	&dev_attr_threads.attr,
	NULL
};

static const struct attribute_group tdma_sysfs_group = {
	.attrs = tdma_sysfs_attrs,
};

const struct attribute_group *tdma_sysfs_groups[] = {
	&tdma_sysfs_group,
	NULL
};
