"""Rearranging, padding and sorting: sizes, strides and errors, on meta tensors."""

from __future__ import annotations

from typing import Any

import pytest

import dispatch
from dispatch import ops
from tests.dispatch.kernels.meta.index.test_indexing import Ints, geometry, index_of, meta
from tests.dispatch.kernels.meta.join.test_joining import image

aten = ops.aten


def test_repeat_puts_new_dimensions_first() -> None:
    assert geometry(aten.repeat(meta((2, 3), (1, 2)), [4, 1, 2])) == ((4, 2, 6), (12, 6, 1))
    for repeats in ([2], [2, -1]):
        with pytest.raises(RuntimeError, match="aten::repeat"):
            aten.repeat(meta((2, 3)), repeats)


def test_flip_keeps_dense_strides() -> None:
    assert geometry(aten.flip(meta((3, 2), (1, 3)), [0])) == ((3, 2), (1, 3))
    assert geometry(aten.flip(meta((2, 3), (12, 2)), [0])) == ((2, 3), (3, 1))
    with pytest.raises(RuntimeError):
        aten.flip(meta((2, 3)), [0, -2])
    with pytest.raises(IndexError):
        aten.flip(meta((2, 3)), [2])


@pytest.mark.parametrize(
    ("sizes", "shifts", "dims", "error"),
    [
        ((2, 3), [], [0], RuntimeError),
        ((2, 3), [1, 2], [0], RuntimeError),
        ((2, 3), [1, 2], [], RuntimeError),
        ((2, 3), [1], [2], IndexError),
        ((), [1], [0], IndexError),
    ],
)
def test_roll_wants_a_shift_for_each_dimension(
    sizes: Ints, shifts: list[int], dims: list[int], error: type[Exception]
) -> None:
    with pytest.raises(error):
        aten.roll(meta(sizes), shifts, dims)


def test_roll_is_contiguous_unless_it_is_empty() -> None:
    assert geometry(aten.roll(image(), [1], [0])) == ((2, 3, 4, 4), (48, 16, 4, 1))
    assert geometry(aten.roll(meta((3, 0), (1, 3)), [1], [0])) == ((3, 0), (1, 3))


def test_triangles_need_a_matrix() -> None:
    assert geometry(aten.tril(meta((3, 2), (1, 3)))) == ((3, 2), (2, 1))
    for op in (aten.tril, aten.triu, aten.tril_):
        with pytest.raises(RuntimeError, match="2 dimensions"):
            op(meta((2,)))


@pytest.mark.parametrize(
    ("pad", "expected"),
    [
        ([1, 1], ((2, 3, 4, 6), (72, 1, 18, 3))),
        ([-1, -1], ((2, 3, 4, 2), (24, 1, 6, 3))),
        ([], ((2, 3, 4, 4), (48, 1, 12, 3))),
    ],
)
def test_constant_pad_keeps_the_memory_format(pad: list[int], expected: tuple[Ints, Ints]) -> None:
    assert geometry(aten.constant_pad_nd(image(), pad)) == expected


def test_a_clone_of_what_is_cut_keeps_its_order() -> None:
    cut = aten.constant_pad_nd(meta((4, 3), (1, 4)), [-1, -1])
    assert geometry(cut) == ((4, 1), (1, 4))


@pytest.mark.parametrize("pad", [[1], [1] * 6, [-3, -3]])
def test_constant_pad_refuses_what_does_not_fit(pad: list[int]) -> None:
    with pytest.raises(RuntimeError, match="aten::constant_pad_nd"):
        aten.constant_pad_nd(meta((3, 4)), pad)


@pytest.mark.parametrize(
    ("op", "self", "padding", "sizes"),
    [
        (aten.reflection_pad1d, meta((3, 4)), [1, -2], (3, 3)),
        (aten.reflection_pad1d, meta((0, 2, 4)), [1, 1], (0, 2, 6)),
        (aten.reflection_pad2d, meta((3, 4, 5)), [1, 2, 3, 0], (3, 7, 8)),
        (aten.reflection_pad3d, meta((2, 3, 4, 4)), [1] * 6, (2, 5, 6, 6)),
        (aten.replication_pad2d, meta((3, 4, 4)), [10, 1, 1, 1], (3, 6, 15)),
        (aten.replication_pad3d, meta((1, 2, 3, 4, 4)), [1] * 6, (1, 2, 5, 6, 6)),
    ],
)
def test_paddings_count_from_the_last_dimension(
    op: Any, self: Any, padding: list[int], sizes: Ints
) -> None:
    assert tuple(op(self, padding).shape) == sizes


def test_padding_in_two_dimensions_keeps_channels_last() -> None:
    for op in (aten.reflection_pad2d, aten.replication_pad2d):
        assert geometry(op(image(), [1, 1, 1, 1])) == ((2, 3, 6, 6), (108, 1, 18, 3))


@pytest.mark.parametrize(
    ("op", "self", "padding"),
    [
        (aten.reflection_pad1d, meta((3, 4)), [4, 1]),
        (aten.reflection_pad1d, meta((3, 4)), [-2, -2]),
        (aten.reflection_pad1d, meta((3,)), [1, 1]),
        (aten.reflection_pad1d, meta((2, 0)), [1, 1]),
        (aten.reflection_pad1d, meta((3, 4)), [1, 1, 1, 1]),
        (aten.replication_pad2d, meta((3, 4, 4), dtype="bool"), [1, 1, 1, 1]),
        (aten.replication_pad3d, meta((1, 2, 3, 4, 4)), [-4, -4, 1, 1, 1, 1]),
    ],
)
def test_paddings_refuse_what_does_not_fit(op: Any, self: Any, padding: list[int]) -> None:
    with pytest.raises(RuntimeError, match=r"aten::re.*_pad"):
        op(self, padding)


def test_sort_gives_its_strides_to_given_outputs() -> None:
    self = meta((3, 2), (1, 3))
    values, indices = aten.sort(self)
    assert geometry(values) == geometry(indices) == ((3, 2), (1, 3))
    given = {"values": meta((3, 2)), "indices": index_of(3, 2)}
    aten.sort.values(self, **given)
    assert {geometry(t) for t in given.values()} == {((3, 2), (1, 3))}


def test_topk_cuts_one_dimension() -> None:
    values, indices = aten.topk(meta((5, 4), (1, 5)), 2, 0)
    assert geometry(values) == geometry(indices) == ((2, 4), (4, 1))
    for k in (-1, 6):
        with pytest.raises(RuntimeError, match="aten::topk"):
            aten.topk(meta((5, 4)), k, 0)
    with pytest.raises(IndexError):
        aten.topk(meta((5, 4)), 1, 2)


@pytest.mark.parametrize("sizes", [(0, 3), (2, 3), ()])
def test_with_data_shifts_are_counted_before_dimensions_are_looked_up(sizes: Ints) -> None:
    x = ops.aten.ones(list(sizes))
    wrongs = ([], [], "required"), ([1, 2], [9], "align"), ([1], [0, 9], "align")
    for shifts, dims, wrong in wrongs:
        with pytest.raises(RuntimeError, match=wrong):
            aten.roll(x, shifts, dims)


@pytest.mark.parametrize(
    ("shifts", "dims", "kept"),
    [([1], [0], True), ([1, 2], [0, 1], True), ([2], [0], False), ([1, 3], [0, 2], False)],
)
def test_roll_by_a_whole_dimension_loses_the_format(
    shifts: list[int], dims: list[int], kept: bool
) -> None:
    x = dispatch.ones(2, 4, 3, 5).contiguous(memory_format=dispatch.channels_last)
    assert aten.roll(x, shifts, dims).stride() == (x.stride() if kept else (60, 15, 5, 1))
