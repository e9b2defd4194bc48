// SPDX-License-Identifier: GPL-2.0
/* tdma cases: rows of a table, carried out and compared with a loop nest. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "progress.h"
#include "random.h"
#include "table.h"
#include "tdma_blocked.h"
#include "tdma_ref.h"
#include "tool.h"

#define SPAN_BYTES	(8U << 20)
#define GUARD_BYTES	4096
#define PAYLOAD_BYTES	(64U << 10)

enum { OPTION_TIER = 't', OPTION_BYTES = 'n', OPTION_AS_IS = 0x200 };

struct cases {
	struct options options;
	const char *path;
	const char *tier;		/* NULL: all */
	const char *name;		/* part of it, or NULL */
	int64_t payload;
	bool as_is;
	struct tensordma *machine;
	struct tensordma_memory src;
	struct tensordma_memory dst;
	unsigned char *from;		/* the source as it must stay */
	unsigned char *image;		/* the destination as it must be */
	unsigned int number;
	unsigned int passed;
	unsigned int failed;
	unsigned int skipped;
};

/* What a row is: a descriptor, and for layout names their meaning */
struct row_plan {
	union tdma_slot slots[2];
	struct tdma_blocked blocked;
	bool is_blocked;
};

static const struct argp_option option_list[] = {
	{ "tier", OPTION_TIER, "core|pool", 0, "only these rows", 0 },
	{ "name", 'N', "TEXT", 0, "only rows with this in their name", 0 },
	{ "bytes", OPTION_BYTES, "NUMBER", 0,
	  "cut rows to so many bytes (65536; a quarter for the pool)", 0 },
	{ "as-is", OPTION_AS_IS, NULL, 0,
	  "one descriptor per row, nothing joined", 0 },
	{ 0 },
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct cases *c = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &c->options;
		break;
	case OPTION_TIER:
		c->tier = arg;
		break;
	case 'N':
		c->name = arg;
		break;
	case OPTION_BYTES:
		if (!parse_number(arg, &c->payload) || c->payload < 64 ||
		    c->payload > SPAN_BYTES / 2)
			argp_error(state, "--bytes %s: not within 64 to %u", arg,
				   SPAN_BYTES / 2);
		break;
	case OPTION_AS_IS:
		c->as_is = true;
		break;
	default:
		return one_file(key, arg, state, &c->path, "table");
	}
	return 0;
}

static const struct argp cases_argp = {
	.options = option_list,
	.parser = parse_option,
	.args_doc = "TABLE.tsv",
	.doc = "Carry out the rows of a table of moves and compare each with a plain loop nest; TAP on standard output.",
	.children = common_children,
};

/* The descriptor of a row; NULL, or what it would need */
static const char *plan_row(const struct cases *c, const struct tdma_row *row,
			    struct row_plan *p)
{
	struct tdma_row_limits limits = { c->payload, SPAN_BYTES };
	const char *names = strchr(row->notes, ' ');

	memset(p, 0, sizeof(*p));
	if (strcmp(row->tier, "core"))
		limits.payload /= 4;
	if (strcmp(row->op, "reorder_pad"))
		return tdma_row_plan(row, &limits, p->slots);
	p->is_blocked = true;
	if (!names || !tdma_blocked_parse(&p->blocked, names + 1,
					  row->elem_bytes, limits.payload))
		return "layouts as 'abcd->aBcd16b dims 1x2x3x4'";
	if (tdma_blocked_bytes(&p->blocked, &p->blocked.src) > SPAN_BYTES ||
	    tdma_blocked_bytes(&p->blocked, &p->blocked.dst) > SPAN_BYTES)
		return "a larger buffer";
	return tdma_blocked_plan(&p->blocked, p->slots);
}

static void reference(struct cases *c, const struct row_plan *p)
{
	const struct tdma_desc *d = &p->slots[0].desc;

	if (p->is_blocked)
		tdma_blocked_reference(&p->blocked, c->from, c->image);
	else
		tdma_ref_run(d, d->flags & TDMA_DESC_EXT ? &p->slots[1].ext :
			     NULL, c->from, c->image);
}

/* Bytes of the destination up to the last one of a row, and a guard */
static size_t reach(const struct tdma_desc *d)
{
	size_t end = d->dst_offset + d->elem_bytes + GUARD_BYTES;

	for (int i = 0; i < d->ndims; i++)
		if (d->steps[i] && d->dst_stride[i] > 0)
			end += (d->steps[i] - 1) * d->dst_stride[i];
	return end < SPAN_BYTES ? end : SPAN_BYTES;
}

/* Offset of the first wrong byte, or -1; the next row is not to blame. */
static int64_t mismatch(struct cases *c, size_t length)
{
	unsigned char *dst = c->dst.data;

	if (!memcmp(dst, c->image, length))
		return -1;
	for (size_t i = 0; i < length; i++)
		if (dst[i] != c->image[i]) {
			memcpy(c->image, dst, SPAN_BYTES);
			return i;
		}
	return -1;
}

static bool run_plan(struct cases *c, const struct row_plan *p, char *why,
		     size_t room)
{
	struct tensordma_plan *plan = tensordma_plan_new(c->machine);
	const struct tdma_desc *d = &p->slots[0].desc;
	struct tensordma_status status = { 0 };
	struct tensordma_error err = { .code = 0 };
	int64_t at;
	int ret;

	if (!plan)
		return false;
	ret = tensordma_plan_desc(plan, d, d->flags & TDMA_DESC_EXT ?
				  &p->slots[1].ext : NULL, &c->dst, &c->src,
				  !c->as_is, &err);
	if (!ret && c->options.dry_run)
		ret = tensordma_plan_check(plan, &err);
	else if (!ret)
		ret = tensordma_run(c->machine, plan, &status, &err);
	tensordma_plan_free(plan);
	if (ret) {
		snprintf(why, room, "%s", err.message);
		return false;
	}
	if (c->options.dry_run)
		return true;
	reference(c, p);
	at = mismatch(c, reach(d));
	if (at >= 0)
		snprintf(why, room, "byte %" PRId64 " is wrong", at);
	else
		snprintf(why, room, "%" PRIu64 " cycles", status.cycles);
	return at < 0;
}

static bool in_range(const struct row_plan *p)
{
	return reach(&p->slots[0].desc) <= SPAN_BYTES;
}

static void run_row(struct cases *c, const struct tdma_row *row)
{
	struct row_plan p;
	char why[256] = "";
	const char *needs = plan_row(c, row, &p);

	c->number++;
	if (needs) {
		c->skipped++;
		printf("ok %u %s %s # SKIP needs %s\n", c->number, row->op,
		       row->name, needs);
	} else if (in_range(&p) && run_plan(c, &p, why, sizeof(why))) {
		c->passed++;
		printf("ok %u %s %s%s%s\n", c->number, row->op, row->name,
		       *why ? ": " : "", why);
	} else {
		c->failed++;
		printf("not ok %u %s %s: %s\n", c->number, row->op, row->name,
		       why);
		printf("# again: tdma cases %s --name %s\n", c->path,
		       row->name);
	}
}

/* Both buffers, as a whole: nothing else was touched. */
static void check_rest(struct cases *c)
{
	bool clean = !memcmp(c->src.data, c->from, SPAN_BYTES) &&
		     !memcmp(c->dst.data, c->image, SPAN_BYTES);

	c->number++;
	*(clean ? &c->passed : &c->failed) += 1;
	printf("%sok %u no other byte was touched\n", clean ? "" : "not ",
	       c->number);
}

static bool wanted(const struct cases *c, const struct tdma_row *row)
{
	return (!c->tier || !strcmp(c->tier, row->tier)) &&
	       (!c->name || strstr(row->name, c->name));
}

static int run_table(struct cases *c)
{
	struct tdma_row row;
	struct table table;
	int status = table_open(&table, c->path), ret;

	if (status)
		return status;
	printf("TAP version 13\n");
	while ((ret = table_next(&table, &row)) > 0)
		if (wanted(c, &row))
			run_row(c, &row);
	table_close(&table);
	if (ret < 0) {
		printf("Bail out! the table is malformed\n");
		return EXIT_INPUT;
	}
	check_rest(c);
	printf("1..%u\n", c->number);
	printf("%u passed, %u failed, %u skipped\n", c->passed, c->failed,
	       c->skipped);
	return c->failed ? EXIT_FAILED : EXIT_OK;
}

static int get_buffers(struct cases *c)
{
	struct tensordma_error err;

	c->src = (struct tensordma_memory) { malloc(SPAN_BYTES), SPAN_BYTES };
	c->dst = (struct tensordma_memory) { malloc(SPAN_BYTES), SPAN_BYTES };
	c->from = malloc(SPAN_BYTES);
	c->image = malloc(SPAN_BYTES);
	if (!c->src.data || !c->dst.data || !c->from || !c->image)
		return complain(EXIT_FAILED, "out of memory");
	random_fill(1, c->src.data, SPAN_BYTES);
	random_fill(2, c->dst.data, SPAN_BYTES);
	memcpy(c->from, c->src.data, SPAN_BYTES);
	memcpy(c->image, c->dst.data, SPAN_BYTES);
	if (tensordma_register(c->machine, c->src.data, SPAN_BYTES, false,
			       &err) ||
	    tensordma_register(c->machine, c->dst.data, SPAN_BYTES, true, &err))
		return complain(EXIT_FAILED, "%s", err.message);
	return EXIT_OK;
}

int cmd_cases(int argc, char **argv)
{
	struct cases c = { .payload = PAYLOAD_BYTES };
	int status = parse_command(&cases_argp, 0, argc, argv, &c);

	if (!status)
		status = open_machine(&c.options, &c.machine);
	if (!status)
		status = get_buffers(&c);
	if (!status)
		status = run_table(&c);
	tensordma_close(c.machine);
	free(c.src.data);
	free(c.dst.data);
	free(c.from);
	free(c.image);
	return status;
}
