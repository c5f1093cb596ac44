"""Indexing by tensors is numpy's, for any mixture of indices, masks and gaps, and in bounds."""

import threading

import numpy as np
import pytest
from hypothesis import given, strategies as st

import dispatch
from dispatch import ops

aten = ops.aten
SIZES = (4, 3, 5)


def base(transposed: bool) -> dispatch.Tensor:
    x = dispatch.arange(60.0).reshape(SIZES)
    return x.permute(2, 1, 0).contiguous().permute(2, 1, 0) if transposed else x


@st.composite
def keys(draw: st.DrawFn) -> list[np.ndarray | None]:
    """Up to three entries: a gap, indices of some broadcastable shape, or a mask."""
    shape = draw(st.sampled_from([(), (2,), (1, 2), (3, 1)]))
    key: list[np.ndarray | None] = []
    for size in SIZES[: draw(st.integers(1, 3))]:
        kind = draw(st.sampled_from(["gap", "numbers", "narrow"]))
        if kind == "gap":
            key.append(None)
            continue
        n = int(np.prod(shape))
        numbers = draw(st.lists(st.integers(-size, size - 1), min_size=n, max_size=n))
        dtype = np.int64 if kind == "numbers" else np.int32
        key.append(np.array(numbers, dtype).reshape(shape))
    if draw(st.booleans()):
        mask = draw(st.lists(st.booleans(), min_size=12, max_size=12))
        key[:2] = [np.array(mask).reshape(4, 3)]
        key[1:] = [None] * len(key[1:])
    return key


def split(key: list[np.ndarray | None]) -> tuple[tuple, list]:
    """The key for numpy and for the operator."""
    mine = [None if k is None else dispatch.from_numpy(k) for k in key]
    return tuple(slice(None) if k is None else k for k in key), mine


@given(keys(), st.booleans())
def test_reading(key: list, transposed: bool) -> None:
    theirs, mine = split(key)
    if all(k is None for k in mine):
        return
    x = base(transposed)
    np.testing.assert_array_equal(aten.index(x, mine).numpy(), x.numpy()[theirs])


@given(keys(), st.booleans(), st.booleans(), st.booleans())
def test_writing(key: list, transposed: bool, accumulate: bool, one: bool) -> None:
    theirs, mine = split(key)
    if all(k is None for k in mine):
        return
    x = base(transposed)
    expected = x.numpy().copy()
    shape = expected[theirs].shape
    values = np.arange(100.0, 100.0 + np.prod(shape, dtype=int)).reshape(shape)
    values = values.reshape(-1)[:1].reshape(()) if one and values.size else values
    values = values.astype(np.float32)
    got = aten.index_put(x, mine, dispatch.tensor(values), accumulate)
    if accumulate:
        np.add.at(expected, theirs, values)
    else:
        expected[theirs] = values
    np.testing.assert_array_equal(got.numpy(), expected)
    np.testing.assert_array_equal(x.numpy(), base(transposed).numpy())


@pytest.mark.parametrize("wrong", [4, -5, 2**62, -(2**63)])
@pytest.mark.parametrize("dtype", [dispatch.int32, dispatch.int64])
def test_indices_out_of_range_write_nothing(wrong: int, dtype: dispatch.dtype) -> None:
    if dtype is dispatch.int32 and abs(wrong) > 9:
        return
    x = base(False)
    index = dispatch.tensor([0, wrong], dtype=dtype)
    for call in (
        lambda: aten.index(x, [index]),
        lambda: aten.index_put_(x, [index], dispatch.tensor(9.0)),
        lambda: aten.index_select(x, 0, index),
    ):
        with pytest.raises(IndexError, match=rf"(index|in self:) {wrong} .*(bounds|rows)"):
            call()
    with pytest.raises(IndexError, match=f"index out of range in self: {wrong} "):
        aten.embedding(x[0], index)
    assert x.tolist() == base(False).tolist()


@given(st.lists(st.integers(0, 3), max_size=5), st.integers(-3, 2), st.booleans())
def test_index_select(index: list[int], dim: int, transposed: bool) -> None:
    x = base(transposed)
    index = [i % SIZES[dim] for i in index]
    got = x.index_select(dim, dispatch.tensor(index, dtype=dispatch.int64))
    np.testing.assert_array_equal(got.numpy(), np.take(x.numpy(), index, dim))


@pytest.mark.parametrize("dtype", ["bool", "int16", "float32", "float64", "complex128"])
def test_every_element_size_beyond_the_lock(dtype: str) -> None:
    x = (np.arange(70000) % 251).astype(dtype)
    order = np.random.default_rng(0).permutation(70000)
    t, p = dispatch.from_numpy(x), dispatch.from_numpy(order)
    np.testing.assert_array_equal(aten.index(t, [p]).numpy(), x[order])
    back = aten.index_put(t, [p], aten.index(t, [p]))
    np.testing.assert_array_equal(back.numpy(), x)
    np.testing.assert_array_equal(t.gather(0, p).numpy(), x[order])
    np.testing.assert_array_equal(t.scatter(0, p, t.gather(0, p)).numpy(), x)


def test_indices_that_another_thread_changes_stay_in_bounds() -> None:
    """What was checked is what is used: values are those of some valid index, or IndexError."""
    x, index = dispatch.arange(50000), dispatch.zeros(50000, dtype=dispatch.int64)
    stop = threading.Event()

    def change() -> None:
        while not stop.is_set():
            index.fill_(2**40)
            index.fill_(0)

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(20):
            for call in (lambda: x[index], lambda: x.gather(0, index)):
                try:
                    assert not bool(call().any())
                except (IndexError, RuntimeError) as error:
                    assert "out of bounds" in str(error)
    finally:
        stop.set()
        thread.join()
