/* Runs of equal elements in contiguous memory, and rows in order. NaN equals nothing, and is larger than every number. */
#ifndef DISPATCH_DISTINCT_H
#define DISPATCH_DISTINCT_H
#include "../index/loops.h"

typedef int64_t (*dispatch_run_finder)(int64_t* starts, const char* p, int64_t n);
typedef int64_t (*dispatch_run_keeper)(char* to, int64_t* lengths, int64_t* runs, const char* p, int64_t n);
typedef int (*dispatch_row_order)(const char* a, const char* b, int64_t n);

#define DISPATCH_SAME_NUMBER(a, b) ((a) == (b))
#define DISPATCH_SAME_PAIR(a, b) ((a).re == (b).re && (a).im == (b).im)
#define DISPATCH_FIND_RUNS(S, bytes, SAME) \
    static int64_t dispatch_find_runs_##S(int64_t* starts, const char* p, int64_t n) { \
        int64_t i, found = 0; \
        if (n) starts[found++] = 0; \
        for (i = 1; i < n; i++) { \
            const dispatch_v_##S a = dispatch_load_##S(p + (i - 1) * bytes), b = dispatch_load_##S(p + i * bytes); \
            starts[found] = i; \
            found += !SAME(a, b); \
        } \
        return found; \
    } \
    static inline int dispatch_same_as_last_##S(const char* p) { \
        const dispatch_v_##S a = dispatch_load_##S(p - bytes), b = dispatch_load_##S(p); \
        return SAME(a, b); \
    } \
    /* The first element of each run, how long it is, and the number of each element's run; NULL: they are not wanted. All have \
       room for n. Eight that differ one after the other go together. */ \
    static int64_t dispatch_keep_runs_##S(char* to, int64_t* lengths, int64_t* runs, const char* p, int64_t n) { \
        int64_t i = 1, k, found = n > 0, begin = 0; \
        if (n) memcpy(to, p, bytes); \
        if (n && lengths) lengths[0] = 1; \
        if (n && runs) runs[0] = 0; \
        for (; i < n; i += 8) { \
            const int64_t width = i + 8 < n ? 8 : n - i; \
            int same = width < 8, bits = 0; \
            for (k = 0; !same && k < 8; k += 4) { \
                const char* at = p + (i + k) * bytes; \
                same = dispatch_same_as_last_##S(at) | dispatch_same_as_last_##S(at + bytes) \
                    | dispatch_same_as_last_##S(at + 2 * bytes) | dispatch_same_as_last_##S(at + 3 * bytes); \
            } \
            if (!same) { \
                memcpy(to + found * bytes, p + i * bytes, 8 * bytes); \
                if (lengths) lengths[found - 1] = i - begin; \
                for (k = 0; lengths && k < 8; k++) lengths[found + k] = 1; \
                begin = i + 7; \
                for (k = 0; runs && k < 8; k++) runs[i + k] = found + k; \
                found += 8; \
                continue; \
            } \
            for (k = 0; k < width && dispatch_same_as_last_##S(p + (i + k) * bytes); k++) {} \
            if (k == 8) { \
                for (k = 0; runs && k < 8; k++) runs[i + k] = found - 1; \
                if (lengths) lengths[found - 1] = i + 8 - begin; \
                continue; \
            } \
            for (k = 0; k < width; k++) bits |= dispatch_same_as_last_##S(p + (i + k) * bytes) << k; \
            for (k = 0; k < width; k++) { \
                memcpy(to + found * bytes, p + (i + k) * bytes, bytes); \
                begin = bits >> k & 1 ? begin : i + k; \
                found += !(bits >> k & 1); \
                if (lengths) lengths[found - 1] = i + k + 1 - begin; \
                if (runs) runs[i + k] = found - 1; \
            } \
        } \
        return found; \
    } \
    static int dispatch_rows_differ_##S(const char* a, const char* b, int64_t n) { \
        int64_t i; \
        for (i = 0; i < n; i++) { \
            const dispatch_v_##S x = dispatch_load_##S(a + i * bytes), y = dispatch_load_##S(b + i * bytes); \
            if (!SAME(x, y)) return 1; \
        } \
        return 0; \
    }
#define DISPATCH_ORDER_ROWS(S, code, bytes, V) \
    static int dispatch_compare_rows_##S(const char* a, const char* b, int64_t n) { \
        int64_t i; \
        for (i = 0; i < n; i++) { \
            const V x = dispatch_load_##S(a + i * bytes), y = dispatch_load_##S(b + i * bytes); \
            if (x < y) return -1; \
            if (y < x) return 1; \
            if ((x != x) != (y != y)) return x != x ? 1 : -1; \
        } \
        return 0; \
    }
#define DISPATCH_FIND_NUMBERS(S, code, bytes, V) DISPATCH_FIND_RUNS(S, bytes, DISPATCH_SAME_NUMBER)
#define DISPATCH_FIND_PAIRS(S, code, bytes, V) DISPATCH_FIND_RUNS(S, bytes, DISPATCH_SAME_PAIR)
DISPATCH_INTEGERS(DISPATCH_FIND_NUMBERS)
DISPATCH_FLOATS(DISPATCH_FIND_NUMBERS)
DISPATCH_WIDE_UNSIGNED(DISPATCH_FIND_NUMBERS)
DISPATCH_BOOL(DISPATCH_FIND_NUMBERS)
DISPATCH_COMPLEX(DISPATCH_FIND_PAIRS)
DISPATCH_INTEGERS(DISPATCH_ORDER_ROWS)
DISPATCH_FLOATS(DISPATCH_ORDER_ROWS)
DISPATCH_WIDE_UNSIGNED(DISPATCH_ORDER_ROWS)
DISPATCH_BOOL(DISPATCH_ORDER_ROWS)

/* NULL: no loop for the dtype. */
static dispatch_run_finder dispatch_runs_of(int code) {
#define DISPATCH_RUNS_CASE(S, number, bytes, V) case number: return dispatch_find_runs_##S;
    switch (code) {
    DISPATCH_INTEGERS(DISPATCH_RUNS_CASE)
    DISPATCH_FLOATS(DISPATCH_RUNS_CASE)
    DISPATCH_WIDE_UNSIGNED(DISPATCH_RUNS_CASE)
    DISPATCH_BOOL(DISPATCH_RUNS_CASE)
    DISPATCH_COMPLEX(DISPATCH_RUNS_CASE)
    }
    return NULL;
}

static dispatch_run_keeper dispatch_keeper_of(int code) {
#define DISPATCH_KEEPER_CASE(S, number, bytes, V) case number: return dispatch_keep_runs_##S;
    switch (code) {
    DISPATCH_INTEGERS(DISPATCH_KEEPER_CASE)
    DISPATCH_FLOATS(DISPATCH_KEEPER_CASE)
    DISPATCH_WIDE_UNSIGNED(DISPATCH_KEEPER_CASE)
    DISPATCH_BOOL(DISPATCH_KEEPER_CASE)
    DISPATCH_COMPLEX(DISPATCH_KEEPER_CASE)
    }
    return NULL;
}

/* How rows of a dtype are told apart, or put in order. */
static dispatch_row_order dispatch_row_test(int code, int in_order) {
#define DISPATCH_ROW_CASE(S, number, bytes, V) \
    case number: return in_order ? dispatch_compare_rows_##S : dispatch_rows_differ_##S;
    switch (code) {
    DISPATCH_INTEGERS(DISPATCH_ROW_CASE)
    DISPATCH_FLOATS(DISPATCH_ROW_CASE)
    DISPATCH_WIDE_UNSIGNED(DISPATCH_ROW_CASE)
    DISPATCH_BOOL(DISPATCH_ROW_CASE)
    }
    return NULL;
}

/* Numbers of `n` rows in the order of their elements, those of equal rows as they come: merged upwards, from runs of one. */
static void dispatch_sort_rows(int64_t* order, int64_t* spare, int64_t n, const char* rows, int64_t bytes, int64_t width,
                               dispatch_row_order compare) {
    int64_t *from = order, *to = spare, run, i;
    for (i = 0; i < n; i++) order[i] = i;
    for (run = 1; run < n; run *= 2) {
        for (i = 0; i < n; i += 2 * run) {
            const int64_t middle = i + run < n ? i + run : n, end = i + 2 * run < n ? i + 2 * run : n;
            int64_t a = i, b = middle, k;
            for (k = i; k < end; k++) {
                const int second = b < end && (a == middle || compare(rows + from[b] * bytes, rows + from[a] * bytes, width) < 0);
                to[k] = second ? from[b++] : from[a++];
            }
        }
        int64_t* other = from;
        from = to, to = other;
    }
    if (from != order) memcpy(order, from, n * sizeof(int64_t));
}

/* Where runs of equal rows begin, rows taken in `order`, or as they lie; how many. */
static int64_t dispatch_find_row_runs(int64_t* starts, const int64_t* order, int64_t n, const char* rows, int64_t bytes,
                                      int64_t width, dispatch_row_order differ) {
    int64_t i, found = 0;
    if (n) starts[found++] = 0;
    for (i = 1; i < n; i++) {
        const int64_t a = order ? order[i - 1] : i - 1, b = order ? order[i] : i;
        starts[found] = i;
        found += differ(rows + a * bytes, rows + b * bytes, width);
    }
    return found;
}

/* How often each number below `size` occurs, or the sum of its weights. */
#define DISPATCH_COUNT(NAME, T, TERM) \
    static void dispatch_count_##NAME(T* to, int64_t size, const int64_t* numbers, const T* weights, int64_t n) { \
        int64_t i; \
        for (i = 0; i < n; i++) { \
            const int64_t at = numbers[i]; \
            if ((uint64_t)at < (uint64_t)size) to[at] += TERM; \
        } \
    }
/* The largest and the smallest of them and of what is there. */
DISPATCH_VECTOR
static void dispatch_extremes(const int64_t* numbers, int64_t n, int64_t* most, int64_t* least) {
    int64_t i, high = *most, low = *least;
    for (i = 0; i < n; i++) {
        high = numbers[i] > high ? numbers[i] : high;
        low = numbers[i] < low ? numbers[i] : low;
    }
    *most = high; *least = low;
}

/* Few numbers in four tables, so that one that comes again does not wait for itself. */
static void dispatch_count_ones(int64_t* to, int64_t size, const int64_t* numbers, const int64_t* weights, int64_t n) {
    enum { FEW = 1024 };
    int64_t tables[4][FEW], i, k;
    (void)weights;
    if (size > FEW || n < 4 * FEW) {
        for (i = 0; i < n; i++)
            if ((uint64_t)numbers[i] < (uint64_t)size) to[numbers[i]]++;
        return;
    }
    memset(tables, 0, sizeof tables);
    for (i = 0; i < n; i++)
        if ((uint64_t)numbers[i] < (uint64_t)size) tables[i & 3][numbers[i]]++;
    for (k = 0; k < 4; k++)
        for (i = 0; i < size; i++) to[i] += tables[k][i];
}
DISPATCH_COUNT(f32, float, weights[i])
DISPATCH_COUNT(f64, double, weights[i])

/* The number of each element's run, from where the runs begin. */
static void dispatch_number_runs(int64_t* to, const int64_t* starts, int64_t found, int64_t n) {
    int64_t run, i;
    for (run = 0; run < found; run++) {
        const int64_t end = run + 1 < found ? starts[run + 1] : n;
        for (i = starts[run]; i < end; i++) to[i] = run;
    }
}

static void dispatch_measure_runs(int64_t* to, const int64_t* starts, int64_t found, int64_t n) {
    int64_t run;
    for (run = 0; run + 1 < found; run++) to[run] = starts[run + 1] - starts[run];
    if (found) to[run] = n - starts[run];
}
#endif
