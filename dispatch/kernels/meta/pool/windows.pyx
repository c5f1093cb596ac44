"""Windows of pools along one to three dimensions: how they lie, how many there are.

Called by the shape functions of pools and by their bodies. The rules are PyTorch's
(pooling_output_shape, pool2d_shape_check, pool3d_shape_check).
"""
from libc.stdint cimport int64_t

from dispatch._C.errors cimport refused
from dispatch._C.size cimport new_size
from dispatch._C.symbolic cimport add, floordiv, ge, mul, sub
from dispatch._C.values cimport IntArray


cdef int spread(int64_t* to, str name, IntArray given, int dims) except -1:
    cdef int i
    if given.len != 1 and given.len != dims:
        raise refused(f"expected {name} to be one number or {dims}, got {list(new_size(<int>given.len, given.data))}")
    for i in range(dims):
        to[3 - dims + i] = given.data[0 if given.len == 1 else i]
    return 0


cdef int read_windows(Windows* w, int dims, IntArray kernel_size, IntArray stride, IntArray padding) except -1:
    cdef int i
    w.dims = dims
    for i in range(3):
        w.kernel[i] = w.stride[i] = w.dilation[i] = 1
        w.padding[i] = 0
    spread(w.kernel, "kernel_size", kernel_size, dims)
    spread(w.stride, "stride", stride if stride.len else kernel_size, dims)
    return spread(w.padding, "padding", padding, dims)


cdef int read_dilation(Windows* w, IntArray dilation) except -1:
    return spread(w.dilation, "dilation", dilation, w.dims)


cdef object described(const Windows* w, int i):
    return (f"kernel size {w.kernel[i]}, stride {w.stride[i]}, padding {w.padding[i]} and dilation "
            f"{w.dilation[i]}")


cdef int check_windows(const Windows* w) except -1:
    cdef int i
    for i in range(3 - w.dims, 3):
        if w.kernel[i] <= 0 or w.stride[i] <= 0 or w.dilation[i] <= 0:
            name, least = ("kernel_size", w.kernel[i]) if w.kernel[i] <= 0 else \
                ("stride", w.stride[i]) if w.stride[i] <= 0 else ("dilation", w.dilation[i])
            raise refused(f"{name} must be greater than zero, but got {least} of {described(w, i)}")
        if w.padding[i] < 0:
            raise refused(f"pad must be non-negative, but got pad: {w.padding[i]} of {described(w, i)}")
        if w.padding[i] > ((w.kernel[i] - 1) * w.dilation[i] + 1) // 2 or w.padding[i] > w.kernel[i] // 2:
            raise refused(f"pad should be at most half of effective kernel size, but got {described(w, i)}")
    return 0


cdef int64_t output_length(const Windows* w, int i, int64_t size, bint ceil_mode) except? SIZE_ERROR:
    cdef int64_t room = add(size, 2 * w.padding[i] - w.dilation[i] * (w.kernel[i] - 1) - 1)
    cdef int64_t length = add(floordiv(add(room, w.stride[i] - 1 if ceil_mode else 0), w.stride[i]), 1)
    if ceil_mode and ge(mul(sub(length, 1), w.stride[i]), add(size, w.padding[i])):
        return sub(length, 1)    # the last window would begin in the padding on the right
    return length
