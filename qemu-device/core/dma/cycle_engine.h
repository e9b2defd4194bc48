/* SPDX-License-Identifier: MIT */
/*
 * What the cycle engine offers beyond struct tdma_engine_ops, for simulators
 * and tests.
 */
#ifndef TDMA_CYCLE_ENGINE_H
#define TDMA_CYCLE_ENGINE_H

#include "cycle_trace.h"
#include "tdma_engine.h"

/*
 * Report every request and response to @trace from now on; NULL: no more. The
 * caller keeps *@trace alive.
 */
void tdma_cycle_engine_trace(struct tdma_engine *engine,
                             const struct tdma_cycle_trace *trace);

#endif /* TDMA_CYCLE_ENGINE_H */
