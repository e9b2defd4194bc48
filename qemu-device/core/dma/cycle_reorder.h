/* SPDX-License-Identifier: MIT */
/*
 * Response reorder unit (A31-A34): accepts responses in any order, several per
 * cycle, and pops them in the order of their request IDs.
 *
 * Three bit vectors with one bit per ID. Each cycle
 *
 *     reorder' = response | (reorder & ~pop)
 *
 * where pop marks the run of answered IDs from the head pointer on, at most
 * pop_max of them; the head pointer moves by as many. The in-order item
 * register counts popped items that have not been released to the generator.
 */
#ifndef TDMA_CYCLE_REORDER_H
#define TDMA_CYCLE_REORDER_H

#include <stdbool.h>
#include <stdint.h>

#define TDMA_MAX_IDS 4096
#define TDMA_ID_WORDS (TDMA_MAX_IDS / 64)

enum tdma_response_check {
    TDMA_RESPONSE_OK,
    TDMA_RESPONSE_UNKNOWN,      /* no request with this ID is outstanding */
    TDMA_RESPONSE_DUPLICATE,    /* answered already */
};

struct tdma_reorder {
    unsigned ids;
    unsigned pop_max;
    unsigned head;              /* first ID not yet popped */
    unsigned items;             /* in-order item register */
    unsigned issued;            /* IDs from @head on that went out */
    uint64_t touched;           /* words of @response with a bit set */
    uint64_t response[TDMA_ID_WORDS];
    uint64_t reorder[TDMA_ID_WORDS];
    uint64_t pop[TDMA_ID_WORDS];
};

void tdma_reorder_reset(struct tdma_reorder *r, unsigned ids,
                        unsigned pop_max);

/* The next @count IDs went out with requests. */
static inline void tdma_reorder_issue(struct tdma_reorder *r, unsigned count)
{
    r->issued += count;
}

/* A response arrived in this cycle. */
static inline enum tdma_response_check
tdma_reorder_receive(struct tdma_reorder *r, unsigned id)
{
    unsigned ids = r->ids, head = r->head;
    unsigned place = id >= head ? id - head : id + ids - head;
    unsigned w = id / 64 % TDMA_ID_WORDS;
    uint64_t bit = 1ULL << (id % 64);

    if (id >= ids || place >= r->issued) {
        return TDMA_RESPONSE_UNKNOWN;
    }
    if ((r->response[w] | r->reorder[w]) & bit) {
        return TDMA_RESPONSE_DUPLICATE;
    }
    r->response[w] |= bit;
    r->touched |= 1ULL << w;
    return TDMA_RESPONSE_OK;
}

/*
 * End of a cycle: pop, move the head pointer, clock the vectors. Returns the
 * number of items popped, at most pop_max and at most @limit.
 */
unsigned tdma_reorder_tick(struct tdma_reorder *r, unsigned limit);

/* Release @count items of the in-order item register to the generator. */
static inline void tdma_reorder_release(struct tdma_reorder *r, unsigned count)
{
    r->items -= count;
}

#endif /* TDMA_CYCLE_REORDER_H */
