"""Matrices: diagonals that are written; pixels shuffled."""

import math

import pytest

import dispatch
from dispatch import ops
from dispatch.library.autocast import autocast


def test_a_diagonal_that_goes_on_below_is_that_of_the_elements_whatever_their_strides():
    x = dispatch.zeros(7, 3, 3)[:, 1].fill_diagonal_(1, wrap=True)
    assert x.nonzero().tolist() == [[0, 0], [1, 1], [2, 2], [4, 0], [5, 1], [6, 2]]
    assert x.tolist() == dispatch.zeros(7, 3).fill_diagonal_(1, wrap=True).tolist()


@pytest.mark.parametrize(
    ("sizes", "by"), [((2, 12, 3, 5), 2), ((1, 9, 4, 4), 3), ((1, 4, 1, 1), 2), ((2, 32, 6, 6), 4)]
)
def test_pixels_with_channels_last_are_shuffled_as_those_with_channels_first(sizes, by):
    x = dispatch.arange(math.prod(sizes)).reshape(sizes)
    last = x.to(memory_format=dispatch.channels_last)
    found = ops.aten.pixel_shuffle(last, by)
    assert dispatch.equal(found, ops.aten.pixel_shuffle(x, by))
    _, c, h, w = found.shape
    assert found.stride() == (c * h * w, 1, c * w, c)
    back = ops.aten.pixel_unshuffle(found, by)
    assert dispatch.equal(back, x)
    assert back.stride() == last.stride()


def test_bilinear_under_autocast_keeps_the_dtype_of_its_input():
    with autocast("cpu", dtype=dispatch.bfloat16):
        found = dispatch.bilinear(dispatch.ones(2), dispatch.ones(3), dispatch.ones(4, 2, 3))
    assert found.dtype is dispatch.float32 and found.tolist() == [6.0] * 4
