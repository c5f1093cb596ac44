"""Outputs that a call is given, where PyTorch resizes them with a memory format."""
from dispatch._C.structured cimport RESTRIDE, Spec
from dispatch.kernels.meta.rules.strides cimport contiguous_strides


cdef inline int restride_given(Spec* s) except -1:
    """They take the strides of `s`, which are said in full."""
    if not s.has_strides:
        contiguous_strides(s.strides, s.sizes, s.ndim)
        s.has_strides = True
    s.cast |= RESTRIDE
    return 0
