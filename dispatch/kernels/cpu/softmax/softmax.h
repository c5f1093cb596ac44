/* Softmax of a row, its logarithm, and gradients: steps for `row_walk.h`.

   The largest element is taken off before the exponential, so that nothing overflows; a row of -inf gives NaN. */
#ifndef DISPATCH_SOFTMAX_H
#define DISPATCH_SOFTMAX_H
#include "exps.h"
#include "loops.h"
#include "row_walk.h"

#pragma GCC push_options
#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math", "wrapv")

#define TYPE soft
#define LEVEL any
#define T float
#include "logs.h"
#undef T
#undef LEVEL
#undef TYPE

enum { SOFT_LANES = 32 };

/* `value` folded over the row in lanes, by `a = STEP`; the lanes are folded by the same. What is left of the row goes through the
   first lanes, under a mask. */
#define OVER_LANES(T, result, first, n, STEP) \
    do { \
        T lane_[SOFT_LANES]; \
        int64_t i = 0; \
        for (int k_ = 0; k_ < SOFT_LANES; k_++) \
            lane_[k_] = (first); \
        for (; i + SOFT_LANES <= (n); i += SOFT_LANES) \
            for (int k_ = 0; k_ < SOFT_LANES; k_++) { \
                T a = lane_[k_]; \
                const int64_t j = i + k_; \
                STEP; \
                lane_[k_] = a; \
            } \
        const int left_ = (int)((n) - i); \
        if (left_) \
            for (int k_ = 0; k_ < SOFT_LANES; k_++) { \
                T a = lane_[k_]; \
                const int64_t j = i + k_; \
                if (k_ < left_) { \
                    STEP; \
                } \
                lane_[k_] = a; \
            } \
        _Pragma("GCC unroll 5") \
        for (int w_ = SOFT_LANES / 2; w_ > 0; w_ /= 2) \
            _Pragma("GCC unroll 16") \
            for (int k_ = 0; k_ < w_; k_++) \
                FOLD_LANES(lane_[k_], lane_[k_ + w_]); \
        (result) = lane_[0]; \
    } while (0)
/* The sum of products over a short row of whole vectors: few lanes, and no mask. */
enum { SOFT_SHORT = 16, SOFT_LONGEST = 128 };
#define SUM_OF_SHORT(K, T) \
    typedef T soft_##K __attribute__((vector_size(32), aligned(sizeof(T)), may_alias)); \
    EACH T short_products_##K(const T *x, const T *y, int64_t n) \
    { \
        enum { L = 32 / sizeof(T) }; \
        soft_##K a = {0}, b = {0}; \
        T sum = 0; \
        for (int64_t i = 0; i < n; i += 2 * L) { \
            a += *(const soft_##K *)(x + i) * *(const soft_##K *)(y + i); \
            b += *(const soft_##K *)(x + i + L) * *(const soft_##K *)(y + i + L); \
        } \
        a += b; \
        for (int l = 0; l < L / 2; l++) \
            sum += a[l] + a[l + L / 2]; \
        return sum; \
    }
SUM_OF_SHORT(f32, float)
SUM_OF_SHORT(f64, double)
#define ADD_LANES(p, q) (p) += (q)
#define MAX_LANES(p, q) (p) = (q) > (p) ? (q) : (p)

#define SOFTMAX(K, T) \
    EACH T largest_##K(const T *x, int64_t n) \
    { \
        T top; \
        OVER_LANES(T, top, -INFINITY, n, a = x[j] > a ? x[j] : a); \
        return top; \
    }
#define FOLD_LANES MAX_LANES
SOFTMAX(f32, float)
SOFTMAX(f64, double)
#undef FOLD_LANES
#define FOLD_LANES ADD_LANES

#define ROWS(K, T, LOG) \
    WIDEST static void softmax_##K(const void **in, void **out, int64_t n, const void *context) \
    { \
        const T *x = in[0]; \
        T *y = out[0], top = largest_##K(x, n), sum; \
        (void)context; \
        for (int64_t i = 0; i < n; i++) \
            y[i] = exp_##K(x[i] - top); \
        OVER_LANES(T, sum, 0, n, a += y[j]); \
        sum = 1 / sum; \
        for (int64_t i = 0; i < n; i++) \
            y[i] *= sum; \
    } \
    EACH T log_sum_##K(const T *x, T top, int64_t n) \
    { \
        T sum; \
        OVER_LANES(T, sum, 0, n, a += exp_##K(x[j] - top)); \
        return LOG(sum); \
    } \
    WIDEST static void log_softmax_##K(const void **in, void **out, int64_t n, const void *context) \
    { \
        const T *x = in[0]; \
        T *y = out[0], top = largest_##K(x, n), sum = log_sum_##K(x, top, n); \
        (void)context; \
        for (int64_t i = 0; i < n; i++) \
            y[i] = x[i] - top - sum; \
    } \
    WIDEST static void softmax_backward_##K(const void **in, void **out, int64_t n, const void *context) \
    { \
        const T *grad = in[0], *y = in[1]; \
        T *to = out[0], sum; \
        (void)context; \
        if (n % SOFT_SHORT == 0 && n <= SOFT_LONGEST) \
            sum = short_products_##K(grad, y, n); \
        else \
            OVER_LANES(T, sum, 0, n, a += grad[j] * y[j]); \
        for (int64_t i = 0; i < n; i++) \
            to[i] = (grad[i] - sum) * y[i]; \
    } \
    WIDEST static void log_softmax_backward_##K(const void **in, void **out, int64_t n, const void *context) \
    { \
        const T *grad = in[0], *y = in[1]; \
        T *to = out[0], sum; \
        (void)context; \
        if (n == SOFT_SHORT) { \
            T half[SOFT_SHORT / 2]; \
            for (int i = 0; i < SOFT_SHORT / 2; i++) \
                half[i] = grad[i] + grad[i + SOFT_SHORT / 2]; \
            sum = half[0] + half[4] + (half[2] + half[6]) + (half[1] + half[5] + (half[3] + half[7])); \
            for (int i = 0; i < SOFT_SHORT; i++) \
                to[i] = grad[i] - exp_##K(y[i]) * sum; \
            return; \
        } \
        OVER_LANES(T, sum, 0, n, a += grad[j]); \
        for (int64_t i = 0; i < n; i++) \
            to[i] = grad[i] - exp_##K(y[i]) * sum; \
    }
ROWS(f32, float, logf)
ROWS(f64, double, log)

/* The gradient of rows of 16-bit floats without gaps: converted in registers, the sum in the same lanes. What is left of a row
   behind whole pairs of vectors goes through a pair of its own, zeros behind it. */
#ifdef CONVERTS_16
#define HALF_ROWS(K) \
    CONVERTS_16 static void softmax_backward_##K(const uint16_t *grad, const uint16_t *y, uint16_t *to, int64_t rows, int64_t n) \
    { \
        const int64_t whole = n / SOFT_LANES * SOFT_LANES; \
        uint16_t end_grad[SOFT_LANES] = {0}, end_y[SOFT_LANES] = {0}, end[SOFT_LANES]; \
        for (int64_t r = 0; r < rows; r++, grad += n, y += n, to += n) { \
            __m512 low = _mm512_setzero_ps(), high = low; \
            memcpy(end_grad, grad + whole, (size_t)(n - whole) * 2); \
            memcpy(end_y, y + whole, (size_t)(n - whole) * 2); \
            for (int64_t i = 0; i < n; i += SOFT_LANES) { \
                const uint16_t *g = i < whole ? grad + i : end_grad, *x = i < whole ? y + i : end_y; \
                low = _mm512_fmadd_ps(FLOATS_OF_##K(g), FLOATS_OF_##K(x), low); \
                high = _mm512_fmadd_ps(FLOATS_OF_##K(g + 16), FLOATS_OF_##K(x + 16), high); \
            } \
            const __m512 sum = _mm512_set1_ps(_mm512_reduce_add_ps(_mm512_add_ps(low, high))); \
            for (int64_t i = 0; i < whole; i += 16) \
                PUT_FLOATS_##K(_mm512_mul_ps(_mm512_sub_ps(FLOATS_OF_##K(grad + i), sum), FLOATS_OF_##K(y + i)), to + i); \
            for (int64_t i = 0; i < n - whole; i += 16) \
                PUT_FLOATS_##K(_mm512_mul_ps(_mm512_sub_ps(FLOATS_OF_##K(end_grad + i), sum), FLOATS_OF_##K(end_y + i)), end + i); \
            memcpy(to + whole, end, (size_t)(n - whole) * 2); \
        } \
    }
HALF_ROWS(f16)
HALF_ROWS(bf16)
static bool has_half_rows(int64_t n)
{
    return n > SOFT_LANES && (n > SOFT_LONGEST || n % SOFT_SHORT != 0) && __builtin_cpu_supports("avx512f");
}
static void softmax_backward_halves(int code, const uint16_t *grad, const uint16_t *y, uint16_t *to, int64_t rows, int64_t n)
{
    (code == ST_float16 ? softmax_backward_f16 : softmax_backward_bf16)(grad, y, to, rows, n);
}
#else
static bool has_half_rows(int64_t n) { return false; }
static void softmax_backward_halves(int code, const uint16_t *grad, const uint16_t *y, uint16_t *to, int64_t rows, int64_t n) {}
#endif

/* The gradient of one column from what is summed over it. */
#define GRADIENT_COLUMNS(NAME, K, T, SUMMED, RESULT) \
    WIDEST static void NAME##_backward_cols_##K(char **data, const intptr_t *steps, int64_t n, int64_t m) \
    { \
        T sum[WALK_COLS] = {0}; \
        for (int64_t i = 0; i < n; i++) { \
            const T *grad = (const T *)(data[0] + i * steps[0]), *y = (const T *)(data[1] + i * steps[1]); \
            (void)y; \
            for (int64_t j = 0; j < m; j++) \
                sum[j] += SUMMED; \
        } \
        for (int64_t i = 0; i < n; i++) { \
            const T *grad = (const T *)(data[0] + i * steps[0]), *y = (const T *)(data[1] + i * steps[1]); \
            T *to = (T *)(data[2] + i * steps[2]); \
            for (int64_t j = 0; j < m; j++) \
                to[j] = RESULT; \
        } \
    }
#define COLUMNS(K, T, LOG) \
    WIDEST static void largest_cols_##K(const char *x, intptr_t step, int64_t n, int64_t m, T *top) \
    { \
        for (int64_t j = 0; j < m; j++) \
            top[j] = -INFINITY; \
        for (int64_t i = 0; i < n; i++, x += step) \
            for (int64_t j = 0; j < m; j++) { \
                const T v = ((const T *)x)[j]; \
                top[j] = v > top[j] ? v : top[j]; \
            } \
    } \
    WIDEST static void softmax_cols_##K(char **data, const intptr_t *steps, int64_t n, int64_t m) \
    { \
        const char *x = data[0]; \
        char *y = data[1]; \
        const intptr_t x_step = steps[0], y_step = steps[1]; \
        T top[WALK_COLS], sum[WALK_COLS] = {0}; \
        char *to = y; \
        largest_cols_##K(x, x_step, n, m, top); \
        for (int64_t i = 0; i < n; i++, x += x_step, to += y_step) \
            for (int64_t j = 0; j < m; j++) { \
                const T e = exp_##K(((const T *)x)[j] - top[j]); \
                ((T *)to)[j] = e; \
                sum[j] += e; \
            } \
        for (int64_t j = 0; j < m; j++) \
            sum[j] = 1 / sum[j]; \
        for (int64_t i = 0; i < n; i++, y += y_step) \
            for (int64_t j = 0; j < m; j++) \
                ((T *)y)[j] *= sum[j]; \
    } \
    WIDEST static void log_softmax_cols_##K(char **data, const intptr_t *steps, int64_t n, int64_t m) \
    { \
        const char *x = data[0]; \
        char *y = data[1]; \
        const intptr_t x_step = steps[0], y_step = steps[1]; \
        T top[WALK_COLS], sum[WALK_COLS] = {0}; \
        const char *from = x; \
        largest_cols_##K(x, x_step, n, m, top); \
        for (int64_t i = 0; i < n; i++, from += x_step) \
            for (int64_t j = 0; j < m; j++) \
                sum[j] += exp_##K(((const T *)from)[j] - top[j]); \
        for (int64_t j = 0; j < m; j++) \
            sum[j] = LOG(sum[j]); \
        for (int64_t i = 0; i < n; i++, x += x_step, y += y_step) \
            for (int64_t j = 0; j < m; j++) \
                ((T *)y)[j] = ((const T *)x)[j] - top[j] - sum[j]; \
    } \
    GRADIENT_COLUMNS(softmax, K, T, grad[j] * y[j], (grad[j] - sum[j]) * y[j]) \
    GRADIENT_COLUMNS(log_softmax, K, T, grad[j], grad[j] - exp_##K(y[j]) * sum[j])
COLUMNS(f32, float, log_f32_soft_any)
COLUMNS(f64, double, log_f64_soft_any)
#undef FOLD_LANES

enum soft_op { SOFTMAX, LOG_SOFTMAX, SOFTMAX_BACKWARD, LOG_SOFTMAX_BACKWARD, SOFT_OPS };
static const row_step_fn SOFT_STEPS[SOFT_OPS][2] = {
    {softmax_f32, softmax_f64}, {log_softmax_f32, log_softmax_f64},
    {softmax_backward_f32, softmax_backward_f64}, {log_softmax_backward_f32, log_softmax_backward_f64},
};
static const row_cols_fn SOFT_COLS[SOFT_OPS][2] = {
    {softmax_cols_f32, softmax_cols_f64}, {log_softmax_cols_f32, log_softmax_cols_f64},
    {softmax_backward_cols_f32, softmax_backward_cols_f64}, {log_softmax_backward_cols_f32, log_softmax_backward_cols_f64},
};
#pragma GCC pop_options
#endif
