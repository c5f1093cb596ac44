"""Shape functions of recurrent cells that devices fuse: no kernel of this package computes them."""

from __future__ import annotations

from dispatch._C.errors import refused
from dispatch._C.structured import TensorSpec
from dispatch._C.tensor import Tensor

__all__ = ["lstm_cell", "lstm_cell_backward"]


def _check_gates(
    input_gates: Tensor,
    hidden_gates: Tensor,
    cx: Tensor,
    input_bias: Tensor | None,
    hidden_bias: Tensor | None,
) -> None:
    shape = tuple(input_gates.shape)
    if len(shape) != 2 or tuple(hidden_gates.shape) != shape:
        raise refused(
            "expected input_gates and hidden_gates to be matrices of one shape, got "
            f"{list(shape)} and {list(hidden_gates.shape)}"
        )
    if input_bias is not None:
        for name, bias in (("input_bias", input_bias), ("hidden_bias", hidden_bias)):
            if bias is None or tuple(bias.shape) != shape[1:]:
                raise refused(f"expected {name} of shape {list(shape[1:])}")
    if cx.ndim != 2 or cx.numel() != shape[0] * shape[1] // 4:
        raise refused(f"cx of shape {list(cx.shape)} does not fit gates of shape {list(shape)}")


def lstm_cell(
    input_gates: Tensor,
    hidden_gates: Tensor,
    cx: Tensor,
    input_bias: Tensor | None,
    hidden_bias: Tensor | None,
) -> tuple[TensorSpec, ...]:
    """The output, the memory, and the gates that the backward pass needs."""
    _check_gates(input_gates, hidden_gates, cx, input_bias, hidden_bias)
    state = TensorSpec(cx.shape, cx.dtype)
    return state, state, TensorSpec(input_gates.shape, input_gates.dtype)


def lstm_cell_backward(
    grad_hy: Tensor | None,
    grad_cy: Tensor | None,
    cx: Tensor,
    cy: Tensor,
    workspace: Tensor,
    has_bias: bool,
) -> tuple[TensorSpec | None, ...]:
    """Gradients of the gates, of the memory, and of the bias."""
    if grad_hy is None and grad_cy is None:
        return None, None, None
    _check_backward(grad_hy, grad_cy, cx, cy, workspace)
    bias = TensorSpec(workspace.shape[1:], workspace.dtype) if has_bias else None
    return TensorSpec(workspace.shape, workspace.dtype), TensorSpec(cx.shape, cx.dtype), bias


def _check_backward(
    grad_hy: Tensor | None, grad_cy: Tensor | None, cx: Tensor, cy: Tensor, workspace: Tensor
) -> None:
    for name, t in (("grad_hy", grad_hy), ("grad_cy", grad_cy), ("cy", cy)):
        if t is not None and tuple(t.shape) != tuple(cx.shape):
            raise refused(f"expected {name} of shape {list(cx.shape)}, got {list(t.shape)}")
    if cx.ndim != 2 or workspace.ndim != 2 or workspace.numel() != 4 * cx.numel():
        raise refused(
            f"workspace of shape {list(workspace.shape)} does not fit cx of {list(cx.shape)}"
        )
