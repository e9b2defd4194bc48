/* SPDX-License-Identifier: MIT */
/* Filling in struct tensordma_error. */
#ifndef TDL_ERROR_H
#define TDL_ERROR_H

#include "tensordma.h"

/* Fill in @err, if there is one, and return @code. @dim may be NO_DIM. */
int tdl_fail(struct tensordma_error *err, int code, const char *field, int dim,
	     const char *format, ...) __attribute__((format(printf, 5, 6)));

/* A refusal by a check of descriptors: status, field and dimension in words */
int tdl_fail_status(struct tensordma_error *err, int code, long descriptor,
		    unsigned int status, unsigned int field, unsigned int dim,
		    unsigned int side);

#endif /* TDL_ERROR_H */
