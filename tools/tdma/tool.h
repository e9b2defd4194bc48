/* SPDX-License-Identifier: GPL-2.0 */
/* tdma: what all its commands share. */
#ifndef TDMA_TOOL_H
#define TDMA_TOOL_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>
#include "tensordma.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* Status of the program; also in its manual page */
enum {
	EXIT_OK		= 0,
	EXIT_FAILED	= 1,	/* it was done but did not end well */
	EXIT_USAGE	= 2,	/* the command line */
	EXIT_INPUT	= 3,	/* a file cannot be read or is malformed */
	EXIT_BACKEND	= 4,	/* no such machine, or it is busy */
	EXIT_REFUSED	= 5,	/* the checks of the machine say no */
	EXIT_OUTPUT	= 6,	/* a file cannot be written */
};

#define MOST_PROPERTIES	64

/* Options that every command has */
struct options {
	const char *backend;		/* NULL: the default */
	const char *properties[MOST_PROPERTIES + 1];
	unsigned int property_count;
	bool json;
	bool dry_run;
	bool quiet;
	int status;			/* of what was wrong with them, or 0 */
};

extern const struct argp common_argp;
/* Nothing but them as children of a command */
extern const struct argp_child common_children[];

/*
 * What the parsers of commands do with ARGP_KEY_ARG and ARGP_KEY_END, others
 * are ARGP_ERR_UNKNOWN: one file is needed, @what names it; or the words of
 * another command follow, copy or run, and are left to it.
 */
error_t one_file(int key, char *arg, struct argp_state *state,
		 const char **path, const char *what);

struct words {
	int argc;
	char **argv;
};

error_t other_command(int key, struct argp_state *state, struct words *words);

/* "tdma: ..." on standard error; returns @status. */
int complain(int status, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Parse a command's words, argv[0] is the command; @flags: ARGP_IN_ORDER leaves
 * options behind the first word alone. A status.
 */
int parse_command(const struct argp *argp, unsigned int flags, int argc,
		  char **argv, void *input);

/* Open the machine; EXIT_OK or another status */
int open_machine(const struct options *o, struct tensordma **machine);

/* One more property, "name=value"; lists are separated by commas. */
int add_properties(struct options *o, const char *list);

/* Lists of numbers: "1,0,-2". The count, or -1. */
int parse_numbers(const char *text, char separator, int64_t *numbers, int most);
bool parse_number(const char *text, int64_t *number);

/* A shape as Python writes it, in static memory: "(3, 4)" */
const char *shape_text(int ndim, const int64_t *shape);

/*
 * Zeroed memory, to be freed; what is large is there at once and in large pages,
 * so that nobody measures page faults. NULL: none
 */
void *get_memory(size_t bytes);

/* A whole file in memory, with a zero behind it; EXIT_OK or EXIT_INPUT */
int read_file(const char *path, size_t most, char **text, size_t *length);

/* Commands: argv[0] is their name. */
int cmd_info(int argc, char **argv);
int cmd_work(int argc, char **argv);	/* copy and run */
int cmd_cases(int argc, char **argv);
int cmd_bench(int argc, char **argv);
int cmd_trace(int argc, char **argv);
int cmd_explain(int argc, char **argv);

#endif /* TDMA_TOOL_H */
