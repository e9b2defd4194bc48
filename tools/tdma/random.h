/* SPDX-License-Identifier: GPL-2.0 */
/* tdma: bytes that look random and are the same for the same seed. */
#ifndef TDMA_RANDOM_BYTES_H
#define TDMA_RANDOM_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* splitmix64, little endian */
static inline void random_fill(uint64_t seed, void *to, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += 8) {
		uint64_t z = seed += 0x9e3779b97f4a7c15ULL;

		z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
		z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
		z ^= z >> 31;
		memcpy((char *)to + i, &z, bytes - i < 8 ? bytes - i : 8);
	}
}

#endif /* TDMA_RANDOM_BYTES_H */
