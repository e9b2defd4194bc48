// SPDX-License-Identifier: GPL-2.0
/* tdma: options of all commands, and the machine that they describe. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tool.h"

enum { OPTION_FIDELITY = 0x100, OPTION_CONFIG, OPTION_JSON, OPTION_DRY_RUN };

#define CONFIG_BYTES	65536
#define HUGE_BYTES	(2UL << 20)
#define SMALL_ALIGN	64

static const struct argp_option option_list[] = {
	{ "backend", 'b', "sim|PATH", 0,
	  "simulator (default, or $TENSORDMA_BACKEND), or device node", -2 },
	{ "fidelity", OPTION_FIDELITY, "fast|cycle", 0,
	  "of the simulator: as fast as possible, or every clock", -2 },
	{ "device", 'D', "NAME=VALUE,...", 0,
	  "properties of the simulator, by the names of QEMU's device", -2 },
	{ "config", OPTION_CONFIG, "FILE", 0,
	  "the same from a file, one per line, # comments", -2 },
	{ "json", OPTION_JSON, NULL, 0, "write results as JSON", -2 },
	{ "dry-run", OPTION_DRY_RUN, NULL, 0,
	  "check as the machine would, move and write nothing", -2 },
	{ "quiet", 'q', NULL, 0, "no progress, no remarks", -2 },
	{ 0 },
};

int complain(int status, const char *format, ...)
{
	va_list args;

	fputs("tdma: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return status;
}

bool parse_number(const char *text, int64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoll(text, &end, 10);
	return end != text && !*end && !errno;
}

int parse_numbers(const char *text, char separator, int64_t *numbers, int most)
{
	int count = 0;

	for (;;) {
		char *end;

		if (count == most)
			return -1;
		errno = 0;
		numbers[count++] = strtoll(text, &end, 10);
		if (end == text || errno || (*end && *end != separator))
			return -1;
		if (!*end)
			return count;
		text = end + 1;
	}
}

const char *shape_text(int ndim, const int64_t *shape)
{
	static char text[TENSORDMA_MAX_DIMS * 22 + 4];
	size_t at = 0;

	at += sprintf(text + at, "(");
	for (int i = 0; i < ndim; i++)
		at += sprintf(text + at, "%s%" PRId64, i ? ", " : "", shape[i]);
	sprintf(text + at, ndim == 1 ? ",)" : ")");
	return text;
}

int add_properties(struct options *o, const char *list)
{
	/* Options are copied; what they point to lasts as long as the program. */
	static char pool[CONFIG_BYTES];
	static size_t used;
	size_t length = strlen(list) + 1;
	char *word, *rest = pool + used;

	if (length > sizeof(pool) - used)
		return complain(EXIT_USAGE, "too many properties");
	memcpy(rest, list, length);
	used += length;
	while ((word = strsep(&rest, ","))) {
		if (!*word)
			continue;
		if (o->property_count == MOST_PROPERTIES)
			return complain(EXIT_USAGE, "too many properties");
		o->properties[o->property_count++] = word;
	}
	return EXIT_OK;
}

void *get_memory(size_t bytes)
{
	size_t align = bytes < HUGE_BYTES ? SMALL_ALIGN : HUGE_BYTES;
	void *memory;

	if (bytes > SIZE_MAX - 2 * align)
		return NULL;
	bytes = (bytes / align + 1) * align;
	memory = aligned_alloc(align, bytes);
	if (!memory)
		return NULL;
	if (align == HUGE_BYTES)
		madvise(memory, bytes, MADV_HUGEPAGE);
	memset(memory, 0, bytes);
	return memory;
}

int read_file(const char *path, size_t most, char **text, size_t *length)
{
	FILE *file = fopen(path, "rb");
	char *data = NULL;
	size_t got = 0, room = 0;

	if (!file)
		return complain(EXIT_INPUT, "%s: %s", path, strerror(errno));
	do {
		char *more;

		room = room ? 2 * room : 4096;
		more = realloc(data, room + 1);
		if (!more)
			break;
		data = more;
		got += fread(data + got, 1, room - got, file);
	} while (got == room && got <= most);
	if (ferror(file) || got == room || got > most) {
		complain(EXIT_INPUT, "%s: %s", path, ferror(file) ?
			 strerror(errno) : "larger than such a file may be");
		fclose(file);
		free(data);
		return EXIT_INPUT;
	}
	fclose(file);
	data[got] = '\0';
	*text = data;
	*length = got;
	return EXIT_OK;
}

/* Lines "name = value" and "name=value" */
static int read_config(struct options *o, const char *path)
{
	char *text, *line, *rest;
	size_t length;
	int status, number = 0;

	status = read_file(path, CONFIG_BYTES, &text, &length);
	if (status)
		return status;
	for (rest = text; (line = strsep(&rest, "\n")) && !status;) {
		char *from, *to = line;

		number++;
		line[strcspn(line, "#")] = '\0';
		for (from = line; *from; from++)
			if (!strchr(" \t\r", *from))
				*to++ = *from;
		*to = '\0';
		if (*line && !strchr(line, '='))
			status = complain(EXIT_INPUT, "%s:%d: no \"=\"", path,
					  number);
		else
			status = add_properties(o, line);
	}
	free(text);
	return status;
}

static error_t parse_common(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	char word[32];

	switch (key) {
	case 'b':
		o->backend = arg;
		break;
	case 'D':
		o->status = o->status ? o->status : add_properties(o, arg);
		break;
	case 'q':
		o->quiet = true;
		break;
	case OPTION_FIDELITY:
		snprintf(word, sizeof(word), "fidelity=%.20s", arg);
		o->status = o->status ? o->status : add_properties(o, word);
		break;
	case OPTION_CONFIG:
		o->status = o->status ? o->status : read_config(o, arg);
		break;
	case OPTION_JSON:
		o->json = true;
		break;
	case OPTION_DRY_RUN:
		o->dry_run = true;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

const struct argp common_argp = {
	.options = option_list,
	.parser = parse_common,
};

const struct argp_child common_children[] = {
	{ &common_argp, 0, NULL, 0 },
	{ 0 }
};

error_t one_file(int key, char *arg, struct argp_state *state,
		 const char **path, const char *what)
{
	switch (key) {
	case ARGP_KEY_ARG:
		if (state->arg_num)
			argp_error(state, "more than one %s", what);
		*path = arg;
		return 0;
	case ARGP_KEY_END:
		if (!*path)
			argp_error(state, "a %s is needed", what);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

error_t other_command(int key, struct argp_state *state, struct words *words)
{
	switch (key) {
	case ARGP_KEY_ARG:
		words->argv = &state->argv[state->next - 1];
		words->argc = state->argc - state->next + 1;
		state->next = state->argc;
		return 0;
	case ARGP_KEY_END:
		if (!words->argc)
			argp_error(state, "copy ... or run ... is needed");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

int parse_command(const struct argp *argp, unsigned int flags, int argc,
		  char **argv, void *input)
{
	static char name[32];

	snprintf(name, sizeof(name), "tdma %.20s", argv[0]);
	argv[0] = name;
	argp_err_exit_status = EXIT_USAGE;
	/* What is wrong ends the program, as --help does. */
	return argp_parse(argp, argc, argv, flags, NULL, input) ? EXIT_USAGE :
								  EXIT_OK;
}

int open_machine(const struct options *o, struct tensordma **machine)
{
	struct tensordma_config config = {
		.backend = o->backend,
		.properties = o->properties,
	};
	struct tensordma_error err;
	int ret;

	if (o->status)
		return o->status;
	ret = tensordma_open(machine, &config, &err);
	if (!ret)
		return EXIT_OK;
	return complain(ret == -EINVAL ? EXIT_USAGE : EXIT_BACKEND, "%s",
			err.message);
}
