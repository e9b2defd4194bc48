/* SPDX-License-Identifier: MIT */
/*
 * tensordma core: the life of a job between ring and record.
 */
#ifndef TDMA_JOB_H
#define TDMA_JOB_H

#include "dma/tdma_check.h"
#include "dma/tdma_engine.h"

struct tdma_core;

/* What a device with these properties offers */
struct tdma_check_limits tdma_job_limits(const struct tdma_core *core);

/* A blank job of @queue; keeps what views remember across jobs. */
void tdma_job_init(struct tdma_job *job, struct tdma_queue *queue);

/*
 * Check the descriptor that has been fetched into the job and resolve its
 * segments. Sets status: PENDING if there is something to do.
 */
void tdma_job_prepare(struct tdma_job *job);

/*
 * A job that was saved and is being loaded: with its descriptor, flags, status
 * and counts filled in, check all of that as tdma_job_prepare() does, against
 * the segments it had then. NULL, or the name of what cannot be.
 */
const char *tdma_job_restore(struct tdma_job *job,
                             const struct tdma_segment seg[TDMA_SIDES]);

/* Report @event of the job, if anybody wants it. */
void tdma_job_trace(const struct tdma_job *job, enum tdma_trace_event event,
                    unsigned side, unsigned code, uint64_t value);

/* Write the final record and add the rest to the sync flags. */
void tdma_job_publish_final(struct tdma_job *job);

#endif /* TDMA_JOB_H */
