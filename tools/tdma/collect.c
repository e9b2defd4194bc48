// SPDX-License-Identifier: GPL-2.0
/* tdma: what a machine did, collected from its trace. */
#include <stdlib.h>
#include <string.h>
#include <linux/tensordma_desc.h>

#include "collect.h"

#define IDS	65536

bool collect_begin(struct collector *c, const struct tensordma_plan *plan,
		   size_t limit)
{
	memset(c, 0, sizeof(*c));
	c->plan = plan;
	c->limit = limit;
	for (int i = 0; i < SIDES; i++) {
		c->open[i] = calloc(IDS, sizeof(*c->open[i]));
		if (!c->open[i])
			c->broken = true;
	}
	return !c->broken;
}

void collect_free(struct collector *c)
{
	free(c->requests);
	free(c->stalls.list);
	free(c->commits.list);
	free(c->syncs.list);
	free(c->descs);
	for (int i = 0; i < SIDES; i++)
		free(c->open[i]);
}

/* Room for one more; NULL: no memory */
static void *grow(struct collector *c, void *list, size_t count, size_t *room,
		  size_t size)
{
	size_t more = *room ? 2 * *room : 64;
	void *bigger;

	if (count < *room)
		return list;
	bigger = realloc(list, more * size);
	if (!bigger) {
		c->broken = true;
		return NULL;
	}
	*room = more;
	return bigger;
}

/* Those in flight are among the last ones. */
static uint32_t desc_of(const struct collector *c,
			const struct tdma_trace_entry *e)
{
	size_t i = c->desc_count;

	while (i--)
		if (c->descs[i].index == e->index &&
		    c->descs[i].queue == e->queue)
			return i;
	return 0;
}

static void start(struct collector *c, const struct tdma_trace_entry *e)
{
	struct desc_run *list = grow(c, c->descs, c->desc_count, &c->desc_room,
				     sizeof(*c->descs));

	if (!list)
		return;
	c->descs = list;
	list[c->desc_count++] = (struct desc_run) {
		.start = e->cycle,
		.end = e->cycle,
		.index = e->index,
		.queue = e->queue,
		.thread = e->thread,
	};
}

/* Is an element inside all axes of a side? */
static bool inside(const struct tdma_desc *d, const struct tdma_desc_ext *e,
		   int side, uint64_t element)
{
	const __u8 *axis = side ? e->dst_axis : e->src_axis;
	const __s32 *coef = side ? e->dst_coef : e->src_coef;
	__int128 at[TDMA_MAX_AXES];

	for (int a = 0; a < e->naxes; a++)
		at[a] = e->axis_start[a];
	for (int i = 0; i < d->ndims; i++) {
		uint64_t steps = d->steps[i] ? d->steps[i] : UINT64_MAX;

		if (axis[i])
			at[axis[i] - 1] += (__int128)coef[i] *
					   (element % steps);
		element /= steps;
	}
	for (int a = 0; a < e->naxes; a++)
		if (e->axis_side[a] == side &&
		    (at[a] < 0 || at[a] >= (__int128)e->axis_extent[a]))
			return false;
	return true;
}

/*
 * Elements of a side are requested in order; those outside its axes are not
 * requested at all.
 */
static uint64_t next_element(struct collector *c, uint32_t desc, int side)
{
	struct desc_run *r = &c->descs[desc];
	const struct tdma_desc_ext *e = NULL;
	const struct tdma_desc *d;

	if (tensordma_plan_get(c->plan, desc, &d, &e))
		e = NULL;
	while (e && !inside(d, e, side == TDMA_SIDE_DST, r->next[side]))
		r->next[side]++;
	r->requests[side]++;
	return r->next[side]++;
}

static void issue(struct collector *c, const struct tdma_trace_entry *e)
{
	uint32_t desc = desc_of(c, e);
	struct request *list;
	uint64_t element;

	if (desc >= c->desc_count || e->side >= SIDES)
		return;
	element = next_element(c, desc, e->side);
	c->open[e->side][e->id] = 0;
	if (c->count == c->limit) {
		c->dropped++;
		return;
	}
	list = grow(c, c->requests, c->count, &c->room, sizeof(*list));
	if (!list)
		return;
	c->requests = list;
	list[c->count++] = (struct request) {
		.element = element,
		.address = e->value,
		.issue = e->cycle,
		.response = NEVER,
		.desc = desc,
		.id = e->id,
		.side = e->side,
		.lane = e->lane,
		.op = e->code,
	};
	c->open[e->side][e->id] = c->count;
}

static void response(struct collector *c, const struct tdma_trace_entry *e)
{
	size_t number = e->side < SIDES ? c->open[e->side][e->id] : 0;

	if (!number || e->code == TDMA_TRACE_OP_UNKNOWN)
		return;
	c->requests[number - 1].response = e->cycle;
	c->open[e->side][e->id] = 0;
}

static void moment(struct collector *c, struct moments *m,
		   const struct tdma_trace_entry *e)
{
	struct moment *list = grow(c, m->list, m->count, &m->room,
				   sizeof(*list));

	if (!list)
		return;
	m->list = list;
	list[m->count++] = (struct moment) {
		.cycle = e->cycle,
		.value = e->value,
		.desc = desc_of(c, e),
		.side = e->side,
		.code = e->code,
	};
}

static void stall(struct collector *c, const struct tdma_trace_entry *e)
{
	uint32_t desc = desc_of(c, e);

	if (desc < c->desc_count && e->code < 3)
		c->descs[desc].stall[e->code] += e->value;
	moment(c, &c->stalls, e);
}

static void end(struct collector *c, const struct tdma_trace_entry *e)
{
	uint32_t desc = desc_of(c, e);

	if (desc >= c->desc_count)
		return;
	c->descs[desc].end = e->cycle;
	c->descs[desc].cycles = e->value;
	c->descs[desc].status = e->code;
}

void collect(void *collector, const struct tdma_trace_entry *e)
{
	struct collector *c = collector;

	switch (e->event) {
	case TDMA_TRACE_START:
		start(c, e);
		break;
	case TDMA_TRACE_ISSUE:
		issue(c, e);
		break;
	case TDMA_TRACE_RESPONSE:
		response(c, e);
		break;
	case TDMA_TRACE_COMMIT:
		moment(c, &c->commits, e);
		break;
	case TDMA_TRACE_STALL:
		stall(c, e);
		break;
	case TDMA_TRACE_SYNC:
		moment(c, &c->syncs, e);
		break;
	case TDMA_TRACE_END:
		end(c, e);
		break;
	}
}

static int by_issue(const void *a, const void *b)
{
	const struct request *x = a, *y = b;

	if (x->issue != y->issue)
		return x->issue < y->issue ? -1 : 1;
	if (x->desc != y->desc)
		return x->desc < y->desc ? -1 : 1;
	if (x->side != y->side)
		return x->side < y->side ? -1 : 1;
	return (x->element > y->element) - (x->element < y->element);
}

static int by_cycle(const void *a, const void *b)
{
	const struct moment *x = a, *y = b;

	if (x->cycle != y->cycle)
		return x->cycle < y->cycle ? -1 : 1;
	return (x->value > y->value) - (x->value < y->value);
}

static void sort(struct moments *m)
{
	if (m->count)
		qsort(m->list, m->count, sizeof(*m->list), by_cycle);
}

void collect_end(struct collector *c)
{
	if (c->count)
		qsort(c->requests, c->count, sizeof(*c->requests), by_issue);
	sort(&c->stalls);
	sort(&c->commits);
	sort(&c->syncs);
}
