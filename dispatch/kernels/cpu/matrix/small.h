/* Products of small matrices, where a call of BLAS costs more than the arithmetic; and the end of large ones.

   Rows of the right operand are read once, then a row of the result is made at a time: alpha times the product, and beta times
   what is added, in the type of computation, and rounded once when it is written. Integers wrap. */
#ifndef DISPATCH_SMALL_H
#define DISPATCH_SMALL_H
#include "rows.h"

enum { SMALL_SIDE = 256, SMALL_RIGHT = 2048, SMALL_WORK = 32768, SMALL_LANES = 8 };
enum { SMALL_FOR_BLAS = 2048, SMALL_COMPLEX = 16384 };   /* multiplications up to which BLAS, or the way to it, takes longer */

/* Where an operand's elements are; steps in bytes. */
typedef struct { char *data; intptr_t batch, row, column; } small_operand;

typedef struct {
    int dtype;
    int64_t batches, m, n, k;
    small_operand a, b, added, out;      /* added without data: nothing is */
    double alpha, beta;
    int64_t whole_alpha, whole_beta;     /* of integers */
} small_product;

#pragma GCC push_options
#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math", "wrapv")

/* A row of the product: n sums of k products, in order. One column is a dot product, in lanes. */
#define SMALL_REAL(NAME, T, FACTOR) \
    WIDE static void product_##NAME(const void *left, const void **right, int64_t n, int64_t k, void *to) \
    { \
        const T *a = left; \
        T *sums = to; \
        if (n == 1) { \
            const T *b = right[0]; \
            T lanes[SMALL_LANES] = {0}, sum = 0; \
            int64_t r = 0; \
            if (k >= 8 * SMALL_LANES) {      /* sums that do not wait for each other */ \
                T wide[4 * SMALL_LANES] = {0}; \
                for (; r + 4 * SMALL_LANES <= k; r += 4 * SMALL_LANES) \
                    for (int i = 0; i < 4 * SMALL_LANES; i++) \
                        wide[i] += a[r + i] * b[r + i]; \
                for (int i = 0; i < SMALL_LANES; i++) \
                    lanes[i] = wide[i] + wide[i + SMALL_LANES] + (wide[i + 2 * SMALL_LANES] + wide[i + 3 * SMALL_LANES]); \
            } \
            for (; r + SMALL_LANES <= k; r += SMALL_LANES) \
                for (int i = 0; i < SMALL_LANES; i++) \
                    lanes[i] += a[r + i] * b[r + i]; \
            for (; r < k; r++) \
                sum += a[r] * b[r]; \
            for (int i = 0; i < SMALL_LANES; i++) \
                sum += lanes[i]; \
            *sums = sum; \
            return; \
        } \
        for (int64_t j = 0; j < n; j++) \
            sums[j] = 0; \
        int64_t r = 0; \
        for (; r + 4 <= k; r += 4) {         /* four rows for each time that the sums are loaded and stored */ \
            const T *b = right[r], *c = right[r + 1], *d = right[r + 2], *e = right[r + 3]; \
            const T x = a[r], y = a[r + 1], z = a[r + 2], w = a[r + 3]; \
            for (int64_t j = 0; j < n; j++) \
                sums[j] += x * b[j] + y * c[j] + (z * d[j] + w * e[j]); \
        } \
        for (; r < k; r++) { \
            const T *b = right[r], x = a[r]; \
            for (int64_t j = 0; j < n; j++) \
                sums[j] += x * b[j]; \
        } \
    } \
    WIDE static void scaled_##NAME(void *row, const void *added, int64_t n, FACTOR alpha, FACTOR beta) \
    { \
        T *x = row; \
        const T *y = added; \
        if (alpha != 1) \
            for (int64_t j = 0; j < n; j++) \
                x[j] *= (T)alpha; \
        if (y) \
            for (int64_t j = 0; j < n; j++) \
                x[j] += beta == 1 ? y[j] : (T)beta * y[j]; \
    }
SMALL_REAL(f32, float, float)
SMALL_REAL(f64, double, double)
SMALL_REAL(i64, int64_t, int64_t)

#define SMALL_COMPLEX(NAME, T, ROW) \
    static void product_##NAME(const void *left, const void **right, int64_t n, int64_t k, void *to) \
    { \
        const ROW *a = left; \
        ROW *sums = to; \
        memset(sums, 0, (size_t)n * sizeof(ROW)); \
        for (int64_t r = 0; r < k; r++) { \
            const ROW *b = n == 1 ? (const ROW *)right[0] + r : right[r], x = a[r]; \
            for (int64_t j = 0; j < n; j++) { \
                sums[j].re += x.re * b[j].re - x.im * b[j].im; \
                sums[j].im += x.re * b[j].im + x.im * b[j].re; \
            } \
        } \
    } \
    static void scaled_##NAME(void *row, const void *added, int64_t n, T alpha, T beta) \
    { \
        ROW *x = row; \
        const ROW *y = added; \
        for (int64_t j = 0; j < n; j++) { \
            x[j].re *= alpha; \
            x[j].im *= alpha; \
            if (y) { \
                x[j].re += beta * y[j].re; \
                x[j].im += beta * y[j].im; \
            } \
        } \
    }
SMALL_COMPLEX(c64, float, row_c64)
SMALL_COMPLEX(c128, double, row_c128)

/* Many rows by two to four columns, where all are numbers of their own type, rows without gaps and nothing is added: a call for
   each row would take longer than the row. False: it is another product. */
enum { FEW_LEAST = 8, FEW_COLUMNS = 4 };
#define FEW(NAME, T) \
    EACH void few_rows_##NAME(const char *a, const T *b, char *out, const small_product *p, const int n) \
    { \
        for (int64_t i = 0; i < p->m; i++, a += p->a.row, out += p->out.row) { \
            T sums[FEW_COLUMNS] = {0}; \
            for (int64_t r = 0; r < p->k; r++) \
                for (int j = 0; j < n; j++) \
                    sums[j] += ((const T *)a)[r] * b[r * n + j]; \
            for (int j = 0; j < n; j++) \
                ((T *)out)[j] = sums[j]; \
        } \
    } \
    static bool few_##NAME(const char *a, const void *const *right, char *out, const small_product *p) \
    { \
        const intptr_t all = (intptr_t)a | (intptr_t)out | p->a.row | p->out.row; \
        T b[SMALL_RIGHT]; \
        if (p->m < FEW_LEAST || p->n < 2 || p->n > FEW_COLUMNS || p->added.data || p->alpha != 1 || all % (intptr_t)sizeof(T) != 0 \
            || p->a.column != sizeof(T) || p->out.column != sizeof(T)) \
            return false; \
        for (int64_t r = 0; r < p->k; r++) \
            memcpy(b + r * p->n, right[r], (size_t)p->n * sizeof(T)); \
        if (p->n == 2) \
            few_rows_##NAME(a, b, out, p, 2); \
        else if (p->n == 3) \
            few_rows_##NAME(a, b, out, p, 3); \
        else \
            few_rows_##NAME(a, b, out, p, 4); \
        return true; \
    }
FEW(f32, float)
FEW(f64, double)

static void run_small(const small_product *p)
{
    double buffer[SMALL_RIGHT * 2], left[SMALL_SIDE * 2], sums[SMALL_SIDE * 2], rest[SMALL_SIDE * 2];
    const void *right[SMALL_SIDE];
    const row_kind *kind = &ROW_KINDS[p->dtype];
    const int size = ROW_SIZE[kind->row];
    for (int64_t batch = 0; batch < p->batches; batch++) {
        const char *b = p->b.data + batch * p->b.batch;
        if (p->n == 1)
            right[0] = kind->read(b, p->b.row, p->k, buffer);
        else
            for (int64_t r = 0; r < p->k; r++)
                right[r] = kind->read(b + r * p->b.row, p->b.column, p->n, (char *)buffer + r * p->n * size);
        const char *first = p->a.data + batch * p->a.batch;
        char *out = p->out.data + batch * p->out.batch;
        if (p->dtype == ST_float32 ? few_f32(first, right, out, p) : p->dtype == ST_float64 && few_f64(first, right, out, p))
            continue;
        for (int64_t i = 0; i < p->m; i++) {
            const void *a = kind->read(p->a.data + batch * p->a.batch + i * p->a.row, p->a.column, p->k, left);
            const void *y = NULL;
            if (p->added.data)
                y = kind->read(p->added.data + batch * p->added.batch + i * p->added.row, p->added.column, p->n, rest);
#define SMALL_CASE(TYPE, NAME, ALPHA, BETA) \
            case TYPE: \
                product_##NAME(a, right, p->n, p->k, sums); \
                scaled_##NAME(sums, y, p->n, ALPHA, BETA); \
                break;
            switch (kind->row) {
                SMALL_CASE(ROW_F32, f32, (float)p->alpha, (float)p->beta)
                SMALL_CASE(ROW_F64, f64, p->alpha, p->beta)
                SMALL_CASE(ROW_I64, i64, p->whole_alpha, p->whole_beta)
                SMALL_CASE(ROW_C64, c64, (float)p->alpha, (float)p->beta)
                SMALL_CASE(ROW_C128, c128, p->alpha, p->beta)
            }
            kind->write(sums, p->out.data + batch * p->out.batch + i * p->out.row, p->out.column, p->n);
        }
    }
}

/* Products of a few rows, columns and terms, of a batch from `first` to `end`. */
enum { TINY_SIDE = 4 };
#define TINY_PRODUCT(NAME, T) \
    EACH void tiny_products_##NAME(const small_product *p, int64_t first, int64_t end, const int m, const int k, const int n) \
    { \
        for (int64_t batch = first; batch < end; batch++) { \
            const char *a = p->a.data + batch * p->a.batch, *b = p->b.data + batch * p->b.batch; \
            char *out = p->out.data + batch * p->out.batch; \
            T right[TINY_SIDE * TINY_SIDE]; \
            for (int r = 0; r < k; r++) \
                for (int j = 0; j < n; j++) \
                    memcpy(right + r * TINY_SIDE + j, b + r * p->b.row + j * p->b.column, sizeof(T)); \
            for (int i = 0; i < m; i++) { \
                T left[TINY_SIDE]; \
                for (int r = 0; r < k; r++) \
                    memcpy(left + r, a + i * p->a.row + r * p->a.column, sizeof(T)); \
                for (int j = 0; j < n; j++) { \
                    T sum = 0; \
                    for (int r = 0; r < k; r++) \
                        sum += left[r] * right[r * TINY_SIDE + j]; \
                    memcpy(out + i * p->out.row + j * p->out.column, &sum, sizeof(T)); \
                } \
            } \
        } \
    } \
    static void tiny_##NAME(const small_product *p, int64_t first, int64_t end) \
    { \
        const int is_square = p->m == p->k && p->k == p->n; \
        if (is_square && p->m == 2) \
            tiny_products_##NAME(p, first, end, 2, 2, 2); \
        else if (is_square && p->m == 3) \
            tiny_products_##NAME(p, first, end, 3, 3, 3); \
        else if (is_square && p->m == 4) \
            tiny_products_##NAME(p, first, end, 4, 4, 4); \
        else \
            tiny_products_##NAME(p, first, end, (int)p->m, (int)p->k, (int)p->n); \
    }
TINY_PRODUCT(f32, float)
TINY_PRODUCT(f64, double)
static bool is_tiny(const small_product *p, int code)
{
    return (code == ST_float32 || code == ST_float64) && p->m <= TINY_SIDE && p->k <= TINY_SIDE && p->n <= TINY_SIDE;
}
static void run_tiny(const small_product *p, int64_t first, int64_t end)
{
    (p->dtype == ST_float32 ? tiny_f32 : tiny_f64)(p, first, end);
}

/* to += x * row */
#define SMALL_ADD(NAME, T) \
    WIDE static void add_row_##NAME(void *to, const void *row, const void *x, int64_t n) \
    { \
        T *sums = to; \
        const T *y = row, by = *(const T *)x; \
        for (int64_t j = 0; j < n; j++) \
            sums[j] += by * y[j]; \
    }
SMALL_ADD(f32, float)
SMALL_ADD(f64, double)
SMALL_ADD(i64, int64_t)

/* Dot products of narrow integers as they lie: sums wrap at 32 bits, and no result has more. */
#define SMALL_NARROW(NAME, T) \
    WIDEST static uint32_t dot_##NAME(const T *a, const T *b, int64_t n) \
    { \
        uint32_t sum = 0; \
        for (int64_t i = 0; i < n; i++) \
            sum += (uint32_t)a[i] * (uint32_t)b[i]; \
        return sum; \
    }
SMALL_NARROW(u8, uint8_t)
SMALL_NARROW(i8, int8_t)
SMALL_NARROW(i16, int16_t)
SMALL_NARROW(i32, int32_t)

/* The same of columns, added up in as many bits as results have at most. */
#define NARROW_COLUMNS(NAME, T, SUM) \
    WIDEST static void add_column_##NAME(SUM *restrict sums, const T *restrict column, SUM by, int64_t n) \
    { \
        for (int64_t i = 0; i < n; i++) \
            sums[i] = (SUM)(sums[i] + (uint32_t)(SUM)column[i] * by); \
    } \
    static void sum_columns_##NAME(const small_product *p, int64_t *to) \
    { \
        SUM sums[ROW_BLOCK]; \
        for (int64_t i = 0; i < p->m; i += ROW_BLOCK) { \
            const int64_t n = p->m - i < ROW_BLOCK ? p->m - i : ROW_BLOCK; \
            memset(sums, 0, sizeof sums); \
            for (int64_t r = 0; r < p->k; r++) { \
                T by; \
                memcpy(&by, p->b.data + r * p->b.row, sizeof by); \
                add_column_##NAME(sums, (const T *)(p->a.data + r * p->a.column) + i, (SUM)by, n); \
            } \
            for (int64_t k = 0; k < n; k++) \
                to[i + k] = sums[k]; \
        } \
    }
NARROW_COLUMNS(u8, uint8_t, uint16_t)
NARROW_COLUMNS(i8, int8_t, uint16_t)
NARROW_COLUMNS(i16, int16_t, uint16_t)
NARROW_COLUMNS(i32, int32_t, uint32_t)

/* The sums of all rows, where both operands are narrow integers without gaps, or columns have none; false: it is another case. */
static bool sum_narrow(const small_product *p, int64_t *sums)
{
    const int size = ROW_KINDS[p->dtype].size;
    if (p->m > 1 && p->a.row == size && p->a.column != size && (uintptr_t)p->a.data % size == 0 && p->a.column % size == 0)
        switch (p->dtype) {
            case ST_uint8: sum_columns_u8(p, sums); return true;
            case ST_int8: sum_columns_i8(p, sums); return true;
            case ST_int16: sum_columns_i16(p, sums); return true;
            case ST_int32: sum_columns_i32(p, sums); return true;
            default: return false;
        }
    if (p->a.column != size || p->b.row != size)
        return false;
    for (int64_t i = 0; i < p->m; i++) {
        const void *a = p->a.data + i * p->a.row, *b = p->b.data;
        switch (p->dtype) {
            case ST_uint8: sums[i] = dot_u8(a, b, p->k); break;
            case ST_int8: sums[i] = dot_i8(a, b, p->k); break;
            case ST_int16: sums[i] = dot_i16(a, b, p->k); break;
            case ST_int32: sums[i] = dot_i32(a, b, p->k); break;
            default: return false;
        }
    }
    return true;
}

/* One row times a vector: both are read a block at a time. */
static void sum_line(const small_product *p, char *sum)
{
    double left[ROW_BLOCK], right[ROW_BLOCK], part;
    const row_kind *kind = &ROW_KINDS[p->dtype];
    for (int64_t r = 0; r < p->k; r += ROW_BLOCK) {
        const int64_t n = p->k - r < ROW_BLOCK ? p->k - r : ROW_BLOCK;
        const void *a = kind->read(p->a.data + r * p->a.column, p->a.column, n, left);
        const void *b = kind->read(p->b.data + r * p->b.row, p->b.row, n, right);
        switch (kind->row) {
            case ROW_F32: product_f32(a, &b, 1, n, &part); *(float *)sum += *(float *)&part; break;
            case ROW_F64: product_f64(a, &b, 1, n, &part); *(double *)sum += part; break;
            case ROW_I64: product_i64(a, &b, 1, n, &part); *(int64_t *)sum += *(int64_t *)&part; break;
        }
    }
}

/* A matrix, or a vector, times a vector of any length, for real numbers. The matrix is read in blocks of its rows, or of its
   columns where those lie together. `room`: k + m elements of the type of computation. */
static void run_vector(const small_product *p, char *room)
{
    double buffer[ROW_BLOCK], part;
    const row_kind *kind = &ROW_KINDS[p->dtype];
    const int size = ROW_SIZE[kind->row];
    const bool by_columns = p->m > 1 && p->a.column > p->a.row && p->a.row > 0;
    char *sums = room + p->k * size;
    const char *x = room;
    memset(sums, 0, (size_t)(p->m * size));
    const bool made = kind->row == ROW_I64 && sum_narrow(p, (int64_t *)sums);
    if (!made && p->m == 1)
        sum_line(p, sums);
    for (int64_t r = 0; r < p->k && !made && p->m > 1; r += ROW_BLOCK) {
        const int64_t n = p->k - r < ROW_BLOCK ? p->k - r : ROW_BLOCK;
        const void *from = kind->read(p->b.data + r * p->b.row, p->b.row, n, room + r * size);
        if (from != room + r * size)
            memcpy(room + r * size, from, (size_t)(n * size));
    }
#define VECTOR_CASE(TYPE, NAME, T) \
    case TYPE: \
        if (by_columns) \
            for (int64_t i = 0; i < p->m; i += ROW_BLOCK) { \
                const int64_t n = p->m - i < ROW_BLOCK ? p->m - i : ROW_BLOCK; \
                for (int64_t r = 0; r < p->k; r++) \
                    add_row_##NAME(sums + i * size, kind->read(p->a.data + i * p->a.row + r * p->a.column, p->a.row, n, buffer), \
                                   x + r * size, n); \
            } \
        else \
            for (int64_t i = 0; i < p->m; i++) \
                for (int64_t r = 0; r < p->k; r += ROW_BLOCK) { \
                    const int64_t n = p->k - r < ROW_BLOCK ? p->k - r : ROW_BLOCK; \
                    const void *right = x + r * size; \
                    product_##NAME(kind->read(p->a.data + i * p->a.row + r * p->a.column, p->a.column, n, buffer), &right, 1, n, \
                                   &part); \
                    ((T *)sums)[i] += *(T *)&part; \
                } \
        break;
    switch (made || p->m == 1 ? ROW_NONE : kind->row) {
        VECTOR_CASE(ROW_F32, f32, float)
        VECTOR_CASE(ROW_F64, f64, double)
        VECTOR_CASE(ROW_I64, i64, int64_t)
    }
    for (int64_t i = 0; i < p->m; i += ROW_BLOCK) {
        const int64_t n = p->m - i < ROW_BLOCK ? p->m - i : ROW_BLOCK;
        const void *y = p->added.data ? kind->read(p->added.data + i * p->added.row, p->added.row, n, buffer) : NULL;
        switch (kind->row) {
            case ROW_F32: scaled_f32(sums + i * size, y, n, (float)p->alpha, (float)p->beta); break;
            case ROW_F64: scaled_f64(sums + i * size, y, n, p->alpha, p->beta); break;
            case ROW_I64: scaled_i64(sums + i * size, y, n, p->whole_alpha, p->whole_beta); break;
        }
        kind->write(sums + i * size, p->out.data + i * p->out.row, p->out.row, n);
    }
}
/* What is left of a product that was made elsewhere: `sums` has rows first..end, numbered through the batches, `step` bytes apart,
   and of each n columns from `column` on, in the type of computation. They are scaled, what is added is added, and they are written
   where they are not the output itself. */
static void finish_part(const small_product *p, char *sums, intptr_t step, int64_t first, int64_t end, int64_t column, int64_t n)
{
    double rest[ROW_BLOCK];
    const row_kind *kind = &ROW_KINDS[p->dtype];
    const int size = ROW_SIZE[kind->row];
    for (int64_t row = first; row < end; row++, sums += step) {
        const int64_t batch = row / p->m, i = row % p->m;
        char *out = p->out.data + batch * p->out.batch + i * p->out.row + column * p->out.column;
        const char *added = !p->added.data ? NULL : p->added.data + batch * p->added.batch + i * p->added.row
                                                    + column * p->added.column;
        for (int64_t start = 0; start < n; start += ROW_BLOCK) {
            const int64_t some = n - start < ROW_BLOCK ? n - start : ROW_BLOCK;
            char *from = sums + start * size;
            const void *y = added ? kind->read(added + start * p->added.column, p->added.column, some, rest) : NULL;
            if (kind->row == ROW_F32)
                scaled_f32(from, y, some, (float)p->alpha, (float)p->beta);
            else
                scaled_f64(from, y, some, p->alpha, p->beta);
            if (from != out + start * p->out.column)
                kind->write(from, out + start * p->out.column, p->out.column, some);
        }
    }
}

/* The same of whole rows without gaps. */
static void finish_large(const small_product *p, char *sums, int64_t first, int64_t end)
{
    finish_part(p, sums, p->n * ROW_SIZE[ROW_KINDS[p->dtype].row], first, end, 0, p->n);
}
#pragma GCC pop_options
#endif
