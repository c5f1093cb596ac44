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
