/* The gated linear unit of a row and its gradient: steps for `row_walk.h`. The first half of a row is multiplied by the sigmoid of
   the second one. */
#ifndef DISPATCH_GATES_H
#define DISPATCH_GATES_H
#include "exps.h"
#include "row_walk.h"

#pragma GCC push_options
#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math", "wrapv")

/* LINE: n elements of both halves, `to` without gaps. A gradient's row: `x` and `gates` of the input, `to` and `to_gates`. */
#define GATES(K, T) \
    EACH T gate_##K(T x) { return 1 / (1 + exp_##K(-x)); } \
    WIDEST static void glu_line_##K(const T *x, const T *gates, T *to, int64_t n) \
    { \
        for (int64_t i = 0; i < n; i++) \
            to[i] = x[i] * gate_##K(gates[i]); \
    } \
    WIDEST static void glu_backward_line_##K(const T *x, const T *gates, const T *grad, T *restrict to, T *restrict to_gates, \
                                             int64_t n) \
    { \
        for (int64_t i = 0; i < n; i++) { \
            const T gate = gate_##K(gates[i]), part = grad[i] * gate; \
            to_gates[i] = part * (1 - gate) * x[i]; \
            to[i] = part; \
        } \
    } \
    static void glu_##K(const void **in, void **out, int64_t n, const void *context) \
    { \
        (void)context; \
        glu_line_##K(in[0], (const T *)in[0] + n / 2, out[0], n / 2); \
    } \
    static void glu_backward_##K(const void **in, void **out, int64_t n, const void *context) \
    { \
        (void)context; \
        glu_backward_line_##K(in[0], (const T *)in[0] + n / 2, in[1], out[0], (T *)out[0] + n / 2, n / 2); \
    } \
    static void glu_cols_##K(char **data, const intptr_t *steps, int64_t n, int64_t m) \
    { \
        for (int64_t i = 0; i < n / 2; i++) { \
            const char *x = data[0] + i * steps[0]; \
            glu_line_##K((const T *)x, (const T *)(x + n / 2 * steps[0]), (T *)(data[1] + i * steps[1]), m); \
        } \
    } \
    static void glu_backward_cols_##K(char **data, const intptr_t *steps, int64_t n, int64_t m) \
    { \
        for (int64_t i = 0; i < n / 2; i++) { \
            const char *x = data[0] + i * steps[0]; \
            char *to = data[2] + i * steps[2]; \
            glu_backward_line_##K((const T *)x, (const T *)(x + n / 2 * steps[0]), (const T *)(data[1] + i * steps[1]), (T *)to, \
                                  (T *)(to + n / 2 * steps[2]), m); \
        } \
    }
GATES(f32, float)
GATES(f64, double)

static const row_step_fn GLU_STEPS[2] = {glu_f32, glu_f64}, GLU_BACKWARD_STEPS[2] = {glu_backward_f32, glu_backward_f64};
static const row_cols_fn GLU_COLS[2] = {glu_cols_f32, glu_cols_f64};
static const row_cols_fn GLU_BACKWARD_COLS[2] = {glu_backward_cols_f32, glu_backward_cols_f64};
#pragma GCC pop_options
#endif
