"""Copies and fills on Meta: the checks, and the geometry of a clone.

Nothing is written, but everything that the CPU kernels check about metadata is checked here, by
the functions that those call too.
"""
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from dispatch._C.dtypes cimport DEV_META, MF_NONE, MF_contiguous, MF_preserve
from dispatch._C.errors cimport refused
from dispatch._C.size cimport new_size
from dispatch._C.symbolic cimport eq_or_false, expect_eq
from dispatch._C.tensor cimport TF_FAKE, Tensor
from dispatch._C.tls cimport tls
from dispatch.kernels.meta cimport rules
from dispatch._C.structured cimport Spec


cdef int clone(Spec* out, Tensor self, int memory_format) except -1:
    out.ndim = self.c_ndim
    out.dtype = self.c_dtype
    memcpy(out.sizes, self.c_sizes, self.c_ndim * sizeof(int64_t))
    if memory_format == MF_NONE or memory_format == MF_preserve:
        rules.dense_like_strides(out.strides, self)
        out.has_strides = True
    elif memory_format != MF_contiguous:
        rules.strides_for(out.strides, out.sizes, out.ndim, memory_format)
        out.has_strides = True
    return 0


cdef int check_copy(Tensor self, Tensor src) except -1:
    cdef int i, shift = self.c_ndim - src.c_ndim
    cdef bint fits = shift >= 0
    if fits:
        for i in range(src.c_ndim):
            if not eq_or_false(src.c_sizes[i], 1) and not expect_eq(src.c_sizes[i], self.c_sizes[i + shift]):
                fits = False
                break
    if not fits:
        raise refused(
            f"src of sizes {list(new_size(src.c_ndim, src.c_sizes))} does not broadcast to "
            f"the sizes {list(new_size(self.c_ndim, self.c_sizes))} of self")
    return 0


cdef object copy_(Tensor self, Tensor src, bint non_blocking):
    if (src.c_devtype == DEV_META and self.c_devtype != DEV_META and not tls().meta_in_include
            and not (self.c_flags | src.c_flags) & TF_FAKE):
        raise refused("src is on meta, which has no values to copy", NotImplementedError)
    check_copy(self, src)
    return self


cdef int check_fill(Tensor value) except -1:
    if value.c_ndim:
        raise refused(f"value must have no dimensions, got {value.c_ndim}")
    return 0


cdef object fill_(Tensor self, object value):
    return self


cdef object fill_tensor_(Tensor self, Tensor value):
    check_fill(value)
    return self


cdef object zero_(Tensor self):
    return self


cdef object _local_scalar_dense(Tensor self):
    raise refused("item() cannot be called on meta tensors: they have no values")
