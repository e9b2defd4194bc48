// SPDX-License-Identifier: MIT
/*
 * DLPack: the layouts of its interface (versions 0.8 and 1.1), in and out.
 * Packaged headers may be older, so the layouts are written down here.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "tensordma.h"

#define DLPACK_MAJOR	1
#define DLPACK_MINOR	1
#define FLAG_READ_ONLY	(1UL << 0)
#define DEVICE_CPU	1
#define DEVICE_CUDA_HOST	3

struct dl_device {
	int32_t type;
	int32_t id;
};

struct dl_dtype {
	uint8_t code;
	uint8_t bits;
	uint16_t lanes;
};

struct dl_tensor {
	void *data;
	struct dl_device device;
	int32_t ndim;
	struct dl_dtype dtype;
	int64_t *shape;
	int64_t *strides;
	uint64_t byte_offset;
};

struct DLManagedTensor {
	struct dl_tensor tensor;
	void *context;
	void (*deleter)(struct DLManagedTensor *self);
};

struct DLManagedTensorVersioned {
	uint32_t major;
	uint32_t minor;
	void *context;
	void (*deleter)(struct DLManagedTensorVersioned *self);
	uint64_t flags;
	struct dl_tensor tensor;
};

/* An export: one allocation */
struct export {
	struct DLManagedTensorVersioned managed;
	void (*release)(void *arg);
	void *arg;
	int64_t shape[TENSORDMA_MAX_DIMS];
	int64_t strides[TENSORDMA_MAX_DIMS];
};

static int import(struct tensordma_tensor *t, const struct dl_tensor *in,
		  struct tensordma_error *err)
{
	struct tensordma_dtype dtype = {
		in->dtype.code, in->dtype.bits, in->dtype.lanes,
	};
	uintptr_t at = (uintptr_t)in->data;

	if (in->device.type != DEVICE_CPU &&
	    in->device.type != DEVICE_CUDA_HOST)
		return tdl_fail(err, -EOPNOTSUPP, "device", TENSORDMA_NO_DIM,
				"memory of DLPack device type %d",
				in->device.type);
	if (in->ndim > 0 && !in->shape)
		return tdl_fail(err, -EINVAL, "shape", TENSORDMA_NO_DIM,
				"shape is NULL");
	if (__builtin_add_overflow(at, in->byte_offset, &at))
		return tdl_fail(err, -EOVERFLOW, "byte_offset",
				TENSORDMA_NO_DIM,
				"byte_offset leaves the address space");
	return tensordma_tensor_init(t, (void *)at, dtype, in->ndim, in->shape,
				     in->strides, err);
}

int tensordma_from_dlpack(struct tensordma_tensor *t,
			  const struct DLManagedTensorVersioned *in,
			  struct tensordma_error *err)
{
	if (in->major != DLPACK_MAJOR)
		return tdl_fail(err, -EOPNOTSUPP, "version", TENSORDMA_NO_DIM,
				"DLPack %u.%u, this is for %u.x", in->major,
				in->minor, DLPACK_MAJOR);
	return import(t, &in->tensor, err);
}

int tensordma_from_dlpack_unversioned(struct tensordma_tensor *t,
				      const struct DLManagedTensor *in,
				      struct tensordma_error *err)
{
	return import(t, &in->tensor, err);
}

static void delete(struct DLManagedTensorVersioned *self)
{
	struct export *e = self->context;

	if (e->release)
		e->release(e->arg);
	free(e);
}

struct DLManagedTensorVersioned *
tensordma_to_dlpack(const struct tensordma_tensor *t, bool read_only,
		    void (*release)(void *arg), void *arg)
{
	struct export *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->release = release;
	e->arg = arg;
	memcpy(e->shape, t->shape, sizeof(e->shape));
	memcpy(e->strides, t->strides, sizeof(e->strides));
	e->managed = (struct DLManagedTensorVersioned) {
		.major = DLPACK_MAJOR,
		.minor = DLPACK_MINOR,
		.context = e,
		.deleter = delete,
		.flags = read_only ? FLAG_READ_ONLY : 0,
		.tensor = {
			.data = tensordma_elements(t) ? t->data : NULL,
			.device = { DEVICE_CPU, 0 },
			.ndim = t->ndim,
			.dtype = { t->dtype.code, t->dtype.bits,
				   t->dtype.lanes },
			.shape = e->shape,
			.strides = e->strides,
		},
	};
	return &e->managed;
}
