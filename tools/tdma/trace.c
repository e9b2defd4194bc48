// SPDX-License-Identifier: GPL-2.0
/* tdma trace: copy or run, and a file of all that happened. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <jansson.h>
#include <linux/tensordma_desc.h>

#include "collect.h"
#include "names.h"
#include "work.h"

#define LIMIT	1000000
/* JSON's numbers are exact below */
#define EXACT	(1ULL << 53)

struct trace {
	struct options options;
	const char *output;
	int64_t limit;
	struct words words;	/* of copy or run */
	struct words all;
};

static const struct argp_option option_list[] = {
	{ "output", 'o', "FILE", 0, "where it goes (trace.json)", 0 },
	{ "limit", 'l', "NUMBER", 0, "requests to keep at most (1000000)", 0 },
	{ 0 },
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct trace *t = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &t->options;
		break;
	case 'o':
		t->output = arg;
		break;
	case 'l':
		if (!parse_number(arg, &t->limit) || t->limit < 0)
			argp_error(state, "--limit %s: not a number", arg);
		break;
	default:
		return other_command(key, state, &t->words);
	}
	return 0;
}

static const struct argp trace_argp = {
	.options = option_list,
	.parser = parse_option,
	.args_doc = "copy ...|run ...",
	.doc = "Carry out copy or run on the simulator and write what happened to a file; Documentation/trace-format.md tells what is in it.",
	.children = common_children,
};

static json_t *number(uint64_t value)
{
	char text[24];

	if (value < EXACT)
		return json_integer(value);
	snprintf(text, sizeof(text), "%" PRIu64, value);
	return json_string(text);
}

static json_t *signed_number(int64_t value)
{
	char text[24];

	if (value > -(int64_t)EXACT && value < (int64_t)EXACT)
		return json_integer(value);
	snprintf(text, sizeof(text), "%" PRId64, value);
	return json_string(text);
}

static const char *side_name(unsigned int side)
{
	return side == TDMA_SIDE_SRC ? "src" : side == TDMA_SIDE_DST ? "dst" :
								       "none";
}

static json_t *machine_json(const struct tensordma *m)
{
	struct tensordma_info info;
	json_t *properties = json_object();
	const char *name, *text;
	uint64_t value;

	tensordma_get_info(m, &info);
	for (unsigned int i = 0; tensordma_property(m, i, &name, &value, &text);
	     i++)
		json_object_set_new(properties, name, number(value));
	return json_pack("{s:s, s:s, s:i, s:i, s:i, s:o}",
			 "backend", info.backend,
			 "fidelity", info.cycle_accurate ? "cycle" : "fast",
			 "lanes", info.lanes, "request_ids", info.request_ids,
			 "threads", info.threads, "properties", properties);
}

static json_t *memory_json(const struct work *work)
{
	struct tensordma_memory memory;
	json_t *list = json_array();

	for (size_t i = 0; !tensordma_plan_memory(work->plan, i, &memory); i++) {
		uint64_t offset;
		const char *name = work_name(work, memory.data, &offset);

		json_array_append_new(list, json_pack(
			"{s:I, s:s, s:o}", "segment", (json_int_t)i, "name",
			name, "bytes", number(memory.length)));
	}
	return list;
}

static json_t *axes_json(const struct tdma_desc *d,
			 const struct tdma_desc_ext *e)
{
	json_t *list = json_array();

	for (int a = 0; e && a < e->naxes; a++) {
		int side = e->axis_side[a];
		json_t *coef = json_array();

		for (int i = 0; i < d->ndims; i++) {
			int axis = side ? e->dst_axis[i] : e->src_axis[i];
			int step = side ? e->dst_coef[i] : e->src_coef[i];

			json_array_append_new(coef, json_integer(
				axis == a + 1 ? step : 0));
		}
		json_array_append_new(list, json_pack(
			"{s:s, s:o, s:o, s:o}", "side", side ? "dst" : "src",
			"start", signed_number(e->axis_start[a]), "extent",
			number(e->axis_extent[a]), "coef", coef));
	}
	return list;
}

static uint64_t elements_of(const struct tdma_desc *d)
{
	uint64_t elements = d->opcode != TDMA_OP_NOP;

	for (int i = 0; i < d->ndims; i++)
		elements *= d->steps[i];
	return d->flags & TDMA_DESC_TOTAL ? d->total : elements;
}

static void set_loops(json_t *object, const struct tdma_desc *d)
{
	json_t *steps = json_array(), *src = json_array(), *dst = json_array();

	for (int i = 0; i < d->ndims; i++) {
		json_array_append_new(steps, json_integer(d->steps[i]));
		json_array_append_new(src, signed_number(d->src_stride[i]));
		json_array_append_new(dst, signed_number(d->dst_stride[i]));
	}
	json_object_set_new(object, "steps", steps);
	json_object_set_new(object, "src_stride", src);
	json_object_set_new(object, "dst_stride", dst);
}

static void set_sides(json_t *object, const struct tdma_desc *d)
{
	bool both = d->opcode == TDMA_OP_COPY ||
		    d->opcode == TDMA_OP_ACCUMULATE;

	if (both || d->opcode == TDMA_OP_READ) {
		json_object_set_new(object, "src_segment",
				    json_integer(d->src_segment));
		json_object_set_new(object, "src_offset",
				    signed_number(d->src_offset));
	}
	if (both || d->opcode == TDMA_OP_MEMSET) {
		json_object_set_new(object, "dst_segment",
				    json_integer(d->dst_segment));
		json_object_set_new(object, "dst_offset",
				    signed_number(d->dst_offset));
	}
}

static json_t *desc_json(const struct work *work, size_t index,
			 const struct desc_run *r)
{
	const struct tdma_desc_ext *e;
	const struct tdma_desc *d;
	json_t *object;

	tensordma_plan_get(work->plan, index, &d, &e);
	object = json_pack(
		"{s:I, s:i, s:i, s:o, s:s, s:o, s:I, s:o, s:o, s:s, s:o, s:{s:o, s:o, s:o}, s:o}",
		"descriptor", (json_int_t)index, "queue", r->queue, "thread",
		r->thread, "index", number(r->index), "opcode",
		name_of(opcode_names, d->opcode), "elements",
		number(elements_of(d)), "elem_bytes",
		(json_int_t)d->elem_bytes, "start", number(r->start), "end",
		number(r->end), "status", status_name(r->status), "cycles",
		number(r->cycles), "stalls", "backpressure",
		number(r->stall[0]), "throttle", number(r->stall[1]), "ids",
		number(r->stall[2]), "axes", axes_json(d, e));
	set_loops(object, d);
	set_sides(object, d);
	return object;
}

static json_t *descs_json(const struct work *work, const struct collector *c)
{
	size_t count = tensordma_plan_count(work->plan);
	json_t *list = json_array();

	for (size_t i = 0; i < c->desc_count && i < count; i++)
		json_array_append_new(list, desc_json(work, i, &c->descs[i]));
	return list;
}

/* Large tables go straight to the file: rows are text of their own. */
static void write_requests(FILE *to, const struct collector *c)
{
	fputs("\"requests\": {\"columns\": [\"descriptor\", \"side\", \"lane\", \"id\", \"op\", \"element\", \"address\", \"issue\", \"response\"],\n \"rows\": [",
	      to);
	for (size_t i = 0; i < c->count; i++) {
		const struct request *r = &c->requests[i];

		fprintf(to, "%s\n  [%u, \"%s\", %u, %u, \"%s\", %" PRIu64
			", %" PRIu64 ", %" PRIu64 ", ", i ? "," : "", r->desc,
			side_name(r->side), r->lane, r->id,
			name_of(request_names, r->op), r->element, r->address,
			r->issue);
		if (r->response == NEVER)
			fputs("null]", to);
		else
			fprintf(to, "%" PRIu64 "]", r->response);
	}
	fputs("]},\n", to);
}

static void write_stalls(FILE *to, const struct moments *m)
{
	fputs("\"stalls\": {\"columns\": [\"descriptor\", \"side\", \"cause\", \"cycle\", \"cycles\"],\n \"rows\": [",
	      to);
	for (size_t i = 0; i < m->count; i++)
		fprintf(to, "%s\n  [%u, \"%s\", \"%s\", %" PRIu64 ", %" PRIu64
			"]", i ? "," : "", m->list[i].desc,
			side_name(m->list[i].side),
			name_of(stall_names, m->list[i].code),
			m->list[i].cycle, m->list[i].value);
	fputs("]},\n", to);
}

static void write_moments(FILE *to, const char *name, const struct moments *m)
{
	fprintf(to, "\"%s\": {\"columns\": [\"descriptor\", \"side\", \"cycle\", \"elements\"],\n \"rows\": [",
		name);
	for (size_t i = 0; i < m->count; i++)
		fprintf(to, "%s\n  [%u, \"%s\", %" PRIu64 ", %" PRIu64 "]",
			i ? "," : "", m->list[i].desc,
			side_name(m->list[i].side), m->list[i].cycle,
			m->list[i].value);
	fputs("]},\n", to);
}

static void write_member(FILE *to, const char *name, json_t *value)
{
	fprintf(to, "\"%s\": ", name);
	json_dumpf(value, to, JSON_ENCODE_ANY);
	fputs(",\n", to);
	json_decref(value);
}

static bool write_trace(const struct trace *t, const struct work *work,
			const struct collector *c, FILE *to)
{
	json_t *words = json_array();

	json_array_append_new(words, json_string("tdma"));
	json_array_append_new(words, json_string("trace"));
	for (int i = 1; i < t->all.argc; i++)
		json_array_append_new(words, json_string(t->all.argv[i]));
	fputs("{\"format\": \"tensordma-trace\", \"version\": 1,\n", to);
	write_member(to, "title", json_string(work->title));
	write_member(to, "command", words);
	write_member(to, "machine", machine_json(work->machine));
	write_member(to, "memory", memory_json(work));
	write_member(to, "descriptors", descs_json(work, c));
	write_requests(to, c);
	write_stalls(to, &c->stalls);
	write_moments(to, "commits", &c->commits);
	write_moments(to, "sync", &c->syncs);
	fprintf(to, "\"limit\": %" PRId64 ", \"dropped\": %" PRIu64 "}\n",
		t->limit, c->dropped);
	return !fflush(to) && !ferror(to);
}

/* The file appears when it is complete. */
static int save(const struct trace *t, const struct work *work,
		const struct collector *c)
{
	char *part;
	FILE *to;
	bool ok;

	if (asprintf(&part, "%s.part", t->output) < 0)
		return complain(EXIT_FAILED, "out of memory");
	to = fopen(part, "w");
	ok = to && write_trace(t, work, c, to);
	if (to && fclose(to))
		ok = false;
	if (ok && rename(part, t->output))
		ok = false;
	if (!ok) {
		complain(EXIT_OUTPUT, "%s: %s", t->output, strerror(errno));
		unlink(part);
	}
	free(part);
	return ok ? EXIT_OK : EXIT_OUTPUT;
}

static int run(struct trace *t, struct work *work, struct collector *c)
{
	int ret = tensordma_trace(work->machine, TDMA_TRACE_ALL, collect, c);

	if (ret)
		return complain(EXIT_BACKEND,
				"only the simulator tells what happened, request by request");
	ret = work_do(work);
	tensordma_trace(work->machine, 0, NULL, NULL);
	if (ret || work->options.dry_run)
		return ret;
	if (c->broken)
		return complain(EXIT_FAILED, "out of memory");
	collect_end(c);
	ret = save(t, work, c);
	if (!ret && !work->options.quiet && !work->options.json)
		printf("%s: %zu requests%s\n", t->output, c->count,
		       c->dropped ? ", more were left out (--limit)" : "");
	return ret;
}

int cmd_trace(int argc, char **argv)
{
	struct trace t = { .output = "trace.json", .limit = LIMIT,
			   .all = { argc, argv } };
	struct collector c;
	struct work work;
	int status;

	/* Every clock, unless somebody says otherwise */
	t.options.backend = "sim";
	add_properties(&t.options, "fidelity=cycle");
	status = parse_command(&trace_argp, ARGP_IN_ORDER, argc, argv, &t);
	if (status)
		return status;
	status = work_prepare(&work, t.words.argc, t.words.argv, &t.options);
	if (!collect_begin(&c, work.plan, t.limit))
		status = complain(EXIT_FAILED, "out of memory");
	if (!status)
		status = run(&t, &work, &c);
	work_free(&work);
	collect_free(&c);
	return status;
}
