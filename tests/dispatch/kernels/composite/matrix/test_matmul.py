"""matmul and linear: which operators they call, and their results' strides (PyTorch 2.13's)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import dispatch
from dispatch import ops
from dispatch.fake import FakeTensorMode
from tests.dispatch.kernels.tensors import fake, geometry, meta, traced

aten = ops.aten


def names(op: Any, *args: Any) -> tuple[str, tuple[int, ...]]:
    with traced() as seen:
        result = op(*args)
    return " ".join(name.partition(".")[0] for name in seen), tuple(result.shape)


@pytest.mark.parametrize(
    ("a", "b", "calls", "sizes"),
    [
        (meta((3,)), meta((3,)), "dot", ()),
        (meta((2, 3)), meta((3,)), "mv", (2,)),
        (meta((3,)), meta((3, 4)), "unsqueeze mm squeeze_", (4,)),
        (meta((2, 3)), meta((3, 4)), "mm", (2, 4)),
        (meta((5, 2, 3)), meta((3, 4)), "view mm _unsafe_view", (5, 2, 4)),
        (meta((5, 2, 3)), meta((3,)), "view mv _unsafe_view", (5, 2)),
        (
            meta((5, 2, 3), (3, 15, 1)),
            meta((3, 4)),
            "expand view expand view bmm _unsafe_view",
            (5, 2, 4),
        ),
        (
            meta((2, 3)),
            meta((5, 3, 4)),
            "transpose expand view expand view bmm _unsafe_view",
            (5, 2, 4),
        ),
        (
            meta((6, 1, 2, 3)),
            meta((5, 3, 4)),
            "expand clone _unsafe_view expand clone _unsafe_view bmm _unsafe_view",
            (6, 5, 2, 4),
        ),
        (meta((1, 2, 3)), meta((5, 3, 4)), None, (5, 2, 4)),
    ],
)
def test_matmul_calls(a: Any, b: Any, calls: str | None, sizes: tuple[int, ...]) -> None:
    found, shape = names(aten.matmul, a, b)
    assert shape == sizes
    if calls is not None:
        assert found == calls


def test_a_batch_of_one_is_folded_for_subclasses_only() -> None:
    mode = FakeTensorMode()
    a, b = fake(mode, (1, 2, 3)), fake(mode, (5, 3, 4))
    with mode:
        calls, sizes = names(aten.matmul, a, b)
    assert calls.startswith("squeeze transpose")
    assert sizes == (5, 2, 4)


def test_matmul_of_a_number_is_refused() -> None:
    with pytest.raises(RuntimeError, match=r"aten::matmul.*at least 1D"):
        aten.matmul(meta(()), meta((3,)))


@pytest.mark.parametrize(
    ("sizes", "strides", "bias", "calls"),
    [
        ((2, 3), None, None, "t mm"),
        ((2, 3), None, (6,), "t addmm"),
        ((3,), None, (6,), "view t addmm view"),
        ((3,), None, None, "t unsqueeze mm squeeze_"),
        ((4, 2, 3), None, (6,), "view t addmm view"),
        ((4, 2, 3), None, None, "t view mm _unsafe_view"),
        ((4, 2, 3), None, (1, 6), "squeeze view t addmm view"),
        ((4, 2, 3), None, (2, 6), "squeeze t view mm _unsafe_view add"),
        ((4, 2, 3), (3, 12, 1), (6,), "t expand view expand view bmm _unsafe_view add"),
    ],
)
def test_linear_calls(
    sizes: Sequence[int], strides: Sequence[int] | None, bias: Any, calls: str
) -> None:
    mode = FakeTensorMode()
    x, weight = fake(mode, sizes, strides), fake(mode, (6, 3))
    with mode:
        found, shape = names(aten.linear, x, weight, None if bias is None else fake(mode, bias))
    assert found == calls
    assert shape == (*sizes[:-1], 6)


def test_linear_of_a_number_is_refused() -> None:
    with pytest.raises(RuntimeError, match="aten::linear"):
        aten.linear(meta(()), meta((3,)))


def test_out_variants_resize_and_return_out() -> None:
    out = meta((0,))
    assert aten.matmul.out(meta((5, 2, 3)), meta((3, 4)), out=out) is out
    assert geometry(out)[1:] == ((5, 2, 4), (8, 4, 1))
    other = meta((0,))
    assert aten.linear.out(meta((2, 3)), meta((6, 3)), meta((6,)), out=other) is other
    assert tuple(other.shape) == (2, 6)


def test_no_intermediate_outlives_a_call() -> None:
    import gc

    a, b = meta((5, 2, 3)), meta((3, 4))
    aten.matmul(a, b)
    gc.collect()
    before = sum(type(o) is dispatch.Tensor for o in gc.get_objects())
    for _ in range(10):
        aten.matmul(a, b)
    assert sum(type(o) is dispatch.Tensor for o in gc.get_objects()) == before


batches = st.lists(st.sampled_from([1, 2, 3]), max_size=2)


@settings(max_examples=60, deadline=None)
@given(batches, batches, st.tuples(*[st.integers(0, 3)] * 3))
def test_matmul_has_numpy_s_sizes(a: list[int], b: list[int], sizes: tuple[int, ...]) -> None:
    n, k, p = sizes
    left, right = np.zeros([*a, n, k]), np.zeros([*b, k, p])
    try:
        expected = np.matmul(left, right).shape
    except ValueError:
        with pytest.raises(RuntimeError):
            aten.matmul(meta(left.shape), meta(right.shape))
    else:
        assert tuple(aten.matmul(meta(left.shape), meta(right.shape)).shape) == expected


def test_an_inner_product_with_a_number_lies_as_its_matrix():
    x, out = dispatch.arange(6.0).reshape(2, 3).t(), dispatch.empty(0)
    dispatch.ops.aten.inner.out(dispatch.tensor(2.0), x, out=out)
    assert (out.stride(), out.tolist()) == ((1, 3), (2 * x).tolist())


def test_broadcast_contractions_keep_narrow_integers():
    x, y = dispatch.ones(1, 1, 1).int(), dispatch.ones(2, 1, 2).int()
    found = dispatch.ops.aten.tensordot(x, y, [0, 1], [2, 0])
    assert (found.dtype, found.tolist()) == (dispatch.int32, [[4]])
