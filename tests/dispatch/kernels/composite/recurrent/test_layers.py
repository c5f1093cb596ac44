"""Recurrent networks: against steps by hand, packed against plain, in both directions."""

import numpy as np
import pytest

import dispatch
from dispatch import tensor
from dispatch.kernels.composite.recurrent import cells, layers
from dispatch.modes import TorchDispatchMode
from dispatch.symbolic import DimDynamic, ShapeEnv, StatelessSymbolicContext

aten = dispatch.ops.aten
HIDDEN, INPUT, BATCH, STEPS = 3, 4, 2, 5
GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}
rng = np.random.default_rng(0)


def random(*sizes):
    return dispatch.from_numpy(rng.standard_normal(sizes))


def weights(name, depth=1, directions=1, biases=True, projection=0):
    rows, out = GATES[name] * HIDDEN, projection or HIDDEN
    found = []
    for layer in range(depth):
        columns = INPUT if layer == 0 else out * directions
        for _ in range(directions):
            found += [random(rows, columns), random(rows, out)]
            found += [random(rows), random(rows)] if biases else []
            found += [random(projection, HIDDEN)] if projection else []
    return found


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def step(name, x, state, w):
    """One step in numpy; `state` is (output, memory) of an LSTM."""
    w_ih, w_hh, b_ih, b_hh = (t.numpy() for t in w)
    i, h = x @ w_ih.T + b_ih, state[0] @ w_hh.T + b_hh
    if name == "lstm":
        into, forget, cell, out = np.split(i + h, 4, axis=1)
        memory = sigmoid(forget) * state[1] + sigmoid(into) * np.tanh(cell)
        return sigmoid(out) * np.tanh(memory), memory
    if name == "gru":
        i, h = np.split(i, 3, axis=1), np.split(h, 3, axis=1)
        reset, update = sigmoid(i[0] + h[0]), sigmoid(i[1] + h[1])
        new = np.tanh(i[2] + reset * h[2])
        return ((1 - update) * new + update * state[0],)
    return (np.tanh(i + h) if name == "rnn_tanh" else np.maximum(i + h, 0),)


def start(name, count):
    """What the operator takes as hx."""
    hx = [random(count, BATCH, HIDDEN) for _ in range(2 if name == "lstm" else 1)]
    return hx if name == "lstm" else hx[0]


@pytest.mark.parametrize("name", GATES)
def test_a_layer_is_its_cell_over_time(name):
    w, x, hx = weights(name), random(STEPS, BATCH, INPUT), start(name, 1)
    state = tuple(t[0].numpy() for t in hx) if name == "lstm" else (hx[0].numpy(),)
    cell = getattr(aten, f"{name}_cell")
    for t in range(STEPS):
        given = [dispatch.from_numpy(s) for s in state]
        one = cell(x[t], given if name == "lstm" else given[0], *w)
        state = step(name, x[t].numpy(), state, w)
        np.testing.assert_allclose((one[0] if name == "lstm" else one).numpy(), state[0])
    output, *last = getattr(aten, name).input(x, hx, w, True, 1, 0.0, False, False, False)
    assert output.shape == (STEPS, BATCH, HIDDEN)
    np.testing.assert_allclose(output[-1].numpy(), state[0])
    for found, want in zip(last, state, strict=True):
        np.testing.assert_allclose(found[0].numpy(), want)


@pytest.mark.parametrize("biases", [True, False])
@pytest.mark.parametrize("name", GATES)
def test_packed_sequences_are_those_one_by_one(name, biases):
    """Two layers, two directions; the second sequence is shorter."""
    w, hx = weights(name, 2, 2, biases), start(name, 4)
    x, sizes, lengths = random(STEPS, BATCH, INPUT), [2, 2, 2, 1, 1], [5, 3]
    packed = dispatch.cat([x[t, :size] for t, size in enumerate(sizes)])
    options = (w, biases, 2, 0.0, False, True)
    data, *last = getattr(aten, name).data(packed, tensor(sizes), hx, *options)
    for k, length in enumerate(lengths):
        one = [t[:, k : k + 1] for t in hx] if name == "lstm" else hx[:, k : k + 1]
        alone, *its = getattr(aten, name).input(x[:length, k : k + 1], one, *options, False)
        rows = [sum(sizes[:t]) + k for t in range(length)]
        np.testing.assert_allclose(data.numpy()[rows], alone[:, 0].numpy())
        for found, want in zip(last, its, strict=True):
            np.testing.assert_allclose(found[:, k].numpy(), want[:, 0].numpy())


def test_batches_may_come_first_and_outputs_be_projected():
    w, hx = weights("lstm", projection=2), [random(1, BATCH, 2), random(1, BATCH, HIDDEN)]
    x = random(STEPS, BATCH, INPUT)
    options = (hx, w, True, 1, 0.0, False, False)
    output, last, memory = aten.lstm.input(x, *options, False)
    assert (output.shape, last.shape, memory.shape) == ((5, 2, 2), (1, 2, 2), (1, 2, 3))
    turned = aten.lstm.input(x.transpose(0, 1), *options, True)[0]
    assert turned.transpose(0, 1).tolist() == output.tolist()


@pytest.mark.parametrize(
    ("x", "hx", "count", "layers", "text"),
    [
        (random(0, 2, 4), random(1, 2, 3), 4, 1, "at least one step"),
        (random(5, 2, 4), random(1, 2, 3), 3, 1, "4 params for each layer"),
        (random(5, 2, 4), random(2, 2, 3), 4, 1, "hidden states for 1 layers"),
        (random(5, 2, 4), random(2, 2, 3), 4, 2, "weights for 2 layers"),
        (random(5, 2, 4).float(), random(1, 2, 3), 4, 1, "hidden tensors of input's"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(x, hx, count, layers, text):
    with pytest.raises(RuntimeError, match=f"aten::gru.input: .*{text}"):
        aten.gru.input(x, hx, weights("gru")[:count], True, layers, 0.0, False, False, False)


@pytest.mark.parametrize("sizes", [[1, 2], [2, 2], [], [3]])
def test_batch_sizes_are_checked(sizes):
    sizes = tensor(sizes, dtype=dispatch.int64)
    with pytest.raises(RuntimeError, match=r"aten::gru.data: expected (batch_sizes|hx)"):
        aten.gru.data(
            random(3, 4), sizes, random(1, 2, 3), weights("gru"), True, 1, 0.0, False, False
        )


def test_cells_check_sizes():
    w = weights("lstm")
    state = [random(BATCH, HIDDEN)] * 2
    with pytest.raises(
        RuntimeError, match="aten::lstm_cell: input has inconsistent input_size: got 5"
    ):
        aten.lstm_cell(random(BATCH, 5), state, *w)
    with pytest.raises(
        RuntimeError, match="aten::lstm_cell: Input batch size 3 doesn't match hidden0"
    ):
        aten.lstm_cell(random(3, INPUT), state, *w)
    with pytest.raises(RuntimeError, match="aten::lstm_cell: expected hx to have 2 tensors"):
        aten.lstm_cell(random(BATCH, INPUT), state[:1], *w)


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("name", ["lstm", "gru", "rnn_tanh"])
def test_the_number_of_steps_stays_open(name, bidirectional):
    """Symbolic steps and batch: the sizes are those of concrete runs, and no guard pins them."""
    env = ShapeEnv()
    mode = dispatch.FakeTensorMode(shape_env=env)
    directions = 1 + bidirectional
    context = StatelessSymbolicContext([DimDynamic.DYNAMIC] * 2 + [DimDynamic.STATIC])
    x = mode.from_tensor(random(STEPS, BATCH, INPUT), symbolic_context=context)
    steps, batch = x.shape[0], x.shape[1]
    ws = [mode.from_tensor(w, static_shapes=True) for w in weights(name, 2, directions)]
    with mode:
        states = [dispatch.zeros(2 * directions, batch, HIDDEN, dtype=x.dtype) for _ in range(2)]
        hx = states if name == "lstm" else states[0]
        layer = getattr(aten, name).input
        output, *last = layer(x, hx, ws, True, 2, 0.5, True, bidirectional, False)
    assert [str(n) for n in output.shape] == [str(steps), str(batch), str(HIDDEN * directions)]
    assert output.is_contiguous()
    assert all(tuple(t.shape) == (2 * directions, batch, HIDDEN) for t in last)
    assert not env.replacements


def test_a_mode_that_looks_on_sees_every_step():
    class Count(TorchDispatchMode):
        seen = 0

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            self.seen += func._schema.name == "aten::tanh"
            return func(*args, **(kwargs or {}))

    mode = dispatch.FakeTensorMode(shape_env=ShapeEnv())
    context = StatelessSymbolicContext([DimDynamic.DYNAMIC] + [DimDynamic.STATIC] * 2)
    x = mode.from_tensor(random(STEPS, BATCH, INPUT), symbolic_context=context)
    ws = [mode.from_tensor(w, static_shapes=True) for w in weights("rnn_tanh")]
    with mode, Count() as count:
        hx = dispatch.zeros(1, BATCH, HIDDEN, dtype=x.dtype)
        aten.rnn_tanh.input(x, hx, ws, True, 1, 0.0, False, False, False)
    assert count.seen == STEPS


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("biases", [True, False])
@pytest.mark.parametrize("steps", [1, STEPS])
def test_layers_in_single_precision_are_those_in_double(batch_first, biases, steps):
    """In float32 on the CPU a layer in one direction is one call: two layers, both directions."""
    w, hx, x = weights("lstm", 2, 2, biases), start("lstm", 4), random(steps, BATCH, INPUT)
    x = x.transpose(0, 1) if batch_first else x
    rest = (biases, 2, 0.0, False, True, batch_first)
    double = aten.lstm.input(x, hx, w, *rest)
    single = aten.lstm.input(x.float(), [t.float() for t in hx], [t.float() for t in w], *rest)
    for a, b in zip(single, double, strict=True):
        assert (a.dtype, a.shape, a.stride()) == (dispatch.float32, b.shape, b.stride())
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-4, atol=1e-5)


class Kept(dispatch.Tensor):
    """A class that sees no calls, as parameters have."""


def test_weights_of_a_class_that_sees_no_calls_make_one_call_too():
    w = [t.float().as_subclass(Kept) for t in weights("lstm")]
    hx, x = [t.float() for t in start("lstm", 1)], random(STEPS, BATCH, INPUT).float()
    assert layers._is_whole(x, tuple(hx), cells.Parameters(*w, None))


def test_a_layer_of_which_gradients_are_asked_goes_by_steps():
    w, hx = [t.float() for t in weights("lstm")], [t.float() for t in start("lstm", 1)]
    x = random(STEPS, BATCH, INPUT).float()
    rest = (True, 1, 0.0, False, False, False)
    plain = aten.lstm.input(x, hx, w, *rest)
    w[0].requires_grad_()
    found = aten.lstm.input(x, hx, w, *rest)
    np.testing.assert_allclose(found[0].detach().numpy(), plain[0].numpy(), rtol=1e-5, atol=1e-6)
    assert found[0].requires_grad
    with dispatch.no_grad():
        assert not aten.lstm.input(x, hx, w, *rest)[0].requires_grad
