"""Gradients of views: where a part of the input was seen, the gradient; elsewhere zeros.

Called by autograd's formulas and by users of `ops`. Each makes zeros of the input's sizes and
writes the gradient through the view itself, so that what a view refuses is refused here too. Where
sizes are expressions there is no memory to write to, and nothing is asked, as in PyTorch.
"""

from __future__ import annotations

from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.meta import rules

__all__ = ["diagonal_backward", "select_backward", "slice_backward", "trace_backward"]

_aten = ops.aten


def diagonal_backward(
    grad_output: Tensor, input_sizes: list[int], offset: int, dim1: int, dim2: int
) -> Tensor:
    """The gradient on a diagonal."""
    result = _aten.new_zeros(grad_output, input_sizes)
    if rules.are_numbers(grad_output.shape, input_sizes):
        _aten.copy_(_aten.diagonal(result, offset, dim1, dim2), grad_output)
    return result


def select_backward(grad_output: Tensor, input_sizes: list[int], dim: int, index: int) -> Tensor:
    """The gradient in one slice."""
    result = _aten.new_zeros(grad_output, input_sizes)
    if rules.are_numbers(grad_output.shape, input_sizes):
        _aten.copy_(_aten.select.int(result, dim, index), grad_output)
    return result


def slice_backward(
    grad_output: Tensor, input_sizes: list[int], dim: int, start: int, end: int, step: int
) -> Tensor:
    """The gradient in every `step`th slice."""
    result = _aten.new_zeros(grad_output, input_sizes)
    if rules.are_numbers(grad_output.shape, input_sizes):
        _aten.copy_(_aten.slice.Tensor(result, dim, start, end, step), grad_output)
    return result


def trace_backward(grad: Tensor, sizes: list[int]) -> Tensor:
    """The gradient, one number, on the diagonal of a matrix."""
    if len(sizes) != 2:
        raise refused(f"expected the sizes of a matrix, got {sizes}")
    result = _aten.new_zeros(grad, sizes)
    _aten.fill_.Tensor(_aten.diagonal(result), grad)
    return result
