// SPDX-License-Identifier: GPL-2.0
/* tdma bench: speed of some moves. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <jansson.h>

#include "tool.h"

/* A move of an n x n x c matrix of elements */
struct move {
	const char *name;
	const char *dtype;
	int64_t shape[3];
	int axes[3];
};

static const struct move moves[] = {
	{ "contiguous 64 KiB", "u8", { 1, 1, 65536 }, { 0, 1, 2 } },
	{ "contiguous 16 MiB", "u8", { 1, 1, 16 << 20 }, { 0, 1, 2 } },
	{ "transpose f32", "f32", { 1, 1024, 1024 }, { 0, 2, 1 } },
	{ "transpose u8", "u8", { 1, 2048, 2048 }, { 0, 2, 1 } },
	{ "HWC to CHW u8", "u8", { 1024, 1024, 3 }, { 2, 0, 1 } },
	{ "heads f16", "f16", { 512, 16, 64 }, { 1, 0, 2 } },
};

/* Cycle by cycle a hundredth of it is enough. */
#define CYCLE_BYTES	65536

struct bench {
	struct options options;
	struct tensordma *machine;
	int64_t repeat;
	json_t *results;
};

static const struct argp_option option_list[] = {
	{ "repeat", 'n', "NUMBER", 0, "take the best of so many (5)", 0 },
	{ 0 },
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct bench *b = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &b->options;
		return 0;
	case 'n':
		if (!parse_number(arg, &b->repeat) || b->repeat < 1)
			argp_error(state, "-n %s: not a number from 1 on", arg);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp bench_argp = {
	.options = option_list,
	.parser = parse_option,
	.doc = "Measure some moves: bytes moved per second, once counted, and engine cycles.",
	.children = common_children,
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static void report(struct bench *b, const struct move *move, uint64_t bytes,
		   double seconds, uint64_t cycles)
{
	if (b->options.json)
		json_array_append_new(b->results, json_pack(
			"{s:s, s:I, s:f, s:I}", "move", move->name, "bytes",
			(json_int_t)bytes, "seconds", seconds, "cycles",
			(json_int_t)cycles));
	else
		printf("%-20s %10" PRIu64 " bytes  %8.3f GB/s  %10" PRIu64
		       " cycles  %6.2f B/cycle\n", move->name, bytes,
		       bytes * 1e-9 / seconds, cycles,
		       cycles ? (double)bytes / cycles : 0);
}

static int measure(struct bench *b, const struct move *move,
		   struct tensordma_plan *plan)
{
	struct tensordma_status status;
	struct tensordma_error err;
	double best = 1e9;

	for (int64_t i = 0; i < b->repeat; i++) {
		double start = now(), took;

		if (tensordma_run(b->machine, plan, &status, &err))
			return complain(EXIT_FAILED, "%s: %s", move->name,
					err.message);
		took = now() - start;
		best = took < best ? took : best;
	}
	report(b, move, tensordma_plan_bytes(plan), best, status.cycles);
	return EXIT_OK;
}

static int bench_move(struct bench *b, const struct move *move, bool small)
{
	struct tensordma_plan *plan = tensordma_plan_new(b->machine);
	struct tensordma_tensor src, dst;
	struct tensordma_dtype dtype;
	struct tensordma_error err;
	int64_t shape[3];
	int status = EXIT_FAILED;
	size_t bytes;
	char *from, *to;

	memcpy(shape, move->shape, sizeof(shape));
	tensordma_dtype_parse(move->dtype, &dtype);
	bytes = shape[0] * shape[1] * shape[2] * tensordma_dtype_bytes(dtype);
	for (int i = 0; small && bytes > CYCLE_BYTES; i = (i + 1) % 3)
		if (shape[i] >= 32) {
			shape[i] /= 2;
			bytes /= 2;
		}
	from = malloc(bytes);
	to = malloc(bytes);
	if (!plan || !from || !to) {
		complain(status, "out of memory");
	} else {
		memset(from, 1, bytes);
		memset(to, 0, bytes);
		tensordma_tensor_init(&src, from, dtype, 3, shape, NULL, &err);
		tensordma_permute(&src, &src, move->axes, &err);
		tensordma_tensor_init(&dst, to, dtype, 3, src.shape, NULL,
				      &err);
		status = tensordma_plan_copy(plan, &dst, &src, &err) ?
			complain(EXIT_FAILED, "%s", err.message) :
			measure(b, move, plan);
	}
	tensordma_plan_free(plan);
	free(from);
	free(to);
	return status;
}

int cmd_bench(int argc, char **argv)
{
	struct bench b = { .repeat = 5 };
	struct tensordma_info info;
	int status = parse_command(&bench_argp, 0, argc, argv, &b);

	if (!status)
		status = open_machine(&b.options, &b.machine);
	if (status)
		return status;
	tensordma_get_info(b.machine, &info);
	b.results = json_array();
	for (size_t i = 0; i < ARRAY_SIZE(moves) && !status; i++)
		status = bench_move(&b, &moves[i], info.cycle_accurate);
	if (b.options.json && !status) {
		json_dumpf(b.results, stdout, JSON_INDENT(1));
		putchar('\n');
	}
	json_decref(b.results);
	tensordma_close(b.machine);
	return status;
}
