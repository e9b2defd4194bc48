/* SPDX-License-Identifier: MIT */
/*
 * tensordma core: adding in place.
 *
 * Integers wrap. Floating point rounds to nearest, ties to even, once, at the
 * width of the format: a 16-bit sum is computed in 32 bits first, which has
 * more than twice as many significant bits plus two, so rounding twice gives
 * what rounding once would. Subnormals are kept. Every NaN that comes out is
 * the positive quiet one without payload, so that the result does not depend
 * on the host.
 */
#include <string.h>
#include "dma/tdma_engine.h"

static float float_of(uint32_t bits)
{
    float f;

    memcpy(&f, &bits, sizeof(f));
    return f;
}

static uint32_t bits_of(float f)
{
    uint32_t bits;

    memcpy(&bits, &f, sizeof(bits));
    return bits;
}

/* @value >> @shift, rounded to nearest even; 0 < shift < 32 */
static uint32_t shift_round(uint32_t value, unsigned shift)
{
    uint32_t half = 1U << (shift - 1);
    uint32_t odd = value >> shift & 1;

    return (value + half - 1 + odd) >> shift;
}

enum {
    F32_MANTISSA = 23,
    F16_MANTISSA = 10,
    F16_DROP = F32_MANTISSA - F16_MANTISSA,
    F16_BIAS_GAP = 127 - 15,
};

#define F32_SIGN 0x80000000U
#define F32_INF 0x7f800000U
#define F32_HIDDEN 0x00800000U
#define F32_FRACTION 0x007fffffU
#define F16_INF 0x7c00U
#define F16_QUIET 0x7e00U
#define BF16_QUIET 0x7fc0U
#define F32_QUIET 0x7fc00000U
/* Smallest 32-bit pattern that rounds to a 16-bit infinity: 65520 */
#define F16_OVERFLOW 0x477ff000U
/* Smallest normal 16-bit number, 2^-14 */
#define F16_NORMAL 0x38800000U

static uint32_t f16_to_f32(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16;
    uint32_t rest = h & 0x7fff;

    if (rest >= F16_INF) {
        return sign | F32_INF | (rest & 0x3ff) << F16_DROP;
    }
    if (rest >= 0x400) {
        return sign | (rest + (F16_BIAS_GAP << F16_MANTISSA)) << F16_DROP;
    }
    /* Subnormal: a multiple of 2^-24, exact in 32 bits */
    return sign | bits_of((float)rest * 0x1p-24f);
}

static uint16_t f32_to_f16(uint32_t bits)
{
    uint16_t sign = bits >> 16 & 0x8000;
    uint32_t rest = bits & ~F32_SIGN;
    unsigned exponent = rest >> F32_MANTISSA;

    if (rest > F32_INF) {
        return F16_QUIET;
    }
    if (rest >= F16_OVERFLOW) {
        return sign | F16_INF;
    }
    if (rest >= F16_NORMAL) {
        rest = shift_round(rest, F16_DROP);
        return sign | (rest - (F16_BIAS_GAP << F16_MANTISSA));
    }
    if (exponent < F16_BIAS_GAP - F16_MANTISSA) {
        return sign;            /* below half of the smallest subnormal */
    }
    return sign | shift_round((rest & F32_FRACTION) | F32_HIDDEN,
                              F16_DROP + F16_BIAS_GAP + 1 - exponent);
}

static uint16_t add_f16(uint16_t a, uint16_t b)
{
    return f32_to_f16(bits_of(float_of(f16_to_f32(a)) +
                              float_of(f16_to_f32(b))));
}

static uint16_t f32_to_bf16(uint32_t bits)
{
    if ((bits & ~F32_SIGN) > F32_INF) {
        return BF16_QUIET;
    }
    return shift_round(bits & ~F32_SIGN, 16) | (bits >> 16 & 0x8000);
}

static uint16_t add_bf16(uint16_t a, uint16_t b)
{
    return f32_to_bf16(bits_of(float_of((uint32_t)a << 16) +
                               float_of((uint32_t)b << 16)));
}

static uint32_t add_f32(uint32_t a, uint32_t b)
{
    uint32_t sum = bits_of(float_of(a) + float_of(b));

    return (sum & ~F32_SIGN) > F32_INF ? F32_QUIET : sum;
}

static uint16_t add_s16(uint16_t a, uint16_t b)
{
    return a + b;
}

static uint32_t add_s32(uint32_t a, uint32_t b)
{
    return a + b;
}

#define ADD_LOOP(name, type)                                                \
    static void loop_##name(uint8_t *dst, const uint8_t *src, size_t count) \
    {                                                                       \
        size_t i;                                                           \
                                                                            \
        for (i = 0; i < count; i++) {                                       \
            type a, b;                                                      \
                                                                            \
            memcpy(&a, dst + i * sizeof(a), sizeof(a));                     \
            memcpy(&b, src + i * sizeof(b), sizeof(b));                     \
            a = add_##name(a, b);                                           \
            memcpy(dst + i * sizeof(a), &a, sizeof(a));                     \
        }                                                                   \
    }

ADD_LOOP(s16, uint16_t)
ADD_LOOP(s32, uint32_t)
ADD_LOOP(f16, uint16_t)
ADD_LOOP(bf16, uint16_t)
ADD_LOOP(f32, uint32_t)

void tdma_accumulate(unsigned type, void *dst, const void *src, size_t count)
{
    switch (type) {
    case TDMA_TYPE_S16:
        loop_s16(dst, src, count);
        break;
    case TDMA_TYPE_S32:
        loop_s32(dst, src, count);
        break;
    case TDMA_TYPE_F16:
        loop_f16(dst, src, count);
        break;
    case TDMA_TYPE_BF16:
        loop_bf16(dst, src, count);
        break;
    case TDMA_TYPE_F32:
        loop_f32(dst, src, count);
        break;
    }
}
