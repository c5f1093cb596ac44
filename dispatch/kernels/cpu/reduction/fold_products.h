/* Products of numbers, and of 16-bit floats, which are rounded at each step. Steps of the rules of `fold.h`, which includes this
   behind what it is made of; nobody else does. */
#ifndef DISPATCH_FOLD_PRODUCTS_H
#define DISPATCH_FOLD_PRODUCTS_H

/* From LONG_PRODUCT elements on so many products of 16-bit floats run at once, as PyTorch's do; a shorter one goes from element to
   element. */
enum { LONG_PRODUCT = 128 };
EACH float rounded_product(float a, float b, bool f16)
{
    return f16 ? f32_of_f16(f16_of_f32(a * b)) : f32_of_bf16(bf16_of_f32(a * b));
}
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
CONVERTS static void multiply_f16(float *product, const float *x, int n)     /* whole vectors: up to 7 elements more */
{
    for (int i = 0; i < n; i += 8) {
        const __m256 p = _mm256_mul_ps(_mm256_loadu_ps(product + i), _mm256_loadu_ps(x + i));
        _mm256_storeu_ps(product + i, _mm256_cvtph_ps(_mm256_cvtps_ph(p, 0)));
    }
}
/* The same for rows of LONG_PRODUCT elements as they lie in memory: eight vectors of products at a time stay in registers. */
CONVERTS static void multiply_rows_f16(float *product, const uint16_t *x, int64_t rows)
{
    __m256 p[8];
    for (int i = 0; i < LONG_PRODUCT; i += 64) {
        for (int k = 0; k < 8; k++)
            p[k] = _mm256_loadu_ps(product + i + 8 * k);
        for (int64_t r = 0; r < rows; r++)
            for (int k = 0; k < 8; k++) {
                const uint16_t *from = x + r * LONG_PRODUCT + i + 8 * k;
                p[k] = _mm256_cvtph_ps(_mm256_cvtps_ph(_mm256_mul_ps(p[k], VECTORS_OF_F16(from)), 0));
            }
        for (int k = 0; k < 8; k++)
            _mm256_storeu_ps(product + i + 8 * k, p[k]);
    }
}
#define MULTIPLIES_F16() __builtin_cpu_supports("f16c")
#else
#define multiply_f16(product, x, n) ((void)0)
#define multiply_rows_f16(product, x, rows) ((void)0)
#define MULTIPLIES_F16() 0
#endif
WIDEST static void multiply_halves(float *restrict product, const float *restrict x, int n, bool f16)
{
    for (int i = 0; i < n && f16; i++)
        product[i] = rounded_product(product[i], x[i], true);
    for (int i = 0; i < n && !f16; i++)
        product[i] = rounded_product(product[i], x[i], false);
}
static float product_of_halves(float total, const float *x, int64_t n, bool f16)
{
    float product[LONG_PRODUCT + 8];
    const bool by_vectors = f16 && MULTIPLIES_F16();
    int64_t i = 0;
    if (n >= LONG_PRODUCT) {
        memcpy(product, x, LONG_PRODUCT * sizeof(float));
        memset(product + LONG_PRODUCT, 0, 8 * sizeof(float));
        for (i = LONG_PRODUCT; i + LONG_PRODUCT <= n; i += LONG_PRODUCT)
            if (by_vectors)
                multiply_f16(product, x + i, LONG_PRODUCT);
            else
                multiply_halves(product, x + i, LONG_PRODUCT, f16);
        const int rest = (int)(n - i) / 8 * 8;
        if (by_vectors)
            multiply_f16(product, x + i, rest);
        else
            multiply_halves(product, x + i, rest, f16);
        i += rest;
        for (int m = LONG_PRODUCT / 2; m > 0; m /= 2)
            if (by_vectors)
                multiply_f16(product, product + m, m);
            else
                multiply_halves(product, product + m, m, f16);
        total = rounded_product(total, product[0], f16);
    }
    for (; i < n; i++)
        total = rounded_product(total, x[i], f16);
    return total;
}
#define PRODUCT(K, T) \
    static void prod_init_##K(fold_states *s, int64_t n) \
    { \
        for (int64_t i = 0; i < n; i++) \
            NUMBERS_OF(s, K)[i] = 1; \
    } \
    WIDE static void prod_row_##K(const void *given, int64_t n, fold_states *s, int64_t at, const fold_context *c) \
    { \
        enum { L = LANES_##K }; \
        const num_##K *x = given; \
        vec_##K a0, a1, a2, a3, t; \
        num_##K total = NUMBERS_OF(s, K)[at]; \
        int64_t i = 0; \
        if (c->narrow_f16 || c->narrow_bf16) { \
            total = (num_##K)product_of_halves((float)total, given, n, c->narrow_f16); \
            NUMBERS_OF(s, K)[at] = total; \
            return; \
        } \
        for (int k = 0; k < L; k++) \
            a0[k] = a1[k] = a2[k] = a3[k] = t[k] = 1; \
        for (; i + 4 * L <= n; i += 4 * L) { \
            a0 *= *(const vec_##K *)(x + i); \
            a1 *= *(const vec_##K *)(x + i + L); \
            a2 *= *(const vec_##K *)(x + i + 2 * L); \
            a3 *= *(const vec_##K *)(x + i + 3 * L); \
        } \
        for (; i + L <= n; i += L) \
            a0 *= *(const vec_##K *)(x + i); \
        for (int k = 0; i < n; i++, k++) \
            t[k] = x[i]; \
        a0 = a0 * a1 * (a2 * a3) * t; \
        for (int k = 0; k < L; k++) \
            total = (T)total * (T)a0[k]; \
        NUMBERS_OF(s, K)[at] = total; \
    } \
    WIDE static void prod_cols_##K(const char *x, intptr_t step, int64_t rows, int64_t n, fold_states *s, \
                                   const fold_context *c) \
    { \
        num_##K *restrict to = NUMBERS_OF(s, K); \
        uint16_t halves[FOLD_TILE]; \
        for (; rows >= 4 && !c->narrow_f16 && !c->narrow_bf16; rows -= 4, x += 4 * step) { \
            const num_##K *p = (const num_##K *)x, *q = (const num_##K *)(x + step); \
            const num_##K *r = (const num_##K *)(x + 2 * step), *t = (const num_##K *)(x + 3 * step); \
            for (int64_t j = 0; j < n; j++) \
                to[j] = (T)to[j] * (T)p[j] * (T)q[j] * (T)r[j] * (T)t[j]; \
        } \
        for (; rows > 0; rows--, x += step) { \
            const num_##K *p = (const num_##K *)x; \
            if (c->narrow_bf16) \
                for (int64_t j = 0; j < n; j++) \
                    to[j] = (num_##K)f32_of_bf16(bf16_of_f32((float)(to[j] * p[j]))); \
            else \
                for (int64_t j = 0; j < n; j++) \
                    to[j] = (T)to[j] * (T)p[j]; \
            if (c->narrow_f16) { \
                row_write_f16(to, (char *)halves, 2, n); \
                row_read_f16((const char *)halves, 2, n, to); \
            } \
        } \
    } \
    static void states_finish_##K(const fold_states *s, int64_t n, void *values, int64_t *places, const fold_context *c) \
    { \
        (void)places, (void)c; \
        memcpy(values, s->slot[0], (size_t)n * sizeof(num_##K)); \
    }
PRODUCT(f32, float)

/* Of float16 as it lies in memory: from twice LONG_PRODUCT on so many products run through the whole row. */
static void prod_row_f16(const void *given, int64_t n, fold_states *s, int64_t at, const fold_context *c)
{
    const uint16_t *x = given;
    float some[2 * LONG_PRODUCT], rest[LONG_PRODUCT];
    const int64_t rows = n >= 2 * LONG_PRODUCT && MULTIPLIES_F16() ? n / LONG_PRODUCT : 0;
    if (rows) {
        const int64_t left = n % LONG_PRODUCT, whole = left / 8 * 8;
        row_read_f16((const char *)x, 2, LONG_PRODUCT, some);
        multiply_rows_f16(some, x + LONG_PRODUCT, rows - 1);
        row_read_f16((const char *)(x + rows * LONG_PRODUCT), 2, whole, rest);
        multiply_f16(some, rest, (int)whole);
        prod_row_f32(some, LONG_PRODUCT, s, at, c);
        x += rows * LONG_PRODUCT + whole, n = left - whole;
    }
    for (int64_t m; n > 0; x += m, n -= m) {
        m = n < 2 * LONG_PRODUCT ? n : 2 * LONG_PRODUCT;
        row_read_f16((const char *)x, 2, m, some);
        prod_row_f32(some, m, s, at, c);
    }
}
static void prod_cols_f16(const char *x, intptr_t step, int64_t rows, int64_t n, fold_states *s, const fold_context *c)
{
    float row[FOLD_TILE];
    for (; rows > 0; rows--, x += step) {
        row_read_f16(x, 2, n, row);
        prod_cols_f32((const char *)row, 0, 1, n, s, c);
    }
}
PRODUCT(f64, double)
PRODUCT(i64, uint64_t)
#endif
