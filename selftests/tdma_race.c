// SPDX-License-Identifier: GPL-2.0
/*
 * tensordma selftests: threads that do everything at once on files they share,
 * while others close them and the device is reset. No call may do anything but
 * succeed or fail; in the end nothing is left, and the next job works.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "tdma_harness.h"
#include "tdma_random.h"
#include "tdma_sysfs.h"

#define THREADS		8
#define FILES		4
#define HANDLES		16
#define BYTES		65536
/* A debug kernel counts to seven mappings of the same memory. */
#define PIECES		256
#define BOTH		(TDMA_BUF_READ | TDMA_BUF_WRITE)

/* What all threads share. Numbers in it may be stale: that is the point. */
static struct {
	atomic_bool stop;
	atomic_int files[FILES];
	atomic_int fence;
	atomic_int dmabuf;
	unsigned char *memory;
	char reset[PATH_MAX];
} shared;

struct racer {
	pthread_t thread;
	struct tdma_rng rng;
	unsigned long calls;
};

static unsigned int pick(struct racer *racer, unsigned int n)
{
	return tdma_rand_below(&racer->rng, n);
}

static __u32 any_handle(struct racer *racer)
{
	return 1 + pick(racer, HANDLES);
}

/* Descriptors that were closed must not become somebody else's: dup over. */
static void publish(atomic_int *slot, int fd)
{
	int old = atomic_exchange(slot, fd);

	if (old >= 0)
		close(old);
}

static void do_pin(struct racer *racer, int fd)
{
	__u32 handle;

	tdma_pin(fd, shared.memory + pick(racer, PIECES) * BYTES, BYTES, BOTH,
		 &handle);
}

static void do_alloc(struct racer *racer, int fd)
{
	__u64 offset;
	__u32 handle;

	tdma_alloc(fd, 1 + pick(racer, 2), BYTES, &handle, &offset);
}

static void do_free(struct racer *racer, int fd)
{
	tdma_free(fd, any_handle(racer));
}

static void do_submit(struct racer *racer, int fd)
{
	struct tdma_desc d = tdma_desc_copy(any_handle(racer),
					    any_handle(racer), 1);
	struct tdma_submit arg = {
		.size = sizeof(arg),
		.flags = TDMA_SUBMIT_NONBLOCK,
		.descs = (uintptr_t)&d,
		.count = 1,
		.stride = sizeof(d),
	};

	tdma_dim(&d, BYTES, 1, 1);
	tdma_dim(&d, 1 + pick(racer, 100), 0, 0);
	if (pick(racer, 2))
		arg.flags |= TDMA_SUBMIT_OUT_FENCE;
	if (pick(racer, 2)) {
		arg.flags |= TDMA_SUBMIT_IN_FENCE;
		arg.in_fence = atomic_load(&shared.fence);
	}
	if (!ioctl(fd, TDMA_IOC_SUBMIT, &arg) && arg.out_fence >= 0)
		publish(&shared.fence, arg.out_fence);
}

static void do_wait(struct racer *racer, int fd)
{
	struct tdma_wait arg = {
		.size = sizeof(arg),
		.flags = TDMA_WAIT_ANY,
		.deadline_ns = tdma_now() + pick(racer, 5) * 1000000LL,
	};

	while (!ioctl(fd, TDMA_IOC_WAIT, &arg))
		arg.job = 0;
}

static void do_export(struct racer *racer, int fd)
{
	struct tdma_buf_export arg = {
		.size = sizeof(arg),
		.flags = BOTH,
		.handle = any_handle(racer),
	};

	if (!ioctl(fd, TDMA_IOC_BUF_EXPORT, &arg))
		publish(&shared.dmabuf, arg.fd);
}

static void do_import(struct racer *racer, int fd)
{
	struct tdma_buf_import arg = {
		.size = sizeof(arg),
		.flags = BOTH,
		.fd = atomic_load(&shared.dmabuf),
	};

	if (!ioctl(fd, TDMA_IOC_BUF_IMPORT, &arg) && pick(racer, 8))
		tdma_free(fd, arg.handle);
}

static void do_eventfd(struct racer *racer, int fd)
{
	struct tdma_eventfd arg = { .size = sizeof(arg) };

	arg.fd = eventfd(0, EFD_CLOEXEC);
	ioctl(fd, TDMA_IOC_EVENTFD, &arg);
	close(arg.fd);
}

/* Fill the ring with nonsense and with jobs, and ring any bell. */
static void do_user_queue(struct racer *racer, int fd)
{
	struct tdma_queue_create arg = {
		.size = sizeof(arg),
		.order = 4,
		.eventfd = -1,
	};
	struct tdma_desc *ring;
	__u32 *bell;

	ioctl(fd, TDMA_IOC_QUEUE_CREATE, &arg);
	ring = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		    1ULL << 62);
	bell = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		    1ULL << 62 | 2ULL << 40);
	if (ring != MAP_FAILED && bell != MAP_FAILED) {
		for (int i = 0; i < 16; i++) {
			ring[i] = tdma_desc_copy(any_handle(racer),
						 any_handle(racer), 1);
			tdma_dim(&ring[i], BYTES, 1, 1);
			if (!pick(racer, 4))
				ring[i].flags = tdma_rand(&racer->rng);
		}
		__atomic_store_n(bell, pick(racer, 64), __ATOMIC_RELEASE);
	}
	if (ring != MAP_FAILED)
		munmap(ring, 4096);
	if (bell != MAP_FAILED)
		munmap(bell, 4096);
}

static void do_reopen(struct racer *racer, int fd)
{
	int fresh = tdma_open(0);

	if (fresh >= 0)
		publish(&shared.files[pick(racer, FILES)], fresh);
}

static void do_reset(struct racer *racer, int fd)
{
	if (!pick(racer, 20))
		tdma_sysfs_write(shared.reset, "reset", "1");
}

static void *race(void *arg)
{
	static void (*const calls[])(struct racer *racer, int fd) = {
		do_pin, do_pin, do_alloc, do_free, do_submit, do_submit,
		do_submit, do_wait, do_export, do_import, do_eventfd,
		do_user_queue, do_reopen, do_reset,
	};
	struct racer *racer = arg;

	while (!atomic_load(&shared.stop)) {
		int fd = atomic_load(&shared.files[pick(racer, FILES)]);

		calls[pick(racer, ARRAY_SIZE(calls))](racer, fd);
		racer->calls++;
	}
	return NULL;
}

/* Nobody's: whoever is pinned is released, whoever waits is woken. */
static void close_all(void)
{
	for (int i = 0; i < FILES; i++)
		publish(&shared.files[i], -1);
	publish(&shared.fence, -1);
	publish(&shared.dmabuf, -1);
}

TEST(everything_at_once)
{
	unsigned long seconds = tdma_env("TDMA_RACE_SECONDS", 3);
	struct tdma_rng rng = { .state = tdma_env("TDMA_SEED", 1) };
	struct racer racers[THREADS] = {};
	long pins = tdma_pins();
	struct tdma_sysfs sysfs;
	unsigned long calls = 0;
	struct tdma_record rec;
	union tdma_slot slot;
	struct tdma_buf buf;
	int fd;

	TH_LOG("TDMA_SEED=%#llx", (unsigned long long)rng.state);
	if (!getuid() && !tdma_sysfs_find(&sysfs))
		snprintf(shared.reset, sizeof(shared.reset), "%s",
			 sysfs.device);
	shared.memory = mmap(NULL, PIECES * BYTES, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, shared.memory);
	for (int i = 0; i < FILES; i++)
		atomic_store(&shared.files[i], tdma_open(0));
	atomic_store(&shared.fence, -1);
	atomic_store(&shared.dmabuf, -1);
	for (int i = 0; i < THREADS; i++) {
		racers[i].rng.state = tdma_rand(&rng);
		ASSERT_EQ(0, pthread_create(&racers[i].thread, NULL, race,
					    &racers[i]));
	}
	sleep(seconds);
	atomic_store(&shared.stop, true);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(racers[i].thread, NULL);
		calls += racers[i].calls;
	}
	TH_LOG("%lu calls", calls);
	EXPECT_LT(0, calls);
	close_all();
	EXPECT_EQ(pins, tdma_pins_settle(pins));

	fd = tdma_open_again();
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, tdma_buf_create(&buf, fd, TDMA_MEM_USER, BYTES));
	slot.desc = tdma_desc_memset(buf.handle, 1, "\x5a", 1);
	tdma_dim(&slot.desc, BYTES, 0, 1);
	ASSERT_EQ(0, tdma_run(fd, &slot, &rec));
	EXPECT_EQ(TDMA_STATUS_OK, rec.status);
	memset(buf.image, 0x5a, BYTES);
	EXPECT_IMAGE(&buf);
	close(fd);
}

TDMA_HARNESS_MAIN
