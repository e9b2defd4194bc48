/* SPDX-License-Identifier: MIT */
/*
 * What the cycle engine offers beyond struct tdma_engine_ops, for simulators
 * and tests.
 */
#ifndef TDMA_CYCLE_ENGINE_H
#define TDMA_CYCLE_ENGINE_H

#include "cycle_progress.h"
#include "tdma_engine.h"

/* The progress tracker of @side, to look at. */
const struct tdma_progress *
tdma_cycle_engine_progress(const struct tdma_engine *engine, unsigned side);

#endif /* TDMA_CYCLE_ENGINE_H */
