"""What a sparse tensor is made from: right parts pass, each wrong one is named."""

import pytest

import dispatch
from dispatch import ops

aten = ops.aten
COO = dispatch.tensor([[0, 1], [1, 2]])
STARTS, PLACES = dispatch.tensor([0, 2, 3]), dispatch.tensor([0, 1, 2])
VALUES = dispatch.ones(3)


def test_right_parts_pass():
    assert aten._validate_sparse_coo_tensor_args(COO, dispatch.ones(2), [2, 3]) is None
    assert aten._validate_sparse_coo_tensor_args(COO, dispatch.ones(2, 4), [2, 3, 4], True) is None
    assert aten._validate_sparse_csr_tensor_args(STARTS, PLACES, VALUES, [2, 3]) is None
    assert aten._validate_sparse_csc_tensor_args(STARTS, PLACES, VALUES, [3, 2]) is None
    blocks = dispatch.ones(3, 2, 2)
    assert aten._validate_sparse_bsr_tensor_args(STARTS, PLACES, blocks, [4, 6]) is None
    batch = (STARTS[None], PLACES[None], VALUES[None])
    assert aten._validate_sparse_csr_tensor_args(*batch, [1, 2, 3]) is None


@pytest.mark.parametrize(
    ("indices", "values", "size", "text"),
    [
        (COO, dispatch.ones(2), [2, 2], "index 2 does not fit size 2 of 1"),
        (COO - 1, dispatch.ones(2), [2, 3], "found index -1 for dimension 0"),
        (COO, dispatch.ones(2, 4), [2, 3], "2 sparse and 1 dense"),
        (COO, dispatch.ones(2, 4), [2, 3, 5], r"dense sizes \[5\], got \[4\]"),
        (COO[0], dispatch.ones(2), [2, 3], "indices to be a matrix"),
        (COO.float(), dispatch.ones(2), [2, 3], "indices of integers"),
        (COO.flip(1), dispatch.ones(2), [2, 3], "must ascend, each once"),
    ],
)
def test_wrong_coordinates_are_refused(indices, values, size, text):
    with pytest.raises(RuntimeError, match=text):
        aten._validate_sparse_coo_tensor_args(indices, values, size, True)


@pytest.mark.parametrize(
    ("starts", "places", "size", "text"),
    [
        (STARTS, PLACES, [3, 3], "expected 4 compressed_indices, got 3"),
        (STARTS, PLACES, [2, 2], "col_indices from 0 to 1"),
        (STARTS + 1, PLACES, [2, 3], "crow_indices from 0 to 3"),
        (dispatch.tensor([0, 4, 3]), PLACES, [2, 3], "ascend by 0 to 3"),
        (STARTS, dispatch.tensor([1, 0, 2]), [2, 3], "col_indices that ascend, each once"),
        (STARTS, PLACES.int(), [2, 3], "both indices in int32 or int64"),
        (STARTS, PLACES[:2], [2, 3], "2 plain_indices for 3 values"),
        (STARTS[None], PLACES, [2, 3], "differ in their dimensions"),
        (STARTS, PLACES, [2], "expected size of 0 . 2 . 0 dimensions"),
    ],
)
def test_wrong_rows_are_refused(starts, places, size, text):
    with pytest.raises(RuntimeError, match=text):
        aten._validate_sparse_csr_tensor_args(starts, places, VALUES, size)


def test_a_row_may_end_anywhere():
    places = dispatch.tensor([2, 0, 1])
    for starts in ([0, 1, 3], [0, 0, 1, 3], [0, 1, 1, 3]):
        sizes = [len(starts) - 1, 3]
        aten._validate_sparse_csr_tensor_args(dispatch.tensor(starts), places, VALUES, sizes)
