"""LAPACK on batches of matrices: scipy's compiled routines, called in C without the GIL.

Called by the bodies of this family. scipy is optional: addresses are taken from the capsules of its
`cython_lapack` and `cython_blas` when a routine is first called. Matrices are blocks (`blocks.pxd`);
pivots, factors of reflectors and values are blocks of one column for each matrix. Routines write
where LAPACK does; `info` has a number for each matrix. No size is 0: callers have returned by then.
"""
from cpython.pycapsule cimport PyCapsule_GetName, PyCapsule_GetPointer
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from dispatch._C.errors cimport refused
from dispatch.kernels.cpu.linalg.blocks cimport COMPLEX, SINGLE, Block, width
from dispatch.kernels.cpu.threads cimport (
    begin_one_blas_thread, end_one_blas_thread, in_blas_spans, meet_blas, parts_for, span_fn,
)

ctypedef void (*getrf_fn)(int*, int*, void*, int*, int*, int*) noexcept nogil
ctypedef void (*potrf_fn)(char*, int*, void*, int*, int*) noexcept nogil
ctypedef void (*geqrf_fn)(int*, int*, void*, int*, void*, void*, int*, int*) noexcept nogil
ctypedef void (*orgqr_fn)(int*, int*, int*, void*, int*, void*, void*, int*, int*) noexcept nogil
ctypedef void (*ormqr_fn)(char*, char*, int*, int*, int*, void*, int*, void*, void*, int*, void*,
                          int*, int*) noexcept nogil
ctypedef void (*syevd_fn)(char*, char*, int*, void*, int*, void*, void*, int*, int*, int*,
                          int*) noexcept nogil
ctypedef void (*heevd_fn)(char*, char*, int*, void*, int*, void*, void*, int*, void*, int*, int*,
                          int*, int*) noexcept nogil
ctypedef void (*geev_fn)(char*, char*, int*, void*, int*, void*, void*, void*, int*, void*, int*,
                         void*, int*, int*) noexcept nogil
ctypedef void (*zgeev_fn)(char*, char*, int*, void*, int*, void*, void*, int*, void*, int*,
                          void*, int*, void*, int*) noexcept nogil
ctypedef void (*gesdd_fn)(char*, int*, int*, void*, int*, void*, void*, int*, void*, int*,
                          void*, int*, int*, int*) noexcept nogil
ctypedef void (*zgesdd_fn)(char*, int*, int*, void*, int*, void*, void*, int*, void*, int*,
                           void*, int*, void*, int*, int*) noexcept nogil
ctypedef void (*sytrf_fn)(char*, int*, void*, int*, int*, void*, int*, int*) noexcept nogil
ctypedef void (*sytrs_fn)(char*, int*, int*, void*, int*, int*, void*, int*, int*) noexcept nogil
ctypedef void (*trsm_fn)(char*, char*, char*, char*, int*, int*, void*, void*, int*, void*,
                         int*) noexcept nogil
ctypedef void (*gemm_fn)(char*, char*, int*, int*, int*, void*, void*, int*, void*, int*, void*, void*,
                         int*) noexcept nogil

ctypedef double complex doubles

cdef extern from "small.h" nogil:
    int SMALL_ORDER, SMALL_TRIANGLE
    void* const* small_getrf
    void* const* small_panel
    void* const* small_trsm
    void* const* small_potrf
    void* const* small_geqrf
    void* const* small_orgqr


# ---- finding routines --------------------------------------------------------------------------

cdef enum:
    ONE_THREAD = 768                         # rows and columns up to which one thread factors

cdef enum:                                   # places in NAMES
    POTRF, POTRI, SYTRF, SYTRS, HETRF, HETRS, TRSM, GEQRF, ORGQR, ORMQR, SYEVD, GEEV, GESDD, GEMM, ROUTINES

# Without the letter of the dtype; where it differs, the name for complex numbers too.
cdef tuple NAMES = (
    ("potrf",), ("potri",), ("sytrf",), ("sytrs",), ("sytrf", "hetrf"),
    ("sytrs", "hetrs"), ("trsm",), ("geqrf",), ("orgqr", "ungqr"), ("ormqr", "unmqr"), ("syevd", "heevd"), ("geev",),
    ("gesdd",), ("gemm",))
cdef str LETTERS = "sdcz"
cdef void* found[ROUTINES][4]


cdef void* address_of(int kind, str name) except NULL:
    try:
        from scipy.linalg import cython_blas, cython_lapack
    except ImportError:
        raise refused("linear algebra on the CPU needs scipy, which is not installed: "
                      "pip install 'tensor-dispatch[linalg]'") from None
    name = LETTERS[kind] + name
    meet_blas()
    capsule = cython_lapack.__pyx_capi__.get(name) or cython_blas.__pyx_capi__[name]
    return PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule))


cdef void* routine(int place, int kind) except NULL:
    cdef tuple names
    if found[place][kind] == NULL:
        names = NAMES[place]
        found[place][kind] = address_of(kind, names[len(names) - 1 if kind >= COMPLEX else 0])
    return found[place][kind]


cdef void* routine_for(int place, int kind, void* const* small, bint is_small) except NULL:
    """LAPACK's routine, or ours; scipy has to be there for either."""
    cdef void* f = routine(place, kind)
    return small[kind] if is_small else f


# ---- blocks and work space -----------------------------------------------------------------------

cdef Batch batch(Block a) noexcept:
    cdef Batch b
    b.data, b.step, b.rows, b.columns = a.data, a.step, a.rows, a.columns
    return b


cdef int size_of(int kind, void* work) noexcept nogil:
    """The size of a work space that a query has left in its first element."""
    cdef double n
    if kind == SINGLE or kind == COMPLEX:
        n = (<float*>work)[0]
        n += n * 1.2e-7                      # a size beyond 2 ** 24 was rounded
    else:
        n = (<double*>work)[0]
    return <int>n if n >= 1 else 1


cdef void* space(size_t nbytes) except NULL:
    cdef void* p = malloc(nbytes if nbytes else 1)
    if p == NULL:
        raise MemoryError
    return p


cdef void set_one(int kind, double* one) noexcept:
    one[0], one[1] = 1, 0
    if kind == SINGLE or kind == COMPLEX:
        (<float*>one)[0], (<float*>one)[1] = 1, 0


cdef bint is_alone(Batch* a) noexcept nogil:
    """Whether one thread does it until `end_alone`: small steps lose more than they gain where numpy's BLAS, which is
    another library, still has threads that look for work."""
    return is_small(a) and begin_one_blas_thread()


cdef inline bint is_small(const Batch* a) noexcept nogil:
    """Whether there are as few multiplications as in a square that one thread factors: long and narrow ones are small too."""
    return <int64_t>a.rows * a.columns * min(a.rows, a.columns) <= <int64_t>ONE_THREAD * ONE_THREAD * ONE_THREAD


cdef void end_alone(bint alone) noexcept nogil:
    if alone:
        end_one_blas_thread()


cdef void over_batch(span_fn f, void* context, Batch* a, Py_ssize_t n) noexcept nogil:
    """All matrices, by several threads where they are small."""
    cdef int64_t work = <int64_t>a.rows * a.columns * (a.columns + 8), parts = 1
    cdef bint alone
    if is_small(a):
        parts = parts_for(n, 2 * n * work)
    if parts > 1:
        in_blas_spans(f, context, n, parts)
        return
    alone = is_alone(a)
    f(context, 0, 0, n)
    end_alone(alone)


# ---- exchanges of rows ----------------------------------------------------------------------------

ctypedef fused cell:                         # what an element is moved as
    uint32_t
    uint64_t
    doubles

cdef void exchange_cells(cell* column, int columns, int rows, const int* pivots, int n, bint back) noexcept nogil:
    cdef cell kept
    cdef int c, k, row
    for c in range(columns):
        for k in range(n):
            row = n - 1 - k if back else k
            if pivots[row] - 1 != row and 0 < pivots[row] <= rows:
                kept = column[row]
                column[row] = column[pivots[row] - 1]
                column[pivots[row] - 1] = kept
        column += rows


cdef void exchange_rows(char* data, int columns, int rows, size_t item, const int* pivots, int n, bint back) noexcept nogil:
    """The first rows of columns, `rows` apart, with what n pivots say, or back."""
    if item == 4:
        exchange_cells(<uint32_t*>data, columns, rows, pivots, n, back)
    elif item == 8:
        exchange_cells(<uint64_t*>data, columns, rows, pivots, n, back)
    else:
        exchange_cells(<doubles*>data, columns, rows, pivots, n, back)


cdef void exchange(const Batch* y, Py_ssize_t i, const int* pivots, size_t item, bint back) noexcept nogil:
    """Exchange rows of the i-th matrix as `getrf` did, or undo it."""
    exchange_rows(y.data + i * y.step, y.columns, y.rows, item, pivots, y.rows, back)


# ---- solving with triangles ----------------------------------------------------------------------

cdef enum:
    VECTORS = 16                             # that threads take together

cdef struct Triangle:                        # op(a) x = b from the left, x op(a) = b from the right
    char side, uplo, trans, diag
    char* a
    char* b
    int order, a_rows, rows, vectors         # a's and b's leading dimensions; vectors: b's columns, from the right its rows
    size_t item
    trsm_fn whole, small                     # BLAS's, and ours up to SMALL_TRIANGLE
    gemm_fn gemm
    double one[2]
    double minus[2]


cdef int set_triangle(Triangle* t, int kind, int order, int rows, int vectors) except -1:
    t.order, t.a_rows, t.rows, t.vectors, t.item = order, order, rows, vectors, width(kind)
    t.side, t.trans = b"L", b"N"
    t.whole, t.small = <trsm_fn>routine(TRSM, kind), <trsm_fn>small_trsm[kind]
    t.gemm = <gemm_fn>routine(GEMM, kind)
    set_one(kind, t.one)
    set_one(kind, t.minus)
    if kind == SINGLE or kind == COMPLEX:
        (<float*>t.minus)[0] = -1
    else:
        t.minus[0] = -1
    return 0


cdef void solve_blocks(Triangle* t, int64_t first, int64_t end) noexcept nogil:
    """These vectors: what a block on the diagonal solves for is taken from the rest by a product."""
    cdef bint is_left = t.side == b"L", turned = (t.trans != b"N") == is_left, forward = (t.uplo == b"L") != turned
    cdef int count = <int>(end - first), block = SMALL_TRIANGLE, start, size, low, others, k, blocks
    cdef size_t along = t.item if is_left else t.item * t.rows
    cdef char* b = t.b + first * (t.item * t.rows if is_left else t.item)
    cdef char* here
    cdef char* part
    cdef char no = b"N"
    cdef trsm_fn f = t.small
    if t.order > SMALL_ORDER and count <= 3:             # one vector alone gains nothing
        f, block = t.whole, t.order
    blocks = (t.order + block - 1) // block
    for k in range(blocks):
        start = (k if forward else blocks - 1 - k) * block
        size = min(block, t.order - start)
        low = start + size if forward else 0
        others = t.order - low if forward else start
        here = b + start * along
        f(&t.side, &t.uplo, &t.trans, &t.diag, &size if is_left else &count, &count if is_left else &size, t.one,
          t.a + (<size_t>start * t.a_rows + start) * t.item, &t.a_rows, here, &t.rows)
        if others == 0:
            continue
        part = t.a + (<size_t>low * t.a_rows + start if turned else <size_t>start * t.a_rows + low) * t.item
        if is_left:
            t.gemm(&t.trans, &no, &others, &count, &size, t.minus, part, &t.a_rows, here, &t.rows, t.one, b + low * along,
                   &t.rows)
        else:
            t.gemm(&no, &t.trans, &count, &others, &size, t.minus, here, &t.rows, part, &t.a_rows, t.one, b + low * along,
                   &t.rows)


cdef void solve_vectors(void* context, int64_t part, int64_t first, int64_t end) noexcept nogil:
    cdef Triangle* t = <Triangle*>context
    solve_blocks(t, first * VECTORS, min(end * VECTORS, <int64_t>t.vectors))


cdef struct Solving:                         # triangles one after the other, for a batch
    Triangle triangles[2]
    int n
    Batch x, y
    const int* pivots                        # exchanges of rows before them, or behind; NULL: none
    bint back


cdef void solve_one(const Solving* j, int64_t i, int64_t parts) noexcept nogil:
    """One matrix of them; with several parts, threads share its vectors."""
    cdef Triangle t
    cdef int k
    if j.pivots != NULL and not j.back:
        exchange(&j.y, i, j.pivots + i * j.x.rows, j.triangles[0].item, False)
    for k in range(j.n):
        t = j.triangles[k]
        t.a, t.b = j.x.data + i * j.x.step, j.y.data + i * j.y.step
        if parts == 1:
            solve_blocks(&t, 0, t.vectors)
        else:
            in_blas_spans(solve_vectors, &t, (t.vectors + VECTORS - 1) // VECTORS, parts)
    if j.pivots != NULL and j.back:
        exchange(&j.y, i, j.pivots + i * j.x.rows, j.triangles[0].item, True)


cdef void solve_span(void* context, int64_t part, int64_t first, int64_t end) noexcept nogil:
    cdef int64_t i
    for i in range(first, end):
        solve_one(<const Solving*>context, i, 1)


cdef void solve_all(Solving* j, int64_t n) noexcept nogil:
    cdef const Triangle* t = &j.triangles[0]
    cdef int64_t i, units = (t.vectors + VECTORS - 1) // VECTORS, work = <int64_t>t.order * t.order * t.vectors
    cdef int64_t parts = parts_for(units, 2 * work) if n < 4 else 1
    if parts == 1:
        over_batch(solve_span, j, &j.y, n)
        return
    for i in range(n):
        solve_one(j, i, parts)


cdef int getrs(Block a, Block pivots, Block b, char trans=b"N") except -1:
    """Solve with the factors of `getrf`; `trans`: N, T or C."""
    cdef Solving j
    cdef int k, lower = 0 if trans == b"N" else 1
    j.x, j.y, j.pivots, j.n, j.back = batch(a), batch(b), <int*>pivots.data, 2, trans != b"N"
    for k in range(2):
        set_triangle(&j.triangles[k], a.kind, a.rows, b.rows, b.columns)
        j.triangles[k].trans = trans
        j.triangles[k].uplo = b"L" if k == lower else b"U"
        j.triangles[k].diag = b"U" if k == lower else b"N"
    with nogil:
        solve_all(&j, a.count)
    return 0


cdef int potrs(Block a, Block b, bint upper) except -1:
    """Solve with the Cholesky factor."""
    cdef Solving j
    cdef int k, adjoint = 0 if upper else 1
    j.x, j.y, j.pivots, j.n = batch(a), batch(b), NULL, 2
    for k in range(2):
        set_triangle(&j.triangles[k], a.kind, a.rows, b.rows, b.columns)
        j.triangles[k].uplo = b"U" if upper else b"L"
        j.triangles[k].diag = b"N"
        j.triangles[k].trans = b"N" if k != adjoint else b"C" if a.kind >= COMPLEX else b"T"
    with nogil:
        solve_all(&j, a.count)
    return 0


cdef int trsm(Block a, Block b, bint left, bint upper, char trans, bint unit) except -1:
    """Solve with triangular matrices: `b` becomes the solution."""
    cdef Solving j
    j.x, j.y, j.pivots, j.n = batch(a), batch(b), NULL, 1
    set_triangle(&j.triangles[0], a.kind, a.rows, b.rows, b.columns if left else b.rows)
    j.triangles[0].side = b"L" if left else b"R"
    j.triangles[0].uplo = b"U" if upper else b"L"
    j.triangles[0].diag = b"U" if unit else b"N"
    j.triangles[0].trans = trans
    with nogil:
        solve_all(&j, a.count)
    return 0


# ---- triangular factors ------------------------------------------------------------------------

cdef enum:
    PANEL = 16                               # columns that are factored without products

cdef struct Factoring:
    Batch a
    int* pivots
    int* state
    int k
    getrf_fn whole                           # small matrices; NULL: by panels
    getrf_fn panel
    Triangle left                            # what the left columns of a matrix solve for in the right ones

cdef struct Update:                          # of the right columns by the left ones
    const Factoring* j
    Triangle left
    const int* pivots
    int below                                # rows below the left triangle


cdef void update_columns(void* context, int64_t part, int64_t first, int64_t end) noexcept nogil:
    cdef Update* u = <Update*>context
    cdef Triangle* t = &u.left
    cdef int count
    cdef char no = b"N"
    cdef char* b
    first, end = first * VECTORS, min(end * VECTORS, <int64_t>t.vectors)
    count, b = <int>(end - first), t.b + first * (t.item * t.rows)
    exchange_rows(b, count, t.rows, t.item, u.pivots, t.order, False)
    solve_blocks(t, first, end)
    if u.below:
        t.gemm(&no, &no, &u.below, &count, &t.order, t.minus, t.a + t.order * t.item, &t.a_rows, b, &t.rows, t.one,
               b + t.order * t.item, &t.rows)


cdef void factor(const Factoring* j, char* a, int m, int n, int* pivots, int* state) noexcept nogil:
    """A half of the columns, then what they leave of the other half: most of it is products."""
    cdef Update u
    cdef int i, left = min(m, (n // 2 + PANEL - 1) // PANEL * PANEL), rest = 0, rows = j.a.rows, k, units
    cdef char* right
    if n <= PANEL:
        j.panel(&m, &n, a, &rows, pivots, state)
        return
    factor(j, a, m, left, pivots, state)
    right = a + <size_t>left * rows * j.left.item
    u.j, u.left, u.pivots, u.below = j, j.left, pivots, m - left
    u.left.a, u.left.b, u.left.order, u.left.vectors = a, right, left, n - left
    units = (n - left + VECTORS - 1) // VECTORS
    in_blas_spans(update_columns, &u, units, parts_for(units, <int64_t>2 * m * left * (n - left)))
    if m == left:
        return
    k = min(m, n) - left
    factor(j, right + left * j.left.item, m - left, n - left, pivots + left, &rest)
    exchange_rows(a + left * j.left.item, left, rows, j.left.item, pivots + left, k, False)
    for i in range(k):
        pivots[left + i] += left
    if rest and not state[0]:
        state[0] = rest + left


cdef void factor_span(void* context, int64_t part, int64_t first, int64_t end) noexcept nogil:
    cdef Factoring* j = <Factoring*>context
    cdef char* a
    cdef int64_t i
    for i in range(first, end):
        a = j.a.data + i * j.a.step
        if j.whole != NULL:
            j.whole(&j.a.rows, &j.a.columns, a, &j.a.rows, j.pivots + i * j.k, j.state + i)
        else:
            factor(j, a, j.a.rows, j.a.columns, j.pivots + i * j.k, j.state + i)


cdef int getrf(Block a, Block pivots, Block info) except -1:
    """LU factors with partial pivoting; `pivots` (batch, min(m, n)) are rows counted from 1."""
    cdef Factoring j
    j.a, j.pivots, j.state = batch(a), <int*>pivots.data, <int*>info.data
    j.k = min(j.a.rows, j.a.columns)
    j.whole = <getrf_fn>small_getrf[a.kind] if max(a.rows, a.columns) <= SMALL_ORDER else NULL
    j.panel = <getrf_fn>small_panel[a.kind]
    set_triangle(&j.left, a.kind, 0, a.rows, 0)
    j.left.a_rows = a.rows
    j.left.uplo, j.left.diag = b"L", b"U"
    with nogil:
        over_batch(factor_span, &j, &j.a, a.count)
    return 0


# ---- other factors -------------------------------------------------------------------------------

cdef int potrf(Block a, bint upper, Block info) except -1:
    """Cholesky factors, in one triangle; the other is left as it was."""
    cdef Batch b = batch(a)
    cdef int* state = <int*>info.data
    cdef char uplo = b"U" if upper else b"L"
    cdef Py_ssize_t i, n = a.count
    cdef potrf_fn f = <potrf_fn>routine_for(POTRF, a.kind, small_potrf, a.rows <= SMALL_ORDER)
    cdef bint alone = is_alone(&b)
    with nogil:
        for i in range(n):
            f(&uplo, &b.rows, b.data + i * b.step, &b.rows, state + i)
    end_alone(alone)
    return 0


cdef int potri(Block a, bint upper, Block info) except -1:
    """One triangle of the inverse, from the Cholesky factor."""
    cdef Batch b = batch(a)
    cdef int* state = <int*>info.data
    cdef char uplo = b"U" if upper else b"L"
    cdef Py_ssize_t i, n = a.count
    cdef potrf_fn f = <potrf_fn>routine(POTRI, a.kind)
    cdef bint alone = is_alone(&b)
    with nogil:
        for i in range(n):
            f(&uplo, &b.rows, b.data + i * b.step, &b.rows, state + i)
    end_alone(alone)
    return 0


cdef int sytrf(Block a, Block pivots, bint hermitian, Block info) except -1:
    """LDL factors of the lower triangle."""
    cdef Batch b = batch(a)
    cdef int* p = <int*>pivots.data
    cdef int* state = <int*>info.data
    cdef int kind = a.kind, size = -1
    cdef char uplo = b"L"
    cdef char query[16]
    cdef Py_ssize_t i, n = a.count
    cdef sytrf_fn f = <sytrf_fn>routine(HETRF if hermitian else SYTRF, kind)
    f(&uplo, &b.rows, b.data, &b.rows, p, query, &size, state)
    size = size_of(kind, query)
    cdef void* work = space(size * width(kind))
    with nogil:
        for i in range(n):
            f(&uplo, &b.rows, b.data + i * b.step, &b.rows, p + i * b.rows, work, &size, state + i)
    free(work)
    return 0


cdef bint are_pivots(const int* p, int n) noexcept:
    """Whether `sytrf` may have given them: a row counted from 1, or two that are negative for a block of two."""
    cdef int k = 0
    while k < n:
        if p[k] > 0:
            if p[k] > n:
                return False
            k += 1
        elif k + 1 < n and -n <= p[k] < 0 and -n <= p[k + 1] < 0:
            k += 2
        else:
            return False
    return True


cdef int sytrs(Block a, Block pivots, Block b, bint hermitian) except -1:
    """Solve with the factors of `sytrf`."""
    cdef Batch x = batch(a), y = batch(b)
    cdef int* p = <int*>pivots.data
    cdef int state
    cdef char uplo = b"L"
    cdef Py_ssize_t i, n = a.count
    cdef sytrs_fn f = <sytrs_fn>routine(HETRS if hermitian else SYTRS, a.kind)
    for i in range(n):
        if not are_pivots(p + i * x.rows, x.rows):
            raise refused("expected pivots of ldl_factor: rows counted from 1, negative ones in pairs")
    with nogil:
        for i in range(n):
            f(&uplo, &x.rows, &y.columns, x.data + i * x.step, &x.rows, p + i * x.rows,
              y.data + i * y.step, &y.rows, &state)
    return 0


cdef int clear(Block a, bint upper) except -1:
    """Zeros beside the triangle that is upper or lower."""
    cdef Batch b = batch(a)
    cdef size_t item = width(a.kind)
    cdef Py_ssize_t i, c, n = a.count
    cdef char* column
    with nogil:
        for i in range(n):
            for c in range(b.columns):
                column = b.data + i * b.step + c * b.rows * item
                if not upper:
                    memset(column, 0, min(c, b.rows) * item)
                elif c + 1 < b.rows:
                    memset(column + (c + 1) * item, 0, (b.rows - c - 1) * item)
    return 0


cdef int permutations(Block pivots, Block rows) except -1:
    """Where each row comes from when `pivots` of `getrf` exchange rows; both (batch, n), int32."""
    cdef Batch p = batch(pivots), r = batch(rows)
    cdef int* pivot
    cdef int* row
    cdef int k, other
    cdef Py_ssize_t i, n = pivots.count
    with nogil:
        for i in range(n):
            pivot, row = <int*>(p.data + i * p.step), <int*>(r.data + i * r.step)
            for k in range(r.rows):
                row[k] = k
            for k in range(p.rows):
                other = pivot[k] - 1
                if 0 <= other < r.rows:
                    row[k], row[other] = row[other], row[k]
    return 0


# ---- orthogonal factors ------------------------------------------------------------------------

cdef int geqrf(Block a, Block tau) except -1:
    """QR factors, as reflectors below the diagonal and `tau` (batch, min(m, n))."""
    cdef Batch b = batch(a), t = batch(tau)
    cdef int kind = a.kind, size = -1, state
    cdef char query[16]
    cdef Py_ssize_t i, n = a.count
    cdef geqrf_fn f = <geqrf_fn>routine(GEQRF, kind)
    f(&b.rows, &b.columns, b.data, &b.rows, t.data, query, &size, &state)
    size = size_of(kind, query)
    cdef void* work = space(size * width(kind))
    f = <geqrf_fn>routine_for(GEQRF, kind, small_geqrf, max(b.rows, b.columns) <= SMALL_ORDER)
    cdef bint alone = is_alone(&b)
    with nogil:
        for i in range(n):
            f(&b.rows, &b.columns, b.data + i * b.step, &b.rows, t.data + i * t.step, work, &size,
              &state)
    end_alone(alone)
    free(work)
    return 0


cdef int orgqr(Block a, Block tau) except -1:
    """The first columns of the product of reflectors, as many as `a` has."""
    cdef Batch b = batch(a), t = batch(tau)
    cdef int kind = a.kind, size = -1, state
    cdef char query[16]
    cdef Py_ssize_t i, n = a.count
    cdef orgqr_fn f = <orgqr_fn>routine(ORGQR, kind)
    f(&b.rows, &b.columns, &t.rows, b.data, &b.rows, t.data, query, &size, &state)
    size = size_of(kind, query)
    cdef void* work = space(size * width(kind))
    f = <orgqr_fn>routine_for(ORGQR, kind, small_orgqr, max(b.rows, b.columns) <= SMALL_ORDER)
    cdef bint alone = is_alone(&b)
    with nogil:
        for i in range(n):
            f(&b.rows, &b.columns, &t.rows, b.data + i * b.step, &b.rows, t.data + i * t.step, work,
              &size, &state)
    end_alone(alone)
    free(work)
    return 0


cdef int ormqr(Block a, Block tau, Block c, bint left, bint transpose) except -1:
    """`c` times the product of reflectors, from the left or the right."""
    cdef Batch b = batch(a), t = batch(tau), y = batch(c)
    cdef int kind = a.kind, size = -1, state
    cdef char query[16]
    cdef char side = b"L" if left else b"R"
    cdef char trans = b"N"
    cdef Py_ssize_t i, n = a.count
    cdef ormqr_fn f = <ormqr_fn>routine(ORMQR, kind)
    if transpose:
        trans = b"C" if kind >= COMPLEX else b"T"
    f(&side, &trans, &y.rows, &y.columns, &t.rows, b.data, &b.rows, t.data, y.data, &y.rows, query,
      &size, &state)
    size = size_of(kind, query)
    cdef void* work = space(size * width(kind))
    cdef bint alone = is_alone(&b)
    with nogil:
        for i in range(n):
            f(&side, &trans, &y.rows, &y.columns, &t.rows, b.data + i * b.step, &b.rows,
              t.data + i * t.step, y.data + i * y.step, &y.rows, work, &size, &state)
    end_alone(alone)
    free(work)
    return 0


# ---- eigenvalues and singular values -----------------------------------------------------------

cdef int syevd(Block a, Block w, bint upper, bint vectors, Block info) except -1:
    """Eigenvalues of Hermitian matrices in ascending order; `a` becomes the vectors."""
    cdef Batch b = batch(a), v = batch(w)
    cdef int* state = <int*>info.data
    cdef int kind = a.kind, size = -1, real_size = -1, int_size = -1
    cdef char query[16]
    cdef char real_query[8]
    cdef int int_query[1]
    cdef char job = b"V" if vectors else b"N"
    cdef char uplo = b"U" if upper else b"L"
    cdef Py_ssize_t i, n = a.count
    cdef void* f = routine(SYEVD, kind)
    cdef void* work
    cdef void* real_work = NULL
    cdef int* int_work
    if kind < COMPLEX:
        (<syevd_fn>f)(&job, &uplo, &b.rows, b.data, &b.rows, v.data, query, &size, int_query,
                      &int_size, state)
    else:
        (<heevd_fn>f)(&job, &uplo, &b.rows, b.data, &b.rows, v.data, query, &size, real_query,
                      &real_size, int_query, &int_size, state)
        real_size = size_of(kind & 1, real_query)
    size, int_size = size_of(kind, query), max(1, int_query[0])
    work = space(size * width(kind))
    int_work = <int*>space(int_size * sizeof(int))
    if kind >= COMPLEX:
        real_work = space(real_size * width(kind & 1))
    cdef bint alone = is_alone(&b)
    with nogil:
        for i in range(n):
            if kind < COMPLEX:
                (<syevd_fn>f)(&job, &uplo, &b.rows, b.data + i * b.step, &b.rows,
                              v.data + i * v.step, work, &size, int_work, &int_size, state + i)
            else:
                (<heevd_fn>f)(&job, &uplo, &b.rows, b.data + i * b.step, &b.rows,
                              v.data + i * v.step, work, &size, real_work, &real_size, int_work,
                              &int_size, state + i)
    end_alone(alone)
    free(work)
    free(int_work)
    free(real_work)
    return 0


cdef int geev(Block a, Block w, Block wi, Block vectors,
         Block info) except -1:
    """Eigenvalues and, unless `vectors` is None, right eigenvectors; `a` is overwritten.

    Of real matrices, `w` and `wi` are the real and imaginary parts, and of a pair of conjugate
    values the vectors are the real and the imaginary part; of complex ones `wi` is None.
    """
    cdef Batch b = batch(a), v = batch(w), x = v, vr = v
    cdef int* state = <int*>info.data
    cdef int kind = a.kind, size = -1, one = 1
    cdef char query[16]
    cdef char no = b"N"
    cdef char job = b"N" if vectors is None else b"V"
    cdef Py_ssize_t i, n = a.count
    cdef void* f = routine(GEEV, kind)
    cdef void* work
    cdef void* real_work = NULL
    vr.step, vr.rows, vr.data = 0, 1, query          # not written without vectors
    if vectors is not None:
        vr = batch(vectors)
    if kind < COMPLEX:
        x = batch(wi)
        (<geev_fn>f)(&no, &job, &b.rows, b.data, &b.rows, v.data, x.data, NULL, &one, vr.data,
                     &vr.rows, query, &size, state)
    else:
        real_work = space(2 * b.rows * width(kind & 1))
        (<zgeev_fn>f)(&no, &job, &b.rows, b.data, &b.rows, v.data, NULL, &one, vr.data,
                      &vr.rows, query, &size, real_work, state)
    size = size_of(kind, query)
    work = space(size * width(kind))
    cdef bint alone = is_alone(&b)
    with nogil:
        for i in range(n):
            if kind < COMPLEX:
                (<geev_fn>f)(&no, &job, &b.rows, b.data + i * b.step, &b.rows, v.data + i * v.step,
                             x.data + i * x.step, NULL, &one, vr.data + i * vr.step, &vr.rows, work,
                             &size, state + i)
            else:
                (<zgeev_fn>f)(&no, &job, &b.rows, b.data + i * b.step, &b.rows, v.data + i * v.step,
                              NULL, &one, vr.data + i * vr.step, &vr.rows, work, &size, real_work,
                              state + i)
    end_alone(alone)
    free(work)
    free(real_work)
    return 0


cdef int gesdd(Block a, Block s, Block u, Block vt,
          Block info) except -1:
    """Singular values in descending order and, unless `u` and `vt` are None, vectors.

    How many vectors there are follows from the arrays; `a` is overwritten.
    """
    cdef Batch b = batch(a), w = batch(s), x = w, y = w
    cdef int* state = <int*>info.data
    cdef int kind = a.kind, size = -1, low = min(b.rows, b.columns)
    cdef int high = max(b.rows, b.columns)
    cdef char query[16]
    cdef char job = b"N"
    cdef Py_ssize_t i, n = a.count
    cdef size_t real_size = 7 * low
    cdef void* f = routine(GESDD, kind)
    cdef void* work
    cdef void* real_work = NULL
    cdef int* int_work
    x.step, x.rows, x.data = 0, 1, query             # not written without vectors
    y.step, y.rows, y.data = 0, 1, query
    if u is not None:
        x, y = batch(u), batch(vt)
        job = b"A" if x.columns == b.rows and y.rows == b.columns else b"S"
        real_size = <size_t>low * max(5 * low + 7, 2 * high + 2 * low + 1)
    int_work = <int*>space(8 * low * sizeof(int))
    if kind < COMPLEX:
        (<gesdd_fn>f)(&job, &b.rows, &b.columns, b.data, &b.rows, w.data, x.data, &x.rows, y.data,
                      &y.rows, query, &size, int_work, state)
    else:
        real_work = space(real_size * width(kind & 1))
        (<zgesdd_fn>f)(&job, &b.rows, &b.columns, b.data, &b.rows, w.data, x.data, &x.rows, y.data,
                       &y.rows, query, &size, real_work, int_work, state)
    size = size_of(kind, query)
    work = space(size * width(kind))
    cdef bint alone = is_alone(&b)
    with nogil:
        for i in range(n):
            if kind < COMPLEX:
                (<gesdd_fn>f)(&job, &b.rows, &b.columns, b.data + i * b.step, &b.rows,
                              w.data + i * w.step, x.data + i * x.step, &x.rows,
                              y.data + i * y.step, &y.rows, work, &size, int_work, state + i)
            else:
                (<zgesdd_fn>f)(&job, &b.rows, &b.columns, b.data + i * b.step, &b.rows,
                               w.data + i * w.step, x.data + i * x.step, &x.rows,
                               y.data + i * y.step, &y.rows, work, &size, real_work, int_work,
                               state + i)
    end_alone(alone)
    free(work)
    free(int_work)
    free(real_work)
    return 0
