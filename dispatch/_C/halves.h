/* Floats of 16 bits: to float and back, rounded to the nearest, ties to even, as c10's. */
#ifndef DISPATCH_HALVES_H
#define DISPATCH_HALVES_H
#include <stdint.h>
#include <string.h>

static inline uint32_t dispatch_bits(float f) {
    uint32_t bits;
    memcpy(&bits, &f, 4);
    return bits;
}

static inline float dispatch_from_bits(uint32_t bits) {
    float f;
    memcpy(&f, &bits, 4);
    return f;
}

static inline float dispatch_from_bfloat16(uint16_t h) {
    return dispatch_from_bits((uint32_t)h << 16);
}

static inline uint16_t dispatch_to_bfloat16(float f) {
    uint32_t bits = dispatch_bits(f);
    if (f != f)
        return 0x7fc0;
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static inline float dispatch_from_float16(uint16_t h) {
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, magnitude = h & 0x7fff;
    if (magnitude >= 0x7c00)
        return dispatch_from_bits(sign | 0x7f800000u | (magnitude & 0x3ff) << 13);
    if (magnitude < 0x400)                       /* subnormal: units of 2^-24 */
        return dispatch_from_bits(sign | dispatch_bits((float)magnitude * 0x1p-24f));
    return dispatch_from_bits(sign | ((magnitude << 13) + (112u << 23)));
}

static inline uint16_t dispatch_to_float16(float f) {
    uint32_t bits = dispatch_bits(f), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000)
        return (uint16_t)(sign | 0x7e00);
    if (magnitude >= 0x477ff000)                 /* rounds to 65536 and beyond */
        return (uint16_t)(sign | 0x7c00);
    if (magnitude < 0x38800000)                  /* subnormal: the processor's addition rounds */
        return (uint16_t)(sign | (dispatch_bits(dispatch_from_bits(magnitude) + 0.5f) - 0x3f000000));
    return (uint16_t)(sign | ((magnitude + 0xfff + (magnitude >> 13 & 1) - (112u << 23)) >> 13));
}

#endif
