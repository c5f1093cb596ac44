/* Element types of tensors for C loops: one row for each dtype, how it is loaded, what it is computed in, how it is stored.

   Memory from elsewhere need not be aligned, so elements are read and written through types of alignment 1. Floats of 16 bits are
   computed in float32 and rounded once, to the nearest, ties to even, when they are stored. */
#ifndef DISPATCH_ELEMENTS_H
#define DISPATCH_ELEMENTS_H
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "../halves.h"

/* Loops that pay when they are vectorised, for the processor that they run on. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__) && defined(__OPTIMIZE__)
#define DISPATCH_VECTOR __attribute__((optimize("O3"), target_clones("avx2", "default")))
#else
#define DISPATCH_VECTOR
#endif

#define DISPATCH_LOOSE __attribute__((aligned(1), may_alias))
typedef uint8_t dispatch_u1 DISPATCH_LOOSE;
typedef uint16_t dispatch_u2 DISPATCH_LOOSE;
typedef uint32_t dispatch_u4 DISPATCH_LOOSE;
typedef uint64_t dispatch_u8 DISPATCH_LOOSE;
typedef struct __attribute__((packed, may_alias)) { uint64_t low, high; } dispatch_u16;
typedef struct __attribute__((packed, may_alias)) { uint64_t parts[4]; } dispatch_u32;
typedef struct __attribute__((packed, may_alias)) { uint64_t parts[8]; } dispatch_u64;
typedef struct __attribute__((packed, may_alias)) { uint64_t parts[16]; } dispatch_u128;
typedef struct __attribute__((packed, may_alias)) { uint64_t parts[32]; } dispatch_u256;

/* ---- complex numbers */

typedef struct { float re, im; } dispatch_c8;
typedef struct { double re, im; } dispatch_c16;

/* ---- loading and storing: X(name, code, bytes, computed in) */

#define DISPATCH_INTEGERS(X) \
    X(u8, 0, 1, uint8_t) X(i8, 1, 1, int8_t) X(i16, 2, 2, int16_t) X(i32, 3, 4, int32_t) X(i64, 4, 8, int64_t)
#define DISPATCH_FLOATS(X) X(f16, 5, 2, float) X(f32, 6, 4, float) X(f64, 7, 8, double) X(bf16, 15, 2, float)
#define DISPATCH_COMPLEX(X) X(c64, 9, 8, dispatch_c8) X(c128, 10, 16, dispatch_c16)
#define DISPATCH_WIDE_UNSIGNED(X) X(u16, 27, 2, uint16_t) X(u32, 28, 4, uint32_t) X(u64, 29, 8, uint64_t)
#define DISPATCH_BOOL(X) X(b1, 11, 1, uint8_t)

#define DISPATCH_PLAIN_ELEMENT(name, code, bytes, V) \
    typedef V dispatch_v_##name; \
    static inline V dispatch_load_##name(const char* p) { V v; memcpy(&v, p, sizeof(V)); return v; } \
    static inline void dispatch_store_##name(char* p, V v) { memcpy(p, &v, sizeof(V)); }
DISPATCH_INTEGERS(DISPATCH_PLAIN_ELEMENT)
DISPATCH_WIDE_UNSIGNED(DISPATCH_PLAIN_ELEMENT)
DISPATCH_COMPLEX(DISPATCH_PLAIN_ELEMENT)
DISPATCH_PLAIN_ELEMENT(f32, 6, 4, float)
DISPATCH_PLAIN_ELEMENT(f64, 7, 8, double)
typedef uint8_t dispatch_v_b1;
static inline uint8_t dispatch_load_b1(const char* p) { return *p != 0; }
static inline void dispatch_store_b1(char* p, uint8_t v) { *p = v != 0; }
typedef float dispatch_v_f16;
static inline float dispatch_load_f16(const char* p) { return f32_of_f16(*(const dispatch_u2*)p); }
static inline void dispatch_store_f16(char* p, float v) { *(dispatch_u2*)p = f16_of_f32(v); }
typedef float dispatch_v_bf16;
static inline float dispatch_load_bf16(const char* p) { return f32_of_bf16(*(const dispatch_u2*)p); }
static inline void dispatch_store_bf16(char* p, float v) { *(dispatch_u2*)p = bf16_of_f32(v); }
typedef dispatch_c8 dispatch_v_c32;
static inline dispatch_c8 dispatch_load_c32(const char* p) {
    dispatch_c8 v = {dispatch_load_f16(p), dispatch_load_f16(p + 2)};
    return v;
}
static inline void dispatch_store_c32(char* p, dispatch_c8 v) { dispatch_store_f16(p, v.re); dispatch_store_f16(p + 2, v.im); }
#define DISPATCH_BYTES(S, code, bytes, V) enum { dispatch_bytes_##S = bytes };
DISPATCH_INTEGERS(DISPATCH_BYTES)
DISPATCH_FLOATS(DISPATCH_BYTES)
DISPATCH_COMPLEX(DISPATCH_BYTES)
DISPATCH_WIDE_UNSIGNED(DISPATCH_BYTES)
DISPATCH_BOOL(DISPATCH_BYTES)
#endif
