/* SPDX-License-Identifier: MIT */
/* Plans, within the library. */
#ifndef TDL_PLAN_H
#define TDL_PLAN_H

#include "backend.h"
#include "nest.h"

/* Memory that descriptors of a plan name by its number */
struct tdl_memory {
	char *addr;
	size_t length;
	bool written;
	bool read;
	bool owned;		/* to be freed with the plan */
};

struct tensordma_plan {
	struct tensordma *machine;
	uint64_t max_elem;
	uint64_t bytes;
	struct tdl_slot *slots;
	size_t count;
	size_t room;
	struct tdl_memory *memories;
	size_t memory_count;
};

/*
 * One operation: begin, any number of nests, end. All is taken back if @ret,
 * what became of the nests, is not 0. Returns @ret.
 */
struct tdl_operation {
	struct tensordma_plan *plan;
	struct tensordma_error *err;
	const struct tensordma_tensor *tensor[2];	/* of the nest to come */
	size_t count;
	size_t memory_count;
	uint64_t bytes;
};

struct tdl_operation tdl_begin(struct tensordma_plan *plan,
			       struct tensordma_error *err);
int tdl_end(struct tdl_operation *op, int ret);

/*
 * Have the side of a nest be the memory of a tensor: its element 0 is that of
 * the nest, moved by @shift bytes.
 */
int tdl_side(struct tdl_operation *op, struct tdl_nest *nest, int side,
	     const struct tensordma_tensor *t, int64_t shift);
/* Memory by address; its number, or a negative errno */
int tdl_memory(struct tdl_operation *op, void *addr, size_t length);
/* Zeroed memory of the plan's own; NULL: there is none */
void *tdl_own_memory(struct tdl_operation *op, size_t length);
/* Simplify, check, and add the descriptors of a nest. */
int tdl_add(struct tdl_operation *op, struct tdl_nest *nest);
/* Add a descriptor as it is. */
int tdl_add_slot(struct tdl_operation *op, const struct tdma_desc *desc,
		 const struct tdma_desc_ext *ext);

#endif /* TDL_PLAN_H */
