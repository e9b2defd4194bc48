/* SPDX-License-Identifier: MIT */
/*
 * tensordma core, fast engine: planes of small units, and the same units
 * interleaved.
 *
 * A group is one row of each plane, or as many rows interleaved. A row of
 * either kind is put together from bytes of all rows of the other: one byte
 * shuffle each, which leaves zeros where a byte comes from elsewhere.
 */
#include <string.h>
#include "dma/fast_zip.h"

#ifdef __x86_64__

#include <tmmintrin.h>

enum { FROM_ELSEWHERE = 0x80 };

bool fast_zip_init(struct fast_zip *zip, size_t unit_bytes, unsigned planes,
                   bool interleave)
{
    unsigned row, byte, shift = __builtin_ctzl(unit_bytes);

    if (planes < FAST_ZIP_MIN || planes > FAST_ZIP_MAX ||
        unit_bytes != 1UL << shift || unit_bytes >= FAST_ZIP_ROW ||
        !__builtin_cpu_supports("ssse3")) {
        return false;
    }
    zip->planes = planes;
    zip->interleave = interleave;
    memset(zip->mask, FROM_ELSEWHERE, sizeof(zip->mask));
    for (row = 0; row < planes; row++) {
        for (byte = 0; byte < FAST_ZIP_ROW; byte++) {
            unsigned unit = (byte >> shift) * planes + row;
            unsigned at = (unit << shift) + (byte & (unit_bytes - 1));
            unsigned group = at / FAST_ZIP_ROW;

            at %= FAST_ZIP_ROW;
            if (interleave) {
                zip->mask[group][row][at] = byte;
            } else {
                zip->mask[row][group][byte] = at;
            }
        }
    }
    return true;
}

/* How rows of one side lie: within a group, and from group to group */
struct rows {
    int64_t row;
    int64_t group;
};

/* With @planes known the loops over rows unroll, and masks are registers. */
static inline __attribute__((always_inline, target("ssse3")))
void move_groups(const struct fast_zip *zip, const unsigned planes,
                 uint64_t groups, uint8_t *dst, struct rows to,
                 const uint8_t *src, struct rows from)
{
    __m128i mask[FAST_ZIP_MAX][FAST_ZIP_MAX], in[FAST_ZIP_MAX], out;
    unsigned i, k;

    memcpy(mask, zip->mask, sizeof(mask));
    for (; groups; groups--, dst += to.group, src += from.group) {
        _Pragma("GCC unroll 4")
        for (k = 0; k < planes; k++) {
            memcpy(&in[k], src + (int64_t)k * from.row, FAST_ZIP_ROW);
        }
        _Pragma("GCC unroll 4")
        for (i = 0; i < planes; i++) {
            out = _mm_shuffle_epi8(in[0], mask[i][0]);
            _Pragma("GCC unroll 4")
            for (k = 1; k < planes; k++) {
                out |= _mm_shuffle_epi8(in[k], mask[i][k]);
            }
            memcpy(dst + (int64_t)i * to.row, &out, FAST_ZIP_ROW);
        }
    }
}

__attribute__((target("ssse3")))
void fast_zip_move(const struct fast_zip *zip, uint64_t rows, int64_t plane,
                   uint8_t *dst, const uint8_t *src)
{
    struct rows planar = { plane, FAST_ZIP_ROW };
    struct rows zipped = { FAST_ZIP_ROW, FAST_ZIP_ROW * zip->planes };
    struct rows to = zip->interleave ? zipped : planar;
    struct rows from = zip->interleave ? planar : zipped;

    switch (zip->planes) {
    case 2:
        move_groups(zip, 2, rows, dst, to, src, from);
        break;
    case 3:
        move_groups(zip, 3, rows, dst, to, src, from);
        break;
    default:
        move_groups(zip, 4, rows, dst, to, src, from);
    }
}

#else

bool fast_zip_init(struct fast_zip *zip, size_t unit_bytes, unsigned planes,
                   bool interleave)
{
    (void)zip;
    (void)unit_bytes;
    (void)planes;
    (void)interleave;
    return false;
}

void fast_zip_move(const struct fast_zip *zip, uint64_t rows, int64_t plane,
                   uint8_t *dst, const uint8_t *src)
{
    (void)zip;
    (void)rows;
    (void)plane;
    (void)dst;
    (void)src;
}

#endif
