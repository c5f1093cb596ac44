/* Scans of a row: sums, products, extremes and sums of exponentials up to each element; steps for `row_walk.h`.

   Sums and products of float32 run in double precision, as PyTorch's do. NaN is larger and smaller than every number, and of
   equal extremes the last one's place counts. */
#ifndef DISPATCH_SCAN_H
#define DISPATCH_SCAN_H
#include <complex.h>
#undef I

#include "exps.h"
#include "row_walk.h"

#pragma GCC push_options
#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math", "wrapv")

#define SCAN_SUM(K, T, WIDER) \
    static void cumsum_##K(const void **in, void **out, int64_t n, const void *context) \
    { \
        const T *x = in[0]; \
        T *y = out[0]; \
        WIDER total = 0; \
        int64_t i = 0; \
        (void)context; \
        for (; i + 4 <= n; i += 4) { \
            WIDER a = x[i], b = a + x[i + 1], c = x[i + 2], d = c + x[i + 3]; \
            y[i] = (T)(total + a); \
            y[i + 1] = (T)(total + b); \
            y[i + 2] = (T)(total + (b + c)); \
            total += b + d; \
            y[i + 3] = (T)total; \
        } \
        for (; i < n; i++) \
            y[i] = (T)(total += x[i]); \
    } \
    static void cumprod_##K(const void **in, void **out, int64_t n, const void *context) \
    { \
        const T *x = in[0]; \
        T *y = out[0]; \
        WIDER total = 1; \
        (void)context; \
        for (int64_t i = 0; i < n; i++) \
            y[i] = (T)(total *= x[i]); \
    }
SCAN_SUM(f32, float, double)
SCAN_SUM(f64, double, double)
SCAN_SUM(i64, int64_t, int64_t)

#define SCAN_COMPLEX(K, T) \
    static void cumsum_##K(const void **in, void **out, int64_t n, const void *context) \
    { \
        const T *x = in[0]; \
        T *y = out[0]; \
        double re = 0, im = 0; \
        (void)context; \
        for (int64_t i = 0; i < 2 * n; i += 2) { \
            y[i] = (T)(re += x[i]); \
            y[i + 1] = (T)(im += x[i + 1]); \
        } \
    } \
    static void cumprod_##K(const void **in, void **out, int64_t n, const void *context) \
    { \
        const T *x = in[0]; \
        T *y = out[0]; \
        double re = 1, im = 0; \
        (void)context; \
        for (int64_t i = 0; i < 2 * n; i += 2) { \
            double a = x[i], b = x[i + 1], next = re * a - im * b; \
            im = re * b + im * a; \
            re = next; \
            y[i] = (T)re; \
            y[i + 1] = (T)im; \
        } \
    }
SCAN_COMPLEX(c64, float)
SCAN_COMPLEX(c128, double)

/* Most blocks have no element that is better than what came before: they are looked through at once, and filled. */
enum { SCAN_BLOCK = 16 };
typedef uint32_t flag_f32;
typedef uint64_t flag_f64;
typedef uint64_t flag_i64;
#define SCAN_EXTREME(NAME, K, T, BETTER) \
    WIDE static void NAME##_##K(const void **in, void **out, int64_t n, const void *context) \
    { \
        const T *x = in[0]; \
        T *values = out[0], best = x[0]; \
        int64_t *places = out[1], place = 0; \
        (void)context; \
        for (int64_t i = 0; i < n;) { \
            const int64_t end = n - i < SCAN_BLOCK ? n : i + SCAN_BLOCK; \
            flag_##K any = 0; \
            if (end == i + SCAN_BLOCK) { \
                for (int k = 0; k < SCAN_BLOCK; k++) \
                    any |= (flag_##K)(x[i + k] BETTER best) | (flag_##K)(x[i + k] != x[i + k]); \
                if (!any) { \
                    for (int k = 0; k < SCAN_BLOCK; k++) \
                        values[i + k] = best; \
                    for (int k = 0; k < SCAN_BLOCK; k++) \
                        places[i + k] = place; \
                    i = end; \
                    continue; \
                } \
            } \
            for (; i < end; i++) { \
                const T v = x[i]; \
                const bool better = (v BETTER best) | (v != v); \
                best = better ? v : best; \
                place ^= (place ^ i) & -(int64_t)better;        /* as a choice it would become a branch */ \
                values[i] = best; \
                places[i] = place; \
            } \
        } \
    }
SCAN_EXTREME(cummax, f32, float, >=)
SCAN_EXTREME(cummax, f64, double, >=)
SCAN_EXTREME(cummax, i64, int64_t, >=)
SCAN_EXTREME(cummin, f32, float, <=)
SCAN_EXTREME(cummin, f64, double, <=)
SCAN_EXTREME(cummin, i64, int64_t, <=)

/* log(exp(a) + exp(x)), where infinities of one sign stay what they are. A new largest element rescales the sum. */
#define SCAN_EXPS(K, T, LOG) \
    static void logcumsumexp_##K(const void **in, void **out, int64_t n, const void *context) \
    { \
        const T *x = in[0]; \
        T *y = out[0]; \
        double top = -INFINITY, sum = 0; \
        (void)context; \
        for (int64_t i = 0; i < n; i++) { \
            double v = x[i]; \
            if (v > top) { \
                sum = sum * exp_f64(top - v) + 1; \
                top = v; \
            } else if (v == top) \
                sum += top == -INFINITY ? 0 : 1; \
            else \
                sum += exp_f64(v - top); \
            y[i] = (T)(sum == 0 ? -INFINITY : top + LOG(sum)); \
        } \
    }
SCAN_EXPS(f32, float, log)
SCAN_EXPS(f64, double, log)

/* The same of complex numbers. The angle is added to that of the larger one, and not wrapped; nothing has the angle 0. */
static double _Complex add_exps(double _Complex a, double _Complex b)
{
    const bool swapped = creal(a) <= creal(b);
    const double _Complex large = swapped ? b : a, small = swapped ? a : b;
    double _Complex e;
    double parts[2];
    if (creal(a) != creal(a) || cimag(a) != cimag(a) || creal(b) != creal(b) || cimag(b) != cimag(b)) {
        parts[0] = parts[1] = NAN;
        memcpy(&e, parts, sizeof e);
        return e;
    }
    if (creal(a) == creal(b) && isinf(creal(a)))
        return creal(a) < 0 ? a : clog(cexp(a) + cexp(b));
    e = cexp(small - large);
    parts[0] = log(hypot(creal(e) + 1, cimag(e))) + creal(large);
    parts[1] = atan2(cimag(e), creal(e) + 1) + cimag(large);
    memcpy(&e, parts, sizeof e);
    return e;
}
#define SCAN_COMPLEX_EXPS(K, T) \
    static void logcumsumexp_##K(const void **in, void **out, int64_t n, const void *context) \
    { \
        const T _Complex *x = in[0]; \
        T _Complex *y = out[0]; \
        double _Complex total = -INFINITY; \
        (void)context; \
        for (int64_t i = 0; i < n; i++) { \
            total = add_exps(total, x[i]); \
            y[i] = (T _Complex)total; \
        } \
    }
SCAN_COMPLEX_EXPS(c64, float)
SCAN_COMPLEX_EXPS(c128, double)

/* Columns, side by side: WIDTH elements of T each. */
#define SCAN_COLS(NAME, K, T, WIDTH, WIDER, FIRST, OP) \
    WIDE static void NAME##_cols_##K(char **data, const intptr_t *steps, int64_t n, int64_t m) \
    { \
        const char *x = data[0]; \
        char *y = data[1]; \
        WIDER total[WALK_COLS * WIDTH]; \
        for (int64_t j = 0; j < m * WIDTH; j++) \
            total[j] = FIRST; \
        for (int64_t i = 0; i < n; i++, x += steps[0], y += steps[1]) \
            for (int64_t j = 0; j < m * WIDTH; j++) { \
                total[j] = total[j] OP ((const T *)x)[j]; \
                ((T *)y)[j] = (T)total[j]; \
            } \
    }
SCAN_COLS(cumsum, f32, float, 1, double, 0, +)
SCAN_COLS(cumsum, f64, double, 1, double, 0, +)
SCAN_COLS(cumsum, i64, int64_t, 1, int64_t, 0, +)
SCAN_COLS(cumsum, c64, float, 2, double, 0, +)
SCAN_COLS(cumsum, c128, double, 2, double, 0, +)
SCAN_COLS(cumprod, f32, float, 1, double, 1, *)
SCAN_COLS(cumprod, f64, double, 1, double, 1, *)
SCAN_COLS(cumprod, i64, int64_t, 1, int64_t, 1, *)

#define COMPLEX_PRODUCT_COLS(K, T) \
    WIDE static void cumprod_cols_##K(char **data, const intptr_t *steps, int64_t n, int64_t m) \
    { \
        const char *x = data[0]; \
        char *y = data[1]; \
        double re[WALK_COLS], im[WALK_COLS]; \
        for (int64_t j = 0; j < m; j++) \
            re[j] = 1, im[j] = 0; \
        for (int64_t i = 0; i < n; i++, x += steps[0], y += steps[1]) \
            for (int64_t j = 0; j < m; j++) { \
                const double a = ((const T *)x)[2 * j], b = ((const T *)x)[2 * j + 1], next = re[j] * a - im[j] * b; \
                im[j] = re[j] * b + im[j] * a; \
                re[j] = next; \
                ((T *)y)[2 * j] = (T)next; \
                ((T *)y)[2 * j + 1] = (T)im[j]; \
            } \
    }
COMPLEX_PRODUCT_COLS(c64, float)
COMPLEX_PRODUCT_COLS(c128, double)

#define EXTREME_COLS(NAME, K, T, BETTER) \
    WIDE static void NAME##_cols_##K(char **data, const intptr_t *steps, int64_t n, int64_t m) \
    { \
        const char *x = data[0]; \
        char *to = data[1], *to_places = data[2]; \
        T best[WALK_COLS]; \
        int64_t place[WALK_COLS] = {0}; \
        memcpy(best, x, (size_t)m * sizeof(T)); \
        for (int64_t i = 0; i < n; i++, x += steps[0], to += steps[1], to_places += steps[2]) { \
            T *values = (T *)to; \
            int64_t *places = (int64_t *)to_places; \
            for (int64_t j = 0; j < m; j++) { \
                const T v = ((const T *)x)[j]; \
                const bool better = (v BETTER best[j]) | (v != v); \
                best[j] = better ? v : best[j]; \
                place[j] = better ? i : place[j]; \
                values[j] = best[j]; \
                places[j] = place[j]; \
            } \
        } \
    }
EXTREME_COLS(cummax, f32, float, >=)
EXTREME_COLS(cummax, f64, double, >=)
EXTREME_COLS(cummax, i64, int64_t, >=)
EXTREME_COLS(cummin, f32, float, <=)
EXTREME_COLS(cummin, f64, double, <=)
EXTREME_COLS(cummin, i64, int64_t, <=)

enum scan_op { CUMSUM, CUMPROD, CUMMAX, CUMMIN, LOGCUMSUMEXP, SCAN_OPS };
static const row_step_fn SCAN_STEPS[SCAN_OPS][5] = {
    {cumsum_f32, cumsum_f64, cumsum_i64, cumsum_c64, cumsum_c128},
    {cumprod_f32, cumprod_f64, cumprod_i64, cumprod_c64, cumprod_c128},
    {cummax_f32, cummax_f64, cummax_i64, NULL, NULL},
    {cummin_f32, cummin_f64, cummin_i64, NULL, NULL},
    {logcumsumexp_f32, logcumsumexp_f64, NULL, logcumsumexp_c64, logcumsumexp_c128},
};
static const row_cols_fn SCAN_COLUMNS[SCAN_OPS][5] = {
    [CUMSUM] = {cumsum_cols_f32, cumsum_cols_f64, cumsum_cols_i64, cumsum_cols_c64, cumsum_cols_c128},
    [CUMPROD] = {cumprod_cols_f32, cumprod_cols_f64, cumprod_cols_i64, cumprod_cols_c64, cumprod_cols_c128},
    [CUMMAX] = {cummax_cols_f32, cummax_cols_f64, cummax_cols_i64},
    [CUMMIN] = {cummin_cols_f32, cummin_cols_f64, cummin_cols_i64},
};
#pragma GCC pop_options
#endif
