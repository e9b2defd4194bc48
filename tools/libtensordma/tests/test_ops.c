// SPDX-License-Identifier: MIT
/*
 * Operations on random tensors against loops over coordinates. TDMA_SEED
 * repeats what happened, TDMA_JOBS does more of it.
 */
#include "support.h"

static struct rng rng;

#define ROUNDS	test_env("TDMA_JOBS", 60)
#define OK(call)	\
	do { \
		struct tensordma_error err_ = { 0 }, *err = &err_; \
		if (call) \
			fail_msg(#call ": %s", err_.message); \
	} while (0)

static int random_shape(int64_t *shape, int most_dims, int64_t most)
{
	int ndim = rng_below(&rng, most_dims + 1);

	for (int i = 0; i < ndim; i++)
		shape[i] = rng_one_in(&rng, 25) ? 0 :
			   1 + rng_below(&rng, most);
	return ndim;
}

typedef void round_fn(struct tensordma *m, struct buffers *b);

static void on_all_machines(round_fn *round)
{
	for (size_t i = 0; i < machine_count(); i++) {
		struct tensordma *m = machine_open(i);

		for (uint64_t n = 0; n < ROUNDS; n++) {
			uint64_t seed = rng.state;
			struct buffers b;

			buffers_get(&b, &rng);
			round(m, &b);
			if (memcmp(b.dst, b.image, BUFFER))
				print_message("# machine %zu TDMA_SEED=%llu\n",
					      i, (unsigned long long)seed);
			assert_as_image(&b);
			buffers_put(&b);
		}
		tensordma_close(m);
	}
}

static void expect_copy(struct buffers *b, const struct tensordma_tensor *dst,
			const struct tensordma_tensor *src)
{
	int64_t at[TENSORDMA_MAX_DIMS] = { 0 };

	if (!tensordma_elements(dst))
		return;
	do {
		memcpy(image_of(b, element_at(dst, at)), element_at(src, at),
		       tensordma_dtype_bytes(dst->dtype));
	} while (next(dst, at));
}

static void copy_round(struct tensordma *m, struct buffers *b)
{
	struct tensordma_plan *plan = tensordma_plan_new(m);
	struct tensordma_tensor src, dst;
	struct tensordma_dtype dtype = random_dtype(&rng);
	int64_t shape[6];
	int ndim = random_shape(shape, 6, 6);

	if (rng_one_in(&rng, 3))
		tensordma_plan_set_max_elem(plan, 1 + rng_below(&rng, 40));
	if (random_view(&rng, b->src, dtype, ndim, shape, &src) &&
	    random_view(&rng, b->dst, dtype, ndim, shape, &dst)) {
		expect_copy(b, &dst, &src);
		OK(tensordma_plan_copy(plan, &dst, &src, err));
	}
	run_plan(m, plan);
}

static void test_copy(void **state)
{
	(void)state;
	on_all_machines(copy_round);
}

static void broadcast_round(struct tensordma *m, struct buffers *b)
{
	struct tensordma_plan *plan = tensordma_plan_new(m);
	struct tensordma_dtype dtype = random_dtype(&rng);
	struct tensordma_tensor src, wide, dst;
	int64_t shape[5], small[5];
	int ndim = random_shape(shape, 5, 6), outer;

	outer = rng_below(&rng, ndim + 1);
	for (int i = outer; i < ndim; i++)
		small[i - outer] = rng_one_in(&rng, 2) ? 1 : shape[i];
	if (random_view(&rng, b->src, dtype, ndim - outer, small, &src) &&
	    random_view(&rng, b->dst, dtype, ndim, shape, &dst)) {
		OK(tensordma_broadcast(&wide, &src, ndim, shape, err));
		expect_copy(b, &dst, &wide);
		OK(tensordma_plan_copy(plan, &dst, &src, err));
	}
	run_plan(m, plan);
}

static void test_broadcast(void **state)
{
	(void)state;
	on_all_machines(broadcast_round);
}

static void reshape_round(struct tensordma *m, struct buffers *b)
{
	struct tensordma_plan *plan = tensordma_plan_new(m);
	struct tensordma_dtype dtype = random_dtype(&rng);
	struct tensordma_tensor src, dst;
	int64_t shape[] = { 2, 3, 4, 5, 6 }, other[] = { 6, 10, 12 };
	int axes[5];

	random_axes(&rng, 5, axes);
	for (int i = 0; i < 5; i++)
		shape[i] = axes[i] + 2;
	if (rng_one_in(&rng, 2))
		other[0] = 9, other[1] = 8, other[2] = 10;
	if (random_view(&rng, b->src, dtype, 5, shape, &src) &&
	    random_view(&rng, b->dst, dtype, 3, other, &dst)) {
		for (int i = 0; i < 720; i++)
			memcpy(image_of(b, element(&dst, i)), element(&src, i),
			       tensordma_dtype_bytes(dtype));
		OK(tensordma_plan_reshape(plan, &dst, &src, err));
	}
	run_plan(m, plan);
}

static void test_reshape(void **state)
{
	(void)state;
	on_all_machines(reshape_round);
}

static bool inside(const struct tensordma_tensor *t, const int64_t *at)
{
	for (int i = 0; i < t->ndim; i++)
		if (at[i] < 0 || at[i] >= t->shape[i])
			return false;
	return true;
}

static void expect_pad(struct buffers *b, const struct tensordma_tensor *dst,
		       const struct tensordma_tensor *src,
		       const int64_t *before, const void *value)
{
	size_t bytes = tensordma_dtype_bytes(dst->dtype);
	int64_t at[TENSORDMA_MAX_DIMS] = { 0 }, from[TENSORDMA_MAX_DIMS];

	if (!tensordma_elements(dst))
		return;
	do {
		for (int i = 0; i < dst->ndim; i++)
			from[i] = at[i] - before[i];
		if (inside(src, from))
			memcpy(image_of(b, element_at(dst, at)),
			       element_at(src, from), bytes);
		else
			memcpy(image_of(b, element_at(dst, at)), value, bytes);
	} while (next(dst, at));
}

static void pad_round(struct tensordma *m, struct buffers *b)
{
	static const char value[40], ones[] = "\1\2\3\4\5\6\7\10\11\12\13\14"
		"\15\16\17\20";
	struct tensordma_plan *plan = tensordma_plan_new(m);
	struct tensordma_dtype dtype = random_dtype(&rng);
	bool zero = tensordma_dtype_bytes(dtype) > 16 || rng_one_in(&rng, 2);
	struct tensordma_tensor src, dst;
	int64_t shape[4], padded[4], before[4];
	int ndim = random_shape(shape, 4, 6);

	for (int i = 0; i < ndim; i++) {
		before[i] = (int64_t)rng_below(&rng, 6) - 2;
		padded[i] = shape[i] + before[i] + rng_below(&rng, 6) - 2;
		if (padded[i] < 0)
			padded[i] = 0;
	}
	if (random_view(&rng, b->src, dtype, ndim, shape, &src) &&
	    random_view(&rng, b->dst, dtype, ndim, padded, &dst)) {
		expect_pad(b, &dst, &src, before, zero ? value : ones);
		OK(tensordma_plan_pad(plan, &dst, &src, before,
				      zero ? NULL : ones, err));
	}
	run_plan(m, plan);
}

static void test_pad(void **state)
{
	(void)state;
	on_all_machines(pad_round);
}

static void expect_im2col(struct buffers *b, const struct tensordma_tensor *dst,
			  const struct tensordma_tensor *src,
			  const struct tensordma_im2col *p)
{
	size_t bytes = tensordma_dtype_bytes(dst->dtype);
	int64_t at[6] = { 0 };

	do {
		int64_t from[4] = {
			at[0],
			at[1] * p->stride[0] + at[3] * p->dilation[0] -
				p->pad_before[0],
			at[2] * p->stride[1] + at[4] * p->dilation[1] -
				p->pad_before[1],
			at[5],
		};
		void *to = image_of(b, element_at(dst, at));

		if (inside(src, from))
			memcpy(to, element_at(src, from), bytes);
		else
			memset(to, 0, bytes);
	} while (next(dst, at));
}

static void im2col_round(struct tensordma *m, struct buffers *b)
{
	struct tensordma_plan *plan = tensordma_plan_new(m);
	struct tensordma_dtype dtype = random_dtype(&rng);
	struct tensordma_tensor src, dst;
	struct tensordma_im2col p;
	int64_t shape[4], out[2], cols[6];

	for (int i = 0; i < 4; i++)
		shape[i] = 1 + rng_below(&rng, i % 3 ? 7 : 3);
	for (int i = 0; i < 2; i++) {
		p.kernel[i] = 1 + rng_below(&rng, 3);
		p.stride[i] = 1 + rng_below(&rng, 3);
		p.dilation[i] = 1 + rng_below(&rng, 3);
		p.pad_before[i] = rng_below(&rng, 3);
		p.pad_after[i] = rng_below(&rng, 3);
	}
	if (!tensordma_im2col_shape(&p, shape[1], shape[2], out, NULL)) {
		const int64_t windows[] = { shape[0], out[0], out[1],
			p.kernel[0], p.kernel[1], shape[3] };

		memcpy(cols, windows, sizeof(cols));
		if (random_view(&rng, b->src, dtype, 4, shape, &src) &&
		    random_view(&rng, b->dst, dtype, 6, cols, &dst)) {
			expect_im2col(b, &dst, &src, &p);
			OK(tensordma_plan_im2col(plan, &dst, &src, &p, err));
		}
	}
	run_plan(m, plan);
}

static void test_im2col(void **state)
{
	(void)state;
	on_all_machines(im2col_round);
}

static void concat_round(struct tensordma *m, struct buffers *b)
{
	struct tensordma_plan *plan = tensordma_plan_new(m);
	struct tensordma_dtype dtype = random_dtype(&rng);
	struct tensordma_tensor part[3], dst, to;
	int64_t shape[3], at = 0;
	int axis = rng_below(&rng, 3);
	bool fits = true;

	for (int i = 0; i < 3; i++)
		shape[i] = 1 + rng_below(&rng, 5);
	for (int i = 0; i < 3; i++) {
		shape[axis] = rng_below(&rng, 4);
		at += shape[axis];
		fits &= random_view(&rng, b->src, dtype, 3, shape, &part[i]);
	}
	shape[axis] = at;
	fits &= random_view(&rng, b->dst, dtype, 3, shape, &dst);
	at = 0;
	for (int i = 0; i < 3 && fits; i++) {
		OK(tensordma_slice(&to, &dst, axis, at, part[i].shape[axis], 1,
				   err));
		expect_copy(b, &to, &part[i]);
		at += part[i].shape[axis];
	}
	if (fits)
		OK(tensordma_plan_concat(plan, &dst, part, 3, axis, err));
	run_plan(m, plan);
}

static void test_concat(void **state)
{
	(void)state;
	on_all_machines(concat_round);
}

static void fill_round(struct tensordma *m, struct buffers *b)
{
	struct tensordma_plan *plan = tensordma_plan_new(m);
	struct tensordma_dtype dtype = random_dtype(&rng);
	size_t bytes = tensordma_dtype_bytes(dtype);
	struct tensordma_tensor dst;
	int64_t shape[5], at[5] = { 0 };
	int ndim = random_shape(shape, 5, 6);

	if (bytes <= TENSORDMA_MAX_FILL &&
	    random_view(&rng, b->dst, dtype, ndim, shape, &dst)) {
		if (tensordma_elements(&dst))
			do {
				memcpy(image_of(b, element_at(&dst, at)),
				       b->src, bytes);
			} while (next(&dst, at));
		OK(tensordma_plan_fill(plan, &dst, b->src, err));
	}
	run_plan(m, plan);
}

static void test_fill(void **state)
{
	(void)state;
	on_all_machines(fill_round);
}

static void accumulate_round(struct tensordma *m, struct buffers *b)
{
	struct tensordma_plan *plan = tensordma_plan_new(m);
	bool real = rng_one_in(&rng, 2);
	struct tensordma_dtype dtype = dtype_of(real ? "f32" : "i32");
	struct tensordma_tensor src, dst;
	int64_t shape[4], at[4] = { 0 };
	int ndim = random_shape(shape, 4, 5);

	if (random_view(&rng, b->src, dtype, ndim, shape, &src) &&
	    random_view(&rng, b->dst, dtype, ndim, shape, &dst) &&
	    tensordma_elements(&dst)) {
		do {
			unsigned char *to = element_at(&dst, at);
			float f = (int)rng_below(&rng, 99) - 50, g;
			uint32_t i, j;

			if (real) {
				memcpy(to, &f, 4);
				memcpy(image_of(b, to), &f, 4);
				g = rng_below(&rng, 64) / 4.0f;
				memcpy(element_at(&src, at), &g, 4);
				f += g;
				memcpy(image_of(b, to), &f, 4);
			} else {
				memcpy(&i, to, 4);
				memcpy(&j, element_at(&src, at), 4);
				i += j;
				memcpy(image_of(b, to), &i, 4);
			}
		} while (next(&dst, at));
		OK(tensordma_plan_accumulate(plan, &dst, &src, err));
	}
	run_plan(m, plan);
}

static void test_accumulate(void **state)
{
	(void)state;
	on_all_machines(accumulate_round);
}

/* There and back, by way of the second half of the source buffer */
static void tile_round(struct tensordma *m, struct buffers *b)
{
	struct tensordma_plan *plan = tensordma_plan_new(m);
	struct tensordma_dtype dtype = random_dtype(&rng);
	struct tensordma_tensor src, dst, tiled;
	int64_t shape[3], block[3], blocks[6], at[6] = { 0 };
	unsigned char *room = malloc(BUFFER);
	int ndim = 1 + rng_below(&rng, 3), n;

	for (int i = 0; i < ndim; i++) {
		shape[i] = 1 + rng_below(&rng, 9);
		block[i] = rng_below(&rng, 6);
	}
	if (random_view(&rng, b->src, dtype, ndim, shape, &src) &&
	    random_view(&rng, b->dst, dtype, ndim, shape, &dst)) {
		n = tensordma_tile_shape(&src, block, blocks, NULL);
		assert_true(n >= ndim);
		tiled = tensor_of(room, dtype, n, blocks);
		expect_copy(b, &dst, &src);
		OK(tensordma_plan_tile(plan, &tiled, &src, block, err));
		OK(tensordma_plan_untile(plan, &dst, &tiled, block, err));
		run_plan(m, plan);
		do {
			int64_t from[3];
			int inner = ndim;

			for (int i = 0; i < ndim; i++)
				from[i] = block[i] > 1 ?
					  at[i] * block[i] + at[inner++] :
					  at[i];
			for (size_t k = 0; k < tensordma_dtype_bytes(dtype); k++)
				assert_int_equal(element_at(&tiled, at)[k],
						 inside(&src, from) ?
						 element_at(&src, from)[k] : 0);
		} while (next(&tiled, at));
	} else {
		tensordma_plan_free(plan);
	}
	free(room);
}

static void test_tile(void **state)
{
	(void)state;
	on_all_machines(tile_round);
}

static void transpose_round(struct tensordma *m, struct buffers *b)
{
	struct tensordma_plan *plan = tensordma_plan_new(m);
	struct tensordma_dtype dtype = random_dtype(&rng);
	struct tensordma_tensor src, dst, turned, middle;
	unsigned char *room = malloc(BUFFER);
	int64_t shape[4];
	int ndim = random_shape(shape, 4, 6), axes[4];

	random_axes(&rng, ndim, axes);
	if (random_view(&rng, b->src, dtype, ndim, shape, &src) &&
	    random_view(&rng, b->dst, dtype, ndim, shape, &dst)) {
		expect_copy(b, &dst, &src);
		OK(tensordma_permute(&turned, &src, axes, err));
		middle = tensor_of(room, dtype, ndim, turned.shape);
		OK(tensordma_plan_copy(plan, &middle, &turned, err));
		OK(tensordma_permute(&turned, &dst, axes, err));
		OK(tensordma_plan_copy(plan, &turned, &middle, err));
	}
	run_plan(m, plan);
	free(room);
}

static void test_transpose_and_back(void **state)
{
	(void)state;
	on_all_machines(transpose_round);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_copy),
		cmocka_unit_test(test_broadcast),
		cmocka_unit_test(test_reshape),
		cmocka_unit_test(test_pad),
		cmocka_unit_test(test_im2col),
		cmocka_unit_test(test_concat),
		cmocka_unit_test(test_fill),
		cmocka_unit_test(test_accumulate),
		cmocka_unit_test(test_tile),
		cmocka_unit_test(test_transpose_and_back),
	};

	rng.state = test_env("TDMA_SEED", (uint64_t)(uintptr_t)&tests);
	printf("# TDMA_SEED=%llu\n", (unsigned long long)rng.state);
	return cmocka_run_group_tests_name("libtensordma ops", tests, NULL,
					   NULL);
}
