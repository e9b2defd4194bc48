// SPDX-License-Identifier: GPL-2.0
/* tdma: how far long work is, one line on a terminal. */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "progress.h"

#define WIDTH		30
/* Short work ends without a line; a line lasts for a moment. */
#define FIRST_NS	200000000
#define EVERY_NS	50000000

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

void progress_begin(struct progress *p, const char *what, bool wanted)
{
	*p = (struct progress) {
		.what = what,
		.shown = wanted && isatty(STDERR_FILENO),
		.start_ns = now(),
	};
}

double progress_seconds(const struct progress *p)
{
	return (now() - p->start_ns) * 1e-9;
}

static void draw(const struct progress *p, uint64_t done, uint64_t total)
{
	double part = total ? (double)done / total : 1;
	int full = part * WIDTH;

	fprintf(stderr, "\r%s [", p->what);
	for (int i = 0; i < WIDTH; i++)
		fputc(i < full ? '=' : i == full ? '>' : ' ', stderr);
	fprintf(stderr, "] %3d %%  %.2f of %.2f GB  %.2f GB/s ",
		(int)(part * 100), done * 1e-9, total * 1e-9,
		done * 1e-9 / progress_seconds(p));
	fflush(stderr);
}

void progress_bytes(struct progress *p, uint64_t done, uint64_t total)
{
	int64_t t;

	if (!p->shown)
		return;
	t = now();
	if (t - p->start_ns < FIRST_NS || t - p->last_ns < EVERY_NS)
		return;
	p->last_ns = t;
	p->drawn = true;
	draw(p, done, total);
}

void progress_update(void *progress, const struct tensordma_status *status)
{
	progress_bytes(progress, status->bytes_done, status->bytes_total);
}

void progress_end(struct progress *p)
{
	if (p->drawn)
		fprintf(stderr, "\r\033[K");
	p->drawn = false;
}
