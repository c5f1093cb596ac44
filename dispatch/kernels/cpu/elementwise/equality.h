/* Whether two rows of elements have the same values: a block at a time, until one differs. */
#ifndef DISPATCH_EQUALITY_H
#define DISPATCH_EQUALITY_H
#include "rows.h"

typedef struct { const void *x, *y; int64_t n; } equal_rows;

#pragma GCC push_options
#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math")
#define EQUAL(NAME, T, FOUND, TEST) \
    WIDE static int64_t equal_##NAME(void *job, void *typed) \
    { \
        const equal_rows *j = job; \
        (void)typed; \
        for (int64_t done = 0; done < j->n; done += ROW_BLOCK) { \
            const int64_t n = j->n - done < ROW_BLOCK ? j->n - done : ROW_BLOCK; \
            const T *x = (const T *)j->x + done, *y = (const T *)j->y + done; \
            FOUND other = 0; \
            for (int64_t i = 0; i < n; i++) \
                other |= (FOUND)!(TEST); \
            if (other) \
                return 0; \
        } \
        return 1; \
    }
EQUAL(1, uint8_t, uint8_t, x[i] == y[i])
EQUAL(2, uint16_t, uint16_t, x[i] == y[i])
EQUAL(4, uint32_t, uint32_t, x[i] == y[i])
EQUAL(8, uint64_t, uint64_t, x[i] == y[i])
EQUAL(f32, float, uint32_t, x[i] == y[i])
EQUAL(f64, double, uint64_t, x[i] == y[i])
/* The same bits and no NaN, or zeros of any sign. */
EQUAL(f16, uint16_t, uint16_t, ((x[i] == y[i]) & ((x[i] & 0x7fff) <= 0x7c00)) | (((x[i] | y[i]) & 0x7fff) == 0))
EQUAL(bf16, uint16_t, uint16_t, ((x[i] == y[i]) & ((x[i] & 0x7fff) <= 0x7f80)) | (((x[i] | y[i]) & 0x7fff) == 0))
#undef EQUAL
#pragma GCC pop_options

/* By ScalarType: the loop, and how many of its elements make one; NULL: there is none. */
typedef struct { int64_t (*loop)(void *job, void *typed); int parts; } equal_kind;
static const equal_kind EQUAL_KINDS[] = {
    [ST_uint8] = {equal_1, 1}, [ST_int8] = {equal_1, 1}, [ST_int16] = {equal_2, 1}, [ST_int32] = {equal_4, 1},
    [ST_int64] = {equal_8, 1}, [ST_float16] = {equal_f16, 1}, [ST_bfloat16] = {equal_bf16, 1}, [ST_float32] = {equal_f32, 1},
    [ST_float64] = {equal_f64, 1}, [ST_complex64] = {equal_f32, 2}, [ST_complex128] = {equal_f64, 2},
    [ST_COUNT - 1] = {NULL, 0},
};
#endif
