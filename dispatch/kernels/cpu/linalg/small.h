/* LAPACK's steps for matrices of a few rows, where a call of BLAS costs more than its arithmetic: triangular factors, triangles
   solved, reflectors. Arguments, pivots and `info` are LAPACK's; the leading dimension is the number of rows, but where triangles
   are solved and in panels. Each is compiled for 2, 3 and 4 rows, and for any number up to a limit. */
#ifndef DISPATCH_LINALG_SMALL_H
#define DISPATCH_LINALG_SMALL_H
#include <float.h>
#include <math.h>
#include "../rows.h"


#pragma GCC push_options
#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math", "fp-contract=off", "no-tree-slp-vectorize")

#define SMALL_ORDER 16                             /* rows and columns of what is factored here */
#define SMALL_TRIANGLE 64                          /* rows of triangles that are solved with here */

#define SMALL_NAME_(name, k) small_##name##_##k
#define SMALL_NAME(name, k) SMALL_NAME_(name, k)
#define SMALL(name) SMALL_NAME(name, KIND)
#define TIMES SMALL(times)
#define INVERSE SMALL(inverse)
/* f with the order as a constant where that is small. */
#define WITH_ORDER(n, f, ...) \
    switch (n) { \
    case 1: f(1, __VA_ARGS__); break; \
    case 2: f(2, __VA_ARGS__); break; \
    case 3: f(3, __VA_ARGS__); break; \
    case 4: f(4, __VA_ARGS__); break; \
    default: f(n, __VA_ARGS__); \
    }

/* Of numbers above zero, which are in the same order. */
EACH int64_t small_bits_f32(float x) { int32_t bits; memcpy(&bits, &x, 4); return bits; }
EACH int64_t small_bits_f64(double x) { int64_t bits; memcpy(&bits, &x, 8); return bits; }
/* Without C's care for infinities in products of complex numbers, as BLAS. */
#define COMPLEX_ARITHMETIC(K, R) \
    EACH R _Complex small_times_##K(R _Complex a, R _Complex b) \
    { \
        return __builtin_complex(__real__ a * __real__ b - __imag__ a * __imag__ b, \
                                 __real__ a * __imag__ b + __imag__ a * __real__ b); \
    } \
    EACH R _Complex small_inverse_##K(R _Complex a) \
    { \
        const R re = __real__ a, im = __imag__ a; \
        if ((re < 0 ? -re : re) >= (im < 0 ? -im : im)) { \
            const R ratio = im / re, by = 1 / (re + ratio * im); \
            return __builtin_complex(by, -ratio * by); \
        } \
        const R ratio = re / im, by = 1 / (im + ratio * re); \
        return __builtin_complex(ratio * by, -by); \
    } \
    EACH R small_size_##K(R _Complex a) \
    { \
        return (R)fabs(__real__ a) + (R)fabs(__imag__ a); \
    } \
    EACH R small_square_##K(R _Complex a) { return __real__ a * __real__ a + __imag__ a * __imag__ a; }
COMPLEX_ARITHMETIC(c, float)
COMPLEX_ARITHMETIC(z, double)
#define REAL_ARITHMETIC(K, R) \
    EACH R small_times_##K(R a, R b) { return a * b; } \
    EACH R small_inverse_##K(R a) { return 1 / a; } \
    EACH R small_size_##K(R a) { return (R)fabs(a); } \
    EACH R small_square_##K(R a) { return a * a; }
REAL_ARITHMETIC(s, float)
REAL_ARITHMETIC(d, double)
#undef COMPLEX_ARITHMETIC
#undef REAL_ARITHMETIC

/* A register of numbers; of complex ones, `turned` is times the imaginary unit. */
#define LANES_OF(R, I, ...) \
    typedef R small_lanes_##R __attribute__((vector_size(64), may_alias)); \
    typedef I small_places_##R __attribute__((vector_size(64))); \
    static const small_places_##R small_turned_##R = {__VA_ARGS__};
LANES_OF(float, int32_t, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14)
LANES_OF(double, int64_t, 1, 0, 3, 2, 5, 4, 7, 6)
static const small_lanes_float small_signs_float = {-1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1};
static const small_lanes_double small_signs_double = {-1, 1, -1, 1, -1, 1, -1, 1};
#undef LANES_OF
#define NOT_TURNED(to, x) (void)to
#define TURNED_float(to, x) to = __builtin_shuffle(x, small_turned_float) * small_signs_float
#define TURNED_double(to, x) to = __builtin_shuffle(x, small_turned_double) * small_signs_double
#define REAL_LANES(to, by, x, turned) to = (by) * (x)
#define COMPLEX_LANES(to, by, x, turned) to = __real__(by) * (x) + __imag__(by) * (turned)

#define KIND s
#define T float
#define R float
#define LEAST FLT_MIN
#define BITS small_bits_f32
#define ROOT sqrtf
#define LONG double
#define LONG_ROOT sqrt
#define CONJ(a) (a)
#define TURN NOT_TURNED
#define TIMES_LANES REAL_LANES
#include "small_kind.h"
#define KIND d
#define T double
#define R double
#define LEAST DBL_MIN
#define BITS small_bits_f64
#define ROOT sqrt
#define LONG long double
#define LONG_ROOT sqrtl
#define CONJ(a) (a)
#define TURN NOT_TURNED
#define TIMES_LANES REAL_LANES
#include "small_kind.h"
#define KIND c
#define T float _Complex
#define R float
#define LEAST FLT_MIN
#define BITS small_bits_f32
#define ROOT sqrtf
#define LONG double
#define LONG_ROOT sqrt
#define CONJ(a) (~(a))
#define TURN TURNED_float
#define TIMES_LANES COMPLEX_LANES
#include "small_kind.h"
#define KIND z
#define T double _Complex
#define R double
#define LEAST DBL_MIN
#define BITS small_bits_f64
#define ROOT sqrt
#define LONG long double
#define LONG_ROOT sqrtl
#define CONJ(a) (~(a))
#define TURN TURNED_double
#define TIMES_LANES COMPLEX_LANES
#include "small_kind.h"

/* By LAPACK's place of a dtype. */
static void *const small_getrf[4] = {small_getrf_s, small_getrf_d, small_getrf_c, small_getrf_z};
static void *const small_panel[4] = {small_panel_s, small_panel_d, small_panel_c, small_panel_z};
static void *const small_trsm[4] = {small_trsm_s, small_trsm_d, small_trsm_c, small_trsm_z};
static void *const small_potrf[4] = {small_potrf_s, small_potrf_d, small_potrf_c, small_potrf_z};
static void *const small_geqrf[4] = {small_geqrf_s, small_geqrf_d, small_geqrf_c, small_geqrf_z};
static void *const small_orgqr[4] = {small_orgqr_s, small_orgqr_d, small_orgqr_c, small_orgqr_z};

#pragma GCC pop_options
#undef WITH_ORDER
#endif
