"""Turning, rolling, repeating, triangles: numpy's elements for any strides."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import dispatch
from dispatch import ops

aten = ops.aten


def cube(transposed: bool) -> dispatch.Tensor:
    x = dispatch.arange(60).reshape(3, 4, 5)
    return x.permute(2, 0, 1) if transposed else x


@given(st.booleans(), st.sets(st.integers(-3, -1)))
def test_flip(transposed: bool, dims: set[int]) -> None:
    x = cube(transposed)
    np.testing.assert_array_equal(x.flip(list(dims)).numpy(), np.flip(x.numpy(), tuple(dims)))


@given(st.booleans(), st.lists(st.tuples(st.integers(-9, 9), st.integers(-3, 2)), max_size=4))
def test_roll(transposed: bool, moves: list[tuple[int, int]]) -> None:
    x = cube(transposed)
    if not moves:
        np.testing.assert_array_equal(x.roll(7).numpy(), np.roll(x.numpy(), 7))
        return
    shifts, dims = zip(*moves, strict=True)
    got = x.roll(list(shifts), list(dims)).numpy()
    np.testing.assert_array_equal(got, np.roll(x.numpy(), shifts, dims))


@given(st.booleans(), st.integers(-7, 7))
def test_triangles(transposed: bool, diagonal: int) -> None:
    x = cube(transposed)
    np.testing.assert_array_equal(x.tril(diagonal).numpy(), np.tril(x.numpy(), diagonal))
    np.testing.assert_array_equal(x.triu(diagonal).numpy(), np.triu(x.numpy(), diagonal))
    y = x.clone()
    assert y.tril_(diagonal) is y and y.tolist() == x.tril(diagonal).tolist()


def test_a_diagonal_far_off_and_an_output_that_is_the_transpose() -> None:
    x = dispatch.arange(9.0).reshape(3, 3)
    assert x.tril(2**62).tolist() == x.tolist() and not bool(x.triu(2**62).any())
    expected = np.tril(x.numpy())
    aten.tril.out(x, out=x.t())
    np.testing.assert_array_equal(x.t().numpy(), expected)


@given(st.booleans(), st.lists(st.integers(0, 3), min_size=3, max_size=5))
def test_repeat(transposed: bool, repeats: list[int]) -> None:
    x = cube(transposed)
    np.testing.assert_array_equal(x.repeat(repeats).numpy(), np.tile(x.numpy(), repeats))


@given(st.lists(st.integers(0, 4), min_size=1, max_size=8), st.booleans())
def test_positions_as_often_as_counts_say(counts: list[int], narrow: bool) -> None:
    dtype = dispatch.int32 if narrow else dispatch.int64
    got = aten.repeat_interleave.Tensor(dispatch.tensor(counts, dtype=dtype))
    assert got.dtype is dtype
    assert got.tolist() == np.repeat(np.arange(len(counts)), counts).tolist()


def test_counts_that_cannot_be() -> None:
    with pytest.raises(RuntimeError, match="can not be negative, got -1"):
        aten.repeat_interleave.Tensor(dispatch.tensor([2, -1]))
    with pytest.raises(RuntimeError, match="too large"):
        aten.repeat_interleave.Tensor(dispatch.tensor([2**62, 2**62]))
    with pytest.raises(RuntimeError, match="output_size 3"):
        aten.repeat_interleave.Tensor(dispatch.tensor([2, 1]), output_size=4)
