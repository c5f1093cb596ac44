"""Metadata of recurrent layers by the libraries of devices.

`_cudnn_rnn` gives its buffer of weights back, which makes it a Meta kernel of its own; the others
are shape functions.
"""

from __future__ import annotations

from collections.abc import Sequence

from dispatch._C import dtypes
from dispatch._C.structured import TensorSpec
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.meta import rules

__all__ = ["cudnn_rnn", "miopen_rnn", "mkldnn_rnn_layer", "mkldnn_rnn_layer_backward"]

_GRU = 3
_empty = ops.aten.new_empty


def cudnn_rnn(
    input: Tensor,
    weight: Sequence[Tensor],
    weight_stride0: int,
    weight_buf: Tensor | None,
    hx: Tensor,
    cx: Tensor | None,
    mode: int,
    hidden_size: int,
    proj_size: int,
    num_layers: int,
    batch_first: bool,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_sizes: Sequence[int],
    dropout_state: Tensor | None,
) -> tuple[Tensor | None, ...]:
    """Output, last states, what is kept for the gradient (its size is cudnn's own), the weights."""
    directions = 2 if bidirectional else 1
    width = proj_size or hidden_size
    if batch_sizes:
        batch, sizes = batch_sizes[0], [input.shape[0]]
    else:
        batch = input.shape[0 if batch_first else 1]
        sizes = list(input.shape[:2])
    cells = [num_layers * directions, batch]
    if cx is None:
        cy = ops.aten.empty.memory_format([0], device=input.device)
    else:
        cy = _empty(cx, [*cells, hidden_size])
    return (
        _empty(input, [*sizes, width * directions]),
        _empty(hx, [*cells, width]),
        cy,
        _empty(input, [0], dtype=dtypes.uint8),
        weight_buf,
    )


def miopen_rnn(
    input: Tensor,
    weight: Sequence[Tensor],
    weight_stride0: int,
    hx: Tensor,
    cx: Tensor | None,
    mode: int,
    hidden_size: int,
    num_layers: int,
    batch_first: bool,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_sizes: Sequence[int],
    dropout_state: Tensor | None,
) -> tuple[Tensor | None, ...]:
    """The same; the weights lie in one row."""
    weights = _empty(input, [sum(tensor.numel() for tensor in weight)])
    same = (hidden_size, 0, num_layers, batch_first, dropout, train, bidirectional)
    packed = (batch_sizes, dropout_state)
    return cudnn_rnn(input, weight, weight_stride0, weights, hx, cx, mode, *same, *packed)


def mkldnn_rnn_layer(
    input: Tensor,
    weight0: Tensor,
    weight1: Tensor,
    weight2: Tensor,
    weight3: Tensor,
    hx_: Tensor,
    cx_: Tensor,
    reverse: bool,
    batch_sizes: Sequence[int],
    mode: int,
    hidden_size: int,
    num_layers: int,
    has_biases: bool,
    bidirectional: bool,
    batch_first: bool,
    train: bool,
) -> tuple[TensorSpec | None, ...]:
    """Output, last states, and a workspace without elements, which no kernel on the CPU has."""
    workspace = None if rules.is_eager(input) else TensorSpec((0,), dtypes.uint8)
    return (
        TensorSpec((*input.shape[:2], hidden_size), input.dtype),
        TensorSpec(hx_.shape, hx_.dtype),
        TensorSpec(cx_.shape, cx_.dtype),
        workspace,
    )


def mkldnn_rnn_layer_backward(
    input: Tensor,
    weight1: Tensor,
    weight2: Tensor,
    weight3: Tensor,
    weight4: Tensor,
    hx_: Tensor,
    cx_tmp: Tensor,
    output: Tensor,
    hy_: Tensor,
    cy_: Tensor,
    grad_output: Tensor | None,
    grad_hy: Tensor | None,
    grad_cy: Tensor | None,
    reverse: bool,
    mode: int,
    hidden_size: int,
    num_layers: int,
    has_biases: bool,
    train: bool,
    bidirectional: bool,
    batch_sizes: Sequence[int],
    batch_first: bool,
    workspace: Tensor,
) -> tuple[TensorSpec, ...]:
    """Gradients of input, both weights, the biases and both states, in float32."""
    biases = 4 * hidden_size if mode == _GRU else weight3.shape[0]
    shapes = (input.shape, weight1.shape, weight2.shape, (biases,), (biases,), hx_.shape)
    return tuple(TensorSpec(shape, dtypes.float32) for shape in (*shapes, cx_tmp.shape))
