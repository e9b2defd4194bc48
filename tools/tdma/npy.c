// SPDX-License-Identifier: GPL-2.0
/* tdma: .npy files, read and written. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "npy.h"
#include "progress.h"
#include "tool.h"

/* Header and what precedes it, at most */
#define HEAD_BYTES	(10000 + 12)
#define ALIGN	64
#define CHUNK	(4UL << 20)

static int read_head(const char *path, FILE *file, struct npy_header *h)
{
	unsigned char *head = malloc(HEAD_BYTES);
	struct npy_error err;
	struct stat st;
	size_t length;
	bool ok;

	if (!head)
		return complain(EXIT_FAILED, "out of memory");
	length = fread(head, 1, HEAD_BYTES, file);
	if (ferror(file) || fstat(fileno(file), &st)) {
		free(head);
		return complain(EXIT_INPUT, "%s: %s", path, strerror(errno));
	}
	ok = npy_parse(head, length, st.st_size, h, &err);
	free(head);
	return ok ? EXIT_OK : complain(EXIT_INPUT, "%s: byte %zu: %s", path,
				       err.at, err.text);
}

static int read_data(const char *path, FILE *file, struct npy_array *a,
		     bool quiet)
{
	size_t bytes = a->header.bytes, done = 0, got = 1;
	struct progress progress;

	a->memory = get_memory(bytes);
	if (!a->memory)
		return complain(EXIT_INPUT, "%s: no memory for %zu bytes", path,
				bytes);
	if (fseek(file, a->header.data, SEEK_SET))
		return complain(EXIT_INPUT, "%s: %s", path, strerror(errno));
	progress_begin(&progress, "reading", !quiet);
	while (done < bytes && got) {
		got = fread((char *)a->memory + done, 1,
			    bytes - done < CHUNK ? bytes - done : CHUNK, file);
		done += got;
		progress_bytes(&progress, done, bytes);
	}
	progress_end(&progress);
	return done == bytes ? EXIT_OK :
	       complain(EXIT_INPUT, "%s: %s", path, ferror(file) ?
			strerror(errno) : "the file became shorter");
}

/* Column major: the strides of the transposed array, turned round */
static int make_tensor(const char *path, struct npy_array *a)
{
	const struct npy_header *h = &a->header;
	int64_t strides[TENSORDMA_MAX_DIMS], stride = 1;
	struct tensordma_error err;

	for (int i = 0; i < h->ndim; i++) {
		strides[i] = stride;
		if (h->bytes)
			stride *= h->shape[i];
	}
	if (tensordma_tensor_init(&a->tensor, a->memory, npy_dtype(h), h->ndim,
				  h->shape, h->fortran ? strides : NULL, &err))
		return complain(EXIT_INPUT, "%s: %s", path, err.message);
	return EXIT_OK;
}

int npy_read(const char *path, struct npy_array *a, bool quiet)
{
	FILE *file = fopen(path, "rb");
	int status;

	memset(a, 0, sizeof(*a));
	if (!file)
		return complain(EXIT_INPUT, "%s: %s", path, strerror(errno));
	status = read_head(path, file, &a->header);
	if (!status)
		status = read_data(path, file, a, quiet);
	if (!status)
		status = make_tensor(path, a);
	fclose(file);
	if (status)
		npy_free(a);
	return status;
}

void npy_free(struct npy_array *a)
{
	free(a->memory);
	a->memory = NULL;
}

/* NumPy's name of a format */
static void descr_of(struct tensordma_dtype t, char *descr)
{
	size_t bytes = tensordma_dtype_bytes(t);
	char kind = 'V';

	switch (t.lanes == 1 ? t.code : TENSORDMA_OPAQUE) {
	case TENSORDMA_INT:
		kind = 'i';
		break;
	case TENSORDMA_UINT:
		kind = 'u';
		break;
	case TENSORDMA_FLOAT:
		kind = 'f';
		break;
	case TENSORDMA_COMPLEX:
		kind = 'c';
		break;
	case TENSORDMA_BOOL:
		kind = 'b';
		break;
	}
	snprintf(descr, NPY_DESCR, "%c%c%zu", bytes == 1 || kind == 'V' ? '|' :
		 '<', kind, bytes);
}

static bool write_head(FILE *file, const struct tensordma_tensor *t,
		       const char *descr)
{
	char head[TENSORDMA_MAX_DIMS * 22 + 128], of_type[NPY_DESCR];
	size_t length, whole;

	descr_of(t->dtype, of_type);
	length = snprintf(head, sizeof(head),
			  "{'descr': '%s', 'fortran_order': False, 'shape': %s, }",
			  descr ? descr : of_type,
			  shape_text(t->ndim, t->shape));
	whole = (10 + length + 1 + ALIGN - 1) / ALIGN * ALIGN;
	return fprintf(file, "\x93NUMPY%c%c%c%c%s%*s\n", 1, 0,
		       (int)((whole - 10) & 0xff), (int)((whole - 10) >> 8),
		       head, (int)(whole - 10 - length - 1), "") ==
	       (int)whole;
}

static bool write_all(FILE *file, const struct tensordma_tensor *t,
		      const char *descr, bool quiet)
{
	size_t bytes = tensordma_elements(t) * tensordma_dtype_bytes(t->dtype);
	size_t done = 0, part;
	struct progress progress;
	bool ok = write_head(file, t, descr);

	progress_begin(&progress, "writing", !quiet);
	for (; done < bytes && ok; done += part) {
		part = bytes - done < CHUNK ? bytes - done : CHUNK;
		ok = fwrite((char *)t->data + done, 1, part, file) == part;
		progress_bytes(&progress, done + part, bytes);
	}
	progress_end(&progress);
	return ok && !fflush(file);
}

int npy_write(const char *path, const struct tensordma_tensor *t,
	      const char *descr, bool quiet)
{
	char *part;
	FILE *file;
	mode_t mask;
	int fd, status = EXIT_OK;

	if (asprintf(&part, "%s.XXXXXX", path) < 0)
		return complain(EXIT_FAILED, "out of memory");
	fd = mkstemp(part);
	file = fd < 0 ? NULL : fdopen(fd, "wb");
	mask = umask(0);
	umask(mask);
	if (!file || !write_all(file, t, descr, quiet) || fchmod(fd, 0666 & ~mask) ||
	    rename(part, path)) {
		status = complain(EXIT_OUTPUT, "%s: %s", path,
				  strerror(errno));
		if (fd >= 0)
			unlink(part);
	}
	if (file)
		fclose(file);
	else if (fd >= 0)
		close(fd);
	free(part);
	return status;
}
