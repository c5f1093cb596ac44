"""Shape functions of Fourier transforms."""
from libc.stdint cimport int64_t

from dispatch._C.structured cimport Spec
from dispatch._C.tensor cimport Tensor
from dispatch._C.values cimport IntArray

cdef int c2c(Spec* s, Tensor self, IntArray dim, int64_t normalization, bint forward) except -1
cdef int r2c(Spec* s, Tensor self, IntArray dim, int64_t normalization, bint onesided) except -1
cdef int c2r(Spec* s, Tensor self, IntArray dim, int64_t normalization, int64_t last_dim_size) except -1

# complex32 for float16, and so on, and back; ST_NONE: there is none.
cdef int complex_of(int code) noexcept nogil
cdef int real_of(int code) noexcept nogil
# The parts of a complex tensor are of one dtype that has a complex one.
cdef int check_pair(Tensor first, Tensor second) except -1
