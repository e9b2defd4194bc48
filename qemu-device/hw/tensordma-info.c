/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tensordma: the read-only property "state", for people who look from outside:
 *
 *   (qemu) qom-get /machine/peripheral/ID state
 *
 * What it tells is read from the registers, so that it is what software sees;
 * reading has no effect on the machine. Queues that are off are left out.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qapi/visitor.h"
#include "qobject/qdict.h"
#include "qobject/qlist.h"
#include "tensordma.h"
#include "compat.h"

typedef struct TensordmaNames {
    const char *const *name;
    size_t count;
} TensordmaNames;

#define TENSORDMA_NAMES(...)                                            \
    { (const char *const[]) { __VA_ARGS__ },                            \
      ARRAY_SIZE(((const char *const[]) { __VA_ARGS__ })) }

static const TensordmaNames tensordma_queue_states =
    TENSORDMA_NAMES("off", "idle", "running", "stopping", "paused", "halted");
static const TensordmaNames tensordma_queue_errors =
    TENSORDMA_NAMES("none", "config", "ring", "record", "tail", "job");
static const TensordmaNames tensordma_queue_waits =
    TENSORDMA_NAMES("none", "turn", "memory");
static const TensordmaNames tensordma_throttle_states =
    TENSORDMA_NAMES("off", "on", "bad-zero", "bad-window", "bad-budget");
static const TensordmaNames tensordma_trace_states =
    TENSORDMA_NAMES("off", "on", "stopping", "config", "fault");
static const TensordmaNames tensordma_hold_names =
    TENSORDMA_NAMES("register", "config", "reset", "stopped", "exit");

typedef struct TensordmaCounter {
    const char *name;
    unsigned offset;
} TensordmaCounter;

static const TensordmaCounter tensordma_counters[] = {
    { "requests", TDMA_COUNTER_REQUESTS },
    { "stall-backpressure", TDMA_COUNTER_STALL_BACKPRESSURE },
    { "stall-throttle", TDMA_COUNTER_STALL_THROTTLE },
    { "stall-ids", TDMA_COUNTER_STALL_IDS },
    { "stall-hazard", TDMA_COUNTER_STALL_HAZARD },
    { "pipeline-fill", TDMA_COUNTER_PIPELINE_FILL },
    { "outstanding-max", TDMA_COUNTER_OUTSTANDING_MAX },
};

static uint32_t tensordma_read(TensordmaState *s, uint64_t addr)
{
    return tdma_core_reg_read(s->core, addr, 4);
}

static void tensordma_put(TensordmaState *s, QDict *to, const char *name,
                          uint64_t addr, unsigned size)
{
    qdict_put_int(to, name, tdma_core_reg_read(s->core, addr, size));
}

static void tensordma_put_name(TensordmaState *s, QDict *to, const char *name,
                               uint64_t addr, const TensordmaNames *names)
{
    uint32_t value = tensordma_read(s, addr);

    qdict_put_str(to, name, value < names->count ? names->name[value] : "?");
}

static QDict *tensordma_info_side(TensordmaState *s, uint64_t base)
{
    QDict *side = qdict_new();

    for (size_t i = 0; i < ARRAY_SIZE(tensordma_counters); i++) {
        tensordma_put(s, side, tensordma_counters[i].name,
                      base + tensordma_counters[i].offset, 8);
    }
    return side;
}

static QDict *tensordma_info_thread(TensordmaState *s, unsigned thread)
{
    uint64_t base = TDMA_THREAD_BASE + thread * TDMA_THREAD_STRIDE;
    QDict *info = qdict_new();

    tensordma_put(s, info, "cycles", base + TDMA_THREAD_CYCLES, 8);
    tensordma_put_name(s, info, "throttle", base + TDMA_THREAD_THROTTLE_STATUS,
                       &tensordma_throttle_states);
    tensordma_put_name(s, info, "trace", base + TDMA_THREAD_TRACE_STATE,
                       &tensordma_trace_states);
    qdict_put(info, "source",
              tensordma_info_side(s, base + TDMA_THREAD_SRC_COUNTERS));
    qdict_put(info, "destination",
              tensordma_info_side(s, base + TDMA_THREAD_DST_COUNTERS));
    return info;
}

static QDict *tensordma_info_queue(TensordmaState *s, unsigned queue)
{
    uint64_t base = TDMA_QUEUE_BASE + queue * TDMA_QUEUE_STRIDE;
    QDict *info = qdict_new();

    qdict_put_int(info, "queue", queue);
    tensordma_put_name(s, info, "state", base + TDMA_QUEUE_STATE,
                       &tensordma_queue_states);
    tensordma_put_name(s, info, "error", base + TDMA_QUEUE_ERROR,
                       &tensordma_queue_errors);
    tensordma_put_name(s, info, "wait", base + TDMA_QUEUE_WAIT,
                       &tensordma_queue_waits);
    tensordma_put(s, info, "context", base + TDMA_QUEUE_CONTEXT, 4);
    tensordma_put(s, info, "priority", base + TDMA_QUEUE_PRIORITY, 4);
    tensordma_put(s, info, "head", base + TDMA_QUEUE_HEAD, 4);
    tensordma_put(s, info, "tail", base + TDMA_QUEUE_TAIL, 4);
    tensordma_put(s, info, "done", base + TDMA_QUEUE_DONE, 4);
    tensordma_put(s, info, "progress", base + TDMA_QUEUE_PROGRESS, 8);
    return info;
}

/* A queue that is off may still say why. */
static bool tensordma_queue_is_worth_it(TensordmaState *s, unsigned queue)
{
    uint64_t base = TDMA_QUEUE_BASE + queue * TDMA_QUEUE_STRIDE;

    return tensordma_read(s, base + TDMA_QUEUE_STATE) != TDMA_QSTATE_OFF ||
           tensordma_read(s, base + TDMA_QUEUE_ERROR) != TDMA_QERR_NONE;
}

static QList *tensordma_info_holds(TensordmaState *s)
{
    QList *list = qlist_new();

    for (size_t i = 0; i < tensordma_hold_names.count; i++) {
        if (tensordma_is_held(s, 1 << i)) {
            qlist_append_str(list, tensordma_hold_names.name[i]);
        }
    }
    return list;
}

static QDict *tensordma_info(TensordmaState *s)
{
    uint32_t status = tensordma_read(s, TDMA_REG_STATUS);
    QList *threads = qlist_new(), *queues = qlist_new();
    QDict *info = qdict_new();

    for (unsigned i = 0; i < s->props.threads; i++) {
        qlist_append(threads, tensordma_info_thread(s, i));
    }
    for (unsigned i = 0; i < s->props.queues; i++) {
        if (tensordma_queue_is_worth_it(s, i)) {
            qlist_append(queues, tensordma_info_queue(s, i));
        }
    }
    qdict_put_bool(info, "enabled",
                   tensordma_read(s, TDMA_REG_CONTROL) & TDMA_CONTROL_ENABLE);
    qdict_put_bool(info, "idle", status & TDMA_STATUS_REG_IDLE);
    qdict_put_bool(info, "bus-master", qatomic_read(&s->dma_enabled));
    qdict_put(info, "held-by", tensordma_info_holds(s));
    tensordma_put(s, info, "generation", TDMA_REG_GENERATION, 4);
    tensordma_put(s, info, "bad-accesses", TDMA_REG_BAD_ACCESS, 4);
    qdict_put(info, "threads", threads);
    qdict_put(info, "queues", queues);
    return info;
}

static void tensordma_get_state(Object *obj, Visitor *v, const char *name,
                                void *opaque, Error **errp)
{
    TensordmaState *s = TENSORDMA(obj);
    g_autoptr(QDict) info = NULL;
    QObject *any;

    if (!DEVICE(s)->realized) {
        error_setg(errp, "the device is not realized");
        return;
    }
    info = tensordma_info(s);
    any = QOBJECT(info);
    visit_type_any(v, name, &any, errp);
}

void tensordma_class_add_info(ObjectClass *klass)
{
    object_class_property_add(klass, "state", "any", tensordma_get_state, NULL,
                              NULL, NULL);
    object_class_property_set_description(klass, "state",
        "what the machine is doing: queues, threads, counters (read only)");
}
