/* One step of an LSTM over a batch: four gates a row, in the order input, forget, cell, output.

   The gates of the input and of the state are added with the biases; the memory changes in place. Without a branch, so that the
   loop over a row vectorises; float32 is right to some units in the last place, and near 0 too. */
#ifndef DISPATCH_RECURRENT_H
#define DISPATCH_RECURRENT_H
#include "../exps.h"
#pragma GCC push_options
#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math", "wrapv")

EACH float lstm_tanh_f32(float x)
{
    float e = exp_f32(-2 * fabsf(x)), far = copysignf((1 - e) / (1 + e), x), z = x * x, near;
    near = ((((-5.70498872745e-3f * z + 2.06390887954e-2f) * z - 5.37397155531e-2f) * z + 1.33314422036e-1f) * z
            - 3.33332819422e-1f) * z * x + x;
    return fabsf(x) < 0.625f ? near : far;
}
EACH double lstm_tanh_f64(double x) { return tanh(x); }

#define LSTM_STEP(K, T) \
    EACH T lstm_sigmoid_##K(T x) { return 1 / (1 + exp_##K(-x)); } \
    WIDEST static void lstm_step_##K(const void *given, const void *of_state, const void *biases, void *memories, \
                                     void *outputs, int64_t n, int64_t size) \
    { \
        const T *x = given, *h = of_state; \
        const T *restrict b = biases; \
        T *memory = memories, *output = outputs; \
        for (; n > 0; n--, x += 4 * size, h += 4 * size, memory += size, output += size) { \
            const T *restrict u = x, *restrict v = h; \
            T *restrict m = memory, *restrict y = output; \
            for (int64_t j = 0; j < size; j++) { \
                T in = lstm_sigmoid_##K(u[j] + v[j] + b[j]); \
                T forget = lstm_sigmoid_##K(u[size + j] + v[size + j] + b[size + j]); \
                T cell = lstm_tanh_##K(u[2 * size + j] + v[2 * size + j] + b[2 * size + j]); \
                T out = lstm_sigmoid_##K(u[3 * size + j] + v[3 * size + j] + b[3 * size + j]); \
                T kept = forget * m[j] + in * cell; \
                m[j] = kept; \
                y[j] = out * lstm_tanh_##K(kept); \
            } \
        } \
    }
LSTM_STEP(f32, float)
LSTM_STEP(f64, double)
#pragma GCC pop_options
#endif
