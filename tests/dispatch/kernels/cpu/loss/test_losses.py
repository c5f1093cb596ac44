"""Losses refuse what PyTorch refuses."""

import pytest

import dispatch


@pytest.mark.parametrize("other", ["float64", "complex64", "int64"])
def test_a_target_of_another_dtype_is_refused(other):
    target = dispatch.ones(2, dtype=getattr(dispatch, other))
    with pytest.raises(RuntimeError, match="expected a target of"):
        dispatch.ops.aten.binary_cross_entropy.default(dispatch.ones(2), target)


def test_slope_of_binary_cross_entropy():
    x, y = dispatch.tensor([[0.2, 0.5], [0.0, 1.0]]), dispatch.tensor([[1.0, 0.0], [1.0, 0.3]])
    slope = dispatch.ops.aten.binary_cross_entropy_backward
    ones = dispatch.ones(2, 2)
    assert slope(ones, x, y, None, 0).flatten().tolist() == pytest.approx([-5, 2, -1e12, 7e11])
    weighed = slope(ones, x, y, dispatch.tensor([1.0, 2.0]), 0)
    assert weighed[0].tolist() == pytest.approx([-5, 4])
    assert slope(dispatch.tensor(2.0), x, y)[0].tolist() == pytest.approx([-2.5, 1])
    with pytest.raises(RuntimeError, match=r"_backward: expected .*float32"):
        slope(ones, x, y.double())
    with pytest.raises(RuntimeError, match="do not broadcast"):
        slope(ones, x, y, dispatch.ones(3))
