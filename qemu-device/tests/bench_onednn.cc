// SPDX-License-Identifier: MIT
/*
 * Benchmarks: the moves of the case table as reorder primitives of oneDNN,
 * which the library is free to do in the way it finds best.
 *
 * Elements of four bytes are s32, others are bytes with an inner dimension:
 * its 16-bit types are not always copied bit by bit. Each move is given in its
 * simplest form, dimensions joined and the element as wide as it can be.
 */
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <dnnl.hpp>
#include "bench.h"

namespace {

struct dim {
    int64_t n, src, dst;
};

using nest = std::vector<dim>;  /* innermost first, steps in elements */

/* Elements are bytes; what steps evenly on both sides is one dimension. */
nest simplest(const bench_move &move)
{
    nest dims = { { move.elem, 1, 1 } };

    for (int64_t i = 0; i < move.ndims; i++) {
        dim d = { move.steps[i], move.src_stride[i], move.dst_stride[i] };
        dim &last = dims.back();

        if (d.n == 1) {
            continue;
        }
        if (d.src == last.n * last.src && d.dst == last.n * last.dst) {
            last.n *= d.n;
        } else {
            dims.push_back(d);
        }
    }
    return dims;
}

/* Four bytes at a time, if all of it is a multiple of that. */
bool widen(nest &dims)
{
    for (const dim &d : dims) {
        const bool inner = &d == &dims.front();

        if (inner ? d.n % 4 : (d.src % 4 || d.dst % 4)) {
            return false;
        }
    }
    dims.front().n /= 4;
    for (size_t i = 1; i < dims.size(); i++) {
        dims[i].src /= 4;
        dims[i].dst /= 4;
    }
    if (dims.front().n == 1 && dims.size() > 1) {
        dims.erase(dims.begin());
    }
    return true;
}

class reorder {
public:
    reorder(const bench_move &move, const uint8_t *src, uint8_t *dst)
        : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_)
    {
        using type = dnnl::memory::data_type;
        nest dims = simplest(move);
        const type element = widen(dims) ? type::s32 : type::s8;
        dnnl::memory::dims n, from, to;

        for (size_t i = dims.size(); i-- > 0;) {
            n.push_back(dims[i].n);
            from.push_back(dims[i].src);
            to.push_back(dims[i].dst);
        }
        src_ = dnnl::memory({ n, element, from }, engine_,
                            const_cast<uint8_t *>(src) + move.src_offset);
        dst_ = dnnl::memory({ n, element, to }, engine_,
                            dst + move.dst_offset);
        primitive_ = dnnl::reorder(src_, dst_);
    }

    void run()
    {
        primitive_.execute(stream_, src_, dst_);
        stream_.wait();
    }

private:
    dnnl::engine engine_;
    dnnl::stream stream_;
    dnnl::memory src_, dst_;
    dnnl::reorder primitive_;
};

} // namespace

void *bench_onednn_open(const struct bench_move *move, const uint8_t *src,
                        uint8_t *dst, char *why, unsigned why_size)
{
    try {
        return new reorder(*move, src, dst);
    } catch (const dnnl::error &error) {
        snprintf(why, why_size, "%s", error.what());
        return nullptr;
    }
}

double bench_onednn_run(void *handle, unsigned calls)
{
    reorder *r = static_cast<reorder *>(handle);
    const double start = bench_now();

    while (calls--) {
        r->run();
    }
    return bench_now() - start;
}
