/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tensordma: who runs the core's DMA threads, and when.
 *
 * Each worker runs one bounded quantum after the other, each as one RCU
 * section, while nothing holds it. Bounds on reset, stop and unplug all follow
 * from the quantum.
 *
 * Behind an IOMMU a translation needs the BQL, but the BQL's holder may be
 * waiting for this very worker. So a worker never takes it. It queues a
 * request and waits; the request is served by the main loop or, if the BQL's
 * holder is in tensordma_hold(), by that holder while it waits. Either way it
 * is served in bounded time and there is no cycle.
 *
 * The worker stays in its RCU section while it waits: that is what keeps the
 * memory found by somebody else's lookup alive. Nobody waits for an RCU grace
 * period with the BQL held (drain_call_rcu() drops it), so this adds no cycle.
 */
#include "qemu/osdep.h"
#include "qemu/lockable.h"
#include "qemu/rcu.h"
#include "tensordma.h"
#include "../trace.h"

/* Called with gate_lock; drops it while a request is served. BQL held. */
static bool tensordma_serve_one(TensordmaState *s)
{
    TensordmaTranslation *t = QSIMPLEQ_FIRST(&s->translations);
    MemReentrancyGuard *guard = &DEVICE(s)->mem_reentrancy_guard;
    bool engaged = guard->engaged_in_io;

    if (!t) {
        return false;
    }
    QSIMPLEQ_REMOVE_HEAD(&s->translations, next);
    qemu_mutex_unlock(&s->gate_lock);

    /*
     * An IOMMU may report a fault by a write to an address the guest chose.
     * Were that one of our registers, it would wait for the worker we serve.
     */
    guard->engaged_in_io = true;
    WITH_RCU_READ_LOCK_GUARD() {
        t->ok = tensordma_translate(s, t->addr, t->len, t->is_write,
                                    &t->piece);
    }
    guard->engaged_in_io = engaged;

    qemu_mutex_lock(&s->gate_lock);
    t->done = true;
    qemu_cond_broadcast(&s->translated);
    return true;
}

static void tensordma_serve_bh(void *opaque)
{
    TensordmaState *s = opaque;

    QEMU_LOCK_GUARD(&s->gate_lock);
    while (tensordma_serve_one(s)) {
        /* next */
    }
}

bool tensordma_translate_remote(TensordmaState *s, hwaddr addr, hwaddr len,
                                bool is_write, TensordmaPiece *piece)
{
    TensordmaTranslation t = {
        .addr = addr, .len = len, .is_write = is_write,
    };

    QEMU_LOCK_GUARD(&s->gate_lock);
    QSIMPLEQ_INSERT_TAIL(&s->translations, &t, next);
    qemu_cond_broadcast(&s->parked);
    qemu_bh_schedule(s->serve_bh);
    while (!t.done) {
        qemu_cond_wait(&s->translated, &s->gate_lock);
    }
    *piece = t.piece;
    return t.ok;
}

/* Called with gate_lock; drops it for one quantum. */
static void tensordma_run_quantum(TensordmaWorker *w)
{
    TensordmaState *s = w->s;
    bool more;

    w->pending = false;
    w->running = true;
    qemu_mutex_unlock(&s->gate_lock);

    WITH_RCU_READ_LOCK_GUARD() {
        more = tdma_core_run(s->core, w->index);
    }

    qemu_mutex_lock(&s->gate_lock);
    w->running = false;
    w->pending |= more;
    qemu_cond_broadcast(&s->parked);
}

static void *tensordma_worker(void *opaque)
{
    TensordmaWorker *w = opaque;
    TensordmaState *s = w->s;

    rcu_register_thread();
    qemu_mutex_lock(&s->gate_lock);
    while (!w->stopping) {
        if (w->pending && !s->holds) {
            tensordma_run_quantum(w);
        } else {
            qemu_cond_wait(&w->wake, &s->gate_lock);
        }
    }
    qemu_mutex_unlock(&s->gate_lock);
    rcu_unregister_thread();
    return NULL;
}

/* x-inline: one quantum of each thread, then let the main loop look up. */
static void tensordma_run_bh(void *opaque)
{
    TensordmaState *s = opaque;
    bool again = false;

    QEMU_LOCK_GUARD(&s->gate_lock);
    for (unsigned i = 0; i < s->props.threads && !s->holds; i++) {
        if (s->workers[i].pending) {
            tensordma_run_quantum(&s->workers[i]);
        }
        again |= s->workers[i].pending;
    }
    if (again) {
        qemu_bh_schedule(s->run_bh);
    }
}

/* Called with gate_lock. */
static void tensordma_wake(TensordmaState *s, TensordmaWorker *w)
{
    if (s->inline_mode) {
        qemu_bh_schedule(s->run_bh);
    } else {
        qemu_cond_signal(&w->wake);
    }
}

void tensordma_kick(void *opaque, unsigned thread)
{
    TensordmaState *s = opaque;
    TensordmaWorker *w = &s->workers[thread];

    QEMU_LOCK_GUARD(&s->gate_lock);
    w->pending = true;
    if (!s->holds) {
        tensordma_wake(s, w);
    }
}

static bool tensordma_any_running(TensordmaState *s)
{
    for (unsigned i = 0; i < s->props.threads; i++) {
        if (s->workers[i].running) {
            return true;
        }
    }
    return false;
}

void tensordma_forbid(TensordmaState *s, unsigned reason)
{
    QEMU_LOCK_GUARD(&s->gate_lock);
    s->holds |= reason;
    trace_tensordma_hold(s, reason, s->holds);
}

void tensordma_hold(TensordmaState *s, unsigned reason)
{
    assert(bql_locked());
    tensordma_forbid(s, reason);

    QEMU_LOCK_GUARD(&s->gate_lock);
    while (tensordma_any_running(s)) {
        if (!tensordma_serve_one(s)) {
            qemu_cond_wait(&s->parked, &s->gate_lock);
        }
    }
    trace_tensordma_held(s, reason);
}

void tensordma_release(TensordmaState *s, unsigned reason)
{
    QEMU_LOCK_GUARD(&s->gate_lock);
    s->holds &= ~reason;
    trace_tensordma_release(s, reason, s->holds);
    for (unsigned i = 0; i < s->props.threads && !s->holds; i++) {
        if (s->workers[i].pending) {
            tensordma_wake(s, &s->workers[i]);
        }
    }
}

bool tensordma_is_held(TensordmaState *s, unsigned reason)
{
    QEMU_LOCK_GUARD(&s->gate_lock);
    return s->holds & reason;
}

void tensordma_workers_start(TensordmaState *s)
{
    qemu_mutex_init(&s->gate_lock);
    qemu_cond_init(&s->parked);
    qemu_cond_init(&s->translated);
    QSIMPLEQ_INIT(&s->translations);
    s->serve_bh = qemu_bh_new(tensordma_serve_bh, s);
    /* Guarded: DMA of a quantum must not come back to our registers. */
    s->run_bh = qemu_bh_new_guarded(tensordma_run_bh, s,
                                    &DEVICE(s)->mem_reentrancy_guard);
    s->workers = g_new0(TensordmaWorker, s->props.threads);

    for (unsigned i = 0; i < s->props.threads; i++) {
        TensordmaWorker *w = &s->workers[i];
        g_autofree char *name = g_strdup_printf("tensordma/%u", i);

        w->s = s;
        w->index = i;
        qemu_cond_init(&w->wake);
        if (!s->inline_mode) {
            qemu_thread_create(&w->thread, name, tensordma_worker, w,
                               QEMU_THREAD_JOINABLE);
        }
    }
}

static void tensordma_worker_join(TensordmaWorker *w)
{
    WITH_QEMU_LOCK_GUARD(&w->s->gate_lock) {
        w->stopping = true;
        qemu_cond_signal(&w->wake);
    }
    qemu_thread_join(&w->thread);
}

void tensordma_workers_stop(TensordmaState *s)
{
    /* No worker runs, hence none asks for a translation: joining is safe. */
    tensordma_hold(s, TENSORDMA_HOLD_EXIT);

    for (unsigned i = 0; i < s->props.threads; i++) {
        if (!s->inline_mode) {
            tensordma_worker_join(&s->workers[i]);
        }
        qemu_cond_destroy(&s->workers[i].wake);
    }
    qemu_bh_delete(s->run_bh);
    qemu_bh_delete(s->serve_bh);
    g_clear_pointer(&s->workers, g_free);
    qemu_cond_destroy(&s->translated);
    qemu_cond_destroy(&s->parked);
    qemu_mutex_destroy(&s->gate_lock);
}
