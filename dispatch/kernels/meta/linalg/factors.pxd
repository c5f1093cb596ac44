"""Shape functions of factorisations."""
from dispatch._C.structured cimport Spec
from dispatch._C.tensor cimport Tensor

cdef int cholesky(Spec* s, Tensor self, bint upper) except -1
cdef int cholesky_ex(Spec* s, Tensor self, bint upper, bint check_errors) except -1
cdef int ldl_factor_ex(Spec* s, Tensor self, bint hermitian, bint check_errors) except -1
cdef int lu_factor_ex(Spec* s, Tensor A, bint pivot, bint check_errors) except -1
cdef int lu(Spec* s, Tensor A, bint pivot) except -1
cdef int lu_unpack(Spec* s, Tensor LU_data, Tensor LU_pivots, bint unpack_data, bint unpack_pivots) except -1
cdef int qr(Spec* s, Tensor A, object mode) except -1
cdef int householder_product(Spec* s, Tensor input, Tensor tau) except -1
cdef int ormqr(Spec* s, Tensor self, Tensor input2, Tensor input3, bint left, bint transpose) except -1
cdef int eigh(Spec* s, Tensor A, object UPLO, bint compute_v) except -1
cdef int eigvals(Spec* s, Tensor self) except -1
cdef int eig(Spec* s, Tensor self) except -1
cdef int svd(Spec* s, Tensor A, bint full_matrices, bint compute_uv, object driver) except -1
cdef int matrix_exp(Spec* s, Tensor self) except -1
