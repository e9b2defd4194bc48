/* SPDX-License-Identifier: MIT */
/*
 * Descriptor splitter (A3): takes a descriptor apart into the half that reads
 * and the half that writes. Either may be missing.
 */
#ifndef TDMA_CYCLE_SPLITTER_H
#define TDMA_CYCLE_SPLITTER_H

#include "cycle_flight.h"

/* Set up @flight, number @number, for @job from element @start on. */
void tdma_splitter_split(struct tdma_flight *flight, unsigned number,
                         struct tdma_job *job, uint64_t start);

/*
 * Can the order of accesses of two descriptors matter (A2)? True if one
 * writes where the other reads or writes.
 */
bool tdma_splitter_hazard(const struct tdma_flight *earlier,
                          const struct tdma_flight *later);

#endif /* TDMA_CYCLE_SPLITTER_H */
