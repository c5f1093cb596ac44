"""Factories on Meta, and what all factories share: how options become a dtype and a device.

Which key a factory runs at is decided by its device argument before it gets here, so a Meta kernel
makes Meta tensors whatever the argument says, and the CPU kernels in `cpu/factory/basic` likewise.
"""
import math
import warnings

from libc.math cimport ceil, isfinite
from libc.stdint cimport INT64_MAX, int8_t, int64_t

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport (
    DEV_META, LAYOUT_strided, MF_NONE, MF_contiguous, MF_preserve, ST_NONE, ST_complex32, ST_int64,
)
from dispatch._C.errors cimport refused
from dispatch._C.geometry cimport reach_of
from dispatch._C.keys cimport KS_ZeroTensor
from dispatch._C.symbolic cimport (
    SIZE_ERROR, eq_or_false, expect_ge, first_symbolic, gt_or_false, is_symbolic, ne_or_true, size_from, size_object,
)
from dispatch._C.tensor cimport Tensor, keys_for, new_empty, place_tensor
from dispatch._C.tls cimport tls
from dispatch._C.values cimport IntArray
from dispatch.kernels.meta cimport rules
from dispatch._C.advice import advise_once
from dispatch.kernels.meta.rules.sizes import holds


cdef list ints(IntArray a):
    return [size_object(a.data[i]) for i in range(a.len)]


cdef int kernel_device(int devtype) noexcept:
    return DEV_META if tls().meta_in_include else devtype


cdef int check_layout(int layout) except -1:
    if layout > LAYOUT_strided:
        raise refused(f"layout {dtypes.get_layout(layout)} has no kernels "
                      "here, expected strided", NotImplementedError)
    return 0


cdef int dtype_or_default(int dtype) noexcept:
    return dtypes.default_dtype_code() if dtype == ST_NONE else dtype


cdef int check_expressed(IntArray size) except -1:
    """Sizes that a program gave as expressions: 0 or more, by a guard or a runtime assert."""
    cdef Py_ssize_t i
    for i in range(size.len):
        if is_symbolic(size.data[i]) and not expect_ge(size.data[i], 0):
            raise refused(f"Trying to create tensor with negative dimension {size_object(size.data[i])}: {ints(size)}, "
                          "sizes must not be negative")
    return 0


cdef int advise_complex32() except -1:
    advise_once("complex32", "ComplexHalf support is experimental, many operators have no kernel for it")
    return 0


cdef Tensor new_formatted(IntArray size, int dtype, int devtype, int memory_format):
    cdef int64_t strides[64]
    cdef int n = <int>size.len, code = dtype_or_default(dtype)
    if code == ST_complex32:
        advise_complex32()
    if first_symbolic(n, size.data):
        check_expressed(size)
    if memory_format == MF_NONE or memory_format == MF_contiguous:
        return new_empty(code, devtype, -1, n, size.data, NULL)
    if memory_format == MF_preserve:
        raise refused("memory_format must not be preserve_format: there is "
                      "nothing to preserve")
    rules.numel(size.data, n)
    rules.strides_for(strides, size.data, n, memory_format)
    return new_empty(code, devtype, -1, n, size.data, strides)


cdef Tensor new_strided(IntArray size, IntArray stride, int dtype, int devtype):
    cdef int n = <int>size.len, code = dtype_or_default(dtype)
    if size.len != stride.len:
        raise refused(f"size {ints(size)} and stride {ints(stride)} differ "
                      "in length")
    if code == ST_complex32:
        advise_complex32()
    if first_symbolic(n, size.data):
        check_expressed(size)
    elif not first_symbolic(n, stride.data):
        reach_of(dtypes.itemsize_table()[code], n, size.data, stride.data, 0)
    return new_empty(code, devtype, -1, n, size.data, stride.data)


cdef object empty(IntArray size, int dtype, int layout, object device, object pin_memory,
                  int memory_format):
    check_layout(layout)
    return new_formatted(size, dtype, DEV_META, memory_format)


cdef object empty_strided(IntArray size, IntArray stride, int dtype, int layout, object device,
                          object pin_memory):
    check_layout(layout)
    return new_strided(size, stride, dtype, DEV_META)


cdef Tensor new_zero(IntArray size, int dtype, int devtype):
    """Its storage says how many bytes it would have, and has none."""
    cdef Tensor t = new_empty(dtype_or_default(dtype), DEV_META, -1, <int>size.len, size.data, NULL)
    t.c_storage.devtype = t.c_devtype = <int8_t>devtype
    t.c_storage.fake = True
    t.c_storage.c_resizable = False
    t.c_keys = keys_for(devtype, LAYOUT_strided) | KS_ZeroTensor
    return t


cdef object _efficientzerotensor(IntArray size, int dtype, int layout, object device, object pin_memory):
    check_layout(layout)
    return new_zero(size, dtype, DEV_META)


# ---- arange ------------------------------------------------------------------------------------

cdef int check_range(object start, object end, object step) except -1:
    cdef double first, last, by
    for name, value in (("start", start), ("end", end), ("step", step)):
        if isinstance(value, complex):
            raise refused(f"{name} must be real, got {value}")
    first, last, by = start, end, step
    if not (by > 0 or by < 0):
        raise refused(f"step must be nonzero, got {step}")
    if not (isfinite(first) and isfinite(last)):
        raise refused(f"unsupported range: {start} -> {end}")
    if not ((step > 0 and end >= start) or (step < 0 and end <= start)):
        raise refused(f"upper bound and lower bound inconsistent with step sign: {start} to {end} by {step}")
    return 0


cdef bint is_expression(object value) noexcept:
    """Whether a number is one of `dispatch.symbolic`'s."""
    return not isinstance(value, (int, float, complex)) and hasattr(value, "node")


cdef int64_t symbolic_arange_size(object start, object end, object step, int code) except? SIZE_ERROR:
    """Of expressions: the direction is the step's, which is asked for; what lies within it, rounded up."""
    if step == 0:
        raise refused(f"step must be nonzero, got {step}")
    if not holds(end >= start if step > 0 else end <= start):
        raise refused(f"upper bound and lower bound inconsistent with step sign: {start} to {end} by {step}")
    if code != ST_int64 and not all([is_whole(value) for value in (start, end, step)]):
        return size_from(math.ceil((end - start) / step))
    if not is_whole(start):
        start = math.trunc(start)
    if not is_whole(end):
        end = math.trunc(end)
    if not is_whole(step):
        step = math.trunc(step)
    return size_from((end - start + step - (1 if step > 0 else -1)) // step)


cdef bint is_whole(object value) noexcept:
    return isinstance(value, int) or hasattr(value, "__index__")


cdef int64_t arange_size(object start, object end, object step, int code) except? SIZE_ERROR:
    """compute_arange_size: int64 counts in integers, every other dtype in double."""
    cdef double n
    if is_expression(start) or is_expression(end) or is_expression(step):
        return symbolic_arange_size(start, end, step, code)
    check_range(start, end, step)
    if code == ST_int64:
        first, last, by = int(start), int(end), int(step)
        if by == 0:
            raise refused(f"step must be nonzero, {step} is 0 as int64", ValueError)
        found = -((first - last) // by)
        if found < 0 or found > INT64_MAX:
            raise refused(f"from {start} to {end} by {step} there are too many values")
        return found
    n = ceil((<double>end - <double>start) / <double>step)
    if not 0 <= n < 9223372036854775808.0:
        raise refused(f"from {start} to {end} by {step} there are too many values")
    return <int64_t>n


cdef Tensor resized_for_arange(Tensor out, int64_t n):
    """`out` keeps its shape when it has `n` elements already; else it becomes one-dimensional."""
    if ne_or_true(out.c_numel, n):
        if gt_or_false(out.c_numel, 0):
            warnings.warn(f"arange: The out tensor will be resized: it has {size_object(out.c_numel)} elements, "
                          f"and {size_object(n)} are needed", UserWarning, stacklevel=2)
        place_tensor(out, out.c_storage, 1, &n, NULL, out.c_offset)
    return out


cdef object arange_out(object start, object end, object step, Tensor out):
    cdef int64_t n = arange_size(start, end, step, out.c_dtype)
    if out.c_ndim == 1 and eq_or_false(out.c_sizes[0], n):
        return out
    return resized_for_arange(out, n)
