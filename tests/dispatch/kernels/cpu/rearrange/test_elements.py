"""Rearranging, joining and padding with data."""

import numpy as np
import pytest

import dispatch
from dispatch import ops

aten = ops.aten


def test_cat_converts_to_the_common_dtype():
    found = aten.cat([dispatch.tensor([1, 2]), dispatch.zeros(0), dispatch.tensor([0.5])])
    assert found.tolist() == [1.0, 2.0, 0.5]


def test_cat_of_nothing_is_a_value_error():
    with pytest.raises(ValueError, match="non-empty list of Tensors"):
        aten.cat([])


def test_stack_along_the_last_dimension():
    x = dispatch.tensor([1, 2])
    assert aten.stack([x, x + 2], -1).tolist() == [[1, 3], [2, 4]]


def test_elements_that_numpy_has_not_are_moved_as_bits():
    x = dispatch.zeros(2, dtype=dispatch.complex32)
    assert aten.cat([x, x]).shape == (4,)
    y = dispatch.ones(2, dtype=dispatch.bfloat16)
    assert aten.flip(aten.cat([y, y * 2]), [0]).tolist() == [2.0, 2.0, 1.0, 1.0]


def test_roll_without_dims_goes_row_by_row():
    x = dispatch.arange(4).reshape(2, 2)
    assert aten.roll(x, [1]).tolist() == [[3, 0], [1, 2]]


@pytest.mark.parametrize("dtype", [dispatch.bool, dispatch.float32, dispatch.bfloat16])
def test_tril_in_place(dtype):
    x = dispatch.ones(2, 3, dtype=dtype)
    assert aten.tril_(x, 1) is x
    assert x.tolist() == [[1, 1, 0], [1, 1, 1]]


def test_negative_padding_cuts():
    x = dispatch.tensor([[1.0, 2.0, 3.0]])
    assert aten.constant_pad_nd(x, [-1, 1], 9.0).tolist() == [[2.0, 3.0, 9.0]]
    with pytest.raises(RuntimeError, match="once it is cut"):
        aten.constant_pad_nd(x, [-4, 4], 9.0)


@pytest.mark.parametrize("padding", [[2, 1], [0, 2], [2, -1], [-1, 2]])
def test_reflection_mirrors_what_is_there(padding):
    x = dispatch.tensor([[1.0, 2.0, 3.0]])
    before, after = padding
    mirrored = np.pad([1.0, 2.0, 3.0], 2, mode="reflect")
    want = mirrored[2 - before : 5 + after].tolist()
    assert aten.reflection_pad1d(x, padding).tolist() == [want]


def test_replication_repeats_edges():
    x = dispatch.arange(4).reshape(1, 2, 2)
    found = aten.replication_pad2d(x, [1, 0, 0, 1]).tolist()
    assert found == [[[0, 0, 1], [2, 2, 3], [2, 2, 3]]]


def test_padding_restrides_its_output():
    x = dispatch.zeros(1, 2, 2)
    out = dispatch.empty_strided([1, 3, 3], [1, 1, 3])
    aten.replication_pad2d.out(x, [1, 0, 1, 0], out=out)
    assert out.stride() == (9, 3, 1)


def test_repeats_must_not_be_negative():
    with pytest.raises(RuntimeError, match="can not be negative, got -1"):
        aten.repeat_interleave(dispatch.tensor([1, -1]))
    assert aten.repeat_interleave(dispatch.tensor([2, 0, 1])).tolist() == [0, 0, 2]


def test_nan_to_num_takes_the_dtypes_limits():
    inf, nan = float("inf"), float("nan")
    x = dispatch.tensor([nan, inf, -inf, 1.0], dtype=dispatch.float16)
    assert aten.nan_to_num(x).tolist() == [0.0, 65504.0, -65504.0, 1.0]
    assert aten.nan_to_num_(x, 1.0, 2.0, 3.0) is x
    assert x.tolist() == [1.0, 2.0, 3.0, 1.0]
