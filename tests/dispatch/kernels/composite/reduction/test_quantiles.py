"""Quantiles: where they lie, between which elements, and what is refused."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import dispatch
from dispatch import ops


def test_quantile_lies_between_the_elements_around_its_rank():
    x = dispatch.tensor([3.0, 1.0, 2.0, 4.0])
    assert x.quantile(0.5).item() == 2.5
    found = {m: x.quantile(0.4, interpolation=m).item() for m in ("lower", "higher", "nearest")}
    assert found == {"lower": 2.0, "higher": 3.0, "nearest": 2.0}
    assert x.quantile(0.9, interpolation="midpoint").item() == 3.5


def test_quantiles_come_in_front_of_the_dimensions_that_stay():
    x = dispatch.arange(6.0).view(2, 3)
    q = dispatch.tensor([0.0, 1.0])
    assert x.quantile(q, 0).tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    assert x.quantile(q, 1, True).shape == (2, 2, 1)
    assert x.quantile(0.5, keepdim=True).shape == (1, 1)
    assert dispatch.tensor(2.0).quantile(q, 0).tolist() == [2.0, 2.0]


def test_nan_spreads_unless_it_is_left_out():
    x = dispatch.tensor([[1.0, float("nan"), 3.0], [float("nan")] * 3])
    assert x.quantile(0.5, 1).isnan().tolist() == [True, True]
    assert x.nanquantile(0.5, 1).isnan().tolist() == [False, True]
    assert x.nanquantile(0.5, 1)[0].item() == 2.0


def test_output_is_resized_and_must_have_the_dtype():
    x, out = dispatch.tensor([1.0, 2.0]), dispatch.empty(0)
    assert ops.aten.quantile.scalar_out(x, 0.5, out=out) is out
    assert out.item() == 1.5
    with pytest.raises(RuntimeError, match=r"quantile.*out tensor must be same dtype.*float32"):
        ops.aten.quantile.scalar_out(x, 0.5, out=dispatch.empty(0, dtype=dispatch.float64))


@pytest.mark.parametrize(
    ("x", "q", "options", "text"),
    [
        (dispatch.tensor([1.0]), 1.5, {}, r"q must be in the range \[0, 1\] but got 1.5"),
        (
            dispatch.tensor([1.0]),
            dispatch.tensor([-0.5]),
            {},
            r"values must be in the range \[0, 1\]",
        ),
        (dispatch.tensor([1.0]), dispatch.zeros(1, 1), {}, "q must be a scalar or 1D"),
        (
            dispatch.tensor([1.0]),
            dispatch.zeros(1, dtype=dispatch.float64),
            {},
            "q tensor must be same dtype",
        ),
        (dispatch.tensor([1]), 0.5, {}, "either float or double dtype"),
        (dispatch.empty(0), 0.5, {}, "must be non-empty"),
        (dispatch.tensor([1.0]), 0.5, {"interpolation": "odd"}, "interpolation"),
    ],
)
def test_wrong_arguments_are_refused(x, q, options, text):
    with pytest.raises(RuntimeError, match=text):
        x.quantile(q, **options)


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=30), st.floats(0, 1))
def test_quantile_is_numpys(values, q):
    got = dispatch.tensor(values, dtype=dispatch.float64).quantile(q).item()
    assert np.isclose(got, np.quantile(values, q), atol=1e-9)
