"""Indices of triangles: numpy's, at the cost of their output."""

import numpy as np
import pytest

import dispatch


@pytest.mark.parametrize("name", ["tril_indices", "triu_indices"])
def test_indices_are_numpys(name):
    for row in range(5):
        for col in range(5):
            for offset in range(-6, 7):
                want = np.stack(getattr(np, name)(row, offset, col)).tolist()
                assert getattr(dispatch, name)(row, col, offset).tolist() == want
                meta = getattr(dispatch, name)(row, col, offset, device="meta")
                assert tuple(meta.shape) == (2, len(want[0]))


def test_only_rows_with_elements_are_looked_at():
    rows = 2**32
    lower = dispatch.tril_indices(rows, 1, 2 - rows)
    assert lower.tolist() == [[rows - 2, rows - 1], [0, 0]]
    assert dispatch.triu_indices(1, rows, rows - 2).tolist() == [[0, 0], [rows - 2, rows - 1]]
    assert dispatch.tril_indices(rows, 0).shape == (2, 0)


def test_a_triangle_of_too_many_elements_is_refused():
    with pytest.raises(RuntimeError, match=r"tril_indices.*too many elements"):
        dispatch.tril_indices(2**62, 2**62)
