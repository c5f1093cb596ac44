"""Loops that move elements: any permutation, slice, size and dtype gives numpy's elements."""

import warnings

import numpy as np
import pytest
from hypothesis import given, strategies as st

import dispatch

DTYPES = ("uint8", "int16", "float32", "float64", "complex128")


@st.composite
def views(draw: st.DrawFn) -> np.ndarray:
    """Arrays of up to 4 dimensions, permuted, sliced and broadcast."""
    sizes = draw(st.lists(st.integers(1, 40), max_size=4).filter(lambda s: np.prod(s) < 20000))
    array = np.arange(np.prod(sizes, dtype=int)).astype(draw(st.sampled_from(DTYPES)))
    array = array.reshape(sizes).transpose(draw(st.permutations(range(len(sizes)))))
    steps = [draw(st.integers(1, 3)) for _ in sizes]
    array = array[(..., *(slice(None, None, step) for step in steps))]
    if draw(st.booleans()):
        array = np.broadcast_to(array, (draw(st.integers(1, 3)), *array.shape))
    return array


def tensor_of(array: np.ndarray) -> dispatch.Tensor:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of arrays that cannot be written
        return dispatch.from_numpy(np.asarray(array))


@given(views())
def test_contiguous_copies_have_the_elements(array: np.ndarray) -> None:
    made = tensor_of(array).clone(memory_format=dispatch.contiguous_format)
    assert made.is_contiguous()
    np.testing.assert_array_equal(made.numpy(), array)


@given(views(), st.sampled_from(DTYPES))
def test_casts_of_views_are_numpys(array: np.ndarray, target: str) -> None:
    made = tensor_of(array).to(getattr(dispatch, target))
    expected = array.real if target != "complex128" else array
    if target == "uint8":
        expected = expected.astype(np.int64)
    np.testing.assert_array_equal(made.numpy(), expected.astype(target))


@given(views(), st.data())
def test_writes_reach_the_view_and_nothing_else(array: np.ndarray, data: st.DataObject) -> None:
    base = np.full([2 * n + 1 for n in array.shape], 7, array.dtype)
    order = data.draw(st.permutations(range(array.ndim)))
    inverse = np.argsort(order)
    part = base.transpose(order)[(..., *(slice(1, None, 2) for _ in order))].transpose(inverse)
    value = np.resize(array, part.shape)
    tensor_of(part).copy_(tensor_of(value))
    np.testing.assert_array_equal(part, value)
    part[...] = 7
    assert (base == 7).all()


@pytest.mark.parametrize("sizes", [(211, 203), (70, 1024), (1024, 64), (17, 300), (300, 15)])
@pytest.mark.parametrize("bytes_", [1, 2, 4, 8, 16])
def test_large_transposes(bytes_: int, sizes: tuple[int, int]) -> None:
    """Without the lock: whole blocks, rows that meet in the cache, less than a tile."""
    dtype = {1: "uint8", 2: "int16", 4: "int32", 8: "int64", 16: "complex128"}[bytes_]
    array = (np.arange(sizes[0] * sizes[1]) * 7919).astype(dtype).reshape(sizes)
    np.testing.assert_array_equal(tensor_of(array).t().contiguous().numpy(), array.T)


@pytest.mark.parametrize("shift", [1, 3])
def test_memory_that_is_shared_in_part_is_copied_first(shift: int) -> None:
    x = dispatch.arange(20).reshape(2, 10)
    expected = x.numpy().copy()
    expected[:, shift:] = expected[:, :-shift].copy()
    x[:, shift:].copy_(x[:, :-shift])
    np.testing.assert_array_equal(x.numpy(), expected)


def test_conjugate_and_negative_bits_are_worked_out_together() -> None:
    x = dispatch.tensor([1 + 2j, 3 - 4j])
    assert dispatch.ops.aten._neg_view(x.conj()).resolve_neg().resolve_conj().tolist() == [
        -1 + 2j,
        -3 - 4j,
    ]
    assert x.conj().to(dispatch.complex128).tolist() == [1 - 2j, 3 + 4j]


@pytest.mark.parametrize("dtype", [dispatch.complex32, dispatch.complex64, dispatch.complex128])
@pytest.mark.parametrize("step", [1, 2])
def test_conjugates_are_copied_where_they_lie(dtype: dispatch.dtype, step: int) -> None:
    parts = dispatch.arange(280.0).view(140, 2)
    x = dispatch.view_as_complex(parts).to(dtype)[::step]
    found = dispatch.view_as_real(x.conj().resolve_conj().to(dispatch.complex64))
    assert found.tolist() == (parts[::step] * dispatch.tensor([1.0, -1.0])).tolist()


@pytest.mark.parametrize("n", [2, 3, 4, 7, 8, 16, 32, 64])
@pytest.mark.parametrize("dtype", DTYPES)
def test_short_rows_that_overlap_or_have_gaps_between_them(dtype: str, n: int) -> None:
    array = np.arange(5 * 300).reshape(5, 300).astype(dtype)
    windows = np.lib.stride_tricks.sliding_window_view(array, n, axis=1)[:, ::3]
    given = dispatch.from_numpy(array).unfold(1, n, 3)
    np.testing.assert_array_equal(given.contiguous().numpy(), windows)
    room = np.full((5, windows.shape[1], n + 1), 77, dtype)
    dispatch.from_numpy(room)[..., :n].copy_(given)
    np.testing.assert_array_equal(room[..., :n], windows)
    assert (room[..., n] == 77).all()
