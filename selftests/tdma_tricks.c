// SPDX-License-Identifier: GPL-2.0
/*
 * tensordma selftests: races that a process can only win with a queue of its
 * own, where nobody else sees what the device is told and when.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "tdma_harness.h"
#include "tdma_random.h"
#include "tdma_ring.h"

/* A process that plays tricks with its queue, on a file of its own */
struct trickster {
	int fd;
	struct tdma_ring ring;
	unsigned char *victim;	/* memory that comes and goes */
	__u32 dst;
	unsigned char *dst_mem;
};

static bool trickster_start(struct trickster *t, __u32 dst_bytes)
{
	const int prot = PROT_READ | PROT_WRITE;
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE;
	struct tdma_queue_create arg;

	t->fd = tdma_open(0);
	t->victim = mmap(NULL, 4096, prot, flags, -1, 0);
	t->dst_mem = mmap(NULL, dst_bytes, prot, flags, -1, 0);
	memset(t->victim, 0xaa, 4096);
	return t->fd >= 0 && !tdma_ring_create(t->fd, TDMA_RING_ORDER, -1, &arg) &&
	       tdma_ring_map(&t->ring, t->fd, &arg) &&
	       !tdma_pin(t->fd, t->dst_mem, dst_bytes, TDMA_BUF_WRITE, &t->dst);
}

static void trickster_end(struct trickster *t, __u32 dst_bytes)
{
	tdma_ring_unmap(&t->ring);
	close(t->fd);
	munmap(t->victim, 4096);
	munmap(t->dst_mem, dst_bytes);
}

/*
 * A job whose check takes long, between finding its memory and beginning:
 * axes that many combinations of steps move, of a nest that ends early.
 */
static void laborious_job(struct trickster *t, __u32 src)
{
	struct tdma_desc d = tdma_desc_copy(src, t->dst, 1);
	struct tdma_desc_ext e = {
		.version = TDMA_DESC_VERSION, .naxes = 3, .fill_bytes = 1,
	};
	static const __u32 steps[] = { 4096, 4096, 4096, 4096, 64, 64, 0 };
	const __u64 plane = 1ULL << 24;

	for (int i = 0; i < 7; i++)
		tdma_dim(&d, steps[i], !i, i < 6);
	d.flags = TDMA_DESC_EXT | TDMA_DESC_TOTAL;
	d.total = (1ULL << 60) + plane * 4096 * 4095 + plane * 4000 + 4077;
	d.src_sync_interval = 4096;
	d.dst_sync_interval = 4096;
	for (int i = 0; i < 3; i++) {
		e.axis_side[i] = 1;
		e.axis_extent[i] = 1;
		for (int k = 2 * i; k < 2 * i + 2; k++) {
			e.dst_axis[k] = i + 1;
			e.dst_coef[k] = 1;
		}
	}
	t->ring.slots[0].desc = d;
	t->ring.slots[1].ext = e;
}

/* Has the job of slot 0 moved anything yet? */
static bool job_moves(const struct trickster *t)
{
	const struct tdma_record *rec = &t->ring.records[0];

	return __atomic_load_n(&rec->sequence, __ATOMIC_ACQUIRE) == 1 &&
	       !rec->status && rec->src_done;
}

/*
 * The doorbell is rung and taken back while the device looks at the job: its
 * memory must not be let go if the job runs after all.
 */
TEST(doorbell_taken_back)
{
	struct tdma_rng rng = { tdma_env("TDMA_SEED", 1) };
	unsigned int rounds = tdma_env("TDMA_ROUNDS", 60), ran = 0;

	TH_LOG("TDMA_SEED=%#llx", (unsigned long long)rng.state);

	for (unsigned int i = 0; i < rounds; i++) {
		long before, after;
		struct trickster t;
		__s64 end;
		__u32 src;

		ASSERT_TRUE(trickster_start(&t, 4096));
		before = tdma_pins();
		ASSERT_EQ(0, tdma_pin(t.fd, t.victim, 4096, TDMA_BUF_READ,
				      &src));
		laborious_job(&t, src);
		t.ring.tail = 2;
		tdma_ring_bell(&t.ring);
		end = tdma_now() + tdma_rand_below(&rng, 1000) * 1000;
		while (tdma_now() < end)
			;
		t.ring.tail = 0;
		tdma_ring_bell(&t.ring);
		ASSERT_EQ(0, tdma_free(t.fd, src));
		after = tdma_pins();
		end = tdma_now() + 15000000;
		while (!job_moves(&t) && tdma_now() < end)
			sched_yield();
		if (job_moves(&t)) {
			ran++;
			EXPECT_LT(before, after);
		}
		trickster_end(&t, 4096);
	}
	TH_LOG("%u of %u jobs ran", ran, rounds);
}

/* What pin_and_free() works on */
static struct {
	atomic_bool stop;
	int fd;
	void *memory;
	__u32 expected;		/* handle it is to get each time */
	atomic_ulong count;
} coming;

static void *pin_and_free(void *arg)
{
	__u32 handle;

	while (!atomic_load(&coming.stop)) {
		if (tdma_pin(coming.fd, coming.memory, 4096, TDMA_BUF_READ,
			     &handle))
			continue;
		if (handle == coming.expected)
			atomic_fetch_add(&coming.count, 1);
		tdma_free(coming.fd, handle);
	}
	return NULL;
}

/* Jobs that copy from a handle which comes and goes, each to its own place */
static void fill_ring(struct trickster *t, __u32 src)
{
	for (int i = 0; i < TDMA_RING_SLOTS; i++) {
		struct tdma_desc d = tdma_desc_copy(src, t->dst, 1);

		tdma_dim(&d, 256, 1, 1);
		d.dst_offset = i * 256;
		t->ring.slots[i].desc = d;
	}
}

/* A job either found the memory or nothing; never anything else. */
static bool lap_is_right(const struct trickster *t, unsigned long *found)
{
	for (int i = 0; i < TDMA_RING_SLOTS; i++) {
		const unsigned char *dst = t->dst_mem + i * 256;
		__u32 status = t->ring.records[i].status;
		unsigned char want = status == TDMA_STATUS_OK ? 0xaa : 0;

		if (status != TDMA_STATUS_OK &&
		    status != TDMA_STATUS_BAD_SEGMENT)
			return false;
		*found += status == TDMA_STATUS_OK;
		for (int k = 0; k < 256; k++)
			if (dst[k] != want)
				return false;
	}
	return true;
}

/* A handle is fetched by the device all the while it is made and freed. */
TEST(handle_comes_and_goes)
{
	unsigned long found = 0, laps = 0;
	struct trickster t;
	pthread_t thread;
	__s64 end;

	ASSERT_TRUE(trickster_start(&t, 4096));
	coming.fd = t.fd;
	coming.memory = t.victim;
	ASSERT_EQ(0, tdma_pin(t.fd, t.victim, 4096, TDMA_BUF_READ,
			      &coming.expected));
	ASSERT_EQ(0, tdma_free(t.fd, coming.expected));
	fill_ring(&t, coming.expected);
	ASSERT_EQ(0, pthread_create(&thread, NULL, pin_and_free, NULL));
	end = tdma_now() + tdma_env("TDMA_RACE_SECONDS", 2) * 1000000000LL;
	while (tdma_now() < end) {
		memset(t.dst_mem, 0, TDMA_RING_SLOTS * 256);
		t.ring.tail += TDMA_RING_SLOTS;
		tdma_ring_bell(&t.ring);
		ASSERT_NE(0, tdma_ring_wait(&t.ring, t.ring.tail - 1).status);
		laps++;
		ASSERT_TRUE(lap_is_right(&t, &found));
	}
	atomic_store(&coming.stop, true);
	pthread_join(thread, NULL);
	TH_LOG("%lu laps, handle made %lu times, found %lu times", laps,
	       atomic_load(&coming.count), found);
	/* Both have happened, or nothing has been tried. */
	EXPECT_LT(0, found);
	EXPECT_LT(found, laps * TDMA_RING_SLOTS);
	trickster_end(&t, 4096);
}

TDMA_HARNESS_MAIN
