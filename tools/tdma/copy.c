// SPDX-License-Identifier: GPL-2.0
/* tdma copy: from a .npy file to another, by way of a chain of operations. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "steps.h"

enum { OPTION_MAX_ELEM = 'e' };

struct copy {
	struct work *work;
	const char *in;
	const char *out;
	int64_t max_elem;
	struct chain chain;
	struct npy_array input;
};

static const struct argp_option option_list[] = {
	{ "max-elem", OPTION_MAX_ELEM, "BYTES", 0,
	  "largest element of a descriptor", 2 },
	{ 0 },
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct copy *c = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &c->work->options;
		state->child_inputs[1] = &c->chain;
		break;
	case OPTION_MAX_ELEM:
		if (!parse_number(arg, &c->max_elem) || c->max_elem < 1)
			argp_error(state, "--max-elem %s: not a size", arg);
		break;
	case ARGP_KEY_ARG:
		if (state->arg_num > 1)
			argp_error(state, "more than two files");
		*(state->arg_num ? &c->out : &c->in) = arg;
		break;
	case ARGP_KEY_END:
		if (!c->out)
			argp_error(state, "two files are needed");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_child children[] = {
	{ &common_argp, 0, NULL, 0 },
	{ &steps_argp, 0, NULL, 0 },
	{ 0 }
};

static const struct argp copy_argp = {
	.options = option_list,
	.parser = parse_option,
	.args_doc = "IN.npy OUT.npy",
	.doc = "Copy a tensor, changed by operations in the order given.",
	.children = children,
};

/* The memory of the result has the name of its file. */
static int name_result(struct copy *c)
{
	for (unsigned int i = 0; i < c->work->buffer_count; i++) {
		struct work_buffer *b = &c->work->buffers[i];

		if (b->data != c->chain.view.data)
			continue;
		free(b->name);
		b->name = strdup(c->out);
		if (!b->name)
			return complain(EXIT_FAILED, "out of memory");
	}
	return EXIT_OK;
}

static int commit(struct work *work)
{
	struct copy *c = work->own;

	return npy_write(c->out, &c->chain.view,
			 *c->chain.descr ? c->chain.descr : NULL,
			 work->options.quiet);
}

static void describe(const struct work *work, FILE *to)
{
	const struct copy *c = work->own;
	const struct tensordma_tensor *in = &c->input.tensor;

	fprintf(to, "%s %s %s\n", c->in, tensordma_dtype_name(in->dtype),
		shape_text(in->ndim, in->shape));
	fprintf(to, "%s %s %s\n", c->out, tensordma_dtype_name(c->chain.view.dtype),
		shape_text(c->chain.view.ndim, c->chain.view.shape));
}

static void release(struct work *work)
{
	struct copy *c = work->own;

	npy_free(&c->input);
	free(c);
}

static int make_plan(struct copy *c)
{
	struct work *work = c->work;
	int status = open_machine(&work->options, &work->machine);

	if (status)
		return status;
	work->plan = tensordma_plan_new(work->machine);
	if (!work->plan)
		return complain(EXIT_FAILED, "out of memory");
	if (tensordma_plan_set_max_elem(work->plan, c->max_elem))
		return complain(EXIT_USAGE, "--max-elem: more than is possible");
	status = npy_read(c->in, &c->input, work->options.quiet);
	if (status)
		return status;
	c->chain.view = c->input.tensor;
	memcpy(c->chain.descr, c->input.header.descr, sizeof(c->chain.descr));
	status = work_keep(work, &c->input, c->in);
	if (!status)
		status = chain_run(&c->chain);
	return status ? status : name_result(c);
}

int copy_prepare(struct work *work, int argc, char **argv)
{
	struct copy *c = calloc(1, sizeof(*c));
	int status;

	if (!c)
		return complain(EXIT_FAILED, "out of memory");
	c->work = work;
	c->chain.work = work;
	work->own = c;
	work->commit = commit;
	work->describe = describe;
	work->release = release;
	status = parse_command(&copy_argp, 0, argc, argv, c);
	return status ? status : make_plan(c);
}
