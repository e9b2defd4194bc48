// SPDX-License-Identifier: GPL-2.0
/* tensordma selftests: plain loop nest reference. */
#include <stdbool.h>
#include <string.h>

#include "tdma_ref.h"

struct nest {
	const struct tdma_desc *d;
	const struct tdma_desc_ext *ext;
	unsigned char *src;
	unsigned char *dst;
	__u64 steps[TDMA_MAX_DIMS];
	__u64 index[TDMA_MAX_DIMS];
	__u64 left;
};

static __u64 inner_product(const struct tdma_desc *d, int dims)
{
	__u64 product = 1;

	for (int i = 0; i < dims; i++)
		product *= d->steps[i];
	return product;
}

__u64 tdma_ref_elements(const struct tdma_desc *d)
{
	if (d->flags & TDMA_DESC_TOTAL)
		return d->total;
	return inner_product(d, d->ndims);
}

/* Is element @index inside every axis of @side (0 = source)? */
static bool inside(const struct nest *n, int side)
{
	const struct tdma_desc_ext *ext = n->ext;
	const __u8 *axis_of = side ? ext->dst_axis : ext->src_axis;
	const __s32 *coef = side ? ext->dst_coef : ext->src_coef;

	for (int a = 0; a < ext->naxes; a++) {
		__s64 at = ext->axis_start[a];

		if (ext->axis_side[a] != side)
			continue;
		for (int d = 0; d < n->d->ndims; d++)
			if (axis_of[d] == a + 1)
				at += (__s64)n->index[d] * coef[d];
		if (at < 0 || (__u64)at >= ext->axis_extent[a])
			return false;
	}
	return true;
}

static float f32_from_bf16(__u16 bits)
{
	__u32 wide = (__u32)bits << 16;
	float f;

	memcpy(&f, &wide, sizeof(f));
	return f;
}

static __u16 bf16_from_f32(float f)
{
	__u32 bits;

	memcpy(&bits, &f, sizeof(bits));
	if (f != f)
		return bits >> 16 | 0x40;
	return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

static float f32_from_f16(__u16 bits)
{
	int exponent = bits >> 10 & 0x1f;
	float f = bits & 0x3ff;

	if (exponent == 0x1f)
		f = f ? __builtin_nanf("") : __builtin_inff();
	else if (exponent)
		f = (f + 0x400) * __builtin_ldexpf(1, exponent - 25);
	else
		f *= __builtin_ldexpf(1, -24);
	return bits & 0x8000 ? -f : f;
}

/*
 * The float argument is exact or already rounded with more than 2 * 11 + 2
 * bits, so that rounding once more to 11 bits gives the correctly rounded sum.
 */
static __u16 f16_from_f32(float f)
{
	__u16 sign = __builtin_signbit(f) ? 0x8000 : 0;
	float a = __builtin_fabsf(f);
	int exponent;
	unsigned int value;

	if (f != f)
		return 0x7e00;
	if (a >= 65520)
		return sign | 0x7c00;
	if (a < __builtin_ldexpf(1, -14))
		return sign | (__u16)__builtin_rintf(a * 0x1p24f);
	__builtin_frexpf(a, &exponent);
	value = __builtin_rintf(__builtin_ldexpf(a, 11 - exponent));
	/* value is 1024..2048; a carry into 2048 moves to the next exponent */
	return sign | (((exponent + 13) << 10) + value);
}

static void add_int(unsigned char *to, const unsigned char *from, int bytes)
{
	unsigned int carry = 0;

	for (int i = 0; i < bytes; i++) {
		carry += to[i] + from[i];
		to[i] = carry;
		carry >>= 8;
	}
}

static void add_float(unsigned char *to, const unsigned char *from, int type)
{
	__u16 a, b;
	float x, y;

	if (type == TDMA_TYPE_F32) {
		memcpy(&x, to, 4);
		memcpy(&y, from, 4);
		x += y;
		memcpy(to, &x, 4);
		return;
	}
	memcpy(&a, to, 2);
	memcpy(&b, from, 2);
	if (type == TDMA_TYPE_F16)
		a = f16_from_f32(f32_from_f16(a) + f32_from_f16(b));
	else
		a = bf16_from_f32(f32_from_bf16(a) + f32_from_bf16(b));
	memcpy(to, &a, 2);
}

static void accumulate(const struct tdma_desc *d, unsigned char *to,
		       const unsigned char *from)
{
	if (d->type == TDMA_TYPE_S16 || d->type == TDMA_TYPE_S32)
		add_int(to, from, d->elem_bytes);
	else
		add_float(to, from, d->type);
}

static void repeat(unsigned char *to, __u32 bytes, const __u8 *fill, int len)
{
	for (__u32 i = 0; i < bytes; i++)
		to[i] = fill[i % len];
}

static void element(const struct nest *n, __s64 src_at, __s64 dst_at)
{
	const struct tdma_desc *d = n->d;
	unsigned char value[TDMA_MAX_ELEM_BYTES];

	if (d->opcode == TDMA_OP_READ)
		return;
	if (d->opcode == TDMA_OP_MEMSET)
		repeat(value, d->elem_bytes, d->fill, d->type);
	else if (n->ext && !inside(n, 0))
		repeat(value, d->elem_bytes, d->fill, n->ext->fill_bytes);
	else
		memcpy(value, n->src + src_at, d->elem_bytes);
	if (n->ext && !inside(n, 1))
		return;
	if (d->opcode == TDMA_OP_ACCUMULATE)
		accumulate(d, n->dst + dst_at, value);
	else
		memcpy(n->dst + dst_at, value, d->elem_bytes);
}

static void level(struct nest *n, int dim, __s64 src_at, __s64 dst_at)
{
	const struct tdma_desc *d = n->d;

	if (dim < 0) {
		element(n, src_at, dst_at);
		n->left--;
		return;
	}
	for (__u64 i = 0; i < n->steps[dim] && n->left; i++) {
		n->index[dim] = i;
		level(n, dim - 1, src_at + (__s64)i * d->src_stride[dim],
		      dst_at + (__s64)i * d->dst_stride[dim]);
	}
}

void tdma_ref_run(const struct tdma_desc *d, const struct tdma_desc_ext *ext,
		  unsigned char *src, unsigned char *dst)
{
	struct nest n = {
		.d = d,
		.ext = ext,
		.src = src,
		.dst = dst,
		.left = tdma_ref_elements(d),
	};

	if (d->opcode == TDMA_OP_NOP || !n.left)
		return;
	for (int i = 0; i < d->ndims; i++)
		n.steps[i] = d->steps[i];
	/* The outermost loop of TOTAL ends by the count alone. */
	if (d->flags & TDMA_DESC_TOTAL)
		n.steps[d->ndims - 1] = ~0ULL;
	level(&n, d->ndims - 1, d->src_offset, d->dst_offset);
}
