/* SPDX-License-Identifier: GPL-2.0 */
/* tdma: what operations are told in words, as numbers. */
#ifndef TDMA_VALUES_H
#define TDMA_VALUES_H

#include "tool.h"

/* Python's rules for start, stop and step of a dimension of @size elements */
bool parse_slice(const char *text, int64_t size, int64_t *start,
		 int64_t *count, int64_t *step);

/* BEFORE:AFTER or one number for both */
bool parse_pair(const char *text, int64_t *pair);

/* "kernel=HxW,stride=...": one number is for both; a kernel there must be. */
bool parse_window(const char *text, struct tensordma_im2col *p);

/* --value in a format; a status */
int parse_value(const char *text, struct tensordma_dtype t,
		unsigned char *value);

#endif /* TDMA_VALUES_H */
