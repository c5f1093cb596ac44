"""Recurrent networks: layers of cells over sequences, in one direction or two.

Called for tensors of all kinds. A sequence is a tensor with time first, or packed: the steps of
several sequences, the longest first, one step behind the other, and how many sequences each step
has. The input's part of all steps' gates is made at once; an LSTM's layer is one call where it can
be. A layer's state is a tuple of tensors (two for an LSTM).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from dispatch._C.disabled import _disabled_torch_dispatch_impl
from dispatch._C.dtypes import contiguous_format, float32
from dispatch._C.errors import refused
from dispatch._C.grad_mode import is_grad_enabled
from dispatch._C.keys import DispatchKey, _dispatch_key_for_device
from dispatch._C.tensor import Tensor
from dispatch._C.tls import _dispatch_tls_is_dispatch_key_excluded, _len_torch_dispatch_stack
from dispatch._ops import ops
from dispatch.kernels.composite.recurrent.cells import (
    Cell,
    Parameters,
    State,
    gru_step,
    lstm_step,
    relu_step,
    tanh_step,
)
from dispatch.kernels.meta import rules

__all__ = [
    "gru_data",
    "gru_input",
    "lstm_data",
    "lstm_input",
    "rnn_relu_data",
    "rnn_relu_input",
    "rnn_tanh_data",
    "rnn_tanh_input",
]

_aten = ops.aten
_LSTM = 2  # the mode of a fused layer
# A layer in one direction: input, state, weights, whether backwards -> outputs, the last state.
_Run = Callable[[Tensor, State, Parameters, bool], tuple[Tensor, State]]


class _Network(NamedTuple):
    """What a call says of the whole stack."""

    num_layers: int
    dropout: float
    train: bool
    bidirectional: bool


# ---- one layer in one direction ----------------------------------------------------------------


def _outlined(
    cell: Cell, gates: Tensor, state: State, weights: Parameters
) -> tuple[Tensor, State]:
    """Of an open number of steps: all give what one gives, and nobody sees the calls of each."""
    length = gates.shape[0]
    if not rules.holds(length >= 1):
        raise refused("expected a sequence of at least one step")
    state = cell(_aten.select.int(gates, 0, 0), state, weights)
    output = _aten.expand(_aten.unsqueeze(state[0], 0), [length, *state[0].shape])
    return _aten.clone(output, memory_format=contiguous_format), state


def _over_time(cell: Cell) -> _Run:
    def run(
        input: Tensor, state: State, weights: Parameters, backwards: bool
    ) -> tuple[Tensor, State]:
        whole = weights.of_input(input)
        length: Any = whole.shape[0]
        if not isinstance(length, int) and _len_torch_dispatch_stack() <= 1:
            return _outlined(cell, whole, state, weights)
        steps = _aten.unbind.int(whole, 0)
        if not steps:
            raise refused("expected a sequence of at least one step")
        outputs = []
        for gates in reversed(steps) if backwards else steps:
            state = cell(gates, state, weights)
            outputs.append(state[0])
        return _aten.stack(outputs[::-1] if backwards else outputs, 0), state

    return run


_lstm_by_steps = _over_time(lstm_step)


def _is_whole(input: Tensor, state: State, weights: Parameters) -> bool:
    """Whether a layer is one call: of float32 on the CPU, without gradients or projections.

    Tensors are of one class, or of classes that see no calls, as parameters are.
    """
    given = [t for t in (input, *state, *weights) if t is not None]
    classes: set[Any] = {type(t) for t in given}
    return (
        weights.w_hr is None
        and all(t.dtype is float32 for t in given)
        and all(map(rules.is_eager, given))
        and (
            len(classes) == 1
            or all(c.__torch_dispatch__ is _disabled_torch_dispatch_impl for c in classes)
        )
        and input.numel() != 0
        and not _len_torch_dispatch_stack()
        and not (is_grad_enabled() and any(t.requires_grad for t in given))
    )


def _lstm_over_time(
    input: Tensor, state: State, weights: Parameters, backwards: bool
) -> tuple[Tensor, State]:
    if not _is_whole(input, state, weights):
        return _lstm_by_steps(input, state, weights, backwards)
    w_ih, w_hh, b_ih, b_hh, _ = weights
    output, hidden, memory, _ = _aten.mkldnn_rnn_layer(
        input,
        w_ih,
        w_hh,
        w_ih if b_ih is None else b_ih,  # not read
        w_hh if b_hh is None else b_hh,
        state[0],
        state[1],
        reverse=backwards,
        batch_sizes=[],
        mode=_LSTM,
        hidden_size=w_hh.shape[1],
        num_layers=1,
        has_biases=b_ih is not None,
        bidirectional=False,
        batch_first=False,
        train=False,
    )
    return output, (hidden, memory)


def _part(state: State, start: int, end: int) -> State:
    return tuple(_aten.narrow(t, 0, start, end - start) for t in state)


def _joined(states: Sequence[State]) -> State:
    return tuple(_aten.cat(list(parts), 0) for parts in zip(*states, strict=True))


def _packed(cell: Cell, batch_sizes: Sequence[int]) -> _Run:
    """A sequence that is over leaves its state behind; backwards it comes in with its first one."""

    def forwards(gates: Tensor, state: State, weights: Parameters) -> tuple[list[Tensor], State]:
        outputs, over, at, last = [], [], 0, batch_sizes[0]
        for size in batch_sizes:
            step = _aten.narrow(gates, 0, at, size)
            at += size
            if size < last:
                over.append(_part(state, size, last))
                state = _part(state, 0, size)
            last = size
            state = cell(step, state, weights)
            outputs.append(state[0])
        return outputs, _joined([state, *reversed(over)])

    def backwards(gates: Tensor, first: State, weights: Parameters) -> tuple[list[Tensor], State]:
        outputs, at, last = [], gates.shape[0], batch_sizes[-1]
        state = _part(first, 0, last)
        for size in reversed(batch_sizes):
            if size > last:
                state = _joined([state, _part(first, last, size)])
            at -= size
            state = cell(_aten.narrow(gates, 0, at, size), state, weights)
            last = size
            outputs.append(state[0])
        return outputs[::-1], state

    def run(input: Tensor, state: State, weights: Parameters, back: bool) -> tuple[Tensor, State]:
        gates = weights.of_input(input)
        outputs, state = (backwards if back else forwards)(gates, state, weights)
        return _aten.cat(outputs, 0), state

    return run


# ---- the stack ---------------------------------------------------------------------------------


def _gathered(params: Sequence[Tensor], has_biases: bool, projected: bool) -> list[Parameters]:
    """The weights of each layer and direction."""
    count = 2 + 2 * has_biases + projected
    if len(params) % count:
        raise refused(f"expected {count} params for each layer and direction, got {len(params)}")
    found = []
    for i in range(0, len(params), count):
        given = list(params[i : i + count])
        projection = given.pop() if projected else None
        biases = given[2:] if has_biases else [None, None]
        found.append(Parameters(given[0], given[1], biases[0], biases[1], projection))
    return found


def _stacked(
    run: _Run, input: Tensor, states: Sequence[State], weights: list[Parameters], net: _Network
) -> tuple[Tensor, list[State]]:
    """The last layer's outputs, and the last state of each layer and direction."""
    directions = 2 if net.bidirectional else 1
    for name, given in (("hidden states", states), ("weights", weights)):
        if len(given) != net.num_layers * directions:
            raise refused(
                f"expected {name} for {net.num_layers} layers and {directions} directions, "
                f"got {len(given)}"
            )
    last = []
    for layer in range(net.num_layers):
        outputs = []
        for back in range(directions):
            i = layer * directions + back
            output, state = run(input, states[i], weights[i], back == 1)
            outputs.append(output)
            last.append(state)
        input = outputs[0] if directions == 1 else _aten.cat(outputs, outputs[0].ndim - 1)
        if net.dropout != 0 and net.train and layer < net.num_layers - 1:
            input = _aten.dropout(input, net.dropout, True)
    return input, last


def _are_cast(tensor: Tensor) -> bool:
    """Whether autocast is on for the tensor's device: each step's products get one dtype then."""
    key = "Autocast" + _dispatch_key_for_device(tensor.device.type)
    return hasattr(DispatchKey, key) and not _dispatch_tls_is_dispatch_key_excluded(
        getattr(DispatchKey, key)
    )


def _check_alike(input: Tensor, hidden: Sequence[Tensor], params: Sequence[Tensor]) -> None:
    for name, tensors in (("hidden", hidden), ("parameter", params)):
        for t in tensors:
            other = t.dtype is not input.dtype and not _are_cast(input)
            if t.device != input.device or other:
                raise refused(
                    f"expected {name} tensors of input's {input.dtype} on {input.device}, "
                    f"got {t.dtype} on {t.device}"
                )


def _states(hx: Sequence[Tensor]) -> list[State]:
    return list(zip(*(_aten.unbind.int(t, 0) for t in hx), strict=True))


def _results(output: Tensor, last: list[State]) -> tuple[Tensor, ...]:
    return output, *(_aten.stack(list(parts), 0) for parts in zip(*last, strict=True))


def _over_tensor(
    run: _Run,
    input: Tensor,
    hx: Sequence[Tensor],
    params: Sequence[Tensor],
    has_biases: bool,
    batch_first: bool,
    net: _Network,
    projected: bool = False,
) -> tuple[Tensor, ...]:
    _check_alike(input, hx, params)
    if batch_first:
        input = _aten.transpose.int(input, 0, 1)
    weights = _gathered(params, has_biases, projected)
    output, *states = _results(*_stacked(run, input, _states(hx), weights, net))
    if batch_first:  # with one state in place, as a mode sees it in PyTorch
        turned = _aten.transpose.int if len(hx) == 2 else _aten.transpose_.default
        output = turned(output, 0, 1)
    return output, *states


def _over_packed(
    cell: Cell,
    data: Tensor,
    batch_sizes: Tensor,
    hx: Sequence[Tensor],
    params: Sequence[Tensor],
    has_biases: bool,
    net: _Network,
    projected: bool = False,
) -> tuple[Tensor, ...]:
    if not rules.is_eager(batch_sizes):
        raise refused("batch_sizes has no values to read")
    sizes = batch_sizes.tolist()
    _check_sizes(data, sizes, hx)
    weights = _gathered(params, has_biases, projected)
    return _results(*_stacked(_packed(cell, sizes), data, _states(hx), weights, net))


def _check_sizes(data: Tensor, sizes: list[int], hx: Sequence[Tensor]) -> None:
    if not sizes or sum(sizes) != data.shape[0] or any(a < b for a, b in pairwise(sizes)):
        raise refused(
            f"expected batch_sizes that fall and add up to {data.shape[0]} rows of data, "
            f"got {sizes}"
        )
    for t in hx:
        if t.ndim != 3 or t.shape[1] != sizes[0]:
            raise refused(f"expected hx for {sizes[0]} sequences, got {list(t.shape)}")


def _check_pair(hx: Sequence[Tensor]) -> bool:
    """Whether outputs are projected: they have another size than the memory."""
    if len(hx) != 2:
        raise refused(f"expected hx to have 2 tensors, got {len(hx)}")
    return hx[0].size(2) != hx[1].size(2)


def lstm_input(
    input: Tensor,
    hx: Sequence[Tensor],
    params: Sequence[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[Tensor, ...]:
    """Outputs, the last outputs, and the last memories."""
    net = _Network(num_layers, dropout, train, bidirectional)
    projected = _check_pair(hx)
    return _over_tensor(_lstm_over_time, input, hx, params, has_biases, batch_first, net, projected)


def lstm_data(
    data: Tensor,
    batch_sizes: Tensor,
    hx: Sequence[Tensor],
    params: Sequence[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
) -> tuple[Tensor, ...]:
    """The same of packed sequences."""
    net = _Network(num_layers, dropout, train, bidirectional)
    projected = _check_pair(hx)
    return _over_packed(lstm_step, data, batch_sizes, hx, params, has_biases, net, projected)


def _with_one_state(cell: Cell) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The operators `NAME.input` and `NAME.data` of a cell whose state is one tensor."""
    run = _over_time(cell)

    def over_tensor(
        input: Tensor,
        hx: Tensor,
        params: Sequence[Tensor],
        has_biases: bool,
        num_layers: int,
        dropout: float,
        train: bool,
        bidirectional: bool,
        batch_first: bool,
    ) -> tuple[Tensor, ...]:
        net = _Network(num_layers, dropout, train, bidirectional)
        return _over_tensor(run, input, (hx,), params, has_biases, batch_first, net)

    def over_packed(
        data: Tensor,
        batch_sizes: Tensor,
        hx: Tensor,
        params: Sequence[Tensor],
        has_biases: bool,
        num_layers: int,
        dropout: float,
        train: bool,
        bidirectional: bool,
    ) -> tuple[Tensor, ...]:
        net = _Network(num_layers, dropout, train, bidirectional)
        return _over_packed(cell, data, batch_sizes, (hx,), params, has_biases, net)

    return over_tensor, over_packed


gru_input, gru_data = _with_one_state(gru_step)
rnn_tanh_input, rnn_tanh_data = _with_one_state(tanh_step)
rnn_relu_input, rnn_relu_data = _with_one_state(relu_step)
