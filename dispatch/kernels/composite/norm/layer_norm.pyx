"""layer_norm: the first result of native_layer_norm.

Called for the composite operator; calls operators through the dispatcher.
"""
from cpython.object cimport PyObject

from dispatch._C.tensor cimport Tensor
from dispatch._C.values cimport IntArray
from dispatch.kernels.composite.callee cimport Callee, callee, ints
from dispatch.kernels.composite.matrix.matmul cimport call_array

cdef Callee NATIVE = callee("native_layer_norm")


cdef object layer_norm(Tensor input, IntArray normalized_shape, Tensor weight, Tensor bias,
                       double eps, bint cudnn_enable):
    cdef PyObject* args[8]
    cdef list shape = ints(normalized_shape)
    cdef object boxed_eps = eps
    args[0], args[1], args[2] = <PyObject*>input, <PyObject*>shape, <PyObject*>weight
    args[3], args[4] = <PyObject*>bias, <PyObject*>boxed_eps
    return call_array(NATIVE, args, 5)[0]
