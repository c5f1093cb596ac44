"""What matrices must be: checks and strides that linear algebra's shape functions share."""
from libc.stdint cimport int64_t

from dispatch._C.structured cimport Spec
from dispatch._C.tensor cimport Tensor

# RuntimeError names `name`. PyTorch's are in LinearAlgebraUtils.h; their names are in the doc strings.
cpdef int check_matrix(str name, Tensor t) except -1
cpdef int check_square(str name, Tensor t) except -1
cpdef int check_floating(str name, Tensor t, bint narrow=*) except -1
cpdef int check_same_dtype(str a_name, Tensor a, str b_name, Tensor b) except -1
cpdef int check_solver_sides(Tensor a, Tensor b) except -1
cpdef bint is_vector_rhs(Tensor a, Tensor b) except? -1
cdef int check_solver(Tensor a, const int64_t* b_sizes, int b_ndim, bint left, str name) except -1
# Sizes of `a` and `b`, which end in those of matrices, with their batch dimensions broadcast -> how many dimensions.
# Either `out` may be NULL.
cdef int broadcast_batch(int64_t* a_out, int64_t* b_out, const int64_t* a, int a_ndim, const int64_t* b, int b_ndim) except -1

# ---- outputs

# Matrices whose columns are contiguous; `flags` as in Spec.cast.
cdef int set_columns(Spec* s, const int64_t* sizes, int ndim, int dtype, int flags) except -1
cdef int set_sizes(Spec* s, const int64_t* sizes, int ndim, int dtype, int flags) except -1
cdef int set_info(Spec* s, Tensor a, int flags) except -1        # a number for each matrix that says how LAPACK fared
cdef int set_none(Spec* s, int dtype, int flags) except -1       # no elements
cdef int real_of(int code) noexcept nogil                        # the dtype of absolute values (toRealValueType)
cdef int complex_of(int code) except -1                          # the dtype of eigenvalues (toComplexType)

cdef enum:
    UNSTRUCTURED = 1 | 4 | 64        # CAST_SAFE | OVERLAP_ANY | COPIED: of operators that PyTorch has not as structured ones
