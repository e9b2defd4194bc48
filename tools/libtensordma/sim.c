// SPDX-License-Identifier: MIT
/*
 * The machine in this process: the core with one queue, run by whoever waits.
 * Bus addresses are pointers; the segment table says which may be used.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "backend.h"
#include "error.h"
#include "tdma_core.h"
#include "tdma_machine.h"
#include "dma/tdma_job.h"

#define RING_ORDER	8
#define RING_SLOTS	(1U << RING_ORDER)
#define RECORD_ALIGN	64
/* Of the segment table; more than any job names */
#define SEGMENTS	1024U

struct tdl_backend {
	struct tdma_core *core;
	struct tdma_properties props;
	unsigned char *hbm;
	uint32_t segments;
	uint32_t next_segment;
	uint32_t kicked;		/* threads that have work */
	uint32_t head;			/* first slot that is not waited for */
	uint32_t tail;
	tensordma_trace_fn *trace;
	void *trace_arg;
	struct tdma_segment *table;
	struct tdma_desc *ring;
	struct tdma_record *records;
};

/*
 * The world around the core
 */

static void *pointer(uint64_t addr)
{
	return (void *)(uintptr_t)addr;
}

static uint64_t address(const void *ptr)
{
	return (uintptr_t)ptr;
}

static int op_read(void *opaque, uint64_t addr, void *buf, size_t len)
{
	(void)opaque;
	memcpy(buf, pointer(addr), len);
	return 0;
}

static int op_write(void *opaque, uint64_t addr, const void *buf, size_t len)
{
	(void)opaque;
	memcpy(pointer(addr), buf, len);
	return 0;
}

static bool op_window(void *opaque, uint64_t addr, uint64_t len, bool is_write,
		      struct tdma_window *w)
{
	(void)is_write;
	*w = (struct tdma_window) {
		.ptr = pointer(addr),
		.len = len,
		.cookie = opaque,
	};
	return true;
}

static void op_written(void *opaque, const struct tdma_window *w,
		       uint64_t offset, uint64_t len)
{
	(void)opaque;
	(void)w;
	(void)offset;
	(void)len;
}

static void op_interrupt(void *opaque, unsigned int vector)
{
	(void)opaque;
	(void)vector;
}

static void op_kick(void *opaque, unsigned int thread)
{
	struct tdl_backend *b = opaque;

	b->kicked |= 1U << thread;
}

static const struct tdma_host_ops host_ops = {
	.read = op_read,
	.write = op_write,
	.window = op_window,
	.written = op_written,
	.interrupt = op_interrupt,
	.kick = op_kick,
};

/*
 * Properties
 */

struct property {
	const char *name;
	size_t field;
	uint64_t value;
	uint64_t min;
	uint64_t max;
	const char *text;
};

static const struct property properties[] = {
#define PROPERTY(field, name, def, min, max, text) \
	{ name, offsetof(struct tdma_properties, field), def, min, max, text },
	TDMA_PROPERTIES(PROPERTY)
#undef PROPERTY
};

#define PROPERTIES	(sizeof(properties) / sizeof(properties[0]))

static uint64_t *value_of(struct tdma_properties *props, unsigned int index)
{
	return (uint64_t *)((char *)props + properties[index].field);
}

/* A number, with the suffixes K, M, G that QEMU takes for sizes */
static bool parse_value(const char *text, uint64_t *value)
{
	static const char units[] = "KMG";
	const char *unit;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*value = strtoull(text, &end, 0);
	if (errno)
		return false;
	if (!*end)
		return true;
	unit = strchr(units, *end);
	return unit && !end[1] &&
	       !__builtin_mul_overflow(*value,
				       1ULL << 10 * (unit - units + 1), value);
}

static bool parse_fidelity(const char *text, uint64_t *value)
{
	*value = !strcmp(text, "cycle");
	return *value || !strcmp(text, "fast");
}

static int set_property(struct tdma_properties *props, const char *word,
			struct tensordma_error *err)
{
	size_t len = strcspn(word, "=");
	const struct property *p;
	unsigned int i;
	uint64_t value;

	for (i = 0; i < PROPERTIES; i++)
		if (strlen(properties[i].name) == len &&
		    !strncmp(properties[i].name, word, len))
			break;
	if (i == PROPERTIES)
		return tdl_fail(err, -EINVAL, "property", TENSORDMA_NO_DIM,
				"no property \"%.*s\"", (int)len, word);
	p = &properties[i];
	word += len + (word[len] == '=');
	if (!(!strcmp(p->name, "fidelity") && parse_fidelity(word, &value)) &&
	    !parse_value(word, &value))
		return tdl_fail(err, -EINVAL, "property", TENSORDMA_NO_DIM,
				"%s: \"%s\" is no number", p->name, word);
	if (value < p->min || value > p->max)
		return tdl_fail(err, -EINVAL, "property", TENSORDMA_NO_DIM,
				"%s: %llu is not within %llu to %llu", p->name,
				(unsigned long long)value,
				(unsigned long long)p->min,
				(unsigned long long)p->max);
	*value_of(props, i) = value;
	return 0;
}

static int set_properties(struct tdma_properties *props,
			  const char *const *words, struct tensordma_error *err)
{
	int ret = 0;

	for (unsigned int i = 0; i < PROPERTIES; i++)
		*value_of(props, i) = properties[i].value;
	for (; words && *words && !ret; words++)
		ret = set_property(props, *words, err);
	return ret;
}

static bool sim_property(const struct tdl_backend *b, unsigned int index,
			 const char **name, uint64_t *value, const char **text)
{
	struct tdma_properties props = b->props;

	if (index >= PROPERTIES)
		return false;
	*name = properties[index].name;
	*value = *value_of(&props, index);
	*text = properties[index].text;
	return true;
}

/*
 * Life of the machine
 */

static void write32(struct tdl_backend *b, uint64_t reg, uint32_t value)
{
	tdma_core_reg_write(b->core, reg, value, 4);
}

static void write64(struct tdl_backend *b, uint64_t reg, uint64_t value)
{
	tdma_core_reg_write(b->core, reg, value, 8);
}

static void sim_close(struct tdl_backend *b)
{
	tdma_core_free(b->core);
	if (b->hbm)
		munmap(b->hbm, b->props.hbm_size);
	free(b->table);
	free(b->ring);
	free(b->records);
	free(b);
}

static void *zeroed(size_t align, size_t bytes)
{
	void *memory = aligned_alloc(align, bytes);

	if (memory)
		memset(memory, 0, bytes);
	return memory;
}

static int get_memory(struct tdl_backend *b)
{
	/* As much as is used of it */
	b->hbm = mmap(NULL, b->props.hbm_size, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (b->hbm == MAP_FAILED) {
		b->hbm = NULL;
		return -ENOMEM;
	}
	b->table = zeroed(RECORD_ALIGN, b->segments * sizeof(*b->table));
	b->ring = zeroed(sizeof(*b->ring), RING_SLOTS * sizeof(*b->ring));
	b->records = zeroed(RECORD_ALIGN, RING_SLOTS * sizeof(*b->records));
	return b->table && b->ring && b->records ? 0 : -ENOMEM;
}

/* Context 0 and queue 0, as a driver would do it */
static void set_up(struct tdl_backend *b)
{
	uint64_t q = TDMA_QUEUE_BASE;

	write64(b, TDMA_CONTEXT_BASE + TDMA_CONTEXT_TABLE, address(b->table));
	write32(b, TDMA_CONTEXT_BASE + TDMA_CONTEXT_COUNT, b->segments);
	write32(b, TDMA_REG_CONTROL, TDMA_CONTROL_ENABLE);
	write64(b, q + TDMA_QUEUE_RING, address(b->ring));
	write64(b, q + TDMA_QUEUE_RECORDS, address(b->records));
	write32(b, q + TDMA_QUEUE_RING_ORDER, RING_ORDER);
	write32(b, q + TDMA_QUEUE_CONTROL, TDMA_QCTL_ENABLE);
}

static int create(struct tdl_backend *b, struct tensordma_error *err)
{
	struct tdma_config config = { .props = b->props };
	const char *property;
	int ret;

	b->segments = b->props.segments < SEGMENTS ? b->props.segments :
						     SEGMENTS;
	/* The queue that we need; more is of no use here. */
	config.props.ring_order = RING_ORDER;
	ret = get_memory(b);
	if (ret)
		return ret;
	config.hbm = b->hbm;
	b->core = tdma_core_new(&config, &host_ops, b, &property);
	if (!b->core)
		return tdl_fail(err, -EINVAL, "property", TENSORDMA_NO_DIM,
				"property out of range: %s", property);
	set_up(b);
	return 0;
}

static int sim_open(struct tdl_backend **backend,
		    const struct tensordma_config *config,
		    struct tensordma_error *err)
{
	struct tdl_backend *b = calloc(1, sizeof(*b));
	int ret;

	if (!b)
		return -ENOMEM;
	ret = set_properties(&b->props, config->properties, err);
	if (!ret)
		ret = create(b, err);
	if (ret) {
		sim_close(b);
		return ret;
	}
	*backend = b;
	return 0;
}

static void sim_info(const struct tdl_backend *b, struct tensordma_info *info)
{
	struct tdma_check_limits limits = tdma_job_limits(b->core);

	*info = (struct tensordma_info) {
		.backend = "sim",
		.simulated = true,
		.cycle_accurate = b->props.fidelity == TDMA_FIDELITY_CYCLE,
		.max_dims = limits.dims,
		.max_elem_bytes = TDMA_MAX_ELEM_BYTES,
		.opcodes = limits.opcodes,
		.types = limits.types,
		.padding = limits.flags & TDMA_DESC_EXT,
		.threads = b->props.threads,
		.lanes = b->props.lanes,
		.request_ids = b->props.ids,
		.max_buffers = b->segments,
	};
}

/*
 * Memory and jobs
 */

static int sim_map(struct tdl_backend *b, void *addr, size_t length,
		   bool writable, uint32_t *segment)
{
	for (uint32_t i = 0; i < b->segments; i++) {
		uint32_t at = (b->next_segment + i) % b->segments;

		if (b->table[at].space != TDMA_SPACE_NONE)
			continue;
		b->table[at] = (struct tdma_segment) {
			.space = TDMA_SPACE_HOST,
			.flags = TDMA_SEG_READ |
				 (writable ? TDMA_SEG_WRITE : 0),
			.length = length,
			.base = address(addr),
		};
		b->next_segment = at + 1;
		*segment = at;
		return 0;
	}
	return -ENOSPC;
}

static void sim_unmap(struct tdl_backend *b, uint32_t segment)
{
	memset(&b->table[segment], 0, sizeof(b->table[segment]));
}

static void put(struct tdl_backend *b, const void *slot)
{
	memcpy(&b->ring[b->tail++ % RING_SLOTS], slot, sizeof(b->ring[0]));
}

/* A refusal comes later, with the record: it is the device that checks. */
static int sim_submit(struct tdl_backend *b, const struct tdl_slot *slot,
		      uint64_t *job, struct tdl_refusal *refusal)
{
	memset(refusal, 0, sizeof(*refusal));
	if (b->tail - b->head > RING_SLOTS - 2)
		return -EAGAIN;
	*job = b->tail;
	b->records[b->tail % RING_SLOTS] = (struct tdma_record) { 0 };
	put(b, &slot->desc);
	if (slot->desc.flags & TDMA_DESC_EXT)
		put(b, &slot->ext);
	write32(b, TDMA_DOORBELL_BASE, b->tail);
	return 0;
}

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* One quantum of each thread that has work. False: none has. */
static bool run_quantum(struct tdl_backend *b)
{
	uint32_t busy = b->kicked;

	b->kicked = 0;
	for (unsigned int i = 0; i < b->props.threads; i++)
		if (busy & 1U << i && tdma_core_run(b->core, i))
			b->kicked |= 1U << i;
	return busy;
}

static int sim_wait(struct tdl_backend *b, uint64_t job, int64_t deadline_ns,
		    uint64_t min_done, struct tdma_record *record)
{
	const struct tdma_record *r = &b->records[job % RING_SLOTS];
	bool ran = false;

	for (;;) {
		bool over = r->sequence == (uint32_t)job + 1 &&
			    r->status != TDMA_STATUS_PENDING;

		*record = *r;
		if (over) {
			bool ext = b->ring[job % RING_SLOTS].flags &
				   TDMA_DESC_EXT;

			b->head = (uint32_t)job + 1 + ext;
			return 0;
		}
		record->status = TDMA_STATUS_PENDING;
		if (min_done && record->dst_done >= min_done)
			return 0;
		/* Who only looks in moves it on, too: nobody else does. */
		if (ran && now() > deadline_ns)
			return -ETIME;
		if (!run_quantum(b))
			return -EIO;
		ran = true;
	}
}

static void tap(void *opaque, const struct tdma_trace_entry *entry)
{
	struct tdl_backend *b = opaque;

	b->trace(b->trace_arg, entry);
}

static void sim_trace(struct tdl_backend *b, unsigned int events,
		      tensordma_trace_fn *fn, void *arg)
{
	b->trace = fn;
	b->trace_arg = arg;
	for (unsigned int i = 0; i < b->props.threads; i++)
		tdma_trace_tap(&b->core->threads[i].trace, fn ? events : 0,
			       tap, b);
}

const struct tdl_backend_ops tdl_sim_backend = {
	.open = sim_open,
	.close = sim_close,
	.info = sim_info,
	.property = sim_property,
	.map = sim_map,
	.unmap = sim_unmap,
	.submit = sim_submit,
	.wait = sim_wait,
	.trace = sim_trace,
};
