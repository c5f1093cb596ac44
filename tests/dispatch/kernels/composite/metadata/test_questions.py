"""Questions about dtypes: operators answer with c10's numbers, functions with dtypes."""

import pytest

import dispatch

aten = dispatch.ops.aten


def test_operators_answer_with_numbers():
    assert aten.promote_types(dispatch.float32, dispatch.int64) == 6
    assert aten.result_type.Tensor(dispatch.ones(1), dispatch.ones(1, dtype=dispatch.double)) == 7
    assert dispatch.result_type(dispatch.ones(1, dtype=dispatch.bfloat16), 1) is dispatch.bfloat16


def test_the_shape_of_a_fake_number_is_known():
    with dispatch.FakeTensorMode():
        assert aten._shape_as_tensor(dispatch.zeros(())).shape == (0,)
        with pytest.raises(RuntimeError, match="no bytes"):
            aten._shape_as_tensor(dispatch.zeros(2))
