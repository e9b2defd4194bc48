/* SPDX-License-Identifier: MIT */
/* FSM of a request generator; see cycle_fsm.h. */
#include <string.h>
#include "cycle_fsm.h"

void tdma_fsm_reset(struct tdma_fsm *fsm, unsigned lanes, unsigned chains)
{
    memset(fsm, 0, sizeof(*fsm));
    fsm->lanes = lanes;
    fsm->chains = chains;
}

static unsigned other_chain(const struct tdma_fsm *fsm, unsigned which)
{
    return fsm->chains == 1 ? which : 1 - which;
}

int tdma_fsm_free_chain(const struct tdma_fsm *fsm)
{
    unsigned other = other_chain(fsm, fsm->active);

    if (!fsm->loaded[fsm->active]) {
        return fsm->active;
    }
    return fsm->loaded[other] ? -1 : (int)other;
}

void tdma_fsm_load(struct tdma_fsm *fsm, unsigned which, uint64_t total)
{
    fsm->loaded[which] = true;
    fsm->left[which] = total;
}

bool tdma_fsm_emit(struct tdma_fsm *fsm, struct tdma_fsm_output *out)
{
    unsigned c = fsm->active;

    if (!fsm->loaded[c]) {
        return false;
    }
    out->chain = c;
    out->first = !fsm->running;
    out->previous = fsm->last_amount;
    out->amount = fsm->left[c] < fsm->lanes ? fsm->left[c] : fsm->lanes;
    fsm->left[c] -= out->amount;
    fsm->last_amount = out->amount;
    fsm->running = true;
    out->last = !fsm->left[c];
    if (out->last) {
        tdma_fsm_cut(fsm, c);
    }
    return true;
}

void tdma_fsm_cut(struct tdma_fsm *fsm, unsigned which)
{
    fsm->loaded[which] = false;
    if (which == fsm->active) {
        fsm->running = false;
        fsm->active = other_chain(fsm, which);
    }
}
