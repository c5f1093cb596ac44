"""Shape functions of special functions: elementwise, of floating-point numbers; others count as the default dtype.

The rules are those of `elementwise`; which dtypes have a kernel on the CPU is what a formula names.
"""
from dispatch._C.errors cimport refused
from dispatch.kernels.meta.elementwise cimport binary as of_two, unary as of_one


cdef int unary(Spec* s, Tensor self) except -1:
    return of_one.float_op(s, self)


cdef int binary(Spec* s, Tensor self, Tensor other) except -1:
    return of_two.float_op(s, self, other)


cdef int polygamma(Spec* s, int64_t n, Tensor self) except -1:
    if n < 0:
        raise refused(f"expected n to be 0 or more, got {n}")
    return of_one.float_op(s, self)
