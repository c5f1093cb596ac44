"""The layer of an LSTM as exported programs call it: `mkldnn_rnn_layer`, one direction.

All steps' inputs are multiplied at once; a step multiplies its state, and the gates follow in the
order input, forget, cell, output.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dispatch._C.errors import refused
from dispatch._C.generated.dtype_sets import FLOATING
from dispatch._C.tensor import Tensor
from dispatch.kernels.cpu.arrays import Array, check_dtype, compute, quiet, store

__all__ = ["mkldnn_rnn_layer"]

_LSTM = 2


def _sigmoid(values: Array) -> Array:
    return 1 / (1 + np.exp(-values))


@quiet()
def mkldnn_rnn_layer(
    output: Tensor,
    hy: Tensor,
    cy: Tensor,
    workspace: Tensor | None,
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
) -> None:
    """Steps come first in `input`, whatever `batch_first` says, as in PyTorch."""
    if mode != _LSTM:
        raise refused(f"expected mode {_LSTM} (LSTM), got {mode}")
    check_dtype(input.dtype, FLOATING)
    given = compute(input) @ compute(weight0).T
    if has_biases:
        given = given + (compute(weight2) + compute(weight3))
    recurrent = compute(weight1).T
    shape = (input.shape[1], hidden_size)
    hidden, cell = compute(hx_).reshape(shape), compute(cx_).reshape(shape)
    found = np.empty((*input.shape[:2], hidden_size), given.dtype)
    for step in range(len(given))[:: -1 if reverse else 1]:
        gates = (given[step] + hidden @ recurrent).reshape(shape[0], 4, hidden_size)
        kept = _sigmoid(gates[:, [0, 1, 3]])
        cell = kept[:, 1] * cell + kept[:, 0] * np.tanh(gates[:, 2])
        hidden = kept[:, 2] * np.tanh(cell)
        found[step] = hidden
    store(output, found)
    store(hy, hidden.reshape(tuple(hy.shape)))
    store(cy, cell.reshape(tuple(cy.shape)))
