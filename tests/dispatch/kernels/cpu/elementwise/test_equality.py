"""Whether tensors are equal: in loops over what lies without gaps, by operators elsewhere."""

from __future__ import annotations

import pytest

import dispatch

FLOATS = ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"]
INTEGERS = ["uint8", "int8", "int16", "int32", "int64", "bool"]


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS])
@pytest.mark.parametrize("place", [0, 1023, 1024, 2999])
def test_one_other_element_makes_a_difference(dtype, place):
    x = (dispatch.arange(3000) % 2).to(getattr(dispatch, dtype))
    y = x.clone()
    assert dispatch.equal(x, y)
    assert dispatch.equal(x[::2], y[::2])
    y[place] = 1 - place % 2
    assert not dispatch.equal(x, y)
    assert not dispatch.equal(x[place % 2 :: 2], y[place % 2 :: 2])


@pytest.mark.parametrize("dtype", FLOATS)
def test_zeros_are_equal_and_nan_is_not_itself(dtype):
    x = dispatch.zeros(40, dtype=getattr(dispatch, dtype))
    assert dispatch.equal(x, -x)
    x[17] = float("inf")
    assert dispatch.equal(x, x.clone())
    x[17] = float("nan")
    assert not dispatch.equal(x, x)
    assert not dispatch.equal(x, -x)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_the_same_memory_is_equal(dtype):
    x = dispatch.ones(2, 3, dtype=getattr(dispatch, dtype))
    assert dispatch.equal(x, x)
    assert dispatch.equal(x, x.view(2, 3))


def test_other_sizes_are_never_equal_and_other_dtypes_may_be():
    x = dispatch.arange(6)
    assert not dispatch.equal(x, x.view(2, 3))
    assert not dispatch.equal(x.view(3, 2), x.view(2, 3))
    assert dispatch.equal(x, x.double())
    assert dispatch.equal(x[:0], x[3:3])
    assert dispatch.equal(x[2], x[2].clone())
    z = (x + 1j * x).conj()
    assert dispatch.equal(z, x - 1j * x)
    assert not dispatch.equal(z, z.conj())
