"""Shape functions of determinants, inverses and solutions of linear systems.

Solutions are column-major, but for XA = B, which is solved by its transpose.
"""
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport ST_int32, is_integral_code
from dispatch._C.errors cimport refused
from dispatch._C.keys cimport KS_Conjugate
from dispatch._C.size cimport new_size
from dispatch._C.structured cimport COPIED, OVERLAP_ANY, RESTRIDE, Spec
from dispatch._C.symbolic cimport ne
from dispatch._C.tensor cimport Tensor
from dispatch.kernels.meta cimport rules
from dispatch.kernels.meta.linalg.checks cimport (
    UNSTRUCTURED, broadcast_batch, check_floating, check_matrix, check_same_dtype, check_solver, check_solver_sides,
    check_square, is_vector_rhs, real_of, set_columns, set_info, set_sizes,
)
from dispatch.kernels.meta.rules.sizes cimport same_sizes

from dispatch._C.advice import advise_once

cdef enum:
    MAX_DIMS = 64


# ---- determinants and inverses -----------------------------------------------------------------

cdef int set_lu(Spec* s, Tensor A, int flags) except -1:
    """Factors and pivots, in s[0] and s[1]."""
    set_columns(s, A.c_sizes, A.c_ndim, A.c_dtype, flags)
    return set_sizes(s + 1, A.c_sizes, A.c_ndim - 1, ST_int32, flags)


cdef int det(Spec* s, Tensor A) except -1:
    check_square("A", A)
    check_floating("A", A)
    set_sizes(s, A.c_sizes, A.c_ndim - 2, A.c_dtype, 0)
    return set_lu(s + 1, A, 0)


cdef int slogdet(Spec* s, Tensor A) except -1:
    check_square("A", A)
    check_floating("A", A, False)
    set_sizes(s, A.c_sizes, A.c_ndim - 2, A.c_dtype, COPIED)
    set_sizes(s + 1, A.c_sizes, A.c_ndim - 2, real_of(A.c_dtype), COPIED)
    return set_lu(s + 2, A, COPIED)


cdef int inv_ex(Spec* s, Tensor A, bint check_errors) except -1:
    check_square("A", A)
    check_floating("A", A, False)
    set_columns(s, A.c_sizes, A.c_ndim, A.c_dtype, 0)
    return set_info(s + 1, A, 0)


cdef int cholesky_inverse(Spec* s, Tensor self, bint upper) except -1:
    check_square("self", self)
    return set_columns(s, self.c_sizes, self.c_ndim, self.c_dtype, UNSTRUCTURED)


# ---- solutions ---------------------------------------------------------------------------------

cdef int set_solution(Spec* s, Tensor A, const int64_t* b, int b_ndim, int code, bint left, int flags) except -1:
    """B's sizes with all batches, by columns unless A stands on the right."""
    cdef int64_t sizes[MAX_DIMS]
    cdef int n = broadcast_batch(sizes, NULL, b, b_ndim, A.c_sizes, A.c_ndim)
    return set_columns(s, sizes, n, code, flags) if left else set_sizes(s, sizes, n, code, flags)


cdef int solve_ex(Spec* s, Tensor A, Tensor B, bint left, bint check_errors) except -1:
    cdef int64_t b[MAX_DIMS + 1]
    cdef bint vector
    cdef int n = B.c_ndim
    check_floating("A", A)
    check_same_dtype("A", A, "B", B)
    vector = is_vector_rhs(A, B)
    memcpy(b, B.c_sizes, n * sizeof(int64_t))
    if vector:
        b[n] = 1
        n += 1
    check_solver(A, b, n, left, "A")
    if vector and not left:
        raise refused("expected matrices B with left=False, got vectors")
    # PyTorch's Meta kernel changes outputs that fit, too.
    set_solution(s, A, b, n, B.c_dtype, left, 0 if rules.is_eager(A) else RESTRIDE)
    if vector:
        memcpy(b, s.sizes, s.ndim * sizeof(int64_t))
        set_columns(s, b, s.ndim - 1, B.c_dtype, s.cast)
    set_lu(s + 1, A, 0)
    return set_info(s + 3, A, 0)


cdef int check_pivots(Tensor factors, Tensor pivots) except -1:
    if pivots.c_ndim != factors.c_ndim - 1 or not same_sizes(pivots.c_sizes, factors.c_sizes, pivots.c_ndim):
        raise refused(f"expected pivots of shape {list(new_size(factors.c_ndim - 1, factors.c_sizes))}, got shape "
                      f"{list(new_size(pivots.c_ndim, pivots.c_sizes))}")
    return 0


cdef int lu_solve(Spec* s, Tensor LU, Tensor pivots, Tensor B, bint left, bint adjoint) except -1:
    check_floating("LU", LU)
    check_same_dtype("LU", LU, "B", B)
    if pivots.c_dtype != ST_int32:
        raise refused(f"pivots should be a Tensor of scalar type torch.int32, got {dtypes.get_dtype(pivots.c_dtype)!r}")
    check_solver(LU, B.c_sizes, B.c_ndim, left, "LU")
    check_pivots(LU, pivots)
    return set_solution(s, LU, B.c_sizes, B.c_ndim, B.c_dtype, left, COPIED)


cdef int ldl_solve(Spec* s, Tensor LD, Tensor pivots, Tensor B, bint hermitian) except -1:
    check_square("LD", LD)
    check_floating("LD", LD)
    check_solver_sides(LD, B)
    check_pivots(LD, pivots)
    if not is_integral_code(pivots.c_dtype, False):
        raise refused(f"expected pivots to be integers, got {dtypes.get_dtype(pivots.c_dtype)!r}")
    return set_solution(s, LD, B.c_sizes, B.c_ndim, B.c_dtype, True, COPIED)


cdef bint is_conjugate_by_columns(Tensor t) except -1:
    cdef int64_t sizes[MAX_DIMS]
    cdef int64_t strides[MAX_DIMS]
    cdef int n = t.c_ndim
    if not t.c_keys & KS_Conjugate & ~<uint64_t>0xFFFF:
        return False
    memcpy(sizes, t.c_sizes, n * sizeof(int64_t))
    memcpy(strides, t.c_strides, n * sizeof(int64_t))
    sizes[n - 1], sizes[n - 2] = sizes[n - 2], sizes[n - 1]
    strides[n - 1], strides[n - 2] = strides[n - 2], strides[n - 1]
    return rules.is_contiguous(sizes, strides, n)


cdef int solve_triangular(Spec* s, Tensor self, Tensor B, bint upper, bint left, bint unitriangular) except -1:
    check_solver(self, B.c_sizes, B.c_ndim, left, "self")
    return set_solution(s, self, B.c_sizes, B.c_ndim, self.c_dtype, not is_conjugate_by_columns(self), OVERLAP_ANY)


cdef int triangular_solve(Spec* s, Tensor self, Tensor A, bint upper, bint transpose, bint unitriangular) except -1:
    cdef int64_t sizes[MAX_DIMS]
    cdef int n
    if rules.is_eager(self):
        advise_once("triangular_solve", "deprecated, call linalg.solve_triangular")
    check_matrix("self", self)
    check_matrix("A", A)
    check_solver_sides(A, self)
    set_solution(s, A, self.c_sizes, self.c_ndim, self.c_dtype, True, COPIED)
    n = broadcast_batch(sizes, NULL, A.c_sizes, A.c_ndim, self.c_sizes, self.c_ndim)
    return set_columns(s + 1, sizes, n, A.c_dtype, COPIED)


cdef int cholesky_solve_helper(Spec* s, Tensor self, Tensor A, bint upper) except -1:
    cdef int n = self.c_ndim
    if A.c_dtype != self.c_dtype:
        raise refused(f"expected A and self of one dtype, got {dtypes.get_dtype(A.c_dtype)!r} and "
                      f"{dtypes.get_dtype(self.c_dtype)!r}")
    if n < 2 or A.c_ndim != n or not same_sizes(A.c_sizes, self.c_sizes, n - 1) \
            or ne(A.c_sizes[n - 1], self.c_sizes[n - 2]):
        raise refused(f"A of {list(new_size(A.c_ndim, A.c_sizes))} does not fit self of {list(new_size(n, self.c_sizes))}")
    return set_columns(s, self.c_sizes, n, self.c_dtype, 0)
