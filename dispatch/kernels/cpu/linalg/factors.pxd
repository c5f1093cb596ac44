"""Bodies of factorisations; kernels that are whole have no C face."""
from dispatch._C.tensor cimport Tensor

cdef int cholesky_ex(Tensor L, Tensor info, Tensor self, bint upper, bint check_errors) except -1
cdef int cholesky(Tensor out, Tensor self, bint upper) except -1
cdef int ldl_factor_ex(Tensor LD, Tensor pivots, Tensor info, Tensor self, bint hermitian, bint check_errors) except -1
cdef int lu_factor_ex(Tensor LU, Tensor pivots, Tensor info, Tensor A, bint pivot, bint check_errors) except -1
cdef int lu(Tensor P, Tensor L, Tensor U, Tensor A, bint pivot) except -1
cdef int lu_unpack(Tensor P, Tensor L, Tensor U, Tensor LU_data, Tensor LU_pivots, bint unpack_data,
                   bint unpack_pivots) except -1
cdef int qr(Tensor Q, Tensor R, Tensor A, object mode) except -1
cdef int householder_product(Tensor out, Tensor input, Tensor tau) except -1
cdef int ormqr(Tensor out, Tensor self, Tensor input2, Tensor input3, bint left, bint transpose) except -1
cdef int eigh(Tensor values, Tensor vectors, Tensor A, object UPLO, bint compute_v) except -1
cdef int eigvals(Tensor out, Tensor self) except -1
cdef int eig(Tensor values, Tensor vectors, Tensor self) except -1
cdef int svd(Tensor U, Tensor S, Tensor Vh, Tensor A, bint full_matrices, bint compute_uv, object driver) except -1
