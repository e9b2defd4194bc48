// SPDX-License-Identifier: GPL-2.0
/* tensordma selftests: a user queue as its producer sees it. */
#include <errno.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "tdma_ring.h"

int tdma_ring_create(int fd, __u32 order, int eventfd,
		     struct tdma_queue_create *arg)
{
	*arg = (struct tdma_queue_create){
		.size = sizeof(*arg),
		.order = order,
		.eventfd = eventfd,
	};
	return ioctl(fd, TDMA_IOC_QUEUE_CREATE, arg) < 0 ? -errno : 0;
}

int tdma_ring_status(int fd, struct tdma_queue_status *arg)
{
	*arg = (struct tdma_queue_status){ .size = sizeof(*arg) };
	return ioctl(fd, TDMA_IOC_QUEUE_STATUS, arg) < 0 ? -errno : 0;
}

bool tdma_ring_map(struct tdma_ring *ring, int fd,
		   const struct tdma_queue_create *arg)
{
	size_t page = tdma_page_size();

	ring->tail = 0;
	ring->slots = mmap(NULL, TDMA_RING_SLOTS * sizeof(*ring->slots),
			   PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			   arg->ring_offset);
	ring->records = mmap(NULL, TDMA_RING_SLOTS * sizeof(*ring->records),
			     PROT_READ, MAP_SHARED, fd, arg->records_offset);
	ring->doorbell = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED,
			      fd, arg->doorbell_offset);
	return ring->slots != MAP_FAILED && ring->records != MAP_FAILED &&
	       ring->doorbell != MAP_FAILED;
}

void tdma_ring_unmap(struct tdma_ring *ring)
{
	munmap(ring->slots, TDMA_RING_SLOTS * sizeof(*ring->slots));
	munmap((void *)ring->records, TDMA_RING_SLOTS * sizeof(*ring->records));
	munmap(ring->doorbell, tdma_page_size());
}

void tdma_ring_bell(struct tdma_ring *ring)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(ring->doorbell, ring->tail, __ATOMIC_RELEASE);
}

__u32 tdma_ring_add(struct tdma_ring *ring, const union tdma_slot *slots)
{
	__u32 index = ring->tail;
	int n = slots->desc.flags & TDMA_DESC_EXT ? 2 : 1;

	for (int i = 0; i < n; i++)
		ring->slots[ring->tail++ % TDMA_RING_SLOTS] = slots[i];
	return index;
}

struct tdma_record tdma_ring_wait(struct tdma_ring *ring, __u32 index)
{
	const struct tdma_record *at = &ring->records[index % TDMA_RING_SLOTS];
	__s64 deadline = tdma_patience();

	do {
		if (__atomic_load_n(&at->sequence, __ATOMIC_ACQUIRE) ==
		    index + 1 &&
		    __atomic_load_n(&at->status, __ATOMIC_ACQUIRE))
			return *at;
		sched_yield();
	} while (tdma_now() < deadline);
	return (struct tdma_record){};
}

struct tdma_record tdma_ring_run(struct tdma_ring *ring,
				 const union tdma_slot *slots)
{
	__u32 index = tdma_ring_add(ring, slots);

	tdma_ring_bell(ring);
	return tdma_ring_wait(ring, index);
}

bool tdma_ring_started(struct tdma_ring *ring, __u32 index)
{
	const struct tdma_record *at = &ring->records[index % TDMA_RING_SLOTS];
	__s64 deadline = tdma_patience();

	while (__atomic_load_n(&at->sequence, __ATOMIC_ACQUIRE) != index + 1 ||
	       !__atomic_load_n(&at->dst_done, __ATOMIC_ACQUIRE)) {
		if (tdma_now() > deadline)
			return false;
		sched_yield();
	}
	return true;
}
