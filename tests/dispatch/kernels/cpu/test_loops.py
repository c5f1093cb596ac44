"""Elementwise CPU kernels against numpy, over layouts that the raw loops and numpy share out."""

from __future__ import annotations

import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import dispatch
from dispatch import ops

DTYPES = ("uint8", "int8", "int32", "int64", "float32", "float64", "complex64")


@st.composite
def layouts(draw: st.DrawFn, sizes: tuple[int, ...]) -> Any:
    """An array of `sizes`: dimensions permuted, with gaps, or broadcast."""
    dtype = draw(st.sampled_from(DTYPES))
    order = draw(st.permutations(range(len(sizes))))
    step = draw(st.sampled_from([1, 2]))
    kept = tuple(1 if draw(st.integers(0, 5)) == 0 else n for n in sizes)
    packed = np.arange(1, step * int(np.prod(kept)) + 1).astype(dtype)[::step]
    array = packed.reshape([kept[d] for d in order]).transpose(np.argsort(order))
    return np.broadcast_to(array, sizes) if draw(st.booleans()) else array


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Any, Any]:
    sizes = tuple(draw(st.lists(st.integers(1, 4), max_size=4)))
    return draw(layouts(sizes)), draw(layouts(sizes[draw(st.integers(0, len(sizes))) :]))


def tensor(array: Any) -> dispatch.Tensor:
    base = dispatch.from_numpy(np.array(array, order="K", copy=True, subok=False))
    if 0 not in array.strides:
        return base
    flat = dispatch.from_numpy(np.ascontiguousarray(array).reshape(-1).copy())
    whole = ops.aten.view.default(flat, list(array.shape))
    for dim, stride in enumerate(array.strides):
        if stride == 0 and array.shape[dim] > 1:
            whole = ops.aten.slice.Tensor(whole, dim, 0, 1)
    return ops.aten.expand.default(whole, list(array.shape))


@given(pairs())
def test_sums_are_those_of_the_same_values_laid_out_plainly(pair: tuple[Any, Any]) -> None:
    a, b = pair
    result = ops.aten.add.Tensor(tensor(a), tensor(b))
    plain = np.dtype(result.dtype.name)
    with np.errstate(all="ignore"):
        expected = np.asarray(a).astype(plain) + np.asarray(b).astype(plain)
    assert result.shape == expected.shape
    np.testing.assert_array_equal(result.numpy(), expected)


@given(pairs())
def test_comparison_agrees_with_numpy(pair: tuple[Any, Any]) -> None:
    a, b = pair
    result = ops.aten.eq.Tensor(tensor(a), tensor(b))
    np.testing.assert_array_equal(result.numpy(), np.asarray(a) == np.asarray(b))


def test_outputs_keep_their_layout() -> None:
    x = dispatch.from_numpy(np.arange(6, dtype=np.float32).reshape(2, 3))
    out = ops.aten.permute.default(ops.aten.zeros.default([3, 2]), [1, 0])
    ops.aten.add.out(x, x, out=out)
    assert out.tolist() == [[0, 2, 4], [6, 8, 10]]
    assert out.stride() == (1, 2)


def test_operand_that_overlaps_the_output_is_read_before_it_is_written() -> None:
    base = dispatch.from_numpy(np.arange(5, dtype=np.float32))
    ahead = ops.aten.slice.Tensor(base, 0, 0, 5)
    flipped = dispatch.from_numpy(base.numpy()[::1])
    ops.aten.add_.Tensor(ahead, flipped)
    assert base.tolist() == [0, 2, 4, 6, 8]


def test_nothing_warns() -> None:
    big = dispatch.from_numpy(np.array([3e38, 1.0, 0.0], dtype=np.float32))
    half = ops.aten.mul.Tensor(big, 1e-34)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ops.aten.add.Tensor(big, big).tolist()[0] == float("inf")
        assert ops.aten.div.Tensor(big, 0).tolist()[1] == float("inf")
        ops.aten.exp.default(big)
        ops.aten.add.Tensor(big, half, alpha=1e38)


def test_numbers_of_elements_that_end_a_long_run() -> None:
    n = (1 << 15) + 3
    x = dispatch.from_numpy(np.arange(n, dtype=np.int64))
    assert ops.aten.add.Tensor(x, x).tolist()[-1] == 2 * (n - 1)


@pytest.mark.parametrize("sizes", [[0], [2, 0, 3]])
def test_no_elements(sizes: list[int]) -> None:
    x = ops.aten.zeros.default(sizes)
    assert list(ops.aten.add.Tensor(x, x).shape) == sizes
    assert list(ops.aten.neg.default(x).shape) == sizes


def test_elements_that_are_not_aligned() -> None:
    memory = np.zeros(17, dtype=np.uint8)[1:].view(np.float32)
    memory[:] = 1.5
    x = dispatch.from_numpy(memory)
    assert ops.aten.add.Tensor(x, x).tolist() == [3.0] * 4


# A loop of this length runs without the interpreter's lock, beside a thread that takes its memory.
_TAKEN_AWAY = """
import threading
import dispatch
n = 1 << 20
a, b, out = dispatch.ones(n), dispatch.ones(n), dispatch.ones(n)
done = False

def take_away():
    while not done:
        for t in (a, b, out):
            {change}

thread = threading.Thread(target=take_away)
thread.start()
for _ in range(60):
    try:
        dispatch.exp(a, out=out)
        dispatch.div(a, b, out=out)
        dispatch.ops.aten.exp_.default(b[::2])
    except RuntimeError:            # caught between two changes: too small a storage
        pass
done = True
thread.join()
"""


@pytest.mark.parametrize(
    "change",
    [
        "t.untyped_storage().resize_(4 * n + 4096); t.untyped_storage().resize_(4 * n)",
        "t.data = dispatch.ones(n)",
        "t.set_(dispatch.ones(n).untyped_storage(), 0, (n,), (1,))",
    ],
)
def test_memory_outlives_the_loop_that_walks_it(change: str) -> None:
    program = _TAKEN_AWAY.format(change=change)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("to", [*DTYPES[:-1], "bool", "bfloat16", "float16"])
@pytest.mark.parametrize("of", [*DTYPES[:-1], "bool", "bfloat16", "float16"])
def test_casts_of_rows_and_of_single_elements_agree(of: str, to: str) -> None:
    """Vectors convert as scalars do, those that do not fit included."""
    special = [0.0, -0.0, 1, -1, 0.5, -2.5, 255, 256, -129, 3e9, -3e9, 1e19, -1e30, np.inf, -np.inf]
    values = np.array([*special, np.nan, *range(-150, 150)], dtype="float64")
    x = dispatch.from_numpy(values).to(getattr(dispatch, of))
    apart = dispatch.zeros(x.numel(), 3, dtype=x.dtype)
    apart[:, 1] = x
    row = x.to(getattr(dispatch, to))
    single = dispatch.zeros(x.numel(), 2, dtype=row.dtype)[:, 0]
    single.copy_(apart[:, 1])
    assert repr(row.tolist()) == repr(single.tolist())


# What 16 bits hold of 1 + k steps: (addends, in steps of the last place; the sum that is left)
ROUNDED = {
    "below half a step": ((0, 0.25), 0),
    "half a step above an even number": ((0, 0.5), 0),
    "half a step above an odd number": ((1, 0.5), 2),
    "above half a step": ((0, 0.75), 1),
}


@pytest.mark.parametrize(("dtype", "step"), [("bfloat16", 2.0**-7), ("float16", 2.0**-10)])
@pytest.mark.parametrize("case", ROUNDED)
def test_results_of_16_bits_are_the_nearest_and_of_two_the_even(dtype, step, case):
    (first, second), left = ROUNDED[case]
    kind = getattr(dispatch, dtype)
    addends = [1 + first * step, second * step]
    narrow = dispatch.tensor(addends, dtype=kind)
    many = dispatch.tensor([addends] * 40, dtype=kind)  # more than a vector of rows
    answers = {
        "to": dispatch.tensor([sum(addends)] * 40).to(kind),
        "copy_ with gaps": dispatch.zeros(80, dtype=kind)[::2].copy_(
            dispatch.tensor([sum(addends)] * 40)
        ),
        "add": many[:, 0] + many[:, 1],
        "add of one": narrow[:1] + narrow[1:],
        "sum of rows": many.sum(1),
        "sum of columns": many.t().contiguous().sum(0),
        "sum": narrow.sum(),
        "cumsum": many.cumsum(1)[:, 1],
        "cumsum of columns": many.t().contiguous().cumsum(0)[1],
        "mean": (many + many).mean(1),
        "mm": many @ dispatch.ones(2, 3, dtype=kind),
        "full": dispatch.full([40], sum(addends), dtype=kind),
    }
    for name, answer in answers.items():
        assert set(answer.double().flatten().tolist()) == {1 + left * step}, name


@pytest.mark.parametrize("order", [(0, 2, 1, 3), (3, 1, 0, 2)])
def test_rows_under_dimensions_that_do_not_follow_each_other_are_all_met(order):
    numbers = np.random.default_rng(0).standard_normal((3, 4, 5, 6))
    plain, x = numbers.transpose(order)[::2], dispatch.from_numpy(numbers).permute(order)[::2]
    for dim in range(4):
        np.testing.assert_allclose(dispatch.cumsum(x, dim).numpy(), np.cumsum(plain, dim))
        np.testing.assert_array_equal(dispatch.sort(x, dim)[0].numpy(), np.sort(plain, dim))
