/* SPDX-License-Identifier: MIT */
/*
 * tensordma core: descriptor queues.
 *
 * A queue is owned by one thread from the moment that thread takes a
 * descriptor from it until the last one it took is retired; then any thread it
 * is bound to may take over.
 */
#ifndef TDMA_QUEUE_H
#define TDMA_QUEUE_H

#include <stdbool.h>
#include <stdint.h>
#include "tdma_machine.h"

/*
 * Register side; all with the lock held.
 */

/* Power-on state */
void tdma_queue_reset(struct tdma_queue *queue);

/* May the registers above CONTROL be written? */
bool tdma_queue_configurable(const struct tdma_queue *queue);

/* Write of the CONTROL register; its value when read; the STATE register */
void tdma_queue_control(struct tdma_queue *queue, uint32_t value);
uint32_t tdma_queue_control_value(const struct tdma_queue *queue);
uint32_t tdma_queue_state(const struct tdma_queue *queue);

/* The WAIT register */
uint32_t tdma_queue_wait(const struct tdma_queue *queue);

/* The doorbell was rung with @value. */
void tdma_queue_ring(struct tdma_queue *queue, uint32_t value);
/* The tail in memory may have moved. */
void tdma_queue_tail_moved(struct tdma_queue *queue);

/* Does software want thread @thread to end what is in flight or waits? */
bool tdma_queue_ends(const struct tdma_queue *queue, unsigned thread);
/* Is there anything for thread @thread to do now? */
bool tdma_queue_needs(const struct tdma_queue *queue, unsigned thread);
/* May a queue that is not off be configured like this? */
bool tdma_queue_config_ok(const struct tdma_queue *queue);
/* Jobs it may have in flight */
unsigned tdma_queue_in_flight_max(const struct tdma_queue *queue);
/* Could a thread take a descriptor from it (or go on with a parked one)? */
bool tdma_queue_can_start(const struct tdma_queue *queue, unsigned thread);

/*
 * The first job that is not in the engine but has to go there: never started,
 * or put aside; it may still be draining. NULL if there is none. Owner side,
 * or a queue that nobody owns.
 */
struct tdma_job *tdma_queue_waiting(const struct tdma_queue *queue);

/* Stop fetching: the queue is halted with TDMA_QERR_*. */
void tdma_queue_halt_locked(struct tdma_queue *queue, uint32_t error);

/*
 * Owner side; without the lock.
 */

/* Halt, tell software by interrupt. */
void tdma_queue_halt(struct tdma_queue *queue, uint32_t error);

/* Raise the queue's interrupt. */
void tdma_queue_interrupt(struct tdma_queue *queue);

/*
 * Look at the tail in memory if it may have moved. Slots that may be fetched;
 * 0 if there is none, or the queue had to halt.
 */
uint32_t tdma_queue_update_tail(struct tdma_queue *queue);

/*
 * Take the descriptor at the head, of at most @slots, into a job at the end of
 * the queue's list: fetched and, unless @discard, checked. Its status is
 * PENDING if it has something to do, otherwise final; with @discard it is
 * ABORTED. NULL if the ring could not be read or no job was free. Software may
 * move the tail meanwhile, which is for the next one.
 */
struct tdma_job *tdma_queue_fetch(struct tdma_queue *queue, uint32_t slots,
                                  bool discard);

/*
 * The two halves of that, for jobs that come from elsewhere: a blank job of
 * the queue, NULL if none is free; and its place at the end of the list.
 */
struct tdma_job *tdma_queue_new_job(struct tdma_queue *queue);
void tdma_queue_append(struct tdma_queue *queue, struct tdma_job *job);

/*
 * Publish and free the jobs at the front of the list that are over, and
 * advance DONE.
 */
void tdma_queue_retire(struct tdma_queue *queue);

/*
 * Add to PROGRESS what @job has moved since the last time; by the owner, with
 * the lock held.
 */
void tdma_queue_count(struct tdma_queue *queue, struct tdma_job *job);

/* Everything that waits or runs is to end ABORTED, without starting more. */
void tdma_queue_cancel(struct tdma_queue *queue);

#endif /* TDMA_QUEUE_H */
