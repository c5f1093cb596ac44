"""Shape functions of elementwise operators of two operands; each names its rule for the dtype."""
from dispatch._C.tensor cimport Tensor
from dispatch._C.structured cimport Spec

cdef int arithmetic(Spec* s, Tensor self, Tensor other) except -1   # the promoted dtype
cdef int add(Spec* s, Tensor self, Tensor other, object alpha) except -1
cdef int sub(Spec* s, Tensor self, Tensor other, object alpha) except -1
cdef int float_op(Spec* s, Tensor self, Tensor other) except -1   # not floating: the default dtype
cdef int float_by_other(Spec* s, Tensor self, Tensor other) except -1
cdef int xlogy(Spec* s, Tensor self, Tensor other) except -1
cdef int div_mode(Spec* s, Tensor self, Tensor other, object rounding_mode) except -1
cdef int floor_divide(Spec* s, Tensor self, Tensor other) except -1
cdef int extremum(Spec* s, Tensor self, Tensor other) except -1   # maximum, minimum
cdef int bitwise(Spec* s, Tensor self, Tensor other) except -1
cdef int logical(Spec* s, Tensor self, Tensor other) except -1   # bool
cdef int compare(Spec* s, Tensor self, Tensor other) except -1   # bool
cdef int compare_scalar(Spec* s, Tensor self, object other) except -1
cdef int pow(Spec* s, Tensor self, Tensor exponent) except -1
cdef int pow_scalar(Spec* s, Tensor self, object exponent) except -1
cdef int pow_of_scalar(Spec* s, object self, Tensor exponent) except -1
cdef int heaviside(Spec* s, Tensor self, Tensor values) except -1
cdef int numbers(Spec* s, Tensor self, Tensor other) except -1   # no bools on Meta: lcm
cdef int logaddexp(Spec* s, Tensor self, Tensor other) except -1
cdef int logaddexp2(Spec* s, Tensor self, Tensor other) except -1
