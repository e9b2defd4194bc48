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
#include "tdma_random.h"
#include "tdma_ref.h"
#include "tdma_table.h"

#define SPAN_BYTES	(8U << 20)
#define PAYLOAD_BYTES	(64U << 10)
#define PAYLOAD_SLOW	(16U << 10)
#define POOL_OPS	8

struct replay {
	int fd;
	struct tdma_query caps;
	struct tdma_row_limits limits;
	struct tdma_buf src;
	struct tdma_buf dst;
};

/* What became of one row. */
struct verdict {
	int result;		/* KSFT_* */
	char why[96];
	__u64 bytes;
	__u64 cycles;
};

/* Rows of the pool with the same op are one test. */
struct pool_op {
	char op[32];
	unsigned int rows;
	unsigned int failed;
	unsigned int skipped;
	__u64 bytes;
	char why[96];
};

/* Offset of the first wrong byte, or -1. */
static long mismatch(struct replay *r)
{
	size_t at = tdma_buf_diff(&r->dst);

	if (at == r->dst.len)
		return -1;
	/* Do not blame the next row. */
	memcpy(r->dst.image, r->dst.mem, r->dst.len);
	return at;
}

static void run_slots(struct replay *r, union tdma_slot *slots,
		      struct verdict *v)
{
	struct tdma_desc *d = &slots[0].desc;
	__u64 elements = tdma_ref_elements(d);
	struct tdma_record rec;
	long at;
	int ret;

	d->src_segment = r->src.handle;
	d->dst_segment = r->dst.handle;
	ret = tdma_run(r->fd, slots, &rec);
	v->result = KSFT_FAIL;
	v->bytes = elements * d->elem_bytes;
	v->cycles = rec.cycles;
	if (ret) {
		snprintf(v->why, sizeof(v->why), "%s", strerror(-ret));
		return;
	}
	tdma_ref_run(d, d->flags & TDMA_DESC_EXT ? &slots[1].ext : NULL,
		     r->src.image, r->dst.image);
	at = mismatch(r);
	if (rec.status != TDMA_STATUS_OK || rec.dst_done != elements)
		snprintf(v->why, sizeof(v->why),
			 "status %u field %u, %llu of %llu elements",
			 rec.status, rec.fault_field, rec.dst_done, elements);
	else if (at >= 0)
		snprintf(v->why, sizeof(v->why), "byte %ld is wrong", at);
	else
		v->result = KSFT_PASS;
}

static void run_row(struct replay *r, const struct tdma_row *row,
		    struct verdict *v)
{
	union tdma_slot slots[2];
	const char *needs = tdma_row_plan(row, &r->limits, slots);

	memset(v, 0, sizeof(*v));
	v->result = KSFT_SKIP;
	if (needs)
		snprintf(v->why, sizeof(v->why), "needs %s", needs);
	else if (slots[0].desc.flags & TDMA_DESC_EXT &&
		 !(r->caps.features & TDMA_FEATURE_EXT))
		snprintf(v->why, sizeof(v->why), "needs TDMA_FEATURE_EXT");
	else
		run_slots(r, slots, v);
}

static bool in_core(const struct tdma_row *row)
{
	return !strcmp(row->tier, "core");
}

static void report_core(const struct tdma_row *row, const struct verdict *v)
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
		       const struct verdict *v)
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
	struct verdict none = {};
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

static void replay_table(struct replay *r, bool core_only)
{
	struct pool_op ops[POOL_OPS] = {};
	FILE *file = tdma_table_open();
	struct tdma_row row;
	struct verdict v;

	while (file && tdma_table_next(file, &row) > 0) {
		if (in_core(&row)) {
			run_row(r, &row, &v);
			report_core(&row, &v);
		} else if (!core_only) {
			run_row(r, &row, &v);
			count_pool(ops, &row, &v);
		}
		tdma_row_free(&row);
	}
	if (file)
		fclose(file);
	for (int i = 0; i < POOL_OPS && *ops[i].op; i++)
		report_pool(&ops[i]);
}

static int setup(struct replay *r)
{
	struct tdma_rng rng = {};
	int ret;

	r->limits.span = SPAN_BYTES;
	r->limits.payload = tdma_env("TDMA_CASE_BYTES", tdma_slow() ?
				     PAYLOAD_SLOW : PAYLOAD_BYTES);
	r->fd = tdma_open(0);
	if (r->fd < 0)
		return r->fd;
	ret = tdma_query(r->fd, &r->caps);
	if (!ret)
		ret = tdma_buf_create(&r->src, r->fd, TDMA_MEM_USER,
				      SPAN_BYTES);
	if (!ret)
		ret = tdma_buf_create(&r->dst, r->fd, TDMA_MEM_USER,
				      SPAN_BYTES);
	if (ret)
		return ret;
	tdma_rand_fill(&rng, &r->src);
	tdma_rand_fill(&rng, &r->dst);
	return 0;
}

int main(int argc, char **argv)
{
	bool core_only = argc > 1 && !strcmp(argv[1], "core");
	struct replay r = {};
	int ret;

	tdma_require_device();
	ksft_print_header();
	ksft_set_plan(count_tests(core_only));
	ret = setup(&r);
	if (ret)
		ksft_exit_fail_msg("set-up: %s\n", strerror(-ret));
	ksft_print_msg("rows scaled to %llu bytes of payload\n",
		       r.limits.payload);
	replay_table(&r, core_only);
	if (tdma_buf_diff(&r.src) != r.src.len)
		ksft_exit_fail_msg("the source was changed\n");
	ksft_finished();
}
