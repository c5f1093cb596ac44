/* Operators along one dimension: every row of the inputs, as a row without gaps, and the rows of the outputs that are made of it.

   Rows come from `rows.h` in the type that they are computed in. Where another dimension has its elements closer together than
   the rows have, a step that can takes up to WALK_COLS neighbours at once, as columns of a matrix, converted line by line if need
   be; for another one WALK_ROWS of them are read side by side and turned. Either way no cache line is fetched twice. */
#ifndef DISPATCH_ROW_WALK_H
#define DISPATCH_ROW_WALK_H
#include <stdlib.h>
#include "rows.h"

enum { WALK_ROWS = 16, WALK_COLS = 256, WALK_OPERANDS = 4, WALK_DIMS = 64 };
enum { WALK_BYTES = 1 << 18 };       /* of columns that are converted at once: so much stays in a cache */
enum { WALK_ELEMENTS = 1 << 12 };    /* of rows that are converted together */
/* Elements of a row up to which rows are turned into columns (of a single input of 4 bytes, of others), and rows from which; how
   many at once. */
enum { WALK_SHORT_OF_4 = 96, WALK_SHORT = 16, WALK_SHORT_AT_ONCE = 1 << 14 };

typedef struct {
    char *data;
    int64_t n;                       /* elements of a row */
    intptr_t step;                   /* bytes between them */
    int size, row_size;              /* bytes of an element, and of one of the row's */
    row_reader read;                 /* inputs */
    row_writer write;                /* outputs */
    bool as_it_is;                   /* elements are computed in their own dtype */
    intptr_t steps[WALK_DIMS];       /* of the other dimensions */
} walk_operand;

/* A step that asked for scratch finds it behind its last output: nobody else's while it runs. */
typedef void (*row_step_fn)(const void **in, void **out, int64_t n, const void *context);

/* The same for m rows at once, which lie side by side: element i of all of them is at data[k] + i * steps[k], inputs first. */
typedef void (*row_cols_fn)(char **data, const intptr_t *steps, int64_t n, int64_t m);

typedef struct {
    row_step_fn step;
    row_cols_fn cols;                /* NULL: there is none */
    const void *context;
    int64_t scratch;                 /* bytes that the step wants */
    int n_in, n_out, ndim;           /* operands: inputs first; the other dimensions */
    int64_t sizes[WALK_DIMS];
    walk_operand operands[WALK_OPERANDS];
} row_walk;

static inline bool is_row_itself(int code)
{
    return code == ST_float32 || code == ST_float64 || code == ST_int64 || code == ST_complex64 || code == ST_complex128
        || code == ST_uint64;
}

#pragma GCC push_options
#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math")

static inline bool walk_is_direct(const walk_operand *o, const char *data)
{
    return o->as_it_is && (o->step == o->size || o->n == 1) && (uintptr_t)data % (o->size < 8 ? o->size : 8) == 0;
}

/* Whether row after row can be converted as one: those along the innermost dimension follow on, and are not used as they are. */
static inline bool walk_follows(const row_walk *w, const walk_operand *o)
{
    return w->ndim && o->steps[w->ndim - 1] == o->n * o->step && !walk_is_direct(o, o->data);
}

/* One row after the other, `count` of them along the innermost dimension. Rows that follow on in memory, which may be short, are
   converted together. */
static void walk_each(const row_walk *w, char **data, int64_t count, char **buffers)
{
    int inner = w->ndim - 1, n = w->n_in + w->n_out;
    const int64_t length = w->operands[0].n;
    int64_t done = 0;
    const void *in[WALK_OPERANDS];
    void *out[WALK_OPERANDS];
    char *rows[WALK_OPERANDS];
    intptr_t steps[WALK_OPERANDS];
    bool whole[WALK_OPERANDS], each[WALK_OPERANDS], any = false;
    out[w->n_out] = buffers[n];
    for (int i = 0; i < n; i++) {
        const walk_operand *o = &w->operands[i];
        const bool direct = walk_is_direct(o, data[i]);
        whole[i] = !direct && (count == 1 || walk_follows(w, o));
        each[i] = !direct && !whole[i];
        any |= each[i];
        steps[i] = direct && inner >= 0 ? o->steps[inner] : whole[i] ? o->n * o->row_size : 0;
        rows[i] = direct ? data[i] : buffers[i];
        if (whole[i] && i < w->n_in)
            rows[i] = (char *)o->read(data[i], o->step, o->n * count, buffers[i]);
    }
    if (w->n_in <= 2 && w->n_out == 1 && !any) {
        for (int64_t k = 0; k < count; k++) {
            in[0] = rows[0] + k * steps[0], in[1] = rows[1] + k * steps[1], out[0] = rows[n - 1] + k * steps[n - 1];
            w->step(in, out, length, w->context);
        }
        done = count;
    }
    for (int64_t k = done; k < count; k++) {
        for (int i = 0; i < n; i++) {
            const walk_operand *o = &w->operands[i];
            if (i >= w->n_in)
                out[i - w->n_in] = rows[i] + k * steps[i];
            else
                in[i] = each[i] ? o->read(data[i] + k * o->steps[inner], o->step, o->n, buffers[i]) : rows[i] + k * steps[i];
        }
        w->step(in, out, length, w->context);
        for (int i = w->n_in; i < n; i++) {
            const walk_operand *o = &w->operands[i];
            if (each[i])
                o->write(buffers[i], data[i] + k * o->steps[inner], o->step, o->n);
        }
    }
    for (int i = w->n_in; i < n; i++) {
        const walk_operand *o = &w->operands[i];
        if (whole[i])
            o->write(buffers[i], data[i], o->step, o->n * count);
    }
}

/* A block of `lines` by `count` elements: line i, element k goes to column k, place i. Steps are in elements. */
#define TURN(NAME, T) \
    WIDE static void turn_##NAME(const T *from, intptr_t from_step, T *to, intptr_t to_step, int64_t lines, int64_t count) \
    { \
        if (lines == WALK_ROWS && count == WALK_ROWS) { \
            for (int k = 0; k < WALK_ROWS; k++) \
                for (int i = 0; i < WALK_ROWS; i++) \
                    to[k * to_step + i] = from[i * from_step + k]; \
            return; \
        } \
        for (int64_t k = 0; k < count; k++) \
            for (int64_t i = 0; i < lines; i++) \
                to[k * to_step + i] = from[i * from_step + k]; \
    }
/* Four by four elements of 4 bytes in registers. */
typedef uint32_t turn_row __attribute__((vector_size(16), aligned(4), may_alias));
#define TURN_PAIR(a, b, ...) __builtin_shuffle(a, b, (turn_row){__VA_ARGS__})
static inline void turn_4x4(const uint32_t *from, intptr_t from_step, uint32_t *to, intptr_t to_step)
{
    const turn_row a = *(const turn_row *)from, b = *(const turn_row *)(from + from_step);
    const turn_row c = *(const turn_row *)(from + 2 * from_step), d = *(const turn_row *)(from + 3 * from_step);
    const turn_row ab = TURN_PAIR(a, b, 0, 4, 1, 5), cd = TURN_PAIR(c, d, 0, 4, 1, 5);
    const turn_row ab_2 = TURN_PAIR(a, b, 2, 6, 3, 7), cd_2 = TURN_PAIR(c, d, 2, 6, 3, 7);
    *(turn_row *)to = TURN_PAIR(ab, cd, 0, 1, 4, 5);
    *(turn_row *)(to + to_step) = TURN_PAIR(ab, cd, 2, 3, 6, 7);
    *(turn_row *)(to + 2 * to_step) = TURN_PAIR(ab_2, cd_2, 0, 1, 4, 5);
    *(turn_row *)(to + 3 * to_step) = TURN_PAIR(ab_2, cd_2, 2, 3, 6, 7);
}
static void turn_4(const uint32_t *from, intptr_t from_step, uint32_t *to, intptr_t to_step, int64_t lines, int64_t count)
{
    int64_t k = 0, i;
    for (; k + 4 <= count; k += 4) {
        for (i = 0; i + 4 <= lines; i += 4)
            turn_4x4(from + i * from_step + k, from_step, to + k * to_step + i, to_step);
        for (; i < lines; i++)
            for (int64_t e = k; e < k + 4; e++)
                to[e * to_step + i] = from[i * from_step + e];
    }
    for (; k < count; k++)
        for (i = 0; i < lines; i++)
            to[k * to_step + i] = from[i * from_step + k];
}
/* The same of 8. */
typedef uint64_t turn_row_8 __attribute__((vector_size(32), aligned(8), may_alias));
#define TURN_PAIR_8(a, b, ...) __builtin_shuffle(a, b, (turn_row_8){__VA_ARGS__})
EACH void turn_4x4_of_8(const uint64_t *from, intptr_t from_step, uint64_t *to, intptr_t to_step)
{
    const turn_row_8 a = *(const turn_row_8 *)from, b = *(const turn_row_8 *)(from + from_step);
    const turn_row_8 c = *(const turn_row_8 *)(from + 2 * from_step), d = *(const turn_row_8 *)(from + 3 * from_step);
    const turn_row_8 ab = TURN_PAIR_8(a, b, 0, 4, 2, 6), cd = TURN_PAIR_8(c, d, 0, 4, 2, 6);
    const turn_row_8 ab_2 = TURN_PAIR_8(a, b, 1, 5, 3, 7), cd_2 = TURN_PAIR_8(c, d, 1, 5, 3, 7);
    *(turn_row_8 *)to = TURN_PAIR_8(ab, cd, 0, 1, 4, 5);
    *(turn_row_8 *)(to + to_step) = TURN_PAIR_8(ab_2, cd_2, 0, 1, 4, 5);
    *(turn_row_8 *)(to + 2 * to_step) = TURN_PAIR_8(ab, cd, 2, 3, 6, 7);
    *(turn_row_8 *)(to + 3 * to_step) = TURN_PAIR_8(ab_2, cd_2, 2, 3, 6, 7);
}
WIDE static void turn_8(const uint64_t *from, intptr_t from_step, uint64_t *to, intptr_t to_step, int64_t lines, int64_t count)
{
    int64_t k = 0, i;
    for (; k + 4 <= count; k += 4) {
        for (i = 0; i + 4 <= lines; i += 4)
            turn_4x4_of_8(from + i * from_step + k, from_step, to + k * to_step + i, to_step);
        for (; i < lines; i++)
            for (int64_t e = k; e < k + 4; e++)
                to[e * to_step + i] = from[i * from_step + e];
    }
    for (; k < count; k++)
        for (i = 0; i < lines; i++)
            to[k * to_step + i] = from[i * from_step + k];
}
TURN(16, row_c128)

static void turn(int size, const void *from, intptr_t from_step, void *to, intptr_t to_step, int64_t lines, int64_t count)
{
    if (size == 4)
        turn_4(from, from_step, to, to_step, lines, count);
    else if (size == 8)
        turn_8(from, from_step, to, to_step, lines, count);
    else
        turn_16(from, from_step, to, to_step, lines, count);
}

/* Whether an operand's neighbours lie closer together than the elements of its rows. */
static inline bool walk_is_columns(const row_walk *w, const walk_operand *o)
{
    intptr_t step = o->step < 0 ? -o->step : o->step, other = o->steps[w->ndim - 1];
    return o->n >= 4 && step > o->size && (other < 0 ? -other : other) < step;
}

/* `count` rows side by side. What lies as columns is turned into the buffers block by block, and back from them. */
static void walk_turned(const row_walk *w, char **data, int64_t count, char **buffers)
{
    int inner = w->ndim - 1, n = w->n_in + w->n_out;
    row_c128 block[WALK_ROWS * WALK_ROWS];
    bool turned[WALK_OPERANDS];
    const void *in[WALK_OPERANDS];
    void *out[WALK_OPERANDS];
    out[w->n_out] = buffers[n];
    for (int i = 0; i < n; i++)
        turned[i] = walk_is_columns(w, &w->operands[i]);
    for (int i = 0; i < w->n_in; i++) {
        const walk_operand *o = &w->operands[i];
        intptr_t line_bytes = (intptr_t)count * o->row_size;
        for (int64_t j = 0; turned[i] && j < o->n; j += WALK_ROWS) {
            int64_t lines = o->n - j < WALK_ROWS ? o->n - j : WALK_ROWS;
            for (int64_t r = 0; r < lines; r++) {
                char *line = (char *)block + r * line_bytes;
                const void *row = o->read(data[i] + (j + r) * o->step, o->steps[inner], count, line);
                if (row != line)
                    memcpy(line, row, (size_t)line_bytes);
            }
            turn(o->row_size, block, count, buffers[i] + j * o->row_size, o->n, lines, count);
        }
    }
    for (int64_t k = 0; k < count; k++) {
        for (int i = 0; i < n; i++) {
            const walk_operand *o = &w->operands[i];
            char *at = data[i] + k * o->steps[inner];
            void *row = buffers[i] + k * o->n * o->row_size;
            bool direct = !turned[i] && walk_is_direct(o, at);
            if (i >= w->n_in)
                out[i - w->n_in] = direct ? at : row;
            else
                in[i] = turned[i] ? row : direct ? at : o->read(at, o->step, o->n, row);
        }
        w->step(in, out, w->operands[0].n, w->context);
        for (int i = w->n_in; i < n; i++) {
            const walk_operand *o = &w->operands[i];
            char *at = data[i] + k * o->steps[inner];
            if (!turned[i] && out[i - w->n_in] != at)
                o->write(out[i - w->n_in], at, o->step, o->n);
        }
    }
    for (int i = w->n_in; i < n; i++) {
        const walk_operand *o = &w->operands[i];
        for (int64_t j = 0; turned[i] && j < o->n; j += WALK_ROWS) {
            int64_t lines = o->n - j < WALK_ROWS ? o->n - j : WALK_ROWS;
            turn(o->row_size, buffers[i] + j * o->row_size, o->n, block, count, count, lines);
            for (int64_t r = 0; r < lines; r++)
                o->write((char *)block + r * count * o->row_size, data[i] + (j + r) * o->step, o->steps[inner], count);
        }
    }
}

/* Whether an operand's neighbours are the columns of a matrix in the type that they are computed in, aligned. */
static inline bool walk_is_matrix(const row_walk *w, const walk_operand *o)
{
    return o->as_it_is && o->steps[w->ndim - 1] == o->size && (uintptr_t)o->data % (o->size < 8 ? o->size : 8) == 0;
}

/* `count` columns; those that are no matrix already are converted into the buffers line by line, and back from them. */
static void walk_columns(const row_walk *w, char **data, int64_t count, char **buffers)
{
    int inner = w->ndim - 1, n = w->n_in + w->n_out;
    char *at[WALK_OPERANDS];
    intptr_t steps[WALK_OPERANDS];
    for (int i = 0; i < n; i++) {
        const walk_operand *o = &w->operands[i];
        bool direct = walk_is_matrix(w, o);
        at[i] = direct ? data[i] : buffers[i];
        steps[i] = direct ? o->step : (intptr_t)count * o->row_size;
        for (int64_t k = 0; !direct && i < w->n_in && k < o->n; k++) {
            char *line = at[i] + k * steps[i];
            const void *row = o->read(data[i] + k * o->step, o->steps[inner], count, line);
            if (row != line)
                memcpy(line, row, (size_t)steps[i]);
        }
    }
    w->cols(at, steps, w->operands[0].n, count);
    for (int i = w->n_in; i < n; i++) {
        const walk_operand *o = &w->operands[i];
        for (int64_t k = 0; at[i] == buffers[i] && k < o->n; k++)
            o->write(at[i] + k * steps[i], data[i] + k * o->step, o->steps[inner], count);
    }
}

/* Whether some operand lies as columns. */
static bool walk_turns(const row_walk *w)
{
    bool found = false;
    for (int i = 0; i < w->n_in + w->n_out && w->ndim; i++)
        found = found || walk_is_columns(w, &w->operands[i]);
    return found && w->sizes[w->ndim - 1] >= 4;
}

/* Whether rows are so short, and one after the other in memory, that it pays to turn some of them into columns. */
static bool walk_is_short(const row_walk *w, int64_t rows)
{
    bool short_rows = w->cols && w->ndim && rows >= WALK_SHORT;
    for (int i = 0; i < w->n_in + w->n_out; i++) {
        const walk_operand *o = &w->operands[i];
        short_rows = short_rows && o->n > 1 && o->n <= (o->row_size == 4 && w->n_in == 1 ? WALK_SHORT_OF_4 : WALK_SHORT)
                     && o->n == w->operands[0].n
                     && o->step == o->size && o->steps[w->ndim - 1] == o->n * o->step;
    }
    return short_rows;
}

/* `count` short rows as columns. Behind each operand's columns its buffer has room for its rows. */
static void walk_short(const row_walk *w, char **data, int64_t count, char **buffers)
{
    const int64_t n = w->operands[0].n;
    intptr_t steps[WALK_OPERANDS];
    for (int i = 0; i < w->n_in + w->n_out; i++) {
        const walk_operand *o = &w->operands[i];
        steps[i] = (intptr_t)count * o->row_size;
        if (i < w->n_in)
            turn(o->row_size, o->read(data[i], o->step, n * count, buffers[i] + n * steps[i]), n, buffers[i], count, count, n);
    }
    w->cols(buffers, steps, n, count);
    for (int i = w->n_in; i < w->n_in + w->n_out; i++) {
        const walk_operand *o = &w->operands[i];
        char *rows = walk_is_direct(o, data[i]) ? data[i] : buffers[i] + n * steps[i];
        turn(o->row_size, buffers[i], count, rows, n, n, count);
        if (rows != data[i])
            o->write(rows, data[i], o->step, n * count);
    }
}

/* How many rows at once where rows are not turned: few enough to stay in a cache where they are converted together. */
static int64_t walk_rows_of(const row_walk *w, int64_t rows)
{
    int64_t most = 1;
    bool found = false;
    for (int i = 0; i < w->n_in + w->n_out; i++) {
        const walk_operand *o = &w->operands[i];
        most = o->n > most ? o->n : most;
        found = found || walk_follows(w, o);
    }
    return !found ? rows : most < WALK_ELEMENTS ? WALK_ELEMENTS / most : 1;
}

/* How many columns at once, where all operands lie as columns and the step takes them: 0 if not. */
static int64_t walk_cols_of(const row_walk *w)
{
    int64_t bytes = 0, most = WALK_COLS;
    for (int i = 0; i < w->n_in + w->n_out && w->cols; i++) {
        const walk_operand *o = &w->operands[i];
        if (!walk_is_columns(w, o))
            return 0;
        bytes += walk_is_matrix(w, o) ? 0 : o->n * o->row_size;
    }
    while (most > 32 && most * bytes > WALK_BYTES)
        most /= 2;
    return w->cols ? most : 0;
}

/* Dimension d into the innermost one, where every operand's elements go on from the one to the other. */
static bool walk_joins(row_walk *w, int d)
{
    int inner = w->ndim - 1, n = w->n_in + w->n_out;
    for (int i = 0; i < n; i++)
        if (w->operands[i].steps[d] != w->operands[i].steps[inner] * w->sizes[inner])
            return false;
    w->sizes[inner] *= w->sizes[d];
    for (int e = d; e < inner; e++) {
        w->sizes[e] = w->sizes[e + 1];
        for (int i = 0; i < n; i++)
            w->operands[i].steps[e] = w->operands[i].steps[e + 1];
    }
    w->ndim--;
    return true;
}

/* The dimension in which the first input's elements are closest together becomes the innermost one; sizes of 1 go. */
static void walk_order(row_walk *w)
{
    int kept = 0;
    for (int d = 0; d < w->ndim; d++)
        if (w->sizes[d] != 1) {
            w->sizes[kept] = w->sizes[d];
            for (int i = 0; i < w->n_in + w->n_out; i++)
                w->operands[i].steps[kept] = w->operands[i].steps[d];
            kept++;
        }
    w->ndim = kept;
    int inner = kept - 1;
    for (int d = kept - 2; d >= 0; d--) {
        intptr_t a = w->operands[0].steps[d], b = w->operands[0].steps[inner];
        if ((a < 0 ? -a : a) < (b < 0 ? -b : b))
            inner = d;
    }
    for (int i = 0; kept && i < w->n_in + w->n_out; i++) {
        intptr_t *steps = w->operands[i].steps, step = steps[inner];
        steps[inner] = steps[kept - 1], steps[kept - 1] = step;
    }
    if (kept) {
        int64_t size = w->sizes[inner];
        w->sizes[inner] = w->sizes[kept - 1], w->sizes[kept - 1] = size;
    }
    for (int d = w->ndim - 2; d >= 0; d--)
        if (walk_joins(w, d))
            d = w->ndim - 1;                             /* another one may go on from there */
}

/* All rows; no size is 0. False: there is no memory for the buffers. */
static bool run_row_walk(row_walk *w)
{
    int64_t at[WALK_DIMS], offset[WALK_OPERANDS + 1], bytes = 0, small[512];
    char *data[WALK_OPERANDS], *buffers[WALK_OPERANDS + 1], *memory = (char *)small, *scratch = NULL;
    int n = w->n_in + w->n_out, outer;
    walk_order(w);
    outer = w->ndim ? w->ndim - 1 : 0;
    bool turns = walk_turns(w);
    int64_t rows = w->ndim ? w->sizes[outer] : 1, columns = turns ? walk_cols_of(w) : 0;
    bool is_short = !turns && walk_is_short(w, rows);
    const int64_t short_rows = WALK_SHORT_AT_ONCE / w->operands[0].n / WALK_ROWS * WALK_ROWS;
    int64_t together = columns ? columns : turns ? WALK_ROWS : is_short ? short_rows : walk_rows_of(w, rows);
    if (is_short && together > WALK_COLS)
        together = WALK_COLS;
    if (together > rows)
        together = rows;
    for (int i = 0; i < n; i++) {
        const walk_operand *o = &w->operands[i];
        offset[i] = bytes;
        if (!columns || !walk_is_matrix(w, o))
            bytes += (o->n * o->row_size * (is_short ? 2 * together : turns || walk_follows(w, o) ? together : 1) + 63) / 64 * 64;
        data[i] = o->data;
    }
    offset[n] = bytes;
    if (bytes + w->scratch > (int64_t)sizeof small) {    /* apart: the allocator keeps blocks up to a size */
        memory = malloc((size_t)bytes + 1);
        scratch = malloc((size_t)w->scratch + 1);
        if (!memory || !scratch) {
            free(memory);
            free(scratch);
            return false;
        }
    }
    for (int i = 0; i <= n; i++)
        buffers[i] = memory + offset[i];
    if (scratch)
        buffers[n] = scratch;
    for (int d = 0; d < outer; d++)
        at[d] = 0;
    for (;;) {
        for (int64_t done = 0; done < rows; done += together) {
            int64_t count = rows - done < together ? rows - done : together;
            char *here[WALK_OPERANDS];
            for (int i = 0; i < n; i++)
                here[i] = data[i] + (w->ndim ? done * w->operands[i].steps[outer] : 0);
            (columns ? walk_columns : turns ? walk_turned : is_short ? walk_short : walk_each)(w, here, count, buffers);
        }
        int d = outer - 1;
        for (; d >= 0; d--) {
            for (int i = 0; i < n; i++)
                data[i] += w->operands[i].steps[d];
            if (++at[d] < w->sizes[d])
                break;
            for (int i = 0; i < n; i++)
                data[i] -= w->operands[i].steps[d] * w->sizes[d];
            at[d] = 0;
        }
        if (d < 0)
            break;
    }
    if (memory != (char *)small)
        free(memory);
    free(scratch);
    return true;
}
#pragma GCC pop_options
#endif
