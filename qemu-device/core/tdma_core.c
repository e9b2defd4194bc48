/* SPDX-License-Identifier: MIT */
/*
 * tensordma core: life of the machine.
 */
#include <stdlib.h>
#include <string.h>
#include "dma/tdma_thread.h"
#include "queue/tdma_queue.h"
#include "tdma_machine.h"

/* Jobs a pipelined engine may hold, per thread */
enum { JOBS_PER_THREAD = 32 };

/* Static text naming the first property out of range; NULL if all are fine */
static const char *bad_property(const struct tdma_properties *p)
{
#define CHECK_RANGE(field, name, def, min, max, text)                       \
    if (p->field + 1 < (min) + 1ULL || p->field > (max)) {                  \
        return name;                                                        \
    }
    TDMA_PROPERTIES(CHECK_RANGE)
#undef CHECK_RANGE
    if (p->hbm_size & (p->hbm_size - 1)) {
        return "hbm-size";
    }
    if (p->latency_min > p->latency_max) {
        return "latency-min";
    }
    return NULL;
}

unsigned tdma_core_job_count(const struct tdma_core *core)
{
    return core->props.queues + core->props.threads * JOBS_PER_THREAD;
}

/* All jobs are free, in one list. */
static void free_all_jobs(struct tdma_core *core)
{
    unsigned i, count = tdma_core_job_count(core);

    core->free_jobs = NULL;
    for (i = 0; i < count; i++) {
        core->jobs[i].next = core->free_jobs;
        core->free_jobs = &core->jobs[i];
    }
}

static bool allocate(struct tdma_core *core)
{
    const struct tdma_properties *p = &core->props;
    unsigned i;

    core->queues = calloc(p->queues, sizeof(*core->queues));
    core->threads = calloc(p->threads, sizeof(*core->threads));
    core->contexts = calloc(p->contexts, sizeof(*core->contexts));
    core->jobs = calloc(tdma_core_job_count(core), sizeof(*core->jobs));
    core->flags.word = calloc(p->sync_flags, sizeof(*core->flags.word));
    core->flags.count = p->sync_flags;
    if (!core->queues || !core->threads || !core->contexts || !core->jobs ||
        !core->flags.word) {
        return false;
    }
    for (i = 0; i < p->queues; i++) {
        core->queues[i].core = core;
        core->queues[i].number = i;
    }
    for (i = 0; i < p->threads; i++) {
        if (!tdma_thread_init(&core->threads[i], core, i)) {
            return false;
        }
    }
    return true;
}

void tdma_core_power_on(struct tdma_core *core)
{
    unsigned i;

    core->enabled = false;
    core->bad_access = 0;
    memset(core->contexts, 0, core->props.contexts * sizeof(*core->contexts));
    memset(core->pending, 0, sizeof(core->pending));
    for (i = 0; i < core->props.queues; i++) {
        tdma_queue_reset(&core->queues[i]);
    }
    for (i = 0; i < core->props.threads; i++) {
        tdma_thread_reset(&core->threads[i]);
    }
    for (i = 0; i < core->flags.count; i++) {
        tdma_sync_flag_set_value(&core->flags, i, 0);
        tdma_sync_flag_set_control(&core->flags, i, 0);
    }
    free_all_jobs(core);
}

struct tdma_core *tdma_core_new(const struct tdma_config *config,
                                const struct tdma_host_ops *ops, void *opaque,
                                const char **error)
{
    struct tdma_core *core;

    *error = bad_property(&config->props);
    if (*error) {
        return NULL;
    }
    *error = "out of memory";
    core = calloc(1, sizeof(*core));
    if (!core) {
        return NULL;
    }
    core->props = config->props;
    core->ops = *ops;
    core->mem = (struct tdma_mem) {
        .ops = &core->ops,
        .opaque = opaque,
        .hbm = config->hbm,
        .hbm_size = config->props.hbm_size,
    };
    core->engine_ops = config->props.fidelity == TDMA_FIDELITY_CYCLE
                       ? &tdma_cycle_engine : &tdma_fast_engine;
    if (!allocate(core)) {
        tdma_core_free(core);
        return NULL;
    }
    tdma_core_power_on(core);
    *error = NULL;
    return core;
}

void tdma_core_free(struct tdma_core *core)
{
    unsigned i;

    if (!core) {
        return;
    }
    for (i = 0; core->threads && i < core->props.threads; i++) {
        tdma_thread_fini(&core->threads[i]);
    }
    free(core->queues);
    free(core->threads);
    free(core->contexts);
    free(core->jobs);
    free(core->flags.word);
    free(core);
}

void tdma_core_reset(struct tdma_core *core)
{
    uint32_t generation;

    tdma_lock(core);
    tdma_core_power_on(core);
    generation = ++core->generation;
    tdma_unlock(core);
    tdma_event(core, TDMA_EVENT_RESET, generation, 0, 0);
}

bool tdma_core_idle(struct tdma_core *core)
{
    bool idle = true;
    unsigned i;

    tdma_lock(core);
    for (i = 0; i < core->props.queues && idle; i++) {
        const struct tdma_queue *queue = &core->queues[i];

        idle = !queue->in_flight &&
               (!queue->enabled ||
                (!queue->doorbell && queue->head == queue->tail));
    }
    tdma_unlock(core);
    return idle;
}
