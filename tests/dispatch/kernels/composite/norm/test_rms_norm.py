"""rms_norm and instance_norm: values, dtypes, errors."""

import pytest

import dispatch
from dispatch import ops


def test_rows_get_a_mean_square_of_one():
    x = dispatch.tensor([[3.0, 4.0], [0.0, 2.0]])
    got = ops.aten.rms_norm(x, [2])
    assert got.square().mean(1).tolist() == pytest.approx([1.0, 1.0], abs=1e-6)
    weighed = ops.aten.rms_norm(x, [2], dispatch.tensor([2.0, 0.0]))
    assert weighed[:, 0].tolist() == pytest.approx((got[:, 0] * 2).tolist())


def test_half_precision_is_rounded_at_the_end():
    x = dispatch.tensor([[300.0, 400.0]], dtype=dispatch.float16)
    got = ops.aten.rms_norm(x, [2])
    assert got.dtype is dispatch.float16
    assert got.tolist()[0] == pytest.approx([0.8485, 1.1313], abs=1e-3)


def test_wrong_shapes_are_refused():
    with pytest.raises(RuntimeError, match="normalized_shape"):
        ops.aten.rms_norm(dispatch.ones(2, 3), [2])
    with pytest.raises(RuntimeError, match="weight"):
        ops.aten.rms_norm(dispatch.ones(2, 3), [3], dispatch.ones(2))
    with pytest.raises(NotImplementedError, match="int64"):
        ops.aten.rms_norm(dispatch.ones(2, 3, dtype=dispatch.int64), [3])


def test_each_instance_is_normalised_by_itself():
    x = dispatch.arange(12.0).view(2, 2, 3)
    mean, var = dispatch.zeros(2), dispatch.ones(2)
    got = ops.aten.instance_norm(x, None, None, mean, var, True, 0.5, 0.0, False)
    assert got.mean(2).tolist() == [pytest.approx([0.0, 0.0], abs=1e-6)] * 2
    assert mean.tolist() == [2.0, 3.5]
    with pytest.raises(RuntimeError, match="running_mean"):
        ops.aten.instance_norm(x, None, None, None, None, False, 0.5, 0.0, False)
