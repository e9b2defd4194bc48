// SPDX-License-Identifier: GPL-2.0
/*
 * tdma: JSON jobs. Syntax is the library's affair; meaning is checked here, by
 * tables of members: what is not in them is refused.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"
#include "names.h"

#define MOST_BYTES	(64U << 20)
#define MOST_BUFFERS	60
#define MOST_DESCS	65536

/* Where we are: "descriptors[2].steps[1]" */
struct place {
	const struct job_file *job;
	char text[96];
};

static int wrong(const struct place *at, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static int wrong(const struct place *at, const char *format, ...)
{
	char text[160];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return complain(EXIT_INPUT, "%s: %s: %s", at->job->path, at->text,
			text);
}

static struct place inside(const struct place *at, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static struct place inside(const struct place *at, const char *format, ...)
{
	struct place p = *at;
	size_t length = strlen(p.text);
	va_list args;

	va_start(args, format);
	vsnprintf(p.text + length, sizeof(p.text) - length, format, args);
	va_end(args);
	return p;
}

/* Is every member of an object in the list? */
static int check_members(const struct place *at, json_t *object,
			 const char *const *known)
{
	const char *key;
	json_t *value;

	if (!json_is_object(object))
		return wrong(at, "an object expected");
	json_object_foreach(object, key, value)
		if (number_of(known, key) < 0)
			return wrong(at, "no member \"%s\" is known", key);
	return EXIT_OK;
}

static int get_integer(const struct place *at, json_t *value, int64_t min,
		       int64_t max, int64_t *number)
{
	if (!json_is_integer(value))
		return wrong(at, "a whole number expected");
	*number = json_integer_value(value);
	if (*number < min || *number > max)
		return wrong(at, "%" PRId64 " is not within %" PRId64
			     " to %" PRId64, *number, min, max);
	return EXIT_OK;
}

/* A member that may be absent: then @number stays. */
static int get_member(const struct place *at, json_t *object, const char *key,
		      int64_t min, int64_t max, int64_t *number)
{
	json_t *value = json_object_get(object, key);
	struct place p = inside(at, ".%s", key);

	return value ? get_integer(&p, value, min, max, number) : EXIT_OK;
}

static int get_text(const struct place *at, json_t *object, const char *key,
		    const char **text)
{
	json_t *value = json_object_get(object, key);
	struct place p = inside(at, ".%s", key);

	*text = json_string_value(value);
	if (value && (!*text || !**text))
		return wrong(&p, "a name expected");
	return EXIT_OK;
}

static int get_flag(const struct place *at, json_t *object, const char *key,
		    bool *flag)
{
	json_t *value = json_object_get(object, key);
	struct place p = inside(at, ".%s", key);

	*flag = json_is_true(value);
	if (value && !json_is_boolean(value))
		return wrong(&p, "true or false expected");
	return EXIT_OK;
}

/* A list of at most @most numbers; absent: none */
static int get_list(const struct place *at, json_t *object, const char *key,
		    int most, int64_t min, int64_t max, int64_t *numbers,
		    int *count)
{
	json_t *list = json_object_get(object, key), *value;
	struct place p = inside(at, ".%s", key);
	size_t i;

	*count = 0;
	if (!list)
		return EXIT_OK;
	if (!json_is_array(list))
		return wrong(&p, "a list expected");
	if (json_array_size(list) > (size_t)most)
		return wrong(&p, "%zu entries, at most %d are possible",
			     json_array_size(list), most);
	json_array_foreach(list, i, value) {
		struct place entry = inside(&p, "[%zu]", i);
		int status = get_integer(&entry, value, min, max, &numbers[i]);

		if (status)
			return status;
	}
	*count = json_array_size(list);
	return EXIT_OK;
}

/*
 * Buffers
 */

static int read_buffer(const struct place *at, json_t *object,
		       struct job_buffer *b)
{
	static const char *const known[] = { "input", "output", "bytes",
					     "fill", "seed", NULL };
	json_t *fill = json_object_get(object, "fill");
	int64_t bytes = 0, seed = 1;
	int status;

	b->fill = 0;
	status = check_members(at, object, known);
	if (!status)
		status = get_text(at, object, "input", &b->input);
	if (!status)
		status = get_text(at, object, "output", &b->output);
	if (!status)
		status = get_member(at, object, "bytes", 1, INT64_MAX, &bytes);
	if (!status)
		status = get_member(at, object, "seed", 0, INT64_MAX, &seed);
	if (!status && json_is_string(fill) &&
	    !strcmp(json_string_value(fill), "random"))
		b->fill = -1;
	else if (!status)
		status = get_member(at, object, "fill", 0, 255, &b->fill);
	if (!status && !b->input == !bytes)
		status = wrong(at, "either \"input\" or \"bytes\" expected");
	b->bytes = bytes;
	b->seed = seed;
	return status;
}

static int read_buffers(struct place *top, struct job_file *job)
{
	struct place at = inside(top, "buffers");
	json_t *all = json_object_get(job->root, "buffers"), *value;
	const char *key;
	int status = EXIT_OK;

	if (!json_is_object(all))
		return wrong(&at, "an object expected");
	if (json_object_size(all) > MOST_BUFFERS)
		return wrong(&at, "more than %d", MOST_BUFFERS);
	job->buffers = calloc(json_object_size(all) + 1, sizeof(*job->buffers));
	if (!job->buffers)
		return wrong(&at, "out of memory");
	json_object_foreach(all, key, value) {
		struct job_buffer *b = &job->buffers[job->buffer_count++];
		struct place p = inside(&at, ".%s", key);

		b->name = key;
		status = read_buffer(&p, value, b);
		if (status)
			break;
	}
	return status;
}

/*
 * Descriptors
 */

static int find_buffer(const struct place *at, json_t *object, const char *key,
		       const struct job_file *job, int *buffer)
{
	const char *name;
	int status = get_text(at, object, key, &name);
	struct place p = inside(at, ".%s", key);

	*buffer = -1;
	if (status || !name)
		return status;
	for (int i = 0; i < job->buffer_count; i++)
		if (!strcmp(job->buffers[i].name, name))
			*buffer = i;
	return *buffer < 0 ? wrong(&p, "no buffer \"%s\"", name) : EXIT_OK;
}

static int read_axis(const struct place *at, json_t *object,
		     struct job_desc *d)
{
	static const char *const known[] = { "side", "start", "extent", "coef",
					     NULL };
	static const char *const sides[] = { "src", "dst", NULL };
	int64_t start = 0, extent = 0, coef[TDMA_MAX_DIMS];
	int number = d->ext.naxes, count, side, status;
	const char *name;

	status = check_members(at, object, known);
	if (!status)
		status = get_text(at, object, "side", &name);
	if (status)
		return status;
	side = name ? number_of(sides, name) : -1;
	if (side < 0)
		return wrong(at, "\"side\" is \"src\" or \"dst\"");
	status = get_member(at, object, "start", INT64_MIN, INT64_MAX, &start);
	if (!status)
		status = get_member(at, object, "extent", 0, INT64_MAX,
				    &extent);
	if (!status)
		status = get_list(at, object, "coef", TDMA_MAX_DIMS, INT32_MIN,
				  INT32_MAX, coef, &count);
	if (status)
		return status;
	d->ext.axis_side[number] = side;
	d->ext.axis_start[number] = start;
	d->ext.axis_extent[number] = extent;
	d->ext.naxes++;
	for (int i = 0; i < count; i++) {
		if (!coef[i])
			continue;
		(side ? d->ext.dst_axis : d->ext.src_axis)[i] = number + 1;
		(side ? d->ext.dst_coef : d->ext.src_coef)[i] = coef[i];
	}
	return EXIT_OK;
}

static int read_axes(const struct place *at, json_t *object,
		     struct job_desc *d)
{
	json_t *list = json_object_get(object, "axes"), *value;
	struct place p = inside(at, ".axes");
	size_t i;

	if (!list)
		return EXIT_OK;
	if (!json_is_array(list) || json_array_size(list) > TDMA_MAX_AXES)
		return wrong(&p, "a list of at most %d expected",
			     TDMA_MAX_AXES);
	d->desc.flags |= TDMA_DESC_EXT;
	d->ext.version = TDMA_DESC_VERSION;
	json_array_foreach(list, i, value) {
		struct place entry = inside(&p, "[%zu]", i);
		int status = read_axis(&entry, value, d);

		if (status)
			return status;
	}
	return EXIT_OK;
}

static int read_loops(const struct place *at, json_t *object,
		      struct tdma_desc *d)
{
	int64_t list[3][TDMA_MAX_DIMS] = { { 0 } };
	int count[3], status;

	status = get_list(at, object, "steps", TDMA_MAX_DIMS, 0, UINT32_MAX,
			  list[0], &count[0]);
	if (!status)
		status = get_list(at, object, "src_stride", TDMA_MAX_DIMS,
				  INT64_MIN, INT64_MAX, list[1], &count[1]);
	if (!status)
		status = get_list(at, object, "dst_stride", TDMA_MAX_DIMS,
				  INT64_MIN, INT64_MAX, list[2], &count[2]);
	if (status)
		return status;
	if ((count[1] && count[1] != count[0]) ||
	    (count[2] && count[2] != count[0]))
		return wrong(at, "as many strides as steps expected");
	d->ndims = count[0];
	for (int i = 0; i < count[0]; i++) {
		d->steps[i] = list[0][i];
		d->src_stride[i] = list[1][i];
		d->dst_stride[i] = list[2][i];
	}
	return EXIT_OK;
}

static int read_fill(const struct place *at, json_t *object,
		     struct job_desc *d)
{
	int64_t fill[TDMA_MAX_FILL_BYTES];
	int count;
	int status = get_list(at, object, "fill", TDMA_MAX_FILL_BYTES, 0, 255,
			      fill, &count);

	for (int i = 0; i < count && !status; i++)
		d->desc.fill[i] = fill[i];
	if (d->desc.opcode == TDMA_OP_MEMSET)
		d->desc.type = count;
	else if (d->desc.flags & TDMA_DESC_EXT)
		d->ext.fill_bytes = count ? count : 1;
	return status;
}

/* Numbers by name */
static int read_scalars(const struct place *at, json_t *object,
			struct tdma_desc *d)
{
	int64_t elem = 1, src = 0, dst = 0, total = -1;
	int status;

	status = get_member(at, object, "elem_bytes", 0, UINT32_MAX, &elem);
	if (!status)
		status = get_member(at, object, "src_offset", INT64_MIN,
				    INT64_MAX, &src);
	if (!status)
		status = get_member(at, object, "dst_offset", INT64_MIN,
				    INT64_MAX, &dst);
	if (!status)
		status = get_member(at, object, "total", 0, INT64_MAX, &total);
	d->elem_bytes = elem;
	d->src_offset = src;
	d->dst_offset = dst;
	if (total >= 0) {
		d->flags |= TDMA_DESC_TOTAL;
		d->total = total;
	}
	return status;
}

static int read_opcode(const struct place *at, json_t *object,
		       struct tdma_desc *d)
{
	const char *opcode, *type;
	int status = get_text(at, object, "opcode", &opcode), number;

	if (!status)
		status = get_text(at, object, "type", &type);
	if (status)
		return status;
	number = number_of(opcode_names, opcode ? opcode : "copy");
	if (number < 0)
		return wrong(at, "no opcode \"%s\"", opcode);
	d->opcode = number;
	if (!type)
		return EXIT_OK;
	number = number_of(type_names, type);
	if (number < 0)
		return wrong(at, "no type \"%s\"", type);
	d->type = number;
	return EXIT_OK;
}

static int read_desc(const struct place *at, json_t *object,
		     const struct job_file *job, struct job_desc *d)
{
	static const char *const known[] = {
		"opcode", "type", "elem_bytes", "src", "dst", "src_offset",
		"dst_offset", "steps", "src_stride", "dst_stride", "total",
		"fill", "axes", "fence", NULL,
	};
	int status = check_members(at, object, known);
	bool fence = false;

	d->desc.version = TDMA_DESC_VERSION;
	if (!status)
		status = read_opcode(at, object, &d->desc);
	if (!status)
		status = find_buffer(at, object, "src", job, &d->src);
	if (!status)
		status = find_buffer(at, object, "dst", job, &d->dst);
	if (!status)
		status = read_scalars(at, object, &d->desc);
	if (!status)
		status = read_loops(at, object, &d->desc);
	if (!status)
		status = read_axes(at, object, d);
	if (!status)
		status = read_fill(at, object, d);
	if (!status)
		status = get_flag(at, object, "fence", &fence);
	d->desc.flags |= fence ? TDMA_DESC_FENCE : 0;
	return status;
}

static int read_descs(struct place *top, struct job_file *job)
{
	json_t *all = json_object_get(job->root, "descriptors"), *value;
	struct place at = inside(top, "descriptors");
	int status = EXIT_OK;
	size_t i;

	if (!json_is_array(all) || json_array_size(all) > MOST_DESCS)
		return wrong(&at, "a list of at most %d expected", MOST_DESCS);
	job->descs = calloc(json_array_size(all) + 1, sizeof(*job->descs));
	if (!job->descs)
		return wrong(&at, "out of memory");
	json_array_foreach(all, i, value) {
		struct place p = inside(&at, "[%zu]", i);

		status = read_desc(&p, value, job, &job->descs[i]);
		if (status)
			break;
		job->desc_count++;
	}
	return status;
}

int job_read(const char *path, struct job_file *job)
{
	static const char *const known[] = { "buffers", "descriptors",
					     "optimize", NULL };
	struct place top = { .job = job };
	json_error_t err;
	char *text;
	size_t length;
	int status;

	memset(job, 0, sizeof(*job));
	job->path = path;
	status = read_file(path, MOST_BYTES, &text, &length);
	if (status)
		return status;
	job->root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &err);
	free(text);
	if (!job->root)
		return complain(EXIT_INPUT, "%s:%d:%d: %s", path, err.line,
				err.column, err.text);
	status = check_members(&top, job->root, known);
	if (!status)
		status = get_flag(&top, job->root, "optimize", &job->optimize);
	if (!status)
		status = read_buffers(&top, job);
	if (!status)
		status = read_descs(&top, job);
	return status;
}

void job_free(struct job_file *job)
{
	free(job->buffers);
	free(job->descs);
	json_decref(job->root);
}
