"""What sizes, strides and offset say of a tensor: flags and elements, after a change too."""

import math
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import dispatch
from dispatch import Tensor, ops

A = ops.aten
BASE = 3000
Geometry = tuple[list[int], list[int], int]


def packed(sizes: list[int], strides: list[int], order: Any) -> bool:
    """Whether the dimensions, from the innermost on, follow each other without gaps."""
    step = 1
    for dim in order:
        if sizes[dim] != 1:
            if strides[dim] != step:
                return False
            step *= sizes[dim]
    return True


def is_contiguous(sizes: list[int], strides: list[int]) -> bool:
    return 0 in sizes or packed(sizes, strides, range(len(sizes) - 1, -1, -1))


def is_channels_last(sizes: list[int], strides: list[int], ndim: int) -> bool:
    return len(sizes) == ndim and packed(sizes, strides, [1, *range(ndim - 1, 1, -1), 0])


def is_dense(sizes: list[int], strides: list[int]) -> bool:
    by_stride = sorted((d for d, n in enumerate(sizes) if n != 1), key=strides.__getitem__)
    return is_contiguous(sizes, strides) or packed(sizes, strides, by_stride)


@st.composite
def geometries(draw: st.DrawFn) -> Geometry:
    """Rows, columns, channels last and other orders; with gaps, broadcast and at offsets."""
    sizes = draw(st.lists(st.sampled_from([1, 1, 2, 3, 0, 2]), max_size=5))
    n = len(sizes)
    orders = [[*range(n - 1, -1, -1)]]
    if n in (4, 5):
        orders.append([1, *range(n - 1, 1, -1), 0])
    order = draw(st.sampled_from(orders) | st.permutations(range(n)).map(list))
    strides, step = [0] * n, 1
    for dim in order:
        strides[dim] = draw(st.sampled_from([step] * 9 + [0, 2, 7]))
        step = max(strides[dim], 1) * max(sizes[dim], 1)
    return sizes, strides, draw(st.sampled_from([0, 0, 3]))


def check(t: Tensor, sizes: list[int], strides: list[int], offset: int) -> None:
    assert (list(t.shape), list(t.stride()), t.storage_offset()) == (sizes, strides, offset)
    assert t.numel() == math.prod(sizes) and t.ndim == len(sizes)
    assert t.nbytes == 4 * math.prod(sizes)
    assert t.is_contiguous() == is_contiguous(sizes, strides)
    for fmt, ndim in ((dispatch.channels_last, 4), (dispatch.channels_last_3d, 5)):
        assert t.is_contiguous(memory_format=fmt) == is_channels_last(sizes, strides, ndim)
    dense = is_dense(sizes, strides)
    assert A.is_non_overlapping_and_dense.default(t) == dense
    like = A.empty_like.default(t)
    assert like.numel() == t.numel() and like.storage_offset() == 0
    if dense:  # without values those of single rows may differ, and all of nothing
        kept = [d for d, n in enumerate(sizes) if not t.is_meta or (n > 1 and t.numel())]
        assert [like.stride(d) for d in kept] == [strides[d] for d in kept]


@settings(max_examples=300, deadline=None)
@given(geometries())
def test_flags_are_those_of_the_geometry(geometry):
    check(A.as_strided.default(dispatch.empty(BASE), *geometry), *geometry)
    meta = A.as_strided.default(dispatch.empty(BASE, device="meta"), *geometry)
    check(meta, *geometry)


@settings(max_examples=150, deadline=None)
@given(geometries(), geometries())
def test_flags_follow_a_change_in_place(before, after):
    t = A.as_strided.default(dispatch.arange(float(BASE)), *before)
    t.is_contiguous()
    A.as_strided_.default(t, *after)
    check(t, *after)
    values = np.arange(BASE, dtype=np.float32)
    sizes, strides, offset = after
    steps = [4 * s for s in strides]
    seen = np.lib.stride_tricks.as_strided(values[offset:], sizes, steps)
    assert np.array_equal(t.numpy(), seen)


@settings(max_examples=150, deadline=None)
@given(geometries())
def test_writes_reach_the_places_that_the_geometry_names_and_no_other(geometry):
    base = dispatch.zeros(BASE)
    t = A.as_strided.default(base, *geometry)
    t.fill_(1)
    sizes, strides, offset = geometry
    places = {
        offset + sum(i * s for i, s in zip(index, strides, strict=True))
        for index in np.ndindex(*sizes)
    }
    assert set(np.flatnonzero(base.numpy()).tolist()) == places
    assert t.sum().item() == t.numel()
    assert t.contiguous().is_contiguous()


def test_negative_strides_are_refused_where_memory_bounds_nothing_too():
    for device in ("cpu", "meta"):
        x = dispatch.empty(9, device=device)
        with pytest.raises(RuntimeError):
            A.as_strided.default(x, [2], [-1], 5)


def test_negating_and_conjugating_twice_is_nothing():
    x = dispatch.ones(2, dtype=dispatch.complex64)
    assert A._neg_view.default(x).is_neg() and A._conj.default(x).is_conj()
    assert not A._neg_view.default(A._neg_view.default(x)).is_neg()
    assert not A._conj.default(A._conj.default(x)).is_conj()


def test_offsets_of_views_count_elements_of_the_new_dtype() -> None:
    x = dispatch.ones(12, dtype=dispatch.float32)
    assert x[4:8].view(dispatch.float64).storage_offset() == 2
    assert x[3:8].view(dispatch.int16).storage_offset() == 6
    assert A.view_as_complex(x[4:8].reshape(2, 2)).storage_offset() == 2
    with pytest.raises(RuntimeError, match=r"storage_offset\(\) must be .* got 3"):
        x[3:7].view(dispatch.float64)


@pytest.mark.parametrize("sizes", [[1, 2], [3, 2]])
def test_pieces_must_sum_to_the_size(sizes: list[int]) -> None:
    with pytest.raises(RuntimeError, match="to sum exactly to 4"):
        A.split_with_sizes(dispatch.ones(4), sizes)


def test_an_output_is_resized_on_its_device_alone() -> None:
    x = dispatch.ones(2, device="meta")
    assert A._resize_output_(x, [3, 1], "meta") is x
    assert x.shape == (3, 1)
    with pytest.raises(RuntimeError, match=r"^aten::_resize_output_: .* on cpu, got meta"):
        A._resize_output_(x, [4], "cpu")
    assert x.shape == (3, 1)
