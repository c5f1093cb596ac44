"""A sequence without a target: every step is blank."""

import pytest

import dispatch

aten = dispatch.ops.aten


def test_a_target_of_no_classes_costs_the_blanks():
    rows = dispatch.log_softmax(dispatch.tensor([[[1.0, 2.0, 3.0]], [[2.0, 0.0, 1.0]]]), 2)
    empty = dispatch.zeros(1, 1, dtype=dispatch.int64)
    loss, alpha = aten._ctc_loss(rows, empty, [2], [0])
    blanks = -(rows[0, 0, 0] + rows[1, 0, 0]).item()
    assert loss.item() == pytest.approx(blanks)
    assert tuple(alpha.shape) == (1, 2, 1)
