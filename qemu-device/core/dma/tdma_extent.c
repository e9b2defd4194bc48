/* SPDX-License-Identifier: MIT */
/*
 * tensordma core: the exact bytes a side of a descriptor touches.
 *
 * A loop nest that ends early is the union of at most ndims + 1 boxes of
 * indices. In a box, dimensions without an axis are independent of each other
 * and of the rest; dimensions that share an axis form a group, solved on its
 * own. Offsets are sums over groups, so the extremes are, too.
 */
#include <string.h>
#include "dma/tdma_extent.h"

/* Index combinations of one group that are tried one by one */
enum { MAX_TRIED = 512 };

struct box {
    uint32_t lo[TDMA_MAX_DIMS];         /* inclusive */
    uint32_t hi[TDMA_MAX_DIMS];
};

struct range {
    tdma_wide min;
    tdma_wide max;
};

/* Dimensions that move one axis */
struct group {
    unsigned count;
    uint8_t dim[TDMA_MAX_DIMS];         /* the longest one last */
    tdma_wide last;             /* highest coordinate inside */
};

void tdma_walk_init(struct tdma_walk *walk, const struct tdma_desc *desc,
                    const struct tdma_desc_ext *ext, unsigned side)
{
    uint64_t offset = side ? desc->dst_offset : desc->src_offset;
    unsigned i;

    walk->ndims = desc->ndims;
    walk->offset = offset;
    walk->axes = 0;
    memset(walk->axis, -1, sizeof(walk->axis));
    memcpy(walk->stride, side ? desc->dst_stride : desc->src_stride,
           sizeof(walk->stride));
    if (!ext) {
        return;
    }
    memcpy(walk->coef, side ? ext->dst_coef : ext->src_coef,
           sizeof(walk->coef));
    for (i = 0; i < TDMA_MAX_DIMS; i++) {
        walk->axis[i] = (side ? ext->dst_axis[i] : ext->src_axis[i]) - 1;
    }
    for (i = 0; i < ext->naxes; i++) {
        walk->start[i] = ext->axis_start[i];
        walk->extent[i] = ext->axis_extent[i];
        if (ext->axis_side[i] == side) {
            walk->axes |= 1U << i;
        }
    }
    if (walk->axes) {
        /* Element 0 may lie in the padding, below the segment. */
        walk->offset = (int64_t)offset;
    }
}

static void range_add(struct range *sum, tdma_wide a, tdma_wide b)
{
    sum->min += a < b ? a : b;
    sum->max += a < b ? b : a;
}

static tdma_wide floor_div(tdma_wide a, tdma_wide b)
{
    return a / b - (a % b != 0 && (a % b < 0) != (b < 0));
}

static tdma_wide ceil_div(tdma_wide a, tdma_wide b)
{
    return -floor_div(-a, b);
}

/*
 * Indices of dimension @dim, within the box, that keep the coordinate
 * @at + coef * index inside [0, last]. False if there are none.
 */
static bool clip(const struct tdma_walk *walk, const struct box *box,
                 unsigned dim, tdma_wide at, tdma_wide last,
                 struct range *index)
{
    tdma_wide coef = walk->coef[dim];
    tdma_wide lo, hi;

    index->min = box->lo[dim];
    index->max = box->hi[dim];
    if (!coef) {
        return at >= 0 && at <= last;
    }
    lo = coef > 0 ? ceil_div(-at, coef) : ceil_div(last - at, coef);
    hi = coef > 0 ? floor_div(last - at, coef) : floor_div(-at, coef);
    if (index->min < lo) {
        index->min = lo;
    }
    if (index->max > hi) {
        index->max = hi;
    }
    return index->min <= index->max;
}

static void range_join(struct range *all, bool *any, tdma_wide a, tdma_wide b)
{
    tdma_wide lo = a < b ? a : b, hi = a < b ? b : a;

    if (!*any || lo < all->min) {
        all->min = lo;
    }
    if (!*any || hi > all->max) {
        all->max = hi;
    }
    *any = true;
}

/* Try every index of all dimensions but the last, and clip that one. */
static bool group_by_trial(const struct tdma_walk *walk, const struct box *box,
                           const struct group *group, tdma_wide at,
                           struct range *result)
{
    unsigned i, fixed = group->count - 1, last_dim = group->dim[fixed];
    uint32_t index[TDMA_MAX_DIMS];
    struct range clipped;
    bool any = false;

    for (i = 0; i < fixed; i++) {
        index[i] = box->lo[group->dim[i]];
    }
    do {
        tdma_wide coord = at, offset = 0, stride = walk->stride[last_dim];

        for (i = 0; i < fixed; i++) {
            coord += (tdma_wide)walk->coef[group->dim[i]] * index[i];
            offset += (tdma_wide)walk->stride[group->dim[i]] * index[i];
        }
        if (clip(walk, box, last_dim, coord, group->last, &clipped)) {
            range_join(result, &any, offset + stride * clipped.min,
                       offset + stride * clipped.max);
        }
        for (i = 0; i < fixed; i++) {
            if (index[i] < box->hi[group->dim[i]]) {
                index[i]++;
                break;
            }
            index[i] = box->lo[group->dim[i]];
        }
    } while (i < fixed);
    return any;
}

static tdma_wide abs_wide(tdma_wide a)
{
    return a < 0 ? -a : a;
}

/*
 * If the coordinates the group reaches are evenly spaced, their distance; 0 if
 * they are not, or it is not obvious.
 */
static tdma_wide even_spacing(const struct tdma_walk *walk,
                              const struct box *box, const struct group *group)
{
    bool used[TDMA_MAX_DIMS] = { false };
    tdma_wide spacing = 0, reach = 0;
    unsigned i, n;

    for (n = 0; n < group->count; n++) {
        unsigned best = TDMA_MAX_DIMS, dim;
        tdma_wide coef;

        for (i = 0; i < group->count; i++) {
            dim = group->dim[i];
            if (!used[dim] &&
                (best == TDMA_MAX_DIMS || abs_wide(walk->coef[dim]) <
                                          abs_wide(walk->coef[best]))) {
                best = dim;
            }
        }
        used[best] = true;
        if (box->lo[best] == box->hi[best]) {
            continue;
        }
        coef = abs_wide(walk->coef[best]);
        if (!spacing) {
            spacing = coef;
        }
        if (coef % spacing || coef > reach + spacing) {
            return 0;
        }
        reach += coef * (box->hi[best] - box->lo[best]);
    }
    return spacing;
}

/* A dimension of a group, counted so that the coordinate grows with it */
struct term {
    tdma_wide stride;
    tdma_wide coef;             /* above 0 */
    tdma_wide count;            /* highest index, the lowest is 0 */
};

static tdma_wide whole_change(const struct term *term)
{
    return term->coef * term->count;
}

/*
 * Of the terms not @used whose strides have the sign that @down asks for, the
 * one that gives up least offset for a change of the coordinate.
 */
static unsigned cheapest(const struct term *term, unsigned count,
                         const bool *used, bool down)
{
    unsigned best = count;

    for (unsigned i = 0; i < count; i++) {
        if (!used[i] && (term[i].stride > 0) == down &&
            (best == count ||
             abs_wide(term[i].stride) * term[best].coef <
             abs_wide(term[best].stride) * term[i].coef)) {
            best = i;
        }
    }
    return best;
}

/*
 * No combination with its coordinate inside @inside has a higher offset than
 * this. Without regard to the coordinate every dimension stands at the end its
 * stride favours; what the coordinate is too high or too low then is given up
 * where that costs least offset. The bound is reached if whole steps were given
 * up, as they are between equal coefficients, or if strides are proportional.
 */
static tdma_wide offset_bound(const struct term *term, unsigned count,
                              tdma_wide at, const struct range *inside)
{
    bool used[TDMA_MAX_DIMS] = { false };
    tdma_wide bound = 0, excess;
    bool down;

    for (unsigned i = 0; i < count; i++) {
        if (term[i].stride > 0) {
            bound += term[i].stride * term[i].count;
            at += whole_change(&term[i]);
        }
    }
    down = at > inside->max;
    excess = down ? at - inside->max : inside->min - at;
    while (excess > 0) {
        unsigned i = cheapest(term, count, used, down);
        tdma_wide change = whole_change(&term[i]);

        change = change < excess ? change : excess;
        bound -= ceil_div(abs_wide(term[i].stride) * change, term[i].coef);
        excess -= change;
        used[i] = true;
    }
    return bound;
}

/* Count dimension @dim from the end where the coordinate is lowest. */
static struct term term_of(const struct tdma_walk *walk, const struct box *box,
                           unsigned dim, tdma_wide *at, tdma_wide *offset)
{
    bool down = walk->coef[dim] < 0;
    tdma_wide first = down ? box->hi[dim] : box->lo[dim];

    *at += walk->coef[dim] * first;
    *offset += walk->stride[dim] * first;
    return (struct term) {
        .stride = down ? -(tdma_wide)walk->stride[dim] : walk->stride[dim],
        .coef = abs_wide(walk->coef[dim]),
        .count = box->hi[dim] - box->lo[dim],
    };
}

/* The coordinates between @at and @at + @reach that are in the group's axis */
static struct range inside_axis(tdma_wide at, tdma_wide reach, tdma_wide last,
                                tdma_wide spacing)
{
    struct range inside = { at, at + reach };

    if (inside.min < 0) {
        inside.min += ceil_div(-inside.min, spacing) * spacing;
    }
    if (inside.max > last) {
        inside.max -= ceil_div(inside.max - last, spacing) * spacing;
    }
    return inside;
}

/*
 * Too many combinations to try. Bounds that no combination exceeds, and that
 * one reaches unless a step would have to be divided to stay inside.
 */
static bool group_by_bounds(const struct tdma_walk *walk, const struct box *box,
                            const struct group *group, tdma_wide at,
                            struct range *result)
{
    tdma_wide spacing = even_spacing(walk, box, group);
    tdma_wide offset = 0, reach = 0;
    struct term term[TDMA_MAX_DIMS];
    struct range inside;
    unsigned i;

    for (i = 0; i < group->count; i++) {
        term[i] = term_of(walk, box, group->dim[i], &at, &offset);
        reach += whole_change(&term[i]);
    }
    inside = inside_axis(at, reach, group->last, spacing ? spacing : 1);
    if (inside.min > inside.max) {
        return false;
    }
    result->max = offset + offset_bound(term, group->count, at, &inside);
    for (i = 0; i < group->count; i++) {
        term[i].stride = -term[i].stride;
    }
    result->min = offset - offset_bound(term, group->count, at, &inside);
    return true;
}

/* Collect the dimensions that move @axis, the longest one last. */
static void group_init(struct group *group, const struct tdma_walk *walk,
                       const struct box *box, unsigned axis)
{
    unsigned i, longest = 0;
    uint8_t dim;

    group->count = 0;
    group->last = (tdma_wide)walk->extent[axis] - 1;
    for (i = 0; i < TDMA_MAX_DIMS; i++) {
        if (walk->axis[i] == (int)axis && walk->coef[i]) {
            group->dim[group->count] = i;
            if (box->hi[i] - box->lo[i] >
                box->hi[group->dim[longest]] - box->lo[group->dim[longest]]) {
                longest = group->count;
            }
            group->count++;
        }
    }
    if (group->count) {
        dim = group->dim[longest];
        group->dim[longest] = group->dim[group->count - 1];
        group->dim[group->count - 1] = dim;
    }
}

static bool few_combinations(const struct group *group, const struct box *box)
{
    uint64_t tried = 1;
    unsigned i;

    for (i = 0; i + 1 < group->count; i++) {
        tried *= (uint64_t)box->hi[group->dim[i]] - box->lo[group->dim[i]] + 1;
        if (tried > MAX_TRIED) {
            return false;
        }
    }
    return true;
}

static bool axis_range(const struct tdma_walk *walk, const struct box *box,
                       unsigned axis, struct range *result)
{
    tdma_wide at = walk->start[axis];
    struct group group;

    group_init(&group, walk, box, axis);
    result->min = 0;
    result->max = 0;
    if (!group.count) {
        return at >= 0 && at <= group.last;
    }
    if (few_combinations(&group, box)) {
        return group_by_trial(walk, box, &group, at, result);
    }
    return group_by_bounds(walk, box, &group, at, result);
}

static bool box_range(const struct tdma_walk *walk, const struct box *box,
                      struct range *result)
{
    struct range part;
    unsigned i;

    result->min = walk->offset;
    result->max = walk->offset;
    for (i = 0; i < walk->ndims; i++) {
        if (walk->axis[i] < 0 || !walk->coef[i]) {
            range_add(result, (tdma_wide)walk->stride[i] * box->lo[i],
                      (tdma_wide)walk->stride[i] * box->hi[i]);
        }
    }
    for (i = 0; walk->axes >> i; i++) {
        if (walk->axes & 1U << i) {
            if (!axis_range(walk, box, i, &part)) {
                return false;
            }
            result->min += part.min;
            result->max += part.max;
        }
    }
    return true;
}

/* Elements in one step of each dimension */
static void rows_of(const struct tdma_shape *shape,
                    uint64_t rows[TDMA_MAX_DIMS])
{
    uint64_t row = 1;
    unsigned i;

    for (i = 0; i < TDMA_MAX_DIMS; i++) {
        rows[i] = row;
        row *= shape->steps[i];
    }
}

/* A nest that ends early is the boxes below each digit of its length. */
static bool partial_range(const struct tdma_walk *walk,
                          const struct tdma_shape *shape, struct box *box,
                          struct range *all)
{
    uint64_t rows[TDMA_MAX_DIMS], left = shape->elements;
    struct range part;
    bool any = false;
    int i;

    rows_of(shape, rows);
    for (i = TDMA_MAX_DIMS - 1; i >= 0 && left; i--) {
        uint32_t digit = left / rows[i];

        left -= digit * rows[i];
        if (digit) {
            box->lo[i] = 0;
            box->hi[i] = digit - 1;
            if (box_range(walk, box, &part)) {
                range_join(all, &any, part.min, part.max);
            }
        }
        box->lo[i] = digit;
        box->hi[i] = digit;
    }
    return any;
}

bool tdma_walk_range(const struct tdma_walk *walk,
                     const struct tdma_shape *shape, tdma_wide *min,
                     tdma_wide *max)
{
    struct range all = { 0, 0 };
    struct box box = { { 0 }, { 0 } };
    uint64_t product = 1;
    unsigned i;
    bool any;

    for (i = 0; i < shape->ndims; i++) {
        box.hi[i] = shape->steps[i] - 1;
        product *= shape->steps[i];
    }
    any = product == shape->elements
          ? box_range(walk, &box, &all)
          : partial_range(walk, shape, &box, &all);
    if (any) {
        *min = all.min;
        *max = all.max;
    }
    return any;
}

/*
 * Smallest index, at most @last, at which at + stride * index leaves [lo, hi];
 * last + 1 if none does.
 */
static tdma_wide first_leaving(tdma_wide at, tdma_wide stride, tdma_wide last,
                               tdma_wide lo, tdma_wide hi)
{
    tdma_wide index = last + 1, n;

    if (at < lo || at > hi) {
        return 0;
    }
    if (stride) {
        n = stride > 0 ? (hi - at) / stride + 1 : (at - lo) / -stride + 1;
        index = n < index ? n : index;
    }
    return index;
}

tdma_wide tdma_walk_first_outside(const struct tdma_walk *walk,
                                  const struct tdma_shape *shape,
                                  tdma_wide limit, uint8_t *dim)
{
    struct range below[TDMA_MAX_DIMS];
    struct range sum = { 0, 0 };
    tdma_wide at = walk->offset;
    int i;

    for (i = 0; i < TDMA_MAX_DIMS; i++) {
        below[i] = sum;
        range_add(&sum, 0, (tdma_wide)walk->stride[i] * (shape->steps[i] - 1));
    }
    *dim = TDMA_DIM_NONE;
    for (i = TDMA_MAX_DIMS - 1; i >= 0; i--) {
        /* Fix the smallest index below which some element is outside. */
        tdma_wide index = first_leaving(at, walk->stride[i],
                                        shape->steps[i] - 1,
                                        -below[i].min, limit - below[i].max);

        if (index && *dim == TDMA_DIM_NONE) {
            *dim = i;
        }
        at += walk->stride[i] * index;
    }
    return at;
}
