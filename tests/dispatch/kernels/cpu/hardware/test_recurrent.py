"""The layer of an LSTM under mkldnn's name: gates by hand, direction, errors."""

import math

import numpy as np
import pytest

import dispatch
from dispatch import ops


def layer(x, weights, biases, states, reverse=False, mode=2):
    """The layer with biases; hidden size from the state."""
    size = states[0].shape[-1]
    return ops.aten.mkldnn_rnn_layer(
        x, *weights, *biases, *states, reverse, [], mode, size, 1, True, False, False, False
    )


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def test_gates_are_input_forget_cell_output():
    x, state = dispatch.ones(1, 1, 1), dispatch.full((1, 1, 1), 0.5)
    weights = [dispatch.tensor([[0.1], [0.2], [0.3], [0.4]]), dispatch.zeros(4, 1)]
    biases = [dispatch.tensor([1.0, 2.0, 3.0, 4.0]), dispatch.zeros(4)]
    output, hidden, cell, workspace = layer(x, weights, biases, [state, state])
    assert workspace is None
    kept = sigmoid(2.2) * 0.5 + sigmoid(1.1) * math.tanh(3.3)
    assert cell.item() == pytest.approx(kept)
    assert hidden.item() == output.item() == pytest.approx(sigmoid(4.4) * math.tanh(kept))


def test_reversed_it_begins_at_the_end():
    dispatch.manual_seed(0)
    x = dispatch.randn(5, 2, 3)
    weights, biases = [dispatch.randn(16, 3), dispatch.randn(16, 4)], [dispatch.randn(16)] * 2
    states = [dispatch.randn(1, 2, 4), dispatch.randn(1, 2, 4)]
    forth = layer(x, weights, biases, states)
    back = layer(x.flip([0]), weights, biases, states, reverse=True)
    np.testing.assert_allclose(back[0].flip([0]).numpy(), forth[0].numpy(), rtol=1e-6)
    np.testing.assert_allclose(back[2].numpy(), forth[2].numpy(), rtol=1e-6)
    assert forth[1].tolist() == forth[0][-1:].tolist()


def test_other_cells_are_refused():
    state = dispatch.ones(1, 1, 1)
    with pytest.raises(RuntimeError, match=r"mkldnn_rnn_layer: expected mode 2 .LSTM., got 3"):
        layer(state, [dispatch.ones(3, 1)] * 2, [dispatch.ones(3)] * 2, [state, state], mode=3)
