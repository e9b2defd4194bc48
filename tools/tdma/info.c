// SPDX-License-Identifier: GPL-2.0
/* tdma info: what a machine can do. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <jansson.h>

#include "names.h"
#include "tool.h"

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	if (key != ARGP_KEY_INIT)
		return ARGP_ERR_UNKNOWN;
	state->child_inputs[0] = state->input;
	return 0;
}

static const struct argp info_argp = {
	.parser = parse_option,
	.doc = "Tell what a machine can do and what its properties are.",
	.children = common_children,
};

static json_t *names_of(const char *const *names, unsigned int mask)
{
	json_t *list = json_array();

	for (int i = 0; names[i]; i++)
		if (mask & 1U << i)
			json_array_append_new(list, json_string(names[i]));
	return list;
}

static void say_json(const struct tensordma *m,
		     const struct tensordma_info *info)
{
	json_t *properties = json_object(), *all;
	const char *name, *text;
	uint64_t value;

	for (unsigned int i = 0; tensordma_property(m, i, &name, &value, &text);
	     i++)
		json_object_set_new(properties, name, json_integer(value));
	all = json_pack("{s:s, s:s, s:i, s:i, s:o, s:o, s:b, s:i, s:i, s:i, s:o}",
			"backend", info->backend,
			"fidelity", info->cycle_accurate ? "cycle" : "fast",
			"max_dims", info->max_dims,
			"max_elem_bytes", info->max_elem_bytes,
			"opcodes", names_of(opcode_names, info->opcodes),
			"types", names_of(type_names, info->types),
			"padding", info->padding, "threads", info->threads,
			"lanes", info->lanes, "request_ids", info->request_ids,
			"properties", properties);
	json_dumpf(all, stdout, JSON_INDENT(1));
	putchar('\n');
	json_decref(all);
}

static void say_names(const char *title, const char *const *names,
		      unsigned int mask)
{
	printf("%-14s", title);
	for (int i = 0; names[i]; i++)
		if (mask & 1U << i)
			printf(" %s", names[i]);
	putchar('\n');
}

static void say(const struct tensordma *m, const struct tensordma_info *info)
{
	const char *name, *text;
	uint64_t value;

	printf("backend        %s, %s\n", info->backend, info->cycle_accurate ?
	       "every clock is simulated" : "as fast as it can");
	printf("engine         %u DMA threads, %u addresses per cycle and side, %u requests outstanding\n",
	       info->threads, info->lanes, info->request_ids);
	printf("descriptors    %u dimensions, elements of 1 to %u bytes%s\n",
	       info->max_dims, info->max_elem_bytes,
	       info->padding ? ", padding" : "");
	say_names("operations", opcode_names, info->opcodes);
	say_names("accumulates", type_names, info->types);
	if (tensordma_property(m, 0, &name, &value, &text))
		printf("\nproperties (-D NAME=VALUE)\n");
	for (unsigned int i = 0; tensordma_property(m, i, &name, &value, &text);
	     i++)
		printf("  %-18s %10" PRIu64 "  %s\n", name, value, text);
}

int cmd_info(int argc, char **argv)
{
	struct options options = { 0 };
	struct tensordma_info info;
	struct tensordma *m;
	int status = parse_command(&info_argp, 0, argc, argv, &options);

	if (!status)
		status = open_machine(&options, &m);
	if (status)
		return status;
	tensordma_get_info(m, &info);
	if (options.json)
		say_json(m, &info);
	else
		say(m, &info);
	tensordma_close(m);
	return EXIT_OK;
}
