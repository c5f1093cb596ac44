/* Fourier transforms of many lines at once: each lane of a vector is a line (AVX-512).

   Some lines are laid out as vectors of real and imaginary parts, go through passes of a few factors each (Stockham's, so that
   nothing is put back in order) between two buffers, and are written as lines again. */
#ifndef DISPATCH_LANES_H
#define DISPATCH_LANES_H
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { LANES_BYTES = 64, LANES_LONGEST = 4096, LANES_FACTORS = 16, LANES_LARGEST = 13, LANES_PART = 8 };
enum { LANES_KEPT = 1024 };          /* tables of lines up to this are kept for the process: 4 MB if all lengths are about */
#define LANES_INSIDE static inline __attribute__((always_inline))

/* The factors of n, largest powers of two first; 0: it has a prime that is too large. */
static int lanes_factors(int64_t n, int *to)
{
    static const int radices[] = {8, 4, 2, 3, 5, 7, 11, LANES_LARGEST};
    int count = 0;
    for (int i = 0; i < 8; i++)
        for (; n % radices[i] == 0; n /= radices[i])
            to[count++] = radices[i];
    return n == 1 ? count : 0;
}

/* exp(-2 pi i k / n) */
static void lanes_root(int64_t k, int64_t n, long double *re, long double *im)
{
    const long double angle = -6.283185307179586476925286766559005768L * k / n;
    *re = cosl(angle);
    *im = sinl(angle);
}

/* Roots of unity of a long line: exp(-2 pi i k / n) is that of k's lower bits times that of the others. */
typedef struct {
    int64_t bits;
    double (*fine)[2], (*coarse)[2];
} lanes_roots;

/* How many roots there are of both kinds. */
static int64_t lanes_roots_count(int64_t n)
{
    int64_t bits = 0;
    while ((int64_t)1 << 2 * bits < n)
        bits++;
    return ((int64_t)1 << bits) + (n >> bits) + 1;
}

static void lanes_roots_of(int64_t n, void *room, lanes_roots *to)
{
    const int64_t count = lanes_roots_count(n);
    long double re, im;
    to->fine = room;
    for (to->bits = 0; (int64_t)1 << 2 * to->bits < n;)
        to->bits++;
    const int64_t fine = (int64_t)1 << to->bits;
    to->coarse = to->fine + fine;
    for (int64_t i = 0; i < count; i++) {
        lanes_root(i < fine ? i : (i - fine) * fine, n, &re, &im);
        to->fine[i][0] = (double)re, to->fine[i][1] = (double)im;
    }
}

/* How many numbers the tables of a length take at most. */
static int64_t lanes_room(int64_t n)
{
    return 6 * n + 2 * LANES_FACTORS * LANES_LARGEST;
}

/* Roots of unity, in two numbers each: of every pass, a prime's own behind each of its passes. */
#define LANES_TABLES(K, T) \
    static T *lanes_roots_##K(int64_t n, int64_t count, T *to) \
    { \
        long double coarse[LANES_LONGEST / 32 + 2][2], fine[64][2]; \
        for (int64_t i = 0; i < 64 && i < n; i++) \
            lanes_root(i, n, &fine[i][0], &fine[i][1]); \
        for (int64_t i = 0; i * 64 < count; i++) \
            lanes_root(i * 64, n, &coarse[i][0], &coarse[i][1]); \
        for (int64_t k = 0; k < count; k++, to += 2) { \
            const long double *a = coarse[k / 64], *b = fine[k % 64]; \
            to[0] = (T)(a[0] * b[0] - a[1] * b[1]); \
            to[1] = (T)(a[0] * b[1] + a[1] * b[0]); \
        } \
        return to; \
    } \
    /* `room`: for n roots. */ \
    static void lanes_tables_##K(int64_t n, const int *factors, int count, T *to, T *room) \
    { \
        int64_t left = n; \
        lanes_roots_##K(n, n, room); \
        for (int i = 0; i < count; i++) { \
            const int r = factors[i]; \
            const int64_t step = n / left; \
            left /= r; \
            for (int64_t p = 0; p < left; p++) \
                for (int k = 1; k < r; k++, to += 2) \
                    memcpy(to, room + 2 * (p * k * step), 2 * sizeof(T)); \
            for (int k = 0; r > 5 && r != 8 && k < r; k++, to += 2) \
                memcpy(to, room + 2 * (k * (n / r)), 2 * sizeof(T)); \
        } \
    } \
    static T *lanes_kept_##K[LANES_KEPT + 1]; \
    /* The n + 1 first roots of 2 n, then the passes' tables of n. NULL: there is no memory. */ \
    static T *lanes_plan_##K(int64_t n, const int *factors, int count) \
    { \
        T **kept = &lanes_kept_##K[n <= LANES_KEPT ? n : 0], *there = NULL; \
        T *plan = n <= LANES_KEPT ? __atomic_load_n(kept, __ATOMIC_ACQUIRE) : NULL, *passes = plan; \
        if (plan != NULL) \
            return plan; \
        plan = malloc((size_t)(2 * (n + 1) + lanes_room(n) + 2 * n) * sizeof(T)); \
        if (plan == NULL) \
            return NULL; \
        passes = lanes_roots_##K(2 * n, n + 1, plan); \
        lanes_tables_##K(n, factors, count, passes, passes + lanes_room(n)); \
        if (n <= LANES_KEPT && !__atomic_compare_exchange_n(kept, &there, plan, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) { \
            free(plan); \
            plan = there; \
        } \
        return plan; \
    }
LANES_TABLES(f32, float)
LANES_TABLES(f64, double)
static void lanes_let_go(void *plan, int64_t n)
{
    if (n > LANES_KEPT)
        free(plan);
}

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__gnu_linux__)
static bool has_lanes(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
}
#pragma GCC push_options
#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math", "wrapv")
#pragma GCC target("avx512f,avx512dq,prfchw,prefer-vector-width=512")
#else
static bool has_lanes(void)
{
    return false;
}
#endif

LANES_INSIDE void lanes_long_root(const lanes_roots *r, int64_t k, double *re, double *im)
{
    const double *a = r->coarse[k >> r->bits], *b = r->fine[k & (((int64_t)1 << r->bits) - 1)];
    *re = a[0] * b[0] - a[1] * b[1];
    *im = a[0] * b[1] + a[1] * b[0];
}

typedef float lanes_f32 __attribute__((vector_size(LANES_BYTES), aligned(4), may_alias));
typedef double lanes_f64 __attribute__((vector_size(LANES_BYTES), aligned(8), may_alias));
typedef int32_t lanes_i32 __attribute__((vector_size(LANES_BYTES)));
typedef int64_t lanes_i64 __attribute__((vector_size(LANES_BYTES)));

/* Which elements of two vectors of L are taken: constants. */
#define LANES_EIGHT(F, k, L) F(k, L), F(k + 1, L), F(k + 2, L), F(k + 3, L), F(k + 4, L), F(k + 5, L), F(k + 6, L), F(k + 7, L)
#define LANES_OF_16(F) {LANES_EIGHT(F, 0, 16), LANES_EIGHT(F, 8, 16)}
#define LANES_OF_8(F) {LANES_EIGHT(F, 0, 8)}
#define LANES_EVEN(k, L) 2 * (k)
#define LANES_ODD(k, L) 2 * (k) + 1
#define LANES_LOW(k, L) (k) / 2 + ((k) & 1) * L
#define LANES_HIGH(k, L) L / 2 + (k) / 2 + ((k) & 1) * L
#define LANES_FIRST(b, k, L) (k) & b ? L + (k) - b : (k)
#define LANES_SECOND(b, k, L) (k) & b ? L + (k) : (k) + b
#define LANES_FIRST_1(k, L) LANES_FIRST(1, k, L)
#define LANES_SECOND_1(k, L) LANES_SECOND(1, k, L)
#define LANES_FIRST_2(k, L) LANES_FIRST(2, k, L)
#define LANES_SECOND_2(k, L) LANES_SECOND(2, k, L)
#define LANES_FIRST_4(k, L) LANES_FIRST(4, k, L)
#define LANES_SECOND_4(k, L) LANES_SECOND(4, k, L)
#define LANES_FIRST_8(k, L) LANES_FIRST(8, k, L)
#define LANES_SECOND_8(k, L) LANES_SECOND(8, k, L)

/* Two rows of a square change the elements that lie across it, `b` apart. */
#define LANES_EXCHANGE(b, I, V, L) \
    { \
        const I first = LANES_OF_##L(LANES_FIRST_##b), second = LANES_OF_##L(LANES_SECOND_##b); \
        _Pragma("GCC unroll 16") \
        for (int i = 0; i < L; i++) \
            if (!(i & b)) { \
                const V x = rows[i], y = rows[i | b]; \
                rows[i] = __builtin_shuffle(x, y, first); \
                rows[i | b] = __builtin_shuffle(x, y, second); \
            } \
    }

/* Lines in memory: elements `step` bytes apart, imaginary parts `other` bytes behind the real ones. */
enum { LANES_ANY, LANES_ROWS, LANES_BESIDE };
typedef struct {
    char *lines[16];
    int count, how;
    int64_t step, other;
    int64_t next;                    /* bytes to the lines behind these, which are asked for in advance; 0: there may be none */
} lanes_side;

/* How they are read: whole vectors along them, or across lines beside each other, or each for itself. */
static void lanes_look(lanes_side *side, int64_t item)
{
    side->next = side->count > 1 ? (side->lines[1] - side->lines[0]) * side->count : 0;
    side->how = side->count == LANES_BYTES / item && side->other == item ? LANES_BESIDE : LANES_ANY;
    if (side->how == LANES_BESIDE && side->step == 2 * item)
        side->how = LANES_ROWS;
    for (int l = 1; l < side->count && side->how == LANES_BESIDE; l++)
        if (side->lines[l] - side->lines[0] != l * 2 * item)
            side->how = LANES_ANY;
}

#define LANES_BY_RADIX(r, CALL) \
    switch (r) { \
    case 2: CALL(2); break; \
    case 3: CALL(3); break; \
    case 4: CALL(4); break; \
    case 5: CALL(5); break; \
    case 8: CALL(8); break; \
    default: CALL(r); \
    }

#define LANES_FIRST_f32(r) lanes_first_f32(r, from, y, n, roots, backward)
#define LANES_FIRST_f64(r) lanes_first_f64(r, from, y, n, roots, backward)
#define LANES_LAST_f32(r) lanes_last_f32(r, x, to, s, factor, backward)
#define LANES_LAST_f64(r) lanes_last_f64(r, x, to, s, factor, backward)
#define LANES_PASS_f32(r) lanes_pass_f32(r, x, y, n, s, roots, backward)
#define LANES_PASS_f64(r) lanes_pass_f64(r, x, y, n, s, roots, backward)

#define LANES(K, T, I, L) \
    LANES_INSIDE void lanes_turn_##K(lanes_##K rows[L]) \
    { \
        LANES_EXCHANGE(1, I, lanes_##K, L) \
        LANES_EXCHANGE(2, I, lanes_##K, L) \
        LANES_EXCHANGE(4, I, lanes_##K, L) \
        if (L == 16) \
            LANES_EXCHANGE(8, I, lanes_##K, L) \
    } \
    /* n elements of the lines, from `first` on. */ \
    static void lanes_load_##K(const lanes_side *from, int64_t first, int64_t n, lanes_##K *to) \
    { \
        T *one = (T *)to; \
        const int count = from->count; \
        const int64_t step = from->step, other = from->other, start = first * step; \
        char *const *lines = from->lines; \
        int64_t j = 0; \
        if (from->how == LANES_ROWS) \
            for (; j + L / 2 <= n; j += L / 2) { \
                lanes_##K rows[L]; \
                _Pragma("GCC unroll 16") \
                for (int l = 0; l < L; l++) { \
                    rows[l] = *(const lanes_##K *)(lines[l] + start + j * step); \
                    __builtin_prefetch(lines[0] + from->next + (start + j * step) * L + l * LANES_BYTES); \
                } \
                lanes_turn_##K(rows); \
                _Pragma("GCC unroll 16") \
                for (int l = 0; l < L; l++) \
                    to[2 * j + l] = rows[l]; \
            } \
        else if (from->how == LANES_BESIDE) { \
            const I even = LANES_OF_##L(LANES_EVEN), odd = LANES_OF_##L(LANES_ODD); \
            for (; j < n; j++) { \
                const lanes_##K x = *(const lanes_##K *)(lines[0] + start + j * step); \
                const lanes_##K y = *(const lanes_##K *)(lines[0] + start + j * step + LANES_BYTES); \
                to[2 * j] = __builtin_shuffle(x, y, even); \
                to[2 * j + 1] = __builtin_shuffle(x, y, odd); \
            } \
        } \
        for (; j < n; j++) \
            for (int l = 0; l < L; l++) { \
                one[2 * j * L + l] = l < count ? *(const T *)(lines[l] + start + j * step) : 0; \
                one[(2 * j + 1) * L + l] = l < count ? *(const T *)(lines[l] + start + j * step + other) : 0; \
            } \
    } \
    static void lanes_store_##K(const lanes_side *to, int64_t first, int64_t n, const lanes_##K *from, T factor) \
    { \
        const T *one = (const T *)from; \
        const int count = to->count; \
        const int64_t step = to->step, other = to->other, start = first * step; \
        char *const *lines = to->lines; \
        int64_t j = 0; \
        if (to->how == LANES_ROWS) \
            for (; j + L / 2 <= n; j += L / 2) { \
                lanes_##K rows[L]; \
                _Pragma("GCC unroll 16") \
                for (int l = 0; l < L; l++) \
                    rows[l] = factor * from[2 * j + l]; \
                lanes_turn_##K(rows); \
                _Pragma("GCC unroll 16") \
                for (int l = 0; l < L; l++) { \
                    *(lanes_##K *)(lines[l] + start + j * step) = rows[l]; \
                    __builtin_prefetch(lines[0] + to->next + (start + j * step) * L + l * LANES_BYTES, 1); \
                } \
            } \
        else if (to->how == LANES_BESIDE) { \
            const I low = LANES_OF_##L(LANES_LOW), high = LANES_OF_##L(LANES_HIGH); \
            for (; j < n; j++) { \
                const lanes_##K x = factor * from[2 * j], y = factor * from[2 * j + 1]; \
                *(lanes_##K *)(lines[0] + start + j * step) = __builtin_shuffle(x, y, low); \
                *(lanes_##K *)(lines[0] + start + j * step + LANES_BYTES) = __builtin_shuffle(x, y, high); \
            } \
        } \
        for (; j < n; j++) \
            for (int l = 0; l < count; l++) { \
                *(T *)(lines[l] + start + j * step) = factor * one[2 * j * L + l]; \
                *(T *)(lines[l] + start + j * step + other) = factor * one[(2 * j + 1) * L + l]; \
            } \
    } \
    /* ---- transforms of a few elements, from where they are to where they are ---- */ \
    LANES_INSIDE void lanes_four_##K(lanes_##K *re, lanes_##K *im, const int s) \
    { \
        const lanes_##K a = re[0] + re[2 * s], b = im[0] + im[2 * s], c = re[0] - re[2 * s], d = im[0] - im[2 * s]; \
        const lanes_##K e = re[s] + re[3 * s], f = im[s] + im[3 * s], g = re[s] - re[3 * s], h = im[s] - im[3 * s]; \
        re[0] = a + e, im[0] = b + f; \
        re[s] = c + h, im[s] = d - g; \
        re[2 * s] = a - e, im[2 * s] = b - f; \
        re[3 * s] = c - h, im[3 * s] = d + g; \
    } \
    LANES_INSIDE void lanes_few_##K(const int r, lanes_##K *re, lanes_##K *im, const T *roots) \
    { \
        if (r == 2) { \
            const lanes_##K a = re[1], b = im[1]; \
            re[1] = re[0] - a, im[1] = im[0] - b; \
            re[0] += a, im[0] += b; \
        } else if (r == 4) \
            lanes_four_##K(re, im, 1); \
        else if (r == 8) { \
            lanes_##K x[8], y[8]; \
            const T half = (T)0.70710678118654752440084436210484903929L; \
            lanes_four_##K(re, im, 2); \
            lanes_four_##K(re + 1, im + 1, 2); \
            x[1] = half * (re[3] + im[3]), y[1] = half * (im[3] - re[3]); \
            x[2] = im[5], y[2] = -re[5]; \
            x[3] = half * (im[7] - re[7]), y[3] = -half * (re[7] + im[7]); \
            x[0] = re[1], y[0] = im[1]; \
            _Pragma("GCC unroll 4") \
            for (int k = 0; k < 4; k++) { \
                x[4 + k] = re[2 * k] - x[k], y[4 + k] = im[2 * k] - y[k]; \
                x[k] += re[2 * k], y[k] += im[2 * k]; \
            } \
            _Pragma("GCC unroll 8") \
            for (int k = 0; k < 8; k++) \
                re[k] = x[k], im[k] = y[k]; \
        } else if (r == 3) { \
            const T third = (T)0.86602540378443864676372317075293618347L; \
            const lanes_##K a = re[1] + re[2], b = im[1] + im[2], c = third * (re[1] - re[2]), d = third * (im[1] - im[2]); \
            const lanes_##K e = re[0] - (T)0.5 * a, f = im[0] - (T)0.5 * b; \
            re[0] += a, im[0] += b; \
            re[1] = e + d, im[1] = f - c; \
            re[2] = e - d, im[2] = f + c; \
        } else if (r == 5) { \
            const T u = (T)0.30901699437494742410229341718281905886L, v = (T)-0.80901699437494742410229341718281905886L; \
            const T p = (T)0.95105651629515357211643933337938214340L, q = (T)0.58778525229247312916870595463907276860L; \
            const lanes_##K a = re[1] + re[4], b = im[1] + im[4], c = re[2] + re[3], d = im[2] + im[3]; \
            const lanes_##K e = re[1] - re[4], f = im[1] - im[4], g = re[2] - re[3], h = im[2] - im[3]; \
            const lanes_##K i = re[0] + u * a + v * c, j = im[0] + u * b + v * d, k = re[0] + v * a + u * c; \
            const lanes_##K l = im[0] + v * b + u * d, m = p * e + q * g, n = p * f + q * h, o = q * e - p * g, s = q * f - p * h; \
            re[0] += a + c, im[0] += b + d; \
            re[1] = i + n, im[1] = j - m, re[4] = i - n, im[4] = j + m; \
            re[2] = k + s, im[2] = l - o, re[3] = k - s, im[3] = l + o; \
        } else { \
            lanes_##K x[LANES_LARGEST], y[LANES_LARGEST]; \
            x[0] = re[0], y[0] = im[0]; \
            for (int j = 1; j < r; j++) \
                x[0] += re[j], y[0] += im[j]; \
            for (int k = 1; k <= r / 2; k++) { \
                lanes_##K a = re[0], b = im[0], c = {0}, d = {0}; \
                for (int j = 1; j <= r / 2; j++) { \
                    const T *root = roots + 2 * (j * k % r); \
                    a += root[0] * (re[j] + re[r - j]), b += root[0] * (im[j] + im[r - j]); \
                    c += root[1] * (re[j] - re[r - j]), d += root[1] * (im[j] - im[r - j]); \
                } \
                x[k] = a - d, y[k] = b + c; \
                x[r - k] = a + d, y[r - k] = b - c; \
            } \
            for (int k = 0; k < r; k++) \
                re[k] = x[k], im[k] = y[k]; \
        } \
    } \
    /* One transform of r elements; `a`: where the real part of an element is, 0 or 1. */ \
    LANES_INSIDE void lanes_one_##K(const int r, const lanes_##K *x, int64_t from, lanes_##K *y, int64_t to, const T *root, \
                                    const T *roots, int a) \
    { \
        lanes_##K re[LANES_LARGEST] = {0}, im[LANES_LARGEST] = {0}; \
        _Pragma("GCC unroll 8") \
        for (int k = 0; k < r; k++) { \
            re[k] = x[2 * k * from + a]; \
            im[k] = x[2 * k * from + 1 - a]; \
        } \
        lanes_few_##K(r, re, im, roots); \
        y[a] = re[0]; \
        y[1 - a] = im[0]; \
        _Pragma("GCC unroll 8") \
        for (int k = 1; k < r; k++) { \
            lanes_##K u = re[k], v = im[k]; \
            if (root != NULL) { \
                u = root[2 * k - 2] * re[k] - root[2 * k - 1] * im[k]; \
                v = root[2 * k - 2] * im[k] + root[2 * k - 1] * re[k]; \
            } \
            y[2 * k * to + a] = u; \
            y[2 * k * to + 1 - a] = v; \
        } \
    } \
    /* Of `m` groups of r elements, `s` transforms beside each other. */ \
    LANES_INSIDE void lanes_pass_##K(const int r, const lanes_##K *x, lanes_##K *y, int64_t m, int64_t s, const T *roots, int a) \
    { \
        const T *own = roots + m * 2 * (r - 1); \
        for (int64_t p = 0; p < m; p++) \
            for (int64_t q = 0; q < s; q++) \
                lanes_one_##K(r, x + 2 * (q + s * p), s * m, y + 2 * (q + s * r * p), s, p ? roots + p * 2 * (r - 1) : NULL, \
                              own, a); \
    } \
    /* The first pass, from lines: LANES_PART columns of elements at a time. */ \
    LANES_INSIDE void lanes_first_##K(const int r, const lanes_side *from, lanes_##K *y, int64_t m, const T *roots, int a) \
    { \
        lanes_##K part[2 * LANES_PART * 8] __attribute__((aligned(64))); \
        for (int64_t p = 0; p < m; p += LANES_PART) { \
            const int64_t n = m - p < LANES_PART ? m - p : LANES_PART; \
            for (int k = 0; k < r; k++) \
                lanes_load_##K(from, p + k * m, n, part + 2 * k * LANES_PART); \
            for (int64_t i = 0; i < n; i++) \
                lanes_one_##K(r, part + 2 * i, LANES_PART, y + 2 * r * (p + i), 1, roots + (p + i) * 2 * (r - 1), NULL, a); \
        } \
    } \
    /* The last pass, to lines. */ \
    LANES_INSIDE void lanes_last_##K(const int r, const lanes_##K *x, const lanes_side *to, int64_t s, T factor, int a) \
    { \
        lanes_##K part[2 * LANES_PART * 8] __attribute__((aligned(64))); \
        for (int64_t q = 0; q < s; q += LANES_PART) { \
            const int64_t n = s - q < LANES_PART ? s - q : LANES_PART; \
            for (int64_t i = 0; i < n; i++) \
                lanes_one_##K(r, x + 2 * (q + i), s, part + 2 * i, LANES_PART, NULL, NULL, a); \
            for (int k = 0; k < r; k++) \
                lanes_store_##K(to, q + k * s, n, part + 2 * k * LANES_PART, factor); \
        } \
    } \
    /* From lines, or from x without them, to lines where `to` is given, else to the one of x and y that is returned. */ \
    static lanes_##K *lanes_run_##K(const lanes_side *from, const lanes_side *to, lanes_##K *x, lanes_##K *y, int64_t n, \
                                    const int *factors, int count, const T *roots, bool backward, T factor) \
    { \
        int64_t s = 1, whole = n; \
        for (int i = 0; i < count; i++) { \
            const int r = factors[i]; \
            lanes_##K *swapped = x; \
            n /= r; \
            if (i == 0 && from != NULL && count > 1 && r <= 8 && r != 7 && (from->how == LANES_BESIDE || n % LANES_PART == 0)) \
                LANES_BY_RADIX(r, LANES_FIRST_##K) \
            else if (i == count - 1 && i > 0 && to != NULL && r <= 8 && r != 7 && \
                     (to->how == LANES_BESIDE || s % LANES_PART == 0)) { \
                LANES_BY_RADIX(r, LANES_LAST_##K) \
                return NULL; \
            } else { \
                if (i == 0 && from != NULL) \
                    lanes_load_##K(from, 0, whole, x); \
                LANES_BY_RADIX(r, LANES_PASS_##K) \
            } \
            roots += n * 2 * (r - 1) + (r > 5 && r != 8 ? 2 * r : 0); \
            s *= r; \
            x = y; \
            y = swapped; \
        } \
        if (count == 0 && from != NULL) \
            lanes_load_##K(from, 0, whole, x); \
        if (to != NULL) \
            lanes_store_##K(to, 0, whole, x, factor); \
        return x; \
    } \
    /* Roots 0, k, 2 k, ... for the lanes, for each k below m. */ \
    static void lanes_beside_##K(const lanes_roots *r, int64_t m, void *to) \
    { \
        T *one = to; \
        double re, im; \
        for (int64_t k = 0; k < m; k++) \
            for (int l = 0; l < L; l++) { \
                lanes_long_root(r, k * l, &re, &im); \
                one[2 * k * L + l] = (T)re, one[(2 * k + 1) * L + l] = (T)im; \
            } \
    } \
    /* Element k of the columns from `first` on times the root k * column, or that root's conjugate. */ \
    static void lanes_twist_##K(void *of, int64_t m, int64_t first, const lanes_roots *r, const void *given, bool backward) \
    { \
        const lanes_##K *beside = given; \
        lanes_##K *x = of; \
        const T sign = backward ? -1 : 1; \
        double re, im; \
        for (int64_t k = 0; k < m; k++) { \
            lanes_long_root(r, k * first, &re, &im); \
            const T c = (T)re, d = sign * (T)im; \
            const lanes_##K u = beside[2 * k], v = sign * beside[2 * k + 1], a = x[2 * k], b = x[2 * k + 1]; \
            const lanes_##K e = c * u - d * v, f = c * v + d * u; \
            x[2 * k] = a * e - b * f; \
            x[2 * k + 1] = a * f + b * e; \
        } \
    } \
    /* The half (m + 1 elements) of the transform of 2 m real numbers, from that of them as m complex ones. */ \
    static void lanes_half_##K(const lanes_##K *x, lanes_##K *y, int64_t m, const T *roots) \
    { \
        for (int64_t k = 0; k <= m; k++) { \
            const int64_t i = k < m ? k : 0, j = k > 0 ? m - k : 0; \
            const lanes_##K a = (T)0.5 * (x[2 * i] + x[2 * j]), b = (T)0.5 * (x[2 * i + 1] - x[2 * j + 1]); \
            const lanes_##K c = (T)0.5 * (x[2 * i + 1] + x[2 * j + 1]), d = (T)0.5 * (x[2 * j] - x[2 * i]); \
            y[2 * k] = a + roots[2 * k] * c - roots[2 * k + 1] * d; \
            y[2 * k + 1] = b + roots[2 * k] * d + roots[2 * k + 1] * c; \
        } \
    } \
    /* Back, without the factors of 1/2: m complex elements whose transform is that of the half as 2 m real numbers. */ \
    static void lanes_whole_##K(lanes_##K *x, lanes_##K *y, int64_t m, const T *roots) \
    { \
        x[1] = x[2 * m + 1] = (lanes_##K){0}; \
        for (int64_t k = 0; k < m; k++) { \
            const int64_t j = m - k; \
            const lanes_##K a = x[2 * k] + x[2 * j], b = x[2 * k + 1] - x[2 * j + 1]; \
            const lanes_##K c = x[2 * k] - x[2 * j], d = x[2 * k + 1] + x[2 * j + 1]; \
            y[2 * k] = a - roots[2 * k] * d + roots[2 * k + 1] * c; \
            y[2 * k + 1] = b + roots[2 * k] * c + roots[2 * k + 1] * d; \
        } \
    }
LANES(f32, float, lanes_i32, 16)
LANES(f64, double, lanes_i64, 8)
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__gnu_linux__)
#pragma GCC pop_options
#endif
#endif
