"""TorchScript's views and copies: second names of operators, with a type of their own."""

from __future__ import annotations

from collections.abc import Sequence

from dispatch._C.tensor import Tensor
from dispatch._ops import ops

__all__ = ["cpu", "cuda", "grad_sum_to_size", "mH", "mT", "matrix_H", "numpy_T"]

_aten = ops.aten


def mT(self: Tensor) -> Tensor:
    """Each matrix transposed."""
    return _aten.mT.default(self)


def mH(self: Tensor) -> Tensor:
    """Each matrix transposed and conjugated."""
    return _aten.mH.default(self)


def matrix_H(self: Tensor) -> Tensor:
    """The matrix transposed and conjugated."""
    return _aten.matrix_H.default(self)


def numpy_T(self: Tensor) -> Tensor:
    """The dimensions in reverse order."""
    return _aten.numpy_T.default(self)


def grad_sum_to_size(self: Tensor, size: Sequence[int] | None) -> Tensor:
    """Summed to a size that is broadcast to self's, or self."""
    return self if size is None else _aten.sum_to_size(self, size)


def cpu(self: Tensor) -> Tensor:
    """On the CPU."""
    return self.cpu()


def cuda(self: Tensor) -> Tensor:
    """On the device."""
    return self.cuda()
