// SPDX-License-Identifier: GPL-2.0
/* tdma explain: descriptors, cycles, and what holds them up. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <jansson.h>
#include <linux/tensordma_desc.h>

#include "collect.h"
#include "names.h"
#include "work.h"

/* Descriptors that are shown; the rest is counted. */
#define SHOWN	8

struct explain {
	struct options options;
	struct words words;	/* of copy or run */
};

/* What was measured, all descriptors together */
struct sums {
	uint64_t cycles;
	uint64_t elements;
	uint64_t bytes;
	uint64_t stall[3];
	uint64_t requests[SIDES];
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct explain *x = state->input;

	(void)arg;
	if (key != ARGP_KEY_INIT)
		return other_command(key, state, &x->words);
	state->child_inputs[0] = &x->options;
	return 0;
}

static const struct argp explain_argp = {
	.parser = parse_option,
	.args_doc = "copy ...|run ...",
	.doc = "Show the descriptors that copy or run becomes, have them simulated clock by clock, and tell what limits them. Nothing is written.",
	.children = common_children,
};

static uint64_t elements_of(const struct tdma_desc *d)
{
	uint64_t elements = d->opcode != TDMA_OP_NOP;

	for (int i = 0; i < d->ndims; i++)
		elements *= d->steps[i];
	return d->flags & TDMA_DESC_TOTAL ? d->total : elements;
}

/*
 * Causes of a time that is longer than it must be, and their cure. The engine
 * makes so many addresses per cycle: that is the time it must take.
 */
struct limit {
	const char *name;
	const char *text;
};

static const struct limit limits[] = {
	{ "backpressure",
	  "memory accepts no more requests in a cycle (host-bandwidth, hbm-bandwidth)" },
	{ "throttle", "the throttle's budget is used up" },
	{ "ids",
	  "no request ID is free while answers are on their way (ids, latency)" },
};

static const struct limit by_latency = {
	"latency",
	"answers are on their way most of the time: there are too few elements to fill it",
};

static const struct limit by_lanes = {
	"lanes",
	"one address per element: larger elements, or more lanes, would help",
};

static const struct limit *limit_of(const struct sums *s, unsigned int lanes)
{
	uint64_t least = s->elements / lanes, most = 0;
	int worst = 0;

	for (int i = 0; i < 3; i++)
		if (s->stall[i] > most) {
			most = s->stall[i];
			worst = i;
		}
	/* Stalls of both sides are counted, so half of them is one side's. */
	if (most / 2 > s->cycles / 4)
		return &limits[worst];
	return least > s->cycles / 2 ? &by_lanes : &by_latency;
}

static void add_up(const struct work *work, const struct collector *c,
		   struct sums *s)
{
	const struct tdma_desc_ext *e;
	const struct tdma_desc *d;
	uint64_t first = NEVER, last = 0;

	memset(s, 0, sizeof(*s));
	for (size_t i = 0; !tensordma_plan_get(work->plan, i, &d, &e); i++) {
		s->elements += elements_of(d);
		s->bytes += elements_of(d) * d->elem_bytes;
	}
	for (size_t i = 0; i < c->desc_count; i++) {
		const struct desc_run *r = &c->descs[i];

		first = r->start < first ? r->start : first;
		last = r->end > last ? r->end : last;
		for (int k = 0; k < 3; k++)
			s->stall[k] += r->stall[k];
		for (int k = 0; k < SIDES; k++)
			s->requests[k] += r->requests[k];
	}
	/* Descriptors overlap in time: from the first cycle to the last one */
	s->cycles = last > first ? last - first : 0;
}

static void say_loops(const struct tdma_desc *d)
{
	for (int i = d->ndims - 1; i >= 0; i--)
		printf("      for %10u steps: source %+lld, destination %+lld bytes\n",
		       d->steps[i], (long long)d->src_stride[i],
		       (long long)d->dst_stride[i]);
}

static void say_axes(const struct tdma_desc_ext *e)
{
	for (int a = 0; e && a < e->naxes; a++)
		printf("      %s coordinate from %lld on, inside below %llu: else %s\n",
		       e->axis_side[a] ? "destination" : "source",
		       (long long)e->axis_start[a],
		       (unsigned long long)e->axis_extent[a],
		       e->axis_side[a] ? "dropped" : "filled");
}

static void say_place(const struct work *work, const char *word,
		      uint32_t segment, uint64_t offset)
{
	struct tensordma_memory memory;
	const char *name;
	uint64_t from;

	if (tensordma_plan_memory(work->plan, segment, &memory))
		return;
	name = work_name(work, memory.data, &from);
	printf(" %s %s%+lld", word, name, (long long)(from + offset));
}

static void say_desc(const struct work *work, size_t index,
		     const struct desc_run *r)
{
	const struct tdma_desc_ext *e;
	const struct tdma_desc *d;

	tensordma_plan_get(work->plan, index, &d, &e);
	printf("  %zu: %s, %" PRIu64 " elements of %u bytes,", index,
	       name_of(opcode_names, d->opcode), elements_of(d),
	       d->elem_bytes);
	if (d->opcode != TDMA_OP_MEMSET)
		say_place(work, "from", d->src_segment, d->src_offset);
	if (d->opcode != TDMA_OP_READ)
		say_place(work, "to", d->dst_segment, d->dst_offset);
	putchar('\n');
	say_loops(d);
	say_axes(e);
	if (r)
		printf("      %" PRIu64 " cycles\n", r->cycles);
}

static void say_text(const struct work *work, const struct collector *c,
		     const struct sums *s, const struct limit *limit,
		     const struct tensordma_info *info)
{
	size_t count = tensordma_plan_count(work->plan);

	if (work->describe)
		work->describe(work, stdout);
	printf("\n%zu descriptor%s\n", count, count == 1 ? "" : "s");
	for (size_t i = 0; i < count && i < SHOWN; i++)
		say_desc(work, i, i < c->desc_count ? &c->descs[i] : NULL);
	if (count > SHOWN)
		printf("  ... and %zu more\n", count - SHOWN);
	printf("\n%" PRIu64 " bytes in %" PRIu64 " cycles: %.2f bytes per cycle\n",
	       s->bytes, s->cycles, s->cycles ? (double)s->bytes / s->cycles :
						0);
	printf("%" PRIu64 " elements, %u addresses per cycle: %" PRIu64
	       " cycles if nothing stood in the way\n", s->elements,
	       info->lanes, (s->elements + info->lanes - 1) / info->lanes);
	printf("requests: %" PRIu64 " source, %" PRIu64 " destination\n",
	       s->requests[TDMA_SIDE_SRC], s->requests[TDMA_SIDE_DST]);
	printf("stalled, both sides: %" PRIu64 " backpressure, %" PRIu64
	       " throttle, %" PRIu64 " request IDs\n", s->stall[0],
	       s->stall[1], s->stall[2]);
	if (s->cycles)
		printf("limit: %s: %s\n", limit->name, limit->text);
}

static void say_json(const struct work *work, const struct sums *s,
		     const struct limit *limit,
		     const struct tensordma_info *info)
{
	json_t *all = json_pack(
		"{s:s, s:I, s:I, s:I, s:I, s:I, s:{s:I, s:I, s:I}, s:s}",
		"command", work->title, "descriptors",
		(json_int_t)tensordma_plan_count(work->plan), "bytes",
		(json_int_t)s->bytes, "elements", (json_int_t)s->elements,
		"cycles", (json_int_t)s->cycles, "least_cycles",
		(json_int_t)((s->elements + info->lanes - 1) / info->lanes),
		"stalls", "backpressure", (json_int_t)s->stall[0], "throttle",
		(json_int_t)s->stall[1], "ids", (json_int_t)s->stall[2],
		"limit", s->cycles ? limit->name : "none");

	json_dumpf(all, stdout, JSON_INDENT(1));
	putchar('\n');
	json_decref(all);
}

static int explain(struct work *work)
{
	struct tensordma_status status = { 0 };
	struct tensordma_info info;
	const struct limit *limit;
	struct collector c;
	struct sums s;
	int ret = EXIT_OK;

	/* Requests are counted, none is kept. */
	if (!collect_begin(&c, work->plan, 0))
		ret = complain(EXIT_FAILED, "out of memory");
	else if (tensordma_trace(work->machine, TDMA_TRACE_ALL, collect, &c))
		ret = complain(EXIT_BACKEND, "only the simulator explains");
	if (!ret && !work->options.dry_run)
		ret = work_run(work, &status);
	if (!ret) {
		tensordma_get_info(work->machine, &info);
		add_up(work, &c, &s);
		limit = limit_of(&s, info.lanes);
		if (work->options.json)
			say_json(work, &s, limit, &info);
		else
			say_text(work, &c, &s, limit, &info);
	}
	collect_free(&c);
	return ret;
}

int cmd_explain(int argc, char **argv)
{
	struct explain x = { .options = { 0 } };
	struct work work;
	int status;

	x.options.backend = "sim";
	add_properties(&x.options, "fidelity=cycle");
	status = parse_command(&explain_argp, ARGP_IN_ORDER, argc, argv, &x);
	if (status)
		return status;
	status = work_prepare(&work, x.words.argc, x.words.argv, &x.options);
	if (!status)
		status = explain(&work);
	work_free(&work);
	return status;
}
