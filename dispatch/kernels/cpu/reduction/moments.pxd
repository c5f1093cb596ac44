"""Bodies of variances, deviations and norms on the CPU."""
from libc.stdint cimport int64_t

from dispatch._C.tensor cimport Tensor
from dispatch._C.values cimport IntArray

cdef int var(Tensor out, Tensor self, object dim, object correction, bint keepdim, const int64_t* handed) except -1
cdef int std(Tensor out, Tensor self, object dim, object correction, bint keepdim, const int64_t* handed) except -1
cdef int var_mean(Tensor out, Tensor mean, Tensor self, object dim, object correction, bint keepdim,
                  const int64_t* handed) except -1
cdef int std_mean(Tensor out, Tensor mean, Tensor self, object dim, object correction, bint keepdim,
                  const int64_t* handed) except -1
cdef int linalg_vector_norm(Tensor out, Tensor self, object ord, object dim, bint keepdim, int dtype,
                            const int64_t* handed) except -1
cdef int norm(Tensor out, Tensor self, object p, IntArray dim, bint keepdim, const int64_t* handed) except -1
cdef int norm_dtype(Tensor out, Tensor self, object p, IntArray dim, bint keepdim, int dtype, const int64_t* handed) except -1
