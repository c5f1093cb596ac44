"""Joining: each input at its place, cast on the way, whatever its strides."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import dispatch
from dispatch import ops
from dispatch.modes import TorchDispatchMode

KINDS = ("float32", "int64", "bool", "complex64", "float16")


@given(st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 3)), min_size=1, max_size=4),
       st.integers(-2, 1))  # fmt: skip
def test_cat_of_any_dtypes_along_any_dimension(parts: list, dim: int) -> None:
    arrays = []
    for kind, n in parts:
        sizes = (n, 3) if dim % 2 == 0 else (3, n)
        arrays.append((np.arange(n * 3) % 5).astype(kind).reshape(sizes[::-1]).T)
    got = dispatch.cat([dispatch.from_numpy(a) for a in arrays], dim)
    expected = np.concatenate(arrays, dim).astype(got.numpy().dtype)
    np.testing.assert_array_equal(got.numpy(), expected)


@given(st.integers(-3, 2), st.sampled_from(KINDS))
def test_stack_along_any_dimension(dim: int, kind: str) -> None:
    x = dispatch.arange(6.0).reshape(3, 2).t()
    y = (x + 1).to(getattr(dispatch, kind))
    got = dispatch.stack([x, y], dim)
    expected = np.stack([x.numpy(), y.to(dispatch.float32).numpy()], dim)
    np.testing.assert_array_equal(got.numpy().real, expected)


def test_float8_goes_by_way_of_float32() -> None:
    x = dispatch.tensor([1.5, 2.0]).to(dispatch.float8_e5m2)
    out = dispatch.empty(3)
    assert dispatch.cat([x, x[:1]], out=out).tolist() == [1.5, 2, 1.5]


def test_results_go_into_a_strided_output() -> None:
    out = dispatch.zeros(2, 4).t()
    dispatch.cat([dispatch.ones(1, 2), dispatch.full((3, 2), 2.0)], out=out)
    assert out.tolist() == [[1, 1], [2, 2], [2, 2], [2, 2]]


def test_an_empty_output_is_joined_to_nothing_but_nothing() -> None:
    """It would be read by the result's sizes."""
    out = dispatch.empty(0)
    with pytest.raises(RuntimeError, match="one of those that are read"):
        ops.aten.cat.out([dispatch.ones(3, 4), out], 0, out=out)
    assert out.shape == (0,)
    assert ops.aten.cat.out([out, dispatch.ones(0)], 0, out=out) is out


@pytest.mark.filterwarnings("ignore:.*was resized")
@pytest.mark.parametrize("join", [ops.aten.cat.out, ops.aten.stack.out])
def test_an_output_with_elements_is_none_of_those_that_are_joined(join: Any) -> None:
    """Not even one with gaps, which counts as apart from other tensors over its memory."""
    out = dispatch.zeros(4, 4)[:, ::2]
    with pytest.raises(RuntimeError, match="is one of those that are read"):
        join([out, out], 0, out=out)
    assert out.shape == (4, 2)


@pytest.mark.parametrize("columns", [2, 100])
def test_conjugates_and_negatives_within_a_handler_are_joined_by_their_values(columns: int) -> None:
    """What works their values out is excluded there."""
    x = dispatch.full((3, columns), 1 + 2j)
    plain = dispatch.ones(3, columns)
    n = dispatch._neg_view(plain)
    joined: list[dispatch.Tensor] = []

    class Joins(TorchDispatchMode):
        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            joined.extend(dispatch.cat([x.conj(), x], dim) for dim in (0, 1))
            joined.extend((dispatch.stack([x, x.conj()], 1), dispatch.cat([n, n], 1)))
            return args[0]

    with Joins():
        dispatch.relu(plain)
    rows, wide, stacked, negated = joined
    assert rows[0, 0].item() == wide[0, 0].item() == stacked[0, 1, 0].item() == 1 - 2j
    assert rows[5, 0].item() == wide[2, -1].item() == stacked[2, 0, 1].item() == 1 + 2j
    assert negated.unique().tolist() == [-1]
