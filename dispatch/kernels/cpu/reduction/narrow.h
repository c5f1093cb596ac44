/* Extremes of integers of 8 to 32 bits and of 16-bit floats, in their own type: a vector holds four to thirty-two of them. What is
   read and written lies without gaps, as [outer, n, inner] and [outer, inner]. `fold.h` has the loops for everything else. */
#ifndef DISPATCH_NARROW_H
#define DISPATCH_NARROW_H
#include <stdint.h>
#include <string.h>

#include "rows.h"

#pragma GCC push_options
#pragma GCC optimize("O3")

#define NARROW_EXTREME(NAME, T, BETTER) \
    WIDEST static void NAME(const void *given, void *made, int64_t outer, int64_t n, int64_t inner) \
    { \
        const T *x = given; \
        T *to = made; \
        for (int64_t i = 0; i < outer; i++, x += n * inner, to += inner) { \
            if (inner == 1) { \
                T best = x[0]; \
                for (int64_t k = 1; k < n; k++) \
                    best = x[k] BETTER best ? x[k] : best; \
                to[0] = best; \
                continue; \
            } \
            memcpy(to, x, (size_t)inner * sizeof(T)); \
            for (int64_t k = 1; k < n; k++) { \
                const T *restrict row = x + k * inner; \
                T *restrict best = to; \
                for (int64_t j = 0; j < inner; j++) \
                    best[j] = row[j] BETTER best[j] ? row[j] : best[j]; \
            } \
        } \
    }
NARROW_EXTREME(narrow_max_u8, uint8_t, >)
NARROW_EXTREME(narrow_max_i8, int8_t, >)
NARROW_EXTREME(narrow_max_i16, int16_t, >)
NARROW_EXTREME(narrow_max_i32, int32_t, >)
NARROW_EXTREME(narrow_min_u8, uint8_t, <)
NARROW_EXTREME(narrow_min_i8, int8_t, <)
NARROW_EXTREME(narrow_min_i16, int16_t, <)
NARROW_EXTREME(narrow_min_i32, int32_t, <)

/* Both in one walk, of rows: [outer, n]. */
#define NARROW_EXTREMES(NAME, T) \
    WIDEST static void NAME(const void *given, void *least, void *most, int64_t outer, int64_t n) \
    { \
        const T *x = given; \
        for (int64_t i = 0; i < outer; i++, x += n) { \
            T small = x[0], large = x[0]; \
            for (int64_t k = 1; k < n; k++) { \
                small = x[k] < small ? x[k] : small; \
                large = x[k] > large ? x[k] : large; \
            } \
            ((T *)least)[i] = small; \
            ((T *)most)[i] = large; \
        } \
    }
NARROW_EXTREMES(narrow_extremes_u8, uint8_t)
NARROW_EXTREMES(narrow_extremes_i8, int8_t)
NARROW_EXTREMES(narrow_extremes_i16, int16_t)
NARROW_EXTREMES(narrow_extremes_i32, int32_t)

/* 16-bit floats by keys that are ordered as they are; NaN has the key that wins. Vectors are written out: comparisons of short
   integers that are widened do not vectorise. */
enum { HALF_LANES = 32 };
typedef int16_t half_keys __attribute__((vector_size(2 * HALF_LANES), aligned(2), may_alias));
#define KEY_OF(K, x, infinity, nan, key) \
    do { \
        const K bits_ = (x), wrong_ = (K)((bits_ & 0x7fff) > (int16_t)(infinity)); \
        key = ((bits_ ^ ((bits_ >> 15) & 0x7fff)) & ~wrong_) | ((int16_t)(nan) & wrong_); \
    } while (0)
#define BETTER_KEY(K, key, best, BETTER) \
    do { \
        const K better_ = (K)((key) BETTER (best)); \
        best = ((key) & better_) | ((best) & ~better_); \
    } while (0)
EACH int16_t key_of_half(int16_t bits, int16_t infinity, int16_t nan)
{
    return (bits & 0x7fff) > infinity ? nan : (int16_t)(bits ^ ((bits >> 15) & 0x7fff));
}
/* The smallest and the largest key of a row, NaN at the end where its sign puts it. */
EACH void key_range(const int16_t *x, int64_t n, int16_t *least, int16_t *most)
{
    int16_t small = 32767, large = -32768;
    int64_t k = 0;
    if (n >= HALF_LANES) {
        half_keys smalls = *(const half_keys *)x, larges;
        smalls ^= (smalls >> 15) & 0x7fff;
        larges = smalls;
        for (; k + HALF_LANES <= n; k += HALF_LANES) {
            half_keys keys = *(const half_keys *)(x + k);
            keys ^= (keys >> 15) & 0x7fff;
            BETTER_KEY(half_keys, keys, smalls, <);
            BETTER_KEY(half_keys, keys, larges, >);
        }
        for (int l = 0; l < HALF_LANES; l++) {
            small = smalls[l] < small ? smalls[l] : small;
            large = larges[l] > large ? larges[l] : large;
        }
    }
    for (; k < n; k++) {
        const int16_t key = (int16_t)(x[k] ^ ((x[k] >> 15) & 0x7fff));
        small = key < small ? key : small;
        large = key > large ? key : large;
    }
    *least = small, *most = large;
}
EACH int16_t half_between(int16_t key, int16_t small, int16_t large, int16_t infinity, uint16_t nan)
{
    return large > infinity || small < ~infinity ? (int16_t)nan : (int16_t)(key ^ ((key >> 15) & 0x7fff));
}
#define HALF_EXTREME(NAME, BETTER, BEST, INFINITE, NAN_KEY, NAN_BITS) \
    WIDEST static void NAME(const void *given, void *made, int64_t outer, int64_t n, int64_t inner) \
    { \
        const int16_t *x = given; \
        int16_t *to = made; \
        for (int64_t i = 0; i < outer; i++, x += n * inner, to += inner) { \
            if (inner == 1) { \
                int16_t small, large; \
                key_range(x, n, &small, &large); \
                *to = half_between(BEST, small, large, INFINITE, NAN_BITS); \
                continue; \
            } \
            memcpy(to, x, (size_t)inner * sizeof(uint16_t)); \
            for (int64_t k = 1; k < n; k++) { \
                const int16_t *row = x + k * inner; \
                int64_t j = 0; \
                for (; j + HALF_LANES <= inner; j += HALF_LANES) { \
                    half_keys a, b; \
                    const half_keys new = *(const half_keys *)(row + j), old = *(const half_keys *)(to + j); \
                    KEY_OF(half_keys, new, INFINITE, NAN_KEY, a); \
                    KEY_OF(half_keys, old, INFINITE, NAN_KEY, b); \
                    const half_keys better = (half_keys)(a BETTER b); \
                    *(half_keys *)(to + j) = (new & better) | (old & ~better); \
                } \
                for (; j < inner; j++) { \
                    const int16_t a = key_of_half(row[j], INFINITE, NAN_KEY), b = key_of_half(to[j], INFINITE, NAN_KEY); \
                    to[j] = a BETTER b ? row[j] : to[j]; \
                } \
            } \
        } \
    }
#define HALF_EXTREMES(NAME, INFINITE, NAN_BITS) \
    WIDEST static void NAME(const void *given, void *least, void *most, int64_t outer, int64_t n) \
    { \
        const int16_t *x = given; \
        for (int64_t i = 0; i < outer; i++, x += n) { \
            int16_t small, large; \
            key_range(x, n, &small, &large); \
            ((int16_t *)least)[i] = half_between(small, small, large, INFINITE, NAN_BITS); \
            ((int16_t *)most)[i] = half_between(large, small, large, INFINITE, NAN_BITS); \
        } \
    }
HALF_EXTREME(narrow_max_f16, >, large, 0x7c00, 32767, 0x7e00)
HALF_EXTREME(narrow_min_f16, <, small, 0x7c00, -32768, 0x7e00)
HALF_EXTREME(narrow_max_bf16, >, large, 0x7f80, 32767, 0x7fc0)
HALF_EXTREME(narrow_min_bf16, <, small, 0x7f80, -32768, 0x7fc0)
HALF_EXTREMES(narrow_extremes_f16, 0x7c00, 0x7e00)
HALF_EXTREMES(narrow_extremes_bf16, 0x7f80, 0x7fc0)
#pragma GCC pop_options

typedef void (*narrow_fn)(const void *given, void *made, int64_t outer, int64_t n, int64_t inner);

/* By ScalarType; NULL: there is no such loop. */
static narrow_fn narrow_extreme(int largest, int code)
{
    switch (code) {
    case ST_uint8: return largest ? narrow_max_u8 : narrow_min_u8;
    case ST_int8: return largest ? narrow_max_i8 : narrow_min_i8;
    case ST_int16: return largest ? narrow_max_i16 : narrow_min_i16;
    case ST_int32: return largest ? narrow_max_i32 : narrow_min_i32;
    case ST_float16: return largest ? narrow_max_f16 : narrow_min_f16;
    case ST_bfloat16: return largest ? narrow_max_bf16 : narrow_min_bf16;
    }
    return 0;
}

typedef void (*narrow_both_fn)(const void *given, void *least, void *most, int64_t outer, int64_t n);
static narrow_both_fn narrow_extremes(int code)
{
    switch (code) {
    case ST_uint8: return narrow_extremes_u8;
    case ST_int8: return narrow_extremes_i8;
    case ST_int16: return narrow_extremes_i16;
    case ST_int32: return narrow_extremes_i32;
    case ST_float16: return narrow_extremes_f16;
    case ST_bfloat16: return narrow_extremes_bf16;
    }
    return 0;
}
#endif
