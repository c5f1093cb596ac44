"""Tensors as plain memory for loops in C: without gaps, channels first or last, in the dtype to compute in.

The copies are `copy_values`, which converts as `copy_` does; where a tensor fits, nothing is
copied or made.
"""
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcmp

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport (
    DEV_CPU, DTYPES_REDUCED_FLOATING, MF_contiguous, ST_float32, ST_int64, is_in, is_integral_code,
)
from dispatch._C.errors import unserved
from dispatch._C.geometry cimport TF_CONTIGUOUS
from dispatch._C.tensor cimport Tensor, is_contiguous_as, new_empty
from dispatch.kernels.cpu.copy.copies cimport copy_values
from dispatch.kernels.meta cimport rules


cdef enum:
    MUCH = 1 << 13               # elements from which what is converted and laid out anew is so in two steps


cdef int check_kernel(int code, uint64_t allowed) except -1:
    if not is_in(allowed, code):
        raise unserved(dtypes.get_dtype(code))
    return 0


cdef int computed_in(int code) noexcept:
    if is_in(DTYPES_REDUCED_FLOATING, code):
        return ST_float32
    return ST_int64 if is_integral_code(code, True) else code


cdef int format_of(Tensor t) noexcept:
    if t.c_flags & TF_CONTIGUOUS:
        return MF_contiguous
    return rules.suggest_memory_format(t)


cdef Image image_of(Tensor t, int dims) noexcept:
    cdef Image m
    cdef int i, lead = t.c_ndim - dims
    m.n = t.c_sizes[0] if lead > 1 else 1
    m.c = t.c_sizes[lead - 1] if lead > 0 else 1
    m.plane = 1
    for i in range(3):
        m.size[i] = t.c_sizes[lead + i + dims - 3] if i >= 3 - dims else 1
        m.plane *= m.size[i]
    return m


cdef inline bint fits(Tensor t, int memory_format) except -1:
    if memory_format == MF_contiguous:
        return t.c_flags & TF_CONTIGUOUS != 0
    return is_contiguous_as(t, memory_format)


cdef Tensor blank(Tensor like, int code, int memory_format):
    cdef int64_t strides[64]
    if memory_format == MF_contiguous:
        return new_empty(code, DEV_CPU, -1, like.c_ndim, like.c_sizes, NULL)
    rules.strides_for(strides, like.c_sizes, like.c_ndim, memory_format)
    return new_empty(code, DEV_CPU, -1, like.c_ndim, like.c_sizes, strides)


cdef Tensor dense(Tensor t, int code, int memory_format):
    cdef Tensor copy
    if fits(t, memory_format):
        if t.c_dtype == code:
            return t
    elif t.c_dtype != code and t.c_numel >= MUCH:
        t = dense(t, t.c_dtype, memory_format)           # one step each is faster
    copy = blank(t, code, memory_format)
    copy_values(copy, t)
    return copy


cdef Tensor target(Tensor out, int code, int memory_format):
    if out.c_dtype == code and fits(out, memory_format):
        return out
    return blank(out, code, memory_format)


cdef int finish(Tensor out, Tensor made) except -1:
    cdef Tensor cast = made
    if made is out:
        return 0
    if made.c_dtype != out.c_dtype and made.c_numel >= MUCH and memcmp(made.c_strides, out.c_strides, out.c_ndim * sizeof(int64_t)):
        cast = new_empty(out.c_dtype, DEV_CPU, -1, made.c_ndim, made.c_sizes, made.c_strides)
        copy_values(cast, made)
    return copy_values(out, cast)
