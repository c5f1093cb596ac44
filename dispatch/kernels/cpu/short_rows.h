/* Short rows of elementwise loops whose operands do not all go on from one row to the next, as in (n, 3) times (n, 1): a call for
   each row would take longer than the row. What lies apart is gathered first, so that one call has many rows. */
#ifndef DISPATCH_SHORT_ROWS_H
#define DISPATCH_SHORT_ROWS_H
#include "loops.h"

/* Elements of a row at most, where what lies apart are others each time, and where it is the same again; of 16-bit floats, whose
   loops take whole vectors and the rest by a slower way; rows at least. */
enum { SHORT_MOST = 8, SHORT_AGAIN = 31, SHORT_HALVES = 128, SHORT_LEAST = 16 };
enum { SHORT_VECTOR = 32 };                     /* 16-bit floats of a vector */
/* Elements of all rows of a call; of 16-bit floats there is room for a vector more. */
enum { SHORT_BLOCK = 256, SHORT_HALF_BLOCK = SHORT_BLOCK * 4 - SHORT_VECTOR };

#define GATHER_ROWS(T) \
    for (int64_t i = 0; i < rows; i++, from += row) \
        for (int64_t j = 0; j < n; j++, to += sizeof(T)) \
            memcpy(to, from + j * column, sizeof(T)); \
    return

/* `rows` of one 16-bit float each, n times. Whole vectors are written. */
static void spread_rows(char *to, const char *from, intptr_t row, int64_t rows, int64_t n)
{
    for (int64_t i = 0; i < rows; i++, from += row, to += n * (int64_t)sizeof(uint16_t)) {
        uint16_t one, all[SHORT_VECTOR];
        memcpy(&one, from, sizeof(one));
        for (int j = 0; j < SHORT_VECTOR; j++)
            all[j] = one;
        for (int64_t j = 0; j < n; j += SHORT_VECTOR)
            memcpy(to + j * (int64_t)sizeof(uint16_t), all, sizeof(all));
    }
}

/* `rows` of n elements, one behind the other. */
static inline __attribute__((always_inline)) void gather_rows_of(char *to, const char *from, intptr_t row, intptr_t column,
                                                                 int64_t rows, const int64_t n, int size)
{
    switch (size) {
        case 1: GATHER_ROWS(uint8_t);
        case 2: GATHER_ROWS(uint16_t);
        case 4: GATHER_ROWS(uint32_t);
        default: GATHER_ROWS(uint64_t);
    }
}

static void gather_rows(char *to, const char *from, intptr_t row, intptr_t column, int64_t rows, int64_t n, int size)
{
    if (column == size) {
        for (int64_t i = 0; i < rows; i++)
            memcpy(to + i * n * size, from + i * row, (size_t)(n * size));
        return;
    }
    switch (n) {
        case 2: gather_rows_of(to, from, row, column, rows, 2, size); break;
        case 3: gather_rows_of(to, from, row, column, rows, 3, size); break;
        case 4: gather_rows_of(to, from, row, column, rows, 4, size); break;
        default: gather_rows_of(to, from, row, column, rows, n, size);
    }
}

/* All rows, `by` bytes apart. False: they are too long or too few, an output does not go on from row to row, or something is
   converted. `first`, `second`: the conversions, or NULL; loops of 16-bit floats need none for elements that are spread. */
static __attribute__((noinline)) bool run_short_rows(inner_loop loop, void *data, char **pointers, const intptr_t *by,
                                                     const intptr_t *steps, const int *sizes, const int *given, int n_in, int n,
                                                     int64_t rows, int64_t count, bool of_halves, void *const *first,
                                                     void *const *second)
{
    uint64_t rooms[MAX_OPERANDS][SHORT_BLOCK];
    char *at[MAX_OPERANDS];
    intptr_t next[MAX_OPERANDS];
    bool apart[MAX_OPERANDS], spread[MAX_OPERANDS];
    const bool whole = of_halves && count % SHORT_VECTOR == 0 && !first;
    if (count > (of_halves ? SHORT_HALVES : SHORT_AGAIN) || rows < SHORT_LEAST || whole)
        return false;
    for (int k = 0; k < n; k++) {
        const bool converted = first && first[k], single = by[k] == 0 && steps[k] == 0;
        const int size = converted ? given[k] : sizes[k];
        spread[k] = converted && of_halves && size == sizeof(uint16_t) && !second[k] && by[k] != 0 && steps[k] == 0;
        apart[k] = !single && (steps[k] != size || by[k] != count * size);
        next[k] = single ? 0 : size;
        if (converted && !spread[k])
            return false;
        if (apart[k] && (k >= n_in || size > 8 || count > (of_halves ? SHORT_HALVES : by[k] ? SHORT_MOST : SHORT_AGAIN)))
            return false;
    }
    const int64_t at_once = (of_halves ? SHORT_HALF_BLOCK : SHORT_BLOCK) / count;
    for (int64_t done = 0; done < rows; done += at_once) {
        const int64_t some = rows - done < at_once ? rows - done : at_once;
        intptr_t all = (intptr_t)(some * count);
        for (int k = 0; k < n; k++) {
            const char *from = pointers[k] + done * by[k];
            at[k] = apart[k] ? (char *)rooms[k] : (char *)from;
            if (spread[k])
                spread_rows(at[k], from, by[k], some, count);
            else if (apart[k] && (by[k] || !done))
                gather_rows(at[k], from, by[k], steps[k], some, count, (int)next[k]);
        }
        loop(at, &all, next, data);
    }
    return true;
}
#endif
