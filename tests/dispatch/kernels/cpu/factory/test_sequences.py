"""Indices of triangles: numpy's, at the cost of their output; numbers at equal distances."""

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


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [1, 2, 15, 16, 17, 100, 70001])
def test_equal_distances_are_counted_from_the_nearer_end(dtype: str, n: int) -> None:
    kind, count = getattr(np, dtype), np.arange(n)
    first, last = kind(-3.3), kind(7.1)
    step = (last - first) / kind(max(n - 1, 1))
    low, high = first + step * count.astype(kind), last - step * (n - 1 - count).astype(kind)
    want = np.where(count < n // 2, low, high) if n > 1 else np.array([first])
    got = dispatch.linspace(-3.3, 7.1, n, dtype=getattr(dispatch, dtype))
    np.testing.assert_array_equal(got.numpy(), want)
    apart = dispatch.empty(2 * n, dtype=got.dtype)[::2]
    np.testing.assert_array_equal(dispatch.linspace(-3.3, 7.1, n, out=apart).numpy(), want)
    numbers = dispatch.arange(-3.3, -3.3 + 0.37 * (n - 0.5), 0.37, dtype=dispatch.float64)
    np.testing.assert_array_equal(numbers.numpy(), -3.3 + count * 0.37)


@pytest.mark.parametrize(
    "fill",
    [
        lambda out: dispatch.arange(10, out=out),
        lambda out: dispatch.linspace(1, 10, 10, out=out),
        lambda out: dispatch.logspace(1, 10, 10, out=out),
    ],
)
def test_numbers_in_a_row_need_places_of_their_own(fill):
    one = dispatch.ones(1)
    with pytest.raises(RuntimeError, match="unsupported operation: more than one element"):
        fill(one.expand(10))
    assert one.item() == 1
