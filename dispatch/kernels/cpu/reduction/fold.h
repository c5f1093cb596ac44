/* Reductions: what is folded into what, and the one driver that walks any strides and dimensions.

   A rule has an initial state, a step that folds a row into one state (`row`), one that folds rows into as many states as they
   have elements (`cols`), and a finish that makes results of states. The driver joins dimensions, walks the kept ones in tiles,
   and folds along the innermost reduced dimension or across it, whichever has its elements closer together.
   Sums of floats are trees of eight, added up in double precision, so that no long sum loses bits. */
#ifndef DISPATCH_FOLD_H
#define DISPATCH_FOLD_H
#include "fold_ops.h"
#include "rows.h"

enum { FOLD_TILE = 512, FOLD_SLOTS = 3, FOLD_DIMS = 64 };

/* States of a tile: FOLD_SLOTS arrays of FOLD_TILE numbers, which a rule uses as it likes. */
typedef struct { double slot[FOLD_SLOTS][FOLD_TILE * 2]; } fold_states;

typedef struct {
    int64_t count;           /* elements that are folded into one */
    double order;            /* of a norm; the correction of a variance */
    int64_t position;        /* of the first row that is folded next */
    bool narrow_f16, narrow_bf16;     /* a product is rounded to that at each step */
} fold_context;

typedef struct {
    void (*init)(fold_states *s, int64_t n);
    void (*row)(const void *x, int64_t n, fold_states *s, int64_t at, const fold_context *c);
    void (*cols)(const char *x, intptr_t row_step, int64_t rows, int64_t n, fold_states *s, const fold_context *c);
    void (*finish)(const fold_states *s, int64_t n, void *values, int64_t *places, const fold_context *c);
    /* NULL, or many short rows `step` bytes apart: row k goes to state at + k if `each`, else to state at. */
    void (*rows)(const char *x, intptr_t step, int64_t rows, int64_t n, fold_states *s, int64_t at, bool each);
} fold_rule;

#pragma GCC push_options
#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math", "wrapv")

typedef float vec_f32 __attribute__((vector_size(32), aligned(4), may_alias));
typedef double vec_f64 __attribute__((vector_size(32), aligned(8), may_alias));
typedef int64_t vec_i64 __attribute__((vector_size(32), aligned(8), may_alias));
typedef int32_t mask_f32 __attribute__((vector_size(32), aligned(4), may_alias));
typedef int64_t mask_f64 __attribute__((vector_size(32), aligned(8), may_alias));
typedef int64_t mask_i64 __attribute__((vector_size(32), aligned(8), may_alias));
enum { LANES_f32 = 8, LANES_f64 = 4, LANES_i64 = 4 };
typedef float num_f32;
typedef double num_f64;
typedef int64_t num_i64;
typedef double sum_f32;
typedef double sum_f64;
typedef int64_t sum_i64;

/* ---- sums of something made of each element: as a vector, and as a number ---- */

#define ITSELF_V(K, x) (x)
#define ITSELF(K, x) (x)
#define SQUARE_V(K, x) ((x) * (x))
#define SQUARE(K, x) ((x) * (x))
#define COUNT_V(K, x) ((vec_##K)(((x) != 0) & (mask_##K)ONE_##K))
#define COUNT(K, x) ((num_##K)((x) != 0))
#define NUMBERS_V(K, x) ((vec_##K)(((x) == (x)) & (mask_##K)(x)))
#define NUMBERS(K, x) ((x) == (x) ? (x) : 0)
#define ABS_V(K, x) ((vec_##K)((mask_##K)(x) & ~(mask_##K)SIGN_##K))
#define ABS(K, x) ABS_##K(x)
#define ABS_f32 fabsf
#define ABS_f64 fabs
#define ONE_f32 ((vec_f32){1, 1, 1, 1, 1, 1, 1, 1})
#define ONE_f64 ((vec_f64){1, 1, 1, 1})
#define ONE_i64 ((vec_i64){1, 1, 1, 1})
#define SIGN_f32 ((vec_f32){-0.f, -0.f, -0.f, -0.f, -0.f, -0.f, -0.f, -0.f})
#define SIGN_f64 ((vec_f64){-0., -0., -0., -0.})

/* total + part, with what is rounded off kept in `rest`; infinities leave no rest. */
EACH double add_with_rest(double total, double part, double *rest)
{
    double wanted = part - *rest, sum = total + wanted, lost = sum - total - wanted;
    *rest = lost - lost == 0 ? lost : 0;
    return sum;
}
#define ADD_f32(total, part, rest) total = add_with_rest(total, part, &rest)
#define ADD_f64(total, part, rest) total = add_with_rest(total, part, &rest)
#define ADD_i64(total, part, rest) total = (int64_t)((uint64_t)total + (uint64_t)(part))

/* Eight vectors are added as a tree, whose sum goes to lanes of double precision; blocks to a total with a rest. */
typedef vec_f64 vec_sum_f32;
typedef vec_f64 vec_sum_f64;
typedef vec_i64 vec_sum_i64;
typedef float half_f32 __attribute__((vector_size(16)));
EACH void widen_f32(vec_f64 *sums, const vec_f32 *v)
{
    half_f32 low, high;
    memcpy(&low, v, 16);
    memcpy(&high, (const char *)v + 16, 16);
    *sums += __builtin_convertvector(low, vec_f64) + __builtin_convertvector(high, vec_f64);
}
#define WIDEN_f32(sums, v) widen_f32(&sums, &v)
#define WIDEN_f64(sums, v) sums += v
#define WIDEN_i64(sums, v) sums += v
#define SUM_OF_EIGHT(K, OF, v) \
    (((OF(K, v[0]) + OF(K, v[1])) + (OF(K, v[2]) + OF(K, v[3]))) + ((OF(K, v[4]) + OF(K, v[5])) + (OF(K, v[6]) + OF(K, v[7]))))
#define SUM_ROW(NAME, K, OF) \
    WIDE static void NAME##_row_##K(const void *given, int64_t n, fold_states *s, int64_t at, const fold_context *c) \
    { \
        enum { L = LANES_##K }; \
        const num_##K *x = given; \
        sum_##K total = 0; \
        double rest = 0; \
        (void)c, (void)rest; \
        while (n > 0) { \
            int64_t m = n < 2 * ROW_BLOCK ? n : 2 * ROW_BLOCK, i = 0; \
            vec_sum_##K sums = {0}; \
            vec_##K a = {0}; \
            sum_##K left = 0; \
            for (; i + 8 * L <= m; i += 8 * L) { \
                const vec_##K *v = (const vec_##K *)(x + i), p = SUM_OF_EIGHT(K, OF##_V, v); \
                WIDEN_##K(sums, p); \
            } \
            for (; i + L <= m; i += L) \
                a += OF##_V(K, *(const vec_##K *)(x + i)); \
            WIDEN_##K(sums, a); \
            for (; i < m; i++) \
                left += (sum_##K)OF(K, x[i]); \
            left += (sums[0] + sums[1]) + (sums[2] + sums[3]); \
            ADD_##K(total, left, rest); \
            x += m; \
            n -= m; \
        } \
        ((sum_##K *)s->slot[0])[at] += total; \
    }

/* Eight rows are added as a tree before their sum goes to the state. */
#define SUM_COLS(NAME, K, OF) \
    WIDE static void NAME##_cols_##K(const char *x, intptr_t step, int64_t rows, int64_t n, fold_states *s, \
                                     const fold_context *c) \
    { \
        sum_##K *restrict to = (sum_##K *)s->slot[0]; \
        int64_t r = 0; \
        (void)c; \
        for (; r + 8 <= rows; r += 8, x += 8 * step) { \
            const num_##K *p0 = (const num_##K *)x, *p1 = (const num_##K *)(x + step); \
            const num_##K *p2 = (const num_##K *)(x + 2 * step), *p3 = (const num_##K *)(x + 3 * step); \
            const num_##K *p4 = (const num_##K *)(x + 4 * step), *p5 = (const num_##K *)(x + 5 * step); \
            const num_##K *p6 = (const num_##K *)(x + 6 * step), *p7 = (const num_##K *)(x + 7 * step); \
            for (int64_t j = 0; j < n; j++) \
                to[j] += (sum_##K)(((OF(K, p0[j]) + OF(K, p1[j])) + (OF(K, p2[j]) + OF(K, p3[j]))) \
                                   + ((OF(K, p4[j]) + OF(K, p5[j])) + (OF(K, p6[j]) + OF(K, p7[j])))); \
        } \
        for (; r + 4 <= rows; r += 4, x += 4 * step) { \
            const num_##K *p0 = (const num_##K *)x, *p1 = (const num_##K *)(x + step); \
            const num_##K *p2 = (const num_##K *)(x + 2 * step), *p3 = (const num_##K *)(x + 3 * step); \
            for (int64_t j = 0; j < n; j++) \
                to[j] += (sum_##K)((OF(K, p0[j]) + OF(K, p1[j])) + (OF(K, p2[j]) + OF(K, p3[j]))); \
        } \
        for (; r < rows; r++, x += step) { \
            const num_##K *p = (const num_##K *)x; \
            for (int64_t j = 0; j < n; j++) \
                to[j] += (sum_##K)OF(K, p[j]); \
        } \
    }
#define SUM(NAME, K, OF) SUM_ROW(NAME, K, OF) SUM_COLS(NAME, K, OF)

static void sum_init_f32(fold_states *s, int64_t n) { memset(s->slot[0], 0, (size_t)n * 8); }
#define sum_init_f64 sum_init_f32
#define sum_init_i64 sum_init_f32

#define FINISH(NAME, K, R, EXPRESSION) \
    WIDE static void NAME##_finish_##K(const fold_states *s, int64_t n, void *values, int64_t *places, const fold_context *c) \
    { \
        const sum_##K *x = (const sum_##K *)s->slot[0]; \
        const double count = (double)c->count, share = 1 / count; \
        (void)places, (void)count, (void)share; \
        for (int64_t i = 0; i < n; i++) \
            ((R *)values)[i] = (R)(EXPRESSION); \
    }

SUM(sum, f32, ITSELF)
SUM(sum, f64, ITSELF)
SUM(sum, i64, ITSELF)
FINISH(sum, f32, float, x[i])
FINISH(sum, f64, double, x[i])
FINISH(sum, i64, int64_t, x[i])
FINISH(mean, f32, float, x[i] * share)
FINISH(mean, f64, double, x[i] / count)
SUM(nansum, f32, NUMBERS)
SUM(nansum, f64, NUMBERS)
SUM(count, f32, COUNT)
SUM(count, f64, COUNT)
SUM(count, i64, COUNT)
FINISH(count, f32, int64_t, x[i])
FINISH(count, f64, int64_t, x[i])
FINISH(norm0, f32, float, x[i])
SUM(abs, f32, ABS)
SUM(abs, f64, ABS)
SUM(square, f32, SQUARE)
SUM(square, f64, SQUARE)
FINISH(norm2, f32, float, sqrt(x[i]))
FINISH(norm2, f64, double, sqrt(x[i]))

#include "fold_rows.h"
#include "fold_halves.h"

#define POWERS(K, POW, ABSOLUTE) \
    WIDE static double whole_powers_##K(const num_##K *x, int64_t n, bool four) \
    { \
        double lanes[16] = {0}, total = 0; \
        int64_t i = 0; \
        for (; i + 16 <= n; i += 16) \
            for (int k = 0; k < 16; k++) { \
                const double a = ABSOLUTE(x[i + k]), b = a * a; \
                lanes[k] += four ? b * b : b * a; \
            } \
        for (; i < n; i++) { \
            const double a = ABSOLUTE(x[i]), b = a * a; \
            total += four ? b * b : b * a; \
        } \
        for (int k = 0; k < 16; k++) \
            total += lanes[k]; \
        return total; \
    } \
    static void power_row_##K(const void *given, int64_t n, fold_states *s, int64_t at, const fold_context *c) \
    { \
        const num_##K *x = given, order = (num_##K)c->order; \
        double total = 0; \
        if (c->order == 3 || c->order == 4) { \
            s->slot[0][at] += whole_powers_##K(x, n, c->order == 4); \
            return; \
        } \
        for (int64_t i = 0; i < n; i++) \
            total += POW(ABSOLUTE(x[i]), order); \
        s->slot[0][at] += total; \
    } \
    static void power_cols_##K(const char *x, intptr_t step, int64_t rows, int64_t n, fold_states *s, const fold_context *c) \
    { \
        for (; rows > 0; rows--, x += step) \
            for (int64_t j = 0; j < n; j++) \
                s->slot[0][j] += POW(ABSOLUTE(((const num_##K *)x)[j]), (num_##K)c->order); \
    }
POWERS(f32, powf, fabsf)
POWERS(f64, pow, fabs)
FINISH(power, f32, float, powf((float)x[i], (float)(1 / c->order)))
FINISH(power, f64, double, pow(x[i], 1 / c->order))

/* ---- bits, taken together by exclusive or ---- */

WIDE static void xor_row_i64(const void *given, int64_t n, fold_states *s, int64_t at, const fold_context *c)
{
    const int64_t *x = given;
    int64_t total = 0;
    (void)c;
    for (int64_t i = 0; i < n; i++)
        total ^= x[i];
    ((int64_t *)s->slot[0])[at] ^= total;
}
WIDE static void xor_cols_i64(const char *x, intptr_t step, int64_t rows, int64_t n, fold_states *s, const fold_context *c)
{
    int64_t *restrict to = (int64_t *)s->slot[0];
    (void)c;
    for (; rows > 0; rows--, x += step)
        for (int64_t j = 0; j < n; j++)
            to[j] ^= ((const int64_t *)x)[j];
}

/* ---- complex sums and products: the lanes of a vector are real and imaginary parts in turn ---- */

#define PICK_f32(v, ...) __builtin_shuffle(v, (mask_f32){__VA_ARGS__})
#define PICK_f64(v, ...) __builtin_shuffle(v, (mask_f64){__VA_ARGS__})
#define TIMES_f32(p, z) (PICK_f32(p, 0, 0, 2, 2, 4, 4, 6, 6) * (z) \
                         + PICK_f32(p, 1, 1, 3, 3, 5, 5, 7, 7) * PICK_f32(z, 1, 0, 3, 2, 5, 4, 7, 6) \
                           * (vec_f32){-1, 1, -1, 1, -1, 1, -1, 1})
#define TIMES_f64(p, z) (PICK_f64(p, 0, 0, 2, 2) * (z) \
                         + PICK_f64(p, 1, 1, 3, 3) * PICK_f64(z, 1, 0, 3, 2) * (vec_f64){-1, 1, -1, 1})
#define COMPLEX(K, REAL, PART) \
    WIDE static void csum_row_##K(const void *given, int64_t n, fold_states *s, int64_t at, const fold_context *c) \
    { \
        enum { L = LANES_##PART }; \
        const REAL *x = given; \
        vec_sum_##PART sums = {0}; \
        int64_t i = 0; \
        (void)c; \
        for (; i + 8 * L <= 2 * n; i += 8 * L) { \
            const vec_##PART *v = (const vec_##PART *)(x + i); \
            vec_##PART p = (v[0] + v[1]) + (v[2] + v[3]), q = (v[4] + v[5]) + (v[6] + v[7]); \
            p += q; \
            WIDEN_##PART(sums, p); \
        } \
        double re = sums[0] + sums[2], im = sums[1] + sums[3]; \
        for (; i < 2 * n; i += 2) { \
            re += x[i]; \
            im += x[i + 1]; \
        } \
        s->slot[0][2 * at] += re; \
        s->slot[0][2 * at + 1] += im; \
    } \
    static void csum_cols_##K(const char *x, intptr_t step, int64_t rows, int64_t n, fold_states *s, const fold_context *c) \
    { \
        sum_cols_##PART(x, step, rows, 2 * n, s, c); \
    } \
    static void csum_finish_##K(const fold_states *s, int64_t n, void *values, int64_t *places, const fold_context *c) \
    { \
        (void)places, (void)c; \
        for (int64_t j = 0; j < 2 * n; j++) \
            ((REAL *)values)[j] = (REAL)s->slot[0][j]; \
    } \
    static void cmean_finish_##K(const fold_states *s, int64_t n, void *values, int64_t *places, const fold_context *c) \
    { \
        (void)places; \
        for (int64_t j = 0; j < 2 * n; j++) \
            ((REAL *)values)[j] = (REAL)(s->slot[0][j] / (double)c->count); \
    } \
    WIDE static void cprod_row_##K(const void *given, int64_t n, fold_states *s, int64_t at, const fold_context *c) \
    { \
        enum { L = LANES_##PART }; \
        const REAL *x = given; \
        REAL re = (REAL)s->slot[0][2 * at], im = (REAL)s->slot[0][2 * at + 1]; \
        vec_##PART lanes[4]; \
        int64_t i = 0; \
        (void)c; \
        for (int k = 0; k < 4 * L; k++) \
            lanes[k / L][k % L] = k % 2 ? 0 : 1; \
        for (; i + 4 * L <= 2 * n; i += 4 * L) \
            for (int k = 0; k < 4; k++) { \
                const vec_##PART z = *(const vec_##PART *)(x + i + k * L); \
                lanes[k] = TIMES_##PART(lanes[k], z); \
            } \
        lanes[0] = TIMES_##PART(lanes[0], lanes[1]); \
        lanes[2] = TIMES_##PART(lanes[2], lanes[3]); \
        lanes[0] = TIMES_##PART(lanes[0], lanes[2]); \
        for (int64_t j = i ? -L : 0; j < 2 * n - i; j += 2) { \
            REAL a = j < 0 ? lanes[0][L + j] : x[i + j], b = j < 0 ? lanes[0][L + j + 1] : x[i + j + 1], next = re * a - im * b; \
            im = re * b + im * a; \
            re = next; \
        } \
        s->slot[0][2 * at] = re; \
        s->slot[0][2 * at + 1] = im; \
    } \
    WIDE static void cprod_cols_##K(const char *x, intptr_t step, int64_t rows, int64_t n, fold_states *s, \
                                    const fold_context *c) \
    { \
        double *restrict to = s->slot[0]; \
        (void)c; \
        for (; rows > 0; rows--, x += step) \
            for (int64_t j = 0; j < 2 * n; j += 2) { \
                const REAL a = ((const REAL *)x)[j], b = ((const REAL *)x)[j + 1], re = (REAL)to[j], im = (REAL)to[j + 1]; \
                to[j] = re * a - im * b; \
                to[j + 1] = re * b + im * a; \
            } \
    }
COMPLEX(c64, float, f32)
COMPLEX(c128, double, f64)
static void csum_init(fold_states *s, int64_t n) { memset(s->slot[0], 0, (size_t)n * 16); }
static void cprod_init(fold_states *s, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        s->slot[0][2 * i] = 1, s->slot[0][2 * i + 1] = 0;
}
#define CTRUTH(K, REAL) \
    static void cany_row_##K(const void *given, int64_t n, fold_states *s, int64_t at, const fold_context *c) \
    { \
        (void)c; \
        for (int64_t i = 0; i < 2 * n; i += 2) \
            if (((const REAL *)given)[i] != 0 || ((const REAL *)given)[i + 1] != 0) { \
                ((int64_t *)s->slot[0])[at]++; \
            } \
    } \
    WIDE static void cany_cols_##K(const char *x, intptr_t step, int64_t rows, int64_t n, fold_states *s, \
                                   const fold_context *c) \
    { \
        int64_t *restrict to = (int64_t *)s->slot[0]; \
        (void)c; \
        for (; rows > 0; rows--, x += step) { \
            const REAL *p = (const REAL *)x; \
            for (int64_t j = 0; j < n; j++) \
                to[j] += (p[2 * j] != 0) | (p[2 * j + 1] != 0); \
        } \
    }
CTRUTH(c64, float)
CTRUTH(c128, double)
static void cany_finish(const fold_states *s, int64_t n, void *values, int64_t *places, const fold_context *c)
{
    (void)places, (void)c;
    for (int64_t i = 0; i < n; i++)
        ((int64_t *)values)[i] = ((const int64_t *)s->slot[0])[i] != 0;
}
static void call_finish(const fold_states *s, int64_t n, void *values, int64_t *places, const fold_context *c)
{
    (void)places;
    for (int64_t i = 0; i < n; i++)
        ((int64_t *)values)[i] = ((const int64_t *)s->slot[0])[i] == c->count;
}
#define ccount_finish sum_finish_i64

#define NUMBERS_OF(s, K) ((num_##K *)(s)->slot[0])
#include "fold_products.h"

/* ---- extremes: NaN is the largest and the smallest ---- */

#define LOWEST_f32 -INFINITY
#define LOWEST_f64 -INFINITY
#define LOWEST_i64 INT64_MIN
#define HIGHEST_f32 INFINITY
#define HIGHEST_f64 INFINITY
#define HIGHEST_i64 INT64_MAX
#define IS_NAN(x) ((x) != (x))
#define PICK(K, a, x, BETTER, OF) \
    do { \
        vec_##K v_ = OF(K, x); \
        mask_##K m_ = (v_ BETTER a) | (v_ != v_); \
        a = (vec_##K)((m_ & (mask_##K)v_) | (~m_ & (mask_##K)a)); \
    } while (0)

/* The best of all lanes goes to each of them. */
#define BEST_LANE_f32(a, BETTER) \
    PICK(f32, a, __builtin_shuffle(a, (mask_f32){4, 5, 6, 7, 0, 1, 2, 3}), BETTER, ITSELF_V); \
    PICK(f32, a, __builtin_shuffle(a, (mask_f32){2, 3, 0, 1, 6, 7, 4, 5}), BETTER, ITSELF_V); \
    PICK(f32, a, __builtin_shuffle(a, (mask_f32){1, 0, 3, 2, 5, 4, 7, 6}), BETTER, ITSELF_V);
#define BEST_LANE_f64(a, BETTER) \
    PICK(f64, a, __builtin_shuffle(a, (mask_f64){2, 3, 0, 1}), BETTER, ITSELF_V); \
    PICK(f64, a, __builtin_shuffle(a, (mask_f64){1, 0, 3, 2}), BETTER, ITSELF_V);
#define BEST_LANE_i64(a, BETTER) \
    PICK(i64, a, __builtin_shuffle(a, (mask_i64){2, 3, 0, 1}), BETTER, ITSELF_V); \
    PICK(i64, a, __builtin_shuffle(a, (mask_i64){1, 0, 3, 2}), BETTER, ITSELF_V);

#define EXTREME_OF_ROW(K, x, n, first, BETTER, OF) \
    enum { L = LANES_##K }; \
    vec_##K a0, a1, a2, a3, t; \
    int64_t i = 0; \
    for (int k = 0; k < L; k++) \
        a0[k] = first; \
    t = a1 = a2 = a3 = a0; \
    for (; i + 4 * L <= n; i += 4 * L) { \
        PICK(K, a0, *(const vec_##K *)(x + i), BETTER, OF); \
        PICK(K, a1, *(const vec_##K *)(x + i + L), BETTER, OF); \
        PICK(K, a2, *(const vec_##K *)(x + i + 2 * L), BETTER, OF); \
        PICK(K, a3, *(const vec_##K *)(x + i + 3 * L), BETTER, OF); \
    } \
    for (; i + L <= n; i += L) \
        PICK(K, a0, *(const vec_##K *)(x + i), BETTER, OF); \
    PICK(K, a0, a1, BETTER, ITSELF_V); \
    PICK(K, a2, a3, BETTER, ITSELF_V); \
    PICK(K, a0, a2, BETTER, ITSELF_V);

#define EXTREME(NAME, K, BETTER, WORST, OF) \
    static void NAME##_init_##K(fold_states *s, int64_t n) \
    { \
        for (int64_t i = 0; i < n; i++) \
            NUMBERS_OF(s, K)[i] = WORST##_##K; \
        memset(s->slot[1], 0, (size_t)n * 8); \
    } \
    WIDE static void NAME##_row_##K(const void *given, int64_t n, fold_states *s, int64_t at, const fold_context *c) \
    { \
        const num_##K *x = given; \
        num_##K best = NUMBERS_OF(s, K)[at]; \
        (void)c; \
        EXTREME_OF_ROW(K, x, n, best, BETTER, OF##_V) \
        (void)t; \
        BEST_LANE_##K(a0, BETTER) \
        best = a0[0]; \
        for (; i < n; i++) { \
            num_##K v = OF(K, x[i]); \
            best = (v BETTER best || IS_NAN(v)) ? v : best; \
        } \
        NUMBERS_OF(s, K)[at] = best; \
    } \
    WIDE static void NAME##_cols_##K(const char *x, intptr_t step, int64_t rows, int64_t n, fold_states *s, \
                                     const fold_context *c) \
    { \
        num_##K *restrict to = NUMBERS_OF(s, K); \
        (void)c; \
        for (; rows >= 4; rows -= 4, x += 4 * step) { \
            const num_##K *p = (const num_##K *)x, *q = (const num_##K *)(x + step); \
            const num_##K *r = (const num_##K *)(x + 2 * step), *t = (const num_##K *)(x + 3 * step); \
            for (int64_t j = 0; j < n; j++) { \
                num_##K v = OF(K, p[j]), a = to[j]; \
                a = (v BETTER a) | IS_NAN(v) ? v : a; \
                v = OF(K, q[j]); \
                a = (v BETTER a) | IS_NAN(v) ? v : a; \
                v = OF(K, r[j]); \
                a = (v BETTER a) | IS_NAN(v) ? v : a; \
                v = OF(K, t[j]); \
                to[j] = (v BETTER a) | IS_NAN(v) ? v : a; \
            } \
        } \
        for (; rows > 0; rows--, x += step) { \
            const num_##K *p = (const num_##K *)x; \
            for (int64_t j = 0; j < n; j++) { \
                num_##K v = OF(K, p[j]), a = to[j]; \
                to[j] = (v BETTER a) | IS_NAN(v) ? v : a; \
            } \
        } \
    }
EXTREME(max, f32, >, LOWEST, ITSELF)
EXTREME(max, f64, >, LOWEST, ITSELF)
EXTREME(max, i64, >, LOWEST, ITSELF)
EXTREME(min, f32, <, HIGHEST, ITSELF)
EXTREME(min, f64, <, HIGHEST, ITSELF)
EXTREME(min, i64, <, HIGHEST, ITSELF)
EXTREME(absmax, f32, >, LOWEST, ABS)
EXTREME(absmax, f64, >, LOWEST, ABS)
EXTREME(absmin, f32, <, HIGHEST, ABS)
EXTREME(absmin, f64, <, HIGHEST, ABS)

/* With places: the first of equals. A block is looked through for its extreme, and again only if that is a better one; the second
   look ends with the block, whatever another thread wrote between them. */
#define PLACE(NAME, K, BETTER) \
    WIDE static void NAME##_row_##K(const void *given, int64_t n, fold_states *s, int64_t at, const fold_context *c) \
    { \
        const num_##K *x = given; \
        num_##K best = NUMBERS_OF(s, K)[at]; \
        int64_t *place = (int64_t *)s->slot[1] + at; \
        for (int64_t done = 0; done < n; done += 256, x += 256) { \
            int64_t m = n - done < 256 ? n - done : 256, j = 0; \
            num_##K found = best; \
            { \
                EXTREME_OF_ROW(K, x, m, best, BETTER, ITSELF_V) \
                (void)t; \
                for (int k = 0; k < L; k++) \
                    found = (a0[k] BETTER found || IS_NAN(a0[k])) ? a0[k] : found; \
                for (; i < m; i++) \
                    found = (x[i] BETTER found || IS_NAN(x[i])) ? x[i] : found; \
            } \
            if (IS_NAN(best) || !(found BETTER best || IS_NAN(found))) \
                continue; \
            if (IS_NAN(found)) \
                while (j < m - 1 && !IS_NAN(x[j])) \
                    j++; \
            else \
                while (j < m - 1 && x[j] != found) \
                    j++; \
            best = found; \
            *place = c->position + done + j; \
        } \
        NUMBERS_OF(s, K)[at] = best; \
    } \
    WIDE static void NAME##_cols_##K(const char *x, intptr_t step, int64_t rows, int64_t n, fold_states *s, \
                                     const fold_context *c) \
    { \
        num_##K *restrict to = NUMBERS_OF(s, K); \
        int64_t *restrict place = (int64_t *)s->slot[1]; \
        for (int64_t r = 0; r < rows; r++, x += step) { \
            const num_##K *p = (const num_##K *)x; \
            int64_t here = c->position + r; \
            for (int64_t j = 0; j < n; j++) { \
                num_##K v = p[j], a = to[j]; \
                bool better = (v BETTER a) | (IS_NAN(v) & !IS_NAN(a)); \
                to[j] = better ? v : a; \
                place[j] = better ? here : place[j]; \
            } \
        } \
    }
PLACE(argmax, f32, >)
PLACE(argmax, f64, >)
PLACE(argmax, i64, >)
PLACE(argmin, f32, <)
PLACE(argmin, f64, <)
PLACE(argmin, i64, <)
#define PLACES_FINISH(K) \
    static void places_finish_##K(const fold_states *s, int64_t n, void *values, int64_t *places, const fold_context *c) \
    { \
        (void)c; \
        memcpy(values, s->slot[0], (size_t)n * sizeof(num_##K)); \
        memcpy(places, s->slot[1], (size_t)n * 8); \
    }
PLACES_FINISH(f32)
PLACES_FINISH(f64)
PLACES_FINISH(i64)

/* ---- truth: any and all, which stop where the answer is known ---- */

#define TRUTH_ROW(K) \
    static void any_row_##K(const void *given, int64_t n, fold_states *s, int64_t at, const fold_context *c) \
    { \
        int64_t *to = (int64_t *)s->slot[0] + at; \
        (void)c; \
        for (int64_t i = 0; i < n && !*to; i++) \
            *to = ((const num_##K *)given)[i] != 0; \
    } \
    static void all_row_##K(const void *given, int64_t n, fold_states *s, int64_t at, const fold_context *c) \
    { \
        int64_t *to = (int64_t *)s->slot[0] + at; \
        (void)c; \
        for (int64_t i = 0; i < n && *to; i++) \
            *to = ((const num_##K *)given)[i] != 0; \
    }
#define TRUTH_COLS(K) \
    WIDE static void any_cols_##K(const char *x, intptr_t step, int64_t rows, int64_t n, fold_states *s, const fold_context *c) \
    { \
        int64_t *restrict to = (int64_t *)s->slot[0]; \
        (void)c; \
        for (; rows > 0; rows--, x += step) \
            for (int64_t j = 0; j < n; j++) \
                to[j] |= ((const num_##K *)x)[j] != 0; \
    } \
    WIDE static void all_cols_##K(const char *x, intptr_t step, int64_t rows, int64_t n, fold_states *s, const fold_context *c) \
    { \
        int64_t *restrict to = (int64_t *)s->slot[0]; \
        (void)c; \
        for (; rows > 0; rows--, x += step) \
            for (int64_t j = 0; j < n; j++) \
                to[j] &= ((const num_##K *)x)[j] != 0; \
    }
typedef uint8_t num_b8;
TRUTH_ROW(f32) TRUTH_COLS(f32)
TRUTH_ROW(f64) TRUTH_COLS(f64)
TRUTH_ROW(i64) TRUTH_COLS(i64)
TRUTH_ROW(b8)
#define sum_of_i64_finish_f32 sum_finish_i64
#define sum_of_i64_finish_f64 sum_finish_i64
static void any_bytes(const void *x, int64_t n, fold_states *s, int64_t at, const fold_context *c)
{
    int64_t *to = (int64_t *)s->slot[0] + at;
    if (n < 64)
        any_row_b8(x, n, s, at, c);
    else if (!*to)
        *to = ((const char *)x)[0] != 0 || memcmp(x, (const char *)x + 1, (size_t)n - 1) != 0;
}
static void all_bytes(const void *x, int64_t n, fold_states *s, int64_t at, const fold_context *c)
{
    int64_t *to = (int64_t *)s->slot[0] + at;
    if (n < 64)
        all_row_b8(x, n, s, at, c);
    else if (*to)
        *to = memchr(x, 0, (size_t)n) == NULL;
}
/* Columns of bytes are taken together as bytes: a vector of them is eight of states. */
#define TRUTH_OF_COLS(NAME, FIRST, OP, OF) \
    WIDE static void NAME##_cols_of_bytes(const char *x, intptr_t step, int64_t rows, int64_t n, fold_states *s, \
                                          const fold_context *c) \
    { \
        uint8_t truth[FOLD_TILE]; \
        (void)c; \
        memset(truth, FIRST, (size_t)n); \
        for (; rows > 0; rows--, x += step) \
            for (int64_t j = 0; j < n; j++) \
                truth[j] OP OF(((const uint8_t *)x)[j]); \
        for (int64_t j = 0; j < n; j++) \
            ((int64_t *)s->slot[0])[j] OP truth[j] != 0; \
    }
#define BITS_IF_TRUE(x) ((uint8_t)((x) != 0 ? 255 : 0))
TRUTH_OF_COLS(any, 0, |=, SAME)
TRUTH_OF_COLS(all, 255, &=, BITS_IF_TRUE)
static void all_init(fold_states *s, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        ((int64_t *)s->slot[0])[i] = 1;
}

/* ---- moments: sums of the distances from a first guess of the mean, and of their squares, in double precision ---- */

#define MOMENTS(K) \
    WIDE static void moments_row_##K(const void *given, int64_t n, fold_states *s, int64_t at, const fold_context *c) \
    { \
        const num_##K *x = given; \
        double *guess = s->slot[0] + at, first = 0; \
        if (c->position == 0) { \
            int64_t m = n < 64 ? n : 64; \
            for (int64_t i = 0; i < m; i++) \
                first += x[i]; \
            *guess = first / (double)m; \
        } \
        first = *guess; \
        double sums[8] = {0}, squares[8] = {0}; \
        int64_t i = 0; \
        for (; i + 8 <= n; i += 8) \
            for (int k = 0; k < 8; k++) { \
                double d = (double)x[i + k] - first; \
                sums[k] += d; \
                squares[k] += d * d; \
            } \
        for (; i < n; i++) { \
            double d = (double)x[i] - first; \
            sums[0] += d; \
            squares[0] += d * d; \
        } \
        for (int k = 0; k < 8; k++) { \
            s->slot[1][at] += sums[k]; \
            s->slot[2][at] += squares[k]; \
        } \
    } \
    WIDE static void moments_cols_##K(const char *x, intptr_t step, int64_t rows, int64_t n, fold_states *s, \
                                      const fold_context *c) \
    { \
        double *restrict guess = s->slot[0], *restrict sums = s->slot[1], *restrict squares = s->slot[2]; \
        for (int64_t r = 0; r < rows; r++, x += step) { \
            const num_##K *p = (const num_##K *)x; \
            if (c->position + r == 0) \
                for (int64_t j = 0; j < n; j++) \
                    guess[j] = p[j]; \
            for (int64_t j = 0; j < n; j++) { \
                double d = (double)p[j] - guess[j]; \
                sums[j] += d; \
                squares[j] += d * d; \
            } \
        } \
    }
MOMENTS(f32)
MOMENTS(f64)
static void moments_init(fold_states *s, int64_t n)
{
    for (int k = 0; k < 3; k++)
        memset(s->slot[k], 0, (size_t)n * 8);
}
static double variance_of(const fold_states *s, int64_t i, const fold_context *c)
{
    double n = (double)c->count, freedom = n - c->order;
    double squares = s->slot[2][i] - s->slot[1][i] * s->slot[1][i] / n;
    return (squares < 0 ? 0 : squares) / (freedom > 0 ? freedom : 0);
}
#define MOMENTS_FINISH(NAME, K, T, OF) \
    static void NAME##_finish_##K(const fold_states *s, int64_t n, void *values, int64_t *places, const fold_context *c) \
    { \
        for (int64_t i = 0; i < n; i++) { \
            ((T *)values)[i] = (T)OF(variance_of(s, i, c)); \
            ((T *)places)[i] = (T)(s->slot[0][i] + s->slot[1][i] / (double)c->count); \
        } \
    }
MOMENTS_FINISH(var, f32, float, SAME)
MOMENTS_FINISH(var, f64, double, SAME)
MOMENTS_FINISH(std, f32, float, sqrt)
MOMENTS_FINISH(std, f64, double, sqrt)

/* ---- the rules ---- */

#define RULE(K, INIT, STEP, END) {INIT, STEP##_row_##K, STEP##_cols_##K, END##_finish_##K}
#define SUM_RULE(K, STEP, END) {sum_init_##K, STEP##_row_##K, STEP##_cols_##K, END##_finish_##K, STEP##_rows_##K}
#define HALF_RULE(K, END) {sum_init_f32, sum_row_##K, sum_cols_##K, END##_finish_f32}
static const fold_rule FOLD_RULES[FOLD_OPS][ROW_TYPES] = {
    [FOLD_SUM] = {[ROW_F32] = SUM_RULE(f32, sum, sum), [ROW_F64] = SUM_RULE(f64, sum, sum),
                  [ROW_I64] = SUM_RULE(i64, sum, sum), [ROW_C64] = RULE(c64, csum_init, csum, csum),
                  [ROW_C128] = RULE(c128, csum_init, csum, csum),
                  [ROW_F16] = HALF_RULE(f16, sum), [ROW_BF16] = HALF_RULE(bf16, sum)},
    [FOLD_MEAN] = {[ROW_F32] = SUM_RULE(f32, sum, mean), [ROW_F64] = SUM_RULE(f64, sum, mean),
                   [ROW_C64] = RULE(c64, csum_init, csum, cmean), [ROW_C128] = RULE(c128, csum_init, csum, cmean)},
    [FOLD_NANSUM] = {[ROW_F32] = SUM_RULE(f32, nansum, sum), [ROW_F64] = SUM_RULE(f64, nansum, sum),
                     [ROW_I64] = SUM_RULE(i64, sum, sum)},
    [FOLD_COUNT] = {[ROW_F32] = SUM_RULE(f32, count, count), [ROW_F64] = SUM_RULE(f64, count, count),
                    [ROW_I64] = SUM_RULE(i64, count, sum),
                    [ROW_C64] = {sum_init_i64, cany_row_c64, cany_cols_c64, ccount_finish},
                    [ROW_C128] = {sum_init_i64, cany_row_c128, cany_cols_c128, ccount_finish}},
    [FOLD_NORM0] = {[ROW_F32] = SUM_RULE(f32, count, norm0), [ROW_F64] = SUM_RULE(f64, count, sum)},
    [FOLD_NORM1] = {[ROW_F32] = SUM_RULE(f32, abs, sum), [ROW_F64] = SUM_RULE(f64, abs, sum)},
    [FOLD_NORM2] = {[ROW_F32] = SUM_RULE(f32, square, norm2), [ROW_F64] = SUM_RULE(f64, square, norm2)},
    [FOLD_POWER] = {[ROW_F32] = RULE(f32, sum_init_f32, power, power), [ROW_F64] = RULE(f64, sum_init_f64, power, power)},
    [FOLD_PROD] = {[ROW_F32] = RULE(f32, prod_init_f32, prod, states), [ROW_F64] = RULE(f64, prod_init_f64, prod, states),
                   [ROW_I64] = RULE(i64, prod_init_i64, prod, states),
                   [ROW_F16] = {prod_init_f32, prod_row_f16, prod_cols_f16, states_finish_f32},
                   [ROW_C64] = {cprod_init, cprod_row_c64, cprod_cols_c64, csum_finish_c64},
                   [ROW_C128] = {cprod_init, cprod_row_c128, cprod_cols_c128, csum_finish_c128}},
    [FOLD_MAX] = {[ROW_F32] = RULE(f32, max_init_f32, max, states), [ROW_F64] = RULE(f64, max_init_f64, max, states),
                  [ROW_I64] = RULE(i64, max_init_i64, max, states)},
    [FOLD_MIN] = {[ROW_F32] = RULE(f32, min_init_f32, min, states), [ROW_F64] = RULE(f64, min_init_f64, min, states),
                  [ROW_I64] = RULE(i64, min_init_i64, min, states)},
    [FOLD_ABSMAX] = {[ROW_F32] = RULE(f32, absmax_init_f32, absmax, states),
                     [ROW_F64] = RULE(f64, absmax_init_f64, absmax, states)},
    [FOLD_ABSMIN] = {[ROW_F32] = RULE(f32, absmin_init_f32, absmin, states),
                     [ROW_F64] = RULE(f64, absmin_init_f64, absmin, states)},
    [FOLD_ARGMAX] = {[ROW_F32] = RULE(f32, max_init_f32, argmax, places), [ROW_F64] = RULE(f64, max_init_f64, argmax, places),
                     [ROW_I64] = RULE(i64, max_init_i64, argmax, places)},
    [FOLD_ARGMIN] = {[ROW_F32] = RULE(f32, min_init_f32, argmin, places), [ROW_F64] = RULE(f64, min_init_f64, argmin, places),
                     [ROW_I64] = RULE(i64, min_init_i64, argmin, places)},
    [FOLD_ANY] = {[ROW_F32] = RULE(f32, sum_init_i64, any, sum_of_i64), [ROW_F64] = RULE(f64, sum_init_i64, any, sum_of_i64),
                  [ROW_I64] = RULE(i64, sum_init_i64, any, sum),
                  [ROW_B8] = {sum_init_i64, any_bytes, any_cols_of_bytes, sum_finish_i64},
                  [ROW_C64] = {sum_init_i64, cany_row_c64, cany_cols_c64, cany_finish},
                  [ROW_C128] = {sum_init_i64, cany_row_c128, cany_cols_c128, cany_finish}},
    [FOLD_ALL] = {[ROW_F32] = RULE(f32, all_init, all, sum_of_i64), [ROW_F64] = RULE(f64, all_init, all, sum_of_i64),
                  [ROW_I64] = RULE(i64, all_init, all, sum), [ROW_B8] = {all_init, all_bytes, all_cols_of_bytes, sum_finish_i64},
                  [ROW_C64] = {sum_init_i64, cany_row_c64, cany_cols_c64, call_finish},
                  [ROW_C128] = {sum_init_i64, cany_row_c128, cany_cols_c128, call_finish}},
    [FOLD_VAR] = {[ROW_F32] = RULE(f32, moments_init, moments, var), [ROW_F64] = RULE(f64, moments_init, moments, var)},
    [FOLD_STD] = {[ROW_F32] = RULE(f32, moments_init, moments, std), [ROW_F64] = RULE(f64, moments_init, moments, std)},
    [FOLD_XOR] = {[ROW_I64] = RULE(i64, sum_init_i64, xor, sum)},
};
#include "fold_driver.h"

#endif
