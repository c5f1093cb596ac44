/* Loops that convert elements of any dtype to any other, and those that copy them.

   PyTorch's conversions: narrow floats by way of float32, a complex number's real part, NaN is true; what does not fit an
   integer is what x86 makes of it. Every pair has a loop; the pairs that are asked for in blocks have one for AVX2 too, those
   of the common dtypes one for AVX-512. */
#ifndef DISPATCH_CASTS_H
#define DISPATCH_CASTS_H
#include "halves.h"
#include "loops.h"
#if HAS_AVX2_LEVEL
#include <immintrin.h>
#endif

typedef void (*cast_loop)(const char *src, intptr_t from, char *dst, intptr_t to, intptr_t n);

#pragma GCC push_options
#pragma GCC optimize("no-math-errno", "no-trapping-math", "wrapv")
#define TYPE cast
#define LEVEL base
#include "casts_level.h"

#define EACH_REAL_BUT_BOOL(X, ...) \
    X(__VA_ARGS__, u8, 1) X(__VA_ARGS__, i8, 1) X(__VA_ARGS__, i16, 2) X(__VA_ARGS__, i32, 4) X(__VA_ARGS__, i64, 8) \
    X(__VA_ARGS__, u16, 2) X(__VA_ARGS__, u32, 4) X(__VA_ARGS__, u64, 8) X(__VA_ARGS__, f32, 4) X(__VA_ARGS__, f64, 8) \
    X(__VA_ARGS__, bf16, 2) X(__VA_ARGS__, f16, 2) X(__VA_ARGS__, f8e5m2, 1) X(__VA_ARGS__, f8e4m3fn, 1) \
    X(__VA_ARGS__, f8e5m2fnuz, 1) X(__VA_ARGS__, f8e4m3fnuz, 1) X(__VA_ARGS__, f8e8m0fnu, 1)
#define FROM_REAL(FROM, FS) \
    REAL_TO_REAL(FROM, FS, b8, 1) EACH_REAL_BUT_BOOL(REAL_TO_REAL, FROM, FS) REAL_TO_COMPLEX(FROM, FS, c32, f16, 4) \
    REAL_TO_COMPLEX(FROM, FS, c64, f32, 8) REAL_TO_COMPLEX(FROM, FS, c128, f64, 16)
#define FROM_COMPLEX(FROM, PART, FS) \
    COMPLEX_TO_BOOL(FROM, PART, FS) EACH_REAL_BUT_BOOL(COMPLEX_TO_REAL, FROM, PART, FS) \
    COMPLEX_TO_COMPLEX(FROM, PART, FS, c32, f16, 4) COMPLEX_TO_COMPLEX(FROM, PART, FS, c64, f32, 8) \
    COMPLEX_TO_COMPLEX(FROM, PART, FS, c128, f64, 16)
#define EACH_REAL(X) \
    X(b8, 1) X(u8, 1) X(i8, 1) X(i16, 2) X(i32, 4) X(i64, 8) X(u16, 2) X(u32, 4) X(u64, 8) X(f32, 4) X(f64, 8) X(bf16, 2) \
    X(f16, 2) X(f8e5m2, 1) X(f8e4m3fn, 1) X(f8e5m2fnuz, 1) X(f8e4m3fnuz, 1) X(f8e8m0fnu, 1)
#define EACH_COMPLEX(X) X(c32, f16, 4) X(c64, f32, 8) X(c128, f64, 16)
EACH_REAL(FROM_REAL)
EACH_COMPLEX(FROM_COMPLEX)
#undef LEVEL

#if HAS_AVX2_LEVEL
#ifdef __OPTIMIZE__
#pragma GCC optimize("O3")
#endif
#pragma GCC target("avx2,fma,f16c")
#define LEVEL avx2
#include "casts_level.h"
#define EACH_FAST(X) \
    X(bf16, 2, f32, 4) X(f32, 4, bf16, 2) X(f32, 4, f64, 8) X(f64, 8, f32, 4) X(i64, 8, f32, 4) X(i32, 4, f32, 4) \
    X(b8, 1, f32, 4) X(f32, 4, i32, 4) X(i32, 4, i64, 8) X(i64, 8, i32, 4) X(b8, 1, i64, 8) X(u8, 1, i64, 8) \
    X(i32, 4, f64, 8) X(f32, 4, b8, 1) X(f64, 8, b8, 1) X(i64, 8, b8, 1) X(u8, 1, b8, 1) X(b8, 1, u8, 1)
EACH_FAST(REAL_TO_REAL)
CAST(b8, 1, bf16, 2, uint16_t v = (uint16_t)(0x3f80 * (*(const uint8_t *)a != 0)); memcpy(b, &v, 2))
CAST(b8, 1, f16, 2, uint16_t v = (uint16_t)(0x3c00 * (*(const uint8_t *)a != 0)); memcpy(b, &v, 2))
/* As the last bits of 2**23: a conversion of 8 bits without a sign is not vectorized. */
CAST(u8, 1, f32, 4, uint32_t u = 0x4b000000u | *(const uint8_t *)a; put_f32_f32_cast_avx2(b, f32_of_bits(u) - 0x1p23f))

static void cast_f16_f32_avx2(const char *src, intptr_t from, char *dst, intptr_t to, intptr_t n)
{
    intptr_t i = 0;
    if (from == 2 && to == 4)
        for (; i + 8 <= n; i += 8)
            _mm256_storeu_ps((float *)(dst + i * 4), _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(src + i * 2))));
    for (; i < n; i++)
        put_f32_f32_cast_avx2(dst + i * to, get_f16_cast_avx2(src + i * from));
}

static void cast_f32_f16_avx2(const char *src, intptr_t from, char *dst, intptr_t to, intptr_t n)
{
    intptr_t i = 0;
    if (from == 4 && to == 2)
        for (; i + 8 <= n; i += 8)
            _mm_storeu_si128((__m128i *)(dst + i * 2), _mm256_cvtps_ph(_mm256_loadu_ps((const float *)(src + i * 4)), 0));
    for (; i < n; i++)
        put_f32_f16_cast_avx2(dst + i * to, get_f32_cast_avx2(src + i * from));
}
#undef LEVEL

#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")
#define LEVEL avx512
#include "casts_level.h"
#define EACH_COMMON(X, ...) \
    X(__VA_ARGS__, b8, 1) X(__VA_ARGS__, u8, 1) X(__VA_ARGS__, i8, 1) X(__VA_ARGS__, i16, 2) X(__VA_ARGS__, i32, 4) \
    X(__VA_ARGS__, i64, 8) X(__VA_ARGS__, f32, 4) X(__VA_ARGS__, f64, 8)
#define EACH_COMMON_PAIR(X) \
    EACH_COMMON(X, b8, 1) EACH_COMMON(X, u8, 1) EACH_COMMON(X, i8, 1) EACH_COMMON(X, i16, 2) EACH_COMMON(X, i32, 4) \
    EACH_COMMON(X, i64, 8) EACH_COMMON(X, f32, 4) EACH_COMMON(X, f64, 8)
EACH_COMMON_PAIR(REAL_TO_REAL)
#define EACH_COMMON_TO_C64(X) \
    X(b8, 1, c64, f32, 8) X(u8, 1, c64, f32, 8) X(i8, 1, c64, f32, 8) X(i16, 2, c64, f32, 8) \
    X(i32, 4, c64, f32, 8) X(i64, 8, c64, f32, 8) X(f32, 4, c64, f32, 8) X(f64, 8, c64, f32, 8)
EACH_COMMON_TO_C64(REAL_TO_COMPLEX)
#define EACH_FROM_COMPLEX(X) \
    X(c64, f32, 8, u8, 1) X(c64, f32, 8, i8, 1) X(c64, f32, 8, i16, 2) X(c64, f32, 8, i32, 4) X(c64, f32, 8, i64, 8) \
    X(c64, f32, 8, f32, 4) X(c64, f32, 8, f64, 8) X(c128, f64, 16, u8, 1) X(c128, f64, 16, i8, 1) X(c128, f64, 16, i16, 2) \
    X(c128, f64, 16, i32, 4) X(c128, f64, 16, i64, 8) X(c128, f64, 16, f32, 4) X(c128, f64, 16, f64, 8)
EACH_FROM_COMPLEX(COMPLEX_TO_REAL)
COMPLEX_TO_BOOL(c64, f32, 8)
COMPLEX_TO_BOOL(c128, f64, 16)
COMPLEX_TO_COMPLEX(c64, f32, 8, c128, f64, 16)
COMPLEX_TO_COMPLEX(c128, f64, 16, c64, f32, 8)
#undef LEVEL

/* What the driver does most of all, 16 elements at a time. */
#define WIDE_CAST(FROM, FS, TO, TS, ...) \
    static void cast_##FROM##_##TO##_avx512(const char *src, intptr_t from, char *dst, intptr_t to, intptr_t n) \
    { \
        if (from == FS && to == TS) { \
            for (; n >= 16; n -= 16, src += 16 * FS, dst += 16 * TS) { \
                __VA_ARGS__; \
            } \
        } \
        if (n > 0) \
            cast_##FROM##_##TO##_of_8(src, from, dst, to, n); \
    }
#define cast_bf16_f32_of_8 cast_bf16_f32_cast_avx2
#define cast_f32_bf16_of_8 cast_f32_bf16_cast_avx2
#define cast_f16_f32_of_8 cast_f16_f32_avx2
#define cast_f32_f16_of_8 cast_f32_f16_avx2
#define cast_u8_f32_of_8 cast_u8_f32_cast_avx2
WIDE_CAST(bf16, 2, f32, 4, __m512i x = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)src));
          _mm512_storeu_si512(dst, _mm512_slli_epi32(x, 16)))
WIDE_CAST(f32, 4, bf16, 2, __m512 x = _mm512_loadu_ps((const float *)src);
          __m512i u = _mm512_castps_si512(x), odd = _mm512_and_si512(_mm512_srli_epi32(u, 16), _mm512_set1_epi32(1));
          u = _mm512_srli_epi32(_mm512_add_epi32(u, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff))), 16);
          u = _mm512_mask_mov_epi32(u, _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q), _mm512_set1_epi32(0x7fc0));
          _mm256_storeu_si256((__m256i *)dst, _mm512_cvtepi32_epi16(u)))
WIDE_CAST(f16, 2, f32, 4, _mm512_storeu_ps((float *)dst, _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)src))))
WIDE_CAST(f32, 4, f16, 2, _mm256_storeu_si256((__m256i *)dst, _mm512_cvtps_ph(_mm512_loadu_ps((const float *)src), 0)))

WIDE_CAST(u8, 1, f32, 4, __m512i x = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)src));
          _mm512_storeu_ps((float *)dst, _mm512_cvtepi32_ps(x)))

/* 16-bit floats from and to what is not float32, by way of it: a block at a time. */
#define BY_FLOAT(FROM, FS, TO, TS) \
    static void cast_##FROM##_##TO##_by_float(const char *src, intptr_t from, char *dst, intptr_t to, intptr_t n) \
    { \
        float block[256]; \
        for (intptr_t done = 0; done < n; done += 256) { \
            intptr_t m = n - done < 256 ? n - done : 256; \
            CASTS[ST_OF_##FROM][ST_float32](src + done * from, from, (char *)block, 4, m); \
            CASTS[ST_float32][ST_OF_##TO]((const char *)block, 4, dst + done * to, to, m); \
        } \
    }
#endif
#undef TYPE
#pragma GCC pop_options

#pragma GCC push_options
#ifdef __OPTIMIZE__
#pragma GCC optimize("O3")
#endif
#define COPY(SIZE) \
    static void copy_##SIZE(const char *src, intptr_t from, char *dst, intptr_t to, intptr_t n) \
    { \
        if (from == SIZE && to == SIZE) { \
            memmove(dst, src, (size_t)n * SIZE); \
            return; \
        } \
        if (from == 2 * SIZE && to == SIZE) { \
            for (intptr_t i = 0; i < n; i++) \
                memcpy(dst + i * SIZE, src + i * 2 * SIZE, SIZE); \
            return; \
        } \
        for (intptr_t i = 0; i < n; i++) \
            memcpy(dst + i * to, src + i * from, SIZE); \
    }
COPY(1)
COPY(2)
COPY(4)
COPY(8)
COPY(16)
#pragma GCC pop_options

#define ST_OF_b8 ST_bool
#define ST_OF_u8 ST_uint8
#define ST_OF_i8 ST_int8
#define ST_OF_i16 ST_int16
#define ST_OF_i32 ST_int32
#define ST_OF_i64 ST_int64
#define ST_OF_u16 ST_uint16
#define ST_OF_u32 ST_uint32
#define ST_OF_u64 ST_uint64
#define ST_OF_f32 ST_float32
#define ST_OF_f64 ST_float64
#define ST_OF_bf16 ST_bfloat16
#define ST_OF_f16 ST_float16
#define ST_OF_f8e5m2 ST_float8_e5m2
#define ST_OF_f8e4m3fn ST_float8_e4m3fn
#define ST_OF_f8e5m2fnuz ST_float8_e5m2fnuz
#define ST_OF_f8e4m3fnuz ST_float8_e4m3fnuz
#define ST_OF_f8e8m0fnu ST_float8_e8m0fnu
#define ST_OF_c32 ST_complex32
#define ST_OF_c64 ST_complex64
#define ST_OF_c128 ST_complex128

static cast_loop CASTS[ST_COUNT][ST_COUNT];      /* [from][to]; NULL: a dtype without elements of its own */

#if HAS_AVX2_LEVEL
#define EACH_BY_FLOAT(X) \
    X(bf16, 2, i8, 1) X(bf16, 2, i16, 2) X(f16, 2, i8, 1) X(f16, 2, i16, 2) X(i8, 1, bf16, 2) X(i16, 2, bf16, 2) \
    X(i8, 1, f16, 2) X(i16, 2, f16, 2) X(bf16, 2, c64, 8) X(f16, 2, c64, 8) X(c64, 8, bf16, 2) X(c64, 8, f16, 2) \
    X(c128, 16, bf16, 2) X(c128, 16, f16, 2) \
    X(bf16, 2, f16, 2) X(bf16, 2, b8, 1) X(bf16, 2, u8, 1) X(bf16, 2, i32, 4) X(bf16, 2, i64, 8) X(bf16, 2, f64, 8) \
    X(f16, 2, bf16, 2) X(f16, 2, b8, 1) X(f16, 2, u8, 1) X(f16, 2, i32, 4) X(f16, 2, i64, 8) X(f16, 2, f64, 8) \
    X(u8, 1, bf16, 2) X(i32, 4, bf16, 2) X(i64, 8, bf16, 2) X(f64, 8, bf16, 2) \
    X(u8, 1, f16, 2) X(i32, 4, f16, 2) X(i64, 8, f16, 2) X(f64, 8, f16, 2)
EACH_BY_FLOAT(BY_FLOAT)
#endif

static void fill_casts(void)
{
#define PAIR(FROM, FS, TO, TS) CASTS[ST_OF_##FROM][ST_OF_##TO] = cast_##FROM##_##TO##_cast_base;
#define ROW_OF_REAL(FROM, FS) \
    PAIR(FROM, FS, b8, 1) EACH_REAL_BUT_BOOL(PAIR, FROM, FS) PAIR(FROM, FS, c32, 4) PAIR(FROM, FS, c64, 8) PAIR(FROM, FS, c128, 16)
#define ROW_OF_COMPLEX(FROM, PART, FS) ROW_OF_REAL(FROM, FS)
    EACH_REAL(ROW_OF_REAL)
    EACH_COMPLEX(ROW_OF_COMPLEX)
#if HAS_AVX2_LEVEL
    if (cpu_has_avx2()) {
#define FAST(FROM, FS, TO, TS) CASTS[ST_OF_##FROM][ST_OF_##TO] = cast_##FROM##_##TO##_cast_avx2;
#define BLOCKED(FROM, FS, TO, TS) CASTS[ST_OF_##FROM][ST_OF_##TO] = cast_##FROM##_##TO##_by_float;
        EACH_FAST(FAST)
        FAST(u8, 1, f32, 4)
        FAST(b8, 1, bf16, 2)
        FAST(b8, 1, f16, 2)
        CASTS[ST_float16][ST_float32] = cast_f16_f32_avx2;
        CASTS[ST_float32][ST_float16] = cast_f32_f16_avx2;
        EACH_BY_FLOAT(BLOCKED)
    }
    if (cpu_has_avx2() && cpu_has_avx512()) {
#define BY_AVX512(FROM, FS, TO, TS) CASTS[ST_OF_##FROM][ST_OF_##TO] = cast_##FROM##_##TO##_cast_avx512;
        EACH_COMMON_PAIR(BY_AVX512)
#define TO_COMPLEX_BY_AVX512(FROM, FS, TO, PART, TS) BY_AVX512(FROM, FS, TO, TS)
        EACH_COMMON_TO_C64(TO_COMPLEX_BY_AVX512)
#define FROM_COMPLEX_BY_AVX512(FROM, PART, FS, TO, TS) BY_AVX512(FROM, FS, TO, TS)
        EACH_FROM_COMPLEX(FROM_COMPLEX_BY_AVX512)
        BY_AVX512(c64, 8, b8, 1)
        BY_AVX512(c128, 16, b8, 1)
        BY_AVX512(c64, 8, c128, 16)
        BY_AVX512(c128, 16, c64, 8)
        CASTS[ST_bfloat16][ST_float32] = cast_bf16_f32_avx512;
        CASTS[ST_float32][ST_bfloat16] = cast_f32_bf16_avx512;
        CASTS[ST_float16][ST_float32] = cast_f16_f32_avx512;
        CASTS[ST_float32][ST_float16] = cast_f32_f16_avx512;
        CASTS[ST_uint8][ST_float32] = cast_u8_f32_avx512;
    }
#endif
    for (int code = 0; code < ST_COUNT; code++) {
        int size = DTYPES[code].size;
        CASTS[code][code] = size == 1 ? copy_1 : size == 2 ? copy_2 : size == 4 ? copy_4 : size == 8 ? copy_8 : copy_16;
    }
}
#endif
