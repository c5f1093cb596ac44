"""Bodies of determinants, inverses and solutions of linear systems on the CPU, over LAPACK.

Called by the structured kernels with outputs of the right sizes and dtypes; each computes in an
output's memory where that is column-major. As in PyTorch, determinants factor real row-major
matrices as they lie in memory: transposed.
"""
from libc.math cimport fabs, hypot, isnan, log
from libc.stdint cimport int64_t
from libc.string cimport memcpy, memset

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport ST_int32, is_complex_code
from dispatch._C.errors cimport refused
from dispatch._C.geometry cimport TF_CONTIGUOUS
from dispatch._C.tensor cimport Tensor
from dispatch.kernels.cpu.copy.copies cimport fill_values
from dispatch.kernels.cpu.linalg.blocks cimport (
    COMPLEX, SINGLE, Block, as_columns, blank, blocks, check_kind, finish, info_of, matrix, new_block, new_info, numbers,
    read, read_vectors, rows, transposed, try_rows, vectors, width, work,
)
from dispatch.kernels.cpu.linalg.lapack cimport (
    getrf, getrs, potri, potrs, set_one, sytrs, trsm,
)
from dispatch.kernels.meta.linalg.checks cimport broadcast_batch, is_vector_rhs, real_of

from dispatch._C.arrays import _set_conj
from dispatch._ops import ops

cdef enum:
    MAX_DIMS = 64


# ---- LAPACK's numbers --------------------------------------------------------------------------

cdef bint has_errors(Block numbers) noexcept:
    cdef Py_ssize_t i
    for i in range(numbers.count):
        if (<int*>numbers.data)[i]:
            return True
    return False


cdef int check_info(Tensor info, Block numbers, str name, Tensor matrix) except -1:
    finish(info, numbers)
    if name is not None and has_errors(numbers):
        ops.aten._linalg_check_errors(info, name, is_matrix=matrix.c_ndim == 2)
    return 0


cdef int raise_info(Block numbers, str name, Tensor matrix) except -1:
    if has_errors(numbers):
        ops.aten._linalg_check_errors(numbers.t, name, is_matrix=matrix.c_ndim == 2)
    return 0


# ---- determinants ------------------------------------------------------------------------------

cdef inline void load(const char* p, int kind, double* z) noexcept nogil:
    z[1] = 0
    if kind == SINGLE or kind == COMPLEX:
        z[0] = (<float*>p)[0]
        if kind == COMPLEX:
            z[1] = (<float*>p)[1]
    else:
        z[0] = (<double*>p)[0]
        if kind > COMPLEX:
            z[1] = (<double*>p)[1]


cdef inline void store(char* p, int kind, const double* z) noexcept nogil:
    if kind == SINGLE or kind == COMPLEX:
        (<float*>p)[0] = <float>z[0]
        if kind == COMPLEX:
            (<float*>p)[1] = <float>z[1]
    else:
        (<double*>p)[0] = z[0]
        if kind > COMPLEX:
            (<double*>p)[1] = z[1]


cdef inline void multiply(double* z, const double* by, bint narrow) noexcept nogil:
    """Rounded after each step, for what overflows in a narrow dtype does so in PyTorch."""
    cdef double re = z[0] * by[0] - z[1] * by[1], im = z[0] * by[1] + z[1] * by[0]
    z[0] = <double><float>re if narrow else re
    z[1] = <double><float>im if narrow else im


cdef Tensor factored(Tensor A):
    """What is factored: A, or A transposed."""
    return transposed(A) if A.c_flags & TF_CONTIGUOUS and not is_complex_code(A.c_dtype) else A


cdef double sign_of(Block pivots, Py_ssize_t i) noexcept nogil:
    """Of the exchanges of rows."""
    cdef const int* p = <const int*>matrix(pivots, i)
    cdef double sign = 1
    cdef int k
    for k in range(pivots.rows):
        if p[k] != k + 1:
            sign = -sign
    return sign


cdef int det(Tensor result, Tensor LU, Tensor pivots, Tensor A) except -1:
    """The product of U's diagonal, and of the signs of the exchanges of rows."""
    cdef Block a, p, made
    cdef double z[2]
    cdef double u[2]
    cdef size_t item
    cdef Py_ssize_t i
    cdef int k
    if A.c_numel == 0:
        return fill_values(result, 1)
    check_kind(A)
    a, p = work(LU, factored(A)), vectors(pivots, ST_int32)
    made, item = numbers(result, A.c_dtype), width(a.kind)
    getrf(a, p, new_info(A))
    with nogil:
        for i in range(a.count):
            z[0], z[1] = sign_of(p, i), 0
            for k in range(a.rows):
                load(matrix(a, i) + k * (a.rows + 1) * item, a.kind, u)
                if a.kind >= COMPLEX:
                    multiply(z, u, a.kind == COMPLEX)
                else:
                    z[0] = <double><float>(z[0] * u[0]) if a.kind == SINGLE else z[0] * u[0]
            store(made.data + i * item, a.kind, z)
    finish(result, made)
    finish(LU, a)
    return finish(pivots, p)


cdef int slogdet(Tensor sign, Tensor logabsdet, Tensor LU, Tensor pivots, Tensor A) except -1:
    """Its sign, or phase, and the logarithm of its absolute value."""
    cdef Block a, p, signs, logs
    cdef double z[2]
    cdef double u[2]
    cdef double size, total
    cdef size_t item
    cdef Py_ssize_t i
    cdef int k
    if A.c_numel == 0:
        fill_values(sign, 1)
        return fill_values(logabsdet, 0)
    check_kind(A)
    a, p = work(LU, factored(A)), vectors(pivots, ST_int32)
    signs, logs, item = numbers(sign, A.c_dtype), numbers(logabsdet, real_of(A.c_dtype)), width(a.kind)
    getrf(a, p, new_info(A))
    with nogil:
        for i in range(a.count):
            z[0], z[1], total = sign_of(p, i), 0, 0
            for k in range(a.rows):
                load(matrix(a, i) + k * (a.rows + 1) * item, a.kind, u)
                size = hypot(u[0], u[1]) if a.kind >= COMPLEX else fabs(u[0])
                total += log(size)
                if a.kind >= COMPLEX:
                    if size != 0:
                        u[0] /= size
                        u[1] /= size
                    multiply(z, u, a.kind == COMPLEX)
                elif isnan(u[0]):
                    z[0] = u[0]
                else:
                    z[0] *= <double>((u[0] > 0) - (u[0] < 0))
            store(signs.data + i * item, a.kind, z)
            u[0] = total
            store(logs.data + i * logs.step, a.kind & 1, u)
    finish(sign, signs)
    finish(logabsdet, logs)
    finish(LU, a)
    return finish(pivots, p)


# ---- solutions by LU factors -------------------------------------------------------------------

cdef void conjugate(Block b) noexcept nogil:
    cdef Py_ssize_t i, n = b.count * b.rows * b.columns
    for i in range(n):
        if b.kind == COMPLEX:
            (<float*>b.data)[2 * i + 1] *= -1
        elif b.kind > COMPLEX:
            (<double*>b.data)[2 * i + 1] *= -1


cdef int store_solution(Tensor out, Block lu, Block pivots, Tensor B, bint left, bint adjoint) except -1:
    """The solution of AX = B, or of XA = B; `adjoint`: with A's adjoint.

    Of the latter, which PyTorch gives lazily conjugated, the columns of B transposed are what A
    transposed is to map to.
    """
    cdef Block b
    if left:
        b = work(out, B)
        getrs(lu, pivots, b, b"C" if adjoint else b"N")
        return finish(out, b)
    b = rows(B, out.c_sizes, out.c_ndim)
    if adjoint:
        conjugate(b)
        getrs(lu, pivots, b, b"N")
        conjugate(b)
    else:
        getrs(lu, pivots, b, b"T")
    if is_complex_code(out.c_dtype):
        _set_conj(out, True)
    return finish(out, b)


cdef int lu_solve(Tensor out, Tensor LU, Tensor pivots, Tensor B, bint left, bint adjoint) except -1:
    """Solve with the factors of `lu_factor`."""
    cdef int64_t sizes[MAX_DIMS]
    cdef Block p
    cdef int n
    if out.c_numel == 0:
        return 0
    check_kind(LU)
    n = broadcast_batch(NULL, sizes, B.c_sizes, B.c_ndim, LU.c_sizes, LU.c_ndim)
    p = read_vectors(pivots, ST_int32, sizes, n - 1)
    check_rows(p)
    return store_solution(out, read(LU, sizes, n), p, B, left, adjoint)


cdef int check_rows(Block pivots) except -1:
    """LAPACK exchanges the rows that it is told to."""
    cdef const int* p
    cdef Py_ssize_t i
    cdef int k
    for i in range(pivots.count):
        p = <const int*>matrix(pivots, i)
        for k in range(pivots.rows):
            if not 0 < p[k] <= pivots.rows:
                raise refused("Pivots given to lu_solve must all be smaller or equal to LU.size(-2), "
                              f"from 1 to {pivots.rows}, got {p[k]}")
    return 0


cdef int solve_ex(Tensor result, Tensor LU, Tensor pivots, Tensor info, Tensor A, Tensor B, bint left,
                  bint check_errors) except -1:
    """Solve AX = B or XA = B."""
    cdef int64_t sizes[MAX_DIMS]
    cdef Block a, p, state = info_of(info)
    cdef int n
    cdef bint vector = is_vector_rhs(A, B)
    if vector:
        B = as_columns(B)
    if A.c_numel:
        check_kind(A)
        a, p = work(LU, A), vectors(pivots, ST_int32)
        getrf(a, p, state)
        finish(LU, a)
        finish(pivots, p)
    check_info(info, state, "torch.linalg.solve_ex" if check_errors else None, A)
    if result.c_numel == 0:
        return 0
    if vector:
        result = as_columns(result)
    n = broadcast_batch(NULL, sizes, B.c_sizes, B.c_ndim, A.c_sizes, A.c_ndim)
    if n != A.c_ndim or a.count != result.c_numel // (B.c_sizes[B.c_ndim - 2] * B.c_sizes[B.c_ndim - 1]):
        a, p = blocks(a.t, sizes, n), read_vectors(p.t, ST_int32, sizes, n - 1)
    return store_solution(result, a, p, B, left, False)


cdef void set_identity(Block b) noexcept:
    cdef double one[2]
    cdef size_t item = width(b.kind)
    cdef Py_ssize_t i
    cdef int k
    set_one(b.kind, one)
    memset(b.data, 0, b.count * b.step)
    for i in range(b.count):
        for k in range(min(b.rows, b.columns)):
            memcpy(matrix(b, i) + k * (b.rows + 1) * item, one, item)


cdef int inv_ex(Tensor inverse, Tensor info, Tensor A, bint check_errors) except -1:
    """Solve for the identity."""
    cdef Block a, b, p, state = info_of(info)
    cdef Tensor source = factored(A)
    if A.c_numel:
        check_kind(A)
        a = blocks(source)
        p = new_block(ST_int32, a.count, a.rows, 1)
        getrf(a, p, state)
        b = blank(inverse, A.c_dtype)
        set_identity(b)
        getrs(a, p, b, b"N" if source is A else b"T")
        finish(inverse, b)
    return check_info(info, state, "linalg.inv_ex" if check_errors else None, A)


# ---- by other factors --------------------------------------------------------------------------

cdef void mirror(Block b, bint upper) noexcept nogil:
    """The other triangle of Hermitian matrices."""
    cdef size_t item = width(b.kind)
    cdef Py_ssize_t i
    cdef int r, c
    cdef double z[2]
    cdef char* here
    for i in range(b.count):
        for c in range(b.columns):
            for r in range(c):
                here = matrix(b, i) + (r + <size_t>c * b.rows if upper else c + <size_t>r * b.rows) * item
                load(here, b.kind, z)
                z[1] = -z[1]
                here = matrix(b, i) + (c + <size_t>r * b.rows if upper else r + <size_t>c * b.rows) * item
                store(here, b.kind, z)


cdef int cholesky_inverse(Tensor out, Tensor self, bint upper) except -1:
    """The inverse, from the Cholesky factor."""
    cdef Block a, state
    if self.c_numel == 0:
        return 0
    check_kind(self)
    a, state = work(out, self), new_info(self)
    potri(a, upper, state)
    raise_info(state, "cholesky_inverse", self)
    mirror(a, upper)
    return finish(out, a)


cdef int cholesky_solve_helper(Tensor out, Tensor self, Tensor A, bint upper) except -1:
    """Solve with the Cholesky factor."""
    cdef Block b
    check_kind(self)
    if out.c_numel == 0:
        return 0
    b = work(out, self)
    potrs(read(A), b, upper)
    return finish(out, b)


cdef int ldl_solve(Tensor out, Tensor LD, Tensor pivots, Tensor B, bint hermitian) except -1:
    """Solve with the factors of `ldl_factor`."""
    cdef int64_t sizes[MAX_DIMS]
    cdef Block b
    cdef int n
    if out.c_numel == 0:
        return 0
    check_kind(LD)
    n = broadcast_batch(NULL, sizes, B.c_sizes, B.c_ndim, LD.c_sizes, LD.c_ndim)
    b = work(out, B)
    sytrs(read(LD, sizes, n), read_vectors(pivots, ST_int32, sizes, n - 1), b, hermitian and is_complex_code(LD.c_dtype))
    return finish(out, b)


# ---- triangles ---------------------------------------------------------------------------------

cdef int solve_triangles(Tensor out, Tensor A, Tensor B, bint upper, bint left, bint transpose, bint unit) except -1:
    """`transpose`: with A transposed. Row-major matrices are read as transposed ones."""
    cdef int64_t sizes[MAX_DIMS]
    cdef int n = broadcast_batch(NULL, sizes, B.c_sizes, B.c_ndim, A.c_sizes, A.c_ndim)
    cdef Block a = None, b = work(out, B)
    if not transpose:
        a = try_rows(A, sizes, n)
    if a is not None:
        upper, transpose = not upper, True
    else:
        a = read(A, sizes, n)
    trsm(a, b, left, upper, b"T" if transpose else b"N", unit)
    return finish(out, b)


cdef int solve_triangular(Tensor out, Tensor self, Tensor B, bint upper, bint left, bint unitriangular) except -1:
    """Solve with triangular matrices; the other triangle is not read."""
    if self.c_dtype != B.c_dtype:
        raise refused(f"expected self and B to have the same dtype, got {dtypes.get_dtype(self.c_dtype)!r} and "
                      f"{dtypes.get_dtype(B.c_dtype)!r}")
    if out.c_numel == 0:
        return 0
    check_kind(self)
    return solve_triangles(out, self, B, upper, left, False, unitriangular)


cdef int triangular_solve(Tensor solution, Tensor cloned_coefficient, Tensor self, Tensor A, bint upper, bint transpose,
                          bint unitriangular) except -1:
    """The same by its older name; a copy of the coefficients comes with it."""
    check_kind(self)
    if solution.c_numel:
        solve_triangles(solution, A, self, upper, True, transpose, unitriangular)
    return finish(cloned_coefficient, blocks(A, cloned_coefficient.c_sizes, cloned_coefficient.c_ndim))
