"""Sums on the CPU: values, rounding, dtypes."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as arrays

import dispatch
from dispatch import ops

aten = ops.aten


def tensor(values: object, dtype: str = "float32") -> dispatch.Tensor:
    return dispatch.from_numpy(np.array(values, dtype=dtype))


def test_sums_over_dims_and_everything() -> None:
    x = tensor([[1, 2, 3], [4, 5, 6]])
    assert aten.sum(x).item() == 21
    assert aten.sum.dim_IntList(x, [0]).tolist() == [5, 7, 9]
    assert aten.sum.dim_IntList(x, [-1], True).tolist() == [[6], [15]]
    assert aten.sum.dim_IntList(x, []).item() == 21


def test_bools_are_counted_and_integers_widened() -> None:
    assert aten.sum(tensor([True, True, False], "bool")).item() == 2
    assert aten.sum(tensor([200, 100], "uint8")).item() == 300
    assert aten.sum(tensor([200, 100], "uint8"), dtype=dispatch.uint8).item() == 44


def test_input_is_converted_before_it_is_added() -> None:
    halves = tensor([0.5, 0.5, 1.5])
    assert aten.sum(halves, dtype=dispatch.int64).item() == 1
    assert aten.sum(halves, dtype=dispatch.bool).item() is True
    out = aten.zeros.default([], dtype=dispatch.int32)
    assert aten.sum.IntList_out(halves, [0], out=out).item() == 1


@pytest.mark.parametrize("kind", ["float16", "bfloat16", "complex64"])
@pytest.mark.parametrize("step", [1, 2])
@pytest.mark.parametrize("sizes", [(37, 203), (9, 1100), (1, 64), (300, 5), (1100, 7)])
def test_narrow_rows_and_columns(kind: str, step: int, sizes: tuple[int, int]) -> None:
    values = np.random.default_rng(0).integers(-3, 4, (sizes[0], sizes[1] * step))
    x = dispatch.from_numpy(values).to(getattr(dispatch, kind))[:, ::step]
    values = values[:, ::step]
    assert aten.sum(x).item() == dispatch.tensor(values.sum()).to(x.dtype).item()
    for dim in (0, 1):
        assert aten.sum(x, [dim]).tolist() == values.sum(dim).tolist()
        assert aten.sum(x.t(), [dim]).tolist() == values.sum(1 - dim).tolist()
        mean = dispatch.from_numpy(values.sum(dim) / sizes[dim]).float().to(x.dtype)
        assert aten.mean(x, [dim]).tolist() == mean.tolist()


@pytest.mark.parametrize("kind", ["uint8", "int8", "bool"])
@pytest.mark.parametrize("sizes", [(5, 700), (300, 70), (3, 4)])
def test_truth_of_bytes(kind: str, sizes: tuple[int, int]) -> None:
    for filled in (0, 1):
        values = np.full(sizes, filled)
        values[sizes[0] // 2, sizes[1] // 3] = 1 - filled
        x = dispatch.from_numpy(values).to(getattr(dispatch, kind))
        assert aten.any(x).item() == 1 and aten.all(x).item() == 0
        for dim in (0, 1):
            assert aten.any(x, dim).tolist() == values.any(dim).tolist()
            assert aten.all(x, dim).tolist() == values.all(dim).tolist()


def test_half_precision_is_added_in_float32_and_rounded_once() -> None:
    x = tensor(np.full(4096, 0.1), "float16")
    exact = np.full(4096, np.float16(0.1), dtype=np.float64).sum()
    assert aten.sum(x).item() == float(np.float16(exact))


def test_a_long_column_of_float32_keeps_its_precision() -> None:
    x = tensor(np.full((100_000, 2), 0.1))
    exact = np.float32(np.full(100_000, np.float32(0.1), dtype=np.float64).sum())
    assert aten.sum.dim_IntList(x, [0]).tolist() == [float(exact)] * 2


def test_nothing_sums_to_zero_and_overflow_does_not_warn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert aten.sum(tensor([])).item() == 0
        assert aten.sum(tensor([60000, 60000], "float16")).item() == float("inf")
        assert np.isnan(aten.sum(tensor([np.inf, -np.inf])).item())


def test_dtype_without_a_kernel_is_named() -> None:
    x = aten.zeros.default([2], dtype=dispatch.float8_e4m3fn)
    with pytest.raises(NotImplementedError, match=r"aten::sum.*float8_e4m3fn"):
        aten.sum(x)


@given(
    arrays.arrays(np.int32, arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)),
    st.data(),
)
def test_sum_is_numpy_s_for_integers(values: np.ndarray, data: st.DataObject) -> None:
    dims = data.draw(st.sets(st.integers(0, values.ndim - 1)) if values.ndim else st.just(set()))
    found = aten.sum.dim_IntList(dispatch.from_numpy(values), sorted(dims))
    axes = tuple(dims) if dims else None
    assert found.tolist() == values.sum(axis=axes, dtype=np.int64).tolist()


def test_sums_of_complex_numbers_in_lanes():
    values = np.random.default_rng(0).normal(size=(3, 77, 2)).astype(np.float32)
    numbers = values.view(np.complex64)[..., 0]
    found = dispatch.from_numpy(numbers).sum(1).numpy()
    np.testing.assert_allclose(found, numbers.astype(np.complex128).sum(1), rtol=1e-5)


def test_sums_of_half_precision_in_rows_of_any_length():
    for n in (1, 7, 8, 9, 33, 2050):
        values = np.random.default_rng(n).normal(size=(2, n)).astype(np.float16)
        found = dispatch.from_numpy(values).sum(1).numpy()
        exact = values.astype(np.float64).sum(1)
        np.testing.assert_allclose(found.astype(np.float64), exact, rtol=1e-3, atol=1e-3)


def test_dtypes_of_sums_without_nan():
    x = dispatch.tensor([1.0, 2.0])
    whole = x.int()
    assert dispatch.nansum(x, dtype=dispatch.int32).item() == 3
    assert dispatch.nansum(whole, dtype=dispatch.complex64).item() == 3
    with pytest.raises(NotImplementedError, match="complex64"):
        dispatch.nansum(x, dtype=dispatch.complex64)
    with pytest.raises(NotImplementedError, match="int32"):
        dispatch.nansum(x, 0, out=whole[0])
    with pytest.raises(RuntimeError, match="int32"):
        dispatch.nanmean(x, dtype=dispatch.int32)
