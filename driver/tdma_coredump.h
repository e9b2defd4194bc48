/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Device core dumps; see tdma_coredump.c.
 */
#ifndef TDMA_COREDUMP_H
#define TDMA_COREDUMP_H

struct tdma_queue;

void tdma_coredump(struct tdma_queue *queue);

#endif /* TDMA_COREDUMP_H */
