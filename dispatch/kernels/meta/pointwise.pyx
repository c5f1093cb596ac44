"""Sizes, strides and devices of elementwise results, for the shape functions beside this module.

Called by `unary`, `binary` and `ternary`; calls `rules`. Makes no tensor and keeps no state.
"""
from cpython.object cimport PyObject

from dispatch._C.dtypes cimport DEV_CPU, DEV_META
from dispatch._C.tensor cimport TF_FAKE, Tensor
from dispatch._C.tls cimport tls
from dispatch.kernels.meta cimport rules
from dispatch.kernels.structured cimport Spec


cdef bint on_meta(PyObject** items, int n) noexcept:
    cdef int i
    cdef Tensor t
    if tls().meta_in_include:
        return True
    for i in range(n):
        if isinstance(<object>items[i], Tensor):
            t = <Tensor>items[i]
            if t.c_devtype == DEV_META or t.c_flags & TF_FAKE:
                return True
    return False


cdef int raise_devices(Tensor a, Tensor b) except -1:
    raise RuntimeError(f"expected all tensors on one device, found {a.device} and {b.device}")


cdef int check_devices(PyObject** items, int n) except -1:
    """One device for all; a 0-d CPU tensor goes with any."""
    cdef Tensor first = None, t
    cdef int i
    for i in range(n):
        if not isinstance(<object>items[i], Tensor):
            continue
        t = <Tensor>items[i]
        if t.c_ndim == 0 and t.c_devtype == DEV_CPU:
            continue
        if first is None:
            first = t
        elif t.c_devtype != first.c_devtype or t.c_devindex != first.c_devindex:
            raise_devices(first, t)
    return 0


cdef int fill(Spec* s, PyObject** items, int n, int dtype, int compute) except -1:
    cdef bint contiguous
    check_devices(items, n)
    s.dtype = dtype
    s.cast = True
    s.ndim = rules.broadcast(s.sizes, items, n)
    if on_meta(items, n):
        contiguous = rules.elementwise_strides_meta(s.strides, s.sizes, s.ndim, items, n, compute)
    else:
        contiguous = rules.elementwise_strides(s.strides, s.sizes, s.ndim, items, n, compute)
    s.has_strides = not contiguous
    return 0
