/* Losses of two rows, element by element, and their sums: a block at a time, so that loops vectorise and 16-bit floats are
   converted in a cache. Blocks are added up in lanes, and the blocks' sums in double precision. */
#ifndef DISPATCH_LOSSES_H
#define DISPATCH_LOSSES_H
#include "floating.h"
#include "loops.h"
#include "rows.h"

#pragma GCC push_options
#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math")
#define LEVEL losses
#define T float
#define TYPE f32
#include "logs.h"
#undef T
#undef TYPE
#define T double
#define TYPE f64
#include "logs.h"
#undef T
#undef TYPE
#undef LEVEL
#define LOG_OF(K, x) PASTE(quick_log, K, losses)(x)

typedef struct {
    int64_t n;
    const void *x, *y;
    const void *weights;             /* NULL: 1 each */
    int x_code, y_code, weights_code, out_code;      /* ScalarTypes that are computed in the loop's type */
    const void *grads;               /* of the losses, for a gradient */
    bool one_grad;                   /* that of all of them */
    void *out;                       /* a loss for each pair; NULL: their sum is asked for */
    double bound;                    /* beta, delta */
    double scale;                    /* of a gradient */
    double sum;
} loss_pairs;

enum { LOSS_BLOCK = 512, LOSS_LANES = 32 };

/* n elements from `first` on, as a row; NULL of NULL. */
static inline const void *losses_row(const void *data, int code, int64_t first, int64_t n, void *buffer)
{
    const intptr_t size = ROW_KINDS[code].size;
    return data ? ROW_KINDS[code].read((const char *)data + first * size, size, n, buffer) : NULL;
}

#define LOSS(NAME, K, T, ...) \
    WIDE static void NAME##_block_##K(const T *x, const T *y, const T *weights, T *to, int64_t n, T bound) \
    { \
        (void)bound; \
        for (int64_t i = 0; i < n; i++) { \
            T loss; \
            __VA_ARGS__; \
            to[i] = loss; \
        } \
        for (int64_t i = 0; weights && i < n; i++) \
            to[i] *= weights[i]; \
    } \
    static int64_t NAME##_##K(void *job, void *typed) \
    { \
        loss_pairs *j = job; \
        T x[LOSS_BLOCK], y[LOSS_BLOCK], weights[LOSS_BLOCK], block[LOSS_BLOCK]; \
        const bool direct = j->out && ROW_KINDS[j->out_code].size == sizeof(T); \
        (void)typed; \
        for (int64_t done = 0; done < j->n; done += LOSS_BLOCK) { \
            const int64_t n = j->n - done < LOSS_BLOCK ? j->n - done : LOSS_BLOCK; \
            T *to = direct ? (T *)j->out + done : block; \
            NAME##_block_##K(losses_row(j->x, j->x_code, done, n, x), losses_row(j->y, j->y_code, done, n, y), \
                             losses_row(j->weights, j->weights_code, done, n, weights), to, n, (T)j->bound); \
            if (!j->out) \
                j->sum += sum_of_losses_##K(to, n); \
            else if (!direct) \
                ROW_KINDS[j->out_code].write(to, (char *)j->out + 2 * done, 2, n); \
        } \
        return 0; \
    }

/* Rows are the same or apart: `out` may be x itself. */
#define SLOPES(K, T, WHICH, GRAD) \
    WIDE static void slopes_##WHICH##_##K(const T *x, const T *y, const T *grads, T *out, int64_t n, T scale) \
    { \
        _Pragma("GCC ivdep") \
        for (int64_t i = 0; i < n; i++) { \
            const T p = x[i], below = (1 - p) * p; \
            out[i] = (p - y[i]) / (below < (T)1e-12 ? (T)1e-12 : below) * GRAD * scale; \
        } \
    }

#define LOSSES(K, T, FABS) \
    WIDE static double sum_of_losses_##K(const T *x, int64_t n) \
    { \
        T lane[LOSS_LANES] = {0}; \
        double sum = 0; \
        int64_t i = 0; \
        for (; i + LOSS_LANES <= n; i += LOSS_LANES) \
            for (int k = 0; k < LOSS_LANES; k++) \
                lane[k] += x[i + k]; \
        for (; i < n; i++) \
            sum += x[i]; \
        for (int k = 0; k < LOSS_LANES; k++) \
            sum += lane[k]; \
        return sum; \
    } \
    LOSS(squares, K, T, const T d = x[i] - y[i]; loss = d * d) \
    /* Half the square over beta below beta, the distance less half of beta above. */ \
    LOSS(smooth, K, T, const T d = FABS(x[i] - y[i]), near = d * d / (2 * bound), line = d - bound / 2; \
         loss = d < bound ? near : line) \
    /* Half the square up to delta, a line above. */ \
    LOSS(huber, K, T, const T d = FABS(x[i] - y[i]), near = d * d / 2, line = bound * (d - bound / 2); \
         loss = d <= bound ? near : line) \
    /* Of two classes; logarithms are cut at -100. What rounding 1 - p loses is made up for. */ \
    LOSS(entropy, K, T, const T p = x[i], q = 1 - p; T a = LOG_OF(K, p), b = LOG_OF(K, q), lost = ((1 - q) - p) / q; \
         b += q > 0 ? lost : 0; \
         a = a < -100 ? -100 : a; \
         b = b < -100 ? -100 : b; \
         loss = (y[i] - 1) * b - y[i] * a) \
    /* (x - y) / (x (1 - x)), whose denominator is 1e-12 at least. */ \
    SLOPES(K, T, of_one, *grads) \
    SLOPES(K, T, of_each, grads[i]) \
    static int64_t entropy_slope_##K(void *job, void *typed) \
    { \
        const loss_pairs *j = job; \
        const T *weights = j->weights; \
        T *out = j->out; \
        (void)typed; \
        (j->one_grad ? slopes_of_one_##K : slopes_of_each_##K)(j->x, j->y, j->grads, out, j->n, (T)j->scale); \
        for (int64_t i = 0; weights && i < j->n; i++) \
            out[i] *= weights[i]; \
        return 0; \
    } \
    /* Whether all of x are from 0 to 1. */ \
    WIDE static int64_t is_probable_##K(void *job, void *typed) \
    { \
        const loss_pairs *j = job; \
        const T *x = j->x; \
        int other = 0; \
        (void)typed; \
        for (int64_t i = 0; i < j->n; i++) \
            other |= !(x[i] >= 0) | !(x[i] <= 1); \
        return !other; \
    }
LOSSES(f32, float, fabsf)
LOSSES(f64, double, fabs)
#pragma GCC pop_options
FLOATING_LOOP(SQUARES, squares);
FLOATING_LOOP(SMOOTH, smooth);
FLOATING_LOOP(HUBER, huber);
FLOATING_LOOP(ENTROPY, entropy);
FLOATING_LOOP(ENTROPY_SLOPE, entropy_slope);
FLOATING_LOOP(IS_PROBABLE, is_probable);
#endif
