"""Bodies of Fourier transforms, over the inner loops of numpy's transforms, or of `lanes.h` where lines are many or long.

Called by the structured kernels with an output of the right size. A transform of several dimensions
is one pass over lines for each of them: the first reads the input, the others work in the output's
memory (`made`, in the dtype that is computed in). `normalization`: 0 none, 1 divided by the square
root of the number of elements transformed, any other by that number; the first pass multiplies by it.
"""
from libc.math cimport sqrt
from libc.stdint cimport int64_t, uintptr_t
from libc.stdlib cimport free, malloc

import numpy.fft

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport (
    DEV_CPU, ST_complex64, ST_complex128, ST_float32, ST_float64, itemsize_table,
)
from dispatch._C.errors cimport refused
from dispatch._C.tensor cimport Tensor, data_of, new_empty, new_view_dtype
from dispatch._C.values cimport IntArray
from dispatch.kernels.cpu.copy.copies cimport copy_values
from dispatch.kernels.cpu.copy.strided cimport memory_meets
from dispatch.kernels.cpu.dense cimport finish, pinned
from dispatch.kernels.cpu.fft.older cimport OLDER_DOUBLE, OLDER_FORWARD, OLDER_HALF, OLDER_REAL, find_older
from dispatch.kernels.cpu.matrix.gemm cimport find_loop, inner_loop
from dispatch.kernels.cpu.threads cimport MAX_PARTS, dim_to_cut, in_spans, parts_for
from dispatch.kernels.meta.fft.transforms cimport complex_of, real_of

cdef extern from "fft/lanes.h" nogil:
    enum:
        LANES_BYTES
        LANES_LONGEST
        LANES_FACTORS
    ctypedef struct lanes_side:
        char* lines[16]
        int count
        int64_t step, other
    ctypedef struct lanes_roots:
        int64_t bits
    int64_t lanes_roots_count(int64_t n)
    void lanes_roots_of(int64_t n, void* room, lanes_roots* to)
    void lanes_beside_f32(const lanes_roots* r, int64_t m, void* to)
    void lanes_beside_f64(const lanes_roots* r, int64_t m, void* to)
    void lanes_twist_f32(void* x, int64_t m, int64_t first, const lanes_roots* r, const void* beside, bint backward)
    void lanes_twist_f64(void* x, int64_t m, int64_t first, const lanes_roots* r, const void* beside, bint backward)
    bint has_lanes()
    int lanes_factors(int64_t n, int* to)
    int64_t lanes_room(int64_t n)
    void lanes_look(lanes_side* side, int64_t item)
    void lanes_tables_f32(int64_t n, const int* factors, int count, float* to, float* room)
    void lanes_tables_f64(int64_t n, const int* factors, int count, double* to, double* room)
    void* lanes_plan_f32(int64_t n, const int* factors, int count)
    void* lanes_plan_f64(int64_t n, const int* factors, int count)
    void lanes_let_go(void* plan, int64_t n)
    void* lanes_run_f32(const lanes_side* from_, const lanes_side* to, void* x, void* y, int64_t n, const int* factors, int count,
                        const float* roots, bint backward, float factor)
    void* lanes_run_f64(const lanes_side* from_, const lanes_side* to, void* x, void* y, int64_t n, const int* factors, int count,
                        const double* roots, bint backward, double factor)
    void lanes_half_f32(const void* x, void* y, int64_t m, const float* roots)
    void lanes_half_f64(const void* x, void* y, int64_t m, const double* roots)
    void lanes_whole_f32(void* x, void* y, int64_t m, const float* roots)
    void lanes_whole_f64(void* x, void* y, int64_t m, const double* roots)
    void lanes_load_f32(const lanes_side* from_, int64_t first, int64_t n, void* to)
    void lanes_load_f64(const lanes_side* from_, int64_t first, int64_t n, void* to)
    void lanes_store_f32(const lanes_side* to, int64_t first, int64_t n, const void* from_, float factor)
    void lanes_store_f64(const lanes_side* to, int64_t first, int64_t n, const void* from_, double factor)

cdef enum:                       # a transform along one dimension
    FORWARD, BACKWARD, HALF_EVEN, HALF_ODD, REAL, KINDS

cdef enum:
    MAX_DIMS = 64
    FEW_NUMBERS = 1 << 10        # complex ones, up to which numpy's inverse real transform takes no longer
    FLOAT_TYPE = 11              # numpy's numbers of types
    DOUBLE_TYPE = 12
    CFLOAT_TYPE = 14
    CDOUBLE_TYPE = 15

cdef inner_loop loops[KINDS][2]              # float32, float64
cdef void* data[KINDS][2]


cdef int take(int kind, str name, int single, int double_, int older) except -1:
    if not hasattr(numpy.fft, "_pocketfft_umath"):               # before numpy 2
        loops[kind][0] = loops[kind][1] = find_older()
        data[kind][0], data[kind][1] = <void*><uintptr_t>older, <void*><uintptr_t>(older | OLDER_DOUBLE)
        return 0
    ufunc = getattr(numpy.fft._pocketfft_umath, name)
    find_loop(ufunc, single, &loops[kind][0], &data[kind][0])
    find_loop(ufunc, double_, &loops[kind][1], &data[kind][1])
    return 0


take(FORWARD, "fft", CFLOAT_TYPE, CDOUBLE_TYPE, OLDER_FORWARD)
take(BACKWARD, "ifft", CFLOAT_TYPE, CDOUBLE_TYPE, 0)
take(HALF_EVEN, "rfft_n_even", FLOAT_TYPE, DOUBLE_TYPE, OLDER_FORWARD | OLDER_HALF)
take(HALF_ODD, "rfft_n_odd", FLOAT_TYPE, DOUBLE_TYPE, OLDER_FORWARD | OLDER_HALF)
take(REAL, "irfft", CFLOAT_TYPE, CDOUBLE_TYPE, OLDER_REAL)


# ---- lines -------------------------------------------------------------------------------------

cdef struct Lines:               # along one dimension, of what is read and of what is written; steps in bytes
    int kind                     # KINDS: none of them
    inner_loop loop
    void* data
    char* from_
    char* to
    int64_t n_in, n_out, step_in, step_out
    int ndim                     # of the other dimensions, from the outermost to the innermost
    int64_t sizes[MAX_DIMS]
    int64_t steps_in[MAX_DIMS]
    int64_t steps_out[MAX_DIMS]
    double factor
    float factor32


cdef int set_lines(Lines* w, Tensor src, Tensor out, int64_t dim) except -1:
    """Neighbours that follow each other in both are one dimension; one remains at least."""
    cdef int d, k = -1
    cdef int64_t a = itemsize_table()[src.c_dtype], b = itemsize_table()[out.c_dtype], step_in, step_out
    w.from_, w.to = data_of(src, <int>a), data_of(out, <int>b)
    w.n_in, w.n_out = src.c_sizes[dim], out.c_sizes[dim]
    w.step_in, w.step_out = src.c_strides[dim] * a, out.c_strides[dim] * b
    w.ndim, w.sizes[0], w.steps_in[0], w.steps_out[0] = 1, 1, 0, 0
    for d in range(out.c_ndim):
        if d == dim or out.c_sizes[d] == 1:
            continue
        step_in, step_out = src.c_strides[d] * a, out.c_strides[d] * b
        if k >= 0 and w.steps_in[k] == step_in * out.c_sizes[d] and w.steps_out[k] == step_out * out.c_sizes[d]:
            w.sizes[k] *= out.c_sizes[d]
        else:
            k += 1
            w.sizes[k] = out.c_sizes[d]
        w.steps_in[k], w.steps_out[k] = step_in, step_out
    w.ndim = max(k + 1, 1)
    return 0


cdef void walk(Lines* w, bint is_double) noexcept nogil:
    cdef char* pointers[3]
    cdef Py_ssize_t sizes[3]
    cdef Py_ssize_t steps[5]
    cdef int64_t at[MAX_DIMS]
    cdef int d, last = w.ndim - 1
    for d in range(w.ndim):
        at[d] = 0
    pointers[0], pointers[2] = w.from_, w.to
    pointers[1] = <char*>&w.factor if is_double else <char*>&w.factor32
    sizes[0], sizes[1], sizes[2] = w.sizes[last], w.n_in, w.n_out
    steps[0], steps[1], steps[2], steps[3], steps[4] = w.steps_in[last], 0, w.steps_out[last], w.step_in, w.step_out
    while True:
        w.loop(pointers, sizes, steps, w.data)
        d = last - 1
        while d >= 0:
            at[d] += 1
            pointers[0] += w.steps_in[d]
            pointers[2] += w.steps_out[d]
            if at[d] < w.sizes[d]:
                break
            pointers[0] -= w.sizes[d] * w.steps_in[d]
            pointers[2] -= w.sizes[d] * w.steps_out[d]
            at[d] = 0
            d -= 1
        if d < 0:
            return


cdef struct Share:               # of the lines, for each thread so many of a dimension
    Lines* w
    int dim
    bint is_double


cdef void walk_share(void* context, int64_t part, int64_t first, int64_t end) noexcept nogil:
    cdef Share* s = <Share*>context
    cdef Lines w = s.w[0]
    w.from_ += first * w.steps_in[s.dim]
    w.to += first * w.steps_out[s.dim]
    w.sizes[s.dim] = end - first
    walk(&w, s.is_double)


cdef void walk_shared(Lines* w, bint is_double) noexcept nogil:
    cdef Share s
    cdef int64_t nbytes = max(w.n_in, w.n_out) * (8 if is_double else 4)
    cdef int d
    s.w, s.is_double = w, is_double
    for d in range(w.ndim):
        nbytes *= w.sizes[d]
    s.dim = dim_to_cut(w.sizes, w.ndim, MAX_PARTS)
    in_spans(walk_share, &s, w.sizes[s.dim], parts_for(w.sizes[s.dim], 16 * nbytes))


# ---- many lines at once ------------------------------------------------------------------------

cdef struct Lanes:
    const Lines* w
    bint is_double, half, whole  # real numbers in pairs go in, or come out
    int item, width, count       # of a real number; of a vector, in lines; of factors
    int64_t n, lines             # complex elements of a line; how many lines there are
    int factors[LANES_FACTORS]
    char* roots
    char* half_roots
    char* buffers                # two for each part
    int64_t size                 # of a buffer


cdef void find_line(const Lines* w, int64_t i, char** from_, char** to) noexcept nogil:
    """Where line i begins."""
    cdef int64_t here
    cdef int d
    from_[0], to[0] = w.from_, w.to
    for d in range(w.ndim - 1, -1, -1):
        here, i = i % w.sizes[d], i // w.sizes[d]
        from_[0] += here * w.steps_in[d]
        to[0] += here * w.steps_out[d]


cdef void read_sides(const Lanes* t, int64_t first, lanes_side* from_, lanes_side* to) noexcept nogil:
    """The lines from `first` on, as many as a vector holds."""
    cdef const Lines* w = t.w
    cdef int i
    from_.count = to.count = <int>min(t.width, t.lines - first)
    from_.step, from_.other = (2 if t.half else 1) * w.step_in, w.step_in if t.half else t.item
    to.step, to.other = (2 if t.whole else 1) * w.step_out, w.step_out if t.whole else t.item
    for i in range(from_.count):
        if w.ndim == 1:
            from_.lines[i], to.lines[i] = w.from_ + (first + i) * w.steps_in[0], w.to + (first + i) * w.steps_out[0]
        else:
            find_line(w, first + i, &from_.lines[i], &to.lines[i])
    lanes_look(from_, t.item)
    lanes_look(to, t.item)


cdef void run_lanes(void* context, int64_t part, int64_t first, int64_t end) noexcept nogil:
    cdef const Lanes* t = <const Lanes*>context
    cdef lanes_side from_, to
    cdef void* x = t.buffers + 2 * part * t.size
    cdef void* y = <char*>x + t.size
    cdef void* made
    cdef int64_t i
    cdef const lanes_side* here = NULL if t.whole else &from_
    cdef const lanes_side* there = NULL if t.half else &to
    cdef bint back = t.w.kind == BACKWARD or t.whole
    for i in range(first, end):
        read_sides(t, i * t.width, &from_, &to)
        if t.whole:
            if t.is_double:
                lanes_load_f64(&from_, 0, t.n + 1, y)
                lanes_whole_f64(y, x, t.n, <double*>t.half_roots)
            else:
                lanes_load_f32(&from_, 0, t.n + 1, y)
                lanes_whole_f32(y, x, t.n, <float*>t.half_roots)
        if t.is_double:
            made = lanes_run_f64(here, there, x, y, t.n, t.factors, t.count, <double*>t.roots, back, t.w.factor)
            if t.half:
                lanes_half_f64(made, y if made == x else x, t.n, <double*>t.half_roots)
                lanes_store_f64(&to, 0, t.n + 1, y if made == x else x, t.w.factor)
        else:
            made = lanes_run_f32(here, there, x, y, t.n, t.factors, t.count, <float*>t.roots, back, t.w.factor32)
            if t.half:
                lanes_half_f32(made, y if made == x else x, t.n, <float*>t.half_roots)
                lanes_store_f32(&to, 0, t.n + 1, y if made == x else x, t.w.factor32)


cdef bint try_lanes(const Lines* w, bint is_double) noexcept nogil:
    """False: it is another transform, of few lines or of a length with a large prime, or there was no memory."""
    cdef Lanes t
    cdef int64_t groups, parts
    cdef int d
    cdef char* room
    cdef void* plan
    t.w, t.is_double, t.half, t.whole, t.lines = w, is_double, w.kind == HALF_EVEN, w.kind == REAL and w.n_out % 2 == 0, 1
    t.item, t.n = 8 if is_double else 4, w.n_in // 2 if t.half else w.n_out // 2 if t.whole else w.n_in
    t.width = LANES_BYTES // t.item
    for d in range(w.ndim):
        t.lines *= w.sizes[d]
    if t.n < 2 or t.n > LANES_LONGEST or 2 * t.lines < t.width or not has_lanes():
        return False
    if t.whole and t.lines * t.n < FEW_NUMBERS:
        return False
    if t.half or t.whole:
        if (w.n_out if t.half else w.n_in) != t.n + 1:
            return False
    elif w.n_out != t.n or w.kind != FORWARD and w.kind != BACKWARD:
        return False
    t.count = lanes_factors(t.n, t.factors)
    if t.count == 0:
        return False
    groups = (t.lines + t.width - 1) // t.width
    parts = parts_for(groups, t.lines * t.n * t.item * 16)
    t.size = (t.n + 1) * 2 * LANES_BYTES
    plan = lanes_plan_f64(t.n, t.factors, t.count) if is_double else lanes_plan_f32(t.n, t.factors, t.count)
    room = <char*>malloc(LANES_BYTES + 2 * parts * t.size) if plan != NULL else NULL
    if room == NULL:
        lanes_let_go(plan, t.n)
        return False
    t.buffers = <char*>((<uintptr_t>room + LANES_BYTES - 1) // LANES_BYTES * LANES_BYTES)
    t.half_roots = <char*>plan
    t.roots = t.half_roots + 2 * (t.n + 1) * t.item
    in_spans(run_lanes, &t, groups, parts)
    free(room)
    lanes_let_go(plan, t.n)
    return True


# ---- long lines --------------------------------------------------------------------------------

cdef enum:
    LONG_LINE = 1 << 14          # elements from which its tables pay

cdef struct Matrix:              # one of the two transforms that a long line is made of: of `count` lines beside each other
    int64_t n, count
    int factors[LANES_FACTORS]
    int passes
    char* roots

cdef struct Long:                # a line as a matrix whose columns are transformed, multiplied by roots, then its rows
    const Lines* w
    bint is_double, back
    int item, width
    Matrix columns, rows
    lanes_roots roots
    char* beside                 # roots for the lanes
    char* between                # the matrix between its two transforms
    char* buffers                # two for each part
    int64_t size                 # of a buffer
    char* from_                  # the line
    char* to


cdef bint cut_long(int64_t n, int64_t* columns, int64_t* rows) noexcept nogil:
    """Two factors of n, near each other, that lanes can transform; False: there are none, or n is not long."""
    cdef int factors[LANES_FACTORS]
    cdef int64_t m = <int64_t>sqrt(<double>n)
    if n < LONG_LINE or n > LANES_LONGEST * LANES_LONGEST or not has_lanes():
        return False
    while n % m:
        m -= 1
    columns[0], rows[0] = n // m, m
    return m >= LANES_BYTES // 4 and n // m <= LANES_LONGEST and lanes_factors(m, factors) > 0 \
        and lanes_factors(n // m, factors) > 0


cdef void run_columns(void* context, int64_t part, int64_t first, int64_t end) noexcept nogil:
    """The last columns are taken again where they fill no vector alone."""
    cdef const Long* t = <const Long*>context
    cdef const Matrix* m = &t.columns
    cdef lanes_side from_, to
    cdef void* x = t.buffers + 2 * part * t.size
    cdef void* y = <char*>x + t.size
    cdef void* made
    cdef int64_t i, at, step = t.w.step_in
    cdef int l
    from_.count = to.count = t.width
    from_.step, from_.other, to.step, to.other = m.count * step, t.item, m.count * 2 * t.item, t.item
    for i in range(first, end):
        at = min(i * t.width, m.count - t.width)
        for l in range(t.width):
            from_.lines[l], to.lines[l] = t.from_ + (at + l) * step, t.between + (at + l) * 2 * t.item
        lanes_look(&from_, t.item)
        lanes_look(&to, t.item)
        if t.is_double:
            made = lanes_run_f64(&from_, NULL, x, y, m.n, m.factors, m.passes, <double*>m.roots, t.back, 1)
            lanes_twist_f64(made, m.n, at, &t.roots, t.beside, t.back)
            lanes_store_f64(&to, 0, m.n, made, t.w.factor)
        else:
            made = lanes_run_f32(&from_, NULL, x, y, m.n, m.factors, m.passes, <float*>m.roots, t.back, 1)
            lanes_twist_f32(made, m.n, at, &t.roots, t.beside, t.back)
            lanes_store_f32(&to, 0, m.n, made, t.w.factor32)


cdef void run_rows(void* context, int64_t part, int64_t first, int64_t end) noexcept nogil:
    cdef const Long* t = <const Long*>context
    cdef const Matrix* m = &t.rows
    cdef lanes_side from_, to
    cdef void* x = t.buffers + 2 * part * t.size
    cdef void* y = <char*>x + t.size
    cdef int64_t i, at, step = t.w.step_out
    cdef int l
    from_.count = to.count = t.width
    from_.step, from_.other, to.step, to.other = 2 * t.item, t.item, m.count * step, t.item
    for i in range(first, end):
        at = min(i * t.width, m.count - t.width)
        for l in range(t.width):
            from_.lines[l], to.lines[l] = t.between + (at + l) * m.n * 2 * t.item, t.to + (at + l) * step
        lanes_look(&from_, t.item)
        lanes_look(&to, t.item)
        if t.is_double:
            lanes_run_f64(&from_, &to, x, y, m.n, m.factors, m.passes, <double*>m.roots, t.back, 1)
        else:
            lanes_run_f32(&from_, &to, x, y, m.n, m.factors, m.passes, <float*>m.roots, t.back, 1)


cdef bint try_long(const Lines* w, bint is_double) noexcept nogil:
    """False: these lines are not long, or there was no memory."""
    cdef Long t
    cdef Matrix* m
    cdef char* room
    cdef int64_t i, parts, lines = 1, n = w.n_in, longer
    cdef int d
    if (w.kind != FORWARD and w.kind != BACKWARD) or w.n_out != n or not cut_long(n, &t.columns.n, &t.rows.n):
        return False
    t.w, t.is_double, t.back = w, is_double, w.kind == BACKWARD
    t.item = 8 if is_double else 4
    t.width = LANES_BYTES // t.item
    t.columns.count, t.rows.count, longer = t.rows.n, t.columns.n, t.columns.n
    parts = parts_for((t.rows.n + t.width - 1) // t.width, n * t.item * 16)
    t.size = (longer + 1) * 2 * LANES_BYTES
    room = <char*>malloc(LANES_BYTES + 2 * parts * t.size + 2 * longer * LANES_BYTES + lanes_roots_count(n) * 2 * sizeof(double)
                         + (2 * n + 2 * lanes_room(longer) + 2 * longer) * t.item)
    if room == NULL:
        return False
    t.buffers = <char*>((<uintptr_t>room + LANES_BYTES - 1) // LANES_BYTES * LANES_BYTES)
    t.beside = t.buffers + 2 * parts * t.size
    t.between = t.beside + 2 * longer * LANES_BYTES
    t.columns.roots = t.between + 2 * n * t.item
    t.rows.roots = t.columns.roots + lanes_room(longer) * t.item
    lanes_roots_of(n, t.rows.roots + (lanes_room(longer) + 2 * longer) * t.item, &t.roots)
    for i in range(2):
        m = &t.rows if i else &t.columns
        m.passes = lanes_factors(m.n, m.factors)
        if is_double:
            lanes_tables_f64(m.n, m.factors, m.passes, <double*>m.roots, <double*>t.rows.roots + lanes_room(longer))
        else:
            lanes_tables_f32(m.n, m.factors, m.passes, <float*>m.roots, <float*>t.rows.roots + lanes_room(longer))
    if is_double:
        lanes_beside_f64(&t.roots, t.columns.n, t.beside)
    else:
        lanes_beside_f32(&t.roots, t.columns.n, t.beside)
    for d in range(w.ndim):
        lines *= w.sizes[d]
    for i in range(lines):
        find_line(w, i, &t.from_, &t.to)
        in_spans(run_columns, &t, (t.columns.count + t.width - 1) // t.width, parts)
        in_spans(run_rows, &t, (t.rows.count + t.width - 1) // t.width, parts)
    free(room)
    return True


cdef void work(Lines* w, bint is_double) noexcept nogil:
    if not try_lanes(w, is_double) and not try_long(w, is_double):
        walk_shared(w, is_double)


cdef int along(Lines* w, Tensor src, Tensor out) except -1:
    cdef bint is_double = out.c_dtype == ST_complex128 or out.c_dtype == ST_float64
    cdef object kept = pinned(out.c_numel, src, out)
    w.factor32 = <float>w.factor
    if kept is None:             # and the lock, which older loops take on their thread, is not let go of
        if not try_lanes(w, is_double) and not try_long(w, is_double):
            walk(w, is_double)
        return 0
    with nogil:
        work(w, is_double)
    return 0


cdef int transform(int kind, Tensor src, Tensor out, int64_t dim, double factor) except -1:
    cdef Lines w
    cdef bint is_double = out.c_dtype == ST_complex128 or out.c_dtype == ST_float64
    set_lines(&w, src, out, dim)
    w.kind, w.loop, w.data, w.factor = kind, loops[kind][is_double], data[kind][is_double], factor
    return along(&w, src, out)


cdef void mirror(char** pointers, const Py_ssize_t* sizes, const Py_ssize_t* steps, void* data) noexcept nogil:
    """The second half of lines whose first one is there: conjugates. `data` is NULL for complex64."""
    cdef int64_t i, k, n = sizes[2]
    cdef char* line
    for i in range(sizes[0]):
        line = pointers[2] + i * steps[2]
        for k in range(n // 2 + 1, n):
            if data != NULL:
                (<double*>(line + k * steps[4]))[0] = (<double*>(line + (n - k) * steps[4]))[0]
                (<double*>(line + k * steps[4]))[1] = -(<double*>(line + (n - k) * steps[4]))[1]
            else:
                (<float*>(line + k * steps[4]))[0] = (<float*>(line + (n - k) * steps[4]))[0]
                (<float*>(line + k * steps[4]))[1] = -(<float*>(line + (n - k) * steps[4]))[1]


cdef int half(Tensor src, Tensor out, int64_t dim, double factor, bint onesided) except -1:
    """The half that tells all, and the other one unless `onesided`."""
    cdef Lines w
    cdef Tensor whole = out
    cdef int64_t n = src.c_sizes[dim], columns, rows
    cdef bint is_double = out.c_dtype == ST_complex128
    if not (onesided and is_double) and cut_long(n, &columns, &rows):    # doubles take as long as the half alone
        if onesided:
            whole = new_empty(out.c_dtype, DEV_CPU, -1, src.c_ndim, src.c_sizes, NULL)
        copy_values(whole, src)
        transform(FORWARD, whole, whole, dim, factor)
        if onesided:
            copy_values(out, new_view_dtype(whole, out.c_dtype, out.c_ndim, out.c_sizes, whole.c_strides, 0))
        return 0
    set_lines(&w, src, out, dim)
    w.kind = HALF_ODD if n & 1 else HALF_EVEN
    w.loop, w.data = loops[w.kind][is_double], data[w.kind][is_double]
    w.factor, w.n_out = factor, n // 2 + 1
    along(&w, src, out)
    if onesided or n < 3:
        return 0
    set_lines(&w, out, out, dim)
    w.kind, w.loop, w.data, w.factor = KINDS, mirror, <void*>&mirror if is_double else NULL, 1
    return along(&w, out, out)


# ---- bodies ------------------------------------------------------------------------------------

cdef int check_width(Tensor self, int single, int double_) except -1:
    if self.c_dtype != single and self.c_dtype != double_:
        raise refused(f"no CPU transform for {dtypes.get_dtype(self.c_dtype)!r}")
    return 0


cdef double factor_of(int64_t normalization, Tensor self, const int64_t* dims, Py_ssize_t count, int64_t last) noexcept:
    """`last`: how many elements the last of `dims` has."""
    cdef double n = <double>last
    cdef int i
    for i in range(<int>count - 1):
        n *= <double>self.c_sizes[dims[i]]
    return 1 / sqrt(n) if normalization == 1 else 1.0 if normalization == 0 else 1 / n


cdef Tensor made_for(Tensor out, int code, Tensor self):
    """The output, or what is copied into it: it has another dtype, or lies where the input does."""
    if out.c_dtype == code and not memory_meets(out, self):
        return out
    return new_empty(code, DEV_CPU, -1, out.c_ndim, out.c_sizes, NULL)


cdef int c2c(Tensor out, Tensor self, IntArray dim, int64_t normalization, bint forward, const int64_t* handed) except -1:
    cdef Tensor made, src = self
    cdef double factor
    cdef int i
    check_width(self, ST_complex64, ST_complex128)
    if out.c_numel == 0:
        return 0
    if dim.len == 0:
        return copy_values(out, self)
    made = made_for(out, self.c_dtype, self)
    factor = factor_of(normalization, self, handed, dim.len, self.c_sizes[handed[dim.len - 1]])
    for i in range(<int>dim.len - 1, -1, -1):
        transform(FORWARD if forward else BACKWARD, src, made, handed[i], factor)
        src, factor = made, 1
    return finish(out, made)


cdef int r2c(Tensor out, Tensor self, IntArray dim, int64_t normalization, bint onesided, const int64_t* handed) except -1:
    cdef Tensor made
    cdef int64_t last
    cdef int i
    check_width(self, ST_float32, ST_float64)
    if out.c_numel == 0:
        return 0
    made = made_for(out, complex_of(self.c_dtype), self)
    last = handed[dim.len - 1]
    half(self, made, last, factor_of(normalization, self, handed, dim.len, self.c_sizes[last]), onesided)
    for i in range(<int>dim.len - 2, -1, -1):
        transform(FORWARD, made, made, handed[i], 1)
    return finish(out, made)


cdef int c2r(Tensor out, Tensor self, IntArray dim, int64_t normalization, int64_t last_dim_size, const int64_t* handed) except -1:
    cdef Tensor made, whole, src = self
    cdef double factor
    cdef int i
    check_width(self, ST_complex64, ST_complex128)
    if out.c_numel == 0:
        return 0
    made = made_for(out, real_of(self.c_dtype), self)
    factor = factor_of(normalization, self, handed, dim.len, last_dim_size)
    if dim.len > 1:
        whole = new_empty(self.c_dtype, DEV_CPU, -1, self.c_ndim, self.c_sizes, NULL)
        for i in range(<int>dim.len - 1):
            transform(BACKWARD, src, whole, handed[i], factor)
            src, factor = whole, 1
    transform(REAL, src, made, handed[dim.len - 1], factor)
    return finish(out, made)
