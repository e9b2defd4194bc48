/* SPDX-License-Identifier: MIT */
/* Response reorder unit; see cycle_reorder.h. */
#include <string.h>
#include "cycle_reorder.h"

void tdma_reorder_reset(struct tdma_reorder *r, unsigned ids, unsigned pop_max)
{
    memset(r, 0, sizeof(*r));
    r->ids = ids;
    r->pop_max = pop_max;
}

/* Ones from bit @id on, as far as they go inside that word and the window. */
static unsigned run_in_word(const struct tdma_reorder *r, unsigned id)
{
    uint64_t zeros = ~(r->reorder[id / 64] >> (id % 64));
    unsigned run = zeros ? (unsigned)__builtin_ctzll(zeros) : 64;
    unsigned room = 64 - id % 64;

    if (room > r->ids - id) {
        room = r->ids - id;
    }
    return run < room ? run : room;
}

/* Mark @count bits from @id on, all in one word. */
static void pop_in_word(struct tdma_reorder *r, unsigned id, unsigned count)
{
    r->pop[id / 64] |= (count < 64 ? (1ULL << count) - 1 : ~0ULL) << (id % 64);
}

/* reorder' = response | (reorder & ~pop), for the words with a change. */
static void clock_vectors(struct tdma_reorder *r, uint64_t words)
{
    while (words) {
        unsigned w = __builtin_ctzll(words);

        r->reorder[w] = r->response[w] | (r->reorder[w] & ~r->pop[w]);
        r->response[w] = 0;
        r->pop[w] = 0;
        words &= words - 1;
    }
}

unsigned tdma_reorder_tick(struct tdma_reorder *r, unsigned limit)
{
    uint64_t words = r->touched;
    unsigned popped = 0;

    if (limit > r->pop_max) {
        limit = r->pop_max;
    }
    if (limit > r->ids) {
        limit = r->ids;
    }
    while (popped < limit) {
        unsigned run = run_in_word(r, r->head);

        if (run > limit - popped) {
            run = limit - popped;
        }
        if (!run) {
            break;
        }
        pop_in_word(r, r->head, run);
        words |= 1ULL << (r->head / 64);
        popped += run;
        r->head += run;
        if (r->head == r->ids) {
            r->head = 0;
        }
    }
    r->items += popped;
    r->issued -= popped;
    r->touched = 0;
    clock_vectors(r, words);
    return popped;
}
