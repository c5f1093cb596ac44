"""Losses with margins between classes: values by hand, edge cases, errors."""

import numpy as np
import pytest

import dispatch
from dispatch import tensor

aten = dispatch.ops.aten
NONE, MEAN, SUM = range(3)


def test_what_lacks_to_the_margin_is_averaged_over_classes():
    x, target = tensor([[0.0, 0.5, -2.0], [1.0, 0.0, 0.0]]), tensor([0, 0])
    assert aten.multi_margin_loss(x, target, reduction=NONE).tolist() == [0.5, 0]
    assert aten.multi_margin_loss(x, target, 2, reduction=SUM).item() == 0.75
    weighted = aten.multi_margin_loss(x, target, 1, 1, tensor([2.0, 1.0, 1.0]), NONE)
    assert weighted.tolist() == [1.0, 0]
    assert aten.multi_margin_loss(x[0], tensor(0), reduction=NONE).shape == ()


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("reduction", [NONE, MEAN, SUM])
def test_gradient_is_the_slope(p, reduction):
    rng = np.random.default_rng(0)
    x, step = rng.standard_normal((4, 5)), 1e-6 * rng.standard_normal((4, 5))
    target, grad = tensor([0, 4, 2, 2]), rng.standard_normal(4 if reduction == NONE else ())
    weight = dispatch.from_numpy(rng.random(5))

    def loss(v):
        return aten.multi_margin_loss(dispatch.from_numpy(v), target, p, 0.7, weight, reduction)

    slope = ((loss(x + step) - loss(x - step)).numpy() * grad).sum() / 2
    found = aten.multi_margin_loss_backward(
        tensor(grad.tolist(), dtype=dispatch.float64),
        dispatch.from_numpy(x),
        target,
        p,
        0.7,
        weight,
        reduction,
    )
    assert np.isclose(slope, (found.numpy() * step).sum(), rtol=1e-5)


def test_targets_of_a_row_end_at_the_first_negative_one():
    x, target = tensor([[0.1, 0.2, 0.4, 0.8]]), tensor([[3, 0, -1, 1]])
    loss, marks = aten.multilabel_margin_loss_forward(x, target, MEAN)
    assert np.isclose(loss.item(), 0.85)
    assert marks.tolist() == [[1, 0, 0, 1]]
    grad = aten.multilabel_margin_loss_backward(tensor(1.0), x, target, MEAN, marks)
    assert grad.tolist() == [[-0.5, 0.5, 0.5, -0.5]]


@pytest.mark.parametrize("wrong", [3, -1])
def test_a_target_out_of_range_is_refused(wrong):
    with pytest.raises(RuntimeError, match=f"aten::multi_margin_loss: target {wrong} is out of"):
        aten.multi_margin_loss(dispatch.ones(1, 3), tensor([wrong]))


def test_several_targets_are_checked_too():
    for wrong in (3, -2):
        with pytest.raises(RuntimeError, match=f"target {wrong} is out of bounds for 3"):
            aten.multilabel_margin_loss(dispatch.ones(3), tensor([0, wrong, -1]))


@pytest.mark.parametrize(
    ("x", "target", "text"),
    [
        (dispatch.ones(2, 0), tensor([0, 0]), "non-empty vector or matrix"),
        (dispatch.ones(2, 3), tensor([0]), "number of input samples"),
        (
            dispatch.ones(2, 3, dtype=dispatch.float64),
            tensor([0.0, 1.0]),
            "scalar type Long but found Float for target",
        ),
    ],
)
def test_arguments_that_do_not_fit_are_refused(x, target, text):
    with pytest.raises(RuntimeError, match=text):
        aten.multi_margin_loss(x, target)


def test_half_precision_has_no_kernel():
    with pytest.raises(NotImplementedError, match="float16"):
        aten.multi_margin_loss(dispatch.ones(1, 3, dtype=dispatch.float16), tensor([0]))


def test_an_empty_batch_has_no_loss():
    assert aten.multi_margin_loss(dispatch.ones(0, 3), tensor([], dtype=dispatch.int64)).item() == 0
