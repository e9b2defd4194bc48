// SPDX-License-Identifier: GPL-2.0
/* tdma copy: from a .npy file to another, by way of a chain of operations. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "npy.h"
#include "work.h"

enum {
	STEP_TRANSPOSE = 't', STEP_SLICE = 's', STEP_RESHAPE = 'r',
	STEP_PAD = 'p', STEP_DTYPE = 'T', STEP_BROADCAST = 'B',
	STEP_TILE = 'l', STEP_UNTILE = 'u', STEP_IM2COL = 'i', STEP_APPEND = 'a',
	OPTION_VALUE = 'v', OPTION_MAX_ELEM = 'e',
};

#define MOST_STEPS	32

struct step {
	int kind;
	const char *text;
};

struct copy {
	struct work *work;
	const char *in;
	const char *out;
	const char *value;
	int64_t max_elem;
	struct step steps[MOST_STEPS];
	int count;
	struct npy_array input;
	char descr[NPY_DESCR];		/* of the output; "": by its format */
	struct tensordma_tensor view;
	/* The view is all of a buffer of its own, in order. */
	bool fresh;
	int status;
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
		break;
	case OPTION_VALUE:
		c->value = arg;
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
		if (!strchr("tsrpTBluia", key) || key < ' ' || key > '~')
			return ARGP_ERR_UNKNOWN;
		if (c->count == MOST_STEPS)
			argp_error(state, "more than %d operations",
				   MOST_STEPS);
		c->steps[c->count++] = (struct step) { key, arg };
	}
	return 0;
}

static const struct argp_child children[] = { { &common_argp, 0, NULL, 0 },
					      { 0 } };

static const struct argp copy_argp = {
	.options = option_list,
	.parser = parse_option,
	.args_doc = "IN.npy OUT.npy",
	.doc = "Copy a tensor, changed by operations in the order given.",
	.children = children,
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
static int make_room(struct copy *c, int ndim, const int64_t *shape,
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
static int all_dims(const struct step *s, const struct copy *c, int count)
{
	if (count == c->view.ndim)
		return EXIT_OK;
	return bad_step(s, count < 0 ? "not a list of numbers" :
			"not as many numbers as dimensions");
}

static int transpose(struct copy *c, const struct step *s)
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

static int64_t clamp(int64_t n, int64_t lo, int64_t hi)
{
	return n < lo ? lo : n > hi ? hi : n;
}

/* One number of a slice; absent if there is nothing before ':' or the end */
static bool slice_part(const char **at, int64_t *number, bool *given)
{
	char *end;

	errno = 0;
	*number = strtoll(*at, &end, 0);
	*given = end != *at;
	*at = end;
	return !errno && (!*end || *end == ':');
}

/* Python's rules for start, stop and step of a dimension of @size elements */
static bool parse_slice(const char *text, int64_t size, int64_t *start,
			int64_t *count, int64_t *step)
{
	bool given[3] = { false };
	int64_t part[3] = { 0, 0, 1 };
	int64_t lo, hi;
	int n = 0;

	do {
		text += n && *text == ':';
		if (n == 3 || !slice_part(&text, &part[n], &given[n]))
			return false;
		n++;
	} while (*text == ':');
	if (n == 1) {		/* one element */
		*start = part[0] < 0 ? part[0] + size : part[0];
		*count = 1;
		*step = 1;
		return given[0];
	}
	*step = given[2] ? part[2] : 1;
	if (!*step || *step == INT64_MIN)
		return false;
	lo = *step < 0 ? -1 : 0;
	hi = *step < 0 ? size - 1 : size;
	for (int i = 0; i < 2; i++) {
		if (part[i] < 0)
			part[i] = part[i] < -size ? lo : part[i] + size;
		part[i] = clamp(part[i], lo, hi);
	}
	*start = given[0] ? part[0] : *step < 0 ? hi : lo;
	lo = given[1] ? part[1] : *step < 0 ? lo : hi;
	if (*step < 0)
		*count = *start > lo ? (*start - lo - 1) / -*step + 1 : 0;
	else
		*count = lo > *start ? (lo - *start - 1) / *step + 1 : 0;
	return true;
}

static int slice(struct copy *c, const struct step *s)
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

static int broadcast(struct copy *c, const struct step *s)
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
static int reshape(struct copy *c, const struct step *s)
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
static int retype(struct copy *c, const struct step *s)
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

static bool float_bits(double number, struct tensordma_dtype t, void *to)
{
	float single = number;
	uint32_t bits;
	_Float16 half = number;

	memcpy(&bits, &single, 4);
	switch (t.code << 8 | t.bits) {
	case TENSORDMA_FLOAT << 8 | 16:
		memcpy(to, &half, 2);
		return true;
	case TENSORDMA_FLOAT << 8 | 32:
		memcpy(to, &single, 4);
		return true;
	case TENSORDMA_FLOAT << 8 | 64:
		memcpy(to, &number, 8);
		return true;
	case TENSORDMA_BFLOAT << 8 | 16:
		bits = number != number ? bits >> 16 | 0x40 :
		       (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
		memcpy(to, &bits, 2);
		return true;
	}
	return false;
}

/* Does a number fit into an integer format? */
static bool fits(struct tensordma_dtype t, int64_t integer)
{
	if (t.bits >= 64)
		return t.code == TENSORDMA_INT || integer >= 0;
	if (t.code == TENSORDMA_INT)
		return integer >= -(1LL << (t.bits - 1)) &&
		       integer < 1LL << (t.bits - 1);
	return integer >= 0 && integer < 1LL << t.bits;
}

/* --value in the format of the tensor */
static int parse_value(const struct copy *c, unsigned char *value)
{
	struct tensordma_dtype t = c->view.dtype;
	int64_t integer;
	double number;
	char *end;

	number = strtod(c->value, &end);
	if (end == c->value || *end)
		return complain(EXIT_USAGE, "--value %s: not a number",
				c->value);
	if (t.lanes == 1 && float_bits(number, t, value))
		return EXIT_OK;
	if (t.lanes != 1 || t.bits > 64 ||
	    (t.code != TENSORDMA_INT && t.code != TENSORDMA_UINT &&
	     t.code != TENSORDMA_BOOL))
		return complain(EXIT_USAGE, "--value: not for %s, only 0",
				tensordma_dtype_name(t));
	if (!parse_number(c->value, &integer) || !fits(t, integer))
		return complain(EXIT_USAGE, "--value %s: not a %s", c->value,
				tensordma_dtype_name(t));
	memcpy(value, &integer, t.bits / 8);
	return EXIT_OK;
}

/* BEFORE:AFTER or one number for both */
static bool parse_pair(const char *text, int64_t *pair)
{
	int n = parse_numbers(text, ':', pair, 2);

	if (n == 1)
		pair[1] = pair[0];
	return n > 0;
}

/* Pairs, one for each dimension or one for all */
static int parse_padding(const struct copy *c, const struct step *s,
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

static int pad(struct copy *c, const struct step *s)
{
	int64_t pairs[TENSORDMA_MAX_DIMS][2], before[TENSORDMA_MAX_DIMS];
	int64_t shape[TENSORDMA_MAX_DIMS];
	unsigned char value[TENSORDMA_MAX_FILL] = { 0 };
	struct tensordma_tensor dst;
	struct tensordma_error err;
	int status = parse_padding(c, s, pairs);

	if (!status && c->value)
		status = parse_value(c, value);
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

static int tile(struct copy *c, const struct step *s)
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

static int untile(struct copy *c, const struct step *s)
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

/* "name=HxW" of a list; one number is for both */
static bool parse_window(const char *text, struct tensordma_im2col *p)
{
	static const char *const names[] = { "kernel=", "stride=", "dilation=",
					     "pad=" };
	int64_t *const to[] = { p->kernel, p->stride, p->dilation,
				p->pad_before };
	char *copy = strdup(text), *word, *rest = copy;
	bool ok = true;

	while (ok && (word = strsep(&rest, ","))) {
		int n = 0;

		ok = false;
		for (size_t i = 0; i < ARRAY_SIZE(names) && !ok; i++) {
			size_t len = strlen(names[i]);

			if (strncmp(word, names[i], len))
				continue;
			n = parse_numbers(word + len, 'x', to[i], 2);
			if (n == 1)
				to[i][1] = to[i][0];
			ok = n > 0;
		}
	}
	free(copy);
	memcpy(p->pad_after, p->pad_before, sizeof(p->pad_after));
	return ok && p->kernel[0];
}

static int im2col(struct copy *c, const struct step *s)
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

/* The file's memory belongs to the work from here on. */
static int keep(struct copy *c, struct npy_array *a, const char *name)
{
	struct work_buffer *b = &c->work->buffers[c->work->buffer_count];

	if (c->work->buffer_count == MOST_BUFFERS)
		return complain(EXIT_USAGE, "too many files");
	b->name = strdup(name);
	if (!b->name)
		return complain(EXIT_FAILED, "out of memory");
	b->data = a->memory;
	b->bytes = a->header.bytes;
	a->memory = NULL;
	c->work->buffer_count++;
	return EXIT_OK;
}

static int append(struct copy *c, const struct step *s)
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
	status = keep(c, &more, file + 1);
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

static int do_step(struct copy *c, const struct step *s)
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
static int finish(struct copy *c)
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

/* The memory of the result has the name of its file. */
static int name_result(struct copy *c)
{
	for (unsigned int i = 0; i < c->work->buffer_count; i++) {
		struct work_buffer *b = &c->work->buffers[i];

		if (b->data != c->view.data)
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

	return npy_write(c->out, &c->view, *c->descr ? c->descr : NULL,
			 work->options.quiet);
}

static void describe(const struct work *work, FILE *to)
{
	const struct copy *c = work->own;
	const struct tensordma_tensor *in = &c->input.tensor;

	fprintf(to, "%s %s %s\n", c->in, tensordma_dtype_name(in->dtype),
		shape_text(in->ndim, in->shape));
	fprintf(to, "%s %s %s\n", c->out, tensordma_dtype_name(c->view.dtype),
		shape_text(c->view.ndim, c->view.shape));
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
	c->view = c->input.tensor;
	memcpy(c->descr, c->input.header.descr, sizeof(c->descr));
	status = keep(c, &c->input, c->in);
	for (int i = 0; i < c->count && !status; i++)
		status = do_step(c, &c->steps[i]);
	if (!status)
		status = finish(c);
	return status ? status : name_result(c);
}

int copy_prepare(struct work *work, int argc, char **argv)
{
	struct copy *c = calloc(1, sizeof(*c));
	int status;

	if (!c)
		return complain(EXIT_FAILED, "out of memory");
	c->work = work;
	work->own = c;
	work->commit = commit;
	work->describe = describe;
	work->release = release;
	status = parse_command(&copy_argp, 0, argc, argv, c);
	return status ? status : make_plan(c);
}

int cmd_copy(int argc, char **argv)
{
	struct work work;
	int status = work_prepare(&work, argc, argv, NULL);

	if (!status)
		status = work_do(&work);
	work_free(&work);
	return status;
}
