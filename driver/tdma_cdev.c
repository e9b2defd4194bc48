// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/tensordmaN: file operations and the table of ioctls.
 *
 * A handler gets a kernel copy of its structure, zero-extended to the current
 * size; it never sees the user pointer. What goes back is as much as the
 * caller's structure holds. Adding an ioctl is one row and one handler.
 */
#include <linux/capability.h>
#include <linux/dma-buf.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/sync_file.h>
#include <linux/uaccess.h>

#include "tdma_cdev.h"
#include "tdma_device.h"
#include "tdma_dmabuf.h"
#include "tdma_file.h"
#include "tdma_userq.h"

/**
 * struct tdma_call - an ioctl under way
 * @file: the file
 * @nonblock: it is O_NONBLOCK
 * @report: copy the structure back although the call failed
 * @arg: the kernel's copy of the structure
 * @given: open file to be installed as @given_fd, or NULL
 * @given_fd: reserved for it, or negative
 */
struct tdma_call {
	struct tdma_file *file;
	bool nonblock;
	bool report;
	void *arg;
	struct file *given;
	int given_fd;
};

/*
 * Give the caller an open file. It becomes visible when the number has reached
 * the caller's structure, so that a failure cannot leave it behind.
 */
static int tdma_call_reserve_fd(struct tdma_call *call)
{
	call->given_fd = get_unused_fd_flags(O_CLOEXEC);
	return min(call->given_fd, 0);
}

static void tdma_call_finish(struct tdma_call *call, bool good)
{
	if (good && call->given) {
		fd_install(call->given_fd, call->given);
		return;
	}
	if (call->given_fd >= 0)
		put_unused_fd(call->given_fd);
	if (call->given)
		fput(call->given);
}

static int tdma_ioc_query(struct tdma_call *call)
{
	struct tdma_file *file = call->file;
	const struct tdma_hw *hw = &file->tdev->hw;
	struct tdma_query *arg = call->arg;
	u32 size = arg->size;
	int ret;

	ret = tdma_file_begin(file);
	if (ret)
		return ret;
	*arg = (struct tdma_query) {
		.size = size,
		.uapi_version = TDMA_UAPI_VERSION,
		/* what this interface does not offer is not there */
		.features = hw->features & ~TDMA_FEATURE_SYNC_FLAGS,
		.max_dims = TDMA_MAX_DIMS,
		.max_elem_bytes = TDMA_MAX_ELEM_BYTES,
		.max_jobs = TDMA_FILE_MAX_JOBS,
		.opcodes = hw->opcodes,
		.types = hw->types,
		.threads = hw->threads,
		.lanes = hw->lanes,
		.request_ids = hw->ids,
		.max_buffers = file->ctx.count - 1,
		.hbm_bytes = hw->hbm_size,
		.reset_generation = tdma_hw_generation(hw),
		.queue_dims = hw->dims,
	};
	tdma_file_end(file);
	return 0;
}

/*
 * Publish a buffer; on failure it is gone. On success the caller has a
 * reference beside the handle's, which another thread may drop at any time.
 */
static int tdma_add_buffer(struct tdma_file *file, struct tdma_buffer *buf)
{
	int ret;

	if (IS_ERR(buf))
		return PTR_ERR(buf);
	tdma_buffer_get(buf);
	ret = tdma_file_begin(file);
	if (!ret) {
		ret = tdma_file_add_buffer(file, buf);
		tdma_file_end(file);
	}
	if (ret) {
		tdma_buffer_put(buf);
		tdma_buffer_put(buf);
	}
	return ret;
}

static bool tdma_access_valid(u32 access)
{
	return access && !(access & ~(TDMA_BUF_READ | TDMA_BUF_WRITE));
}

static int tdma_ioc_buf_pin(struct tdma_call *call)
{
	struct tdma_buf_pin *arg = call->arg;
	struct tdma_memory *mem;
	struct tdma_buffer *buf;
	int ret;

	if (!tdma_access_valid(arg->flags) || !arg->length || arg->reserved)
		return -EINVAL;
	mem = tdma_memory_pin(call->file->tdev, arg->addr, arg->length,
			      arg->flags);
	buf = tdma_buffer_new(&call->file->ctx, mem, arg->flags);
	ret = tdma_add_buffer(call->file, buf);
	if (ret)
		return ret;
	arg->handle = buf->handle;
	tdma_buffer_put(buf);
	return 0;
}

static int tdma_ioc_buf_alloc(struct tdma_call *call)
{
	struct tdma_buf_alloc *arg = call->arg;
	struct tdma_memory *mem;
	struct tdma_buffer *buf;
	int ret;

	if ((arg->space != TDMA_ALLOC_HBM && arg->space != TDMA_ALLOC_HOST) ||
	    !arg->length || arg->reserved)
		return -EINVAL;
	mem = tdma_memory_alloc(call->file->tdev, arg->space, arg->length);
	buf = tdma_buffer_new(&call->file->ctx, mem,
			      TDMA_BUF_READ | TDMA_BUF_WRITE);
	ret = tdma_add_buffer(call->file, buf);
	if (ret)
		return ret;
	arg->handle = buf->handle;
	arg->mmap_offset = tdma_buffer_mmap_offset(buf);
	tdma_buffer_put(buf);
	return 0;
}

static int tdma_ioc_buf_free(struct tdma_call *call)
{
	const struct tdma_buf_free *arg = call->arg;
	int ret;

	ret = tdma_file_begin(call->file);
	if (ret)
		return ret;
	tdma_file_end(call->file);
	return tdma_file_free_buffer(call->file, arg->handle);
}

static int tdma_ioc_buf_export(struct tdma_call *call)
{
	struct tdma_buf_export *arg = call->arg;
	struct dma_buf *dmabuf;
	int ret;

	if (!tdma_access_valid(arg->flags))
		return -EINVAL;
	ret = tdma_call_reserve_fd(call);
	if (ret)
		return ret;
	ret = tdma_file_begin(call->file);
	if (ret)
		return ret;
	dmabuf = tdma_file_export(call->file, arg->handle, arg->flags);
	tdma_file_end(call->file);
	if (IS_ERR(dmabuf))
		return PTR_ERR(dmabuf);
	call->given = dmabuf->file;
	arg->fd = call->given_fd;
	return 0;
}

static int tdma_ioc_buf_import(struct tdma_call *call)
{
	struct tdma_buf_import *arg = call->arg;
	struct tdma_memory *mem;
	struct tdma_buffer *buf;
	int ret;

	if (!tdma_access_valid(arg->flags))
		return -EINVAL;
	mem = tdma_dmabuf_import(call->file->tdev, arg->fd, arg->flags);
	buf = tdma_buffer_new(&call->file->ctx, mem, arg->flags);
	ret = tdma_add_buffer(call->file, buf);
	if (ret)
		return ret;
	arg->handle = buf->handle;
	arg->length = buf->segment.length;
	arg->mmap_offset = 0;
	if (buf->memory->kind != TDMA_MEMORY_IMPORTED)
		arg->mmap_offset = tdma_buffer_mmap_offset(buf);
	tdma_buffer_put(buf);
	return 0;
}

static int tdma_ioc_submit(struct tdma_call *call)
{
	struct tdma_submit *arg = call->arg;
	struct sync_file *fence = NULL;
	int ret;

	/* Nothing can fail once jobs run. */
	if (arg->flags & TDMA_SUBMIT_OUT_FENCE) {
		ret = tdma_call_reserve_fd(call);
		if (ret)
			return ret;
	}
	ret = tdma_file_submit(call->file, arg, call->nonblock, &fence);
	arg->out_fence = fence ? call->given_fd : -1;
	call->given = fence ? fence->file : NULL;
	call->report = ret < 0 && arg->error_status;
	return ret;
}

static int tdma_ioc_wait_many(struct tdma_call *call)
{
	int ret = tdma_file_wait_many(call->file, call->arg);

	call->report = ret == -ETIME || ret == -ENOENT;
	return ret;
}

static int tdma_ioc_eventfd(struct tdma_call *call)
{
	const struct tdma_eventfd *arg = call->arg;
	int ret;

	if (arg->flags || arg->reserved)
		return -EINVAL;
	ret = tdma_file_begin(call->file);
	if (ret)
		return ret;
	tdma_file_end(call->file);
	return tdma_file_set_eventfd(call->file, arg->fd);
}

static int tdma_ioc_wait(struct tdma_call *call)
{
	int ret = tdma_file_wait(call->file, call->arg);

	call->report = ret == -ETIME;
	return ret;
}

static int tdma_priority_check(const struct tdma_priority *arg)
{
	if (arg->flags & ~TDMA_PRIORITY_SET || arg->reserved ||
	    arg->priority > TDMA_PRIORITY_MAX)
		return -EINVAL;
	if (!(arg->flags & TDMA_PRIORITY_SET))
		return arg->priority ? -EINVAL : 0;
	if (arg->priority > TDMA_PRIORITY_DEFAULT && !capable(CAP_SYS_NICE))
		return -EPERM;
	return 0;
}

static int tdma_ioc_priority(struct tdma_call *call)
{
	struct tdma_priority *arg = call->arg;
	struct tdma_file *file = call->file;
	int ret;

	ret = tdma_priority_check(arg);
	if (ret)
		return ret;
	ret = tdma_file_begin(file);
	if (ret)
		return ret;
	if (arg->flags & TDMA_PRIORITY_SET)
		ret = tdma_file_set_priority(file, arg->priority);
	arg->priority = READ_ONCE(file->queue.hw.priority);
	tdma_file_end(file);
	if (!ret || ret == -EBUSY)
		return ret;
	tdma_device_reset(file->tdev, file->generation);
	return -ENODEV;
}

static int tdma_ioc_queue_create(struct tdma_call *call)
{
	int ret = tdma_file_begin(call->file);

	if (ret)
		return ret;
	ret = tdma_user_queue_create(call->file, call->arg);
	tdma_file_end(call->file);
	return ret;
}

static int tdma_ioc_queue_status(struct tdma_call *call)
{
	int ret = tdma_file_begin(call->file);

	if (ret)
		return ret;
	ret = tdma_user_queue_status(call->file, call->arg);
	tdma_file_end(call->file);
	return ret;
}

/**
 * struct tdma_op - an ioctl
 * @cmd: its number
 * @size: size of its structure
 * @min_size: what the first version of the structure had
 * @results: the structure goes back to the caller
 * @handler: carries it out
 */
struct tdma_op {
	unsigned int cmd;
	u32 size;
	u32 min_size;
	bool results;
	int (*handler)(struct tdma_call *call);
};

#define TDMA_OP(_cmd, _handler, _struct, _last, _results)		\
	[_IOC_NR(_cmd)] = {						\
		.cmd = (_cmd),						\
		.size = sizeof(struct _struct) +			\
			BUILD_BUG_ON_ZERO(offsetof(struct _struct, size)) + \
			BUILD_BUG_ON_ZERO(sizeof(struct _struct) <	\
					  _IOC_SIZE(_cmd)),		\
		.min_size = offsetofend(struct _struct, _last),		\
		.results = (_results),					\
		.handler = (_handler),					\
	}

static const struct tdma_op tdma_ops[] = {
	TDMA_OP(TDMA_IOC_QUERY, tdma_ioc_query, tdma_query, queue_dims,
		true),
	TDMA_OP(TDMA_IOC_BUF_PIN, tdma_ioc_buf_pin, tdma_buf_pin, reserved,
		true),
	TDMA_OP(TDMA_IOC_BUF_ALLOC, tdma_ioc_buf_alloc, tdma_buf_alloc,
		reserved, true),
	TDMA_OP(TDMA_IOC_BUF_FREE, tdma_ioc_buf_free, tdma_buf_free, handle,
		false),
	TDMA_OP(TDMA_IOC_SUBMIT, tdma_ioc_submit, tdma_submit, out_fence,
		true),
	TDMA_OP(TDMA_IOC_WAIT, tdma_ioc_wait, tdma_wait, record, true),
	TDMA_OP(TDMA_IOC_BUF_EXPORT, tdma_ioc_buf_export, tdma_buf_export, fd,
		true),
	TDMA_OP(TDMA_IOC_BUF_IMPORT, tdma_ioc_buf_import, tdma_buf_import,
		mmap_offset, true),
	TDMA_OP(TDMA_IOC_WAIT_MANY, tdma_ioc_wait_many, tdma_wait_many,
		reserved, true),
	TDMA_OP(TDMA_IOC_EVENTFD, tdma_ioc_eventfd, tdma_eventfd, reserved,
		false),
	TDMA_OP(TDMA_IOC_PRIORITY, tdma_ioc_priority, tdma_priority, reserved,
		true),
	TDMA_OP(TDMA_IOC_QUEUE_CREATE, tdma_ioc_queue_create,
		tdma_queue_create, reserved, true),
	TDMA_OP(TDMA_IOC_QUEUE_STATUS, tdma_ioc_queue_status,
		tdma_queue_status, done, true),
};

/* Large enough for the structure of every ioctl */
union tdma_arg {
	u32 size;
	struct tdma_query query;
	struct tdma_buf_pin pin;
	struct tdma_buf_alloc alloc;
	struct tdma_buf_free free;
	struct tdma_submit submit;
	struct tdma_wait wait;
	struct tdma_buf_export export;
	struct tdma_buf_import import;
	struct tdma_wait_many many;
	struct tdma_eventfd eventfd;
	struct tdma_priority priority;
	struct tdma_queue_create create;
	struct tdma_queue_status status;
};

/* The size is not part of an ioctl's identity: structures may grow. */
static const struct tdma_op *tdma_find_op(unsigned int cmd)
{
	const unsigned int size_bits = IOCSIZE_MASK;
	const struct tdma_op *op;

	if (_IOC_NR(cmd) >= ARRAY_SIZE(tdma_ops))
		return NULL;
	op = &tdma_ops[array_index_nospec(_IOC_NR(cmd), ARRAY_SIZE(tdma_ops))];
	return (op->cmd ^ cmd) & ~size_bits ? NULL : op;
}

static int tdma_copy_arg(const struct tdma_op *op, union tdma_arg *arg,
			 void __user *user, u32 *user_size)
{
	int ret;

	if (get_user(*user_size, (u32 __user *)user))
		return -EFAULT;
	if (*user_size < op->min_size)
		return -EINVAL;
	if (*user_size > PAGE_SIZE)
		return -E2BIG;
	ret = copy_struct_from_user(arg, op->size, user, *user_size);
	if (ret)
		return ret;
	/* Read twice: the first one counts. */
	arg->size = *user_size;
	/*
	 * A structure that cannot be written, be it in part, is found before
	 * anything has happened, not after.
	 */
	if (op->results && copy_to_user(user, arg, min(op->size, *user_size)))
		return -EFAULT;
	return 0;
}

static long tdma_cdev_ioctl(struct file *filp, unsigned int cmd,
			    unsigned long user)
{
	const struct tdma_op *op = tdma_find_op(cmd);
	union tdma_arg arg = { };
	struct tdma_call call = {
		.file = filp->private_data,
		.nonblock = filp->f_flags & O_NONBLOCK,
		.given_fd = -1,
		.arg = &arg,
	};
	u32 user_size;
	int ret;

	if (!op)
		return -ENOTTY;
	ret = tdma_copy_arg(op, &arg, (void __user *)user, &user_size);
	if (ret)
		return ret;
	ret = op->handler(&call);
	if (op->results && (!ret || call.report) &&
	    copy_to_user((void __user *)user, &arg, min(op->size, user_size)))
		ret = -EFAULT;
	tdma_call_finish(&call, !ret);
	return ret;
}

static int tdma_cdev_open(struct inode *inode, struct file *filp)
{
	struct tdma_device *tdev = container_of(filp->private_data,
						struct tdma_device, misc);
	struct tdma_file *file;

	/* The registration holds a reference, and open() keeps it there. */
	file = tdma_file_open(tdev, inode->i_mapping);
	if (IS_ERR(file))
		return PTR_ERR(file);
	filp->private_data = file;
	return nonseekable_open(inode, filp);
}

static int tdma_cdev_release(struct inode *inode, struct file *filp)
{
	tdma_file_close(filp->private_data);
	return 0;
}

static __poll_t tdma_cdev_poll(struct file *filp,
			       struct poll_table_struct *table)
{
	return tdma_file_poll(filp->private_data, filp, table);
}

static int tdma_cdev_mmap(struct file *filp, struct vm_area_struct *vma)
{
	return tdma_file_mmap(filp->private_data, vma);
}

static void tdma_cdev_show_fdinfo(struct seq_file *seq, struct file *filp)
{
	tdma_file_show(filp->private_data, seq);
}

static const struct file_operations tdma_cdev_fops = {
	.owner = THIS_MODULE,
	.open = tdma_cdev_open,
	.release = tdma_cdev_release,
	.unlocked_ioctl = tdma_cdev_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.poll = tdma_cdev_poll,
	.mmap = tdma_cdev_mmap,
	.show_fdinfo = tdma_cdev_show_fdinfo,
	.llseek = noop_llseek,
};

/**
 * tdma_cdev_register - make the device node
 * @tdev: the device
 *
 * Return: 0 or an error of misc_register().
 */
int tdma_cdev_register(struct tdma_device *tdev)
{
	tdev->misc = (struct miscdevice) {
		.minor = MISC_DYNAMIC_MINOR,
		.name = tdev->misc_name,
		.fops = &tdma_cdev_fops,
		.parent = &tdev->pdev->dev,
	};
	return misc_register(&tdev->misc);
}

/**
 * tdma_cdev_unregister - no more files from here on
 * @tdev: the device
 */
void tdma_cdev_unregister(struct tdma_device *tdev)
{
	misc_deregister(&tdev->misc);
}
