// SPDX-License-Identifier: MIT
/* Number formats by name. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tensordma.h"

struct format {
	uint8_t code;
	uint8_t bits;
	/* The first name is the one that is printed. */
	const char *names[4];
};

static const struct format formats[] = {
	{ TENSORDMA_INT, 8, { "i8", "int8", "i1", "s8" } },
	{ TENSORDMA_INT, 16, { "i16", "int16", "i2", "s16" } },
	{ TENSORDMA_INT, 32, { "i32", "int32", "i4", "s32" } },
	{ TENSORDMA_INT, 64, { "i64", "int64", "i8", "s64" } },
	{ TENSORDMA_UINT, 8, { "u8", "uint8", "u1" } },
	{ TENSORDMA_UINT, 16, { "u16", "uint16", "u2" } },
	{ TENSORDMA_UINT, 32, { "u32", "uint32", "u4" } },
	{ TENSORDMA_UINT, 64, { "u64", "uint64", "u8" } },
	{ TENSORDMA_FLOAT, 16, { "f16", "float16", "f2" } },
	{ TENSORDMA_FLOAT, 32, { "f32", "float32", "f4" } },
	{ TENSORDMA_FLOAT, 64, { "f64", "float64", "f8" } },
	{ TENSORDMA_FLOAT, 128, { "f128", "float128", "f16" } },
	{ TENSORDMA_BFLOAT, 16, { "bf16", "bfloat16" } },
	{ TENSORDMA_COMPLEX, 64, { "c64", "complex64", "c8" } },
	{ TENSORDMA_COMPLEX, 128, { "c128", "complex128", "c16" } },
	{ TENSORDMA_BOOL, 8, { "bool", "bool8", "b1" } },
	{ TENSORDMA_F8_E3M4, 8, { "f8e3m4", "float8_e3m4" } },
	{ TENSORDMA_F8_E4M3, 8, { "f8e4m3", "float8_e4m3" } },
	{ TENSORDMA_F8_E4M3B11FNUZ, 8, { "f8e4m3b11fnuz",
					 "float8_e4m3b11fnuz" } },
	{ TENSORDMA_F8_E4M3FN, 8, { "f8e4m3fn", "float8_e4m3fn" } },
	{ TENSORDMA_F8_E4M3FNUZ, 8, { "f8e4m3fnuz", "float8_e4m3fnuz" } },
	{ TENSORDMA_F8_E5M2, 8, { "f8e5m2", "float8_e5m2" } },
	{ TENSORDMA_F8_E5M2FNUZ, 8, { "f8e5m2fnuz", "float8_e5m2fnuz" } },
	{ TENSORDMA_F8_E8M0FNU, 8, { "f8e8m0fnu", "float8_e8m0fnu" } },
};

#define FORMATS	(sizeof(formats) / sizeof(formats[0]))
/* Names with an order mark are NumPy's; where the two differ these are [2]. */
#define NUMPY_NAME	2

static int find(const char *name, unsigned int first, unsigned int last,
		struct tensordma_dtype *dtype)
{
	for (size_t i = 0; i < FORMATS; i++)
		for (unsigned int n = first; n <= last; n++)
			if (formats[i].names[n] &&
			    !strcmp(formats[i].names[n], name)) {
				dtype->code = formats[i].code;
				dtype->bits = formats[i].bits;
				dtype->lanes = 1;
				return 0;
			}
	return -EINVAL;
}

/* V7: seven bytes of whatever it is */
static int parse_opaque(const char *digits, struct tensordma_dtype *dtype)
{
	char *end;
	unsigned long bytes;

	if (*digits < '1' || *digits > '9')
		return -EINVAL;
	bytes = strtoul(digits, &end, 10);
	if (*end || bytes > UINT16_MAX)
		return -EINVAL;
	dtype->code = TENSORDMA_OPAQUE;
	dtype->bits = 8;
	dtype->lanes = bytes;
	return 0;
}

int tensordma_dtype_parse(const char *name, struct tensordma_dtype *dtype)
{
	bool numpy = *name && strchr("<=|", *name);

	if (numpy)
		name++;
	if (*name == 'V')
		return parse_opaque(name + 1, dtype);
	if (numpy)
		return find(name, NUMPY_NAME, NUMPY_NAME, dtype);
	if (!find(name, 0, 1, dtype))
		return 0;
	return find(name, NUMPY_NAME, 3, dtype);
}

const char *tensordma_dtype_name(struct tensordma_dtype dtype)
{
	for (size_t i = 0; i < FORMATS; i++)
		if (formats[i].code == dtype.code &&
		    formats[i].bits == dtype.bits && dtype.lanes == 1)
			return formats[i].names[0];
	return dtype.code == TENSORDMA_OPAQUE ? "opaque" : "?";
}

size_t tensordma_dtype_bytes(struct tensordma_dtype dtype)
{
	size_t bits = (size_t)dtype.bits * dtype.lanes;

	return dtype.bits % 8 ? 0 : bits / 8;
}
