// SPDX-License-Identifier: GPL-2.0
/*
 * tensordma selftests: a process that runs random jobs and checks every byte
 * of their result.
 *
 * It works in sessions: a file and its buffers. A session ends when the worker
 * has had enough of it, sometimes with jobs in flight or with a child that
 * still holds the file, or when the device is taken away.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "tdma_random.h"
#include "tdma_ref.h"
#include "tdma_worker.h"

#define BUF_BYTES	8192
#define MAX_ELEMENTS	400
#define BATCH		4

/* Not an error: the device was reset or is gone, its buffers with it. */
#define LOST		1

struct session {
	struct tdma_worker *worker;
	struct tdma_rng *rng;
	struct tdma_query caps;
	int fd;
	struct tdma_buf src;
	struct tdma_buf dst;
	enum tdma_mem src_mem;
	enum tdma_mem dst_mem;
};

/* What a batch has queued, in order. */
struct batch {
	union tdma_slot slots[BATCH][2];
	__u64 job[BATCH];
	unsigned int count;
};

struct tdma_worker *tdma_workers_alloc(unsigned int count, __u64 seed,
				       unsigned long wanted)
{
	struct tdma_worker *workers;

	workers = mmap(NULL, count * sizeof(*workers), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (workers == MAP_FAILED)
		return NULL;
	for (unsigned int i = 0; i < count; i++) {
		workers[i].seed = seed + i;
		workers[i].wanted = wanted;
	}
	return workers;
}

void tdma_workers_free(struct tdma_worker *workers, unsigned int count)
{
	munmap(workers, count * sizeof(*workers));
}

unsigned long tdma_workers_checked(const struct tdma_worker *workers,
				   unsigned int count)
{
	unsigned long sum = 0;

	for (unsigned int i = 0; i < count; i++)
		sum += workers[i].checked;
	return sum;
}

static bool enough(const struct tdma_worker *worker)
{
	return worker->stop || worker->error ||
	       worker->checked >= worker->wanted;
}

/* The first complaint counts. Returns @ret if it is none. */
static int note(struct tdma_worker *worker, int ret, int line)
{
	if (ret == -ENODEV)
		return LOST;
	if (ret < 0 && !worker->error) {
		worker->line = line;
		worker->error = ret;
	}
	return ret;
}

#define NOTE(worker, ret)	note(worker, ret, __LINE__)

static bool one_in(struct tdma_rng *rng, unsigned int n)
{
	return !tdma_rand_below(rng, n);
}

/* All queues taken, a reset under way or no driver: all that passes. */
static int open_patiently(void)
{
	__s64 deadline = tdma_patience();
	int fd;

	for (;;) {
		fd = tdma_open(0);
		if (fd != -EBUSY && fd != -ENODEV && fd != -ENOENT &&
		    fd != -ENXIO)
			return fd;
		if (tdma_now() > deadline)
			return fd == -ENODEV ? -ETIME : fd;
		usleep(5000);
	}
}

static enum tdma_mem rand_mem(struct tdma_rng *rng)
{
	static const enum tdma_mem kinds[] = {
		TDMA_MEM_USER, TDMA_MEM_HOST, TDMA_MEM_HBM,
	};

	return kinds[tdma_rand_below(rng, ARRAY_SIZE(kinds))];
}

static int make_buffer(struct session *s, struct tdma_buf *buf,
		       enum tdma_mem *mem)
{
	int ret;

	*mem = rand_mem(s->rng);
	ret = tdma_buf_create(buf, s->fd, *mem, BUF_BYTES);
	if (!ret)
		tdma_rand_fill(s->rng, buf);
	return ret;
}

/* Also of a session that did not come far */
static void drop_buffer(struct tdma_buf *buf)
{
	if (buf->mem && buf->mem != MAP_FAILED)
		munmap(buf->mem, buf->len);
	free(buf->image);
}

static void session_end(struct session *s)
{
	drop_buffer(&s->src);
	drop_buffer(&s->dst);
	close(s->fd);
}

static int session_begin(struct session *s)
{
	int ret;

	s->fd = open_patiently();
	if (s->fd < 0)
		return NOTE(s->worker, s->fd);
	s->worker->sessions++;
	ret = NOTE(s->worker, tdma_query(s->fd, &s->caps));
	if (!ret)
		ret = NOTE(s->worker, make_buffer(s, &s->src, &s->src_mem));
	if (!ret)
		ret = NOTE(s->worker, make_buffer(s, &s->dst, &s->dst_mem));
	if (ret)
		session_end(s);
	return ret;
}

static int submit_patiently(int fd, const union tdma_slot *slots, __u64 *job)
{
	__u32 count = slots[0].desc.flags & TDMA_DESC_EXT ? 2 : 1;
	struct tdma_submit report;
	int ret;

	do {
		ret = tdma_submit(fd, slots, count, &report);
	} while (ret == -EINTR);
	*job = report.first_job;
	return ret;
}

static int batch_submit(struct session *s, struct batch *batch)
{
	unsigned int count = 1 + tdma_rand_below(s->rng, BATCH);
	int ret;

	for (batch->count = 0; batch->count < count; batch->count++) {
		union tdma_slot *slots = batch->slots[batch->count];

		tdma_rand_job(s->rng, &s->caps, &s->src, &s->dst,
			      MAX_ELEMENTS, slots);
		ret = submit_patiently(s->fd, slots,
				       &batch->job[batch->count]);
		if (ret)
			return NOTE(s->worker, ret);
	}
	return 0;
}

static int batch_wait(struct session *s, const struct batch *batch)
{
	__s64 deadline = tdma_patience();
	struct tdma_record rec;
	int ret;

	for (unsigned int i = 0; i < batch->count; i++) {
		const struct tdma_desc *d = &batch->slots[i][0].desc;

		do {
			ret = tdma_wait(s->fd, batch->job[i], deadline, &rec);
		} while (ret == -EINTR);
		if (ret)
			return NOTE(s->worker, ret);
		if (rec.status != TDMA_STATUS_OK || rec.tag != d->tag)
			return NOTE(s->worker, -EPROTO);
		tdma_ref_run(d, d->flags & TDMA_DESC_EXT ?
			     &batch->slots[i][1].ext : NULL,
			     s->src.image, s->dst.image);
	}
	return 0;
}

/*
 * Device memory is lost in a reset, also one that came after the jobs; by then
 * the file is dead. Host memory has to be right whatever happened.
 */
static int buffer_check(const struct session *s, const struct tdma_buf *buf,
			enum tdma_mem mem)
{
	struct tdma_query caps;

	if (tdma_buf_diff(buf) == buf->len)
		return 0;
	if (mem == TDMA_MEM_HBM && tdma_query(s->fd, &caps) == -ENODEV)
		return -ENODEV;
	return -EBADMSG;
}

static int batch_check(struct session *s, const struct batch *batch)
{
	int ret = buffer_check(s, &s->src, s->src_mem);

	if (!ret)
		ret = buffer_check(s, &s->dst, s->dst_mem);
	if (ret)
		return NOTE(s->worker, ret);
	s->worker->checked += batch->count;
	return 0;
}

/* A child that shares the file, and does not say when it leaves. */
static void leave_child(struct session *s)
{
	unsigned int us = tdma_rand_below(s->rng, 20000);

	if (fork())
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	usleep(us);
	_exit(0);
}

static int session_run(struct session *s)
{
	struct batch batch;
	int ret;

	for (;;) {
		if (one_in(s->rng, 16))
			leave_child(s);
		ret = batch_submit(s, &batch);
		/* The file is closed with jobs in flight. */
		if (ret || one_in(s->rng, 16))
			return ret;
		ret = batch_wait(s, &batch);
		if (!ret)
			ret = batch_check(s, &batch);
		if (ret || enough(s->worker))
			return ret;
	}
}

static void on_signal(int number)
{
}

/* Calls are to be interrupted, from the first moment of a worker's life on. */
static void set_interruption(void)
{
	struct sigaction action = { .sa_handler = on_signal };

	sigaction(SIGUSR1, &action, NULL);
}

static int work(struct tdma_worker *worker)
{
	/* Not the same jobs again after a violent death. */
	struct tdma_rng rng = {
		.state = worker->seed << 32 ^ worker->sessions << 16,
	};

	while (!worker->go)
		usleep(1000);
	while (!enough(worker)) {
		struct session s = { .worker = worker, .rng = &rng };
		int ret = session_begin(&s);

		if (!ret) {
			ret = session_run(&s);
			session_end(&s);
		}
		if (ret == LOST)
			worker->lost++;
	}
	return worker->error ? 1 : 0;
}

pid_t tdma_worker_start(struct tdma_worker *worker)
{
	pid_t pid;

	set_interruption();
	pid = fork();
	if (pid)
		return pid;
	/* Children are not waited for, nor left behind. */
	signal(SIGCHLD, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	_exit(work(worker));
}
