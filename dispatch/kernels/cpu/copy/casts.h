/* One row converted from one dtype to another, as c10::convert does: floats to integers by truncation (to uint8 by way of int64),
   complex to real by the real part, anything to bool by whether it is not 0, to floats of 16 bits by way of float32. */
#ifndef DISPATCH_CASTS_H
#define DISPATCH_CASTS_H
#include "strided.h"

/* ---- values: D(target, V), from a value in the source's type of computation */

#define DISPATCH_RE_number(v) (v)
#define DISPATCH_RE_pair(v) ((v).re)
#define DISPATCH_TRUE_number(v) ((v) != 0)
#define DISPATCH_TRUE_pair(v) ((v).re != 0 || (v).im != 0)
#define DISPATCH_IM_number(v) 0
#define DISPATCH_IM_pair(v) ((v).im)

#define DISPATCH_TO_u8(K, v) ((uint8_t)(int64_t)DISPATCH_RE_##K(v))
#define DISPATCH_TO_i8(K, v) ((int8_t)DISPATCH_RE_##K(v))
#define DISPATCH_TO_i16(K, v) ((int16_t)DISPATCH_RE_##K(v))
#define DISPATCH_TO_i32(K, v) ((int32_t)DISPATCH_RE_##K(v))
#define DISPATCH_TO_i64(K, v) ((int64_t)DISPATCH_RE_##K(v))
#define DISPATCH_TO_u16(K, v) ((uint16_t)DISPATCH_RE_##K(v))
#define DISPATCH_TO_u32(K, v) ((uint32_t)DISPATCH_RE_##K(v))
#define DISPATCH_TO_u64(K, v) ((uint64_t)DISPATCH_RE_##K(v))
#define DISPATCH_TO_f16(K, v) ((float)DISPATCH_RE_##K(v))
#define DISPATCH_TO_bf16(K, v) ((float)DISPATCH_RE_##K(v))
#define DISPATCH_TO_f32(K, v) ((float)DISPATCH_RE_##K(v))
#define DISPATCH_TO_f64(K, v) ((double)DISPATCH_RE_##K(v))
#define DISPATCH_TO_b1(K, v) (DISPATCH_TRUE_##K(v))
#define DISPATCH_TO_c32(K, v) ((dispatch_c8){(float)DISPATCH_RE_##K(v), (float)DISPATCH_IM_##K(v)})
#define DISPATCH_TO_c64(K, v) ((dispatch_c8){(float)DISPATCH_RE_##K(v), (float)DISPATCH_IM_##K(v)})
#define DISPATCH_TO_c128(K, v) ((dispatch_c16){(double)DISPATCH_RE_##K(v), (double)DISPATCH_IM_##K(v)})

/* X(target, its bytes, ...) for every target */
#define DISPATCH_TARGETS(X, ...) \
    X(u8, 1, __VA_ARGS__) X(i8, 1, __VA_ARGS__) X(i16, 2, __VA_ARGS__) X(i32, 4, __VA_ARGS__) X(i64, 8, __VA_ARGS__) \
    X(f16, 2, __VA_ARGS__) X(f32, 4, __VA_ARGS__) X(f64, 8, __VA_ARGS__) X(c32, 4, __VA_ARGS__) X(c64, 8, __VA_ARGS__) \
    X(c128, 16, __VA_ARGS__) X(b1, 1, __VA_ARGS__) X(bf16, 2, __VA_ARGS__) X(u16, 2, __VA_ARGS__) X(u32, 4, __VA_ARGS__) \
    X(u64, 8, __VA_ARGS__)

#define DISPATCH_CAST_RUN(T, tb, S, sb, K) \
    DISPATCH_VECTOR \
    static void dispatch_cast_##S##_##T(char* to, const char* from, int64_t n, int64_t a, int64_t b) { \
        int64_t i; \
        if (a == tb && b == sb) \
            for (i = 0; i < n; i++) { \
                const dispatch_v_##S v = dispatch_load_##S(from + i * sb); \
                dispatch_store_##T(to + i * tb, DISPATCH_TO_##T(K, v)); \
            } \
        else \
            for (i = 0; i < n; i++) { \
                const dispatch_v_##S v = dispatch_load_##S(from + i * b); \
                dispatch_store_##T(to + i * a, DISPATCH_TO_##T(K, v)); \
            } \
    }
#define DISPATCH_SOURCES(X) \
    X(u8, 1, number) X(i8, 1, number) X(i16, 2, number) X(i32, 4, number) X(i64, 8, number) X(f16, 2, number) X(f32, 4, number) \
    X(f64, 8, number) X(c32, 4, pair) X(c64, 8, pair) X(c128, 16, pair) X(b1, 1, number) X(bf16, 2, number) \
    X(u16, 2, number) X(u32, 4, number) X(u64, 8, number)
#define DISPATCH_CASTS_FROM(S, sb, K) DISPATCH_TARGETS(DISPATCH_CAST_RUN, S, sb, K)
DISPATCH_SOURCES(DISPATCH_CASTS_FROM)

/* ScalarType codes in the order of the lists above; -1: not there */
static const signed char dispatch_cast_place[] = {
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, -1, -1, -1, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 13, 14, 15,
};
#define DISPATCH_CAST_ENTRY(T, tb, S) dispatch_cast_##S##_##T,
#define DISPATCH_CAST_ROW(S, sb, K) {DISPATCH_TARGETS(DISPATCH_CAST_ENTRY, S)},
static const dispatch_run dispatch_casts[16][16] = {DISPATCH_SOURCES(DISPATCH_CAST_ROW)};

/* float16 by the processor's own conversion, where it has one. */
#ifdef DISPATCH_HAS_CLONES
#include <immintrin.h>
__attribute__((target("avx,f16c")))
static void dispatch_f16c_to_half(char* to, const char* from, int64_t n, int64_t a, int64_t b) {
    int64_t i = 0;
    if (a == 2 && b == 4)
        for (; i + 8 <= n; i += 8)
            _mm_storeu_si128((__m128i*)(to + 2 * i), _mm256_cvtps_ph(_mm256_loadu_ps((const float*)(from + 4 * i)), 0));
    dispatch_cast_f32_f16(to + i * a, from + i * b, n - i, a, b);
}
__attribute__((target("avx,f16c")))
static void dispatch_f16c_from_half(char* to, const char* from, int64_t n, int64_t a, int64_t b) {
    int64_t i = 0;
    if (a == 4 && b == 2)
        for (; i + 8 <= n; i += 8)
            _mm256_storeu_ps((float*)(to + 4 * i), _mm256_cvtph_ps(_mm_loadu_si128((const __m128i*)(from + 2 * i))));
    dispatch_cast_f16_f32(to + i * a, from + i * b, n - i, a, b);
}
static dispatch_run dispatch_half_caster(int from, int to) {
    if (!__builtin_cpu_supports("avx") || !__builtin_cpu_supports("f16c")) return NULL;
    return from == 6 && to == 5 ? dispatch_f16c_to_half : from == 5 && to == 6 ? dispatch_f16c_from_half : NULL;
}
#else
static dispatch_run dispatch_half_caster(int from, int to) { return NULL; }
#endif

/* NULL: one of the dtypes has no loops (float8 and other rare ones). */
static dispatch_run dispatch_caster(int from, int to) {
    const int n = (int)sizeof dispatch_cast_place;
    dispatch_run found = from == 5 || to == 5 ? dispatch_half_caster(from, to) : NULL;
    if (found) return found;
    if (from >= n || to >= n || dispatch_cast_place[from] < 0 || dispatch_cast_place[to] < 0) return NULL;
    return dispatch_casts[dispatch_cast_place[from]][dispatch_cast_place[to]];
}

/* ---- conjugates and negatives of the same dtype */

#define DISPATCH_CONJ_RUN(S) \
    static void dispatch_conj_##S(char* to, const char* from, int64_t n, int64_t a, int64_t b) { \
        int64_t i; \
        for (i = 0; i < n; i++) { \
            dispatch_v_##S v = dispatch_load_##S(from + i * b); \
            v.im = -v.im; \
            dispatch_store_##S(to + i * a, v); \
        } \
    }
#define DISPATCH_NEG_RUN(S, code, bytes, V) \
    static void dispatch_neg_##S(char* to, const char* from, int64_t n, int64_t a, int64_t b) { \
        int64_t i; \
        for (i = 0; i < n; i++) dispatch_store_##S(to + i * a, (V)-dispatch_load_##S(from + i * b)); \
    }
#define DISPATCH_NEG_COMPLEX_RUN(S) \
    static void dispatch_neg_##S(char* to, const char* from, int64_t n, int64_t a, int64_t b) { \
        int64_t i; \
        for (i = 0; i < n; i++) { \
            dispatch_v_##S v = dispatch_load_##S(from + i * b); \
            v.re = -v.re; v.im = -v.im; \
            dispatch_store_##S(to + i * a, v); \
        } \
    }
DISPATCH_CONJ_RUN(c32) DISPATCH_CONJ_RUN(c64) DISPATCH_CONJ_RUN(c128)
DISPATCH_NEG_COMPLEX_RUN(c32) DISPATCH_NEG_COMPLEX_RUN(c64) DISPATCH_NEG_COMPLEX_RUN(c128)
DISPATCH_INTEGERS(DISPATCH_NEG_RUN)
DISPATCH_FLOATS(DISPATCH_NEG_RUN)
DISPATCH_WIDE_UNSIGNED(DISPATCH_NEG_RUN)

static dispatch_run dispatch_conjugator(int code) {
    return code == 8 ? dispatch_conj_c32 : code == 9 ? dispatch_conj_c64 : code == 10 ? dispatch_conj_c128 : NULL;
}

static dispatch_run dispatch_negator(int code) {
#define DISPATCH_NEG_CASE(S, number, bytes, V) case number: return dispatch_neg_##S;
    switch (code) {
    DISPATCH_INTEGERS(DISPATCH_NEG_CASE)
    DISPATCH_FLOATS(DISPATCH_NEG_CASE)
    DISPATCH_WIDE_UNSIGNED(DISPATCH_NEG_CASE)
    case 8: return dispatch_neg_c32;
    case 9: return dispatch_neg_c64;
    case 10: return dispatch_neg_c128;
    }
    return NULL;
}
#endif
