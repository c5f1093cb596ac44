/* Elements of any dtype as rows of the type that they are computed in, and back.

   A reader brings n elements, any step apart, as a row without gaps: it answers with the elements themselves where they are one
   already, else with the buffer that it filled. A writer does the opposite. 16-bit floats are computed in float32 and rounded
   once, integers and bool in int64, everything else in itself. Rows of more than ROW_BLOCK elements are read in blocks.
   Names begin with row_: CPython's internal headers, which Cython may include beside these, have a read_u16 of their own. */
#ifndef DISPATCH_ROWS_H
#define DISPATCH_ROWS_H
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#include <immintrin.h>
#endif

#include "halves.h"
#include "types.h"

enum { ROW_BLOCK = 1024 };

/* The types of computation; their sizes are those of ROW_SIZE. */
enum row_type { ROW_NONE, ROW_F32, ROW_F64, ROW_I64, ROW_C64, ROW_C128, ROW_B8, ROW_F16, ROW_BF16, ROW_TYPES };
static const int ROW_SIZE[ROW_TYPES] = {0, 4, 8, 8, 8, 16, 1, 2, 2};

#pragma GCC push_options
#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math", "wrapv")
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__gnu_linux__)
#define WIDE __attribute__((target_clones("arch=x86-64-v3", "default")))
#define WIDEST __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))    /* what computes much */
#else
#define WIDE
#define WIDEST
#endif
#define EACH static inline __attribute__((always_inline))

typedef struct { float re, im; } row_c64;
typedef struct { double re, im; } row_c128;

/* ---- readers and writers ---- */

typedef const void *(*row_reader)(const char *from, intptr_t step, int64_t n, void *buffer);
typedef void (*row_writer)(const void *row, char *to, intptr_t step, int64_t n);

#define SAME(x) (x)
#define NOT_ZERO(x) ((x) != 0)

#define READER(NAME, T, ROW, CONVERT) READER_FOR(WIDE, NAME, T, ROW, CONVERT)
#define READER_FOR(LEVELS, NAME, T, ROW, CONVERT) \
    LEVELS static const void *row_read_##NAME(const char *from, intptr_t step, int64_t n, void *buffer) \
    { \
        ROW *row = buffer; \
        if (step == (intptr_t)sizeof(T) && (uintptr_t)from % sizeof(T) == 0) { \
            const T *x = (const T *)from; \
            for (int64_t i = 0; i < n; i++) \
                row[i] = (ROW)CONVERT(x[i]); \
            return row; \
        } \
        for (int64_t i = 0; i < n; i++, from += step) { \
            T x; \
            memcpy(&x, from, sizeof(T)); \
            row[i] = (ROW)CONVERT(x); \
        } \
        return row; \
    }
#define READER_AS_IT_IS(NAME, T, ALIGN) \
    static const void *row_read_##NAME(const char *from, intptr_t step, int64_t n, void *buffer) \
    { \
        T *row = buffer; \
        if (step == (intptr_t)sizeof(T) && (uintptr_t)from % ALIGN == 0) \
            return from; \
        if (step == 2 * (intptr_t)sizeof(T)) { \
            for (int64_t i = 0; i < n; i++) \
                memcpy(row + i, from + i * 2 * (intptr_t)sizeof(T), sizeof(T)); \
            return row; \
        } \
        for (int64_t i = 0; i < n; i++) \
            memcpy(row + i, from + i * step, sizeof(T)); \
        return row; \
    }
#define WRITER(NAME, T, ROW, CONVERT) WRITER_FOR(WIDE, NAME, T, ROW, CONVERT)
#define WRITER_FOR(LEVELS, NAME, T, ROW, CONVERT) \
    LEVELS static void row_write_##NAME(const void *from, char *to, intptr_t step, int64_t n) \
    { \
        const ROW *row = from; \
        if (step == (intptr_t)sizeof(T) && (uintptr_t)to % sizeof(T) == 0) { \
            T *x = (T *)to; \
            for (int64_t i = 0; i < n; i++) \
                x[i] = (T)CONVERT(row[i]); \
            return; \
        } \
        for (int64_t i = 0; i < n; i++, to += step) { \
            T x = (T)CONVERT(row[i]); \
            memcpy(to, &x, sizeof(T)); \
        } \
    }
#define WRITER_AS_IT_IS(NAME, T) \
    static void row_write_##NAME(const void *from, char *to, intptr_t step, int64_t n) \
    { \
        if (step == (intptr_t)sizeof(T)) { \
            memcpy(to, from, (size_t)n * sizeof(T)); \
            return; \
        } \
        for (int64_t i = 0; i < n; i++) \
            memcpy(to + i * step, (const T *)from + i, sizeof(T)); \
    }

#define EACH_INTEGER(X) \
    X(u8, uint8_t) X(i8, int8_t) X(i16, int16_t) X(i32, int32_t) X(u16, uint16_t) X(u32, uint32_t)
#define READ_INTEGER(NAME, T) READER(NAME, T, int64_t, SAME) WRITER(NAME, T, int64_t, SAME)
EACH_INTEGER(READ_INTEGER)
READER(b8, uint8_t, int64_t, NOT_ZERO)
WRITER(b8, uint8_t, int64_t, NOT_ZERO)
READER(f16_by_bits, uint16_t, float, f32_of_f16)
WRITER(f16_by_bits, uint16_t, float, f16_of_f32)
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define CONVERTS __attribute__((target("avx,f16c")))
#define CONVERTS_16 __attribute__((target("avx512f")))
/* 16 elements as float32, and back: rounded to nearest, NaN as `bf16_of_f32` has it. */
#define FLOATS_OF_f16(from) _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(from)))
#define FLOATS_OF_bf16(from) \
    _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(from))), 16))
#define PUT_FLOATS_f16(x, to) _mm256_storeu_si256((__m256i *)(to), _mm512_cvtps_ph(x, 0))
#define PUT_FLOATS_bf16(x, to) \
    do { \
        const __m512 x_ = (x); \
        const __m512i u_ = _mm512_castps_si512(x_), odd_ = _mm512_and_si512(_mm512_srli_epi32(u_, 16), _mm512_set1_epi32(1)); \
        const __m512i r_ = _mm512_add_epi32(_mm512_add_epi32(u_, _mm512_set1_epi32(0x7fff)), odd_); \
        const __mmask16 nan_ = _mm512_cmp_ps_mask(x_, x_, _CMP_UNORD_Q); \
        const __m512i bits_ = _mm512_mask_mov_epi32(_mm512_srli_epi32(r_, 16), nan_, _mm512_set1_epi32(0x7fc0)); \
        _mm256_storeu_si256((__m256i *)(to), _mm512_cvtepi32_epi16(bits_)); \
    } while (0)
CONVERTS_16 static int64_t row_of_f16_by_16(const char *from, float *row, int64_t n)
{
    int64_t i = 0;
    for (; i + 16 <= n; i += 16)
        _mm512_storeu_ps(row + i, FLOATS_OF_f16(from + 2 * i));
    return i;
}
CONVERTS_16 static int64_t f16_of_row_by_16(const float *row, char *to, int64_t n)
{
    int64_t i = 0;
    for (; i + 16 <= n; i += 16)
        PUT_FLOATS_f16(_mm512_loadu_ps(row + i), to + 2 * i);
    return i;
}
CONVERTS static void row_of_f16(const char *from, float *row, int64_t n)
{
    if (__builtin_cpu_supports("avx512f")) {
        const int64_t done = row_of_f16_by_16(from, row, n);
        from += 2 * done, row += done, n -= done;
    }
    for (; n >= 8; n -= 8, from += 16, row += 8)
        _mm256_storeu_ps(row, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)from)));
    for (; n > 0; n--, from += 2, row++)
        *row = f32_of_f16(*(const uint16_t *)from);
}
CONVERTS static void f16_of_row(const float *row, char *to, int64_t n)
{
    if (__builtin_cpu_supports("avx512f")) {
        const int64_t done = f16_of_row_by_16(row, to, n);
        to += 2 * done, row += done, n -= done;
    }
    for (; n >= 8; n -= 8, to += 16, row += 8)
        _mm_storeu_si128((__m128i *)to, _mm256_cvtps_ph(_mm256_loadu_ps(row), 0));
    for (; n > 0; n--, to += 2, row++)
        *(uint16_t *)to = f16_of_f32(*row);
}
static const void *row_read_f16(const char *from, intptr_t step, int64_t n, void *buffer)
{
    if (step != 2 || (uintptr_t)from % 2 || !__builtin_cpu_supports("f16c"))
        return row_read_f16_by_bits(from, step, n, buffer);
    row_of_f16(from, buffer, n);
    return buffer;
}
static void row_write_f16(const void *row, char *to, intptr_t step, int64_t n)
{
    if (step != 2 || (uintptr_t)to % 2 || !__builtin_cpu_supports("f16c"))
        row_write_f16_by_bits(row, to, step, n);
    else
        f16_of_row(row, to, n);
}
#else
#define row_read_f16 row_read_f16_by_bits
#define row_write_f16 row_write_f16_by_bits
#endif
READER_FOR(WIDEST, bf16, uint16_t, float, f32_of_bf16)
WRITER_FOR(WIDEST, bf16, uint16_t, float, bf16_of_f32)
READER_AS_IT_IS(i64, int64_t, 8)
WRITER_AS_IT_IS(i64, int64_t)
READER_AS_IT_IS(f32, float, 4)
WRITER_AS_IT_IS(f32, float)
READER_AS_IT_IS(f64, double, 8)
WRITER_AS_IT_IS(f64, double)
READER_AS_IT_IS(c64, row_c64, 4)
WRITER_AS_IT_IS(c64, row_c64)
READER_AS_IT_IS(c128, row_c128, 8)
WRITER_AS_IT_IS(c128, row_c128)
READER_AS_IT_IS(bytes, uint8_t, 1)
READER_AS_IT_IS(halves, uint16_t, 2)

static const void *row_read_c32(const char *from, intptr_t step, int64_t n, void *buffer)
{
    row_c64 *row = buffer;
    for (int64_t i = 0; i < n; i++) {
        uint16_t x[2];
        memcpy(x, from + i * step, 4);
        row[i] = (row_c64){f32_of_f16(x[0]), f32_of_f16(x[1])};
    }
    return row;
}
static void row_write_c32(const void *from, char *to, intptr_t step, int64_t n)
{
    const row_c64 *row = from;
    for (int64_t i = 0; i < n; i++) {
        uint16_t x[2] = {f16_of_f32(row[i].re), f16_of_f32(row[i].im)};
        memcpy(to + i * step, x, 4);
    }
}

/* Magnitudes of complex numbers, as rows of real ones. */
static const void *row_read_abs_c64(const char *from, intptr_t step, int64_t n, void *buffer)
{
    float *row = buffer;
    for (int64_t i = 0; i < n; i++) {
        row_c64 z;
        memcpy(&z, from + i * step, 8);
        row[i] = hypotf(z.re, z.im);
    }
    return row;
}
static const void *row_read_abs_c128(const char *from, intptr_t step, int64_t n, void *buffer)
{
    double *row = buffer;
    for (int64_t i = 0; i < n; i++) {
        row_c128 z;
        memcpy(&z, from + i * step, 16);
        row[i] = hypot(z.re, z.im);
    }
    return row;
}

typedef struct { int size, row; row_reader read; row_writer write; } row_kind;

/* By ScalarType; row ROW_NONE: no loops compute with it. */
static const row_kind ROW_KINDS[] = {
    [ST_uint8] = {1, ROW_I64, row_read_u8, row_write_u8},
    [ST_int8] = {1, ROW_I64, row_read_i8, row_write_i8},
    [ST_int16] = {2, ROW_I64, row_read_i16, row_write_i16},
    [ST_int32] = {4, ROW_I64, row_read_i32, row_write_i32},
    [ST_int64] = {8, ROW_I64, row_read_i64, row_write_i64},
    [ST_uint16] = {2, ROW_I64, row_read_u16, row_write_u16},
    [ST_uint32] = {4, ROW_I64, row_read_u32, row_write_u32},
    [ST_uint64] = {8, ROW_I64, row_read_i64, row_write_i64},
    [ST_float16] = {2, ROW_F32, row_read_f16, row_write_f16},
    [ST_bfloat16] = {2, ROW_F32, row_read_bf16, row_write_bf16},
    [ST_float32] = {4, ROW_F32, row_read_f32, row_write_f32},
    [ST_float64] = {8, ROW_F64, row_read_f64, row_write_f64},
    [ST_complex32] = {4, ROW_C64, row_read_c32, row_write_c32},
    [ST_complex64] = {8, ROW_C64, row_read_c64, row_write_c64},
    [ST_complex128] = {16, ROW_C128, row_read_c128, row_write_c128},
    [ST_bool] = {1, ROW_I64, row_read_b8, row_write_b8},
    [ST_COUNT - 1] = {0, ROW_NONE, NULL, NULL},
};
#pragma GCC pop_options
#endif
