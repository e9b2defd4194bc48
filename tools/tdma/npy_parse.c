// SPDX-License-Identifier: GPL-2.0
/* tdma: the header of .npy files, parsed strictly. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "npy.h"

#define MAGIC		"\x93NUMPY"
#define MAGIC_BYTES	6
/* NumPy's own limit for headers that are not trusted */
#define MOST_HEADER	10000

struct parser {
	const unsigned char *text;
	size_t at;
	size_t end;
	struct npy_error *err;
};

static bool wrong(struct parser *p, size_t at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static bool wrong(struct parser *p, size_t at, const char *format, ...)
{
	va_list args;

	p->err->at = at;
	va_start(args, format);
	vsnprintf(p->err->text, sizeof(p->err->text), format, args);
	va_end(args);
	return false;
}

static void skip_space(struct parser *p)
{
	while (p->at < p->end && (p->text[p->at] == ' ' ||
				  p->text[p->at] == '\n'))
		p->at++;
}

/* Is @c next, behind spaces? Then it has been taken. */
static bool take(struct parser *p, char c)
{
	skip_space(p);
	if (p->at == p->end || p->text[p->at] != (unsigned char)c)
		return false;
	p->at++;
	return true;
}

static bool expect(struct parser *p, char c)
{
	return take(p, c) || wrong(p, p->at, "'%c' expected", c);
}

static bool take_word(struct parser *p, const char *word)
{
	size_t length = strlen(word);

	skip_space(p);
	if (p->end - p->at < length ||
	    memcmp(p->text + p->at, word, length))
		return false;
	p->at += length;
	return true;
}

/* A string without escapes */
static bool parse_string(struct parser *p, char *to, size_t room)
{
	size_t start, length;
	char quote;

	skip_space(p);
	start = p->at;
	quote = take(p, '"') ? '"' : '\'';
	if (quote == '\'' && !take(p, '\''))
		return wrong(p, p->at, "a string expected");
	length = 0;
	while (p->at < p->end && p->text[p->at] != (unsigned char)quote) {
		unsigned char c = p->text[p->at++];

		if (length + 1 == room || c == '\\' || c < ' ' || c > '~')
			return wrong(p, start, "not a string that belongs here");
		to[length++] = c;
	}
	to[length] = '\0';
	return expect(p, quote);
}

static bool parse_descr(struct parser *p, struct npy_header *h)
{
	struct tensordma_dtype dtype;
	size_t start;

	skip_space(p);
	start = p->at;
	if (p->at < p->end && p->text[p->at] == '[')
		return wrong(p, start, "records of several fields are not taken");
	if (!parse_string(p, h->descr, sizeof(h->descr)))
		return false;
	dtype = npy_dtype(h);
	h->item = tensordma_dtype_bytes(dtype);
	return h->item || wrong(p, start, "format '%s' is not taken", h->descr);
}

static bool parse_bool(struct parser *p, bool *value)
{
	*value = take_word(p, "True");
	return *value || take_word(p, "False") ||
	       wrong(p, p->at, "True or False expected");
}

static bool parse_size(struct parser *p, int64_t *size)
{
	size_t start;
	int64_t n = 0;

	skip_space(p);
	start = p->at;
	while (p->at < p->end && p->text[p->at] >= '0' &&
	       p->text[p->at] <= '9')
		if (__builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, p->text[p->at++] - '0', &n))
			return wrong(p, start, "a size beyond 63 bits");
	if (p->at == start)
		return wrong(p, start, "a size expected");
	*size = n;
	return true;
}

static bool parse_shape(struct parser *p, struct npy_header *h)
{
	if (!expect(p, '('))
		return false;
	h->ndim = 0;
	while (!take(p, ')')) {
		if (h->ndim == TENSORDMA_MAX_DIMS)
			return wrong(p, p->at, "more than %d dimensions",
				     TENSORDMA_MAX_DIMS);
		if (!parse_size(p, &h->shape[h->ndim++]))
			return false;
		/* (3) is a number, (3,) a shape. */
		if (!take(p, ',') && (h->ndim == 1 || !take(p, ')')))
			return wrong(p, p->at, "',' expected");
		if (p->text[p->at - 1] == ')')
			return true;
	}
	return true;
}

enum { KEY_DESCR = 1, KEY_FORTRAN = 2, KEY_SHAPE = 4, ALL_KEYS = 7 };

static bool parse_entry(struct parser *p, struct npy_header *h,
			unsigned int *seen)
{
	unsigned int key;
	char name[16];
	size_t start;

	skip_space(p);
	start = p->at;
	if (!parse_string(p, name, sizeof(name)))
		return false;
	key = !strcmp(name, "descr") ? KEY_DESCR :
	      !strcmp(name, "fortran_order") ? KEY_FORTRAN :
	      !strcmp(name, "shape") ? KEY_SHAPE : 0;
	if (!key || *seen & key)
		return wrong(p, start, key ? "'%s' a second time" :
			     "no entry '%s' is known", name);
	*seen |= key;
	if (!expect(p, ':'))
		return false;
	return key == KEY_DESCR ? parse_descr(p, h) :
	       key == KEY_FORTRAN ? parse_bool(p, &h->fortran) :
	       parse_shape(p, h);
}

static bool parse_dict(struct parser *p, struct npy_header *h)
{
	unsigned int seen = 0;
	size_t start = p->at;

	if (!expect(p, '{'))
		return false;
	while (!take(p, '}')) {
		if (!parse_entry(p, h, &seen))
			return false;
		if (!take(p, ',')) {
			if (!expect(p, '}'))
				return false;
			break;
		}
	}
	if (seen != ALL_KEYS)
		return wrong(p, start, "no entry '%s'", seen & KEY_DESCR ?
			     seen & KEY_SHAPE ? "fortran_order" : "shape" :
			     "descr");
	skip_space(p);
	return p->at == p->end || wrong(p, p->at, "more than a header");
}

/* Where the header is: behind magic, version and its length */
static bool find_header(struct parser *p, size_t length)
{
	const unsigned char *t = p->text;
	size_t header;

	if (length < MAGIC_BYTES + 4 || memcmp(t, MAGIC, MAGIC_BYTES))
		return wrong(p, 0, "not a .npy file");
	if (t[6] < 1 || t[6] > 3 || t[7])
		return wrong(p, 6, "version %u.%u is not known", t[6], t[7]);
	p->at = t[6] == 1 ? 10 : 12;
	if (length < p->at)
		return wrong(p, 8, "the file ends in the header's length");
	header = t[8] | t[9] << 8;
	if (t[6] > 1)
		header |= (size_t)t[10] << 16 | (size_t)t[11] << 24;
	if (header > MOST_HEADER)
		return wrong(p, 8, "a header of %zu bytes, at most %d are taken",
			     header, MOST_HEADER);
	if (header > length - p->at)
		return wrong(p, 8, "a header of %zu bytes, the file has %zu",
			     header, length - p->at);
	p->end = p->at + header;
	return true;
}

static bool check_size(struct parser *p, uint64_t file_bytes,
		       struct npy_header *h)
{
	uint64_t bytes = h->item;
	bool empty = false, fits = true;

	for (int i = 0; i < h->ndim; i++) {
		empty |= !h->shape[i];
		fits = fits && !__builtin_mul_overflow(bytes, h->shape[i],
						       &bytes);
	}
	if (empty)
		bytes = 0;
	else if (!fits)
		return wrong(p, h->data, "more elements than 64 bits can count");
	h->bytes = bytes;
	if (bytes != file_bytes - h->data)
		return wrong(p, h->data, "%llu bytes of data, the shape needs %llu",
			     (unsigned long long)(file_bytes - h->data),
			     (unsigned long long)bytes);
	return true;
}

bool npy_parse(const unsigned char *text, size_t length, uint64_t file_bytes,
	       struct npy_header *h, struct npy_error *err)
{
	struct parser p = { .text = text, .err = err };

	memset(h, 0, sizeof(*h));
	memset(err, 0, sizeof(*err));
	if (!find_header(&p, length) || !parse_dict(&p, h))
		return false;
	h->data = p.end;
	return check_size(&p, file_bytes, h);
}

/* Bytes of dates and texts: "M8", "S5", "U2"; 0: no such format */
static unsigned int text_bytes(const char *d)
{
	unsigned int bytes = 0;
	char kind = *d++;

	if (!kind || !strchr("mMSU", kind) || *d < '1' || *d > '9')
		return 0;
	while (*d >= '0' && *d <= '9' && bytes <= UINT16_MAX)
		bytes = 10 * bytes + (*d++ - '0');
	/* A unit of time may follow: "[ns]". */
	if (*d && (*d != '[' || !strchr("mM", kind) || d[strlen(d) - 1] != ']'))
		return 0;
	return kind == 'U' ? 4 * bytes : bytes;
}

/*
 * Formats that the library has no name for, those of other byte orders for one,
 * are moved by their size.
 */
struct tensordma_dtype npy_dtype(const struct npy_header *h)
{
	struct tensordma_dtype dtype = { 0 };
	char known[NPY_DESCR];
	size_t bytes;

	memcpy(known, h->descr, sizeof(known));
	if (!*known || !strchr("<>|=", *known))
		return dtype;
	if (!tensordma_dtype_parse(known, &dtype))
		return dtype;
	*known = '<';
	bytes = tensordma_dtype_parse(known, &dtype) ?
		text_bytes(h->descr + 1) : tensordma_dtype_bytes(dtype);
	dtype = (struct tensordma_dtype) { 0 };
	if (bytes && bytes <= UINT16_MAX)
		dtype = (struct tensordma_dtype) { TENSORDMA_OPAQUE, 8, bytes };
	return dtype;
}
