"""Index formats of sparse matrices: coordinates and row starts."""

import pytest
from hypothesis import given, strategies as st

import dispatch
from dispatch import ops

to_csr = ops.aten._convert_indices_from_coo_to_csr
to_coo = ops.aten._convert_indices_from_csr_to_coo


def test_row_starts_of_coordinates():
    assert to_csr(dispatch.tensor([0, 0, 2]), 3).tolist() == [0, 2, 2, 3]
    short = to_csr(dispatch.tensor([], dtype=dispatch.int64), 2, out_int32=True)
    assert (short.dtype, short.tolist()) == (dispatch.int32, [0, 0, 0])


@given(st.lists(st.integers(0, 5)))
def test_one_is_the_inverse_of_the_other(rows):
    rows.sort()
    columns = dispatch.arange(len(rows))
    starts = to_csr(dispatch.tensor(rows, dtype=dispatch.int64), 6)
    assert to_coo(starts, columns).tolist() == [rows, list(range(len(rows)))]
    assert to_coo(starts, columns, transpose=True).tolist() == [list(range(len(rows))), rows]


def test_batches_have_coordinates_of_their_own():
    starts = dispatch.tensor([[0, 1, 2], [0, 0, 2]])
    columns = dispatch.tensor([[5, 6], [7, 8]])
    assert to_coo(starts, columns).tolist() == [[0, 0, 1, 1], [0, 1, 1, 1], [5, 6, 7, 8]]


def test_shapes_are_checked_on_every_device():
    x = dispatch.empty(2, 2, dtype=dispatch.int64, device="meta")
    with pytest.raises(RuntimeError, match="coo_to_csr: expected self to be a vector"):
        to_csr(x, 2)
    with pytest.raises(RuntimeError, match=r"csr_to_coo: .*crow_indices and col_indices"):
        to_coo(x, x[0])
