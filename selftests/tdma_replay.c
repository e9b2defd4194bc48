// SPDX-License-Identifier: GPL-2.0
/* tensordma selftests: rows of cases/cases.tsv carried out and compared. */
#include <string.h>

#include "kselftest.h"
#include "tdma_blocked.h"
#include "tdma_random.h"
#include "tdma_ref.h"
#include "tdma_replay.h"

#define SPAN_BYTES	(8U << 20)
#define GUARD_BYTES	4096
/* A slow machine does a quarter, the many rows of the pool another quarter. */
#define PAYLOAD_BYTES	(64U << 10)

/* Bytes of the destination up to the last one of a row, and a guard */
static size_t reach(const struct tdma_desc *d, size_t len)
{
	size_t end = d->dst_offset + d->elem_bytes + GUARD_BYTES;

	for (int i = 0; i < d->ndims; i++)
		if (d->steps[i] && d->dst_stride[i] > 0)
			end += (d->steps[i] - 1) * d->dst_stride[i];
	return end < len ? end : len;
}

/* Offset of the first wrong byte up to @len, or -1. */
static long mismatch(struct tdma_replay *r, size_t len)
{
	struct tdma_buf part = r->dst;
	size_t at;

	part.len = len;
	at = tdma_buf_diff(&part);
	if (at == len)
		return -1;
	/* Do not blame the next row. */
	memcpy(r->dst.image, r->dst.mem, r->dst.len);
	return at;
}

/* What a row is: a descriptor, and for layout names their meaning. */
struct plan {
	union tdma_slot slots[2];
	struct tdma_blocked blocked;
	bool is_blocked;
};

static void reference(struct tdma_replay *r, const struct plan *p)
{
	const struct tdma_desc *d = &p->slots[0].desc;

	if (p->is_blocked)
		tdma_blocked_reference(&p->blocked, r->src.image,
				       r->dst.image);
	else
		tdma_ref_run(d, d->flags & TDMA_DESC_EXT ? &p->slots[1].ext :
			     NULL, r->src.image, r->dst.image);
}

static void run_plan(struct tdma_replay *r, struct plan *p,
		     struct tdma_verdict *v)
{
	struct tdma_desc *d = &p->slots[0].desc;
	__u64 elements = tdma_ref_elements(d);
	struct tdma_record rec;
	long at;
	int ret;

	d->src_segment = r->src.handle;
	d->dst_segment = r->dst.handle;
	ret = tdma_run(r->fd, p->slots, &rec);
	v->result = KSFT_FAIL;
	v->bytes = elements * d->elem_bytes;
	v->cycles = rec.cycles;
	if (ret) {
		snprintf(v->why, sizeof(v->why), "%s", strerror(-ret));
		return;
	}
	reference(r, p);
	at = mismatch(r, reach(d, r->dst.len));
	if (rec.status != TDMA_STATUS_OK || rec.dst_done != elements)
		snprintf(v->why, sizeof(v->why),
			 "status %u field %u, %llu of %llu elements",
			 rec.status, rec.fault_field, rec.dst_done, elements);
	else if (at >= 0)
		snprintf(v->why, sizeof(v->why), "byte %ld is wrong", at);
	else
		v->result = KSFT_PASS;
}

static const char *plan_blocked(const struct tdma_row *row, __u64 payload,
				struct plan *p)
{
	const char *names = strchr(row->notes, ' ');
	const struct tdma_blocked *b = &p->blocked;

	p->is_blocked = true;
	/* The first word is the number format. */
	if (!names || !tdma_blocked_parse(&p->blocked, names + 1,
					  row->elem_bytes, payload))
		return "layouts as 'abcd->aBcd16b dims 1x2x3x4'";
	if (tdma_blocked_bytes(b, &b->src) > SPAN_BYTES ||
	    tdma_blocked_bytes(b, &b->dst) > SPAN_BYTES)
		return "a larger buffer";
	return tdma_blocked_plan(b, p->slots);
}

void tdma_replay_row(struct tdma_replay *r, const struct tdma_row *row,
		     struct tdma_verdict *v)
{
	struct tdma_row_limits limits = r->limits;
	struct plan p = {};
	const char *needs;

	if (strcmp(row->tier, "core"))
		limits.payload /= 4;
	if (!strcmp(row->op, "reorder_pad"))
		needs = plan_blocked(row, limits.payload, &p);
	else
		needs = tdma_row_plan(row, &limits, p.slots);
	memset(v, 0, sizeof(*v));
	v->result = KSFT_SKIP;
	if (needs)
		snprintf(v->why, sizeof(v->why), "needs %s", needs);
	else if (p.slots[0].desc.flags & TDMA_DESC_EXT &&
		 !(r->caps.features & TDMA_FEATURE_EXT))
		snprintf(v->why, sizeof(v->why), "needs TDMA_FEATURE_EXT");
	else
		run_plan(r, &p, v);
}

int tdma_replay_open(struct tdma_replay *r)
{
	struct tdma_rng rng = {};
	int ret;

	r->limits.span = SPAN_BYTES;
	r->limits.payload = tdma_env("TDMA_CASE_BYTES", tdma_slow() ?
				     PAYLOAD_BYTES / 4 : PAYLOAD_BYTES);
	r->fd = tdma_open(0);
	if (r->fd < 0)
		return r->fd;
	ret = tdma_query(r->fd, &r->caps);
	if (!ret)
		ret = tdma_buf_create(&r->src, r->fd, TDMA_MEM_USER,
				      SPAN_BYTES);
	if (!ret)
		ret = tdma_buf_create(&r->dst, r->fd, TDMA_MEM_USER,
				      SPAN_BYTES);
	if (ret)
		return ret;
	tdma_rand_fill(&rng, &r->src);
	tdma_rand_fill(&rng, &r->dst);
	return 0;
}

bool tdma_replay_clean(const struct tdma_replay *r)
{
	return tdma_buf_diff(&r->src) == r->src.len &&
	       tdma_buf_diff(&r->dst) == r->dst.len;
}
