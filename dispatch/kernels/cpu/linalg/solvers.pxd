"""Bodies of determinants, inverses and solutions of linear systems."""
from dispatch._C.tensor cimport Tensor
from dispatch.kernels.cpu.linalg.blocks cimport Block

cdef int det(Tensor result, Tensor LU, Tensor pivots, Tensor A) except -1
cdef int slogdet(Tensor sign, Tensor logabsdet, Tensor LU, Tensor pivots, Tensor A) except -1
cdef int inv_ex(Tensor inverse, Tensor info, Tensor A, bint check_errors) except -1
cdef int cholesky_inverse(Tensor out, Tensor self, bint upper) except -1
cdef int solve_ex(Tensor result, Tensor LU, Tensor pivots, Tensor info, Tensor A, Tensor B, bint left,
                  bint check_errors) except -1
cdef int lu_solve(Tensor out, Tensor LU, Tensor pivots, Tensor B, bint left, bint adjoint) except -1
cdef int ldl_solve(Tensor out, Tensor LD, Tensor pivots, Tensor B, bint hermitian) except -1
cdef int solve_triangular(Tensor out, Tensor self, Tensor B, bint upper, bint left, bint unitriangular) except -1
cdef int triangular_solve(Tensor solution, Tensor cloned_coefficient, Tensor self, Tensor A, bint upper, bint transpose,
                          bint unitriangular) except -1
cdef int cholesky_solve_helper(Tensor out, Tensor self, Tensor A, bint upper) except -1

# ---- for factorisations

# Write LAPACK's numbers; `name`: raise if there is an error among them.
cdef int check_info(Tensor info, Block numbers, str name, Tensor matrix) except -1
# The same for an operator that returns no numbers.
cdef int raise_info(Block numbers, str name, Tensor matrix) except -1
