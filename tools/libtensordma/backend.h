/* SPDX-License-Identifier: MIT */
/* What a machine is to the library: a queue of descriptors, and memory. */
#ifndef TDL_BACKEND_H
#define TDL_BACKEND_H

#include <linux/tensordma_desc.h>
#include "tensordma.h"

struct tdl_backend;

/* A descriptor with its extension block, if DESC_EXT says so */
struct tdl_slot {
	struct tdma_desc desc;
	struct tdma_desc_ext ext;
};

/* Why a descriptor was refused */
struct tdl_refusal {
	unsigned int status;
	unsigned int field;
	unsigned int dim;
	unsigned int side;
};

/* All calls return 0 or a negative errno. */
struct tdl_backend_ops {
	int (*open)(struct tdl_backend **backend,
		    const struct tensordma_config *config,
		    struct tensordma_error *err);
	void (*close)(struct tdl_backend *backend);
	void (*info)(const struct tdl_backend *backend,
		     struct tensordma_info *info);
	bool (*property)(const struct tdl_backend *backend, unsigned int index,
			 const char **name, uint64_t *value, const char **text);
	/* Make memory a segment. */
	int (*map)(struct tdl_backend *backend, void *addr, size_t length,
		   bool writable, uint32_t *segment);
	void (*unmap)(struct tdl_backend *backend, uint32_t segment);
	/* -EAGAIN: no room; with a refusal its status is not 0. */
	int (*submit)(struct tdl_backend *backend, const struct tdl_slot *slot,
		      uint64_t *job, struct tdl_refusal *refusal);
	/*
	 * Until the job is over or @min_done (0: ignore) elements are written.
	 * Of a job that is over no more is known afterwards. -ETIME: it is
	 * later than @deadline_ns (CLOCK_MONOTONIC); the record is valid.
	 */
	int (*wait)(struct tdl_backend *backend, uint64_t job,
		    int64_t deadline_ns, uint64_t min_done,
		    struct tdma_record *record);
	/* NULL: cannot */
	void (*trace)(struct tdl_backend *backend, unsigned int events,
		      tensordma_trace_fn *fn, void *arg);
};

extern const struct tdl_backend_ops tdl_device_backend;
extern const struct tdl_backend_ops tdl_sim_backend;

#endif /* TDL_BACKEND_H */
