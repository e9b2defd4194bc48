/* SPDX-License-Identifier: MIT */
/*
 * tensordma core, fast engine: moving one piece of a plan.
 *
 * A block of the nest that is mapped whole on each side goes to the pointer
 * kernels. One that is not is taken apart, in element order, down to single
 * units that go through a buffer where they must. So memory can refuse only
 * where everything before is done, and the count of elements is exact.
 */
#include <string.h>
#include "dma/fast_kernel.h"
#include "dma/fast_move.h"
#include "dma/fast_pack.h"

/* Where the source of a piece comes from */
enum from {
    FROM_MEMORY,
    FROM_PATTERN,
};

static uint64_t min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Long enough to be worth a call, short enough to stay in the inner cache */
enum { PATTERN_BYTES = 8192 };

/* Whole elements, so that each one starts at the pattern's 0 */
static void init_pattern(struct fast_mover *mover)
{
    const struct tdma_job *job = mover->plan->job;
    uint64_t elem = mover->plan->elem, bytes;

    mover->pattern_bytes = 0;
    if (!job->fill_bytes) {
        return;
    }
    bytes = elem;
    if (elem < PATTERN_BYTES) {
        bytes = min_u64(job->elements, PATTERN_BYTES / elem) * elem;
    }
    tdma_job_fill(job, mover->pattern);
    mover->uniform = !memcmp(mover->pattern, mover->pattern + 1, elem - 1);
    for (mover->pattern_bytes = elem; mover->pattern_bytes < bytes;) {
        uint64_t n = min_u64(mover->pattern_bytes,
                             bytes - mover->pattern_bytes);

        memcpy(mover->pattern + mover->pattern_bytes, mover->pattern, n);
        mover->pattern_bytes += n;
    }
}

void fast_mover_init(struct fast_mover *mover, struct fast_plan *plan)
{
    mover->plan = plan;
    init_pattern(mover);
}

static bool has_src(const struct fast_mover *mover)
{
    return mover->plan->job->has_side[TDMA_SRC];
}

static bool has_dst(const struct fast_mover *mover)
{
    return mover->plan->job->has_side[TDMA_DST];
}

static bool adds(const struct fast_mover *mover)
{
    return mover->plan->job->desc.opcode == TDMA_OP_ACCUMULATE;
}

/*
 * One side of a contiguous piece of @bytes: how much of it can be had through
 * a pointer, in whole elements; 0 if not even one.
 */
static uint64_t map_piece(struct fast_mover *mover, unsigned side,
                          uint64_t offset, uint64_t bytes, uint8_t **ptr)
{
    uint64_t before, len;

    *ptr = tdma_view_map(&mover->plan->job->view[side], offset, &before, &len);
    if (!*ptr) {
        return 0;
    }
    if (len >= bytes) {
        return bytes;
    }
    return len - len % mover->plan->elem;
}

bool fast_move_is_mapped(struct fast_mover *mover,
                         const struct fast_place *place)
{
    const struct tdma_job *job = mover->plan->job;
    uint8_t *ptr;
    unsigned s;

    if (mover->plan->axes) {
        return false;           /* there may be nothing at @place */
    }
    for (s = 0; s < TDMA_SIDES; s++) {
        if (job->has_side[s] && !map_piece(mover, s, place->offset[s],
                                           mover->plan->unit_bytes, &ptr)) {
            return false;
        }
    }
    return true;
}

static bool refuse(struct fast_mover *mover, unsigned side)
{
    mover->fault = side;
    return false;
}

static void combine(const struct fast_mover *mover, uint8_t *dst,
                    const uint8_t *src, uint64_t bytes)
{
    unsigned type = mover->plan->job->desc.type;

    if (adds(mover)) {
        tdma_accumulate(type, dst, src, bytes / mover->plan->elem);
    } else {
        memmove(dst, src, bytes);
    }
}

/* @bytes, no more than a buffer holds, where pointers do not reach */
static bool move_buffered(struct fast_mover *mover, enum from from,
                          const struct fast_place *place, uint64_t bytes)
{
    struct tdma_job *job = mover->plan->job;
    uint8_t *src = from == FROM_PATTERN ? mover->pattern
                                        : mover->buffer[TDMA_SRC];
    uint8_t *dst = mover->buffer[TDMA_DST];

    if (from == FROM_MEMORY && has_src(mover) &&
        tdma_view_read(&job->view[TDMA_SRC], place->offset[TDMA_SRC], src,
                       bytes)) {
        return refuse(mover, TDMA_SRC);
    }
    if (!has_dst(mover)) {
        return true;
    }
    if (adds(mover)) {
        if (tdma_view_read(&job->view[TDMA_DST], place->offset[TDMA_DST], dst,
                           bytes)) {
            return refuse(mover, TDMA_DST);
        }
        combine(mover, dst, src, bytes);
        src = dst;
    }
    if (tdma_view_write(&job->view[TDMA_DST], place->offset[TDMA_DST], src,
                        bytes)) {
        return refuse(mover, TDMA_DST);
    }
    return true;
}

/*
 * The next part of a contiguous piece; returns its bytes, 0 if memory refused.
 */
static uint64_t move_part(struct fast_mover *mover, enum from from,
                          const struct fast_place *place, uint64_t bytes)
{
    struct tdma_job *job = mover->plan->job;
    uint64_t limit = FAST_BUFFER - FAST_BUFFER % mover->plan->elem;
    uint64_t part = bytes;
    uint8_t *src = mover->pattern, *dst = NULL;

    if (from == FROM_PATTERN) {
        if (!mover->uniform || adds(mover)) {
            part = min_u64(part, mover->pattern_bytes);
        }
    } else if (has_src(mover)) {
        part = map_piece(mover, TDMA_SRC, place->offset[TDMA_SRC], part, &src);
    }
    if (has_dst(mover) && part) {
        part = map_piece(mover, TDMA_DST, place->offset[TDMA_DST], part, &dst);
    }
    if (!part) {
        /* As short as it gets: the gap in the mapping may end soon. */
        part = min_u64(bytes, from == FROM_PATTERN ? mover->pattern_bytes
                                                   : limit);
        part = min_u64(part, mover->plan->elem > 4096
                             ? mover->plan->elem
                             : 4096 - 4096 % mover->plan->elem);
        return move_buffered(mover, from, place, part) ? part : 0;
    }
    if (dst) {
        if (from == FROM_PATTERN && mover->uniform && !adds(mover)) {
            memset(dst, mover->pattern[0], part);
        } else {
            combine(mover, dst, src, part);
        }
        tdma_view_dirty(&job->view[TDMA_DST], place->offset[TDMA_DST], part);
    }
    return part;
}

/* @bytes that are contiguous on each side */
static bool move_piece(struct fast_mover *mover, enum from from,
                       struct fast_place place, uint64_t bytes)
{
    while (bytes) {
        uint64_t part = move_part(mover, from, &place, bytes);

        if (!part) {
            return false;
        }
        mover->moved += part / mover->plan->elem;
        place.offset[TDMA_SRC] += part;
        place.offset[TDMA_DST] += part;
        bytes -= part;
    }
    return true;
}

/*
 * Pointer to the place on @side if the whole block, @count steps of @dim, is
 * in one window; *lo and *bytes are what it covers.
 */
static uint8_t *map_block(struct fast_mover *mover, unsigned side,
                          unsigned dim, uint64_t count, uint64_t offset,
                          uint64_t *lo, uint64_t *bytes)
{
    const struct fast_plan *plan = mover->plan;
    int64_t low = plan->low[side][dim], high = plan->high[side][dim];
    int64_t far = (int64_t)((uint64_t)plan->dim[dim].step[side] * (count - 1));
    uint64_t before, len;
    uint8_t *ptr;

    low += far < 0 ? far : 0;
    high += far > 0 ? far : 0;
    *lo = offset + (uint64_t)low;
    *bytes = (uint64_t)(high - low) + plan->unit_bytes;
    ptr = tdma_view_map(&plan->job->view[side], *lo, &before, &len);
    return ptr && len >= *bytes ? ptr - low : NULL;
}

static void make_nest(const struct fast_plan *plan, unsigned dim,
                      uint64_t count, enum from from, struct fast_nest *nest)
{
    unsigned i;

    nest->ndims = dim + 1;
    nest->unit_bytes = plan->unit_bytes;
    for (i = 0; i <= dim; i++) {
        nest->n[i] = i == dim ? count : plan->dim[i].n;
        nest->src_step[i] = from == FROM_PATTERN ? 0
                                                 : plan->dim[i].step[TDMA_SRC];
        nest->dst_step[i] = plan->dim[i].step[TDMA_DST];
    }
}

/* True if the block could be moved by pointers, and was. */
static bool move_mapped(struct fast_mover *mover, enum from from,
                        unsigned dim, uint64_t count,
                        const struct fast_place *place)
{
    const struct fast_plan *plan = mover->plan;
    struct tdma_job *job = plan->job;
    uint8_t *src = mover->pattern, *dst;
    struct fast_nest nest;
    uint64_t lo, bytes;

    if (from == FROM_PATTERN && plan->unit_bytes > mover->pattern_bytes) {
        return false;
    }
    if (from == FROM_MEMORY && has_src(mover)) {
        src = map_block(mover, TDMA_SRC, dim, count, place->offset[TDMA_SRC],
                        &lo, &bytes);
        if (!src) {
            return false;
        }
    }
    if (has_dst(mover)) {
        dst = map_block(mover, TDMA_DST, dim, count, place->offset[TDMA_DST],
                        &lo, &bytes);
        if (!dst) {
            return false;
        }
        make_nest(plan, dim, count, from, &nest);
        if (adds(mover)) {
            fast_accumulate(&nest, job->desc.type, dst, src);
        } else {
            fast_copy(&nest, !plan->ordered && plan->disjoint, dst, src);
        }
        tdma_view_dirty(&job->view[TDMA_DST], lo, bytes);
    }
    mover->moved += count * plan->row[dim];
    return true;
}

/* Units longer than this are better moved one by one, without a detour. */
enum { PACK_UNIT_MAX = 512 };

/*
 * May blocks be packed? Units may then move in any order, and more than once:
 * where memory refuses, the block is done again in element order.
 */
static bool can_pack(const struct fast_mover *mover, enum from from)
{
    const struct fast_plan *plan = mover->plan;

    return plan->unit_bytes <= PACK_UNIT_MAX && !plan->ordered &&
           (plan->disjoint || !has_dst(mover)) && !adds(mover) &&
           (from == FROM_MEMORY || has_dst(mover));
}

/* The source of a block as one piece of memory, its steps in @nest */
static const uint8_t *gather(struct fast_mover *mover, unsigned dim,
                             uint64_t count, const struct fast_place *place,
                             struct fast_nest *nest)
{
    struct fast_plan *plan = mover->plan;
    uint64_t offset = place->offset[TDMA_SRC], lo, bytes;
    struct fast_pack pack;
    uint8_t *src;
    unsigned i;

    src = map_block(mover, TDMA_SRC, dim, count, offset, &lo, &bytes);
    if (src) {
        return src;
    }
    fast_pack_init(&pack, plan, TDMA_SRC, dim, count, offset);
    if (!fast_pack_get(&pack, &plan->job->view[TDMA_SRC], mover->gather)) {
        return NULL;
    }
    for (i = 0; i <= dim; i++) {
        nest->src_step[i] = pack.step[i];
    }
    return mover->gather + pack.start;
}

/* Write a block whose units come from @src with the steps in @nest. */
static bool scatter(struct fast_mover *mover, unsigned dim, uint64_t count,
                    const struct fast_place *place, struct fast_nest *nest,
                    const uint8_t *src)
{
    struct fast_plan *plan = mover->plan;
    struct tdma_view *view = &plan->job->view[TDMA_DST];
    uint64_t offset = place->offset[TDMA_DST], lo, bytes;
    struct fast_pack pack;
    uint8_t *dst;
    unsigned i;

    dst = map_block(mover, TDMA_DST, dim, count, offset, &lo, &bytes);
    if (dst) {
        fast_copy(nest, true, dst, src);
        tdma_view_dirty(view, lo, bytes);
        return true;
    }
    fast_pack_init(&pack, plan, TDMA_DST, dim, count, offset);
    for (i = 0; i <= dim; i++) {
        nest->dst_step[i] = pack.step[i];
    }
    fast_copy(nest, true, mover->buffer[TDMA_DST] + pack.start, src);
    return fast_pack_put(&pack, view, mover->buffer[TDMA_DST]);
}

/* A block that fits in a buffer; false if memory refused some of it. */
static bool move_packed(struct fast_mover *mover, enum from from, unsigned dim,
                        uint64_t count, const struct fast_place *place)
{
    const uint8_t *src = mover->pattern;
    struct fast_nest nest;

    make_nest(mover->plan, dim, count, from, &nest);
    if (from == FROM_MEMORY) {
        src = gather(mover, dim, count, place, &nest);
    }
    if (!src ||
        (has_dst(mover) && !scatter(mover, dim, count, place, &nest, src))) {
        return false;
    }
    mover->moved += count * mover->plan->row[dim];
    return true;
}

/* Steps of dimension @dim that fit in the buffers, no more than @count */
static uint64_t steps_that_fit(const struct fast_mover *mover, enum from from,
                               unsigned dim, uint64_t count)
{
    const struct fast_plan *plan = mover->plan;
    uint64_t steps = FAST_BUFFER / plan->elem / plan->row[dim];
    struct fast_pack pack;

    steps = min_u64(steps, count);
    for (; from == FROM_MEMORY && steps; steps /= 2) {
        fast_pack_init(&pack, plan, TDMA_SRC, dim, steps, 0);
        if (pack.bytes <= FAST_GATHER) {
            break;
        }
    }
    return steps;
}

/*
 * Buffer by buffer. False if the steps are too large for that or memory
 * refused; *done are those moved before.
 */
static bool move_in_buffers(struct fast_mover *mover, enum from from,
                            unsigned dim, uint64_t count,
                            struct fast_place *place, uint64_t *done)
{
    uint64_t most = steps_that_fit(mover, from, dim, count);

    *done = 0;
    while (most && *done < count) {
        uint64_t part = min_u64(count - *done, most);

        if (!move_mapped(mover, from, dim, part, place) &&
            !move_packed(mover, from, dim, part, place)) {
            return false;
        }
        fast_place_step(mover->plan, place, dim, part);
        *done += part;
    }
    return most != 0;
}

/* A block all of whose source comes from one place and none is dropped */
static bool move_block(struct fast_mover *mover, enum from from, unsigned dim,
                       uint64_t count, struct fast_place place)
{
    const struct fast_plan *plan = mover->plan;
    uint64_t i = 0;

    if (move_mapped(mover, from, dim, count, &place)) {
        return true;
    }
    if (can_pack(mover, from) &&
        move_in_buffers(mover, from, dim, count, &place, &i)) {
        return true;
    }
    for (; i < count; i++) {
        bool ok = dim ? move_block(mover, from, dim - 1, plan->dim[dim - 1].n,
                                   place)
                      : move_piece(mover, from, place, plan->unit_bytes);

        if (!ok) {
            return false;
        }
        fast_place_step(plan, &place, dim, 1);
    }
    return true;
}

enum where { INSIDE, OUTSIDE, MIXED };

static enum where where_range(int64_t low, int64_t high, uint64_t extent)
{
    if (high < 0 || (low >= 0 && (uint64_t)low >= extent)) {
        return OUTSIDE;
    }
    return low >= 0 && (uint64_t)high < extent ? INSIDE : MIXED;
}

/* Where the elements of a block lie with respect to the axes of @side */
static enum where where_block(const struct fast_plan *plan, unsigned side,
                              unsigned dim, uint64_t count,
                              const struct fast_place *place)
{
    const struct tdma_desc_ext *e = &plan->job->ext;
    const struct fast_dim *d = &plan->dim[dim];
    int64_t far = d->coef[side] * (int64_t)(count - 1);
    enum where all = INSIDE;
    unsigned a;

    for (a = 0; a < e->naxes; a++) {
        int64_t low = place->coord[a] + plan->axis_low[a][dim];
        int64_t high = place->coord[a] + plan->axis_high[a][dim];
        enum where one;

        if (e->axis_side[a] != side) {
            continue;
        }
        if (d->axis[side] == (int)a) {
            low += far < 0 ? far : 0;
            high += far > 0 ? far : 0;
        }
        one = where_range(low, high, e->axis_extent[a]);
        if (one == OUTSIDE) {
            return OUTSIDE;
        }
        if (one == MIXED) {
            all = MIXED;
        }
    }
    return all;
}

/*
 * Steps of dimension 0, no more than @count, until its coordinate on @side
 * passes a border of its axis.
 */
static uint64_t steps_to_border(const struct fast_plan *plan, unsigned side,
                                uint64_t count, const struct fast_place *place)
{
    const struct fast_dim *d = &plan->dim[0];
    int64_t coef = d->coef[side], at;
    uint64_t extent, steps = count;

    if (d->axis[side] < 0) {
        return count;
    }
    at = place->coord[d->axis[side]];
    extent = plan->job->ext.axis_extent[d->axis[side]];
    if (at < 0) {
        steps = coef > 0 ? (uint64_t)-(at + 1) / coef + 1 : count;
    } else if ((uint64_t)at < extent) {
        steps = 1 + (coef > 0 ? (extent - 1 - at) / coef
                              : (uint64_t)at / -coef);
    } else if (coef < 0) {
        steps = (at - extent) / -coef + 1;
    }
    return min_u64(steps, count);
}

static bool move_axes(struct fast_mover *mover, unsigned dim, uint64_t count,
                      struct fast_place place);

/* A strip with parts on different sides of a border */
static bool move_mixed_strip(struct fast_mover *mover, uint64_t count,
                             struct fast_place place)
{
    const struct fast_plan *plan = mover->plan;

    while (count) {
        uint64_t part = steps_to_border(plan, TDMA_SRC, count, &place);

        part = steps_to_border(plan, TDMA_DST, part, &place);
        if (!move_axes(mover, 0, part, place)) {
            return false;
        }
        fast_place_step(plan, &place, 0, part);
        count -= part;
    }
    return true;
}

/* A block of a job with axes: taken apart until each part is all in or out */
static bool move_axes(struct fast_mover *mover, unsigned dim, uint64_t count,
                      struct fast_place place)
{
    const struct fast_plan *plan = mover->plan;
    enum where src = where_block(plan, TDMA_SRC, dim, count, &place);
    enum where dst = where_block(plan, TDMA_DST, dim, count, &place);
    uint64_t i;

    if (dst == OUTSIDE || (src == OUTSIDE && !has_dst(mover))) {
        mover->moved += count * plan->row[dim];
        return true;
    }
    if (src != MIXED && dst != MIXED) {
        return move_block(mover, src == OUTSIDE || !has_src(mover)
                                 ? FROM_PATTERN : FROM_MEMORY,
                          dim, count, place);
    }
    if (!dim) {
        return move_mixed_strip(mover, count, place);
    }
    for (i = 0; i < count; i++) {
        if (!move_axes(mover, dim - 1, plan->dim[dim - 1].n, place)) {
            return false;
        }
        fast_place_step(plan, &place, dim, 1);
    }
    return true;
}

bool fast_move_steps(struct fast_mover *mover, unsigned dim, uint64_t count,
                     struct fast_place place)
{
    if (mover->plan->axes) {
        return move_axes(mover, dim, count, place);
    }
    return move_block(mover, has_src(mover) ? FROM_MEMORY : FROM_PATTERN, dim,
                      count, place);
}

/* All elements of a unit are on the same side of every border. */
bool fast_move_elements(struct fast_mover *mover, uint64_t count,
                        struct fast_place place)
{
    const struct fast_plan *plan = mover->plan;
    enum from from = has_src(mover) ? FROM_MEMORY : FROM_PATTERN;

    if (plan->axes) {
        bool src_out = where_block(plan, TDMA_SRC, 0, 1, &place) == OUTSIDE;
        bool dst_out = where_block(plan, TDMA_DST, 0, 1, &place) == OUTSIDE;

        if (dst_out || (src_out && !has_dst(mover))) {
            mover->moved += count;
            return true;
        }
        from = src_out ? FROM_PATTERN : from;
    }
    return move_piece(mover, from, place, count * plan->elem);
}
