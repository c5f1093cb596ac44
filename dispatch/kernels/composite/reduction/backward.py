"""Gradients of reductions and scans that pick or multiply elements, written with operators.

Called for the composite operators. What was picked is written back to where it came from; a running
product divides by its elements, unless one of them is zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.meta import rules

__all__ = ["cummaxmin_backward", "cumprod_backward", "value_selecting_reduction_backward"]

_aten = ops.aten


def value_selecting_reduction_backward(
    grad: Tensor, dim: int, indices: Tensor, sizes: Sequence[int], keepdim: bool
) -> Tensor:
    """The gradient of max.dim and its like: at the places that were picked, else zero."""
    if not keepdim and len(sizes):
        grad, indices = _aten.unsqueeze(grad, dim), _aten.unsqueeze(indices, dim)
    return _aten.scatter.src(_aten.new_zeros(grad, list(sizes)), dim, indices, grad)


def cummaxmin_backward(grad: Tensor, input: Tensor, indices: Tensor, dim: int) -> Tensor:
    """The gradients of cummax and cummin: an element may have been the extreme several times."""
    if input.numel() == 0:
        return input
    kind: dict[str, Any] = {"dtype": input.dtype, "layout": input.layout, "device": input.device}
    return _aten.scatter_add(_aten.zeros(list(input.shape), **kind), dim, indices, grad)


def _cumsum_from_end(values: Tensor, dim: int) -> Tensor:
    if values.shape[dim] == 1:
        return values
    return _aten.flip(_aten.cumsum(_aten.flip(values, [dim]), dim), [dim])


def cumprod_backward(grad: Tensor, input: Tensor, dim: int, output: Tensor) -> Tensor:
    """The gradient of cumprod: of x_k, the products that hold it, without it."""
    if input.numel() <= 1:
        return grad
    dim = rules.wrap_dim(dim, input.ndim)
    if input.shape[dim] == 1:
        return grad
    factors = _aten.conj(input)
    weighed = _aten.mul.Tensor(_aten.conj(output), grad)
    zeros = _aten.eq.Scalar(input, 0)
    if rules.is_eager(input) and not _aten.item(_aten.any(zeros)):
        return _aten.div.Tensor(_cumsum_from_end(weighed, dim), factors)
    return _by_products(grad, factors, dim)


def _by_products(grad: Tensor, factors: Tensor, dim: int) -> Tensor:
    """Without a division, in as many steps as there are factors."""
    size = factors.shape[dim]
    columns = []
    for k in range(size):
        rest = None
        if k < size - 1:
            rest = _aten.cumprod(_aten.slice.Tensor(factors, dim, k + 1), dim)
        if k == 0:
            kind = dict[str, Any](dtype=grad.dtype, layout=grad.layout, device=grad.device)
            sizes = [1 if i == dim else n for i, n in enumerate(factors.shape)]
            before = _aten.expand(_aten.ones([1], **kind), sizes)
        else:
            before = _aten.prod.dim_int(_aten.slice.Tensor(factors, dim, 0, k), dim, True)
        products = before
        if rest is not None:
            after = rest if k == 0 else _aten.mul.Tensor(_aten.expand_as(before, rest), rest)
            products = _aten.cat([before, after], dim)
        of_rest = _aten.slice.Tensor(grad, dim, k)
        columns.append(_aten.sum.dim_IntList(_aten.mul.Tensor(of_rest, products), [dim]))
    return _aten.stack(columns, dim)
