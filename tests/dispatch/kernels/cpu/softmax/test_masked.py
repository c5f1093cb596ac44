"""Masked softmax: kinds of masks, rows without anything left, gradients, errors."""

import numpy as np
import pytest

import dispatch
from dispatch import ops

aten = ops.aten
MASK = [[True, False, False], [False, False, True]]


def test_hidden_elements_have_weight_zero():
    found = aten._masked_softmax(dispatch.zeros(2, 3), dispatch.tensor(MASK))
    assert found.tolist() == [[0.0, 0.5, 0.5], [0.5, 0.5, 0.0]]
    along = aten._masked_softmax(dispatch.zeros(2, 3), dispatch.tensor(MASK), 0)
    assert along.tolist() == [[0.0, 0.5, 1.0], [1.0, 0.5, 0.0]]
    none_left = aten._masked_softmax(dispatch.zeros(1, 2), dispatch.tensor([[True, True]]))
    assert np.isnan(none_left.numpy()).all()


@pytest.mark.parametrize(("kind", "want"), [(0, [[0, 1], [1, 0]]), (1, [[0, 1], [0, 1]])])
def test_masks_of_attention_count_for_every_head(kind, want):
    mask = dispatch.tensor([[True, False], [False, True]])
    found = aten._masked_softmax(dispatch.zeros(2, 3, 2, 2), mask, 3, kind)
    assert found[0, 2].tolist() == want


def test_gradient_leaves_out_what_is_hidden():
    grad = dispatch.tensor([[1.0, 2.0, 3.0]])
    y, mask = dispatch.tensor([[9.0, 0.25, 0.75]]), dispatch.tensor([[True, False, False]])
    found = aten._masked_softmax_backward(grad, y, mask)
    assert found.tolist() == [[0.0, -0.1875, 0.1875]]
    with pytest.raises(RuntimeError, match="mask to have grad_output's shape"):
        aten._masked_softmax_backward(grad, y, mask[0])


@pytest.mark.parametrize(
    ("sizes", "mask", "kind", "text"),
    [
        ((2, 3), dispatch.zeros(2, 3), None, "mask to be bool"),
        ((2, 3), dispatch.zeros(2, dtype=dispatch.bool), None, "mask to have shape"),
        ((2, 2, 3, 3), dispatch.zeros(2, 3, dtype=dispatch.bool), None, "mask_type to be given"),
        ((2, 2, 3, 3), dispatch.zeros(2, 3, dtype=dispatch.bool), 3, "mask_type to be 0, 1 or 2"),
        ((2, 2, 3, 3), dispatch.zeros(2, 3, dtype=dispatch.bool), 0, "mask to have shape"),
    ],
)
def test_wrong_masks_are_refused(sizes, mask, kind, text):
    with pytest.raises(RuntimeError, match=text):
        aten._masked_softmax(dispatch.zeros(*sizes), mask, None, kind)
