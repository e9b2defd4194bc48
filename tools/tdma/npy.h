/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tdma: NumPy's .npy files, versions 1.0 to 3.0. Only arrays of one plain
 * format; nothing in a header is believed before it is checked.
 */
#ifndef TDMA_NPY_H
#define TDMA_NPY_H

#include <stddef.h>
#include "tensordma.h"

/* Text of a format that NumPy writes, "<f4" */
#define NPY_DESCR	16

struct npy_header {
	char descr[NPY_DESCR];
	bool fortran;
	int ndim;
	int64_t shape[TENSORDMA_MAX_DIMS];
	size_t item;		/* bytes */
	size_t data;		/* where elements begin */
	size_t bytes;		/* of all elements */
};

/* What is wrong, and at which byte of the file */
struct npy_error {
	size_t at;
	char text[96];
};

/*
 * Understand the start of a file: @length bytes of @file_bytes. Either may be
 * anything; the header must be within @length.
 */
bool npy_parse(const unsigned char *text, size_t length, uint64_t file_bytes,
	       struct npy_header *h, struct npy_error *err);

/* The format as the library knows it: of one size if not of one name */
struct tensordma_dtype npy_dtype(const struct npy_header *h);

struct npy_array {
	struct npy_header header;
	struct tensordma_tensor tensor;
	void *memory;
};

/*
 * EXIT_OK, or a status, with the message on standard error. @quiet: no progress
 * even on a terminal
 */
int npy_read(const char *path, struct npy_array *array, bool quiet);
void npy_free(struct npy_array *array);
/*
 * Write a row major tensor. The file appears when it is complete, or not at
 * all. @descr NULL: by the tensor's format.
 */
int npy_write(const char *path, const struct tensordma_tensor *t,
	      const char *descr, bool quiet);

#endif /* TDMA_NPY_H */
