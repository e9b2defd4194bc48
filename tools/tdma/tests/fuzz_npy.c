// SPDX-License-Identifier: GPL-2.0
/* What the parser of .npy headers makes of anything. */
#include <stdlib.h>
#include <string.h>

#include "npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct npy_header h;
	struct npy_error err;
	uint64_t elements = 1;

	if (!npy_parse(data, size, size, &h, &err)) {
		if (err.at > size || !*err.text)
			abort();
		return 0;
	}
	/* What is accepted holds together. */
	if (h.data > size || h.bytes != size - h.data || !h.item)
		abort();
	for (int i = 0; i < h.ndim; i++)
		elements *= h.shape[i];
	if (elements * h.item != h.bytes)
		abort();
	return 0;
}
