from libc.stdint cimport int64_t

from dispatch._C.tensor cimport Tensor
from dispatch._C.values cimport IntArray

cdef object echo(Tensor self, Tensor other, list xs, int64_t i, double d, bint b, IntArray n,
                 IntArray s, object c, object t, int dtype, int layout, int memory_format,
                 object device)
cdef object fail(int64_t n)
