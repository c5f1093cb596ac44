"""Jagged rows in a box and out of it again."""

import pytest

import dispatch
from dispatch import ops

aten = ops.aten
VALUES = dispatch.arange(6.0).reshape(3, 2)
OFFSETS = dispatch.tensor([0, 1, 3])


def test_rows_are_padded_and_cut():
    box = aten._jagged_to_padded_dense_forward(VALUES, [OFFSETS], [2], 9.0)
    assert box.tolist() == [[[0, 1], [9, 9]], [[2, 3], [4, 5]]]
    narrow = aten._jagged_to_padded_dense_forward(VALUES, [OFFSETS], [1])
    assert narrow.tolist() == [[[0, 1]], [[2, 3]]]


def test_the_box_gives_the_rows_back():
    box = aten._jagged_to_padded_dense_forward(VALUES, [OFFSETS], [4])
    assert aten._padded_dense_to_jagged_forward(box, [OFFSETS]).tolist() == VALUES.tolist()


def test_there_is_one_jagged_dimension():
    for device in ("cpu", "meta"):
        with pytest.raises(RuntimeError, match="expected one jagged dimension"):
            x = VALUES.to(device)
            aten._jagged_to_padded_dense_forward(x, [OFFSETS.to(device)] * 2, [2, 2])


def test_strides_and_starts_of_nested_sizes():
    strides, starts = aten._nested_compute_contiguous_strides_offsets(
        dispatch.tensor([[2, 3], [4, 5]])
    )
    assert (strides.tolist(), starts.tolist()) == ([[3, 1], [5, 1]], [0, 6])


@pytest.mark.parametrize(
    ("row", "expected"),
    [([True, True, False], True), ([False, True, False], False), ([False, False, False], True)],
)
def test_masks_that_begin_at_the_left(row, expected):
    mask = dispatch.tensor([[True, True, True], row])
    assert aten._nested_tensor_from_mask_left_aligned(dispatch.ones(2, 3, 1), mask) is expected
