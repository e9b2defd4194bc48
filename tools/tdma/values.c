// SPDX-License-Identifier: GPL-2.0
/* tdma: what operations are told in words, as numbers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "values.h"

static int64_t clamp(int64_t n, int64_t lo, int64_t hi)
{
	return n < lo ? lo : n > hi ? hi : n;
}

/* One number of a slice; absent if there is nothing before ':' or the end */
static bool slice_part(const char **at, int64_t *number, bool *given)
{
	char *end;

	errno = 0;
	*number = strtoll(*at, &end, 0);
	*given = end != *at;
	*at = end;
	return !errno && (!*end || *end == ':');
}

bool parse_slice(const char *text, int64_t size, int64_t *start,
		 int64_t *count, int64_t *step)
{
	bool given[3] = { false };
	int64_t part[3] = { 0, 0, 1 };
	int64_t lo, hi;
	int n = 0;

	do {
		text += n && *text == ':';
		if (n == 3 || !slice_part(&text, &part[n], &given[n]))
			return false;
		n++;
	} while (*text == ':');
	if (n == 1) {		/* one element */
		*start = part[0] < 0 ? part[0] + size : part[0];
		*count = 1;
		*step = 1;
		return given[0];
	}
	*step = given[2] ? part[2] : 1;
	if (!*step || *step == INT64_MIN)
		return false;
	lo = *step < 0 ? -1 : 0;
	hi = *step < 0 ? size - 1 : size;
	for (int i = 0; i < 2; i++) {
		if (part[i] < 0)
			part[i] = part[i] < -size ? lo : part[i] + size;
		part[i] = clamp(part[i], lo, hi);
	}
	*start = given[0] ? part[0] : *step < 0 ? hi : lo;
	lo = given[1] ? part[1] : *step < 0 ? lo : hi;
	if (*step < 0)
		*count = *start > lo ? (*start - lo - 1) / -*step + 1 : 0;
	else
		*count = lo > *start ? (lo - *start - 1) / *step + 1 : 0;
	return true;
}

static bool float_bits(double number, struct tensordma_dtype t, void *to)
{
	float single = number;
	uint32_t bits;
	_Float16 half = number;

	memcpy(&bits, &single, 4);
	switch (t.code << 8 | t.bits) {
	case TENSORDMA_FLOAT << 8 | 16:
		memcpy(to, &half, 2);
		return true;
	case TENSORDMA_FLOAT << 8 | 32:
		memcpy(to, &single, 4);
		return true;
	case TENSORDMA_FLOAT << 8 | 64:
		memcpy(to, &number, 8);
		return true;
	case TENSORDMA_BFLOAT << 8 | 16:
		bits = number != number ? bits >> 16 | 0x40 :
		       (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
		memcpy(to, &bits, 2);
		return true;
	}
	return false;
}

/* Does a number fit into an integer format? */
static bool fits(struct tensordma_dtype t, int64_t integer)
{
	if (t.bits >= 64)
		return t.code == TENSORDMA_INT || integer >= 0;
	if (t.code == TENSORDMA_INT)
		return integer >= -(1LL << (t.bits - 1)) &&
		       integer < 1LL << (t.bits - 1);
	return integer >= 0 && integer < 1LL << t.bits;
}

int parse_value(const char *text, struct tensordma_dtype t, unsigned char *value)
{
	int64_t integer;
	double number;
	char *end;

	number = strtod(text, &end);
	if (end == text || *end)
		return complain(EXIT_USAGE, "--value %s: not a number",
				text);
	if (t.lanes == 1 && float_bits(number, t, value))
		return EXIT_OK;
	if (t.lanes != 1 || t.bits > 64 ||
	    (t.code != TENSORDMA_INT && t.code != TENSORDMA_UINT &&
	     t.code != TENSORDMA_BOOL))
		return complain(EXIT_USAGE, "--value: not for %s, only 0",
				tensordma_dtype_name(t));
	if (!parse_number(text, &integer) || !fits(t, integer))
		return complain(EXIT_USAGE, "--value %s: not a %s", text,
				tensordma_dtype_name(t));
	memcpy(value, &integer, t.bits / 8);
	return EXIT_OK;
}

bool parse_pair(const char *text, int64_t *pair)
{
	int n = parse_numbers(text, ':', pair, 2);

	if (n == 1)
		pair[1] = pair[0];
	return n > 0;
}

bool parse_window(const char *text, struct tensordma_im2col *p)
{
	static const char *const names[] = { "kernel=", "stride=", "dilation=",
					     "pad=" };
	int64_t *const to[] = { p->kernel, p->stride, p->dilation,
				p->pad_before };
	char *copy = strdup(text), *word, *rest = copy;
	bool ok = true;

	while (ok && (word = strsep(&rest, ","))) {
		int n = 0;

		ok = false;
		for (size_t i = 0; i < ARRAY_SIZE(names) && !ok; i++) {
			size_t len = strlen(names[i]);

			if (strncmp(word, names[i], len))
				continue;
			n = parse_numbers(word + len, 'x', to[i], 2);
			if (n == 1)
				to[i][1] = to[i][0];
			ok = n > 0;
		}
	}
	free(copy);
	memcpy(p->pad_after, p->pad_before, sizeof(p->pad_after));
	return ok && p->kernel[0];
}
