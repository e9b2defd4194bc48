/* SPDX-License-Identifier: MIT */
/*
 * tensordma core: DMA threads and whose turn it is.
 */
#ifndef TDMA_THREAD_H
#define TDMA_THREAD_H

#include <stdbool.h>
#include "tdma_machine.h"

/* False if out of memory. */
bool tdma_thread_init(struct tdma_thread *thread, struct tdma_core *core,
                      unsigned number);
void tdma_thread_fini(struct tdma_thread *thread);
void tdma_thread_reset(struct tdma_thread *thread);

/*
 * With the lock held: @queue may need service. Returns the thread to kick,
 * once the lock is released.
 */
unsigned tdma_thread_call(struct tdma_core *core, struct tdma_queue *queue);

/* What a pair of throttle registers means: TDMA_THROTTLE_* */
uint32_t tdma_thread_check_throttle(const struct tdma_core *core,
                                    uint32_t window, uint32_t budget);

/* Kick every thread that has something to do; without the lock. */
void tdma_thread_call_all(struct tdma_core *core);

#endif /* TDMA_THREAD_H */
