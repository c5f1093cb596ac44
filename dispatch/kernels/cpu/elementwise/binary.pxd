"""CPU bodies of elementwise operators of two operands: each fills `out`."""
from dispatch._C.tensor cimport Tensor

cdef int add(Tensor out, Tensor self, Tensor other, object alpha) except -1
cdef int sub(Tensor out, Tensor self, Tensor other, object alpha) except -1
cdef int mul(Tensor out, Tensor self, Tensor other) except -1
cdef int div(Tensor out, Tensor self, Tensor other) except -1
cdef int div_mode(Tensor out, Tensor self, Tensor other, object rounding_mode) except -1
cdef int floor_divide(Tensor out, Tensor self, Tensor other) except -1
cdef int eq(Tensor out, Tensor self, Tensor other) except -1
cdef int ne(Tensor out, Tensor self, Tensor other) except -1
cdef int lt(Tensor out, Tensor self, Tensor other) except -1
cdef int le(Tensor out, Tensor self, Tensor other) except -1
cdef int gt(Tensor out, Tensor self, Tensor other) except -1
cdef int ge(Tensor out, Tensor self, Tensor other) except -1
cdef int eq_scalar(Tensor out, Tensor self, object other) except -1
cdef int ne_scalar(Tensor out, Tensor self, object other) except -1
cdef int lt_scalar(Tensor out, Tensor self, object other) except -1
cdef int le_scalar(Tensor out, Tensor self, object other) except -1
cdef int gt_scalar(Tensor out, Tensor self, object other) except -1
cdef int ge_scalar(Tensor out, Tensor self, object other) except -1
