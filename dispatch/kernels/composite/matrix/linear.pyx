"""linear in terms of t, addmm, matmul and add, as at::linear decomposes it.

Called for the composite operator; calls operators through the dispatcher. A bias that is a row is
one addmm over the rows of a contiguous input; any other goes through matmul and is added.
"""
from cpython.object cimport PyObject
from libc.stdint cimport int64_t

from dispatch._C.dtypes cimport MF_contiguous
from dispatch._C.errors cimport refused
from dispatch._C.symbolic cimport mul, size_object
from dispatch._C.tensor cimport Tensor, is_contiguous_as
from dispatch.kernels.composite.callee cimport Callee, callee, numbers
from dispatch.kernels.composite.matrix.matmul cimport call_array, call_one, call_two, differ, is_subclass_like
from dispatch.kernels.composite.matrix.matmul cimport matmul as matmul_of

cdef Callee ADD = callee("add", "Tensor")
cdef Callee ADD_ = callee("add_", "Tensor")
cdef Callee ADDMM = callee("addmm")
cdef Callee ADDMM_OUT = callee("addmm", "out")
cdef Callee MATMUL_OUT = callee("matmul", "out")
cdef Callee SQUEEZE = callee("squeeze")
cdef Callee T = callee("t")
cdef Callee VIEW = callee("view")


cdef inline object call_addmm(object bias, object rows, object matrix):
    cdef PyObject* args[8]
    args[0], args[1], args[2] = <PyObject*>bias, <PyObject*>rows, <PyObject*>matrix
    return call_array(ADDMM, args, 3)


cdef bint is_row(Tensor bias) except -1:
    """Whether the bias has one dimension once those of size 1 are dropped."""
    if bias.c_ndim == 1:
        return True
    return (<Tensor>call_one(SQUEEZE, bias)).c_ndim == 1


cdef object linear_flat(Tensor input, Tensor weight, Tensor bias):
    """addmm over the rows of an input of any number of dimensions."""
    cdef int i, last = input.c_ndim - 1
    cdef int64_t rows = 1
    cdef list shape = numbers(input.c_sizes, last)
    cdef Tensor flat, result
    for i in range(last):
        rows = mul(rows, input.c_sizes[i])
    flat = call_two(VIEW, input, [size_object(rows), size_object(input.c_sizes[last])])
    result = call_addmm(bias, flat, call_one(T, weight))
    shape.append(size_object(result.c_sizes[1]))
    return call_two(VIEW, result, shape)


cdef int check_dims(Tensor input, Tensor weight) except -1:
    if input.c_ndim == 0 or weight.c_ndim == 0:
        raise refused("expected input and weight to have at least 1 dimension, "
                      f"got {input.c_ndim} and {weight.c_ndim}")
    if weight.c_ndim == 2 and differ(input.c_sizes[input.c_ndim - 1], weight.c_sizes[1]):
        raise refused(f"input of shape {numbers(input.c_sizes, input.c_ndim)} needs a weight of "
                      f"{size_object(input.c_sizes[input.c_ndim - 1])} columns, got shape {numbers(weight.c_sizes, 2)}: "
                      "shapes cannot be multiplied")
    return 0


cdef object linear(Tensor input, Tensor weight, Tensor bias):
    check_dims(input, weight)
    if bias is None:
        return matmul_of(input, call_one(T, weight))
    if input.c_ndim == 2:
        return call_addmm(bias, input, call_one(T, weight))
    if is_row(bias) and is_contiguous_as(input, MF_contiguous):
        return linear_flat(input, weight, bias)
    product = matmul_of(input, call_one(T, weight))
    return call_two(ADD if is_subclass_like(bias) else ADD_, product, bias)


def linear_out(Tensor input not None, Tensor weight not None, Tensor bias=None, *,
               Tensor out not None):
    """linear into `out`, which is resized."""
    transposed = call_one(T, weight)
    if input.c_ndim == 2 and bias is not None:
        ADDMM_OUT.call((bias, input, transposed, 1, 1, out))
        return out
    MATMUL_OUT.call((input, transposed, out))
    if bias is not None:
        call_two(ADD_, out, bias)
    return out
