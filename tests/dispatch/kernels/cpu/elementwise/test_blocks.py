"""Loops by blocks: elements that the quick way does not serve are made again, others are not."""

import math

import pytest

import dispatch

NEAR = [0.3 * i - 40 for i in range(267)]
CASES = {
    "sin": (math.sin, [*NEAR, 1e6, -3e7, 0.5]),
    "cos": (math.cos, [*NEAR, 1e6, -3e7, 0.5]),
    "erfc": (math.erfc, [*(x / 8 for x in NEAR), 7.5, 26.0, -9.0, 30.0]),
    "erf": (math.erf, [*(x / 8 for x in NEAR), 7.5, -9.0]),
    "lgamma": (math.lgamma, [abs(x) + 0.1 for x in NEAR] + [-2.5, -0.1, -7.3]),
}


@pytest.mark.parametrize("kind", [dispatch.float32, dispatch.float64])
@pytest.mark.parametrize("name", sorted(CASES))
def test_every_element_of_a_block_is_right(name, kind):
    function, values = CASES[name]
    x = dispatch.tensor(values, dtype=kind)
    near = 2e-6 if kind is dispatch.float32 else 1e-12
    expected = [function(value) for value in x.tolist()]
    assert getattr(dispatch, name)(x).tolist() == pytest.approx(expected, rel=near, abs=near * 1e-1)


@pytest.mark.parametrize("kind", [dispatch.float32, dispatch.float64])
def test_erfinv_goes_back_to_where_erf_came_from(kind):
    y = [x / 300 for x in range(-299, 300)] + [0.999, -0.9999, 0.999999]
    near = 1e-6 if kind is dispatch.float32 else 1e-13
    x = dispatch.erfinv(dispatch.tensor(y, dtype=kind))
    assert [math.erf(value) for value in x.tolist()] == pytest.approx(y, rel=near, abs=near)
    ends = dispatch.erfinv(dispatch.tensor([1, -1, 2, math.nan, 0.5], dtype=kind)).tolist()
    assert ends[:2] == [math.inf, -math.inf]
    assert math.isnan(ends[2]) and math.isnan(ends[3])


def test_zeros_keep_their_sign_and_cosines_of_them_are_one():
    zeros = dispatch.tensor([0.0, -0.0])
    assert [math.copysign(1, value) for value in dispatch.sin(zeros).tolist()] == [1, -1]
    assert dispatch.cos(zeros).tolist() == [1, 1]


@pytest.mark.parametrize("kind", [dispatch.complex64, dispatch.complex128])
def test_quotients_of_complex_numbers(kind):
    parts = [0.0, -0.0, 1.0, -2.5, 1e-3]
    pairs = [complex(a, b) for a in parts for b in parts]
    x, y = (dispatch.tensor(z, dtype=kind) for z in (pairs, [p for p in pairs[7:] if p] * 2))
    quotients = (x[:, None] / y).tolist()
    expected = [[a / b for b in y.tolist()] for a in x.tolist()]
    near = 1e-6 if kind is dispatch.complex64 else 1e-14
    for row, right in zip(quotients, expected, strict=True):
        assert row == pytest.approx(right, rel=near)
    by_zero = dispatch.tensor([1 + 2j, 0j], dtype=kind) / dispatch.tensor(0j, dtype=kind)
    assert dispatch.view_as_real(by_zero)[0].tolist() == [math.inf, math.inf]
    assert by_zero.isnan().tolist() == [False, True]
