/* Runs of equal elements in contiguous memory: where each begins. NaN equals nothing. */
#ifndef DISPATCH_DISTINCT_H
#define DISPATCH_DISTINCT_H
#include "../index/loops.h"

typedef int64_t (*dispatch_run_finder)(int64_t* starts, const char* p, int64_t n);

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
    }
#define DISPATCH_FIND_NUMBERS(S, code, bytes, V) DISPATCH_FIND_RUNS(S, bytes, DISPATCH_SAME_NUMBER)
#define DISPATCH_FIND_PAIRS(S, code, bytes, V) DISPATCH_FIND_RUNS(S, bytes, DISPATCH_SAME_PAIR)
DISPATCH_INTEGERS(DISPATCH_FIND_NUMBERS)
DISPATCH_FLOATS(DISPATCH_FIND_NUMBERS)
DISPATCH_WIDE_UNSIGNED(DISPATCH_FIND_NUMBERS)
DISPATCH_BOOL(DISPATCH_FIND_NUMBERS)
DISPATCH_COMPLEX(DISPATCH_FIND_PAIRS)

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
    for (run = 0; run < found; run++) to[run] = (run + 1 < found ? starts[run + 1] : n) - starts[run];
}
#endif
