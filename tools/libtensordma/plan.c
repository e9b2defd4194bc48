// SPDX-License-Identifier: MIT
/* Plans: descriptors, and the memory that they name. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "machine.h"
#include "plan.h"
#include "dma/tdma_check.h"

#define MOST_DESCRIPTORS	(1UL << 20)
#define MOST_MEMORIES	256

struct tensordma_plan *tensordma_plan_new(struct tensordma *machine)
{
	struct tensordma_plan *plan = calloc(1, sizeof(*plan));

	if (!plan)
		return NULL;
	plan->machine = machine;
	plan->max_elem = machine->info.max_elem_bytes;
	plan->memories = calloc(MOST_MEMORIES, sizeof(*plan->memories));
	if (!plan->memories) {
		free(plan);
		return NULL;
	}
	return plan;
}

static void forget_memories(struct tensordma_plan *plan, size_t count)
{
	while (plan->memory_count > count) {
		struct tdl_memory *m = &plan->memories[--plan->memory_count];

		if (m->owned)
			free(m->addr);
		memset(m, 0, sizeof(*m));
	}
}

void tensordma_plan_free(struct tensordma_plan *plan)
{
	if (!plan)
		return;
	forget_memories(plan, 0);
	free(plan->memories);
	free(plan->slots);
	free(plan);
}

int tensordma_plan_set_max_elem(struct tensordma_plan *plan, size_t bytes)
{
	size_t most = plan->machine->info.max_elem_bytes;

	if (bytes > most)
		return -EINVAL;
	plan->max_elem = bytes ? bytes : most;
	return 0;
}

size_t tensordma_plan_count(const struct tensordma_plan *plan)
{
	return plan->count;
}

uint64_t tensordma_plan_bytes(const struct tensordma_plan *plan)
{
	return plan->bytes;
}

int tensordma_plan_get(const struct tensordma_plan *plan, size_t index,
		       const struct tdma_desc **desc,
		       const struct tdma_desc_ext **ext)
{
	const struct tdl_slot *slot = &plan->slots[index];

	if (index >= plan->count)
		return -ENOENT;
	*desc = &slot->desc;
	*ext = slot->desc.flags & TDMA_DESC_EXT ? &slot->ext : NULL;
	return 0;
}

int tensordma_plan_memory(const struct tensordma_plan *plan, size_t index,
			  struct tensordma_memory *memory)
{
	if (index >= plan->memory_count)
		return -ENOENT;
	memory->data = plan->memories[index].addr;
	memory->length = plan->memories[index].length;
	return 0;
}

/*
 * Operations
 */

struct tdl_operation tdl_begin(struct tensordma_plan *plan,
			       struct tensordma_error *err)
{
	return (struct tdl_operation) {
		.plan = plan,
		.err = err,
		.count = plan->count,
		.memory_count = plan->memory_count,
		.bytes = plan->bytes,
	};
}

/* What is read or written by descriptors [from, to) of a plan */
struct uses {
	bool read[MOST_MEMORIES];
	bool written[MOST_MEMORIES];
};

static void collect(const struct tensordma_plan *plan, size_t from, size_t to,
		    struct uses *uses)
{
	memset(uses, 0, sizeof(*uses));
	for (size_t i = from; i < to; i++) {
		const struct tdma_desc *d = &plan->slots[i].desc;
		const struct tdma_opcode_traits *op =
			tdma_opcode_traits(d->opcode);

		if (op && op->side[TDL_SRC])
			uses->read[d->src_segment] = true;
		if (op && op->side[TDL_DST])
			uses->written[d->dst_segment] = true;
	}
}

static bool overlap(const struct tdl_memory *a, const struct tdl_memory *b)
{
	return (uintptr_t)a->addr < (uintptr_t)b->addr + b->length &&
	       (uintptr_t)b->addr < (uintptr_t)a->addr + a->length;
}

static bool any_conflict(const struct tensordma_plan *plan,
			 const struct uses *before, const struct uses *now)
{
	for (size_t i = 0; i < plan->memory_count; i++)
		for (size_t j = 0; j < plan->memory_count; j++) {
			bool conflict = (before->written[i] &&
					 (now->read[j] || now->written[j])) ||
					(before->read[i] && now->written[j]);

			if (conflict && overlap(&plan->memories[i],
						&plan->memories[j]))
				return true;
		}
	return false;
}

/*
 * Descriptors are pipelined: one that needs what those before have written, or
 * writes what they read, has to wait for them. So has the first of all, for
 * those of other plans.
 */
static void order(struct tdl_operation *op)
{
	struct tensordma_plan *plan = op->plan;
	struct uses before, now;

	if (plan->count == op->count)
		return;
	collect(plan, 0, op->count, &before);
	collect(plan, op->count, plan->count, &now);
	if (!op->count || any_conflict(plan, &before, &now))
		plan->slots[op->count].desc.flags |= TDMA_DESC_FENCE;
	for (size_t i = 0; i < plan->memory_count; i++) {
		plan->memories[i].read |= now.read[i];
		plan->memories[i].written |= now.written[i];
	}
}

int tdl_end(struct tdl_operation *op, int ret)
{
	struct tensordma_plan *plan = op->plan;

	if (ret) {
		plan->count = op->count;
		plan->bytes = op->bytes;
		forget_memories(plan, op->memory_count);
		/* Not every cause has said more. */
		if (op->err && op->err->code != ret)
			tdl_fail(op->err, ret, "", TENSORDMA_NO_DIM, "%s",
				 strerror(-ret));
		return ret;
	}
	order(op);
	return 0;
}

int tdl_memory(struct tdl_operation *op, void *addr, size_t length)
{
	struct tensordma_plan *plan = op->plan;

	for (size_t i = 0; i < plan->memory_count; i++)
		if (plan->memories[i].addr == addr &&
		    plan->memories[i].length == length)
			return i;
	if (plan->memory_count == MOST_MEMORIES)
		return tdl_fail(op->err, -E2BIG, "memory", TENSORDMA_NO_DIM,
				"a plan names at most %d pieces of memory",
				MOST_MEMORIES);
	plan->memories[plan->memory_count] = (struct tdl_memory) {
		.addr = addr,
		.length = length,
	};
	return plan->memory_count++;
}

void *tdl_own_memory(struct tdl_operation *op, size_t length)
{
	void *memory = calloc(1, length);
	int number;

	if (!memory)
		return NULL;
	number = tdl_memory(op, memory, length);
	if (number < 0) {
		free(memory);
		return NULL;
	}
	op->plan->memories[number].owned = true;
	return memory;
}

/* The elements of a tensor as a destination, in the simplest form */
static void elements_of(const struct tensordma_tensor *t, struct tdl_nest *nest)
{
	int64_t elem = tensordma_dtype_bytes(t->dtype);

	*nest = (struct tdl_nest) { .opcode = TDMA_OP_MEMSET, .elem = elem };
	for (int i = t->ndim - 1; i >= 0; i--)
		tdl_nest_wrap(nest, t->shape[i], 0,
			      t->shape[i] == 1 ? 0 : t->strides[i] * elem);
	tdl_nest_simplify(nest);
}

int tdl_side(struct tdl_operation *op, struct tdl_nest *nest, int side,
	     const struct tensordma_tensor *t, int64_t shift)
{
	int64_t lo, hi;
	int ret = tensordma_range(t, &lo, &hi, op->err);

	if (ret)
		return ret;
	op->tensor[side] = t;
	if (lo == hi)
		return 0;
	if (!t->data)
		return tdl_fail(op->err, -EINVAL, "data", TENSORDMA_NO_DIM,
				"data is NULL");
	ret = tdl_memory(op, (char *)t->data + lo, hi - lo);
	if (ret < 0)
		return ret;
	nest->memory[side] = ret;
	nest->offset[side] = shift - lo;
	return 0;
}

int tdl_add_slot(struct tdl_operation *op, const struct tdma_desc *desc,
		 const struct tdma_desc_ext *ext)
{
	struct tensordma_plan *plan = op->plan;
	struct tdl_slot *slot;

	if (plan->count == MOST_DESCRIPTORS)
		return tdl_fail(op->err, -E2BIG, "", TENSORDMA_NO_DIM,
				"more than %lu descriptors", MOST_DESCRIPTORS);
	if (plan->count == plan->room) {
		size_t room = plan->room ? 2 * plan->room : 8;

		slot = realloc(plan->slots, room * sizeof(*slot));
		if (!slot)
			return -ENOMEM;
		plan->slots = slot;
		plan->room = room;
	}
	slot = &plan->slots[plan->count++];
	memset(slot, 0, sizeof(*slot));
	slot->desc = *desc;
	if (ext)
		slot->ext = *ext;
	return 0;
}

static int add_emitted(void *arg, const struct tdma_desc *desc,
		       const struct tdma_desc_ext *ext)
{
	return tdl_add_slot(arg, desc, ext);
}

/* Every element is written where it was read. */
static bool in_place(const struct tdl_nest *nest, int64_t gap)
{
	for (int i = 0; i < nest->ndims; i++)
		if (nest->dim[i].stride[TDL_SRC] !=
		    nest->dim[i].stride[TDL_DST])
			return false;
	return nest->offset[TDL_SRC] == nest->offset[TDL_DST] + gap;
}

static int check_overlap(struct tdl_operation *op, const struct tdl_nest *nest)
{
	const struct tdl_memory *memory = op->plan->memories;
	const struct tensordma_tensor *src = op->tensor[TDL_SRC];
	const struct tensordma_tensor *dst = op->tensor[TDL_DST];
	struct tdl_nest from, to;

	elements_of(dst, &to);
	if (tdl_nest_self_overlap(&to))
		return tdl_fail(op->err, -EINVAL, "strides", TENSORDMA_NO_DIM,
				"elements of the destination overlap");
	if (!tdl_nest_has_side(nest, TDL_SRC) ||
	    in_place(nest, (uintptr_t)memory[nest->memory[TDL_DST]].addr -
		     (uintptr_t)memory[nest->memory[TDL_SRC]].addr))
		return 0;
	elements_of(src, &from);
	if (tdl_nest_cross_overlap(&from, &to, (uintptr_t)dst->data -
				   (uintptr_t)src->data))
		return tdl_fail(op->err, -EINVAL, "data", TENSORDMA_NO_DIM,
				"source and destination overlap");
	return 0;
}

/* Sums of offsets and strides stay far from the end of 64 bits. */
static int check_bounds(struct tdl_operation *op, const struct tdl_nest *nest)
{
	const __int128 most = INT64_MAX / 2;
	__int128 lo, hi;

	for (int side = 0; side < 2; side++) {
		tdl_nest_bounds(nest, side, &lo, &hi);
		if (lo < -most || hi > most)
			return tdl_fail(op->err, -EOVERFLOW, "strides",
					TENSORDMA_NO_DIM,
					"%s: the walk leaves 64 bits", side ?
					"destination" : "source");
	}
	return 0;
}

static int explain_emit(struct tdl_operation *op, int ret)
{
	switch (ret) {
	case -EOPNOTSUPP:
		return tdl_fail(op->err, ret, "axes", TENSORDMA_NO_DIM,
				"more than %d padded dimensions",
				TDMA_MAX_AXES);
	case -EOVERFLOW:
		return tdl_fail(op->err, ret, "axes", TENSORDMA_NO_DIM,
				"a step along a padded dimension leaves 32 bits");
	case -E2BIG:
		return tdl_fail(op->err, ret, "", TENSORDMA_NO_DIM,
				"more than %lu descriptors", MOST_DESCRIPTORS);
	}
	return ret;
}

int tdl_add(struct tdl_operation *op, struct tdl_nest *nest)
{
	struct tensordma_plan *plan = op->plan;
	struct tdl_limits limits = {
		.dims = plan->machine->info.max_dims,
		.elem = plan->max_elem,
	};
	uint64_t elements, bytes;
	int ret;

	if (!tdl_nest_elements(nest, &elements) ||
	    __builtin_mul_overflow(elements, nest->elem, &bytes) ||
	    __builtin_add_overflow(bytes, plan->bytes, &plan->bytes))
		return tdl_fail(op->err, -EOVERFLOW, "shape", TENSORDMA_NO_DIM,
				"more bytes than 64 bits can count");
	if (!elements)
		return 0;
	ret = check_bounds(op, nest);
	if (ret)
		return ret;
	tdl_nest_simplify(nest);
	if (nest->naxes && !plan->machine->info.padding)
		return tdl_fail(op->err, -EOPNOTSUPP, "", TENSORDMA_NO_DIM,
				"this machine cannot pad");
	ret = check_overlap(op, nest);
	if (ret)
		return ret;
	return explain_emit(op, tdl_nest_emit(nest, &limits, add_emitted, op));
}

/*
 * The checks of the device
 */

static int refused(long index, const struct tdma_verdict *v,
		   struct tensordma_error *err)
{
	return tdl_fail_status(err, -EINVAL, index, v->status, v->field, v->dim,
			       v->side);
}

static bool check_sides(const struct tensordma_plan *plan,
			const struct tdl_slot *slot,
			const struct tdma_desc_ext *ext,
			const struct tdma_shape *shape, struct tdma_verdict *v)
{
	const struct tdma_desc *d = &slot->desc;
	const struct tdma_opcode_traits *op = tdma_opcode_traits(d->opcode);
	const uint32_t segment[2] = { d->src_segment, d->dst_segment };
	uint64_t lo, hi;

	for (unsigned int side = 0; side < 2; side++) {
		struct tdma_segment seg = {
			.space = TDMA_SPACE_HOST,
			.flags = TDMA_SEG_READ | TDMA_SEG_WRITE,
		};

		if (!op->side[side])
			continue;
		if (segment[side] < plan->memory_count)
			seg.length = plan->memories[segment[side]].length;
		if (!tdma_check_side(d, ext, shape, side, &seg, &lo, &hi, v))
			return false;
	}
	return true;
}

int tensordma_plan_check(const struct tensordma_plan *plan,
			 struct tensordma_error *err)
{
	const struct tensordma_info *info = &plan->machine->info;
	struct tdma_check_limits limits = {
		.dims = info->max_dims,
		.opcodes = info->opcodes,
		.types = info->types,
		.flags = info->padding ? TDMA_DESC_FLAGS :
					 TDMA_DESC_FLAGS & ~TDMA_DESC_EXT,
	};

	for (size_t i = 0; i < plan->count; i++) {
		const struct tdl_slot *slot = &plan->slots[i];
		const struct tdma_desc_ext *ext =
			slot->desc.flags & TDMA_DESC_EXT ? &slot->ext : NULL;
		struct tdma_verdict v;
		struct tdma_shape shape;

		if (!tdma_check_desc(&limits, &slot->desc, ext, &shape, &v) ||
		    !check_sides(plan, slot, ext, &shape, &v))
			return refused(i, &v, err);
	}
	return 0;
}
