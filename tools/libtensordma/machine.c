// SPDX-License-Identifier: MIT
/* Machines: opened, asked, and the memory that they keep. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "machine.h"

unsigned int tensordma_version(void)
{
	return TENSORDMA_VERSION_MAJOR << 16 | TENSORDMA_VERSION_MINOR;
}

int tensordma_open(struct tensordma **machine,
		   const struct tensordma_config *config,
		   struct tensordma_error *err)
{
	struct tensordma_config c = { 0 };
	struct tensordma *m;
	int ret;

	if (config)
		c = *config;
	if (!c.backend)
		c.backend = getenv("TENSORDMA_BACKEND");
	if (!c.backend || !*c.backend)
		c.backend = "sim";
	m = calloc(1, sizeof(*m));
	if (!m)
		return tdl_fail(err, -ENOMEM, "", TENSORDMA_NO_DIM,
				"out of memory");
	tdl_fail(err, 0, "", TENSORDMA_NO_DIM, "out of memory");
	m->ops = strcmp(c.backend, "sim") ? &tdl_device_backend :
					    &tdl_sim_backend;
	ret = m->ops->open(&m->backend, &c, err);
	if (ret) {
		free(m);
		return ret;
	}
	m->ops->info(m->backend, &m->info);
	*machine = m;
	return 0;
}

void tensordma_close(struct tensordma *m)
{
	struct tdl_mapping *mapping, *next;

	if (!m)
		return;
	while (m->first)
		tensordma_poll(m, -1);
	for (mapping = m->registered; mapping; mapping = next) {
		next = mapping->next;
		m->ops->unmap(m->backend, mapping->segment);
		free(mapping);
	}
	m->ops->close(m->backend);
	free(m);
}

void tensordma_get_info(const struct tensordma *machine,
			struct tensordma_info *info)
{
	*info = machine->info;
}

bool tensordma_property(const struct tensordma *machine, unsigned int index,
			const char **name, uint64_t *value, const char **text)
{
	return machine->ops->property(machine->backend, index, name, value,
				      text);
}

int tensordma_register(struct tensordma *machine, void *addr, size_t length,
		       bool writable, struct tensordma_error *err)
{
	struct tdl_mapping *mapping = calloc(1, sizeof(*mapping));
	int ret = mapping ? 0 : -ENOMEM;

	if (mapping) {
		mapping->addr = addr;
		mapping->length = length;
		mapping->writable = writable;
		ret = length ? machine->ops->map(machine->backend, addr, length,
						 writable, &mapping->segment) :
			       -EINVAL;
	}
	if (ret) {
		free(mapping);
		return tdl_fail(err, ret, "memory", TENSORDMA_NO_DIM,
				"cannot register %zu bytes: %s", length,
				strerror(-ret));
	}
	mapping->next = machine->registered;
	machine->registered = mapping;
	return 0;
}

int tensordma_unregister(struct tensordma *machine, void *addr)
{
	struct tdl_mapping **at = &machine->registered, *gone;

	while (*at && (*at)->addr != addr)
		at = &(*at)->next;
	gone = *at;
	if (!gone)
		return -ENOENT;
	if (gone->users)
		return -EBUSY;
	*at = gone->next;
	machine->ops->unmap(machine->backend, gone->segment);
	free(gone);
	return 0;
}

struct tdl_mapping *tdl_find_registered(struct tensordma *machine,
					const char *addr, size_t length,
					bool writable)
{
	struct tdl_mapping *m;

	for (m = machine->registered; m; m = m->next) {
		size_t at = (uintptr_t)addr - (uintptr_t)m->addr;

		if ((uintptr_t)addr >= (uintptr_t)m->addr &&
		    at <= m->length && length <= m->length - at &&
		    (m->writable || !writable))
			return m;
	}
	return NULL;
}

int tensordma_trace(struct tensordma *machine, unsigned int events,
		    tensordma_trace_fn *fn, void *arg)
{
	if (!machine->ops->trace)
		return -EOPNOTSUPP;
	machine->ops->trace(machine->backend, events, fn, arg);
	return 0;
}
