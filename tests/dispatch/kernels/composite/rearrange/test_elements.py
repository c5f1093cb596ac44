"""diff, repeat_interleave, pad, and the scatters of views, on meta tensors."""

from __future__ import annotations

from typing import Any

import pytest

import dispatch
from dispatch import ops
from tests.dispatch.kernels.meta.index.test_indexing import Ints, geometry, index_of, meta
from tests.dispatch.kernels.meta.join.test_joining import image

aten = ops.aten


@pytest.mark.parametrize(
    ("arguments", "sizes"),
    [((), (3, 3)), ((2,), (3, 2)), ((9,), (3, 0)), ((0,), (3, 4)), ((1, 0), (2, 4))],
)
def test_diff_shortens_a_dimension(arguments: tuple[int, ...], sizes: Ints) -> None:
    assert tuple(aten.diff(meta((3, 4)), *arguments).shape) == sizes


def test_diff_counts_what_stands_before_and_after() -> None:
    result = aten.diff(meta((3, 4)), 1, 0, meta((1, 4)), meta((2, 4)))
    assert tuple(result.shape) == (5, 4)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((-1,), RuntimeError),
        ((1, 2), IndexError),
        ((1, 0, meta((4,))), RuntimeError),
        ((1, 0, meta((1, 3))), RuntimeError),
    ],
)
def test_diff_refuses_what_does_not_fit(arguments: tuple[Any, ...], error: type[Exception]) -> None:
    with pytest.raises(error):
        aten.diff(meta((3, 4)), *arguments)


def test_repeat_interleave_by_a_number() -> None:
    self = meta((2, 3), (1, 2))
    assert geometry(aten.repeat_interleave.self_int(self, 2)) == ((12,), (1,))
    assert geometry(aten.repeat_interleave.self_int(self, 2, -1)) == ((2, 6), (6, 1))
    for arguments in ((-1,), (2, 0)):
        with pytest.raises(RuntimeError, match="aten::repeat_interleave"):
            aten.repeat_interleave.self_int(self, *arguments, output_size=5)


def test_repeat_interleave_by_a_tensor_needs_the_output_size() -> None:
    self = meta((2, 3))
    for repeats in (index_of(3), index_of(1), index_of()):
        result = aten.repeat_interleave.self_Tensor(self, repeats, 1, output_size=7)
        assert tuple(result.shape) == (2, 7)
    with pytest.raises(RuntimeError, match="output_size"):
        aten.repeat_interleave.self_Tensor(self, index_of(3), 1)
    with pytest.raises(RuntimeError, match=r"and input.size\(\d\) = 3"):
        aten.repeat_interleave.self_Tensor(self, index_of(4), 1, output_size=7)


@pytest.mark.parametrize("mode", ["constant", "reflect", "replicate", "circular"])
@pytest.mark.parametrize(
    ("self_sizes", "pad", "sizes"),
    [
        ((3, 5), [1, 2], (3, 8)),
        ((2, 3, 4, 5), [1, 1, 2, 0], (2, 3, 6, 7)),
        ((1, 3, 3, 4, 5), [1, 1, 2, 1, 2, -1], (1, 3, 4, 7, 7)),
    ],
)
def test_pad_routes_by_mode_and_dimensions(
    mode: str, self_sizes: Ints, pad: list[int], sizes: Ints
) -> None:
    assert tuple(aten.pad(meta(self_sizes), pad, mode).shape) == sizes


def test_circular_padding_is_contiguous_and_goes_round_once() -> None:
    padded = aten.pad(image(), [1, 1, 1, 1], "circular")
    assert geometry(padded) == ((2, 3, 6, 6), (108, 36, 6, 1))
    for pad in ([5, 1], [-3, -3]):
        with pytest.raises(RuntimeError, match="aten::pad"):
            aten.pad(meta((1, 3, 4)), pad, "circular")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (([1, 1, 1, 1], "reflect"), NotImplementedError),
        (([], "reflect"), NotImplementedError),
        (([1], "bad"), NotImplementedError),
        (([1], "constant"), RuntimeError),
        (([1] * 6, "constant"), RuntimeError),
        (([1, 1], "reflect", 3.0), RuntimeError),
    ],
)
def test_pad_refuses_what_does_not_fit(arguments: tuple[Any, ...], error: type[Exception]) -> None:
    with pytest.raises(error, match="aten::pad"):
        aten.pad(meta((3, 4)), *arguments)


def test_scatters_of_views_keep_the_strides_of_self() -> None:
    gaps = meta((3, 4), (8, 2))
    assert geometry(aten.select_scatter(gaps, meta((4,)), 0, 0)) == ((3, 4), (8, 2))
    assert geometry(aten.slice_scatter(gaps, meta((2, 4)), 0, 0, 2)) == ((3, 4), (8, 2))
    expanded = meta((3, 4), (0, 1))
    assert geometry(aten.select_scatter(expanded, meta((4,)), 0, 0)) == ((3, 4), (4, 1))


def test_scatters_of_views_want_the_shape_of_the_part() -> None:
    with pytest.raises(RuntimeError, match="aten::select_scatter"):
        aten.select_scatter(meta((3, 4)), meta((3,)), 0, 0)
    with pytest.raises(RuntimeError, match="aten::slice_scatter"):
        aten.slice_scatter(meta((3, 4)), meta((1, 4)), 0, 0, 2)
    with pytest.raises(IndexError):
        aten.select_scatter(meta((3, 4)), meta((4,)), 0, 5)


def test_differences_of_more_than_there_is_are_contiguous():
    assert dispatch.ones(2, 3, 4).diff(9, 1).stride() == (4, 4, 1)
