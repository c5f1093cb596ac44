"""Bodies: one in Cython, one in Python."""
from dispatch._C.tensor cimport Tensor, get_numpy


cdef int blend(Tensor out, Tensor self, Tensor other, object alpha) except -1:
    get_numpy(out)[...] = get_numpy(self) + alpha * get_numpy(other)
    return 0


def split_in_python(first, second, self):
    get_numpy(first)[...] = get_numpy(self)
    get_numpy(second)[...] = -get_numpy(self)
