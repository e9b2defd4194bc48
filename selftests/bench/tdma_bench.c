// SPDX-License-Identifier: GPL-2.0
/*
 * tensordma: latency and throughput seen by a program in the guest.
 *
 * All figures are medians of rounds taken in turns, so that what disturbs one
 * disturbs its peers; ratios are what counts. The peer of a submission is an
 * io_uring no-op, which asks the kernel for nothing but the round trip; the
 * peer of a copy is memcpy() in the same memory.
 */
#include <errno.h>
#include <liburing.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tdma_ring.h"

#define LARGEST		(64U << 20)
#define ROUNDS		400
#define BYTES_PER_SIZE	(256U << 20)

static struct {
	int fd;
	struct tdma_ring ring;
	struct io_uring uring;
	unsigned char *src;
	unsigned char *dst;
	__u32 src_handle;
	__u32 dst_handle;
} bench;

static void die(const char *what, int error)
{
	fprintf(stderr, "tdma_bench: %s: %s\n", what, strerror(error));
	exit(1);
}

static void check(const char *what, int ret)
{
	if (ret)
		die(what, ret < 0 ? -ret : EIO);
}

static const union tdma_slot nop = {
	.desc = { .version = TDMA_DESC_VERSION, .opcode = TDMA_OP_NOP },
};

static void by_ring(const union tdma_slot *slot)
{
	if (tdma_ring_run(&bench.ring, slot).status != TDMA_STATUS_OK)
		die("job of the user queue", EIO);
}

static void by_ioctl(const union tdma_slot *slot)
{
	struct tdma_record rec;

	check("job", tdma_run(bench.fd, slot, &rec));
	if (rec.status != TDMA_STATUS_OK)
		die("job", EIO);
}

static void by_uring(const union tdma_slot *slot)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&bench.uring);
	struct io_uring_cqe *cqe;

	io_uring_prep_nop(sqe);
	if (io_uring_submit_and_wait(&bench.uring, 1) < 0 ||
	    io_uring_wait_cqe(&bench.uring, &cqe))
		die("io_uring", EIO);
	io_uring_cqe_seen(&bench.uring, cqe);
}

static void by_memcpy(const union tdma_slot *slot)
{
	memcpy(bench.dst, bench.src, slot->desc.steps[0]);
	/* The copy is looked at: it is not left out. */
	__asm__ volatile("" : : "r"(bench.dst) : "memory");
}

static __s64 time_of(void (*run)(const union tdma_slot *),
		     const union tdma_slot *slot)
{
	__s64 start = tdma_now();

	run(slot);
	return tdma_now() - start;
}

static int compare(const void *a, const void *b)
{
	__s64 x = *(const __s64 *)a, y = *(const __s64 *)b;

	return (x > y) - (x < y);
}

static double median(__s64 *times, unsigned int count)
{
	qsort(times, count, sizeof(*times), compare);
	return times[count / 2];
}

/* Medians in ns of three ways to do the same, @rounds times in turns */
static void measure(void (*const run[3])(const union tdma_slot *),
		    const union tdma_slot *slot, unsigned int rounds,
		    double ns[3])
{
	static __s64 times[3][ROUNDS];

	for (unsigned int i = 0; i < rounds; i++)
		for (int k = 0; k < 3; k++)
			times[k][i] = time_of(run[k], slot);
	for (int k = 0; k < 3; k++)
		ns[k] = median(times[k], rounds);
}

static void latency(void)
{
	static void (*const run[])(const union tdma_slot *) = {
		by_uring, by_ioctl, by_ring,
	};
	double ns[3];

	measure(run, &nop, ROUNDS, ns);
	printf("Latency of a job that does nothing, median of %u\n", ROUNDS);
	printf("  %-28s %8.1f us\n", "io_uring no-op", ns[0] / 1000);
	printf("  %-28s %8.1f us  %5.2f of io_uring\n", "SUBMIT and WAIT",
	       ns[1] / 1000, ns[1] / ns[0]);
	printf("  %-28s %8.1f us  %5.2f of io_uring, %.2f of SUBMIT\n",
	       "user queue, spinning", ns[2] / 1000, ns[2] / ns[0],
	       ns[2] / ns[1]);
}

static void throughput(void)
{
	static void (*const run[])(const union tdma_slot *) = {
		by_memcpy, by_ioctl, by_ring,
	};
	union tdma_slot slot;
	unsigned int rounds;
	double ns[3];

	printf("\nContiguous copies, speed as a share of memcpy's in the guest\n"
	       "  %10s %14s %14s %14s\n", "bytes", "memcpy", "SUBMIT",
	       "user queue");
	for (__u32 bytes = 1; bytes <= LARGEST; bytes *= 4) {
		slot.desc = tdma_desc_copy(bench.src_handle, bench.dst_handle,
					   1);
		tdma_dim(&slot.desc, bytes, 1, 1);
		rounds = BYTES_PER_SIZE / bytes;
		rounds = rounds < ROUNDS ? rounds : ROUNDS;
		measure(run, &slot, rounds, ns);
		printf("  %10u %9.0f MB/s %14.4f %14.4f\n", bytes,
		       bytes / ns[0] * 1000, ns[0] / ns[1], ns[0] / ns[2]);
	}
	if (memcmp(bench.src, bench.dst, LARGEST))
		die("what was copied", EIO);
}

static unsigned char *memory(__u32 access, __u32 *handle)
{
	unsigned char *mem = mmap(NULL, LARGEST, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE,
				  -1, 0);

	if (mem == MAP_FAILED)
		die("memory", errno);
	check("BUF_PIN", tdma_pin(bench.fd, mem, LARGEST, access, handle));
	return mem;
}

int main(void)
{
	struct tdma_queue_create queue;

	tdma_require_device();
	bench.fd = tdma_open(0);
	if (bench.fd < 0)
		die(tdma_path(), -bench.fd);
	bench.src = memory(TDMA_BUF_READ, &bench.src_handle);
	bench.dst = memory(TDMA_BUF_WRITE, &bench.dst_handle);
	for (__u32 i = 0; i < LARGEST; i++)
		bench.src[i] = i * 2654435761U >> 24;
	check("QUEUE_CREATE", tdma_ring_create(bench.fd, TDMA_RING_ORDER, -1,
					       &queue));
	if (!tdma_ring_map(&bench.ring, bench.fd, &queue))
		die("the user queue", errno);
	check("io_uring", io_uring_queue_init(4, &bench.uring, 0));
	latency();
	throughput();
	return 0;
}
