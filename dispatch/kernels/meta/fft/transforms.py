"""Sizes and strides of Fourier transforms of complex, from real and to real numbers.

Called by the structured kernels of `_fft_c2c`, `_fft_r2c` and `_fft_c2r`. PyTorch's CPU transforms
move the batch dimensions to the front, in the order of their strides, transform, and undo the move
in the strides of the result: `transform_strides` is that bookkeeping (_exec_fft in its MKL code).
"""

from __future__ import annotations

from collections.abc import Sequence

from dispatch._C.dtypes import (
    complex32,
    complex64,
    complex128,
    dtype,
    float16,
    float32,
    float64,
)
from dispatch._C.errors import refused
from dispatch._C.structured import TensorSpec
from dispatch._C.tensor import Tensor
from dispatch.kernels.meta.rules import (
    contiguous_strides,
    dense_like_strides,
    is_eager,
    numel,
)

__all__ = ["c2c", "c2r", "r2c"]

Ints = Sequence[int]

COMPLEX_OF = {float16: complex32, float32: complex64, float64: complex128}
REAL_OF = {kind: real for real, kind in COMPLEX_OF.items()}


def by_stride(dims: Ints, strides: Ints) -> list[int]:
    """`dims` from the outermost in memory to the innermost; equal strides keep their order."""
    return sorted(dims, key=lambda d: strides[d], reverse=True)


def partitioned(ndim: int, dims: Ints) -> list[int]:
    """Dimensions not in `dims`, in the order in which std::partition leaves them."""
    order = list(range(ndim))
    first, last = 0, ndim - 1
    while True:
        while first <= last and order[first] not in dims:
            first += 1
        while first < last and order[last] in dims:
            last -= 1
        if first >= last:
            return order[:first]
        order[first], order[last] = order[last], order[first]


def transform_strides(strides: Ints, out_sizes: Ints, dims: Ints) -> tuple[int, ...]:
    """Strides of the transform along `dims` of a tensor with `strides`."""
    ndim = len(out_sizes)
    batch = by_stride(partitioned(ndim, dims), strides)
    signal = contiguous_strides([1, *(out_sizes[d] for d in dims)])
    out = [0] * ndim
    for d, step in zip(dims, signal[1:], strict=True):
        out[d] = step
    step = signal[0]
    for d in reversed(batch):
        out[d] = step
        step *= out_sizes[d]
    return tuple(out)


def check_any(dim: Ints) -> None:
    """The last dimension is halved or doubled: there must be one."""
    if not dim:
        raise refused("dim must name at least one dimension", IndexError)


def wrapped(self: Tensor, dim: Ints) -> list[int]:
    """`dim` counted from the front."""
    out = []
    for d in dim:
        if not -self.ndim <= d < self.ndim:
            raise refused(f"dimension {d} is out of range for {list(self.shape)}", IndexError)
        out.append(d % self.ndim)
    if len(set(out)) != len(out):
        raise refused(f"a dimension is given more than once in {list(dim)}")
    if any(self.shape[d] == 0 for d in out):
        raise refused(f"dimensions {out} of {list(self.shape)} must not be empty")
    return out


def runs_along_rows(self: Tensor, dims: Ints) -> bool:
    """Whether rows are transformed where they lie: the result is contiguous, too."""
    return len(dims) == 1 and dims[0] == self.ndim - 1 and self.is_contiguous()


def spec(self: Tensor, sizes: Ints, kind: dtype, strides: Ints | None) -> TensorSpec:
    """Out variants copy: the CPU into an output of any dtype, Meta into one that it casts to."""
    if is_eager(self):
        return TensorSpec(sizes, kind, strides, cast="any", overlap="any", copied=True)
    return TensorSpec(sizes, kind, strides, copied=True)


def c2c(self: Tensor, dim: Ints, normalization: int, forward: bool) -> TensorSpec:
    if not self.dtype.is_complex:
        raise refused(f"expected self to be complex, got {self.dtype}")
    dims = wrapped(self, dim)
    strides = self.stride()
    if not dims:
        return spec(self, self.shape, self.dtype, dense_like_strides(self))
    if runs_along_rows(self, dims):
        return spec(self, self.shape, self.dtype, None)
    order = by_stride(dims, strides)
    return spec(self, self.shape, self.dtype, transform_strides(strides, self.shape, order))


def r2c(self: Tensor, dim: Ints, normalization: int, onesided: bool) -> TensorSpec:
    if self.dtype not in COMPLEX_OF:
        raise refused(f"not implemented for {self.dtype}")
    check_any(dim)
    dims = wrapped(self, dim)
    sizes = list(self.shape)
    if onesided:
        sizes[dims[-1]] = sizes[dims[-1]] // 2 + 1
    if runs_along_rows(self, dims):
        return spec(self, sizes, COMPLEX_OF[self.dtype], None)
    strides = self.stride()
    order = [*by_stride(dims[:-1], strides), dims[-1]]
    steps = transform_strides(strides, sizes, order)
    return spec(self, sizes, COMPLEX_OF[self.dtype], steps)


def c2r(self: Tensor, dim: Ints, normalization: int, last_dim_size: int) -> TensorSpec:
    if self.dtype not in REAL_OF:
        raise refused(f"not implemented for {self.dtype}")
    check_any(dim)
    dims = wrapped(self, dim)
    sizes, strides = list(self.shape), self.stride()
    if len(dims) > 1:  # complex to complex first, then along the last one
        strides = transform_strides(strides, sizes, by_stride(dims[:-1], strides))
    sizes[dims[-1]] = last_dim_size
    numel(sizes)
    if runs_along_rows(self, dims):
        return spec(self, sizes, REAL_OF[self.dtype], None)
    strides = transform_strides(strides, sizes, dims[-1:])
    return spec(self, sizes, REAL_OF[self.dtype], strides)
