"""Operators of three operands that are written with other operators.

Called by the dispatcher; what they call goes through the dispatcher again, in PyTorch's order.
"""
from cpython.object cimport PyObject

from dispatch._C.dtypes cimport get_dtype, get_layout, new_device
from dispatch._C.tensor cimport Tensor
from dispatch.kernels.composite.callee cimport Callee, callee
from dispatch.kernels.meta cimport rules

cdef Callee SCALAR_TENSOR = callee("scalar_tensor")
cdef Callee TO_DTYPE = callee("to", "dtype")
cdef Callee WHERE = callee("where", "self")


cdef object common_dtype(object a, object b):
    cdef PyObject* items[2]
    items[0], items[1] = <PyObject*>a, <PyObject*>b
    return get_dtype(rules.result_type(items, 2))


cdef object number_like(object number, object dtype, Tensor like):
    """A 0-d tensor with layout and device of `like`."""
    return SCALAR_TENSOR.call((number, dtype, get_layout(like.c_layout),
                               new_device(like.c_devtype, like.c_devindex)))


cdef object converted(Tensor t, object dtype):
    return TO_DTYPE.call((t, dtype))


cdef object where_scalar_self(Tensor condition, object self, Tensor other):
    dtype = common_dtype(self, other)
    number = number_like(self, dtype, other)
    return WHERE.call((condition, number, converted(other, dtype)))


cdef object where_scalar_other(Tensor condition, Tensor self, object other):
    dtype = common_dtype(self, other)
    number = number_like(other, dtype, self)
    return WHERE.call((condition, converted(self, dtype), number))


cdef object where_scalar(Tensor condition, object self, object other):
    dtype = common_dtype(self, other)
    second = number_like(other, dtype, condition)
    return WHERE.call((condition, number_like(self, dtype, condition), second))
