/* The routines of `small.h` for one dtype: KIND is LAPACK's letter, T the type, R that of its absolute values. */

#define LANES (int)(64 / sizeof(T))

/* Where the largest element of a column is, from k on; its bits. */
EACH int64_t SMALL(largest)(int m, int k, const T *column, int64_t *at)
{
    int64_t largest = BITS(SMALL(size)(column[k]));
    *at = k;
    if (m - k > SMALL_ORDER) {
        for (int i = k + 1; i < m; i++) {
            const int64_t size = BITS(SMALL(size)(column[i]));
            largest = size > largest ? size : largest;
        }
        while (BITS(SMALL(size)(column[*at])) != largest)
            ++*at;
        return largest;
    }
    for (int i = k + 1; i < m; i++) {
        const int64_t size = BITS(SMALL(size)(column[i])), is_larger = (largest - size) >> 63;
        *at += (i - *at) & is_larger;              /* a branch would often be guessed wrong */
        largest += (size - largest) & is_larger;
    }
    return largest;
}
EACH void SMALL(factor)(int m, int n, T *restrict a, int rows, int *restrict pivots, int *info)
{
    *info = 0;
    for (int k = 0; k < (m < n ? m : n); k++) {
        T *column = a + (int64_t)k * rows;
        int64_t at;
        const int64_t largest = SMALL(largest)(m, k, column, &at);
        pivots[k] = (int)at + 1;
        if (largest == 0) {
            if (*info == 0)
                *info = k + 1;
            continue;
        }
        for (int j = 0; j < n; j++) {              /* also where `at` is k */
            T *other = a + (int64_t)j * rows;
            const T kept = other[k];
            other[k] = other[at];
            other[at] = kept;
        }
        const T by = INVERSE(column[k]);
        const int is_tiny = largest < BITS(LEAST);
        for (int i = k + 1; i < m; i++)
            column[i] = is_tiny ? column[i] / column[k] : TIMES(column[i], by);
        for (int j = k + 1; j < n; j++) {
            T *other = a + (int64_t)j * rows;
            const T u = other[k];
            for (int i = k + 1; i < m; i++)
                other[i] -= TIMES(column[i], u);
        }
    }
}
EACH void SMALL(factor_square)(int n, T *a, int *pivots, int *info) { SMALL(factor)(n, n, a, n, pivots, info); }
static void SMALL(getrf)(int *m, int *n, void *a, int *rows, int *pivots, int *info)
{
    if (*m == *n)
        WITH_ORDER(*m, SMALL(factor_square), a, pivots, info)
    else
        SMALL(factor)(*m, *n, a, *rows, pivots, info);
}
/* A few columns of a large matrix. */
WIDEST static void SMALL(panel)(int *m, int *n, void *a, int *rows, int *pivots, int *info)
{
    SMALL(factor)(*m, *n, a, *rows, pivots, info);
}

/* A triangle as a lower one, column after column, its diagonal inverted: an upper one is read from its end. */
EACH void SMALL(read_triangle)(int n, T *restrict to, const T *restrict a, int rows, int forward, int transposed, int adjoint,
                               int unit)
{
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++) {
            const int r = forward ? i : n - 1 - i, c = forward ? k : n - 1 - k;
            const T x = transposed ? a[r * rows + c] : a[c * rows + r];
            to[k * n + i] = adjoint ? CONJ(x) : x;
        }
        const T x = a[(forward ? i : n - 1 - i) * (rows + 1)];
        to[i * (n + 1)] = unit ? 1 : INVERSE(adjoint ? CONJ(x) : x);
    }
}
EACH void SMALL(solve_one)(int n, const T *restrict a, T *restrict b, int64_t along)
{
    for (int i = 0; i < n; i++) {
        T x = b[i * along];
        for (int k = 0; k < i; k++)
            x -= TIMES(a[k * n + i], b[k * along]);
        b[i * along] = TIMES(x, a[i * (n + 1)]);
    }
}
EACH void SMALL(solve_few)(int n, const T *a, T *b, int count, int64_t step, int64_t along)
{
    for (; count > 0; count--, b += step)
        SMALL(solve_one)(n, a, b, along);
}
/* As many as fill a register at once: of each row one after the other. */
WIDEST static void SMALL(solve_many)(int n, const T *restrict a, T *restrict b, int count, int64_t step, int64_t along)
{
    SMALL_NAME(lanes, R) block[SMALL_TRIANGLE], x, turned, more;
    for (; count > 0; count -= LANES, b += LANES * step) {
        const int used = count < LANES ? count : LANES;
        if (used < LANES)
            memset(block, 0, n * sizeof(*block));
        for (int v = 0; v < used; v++)
            for (int i = 0; i < n; i++)
                ((T *)(block + i))[v] = b[i * along + v * step];
        for (int k = 0; k < n; k++) {
            TURN(turned, block[k]);
            TIMES_LANES(x, a[k * (n + 1)], block[k], turned);
            block[k] = x;
            TURN(turned, x);
            for (int i = k + 1; i < n; i++) {
                TIMES_LANES(more, a[k * n + i], x, turned);
                block[i] -= more;
            }
        }
        for (int v = 0; v < used; v++)
            for (int i = 0; i < n; i++)
                b[i * along + v * step] = ((T *)(block + i))[v];
    }
}
/* Vectors `step` from one to the next, their elements `along` apart, from the first row's. */
static void SMALL(trsm)(char *side, char *uplo, char *trans, char *diag, int *m, int *columns, void *one, void *a, int *a_rows,
                        void *to, int *rows)
{
    T lower[SMALL_TRIANGLE * SMALL_TRIANGLE];
    const int is_left = *side == 'L', n = is_left ? *m : *columns, transposed = (*trans != 'N') == is_left;
    const int forward = (*uplo == 'L') != transposed, count = is_left ? *columns : *m;
    const int64_t step = is_left ? *rows : 1, down = is_left ? 1 : *rows, along = forward ? down : -down;
    T *b = forward ? to : (T *)to + (n - 1) * down;
    WITH_ORDER(n, SMALL(read_triangle), lower, a, *a_rows, forward, transposed, *trans == 'C', *diag == 'U')
    if (count > 3 && n * count > 24)
        SMALL(solve_many)(n, lower, b, count, step, along);
    else
        WITH_ORDER(n, SMALL(solve_few), lower, b, count, step, along)
}

/* Column by column of the lower triangle; an upper one is its adjoint. */
EACH void SMALL(root)(int n, int is_lower, T *restrict a, int *restrict info)
{
    const int down = is_lower ? 1 : n, along = is_lower ? n : 1;
    *info = 0;
    for (int k = 0; k < n; k++) {
        R rest = __real__ a[k * (n + 1)];
        for (int c = 0; c < k; c++)
            rest -= SMALL(square)(a[k * down + c * along]);
        if (!(rest > 0)) {
            a[k * (n + 1)] = rest;
            *info = k + 1;
            return;
        }
        const R root = ROOT(rest), by = 1 / root;
        a[k * (n + 1)] = root;
        for (int i = k + 1; i < n; i++) {
            T x = a[i * down + k * along];
            for (int c = 0; c < k; c++)
                x -= TIMES(a[i * down + c * along], CONJ(a[k * down + c * along]));
            a[i * down + k * along] = x * by;
        }
    }
}
static void SMALL(potrf)(char *uplo, int *n, void *a, int *rows, int *info)
{
    WITH_ORDER(*n, SMALL(root), *uplo == 'L', a, info)
}

/* I - factor * v v^H from the left on `columns` columns of b; v has `n` elements, the first is 1 and not stored. */
EACH void SMALL(reflect)(int n, const T *v, T factor, T *b, int columns, int rows)
{
    for (int j = 0; j < columns; j++, b += rows) {
        T sum = b[0];
        for (int i = 1; i < n; i++)
            sum += TIMES(CONJ(v[i]), b[i]);
        sum = TIMES(sum, factor);
        b[0] -= sum;
        for (int i = 1; i < n; i++)
            b[i] -= TIMES(v[i], sum);
    }
}
/* The reflector that leaves only the first of n elements, which becomes real: its factor. */
EACH T SMALL(reflector)(int n, T *x)
{
    LONG rest = 0;                                /* whose squares do not leave its range */
    for (int i = 1; i < n; i++)
        rest += (LONG)__real__ x[i] * __real__ x[i] + (LONG)__imag__ x[i] * __imag__ x[i];
    const T first = x[0];
    const R all = (R)LONG_ROOT(rest + (LONG)__real__ first * __real__ first + (LONG)__imag__ first * __imag__ first);
    if (rest == 0 && first == CONJ(first))
        return 0;
    const R made = __real__ first > 0 ? -all : all;
    const T by = INVERSE(first - made);
    for (int i = 1; i < n; i++)
        x[i] = TIMES(x[i], by);
    x[0] = made;
    return (made - first) / made;
}
EACH void SMALL(reflectors)(int m, int n, T *restrict a, T *restrict factors)
{
    for (int k = 0; k < (m < n ? m : n); k++) {
        T *here = a + k * (m + 1);
        factors[k] = SMALL(reflector)(m - k, here);
        SMALL(reflect)(m - k, here, CONJ(factors[k]), here + m, n - k - 1, m);
    }
}
static void SMALL(geqrf)(int *m, int *n, void *a, int *rows, void *factors, void *work, int *size, int *info)
{
    WITH_ORDER(*m, SMALL(reflectors), *n, a, factors)
}
EACH void SMALL(product)(int m, int n, int count, T *restrict a, const T *restrict factors)
{
    for (int k = n - 1; k >= 0; k--) {
        T *column = a + k * m;
        const T factor = k < count ? factors[k] : 0;
        SMALL(reflect)(m - k, column + k, factor, column + k + m, k < count ? n - k - 1 : 0, m);
        for (int i = 0; i < m; i++)
            column[i] = i < k ? 0 : i == k ? 1 - factor : k < count ? -TIMES(factor, column[i]) : 0;
    }
}
static void SMALL(orgqr)(int *m, int *n, int *count, void *a, int *rows, void *factors, void *work, int *size, int *info)
{
    WITH_ORDER(*m, SMALL(product), *n, *count, a, factors)
}

#undef LANES
#undef KIND
#undef T
#undef R
#undef CONJ
#undef LEAST
#undef BITS
#undef TURN
#undef TIMES_LANES
#undef ROOT
#undef LONG
#undef LONG_ROOT
