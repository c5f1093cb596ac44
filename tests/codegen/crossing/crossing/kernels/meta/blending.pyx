"""Shape functions: the outputs are like the first tensor."""
from dispatch._C.errors cimport refused
from dispatch._C.structured cimport Spec
from dispatch._C.tensor cimport Tensor


cdef int like(Spec* out, Tensor t) except -1:
    cdef int i
    out.ndim, out.dtype = t.c_ndim, t.c_dtype
    for i in range(t.c_ndim):
        out.sizes[i] = t.c_sizes[i]
    return 0


cdef int blend(Spec* out, Tensor self, Tensor other, object alpha) except -1:
    if other.c_ndim and other.c_numel != self.c_numel:
        raise refused("expected 'other' to have as many elements as 'self'")
    out.handed[0], out.handed[1] = self.c_numel, -1
    return like(out, self)


cdef int split(Spec* out, Tensor self) except -1:
    like(&out[0], self)
    return like(&out[1], self)
