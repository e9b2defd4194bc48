/* SPDX-License-Identifier: MIT */
/*
 * tensordma core: cycles in closed form.
 */
#include "dma/tdma_engine.h"

/*
 * Requests of a side leave in ceil(elements / lanes) cycles, the first one in
 * cycle 0; the last response comes one latency after the last request. Both
 * halves of a copy run in step, and the memory system pairs a read with its
 * write on the way (A6), so the second half adds nothing.
 */
uint64_t tdma_cycles_ideal(const struct tdma_properties *props,
                           unsigned opcode, uint64_t elements)
{
    uint64_t lanes = props->lanes;

    if (opcode == TDMA_OP_NOP || !elements) {
        return 0;
    }
    return elements / lanes + (elements % lanes != 0) - 1 + props->latency_min;
}
