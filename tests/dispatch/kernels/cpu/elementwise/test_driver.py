"""Functions in steps: whatever the layout, the result is that of the plain formula."""

from __future__ import annotations

import math
import warnings
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import dispatch
from dispatch import ops
from dispatch.kernels.cpu.elementwise import driver as elementwise
from dispatch.kernels.cpu.elementwise.erf import erf_into

LONG = 3 * elementwise._BLOCK + 17


def silu(x: np.ndarray) -> np.ndarray:
    return x / (1 + np.exp(-x))


def ramp(*shape: int) -> np.ndarray:
    return np.linspace(-6, 6, math.prod(shape), dtype=np.float32).reshape(shape)


@pytest.mark.parametrize("size", [0, 1, elementwise._BLOCK, LONG])
def test_blocks_cover_every_element(size: int) -> None:
    x = ramp(size)
    np.testing.assert_allclose(ops.aten.silu(dispatch.from_numpy(x)).numpy(), silu(x), rtol=1e-5)


def test_in_place_reads_before_it_writes() -> None:
    x = ramp(LONG)
    expected = silu(x)
    t = dispatch.from_numpy(x)
    assert ops.aten.silu_(t) is t
    np.testing.assert_allclose(x, expected, rtol=1e-5)


def test_output_of_another_layout() -> None:
    x = ramp(3, LONG)
    out = dispatch.from_numpy(np.zeros((LONG, 3), np.float32)).t()
    ops.aten.silu.out(dispatch.from_numpy(x), out=out)
    np.testing.assert_allclose(out.numpy(), silu(x), rtol=1e-5)


def test_permuted_input_keeps_its_strides() -> None:
    x = ramp(2, 150, 150, 3)
    result = ops.aten.silu(dispatch.from_numpy(x).permute(0, 3, 1, 2))
    assert result.stride() == (67500, 1, 450, 3)
    np.testing.assert_allclose(result.numpy(), silu(x).transpose(0, 3, 1, 2), rtol=1e-5)


def test_half_precision_is_rounded_once() -> None:
    x = ramp(1001).astype(ml_dtypes.bfloat16)
    result = ops.aten.sigmoid(dispatch.from_numpy(x)).numpy()
    expected = 1 / (1 + np.exp(-x.astype(np.float32)))
    np.testing.assert_array_equal(result, expected.astype(ml_dtypes.bfloat16))


def test_half_precision_is_rounded_before_a_wider_output() -> None:
    x = np.array([0.1], np.float16)
    out = dispatch.from_numpy(np.zeros(1, np.float32))
    ops.aten.exp.out(dispatch.from_numpy(x), out=out)
    assert out.item() == float(np.float16(np.exp(np.float32(x[0]))))


@pytest.mark.parametrize(("dtype", "rtol"), [(np.float32, 5e-7), (np.float64, 4e-15)])
def test_erf_agrees_with_the_c_library(dtype: Any, rtol: float) -> None:
    x = np.concatenate([np.linspace(-7, 7, 20001), [1e-30, -1e-8, 0, np.inf, -np.inf]]).astype(
        dtype
    )
    result = np.empty_like(x)
    with np.errstate(all="ignore"):
        erf_into(x, result)
    np.testing.assert_allclose(result, [math.erf(v) for v in x], rtol=rtol)


def test_erf_of_nan_is_nan() -> None:
    assert math.isnan(ops.aten.erf(dispatch.from_numpy(np.array([np.nan]))).item())


@pytest.mark.parametrize(
    "call",
    [
        lambda x: ops.aten.log(x),
        lambda x: ops.aten.reciprocal(x),
        lambda x: ops.aten.pow.Tensor_Scalar(x, -0.5),
        lambda x: ops.aten.addcdiv(x, x, x),
        lambda x: ops.aten.gelu(x),
        lambda x: ops.aten.softplus(x),
        lambda x: ops.aten._to_copy(ops.aten.exp(x), dtype=dispatch.float16),
    ],
)
def test_no_numpy_warning_gets_out(call: Any) -> None:
    x = dispatch.from_numpy(np.array([0, -1, 1e30, np.inf, -np.inf, np.nan], np.float32))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        call(x)
