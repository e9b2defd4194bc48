// SPDX-License-Identifier: MIT
/* The transpose of a small matrix; of Documentation/tools.md. */
#include <stdio.h>
#include <tensordma.h>

int main(void)
{
	char in[] = "abcdefghijkl", out[13] = "";
	struct tensordma_error err;
	struct tensordma *machine;
	struct tensordma_tensor src, dst, turned;
	struct tensordma_dtype u8;

	if (tensordma_open(&machine, NULL, &err))
		return fprintf(stderr, "%s\n", err.message), 1;
	tensordma_dtype_parse("u8", &u8);
	tensordma_tensor_init(&src, in, u8, 2, (int64_t[]) { 3, 4 }, NULL,
			      &err);
	tensordma_tensor_init(&dst, out, u8, 2, (int64_t[]) { 4, 3 }, NULL,
			      &err);
	tensordma_permute(&turned, &src, (int[]) { 1, 0 }, &err);
	if (tensordma_copy(machine, &dst, &turned, &err))
		return fprintf(stderr, "%s\n", err.message), 1;
	tensordma_close(machine);
	printf("%s -> %s\n", in, out);
	return 0;
}
