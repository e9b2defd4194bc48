/* SPDX-License-Identifier: MIT */
/*
 * tensordma core: completion records in memory.
 */
#include <string.h>
#include "queue/tdma_record.h"

enum {
    RECORD_BYTES = sizeof(struct tdma_record),
    WORD_BYTES = sizeof(uint64_t),
    BODY_BYTES = RECORD_BYTES - WORD_BYTES,
    BODY_WORDS = BODY_BYTES / WORD_BYTES,
};

struct tdma_record_target tdma_record_at(uint64_t addr)
{
    return (struct tdma_record_target) {
        .valid = true,
        .split = RECORD_BYTES,
        .addr = { addr, 0 },
    };
}

bool tdma_record_resolve(const struct tdma_mem *mem,
                         const struct tdma_segment *seg, uint64_t offset,
                         struct tdma_record_target *target)
{
    uint64_t len;

    *target = (struct tdma_record_target) {
        .valid = true,
        .hbm = seg->space == TDMA_SPACE_HBM,
    };
    if (!tdma_segment_translate(mem, seg, offset, &target->addr[0], &len) ||
        target->addr[0] % WORD_BYTES) {
        return false;
    }
    if (len >= RECORD_BYTES) {
        target->split = RECORD_BYTES;
        return true;
    }
    target->split = len;
    return tdma_segment_translate(mem, seg, offset + len, &target->addr[1],
                                  &len) &&
           target->addr[1] % WORD_BYTES == 0;
}

bool tdma_record_target_ok(const struct tdma_mem *mem,
                           const struct tdma_record_target *target)
{
    if (!target->split || target->split > RECORD_BYTES ||
        target->split % WORD_BYTES || target->addr[0] % WORD_BYTES ||
        target->addr[1] % WORD_BYTES) {
        return false;
    }
    return !target->hbm ||
           (target->split == RECORD_BYTES &&
            target->addr[0] <= mem->hbm_size - RECORD_BYTES);
}

/*
 * Each field is stored whole, and behind the data it speaks of: a consumer
 * that polls the counts of a running job may believe each by itself.
 */
static void store_record(uint8_t *ptr, const struct tdma_record *record)
{
    uint64_t word[BODY_WORDS + 1];
    uint64_t *to = (uint64_t *)ptr;
    unsigned i;

    memcpy(word, record, sizeof(word));
    for (i = 0; i < BODY_WORDS; i++) {
        __atomic_store_n(&to[i], word[i], __ATOMIC_RELEASE);
    }
    __atomic_store_n(&to[BODY_WORDS], word[BODY_WORDS], __ATOMIC_RELEASE);
}

static bool store_through_window(const struct tdma_mem *mem, uint64_t addr,
                                 const struct tdma_record *record)
{
    struct tdma_window w;

    if (!mem->ops->window ||
        !mem->ops->window(mem->opaque, addr, RECORD_BYTES, true, &w) ||
        w.len < RECORD_BYTES || (uintptr_t)w.ptr % WORD_BYTES) {
        return false;
    }
    store_record(w.ptr, record);
    if (mem->ops->written) {
        mem->ops->written(mem->opaque, &w, 0, RECORD_BYTES);
    }
    return true;
}

static int write_piece(const struct tdma_mem *mem,
                       const struct tdma_record_target *target, unsigned from,
                       unsigned to, const uint8_t *bytes)
{
    uint64_t addr = from < target->split
        ? target->addr[0] + from
        : target->addr[1] + (from - target->split);

    return mem->ops->write(mem->opaque, addr, bytes + from, to - from);
}

static int store_in_pieces(const struct tdma_mem *mem,
                           const struct tdma_record_target *target,
                           const struct tdma_record *record)
{
    const uint8_t *bytes = (const uint8_t *)record;
    unsigned cut = target->split < BODY_BYTES ? target->split : BODY_BYTES;

    if (write_piece(mem, target, 0, cut, bytes) ||
        (cut < BODY_BYTES &&
         write_piece(mem, target, cut, BODY_BYTES, bytes))) {
        return -1;
    }
    /* The host's write orders itself behind the ones before it. */
    return write_piece(mem, target, BODY_BYTES, RECORD_BYTES, bytes);
}

int tdma_record_write(const struct tdma_mem *mem,
                      const struct tdma_record_target *target,
                      const struct tdma_record *record)
{
    if (target->hbm) {
        store_record(mem->hbm + target->addr[0], record);
        if (mem->ops->hbm_written) {
            mem->ops->hbm_written(mem->opaque, target->addr[0], RECORD_BYTES);
        }
        return 0;
    }
    if (target->split == RECORD_BYTES &&
        store_through_window(mem, target->addr[0], record)) {
        return 0;
    }
    return store_in_pieces(mem, target, record);
}
