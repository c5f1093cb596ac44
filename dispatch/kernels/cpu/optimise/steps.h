/* Steps of optimisers over one parameter: its gradient and its state are read and written together, and loops vectorise. */
#ifndef DISPATCH_STEPS_H
#define DISPATCH_STEPS_H
#include "floating.h"
#include "rows.h"

typedef struct {
    int64_t n;
    void *grads;
    void *first;                     /* exp_avg, the momentum, the sum of squares; NULL: none */
    void *second;                    /* exp_avg_sq */
    void *largest;                   /* the largest exp_avg_sq; NULL: not asked for */
    double unscale;                  /* what gradients are divided by; 0: nothing */
    bool maximize;
    double lr, weight_decay, eps;
    double beta1, beta2;             /* Adam */
    double correction1, correction2;
    bool decoupled;                  /* AdamW: the decay is no part of the gradient */
    double momentum, dampening;      /* SGD */
    bool nesterov, begins;
    int half;                        /* the dtype of 16-bit floats */
    int64_t (*each)(void *job, void *params);    /* for them, the step in float32 */
} optimiser_step;

#pragma GCC push_options
#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math", "fp-contract=off")

#define STEPS(K, T, SQRT, FABS) \
    /* Gradients unscaled, in place. */ \
    WIDEST static void unscale_##K(optimiser_step *j) \
    { \
        T *grads = j->grads; \
        const T by = (T)j->unscale; \
        for (int64_t i = 0; by != 0 && i < j->n; i++) \
            grads[i] /= by; \
    } \
    WIDEST static void adam_rows_##K(optimiser_step *j, T *params) \
    { \
        const T *grads = j->grads; \
        const int64_t n = j->n; \
        T *first = j->first, *second = j->second, *largest = j->largest; \
        const T *most_of = largest ? largest : second; \
        const T b1 = (T)(1 - j->beta1), b2 = (T)(1 - j->beta2), keep = (T)j->beta2, sign = j->maximize ? -1 : 1; \
        const T size = (T)(j->lr / j->correction1), scale = (T)sqrt(j->correction2), eps = (T)j->eps; \
        const T decay = j->decoupled ? 0 : (T)j->weight_decay, shrink = j->decoupled ? (T)(j->lr * j->weight_decay) : 0; \
        const bool near = FABS(b1) < (T)0.5; \
        _Pragma("GCC ivdep") \
        for (int64_t i = 0; i < n; i++) { \
            const T p = params[i] - shrink * params[i], g = sign * grads[i] + decay * params[i]; \
            const T m = near ? first[i] + b1 * (g - first[i]) : g - (g - first[i]) * (1 - b1); \
            const T v = second[i] * keep + b2 * g * g, most = v > most_of[i] ? v : most_of[i]; \
            first[i] = m, second[i] = v; \
            if (largest) \
                largest[i] = most; \
            params[i] = p - size * m / (SQRT(largest ? most : v) / scale + eps); \
        } \
    } \
    WIDEST static void sgd_rows_##K(optimiser_step *j, T *params) \
    { \
        const T *grads = j->grads; \
        const int64_t n = j->n; \
        T *first = j->first; \
        const T decay = (T)j->weight_decay, momentum = (T)j->momentum, share = (T)(1 - j->dampening), lr = (T)j->lr; \
        const T sign = j->maximize ? -1 : 1; \
        const bool nesterov = j->nesterov, begins = j->begins; \
        if (!first) { \
            _Pragma("GCC ivdep") \
            for (int64_t i = 0; i < n; i++) \
                params[i] -= lr * (sign * grads[i] + decay * params[i]); \
            return; \
        } \
        _Pragma("GCC ivdep") \
        for (int64_t i = 0; i < n; i++) { \
            const T g = sign * grads[i] + decay * params[i], m = begins ? g : first[i] * momentum + g * share; \
            first[i] = m; \
            params[i] -= lr * (nesterov ? g + m * momentum : m); \
        } \
    } \
    WIDEST static void adagrad_rows_##K(optimiser_step *j, T *params) \
    { \
        const T *grads = j->grads; \
        const int64_t n = j->n; \
        T *first = j->first; \
        const T decay = (T)j->weight_decay, lr = (T)j->lr, eps = (T)j->eps, sign = j->maximize ? -1 : 1; \
        _Pragma("GCC ivdep") \
        for (int64_t i = 0; i < n; i++) { \
            const T g = sign * grads[i] + decay * params[i]; \
            first[i] += g * g; \
            params[i] -= lr * g / (SQRT(first[i]) + eps); \
        } \
    } \
    static int64_t adam_step_##K(void *job, void *params) { unscale_##K(job); adam_rows_##K(job, params); return 0; } \
    static int64_t sgd_step_##K(void *job, void *params) { unscale_##K(job); sgd_rows_##K(job, params); return 0; } \
    static int64_t adagrad_step_##K(void *job, void *params) { unscale_##K(job); adagrad_rows_##K(job, params); return 0; }
STEPS(f32, float, sqrtf, fabsf)
STEPS(f64, double, sqrt, fabs)
#pragma GCC pop_options

/* 16-bit floats: some elements at a time become rows of float32, and are stored again. */
enum { STEP_ROW = 512 };
static int64_t step_of_halves(void *job, void *params)
{
    const optimiser_step *j = job;
    const row_kind *kind = &ROW_KINDS[j->half];
    char *const given[] = {params, j->grads, j->first, j->second, j->largest};
    float rows[5][STEP_ROW];
    optimiser_step part = *j;
    part.grads = rows[1];
    part.first = given[2] ? rows[2] : NULL;
    part.second = given[3] ? rows[3] : NULL;
    part.largest = given[4] ? rows[4] : NULL;
    for (int64_t i = 0; i < j->n; i += STEP_ROW) {
        part.n = j->n - i < STEP_ROW ? j->n - i : STEP_ROW;
        for (int k = 0; k < 5; k++)
            if (given[k])
                kind->read(given[k] + 2 * i, 2, part.n, rows[k]);
        j->each(&part, rows[0]);
        for (int k = 0; k < 5; k++)
            if (given[k] && (k != 1 || j->unscale != 0))
                kind->write(rows[k], given[k] + 2 * i, 2, part.n);
    }
    return 0;
}
FLOATING_LOOP(ADAM_STEP, adam_step);
FLOATING_LOOP(SGD_STEP, sgd_step);
FLOATING_LOOP(ADAGRAD_STEP, adagrad_step);
#endif
