// SPDX-License-Identifier: MIT
/*
 * What others have reported against software of this kind, as the smallest case
 * of it; views, what is refused and how, DLPack, jobs that go on by themselves.
 */
#include <sys/mman.h>
#include <linux/tensordma_desc.h>

#include "support.h"

static struct tensordma *machine;

#define OK(call)	\
	do { \
		struct tensordma_error err_ = { 0 }, *err = &err_; \
		if (call) \
			fail_msg(#call ": %s", err_.message); \
	} while (0)

/* Refused with the code, and with that field and dimension named */
#define REFUSED(call, code_, field_, dim_)	\
	do { \
		struct tensordma_error err_ = { 0 }, *err = &err_; \
		assert_int_equal(call, code_); \
		assert_int_equal(err_.code, code_); \
		assert_string_equal(err_.field, field_); \
		assert_int_equal(err_.dim, dim_); \
		assert_true(*err_.message); \
	} while (0)

#define SHAPE(...)	((const int64_t[]) { __VA_ARGS__ })
#define NDIM(...)	((int)TEST_COUNT(SHAPE(__VA_ARGS__)))
/* tensor(&t, data, "f32", DIMS(2, 3), STRIDES(3, 1)) */
#define DIMS(...)	NDIM(__VA_ARGS__), SHAPE(__VA_ARGS__)
#define STRIDES(...)	SHAPE(__VA_ARGS__)

static int tensor(struct tensordma_tensor *t, void *data, const char *dtype,
		  int ndim, const int64_t *shape, const int64_t *strides)
{
	struct tensordma_error err = { 0 };
	int ret = tensordma_tensor_init(t, data, dtype_of(dtype), ndim, shape,
					strides, &err);

	if (ret)
		print_message("# %s\n", err.message);
	return ret;
}

static void move(const struct tensordma_tensor *dst,
		 const struct tensordma_tensor *src)
{
	OK(tensordma_copy(machine, dst, src, err));
}

static void count_up(void *data, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		((unsigned char *)data)[i] = i;
}

/* mlir-aie 2930: outer sizes of 1 made a strided move a linear one */
static void test_outer_ones(void **state)
{
	int32_t from[16], to[8];
	struct tensordma_tensor src, dst;

	(void)state;
	for (int i = 0; i < 16; i++)
		from[i] = i;
	tensor(&src, from, "i32", DIMS(1, 1, 8), STRIDES(0, 0, 2));
	tensor(&dst, to, "i32", DIMS(1, 1, 8), STRIDES(8, 8, 1));
	move(&dst, &src);
	for (int i = 0; i < 8; i++)
		assert_int_equal(to[i], 2 * i);
}

/* mlir-aie 1584, 1111: inner stride taken for 1; words for elements */
static void test_inner_stride(void **state)
{
	unsigned char from[64], to[64];
	struct tensordma_tensor src, dst;

	(void)state;
	count_up(from, 64);
	memset(to, 0xee, 64);
	tensor(&src, from, "u8", DIMS(4), STRIDES(4));
	tensor(&dst, to, "u8", DIMS(4), STRIDES(2));
	move(&dst, &src);
	for (int i = 0; i < 8; i++)
		assert_int_equal(to[i], i % 2 ? 0xee : 2 * i);
	tensor(&src, from, "i16", DIMS(8), STRIDES(2));
	tensor(&dst, to, "i16", DIMS(8), NULL);
	move(&dst, &src);
	for (int i = 0; i < 16; i++)
		assert_int_equal(to[i], i / 2 * 4 + i % 2);
}

/* iree-amd-aie 765: the start of a box, computed with all strides as 1 */
static void test_box_start(void **state)
{
	static int16_t from[2 * 16384];
	struct tensordma_tensor box, dst;
	int16_t to = -1;

	(void)state;
	for (int i = 0; i < 2 * 16384; i++)
		from[i] = i;
	tensor(&box, from, "i16", DIMS(2, 256, 4, 256),
	       STRIDES(16384, 64, 256, 1));
	box.shape[1] = 192;
	OK(tensordma_slice(&box, &box, 0, 0, 1, 1, err));
	OK(tensordma_slice(&box, &box, 1, 1, 1, 1, err));
	OK(tensordma_slice(&box, &box, 2, 0, 1, 1, err));
	OK(tensordma_slice(&box, &box, 3, 0, 1, 1, err));
	tensor(&dst, &to, "i16", DIMS(1, 1, 1, 1), NULL);
	move(&dst, &box);
	assert_int_equal(to, 64);
}

/* iDMA 61: more than 768 beats of 8 bytes hung */
static void test_many_beats(void **state)
{
	static unsigned char from[6152], to[6152];
	struct tensordma_tensor src, dst;

	(void)state;
	count_up(from, sizeof(from));
	tensor(&src, from, "u8", DIMS(6152), NULL);
	tensor(&dst, to, "u8", DIMS(6152), NULL);
	move(&dst, &src);
	assert_memory_equal(from, to, sizeof(to));
}

/* x-heep 663: what is padded spoilt the job behind it */
static void test_pad_then_copy(void **state)
{
	unsigned char from[16], padded[25], to[16];
	struct tensordma_tensor src, dst, plain, copy;
	struct tensordma_plan *plan = tensordma_plan_new(machine);

	(void)state;
	count_up(from, 16);
	memset(padded, 0xee, 25);
	tensor(&src, from, "u8", DIMS(3, 3), NULL);
	tensor(&dst, padded, "u8", DIMS(5, 5), NULL);
	tensor(&plain, from, "u8", DIMS(16), NULL);
	tensor(&copy, to, "u8", DIMS(16), NULL);
	OK(tensordma_plan_pad(plan, &dst, &src, SHAPE(1, 1), NULL, err));
	OK(tensordma_plan_copy(plan, &copy, &plain, err));
	run_plan(machine, plan);
	assert_memory_equal(from, to, 16);
	for (int y = 0; y < 5; y++)
		for (int x = 0; x < 5; x++)
			assert_int_equal(padded[5 * y + x],
					 y % 4 && x % 4 ?
					 from[3 * y + x - 4] : 0);
}

/* tvm 4293: padding beyond one burst */
static void test_wide_pad(void **state)
{
	uint32_t from[2][300], to[2][302];
	struct tensordma_tensor src, dst;
	struct tensordma_plan *plan = tensordma_plan_new(machine);

	(void)state;
	memset(to, 0xee, sizeof(to));
	for (int i = 0; i < 600; i++)
		from[i / 300][i % 300] = 1000 + i;
	tensor(&src, from, "u32", DIMS(2, 300), NULL);
	tensor(&dst, to, "u32", DIMS(2, 302), NULL);
	OK(tensordma_plan_pad(plan, &dst, &src, SHAPE(0, 1), NULL, err));
	run_plan(machine, plan);
	for (int y = 0; y < 2; y++)
		for (int x = 0; x < 302; x++)
			assert_int_equal(to[y][x], x % 301 ?
					 from[y][x - 1] : 0);
}

/* pto-isa 279: only what is named is touched, the rest of a tile stays */
static void test_rest_of_tile(void **state)
{
	unsigned char tile[64], from[32];
	struct tensordma_tensor rows, whole, src;

	(void)state;
	memset(tile, 0xaa, 64);
	count_up(from, 32);
	tensor(&whole, tile, "u8", DIMS(8, 8), NULL);
	tensor(&src, from, "u8", DIMS(4, 8), NULL);
	OK(tensordma_slice(&rows, &whole, 0, 4, 4, 1, err));
	move(&rows, &src);
	for (int i = 0; i < 32; i++)
		assert_int_equal(tile[i], 0xaa);
	assert_memory_equal(tile + 32, from, 32);
}

/* dace 621: from a row into a column */
static void test_row_to_column(void **state)
{
	double from[16], to[16] = { 0 };
	struct tensordma_tensor src, dst;

	(void)state;
	for (int i = 0; i < 16; i++)
		from[i] = i + 1;
	tensor(&src, from + 1, "f64", DIMS(2), STRIDES(1));
	tensor(&dst, to + 4, "f64", DIMS(2), STRIDES(4));
	move(&dst, &src);
	for (int i = 0; i < 16; i++)
		assert_true(to[i] == (i == 4 ? 2 : i == 8 ? 3 : 0));
}

/* numpy 1683: x += transposed x, on one buffer */
static void test_add_transposed(void **state)
{
	int32_t x[4] = { 1, 2, 3, 4 };
	struct tensordma_plan *plan = tensordma_plan_new(machine);
	struct tensordma_tensor t, turned;

	(void)state;
	tensor(&t, x, "i32", DIMS(2, 2), NULL);
	OK(tensordma_permute(&turned, &t, (int[]) { 1, 0 }, err));
	REFUSED(tensordma_plan_accumulate(plan, &t, &turned, err), -EINVAL,
		"data", TENSORDMA_NO_DIM);
	assert_int_equal(tensordma_plan_count(plan), 0);
	/* The same elements in the same places are no trouble. */
	OK(tensordma_plan_accumulate(plan, &t, &t, err));
	run_plan(machine, plan);
	for (int i = 0; i < 4; i++)
		assert_int_equal(x[i], 2 * (i + 1));
}

/* pytorch 135487, 89301, 183986: destinations that overlap themselves */
static void test_aliased_destination(void **state)
{
	float from[25] = { 0 }, to[25] = { 0 };
	struct tensordma_plan *plan = tensordma_plan_new(machine);
	struct tensordma_tensor src, dst;

	(void)state;
	tensor(&src, from, "f32", DIMS(5, 5), NULL);
	tensor(&dst, to, "f32", DIMS(5, 5), STRIDES(1, 0));
	REFUSED(tensordma_plan_copy(plan, &dst, &src, err), -EINVAL, "strides",
		TENSORDMA_NO_DIM);
	tensor(&dst, to, "f32", DIMS(5, 5), STRIDES(4, 1));
	REFUSED(tensordma_plan_copy(plan, &dst, &src, err), -EINVAL, "strides",
		TENSORDMA_NO_DIM);
	for (int rows = 1; rows <= 2; rows++) {
		struct tensordma_tensor a, b;

		tensor(&a, to, "f32", DIMS(2, 2), STRIDES(2, 1));
		tensor(&b, to, "f32", DIMS(2, 2), STRIDES(2, 0));
		a.shape[0] = rows;
		b.shape[0] = rows;
		REFUSED(tensordma_plan_copy(plan, &a, &b, err), -EINVAL, "data",
			TENSORDMA_NO_DIM);
	}
	/* Interleaved but apart: fine */
	tensor(&dst, to, "f32", DIMS(2, 2), STRIDES(3, 2));
	src.shape[0] = 2;
	src.shape[1] = 2;
	OK(tensordma_plan_copy(plan, &dst, &src, err));
	run_plan(machine, plan);
}

/* FlagGems 2616: a source of stride 0 on both dimensions */
static void test_one_element_everywhere(void **state)
{
	uint16_t from = 0xabcd, to[256] = { 0 };
	struct tensordma_tensor src, dst;

	(void)state;
	tensor(&src, &from, "u16", DIMS(16, 16), STRIDES(0, 0));
	tensor(&dst, to, "u16", DIMS(16, 16), NULL);
	move(&dst, &src);
	for (int i = 0; i < 256; i++)
		assert_int_equal(to[i], 0xabcd);
}

/* pytorch 113370: no elements, strides of any kind; iDMA 50: it must end */
static void test_empty(void **state)
{
	struct tensordma_tensor src, dst;
	unsigned char a[4] = { 1, 2, 3, 4 }, b[4] = { 0 };

	(void)state;
	assert_int_equal(tensor(&src, NULL, "f32", DIMS(1, 0, 2, 100, 100),
				STRIDES(7, INT64_MAX, -3, 0, INT64_MIN)), 0);
	assert_int_equal(tensor(&dst, NULL, "f32", DIMS(1, 0, 2, 100, 100),
				NULL), 0);
	move(&dst, &src);
	tensor(&src, a, "u8", DIMS(4), NULL);
	tensor(&dst, b, "u8", DIMS(4), NULL);
	move(&dst, &src);
	assert_memory_equal(a, b, 4);
}

/* pytorch 83069: strides of dimensions of one element say nothing */
static void test_size_one_strides(void **state)
{
	unsigned char from[77], one[77], two[77];
	struct tensordma_tensor src, dst;

	(void)state;
	count_up(from, 77);
	tensor(&dst, one, "u8", DIMS(1, 77), NULL);
	tensor(&src, from, "u8", DIMS(1, 77), STRIDES(1, 1));
	move(&dst, &src);
	tensor(&dst, two, "u8", DIMS(1, 77), NULL);
	tensor(&src, from, "u8", DIMS(1, 77), STRIDES(INT64_MAX, 1));
	move(&dst, &src);
	assert_memory_equal(one, two, 77);
	assert_memory_equal(one, from, 77);
}

/* cupy 5427: one element of a reversed view */
static void test_reversed_single(void **state)
{
	static uint16_t from[512][3];
	struct tensordma_tensor all, row, src, dst;
	uint16_t to[3];

	(void)state;
	for (int i = 0; i < 1536; i++)
		from[i / 3][i % 3] = i;
	tensor(&all, from, "u16", DIMS(512, 3), NULL);
	OK(tensordma_slice(&row, &all, 0, 1, 1, -1, err));
	OK(tensordma_slice(&src, &row, 1, 2, 3, -1, err));
	tensor(&dst, to, "u16", DIMS(1, 3), NULL);
	move(&dst, &src);
	for (int i = 0; i < 3; i++)
		assert_int_equal(to[i], 5 - i);
}

/* oneDNN 71: channels past the last full block, and what is behind them */
static void test_partial_block(void **state)
{
	float from[7][5], to[5][8];
	struct tensordma_plan *plan = tensordma_plan_new(machine);
	struct tensordma_tensor src, dst;
	int64_t shape[5];

	(void)state;
	for (int i = 0; i < 35; i++)
		from[i / 5][i % 5] = i + 1;
	memset(to, 0xee, sizeof(to));
	tensor(&src, from, "f32", DIMS(1, 7, 1, 5), NULL);
	assert_int_equal(tensordma_tile_shape(&src, SHAPE(0, 8, 0, 0), shape,
					      NULL), 5);
	tensor(&dst, to, "f32", 5, shape, NULL);
	OK(tensordma_plan_tile(plan, &dst, &src, SHAPE(0, 8, 0, 0), err));
	run_plan(machine, plan);
	for (int w = 0; w < 5; w++)
		for (int c = 0; c < 8; c++)
			assert_true(to[w][c] == (c < 7 ? from[c][w] : 0));
}

/* oneDNN 486: from blocks of 8 to blocks of 16, directly or in two steps */
static void test_block_to_block(void **state)
{
	float from[4][4][8], plain[32][4], one[2][4][16], two[2][4][16];
	struct tensordma_plan *plan = tensordma_plan_new(machine);
	struct tensordma_tensor src, mid, dst, split;

	(void)state;
	for (int i = 0; i < 128; i++)
		(&from[0][0][0])[i] = i;
	/* C / 8, HW, 8 -> C / 16, HW, 16 with C = (C / 16, 2, 8) */
	tensor(&src, from, "f32", DIMS(2, 4, 2, 8), STRIDES(64, 8, 32, 1));
	tensor(&dst, one, "f32", DIMS(2, 4, 2, 8), NULL);
	OK(tensordma_plan_copy(plan, &dst, &src, err));
	tensor(&split, from, "f32", DIMS(4, 4, 8), NULL);
	tensor(&mid, plain, "f32", DIMS(32, 4), NULL);
	OK(tensordma_plan_untile(plan, &mid, &split, SHAPE(8, 0), err));
	tensor(&dst, two, "f32", DIMS(2, 4, 16), NULL);
	OK(tensordma_plan_tile(plan, &dst, &mid, SHAPE(16, 0), err));
	run_plan(machine, plan);
	assert_memory_equal(one, two, sizeof(one));
	assert_true(one[1][2][9] == plain[25][2]);
}

/* oneDNN 3280: a destination with gaps */
static void test_gaps(void **state)
{
	static float from[36], to[300];
	const int64_t stride[] = { 48, 100, 8, 3 };
	struct tensordma_tensor src, dst;
	int written = 0;

	(void)state;
	for (int i = 0; i < 36; i++)
		from[i] = i + 1;
	tensor(&src, from, "f32", DIMS(2, 2, 3, 2), NULL);
	tensor(&dst, to, "f32", DIMS(2, 2, 3, 2), stride);
	move(&dst, &src);
	for (int i = 0; i < 24; i++)
		assert_true(to[i / 12 * 48 + i / 6 % 2 * 100 + i / 2 % 3 * 8 +
			       i % 2 * 3] == i + 1);
	for (int i = 0; i < 300; i++)
		written += to[i] != 0;
	assert_int_equal(written, 24);
}

/* triton 11583: a box that reaches beyond the row writes no further */
static void test_box_beyond_row(void **state)
{
	static unsigned char row[2][512], box[2][128];
	struct tensordma_tensor dst, src, part;

	(void)state;
	memset(row, 0xee, sizeof(row));
	memset(box, 0x11, sizeof(box));
	tensor(&dst, row, "u8", DIMS(2, 466), STRIDES(512, 1));
	tensor(&src, box, "u8", DIMS(2, 128), NULL);
	REFUSED(tensordma_slice(&part, &dst, 1, 384, 128, 1, err), -EINVAL,
		"shape", 1);
	OK(tensordma_slice(&dst, &dst, 1, 384, 82, 1, err));
	OK(tensordma_slice(&src, &src, 1, 0, 82, 1, err));
	move(&dst, &src);
	for (int y = 0; y < 2; y++)
		for (int x = 0; x < 512; x++)
			assert_int_equal(row[y][x], x >= 384 && x < 466 ?
					 0x11 : 0xee);
}

/* A source stride of the plan's only descriptor */
static int64_t stride_of_plan(const struct tensordma_plan *plan, int dim)
{
	const struct tdma_desc_ext *ext;
	const struct tdma_desc *d;

	assert_int_equal(tensordma_plan_count(plan), 1);
	assert_int_equal(tensordma_plan_get(plan, 0, &d, &ext), 0);
	return d->src_stride[dim];
}

/*
 * FBGEMM 1186: strides beyond 2^31 elements; nothing is narrowed. A device would
 * pin all that is between the rows: there the plan has to do.
 */
static void test_far_rows(void **state)
{
	const int64_t stride = (1LL << 31) + 64;
	struct tensordma_plan *plan = tensordma_plan_new(machine);
	size_t bytes = (stride + 64) * 4;
	uint32_t *table = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			       -1, 0);
	struct tensordma_tensor src, dst;
	uint32_t to[2][4];

	(void)state;
	assert_ptr_not_equal(table, MAP_FAILED);
	tensor(&src, table, "u32", DIMS(2, 4), STRIDES(stride, 1));
	tensor(&dst, to, "u32", DIMS(2, 4), NULL);
	OK(tensordma_plan_copy(plan, &dst, &src, err));
	OK(tensordma_plan_check(plan, err));
	assert_int_equal(stride_of_plan(plan, 0), stride * 4);
	if (!getenv("TENSORDMA_BACKEND")) {
		for (int i = 0; i < 4; i++) {
			table[i] = i;
			table[stride + i] = 100 + i;
		}
		OK(tensordma_run(machine, plan, NULL, err));
		for (int i = 0; i < 8; i++)
			assert_int_equal(to[i / 4][i % 4], i / 4 * 100 + i % 4);
	}
	tensordma_plan_free(plan);
	munmap(table, bytes);
}

/* mlir-aie 3548: one field's limit and beyond it; nothing is masked */
static void test_limits(void **state)
{
	const int64_t most = UINT32_MAX;
	size_t bytes = 3 * (size_t)(most + 10);
	unsigned char *to = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
				 -1, 0);

	(void)state;
	assert_ptr_not_equal(to, MAP_FAILED);
	for (int64_t n = most - 1; n <= most + 6; n++) {
		struct tensordma_plan *plan = tensordma_plan_new(machine);
		const struct tdma_desc_ext *ext;
		const struct tdma_desc *d;
		struct tensordma_tensor dst;
		uint64_t sum = 0;

		tensor(&dst, to, "u8", 1, &n, STRIDES(3));
		OK(tensordma_plan_fill(plan, &dst, "\7", err));
		OK(tensordma_plan_check(plan, err));
		for (size_t i = 0; !tensordma_plan_get(plan, i, &d, &ext); i++)
			sum += (uint64_t)d->steps[0] *
			       (d->ndims > 1 ? d->steps[1] : 1);
		assert_int_equal(sum, n);
		assert_true(tensordma_plan_count(plan) == 1 || n > most);
		tensordma_plan_free(plan);
	}
	munmap(to, bytes);
}

static void test_overflow(void **state)
{
	struct tensordma_error err;
	struct tensordma_tensor t;
	char byte;

	(void)state;
	assert_int_equal(tensordma_tensor_init(&t, &byte, dtype_of("f32"), 2,
					       SHAPE(1LL << 33, 1LL << 33),
					       NULL, &err), -EOVERFLOW);
	assert_string_equal(err.field, "shape");
	assert_int_equal(err.dim, 1);
	assert_int_equal(tensordma_tensor_init(&t, &byte, dtype_of("f32"), 2,
					       SHAPE(2, 3),
					       SHAPE(INT64_MAX / 2, 1), &err),
			 -EOVERFLOW);
	assert_string_equal(err.field, "strides");
	assert_int_equal(err.dim, 0);
	assert_int_equal(tensordma_tensor_init(&t, &byte, dtype_of("f32"), 2,
					       SHAPE(2, -1), NULL, &err),
			 -EINVAL);
	assert_int_equal(err.dim, 1);
	assert_int_equal(tensordma_tensor_init(&t, &byte,
					       (struct tensordma_dtype)
					       { 17, 4, 1 }, 1, SHAPE(2), NULL,
					       &err), -EOPNOTSUPP);
}

static void test_refused(void **state)
{
	struct tensordma_plan *plan = tensordma_plan_new(machine);
	struct tensordma_tensor a, b, out;
	unsigned char from[64], to[64];

	(void)state;
	tensor(&a, from, "u8", DIMS(2, 3), NULL);
	tensor(&b, to, "u8", DIMS(2, 4), NULL);
	REFUSED(tensordma_plan_copy(plan, &b, &a, err), -EINVAL, "shape", 1);
	tensor(&b, to, "u16", DIMS(2, 3), NULL);
	REFUSED(tensordma_plan_copy(plan, &b, &a, err), -EINVAL, "dtype",
		TENSORDMA_NO_DIM);
	REFUSED(tensordma_permute(&out, &a, (int[]) { 1, 1 }, err), -EINVAL,
		"axes", 1);
	REFUSED(tensordma_permute(&out, &a, (int[]) { 0, 2 }, err), -EINVAL,
		"axes", 2);
	REFUSED(tensordma_reshape(&out, &a, 2, SHAPE(-1, 4), err), -EINVAL,
		"shape", 0);
	OK(tensordma_permute(&out, &a, (int[]) { 1, 0 }, err));
	REFUSED(tensordma_reshape(&out, &out, 1, SHAPE(6), err), -EXDEV,
		"shape", 0);
	REFUSED(tensordma_plan_accumulate(plan, &a, &a, err), -EOPNOTSUPP,
		"dtype", TENSORDMA_NO_DIM);
	REFUSED(tensordma_plan_tile(plan, &b, &b, SHAPE(0, -2), err), -EINVAL,
		"block", 1);
	assert_int_equal(tensordma_plan_count(plan), 0);
	tensordma_plan_free(plan);
}

/* A descriptor that the device's own check refuses, with the place named */
static void test_refused_descriptor(void **state)
{
	struct tensordma_plan *plan = tensordma_plan_new(machine);
	unsigned char from[64], to[64];
	struct tensordma_memory src = { from, 64 }, dst = { to, 64 };
	struct tdma_desc d = {
		.version = TDMA_DESC_VERSION, .opcode = TDMA_OP_COPY,
		.ndims = 2, .elem_bytes = 1, .steps = { 8, 9 },
		.src_stride = { 1, 8 }, .dst_stride = { 1, 0 },
	};

	(void)state;
	OK(tensordma_plan_desc(plan, &d, NULL, &dst, &src, false, err));
	REFUSED(tensordma_plan_check(plan, err), -EINVAL, "src_stride", 1);
	memset(to, 0xee, 64);
	REFUSED(tensordma_run(machine, plan, NULL, err), -EINVAL, "src_stride",
		1);
	for (int i = 0; i < 64; i++)
		assert_int_equal(to[i], 0xee);
	d.steps[1] = 8;
	d.opcode = 99;
	REFUSED(tensordma_plan_desc(plan, &d, NULL, &dst, &src, false, err),
		-EINVAL, "opcode", TENSORDMA_NO_DIM);
	tensordma_plan_free(plan);
}

struct seen {
	uint64_t last;
	unsigned int calls;
	bool over;
};

static void on_progress(void *arg, const struct tensordma_status *status)
{
	struct seen *s = arg;

	assert_true(status->bytes_done >= s->last);
	assert_true(status->bytes_done <= status->bytes_total);
	assert_false(s->over);
	s->last = status->bytes_done;
	s->over = status->over;
	s->calls++;
}

static void test_progress(void **state)
{
	const size_t bytes = 64 << 20;
	unsigned char *from = malloc(bytes), *to = malloc(bytes);
	struct tensordma_tensor src, dst;
	struct tensordma_plan *plan = tensordma_plan_new(machine);
	struct tensordma_job *first, *second;
	struct seen seen[2] = { 0 };

	(void)state;
	memset(from, 0x5a, bytes);
	memset(to, 0, bytes);
	tensor(&src, from, "u8", DIMS(64 << 20), NULL);
	tensor(&dst, to, "u8", DIMS(64 << 20), NULL);
	OK(tensordma_register(machine, to, bytes, true, err));
	OK(tensordma_plan_copy(plan, &dst, &src, err));
	OK(tensordma_submit(machine, plan, on_progress, &seen[0], &first, err));
	OK(tensordma_submit(machine, plan, on_progress, &seen[1], &second,
			    err));
	assert_int_equal(tensordma_unregister(machine, to), -EBUSY);
	OK(tensordma_wait(second, -1, err));
	assert_int_equal(tensordma_poll(machine, 0), 0);
	for (int i = 0; i < 2; i++) {
		assert_true(seen[i].over);
		assert_true(seen[i].calls > 10);
		assert_int_equal(seen[i].last, bytes);
	}
	assert_memory_equal(from, to, bytes);
	tensordma_job_free(first);
	tensordma_job_free(second);
	assert_int_equal(tensordma_unregister(machine, to), 0);
	assert_int_equal(tensordma_unregister(machine, to), -ENOENT);
	tensordma_plan_free(plan);
	free(from);
	free(to);
}

/* Who never sleeps gets there, too. */
static void test_poll(void **state)
{
	const size_t bytes = 16 << 20;
	unsigned char *from = malloc(bytes), *to = malloc(bytes);
	struct tensordma_plan *plan = tensordma_plan_new(machine);
	struct tensordma_tensor src, dst;
	struct tensordma_status status;
	struct tensordma_job *job;
	unsigned int polls = 0;

	(void)state;
	memset(from, 0xa5, bytes);
	memset(to, 0, bytes);
	tensor(&src, from, "u8", DIMS(16 << 20), NULL);
	tensor(&dst, to, "u8", DIMS(16 << 20), NULL);
	OK(tensordma_plan_copy(plan, &dst, &src, err));
	OK(tensordma_submit(machine, plan, NULL, NULL, &job, err));
	tensordma_job_status(job, &status);
	assert_false(status.over);
	while (tensordma_poll(machine, 0))
		polls++;
	/* A device goes on by itself. */
	assert_true(polls > 1 || getenv("TENSORDMA_BACKEND"));
	tensordma_job_status(job, &status);
	assert_true(status.over);
	assert_memory_equal(from, to, bytes);
	tensordma_job_free(job);
	tensordma_plan_free(plan);
	free(from);
	free(to);
}

/* DLPack, with layouts of its own specification */
struct tensor_0 {
	void *data;
	int32_t device[2];
	int32_t ndim;
	uint8_t code, bits;
	uint16_t lanes;
	int64_t *shape;
	int64_t *strides;
	uint64_t byte_offset;
};

struct managed_0 {
	struct tensor_0 tensor;
	void *context;
	void (*deleter)(void *self);
};

struct managed_1 {
	uint32_t version[2];
	void *context;
	void (*deleter)(struct managed_1 *self);
	uint64_t flags;
	struct tensor_0 tensor;
};

static void count_call(void *arg)
{
	++*(int *)arg;
}

/* cupy 2095, dlpack 178: strides of NULL come in but never go out */
static void test_dlpack(void **state)
{
	float data[12];
	int64_t shape[] = { 3, 4 };
	struct managed_0 old = { .tensor = {
		.data = data, .device = { 1, 0 }, .ndim = 2, .code = 2,
		.bits = 32, .lanes = 1, .shape = shape, .byte_offset = 0,
	} };
	struct managed_1 new = { .version = { 1, 2 } }, *out;
	struct tensordma_tensor t, back;
	int released = 0;

	(void)state;
	OK(tensordma_from_dlpack_unversioned(&t, (void *)&old, err));
	assert_int_equal(t.strides[0], 4);
	assert_int_equal(t.strides[1], 1);
	new.tensor = old.tensor;
	new.tensor.byte_offset = 16;
	new.tensor.ndim = 1;
	OK(tensordma_from_dlpack(&t, (void *)&new, err));
	assert_ptr_equal(t.data, &data[4]);
	new.version[0] = 2;
	REFUSED(tensordma_from_dlpack(&t, (void *)&new, err), -EOPNOTSUPP,
		"version", TENSORDMA_NO_DIM);
	new.version[0] = 1;
	new.tensor.device[0] = 2;
	REFUSED(tensordma_from_dlpack(&t, (void *)&new, err), -EOPNOTSUPP,
		"device", TENSORDMA_NO_DIM);
	tensor(&t, data, "f32", DIMS(3, 4), NULL);
	out = (void *)tensordma_to_dlpack(&t, true, count_call, &released);
	assert_non_null(out);
	assert_non_null(out->tensor.strides);
	assert_int_equal(out->version[0], 1);
	assert_int_equal(out->flags, 1);
	OK(tensordma_from_dlpack(&back, (void *)out, err));
	assert_memory_equal(&back, &t, sizeof(t));
	out->deleter(out);
	assert_int_equal(released, 1);
}

static void test_dtypes(void **state)
{
	static const struct {
		const char *name;
		const char *printed;
		size_t bytes;
	} names[] = {
		{ "f4", "f32", 4 }, { "<f4", "f32", 4 }, { "float32", "f32", 4 },
		{ "i8", "i8", 1 }, { "<i8", "i64", 8 }, { "|i1", "i8", 1 },
		{ "u8", "u8", 1 }, { "<u8", "u64", 8 }, { "f16", "f16", 2 },
		{ "<f16", "f128", 16 }, { "bf16", "bf16", 2 },
		{ "s8", "i8", 1 }, { "|V2", "opaque", 2 }, { "<c8", "c64", 8 },
		{ "|b1", "bool", 1 }, { "f8e4m3fn", "f8e4m3fn", 1 },
	};
	struct tensordma_dtype t;

	(void)state;
	for (size_t i = 0; i < TEST_COUNT(names); i++) {
		t = dtype_of(names[i].name);
		assert_string_equal(tensordma_dtype_name(t), names[i].printed);
		assert_int_equal(tensordma_dtype_bytes(t), names[i].bytes);
	}
	assert_int_equal(tensordma_dtype_parse("", &t), -EINVAL);
	assert_int_equal(tensordma_dtype_parse("f5", &t), -EINVAL);
	assert_int_equal(tensordma_dtype_parse(">f4", &t), -EINVAL);
	assert_int_equal(tensordma_dtype_parse("|V0", &t), -EINVAL);
	assert_int_equal(tensordma_dtype_parse("|V99999", &t), -EINVAL);
}

static void test_properties(void **state)
{
	const char *const bad[] = { "lanes=9", "lanes", "lanes=4x", "lanes=-1",
				    "no-such=1", "latency-max=1", "hbm-size=5" };
	const char *const good[] = { "lanes=8", "hbm-size=64M", "dims=5", NULL };
	struct tensordma_config config = { .backend = "sim",
					   .properties = good };
	struct tensordma_info info;
	struct tensordma_error why;
	struct tensordma *m;

	(void)state;
	OK(tensordma_open(&m, &config, err));
	tensordma_get_info(m, &info);
	assert_int_equal(info.lanes, 8);
	assert_int_equal(info.max_dims, 5);
	tensordma_close(m);
	for (size_t i = 0; i < TEST_COUNT(bad); i++) {
		const char *const list[] = { bad[i], NULL };

		config.properties = list;
		assert_int_equal(tensordma_open(&m, &config, &why), -EINVAL);
		assert_string_equal(why.field, "property");
	}
	config.properties = NULL;
	config.backend = "/nonexistent";
	assert_int_equal(tensordma_open(&m, &config, &why), -ENOENT);
	config.backend = "/dev/null";
	assert_int_equal(tensordma_open(&m, &config, &why), -ENOTTY);
}

static int open_machine(void **state)
{
	(void)state;
	machine = machine_open(0);
	return 0;
}

static int close_machine(void **state)
{
	(void)state;
	tensordma_close(machine);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_outer_ones),
		cmocka_unit_test(test_inner_stride),
		cmocka_unit_test(test_box_start),
		cmocka_unit_test(test_many_beats),
		cmocka_unit_test(test_pad_then_copy),
		cmocka_unit_test(test_wide_pad),
		cmocka_unit_test(test_rest_of_tile),
		cmocka_unit_test(test_row_to_column),
		cmocka_unit_test(test_add_transposed),
		cmocka_unit_test(test_aliased_destination),
		cmocka_unit_test(test_one_element_everywhere),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_size_one_strides),
		cmocka_unit_test(test_reversed_single),
		cmocka_unit_test(test_partial_block),
		cmocka_unit_test(test_block_to_block),
		cmocka_unit_test(test_gaps),
		cmocka_unit_test(test_box_beyond_row),
		cmocka_unit_test(test_far_rows),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_overflow),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_refused_descriptor),
		cmocka_unit_test(test_progress),
		cmocka_unit_test(test_poll),
		cmocka_unit_test(test_dlpack),
		cmocka_unit_test(test_dtypes),
		cmocka_unit_test(test_properties),
	};

	return cmocka_run_group_tests_name("libtensordma reports", tests,
					   open_machine, close_machine);
}
