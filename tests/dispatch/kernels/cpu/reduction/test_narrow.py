"""Extremes of narrow integers: all elements, one dimension, strided."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

import dispatch

KINDS = [np.uint8, np.int8, np.int16, np.int32]


@given(
    st.sampled_from(KINDS),
    st.lists(st.integers(1, 40), min_size=1, max_size=3),
    st.integers(0, 2),
    st.booleans(),
    st.integers(0, 99),
)
def test_extremes_are_numpys(kind, sizes, dim, strided, seed):
    limits = np.iinfo(kind)
    shape = [2 * n for n in sizes] if strided else sizes
    x = np.random.default_rng(seed).integers(limits.min, limits.max, shape, kind, endpoint=True)
    t = dispatch.from_numpy(x)
    if strided:
        x, t = x[(slice(None, None, 2),) * x.ndim], t[(slice(None, None, 2),) * x.ndim]
    dim %= x.ndim
    assert t.max().item() == x.max()
    assert t.min().item() == x.min()
    assert t.amax([dim]).tolist() == x.max(dim).tolist()
    assert t.amin([dim], keepdim=True).tolist() == x.min(dim, keepdims=True).tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_long_rows(kind):
    x = np.zeros((3, 100_003), kind)
    x[1, 99_999], x[2, 0] = 100, 50
    t = dispatch.from_numpy(x)
    assert t.amax([1]).tolist() == [0, 100, 50]
    assert t.max().item() == 100


@pytest.mark.parametrize("kind", [*KINDS, np.float16])
def test_extremes_over_neighbouring_dimensions(kind):
    x = np.random.default_rng(3).integers(0, 100, (5, 6, 1, 7, 8)).astype(kind)
    t = dispatch.from_numpy(x)
    for dims in ([0, 1], [1, 2, 3], [3, 4], [1, 3], [0, 4], [0, 1, 2, 3, 4], [2]):
        assert t.amax(dims).tolist() == x.max(tuple(dims)).tolist()
        assert t.amin(dims, keepdim=True).tolist() == x.min(tuple(dims), keepdims=True).tolist()
    for dim in range(5):
        low, high = dispatch.aminmax(t, dim=dim)
        assert low.tolist() == x.min(dim).tolist()
        assert high.tolist() == x.max(dim).tolist()
    low, high = dispatch.aminmax(t)
    assert (low.item(), high.item()) == (x.min(), x.max())


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_extremes_of_halves_are_those_of_floats(dtype):
    x = dispatch.randn(3, 50, 40).mul(10).to(getattr(dispatch, dtype))
    x[0, 3, 4], x[0, 7, 4], x[1, 0, 0], x[1, 0, 1] = float("inf"), -float("inf"), 0.0, -0.0
    for t in (x, x[:, :, 5:6].contiguous(), x[1:]):
        wide = t.float()
        for dims in ([0], [1], [2], [0, 1], [1, 2], [0, 1, 2]):
            assert t.amax(dims).tolist() == wide.amax(dims).tolist()
            assert t.amin(dims).tolist() == wide.amin(dims).tolist()
        assert [e.item() for e in dispatch.aminmax(t)] == [wide.min().item(), wide.max().item()]
    for sign in (1, -1):
        x[2, 4, 4] = sign * float("nan")
        for found in (x.max(), x.min(), *dispatch.aminmax(x), x.amax([1, 2])[2], x.amin([1])[2, 4]):
            assert found.isnan().item()
    assert not x.amax([1])[2, 3].isnan().item()


@pytest.mark.parametrize("dtype", ["uint8", "int16", "bfloat16", "float32"])
def test_extremes_written_into_what_they_are_of(dtype):
    memory = dispatch.arange(48).to(getattr(dispatch, dtype))
    smallest, largest = memory[40:46], dispatch.empty(6, dtype=memory.dtype)
    dispatch.aminmax(memory.view(6, 8), dim=1, out=(smallest, largest))
    assert smallest.tolist() == [0, 8, 16, 24, 32, 40]
