/* Rows of scores as weights of attention: exp(score * factor + mask - the largest), and their sum.

   Those from `last` on are not seen and become 0. `top` gets the largest, -inf where a row sees nothing: its sum is 0. */
#ifndef DISPATCH_SCORES_H
#define DISPATCH_SCORES_H
#include "../softmax/softmax.h"

#pragma GCC push_options
#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math", "wrapv")

#define FOLD_LANES ADD_LANES
#define SCORES(K, T) \
    WIDEST static void weigh_scores_##K(T *restrict x, int64_t last, int64_t n, T factor, const T *restrict mask, intptr_t step, \
                                        T *top, T *sum) \
    { \
        T most, all; \
        if (mask && step == 1) \
            for (int64_t i = 0; i < last; i++) \
                x[i] = x[i] * factor + mask[i]; \
        else if (mask || factor < 0) \
            for (int64_t i = 0; i < last; i++) \
                x[i] = x[i] * factor + (mask ? mask[i * step] : 0); \
        if (mask || factor < 0) \
            factor = 1; \
        *top = most = largest_##K(x, last) * factor; \
        if (most == -INFINITY) \
            most = 0; \
        for (int64_t i = 0; i < last; i++) \
            x[i] = exp_##K(x[i] * factor - most); \
        OVER_LANES(T, all, 0, last, a += x[j]); \
        memset(x + last, 0, (size_t)(n - last) * sizeof(T)); \
        *sum = all; \
    } \
    WIDEST static void divide_weighted_##K(T *x, T by, int64_t n) \
    { \
        for (int64_t i = 0; i < n; i++) \
            x[i] /= by; \
    }
SCORES(f32, float)
SCORES(f64, double)
#undef SCORES
#undef FOLD_LANES
#pragma GCC pop_options
#endif
