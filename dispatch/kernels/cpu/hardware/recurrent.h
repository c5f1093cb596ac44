/* Steps of an LSTM over a batch: four gates a row, in the order input, forget, cell, output.

   The weights of the state are laid out once for all steps, a vector's columns side by side, so that a step copies nothing. The
   gates of the input and of the state are added with the biases; the memory changes in place. Without a branch, so that the loop
   over a row vectorises; results are right to some units in the last place of 1. */
#ifndef DISPATCH_RECURRENT_H
#define DISPATCH_RECURRENT_H
#include "../exps.h"
#pragma GCC push_options
#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math", "wrapv")

/* ---- the state times its weights ---- */

enum { LSTM_BYTES = 64, LSTM_ROWS = 8 };         /* of a vector; of a tile */

/* How many columns the product has in memory: whole vectors. */
EACH int64_t lstm_width(int64_t columns, int64_t itemsize)
{
    int64_t lanes = LSTM_BYTES / itemsize;
    return (columns + lanes - 1) / lanes * lanes;
}

#define LSTM_PRODUCT(K, T) \
    typedef T lstm_##K __attribute__((vector_size(LSTM_BYTES), aligned(sizeof(T)), may_alias)); \
    /* `columns` rows of `depth` weights each, as the tiles below read them; zeros behind the last. */ \
    static void lstm_pack_##K(const void *weights, int64_t columns, int64_t depth, void *packed) \
    { \
        enum { L = LSTM_BYTES / sizeof(T) }; \
        const T *w = weights; \
        T *to = packed; \
        for (int64_t j = 0; j < columns; j += L) \
            for (int64_t k = 0; k < depth; k++) \
                for (int64_t i = j; i < j + L; i++) \
                    *to++ = i < columns ? w[i * depth + k] : 0; \
    } \
    EACH void lstm_tile_##K(const int rows, const T *a, int64_t depth, const T *b, T *to, int64_t width) \
    { \
        enum { L = LSTM_BYTES / sizeof(T) }; \
        lstm_##K sums[LSTM_ROWS]; \
        _Pragma("GCC unroll 8") \
        for (int i = 0; i < rows; i++) \
            sums[i] = (lstm_##K){0}; \
        for (int64_t k = 0; k < depth; k++) { \
            lstm_##K column = *(const lstm_##K *)(b + k * L); \
            _Pragma("GCC unroll 8") \
            for (int i = 0; i < rows; i++) \
                sums[i] += a[i * depth + k] * column; \
        } \
        _Pragma("GCC unroll 8") \
        for (int i = 0; i < rows; i++) \
            *(lstm_##K *)(to + i * width) = sums[i]; \
    } \
    /* So many columns of to (n, width) = a (n, depth) times the packed weights. */ \
    WIDEST static void lstm_product_##K(const void *from, int64_t n, int64_t depth, const void *packed, int64_t columns, \
                                        int64_t width, void *to) \
    { \
        enum { L = LSTM_BYTES / sizeof(T) }; \
        const T *a = from, *b = packed; \
        T *out = to; \
        for (int64_t j = 0; j < columns; j += L, b += L * depth) { \
            int64_t i = 0; \
            for (; i + LSTM_ROWS <= n; i += LSTM_ROWS) \
                lstm_tile_##K(LSTM_ROWS, a + i * depth, depth, b, out + i * width + j, width); \
            for (; i + 4 <= n; i += 4) \
                lstm_tile_##K(4, a + i * depth, depth, b, out + i * width + j, width); \
            for (; i < n; i++) \
                lstm_tile_##K(1, a + i * depth, depth, b, out + i * width + j, width); \
        } \
    }
LSTM_PRODUCT(f32, float)
LSTM_PRODUCT(f64, double)

/* ---- the gates ---- */

#define LSTM_STEP(K, T) \
    EACH T lstm_sigmoid_##K(T x) { return 1 / (1 + exp_##K(-x)); } \
    EACH T lstm_tanh_##K(T x) { return 2 / (1 + exp_##K(-2 * x)) - 1; } \
    EACH void lstm_row_##K(const T *restrict u, const T *restrict v, const T *restrict b, T *restrict memory, T *restrict output, \
                           int64_t size) \
    { \
        for (int64_t i = 0; i < size; i++) { \
            int64_t j = size + i, k = j + size, l = k + size; \
            T in = lstm_sigmoid_##K(u[i] + v[i] + b[i]), forget = lstm_sigmoid_##K(u[j] + v[j] + b[j]); \
            T cell = lstm_tanh_##K(u[k] + v[k] + b[k]), out = lstm_sigmoid_##K(u[l] + v[l] + b[l]); \
            T kept = forget * memory[i] + in * cell; \
            memory[i] = kept; \
            output[i] = out * lstm_tanh_##K(kept); \
        } \
    } \
    WIDEST static void lstm_step_##K(const void *given, const void *of_state, int64_t width, const void *biases, void *memories, \
                                     void *outputs, int64_t n, int64_t size) \
    { \
        const T *u = given, *v = of_state; \
        T *memory = memories, *output = outputs; \
        for (; n > 0; n--, u += 4 * size, v += width, memory += size, output += size) \
            lstm_row_##K(u, v, biases, memory, output, size); \
    }
LSTM_STEP(f32, float)
LSTM_STEP(f64, double)

/* What a layer runs in one dtype. */
typedef struct {
    void (*pack)(const void *weights, int64_t columns, int64_t depth, void *packed);
    void (*product)(const void *from, int64_t n, int64_t depth, const void *packed, int64_t columns, int64_t width, void *to);
    void (*step)(const void *given, const void *of_state, int64_t width, const void *biases, void *memories, void *outputs,
                 int64_t n, int64_t size);
} lstm_loops;
static const lstm_loops LSTM_F32 = {lstm_pack_f32, lstm_product_f32, lstm_step_f32};
static const lstm_loops LSTM_F64 = {lstm_pack_f64, lstm_product_f64, lstm_step_f64};
#pragma GCC pop_options
#endif
