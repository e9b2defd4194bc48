/* SPDX-License-Identifier: MIT */
/*
 * Request ID credits (A19, A35). IDs are handed out in sequence, modulo the
 * window; the progress tracker returns credits when at least a threshold of
 * consecutive IDs has been answered, so that the generator goes on before all
 * of them are.
 */
#ifndef TDMA_CYCLE_CREDIT_H
#define TDMA_CYCLE_CREDIT_H

#include <stdint.h>

/*
 * Cycles between the response to a request and the next request with its ID:
 * the reorder vector's clock edge, pop into the item register, the credit's
 * way to the generator. T of the law min(M, W / T) is the latency and these.
 */
#define TDMA_CREDIT_CYCLES 3

struct tdma_credit {
    unsigned ids;               /* window: IDs 0 .. ids - 1 */
    unsigned threshold;
    unsigned next;              /* ID of the next request */
    unsigned available;         /* requests that may go out */
    unsigned returning;         /* arrives at the generator next cycle */
};

/* A threshold beyond the window would never be reached; it is clamped. */
static inline void tdma_credit_reset(struct tdma_credit *c, unsigned ids,
                                     unsigned threshold)
{
    *c = (struct tdma_credit){
        .ids = ids,
        .threshold = threshold < ids ? threshold : ids,
        .available = ids,
    };
}

/* @count requests went out, at most @available, with the IDs from @next on. */
static inline void tdma_credit_take(struct tdma_credit *c, unsigned count)
{
    unsigned next = c->next + count;

    c->available -= count;
    c->next = next >= c->ids ? next - c->ids : next;
}

/* How many of @items popped items to release now. */
static inline unsigned tdma_credit_release(struct tdma_credit *c,
                                           unsigned items)
{
    c->returning = items >= c->threshold ? items : 0;
    return c->returning;
}

/* Start of a cycle: what was released in the last one has arrived. */
static inline void tdma_credit_tick(struct tdma_credit *c)
{
    c->available += c->returning;
    c->returning = 0;
}

#endif /* TDMA_CYCLE_CREDIT_H */
