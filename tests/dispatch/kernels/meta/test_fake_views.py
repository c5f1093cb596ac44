"""Strides of views of fake tensors that have dimensions of size 1 (recorded from PyTorch 2.13)."""

from __future__ import annotations

import pytest

import dispatch
from dispatch import FakeTensorMode

Ints = tuple[int, ...]

VIEWS: list[tuple[Ints, Ints, Ints, Ints]] = [
    ((2, 1, 3), (1, 77, 2), (6,), (1,)),  # not a view of those elements: nothing looks
    ((2, 1, 3), (1, 77, 2), (3, 2), (2, 1)),
    ((2, 1, 3), (1, 77, 2), (1, 6), (2, 1)),
    ((2, 1, 3), (3, 77, 1), (6,), (1,)),
    ((2, 1, 1, 3), (3, 5, 7, 1), (6,), (1,)),
    ((1,), (77,), (1, 1), (1, 1)),
    ((1,), (77,), (1, 1, 1), (77, 77, 77)),
    ((1, 1), (77, 1), (1,), (1,)),
    ((1, 1, 3, 1), (1, 77, 2, 77), (3, 1, 1, 1, 1), (2, 77, 77, 77, 77)),
    ((1, 2), (1, 2), (1, 1, 2, 1, 1), (1, 4, 2, 2, 2)),
    ((1, 2), (77, 1), (2, 1, 1), (1, 1, 1)),
    ((1, 2, 1), (2, 1, 77), (1, 2), (2, 1)),
    ((1, 2, 4), (77, 4, 1), (1, 8), (77, 1)),
    ((1, 2, 4, 2), (16, 8, 2, 1), (16, 1), (1, 1)),
    ((1, 3, 1), (1, 2, 6), (3, 1), (2, 6)),
    ((1, 4), (77, 1), (2, 1, 1, 2), (2, 2, 2, 1)),
    ((1, 4), (77, 1), (2, 2, 1, 1), (2, 1, 1, 1)),
    ((1, 4, 1), (77, 2, 77), (1, 1, 4), (77, 8, 2)),
    ((1, 4, 4), (4, 1, 8), (2, 2, 2, 1, 2), (2, 1, 16, 16, 8)),
    ((1, 6), (3, 1), (2, 3), (3, 1)),
    ((2, 1, 1), (1, 77, 77), (1, 2, 1), (2, 1, 77)),
    ((2, 1, 3, 1), (6, 77, 1, 1), (1, 1, 6), (12, 12, 1)),
    ((3, 1, 1, 2), (4, 2, 2, 1), (1, 2, 3, 1), (12, 3, 1, 1)),
    ((3, 1, 3, 3), (9, 77, 3, 1), (1, 3, 1, 9), (27, 9, 77, 1)),
    ((3, 1, 4), (4, 77, 1), (2, 1, 1, 3, 2), (6, 6, 6, 2, 1)),
    ((3, 2, 1, 4), (8, 4, 77, 1), (4, 6, 1, 1, 1), (6, 1, 1, 1, 1)),
    ((4, 1, 1), (1, 77, 77), (2, 1, 1, 1, 2), (2, 2, 2, 2, 1)),
    ((4, 3, 1), (3, 1, 77), (6, 1, 1, 2, 1), (2, 2, 2, 1, 77)),
    ((4, 4, 1, 4), (16, 4, 4, 1), (16, 4, 1), (4, 1, 1)),
]
REFUSED: list[tuple[Ints, Ints, Ints]] = [
    ((1, 2, 3), (12, 6, 1), (3, 1, 2, 1)),
    ((1, 2, 4, 4), (77, 1, 16, 2), (1, 8, 2, 1, 2)),
    ((2, 2, 1, 1), (8, 2, 2, 1), (1, 1, 4, 1)),
    ((2, 2, 1, 3), (12, 3, 77, 1), (1, 3, 2, 2, 1)),
    ((2, 4, 1, 2), (8, 1, 64, 32), (1, 16)),
    ((3, 4, 1, 1), (8, 1, 77, 1), (2, 6, 1)),
    ((4, 3, 3, 1), (3, 12, 1, 12), (2, 1, 18)),
]


@pytest.mark.parametrize(("sizes", "strides", "new", "wanted"), VIEWS)
def test_a_view_has_pytorchs_strides(sizes: Ints, strides: Ints, new: Ints, wanted: Ints) -> None:
    for device in ("cpu", "meta"):
        with FakeTensorMode():
            x = dispatch.empty_strided(sizes, strides, device=device)
            assert x.view(new).stride() == wanted


@pytest.mark.parametrize(("sizes", "strides", "new"), REFUSED)
def test_a_view_that_spans_gaps_is_refused(sizes: Ints, strides: Ints, new: Ints) -> None:
    with FakeTensorMode(), pytest.raises(ValueError, match="aten::view"):
        dispatch.empty_strided(sizes, strides).view(new)
