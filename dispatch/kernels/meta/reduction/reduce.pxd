"""Shape functions of reductions.

`dim`: a list of ints, or None; None and an empty list mean all dimensions. A function of this name
in the YAML is called by the structured kernels of all variants of its group. Each hands over which
dimensions go: how many, or ALL_DIMS, then the dimensions, wrapped.
"""
from libc.stdint cimport int64_t

from dispatch._C.tensor cimport Tensor
from dispatch._C.values cimport IntArray
from dispatch._C.structured cimport Spec

cdef enum:
    ALL_DIMS = -1

# Sizes, dtype and cast rule (CAST_*) of a reduction over `n` wrapped dims (0: all of them).
cdef int fill_reduction(Spec* s, Tensor self, const int64_t* dims, int n, bint keepdim, int code,
                        int cast) noexcept

# RuntimeError: no floating dtype; an order without a value for no elements (`given`: the dims as they came).
cdef int check_moment_input(Tensor self) except -1
cdef int check_norm_extent(Tensor self, object ord, object given, const int64_t* dims, int n) except -1

cdef int sum(Spec* s, Tensor self, int dtype) except -1
cdef int sum_dim(Spec* s, Tensor self, object dim, bint keepdim, int dtype) except -1
cdef int prod_dim(Spec* s, Tensor self, int64_t dim, bint keepdim, int dtype) except -1
cdef int mean_dim(Spec* s, Tensor self, object dim, bint keepdim, int dtype) except -1
cdef int amax(Spec* s, Tensor self, IntArray dim, bint keepdim) except -1
cdef int any_all(Spec* s, Tensor self) except -1
cdef int any_dim(Spec* s, Tensor self, int64_t dim, bint keepdim) except -1
cdef int any_dims(Spec* s, Tensor self, object dim, bint keepdim) except -1
cdef int argmax(Spec* s, Tensor self, object dim, bint keepdim) except -1
cdef int max(Spec* s, Tensor self) except -1
cdef int max_dim(Spec* s, Tensor self, int64_t dim, bint keepdim) except -1
cdef int var(Spec* s, Tensor self, object dim, object correction, bint keepdim) except -1
cdef int var_mean(Spec* s, Tensor self, object dim, object correction, bint keepdim) except -1
cdef int vector_norm(Spec* s, Tensor self, object ord, object dim, bint keepdim,
                     int dtype) except -1
cdef int histc(Spec* s, Tensor self, int64_t bins, object min, object max) except -1
cdef int aminmax(Spec* s, Tensor self, object dim, bint keepdim) except -1
cdef int count_nonzero(Spec* s, Tensor self, IntArray dim) except -1
cdef int norm(Spec* s, Tensor self, object p, IntArray dim, bint keepdim) except -1
cdef int norm_dtype(Spec* s, Tensor self, object p, IntArray dim, bint keepdim, int dtype) except -1
cdef int hash_tensor(Spec* s, Tensor self, IntArray dim, bint keepdim, int64_t mode) except -1
