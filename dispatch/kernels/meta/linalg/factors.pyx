"""Shape functions of factorisations: triangular, orthogonal, eigenvalues, singular values.

Factors are batches of column-major matrices, as LAPACK writes them; `linalg_lu`, `lu_unpack` and
what has no matrices are row-major.
"""
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport ST_int32
from dispatch._C.errors cimport refused
from dispatch._C.size cimport new_size
from dispatch._C.structured cimport COPIED, Spec
from dispatch._C.symbolic cimport eq, gt, lt, ne, size_object, smaller
from dispatch._C.tensor cimport Tensor
from dispatch.kernels.meta.rules cimport is_eager
from dispatch.kernels.meta.linalg.checks cimport (
    UNSTRUCTURED, check_floating, check_matrix, check_same_dtype, check_square, complex_of, real_of, set_columns, set_info,
    set_none, set_sizes,
)
from dispatch.kernels.meta.rules.sizes cimport is_eager, same_sizes

from dispatch._C.advice import advise_once

cdef enum:
    MAX_DIMS = 64


cdef object shape_of(Tensor t):
    return list(new_size(t.c_ndim, t.c_sizes))


cdef inline int64_t size_of(Tensor t, int back) noexcept:
    """The last size, or the one before it: `back` is 1 or 2."""
    return t.c_sizes[t.c_ndim - back]


cdef int sizes_with(int64_t* out, Tensor t, int64_t m, int64_t n) noexcept:
    """t's batches of matrices of m rows and n columns."""
    memcpy(out, t.c_sizes, (t.c_ndim - 2) * sizeof(int64_t))
    out[t.c_ndim - 2], out[t.c_ndim - 1] = m, n
    return t.c_ndim


# ---- triangular --------------------------------------------------------------------------------

cdef int cholesky(Spec* s, Tensor self, bint upper) except -1:
    """Empty ones keep the row-major order."""
    cdef int d
    if is_eager(self):
        advise_once("cholesky", "deprecated, call linalg.cholesky")
    for d in range(self.c_ndim):
        if eq(self.c_sizes[d], 0):
            return set_sizes(s, self.c_sizes, self.c_ndim, self.c_dtype, UNSTRUCTURED)
    check_square("self", self)
    return set_columns(s, self.c_sizes, self.c_ndim, self.c_dtype, UNSTRUCTURED)


cdef int cholesky_ex(Spec* s, Tensor self, bint upper, bint check_errors) except -1:
    check_square("self", self)
    check_floating("self", self)
    set_columns(s, self.c_sizes, self.c_ndim, self.c_dtype, 0)
    return set_info(s + 1, self, 0)


cdef int ldl_factor_ex(Spec* s, Tensor self, bint hermitian, bint check_errors) except -1:
    check_square("self", self)
    check_floating("self", self)
    set_columns(s, self.c_sizes, self.c_ndim, self.c_dtype, COPIED)
    set_sizes(s + 1, self.c_sizes, self.c_ndim - 1, ST_int32, COPIED)
    return set_info(s + 2, self, COPIED)


cdef int lu_factor_ex(Spec* s, Tensor A, bint pivot, bint check_errors) except -1:
    cdef int64_t sizes[MAX_DIMS]
    check_matrix("A", A)
    set_columns(s, A.c_sizes, A.c_ndim, A.c_dtype, COPIED)
    sizes_with(sizes, A, smaller(size_of(A, 2), size_of(A, 1)), 1)
    set_sizes(s + 1, sizes, A.c_ndim - 1, ST_int32, COPIED)
    return set_info(s + 2, A, COPIED)


cdef int set_unpacked(Spec* s, Tensor A, bint permuted, bint factors) except -1:
    """P, L and U; one that is not asked for has no elements."""
    cdef int64_t sizes[MAX_DIMS]
    cdef int64_t m = size_of(A, 2), n = size_of(A, 1)
    if permuted:
        set_sizes(s, sizes, sizes_with(sizes, A, m, m), A.c_dtype, COPIED)
    else:
        set_none(s, A.c_dtype, COPIED)
    if not factors:
        set_none(s + 1, A.c_dtype, COPIED)
        return set_none(s + 2, A.c_dtype, COPIED)
    set_sizes(s + 1, sizes, sizes_with(sizes, A, m, smaller(m, n)), A.c_dtype, COPIED)
    return set_sizes(s + 2, sizes, sizes_with(sizes, A, smaller(m, n), n), A.c_dtype, COPIED)


cdef int lu(Spec* s, Tensor A, bint pivot) except -1:
    check_matrix("A", A)
    return set_unpacked(s, A, pivot, True)


cdef int lu_unpack(Spec* s, Tensor LU_data, Tensor LU_pivots, bint unpack_data, bint unpack_pivots) except -1:
    check_matrix("LU_data", LU_data)
    if unpack_pivots and LU_pivots.c_dtype != ST_int32:
        raise refused("LU_pivots is expected to be a contiguous tensor of torch.int32 dtype, got "
                      f"{dtypes.get_dtype(LU_pivots.c_dtype)!r}")
    return set_unpacked(s, LU_data, unpack_pivots, unpack_data)


# ---- orthogonal --------------------------------------------------------------------------------

cdef int qr(Spec* s, Tensor A, object mode) except -1:
    cdef int64_t sizes[MAX_DIMS]
    cdef int64_t m, n, k
    check_matrix("A", A)
    check_floating("A", A)
    if mode not in ("reduced", "complete", "r"):
        raise refused(f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'")
    m, n = size_of(A, 2), size_of(A, 1)
    k = m if mode == "complete" else smaller(m, n)
    if mode == "r":
        set_none(s, A.c_dtype, COPIED)
    else:
        set_columns(s, sizes, sizes_with(sizes, A, m, k), A.c_dtype, COPIED)
    return set_columns(s + 1, sizes, sizes_with(sizes, A, k, n), A.c_dtype, COPIED)


cdef int check_reflectors(Tensor self, Tensor tau) except -1:
    if self.c_ndim - tau.c_ndim != 1:
        raise refused(f"Expected tau to have one dimension less than input, got {shape_of(tau)} for {shape_of(self)}")
    if not same_sizes(self.c_sizes, tau.c_sizes, self.c_ndim - 2):
        raise refused("Expected batch dimensions of tau to be equal to input.shape[:-2], "
                      f"got {shape_of(tau)} for {shape_of(self)}")
    return check_same_dtype("the reflectors", self, "their factors", tau)


cdef int check_vector(Tensor tau) except -1:
    if tau.c_ndim == 0:
        raise refused("expected a vector of reflectors' factors, got a tensor without dimensions", IndexError)
    return 0


cdef int householder_product(Spec* s, Tensor input, Tensor tau) except -1:
    check_matrix("input", input)
    check_vector(tau)
    if lt(size_of(input, 2), size_of(input, 1)):
        raise refused("input.shape[-2] must be greater than or equal to input.shape[-1], "
                      f"got {shape_of(input)}")
    if lt(size_of(input, 1), size_of(tau, 1)):
        raise refused("input.shape[-1] must be greater than or equal to tau.shape[-1], "
                      f"got {shape_of(input)} and {shape_of(tau)}")
    check_reflectors(input, tau)
    return set_columns(s, input.c_sizes, input.c_ndim, input.c_dtype, UNSTRUCTURED)


cdef int ormqr(Spec* s, Tensor self, Tensor input2, Tensor input3, bint left, bint transpose) except -1:
    cdef int64_t side, count
    check_matrix("self", self)
    check_matrix("input3", input3)
    check_vector(input2)
    side, count = size_of(input3, 2 if left else 1), size_of(input2, 1)
    if lt(side, count) or ne(side, size_of(self, 2)) or gt(count, size_of(self, 1)):
        raise refused(f"tau.shape[-1] must be equal to min(other.shape[-2], input.shape[-1]): {size_object(count)} reflectors of "
                      f"{shape_of(self)} for {shape_of(input3)}")
    if self.c_ndim != input3.c_ndim or not same_sizes(self.c_sizes, input3.c_sizes, self.c_ndim - 2):
        raise refused(f"expected self and input3 of one batch, got {shape_of(self)} and {shape_of(input3)}")
    check_reflectors(self, input2)
    check_same_dtype("self", self, "input3", input3)
    return set_columns(s, input3.c_sizes, input3.c_ndim, input3.c_dtype, 0 if is_eager(self) else UNSTRUCTURED)


# ---- eigenvalues and singular values -----------------------------------------------------------

cdef int eigh(Spec* s, Tensor A, object UPLO, bint compute_v) except -1:
    check_square("A", A)
    if UPLO not in ("U", "L", "u", "l"):
        raise refused(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    set_sizes(s, A.c_sizes, A.c_ndim - 1, real_of(A.c_dtype), COPIED)
    return set_columns(s + 1, A.c_sizes, A.c_ndim, A.c_dtype, COPIED) if compute_v else set_none(s + 1, A.c_dtype, COPIED)


cdef int eigvals(Spec* s, Tensor self) except -1:
    check_square("self", self)
    return set_sizes(s, self.c_sizes, self.c_ndim - 1, complex_of(self.c_dtype), UNSTRUCTURED)


cdef int eig(Spec* s, Tensor self) except -1:
    eigvals(s, self)
    return set_columns(s + 1, self.c_sizes, self.c_ndim, complex_of(self.c_dtype), UNSTRUCTURED)


cdef int svd(Spec* s, Tensor A, bint full_matrices, bint compute_uv, object driver) except -1:
    cdef int64_t sizes[MAX_DIMS]
    cdef int64_t m, n, k
    check_matrix("A", A)
    check_floating("A", A)
    m, n = size_of(A, 2), size_of(A, 1)
    k = smaller(m, n)
    sizes_with(sizes, A, k, 1)
    set_sizes(s + 1, sizes, A.c_ndim - 1, real_of(A.c_dtype), 0)
    if not compute_uv:
        set_none(s, A.c_dtype, 0)
        return set_none(s + 2, A.c_dtype, 0)
    set_columns(s, sizes, sizes_with(sizes, A, m, m if full_matrices else k), A.c_dtype, 0)
    return set_columns(s + 2, sizes, sizes_with(sizes, A, n if full_matrices else k, n), A.c_dtype, 0)


# ---- functions of matrices ---------------------------------------------------------------------

cdef int matrix_exp(Spec* s, Tensor self) except -1:
    check_square("self", self)
    check_floating("self", self)
    return set_sizes(s, self.c_sizes, self.c_ndim, self.c_dtype, 0)
