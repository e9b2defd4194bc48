/* SPDX-License-Identifier: MIT */
/*
 * libtensordma: tensor moves for the tensordma engine.
 *
 * A program has tensors: shape, strides, number format. This library makes
 * descriptors of them, as few as possible, and has a machine carry them out:
 * the device node of the driver, or a simulator in the process itself.
 *
 *   tensordma_open()            a machine
 *   tensordma_tensor_init()     tensors, and views of them
 *   tensordma_plan_new()        what is to be done: a list of descriptors,
 *   tensordma_plan_copy() ...   to which each operation adds some
 *   tensordma_run()             carry it out; or tensordma_submit(), _wait()
 *
 * Conventions
 *  - Shapes and strides are outermost first; strides count elements, signed.
 *  - Functions return 0 or a negative errno. Where there is more to say it is
 *    in a struct tensordma_error, which may be NULL.
 *  - What fails changes nothing: a view is not written, a plan is as before.
 *  - Memory of tensors stays the caller's. It must live, and source memory
 *    must not change, until the job is over.
 *  - A machine, with its plans and jobs, is for one thread at a time.
 *    Different machines are independent. There are no threads inside.
 */
#ifndef TENSORDMA_H
#define TENSORDMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* Of this header; tensordma_version() tells that of the library. */
#define TENSORDMA_VERSION_MAJOR	1
#define TENSORDMA_VERSION_MINOR	0

/* Dimensions of a tensor, before anything is joined. */
#define TENSORDMA_MAX_DIMS	32
/* Bytes of an element that can be filled or padded with. */
#define TENSORDMA_MAX_FILL	16
/* Where no dimension is to blame. */
#define TENSORDMA_NO_DIM	(-1)

/* major << 16 | minor */
unsigned int tensordma_version(void);

/**
 * struct tensordma_error - what went wrong, and where
 * @code: negative errno, as returned
 * @field: what is at fault: "shape", "strides", "axes", "dtype", "property",
 *	or a field of a descriptor, "src_stride"; "" if nothing of that kind
 * @dim: dimension at fault, outermost first, or %TENSORDMA_NO_DIM
 * @descriptor: descriptor of the plan at fault, or -1
 * @status: &enum tdma_status of a descriptor, or 0
 * @message: one sentence
 */
struct tensordma_error {
	int code;
	char field[24];
	int dim;
	long descriptor;
	unsigned int status;
	char message[232];
};

/*
 * Number formats
 */

/* Type codes are those of DLPack. */
enum tensordma_code {
	TENSORDMA_INT		= 0,
	TENSORDMA_UINT		= 1,
	TENSORDMA_FLOAT		= 2,
	TENSORDMA_OPAQUE	= 3,	/* bits, whatever they mean */
	TENSORDMA_BFLOAT	= 4,
	TENSORDMA_COMPLEX	= 5,
	TENSORDMA_BOOL		= 6,
	TENSORDMA_F8_E3M4	= 7,
	TENSORDMA_F8_E4M3	= 8,
	TENSORDMA_F8_E4M3B11FNUZ = 9,
	TENSORDMA_F8_E4M3FN	= 10,
	TENSORDMA_F8_E4M3FNUZ	= 11,
	TENSORDMA_F8_E5M2	= 12,
	TENSORDMA_F8_E5M2FNUZ	= 13,
	TENSORDMA_F8_E8M0FNU	= 14,
};

/* As DLDataType: an element is @lanes times @bits. */
struct tensordma_dtype {
	uint8_t code;
	uint8_t bits;
	uint16_t lanes;
};

/* By name: "f32", "float32", "<f4", "bf16", "u8", "|V3", ... -EINVAL */
int tensordma_dtype_parse(const char *name, struct tensordma_dtype *dtype);
/* The short name: "f32". Text of a static table, or "?" for what has none. */
const char *tensordma_dtype_name(struct tensordma_dtype dtype);
/* Bytes of an element; 0 for what is no whole number of bytes. */
size_t tensordma_dtype_bytes(struct tensordma_dtype dtype);

/*
 * Tensors
 */

/**
 * struct tensordma_tensor - a view of memory
 * @data: where element (0, 0, ...) is
 * @dtype: number format
 * @ndim: dimensions, 0 = one element
 * @shape: elements per dimension, outermost first
 * @strides: elements from one to the next
 *
 * Strides of dimensions of one element, and of tensors without any, say
 * nothing.
 */
struct tensordma_tensor {
	void *data;
	struct tensordma_dtype dtype;
	int ndim;
	int64_t shape[TENSORDMA_MAX_DIMS];
	int64_t strides[TENSORDMA_MAX_DIMS];
};

/* @strides NULL: row major. -EINVAL, -EOVERFLOW, -EOPNOTSUPP (sub-byte) */
int tensordma_tensor_init(struct tensordma_tensor *t, void *data,
			  struct tensordma_dtype dtype, int ndim,
			  const int64_t *shape, const int64_t *strides,
			  struct tensordma_error *err);
/* Number of elements; of a valid tensor it fits. */
uint64_t tensordma_elements(const struct tensordma_tensor *t);
/* Bytes that elements lie in, from @data on: [*lo, *hi). Empty: both 0. */
int tensordma_range(const struct tensordma_tensor *t, int64_t *lo, int64_t *hi,
		    struct tensordma_error *err);

/* Views. @out may be @in. */

/* Dimension i of @out is dimension axes[i] of @in. */
int tensordma_permute(struct tensordma_tensor *out,
		      const struct tensordma_tensor *in, const int *axes,
		      struct tensordma_error *err);
/* Elements @start, @start + @step, ... of dimension @dim, @count of them */
int tensordma_slice(struct tensordma_tensor *out,
		    const struct tensordma_tensor *in, int dim, int64_t start,
		    int64_t count, int64_t step, struct tensordma_error *err);
/*
 * The same elements in row major order in another shape; one size may be -1.
 * -EXDEV if there is no such view: tensordma_plan_reshape() copies.
 */
int tensordma_reshape(struct tensordma_tensor *out,
		      const struct tensordma_tensor *in, int ndim,
		      const int64_t *shape, struct tensordma_error *err);
/* Repeat by NumPy's rules: new outer dimensions, sizes of 1 stretched. */
int tensordma_broadcast(struct tensordma_tensor *out,
			const struct tensordma_tensor *in, int ndim,
			const int64_t *shape, struct tensordma_error *err);

/*
 * DLPack, versions 0.x (unversioned) and 1.x
 */

struct DLManagedTensor;
struct DLManagedTensorVersioned;

/*
 * A view of a DLPack tensor in CPU memory, which stays the producer's; strides
 * of NULL are row major. -EOPNOTSUPP: other devices, later major versions,
 * formats that share bytes.
 */
int tensordma_from_dlpack(struct tensordma_tensor *t,
			  const struct DLManagedTensorVersioned *in,
			  struct tensordma_error *err);
int tensordma_from_dlpack_unversioned(struct tensordma_tensor *t,
				      const struct DLManagedTensor *in,
				      struct tensordma_error *err);
/*
 * A DLPack tensor (1.1) of a view. Strides are always given. Its deleter calls
 * @release(@arg), if there is one, and frees what was made here. NULL: no
 * memory.
 */
struct DLManagedTensorVersioned *
tensordma_to_dlpack(const struct tensordma_tensor *t, bool read_only,
		    void (*release)(void *arg), void *arg);

/*
 * Machines
 */

struct tensordma;

/**
 * struct tensordma_config - which machine
 * @backend: "sim", or the path of a device node; NULL: $TENSORDMA_BACKEND, or
 *	"sim"
 * @properties: of a simulated machine: "name=value", names as those of QEMU's
 *	device; NULL at the end. May be NULL
 */
struct tensordma_config {
	const char *backend;
	const char *const *properties;
};

/**
 * struct tensordma_info - what a machine can do
 * @backend: "sim" or the path
 * @cycle_accurate: it simulates every clock; if not known, false
 * @simulated: it is in this process
 * @max_dims: dimensions of a descriptor
 * @max_elem_bytes: largest element
 * @opcodes: bit n: opcode n
 * @types: bit n: accumulate type n
 * @padding: descriptors may have an extension block
 * @threads: DMA threads
 * @lanes: addresses per cycle and side
 * @request_ids: outstanding requests per side
 * @max_buffers: pieces of memory that can be registered at a time
 */
struct tensordma_info {
	const char *backend;
	bool cycle_accurate;
	bool simulated;
	unsigned int max_dims;
	unsigned int max_elem_bytes;
	unsigned int opcodes;
	unsigned int types;
	bool padding;
	unsigned int threads;
	unsigned int lanes;
	unsigned int request_ids;
	unsigned int max_buffers;
};

/* -EINVAL: a property; -ENOENT, -EACCES, -EBUSY, ...: the device file */
int tensordma_open(struct tensordma **machine,
		   const struct tensordma_config *config,
		   struct tensordma_error *err);
/* Waits for its jobs. Plans and jobs of it must not be used afterwards. */
void tensordma_close(struct tensordma *machine);
void tensordma_get_info(const struct tensordma *machine,
			struct tensordma_info *info);
/*
 * Property @index of a simulated machine: name, value, what it is. False past
 * the last one, and for a device.
 */
bool tensordma_property(const struct tensordma *machine, unsigned int index,
			const char **name, uint64_t *value, const char **text);

/*
 * Memory that many jobs use: have it pinned once. Without, each job pins what
 * it touches. Jobs notice by address.
 */
int tensordma_register(struct tensordma *machine, void *addr, size_t length,
		       bool writable, struct tensordma_error *err);
/* -ENOENT: no such memory; -EBUSY: a job uses it. */
int tensordma_unregister(struct tensordma *machine, void *addr);

/*
 * Plans: what is to be done, as descriptors. Operations of one plan follow each
 * other in order, each sees what those before have written.
 *
 * Errors of all operations: -EINVAL, -EOVERFLOW, -E2BIG (more than
 * 2^20 descriptors), -ENOMEM; -EOPNOTSUPP for what the machine lacks. Two
 * elements of a destination must not overlap, and source and destination must
 * not, unless they are the same: both are -EINVAL.
 */

struct tensordma_plan;

struct tensordma_plan *tensordma_plan_new(struct tensordma *machine);
void tensordma_plan_free(struct tensordma_plan *plan);

/*
 * Elements are at most so large, 0 = what the machine can (the default). Larger
 * ones need fewer addresses; smaller ones make finer progress.
 */
int tensordma_plan_set_max_elem(struct tensordma_plan *plan, size_t bytes);

/* dst = src, which is broadcast if need be. Formats must be of one size. */
int tensordma_plan_copy(struct tensordma_plan *plan,
			const struct tensordma_tensor *dst,
			const struct tensordma_tensor *src,
			struct tensordma_error *err);
/* dst = src, both in row major order of their own shapes */
int tensordma_plan_reshape(struct tensordma_plan *plan,
			   const struct tensordma_tensor *dst,
			   const struct tensordma_tensor *src,
			   struct tensordma_error *err);
/*
 * dst[i] = src[i - before], and the element at @value where there is none;
 * @value NULL: zero. Negative @before crops. What lies after src is as long as
 * dst says.
 */
int tensordma_plan_pad(struct tensordma_plan *plan,
		       const struct tensordma_tensor *dst,
		       const struct tensordma_tensor *src,
		       const int64_t *before, const void *value,
		       struct tensordma_error *err);

/**
 * struct tensordma_im2col - window of a convolution, [0] = height, [1] = width
 * @kernel: elements of the window
 * @stride: from window to window, at least 1
 * @dilation: within the window, at least 1
 * @pad_before: zeros ahead of the image
 * @pad_after: zeros behind it
 */
struct tensordma_im2col {
	int64_t kernel[2];
	int64_t stride[2];
	int64_t dilation[2];
	int64_t pad_before[2];
	int64_t pad_after[2];
};

/* Windows along each dimension; -EINVAL if there is none */
int tensordma_im2col_shape(const struct tensordma_im2col *p, int64_t height,
			   int64_t width, int64_t out[2],
			   struct tensordma_error *err);
/*
 * @src: (N, H, W, C); @dst: (N, OH, OW, KH, KW, C). Permuted views serve other
 * layouts.
 */
int tensordma_plan_im2col(struct tensordma_plan *plan,
			  const struct tensordma_tensor *dst,
			  const struct tensordma_tensor *src,
			  const struct tensordma_im2col *p,
			  struct tensordma_error *err);
/* dst = src[0], src[1], ... along @axis */
int tensordma_plan_concat(struct tensordma_plan *plan,
			  const struct tensordma_tensor *dst,
			  const struct tensordma_tensor *src, size_t count,
			  int axis, struct tensordma_error *err);
/*
 * Blocked layouts. @block[i] elements of dimension i lie together, 0 or 1: it
 * has no blocks. The tiled tensor has the dimensions of the plain one, counted
 * in blocks, rounded up, and behind them those of the blocks in the same order:
 * (35, 7) in blocks (16, 0) is (3, 7, 16). tile() fills what is beyond with
 * zeros, untile() leaves it out.
 */
int tensordma_plan_tile(struct tensordma_plan *plan,
			const struct tensordma_tensor *dst,
			const struct tensordma_tensor *src,
			const int64_t *block, struct tensordma_error *err);
int tensordma_plan_untile(struct tensordma_plan *plan,
			  const struct tensordma_tensor *dst,
			  const struct tensordma_tensor *src,
			  const int64_t *block, struct tensordma_error *err);
/* Shape of the tiled tensor; returns its dimensions, or a negative errno. */
int tensordma_tile_shape(const struct tensordma_tensor *t,
			 const int64_t *block, int64_t *shape,
			 struct tensordma_error *err);
/* dst = the element at @value */
int tensordma_plan_fill(struct tensordma_plan *plan,
			const struct tensordma_tensor *dst, const void *value,
			struct tensordma_error *err);
/* dst += src; formats i16, i32, f16, bf16, f32 */
int tensordma_plan_accumulate(struct tensordma_plan *plan,
			      const struct tensordma_tensor *dst,
			      const struct tensordma_tensor *src,
			      struct tensordma_error *err);

struct tdma_desc;
struct tdma_desc_ext;

/* The memory of a descriptor's side; offsets count from @data. */
struct tensordma_memory {
	void *data;
	size_t length;
};

/*
 * A descriptor of one's own, <linux/tensordma_desc.h>; segments are ignored.
 * @optimize: it may be replaced by others that do the same. Memory of a side
 * that the opcode does not have may be NULL.
 */
int tensordma_plan_desc(struct tensordma_plan *plan,
			const struct tdma_desc *desc,
			const struct tdma_desc_ext *ext,
			const struct tensordma_memory *dst,
			const struct tensordma_memory *src, bool optimize,
			struct tensordma_error *err);

/* What has become of it */
size_t tensordma_plan_count(const struct tensordma_plan *plan);
/* Bytes that will be moved, those filled in included */
uint64_t tensordma_plan_bytes(const struct tensordma_plan *plan);
/*
 * Descriptor @index; segments are numbers of tensordma_plan_memory(). *ext is
 * NULL if it has no extension block. -ENOENT past the last.
 */
int tensordma_plan_get(const struct tensordma_plan *plan, size_t index,
		       const struct tdma_desc **desc,
		       const struct tdma_desc_ext **ext);
/* -ENOENT past the last. Offset 0 is at @data. */
int tensordma_plan_memory(const struct tensordma_plan *plan, size_t index,
			  struct tensordma_memory *memory);
/* Ask the checks that the device makes, without moving anything. */
int tensordma_plan_check(const struct tensordma_plan *plan,
			 struct tensordma_error *err);

/*
 * Jobs
 */

struct tensordma_job;

/**
 * struct tensordma_status - how far a job is
 * @over: it is over, well or not
 * @error: 0, or the negative errno of the first descriptor that failed
 * @bytes_done: in memory and visible
 * @bytes_total: of the whole job
 * @cycles: engine cycles, of all its descriptors
 * @stall_backpressure: of these, stalled by the interconnect
 * @stall_throttle: ... by the throttle
 * @stall_ids: ... for want of request IDs
 */
struct tensordma_status {
	bool over;
	int error;
	uint64_t bytes_done;
	uint64_t bytes_total;
	uint64_t cycles;
	uint64_t stall_backpressure;
	uint64_t stall_throttle;
	uint64_t stall_ids;
};

/* Called from within tensordma_poll(), _wait(), _run(); must not call these. */
typedef void tensordma_progress_fn(void *arg,
				   const struct tensordma_status *status);

/*
 * Begin. Jobs of a machine run in order. The plan must live as long as the
 * job; it may be submitted any number of times. @progress may be NULL.
 */
int tensordma_submit(struct tensordma *machine, struct tensordma_plan *plan,
		     tensordma_progress_fn *progress, void *arg,
		     struct tensordma_job **job, struct tensordma_error *err);
/*
 * Have jobs come on, for at most @timeout_ns (0: do not sleep, -1: until the
 * oldest job is over). Returns the number of jobs that are not over.
 */
int tensordma_poll(struct tensordma *machine, int64_t timeout_ns);
/* -ETIMEDOUT; else what became of the job: 0 or a negative errno. */
int tensordma_wait(struct tensordma_job *job, int64_t timeout_ns,
		   struct tensordma_error *err);
void tensordma_job_status(const struct tensordma_job *job,
			  struct tensordma_status *status);
/* Waits for its end. */
void tensordma_job_free(struct tensordma_job *job);

/* Submit, wait, free; *status may be NULL. */
int tensordma_run(struct tensordma *machine, struct tensordma_plan *plan,
		  struct tensordma_status *status,
		  struct tensordma_error *err);

/* One operation, at once */
int tensordma_copy(struct tensordma *machine,
		   const struct tensordma_tensor *dst,
		   const struct tensordma_tensor *src,
		   struct tensordma_error *err);

struct tdma_trace_entry;

typedef void tensordma_trace_fn(void *arg,
				const struct tdma_trace_entry *entry);

/*
 * Have @fn called for @events (mask, <linux/tensordma_trace.h>) of all DMA
 * threads; 0: no more. -EOPNOTSUPP: this machine cannot.
 */
int tensordma_trace(struct tensordma *machine, unsigned int events,
		    tensordma_trace_fn *fn, void *arg);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* TENSORDMA_H */
