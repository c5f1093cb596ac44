/* float16 and bfloat16 from float32 and back: rounded to the nearest, ties to even, as c10's Half and BFloat16 do.

   Without a branch, so that loops over them vectorise at every level of processor that they are compiled for. Everything that
   computes 16-bit floats in float32 includes this. */
#ifndef DISPATCH_HALVES_H
#define DISPATCH_HALVES_H
#include <stdint.h>
#include <string.h>

#define HALVES static inline __attribute__((always_inline, unused))

HALVES uint32_t bits_of_f32(float x) { uint32_t u; memcpy(&u, &x, 4); return u; }
HALVES float f32_of_bits(uint32_t u) { float x; memcpy(&x, &u, 4); return x; }

HALVES float f32_of_bf16(uint16_t h) { return f32_of_bits((uint32_t)h << 16); }
HALVES uint16_t bf16_of_f32(float x)
{
    uint32_t u = bits_of_f32(x), rounded = (u + 0x7fffu + (u >> 16 & 1)) >> 16;
    return (uint16_t)(x != x ? 0x7fc0u : rounded);
}

HALVES float f32_of_f16(uint16_t h)
{
    uint32_t u = (uint32_t)(h & 0x7fffu) << 13, exponent = u & 0x0f800000u, n = u + 0x38000000u;
    uint32_t tiny = bits_of_f32(f32_of_bits(n + 0x00800000u) - f32_of_bits(0x38800000u));
    n += exponent == 0x0f800000u ? 0x38000000u : 0;
    n = exponent == 0 ? tiny : n;
    return f32_of_bits(n | (uint32_t)(h & 0x8000u) << 16);
}
HALVES uint16_t f16_of_f32(float x)
{
    uint32_t u = bits_of_f32(x), a = u & 0x7fffffffu;
    uint32_t large = a > 0x7f800000u ? 0x7e00u : 0x7c00u;
    uint32_t tiny = bits_of_f32(f32_of_bits(a) + 0.5f) - 0x3f000000u;
    uint32_t r = (a + 0xc8000fffu + (a >> 13 & 1)) >> 13;
    r = a < 0x38800000u ? tiny : r;
    r = a >= 0x47800000u ? large : r;
    return (uint16_t)(r | (u >> 16 & 0x8000u));
}
#endif
