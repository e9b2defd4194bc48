/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tensordma: the properties of core/tdma_properties.h as device properties.
 *
 * All of them are generated from the one table, with default, range and
 * description, so that "-device tensordma,help" is complete by construction.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qapi/util.h"
#include "qapi/visitor.h"
#include "tensordma.h"
#include "compat.h"

typedef struct TensordmaProperty {
    const char *name;
    const char *text;
    size_t offset;              /* in struct tdma_properties */
    uint64_t value;             /* default */
    uint64_t min;
    uint64_t max;
} TensordmaProperty;

static const TensordmaProperty tensordma_properties[] = {
#define TENSORDMA_PROPERTY(field, prop, def, low, high, description)    \
    {                                                                   \
        .name = prop,                                                   \
        .text = description,                                            \
        .offset = offsetof(struct tdma_properties, field),              \
        .value = def,                                                   \
        .min = low,                                                     \
        .max = high,                                                    \
    },
    TDMA_PROPERTIES(TENSORDMA_PROPERTY)
#undef TENSORDMA_PROPERTY
};

/* The one property whose values have names. */
static const QEnumLookup tensordma_fidelity_lookup = {
    .array = (const char *const[]) {
        [TDMA_FIDELITY_FAST] = "fast",
        [TDMA_FIDELITY_CYCLE] = "cycle",
    },
    .size = 2,
};

static bool tensordma_is_fidelity(const TensordmaProperty *p)
{
    return p->offset == offsetof(struct tdma_properties, fidelity);
}

static uint64_t *tensordma_property_ptr(Object *obj, const TensordmaProperty *p)
{
    return (uint64_t *)((uint8_t *)&TENSORDMA(obj)->props + p->offset);
}

static void tensordma_property_get(Object *obj, Visitor *v, const char *name,
                                   void *opaque, Error **errp)
{
    const TensordmaProperty *p = opaque;
    uint64_t value = *tensordma_property_ptr(obj, p);
    int choice = value;

    if (tensordma_is_fidelity(p)) {
        visit_type_enum(v, name, &choice, &tensordma_fidelity_lookup, errp);
    } else {
        visit_type_size(v, name, &value, errp);
    }
}

static void tensordma_property_set(Object *obj, Visitor *v, const char *name,
                                   void *opaque, Error **errp)
{
    const TensordmaProperty *p = opaque;
    uint64_t value;
    int choice;

    if (DEVICE(obj)->realized) {
        qdev_prop_set_after_realize(DEVICE(obj), name, errp);
        return;
    }
    if (tensordma_is_fidelity(p)) {
        if (!visit_type_enum(v, name, &choice, &tensordma_fidelity_lookup,
                             errp)) {
            return;
        }
        value = choice;
    } else if (!visit_type_size(v, name, &value, errp)) {
        return;
    }
    if (value < p->min || value > p->max) {
        error_setg(errp, "%s must be from %" PRIu64 " to %" PRIu64, name,
                   p->min, p->max);
        return;
    }
    *tensordma_property_ptr(obj, p) = value;
}

static void tensordma_add_property(ObjectClass *klass,
                                   const TensordmaProperty *p)
{
    bool fidelity = tensordma_is_fidelity(p);
    g_autofree char *range = g_strdup_printf("%s (%" PRIu64 "..%" PRIu64 ")",
                                             p->text, p->min, p->max);
    ObjectProperty *op;

    op = object_class_property_add(klass, p->name,
                                   fidelity ? "TensordmaFidelity" : "uint64",
                                   tensordma_property_get,
                                   tensordma_property_set, NULL, (void *)p);
    if (fidelity) {
        const char *name = qapi_enum_lookup(&tensordma_fidelity_lookup,
                                            p->value);

        object_property_set_default_str(op, name);
        object_class_property_set_description(klass, p->name,
                                              "fast or cycle");
    } else {
        object_property_set_default_uint(op, p->value);
        object_class_property_set_description(klass, p->name, range);
    }
}

void tensordma_class_add_properties(ObjectClass *klass)
{
    for (size_t i = 0; i < ARRAY_SIZE(tensordma_properties); i++) {
        tensordma_add_property(klass, &tensordma_properties[i]);
    }
}
