// SPDX-License-Identifier: GPL-2.0
/* tdma: operations on a tensor, one after the other. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "steps.h"
#include "values.h"

enum {
	STEP_TRANSPOSE = 't', STEP_SLICE = 's', STEP_RESHAPE = 'r',
	STEP_PAD = 'p', STEP_DTYPE = 'T', STEP_BROADCAST = 'B',
	STEP_TILE = 'l', STEP_UNTILE = 'u', STEP_IM2COL = 'i', STEP_APPEND = 'a',
	OPTION_VALUE = 'v',
};

static const struct argp_option option_list[] = {
	{ NULL, 0, NULL, 0, "Operations, in the order given:", 1 },
	{ "transpose", STEP_TRANSPOSE, "AXES", 0,
	  "1,0,2: dimension i is that of AXES; \"all\": in reverse", 1 },
	{ "slice", STEP_SLICE, "SLICES", 0,
	  "as in Python, \"1:4,::-1\"; a number stays as a dimension of 1", 1 },
	{ "reshape", STEP_RESHAPE, "SHAPE", 0, "3,-1: row major", 1 },
	{ "broadcast", STEP_BROADCAST, "SHAPE", 0, "repeat, as NumPy does", 1 },
	{ "pad", STEP_PAD, "BEFORE:AFTER,...", 0,
	  "per dimension, or one for all; N is N:N; negative crops", 1 },
	{ "tile", STEP_TILE, "BLOCKS", 0,
	  "16,0: blocks of dimension 0, filled up with zeros", 1 },
	{ "untile", STEP_UNTILE, "BLOCKS:SHAPE", 0,
	  "16,0:35,7: the same, undone", 1 },
	{ "im2col", STEP_IM2COL, "kernel=HxW,...", 0,
	  "also stride=, dilation=, pad=; (N, H, W, C) to (N, OH, OW, KH, KW, C)",
	  1 },
	{ "append", STEP_APPEND, "AXIS:FILE", 0, "concatenate with a .npy file",
	  1 },
	{ "dtype", STEP_DTYPE, "NAME", 0,
	  "the same bytes as another format: bf16, u16, ...", 1 },
	{ NULL, 0, NULL, 0, "Options:", 2 },
	{ "value", OPTION_VALUE, "NUMBER", 0, "what --pad pads with (0)", 2 },
	{ 0 },
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct chain *c = state->input;

	if (key == OPTION_VALUE) {
		c->value = arg;
		return 0;
	}
	if (!strchr("tsrpTBluia", key) || key < ' ' || key > '~')
		return ARGP_ERR_UNKNOWN;
	if (c->count == MOST_STEPS)
		argp_error(state, "more than %d operations", MOST_STEPS);
	c->steps[c->count++] = (struct step) { key, arg };
	return 0;
}

const struct argp steps_argp = {
	.options = option_list,
	.parser = parse_option,
};

static const char *step_name(int kind)
{
	for (const struct argp_option *o = option_list; o->name || o->doc; o++)
		if (o->key == kind)
			return o->name;
	return "";
}

static int bad_step(const struct step *s, const char *why)
{
	return complain(EXIT_USAGE, "--%s %s: %s", step_name(s->kind), s->text,
			why);
}

/* A call of the library that said no */
static int refused(const struct step *s, const struct tensordma_error *err)
{
	return bad_step(s, err->message);
}

/* A new buffer as the next destination: row major */
static int make_room(struct chain *c, int ndim, const int64_t *shape,
		     struct tensordma_tensor *t)
{
	struct tensordma_error err;
	size_t bytes;
	void *data;

	if (tensordma_tensor_init(t, &err, c->view.dtype, ndim, shape, NULL,
				  &err))
		return complain(EXIT_USAGE, "%s", err.message);
	if (__builtin_mul_overflow(tensordma_elements(t),
				   tensordma_dtype_bytes(t->dtype), &bytes))
		bytes = SIZE_MAX;
	data = work_buffer(c->work, "(intermediate)", bytes);
	if (!data)
		return complain(EXIT_FAILED, "no memory for a tensor %s",
				shape_text(ndim, shape));
	t->data = data;
	return EXIT_OK;
}

/* Did a list have a number for each dimension? */
static int all_dims(const struct step *s, const struct chain *c, int count)
{
	if (count == c->view.ndim)
		return EXIT_OK;
	return bad_step(s, count < 0 ? "not a list of numbers" :
			"not as many numbers as dimensions");
}

static int transpose(struct chain *c, const struct step *s)
{
	int64_t numbers[TENSORDMA_MAX_DIMS];
	int axes[TENSORDMA_MAX_DIMS], n = c->view.ndim, status;
	struct tensordma_error err;

	for (int i = 0; i < n; i++)
		numbers[i] = n - 1 - i;
	if (strcmp(s->text, "all"))
		n = parse_numbers(s->text, ',', numbers, TENSORDMA_MAX_DIMS);
	status = all_dims(s, c, n);
	if (status)
		return status;
	for (int i = 0; i < n; i++) {
		if (numbers[i] < -n || numbers[i] >= n)
			return bad_step(s, "no such dimension");
		axes[i] = numbers[i] < 0 ? numbers[i] + n : numbers[i];
	}
	if (tensordma_permute(&c->view, &c->view, axes, &err))
		return refused(s, &err);
	c->fresh = false;
	return EXIT_OK;
}

static int slice(struct chain *c, const struct step *s)
{
	struct tensordma_error err;
	char *copy = strdup(s->text), *word, *rest = copy;
	int status = EXIT_OK;

	for (int dim = 0; !status && (word = strsep(&rest, ",")); dim++) {
		int64_t start, count, step;

		if (dim >= c->view.ndim)
			status = bad_step(s, "more slices than dimensions");
		else if (!parse_slice(word, c->view.shape[dim], &start, &count,
				      &step))
			status = bad_step(s, "not START:STOP:STEP");
		else if (tensordma_slice(&c->view, &c->view, dim, start, count,
					 step, &err))
			status = refused(s, &err);
	}
	free(copy);
	c->fresh = false;
	return status;
}

static int broadcast(struct chain *c, const struct step *s)
{
	int64_t shape[TENSORDMA_MAX_DIMS];
	struct tensordma_error err;
	int n = parse_numbers(s->text, ',', shape, TENSORDMA_MAX_DIMS);

	if (n < 0)
		return bad_step(s, "not a list of numbers");
	if (tensordma_broadcast(&c->view, &c->view, n, shape, &err))
		return refused(s, &err);
	c->fresh = false;
	return EXIT_OK;
}

/* A view if there is one, else a copy */
static int reshape(struct chain *c, const struct step *s)
{
	int64_t shape[TENSORDMA_MAX_DIMS];
	struct tensordma_tensor dst, plain = c->view;
	struct tensordma_error err;
	int n = parse_numbers(s->text, ',', shape, TENSORDMA_MAX_DIMS), ret;

	if (n < 0)
		return bad_step(s, "not a list of numbers");
	ret = tensordma_reshape(&c->view, &c->view, n, shape, &err);
	if (!ret)
		return EXIT_OK;
	if (ret != -EXDEV)
		return refused(s, &err);
	/* The shape, with what is open filled in: of a row major tensor */
	if (tensordma_tensor_init(&plain, plain.data, plain.dtype, plain.ndim,
				  plain.shape, NULL, &err) ||
	    tensordma_reshape(&plain, &plain, n, shape, &err))
		return refused(s, &err);
	ret = make_room(c, n, plain.shape, &dst);
	if (ret)
		return ret;
	if (tensordma_plan_reshape(c->work->plan, &dst, &c->view, &err))
		return refused(s, &err);
	c->view = dst;
	c->fresh = true;
	return EXIT_OK;
}

/* The same bytes under another name; of another size in the last dimension */
static int retype(struct chain *c, const struct step *s)
{
	struct tensordma_tensor *v = &c->view;
	struct tensordma_dtype dtype;
	int64_t old = tensordma_dtype_bytes(v->dtype), new, *size;

	if (tensordma_dtype_parse(s->text, &dtype))
		return bad_step(s, "no such format");
	new = tensordma_dtype_bytes(dtype);
	*c->descr = '\0';
	if (old != new) {
		size = v->ndim ? &v->shape[v->ndim - 1] : NULL;
		if (!size || (*size > 1 && v->strides[v->ndim - 1] != 1) ||
		    *size * old % new)
			return bad_step(s,
					"does not divide the last dimension");
		for (int i = 0; i < v->ndim - 1; i++) {
			if (v->strides[i] * old % new)
				return bad_step(s, "does not divide a stride");
			v->strides[i] = v->strides[i] * old / new;
		}
		*size = *size * old / new;
		v->strides[v->ndim - 1] = 1;
	}
	v->dtype = dtype;
	return EXIT_OK;
}

/* Pairs, one for each dimension or one for all */
static int parse_padding(const struct chain *c, const struct step *s,
			 int64_t pairs[][2])
{
	char *copy = strdup(s->text), *word, *rest = copy;
	int n = 0, status = EXIT_OK;

	while (!status && (word = strsep(&rest, ",")))
		if (n == TENSORDMA_MAX_DIMS || !parse_pair(word, pairs[n++]))
			status = bad_step(s, "not BEFORE:AFTER,...");
	free(copy);
	if (!status && n != 1 && n != c->view.ndim)
		status = bad_step(s, "not as many pairs as dimensions");
	for (int i = 1; i < c->view.ndim && !status && n == 1; i++)
		memcpy(pairs[i], pairs[0], sizeof(pairs[0]));
	return status;
}

static int pad(struct chain *c, const struct step *s)
{
	int64_t pairs[TENSORDMA_MAX_DIMS][2], before[TENSORDMA_MAX_DIMS];
	int64_t shape[TENSORDMA_MAX_DIMS];
	unsigned char value[TENSORDMA_MAX_FILL] = { 0 };
	struct tensordma_tensor dst;
	struct tensordma_error err;
	int status = parse_padding(c, s, pairs);

	if (!status && c->value)
		status = parse_value(c->value, c->view.dtype, value);
	for (int i = 0; i < c->view.ndim && !status; i++) {
		before[i] = pairs[i][0];
		if (__builtin_add_overflow(c->view.shape[i], pairs[i][0],
					   &shape[i]) ||
		    __builtin_add_overflow(shape[i], pairs[i][1], &shape[i]) ||
		    shape[i] < 0)
			status = bad_step(s, "leaves no tensor");
	}
	if (!status)
		status = make_room(c, c->view.ndim, shape, &dst);
	if (status)
		return status;
	if (tensordma_plan_pad(c->work->plan, &dst, &c->view, before,
			       c->value ? value : NULL, &err))
		return refused(s, &err);
	c->view = dst;
	c->fresh = true;
	return EXIT_OK;
}

static int tile(struct chain *c, const struct step *s)
{
	int64_t block[TENSORDMA_MAX_DIMS], shape[TENSORDMA_MAX_DIMS];
	struct tensordma_tensor dst;
	struct tensordma_error err;
	int n, status;

	n = parse_numbers(s->text, ',', block, TENSORDMA_MAX_DIMS);
	status = all_dims(s, c, n);
	if (status)
		return status;
	n = tensordma_tile_shape(&c->view, block, shape, &err);
	if (n < 0)
		return refused(s, &err);
	status = make_room(c, n, shape, &dst);
	if (status)
		return status;
	if (tensordma_plan_tile(c->work->plan, &dst, &c->view, block, &err))
		return refused(s, &err);
	c->view = dst;
	c->fresh = true;
	return EXIT_OK;
}

static int untile(struct chain *c, const struct step *s)
{
	int64_t block[TENSORDMA_MAX_DIMS], shape[TENSORDMA_MAX_DIMS];
	char *copy = strdup(s->text), *colon = strchr(copy, ':');
	struct tensordma_tensor dst;
	struct tensordma_error err;
	int n = -1, m = -1, status;

	if (colon) {
		*colon = '\0';
		n = parse_numbers(copy, ',', block, TENSORDMA_MAX_DIMS);
		m = parse_numbers(colon + 1, ',', shape, TENSORDMA_MAX_DIMS);
	}
	free(copy);
	if (n < 0 || n != m)
		return bad_step(s, "not BLOCKS:SHAPE, of one length");
	status = make_room(c, n, shape, &dst);
	if (status)
		return status;
	if (tensordma_plan_untile(c->work->plan, &dst, &c->view, block, &err))
		return refused(s, &err);
	c->view = dst;
	c->fresh = true;
	return EXIT_OK;
}

static int im2col(struct chain *c, const struct step *s)
{
	struct tensordma_im2col p = { .stride = { 1, 1 },
				      .dilation = { 1, 1 } };
	const int64_t *in = c->view.shape;
	struct tensordma_tensor dst;
	struct tensordma_error err;
	int64_t out[2], shape[6];
	int status;

	if (!parse_window(s->text, &p))
		return bad_step(s, "not kernel=HxW,stride=HxW,dilation=HxW,pad=HxW");
	if (c->view.ndim != 4)
		return bad_step(s, "an image has dimensions (N, H, W, C)");
	if (tensordma_im2col_shape(&p, in[1], in[2], out, &err))
		return refused(s, &err);
	shape[0] = in[0];
	shape[1] = out[0];
	shape[2] = out[1];
	shape[3] = p.kernel[0];
	shape[4] = p.kernel[1];
	shape[5] = in[3];
	status = make_room(c, 6, shape, &dst);
	if (status)
		return status;
	if (tensordma_plan_im2col(c->work->plan, &dst, &c->view, &p, &err))
		return refused(s, &err);
	c->view = dst;
	c->fresh = true;
	return EXIT_OK;
}

static int append(struct chain *c, const struct step *s)
{
	struct tensordma_tensor parts[2], dst;
	int64_t shape[TENSORDMA_MAX_DIMS], axis;
	struct tensordma_error err;
	struct npy_array more;
	char *file;
	int status;

	axis = strtoll(s->text, &file, 10);
	if (file == s->text || *file != ':' || axis < 0 ||
	    axis >= c->view.ndim)
		return bad_step(s, "not AXIS:FILE, with a dimension there is");
	status = npy_read(file + 1, &more, c->work->options.quiet);
	if (status)
		return status;
	parts[0] = c->view;
	parts[1] = more.tensor;
	status = work_keep(c->work, &more, file + 1);
	npy_free(&more);
	if (status)
		return status;
	memcpy(shape, c->view.shape, sizeof(shape));
	if (parts[1].ndim != c->view.ndim ||
	    __builtin_add_overflow(shape[axis], parts[1].shape[axis],
				   &shape[axis]))
		return bad_step(s, "not of as many dimensions");
	status = make_room(c, c->view.ndim, shape, &dst);
	if (status)
		return status;
	if (tensordma_plan_concat(c->work->plan, &dst, parts, 2, axis, &err))
		return refused(s, &err);
	c->view = dst;
	c->fresh = true;
	return EXIT_OK;
}

static int do_step(struct chain *c, const struct step *s)
{
	switch (s->kind) {
	case STEP_TRANSPOSE:
		return transpose(c, s);
	case STEP_SLICE:
		return slice(c, s);
	case STEP_RESHAPE:
		return reshape(c, s);
	case STEP_BROADCAST:
		return broadcast(c, s);
	case STEP_PAD:
		return pad(c, s);
	case STEP_TILE:
		return tile(c, s);
	case STEP_UNTILE:
		return untile(c, s);
	case STEP_IM2COL:
		return im2col(c, s);
	case STEP_APPEND:
		return append(c, s);
	}
	return retype(c, s);
}

/* What is only a view so far is copied. */
static int finish(struct chain *c)
{
	struct tensordma_tensor dst;
	struct tensordma_error err;
	int status;

	if (c->fresh)
		return EXIT_OK;
	status = make_room(c, c->view.ndim, c->view.shape, &dst);
	if (status)
		return status;
	if (tensordma_plan_copy(c->work->plan, &dst, &c->view, &err))
		return complain(EXIT_USAGE, "%s", err.message);
	c->view = dst;
	return EXIT_OK;
}

int chain_run(struct chain *c)
{
	int status = EXIT_OK;

	for (int i = 0; i < c->count && !status; i++)
		status = do_step(c, &c->steps[i]);
	return status ? status : finish(c);
}
