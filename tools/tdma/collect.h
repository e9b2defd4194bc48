/* SPDX-License-Identifier: GPL-2.0 */
/* tdma: what a machine did, collected from its trace. */
#ifndef TDMA_COLLECT_H
#define TDMA_COLLECT_H

#include <linux/tensordma_trace.h>
#include "tensordma.h"

#define NEVER	UINT64_MAX

struct request {
	uint64_t element;
	uint64_t address;
	uint64_t issue;
	uint64_t response;	/* NEVER: none came */
	uint32_t desc;
	uint16_t id;
	uint8_t side;
	uint8_t lane;
	uint8_t op;
};

/* A stall, what became visible, or a partial update */
struct moment {
	uint64_t cycle;
	uint64_t value;		/* cycles; elements so far */
	uint32_t desc;
	uint8_t side;
	uint8_t code;		/* cause of a stall */
};

struct moments {
	struct moment *list;
	size_t count;
	size_t room;
};

#define SIDES	3

struct desc_run {
	uint64_t start;
	uint64_t end;
	uint64_t cycles;
	uint64_t stall[3];	/* by cause, both sides */
	uint64_t requests[SIDES];
	uint64_t next[SIDES];	/* element of the next request */
	uint32_t index;
	uint8_t queue;
	uint8_t thread;
	uint8_t status;
};

struct collector {
	const struct tensordma_plan *plan;
	struct request *requests;
	size_t count;
	size_t room;
	size_t limit;
	uint64_t dropped;
	struct moments stalls;
	struct moments commits;
	struct moments syncs;
	struct desc_run *descs;
	size_t desc_count;
	size_t desc_room;
	/* By side and ID: 1 + number of the request that has no response yet */
	size_t *open[SIDES];
	bool broken;		/* out of memory */
};

/* Of a plan; at most @limit requests are kept. False: no memory */
bool collect_begin(struct collector *c, const struct tensordma_plan *plan,
		   size_t limit);
/* A tensordma_trace_fn */
void collect(void *collector, const struct tdma_trace_entry *e);
/* Sort by time. */
void collect_end(struct collector *c);
void collect_free(struct collector *c);

#endif /* TDMA_COLLECT_H */
