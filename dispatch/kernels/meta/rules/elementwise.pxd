"""The output of an elementwise operator: its strides follow those of the operands, in PyTorch's order.

`PyObject** items` are borrowed operands as they came in a call: tensors, numbers, None (left out).
"""
from cpython.object cimport PyObject
from libc.stdint cimport int64_t

from dispatch._C.tensor cimport Tensor

# The new output, of known sizes, of an elementwise operator; returns 1 if contiguous, else 0.
# `code`: the dtype that operands are converted to first (a converted copy can have other strides;
# CPU kernels convert to the dtype of computation), or ST_NONE.
cdef int elementwise_strides(int64_t* out, const int64_t* sizes, int ndim, PyObject** items, int n,
                             int code) except -1
# at::empty_like, without data its reference: that of an elementwise operator of `t`.
cdef int empty_like_strides(int64_t* out, Tensor t) except -1
# The same as PyTorch's Meta kernels, and so fake tensors, have it.
cdef int elementwise_strides_meta(int64_t* out, const int64_t* sizes, int ndim, PyObject** items,
                                  int n, int code) except -1
