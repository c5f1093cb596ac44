"""Losses written with operators: values by hand, and what they refuse."""

import math

import numpy as np
import pytest

import dispatch
from dispatch import tensor

aten = dispatch.ops.aten
NONE, MEAN, SUM = range(3)


def test_pairs_are_alike_or_not():
    a, b = tensor([[1.0, 0.0], [1.0, 0.0]]), tensor([[0.0, 2.0], [3.0, 0.0]])
    found = aten.cosine_embedding_loss(a, b, tensor([1, -1]), 0.25, NONE)
    np.testing.assert_allclose(found.numpy(), [1, 0.75], rtol=1e-6)
    assert np.isclose(aten.cosine_embedding_loss(a[0], b[0], tensor(1)).item(), 1)
    with pytest.raises(RuntimeError, match="input1"):
        aten.cosine_embedding_loss(a[0], b, tensor([1, -1]))


def test_hinge_counts_what_lacks_to_the_margin():
    found = aten.hinge_embedding_loss(tensor([3.0, 0.25, 2.0]), tensor([1, -1, -1]), 1.0, NONE)
    assert found.tolist() == [3, 0.75, 0]


def test_margin_of_integers_is_cut_to_one():
    """As PyTorch subtracts: the number is first of the tensor's dtype."""
    found = aten.hinge_embedding_loss(tensor([0]), tensor([-1]), 1.5, NONE)
    assert found.tolist() == [1] and found.dtype is dispatch.int64


def test_ranks_and_triplets():
    a, b = tensor([1.0, 2.0]), tensor([2.0, 2.0])
    assert aten.margin_ranking_loss(a, b, tensor([1, -1]), 0.5, NONE).tolist() == [1.5, 0.5]
    anchor, near, far = tensor([[0.0]]), tensor([[1.0]]), tensor([[-3.0]])
    assert np.isclose(aten.triplet_margin_loss(anchor, near, far, 2.5).item(), 0.5, atol=1e-5)
    swapped = aten.triplet_margin_loss(anchor, tensor([[-2.0]]), far, 2.5, swap=True)
    assert np.isclose(swapped.item(), 3.5, atol=1e-5)  # from -2 to -3 it is 1
    with pytest.raises(RuntimeError, match="The anchor, positive, and negative tensors"):
        aten.triplet_margin_loss(anchor, near[0], far)


def test_poisson_has_stirlings_term_above_one():
    x, target = tensor([1.0, 1.0]), tensor([3.0, 1.0])
    plain = aten.poisson_nll_loss(x, target, True, False, 0.0, NONE).numpy()
    full = aten.poisson_nll_loss(x, target, True, True, 0.0, NONE).numpy()
    term = 3 * math.log(3) - 3 + 0.5 * math.log(2 * math.pi * 3)
    np.testing.assert_allclose(full - plain, [term, 0], rtol=1e-6)


def test_out_variants_fill_and_return_out():
    x, target, out = dispatch.ones(2, 3), tensor([0, 2]), dispatch.empty(0)
    assert dispatch.ops.aten.nll_loss.out(x, target, None, NONE, out=out) is out
    assert out.tolist() == [-1, -1]
    images, out = dispatch.ones(1, 3, 1, 2), dispatch.empty(())
    aten.nll_loss2d.out(images, tensor([[[0, 1]]]), out=out)
    assert out.item() == -1
    out = dispatch.empty(())
    aten.multilabel_margin_loss.out(dispatch.ones(3), tensor([0, -1, 0]), out=out)
    assert np.isclose(out.item(), 2 / 3)


@pytest.mark.parametrize(
    ("sizes", "others"),
    [((2, 5, 5), {"target": (5, 5)}), ((5,), {"weight": (3, 5)}), ((5,), {"pos_weight": (3, 5)})],
)
def test_cross_entropy_of_logits_works_in_the_targets_memory(sizes, others):
    others = {"target": sizes} | others

    def call():
        given = {name: dispatch.ones(n) for name, n in others.items()}
        return aten.binary_cross_entropy_with_logits(dispatch.ones(sizes), **given)

    with pytest.raises(RuntimeError, match=r"aten::(mul|sub)_"):
        call()
    with dispatch.FakeTensorMode():
        assert call().shape == ()


@pytest.mark.parametrize("kinds", [("float32", "float64"), ("float64", "float32")])
def test_cross_entropy_of_logits_has_the_dtype_of_the_target(kinds):
    x, target = (dispatch.ones(5, dtype=getattr(dispatch, kind)) for kind in kinds)
    assert aten.binary_cross_entropy_with_logits(x, target).dtype is target.dtype
    assert aten.binary_cross_entropy_with_logits(dispatch.ones(5), dispatch.ones(2, 5)).item() > 0
