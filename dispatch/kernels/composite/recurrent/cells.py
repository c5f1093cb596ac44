"""Cells of recurrent networks: one step, its gates made by two linear layers.

Called for tensors of all kinds, by the operators of one step (`lstm_cell`, ...) and, with the
input's part of the gates made for all steps at once, by the layers beside this file. A state is a
tuple of tensors: an LSTM's output and its memory, or one. The operators underneath are PyTorch's,
in its order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.grad_mode import is_grad_enabled
from dispatch._C.tensor import Tensor
from dispatch._ops import ops

__all__ = [
    "Cell",
    "Parameters",
    "State",
    "differentiable_gru_cell_backward",
    "differentiable_lstm_cell_backward",
    "fused_lstm_cell_backward",
    "gru_cell",
    "gru_step",
    "lstm_cell",
    "lstm_step",
    "relu_step",
    "rnn_relu_cell",
    "rnn_tanh_cell",
    "tanh_step",
]

_aten = ops.aten
State = tuple[Tensor, ...]


class Parameters(NamedTuple):
    """The weights of a layer in one direction."""

    w_ih: Tensor
    w_hh: Tensor
    b_ih: Tensor | None = None
    b_hh: Tensor | None = None
    w_hr: Tensor | None = None  # projects an LSTM's output

    def of_input(self, input: Tensor) -> Tensor:
        """The input's part of the gates."""
        return _aten.linear(input, self.w_ih, self.b_ih)

    def of_hidden(self, hidden: Tensor) -> Tensor:
        """The state's part."""
        return _aten.linear(hidden, self.w_hh, self.b_hh)


# One step: the input's part of the gates, the state, the weights -> the new state.
Cell = Callable[[Tensor, State, Parameters], State]


def lstm_step(gates: Tensor, state: State, weights: Parameters) -> State:
    """The output and the memory."""
    hidden, memory = state
    gates = _aten.add_.Tensor(weights.of_hidden(hidden), gates)
    into, forget, cell, out = _aten.unsafe_chunk(gates, 4, 1)
    into, forget = _aten.sigmoid_(into), _aten.sigmoid_(forget)
    cell, out = _aten.tanh_(cell), _aten.sigmoid_(out)
    kept = _aten.mul.Tensor(forget, memory)
    memory = _aten.add_.Tensor(kept, _aten.mul.Tensor(into, cell))
    hidden = _aten.mul.Tensor(out, _aten.tanh(memory))
    if weights.w_hr is not None:
        hidden = _aten.matmul(hidden, _aten.t(weights.w_hr))
    return hidden, memory


def gru_step(gates: Tensor, state: State, weights: Parameters) -> State:
    """A mean of the state and what the input makes new of it."""
    (hidden,) = state
    reset_in, update_in, new_in = _aten.unsafe_chunk(gates, 3, 1)
    reset, update, new = _aten.unsafe_chunk(weights.of_hidden(hidden), 3, 1)
    reset = _aten.sigmoid_(_aten.add_.Tensor(reset, reset_in))
    update = _aten.sigmoid_(_aten.add_.Tensor(update, update_in))
    new = _aten.tanh_(_aten.add.Tensor(new_in, _aten.mul_.Tensor(new, reset)))
    difference = _aten.mul_.Tensor(_aten.sub.Tensor(hidden, new), update)
    return (_aten.add_.Tensor(difference, new),)


def _simple(nonlinear: Callable[[Tensor], Tensor]) -> Cell:
    def step(gates: Tensor, state: State, weights: Parameters) -> State:
        return (nonlinear(_aten.add_.Tensor(weights.of_hidden(state[0]), gates)),)

    return step


tanh_step = _simple(lambda gates: _aten.tanh(gates))
relu_step = _simple(lambda gates: _aten.relu(gates))


# ---- operators of one step ---------------------------------------------------------------------


def _check(input: Tensor, state: Sequence[Tensor], weights: Parameters) -> None:
    if input.size(1) != weights.w_ih.size(1):
        raise refused(
            f"input has inconsistent input_size: got {input.size(1)} expected "
            f"{weights.w_ih.size(1)}"
        )
    for i, hidden in enumerate(state):
        if input.size(0) != hidden.size(0):
            raise refused(
                f"Input batch size {input.size(0)} doesn't match hidden{i} batch size "
                f"{hidden.size(0)}"
            )
        if hidden.size(1) != weights.w_hh.size(1):
            raise refused(
                f"hidden{i} has inconsistent hidden_size: got {hidden.size(1)}, expected "
                f"{weights.w_hh.size(1)}"
            )


def _step(cell: Cell, input: Tensor, state: State, weights: Parameters) -> State:
    _check(input, state, weights)
    return cell(weights.of_input(input), state, weights)


def lstm_cell(
    input: Tensor,
    hx: Sequence[Tensor],
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> State:
    """The output and the memory after one step."""
    if len(hx) != 2:
        raise refused(f"expected hx to have 2 tensors, got {len(hx)}")
    return _step(lstm_step, input, tuple(hx), Parameters(w_ih, w_hh, b_ih, b_hh))


def gru_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor:
    """The state after one step."""
    return _step(gru_step, input, (hx,), Parameters(w_ih, w_hh, b_ih, b_hh))[0]


def rnn_tanh_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor:
    """The state after one step."""
    return _step(tanh_step, input, (hx,), Parameters(w_ih, w_hh, b_ih, b_hh))[0]


def rnn_relu_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor:
    """The state after one step."""
    return _step(relu_step, input, (hx,), Parameters(w_ih, w_hh, b_ih, b_hh))[0]


# ---- gradients of a step -----------------------------------------------------------------------

_Gradients = tuple[Tensor | None, ...]


def _with_bias(gates: Tensor, *biases: Tensor | None) -> Tensor:
    for bias in biases:
        if bias is not None:
            gates = _aten.add.Tensor(gates, bias)
    return gates


def _of_bias(bias: Tensor | None, grad: Tensor) -> Tensor | None:
    return None if bias is None else _aten.sum.dim_IntList(grad, [0])


def differentiable_lstm_cell_backward(
    grad_hy: Tensor | None,
    grad_cy: Tensor | None,
    input_gates: Tensor,
    hidden_gates: Tensor,
    input_bias: Tensor | None,
    hidden_bias: Tensor | None,
    cx: Tensor,
    cy: Tensor,
) -> _Gradients:
    """Gradients of both parts of the gates, of the memory, and of both biases."""
    if grad_hy is None and grad_cy is None:
        return (None,) * 5
    gates = _with_bias(_aten.add.Tensor(input_gates, hidden_gates), input_bias, hidden_bias)
    chunks = _aten.unsafe_chunk(gates, 4, 1)
    into, forget, out = (_aten.sigmoid(chunks[i]) for i in (0, 1, 3))
    cell = _aten.tanh(chunks[2])
    if grad_hy is not None:
        memory = _aten.tanh(cy)
        grad_out = _aten.sigmoid_backward(_aten.mul.Tensor(grad_hy, memory), out)
        grad = _aten.tanh_backward(_aten.mul.Tensor(grad_hy, out), memory)
        grad = grad if grad_cy is None else _aten.add.Tensor(grad, grad_cy)
    else:
        assert grad_cy is not None
        grad_out = _aten.zeros_like(cx, memory_format=dtypes.contiguous_format)
        grad = grad_cy
    grad_gates = _aten.cat(
        [
            _aten.sigmoid_backward(_aten.mul.Tensor(grad, cell), into),
            _aten.sigmoid_backward(_aten.mul.Tensor(grad, cx), forget),
            _aten.tanh_backward(_aten.mul.Tensor(grad, into), cell),
            grad_out,
        ],
        1,
    )
    bias = _of_bias(input_bias, grad_gates)
    return grad_gates, grad_gates, _aten.mul.Tensor(grad, forget), bias, bias


def differentiable_gru_cell_backward(
    grad_hy: Tensor,
    input_gates: Tensor,
    hidden_gates: Tensor,
    hx: Tensor,
    input_bias: Tensor | None,
    hidden_bias: Tensor | None,
) -> _Gradients:
    """Gradients of both parts of the gates, of the state, and of both biases."""
    from_input = _aten.unsafe_chunk(_with_bias(input_gates, input_bias), 3, 1)
    from_hidden = _aten.unsafe_chunk(_with_bias(hidden_gates, hidden_bias), 3, 1)
    reset, update = (
        _aten.sigmoid(_aten.add.Tensor(i, h))
        for i, h in zip(from_input[:2], from_hidden[:2], strict=True)
    )
    new = _aten.tanh(_aten.add.Tensor(from_input[2], _aten.mul.Tensor(reset, from_hidden[2])))
    difference = _aten.mul.Tensor(grad_hy, _aten.sub.Tensor(hx, new))
    grad_update = _aten.sigmoid_backward(difference, update)
    share = _aten.mul.Tensor(grad_hy, _aten.rsub.Scalar(update, 1))
    grad_new = _aten.tanh_backward(share, new)
    grad_reset = _aten.sigmoid_backward(_aten.mul.Tensor(grad_new, from_hidden[2]), reset)
    grad_input = _aten.cat([grad_reset, grad_update, grad_new], 1)
    grad_hidden = _aten.cat([grad_reset, grad_update, _aten.mul.Tensor(grad_new, reset)], 1)
    return (
        grad_input,
        grad_hidden,
        _aten.mul.Tensor(grad_hy, update),
        _of_bias(input_bias, grad_input),
        _of_bias(hidden_bias, grad_hidden),
    )


def fused_lstm_cell_backward(
    grad_hy: Tensor | None,
    grad_cy: Tensor | None,
    cx: Tensor,
    cy: Tensor,
    workspace: Tensor,
    has_bias: bool,
) -> _Gradients:
    """The same of a device's fused cell: both parts of the gates, and both biases, have one."""
    if is_grad_enabled():
        raise refused("expected grad mode to be off: this gradient has none of its own")
    gates, memory, bias = _aten._thnn_fused_lstm_cell_backward_impl(
        grad_hy, grad_cy, cx, cy, workspace, has_bias
    )
    return gates, gates, memory, bias, bias
