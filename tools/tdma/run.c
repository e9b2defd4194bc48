// SPDX-License-Identifier: GPL-2.0
/* tdma run: the descriptors of a JSON job. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "job.h"
#include "npy.h"
#include "random.h"
#include "work.h"

struct run {
	struct work *work;
	const char *path;
	struct job_file job;
	/* Of the work, by number in the job */
	struct tensordma_memory *memory;
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct run *r = state->input;

	if (key != ARGP_KEY_INIT)
		return one_file(key, arg, state, &r->path, "file");
	state->child_inputs[0] = &r->work->options;
	return 0;
}

static const struct argp run_argp = {
	.parser = parse_option,
	.args_doc = "JOB.json",
	.doc = "Carry out the descriptors of a JSON file; tdma-job(5) tells what is in it.",
	.children = common_children,
};

/* Elements of a .npy file as they lie there */
static int load(struct run *r, const struct job_buffer *b, void **data,
		size_t *bytes)
{
	struct npy_array array;
	int status = npy_read(b->input, &array, r->work->options.quiet);

	if (status)
		return status;
	*bytes = array.header.bytes;
	*data = work_buffer(r->work, b->name, *bytes);
	if (*data)
		memcpy(*data, array.memory, *bytes);
	npy_free(&array);
	return EXIT_OK;
}

static int make_buffer(struct run *r, int number)
{
	const struct job_buffer *b = &r->job.buffers[number];
	size_t bytes = b->bytes;
	void *data = NULL;
	int status;

	if (b->input) {
		status = load(r, b, &data, &bytes);
		if (status)
			return status;
	} else {
		data = work_buffer(r->work, b->name, bytes);
	}
	if (!data)
		return complain(EXIT_INPUT, "%s: buffers.%s: no memory for %zu bytes",
				r->path, b->name, bytes);
	if (!b->input && b->fill < 0)
		random_fill(b->seed, data, bytes);
	else if (!b->input && b->fill)
		memset(data, b->fill, bytes);
	r->memory[number] = (struct tensordma_memory) { data, bytes };
	return EXIT_OK;
}

static int add_desc(struct run *r, size_t number)
{
	const struct job_desc *d = &r->job.descs[number];
	struct tensordma_error err;

	if (!tensordma_plan_desc(r->work->plan, &d->desc,
				 d->desc.flags & TDMA_DESC_EXT ? &d->ext : NULL,
				 d->dst < 0 ? NULL : &r->memory[d->dst],
				 d->src < 0 ? NULL : &r->memory[d->src],
				 r->job.optimize, &err))
		return EXIT_OK;
	return complain(EXIT_REFUSED, "%s: descriptors[%zu]%s%s: %s", r->path,
			number, *err.field ? "." : "", err.field, err.message);
}

/* A buffer as bytes: a .npy file of them, or nothing but them */
static int write_buffer(const struct job_buffer *b,
			const struct tensordma_memory *memory, bool quiet)
{
	const int64_t shape = memory->length;
	size_t length = strlen(b->output);
	struct tensordma_tensor t;
	struct tensordma_dtype u8;
	FILE *file;
	bool ok;

	if (length > 4 && !strcmp(b->output + length - 4, ".npy")) {
		tensordma_dtype_parse("u8", &u8);
		tensordma_tensor_init(&t, memory->data, u8, 1, &shape, NULL,
				      NULL);
		return npy_write(b->output, &t, NULL, quiet);
	}
	file = fopen(b->output, "wb");
	ok = file && fwrite(memory->data, 1, memory->length, file) ==
		     memory->length;
	if (file && fclose(file))
		ok = false;
	return ok ? EXIT_OK : complain(EXIT_OUTPUT, "%s: %s", b->output,
				       strerror(errno));
}

static int commit(struct work *work)
{
	struct run *r = work->own;
	int status = EXIT_OK;

	for (int i = 0; i < r->job.buffer_count && !status; i++)
		if (r->job.buffers[i].output)
			status = write_buffer(&r->job.buffers[i],
					      &r->memory[i],
					      work->options.quiet);
	return status;
}

static void release(struct work *work)
{
	struct run *r = work->own;

	job_free(&r->job);
	free(r->memory);
	free(r);
}

static int make_plan(struct run *r)
{
	struct work *work = r->work;
	int status = job_read(r->path, &r->job);

	if (!status)
		status = open_machine(&work->options, &work->machine);
	if (status)
		return status;
	work->plan = tensordma_plan_new(work->machine);
	r->memory = calloc(r->job.buffer_count + 1, sizeof(*r->memory));
	if (!work->plan || !r->memory)
		return complain(EXIT_FAILED, "out of memory");
	for (int i = 0; i < r->job.buffer_count && !status; i++)
		status = make_buffer(r, i);
	for (size_t i = 0; i < r->job.desc_count && !status; i++)
		status = add_desc(r, i);
	return status;
}

int run_prepare(struct work *work, int argc, char **argv)
{
	struct run *r = calloc(1, sizeof(*r));
	int status;

	if (!r)
		return complain(EXIT_FAILED, "out of memory");
	r->work = work;
	work->own = r;
	work->commit = commit;
	work->release = release;
	status = parse_command(&run_argp, 0, argc, argv, r);
	return status ? status : make_plan(r);
}
