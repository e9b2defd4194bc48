// SPDX-License-Identifier: MIT
/* What the tests of the library share. */
#include "support.h"

static const char *const fast[] = { NULL };
static const char *const cycle[] = { "fidelity=cycle", NULL };
static const char *const narrow[] = { "dims=3", NULL };

const char *const *const machine_properties[] = { fast, narrow, cycle };

size_t machine_count(void)
{
	return getenv("TENSORDMA_BACKEND") ? 1 : 3;
}

struct tensordma *machine_open(size_t number)
{
	struct tensordma_config config = { .properties =
					   machine_properties[number] };
	struct tensordma_error err = { 0 };
	struct tensordma *m = NULL;

	if (tensordma_open(&m, &config, &err))
		fail_msg("open: %s", err.message);
	return m;
}

static void randomize(unsigned char *p, struct rng *rng)
{
	for (size_t i = 0; i < BUFFER; i += 8) {
		uint64_t r = rng_next(rng);

		memcpy(p + i, &r, 8);
	}
}

void buffers_get(struct buffers *b, struct rng *rng)
{
	b->src = malloc(BUFFER);
	b->dst = malloc(BUFFER);
	b->image = malloc(BUFFER);
	assert_true(b->src && b->dst && b->image);
	randomize(b->src, rng);
	randomize(b->dst, rng);
	memcpy(b->image, b->dst, BUFFER);
}

void buffers_put(struct buffers *b)
{
	free(b->src);
	free(b->dst);
	free(b->image);
}

void assert_as_image(const struct buffers *b)
{
	for (size_t i = 0; i < BUFFER; i++)
		if (b->dst[i] != b->image[i])
			fail_msg("byte %zu is %02x, not %02x", i, b->dst[i],
				 b->image[i]);
}

void *image_of(const struct buffers *b, const void *dst)
{
	return b->image + ((const unsigned char *)dst - b->dst);
}

struct tensordma_dtype dtype_of(const char *name)
{
	struct tensordma_dtype t = { 0 };

	assert_int_equal(tensordma_dtype_parse(name, &t), 0);
	return t;
}

struct tensordma_dtype random_dtype(struct rng *rng)
{
	static const char *const names[] = {
		"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16",
		"f32", "f64", "bf16", "c64", "c128", "bool", "f8e4m3fn",
		"f8e5m2", "f8e8m0fnu", "V3", "V7", "V33",
	};

	return dtype_of(names[rng_below(rng, TEST_COUNT(names))]);
}

struct tensordma_tensor tensor_of(void *data, struct tensordma_dtype dtype,
				  int ndim, const int64_t *shape)
{
	struct tensordma_error err;
	struct tensordma_tensor t;

	if (tensordma_tensor_init(&t, data, dtype, ndim, shape, NULL, &err))
		fail_msg("tensor: %s", err.message);
	return t;
}

void random_axes(struct rng *rng, int ndim, int *axes)
{
	for (int i = 0; i < ndim; i++)
		axes[i] = i;
	for (int i = ndim - 1; i > 0; i--) {
		int j = rng_below(rng, i + 1), swap = axes[i];

		axes[i] = axes[j];
		axes[j] = swap;
	}
}

bool random_view(struct rng *rng, void *buffer, struct tensordma_dtype dtype,
		 int ndim, const int64_t *shape, struct tensordma_tensor *t)
{
	int axes[TENSORDMA_MAX_DIMS], room;
	int64_t strides[TENSORDMA_MAX_DIMS], stride = 1 + rng_below(rng, 2);
	int64_t first = 0, bytes = tensordma_dtype_bytes(dtype);
	struct tensordma_error err;

	random_axes(rng, ndim, axes);
	/* Half of them in order, so that there is something to join */
	for (int i = 0; i < ndim; i++) {
		int a = rng_one_in(rng, 2) ? axes[i] : ndim - 1 - i;

		axes[i] = a;
	}
	for (int i = 0; i < ndim; i++)
		for (int j = 0; j < i; j++)
			if (axes[j] == axes[i])
				random_axes(rng, ndim, axes);
	for (int i = 0; i < ndim; i++) {
		bool back = rng_one_in(rng, 4);

		strides[axes[i]] = back ? -stride : stride;
		if (back && shape[axes[i]])
			first += (shape[axes[i]] - 1) * stride;
		stride *= shape[axes[i]] ? shape[axes[i]] : 1;
		stride += rng_one_in(rng, 3) ? rng_below(rng, 3) : 0;
	}
	room = (BUFFER - 64) / bytes - stride;
	if (room <= 0)
		return false;
	first += rng_below(rng, room);
	if (tensordma_tensor_init(t, (char *)buffer + rng_below(rng, 64) +
				  first * bytes, dtype, ndim, shape, strides,
				  &err))
		fail_msg("view: %s", err.message);
	return true;
}

unsigned char *element_at(const struct tensordma_tensor *t, const int64_t *at)
{
	int64_t offset = 0;

	for (int i = 0; i < t->ndim; i++)
		offset += at[i] * t->strides[i];
	return (unsigned char *)t->data +
	       offset * (int64_t)tensordma_dtype_bytes(t->dtype);
}

unsigned char *element(const struct tensordma_tensor *t, uint64_t index)
{
	int64_t at[TENSORDMA_MAX_DIMS];

	for (int i = t->ndim - 1; i >= 0; i--) {
		at[i] = index % t->shape[i];
		index /= t->shape[i];
	}
	return element_at(t, at);
}

bool next(const struct tensordma_tensor *t, int64_t *at)
{
	for (int i = t->ndim - 1; i >= 0; i--) {
		if (++at[i] < t->shape[i])
			return true;
		at[i] = 0;
	}
	return false;
}

void run_plan(struct tensordma *machine, struct tensordma_plan *plan)
{
	struct tensordma_error err = { 0 };
	struct tensordma_status status;

	if (tensordma_plan_check(plan, &err))
		fail_msg("check: %s", err.message);
	if (tensordma_run(machine, plan, &status, &err))
		fail_msg("run: %s", err.message);
	assert_true(status.over);
	assert_int_equal(status.error, 0);
	tensordma_plan_free(plan);
}
