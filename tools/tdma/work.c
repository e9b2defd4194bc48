// SPDX-License-Identifier: GPL-2.0
/* tdma: copy and run, from the command line to files. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <jansson.h>

#include "progress.h"
#include "work.h"

/* The words again, for messages and for whoever wants to repeat them */
static char *join_words(int argc, char **argv)
{
	size_t length = 1;
	char *text;

	for (int i = 0; i < argc; i++)
		length += strlen(argv[i]) + 3;
	text = malloc(length);
	if (!text)
		return NULL;
	*text = '\0';
	for (int i = 0; i < argc; i++) {
		bool quote = argv[i][strcspn(argv[i], " *?()[]'\"$;&|<>")];

		sprintf(text + strlen(text), quote ? "%s'%s'" : "%s%s",
			i ? " " : "", argv[i]);
	}
	return text;
}

int work_prepare(struct work *work, int argc, char **argv,
		 const struct options *preset)
{
	memset(work, 0, sizeof(*work));
	if (preset)
		work->options = *preset;
	work->title = join_words(argc, argv);
	if (!work->title)
		return complain(EXIT_FAILED, "out of memory");
	if (!strcmp(argv[0], "copy"))
		return copy_prepare(work, argc, argv);
	if (!strcmp(argv[0], "run"))
		return run_prepare(work, argc, argv);
	return complain(EXIT_USAGE, "\"copy\" or \"run\" expected, not \"%s\"",
			argv[0]);
}

void work_free(struct work *work)
{
	if (work->release)
		work->release(work);
	tensordma_plan_free(work->plan);
	tensordma_close(work->machine);
	for (unsigned int i = 0; i < work->buffer_count; i++) {
		free(work->buffers[i].name);
		free(work->buffers[i].data);
	}
	free(work->title);
}

void *work_buffer(struct work *work, const char *name, size_t bytes)
{
	struct work_buffer *b = &work->buffers[work->buffer_count];

	if (work->buffer_count == MOST_BUFFERS)
		return NULL;
	b->name = strdup(name);
	b->data = get_memory(bytes);
	b->bytes = bytes;
	if (!b->name || !b->data) {
		free(b->name);
		free(b->data);
		return NULL;
	}
	work->buffer_count++;
	return b->data;
}

int work_keep(struct work *work, struct npy_array *a, const char *name)
{
	struct work_buffer *b = &work->buffers[work->buffer_count];

	if (work->buffer_count == MOST_BUFFERS)
		return complain(EXIT_USAGE, "too many files");
	b->name = strdup(name);
	if (!b->name)
		return complain(EXIT_FAILED, "out of memory");
	b->data = a->memory;
	b->bytes = a->header.bytes;
	a->memory = NULL;
	work->buffer_count++;
	return EXIT_OK;
}

const char *work_name(const struct work *work, const void *data,
		      uint64_t *offset)
{
	uintptr_t at = (uintptr_t)data;

	for (unsigned int i = 0; i < work->buffer_count; i++) {
		const struct work_buffer *b = &work->buffers[i];

		*offset = at - (uintptr_t)b->data;
		if (at >= (uintptr_t)b->data && *offset <= b->bytes)
			return b->name;
	}
	*offset = 0;
	return "(intermediate)";
}

/* One line that does it again */
static int failed(const struct work *work, const struct tensordma_error *err,
		  int status)
{
	complain(status, "%s", err->message);
	fprintf(stderr, "  again: tdma %s\n", work->title);
	return status;
}

int work_run(struct work *work, struct tensordma_status *status)
{
	struct tensordma_error err = { .code = 0 };
	struct tensordma_job *job;
	struct progress progress;
	int ret;

	progress_begin(&progress, "moving ", !work->options.quiet);
	ret = tensordma_submit(work->machine, work->plan,
			       progress.shown ? progress_update : NULL,
			       &progress, &job, &err);
	if (!ret) {
		ret = tensordma_wait(job, -1, &err);
		tensordma_job_status(job, status);
		tensordma_job_free(job);
	}
	progress_end(&progress);
	return ret ? failed(work, &err, ret == -EINVAL ? EXIT_REFUSED :
			    EXIT_FAILED) : EXIT_OK;
}

static void say_json(const struct work *work,
		     const struct tensordma_status *status, double seconds)
{
	json_t *all = json_pack("{s:s, s:b, s:I, s:I}",
				"command", work->title,
				"dry_run", work->options.dry_run,
				"descriptors",
				(json_int_t)tensordma_plan_count(work->plan),
				"bytes",
				(json_int_t)tensordma_plan_bytes(work->plan));

	if (!work->options.dry_run) {
		json_object_set_new(all, "cycles",
				    json_integer(status->cycles));
		json_object_set_new(all, "seconds", json_real(seconds));
	}
	json_dumpf(all, stdout, JSON_INDENT(1));
	putchar('\n');
	json_decref(all);
}

static void say(const struct work *work, const struct tensordma_status *status,
		double seconds)
{
	if (work->options.json) {
		say_json(work, status, seconds);
		return;
	}
	if (work->options.quiet)
		return;
	if (work->describe)
		work->describe(work, stdout);
	printf("%" PRIu64 " bytes, %zu descriptor%s",
	       tensordma_plan_bytes(work->plan),
	       tensordma_plan_count(work->plan),
	       tensordma_plan_count(work->plan) == 1 ? "" : "s");
	if (work->options.dry_run)
		printf(": valid, nothing was moved\n");
	else
		printf(", %" PRIu64 " cycles, %.3f s, %.2f GB/s\n",
		       status->cycles, seconds,
		       tensordma_plan_bytes(work->plan) * 1e-9 / seconds);
}

int work_do(struct work *work)
{
	struct tensordma_status status = { 0 };
	struct tensordma_error err;
	struct progress clock;
	int ret = EXIT_OK;

	if (tensordma_plan_check(work->plan, &err))
		return failed(work, &err, EXIT_REFUSED);
	progress_begin(&clock, "", false);
	if (!work->options.dry_run)
		ret = work_run(work, &status);
	if (ret)
		return ret;
	say(work, &status, progress_seconds(&clock));
	return work->options.dry_run ? EXIT_OK : work->commit(work);
}

int cmd_work(int argc, char **argv)
{
	struct work work;
	int status = work_prepare(&work, argc, argv, NULL);

	if (!status)
		status = work_do(&work);
	work_free(&work);
	return status;
}
