/* SPDX-License-Identifier: MIT */
/* A machine, within the library. */
#ifndef TDL_MACHINE_H
#define TDL_MACHINE_H

#include <sys/types.h>
#include "backend.h"

/* Descriptors that the machine has at a time */
#define TDL_FLIGHT	64

/* Memory that is a segment: a caller's, or a job's own */
struct tdl_mapping {
	char *addr;
	size_t length;
	bool writable;
	uint32_t segment;
	unsigned int users;		/* jobs; of registered memory */
	struct tdl_mapping *next;
};

/* A descriptor that the machine has */
struct tdl_flight {
	struct tensordma_job *job;
	size_t index;			/* in the plan */
	uint64_t number;		/* the backend's */
};

struct tensordma {
	const struct tdl_backend_ops *ops;
	struct tdl_backend *backend;
	struct tensordma_info info;
	struct tdl_mapping *registered;
	struct tensordma_job *first;	/* that is not over, in order */
	struct tensordma_job *last;
	struct tdl_flight flight[TDL_FLIGHT];
	unsigned int flight_first;
	unsigned int flights;
};

/*
 * Registered memory around [addr, addr + length), or NULL. With @writable, only
 * such that may be written.
 */
struct tdl_mapping *tdl_find_registered(struct tensordma *machine,
					const char *addr, size_t length,
					bool writable);

#endif /* TDL_MACHINE_H */
