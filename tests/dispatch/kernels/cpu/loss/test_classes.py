"""Losses that take the value of a target's class: rows and images, forward and backward."""

import math

import numpy as np
import pytest

import dispatch
from dispatch import tensor

aten = dispatch.ops.aten
NONE, MEAN, SUM = range(3)
ROWS = tensor([[1.0, 2.0, 4.0], [8.0, 16.0, 32.0]])
WEIGHT = tensor([1.0, 0.5, 2.0])


@pytest.mark.parametrize(
    ("reduction", "want", "total"), [(NONE, [-4, -8], 0), (MEAN, -16 / 3, 3), (SUM, -16, 3)]
)
def test_rows_are_weighted_by_class(reduction, want, total):
    loss, weights = aten.nll_loss_forward(ROWS, tensor([2, 0]), WEIGHT, reduction, -100)
    if reduction == NONE:
        want = [-8, -8]
    np.testing.assert_allclose(loss.numpy(), want, rtol=1e-6)
    assert weights.item() == total


def test_ignored_targets_count_for_nothing():
    loss, total = aten.nll_loss_forward(ROWS, tensor([2, -7]), None, MEAN, -7)
    assert (loss.item(), total.item()) == (-4, 1)
    assert math.isnan(aten.nll_loss_forward(ROWS, tensor([1, 1]), None, MEAN, 1)[0].item())


@pytest.mark.parametrize("name", ["float64", "float16", "bfloat16"])
def test_images_are_rows_with_classes_in_the_second_dimension(name):
    rng = np.random.default_rng(0)
    x = dispatch.from_numpy(rng.standard_normal((2, 4, 3, 5))).to(getattr(dispatch, name))
    target = dispatch.from_numpy(rng.integers(0, 4, (2, 3, 5)))
    rows = x.permute(0, 2, 3, 1).reshape(-1, 4)
    for reduction in (NONE, MEAN, SUM):
        image, total = aten.nll_loss2d_forward(x, target, None, reduction, 2)
        row, row_total = aten.nll_loss_forward(rows, target.reshape(-1), None, reduction, 2)
        assert image.reshape(-1).tolist() == row.reshape(-1).tolist()
        assert total.item() == row_total.item()
    grad, row_grad = (
        f(tensor(1.0, dtype=x.dtype), v, t, None, MEAN, 2, tensor(4.0, dtype=x.dtype))
        for f, v, t in (
            (aten.nll_loss2d_backward, x, target),
            (aten.nll_loss_backward, rows, target.reshape(-1)),
        )
    )
    assert grad.permute(0, 2, 3, 1).reshape(-1, 4).tolist() == row_grad.tolist()


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_halves_are_those_that_targets_name(name, weighted):
    """Computed in float32 and rounded once; strided values, targets that count for nothing."""
    rng = np.random.default_rng(1)
    dtype = getattr(dispatch, name)
    x = dispatch.from_numpy(rng.standard_normal((2, 8, 3, 4))).to(dtype)[:, ::2]
    target = dispatch.from_numpy(rng.integers(0, 4, (2, 3, 4)))
    target[0, 0, 0] = -100
    weight = dispatch.from_numpy(rng.random(4)).to(dtype) if weighted else None
    wide = None if weight is None else weight.float()
    for reduction in (NONE, MEAN, SUM):
        half = aten.nll_loss2d_forward(x, target, weight, reduction, -100)
        single = aten.nll_loss2d_forward(x.float(), target, wide, reduction, -100)
        assert [t.tolist() for t in half] == [t.to(dtype).tolist() for t in single]


def test_gradients_go_to_the_targets_class():
    grad = aten.nll_loss_backward(
        tensor([1.0, 10.0]), ROWS, tensor([2, 0]), WEIGHT, NONE, 0, tensor(0.0)
    )
    assert grad.tolist() == [[0, 0, -2], [0, 0, 0]]


@pytest.mark.parametrize("wrong", [3, -1])
def test_a_target_out_of_range_writes_nothing(wrong):
    x, target = tensor([[1.0, 2.0, 3.0]]), tensor([wrong])
    out, total, grad = tensor([7.0]), tensor(7.0), tensor([[7.0, 7.0, 7.0]])
    with pytest.raises(IndexError, match=rf"nll_loss_forward.*target {wrong} is out of bounds"):
        aten.nll_loss_forward.output(x, target, None, NONE, -100, output=out, total_weight=total)
    with pytest.raises(IndexError, match=rf"nll_loss_backward.*target {wrong} is out of bounds"):
        aten.nll_loss_backward.grad_input(
            tensor(1.0), x, target, None, SUM, -100, total, grad_input=grad
        )
    assert [out.tolist(), total.item(), grad.tolist()] == [[7], 7, [[7, 7, 7]]]


def test_targets_are_int64():
    for target in (tensor([1, 2], dtype=dispatch.int32), tensor([1.0, 2.0])):
        with pytest.raises(RuntimeError, match="expected target dtype to be Long or Byte, but"):
            aten.nll_loss_forward(ROWS, target, None, MEAN, -100)


@pytest.mark.parametrize(
    ("error", "x", "target"),
    [
        (RuntimeError, ROWS, tensor([0])),
        (IndexError, ROWS, tensor(0)),
        (RuntimeError, dispatch.ones(1, 1, 1), tensor([0])),
        (ValueError, dispatch.ones(2), tensor([0, 1])),
    ],
)
def test_sizes_that_do_not_fit_are_refused(error, x, target):
    with pytest.raises(error, match="aten::nll_loss_forward"):
        aten.nll_loss_forward(x, target, None, MEAN, -100)


def test_meta_kernels_assert_as_pytorchs_do():
    with pytest.raises(AssertionError, match="weight tensor should be defined either for"):
        aten.nll_loss_forward(
            ROWS.to("meta"), tensor([0, 1]).to("meta"), ROWS.to("meta"), MEAN, -100
        )


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("reduction", [0, 1, 2])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_gradients_in_16_bits_are_those_in_float32_rounded_once(dtype, reduction, weighted):
    kind = getattr(dispatch, dtype)
    x = dispatch.linspace(-3, 0, 40 * 7).reshape(40, 7).to(kind)
    w = dispatch.linspace(0.1, 1, 7).to(kind) if weighted else None
    target = dispatch.arange(40) % 7
    target[3] = -100
    total = dispatch.tensor(21.0).to(kind)
    grad = dispatch.linspace(1, 2, 40).to(kind) if reduction == 0 else dispatch.tensor(0.7).to(kind)
    found = aten.nll_loss_backward(grad, x, target, w, reduction, -100, total)
    wide = [None if t is None else t.float() for t in (grad, x, w, total)]
    want = aten.nll_loss_backward(*wide[:2], target, wide[2], reduction, -100, wide[3])
    assert found.dtype is kind
    assert dispatch.equal(found, want.to(kind))
