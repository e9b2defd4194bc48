// SPDX-License-Identifier: GPL-2.0
/* tdma: names of the numbers in descriptors, records and trace entries. */
#include <string.h>
#include <linux/tensordma_desc.h>

#include "names.h"

const char *const opcode_names[] = {
	"nop", "copy", "memset", "accumulate", "read", NULL,
};

const char *const type_names[] = {
	"", "i16", "i32", "f16", "bf16", "f32", NULL,
};

const char *const request_names[] = {
	"null", "read", "discard", "write", "accumulate", "memset", "add_fill",
	NULL,
};

const char *const stall_names[] = {
	"backpressure", "throttle", "ids", NULL,
};

static const char *const rejections[] = {
	"BAD_VERSION", "BAD_OPCODE", "BAD_FLAGS", "BAD_NDIMS", "BAD_TYPE",
	"BAD_ELEM", "BAD_STEPS", "BAD_TOTAL", "BAD_SYNC", "BAD_RESERVED",
	"BAD_SEGMENT", "BAD_ACCESS", "BAD_EXTENT", "BAD_ALIGN", "BAD_AXIS",
	"BAD_THROTTLE", NULL,
};

static const char *const faults[] = {
	"BUS_ERROR", "POISONED", "BAD_RESPONSE", "TIMEOUT", NULL,
};

static const char *const ends[] = { "PENDING", "OK", "ABORTED", NULL };

const char *name_of(const char *const *names, unsigned int number)
{
	for (unsigned int i = 0; names[i]; i++)
		if (i == number)
			return names[i];
	return "?";
}

int number_of(const char *const *names, const char *name)
{
	for (int i = 0; names[i]; i++)
		if (*name && !strcmp(names[i], name))
			return i;
	return -1;
}

const char *status_name(unsigned int status)
{
	if (status >= TDMA_STATUS_FAULT)
		return name_of(faults, status - TDMA_STATUS_FAULT);
	if (status >= TDMA_STATUS_REJECTED)
		return name_of(rejections, status - TDMA_STATUS_REJECTED);
	return name_of(ends, status);
}
