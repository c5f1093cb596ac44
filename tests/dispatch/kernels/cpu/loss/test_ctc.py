"""The CTC loss against a sum over all paths; its gradient; what it refuses."""

import itertools
import math

import numpy as np
import pytest

import dispatch
from dispatch import tensor

aten = dispatch.ops.aten


def log_probs(steps, batch, labels):
    x = np.random.default_rng(0).standard_normal((steps, batch, labels))
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


def by_paths(logs, target):
    """Minus the logarithm of the sum over all paths that collapse to `target`."""
    total = 0.0
    for path in itertools.product(range(logs.shape[1]), repeat=len(logs)):
        collapsed = [k for k, _ in itertools.groupby(path) if k != 0]
        if collapsed == target:
            total += math.exp(sum(logs[t, k] for t, k in enumerate(path)))
    return -math.log(total) if total else math.inf


@pytest.mark.parametrize("flat", [False, True])
def test_it_is_the_sum_over_all_paths(flat):
    logs = log_probs(4, 4, 3)
    targets, inputs = [[1, 2], [1, 1], [], [2, 2, 1]], [4, 3, 2, 4]
    padded = tensor([row + [2] * (3 - len(row)) for row in targets])
    given = tensor([k for row in targets for k in row]) if flat else padded
    lengths = [len(row) for row in targets]
    found = aten._ctc_loss(dispatch.from_numpy(logs), given, inputs, lengths)[0].tolist()
    want = [by_paths(logs[:n, b], targets[b]) for b, n in enumerate(inputs)]
    np.testing.assert_allclose(found, want)


def test_long_targets_are_right_in_float32():
    logs = dispatch.from_numpy(log_probs(90, 2, 7))
    rest = tensor([list(range(1, 7)) * 6, [3, 3, 5, 0] * 9]), [90, 80], [36, 30]
    losses, table = aten._ctc_loss(logs, *rest)
    grad = aten._ctc_loss_backward(losses, logs, *rest, losses, table, 0)
    made, table = aten._ctc_loss(logs.float(), *rest)
    slopes = aten._ctc_loss_backward(losses.float(), logs.float(), *rest, made, table, 0)
    np.testing.assert_allclose(made.numpy(), losses.numpy(), rtol=1e-6)
    np.testing.assert_allclose(slopes.numpy(), grad.numpy(), rtol=1e-3, atol=1e-3)


def test_gradient_is_the_slope_for_normalised_inputs():
    """It is that of the values before the softmax: rows add up to 0 where the loss is finite."""
    logs = log_probs(5, 2, 4)
    arguments = (tensor([[1, 1, 3], [2, 0, 0]]), [5, 4], [3, 1])
    losses, table = aten._ctc_loss(dispatch.from_numpy(logs), *arguments)
    grad = aten._ctc_loss_backward(
        dispatch.ones(2, dtype=dispatch.float64),
        dispatch.from_numpy(logs),
        *arguments,
        losses,
        table,
        0,
    ).numpy()
    np.testing.assert_allclose(grad.sum(-1), 0, atol=1e-12)
    step = 1e-6 * np.random.default_rng(1).standard_normal(logs.shape)
    raised, lowered = (
        aten._ctc_loss(aten.log_softmax.int(dispatch.from_numpy(x), -1), *arguments)[0].sum().item()
        for x in (logs + step, logs - step)
    )
    assert np.isclose((raised - lowered) / 2, (grad * step).sum(), rtol=1e-5)


def test_impossible_targets_have_an_infinite_loss_or_none():
    logs = dispatch.from_numpy(log_probs(2, 1, 3))
    arguments = (logs, tensor([[1, 1]]), [2], [2])
    assert aten.ctc_loss.IntList(*arguments).item() == math.inf
    assert aten.ctc_loss.IntList(*arguments, 0, 1, True).item() == 0
    losses, table = aten._ctc_loss(*arguments)
    grad = aten._ctc_loss_backward(
        dispatch.ones(1, dtype=logs.dtype), *arguments, losses, table, 0, True
    )
    assert not grad.any()


def test_reductions_and_lengths_in_tensors():
    logs, targets = dispatch.from_numpy(log_probs(4, 2, 3)), tensor([[1, 2], [1, 1]])
    each = aten.ctc_loss.IntList(logs, targets, [4, 4], [2, 1], 0, 0)
    mean = aten.ctc_loss.Tensor(logs, targets, tensor([4, 4]), tensor([2, 1]))
    assert np.isclose(mean.item(), (each.numpy() / [2, 1]).mean())
    alone = aten.ctc_loss.IntList(logs[:, 0], targets[0], [4], [2], 0, 0)
    assert alone.shape == () and alone.item() == each[0].item()


def test_a_label_out_of_range_is_refused():
    with pytest.raises(IndexError, match="aten::_ctc_loss: target 3 is out of bounds for 3 labels"):
        aten._ctc_loss(dispatch.from_numpy(log_probs(4, 1, 3)), tensor([[3]]), [4], [1])


@pytest.mark.parametrize(
    ("targets", "inputs", "lengths", "blank", "text"),
    [
        ([[1, 2]], [4], [2], 3, "blank"),
        ([[1, 2]], [4, 4], [2], 0, "input_lengths"),
        ([[1, 2]], [4], [2, 2], 0, "target_lengths"),
        ([[1, 2]], [5], [2], 0, "input_lengths to have value at most 4"),
        ([[1, 2]], [4], [3], 0, "targets of shape"),
        ([1, 2], [4], [1], 0, "expected 1 targets, got 2"),
        ([[1, 2]], [4], [-1], 0, "target_lengths of 0 or more"),
        ([[[1]]], [4], [1], 0, "1 or 2 dimensions"),
        ([[1.0]], [4], [1], 0, "int64 targets"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(targets, inputs, lengths, blank, text):
    with pytest.raises(RuntimeError, match=f"aten::_ctc_loss: .*{text}"):
        aten._ctc_loss(
            dispatch.from_numpy(log_probs(4, 1, 3)), tensor(targets), inputs, lengths, blank
        )
