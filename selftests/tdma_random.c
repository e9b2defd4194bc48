// SPDX-License-Identifier: GPL-2.0
/* tensordma selftests: reproducible random data and random valid jobs. */
#include <string.h>

#include "tdma_random.h"

/* SplitMix64: any seed, zero included, gives a full period. */
__u64 tdma_rand(struct tdma_rng *rng)
{
	__u64 z = rng->state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

__u64 tdma_rand_below(struct tdma_rng *rng, __u64 n)
{
	return tdma_rand(rng) % n;
}

static bool one_in(struct tdma_rng *rng, __u64 n)
{
	return !tdma_rand_below(rng, n);
}

void tdma_rand_fill(struct tdma_rng *rng, struct tdma_buf *buf)
{
	size_t i;
	__u64 word;

	for (i = 0; i < buf->len; i += sizeof(word)) {
		size_t rest = buf->len - i;

		word = tdma_rand(rng);
		memcpy(buf->image + i, &word,
		       rest < sizeof(word) ? rest : sizeof(word));
	}
	memcpy(buf->mem, buf->image, buf->len);
}

static bool offered(const struct tdma_query *caps, int opcode)
{
	return caps->opcodes & 1U << opcode;
}

static int rand_opcode(struct tdma_rng *rng, const struct tdma_query *caps)
{
	static const __u8 wanted[] = {
		TDMA_OP_COPY, TDMA_OP_COPY, TDMA_OP_COPY, TDMA_OP_COPY,
		TDMA_OP_COPY, TDMA_OP_COPY, TDMA_OP_COPY, TDMA_OP_MEMSET,
		TDMA_OP_MEMSET, TDMA_OP_ACCUMULATE, TDMA_OP_READ, TDMA_OP_NOP,
	};
	int opcode = wanted[tdma_rand_below(rng, ARRAY_SIZE(wanted))];

	return offered(caps, opcode) ? opcode : TDMA_OP_COPY;
}

static __u32 rand_elem(struct tdma_rng *rng)
{
	static const __u32 usual[] = { 1, 2, 3, 4, 8, 16, 512 };

	if (one_in(rng, 4))
		return 1 + tdma_rand_below(rng, 64);
	return usual[tdma_rand_below(rng, ARRAY_SIZE(usual))];
}

static __u8 rand_divisor(struct tdma_rng *rng, __u32 n)
{
	__u8 len;

	do {
		len = 1 + tdma_rand_below(rng, TDMA_MAX_FILL_BYTES);
	} while (n % len);
	return len;
}

static void rand_fill_pattern(struct tdma_rng *rng, struct tdma_desc *d,
			      __u8 len)
{
	for (int i = 0; i < len; i++)
		d->fill[i] = tdma_rand(rng);
}

/* Step counts whose product is at most @max; small ones are as likely. */
static void rand_steps(struct tdma_rng *rng, struct tdma_desc *d, __u64 max)
{
	for (int i = 0; i < d->ndims; i++) {
		__u64 limit = 1 + tdma_rand_below(rng, max);

		if (!one_in(rng, 4))
			limit = 1 + limit % 5;
		d->steps[i] = limit < max ? limit : max;
		max /= d->steps[i];
	}
	if (d->ndims && one_in(rng, 50))
		d->steps[tdma_rand_below(rng, d->ndims)] = 0;
}

/* Dense, with gaps, transposed: each dimension wraps around the ones before. */
static void rand_nested(struct tdma_rng *rng, const struct tdma_desc *d,
			__s64 *stride)
{
	__s64 pitch = d->elem_bytes;
	int first = tdma_rand_below(rng, d->ndims);

	for (int i = 0; i < d->ndims; i++) {
		int dim = (first + i) % d->ndims;

		stride[dim] = pitch;
		pitch = pitch * (d->steps[dim] ? d->steps[dim] : 1) +
			(one_in(rng, 3) ? tdma_rand_below(rng, 8) : 0);
	}
}

static void rand_strides(struct tdma_rng *rng, const struct tdma_desc *d,
			 __s64 *stride, size_t len)
{
	bool nested = !one_in(rng, 3);

	if (nested)
		rand_nested(rng, d, stride);
	for (int i = 0; i < d->ndims; i++) {
		if (!nested)
			stride[i] = tdma_rand_below(rng, len);
		if (one_in(rng, 12))
			stride[i] = 0;
		if (one_in(rng, 4))
			stride[i] = -stride[i];
	}
}

/* Lowest and one past the highest byte that the side touches, from offset 0. */
static void reach(const struct tdma_desc *d, const __s64 *stride, __s64 *low,
		  __s64 *high)
{
	*low = 0;
	*high = d->elem_bytes;
	for (int i = 0; i < d->ndims; i++) {
		__s64 span = d->steps[i] ? stride[i] * (d->steps[i] - 1LL) : 0;

		if (span < 0)
			*low += span;
		else
			*high += span;
	}
}

/* Strides and offset of one side so that it fits into @len bytes. */
static __u64 rand_side(struct tdma_rng *rng, const struct tdma_desc *d,
		       __s64 *stride, size_t len)
{
	__s64 low, high;

	if (d->ndims)
		rand_strides(rng, d, stride, len);
	reach(d, stride, &low, &high);
	while (high - low > (__s64)len) {
		for (int i = 0; i < d->ndims; i++)
			stride[i] /= 2;
		reach(d, stride, &low, &high);
	}
	return tdma_rand_below(rng, len - (high - low) + 1) - low;
}

static void rand_sync(struct tdma_rng *rng, struct tdma_desc *d)
{
	if (one_in(rng, 2))
		return;
	if (d->opcode != TDMA_OP_MEMSET)
		d->src_sync_interval = tdma_rand_below(rng, 100);
	if (d->opcode != TDMA_OP_READ)
		d->dst_sync_interval = tdma_rand_below(rng, 100);
}

/* Let the count end the job somewhere before the steps would. */
static void rand_total(struct tdma_rng *rng, struct tdma_desc *d)
{
	__u64 elements = 1;

	for (int i = 0; i < d->ndims; i++)
		elements *= d->steps[i];
	if (!d->ndims || !elements || !one_in(rng, 8))
		return;
	d->flags |= TDMA_DESC_TOTAL;
	d->total = 1 + tdma_rand_below(rng, elements);
	d->steps[d->ndims - 1] = 0;
}

static void rand_axes(struct tdma_rng *rng, struct tdma_desc *d,
		      struct tdma_desc_ext *ext)
{
	memset(ext, 0, sizeof(*ext));
	ext->version = TDMA_DESC_VERSION;
	ext->naxes = 1 + tdma_rand_below(rng, 3);
	ext->fill_bytes = rand_divisor(rng, d->elem_bytes);
	rand_fill_pattern(rng, d, ext->fill_bytes);
	d->flags |= TDMA_DESC_EXT;
	for (int a = 0; a < ext->naxes; a++) {
		ext->axis_side[a] = tdma_rand_below(rng, 2);
		ext->axis_start[a] = tdma_rand_below(rng, 7) - 3LL;
		ext->axis_extent[a] = 1 + tdma_rand_below(rng, 8);
	}
	for (int i = 0; i < d->ndims; i++) {
		int a = tdma_rand_below(rng, ext->naxes);
		__s32 coef = tdma_rand_below(rng, 5) - 2;

		if (!coef)
			continue;
		if (ext->axis_side[a]) {
			ext->dst_axis[i] = a + 1;
			ext->dst_coef[i] = coef;
		} else {
			ext->src_axis[i] = a + 1;
			ext->src_coef[i] = coef;
		}
	}
}

static void rand_type(struct tdma_rng *rng, const struct tdma_query *caps,
		      struct tdma_desc *d)
{
	switch (d->opcode) {
	case TDMA_OP_MEMSET:
		d->type = rand_divisor(rng, d->elem_bytes);
		rand_fill_pattern(rng, d, d->type);
		break;
	case TDMA_OP_ACCUMULATE:
		d->type = one_in(rng, 2) ? TDMA_TYPE_S16 : TDMA_TYPE_S32;
		if (!(caps->types & 1U << d->type))
			d->opcode = TDMA_OP_COPY;
		else
			d->elem_bytes = d->type == TDMA_TYPE_S16 ? 2 : 4;
		if (d->opcode == TDMA_OP_COPY)
			d->type = TDMA_TYPE_NONE;
		break;
	}
}

void tdma_rand_job(struct tdma_rng *rng, const struct tdma_query *caps,
		   const struct tdma_buf *src, const struct tdma_buf *dst,
		   __u64 max_elements, union tdma_slot slots[2])
{
	struct tdma_desc *d = &slots[0].desc;

	memset(slots, 0, 2 * sizeof(*slots));
	d->version = TDMA_DESC_VERSION;
	d->tag = tdma_rand(rng);
	d->opcode = rand_opcode(rng, caps);
	if (d->opcode == TDMA_OP_NOP)
		return;
	d->elem_bytes = rand_elem(rng);
	rand_type(rng, caps, d);
	d->ndims = tdma_rand_below(rng, caps->max_dims + 1);
	rand_steps(rng, d, max_elements);
	if (d->opcode != TDMA_OP_MEMSET) {
		d->src_segment = src->handle;
		d->src_offset = rand_side(rng, d, d->src_stride, src->len);
	}
	if (d->opcode != TDMA_OP_READ) {
		d->dst_segment = dst->handle;
		d->dst_offset = rand_side(rng, d, d->dst_stride, dst->len);
	}
	rand_sync(rng, d);
	rand_total(rng, d);
	if (d->opcode == TDMA_OP_COPY && caps->features & TDMA_FEATURE_EXT &&
	    one_in(rng, 6))
		rand_axes(rng, d, &slots[1].ext);
}
