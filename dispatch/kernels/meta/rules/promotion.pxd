"""Which dtype operands are promoted to.

`PyObject** items` are borrowed operands as they came in a call: tensors, numbers, None (left out).
Codes are c10's.
"""
from cpython.object cimport PyObject

# The dtype that operands are promoted to; ST_NONE: there is no operand.
cdef int result_type(PyObject** items, int n) except -2
# promote_types on codes. RuntimeError when it is not defined.
cdef int promoted(int a, int b) except -1
# What operators compute in that give floats (true division, sqrt): integers and bool count as the
# default dtype.
cdef int float_type(int code) noexcept
# sum, prod, cumsum: `given` unless it is ST_NONE, else int64 for integers and bool.
cdef int sum_type(int code, int given) noexcept
