"""Copies made of others: `to`, `_to_copy`, `contiguous`, and what reads one value.

`to` and `contiguous` hand back their argument when there is nothing to do. `_to_copy` decides the
strides of a copy; the values are `copy_`'s.
"""
from libc.stdint cimport int64_t

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport (
    DEV_CPU, DEV_META, MF_NONE, MF_contiguous, MF_preserve, ST_NONE, ST_complex32,
)
from dispatch._C.errors cimport refused
from dispatch._C.read_only cimport check_writable
from dispatch._C.symbolic cimport add, eq_or_false, expect_eq, floordiv, gt_or_true, mul, size_object, smaller, sub
from dispatch._C.tensor cimport TF_CUSTOM_SIZES, TF_CUSTOM_STRIDES, TF_FAKE, Tensor, is_contiguous_as, new_empty, new_view
from dispatch._C.tls cimport tls
from dispatch.kernels.composite.callee cimport Callee, callee, numbers, sizes_of
from dispatch.kernels.composite.factory.basic cimport empty_like
from dispatch.kernels.cpu.copy cimport copies as cpu_copy
from dispatch.kernels.meta cimport rules
from dispatch.kernels.meta.copy cimport copies as meta_copy
from dispatch.kernels.meta.factory.basic cimport advise_complex32

from dispatch._C.wrapper import answer

cdef Callee AS_STRIDED = callee("as_strided")
cdef Callee CLONE = callee("clone")
cdef Callee COPY = callee("copy_")
cdef Callee COPY_FROM = callee("_copy_from")
cdef Callee EMPTY_STRIDED = callee("empty_strided")
cdef Callee FILL = callee("fill_", "Scalar")
cdef Callee FILL_TENSOR = callee("fill_", "Tensor")
cdef Callee ITEM = callee("item")
cdef Callee LOCAL_SCALAR = callee("_local_scalar_dense")
cdef Callee TO_COPY = callee("_to_copy")
cdef Callee ZERO = callee("zero_")


cdef object format_or_none(int memory_format):
    return None if memory_format == MF_NONE else dtypes.get_memory_format(memory_format)


# ---- copy_ -------------------------------------------------------------------------------------

cdef object copy_(Tensor self, Tensor src, bint non_blocking):
    """at::native::copy_: what is on a device of others is their `_copy_from`'s."""
    if self.c_devtype == DEV_CPU and src.c_devtype == DEV_CPU and not tls().meta_in_include:
        check_writable(self.c_storage)        # a kernel for all devices is not held off by the dispatcher
        return cpu_copy.copy_(self, src, non_blocking)
    if self.c_devtype in (DEV_CPU, DEV_META) and src.c_devtype in (DEV_CPU, DEV_META) \
            or tls().meta_in_include:
        return meta_copy.copy_(self, src, non_blocking)
    COPY_FROM.call((src, self, non_blocking))
    return self


# ---- to ----------------------------------------------------------------------------------------

cdef bint on_device(Tensor self, object device) noexcept:
    """Whether the tensor is there already; without an index any of the type's devices will do."""
    if device is None:
        return True
    if (<dtypes.device>device).devtype != self.c_devtype:
        return False
    return (<dtypes.device>device).devindex in (-1, self.c_devindex)


cdef bint has_format(Tensor self, int memory_format) except -1:
    return (memory_format == MF_NONE or memory_format == MF_preserve
            or rules.suggest_memory_format(self) == memory_format)


cdef object to_dtype_layout(Tensor self, int dtype, int layout, object device, object pin_memory,
                            bint non_blocking, bint copy, int memory_format):
    if (not copy and (dtype == ST_NONE or dtype == self.c_dtype)
            and (layout < 0 or layout == self.c_layout) and on_device(self, device)
            and has_format(self, memory_format)):
        return self
    return TO_COPY.call((
        self, None if dtype == ST_NONE else dtypes.get_dtype(dtype),
        None if layout < 0 else dtypes.get_layout(layout), device, pin_memory,
        True if non_blocking else False, format_or_none(memory_format)))


cdef object to_device(Tensor self, object device, int dtype, bint non_blocking, bint copy,
                      int memory_format):
    return to_dtype_layout(self, dtype, -1, device, None, non_blocking, copy, memory_format)


cdef object to_dtype(Tensor self, int dtype, bint non_blocking, bint copy, int memory_format):
    return to_dtype_layout(self, dtype, -1, None, None, non_blocking, copy, memory_format)


cdef object to_other(Tensor self, Tensor other, bint non_blocking, bint copy, int memory_format):
    return to_dtype_layout(self, other.c_dtype, other.c_layout, other.device, False, non_blocking,
                           copy, memory_format)


cdef object type_as(Tensor self, Tensor other):
    return to_dtype_layout(self, other.c_dtype, other.c_layout, other.device, None, False, False,
                           MF_NONE)


cdef object _to_copy(Tensor self, int dtype, int layout, object device, object pin_memory,
                     bint non_blocking, int memory_format):
    """at::native::_to_copy."""
    cdef int64_t strides[64]
    cdef int code = self.c_dtype if dtype == ST_NONE else dtype
    cdef int devtype = self.c_devtype
    cdef Tensor out
    if code != self.c_dtype and devtype == DEV_CPU and rules.is_eager(self):
        cpu_copy.advise_lossy(code, self)
        if code == ST_complex32:
            advise_complex32()
    if layout >= 0 and layout != self.c_layout:
        raise refused(f"a tensor of layout {self.layout} cannot become one of layout "
                      f"{dtypes.get_layout(layout)}")
    if memory_format == MF_NONE or memory_format == MF_preserve:
        rules.dense_like_strides(strides, self)
    else:
        rules.strides_for(strides, self.c_sizes, self.c_ndim, memory_format)
    if device is not None:
        devtype = (<dtypes.device>device).devtype
    if tls().meta_in_include or (devtype == DEV_META and not self.c_flags & TF_FAKE):
        return new_empty(code, DEV_META, -1, self.c_ndim, self.c_sizes, strides)
    if devtype == DEV_CPU and self.c_devtype == DEV_CPU:
        out = new_empty(code, DEV_CPU, -1, self.c_ndim, self.c_sizes, strides)
        cpu_copy.copy_values(out, self)
        return out
    return to_elsewhere(self, code, device, non_blocking, strides)


cdef object to_elsewhere(Tensor self, int code, object device, bint non_blocking,
                         const int64_t* strides):
    """By the kernels of the devices at both ends."""
    out = EMPTY_STRIDED.call((sizes_of(self), numbers(strides, self.c_ndim),
                              dtypes.get_dtype(code), None,
                              self.device if device is None else device))
    COPY.call((out, self, True if non_blocking else False))
    return out


# ---- copies ------------------------------------------------------------------------------------

cdef object contiguous(Tensor self, int memory_format):
    if self.c_flags & (TF_CUSTOM_STRIDES | TF_CUSTOM_SIZES):                 # its class answers
        format = None if memory_format == MF_contiguous else dtypes.get_memory_format(memory_format)
        if self.is_contiguous(memory_format=format):
            return self
    elif memory_format == MF_contiguous or memory_format == MF_preserve:
        if is_contiguous_as(self, MF_contiguous):
            return self
    elif is_contiguous_as(self, memory_format):
        return self
    if memory_format == MF_preserve:
        raise refused("memory_format must not be preserve_format")
    return CLONE.call((self, dtypes.get_memory_format(memory_format)))


cdef Tensor cloned_with_strides(Tensor self):
    """clone_preserve_strides: a copy of the memory too, from its start to the last element."""
    cdef int64_t n = add(self.c_offset, 1)
    cdef int i
    for i in range(self.c_ndim):
        if eq_or_false(self.c_strides[i], 0) and gt_or_true(self.c_sizes[i], 1):
            return CLONE.call((self,))
        n = add(n, mul(sub(self.c_sizes[i], 1), self.c_strides[i]))
    if eq_or_false(self.c_numel, 0):         # may lie beyond the memory, as a slice from the end on does
        n = smaller(self.c_offset, floordiv(self.c_storage.c_nbytes, dtypes.itemsize_table()[self.c_dtype]))
    whole = CLONE.call((AS_STRIDED.call((self, [size_object(n)], [1], 0)),))
    return AS_STRIDED.call((whole, sizes_of(self), numbers(self.c_strides, self.c_ndim), size_object(self.c_offset)))


cdef object copy(Tensor self, Tensor src, bint non_blocking):
    cdef Tensor out = cloned_with_strides(self)
    COPY.call((out, src, True if non_blocking else False))
    return out


cdef object fill(Tensor self, object value):
    return FILL.call((empty_like(self, ST_NONE, -1, None, None, MF_NONE), value))


cdef object fill_tensor(Tensor self, Tensor value):
    return FILL_TENSOR.call((empty_like(self, ST_NONE, -1, None, None, MF_NONE), value))


cdef object zero(Tensor self):
    return ZERO.call((CLONE.call((self,)),))


cdef object lift(Tensor self):
    """A fake tensor is lifted into another one."""
    if tls().meta_in_include:
        return new_view(self, self.c_ndim, self.c_sizes, self.c_strides, self.c_offset)
    return self


cdef object lift_fresh(Tensor self):
    return lift(self)


cdef object lift_fresh_copy(Tensor self):
    return CLONE.call((self, dtypes.get_memory_format(MF_contiguous)))


# ---- one value ---------------------------------------------------------------------------------

cdef object item(Tensor self):
    n = other_numel(self, "sym_numel")
    if n is not None:
        raise refused(f"a Tensor with {n} elements cannot be converted to Scalar")
    return LOCAL_SCALAR.call((self,))


cdef object is_nonzero(Tensor self):
    n = other_numel(self, "numel")
    if n is not None:
        raise refused(f"Boolean value of Tensor with {'more than one value' if n else 'no values'} is ambiguous")
    return True if ITEM.call((self,)) else False


cdef object other_numel(Tensor self, str question):
    """The number of elements, as its class answers it, where it is not one; else None."""
    if self.c_flags & TF_CUSTOM_SIZES:
        n = answer(self, question)
        return None if n == 1 else n
    return None if expect_eq(self.c_numel, 1) else size_object(self.c_numel)
