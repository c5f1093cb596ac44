"""TorchScript's writes without gradients, and indexing by lists in which every index is given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dispatch._C.grad_mode import no_grad
from dispatch._C.tensor import Tensor
from dispatch._ops import ops

__all__ = [
    "index",
    "index_put",
    "index_put_",
    "index_put_impl_",
    "no_grad_fill_",
    "no_grad_normal_",
    "no_grad_uniform_",
    "no_grad_zero_",
    "unsafe_index",
    "unsafe_index_put",
]

_aten = ops.aten
Indices = Sequence[Tensor]


def no_grad_fill_(tensor: Tensor, val: float) -> Tensor:
    """Full of the number."""
    with no_grad():
        return _aten.fill_.Scalar(tensor, val)


def no_grad_zero_(tensor: Tensor) -> Tensor:
    """Full of zeros."""
    with no_grad():
        return _aten.zero_(tensor)


def no_grad_uniform_(tensor: Tensor, a: float, b: float, generator: Any = None) -> Tensor:
    """Drawn evenly from `a` to `b`."""
    with no_grad():
        return _aten.uniform_(tensor, a, b, generator=generator)


def no_grad_normal_(tensor: Tensor, mean: float, std: float, generator: Any = None) -> Tensor:
    """Drawn from a normal distribution."""
    with no_grad():
        return _aten.normal_(tensor, mean, std, generator=generator)


def index(self: Tensor, indices: Indices) -> Tensor:
    """self[indices]."""
    return _aten.index.Tensor(self, indices)


def unsafe_index(self: Tensor, indices: Indices) -> Tensor:
    """self[indices], whose bounds need no check."""
    return _aten._unsafe_index.Tensor(self, indices)


def index_put(self: Tensor, indices: Indices, values: Tensor, accumulate: bool = False) -> Tensor:
    """A copy of self with `values` at the indices."""
    return _aten.index_put.default(self, indices, values, accumulate)


def unsafe_index_put(
    self: Tensor, indices: Indices, values: Tensor, accumulate: bool = False
) -> Tensor:
    """The same; bounds need no check."""
    return _aten._unsafe_index_put.default(self, indices, values, accumulate)


def index_put_(self: Tensor, indices: Indices, values: Tensor, accumulate: bool = False) -> Tensor:
    """`values`, written to self at the indices."""
    return _aten.index_put_.default(self, indices, values, accumulate)


def index_put_impl_(
    self: Tensor,
    indices: Indices,
    values: Tensor,
    accumulate: bool = False,
    unsafe: bool = False,
) -> Tensor:
    """The same, as the operator behind it."""
    return _aten._index_put_impl_.default(self, indices, values, accumulate, unsafe)
