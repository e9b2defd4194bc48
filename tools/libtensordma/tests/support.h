/* SPDX-License-Identifier: MIT */
/* What the tests of the library share: memory, random views, a reference. */
#ifndef TDL_TEST_SUPPORT_H
#define TDL_TEST_SUPPORT_H

#include <errno.h>
#include "tensordma.h"
#include "test.h"

#define BUFFER	(256 << 10)

/*
 * Machines that tests run on: the simulator in both fidelities, one with few
 * dimensions; or the device that $TENSORDMA_BACKEND names.
 */
extern const char *const *const machine_properties[];
size_t machine_count(void);
struct tensordma *machine_open(size_t number);

/* Two buffers of random bytes, and what the second one should be */
struct buffers {
	unsigned char *src;
	unsigned char *dst;
	unsigned char *image;
};

void buffers_get(struct buffers *b, struct rng *rng);
void buffers_put(struct buffers *b);
void assert_as_image(const struct buffers *b);
/* The byte of the image that stands for one of dst */
void *image_of(const struct buffers *b, const void *dst);

struct tensordma_dtype dtype_of(const char *name);
/* A format, any of all */
struct tensordma_dtype random_dtype(struct rng *rng);
struct tensordma_tensor tensor_of(void *data, struct tensordma_dtype dtype,
				  int ndim, const int64_t *shape);
/* A random order of dimensions */
void random_axes(struct rng *rng, int ndim, int *axes);
/*
 * A view of a buffer with the shape given: dimensions in any order, gaps,
 * backwards. False: the buffer is too small.
 */
bool random_view(struct rng *rng, void *buffer, struct tensordma_dtype dtype,
		 int ndim, const int64_t *shape, struct tensordma_tensor *t);

/* Address of element @index, counted in row major order of the shape */
unsigned char *element(const struct tensordma_tensor *t, uint64_t index);
/* Address by coordinates */
unsigned char *element_at(const struct tensordma_tensor *t, const int64_t *at);
/* Next coordinates in row major order; false at the end */
bool next(const struct tensordma_tensor *t, int64_t *at);

/* The one plan of a test, run and freed */
void run_plan(struct tensordma *machine, struct tensordma_plan *plan);

#endif /* TDL_TEST_SUPPORT_H */
