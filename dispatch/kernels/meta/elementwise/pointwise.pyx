"""Sizes, strides and devices of elementwise results, for the shape functions beside this module.

Called by `unary`, `binary` and `ternary`; calls `rules`. Makes no tensor and keeps no state.
"""
from cpython.object cimport PyObject
from libc.stdint cimport int64_t

from dispatch._C.dtypes cimport DEV_CPU, DEV_META, ST_NONE, ST_bool
from dispatch._C.errors cimport refused
from dispatch._C.tensor cimport Tensor, new_empty
from dispatch._C.tls cimport tls
from dispatch.kernels.meta cimport rules
from dispatch.kernels.meta.rules.sizes cimport same_sizes
from dispatch._C.structured cimport Spec


cdef bint on_meta(PyObject** items, int n) noexcept:
    cdef int i
    for i in range(n):
        if isinstance(<object>items[i], Tensor) and is_meta(<Tensor>items[i]):
            return True
    return tls().meta_in_include


cdef int raise_devices(Tensor a, Tensor b) except -1:
    raise refused(f"expected all tensors on one device, found {a.device} and {b.device}")


cdef int check_devices(PyObject** items, int n) except -1:
    """One device for all; a 0-d CPU tensor goes with any. A fake mode has looked at the devices itself."""
    cdef Tensor first = None, t
    cdef int i
    if tls().meta_in_include:
        return 0
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
    cdef bint meta = on_meta(items, n)
    check_devices(items, n)
    s.dtype = dtype
    s.cast = cast_rule(meta)
    s.ndim = rules.broadcast(s.sizes, items, n)
    return set_strides(s, items, n, compute, meta)


cdef inline int set_strides(Spec* s, PyObject** items, int n, int compute, bint meta) except -1:
    cdef bint contiguous
    if meta:
        contiguous = rules.elementwise_strides_meta(s.strides, s.sizes, s.ndim, items, n, compute)
    else:
        contiguous = rules.elementwise_strides(s.strides, s.sizes, s.ndim, items, n, compute)
    s.has_strides = not contiguous
    return 0


cdef int restride(Spec* s, PyObject** items, int n, bint meta) except -1:
    return set_strides(s, items, n, ST_NONE, meta)


cdef int keep_strides(Spec* s, Tensor self) except -1:
    """Of operators whose output is at::empty_like(self): with values, strides of a dense tensor stay where sizes are 1 too."""
    if not is_meta(self):
        s.has_strides = True
        rules.dense_like_strides(s.strides, self)
    return 0


cdef bint has_unit(Tensor a) noexcept:
    cdef int i
    for i in range(a.c_ndim):
        if a.c_sizes[i] == 1:
            return True
    return False


cdef int choose_number(Spec* s, Tensor self, Tensor asked) except -1:
    cdef Tensor mask, number
    cdef PyObject* items[3]
    if not is_meta(self) or s.ndim != self.c_ndim or not has_unit(self) or is_packed(self) or \
            not same_sizes(s.sizes, self.c_sizes, s.ndim):
        return 0
    mask = asked if asked.c_dtype == ST_bool else as_made(s, asked, ST_bool)
    number = new_empty(self.c_dtype, DEV_META, -1, 0, NULL, NULL)
    items[0], items[1], items[2] = <PyObject*>mask, <PyObject*>number, <PyObject*>self
    return set_strides(s, items, 3, ST_NONE, True)


cdef Tensor as_made(Spec* s, Tensor t, int dtype):
    cdef int64_t strides[64]
    cdef PyObject* items[1]
    items[0] = <PyObject*>t
    rules.elementwise_strides_meta(strides, s.sizes, s.ndim, items, 1, t.c_dtype)
    return new_empty(dtype, DEV_META, -1, s.ndim, s.sizes, strides)


cdef Tensor as_copied(Tensor t, int dtype):
    cdef int64_t strides[64]
    if t.c_dtype == dtype:
        return t
    rules.dense_like_strides(strides, t)
    return new_empty(dtype, DEV_META, -1, t.c_ndim, t.c_sizes, strides)
