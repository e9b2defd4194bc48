// SPDX-License-Identifier: GPL-2.0
/* tensordma selftests: blocked tensor layouts by name. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "tdma_blocked.h"

/*
 * Elements of an axis that a layout keeps together: all its blocks. Asked
 * before lay_out() gives sizes to the loops over blocks, too.
 */
static __u64 block_of(const struct tdma_layout *l, int letter)
{
	__u64 block = 1;

	for (int i = 0; i < l->digits; i++)
		if (l->digit[i].letter == letter && l->digit[i].size)
			block *= l->digit[i].size;
	return block;
}

static __u64 round_up(__u64 n, __u64 unit)
{
	return (n + unit - 1) / unit * unit;
}

/* Digits of a name, innermost first; those of whole axes have no size yet. */
static const char *parse_name(struct tdma_layout *l, const char *name)
{
	const char *end = name;

	l->digits = 0;
	while (isalnum((unsigned char)*end)) {
		char *after;
		__u64 size = strtoul(end, &after, 10);
		int letter = tolower((unsigned char)*after) - 'a';

		if (letter < 0 || letter >= TDMA_MAX_LETTERS ||
		    l->digits == TDMA_MAX_DIGITS)
			return NULL;
		memmove(&l->digit[1], &l->digit[0],
			l->digits * sizeof(l->digit[0]));
		l->digit[0] = (struct tdma_digit){
			.letter = letter,
			.size = size,
		};
		l->digits++;
		end = after + 1;
	}
	return end;
}

/* Sizes, coefficients and strides for a tensor of @dims */
static void lay_out(struct tdma_layout *l, const __u64 *dims)
{
	__u64 coef[TDMA_MAX_LETTERS], stride = 1;

	for (int i = 0; i < TDMA_MAX_LETTERS; i++) {
		coef[i] = 1;
		l->padded[i] = round_up(dims[i], block_of(l, i));
	}
	for (int i = 0; i < l->digits; i++) {
		struct tdma_digit *d = &l->digit[i];

		if (!d->size)
			d->size = l->padded[d->letter] / coef[d->letter];
		d->coef = coef[d->letter];
		d->stride = stride;
		coef[d->letter] *= d->size;
		stride *= d->size;
	}
}

static __u64 payload_of(const struct tdma_blocked *b)
{
	__u64 bytes = b->elem_bytes;

	for (int i = 0; i < b->letters; i++)
		bytes *= round_up(b->dims[i], block_of(&b->dst, i));
	return bytes;
}

/* Fewer whole blocks of axes that no layout pads, so that padding stays */
static void shrink(struct tdma_blocked *b, __u64 payload)
{
	for (int i = 0; i < b->letters; i++) {
		__u64 src = block_of(&b->src, i), dst = block_of(&b->dst, i);
		__u64 unit = src > dst ? src : dst;
		__u64 others = payload_of(b) / b->dims[i];
		__u64 fits = payload / (others ? others : 1) / unit * unit;

		if (b->dims[i] % unit || payload_of(b) <= payload)
			continue;
		if (fits < unit)
			fits = unit;
		if (fits < b->dims[i])
			b->dims[i] = fits;
	}
}

bool tdma_blocked_parse(struct tdma_blocked *b, const char *names,
			__u32 elem_bytes, __u64 payload)
{
	const char *at;

	memset(b, 0, sizeof(*b));
	b->elem_bytes = elem_bytes;
	at = parse_name(&b->src, names);
	if (!at || strncmp(at, "->", 2))
		return false;
	at = parse_name(&b->dst, at + 2);
	if (!at || strncmp(at, " dims ", 6))
		return false;
	for (at += 6; isdigit((unsigned char)*at); at += *at == 'x') {
		char *end;

		if (b->letters == TDMA_MAX_LETTERS)
			return false;
		b->dims[b->letters] = strtoul(at, &end, 10);
		if (!b->dims[b->letters++])
			return false;
		at = end;
	}
	shrink(b, payload);
	lay_out(&b->src, b->dims);
	lay_out(&b->dst, b->dims);
	return true;
}

/* Memory stride of a step of @coef along an axis; 0 if it is not fixed */
static __u64 stride_at(const struct tdma_layout *l, int letter, __u64 coef)
{
	for (int i = l->digits - 1; i >= 0; i--) {
		const struct tdma_digit *d = &l->digit[i];

		if (d->letter != letter || d->coef > coef)
			continue;
		return coef % d->coef ? 0 : d->stride * (coef / d->coef);
	}
	return 0;
}

/* Where the next digit of either layout begins; @end if there is none */
static __u64 next_coef(const struct tdma_blocked *b, int letter, __u64 coef,
		       __u64 end)
{
	const struct tdma_layout *const layouts[] = { &b->src, &b->dst };

	for (int l = 0; l < 2; l++)
		for (int i = 0; i < layouts[l]->digits; i++) {
			const struct tdma_digit *d = &layouts[l]->digit[i];

			if (d->letter == letter && d->coef > coef &&
			    d->coef < end)
				end = d->coef;
		}
	return end;
}

/* The dimension and its place on the axis */
struct step {
	__u32 size;
	__s32 coef;
	__s64 src_stride;
	__s64 dst_stride;
	int letter;
};

/* Loops along one axis: wherever either layout has a digit of its own */
static int split_axis(const struct tdma_blocked *b, int letter,
		      struct step *steps, int count, __u64 *covered)
{
	__u64 range = b->dst.padded[letter], coef = 1, next;

	*covered = 1;
	while (coef < range) {
		next = next_coef(b, letter, coef, range);
		if (next < range && next % coef)
			return -1;
		if (count == TDMA_MAX_DIMS)
			return -1;
		steps[count] = (struct step){
			.size = (next + coef - 1) / coef,
			.coef = coef,
			.src_stride = stride_at(&b->src, letter, coef) *
				      b->elem_bytes,
			.dst_stride = stride_at(&b->dst, letter, coef) *
				      b->elem_bytes,
			.letter = letter,
		};
		if (!steps[count].src_stride || !steps[count].dst_stride)
			return -1;
		*covered = steps[count].size * coef;
		coef = next;
		count++;
	}
	return count;
}

static int by_destination(const void *a, const void *b)
{
	const struct step *x = a, *y = b;

	return (x->dst_stride > y->dst_stride) -
	       (x->dst_stride < y->dst_stride);
}

/* Bound the coordinate of an axis on one side. */
static void bound(struct tdma_desc_ext *ext, int side, __u64 extent,
		  int letter, const struct step *steps, int count)
{
	__u8 *axis = side ? ext->dst_axis : ext->src_axis;
	__s32 *coef = side ? ext->dst_coef : ext->src_coef;
	int a = ext->naxes++;

	ext->axis_side[a] = side;
	ext->axis_extent[a] = extent;
	for (int i = 0; i < count; i++)
		if (steps[i].letter == letter) {
			axis[i] = a + 1;
			coef[i] = steps[i].coef;
		}
}

const char *tdma_blocked_plan(const struct tdma_blocked *b,
			      union tdma_slot slots[2])
{
	struct tdma_desc_ext *ext = &slots[1].ext;
	struct step steps[TDMA_MAX_DIMS];
	__u64 covered[TDMA_MAX_LETTERS];
	int count = 0;

	for (int i = 0; i < b->letters && count >= 0; i++)
		count = split_axis(b, i, steps, count, &covered[i]);
	if (count < 0)
		return "more than eight dimensions";
	qsort(steps, count, sizeof(steps[0]), by_destination);
	memset(slots, 0, 2 * sizeof(*slots));
	slots[0].desc = tdma_desc_copy(0, 0, b->elem_bytes);
	for (int i = 0; i < count; i++)
		tdma_dim(&slots[0].desc, steps[i].size, steps[i].src_stride,
			 steps[i].dst_stride);
	for (int i = 0; i < b->letters; i++) {
		if (covered[i] > b->dims[i])
			bound(ext, 0, b->dims[i], i, steps, count);
		if (covered[i] > b->dst.padded[i])
			bound(ext, 1, b->dst.padded[i], i, steps, count);
	}
	if (ext->naxes) {
		ext->version = TDMA_DESC_VERSION;
		ext->fill_bytes = 1;
		slots[0].desc.flags = TDMA_DESC_EXT;
	}
	return NULL;
}

__u64 tdma_blocked_bytes(const struct tdma_blocked *b,
			 const struct tdma_layout *l)
{
	__u64 bytes = b->elem_bytes;

	for (int i = 0; i < b->letters; i++)
		bytes *= l->padded[i];
	return bytes;
}

/* Place of an element, in elements, from its coordinates */
static __u64 place(const struct tdma_layout *l, const __u64 *at)
{
	__u64 offset = 0;

	for (int i = 0; i < l->digits; i++) {
		const struct tdma_digit *d = &l->digit[i];

		offset += at[d->letter] / d->coef % d->size * d->stride;
	}
	return offset;
}

static void fill_from(const struct tdma_blocked *b, int letter, __u64 *at,
		      const unsigned char *src, unsigned char *dst)
{
	bool real = true;

	if (letter < b->letters) {
		for (at[letter] = 0; at[letter] < b->dst.padded[letter];
		     at[letter]++)
			fill_from(b, letter + 1, at, src, dst);
		return;
	}
	for (int i = 0; i < b->letters; i++)
		real &= at[i] < b->dims[i];
	dst += place(&b->dst, at) * b->elem_bytes;
	if (real)
		memcpy(dst, src + place(&b->src, at) * b->elem_bytes,
		       b->elem_bytes);
	else
		memset(dst, 0, b->elem_bytes);
}

void tdma_blocked_reference(const struct tdma_blocked *b,
			    const unsigned char *src, unsigned char *dst)
{
	__u64 at[TDMA_MAX_LETTERS] = {};

	fill_from(b, 0, at, src, dst);
}
