/* Orders of a row: sorted, the first k, the k-th, the most frequent; steps for `row_walk.h`.

   Rows are ordered by integer keys: NaN is larger than every number, -0.0 equals 0.0. Which of several equal elements comes first
   in an unstable order is not specified, but results show it: it follows from std::sort, std::nth_element and std::partial_sort of
   libstdc++, whose steps these are. A `pair` is a key and a position; only keys are compared. */
#ifndef DISPATCH_ORDER_H
#define DISPATCH_ORDER_H
#include "order_ops.h"
#include "row_walk.h"

#pragma GCC push_options
#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math", "wrapv")

typedef struct { int64_t key, position; } pair;
enum { SMALL_SORT = 16 };            /* rows that std::sort leaves to the insertion sort */
enum { COUNT_KEYS = 1 << 15 };       /* elements from which a median is found by counting */

typedef struct {
    int64_t k;
    int64_t flip;                    /* what keys are combined with by exclusive or: -1 turns the order around */
    bool stable, in_order, ignore_nan;
} order_context;

/* ---- keys ---- */

EACH int64_t key_of_f32(float x)
{
    uint32_t u = bits_of_f32(x + 0.0f);
    int32_t s = (int32_t)(u >> 31 ? u ^ 0x7fffffffu : u);
    return x != x ? INT32_MAX : s;
}
EACH int64_t key_of_f64(double x)
{
    double y = x + 0.0;
    int64_t s;
    memcpy(&s, &y, 8);
    return x != x ? INT64_MAX : s < 0 ? s ^ INT64_MAX : s;
}
EACH int64_t key_of_i64(int64_t x) { return x; }
#define NAN_f32 INT32_MAX
#define NAN_f64 INT64_MAX
#define KEY_f32 int32_t              /* what holds every key */
#define KEY_f64 int64_t
#define KEY_i64 int64_t
enum { BELOW = 32 };                 /* keys that are looked at together */

/* The same as bits of a number that is not negative. */
#define COUNTED(K, x) ((uint64_t)key_of_##K(x) - (uint64_t)LEAST_##K)
#define LEAST_f32 INT32_MIN
#define LEAST_f64 INT64_MIN
#define LEAST_i64 INT64_MIN

/* ---- heaps ---- */

static inline void swap_pairs(pair *a, pair *b) { pair c = *a; *a = *b; *b = c; }

/* The hole sinks to a leaf, then `value` rises from there. */
static void adjust_heap(pair *p, int64_t hole, int64_t n, pair value)
{
    int64_t top = hole, child = hole;
    while (child < (n - 1) / 2) {
        child = 2 * (child + 1);
        if (p[child].key < p[child - 1].key)
            child--;
        p[hole] = p[child];
        hole = child;
    }
    if (n % 2 == 0 && child == (n - 2) / 2) {
        child = 2 * child + 1;
        p[hole] = p[child];
        hole = child;
    }
    while (hole > top) {
        int64_t parent = (hole - 1) / 2;
        if (!(p[parent].key < value.key))
            break;
        p[hole] = p[parent];
        hole = parent;
    }
    p[hole] = value;
}
/* The largest goes to `to`, what was there into the heap. */
static void pop_heap(pair *p, int64_t n, pair *to)
{
    pair value = *to;
    *to = p[0];
    adjust_heap(p, 0, n, value);
}
static void make_heap(pair *p, int64_t k)
{
    for (int64_t i = k / 2 - 1; i >= 0; i--)
        adjust_heap(p, i, k, p[i]);
}
static void sort_heap(pair *p, int64_t k)
{
    for (int64_t i = k - 1; i > 0; i--)
        pop_heap(p, i, p + i);
}
/* The `k` smallest first, as a heap. */
static void heap_select(pair *p, int64_t k, int64_t n)
{
    make_heap(p, k);
    for (int64_t i = k; i < n; i++)
        if (p[i].key < p[0].key)
            pop_heap(p, k, p + i);
}

/* ---- quicksort's parts ---- */

/* One element moves back to its place; something before it is no larger. */
static inline void insert_pair(pair *p)
{
    pair value = *p;
    while (value.key < p[-1].key) {
        *p = p[-1];
        p--;
    }
    *p = value;
}
static void insertion_sort(pair *p, int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        if (!(p[i].key < p[0].key)) {
            insert_pair(p + i);
            continue;
        }
        pair value = p[i];
        memmove(p + 1, p, (size_t)i * sizeof(pair));
        p[0] = value;
    }
}
static pair *median_of(pair *a, pair *b, pair *c)
{
    if (a->key < b->key)
        return b->key < c->key ? b : a->key < c->key ? c : a;
    return a->key < c->key ? a : b->key < c->key ? c : b;
}
/* Around the median of three, which is put first. */
static int64_t partition(pair *p, int64_t n)
{
    int64_t i = 1, j = n;
    swap_pairs(p, median_of(p + 1, p + n / 2, p + n - 1));
    for (;;) {
        while (p[i].key < p[0].key)
            i++;
        j--;
        while (p[0].key < p[j].key)
            j--;
        if (i >= j)
            return i;
        swap_pairs(p + i, p + j);
        i++;
    }
}
static int depth_limit(int64_t n)
{
    int log = 0;
    for (; n > 1; n >>= 1)
        log++;
    return 2 * log;
}
/* What would be at `nth` comes there, with nothing larger before it. */
static void nth_element(pair *p, int64_t nth, int64_t n)
{
    int depth = depth_limit(n);
    while (n > 3) {
        if (depth-- == 0) {
            heap_select(p, nth + 1, n);
            swap_pairs(p, p + nth);
            return;
        }
        int64_t cut = partition(p, n);
        if (cut <= nth)
            p += cut, nth -= cut, n -= cut;
        else
            n = cut;
    }
    insertion_sort(p, n);
}
/* The same by PyTorch's own steps (quick_select_template), which leave equal elements elsewhere. */
static void quick_select(pair *p, int64_t k, int64_t n)
{
    int64_t left = 0, right = n - 1;
    while (right > left) {
        if (right == left + 1) {
            if (p[left].key > p[right].key)
                swap_pairs(p + left, p + right);
            return;
        }
        swap_pairs(p + left + (right - left) / 2, p + left + 1);
        if (p[left + 1].key > p[right].key)
            swap_pairs(p + left + 1, p + right);
        if (p[left].key > p[right].key)
            swap_pairs(p + left, p + right);
        if (p[left + 1].key > p[left].key)
            swap_pairs(p + left + 1, p + left);
        int64_t i = left + 1, j = right, key = p[left].key;
        for (;;) {
            do
                i++;
            while (key > p[i].key);
            do
                j--;
            while (p[j].key > key);
            if (j < i)
                break;
            swap_pairs(p + i, p + j);
        }
        swap_pairs(p + left, p + j);
        if (j <= k)
            left = i;
        if (j >= k)
            right = j - 1;
    }
}
/* Sorted but for short runs. */
static void sort_parts(pair *p, int64_t n, int depth)
{
    while (n > SMALL_SORT) {
        if (depth-- == 0) {
            heap_select(p, n, n);
            sort_heap(p, n);
            return;
        }
        int64_t cut = partition(p, n);
        sort_parts(p + cut, n - cut, depth);
        n = cut;
    }
}
static void sort_pairs(pair *p, int64_t n)
{
    sort_parts(p, n, depth_limit(n));
    insertion_sort(p, n < SMALL_SORT ? n : SMALL_SORT);
    for (int64_t i = SMALL_SORT; i < n; i++)
        insert_pair(p + i);
}

/* ---- a stable order: digit by digit from the lowest, of what keys are above the least ---- */

enum { DIGIT = 8, LONG_DIGIT = 11, MANY = 1 << 13, PACKED_PASSES = 3 };  /* bits; from so many keys on digits are long */

static void sort_stable(pair *p, pair *spare, int64_t n)
{
    int64_t least = INT64_MAX, most = INT64_MIN;
    pair *from = p, *to = spare;
    if (n <= 64) {
        insertion_sort(p, n);
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        least = p[i].key < least ? p[i].key : least;
        most = p[i].key > most ? p[i].key : most;
    }
    const uint64_t range = (uint64_t)most - (uint64_t)least;
    const int bits = range ? 64 - __builtin_clzll(range) : 0, longest = n < MANY ? DIGIT : LONG_DIGIT;
    const int passes = (bits + longest - 1) / longest, width = passes ? (bits + passes - 1) / passes : 0;
    const uint64_t mask = ((uint64_t)1 << width) - 1;
    for (int pass = 0; pass < passes; pass++) {
        const int shift = pass * width;
        int64_t starts[1 << LONG_DIGIT], place = 0;
        memset(starts, 0, sizeof(int64_t) * (mask + 1));
        for (int64_t i = 0; i < n; i++)
            starts[((uint64_t)from[i].key - (uint64_t)least) >> shift & mask]++;
        for (uint64_t b = 0; b <= mask; b++) {
            int64_t count = starts[b];
            starts[b] = place;
            place += count;
        }
        for (int64_t i = 0; i < n; i++)
            to[starts[((uint64_t)from[i].key - (uint64_t)least) >> shift & mask]++] = from[i];
        pair *other = from;
        from = to, to = other;
    }
    if (from != p)
        memcpy(p, from, (size_t)n * sizeof(pair));
}
/* Integers of one digit are counted instead. Another thread may write `x` meanwhile, which must not lead out of memory. False: they
   are not. */
static bool sort_counted_i64(const int64_t *x, int64_t n, int64_t flip, int64_t *values, int64_t *places)
{
    int64_t starts[1 << LONG_DIGIT], least = INT64_MAX, most = INT64_MIN, place = 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t key = x[i] ^ flip;
        least = key < least ? key : least;
        most = key > most ? key : most;
    }
    const uint64_t range = (uint64_t)most - (uint64_t)least, mask = ((uint64_t)1 << LONG_DIGIT) - 1;
    if (range >> LONG_DIGIT)
        return false;
    memset(starts, 0, sizeof starts);
    for (int64_t i = 0; i < n; i++)
        starts[((uint64_t)(x[i] ^ flip) - (uint64_t)least) & mask]++;
    for (uint64_t b = 0; b <= mask; b++) {
        int64_t count = starts[b];
        starts[b] = place;
        place += count;
    }
    for (int64_t i = 0; i < n; i++) {
        const int64_t at = starts[((uint64_t)(x[i] ^ flip) - (uint64_t)least) & mask]++;
        places[at < n ? at : n - 1] = i;
    }
    place = 0;
    for (uint64_t b = 0; b <= range; b++)
        for (; place < starts[b] && place < n; place++)
            values[place] = ((int64_t)b + least) ^ flip;
    return true;
}
#define sort_counted_f32(...) false
#define sort_counted_f64(...) false

/* Many keys that lie within 32 bits: each, less the least, above its place, in one number. What is read once belongs to us, so
   digits that are counted are those that are placed though another thread may write `x`. `from`: room for 2 n. False: keys lie
   farther apart. */
#define SORT_PACKED(K, T) \
    static bool sort_packed_##K(const T *x, int64_t n, int64_t flip, T *values, int64_t *places, uint64_t *from) \
    { \
        uint32_t starts[PACKED_PASSES][1 << LONG_DIGIT]; \
        uint64_t *to = from + n; \
        int64_t least = INT64_MAX, most = INT64_MIN; \
        for (int64_t i = 0; i < n; i++) { \
            const int64_t key = key_of_##K(x[i]) ^ flip; \
            least = key < least ? key : least; \
            most = key > most ? key : most; \
        } \
        const uint64_t range = (uint64_t)most - (uint64_t)least; \
        if (range >> 32) \
            return false; \
        const int bits = range ? 64 - __builtin_clzll(range) : 1, passes = (bits + LONG_DIGIT - 1) / LONG_DIGIT; \
        const int width = (bits + passes - 1) / passes; \
        const uint64_t mask = ((uint64_t)1 << width) - 1; \
        memset(starts, 0, sizeof starts); \
        for (int64_t i = 0; i < n; i++) { \
            const uint64_t key = (uint32_t)((uint64_t)(key_of_##K(x[i]) ^ flip) - (uint64_t)least); \
            from[i] = key << 32 | (uint64_t)i; \
            for (int pass = 0; pass < passes; pass++) \
                starts[pass][key >> pass * width & mask]++; \
        } \
        for (int pass = 0; pass < passes; pass++) { \
            uint32_t place = 0; \
            for (uint64_t digit = 0; digit <= mask; digit++) { \
                const uint32_t count = starts[pass][digit]; \
                starts[pass][digit] = place; \
                place += count; \
            } \
            for (int64_t i = 0; i < n; i++) \
                to[starts[pass][from[i] >> (32 + pass * width) & mask]++] = from[i]; \
            uint64_t *other = from; \
            from = to, to = other; \
        } \
        if (values == x) { \
            memcpy(to, x, (size_t)n * sizeof(T)); \
            x = (const T *)to; \
        } \
        for (int64_t i = 0; i < n; i++) { \
            const uint32_t place = (uint32_t)from[i]; \
            places[i] = place; \
            values[i] = VALUE_##K(from[i] >> 32, least, flip, x[place]); \
        } \
        return true; \
    }
#define VALUE_i64(key, least, flip, x) ((int64_t)((key) + (uint64_t)(least)) ^ (flip))
#define VALUE_f32(key, least, flip, x) (x)           /* -0.0, which is 0.0 as a key */
#define VALUE_f64 VALUE_f32
SORT_PACKED(f32, float)
SORT_PACKED(f64, double)
SORT_PACKED(i64, int64_t)

/* The places of at most SMALL_SORT elements in order, of equal ones in theirs: each is compared with each, without a branch. */
static void rank_few(const pair *p, int64_t n, int64_t *places)
{
    int64_t rank[SMALL_SORT];
    for (int64_t i = 0; i < n; i++) {
        int64_t before = 0;
        for (int64_t j = 0; j < i; j++) {
            const int64_t first = p[j].key <= p[i].key;
            before += first;
            rank[j] += 1 - first;
        }
        rank[i] = before;
    }
    for (int64_t i = 0; i < n; i++)
        places[rank[i]] = i;
}

/* ---- the steps; scratch: as many pairs as a row has elements, twice if the order is stable, and for modes ---- */

#define ORDER(K, T) \
    static void fill_pairs_##K(const T *x, int64_t n, int64_t flip, pair *p) \
    { \
        for (int64_t i = 0; i < n; i++) \
            p[i].key = key_of_##K(x[i]) ^ flip, p[i].position = i; \
    } \
    static void sort_##K(const void **in, void **out, int64_t n, const void *given) \
    { \
        const order_context *c = given; \
        const T *x = in[0]; \
        T *values = out[0]; \
        int64_t *places = out[1]; \
        pair *p = out[2]; \
        if (c->stable && n >= MANY && n <= UINT32_MAX \
            && (sort_counted_##K(x, n, c->flip, values, places) \
                || sort_packed_##K(x, n, c->flip, values, places, (uint64_t *)p))) \
            return; \
        fill_pairs_##K(x, n, c->flip, p); \
        if (n <= SMALL_SORT) \
            rank_few(p, n, places); \
        else { \
            if (c->stable) \
                sort_stable(p, p + n, n); \
            else \
                sort_pairs(p, n); \
            for (int64_t i = 0; i < n; i++) \
                places[i] = p[i].position; \
        } \
        if (values == x) { \
            T *copy = (T *)p; \
            memcpy(copy, x, (size_t)n * sizeof(T)); \
            x = copy; \
        } \
        for (int64_t i = 0; i < n; i++) \
            values[i] = x[places[i]]; \
    } \
    /* The first element from `i` on whose key is below `limit`, by blocks, of which most have none; n: there is none. */ \
    WIDE static int64_t next_below_##K(const T *x, int64_t i, int64_t n, int64_t flip, int64_t limit) \
    { \
        const KEY_##K by = (KEY_##K)flip, most = (KEY_##K)limit; \
        for (; i + BELOW <= n; i += BELOW) { \
            KEY_##K some = 0; \
            for (int64_t j = 0; j < BELOW; j++) \
                some |= ((KEY_##K)key_of_##K(x[i + j]) ^ by) < most; \
            if (some) \
                break; \
        } \
        while (i < n && (key_of_##K(x[i]) ^ flip) >= limit) \
            i++; \
        return i; \
    } \
    /* PyTorch's choice of algorithms (topk_impl_loop). */ \
    static void topk_##K(const void **in, void **out, int64_t n, const void *given) \
    { \
        const order_context *c = given; \
        const T *x = in[0]; \
        T *values = out[0]; \
        int64_t *places = out[1], k = c->k; \
        const int64_t flip = c->flip; \
        pair *p = out[2]; \
        if (k * 64 <= n) { \
            fill_pairs_##K(x, k, c->flip, p); \
            make_heap(p, k); \
            for (int64_t i = k; (i = next_below_##K(x, i, n, flip, p[0].key)) < n; i++) \
                adjust_heap(p, 0, k, (pair){key_of_##K(x[i]) ^ flip, i}); \
            sort_heap(p, k); \
        } else { \
            fill_pairs_##K(x, n, c->flip, p); \
            nth_element(p, k - 1, n); \
            if (c->in_order) \
                sort_pairs(p, k - 1); \
        } \
        for (int64_t i = 0; i < k; i++) { \
            places[i] = p[i].position; \
            values[i] = x[p[i].position]; \
        } \
    } \
    static void kthvalue_##K(const void **in, void **out, int64_t n, const void *given) \
    { \
        const order_context *c = given; \
        const T *x = in[0]; \
        pair *p = out[2]; \
        fill_pairs_##K(x, n, 0, p); \
        quick_select(p, c->k - 1, n); \
        const int64_t place = p[c->k - 1].position; \
        *(T *)out[0] = x[place]; \
        *(int64_t *)out[1] = place; \
    } \
    /* The place of the k-th in a stable sort: keys are counted by 16 bits after 16 bits, the highest first. */ \
    WIDE static int64_t place_by_counts_##K(const T *x, int64_t n, int64_t k, int64_t *counts) \
    { \
        enum { BITS = 8 * sizeof(T), KEYS = 1 << 16 }; \
        uint64_t before = 0; \
        for (int shift = BITS - 16; shift >= 0; shift -= 16) { \
            int64_t digit = 0; \
            memset(counts, 0, KEYS * sizeof *counts); \
            for (int64_t i = 0; i < n; i++) { \
                const uint64_t key = COUNTED(K, x[i]); \
                if (key >> shift >> 16 == before) \
                    counts[key >> shift & (KEYS - 1)]++; \
            } \
            while (digit < KEYS - 1 && k >= counts[digit])    /* another thread may write x */ \
                k -= counts[digit++]; \
            before = before << 16 | (uint64_t)digit; \
        } \
        for (int64_t i = 0; i < n; i++) \
            if (COUNTED(K, x[i]) == before && k-- == 0) \
                return i; \
        return 0; \
    } \
    /* The lower median, in the place that a stable sort would give it: the first NaN, if there is one and it is not ignored. */ \
    static void median_##K(const void **in, void **out, int64_t n, const void *given) \
    { \
        const order_context *c = given; \
        const T *x = in[0]; \
        pair *p = out[2]; \
        int64_t place = -1, numbers = 0; \
        for (int64_t i = n - 1; i >= 0; i--) { \
            numbers += x[i] == x[i]; \
            place = x[i] == x[i] ? place : i; \
        } \
        if ((place < 0 || c->ignore_nan) && n >= COUNT_KEYS) { \
            place = place_by_counts_##K(x, n, numbers ? (numbers - 1) / 2 : 0, (int64_t *)p); \
        } else if (place < 0 || c->ignore_nan) { \
            int64_t k = numbers ? (numbers - 1) / 2 : 0; \
            fill_pairs_##K(x, n, 0, p); \
            nth_element(p, k, n); \
            place = p[k].position; \
            const T median = x[place]; \
            for (int64_t i = 0; i < n; i++) \
                k -= x[i] < median; \
            for (int64_t i = 0; i < n && numbers; i++) \
                if (x[i] == median && k-- == 0) { \
                    place = i; \
                    break; \
                } \
        } \
        *(T *)out[0] = x[place]; \
        *(int64_t *)out[1] = place; \
    } \
    /* The most frequent element, the smallest of those, and the last place of it. */ \
    static void mode_##K(const void **in, void **out, int64_t n, const void *given) \
    { \
        (void)given; \
        const T *x = in[0]; \
        pair *p = out[2]; \
        int64_t most = 0, run = 0, key = 0, place = n - 1; \
        fill_pairs_##K(x, n, 0, p); \
        sort_stable(p, p + n, n); \
        for (int64_t i = 0; i < n; i++) { \
            run = i && p[i].key == p[i - 1].key ? run + 1 : 1; \
            if (run > most) \
                most = run, key = p[i].key; \
        } \
        while (place > 0 && key_of_##K(x[place]) != key)      /* another thread may write x */ \
            place--; \
        *(T *)out[0] = x[place]; \
        *(int64_t *)out[1] = place; \
    }
ORDER(f32, float)
ORDER(f64, double)
ORDER(i64, int64_t)


static const row_step_fn ORDER_STEPS[ORDER_OPS][3] = {
    {sort_f32, sort_f64, sort_i64}, {topk_f32, topk_f64, topk_i64}, {kthvalue_f32, kthvalue_f64, kthvalue_i64},
    {median_f32, median_f64, median_i64}, {mode_f32, mode_f64, mode_i64},
};
#pragma GCC pop_options
#endif
