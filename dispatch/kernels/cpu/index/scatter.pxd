"""CPU bodies of gather and scatter: an index for each element, along a dimension."""
from libc.stdint cimport int64_t

from dispatch._C.tensor cimport Tensor

cdef int gather(Tensor out, Tensor self, int64_t dim, Tensor index, bint sparse_grad, const int64_t* handed) except -1
cdef int scatter(Tensor out, Tensor self, int64_t dim, Tensor index, Tensor src, const int64_t* handed) except -1
cdef int scatter_value(Tensor out, Tensor self, int64_t dim, Tensor index, object value, const int64_t* handed) except -1
cdef int scatter_add(Tensor out, Tensor self, int64_t dim, Tensor index, Tensor src, const int64_t* handed) except -1
cdef int scatter_reduce(Tensor out, Tensor self, int64_t dim, Tensor index, Tensor src, object reduce, bint include_self,
                        const int64_t* handed) except -1
cdef int scatter_combine(Tensor out, Tensor self, int64_t dim, Tensor index, Tensor src, object reduce,
                         const int64_t* handed) except -1
cdef int scatter_combine_value(Tensor out, Tensor self, int64_t dim, Tensor index, object value, object reduce,
                               const int64_t* handed) except -1

# ---- for other bodies
# float32 for the 16-bit floats, in which sums are made and rounded once; else the dtype itself.
cdef int wide_code(int code) noexcept
# The tensor in another dtype, contiguous; itself where it has it.
cdef Tensor in_dtype(Tensor t, int code)
# What a reduction starts from where self is left out.
cdef object identity(str reduce, int code)
