"""Losses refuse what PyTorch refuses."""

import pytest

import dispatch


@pytest.mark.parametrize("other", ["float64", "complex64", "int64"])
def test_a_target_of_another_dtype_is_refused(other):
    target = dispatch.ones(2, dtype=getattr(dispatch, other))
    with pytest.raises(RuntimeError, match="expected a target of"):
        dispatch.ops.aten.binary_cross_entropy.default(dispatch.ones(2), target)
