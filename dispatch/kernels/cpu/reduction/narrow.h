/* Extremes of integers of 8 to 32 bits, in their own type: a vector holds four to thirty-two of them. What is read and written
 * lies without gaps, as [outer, n, inner] and [outer, inner]. `fold.h` has the loops for everything else. */
#ifndef DISPATCH_NARROW_H
#define DISPATCH_NARROW_H
#include <stdint.h>
#include <string.h>

#include "rows.h"

#pragma GCC push_options
#pragma GCC optimize("O3")

#define NARROW_EXTREME(NAME, T, BETTER) \
    WIDE static void NAME(const void *given, void *made, int64_t outer, int64_t n, int64_t inner) \
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
    }
    return 0;
}
#endif
