"""The `prims` that copy, join, reduce and transform: `aten` after the checks of `kernels/meta`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.meta.prims import arrangement as shapes, transforms

Ints = Sequence[int]
_aten: Any = ops.aten


def clone(self: Tensor, *, memory_format: dtypes.memory_format | None = None) -> Tensor:
    """A copy."""
    return _aten.clone(self, memory_format=memory_format)


def convert_element_type(a: Tensor, dtype: dtypes.dtype) -> Tensor:
    """A copy in another dtype, of the same one too."""
    return _aten._to_copy(a, dtype=dtype)


def copy_strided(a: Tensor, stride: Ints) -> Tensor:
    """A copy with other strides."""
    out = _aten.empty_strided(a.shape, stride, dtype=a.dtype, device=a.device)
    return _aten.copy_(out, a)


def copy_to(a: Tensor, b: Tensor) -> Tensor:
    """`b`'s elements, written to `a`."""
    if a.numel() != b.numel():
        raise refused(f"{b.numel()} elements do not fit {a.numel()}")
    return _aten.copy_(a, b)


def resize(a: Tensor, shape: Ints) -> Tensor:
    """`a` with other sizes, in place."""
    return _aten.resize_(a, shape)


def cat(tensors: Sequence[Tensor], dim: int) -> Tensor:
    """Tensors one behind the other."""
    shapes.cat(tensors, dim)
    return _aten.cat(tensors, dim)


def reshape(a: Tensor, shape: Ints) -> Tensor:
    """A contiguous copy in another shape."""
    shapes.reshape(a, shape)
    return _aten.clone(_aten.reshape(a, shape), memory_format=dtypes.contiguous_format)


def rev(a: Tensor, dims: Ints) -> Tensor:
    """The elements from the last to the first along `dims`."""
    shapes.rev(a, dims)
    return _aten.flip(a, dims)


def collapse(a: Tensor, start: int, end: int) -> Tensor:
    """A contiguous copy with dimensions from `start` to `end` (with it) as one."""
    return reshape(a, shapes.collapsed_sizes(a, start, end))


def as_strided_scatter(
    self: Tensor, src: Tensor, size: Ints, stride: Ints, storage_offset: int
) -> Tensor:
    """A copy of self with `src` in a window."""
    shapes.as_strided_scatter(self, src, size, stride, storage_offset)
    return _aten.as_strided_scatter(self, src, size, stride, storage_offset)


def _places(inp: Tensor, dims: Ints | None, dtype: dtypes.dtype | None) -> list[int]:
    shapes.reduced(inp, dims, dtype)
    return list(range(inp.ndim)) if dims is None else list(dims)


def sum(inp: Tensor, dims: Ints | None, *, output_dtype: dtypes.dtype | None = None) -> Tensor:
    """The sum; of integers in int64 unless another dtype is asked for."""
    places = _places(inp, dims, output_dtype)
    return _aten.sum.dim_IntList(inp, places, dtype=output_dtype)


def prod(inp: Tensor, dims: Ints | None, *, output_dtype: dtypes.dtype | None = None) -> Tensor:
    """The product, dimension by dimension; of integers in int64 if no dtype is asked for."""
    places = _places(inp, dims, output_dtype)
    if not places:
        return convert_element_type(inp, output_dtype or inp.dtype)
    for dim in sorted(places, reverse=True):
        inp = _aten.prod.dim_int(inp, dim, dtype=output_dtype)
    return inp


def xor_sum(inp: Tensor, dims: Ints | None, *, output_dtype: dtypes.dtype | None = None) -> Tensor:
    """The exclusive or of the elements, dimension by dimension."""
    places = _places(inp, dims, output_dtype)
    for dim in sorted(places, reverse=True):
        nothing = _aten.new_zeros(inp, [n for place, n in enumerate(inp.shape) if place != dim])
        inp = functools.reduce(_aten.bitwise_xor, _aten.unbind(inp, dim), nothing)
    return convert_element_type(inp, output_dtype or inp.dtype)


def var(
    inp: Tensor,
    dims: Ints | None,
    correction: float | None = 1,
    *,
    output_dtype: dtypes.dtype | None = None,
) -> Tensor:
    """The variance; `correction` is taken from the number of elements."""
    places = _places(inp, dims, output_dtype)
    found = _aten.var.correction(inp, places, correction=correction)
    return found if output_dtype is None else _aten.to.dtype(found, output_dtype)


def _extremum(name: str) -> Callable[..., Tensor]:
    def kernel(
        inp: Tensor, dims: Ints | None, *, output_dtype: dtypes.dtype | None = None
    ) -> Tensor:
        places = _places(inp, dims, output_dtype)
        if dims is not None and not places:
            return convert_element_type(inp, output_dtype or inp.dtype)
        found: Tensor = getattr(_aten, name)(inp, places)
        return found if output_dtype is None else _aten.to.dtype(found, output_dtype)

    kernel.__name__ = kernel.__qualname__ = name
    return kernel


amax = _extremum("amax")
amin = _extremum("amin")


def fft_r2c(self: Tensor, *, dim: Ints, onesided: bool) -> Tensor:
    """The transform of real numbers, not normalised."""
    transforms.fft_r2c(self, dim, onesided)
    return _aten._fft_r2c(self, dim, 0, onesided)


def fft_c2c(self: Tensor, *, dim: Ints, forward: bool) -> Tensor:
    """The transform of complex numbers or its inverse, not normalised."""
    transforms.fft_c2c(self, dim, forward)
    return _aten._fft_c2c(self, dim, 0, forward)


def fft_c2r(self: Tensor, *, dim: Ints, last_dim_size: int) -> Tensor:
    """The inverse transform to real numbers, not normalised."""
    transforms.fft_c2r(self, dim, last_dim_size)
    return _aten._fft_c2r(self, dim, 0, last_dim_size)


def svd(A: Tensor, *, full_matrices: bool) -> Any:
    """Singular values, with the matrices on both sides."""
    transforms.svd(A, full_matrices)
    return _aten.linalg_svd(A, full_matrices)


def frexp(self: Tensor) -> Any:
    """Fractions and exponents."""
    transforms.frexp(self)
    return _aten.frexp.Tensor(self)
