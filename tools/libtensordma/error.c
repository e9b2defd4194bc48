// SPDX-License-Identifier: MIT
/* Filling in struct tensordma_error. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <linux/tensordma_desc.h>

#include "error.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* A field of the descriptor, or, from 256 on, of the extension block */
struct field {
	unsigned int at;
	unsigned int bytes;
	unsigned int item;	/* of an array by dimension or axis, else 0 */
	const char *name;
};

#define FIELD(f)	{ offsetof(struct tdma_desc, f), \
			  sizeof(((struct tdma_desc *)0)->f), 0, #f }
#define ARRAY(f)	{ offsetof(struct tdma_desc, f), \
			  sizeof(((struct tdma_desc *)0)->f), \
			  sizeof(((struct tdma_desc *)0)->f[0]), #f }
#define EXT_AT(f)	(sizeof(struct tdma_desc) + \
			 offsetof(struct tdma_desc_ext, f))
#define EXT_FIELD(f)	{ EXT_AT(f), sizeof(((struct tdma_desc_ext *)0)->f), \
			  0, #f }
#define EXT_ARRAY(f)	{ EXT_AT(f), sizeof(((struct tdma_desc_ext *)0)->f), \
			  sizeof(((struct tdma_desc_ext *)0)->f[0]), #f }

static const struct field fields[] = {
	FIELD(version), FIELD(opcode), FIELD(ndims), FIELD(type),
	FIELD(flags), FIELD(elem_bytes), FIELD(src_segment),
	FIELD(dst_segment), FIELD(record_segment), FIELD(src_offset),
	FIELD(dst_offset), FIELD(record_offset), FIELD(total), FIELD(tag),
	ARRAY(steps), ARRAY(src_stride), ARRAY(dst_stride), FIELD(fill),
	FIELD(src_sync_interval), FIELD(dst_sync_interval),
	FIELD(src_sync_flag), FIELD(dst_sync_flag),
	EXT_FIELD(version), EXT_FIELD(naxes), EXT_FIELD(fill_bytes),
	EXT_FIELD(reserved0), EXT_ARRAY(axis_side), EXT_ARRAY(src_axis),
	EXT_ARRAY(dst_axis), EXT_ARRAY(src_coef), EXT_ARRAY(dst_coef),
	EXT_ARRAY(axis_start), EXT_ARRAY(axis_extent), EXT_FIELD(reserved1),
};

static const char *const rejections[] = {
	"unknown version", "opcode unknown or not offered",
	"flag unknown or not allowed here", "too many dimensions",
	"type or pattern length not valid here",
	"element size is 0, too large or unfit for the type",
	"more than 2^63 elements", "total beyond what the loop can reach",
	"sync interval or flag out of range", "field must be zero",
	"no such memory", "memory does not permit the access",
	"an element lies outside the memory", "not aligned to 64 bytes",
	"axis, coefficient or extent not valid", "throttle cannot be met",
};

static const char *const faults[] = {
	"memory refused an access", "poisoned data", "unexpected response",
	"nothing moved for too long",
};

int tdl_fail(struct tensordma_error *err, int code, const char *field, int dim,
	     const char *format, ...)
{
	va_list args;

	if (!err)
		return code;
	memset(err, 0, sizeof(*err));
	err->code = code;
	err->dim = dim;
	err->descriptor = -1;
	snprintf(err->field, sizeof(err->field), "%s", field);
	va_start(args, format);
	vsnprintf(err->message, sizeof(err->message), format, args);
	va_end(args);
	return code;
}

static const char *status_text(unsigned int status)
{
	if (status == TDMA_STATUS_ABORTED)
		return "ended before its time";
	if (status >= TDMA_STATUS_FAULT &&
	    status - TDMA_STATUS_FAULT < ARRAY_SIZE(faults))
		return faults[status - TDMA_STATUS_FAULT];
	if (status >= TDMA_STATUS_REJECTED &&
	    status - TDMA_STATUS_REJECTED < ARRAY_SIZE(rejections))
		return rejections[status - TDMA_STATUS_REJECTED];
	return "unknown status";
}

static const struct field *find_field(unsigned int at)
{
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (at >= fields[i].at && at < fields[i].at + fields[i].bytes)
			return &fields[i];
	return NULL;
}

int tdl_fail_status(struct tensordma_error *err, int code, long descriptor,
		    unsigned int status, unsigned int field, unsigned int dim,
		    unsigned int side)
{
	const struct field *f = status >= TDMA_STATUS_REJECTED &&
		status < TDMA_STATUS_FAULT ? find_field(field) : NULL;
	const char *where = side == TDMA_SIDE_SRC ? ", source" :
		side == TDMA_SIDE_DST ? ", destination" : "";
	const char *name = f ? f->name : "";
	int number = dim == TDMA_DIM_NONE ? TENSORDMA_NO_DIM : (int)dim;
	char place[48] = "";

	if (f && f->item)
		snprintf(place, sizeof(place), "%s[%u]: ", name,
			 (field - f->at) / f->item);
	else if (f)
		snprintf(place, sizeof(place), "%s: ", name);
	tdl_fail(err, code, name, number, "descriptor %ld: %s%s%s", descriptor,
		 place, status_text(status), where);
	if (err) {
		err->descriptor = descriptor;
		err->status = status;
	}
	return code;
}
