// SPDX-License-Identifier: GPL-2.0
/* tdma: the command, its sub-commands. */
#include <stdio.h>
#include <string.h>

#include "tool.h"

struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *text;
};

static const struct command commands[] = {
	{ "info", cmd_info, "what a machine can do, its properties" },
	{ "copy", cmd_work, "a .npy file into another, transposed, cut, padded ..." },
	{ "run", cmd_work, "descriptors of a JSON file" },
	{ "explain", cmd_explain, "what copy or run becomes, how long it takes and why" },
	{ "trace", cmd_trace, "copy or run, with every request in a JSON file" },
	{ "cases", cmd_cases, "a table of moves, each compared with a loop nest" },
	{ "bench", cmd_bench, "speed of some moves" },
};

static void usage(FILE *to)
{
	fprintf(to, "usage: tdma COMMAND [OPTION...] ...\n\n");
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(to, "  %-9s%s\n", commands[i].name, commands[i].text);
	fprintf(to, "\n\"tdma COMMAND --help\" tells more, tdma(1) all of it.\n");
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";

	if (!strcmp(name, "--help") || !strcmp(name, "help")) {
		usage(stdout);
		return EXIT_OK;
	}
	if (!strcmp(name, "--version")) {
		unsigned int version = tensordma_version();

		printf("tdma %u.%u\n", version >> 16, version & 0xffff);
		return EXIT_OK;
	}
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(name, commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
	if (*name)
		complain(EXIT_USAGE, "no command \"%s\"", name);
	usage(stderr);
	return EXIT_USAGE;
}
