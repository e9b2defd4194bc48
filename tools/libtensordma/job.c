// SPDX-License-Identifier: MIT
/* Jobs: a plan on its way through a machine. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "error.h"
#include "machine.h"
#include "plan.h"

/* From so many bytes on a descriptor tells how far it is, in 100 steps. */
#define LARGE_BYTES	(1UL << 20)
#define PER_MILLE	10

struct tensordma_job {
	struct tensordma *machine;
	struct tensordma_plan *plan;
	tensordma_progress_fn *progress;
	void *arg;
	struct tensordma_status status;
	struct tensordma_error error;
	size_t submitted;		/* descriptors */
	size_t ended;
	uint64_t ended_bytes;
	struct tdl_mapping *mappings;	/* by number of the plan's memory */
	struct tdl_mapping **shared;	/* registered ones instead, or NULL */
	struct tensordma_job *next;
};

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int64_t deadline_of(int64_t timeout_ns)
{
	int64_t deadline;

	if (timeout_ns < 0 ||
	    __builtin_add_overflow(now(), timeout_ns, &deadline))
		return INT64_MAX;
	return timeout_ns ? deadline : 0;
}

/*
 * Memory of a job
 */

static void unmap_all(struct tensordma_job *job)
{
	struct tensordma *m = job->machine;

	for (size_t i = 0; i < job->plan->memory_count; i++) {
		if (job->shared[i])
			job->shared[i]->users--;
		else if (job->mappings[i].addr)
			m->ops->unmap(m->backend, job->mappings[i].segment);
		job->shared[i] = NULL;
		job->mappings[i].addr = NULL;
	}
}

static int map_one(struct tensordma_job *job, size_t number)
{
	const struct tdl_memory *memory = &job->plan->memories[number];
	struct tdl_mapping *mapping = &job->mappings[number], *shared;
	struct tensordma *m = job->machine;
	int ret;

	shared = tdl_find_registered(m, memory->addr, memory->length,
				     memory->written);
	if (shared) {
		shared->users++;
		job->shared[number] = shared;
		return 0;
	}
	ret = m->ops->map(m->backend, memory->addr, memory->length,
			  memory->written, &mapping->segment);
	if (ret)
		return tdl_fail(&job->error, ret, "memory", TENSORDMA_NO_DIM,
				"cannot map %zu bytes: %s", memory->length,
				strerror(-ret));
	mapping->addr = memory->addr;
	mapping->length = memory->length;
	return 0;
}

static int map_all(struct tensordma_job *job)
{
	size_t count = job->plan->memory_count;

	job->mappings = calloc(count + 1, sizeof(*job->mappings));
	job->shared = calloc(count + 1, sizeof(*job->shared));
	if (!job->mappings || !job->shared)
		return tdl_fail(&job->error, -ENOMEM, "", TENSORDMA_NO_DIM,
				"out of memory");
	for (size_t i = 0; i < count; i++) {
		const struct tdl_memory *memory = &job->plan->memories[i];
		int ret;

		if (!memory->read && !memory->written)
			continue;
		ret = map_one(job, i);
		if (ret) {
			unmap_all(job);
			return ret;
		}
	}
	return 0;
}

/* From the number in the plan to the segment; the offset moves with it. */
static void resolve(const struct tensordma_job *job, uint32_t *segment,
		    __u64 *offset)
{
	const struct tdl_mapping *shared = job->shared[*segment];

	if (shared) {
		*offset += job->plan->memories[*segment].addr - shared->addr;
		*segment = shared->segment;
	} else {
		*segment = job->mappings[*segment].segment;
	}
}

/*
 * Descriptors of a job
 */

static uint64_t elements_of(const struct tdma_desc *d)
{
	uint64_t elements = d->opcode != TDMA_OP_NOP;

	if (d->flags & TDMA_DESC_TOTAL)
		return d->total;
	for (int i = 0; i < d->ndims; i++)
		elements *= d->steps[i];
	return elements;
}

static bool has_side(const struct tdma_desc *d, int side)
{
	struct tdl_nest nest = { .opcode = d->opcode };

	return tdl_nest_has_side(&nest, side);
}

static struct tdl_slot make_slot(const struct tensordma_job *job, size_t index)
{
	struct tdl_slot slot = job->plan->slots[index];
	struct tdma_desc *d = &slot.desc;

	if (has_side(d, TDL_SRC))
		resolve(job, &d->src_segment, &d->src_offset);
	if (has_side(d, TDL_DST))
		resolve(job, &d->dst_segment, &d->dst_offset);
	if (job->progress && has_side(d, TDL_DST) && !d->dst_sync_interval &&
	    elements_of(d) > 1 && elements_of(d) * d->elem_bytes > LARGE_BYTES) {
		d->flags |= TDMA_DESC_DST_PER_MILLE;
		d->dst_sync_interval = PER_MILLE;
	}
	return slot;
}

/* Descriptors behind one that failed are left out. */
static void fail(struct tensordma_job *job, int code, size_t index,
		 const struct tdl_refusal *r)
{
	if (job->status.error)
		return;
	job->status.error = code;
	if (r->status)
		tdl_fail_status(&job->error, code, index, r->status, r->field,
				r->dim, r->side);
	else
		tdl_fail(&job->error, code, "", TENSORDMA_NO_DIM, "%s",
			 strerror(-code));
}

static bool all_submitted(const struct tensordma_job *job)
{
	return job->status.error || job->submitted == job->plan->count;
}

/* False: there is no room. */
static bool submit_one(struct tensordma *m, struct tensordma_job *job)
{
	struct tdl_slot slot = make_slot(job, job->submitted);
	struct tdl_refusal refusal;
	uint64_t number;
	int ret;

	if (m->flights == TDL_FLIGHT)
		return false;
	ret = m->ops->submit(m->backend, &slot, &number, &refusal);
	if (ret == -EAGAIN)
		return false;
	if (ret) {
		fail(job, ret, job->submitted, &refusal);
		return true;
	}
	m->flight[(m->flight_first + m->flights++) % TDL_FLIGHT] =
		(struct tdl_flight) { job, job->submitted++, number };
	return true;
}

static void fill_machine(struct tensordma *m)
{
	struct tensordma_job *job;

	for (job = m->first; job; job = job->next)
		while (!all_submitted(job))
			if (!submit_one(m, job))
				return;
}

static void report(struct tensordma_job *job)
{
	if (job->progress)
		job->progress(job->arg, &job->status);
}

static void end_jobs(struct tensordma *m)
{
	while (m->first) {
		struct tensordma_job *job = m->first;

		if (!all_submitted(job) || job->ended != job->submitted)
			return;
		m->first = job->next;
		if (!m->first)
			m->last = NULL;
		unmap_all(job);
		job->status.over = true;
		report(job);
	}
}

static int errno_of(unsigned int status)
{
	if (status >= TDMA_STATUS_FAULT)
		return -EIO;
	return status == TDMA_STATUS_ABORTED ? -ECANCELED : -EINVAL;
}

static uint64_t done(const struct tdma_desc *d, const struct tdma_record *r)
{
	uint64_t elements = has_side(d, TDL_DST) ? r->dst_done : r->src_done;

	return elements * d->elem_bytes;
}

static void account(struct tensordma_job *job, size_t index,
		    const struct tdma_record *r)
{
	const struct tdma_desc *d = &job->plan->slots[index].desc;
	struct tdl_refusal refusal = {
		r->status, r->fault_field, r->fault_dim, r->fault_side,
	};

	job->ended++;
	job->ended_bytes += done(d, r);
	job->status.bytes_done = job->ended_bytes;
	job->status.cycles += r->cycles;
	job->status.stall_backpressure += r->stall_backpressure;
	job->status.stall_throttle += r->stall_throttle;
	job->status.stall_ids += r->stall_ids;
	if (r->status != TDMA_STATUS_OK)
		fail(job, errno_of(r->status), index, &refusal);
}

/* The machine is gone: what it had ends here. */
static void lose(struct tensordma *m, int code)
{
	struct tdl_refusal none = { 0 };

	for (struct tensordma_job *job = m->first; job; job = job->next) {
		fail(job, code, job->ended, &none);
		job->ended = job->submitted;
	}
	m->flights = 0;
}

/* Wait for the oldest descriptor; false at the deadline. */
static bool wait_one(struct tensordma *m, int64_t deadline)
{
	struct tdl_flight f = m->flight[m->flight_first];
	const struct tdma_desc *d = &f.job->plan->slots[f.index].desc;
	struct tensordma_job *job = f.job;
	struct tdma_record r = { 0 };
	uint64_t seen, wanted = 0;
	int ret;

	seen = job->status.bytes_done - job->ended_bytes;
	if (job->progress && has_side(d, TDL_DST))
		wanted = seen / d->elem_bytes + 1;
	ret = m->ops->wait(m->backend, f.number, deadline, wanted, &r);
	if (ret && ret != -ETIME) {
		lose(m, ret);
		return true;
	}
	if (r.status == TDMA_STATUS_PENDING) {
		job->status.bytes_done = job->ended_bytes + done(d, &r);
	} else {
		m->flight_first = (m->flight_first + 1) % TDL_FLIGHT;
		m->flights--;
		account(job, f.index, &r);
	}
	if (job->status.bytes_done != job->ended_bytes + seen || !ret)
		report(job);
	return ret != -ETIME;
}

static bool step(struct tensordma *m, int64_t deadline)
{
	bool more;

	fill_machine(m);
	more = !m->flights || wait_one(m, deadline);
	end_jobs(m);
	return more;
}

/*
 * For callers
 */

int tensordma_submit(struct tensordma *m, struct tensordma_plan *plan,
		     tensordma_progress_fn *progress, void *arg,
		     struct tensordma_job **job, struct tensordma_error *err)
{
	struct tensordma_job *j = calloc(1, sizeof(*j));
	int ret;

	if (!j)
		return tdl_fail(err, -ENOMEM, "", TENSORDMA_NO_DIM,
				"out of memory");
	j->machine = m;
	j->plan = plan;
	j->progress = progress;
	j->arg = arg;
	j->status.bytes_total = plan->bytes;
	ret = map_all(j);
	if (ret) {
		if (err)
			*err = j->error;
		tensordma_job_free(j);
		return ret;
	}
	if (m->last)
		m->last->next = j;
	else
		m->first = j;
	m->last = j;
	fill_machine(m);
	*job = j;
	return 0;
}

int tensordma_poll(struct tensordma *m, int64_t timeout_ns)
{
	int64_t deadline = deadline_of(timeout_ns);
	const struct tensordma_job *oldest = m->first;
	int left = 0;

	while (m->first && m->first == oldest && step(m, deadline))
		;
	for (const struct tensordma_job *j = m->first; j; j = j->next)
		left++;
	return left;
}

int tensordma_wait(struct tensordma_job *job, int64_t timeout_ns,
		   struct tensordma_error *err)
{
	int64_t deadline = deadline_of(timeout_ns);

	while (!job->status.over)
		if (!step(job->machine, deadline) && !job->status.over)
			return tdl_fail(err, -ETIMEDOUT, "", TENSORDMA_NO_DIM,
					"the job is not over yet");
	if (job->status.error && err)
		*err = job->error;
	return job->status.error;
}

void tensordma_job_status(const struct tensordma_job *job,
			  struct tensordma_status *status)
{
	*status = job->status;
}

static bool is_queued(const struct tensordma_job *job)
{
	const struct tensordma_job *j = job->machine->first;

	while (j && j != job)
		j = j->next;
	return j;
}

void tensordma_job_free(struct tensordma_job *job)
{
	if (!job)
		return;
	if (is_queued(job))
		tensordma_wait(job, -1, NULL);
	free(job->mappings);
	free(job->shared);
	free(job);
}

int tensordma_run(struct tensordma *machine, struct tensordma_plan *plan,
		  struct tensordma_status *status, struct tensordma_error *err)
{
	struct tensordma_job *job;
	int ret = tensordma_submit(machine, plan, NULL, NULL, &job, err);

	if (ret)
		return ret;
	ret = tensordma_wait(job, -1, err);
	if (status)
		tensordma_job_status(job, status);
	tensordma_job_free(job);
	return ret;
}
