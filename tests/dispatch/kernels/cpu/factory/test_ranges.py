"""Ranges and triangles in C: every dtype, strided outputs, sizes that only C would mind."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import dispatch
from dispatch import ops

aten = ops.aten


@given(st.integers(-50, 50), st.integers(0, 40), st.integers(1, 5))
def test_whole_ranges(start: int, n: int, step: int) -> None:
    for dtype in ("int8", "int64", "float16", "float32", "float64"):
        got = aten.arange(start, start + n, step, dtype=getattr(dispatch, dtype))
        expected = np.arange(start, start + n, step).astype(dtype)
        np.testing.assert_array_equal(got.numpy(), expected)


def test_ranges_into_strided_outputs() -> None:
    out = dispatch.zeros(2, 3, dtype=dispatch.int64).t()
    assert aten.arange(6, out=out).tolist() == [[0, 1], [2, 3], [4, 5]]


@given(st.floats(-5, 5), st.floats(-5, 5), st.integers(1, 30))
def test_linspace_ends_where_it_is_told_to(start: float, end: float, n: int) -> None:
    got = aten.linspace(start, end, n, dtype=dispatch.float64).tolist()
    assert got[0] == start and (n == 1 or got[-1] == end)
    assert got == pytest.approx(np.linspace(start, end, n).tolist(), abs=1e-12)


@given(st.integers(0, 6), st.integers(0, 6), st.integers(-8, 8))
def test_triangles(row: int, col: int, offset: int) -> None:
    for name in ("tril_indices", "triu_indices"):
        mine, theirs = getattr(aten, name), getattr(np, name)
        got = mine(row, col, offset, dtype=dispatch.int32)
        assert got.dtype is dispatch.int32
        np.testing.assert_array_equal(got.numpy(), np.stack(theirs(row, offset, col)))


def test_only_rows_that_have_any_are_walked() -> None:
    n = 2**40
    assert aten.tril_indices(n, 5, -n + 2).tolist() == [[n - 2, n - 1, n - 1], [0, 0, 1]]


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_halves_are_rounded_once(dtype: str) -> None:
    got = aten.arange(0.1, -8.0, -0.7, dtype=getattr(dispatch, dtype))
    want = dispatch.from_numpy(0.1 + -0.7 * np.arange(12)).to(dispatch.float32).to(got.dtype)
    assert got.tolist() == want.tolist()


def test_linspace_of_halves_rounds_each_step() -> None:
    """The distance is rounded first, as PyTorch has it (values measured there)."""
    got = aten.linspace(4.3, -3, 50, dtype=dispatch.bfloat16)
    step = (dispatch.tensor(-3.0) - got[0].float()).bfloat16() / 49
    count = dispatch.arange(25).bfloat16()
    assert got[:25].tolist() == (got[0] + step * count).tolist()
    assert got[25].item() == 0.59375


def test_ends_of_integers_are_checked() -> None:
    got = aten.linspace(-255, 3, 5, dtype=dispatch.uint8)
    assert got.tolist() == [1, 1, 2, 2, 3]
    with pytest.raises(RuntimeError, match=r"linspace.*300 cannot be converted to dispatch.uint8"):
        aten.linspace(0, 300, 5, dtype=dispatch.uint8)
    assert aten.linspace(2, 3, 1, dtype=dispatch.bool).tolist() == [True]


@pytest.mark.parametrize("call", [aten.linspace, aten.logspace])
@pytest.mark.parametrize(("number", "dtype"), [(1e39, "float32"), (7e4, "float16")])
def test_equal_steps_refuse_an_end_that_the_dtype_does_not_hold(
    call: Any, number: float, dtype: str
) -> None:
    for ends, name in (((0, number), "end"), ((-number, 0), "start")):
        with pytest.raises(RuntimeError, match=f"{name} .* does not fit in dispatch.{dtype}"):
            call(*ends, 3, dtype=getattr(dispatch, dtype))
    assert aten.linspace(0, float("inf"), 1)[0] == 0
