// SPDX-License-Identifier: GPL-2.0
/*
 * tensordma selftests: replay cases/cases.tsv, tensor moves of real software.
 * One test per curated ("core") row, one per kind of move of the large capture
 * ("pool"); with "core" as argument only the former.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kselftest.h"
#include "tdma_replay.h"

#define POOL_OPS	8

/* Rows of the pool with the same op are one test. */
struct pool_op {
	char op[32];
	unsigned int rows;
	unsigned int failed;
	unsigned int skipped;
	__u64 bytes;
	char why[96];
};

static bool in_core(const struct tdma_row *row)
{
	return !strcmp(row->tier, "core");
}

static void report_core(const struct tdma_row *row,
			const struct tdma_verdict *v)
{
	if (v->result == KSFT_SKIP)
		ksft_test_result_skip("%s %s: %s\n", row->op, row->name,
				      v->why);
	else if (v->result == KSFT_PASS)
		ksft_test_result_pass("%s %s: %llu bytes, %llu cycles\n",
				      row->op, row->name, v->bytes, v->cycles);
	else
		ksft_test_result_fail("%s %s: %s\n", row->op, row->name,
				      v->why);
}

static struct pool_op *find_op(struct pool_op *ops, const char *op)
{
	for (int i = 0; i < POOL_OPS; i++) {
		if (!*ops[i].op)
			snprintf(ops[i].op, sizeof(ops[i].op), "%s", op);
		if (!strcmp(ops[i].op, op))
			return &ops[i];
	}
	ksft_exit_fail_msg("more than %d kinds of pool rows\n", POOL_OPS);
}

static void count_pool(struct pool_op *ops, const struct tdma_row *row,
		       const struct tdma_verdict *v)
{
	struct pool_op *op = find_op(ops, row->op);

	op->rows++;
	op->bytes += v->bytes;
	if (v->result == KSFT_SKIP)
		op->skipped++;
	if (v->result == KSFT_FAIL) {
		op->failed++;
		ksft_print_msg("%s %s: %s\n", row->op, row->name, v->why);
	}
	if (v->result != KSFT_PASS)
		memcpy(op->why, v->why, sizeof(op->why));
}

static void report_pool(const struct pool_op *op)
{
	if (op->failed)
		ksft_test_result_fail("pool %s: %u of %u rows, last: %s\n",
				      op->op, op->failed, op->rows, op->why);
	else if (op->skipped)
		ksft_test_result_skip("pool %s: %u of %u rows, %s\n", op->op,
				      op->skipped, op->rows, op->why);
	else
		ksft_test_result_pass("pool %s: %u rows, %llu bytes\n",
				      op->op, op->rows, op->bytes);
}

/* Number of tests the table gives. */
static unsigned int count_tests(bool core_only)
{
	struct pool_op ops[POOL_OPS] = {};
	struct tdma_verdict none = {};
	unsigned int tests = 0;
	struct tdma_row row;
	FILE *file = tdma_table_open();
	int ret;

	if (!file)
		ksft_exit_fail_msg("cases.tsv: %s\n", strerror(errno));
	while ((ret = tdma_table_next(file, &row)) > 0) {
		if (in_core(&row))
			tests++;
		else if (!core_only)
			count_pool(ops, &row, &none);
		tdma_row_free(&row);
	}
	if (ret < 0)
		ksft_exit_fail_msg("cases.tsv: bad row after %u\n", tests);
	fclose(file);
	for (int i = 0; i < POOL_OPS && *ops[i].op; i++)
		tests++;
	return tests;
}

static void replay_table(struct tdma_replay *r, bool core_only)
{
	struct pool_op ops[POOL_OPS] = {};
	FILE *file = tdma_table_open();
	struct tdma_row row;
	struct tdma_verdict v;

	while (file && tdma_table_next(file, &row) > 0) {
		if (in_core(&row)) {
			tdma_replay_row(r, &row, &v);
			report_core(&row, &v);
		} else if (!core_only) {
			tdma_replay_row(r, &row, &v);
			count_pool(ops, &row, &v);
		}
		tdma_row_free(&row);
	}
	if (file)
		fclose(file);
	for (int i = 0; i < POOL_OPS && *ops[i].op; i++)
		report_pool(&ops[i]);
}

int main(int argc, char **argv)
{
	bool core_only = argc > 1 && !strcmp(argv[1], "core");
	struct tdma_replay r = {};
	int ret;

	tdma_require_device();
	ksft_print_header();
	ksft_set_plan(count_tests(core_only) + 1);
	ret = tdma_replay_open(&r);
	if (ret)
		ksft_exit_fail_msg("set-up: %s\n", strerror(-ret));
	ksft_print_msg("rows scaled to %llu bytes of payload\n",
		       r.limits.payload);
	replay_table(&r, core_only);
	if (tdma_replay_clean(&r))
		ksft_test_result_pass("no other byte was touched\n");
	else
		ksft_test_result_fail("no other byte was touched\n");
	ksft_finished();
}
