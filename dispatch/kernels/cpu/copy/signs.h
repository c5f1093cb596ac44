/* One row copied with signs changed: conjugates and negatives, as their bits ask for. */
#ifndef DISPATCH_SIGNS_H
#define DISPATCH_SIGNS_H
#include "strided.h"

/* PART: what holds a part, NEGATIVE turns its sign round. Numbers mostly lie without gaps. */
#define DISPATCH_CONJ_RUN(S, PART, NEGATIVE) \
    DISPATCH_VECTOR static void dispatch_conj_row_##S(const PART* from, PART* to, intptr_t n) { \
        for (intptr_t i = 0; i < n; i++) { \
            PART re = from[2 * i], im = from[2 * i + 1]; \
            to[2 * i] = re; \
            to[2 * i + 1] = (PART)(NEGATIVE im); \
        } \
    } \
    static void dispatch_conj_##S(const char* from, intptr_t b, char* to, intptr_t a, intptr_t n) { \
        if (a == 2 * (intptr_t)sizeof(PART) && b == a && ((uintptr_t)from | (uintptr_t)to) % sizeof(PART) == 0) { \
            dispatch_conj_row_##S((const PART*)from, (PART*)to, n); \
            return; \
        } \
        for (intptr_t i = 0; i < n; i++) { \
            dispatch_v_##S v = dispatch_load_##S(from + i * b); \
            v.im = -v.im; \
            dispatch_store_##S(to + i * a, v); \
        } \
    }
#define DISPATCH_NEG_RUN(S, code, bytes, V) \
    static void dispatch_neg_##S(const char* from, intptr_t b, char* to, intptr_t a, intptr_t n) { \
        int64_t i; \
        for (i = 0; i < n; i++) dispatch_store_##S(to + i * a, (V)-dispatch_load_##S(from + i * b)); \
    }
#define DISPATCH_NEG_COMPLEX_RUN(S) \
    static void dispatch_neg_##S(const char* from, intptr_t b, char* to, intptr_t a, intptr_t n) { \
        int64_t i; \
        for (i = 0; i < n; i++) { \
            dispatch_v_##S v = dispatch_load_##S(from + i * b); \
            v.re = -v.re; v.im = -v.im; \
            dispatch_store_##S(to + i * a, v); \
        } \
    }
DISPATCH_CONJ_RUN(c32, uint16_t, 0x8000 ^) DISPATCH_CONJ_RUN(c64, float, -) DISPATCH_CONJ_RUN(c128, double, -)
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
