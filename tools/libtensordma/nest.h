/* SPDX-License-Identifier: MIT */
/*
 * Loop nests: what operations make and descriptors are made of. No limits of
 * any hardware, until tdl_nest_emit().
 */
#ifndef TDL_NEST_H
#define TDL_NEST_H

#include <linux/tensordma_desc.h>
#include "tensordma.h"

/* Every dimension may be split once by blocks and once by its size. */
#define TDL_NEST_DIMS	(4 * TENSORDMA_MAX_DIMS)
#define TDL_NEST_AXES	TENSORDMA_MAX_DIMS

#define TDL_SRC	0
#define TDL_DST	1
#define TDL_NO_AXIS	(-1)

/* A loop; by side: bytes per step, axis that it moves along, and how far */
struct tdl_dim {
	uint64_t size;
	int64_t stride[2];
	int axis[2];
	int64_t coef[2];
};

/* Coordinates below 0 and from @extent on are outside. */
struct tdl_axis {
	int side;
	int64_t start;
	uint64_t extent;
};

struct tdl_nest {
	unsigned int opcode;
	unsigned int type;		/* accumulate: &enum tdma_type */
	uint64_t elem;			/* bytes */
	unsigned int fill_bytes;	/* memset, padding */
	unsigned char fill[TENSORDMA_MAX_FILL];
	int ndims;
	struct tdl_dim dim[TDL_NEST_DIMS];	/* innermost first */
	int naxes;
	struct tdl_axis axis[TDL_NEST_AXES];
	int64_t offset[2];		/* bytes, of element 0 */
	unsigned int memory[2];		/* of the plan */
};

/* What descriptors may be */
struct tdl_limits {
	unsigned int dims;
	uint64_t elem;
};

/* A loop around all others; its axes are none. False: too many */
bool tdl_nest_wrap(struct tdl_nest *nest, uint64_t size, int64_t src,
		   int64_t dst);
/* Have the outermost loop move along an axis of one side, 1 + ... of naxes. */
void tdl_nest_move(struct tdl_nest *nest, int side, int axis, int64_t coef);
/* A new axis; its number. There is always room for one per dimension. */
int tdl_nest_axis(struct tdl_nest *nest, int side, int64_t start,
		  uint64_t extent);

bool tdl_nest_has_side(const struct tdl_nest *nest, int side);
/* Elements; false if 64 bits do not hold them */
bool tdl_nest_elements(const struct tdl_nest *nest, uint64_t *elements);

/*
 * The same in the fewest loops: no loops of one, destination upwards and
 * innermost smallest, neighbours joined, no axes that everything is inside of.
 * Elements of the destination must not overlap.
 */
void tdl_nest_simplify(struct tdl_nest *nest);

/* Bytes of a side: [*lo, *hi), whatever its axes */
void tdl_nest_bounds(const struct tdl_nest *nest, int side, __int128 *lo,
		     __int128 *hi);

/*
 * Do elements of the destination overlap? Of a simplified nest without axes.
 * 0: no; 1: yes, or they might and there are too many to look at.
 */
int tdl_nest_self_overlap(const struct tdl_nest *nest);
/*
 * Do those of two destinations, of elements of one size? @gap: bytes from the
 * memory of @a to that of @b.
 */
int tdl_nest_cross_overlap(const struct tdl_nest *a, const struct tdl_nest *b,
			   int64_t gap);

typedef int tdl_emit_fn(void *arg, const struct tdma_desc *desc,
			const struct tdma_desc_ext *ext);

/*
 * Descriptors of a simplified nest, within @limits; segments are the numbers of
 * its memories. Stops at an error of @emit. -EOPNOTSUPP: too many axes;
 * -E2BIG: too many descriptors; -EOVERFLOW: a coefficient.
 */
int tdl_nest_emit(const struct tdl_nest *nest, const struct tdl_limits *limits,
		  tdl_emit_fn *emit, void *arg);

#endif /* TDL_NEST_H */
