"""Shape functions of determinants, inverses and solutions of linear systems."""
from dispatch._C.structured cimport Spec
from dispatch._C.tensor cimport Tensor

cdef int det(Spec* s, Tensor A) except -1
cdef int slogdet(Spec* s, Tensor A) except -1
cdef int inv_ex(Spec* s, Tensor A, bint check_errors) except -1
cdef int cholesky_inverse(Spec* s, Tensor self, bint upper) except -1
cdef int solve_ex(Spec* s, Tensor A, Tensor B, bint left, bint check_errors) except -1
cdef int lu_solve(Spec* s, Tensor LU, Tensor pivots, Tensor B, bint left, bint adjoint) except -1
cdef int ldl_solve(Spec* s, Tensor LD, Tensor pivots, Tensor B, bint hermitian) except -1
cdef int solve_triangular(Spec* s, Tensor self, Tensor B, bint upper, bint left, bint unitriangular) except -1
cdef int triangular_solve(Spec* s, Tensor self, Tensor A, bint upper, bint transpose, bint unitriangular) except -1
cdef int cholesky_solve_helper(Spec* s, Tensor self, Tensor A, bint upper) except -1
