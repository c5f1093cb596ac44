"""Bodies of factorisations on the CPU, over LAPACK.

Called by the structured kernels with outputs of the right sizes and dtypes. Each computes in the
output's memory where that is column-major, and copies otherwise. Batches without elements are
filled without LAPACK, which takes no size of 0.
"""
from libc.math cimport isfinite
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from dispatch._C.dtypes cimport DEV_CPU, MF_contiguous, ST_int32, is_complex_code, itemsize_table
from dispatch._C.errors cimport refused
from dispatch._C.tensor cimport Tensor, data_of, new_empty
from dispatch.kernels.cpu.copy.copies cimport copy_values, fill_values, zero_
from dispatch.kernels.cpu.dense cimport finish as finish_tensor, target
from dispatch.kernels.cpu.linalg.blocks cimport (
    COMPLEX, SINGLE, Block, blank, blocks, check_kind, finish, info_of, matrix, new_block, new_info, read, read_vectors,
    vectors as vectors_of, width, work,
)
from dispatch.kernels.cpu.linalg.lapack cimport (
    clear, geev, geqrf as factor_qr, gesdd, getrf, orgqr, ormqr as multiply_reflectors, permutations, potrf, syevd, sytrf,
)
from dispatch.kernels.cpu.linalg.solvers cimport check_info, raise_info
from dispatch.kernels.meta.linalg.checks cimport check_matrix, complex_of, real_of

from dispatch._C.dtypes import can_cast
from dispatch._ops import ops
from dispatch.kernels.meta.outputs import resize_out

cdef enum:
    MAX_DIMS = 64


# ---- pieces ------------------------------------------------------------------------------------

cdef int set_element(char* element, int code, object value) except -1:
    """The bytes of a number."""
    cdef Tensor t = new_empty(code, DEV_CPU, -1, 0, NULL, NULL)
    fill_values(t, value)
    memcpy(element, data_of(t, itemsize_table()[code]), itemsize_table()[code])
    return 0


cdef int fill_identity(Tensor out) except -1:
    """Ones on the diagonal of each matrix."""
    cdef char one[16]
    cdef Tensor made = target(out, out.c_dtype, MF_contiguous)
    cdef int64_t i, k, m = out.c_sizes[out.c_ndim - 2], n = out.c_sizes[out.c_ndim - 1]
    cdef int item = itemsize_table()[out.c_dtype]
    if out.c_numel == 0:
        return 0
    zero_(made)
    set_element(one, out.c_dtype, 1)
    for i in range(out.c_numel // (m * n)):
        for k in range(min(m, n)):
            memcpy(data_of(made, item) + (i * m * n + k * (n + 1)) * item, one, item)
    return finish_tensor(out, made)


# ---- triangular --------------------------------------------------------------------------------

cdef int cholesky_ex(Tensor L, Tensor info, Tensor self, bint upper, bint check_errors) except -1:
    """A triangle whose product with its adjoint is self; LAPACK reads one triangle of self."""
    cdef Block a, state = info_of(info)
    if self.c_numel:
        check_kind(self)
        a = work(L, self)
        potrf(a, upper, state)
        clear(a, upper)
        finish(L, a)
    return check_info(info, state, "linalg.cholesky_ex" if check_errors else None, self)


cdef int cholesky(Tensor out, Tensor self, bint upper) except -1:
    """The same, by its older name, without info."""
    cdef Block a, state
    if self.c_numel == 0:
        return 0
    check_kind(self)
    a, state = work(out, self), new_info(self)
    potrf(a, upper, state)
    raise_info(state, "cholesky", self)
    clear(a, upper)
    return finish(out, a)


cdef int ldl_factor_ex(Tensor LD, Tensor pivots, Tensor info, Tensor self, bint hermitian, bint check_errors) except -1:
    """A lower triangle, of blocks of one or two on the diagonal, and exchanges of rows."""
    cdef Block a, p, state = info_of(info)
    check_kind(self)
    if self.c_numel:
        a, p = work(LD, self), vectors_of(pivots, ST_int32)
        clear(a, False)
        sytrf(a, p, hermitian and is_complex_code(self.c_dtype), state)
        finish(LD, a)
        finish(pivots, p)
    return check_info(info, state, "torch.linalg.ldl_factor_ex" if check_errors else None, self)


cdef int check_pivoted(bint pivot) except -1:
    if not pivot:
        raise refused("LU without pivoting is not implemented on the CPU")
    return 0


cdef int lu_factor_ex(Tensor LU, Tensor pivots, Tensor info, Tensor A, bint pivot, bint check_errors) except -1:
    """L below the diagonal, which is 1 and not stored, and U above it."""
    cdef Block a, p, state = info_of(info)
    if A.c_numel:
        check_pivoted(pivot)
        check_kind(A)
        a, p = work(LU, A), vectors_of(pivots, ST_int32)
        getrf(a, p, state)
        finish(LU, a)
        finish(pivots, p)
    return check_info(info, state, "torch.linalg.lu_factor_ex" if check_errors else None, A)


ctypedef double complex pair

ctypedef fused word:             # an element that is only moved
    uint32_t
    uint64_t
    pair


cdef void unpack(Block a, word* left, word* right, word one) noexcept nogil:
    """L (m, k) and U (k, n), by rows, of factors (m, n) by columns; both are 0 already."""
    cdef Py_ssize_t i, r, c, m = a.rows, n = a.columns, k = min(a.rows, a.columns)
    cdef const word* from_
    for i in range(a.count):
        from_ = <const word*>matrix(a, i)
        for c in range(n):
            for r in range(min(c + 1, m)):
                right[r * n + c] = from_[r]
            if c < k:
                left[c * k + c] = one
                for r in range(c + 1, m):
                    left[r * k + c] = from_[r]
            from_ += m
        left += m * k
        right += k * n


cdef int store_factors(Tensor L, Tensor U, Block a, int code) except -1:
    cdef char one[16]
    cdef Tensor left = target(L, code, MF_contiguous), right = target(U, code, MF_contiguous)
    cdef int item = itemsize_table()[code]
    set_element(one, code, 1)
    zero_(left)
    zero_(right)
    if item == 4:
        unpack[uint32_t](a, <uint32_t*>data_of(left, item), <uint32_t*>data_of(right, item), (<uint32_t*>one)[0])
    elif item == 8:
        unpack[uint64_t](a, <uint64_t*>data_of(left, item), <uint64_t*>data_of(right, item), (<uint64_t*>one)[0])
    else:
        unpack[pair](a, <pair*>data_of(left, item), <pair*>data_of(right, item), (<pair*>one)[0])
    finish_tensor(L, left)
    return finish_tensor(U, right)


cdef int store_permutation(Tensor P, Block pivots) except -1:
    """Ones where `pivots`, one vector for each matrix, have taken the rows."""
    cdef char one[16]
    cdef Tensor made
    cdef Block places
    cdef int64_t i, k, m = P.c_sizes[P.c_ndim - 1], count
    cdef const int* row
    cdef int item = itemsize_table()[P.c_dtype]
    if P.c_numel == 0:
        return 0
    made, count = target(P, P.c_dtype, MF_contiguous), P.c_numel // (m * m)
    places = new_block(ST_int32, count, <int>m, 1)
    zero_(made)
    set_element(one, P.c_dtype, 1)
    permutations(pivots, places)
    for i in range(count):
        row = <const int*>matrix(places, i)
        for k in range(m):
            memcpy(data_of(made, item) + (i * m * m + row[k] * m + k) * item, one, item)
    return finish_tensor(P, made)


cdef int lu(Tensor P, Tensor L, Tensor U, Tensor A, bint pivot) except -1:
    """P @ L @ U."""
    cdef Block a, p
    check_pivoted(pivot)
    if A.c_numel == 0:
        return fill_identity(P)
    check_kind(A)
    a = blocks(A)
    p = new_block(ST_int32, a.count, min(a.rows, a.columns), 1)
    getrf(a, p, new_info(A))
    store_factors(L, U, a, A.c_dtype)
    return store_permutation(P, p)


cdef int check_count(Tensor LU_data, Tensor LU_pivots) except -1:
    cdef int64_t m = LU_data.c_sizes[LU_data.c_ndim - 2], n = LU_data.c_sizes[LU_data.c_ndim - 1]
    if LU_pivots.c_ndim == 0 or not min(m, n) <= LU_pivots.c_sizes[LU_pivots.c_ndim - 1] <= m or (
            LU_data.c_numel and LU_pivots.c_numel * m * n != LU_data.c_numel * LU_pivots.c_sizes[LU_pivots.c_ndim - 1]):
        raise refused(f"expected a vector of LU_pivots for each matrix of {list(LU_data.shape)}, got {list(LU_pivots.shape)}")
    return 0


cdef int check_places(Block pivots, int64_t rows) except -1:
    """LAPACK counts rows from 1."""
    cdef Py_ssize_t i
    cdef int k
    cdef const int* row
    for i in range(pivots.count):
        row = <const int*>matrix(pivots, i)
        for k in range(pivots.rows):
            if not 1 <= row[k] <= rows:
                raise refused(f"expected LU_pivots between 1 and {rows}, got {row[k]}")
    return 0


cdef int lu_unpack(Tensor P, Tensor L, Tensor U, Tensor LU_data, Tensor LU_pivots, bint unpack_data,
                   bint unpack_pivots) except -1:
    """The same from what `lu_factor` gives."""
    cdef Block pivots = None
    if unpack_pivots:
        check_count(LU_data, LU_pivots)
        if LU_pivots.c_numel:
            pivots = read_vectors(LU_pivots, ST_int32)
            check_places(pivots, LU_data.c_sizes[LU_data.c_ndim - 2])
    if unpack_data and LU_data.c_numel:
        store_factors(L, U, read(LU_data), LU_data.c_dtype)
    if not unpack_pivots:
        return 0
    return fill_identity(P) if pivots is None else store_permutation(P, pivots)


# ---- orthogonal --------------------------------------------------------------------------------

cdef Block reflectors(Block a, int code):
    """QR factors in place of blocks -> the factors of their reflectors."""
    cdef Block tau = new_block(code, a.count, min(a.rows, a.columns), 1)
    factor_qr(a, tau)
    return tau


cdef Block columns_of(Block a, Tensor out, int code, bint triangle):
    """The first columns of `a`, as many rows and columns as `out` has; others are 0.

    `triangle`: what is below the diagonal is 0, too.
    """
    cdef Block b = blank(out, code)
    cdef size_t item = width(a.kind)
    cdef Py_ssize_t i
    cdef int c
    memset(b.data, 0, b.count * b.step)
    for i in range(b.count):
        for c in range(min(a.columns, b.columns)):
            memcpy(matrix(b, i) + <size_t>c * b.rows * item, matrix(a, i) + <size_t>c * a.rows * item,
                   (min(c + 1, b.rows) if triangle else min(a.rows, b.rows)) * item)
    return b


cdef int qr(Tensor Q, Tensor R, Tensor A, object mode) except -1:
    """Columns at right angles times an upper triangle; Q has none with mode "r"."""
    cdef Block a, tau, q
    check_kind(A)
    if A.c_numel == 0:
        fill_values(R, 0)
        return 0 if mode == "r" else fill_identity(Q)
    a = blocks(A)
    tau = reflectors(a, A.c_dtype)
    finish(R, columns_of(a, R, A.c_dtype, True))
    if mode == "r":
        return 0
    q = columns_of(a, Q, A.c_dtype, False)
    orgqr(q, tau)
    return finish(Q, q)


cdef int householder_product(Tensor out, Tensor input, Tensor tau) except -1:
    """The first columns of the product of reflectors."""
    cdef Block a
    if input.c_numel == 0:
        return 0
    check_kind(input)
    if tau.c_numel == 0:
        return fill_identity(out)
    a = work(out, input)
    orgqr(a, read_vectors(tau, input.c_dtype))
    return finish(out, a)


cdef int ormqr(Tensor out, Tensor self, Tensor input2, Tensor input3, bint left, bint transpose) except -1:
    """input3 times the product of the reflectors of self and input2."""
    cdef Block c
    if input3.c_numel == 0:
        return 0
    check_kind(self)
    if input2.c_numel == 0:
        return copy_values(out, input3)
    c = work(out, input3)
    multiply_reflectors(blocks(self), read_vectors(input2, self.c_dtype), c, left, transpose)
    return finish(out, c)


def geqrf(Tensor self not None):
    """QR factors as LAPACK has them: reflectors below the diagonal, and their factors."""
    cdef int64_t sizes[MAX_DIMS]
    cdef int64_t strides[MAX_DIMS]
    cdef Tensor a, tau
    cdef Block b
    cdef int d, n = self.c_ndim
    check_matrix("self", self)
    check_kind(self)
    memcpy(sizes, self.c_sizes, n * sizeof(int64_t))
    strides[n - 2], strides[n - 1] = 1, max(sizes[n - 2], 1)
    for d in range(n - 3, -1, -1):
        strides[d] = strides[d + 1] * max(sizes[d + 1], 1) if d < n - 3 else max(sizes[n - 1], 1) * max(sizes[n - 2], 1)
    a = new_empty(self.c_dtype, DEV_CPU, -1, n, sizes, strides)
    sizes[n - 2] = min(sizes[n - 2], sizes[n - 1])
    tau = new_empty(self.c_dtype, DEV_CPU, -1, n - 1, sizes, NULL)
    if self.c_numel:
        b = work(a, self)
        factor_qr(b, vectors_of(tau, self.c_dtype))
        finish(a, b)
    return a, tau


def geqrf_out(Tensor self not None, *, Tensor a not None, Tensor tau not None):
    """The same into tensors that are given."""
    made = geqrf(self)
    for out, result in zip((a, tau), made):
        if not can_cast(result.dtype, out.dtype):
            raise refused(f"results of {result.dtype} cannot be cast to {out.dtype}")
    *batch, m, n = made[0].shape
    if not a.c_numel and a.shape != made[0].shape:
        ops.aten.transpose_(ops.aten.resize_(a, [*batch, n, m]), -2, -1)
    resize_out(a, made[0].shape)
    resize_out(tau, made[1].shape)
    for out, result in zip((a, tau), made):
        ops.aten.copy_(out, result)
    return a, tau


# ---- eigenvalues and singular values -----------------------------------------------------------

cdef int eigh(Tensor values, Tensor vectors, Tensor A, object UPLO, bint compute_v) except -1:
    """Of Hermitian matrices, in ascending order; one triangle is read."""
    cdef Block a, w, state
    if A.c_numel == 0:
        return 0
    check_kind(A)
    a, state = work(vectors, A) if compute_v else blocks(A), new_info(A)
    w = vectors_of(values, real_of(A.c_dtype))
    syevd(a, w, UPLO == "U" or UPLO == "u", compute_v, state)
    raise_info(state, "linalg.eigh", A)
    finish(values, w)
    return finish(vectors, a) if compute_v else 0


cdef int check_finite(Block a) except -1:
    cdef Py_ssize_t i, n = a.count * a.rows * a.columns
    cdef bint good = True
    if a.kind >= COMPLEX:
        n *= 2
    for i in range(n):
        good = good and (isfinite((<float*>a.data)[i]) if a.kind == SINGLE or a.kind == COMPLEX
                         else isfinite((<double*>a.data)[i]))
    if not good:
        raise refused("expected self to be finite, it has infinities or NaNs")
    return 0


cdef inline double real_at(Block b, Py_ssize_t i) noexcept nogil:
    return (<float*>b.data)[i] if b.kind == SINGLE else (<double*>b.data)[i]


cdef inline void set_pair(Block b, Py_ssize_t i, double re, double im) noexcept nogil:
    if b.kind == COMPLEX:
        (<float*>b.data)[2 * i], (<float*>b.data)[2 * i + 1] = <float>re, <float>im
    else:
        (<double*>b.data)[2 * i], (<double*>b.data)[2 * i + 1] = re, im


cdef void join_pairs(Block wi, Block from_, Block to) noexcept nogil:
    """Vectors of real matrices: those of a pair of conjugate values are its real and imaginary parts."""
    cdef Py_ssize_t i, column, n = to.rows, r
    cdef double re, im
    for i in range(to.count):
        column = 0
        while column < n:
            for r in range(n):
                re = real_at(from_, (i * n + column) * n + r)
                if real_at(wi, i * n + column) > 0 and column + 1 < n:
                    im = real_at(from_, (i * n + column + 1) * n + r)
                    set_pair(to, (i * n + column) * n + r, re, im)
                    set_pair(to, (i * n + column + 1) * n + r, re, -im)
                else:
                    set_pair(to, (i * n + column) * n + r, re, 0)
            column += 2 if real_at(wi, i * n + column) > 0 else 1


cdef int general(Tensor values, Tensor vectors, Tensor self) except -1:
    """Eigenvalues and, unless `vectors` is None, vectors, all complex."""
    cdef Block a, state, w, wi, found, v, to = None
    cdef int code, n
    cdef Py_ssize_t i
    if self.c_numel == 0:
        return 0
    check_kind(self)
    code = complex_of(self.c_dtype)
    a, state, found = blocks(self), new_info(self), vectors_of(values, code)
    n = a.rows
    check_finite(a)
    if vectors is not None:
        to = blank(vectors, code)
    if is_complex_code(self.c_dtype):
        geev(a, found, None, to, state)
        raise_info(state, "torch.linalg.eig", self)
    else:
        w, wi = new_block(self.c_dtype, a.count, n, 1), new_block(self.c_dtype, a.count, n, 1)
        v = None if to is None else new_block(self.c_dtype, a.count, n, n)
        geev(a, w, wi, v, state)
        raise_info(state, "torch.linalg.eig", self)
        for i in range(a.count * n):
            set_pair(found, i, real_at(w, i), real_at(wi, i))
        if to is not None:
            join_pairs(wi, v, to)
    finish(values, found)
    return 0 if to is None else finish(vectors, to)


cdef int eigvals(Tensor out, Tensor self) except -1:
    """Eigenvalues of general matrices."""
    return general(out, None, self)


cdef int eig(Tensor values, Tensor vectors, Tensor self) except -1:
    """The same with vectors."""
    return general(values, vectors, self)


cdef int svd(Tensor U, Tensor S, Tensor Vh, Tensor A, bint full_matrices, bint compute_uv, object driver) except -1:
    """Singular values in descending order and, if wanted, vectors: U @ diag(S) @ Vh."""
    cdef Block a, s, state, u = None, vh = None
    if driver is not None:
        raise refused("keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend")
    if A.c_numel == 0:
        if compute_uv:
            fill_identity(U)
            fill_identity(Vh)
        return 0
    check_kind(A)
    a, state, s = blocks(A), new_info(A), vectors_of(S, real_of(A.c_dtype))
    if compute_uv:
        u, vh = blank(U, A.c_dtype), blank(Vh, A.c_dtype)
    gesdd(a, s, u, vh, state)
    raise_info(state, "linalg.svd", A)
    finish(S, s)
    if not compute_uv:
        return 0
    finish(U, u)
    return finish(Vh, vh)
