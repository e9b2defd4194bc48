/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tensordma selftests: a user queue as its producer sees it.
 */
#ifndef TDMA_RING_H
#define TDMA_RING_H

#include "tdma_util.h"

#define TDMA_RING_ORDER	3	/* log2 of the slots */
#define TDMA_RING_SLOTS	8

struct tdma_ring {
	union tdma_slot *slots;
	const struct tdma_record *records;
	__u32 *doorbell;
	__u32 tail;
};

/* The ioctls; 0 or a negative errno */
int tdma_ring_create(int fd, __u32 order, int eventfd,
		     struct tdma_queue_create *arg);
int tdma_ring_status(int fd, struct tdma_queue_status *arg);

/* Map what was created with TDMA_RING_ORDER. */
bool tdma_ring_map(struct tdma_ring *ring, int fd,
		   const struct tdma_queue_create *arg);
void tdma_ring_unmap(struct tdma_ring *ring);

/* Tell the device of the tail. */
void tdma_ring_bell(struct tdma_ring *ring);
/* Put a job into the ring; its index. Does not ring the bell. */
__u32 tdma_ring_add(struct tdma_ring *ring, const union tdma_slot *slots);
/* Spin on the record; status 0 = it took too long. */
struct tdma_record tdma_ring_wait(struct tdma_ring *ring, __u32 index);
/* All three */
struct tdma_record tdma_ring_run(struct tdma_ring *ring,
				 const union tdma_slot *slots);
/* Wait until part of a job is in memory: the device has its descriptor. */
bool tdma_ring_started(struct tdma_ring *ring, __u32 index);

#endif /* TDMA_RING_H */
