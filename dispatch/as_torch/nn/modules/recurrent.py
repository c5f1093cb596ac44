"""Recurrent networks and their cells: weights under PyTorch's names, computed by its operators.

A packed batch (`packed`) goes in and comes out packed; states are in the order of its sequences.
"""

import math
from typing import Any, ClassVar

import dispatch
from dispatch._C.advice import advise
from dispatch.as_torch.nn import init
from dispatch.as_torch.nn.modules.module import Module
from dispatch.as_torch.nn.packed import PackedSequence
from dispatch.as_torch.nn.parameter import Parameter
from dispatch.library.autocast import _is_any_autocast_enabled

__all__ = ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNBase", "RNNCell", "RNNCellBase"]


def _draw(module: Module, hidden_size: int) -> None:
    """Parameters from a uniform distribution of width 1 / sqrt(hidden_size)."""
    bound = 1.0 / math.sqrt(hidden_size) if hidden_size > 0 else 0
    for parameter in module.parameters():
        init.uniform_(parameter, -bound, bound)


class RNNBase(Module):
    """Layers of cells, in one direction or in both (torch.nn.RNNBase)."""

    gates: ClassVar[dict[str, int]] = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}

    def __init__(
        self, mode: str, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True,
        batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False,
        proj_size: int = 0, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if mode not in self.gates:
            raise ValueError(f"Unrecognized RNN mode: {mode}")
        if isinstance(dropout, bool) or not 0 <= dropout <= 1:
            raise ValueError("dropout should be a number in range [0, 1]")
        if dropout > 0 and num_layers == 1:
            advise(f"{mode}: dropout={dropout} is between layers, and num_layers is 1")
        for name, given, kind in (
            ("bias", bias, bool), ("batch_first", batch_first, bool),
            ("input_size", input_size, int), ("hidden_size", hidden_size, int),
        ):  # fmt: skip
            if not isinstance(given, kind):
                wanted = kind.__name__
                raise TypeError(f"{name} should be of type {wanted}, got: {type(given).__name__}")
            if kind is int and given <= 0:
                raise ValueError(f"{name} must be greater than zero")
        if num_layers <= 0:
            raise ValueError("num_layers must be greater than zero")
        if proj_size < 0 or (proj_size and mode != "LSTM"):
            raise ValueError("proj_size argument is only supported for LSTM, and not negative")
        if proj_size >= hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size")
        self.mode, self.input_size, self.hidden_size = mode, input_size, hidden_size
        self.num_layers, self.bias, self.batch_first = num_layers, bias, batch_first
        self.dropout, self.bidirectional, self.proj_size = float(dropout), bidirectional, proj_size
        self._make_weights({"device": device, "dtype": dtype})
        self.reset_parameters()

    def _make_weights(self, place: dict[str, Any]) -> None:
        rows = self.gates[self.mode] * self.hidden_size
        back = self.proj_size or self.hidden_size
        directions = 2 if self.bidirectional else 1
        self._flat_weights_names = []
        for layer in range(self.num_layers):
            columns = back * directions if layer else self.input_size
            for suffix in [f"_l{layer}", f"_l{layer}_reverse"][:directions]:
                shapes: dict[str, tuple[int, ...]] = {"weight_ih": (rows, columns)}
                shapes["weight_hh"] = (rows, back)
                if self.bias:
                    shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}
                if self.proj_size:
                    shapes |= {"weight_hr": (self.proj_size, self.hidden_size)}
                for name, shape in shapes.items():
                    setattr(self, name + suffix, Parameter(dispatch.empty(shape, **place)))
                    self._flat_weights_names.append(name + suffix)

    def reset_parameters(self) -> None:
        """Draw all weights."""
        _draw(self, self.hidden_size)

    @property
    def _flat_weights(self) -> list[Any]:
        return [getattr(self, name) for name in self._flat_weights_names]

    @property
    def all_weights(self) -> list[list[Any]]:
        """The weights of each layer and direction."""
        count = 2 + 2 * self.bias + bool(self.proj_size)
        flat = self._flat_weights
        return [flat[i : i + count] for i in range(0, len(flat), count)]

    def flatten_parameters(self) -> None:
        """Nothing: weights stand where they stand."""

    def _zeros(self, input: Any, batch: int, size: int) -> Any:
        layers = self.num_layers * (2 if self.bidirectional else 1)
        return dispatch.zeros(layers, batch, size, dtype=input.dtype, device=input.device)

    def _run(self, input: Any, state: Any) -> Any:
        """The operator's results: (output, state, ...)."""
        function = getattr(dispatch, self.mode.lower())
        return function(
            input, state, self._flat_weights, self.bias, self.num_layers, self.dropout,
            self.training, self.bidirectional, self.batch_first,
        )  # fmt: skip

    def forward(self, input: Any, hx: Any = None) -> Any:
        """(output, state) of (L, N, input_size), of (N, L, input_size) with `batch_first`, of
        (L, input_size), or of a packed batch."""
        if isinstance(input, PackedSequence):
            return self._forward_packed(input, hx)
        if input.dim() not in (2, 3):
            raise ValueError(
                f"{type(self).__name__}: Expected input to be 2D or 3D, got {input.dim()}D instead"
            )
        alone = input.dim() == 2
        batch_dim = 0 if self.batch_first else 1
        input = input.unsqueeze(batch_dim) if alone else input
        self._check_dtype(input)
        self._check_width(input)
        state = self._state(input, input.size(batch_dim), hx, alone)
        output, *states = self._run(input, state)
        if alone:
            output, states = output.squeeze(batch_dim), [s.squeeze(1) for s in states]
        return output, states[0] if len(states) == 1 else tuple(states)

    def _forward_packed(self, input: PackedSequence, hx: Any) -> Any:
        self._check_width(input.data)
        order = input.sorted_indices
        if hx is not None and order is not None:
            given = hx if isinstance(hx, tuple | list) else (hx,)
            moved = [state.index_select(1, order) for state in given]
            hx = moved if len(moved) > 1 else moved[0]
        state = self._state(input.data, int(input.batch_sizes[0]), hx, False)
        output, *states = getattr(dispatch, self.mode.lower())(
            input.data, input.batch_sizes, state, self._flat_weights, self.bias, self.num_layers,
            self.dropout, self.training, self.bidirectional,
        )  # fmt: skip
        if input.unsorted_indices is not None:
            states = [state.index_select(1, input.unsorted_indices) for state in states]
        packed = PackedSequence(output, input.batch_sizes, order, input.unsorted_indices)
        return packed, states[0] if len(states) == 1 else tuple(states)

    def _check_dtype(self, input: Any) -> None:
        mine = self._flat_weights[0].dtype
        if input.dtype is not mine and not _is_any_autocast_enabled():
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({mine}): "
                f"Convert input: input.to({mine}), or convert model: model.to({input.dtype})"
            )

    def _check_width(self, input: Any) -> None:
        if input.size(-1) != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got "
                f"{input.size(-1)}"
            )

    def _state(self, input: Any, batch: int, hx: Any, alone: bool) -> Any:
        given = self._zeros(input, batch, self.hidden_size) if hx is None else hx
        given = given.unsqueeze(1) if alone and hx is not None else given
        self._check(given, batch, self.hidden_size)
        return given

    def _check(self, state: Any, batch: int, size: int, name: str = "hidden") -> None:
        layers = self.num_layers * (2 if self.bidirectional else 1)
        if tuple(state.shape) != (layers, batch, size):
            raise RuntimeError(
                f"Expected {name} size {(layers, batch, size)}, got {list(state.shape)}"
            )

    def extra_repr(self) -> str:
        """The sizes, and what differs from the defaults."""
        usual = {"num_layers": 1, "bias": True, "batch_first": False, "dropout": 0.0,
                 "bidirectional": False}  # fmt: skip
        text = f"{self.input_size}, {self.hidden_size}"
        if self.proj_size:
            text += f", proj_size={self.proj_size}"
        for name, default in usual.items():
            if getattr(self, name) != default:
                text += f", {name}={getattr(self, name)}"
        return text


class RNN(RNNBase):
    """Cells of one tanh or relu (torch.nn.RNN)."""

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, nonlinearity: str = "tanh",
        *args: Any, **kwargs: Any,
    ) -> None:  # fmt: skip
        modes = {"tanh": "RNN_TANH", "relu": "RNN_RELU"}
        if nonlinearity not in modes:
            raise ValueError(
                f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'."
            )
        self.nonlinearity = nonlinearity
        mode = modes[nonlinearity]
        super().__init__(mode, input_size, hidden_size, num_layers, *args, **kwargs)


class GRU(RNNBase):
    """Cells with two gates (torch.nn.GRU)."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("GRU", *args, **kwargs)


class LSTM(RNNBase):
    """Cells with three gates and a memory (torch.nn.LSTM)."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)

    def _state(self, input: Any, batch: int, hx: Any, alone: bool) -> Any:
        widths = (self.proj_size or self.hidden_size, self.hidden_size)
        if hx is None:
            return [self._zeros(input, batch, width) for width in widths]
        given = [s.unsqueeze(1) for s in hx] if alone else list(hx)
        for i, (state, width) in enumerate(zip(given, widths, strict=True)):
            self._check(state, batch, width, f"hidden[{i}]")
        return given


class RNNCellBase(Module):
    """One step: weights for the input and for the state."""

    gates: ClassVar[int]

    def _setup(self, input_size: int, hidden_size: int, bias: bool, place: dict[str, Any]) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        rows = self.gates * hidden_size
        self.weight_ih = Parameter(dispatch.empty((rows, input_size), **place))
        self.weight_hh = Parameter(dispatch.empty((rows, hidden_size), **place))
        for name in ("bias_ih", "bias_hh"):
            made = Parameter(dispatch.empty(rows, **place)) if bias else None
            self.register_parameter(name, made)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all weights."""
        _draw(self, self.hidden_size)

    def _weights(self) -> tuple[Any, ...]:
        return self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh

    def _checked(self, input: Any, **states: Any) -> bool:
        """Whether there is no batch dimension; ValueError for other numbers of dimensions."""
        for name, given in {"input": input, **states}.items():
            if given is not None and given.dim() not in (1, 2):
                raise ValueError(
                    f"{type(self).__name__}: Expected {name} to be 1D or 2D, got "
                    f"{given.dim()}D instead"
                )
        return input.dim() == 1

    def _zeros(self, input: Any) -> Any:
        size = (input.size(0), self.hidden_size)
        return dispatch.zeros(size, dtype=input.dtype, device=input.device)

    def extra_repr(self) -> str:
        """The sizes, and what differs from the defaults."""
        text = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        if getattr(self, "nonlinearity", "tanh") != "tanh":
            text += f", nonlinearity={self.nonlinearity}"
        return text


class _OneStateCell(RNNCellBase):
    def _step(self, input: Any, state: Any) -> Any:
        raise NotImplementedError

    def forward(self, input: Any, hx: Any = None) -> Any:
        """The next state."""
        alone = self._checked(input, hidden=hx)
        input = input.unsqueeze(0) if alone else input
        state = self._zeros(input) if hx is None else hx.unsqueeze(0) if alone else hx
        found = self._step(input, state)
        return found.squeeze(0) if alone else found


class RNNCell(_OneStateCell):
    """tanh or relu of both products (torch.nn.RNNCell)."""

    gates = 1

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh",
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        self._setup(input_size, hidden_size, bias, {"device": device, "dtype": dtype})
        self.nonlinearity = nonlinearity

    def _step(self, input: Any, state: Any) -> Any:
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        cell = dispatch.rnn_tanh_cell if self.nonlinearity == "tanh" else dispatch.rnn_relu_cell
        return cell(input, state, *self._weights())


class GRUCell(_OneStateCell):
    """A cell with two gates (torch.nn.GRUCell)."""

    gates = 3

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        self._setup(input_size, hidden_size, bias, {"device": device, "dtype": dtype})

    def _step(self, input: Any, state: Any) -> Any:
        return dispatch.gru_cell(input, state, *self._weights())


class LSTMCell(RNNCellBase):
    """A cell with three gates and a memory (torch.nn.LSTMCell)."""

    gates = 4

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        self._setup(input_size, hidden_size, bias, {"device": device, "dtype": dtype})

    def forward(self, input: Any, hx: Any = None) -> Any:
        """The next state and memory."""
        alone = self._checked(input, **{f"hx[{i}]": state for i, state in enumerate(hx or ())})
        input = input.unsqueeze(0) if alone else input
        if hx is None:
            states = [self._zeros(input)] * 2
        else:
            states = [s.unsqueeze(0) for s in hx] if alone else list(hx)
        found = dispatch.lstm_cell(input, states, *self._weights())
        return tuple(s.squeeze(0) for s in found) if alone else tuple(found)
