"""Tensors out of arrays, below the dispatcher: what `data` cannot do in Python.

Nothing here dispatches: `tensor()` makes its values here and shows them to modes by `lift_fresh`.
"""
from libc.stdint cimport int64_t

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport DEV_CPU
from dispatch._C.geometry cimport read_ints
from dispatch._C.keys cimport KS_Conjugate, KS_Negative, KS_Python, KS_PythonTLSSnapshot
from dispatch._C.tensor cimport (
    Tensor, alias_as, bump_version, init_tensor, new_empty, set_class_flags, set_requires_grad,
)
from dispatch.kernels.cpu.copy cimport copies as cpu_copy

from dispatch._C.tensor import _is_blank
from dispatch._C.wrapper import adopt_view

__all__ = ["become", "number_tensor", "rebuild", "tensor_of_array"]


def tensor_of_array(array, dtype):
    """A new CPU tensor with the values of `array` converted to `dtype`."""
    cdef int64_t sizes[64]
    cdef int n = read_ints(array.shape, sizes, "shape")
    cdef Tensor out = new_empty(dtypes.dtype_code(dtype), DEV_CPU, -1, n, sizes, NULL)
    if out.c_numel:
        cpu_copy.copy_array(out, array)
    return out


def number_tensor(number, dtype):
    """A new 0-d CPU tensor. RuntimeError when `dtype` cannot hold the number."""
    cdef Tensor out = new_empty(dtypes.dtype_code(dtype), DEV_CPU, -1, 0, NULL, NULL)
    cpu_copy.fill_(out, number)
    return out


def become(Tensor self not None, Tensor like not None):
    """Give a tensor that has no storage yet the storage and metadata of `like`."""
    if not _is_blank(self):
        raise RuntimeError("the tensor has a storage already")
    init_tensor(self, like.c_storage, like.c_dtype,
                like.c_keys & ~(KS_Python | KS_PythonTLSSnapshot), like.c_ndim, like.c_sizes,
                like.c_strides, like.c_offset)
    set_class_flags(self, <type>type(self))
    adopt_view(self, like)


def rebuild(type cls, Tensor plain not None, bint conj, bint neg, bint requires_grad):
    """`plain` as an instance of `cls` with its bits: what copying and unpickling end with."""
    cdef Tensor out = alias_as(plain, cls)
    if conj:
        out.c_keys ^= KS_Conjugate
    if neg:
        out.c_keys ^= KS_Negative
    set_requires_grad(out, requires_grad)
    bump_version(out)                    # as if `set_` had given it its memory: PyTorch counts that
    return out
