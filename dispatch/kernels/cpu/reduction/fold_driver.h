/* The driver of the reductions: any strides and dimensions, taken apart into runs that the rules of
   `fold.h` take together. Included by that file, behind its rules; nobody else does. */
#ifndef DISPATCH_FOLD_DRIVER_H
#define DISPATCH_FOLD_DRIVER_H

/* ---- the driver ---- */

typedef struct {
    const fold_rule *rule;
    row_reader read;
    row_writer write, write_second;  /* of values, and of places or means; NULL: not wanted */
    int row, itemsize;               /* type of computation; bytes of an element of the input */
    bool in_order;                   /* reduced dimensions must be walked in their own order: places are counted */
    fold_context context;
    const char *from;
    char *to, *second;
    int kept, reduced;               /* dimensions, outermost first */
    int64_t kept_sizes[FOLD_DIMS], reduced_sizes[FOLD_DIMS];
    intptr_t kept_steps[FOLD_DIMS], to_steps[FOLD_DIMS], second_steps[FOLD_DIMS], reduced_steps[FOLD_DIMS];   /* in bytes */
} fold;

/* How far: one element that is repeated lies farthest, for it is no row. */
EACH intptr_t apart(intptr_t step) { return step == 0 ? INTPTR_MAX : step < 0 ? -step : step; }

/* Insertion of dimension d before those with smaller steps; then neighbours that continue each other are joined. */
static void sort_reduced(fold *f)
{
    int n = 0;
    for (int d = 1; d < f->reduced && !f->in_order; d++)
        for (int e = d; e > 0 && apart(f->reduced_steps[e - 1]) < apart(f->reduced_steps[e]); e--) {
            intptr_t step = f->reduced_steps[e];
            int64_t size = f->reduced_sizes[e];
            f->reduced_steps[e] = f->reduced_steps[e - 1], f->reduced_sizes[e] = f->reduced_sizes[e - 1];
            f->reduced_steps[e - 1] = step, f->reduced_sizes[e - 1] = size;
        }
    for (int d = 1; d < f->reduced; d++) {
        if (f->reduced_steps[n] == f->reduced_steps[d] * f->reduced_sizes[d]) {
            f->reduced_sizes[n] *= f->reduced_sizes[d];
            f->reduced_steps[n] = f->reduced_steps[d];
        } else {
            n++;
            f->reduced_sizes[n] = f->reduced_sizes[d];
            f->reduced_steps[n] = f->reduced_steps[d];
        }
    }
    if (f->reduced)
        f->reduced = n + 1;
}

static void sort_kept(fold *f)
{
#define MOVE_KEPT(FROM, TO) \
    f->kept_sizes[TO] = f->kept_sizes[FROM], f->kept_steps[TO] = f->kept_steps[FROM], f->to_steps[TO] = f->to_steps[FROM], \
    f->second_steps[TO] = f->second_steps[FROM]
    int n = 0, spare = FOLD_DIMS - 1;
    for (int d = 1; d < f->kept; d++)
        for (int e = d; e > 0 && apart(f->kept_steps[e - 1]) < apart(f->kept_steps[e]); e--) {
            MOVE_KEPT(e, spare);
            MOVE_KEPT(e - 1, e);
            MOVE_KEPT(spare, e - 1);
        }
    for (int d = 1; d < f->kept; d++) {
        int64_t m = f->kept_sizes[d];
        if (f->kept_steps[n] == f->kept_steps[d] * m && f->to_steps[n] == f->to_steps[d] * m
            && f->second_steps[n] == f->second_steps[d] * m) {
            m *= f->kept_sizes[n];
            MOVE_KEPT(d, n);
            f->kept_sizes[n] = m;
        } else {
            n++;
            MOVE_KEPT(d, n);
        }
    }
    if (f->kept)
        f->kept = n + 1;
}

/* The next index of dimensions 0 .. n - 1, the last fastest; false: that was the last one. */
EACH bool advance(int64_t *at, const int64_t *sizes, int n, const char **from, const intptr_t *steps)
{
    for (int d = n - 1; d >= 0; d--) {
        *from += steps[d];
        if (++at[d] < sizes[d])
            return true;
        *from -= steps[d] * sizes[d];
        at[d] = 0;
    }
    return false;
}

/* Whether the rule takes many rows at once, of elements as they lie in memory, and these are such rows. */
EACH bool takes_rows(const fold *f, const char *from, intptr_t row_step, int64_t size, intptr_t step, void *buffer)
{
    return f->rule->rows && size <= ROW_BLOCK && row_step == f->itemsize && step % ROW_SIZE[f->row] == 0
           && f->read(from, row_step, 0, buffer) == from;
}

static void fold_one(fold *f, const char *from, fold_states *s, int64_t i, void *buffer)
{
    int64_t at[FOLD_DIMS], size = 1;
    int outer = f->reduced ? f->reduced - 1 : 0;
    intptr_t step = f->itemsize;
    const void *row;
    if (f->reduced) {
        size = f->reduced_sizes[outer];
        step = f->reduced_steps[outer];
    }
    for (int d = 0; d < outer; d++)
        at[d] = 0;
    f->context.position = 0;
    if (outer && takes_rows(f, from, step, size, f->reduced_steps[outer - 1], buffer)) {
        do
            f->rule->rows(from, f->reduced_steps[outer - 1], f->reduced_sizes[outer - 1], size, s, i, false);
        while (advance(at, f->reduced_sizes, outer - 1, &from, f->reduced_steps));
        return;
    }
    bool direct = size <= ROW_BLOCK || f->read(from, step, 0, buffer) == from;
    do {
        for (int64_t done = 0; done < size;) {
            int64_t m = direct || size - done < ROW_BLOCK ? size - done : ROW_BLOCK;
            row = f->read(from + done * step, step, m, buffer);
            f->rule->row(row, m, s, i, &f->context);
            f->context.position += m;
            done += m;
        }
    } while (advance(at, f->reduced_sizes, outer, &from, f->reduced_steps));
}

/* m states, each of one short row: there are no further dimensions, and no blocks. */
static void fold_short(fold *f, const char *from, intptr_t step, int64_t m, fold_states *s, void *buffer)
{
    int64_t size = f->reduced ? f->reduced_sizes[0] : 1;
    intptr_t row_step = f->reduced ? f->reduced_steps[0] : f->itemsize;
    f->context.position = 0;
    if (f->reduced && takes_rows(f, from, row_step, size, step, buffer))
        f->rule->rows(from, step, m, size, s, 0, true);
    else for (int64_t i = 0; i < m; i++, from += step)
        f->rule->row(f->read(from, row_step, size, buffer), size, s, i, &f->context);
}

/* m states side by side, `step` bytes apart in the input. */
static void fold_across(fold *f, const char *from, intptr_t step, int64_t m, fold_states *s, char *buffer)
{
    enum { ROWS = 8 };
    int64_t at[FOLD_DIMS];
    int outer = f->reduced ? f->reduced - 1 : 0;
    int64_t size = f->reduced ? f->reduced_sizes[outer] : 1;
    intptr_t row_step = f->reduced ? f->reduced_steps[outer] : 0;
    intptr_t row_bytes = (intptr_t)m * ROW_SIZE[f->row];
    for (int d = 0; d < outer; d++)
        at[d] = 0;
    f->context.position = 0;
    do {
        bool direct = f->read(from, step, 0, buffer) == from && row_step % ROW_SIZE[f->row] == 0;
        if (direct) {
            f->rule->cols(from, row_step, size, m, s, &f->context);
            f->context.position += size;
            continue;
        }
        for (int64_t done = 0; done < size; done += ROWS) {
            int64_t rows = size - done < ROWS ? size - done : ROWS;
            for (int64_t r = 0; r < rows; r++) {
                const void *row = f->read(from + (done + r) * row_step, step, m, buffer + r * row_bytes);
                if (row != buffer + r * row_bytes)
                    memcpy(buffer + r * row_bytes, row, (size_t)row_bytes);
            }
            f->rule->cols(buffer, row_bytes, rows, m, s, &f->context);
            f->context.position += rows;
        }
    } while (advance(at, f->reduced_sizes, outer, &from, f->reduced_steps));
}

static bool is_across(const fold *f)
{
    int64_t kept, size;
    intptr_t kept_step, step;
    if (!f->kept || !f->rule->cols)
        return false;
    if (!f->reduced)
        return true;
    kept = f->kept_sizes[f->kept - 1], kept_step = apart(f->kept_steps[f->kept - 1]);
    size = f->reduced_sizes[f->reduced - 1], step = apart(f->reduced_steps[f->reduced - 1]);
    return (kept_step < step && kept >= 8) || (size < 16 && kept > size);
}

/* A dense matrix of short rows, whose columns are added up: as many rows as a tile holds are one long row, and the sums of its
   columns are added in the end. False: this is none, and nothing has been done. */
static bool fold_thin(fold *f, fold_states *s, double *values, int64_t *places, char *buffer)
{
    int64_t n = f->kept_sizes[0], size = f->reduced_sizes[0], at_once = FOLD_TILE / (n ? n : 1), whole = size / at_once;
    const ptrdiff_t op = (f->rule - FOLD_RULES[0]) / ROW_TYPES;
    fold long_rows = *f;
    const char *rest = f->from + whole * at_once * n * f->itemsize;
    if (op > FOLD_NORM2 || f->row == ROW_C64 || f->row == ROW_C128)
        return false;
    f->rule->init(s, at_once * n);
    long_rows.reduced_sizes[0] = whole;
    long_rows.reduced_steps[0] = at_once * n * f->itemsize;
    fold_across(&long_rows, f->from, f->itemsize, at_once * n, s, buffer);
    long_rows.reduced_sizes[0] = 1;
    if (size > whole * at_once)
        fold_across(&long_rows, rest, f->itemsize, (size - whole * at_once) * n, s, buffer);
    for (int64_t i = n; i < at_once * n; i++)
        if (f->row == ROW_I64)
            ((int64_t *)s->slot[0])[i % n] += ((int64_t *)s->slot[0])[i];
        else
            s->slot[0][i % n] += s->slot[0][i];
    f->rule->finish(s, n, values, places, &f->context);
    f->write(values, f->to, f->to_steps[0], n);
    return true;
}

/* Everything: `f` describes it, dimensions of size 1 left out; no size is 0. */
static void run_fold(fold *f)
{
    fold_states s;
    double values[FOLD_TILE * 2];
    int64_t places[FOLD_TILE];
    char buffer[FOLD_TILE * 8 * 16];
    int64_t at[FOLD_DIMS];
    sort_reduced(f);
    sort_kept(f);
    bool across = is_across(f), is_short = f->reduced == 0 || (f->reduced == 1 && f->reduced_sizes[0] <= ROW_BLOCK);
    int outer = f->kept ? f->kept - 1 : 0;
    int64_t size = f->kept ? f->kept_sizes[outer] : 1;
    if (f->kept == 1 && f->reduced == 1 && size <= FOLD_TILE / 4 && f->reduced_sizes[0] >= FOLD_TILE && f->write
        && f->kept_steps[0] == f->itemsize && f->reduced_steps[0] == size * f->itemsize
        && fold_thin(f, &s, values, places, buffer))
        return;
    intptr_t step = f->kept ? f->kept_steps[outer] : f->itemsize;
    intptr_t to_step = f->kept ? f->to_steps[outer] : 0, second_step = f->kept ? f->second_steps[outer] : 0;
    for (int d = 0; d < outer; d++)
        at[d] = 0;
    for (;;) {
        for (int64_t done = 0; done < size; done += FOLD_TILE) {
            int64_t m = size - done < FOLD_TILE ? size - done : FOLD_TILE;
            const char *from = f->from + done * step;
            f->rule->init(&s, m);
            if (across)
                fold_across(f, from, step, m, &s, buffer);
            else if (is_short)
                fold_short(f, from, step, m, &s, buffer);
            else
                for (int64_t i = 0; i < m; i++)
                    fold_one(f, from + i * step, &s, i, buffer);
            f->rule->finish(&s, m, values, places, &f->context);
            if (f->write)
                f->write(values, f->to + done * to_step, to_step, m);
            if (f->write_second)
                f->write_second(places, f->second + done * second_step, second_step, m);
        }
        int d = outer - 1;
        for (; d >= 0; d--) {
            f->from += f->kept_steps[d], f->to += f->to_steps[d], f->second += f->second_steps[d];
            if (++at[d] < f->kept_sizes[d])
                break;
            f->from -= f->kept_steps[d] * f->kept_sizes[d];
            f->to -= f->to_steps[d] * f->kept_sizes[d];
            f->second -= f->second_steps[d] * f->kept_sizes[d];
            at[d] = 0;
        }
        if (d < 0)
            return;
    }
}
#pragma GCC pop_options

#endif
