"""Bodies: one in Cython, which gets how many elements there are, one in Python."""
from libc.stdint cimport int64_t

from dispatch._C.tensor cimport Tensor, get_numpy


cdef int blend(Tensor out, Tensor self, Tensor other, object alpha, const int64_t* handed) except -1:
    if handed[0] != self.c_numel or handed[1] != -1:
        raise AssertionError("expected what the shape function handed over")
    get_numpy(out)[...] = get_numpy(self) + alpha * get_numpy(other)
    return 0


def split_in_python(first, second, self):
    get_numpy(first)[...] = get_numpy(self)
    get_numpy(second)[...] = -get_numpy(self)
