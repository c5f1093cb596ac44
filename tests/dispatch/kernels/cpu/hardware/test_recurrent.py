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


@pytest.mark.parametrize(
    ("place", "shape", "text"),
    [
        ("weight0", (8, 4), r"expected weight0 to have 8 rows of 3, got \[8, 4\]"),
        ("weight1", (4, 2), r"expected weight1 to have 8 rows of 2, got \[4, 2\]"),
        ("weight2", (7,), r"expected weight2 to have 1 rows of 8, got \[7\]"),
        ("weight3", (2, 4), r"expected weight3 to have 1 rows of 8, got \[2, 4\]"),
        ("hx_", (1, 3, 2), r"expected hx_ to have 2 rows of 2, got \[1, 3, 2\]"),
        ("cx_", (4,), r"expected cx_ to have 2 rows of 2, got \[4\]"),
        ("input", (5, 6), "expected input to have 3 dimensions"),
    ],
)
def test_what_a_step_reads_is_there(place, shape, text):
    given = {"input": (5, 2, 3), "weight0": (8, 3), "weight1": (8, 2), "weight2": (8,)}
    given |= {"weight3": (8,), "hx_": (1, 2, 2), "cx_": (1, 2, 2), place: shape}
    x = {name: dispatch.zeros(*size) for name, size in given.items()}
    with pytest.raises(RuntimeError, match=text):
        ops.aten.mkldnn_rnn_layer(
            **x, reverse=False, batch_sizes=[], mode=2, hidden_size=2, num_layers=1,
            has_biases=True, bidirectional=False, batch_first=False, train=False,
        )  # fmt: skip


def test_weights_of_another_dtype_are_refused():
    state, weights = dispatch.ones(1, 1, 1), [dispatch.ones(4, 1), dispatch.ones(4, 1)]
    with pytest.raises(RuntimeError, match=r"expected weight1 to have input.s dtype"):
        layer(state, [weights[0], weights[1].double()], [dispatch.ones(4)] * 2, [state, state])


def test_large_gates_saturate_and_nan_stays():
    x = dispatch.tensor([[[1e4], [-1e4], [float("nan")]]])
    weights, biases = [dispatch.ones(4, 1), dispatch.zeros(4, 1)], [dispatch.zeros(4)] * 2
    states = [dispatch.zeros(1, 3, 1), dispatch.ones(1, 3, 1)]
    output, _, cell, _ = layer(x, weights, biases, states)
    assert cell.flatten().tolist()[:2] == [2.0, 0.0]
    assert output.flatten().tolist()[:2] == [pytest.approx(math.tanh(2)), 0.0]
    for t in (cell, output):
        assert t.isnan().flatten().tolist() == [False, False, True]


@pytest.mark.parametrize("dtype", [dispatch.bfloat16, dispatch.float16])
def test_halves_are_computed_in_single_precision(dtype):
    dispatch.manual_seed(1)
    given = [dispatch.randn(4, 2, 3), dispatch.randn(20, 3), dispatch.randn(20, 5)]
    given += [dispatch.randn(*size) for size in ((20,), (20,), (1, 2, 5), (1, 2, 5))]
    x, w, u, b, c, hx, cx = (t.to(dtype) for t in given)
    halves = layer(x, [w, u], [b, c], [hx, cx])
    x, w, u, b, c, hx, cx = (t.float() for t in (x, w, u, b, c, hx, cx))
    single = layer(x, [w, u], [b, c], [hx, cx])
    for a, b in zip(halves[:3], single[:3], strict=True):
        assert a.dtype is dtype
        assert a.tolist() == b.to(dtype).tolist()


def test_a_state_without_steps_stays_as_it_was():
    x, states = dispatch.ones(0, 2, 3), [dispatch.rand(1, 2, 4), dispatch.rand(1, 2, 4)]
    output, hidden, cell, _ = layer(
        x, [dispatch.ones(16, 3), dispatch.ones(16, 4)], [dispatch.ones(16)] * 2, states
    )
    assert output.shape == (0, 2, 4)
    assert (hidden.tolist(), cell.tolist()) == (states[0].tolist(), states[1].tolist())


@pytest.mark.parametrize(("dtype", "within"), [(dispatch.float32, 2e-6), (dispatch.float64, 1e-14)])
@pytest.mark.parametrize("batch", [1, 4, 13])
@pytest.mark.parametrize("size", [16, 21])
def test_tiles_and_what_is_left_of_them_make_the_same_step(dtype, within, batch, size):
    """Rows by eight, four and one; columns by whole vectors, the last one in part."""
    rng = np.random.default_rng(size * batch)
    x, hidden, memory = (rng.standard_normal((batch, n)) for n in (7, size, size))
    w, u = rng.standard_normal((4 * size, 7)), rng.standard_normal((4 * size, size))
    b = rng.standard_normal((2, 4 * size))
    made = [
        dispatch.from_numpy(a).to(dtype) for a in (x[None], w, u, *b, hidden[None], memory[None])
    ]
    output, last, cell, _ = layer(made[0], made[1:3], made[3:5], made[5:])
    gates = np.split(x @ w.T + hidden @ u.T + b.sum(0), 4, axis=1)
    into, forget, out = (1 / (1 + np.exp(-gates[i])) for i in (0, 1, 3))
    want = forget * memory + into * np.tanh(gates[2])
    np.testing.assert_allclose(cell[0].numpy(), want, rtol=0, atol=within * 10)
    np.testing.assert_allclose(output[0].numpy(), out * np.tanh(want), rtol=0, atol=within * 10)
    assert last.tolist() == output.tolist()
