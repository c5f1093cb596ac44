/* CTC's loops over all places of a target, and over all labels. */
#ifndef DISPATCH_CTC_H
#define DISPATCH_CTC_H
#include "exps.h"
#include "loops.h"

#pragma GCC push_options
#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math", "wrapv")
#define TYPE ctc
#define LEVEL any
#define T float
#include "logs.h"
#undef T
#undef LEVEL
#undef TYPE

/* The logarithm of three exponentials' sum; -inf is the logarithm of 0. */
#define CTC(K, T) \
    EACH T log_sum_##K(T a, T b, T c) \
    { \
        T m = b > a ? b : a; \
        m = c > m ? c : m; \
        m = m == -(T)INFINITY ? 0 : m; \
        return log_##K##_ctc_any(exp_##K(a - m) + exp_##K(b - m) + exp_##K(c - m)) + m; \
    } \
    /* to[s] of from[s], from[s + next] and, where the labels there differ, from[s + 2 next]. */ \
    WIDEST static void ctc_step_##K(const T *restrict from, const int64_t *restrict labels, T *restrict to, int64_t n, \
                                    int64_t next) \
    { \
        for (int64_t s = 0; s < n; s++) { \
            const T three = labels[s] != labels[s + 2 * next] ? from[s + 2 * next] : -(T)INFINITY; \
            to[s] = log_sum_##K(from[s], from[s + next], three); \
        } \
    } \
    /* What a time's labels get, of the logarithms of their sums over paths. */ \
    WIDEST static void ctc_gradient_##K(T *restrict out, const T *restrict probs, int64_t n, T loss, T grad) \
    { \
        for (int64_t c = 0; c < n; c++) \
            out[c] = (exp_##K(probs[c]) - exp_##K(out[c] + loss - probs[c])) * grad; \
    }
CTC(f32, float)
CTC(f64, double)
#pragma GCC pop_options
#endif
