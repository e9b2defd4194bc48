// SPDX-License-Identifier: GPL-2.0-only
/*
 * The driver's check of descriptors against the device's and a brute-force
 * walk.
 *
 * Random descriptors, most of them valid but for one field, go through the
 * driver's check, the device's check and, if they are small, through the loop
 * nest element by element. All must agree: on whether anything is wrong, and
 * the two checks also on which field of which dimension.
 *
 * usage: desc_test [COUNT [SEED]]
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../tdma_desc.h"
#include "dma/tdma_check.h"

#define SMALL_ELEMENTS	4096
#define DIFFERENCES	10

static uint64_t rng;

static uint64_t rnd(void)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return rng;
}

static uint64_t below(uint64_t n)
{
	return rnd() % n;
}

/* A number whose size is anything, with a liking for the edges of types */
static uint64_t any(void)
{
	static const uint64_t edges[] = {
		0, 1, 2, 63, 64, 255, 256, 4096, 65536, 1U << 31,
		UINT32_MAX, 1ULL << 32, INT64_MAX, 1ULL << 63, UINT64_MAX,
	};

	if (below(2))
		return edges[below(ARRAY_SIZE(edges))] + below(3) - 1;
	return rnd() >> below(64);
}

struct sample {
	struct tdma_desc desc;
	struct tdma_desc_ext ext;
	struct tdma_segment seg[3];
	bool missing[3];
};

static const struct tdma_desc_limits limits = {
	.opcodes = 0x1f,
	.types = 0x3e,
	.flags = TDMA_DESC_FLAGS,
	.dims = TDMA_MAX_DIMS,
	.sync_flags = UINT32_MAX,
};

static void make_shape(struct tdma_desc *d)
{
	unsigned int i;

	d->ndims = below(TDMA_MAX_DIMS + 1);
	for (i = 0; i < d->ndims; i++) {
		d->steps[i] = below(20) ? 1 + below(5) : below(3);
		d->src_stride[i] = (int64_t)below(400) - 200;
		d->dst_stride[i] = (int64_t)below(400) - 200;
	}
	if (!below(5)) {
		d->flags |= TDMA_DESC_TOTAL;
		d->total = below(100);
		if (d->ndims)
			d->steps[d->ndims - 1] = 0;
	}
}

static void make_ext(struct sample *s)
{
	struct tdma_desc *d = &s->desc;
	struct tdma_desc_ext *e = &s->ext;
	unsigned int i;

	d->flags |= TDMA_DESC_EXT;
	e->version = TDMA_DESC_VERSION;
	e->naxes = 1 + below(3);
	if (d->opcode == TDMA_OP_COPY || d->opcode == TDMA_OP_ACCUMULATE)
		e->fill_bytes = 1;
	for (i = 0; i < e->naxes; i++) {
		e->axis_side[i] = d->opcode == TDMA_OP_MEMSET ? 1 :
				  d->opcode == TDMA_OP_READ ? 0 : below(2);
		e->axis_start[i] = (int64_t)below(9) - 4;
		e->axis_extent[i] = below(6);
	}
	for (i = 0; i < d->ndims; i++) {
		unsigned int axis = below(e->naxes);

		if (below(2))
			continue;
		if (e->axis_side[axis]) {
			e->dst_axis[i] = axis + 1;
			e->dst_coef[i] = (int)below(5) - 2;
		} else {
			e->src_axis[i] = axis + 1;
			e->src_coef[i] = (int)below(5) - 2;
		}
	}
}

static void drop_side(struct tdma_desc *d, bool dst)
{
	if (dst) {
		d->dst_segment = 0;
		d->dst_offset = 0;
		memset(d->dst_stride, 0, sizeof(d->dst_stride));
	} else {
		d->src_segment = 0;
		d->src_offset = 0;
		memset(d->src_stride, 0, sizeof(d->src_stride));
	}
}

static void make_opcode(struct tdma_desc *d)
{
	static const uint8_t bytes[] = { 0, 2, 4, 2, 2, 4 };

	d->opcode = 1 + below(4);
	d->elem_bytes = 1 + below(below(4) ? 16 : 200);
	if (d->opcode == TDMA_OP_MEMSET) {
		drop_side(d, false);
		d->type = 1;
	} else if (d->opcode == TDMA_OP_ACCUMULATE) {
		d->type = 1 + below(5);
		d->elem_bytes = bytes[d->type];
	} else if (d->opcode == TDMA_OP_READ) {
		drop_side(d, true);
	}
}

/* Spoil any bytes of the descriptor, of its block or of a segment. */
static void mutate(struct sample *s)
{
	static const unsigned int sizes[] = { 1, 2, 4, 8 };
	uint8_t *base = below(8) ? (uint8_t *)&s->desc : (uint8_t *)&s->ext;
	unsigned int size = sizes[below(4)];
	uint64_t value = any();

	memcpy(base + below(sizeof(s->desc) / size) * size, &value, size);
}

/* Widen strides and bounds to where 64 bits end. */
static void enlarge(struct sample *s)
{
	struct tdma_desc *d = &s->desc;
	unsigned int i;

	for (i = 0; i < d->ndims; i++) {
		if (below(2) && d->steps[i])
			d->steps[i] = any();
		if (below(2) && d->opcode != TDMA_OP_MEMSET)
			d->src_stride[i] = any();
		if (below(2) && d->opcode != TDMA_OP_READ)
			d->dst_stride[i] = any();
	}
	for (i = 0; i < 3; i++)
		if (below(2))
			s->seg[i].length = any();
	if (d->flags & TDMA_DESC_TOTAL && below(2))
		d->total = any();
}

static void make_sample(struct sample *s)
{
	struct tdma_desc *d = &s->desc;
	unsigned int i;

	memset(s, 0, sizeof(*s));
	d->version = TDMA_DESC_VERSION;
	d->src_segment = 1;
	d->dst_segment = 2;
	d->src_offset = below(2000);
	d->dst_offset = below(2000);
	make_shape(d);
	make_opcode(d);
	if (!below(4))
		make_ext(s);
	if (!below(6)) {
		d->flags |= TDMA_DESC_RECORD;
		d->record_segment = 3;
		d->record_offset = 64 * below(4);
	}
	for (i = 0; i < 3; i++) {
		s->seg[i].space = TDMA_SPACE_HOST;
		s->seg[i].flags = below(12) ? TDMA_SEG_READ | TDMA_SEG_WRITE :
				  below(8);
		s->seg[i].length = below(4000);
		s->missing[i] = !below(40);
	}
	if (!below(3))
		enlarge(s);
	for (i = below(3); i; i--)
		mutate(s);
}

/* The device's verdict on everything, in the order of the device */
static void device_verdict(const struct sample *s, struct tdma_verdict *v,
			   struct tdma_shape *shape)
{
	const struct tdma_check_limits dev = {
		.dims = limits.dims,
		.opcodes = limits.opcodes,
		.types = limits.types,
		.flags = limits.flags,
	};
	const struct tdma_desc *d = &s->desc;
	const struct tdma_desc_ext *e = d->flags & TDMA_DESC_EXT ? &s->ext :
								   NULL;
	uint64_t lo, hi;
	unsigned int i;

	if (!tdma_check_desc(&dev, d, e, shape, v))
		return;
	for (i = 0; i < 2; i++)
		if (tdma_opcode_traits(d->opcode)->side[i] &&
		    !tdma_check_side(d, e, shape, i,
				     s->missing[i] ? NULL : &s->seg[i], &lo,
				     &hi, v))
			return;
	if (d->flags & TDMA_DESC_RECORD)
		tdma_check_record(d, s->missing[2] ? NULL : &s->seg[2], v);
}

static void driver_verdict(const struct sample *s, struct tdma_desc_report *r)
{
	const struct tdma_segment *seg[TDMA_DESC_SIDES];
	unsigned int i;

	for (i = 0; i < 3; i++)
		seg[i] = s->missing[i] ? NULL : &s->seg[i];
	memset(r, 0, sizeof(*r));
	r->status = TDMA_STATUS_OK;
	tdma_desc_check(&s->desc, &s->ext, &limits, seg, r);
}

/* Only the device knows the extent of a side that axes clip. */
static bool left_to_device(const struct sample *s, const struct tdma_verdict *v)
{
	unsigned int i;

	if (v->status != TDMA_STATUS_BAD_EXTENT ||
	    !(s->desc.flags & TDMA_DESC_EXT) || v->side == TDMA_SIDE_RECORD)
		return false;
	for (i = 0; i < s->ext.naxes; i++)
		if (s->ext.axis_side[i] == v->side - 1)
			return true;
	return false;
}

static bool outside(const struct sample *s, const uint64_t *index, int side)
{
	const struct tdma_desc *d = &s->desc;
	const int64_t *stride = (const int64_t *)(side ? d->dst_stride :
							 d->src_stride);
	__int128 at = side ? d->dst_offset : d->src_offset;
	unsigned int i;

	for (i = 0; i < d->ndims; i++)
		at += (__int128)stride[i] * index[i];
	return at < 0 || at + d->elem_bytes > s->seg[side].length;
}

/* Walk a small nest without axes; does any element lie outside? */
static bool walk_outside(const struct sample *s, const struct tdma_shape *shape)
{
	uint64_t index[TDMA_MAX_DIMS] = { 0 };
	uint64_t n;
	unsigned int i;

	for (n = 0; n < shape->elements; n++) {
		for (i = 0; i < 2; i++)
			if (tdma_desc_uses(&s->desc, i) && outside(s, index, i))
				return true;
		for (i = 0; i < s->desc.ndims; i++) {
			if (++index[i] < shape->steps[i])
				break;
			index[i] = 0;
		}
	}
	return false;
}

static bool agree(const struct sample *s, uint64_t *walked)
{
	struct tdma_desc_report r;
	struct tdma_shape shape = { 0 };
	struct tdma_verdict v;
	bool refused;

	device_verdict(s, &v, &shape);
	driver_verdict(s, &r);
	if (left_to_device(s, &v))
		return r.status == TDMA_STATUS_OK || r.side > v.side;
	refused = v.status != TDMA_STATUS_OK;
	if (r.status != v.status ||
	    (refused && (r.field != v.field || r.dim != v.dim ||
			 r.side != v.side))) {
		printf("driver: status %u field %u dim %u side %u\n"
		       "device: status %u field %u dim %u side %u\n",
		       r.status, r.field, r.dim, r.side, v.status, v.field,
		       v.dim, v.side);
		return false;
	}
	if (s->desc.flags & TDMA_DESC_EXT || shape.elements > SMALL_ELEMENTS ||
	    (refused && (v.status != TDMA_STATUS_BAD_EXTENT ||
			 v.side == TDMA_SIDE_RECORD)))
		return true;
	++*walked;
	if (walk_outside(s, &shape) == refused)
		return true;
	printf("both say %u, the walk does not\n", v.status);
	return false;
}

static void show(const struct sample *s)
{
	const uint8_t *bytes = (const uint8_t *)s;
	size_t i;

	for (i = 0; i < sizeof(*s); i++)
		printf("%02x%s", bytes[i], i % 32 == 31 ? "\n" : "");
	printf("\n");
}

int main(int argc, char **argv)
{
	uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 0) : 1000000;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) :
				   (uint64_t)time(NULL);
	uint64_t i, walked = 0, differ = 0;
	struct sample s;

	rng = seed * 0x9e3779b97f4a7c15ULL | 1;
	printf("seed %" PRIu64 "\n", seed);
	for (i = 0; i < count && differ < DIFFERENCES; i++) {
		make_sample(&s);
		if (!agree(&s, &walked)) {
			show(&s);
			differ++;
		}
	}
	printf("%" PRIu64 " descriptors, %" PRIu64 " walked, %" PRIu64
	       " differences\n", i, walked, differ);
	return differ || !walked;
}
