"""Matrix products on the CPU: values, rounding, dtypes."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, strategies as st

import dispatch
from dispatch import ops

aten = ops.aten


def tensor(values: object, dtype: str = "float32") -> dispatch.Tensor:
    return dispatch.from_numpy(np.array(values, dtype=dtype))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "int64", "uint8"])
def test_product(dtype: str) -> None:
    a, b = tensor([[1, 2], [3, 4]], dtype), tensor([[5, 6], [7, 8]], dtype)
    assert aten.mm(a, b).tolist() == [[19, 22], [43, 50]]


def test_integers_wrap() -> None:
    assert aten.mm(tensor([[200]], "uint8"), tensor([[2]], "uint8")).tolist() == [[144]]


def test_half_precision_is_multiplied_in_float32_and_rounded_once() -> None:
    a = np.full((1, 1000), 0.1, dtype=np.float16)
    exact = (a.astype(np.float64) @ a.T.astype(np.float64)).astype(np.float16)
    assert aten.mm(dispatch.from_numpy(a), dispatch.from_numpy(a.T)).tolist() == exact.tolist()


def test_strided_operands_and_outputs() -> None:
    whole = np.arange(24, dtype=np.float32).reshape(4, 6)
    a, b = whole[:, ::2], whole[::2].T[::2]
    out = np.zeros((2, 4), dtype=np.float32).T
    result = aten.mm.out(
        dispatch.from_numpy(a), dispatch.from_numpy(b), out=dispatch.from_numpy(out)
    )
    np.testing.assert_array_equal(out, a @ b)
    assert tuple(result.stride()) == (1, 4)


def test_an_output_may_be_an_operand() -> None:
    a = tensor([[1, 2], [3, 4]])
    aten.mm.out(a, tensor([[0, 1], [1, 0]]), out=a)
    assert a.tolist() == [[2, 1], [4, 3]]


def test_infinities_do_not_warn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = aten.mm(tensor([[np.inf, 1]]), tensor([[0], [1]])).item()
    assert np.isnan(result)


def test_bool_has_no_kernel() -> None:
    with pytest.raises(NotImplementedError, match=r"aten::mm.*bool"):
        aten.mm(tensor([[True]], "bool"), tensor([[True]], "bool"))


@given(st.tuples(*[st.integers(0, 5)] * 3))
def test_product_is_numpy_s(sizes: tuple[int, int, int]) -> None:
    n, k, p = sizes
    a = np.arange(n * k, dtype=np.int64).reshape(n, k)
    b = np.arange(k * p, dtype=np.int64).reshape(k, p)
    found = aten.mm(dispatch.from_numpy(a), dispatch.from_numpy(b))
    assert found.tolist() == (a @ b).tolist()


def test_lazily_conjugated_operands_are_conjugated():
    x = np.array([[1 + 2j, 3j], [2.0, 1 - 1j]])
    t, v = dispatch.from_numpy(x), dispatch.from_numpy(x[0].copy())
    aten = dispatch.ops.aten
    np.testing.assert_allclose(aten.mm(t.mH, t).numpy(), x.conj().T @ x)
    np.testing.assert_allclose(aten.mm(t, t.conj()).numpy(), x @ x.conj())
    np.testing.assert_allclose(aten.addmm(t.conj(), t, t.mH).numpy(), x.conj() + x @ x.conj().T)
    pair = t.unsqueeze(0)
    np.testing.assert_allclose(aten.bmm(pair.mH, pair).numpy()[0], x.conj().T @ x)
    assert aten.dot(v.conj(), v).item() == np.vdot(x[0], x[0])
    assert aten.vdot(v.conj(), v).item() == np.dot(x[0], x[0])
