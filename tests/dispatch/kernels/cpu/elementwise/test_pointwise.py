"""Values of pointwise, power and ternary operators at the edges; recorded from PyTorch 2.13."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import dispatch
from dispatch import ops

aten = ops.aten
NAN, INF = math.nan, math.inf


def tensor(values: Any, dtype: str) -> dispatch.Tensor:
    return aten._to_copy(dispatch.from_numpy(np.asarray(values)), dtype=getattr(dispatch, dtype))


FLOATS = tensor([-2.5, -0.5, 0.5, 1.5, NAN, -INF], "float32")
INTS = tensor([0, 1, -1, 7, -128], "int8")


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (aten.round(FLOATS), [-2, 0, 0, 2, NAN, -INF]),
        (aten.trunc(FLOATS), [-2, 0, 0, 1, NAN, -INF]),
        (aten.sign(FLOATS), [-1, -1, 1, 1, 0, -1]),
        (aten.floor(INTS), [0, 1, -1, 7, -128]),
        (aten.abs(INTS), [0, 1, 1, 7, -128]),
        (aten.bitwise_not(tensor([True, False], "bool")), [False, True]),
        (aten.isinf(FLOATS), [False] * 5 + [True]),
        (aten.isnan(INTS), [False] * 5),
        (aten.abs(tensor([3 + 4j], "complex64")), [5]),
        (aten.logical_not(FLOATS), [False] * 6),
    ],
)
def test_one_operand(result: dispatch.Tensor, expected: list[Any]) -> None:
    np.testing.assert_array_equal(result.numpy(), expected)


def test_integers_are_computed_in_the_default_dtype() -> None:
    result = aten.sqrt(tensor([4, 9], "int64"))
    assert (result.dtype, result.tolist()) == (dispatch.float32, [2, 3])


@pytest.mark.parametrize(
    ("op", "expected"), [("fmod", [1, -1, 1, -1]), ("remainder", [1, 2, -2, -1])]
)
@pytest.mark.parametrize("dtype", ["int32", "float32", "float16"])
def test_remainder_takes_the_sign_of_its_rule(op: str, expected: list[int], dtype: str) -> None:
    a, b = tensor([7, -7, 7, -7], dtype), tensor([3, 3, -3, -3], dtype)
    assert getattr(aten, op).Tensor(a, b).tolist() == expected


@pytest.mark.parametrize("op", ["fmod", "remainder"])
def test_integer_remainder_by_zero_is_an_error(op: str) -> None:
    with pytest.raises(RuntimeError, match=rf"aten::{op}\.Tensor: ZeroDivisionError"):
        getattr(aten, op).Scalar(INTS, 0)
    assert math.isnan(getattr(aten, op).Scalar(FLOATS, 0.0).tolist()[0])


def test_maximum_propagates_nan() -> None:
    zero = tensor(0.0, "float32")
    np.testing.assert_array_equal(aten.maximum(FLOATS, zero).numpy(), [0, 0, 0.5, 1.5, NAN, 0])
    np.testing.assert_array_equal(aten.minimum(zero, FLOATS).numpy(), [-2.5, -0.5, 0, 0, NAN, -INF])


# ---- powers ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (aten.pow.Tensor_Scalar(INTS, 3), [0, 1, -1, 87, 0]),
        (aten.pow.Tensor_Tensor(INTS, tensor([-1] * 5, "int8")), [0, 1, -1, 0, 0]),
        (aten.pow.Scalar(2, tensor([3, -1], "int64")), [8, 0]),
        (aten.pow.Scalar(300, tensor([1], "uint8")), [44]),
        (aten.pow.Tensor_Scalar(FLOATS, 0), [1] * 6),
        (aten.pow.Tensor_Scalar(tensor([4.0, INF, -0.0], "float32"), -0.5), [0.5, 0, -INF]),
        (aten.pow.Tensor_Scalar(tensor([2, 3], "int32"), 0.5), np.float32([2, 3]) ** 0.5),
    ],
)
def test_pow(result: dispatch.Tensor, expected: Any) -> None:
    np.testing.assert_array_equal(result.numpy(), expected)


def test_integers_take_no_negative_number_as_exponent() -> None:
    with pytest.raises(RuntimeError, match=r"aten::pow\.Tensor_Scalar: Integers .* exponent -1"):
        aten.pow.Tensor_Scalar(INTS, -1)


def test_complex_zero_to_a_power_is_that_of_the_logarithm() -> None:
    result = aten.pow.Tensor_Scalar(tensor([0j], "complex64"), -1).numpy()
    assert (result[0].real, math.isnan(result[0].imag)) == (INF, True)


def test_power_of_a_number_is_contiguous() -> None:
    exponent = tensor(np.ones((2, 3)), "float32").t()
    assert aten.pow.Scalar(2, exponent).stride() == (2, 1)


def test_cube_in_place() -> None:
    x = tensor([2.0, -3.0], "float32")
    assert aten.pow_.Scalar(x, 3).tolist() == [8, -27]


# ---- three operands ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ((-1, 1), [-1, -0.5, 0.5, 1, NAN, -1]),
        ((None, 0), [-2.5, -0.5, 0, 0, NAN, -INF]),
        ((2, 1), [1, 1, 1, 1, NAN, 1]),
        ((NAN, 1), [NAN] * 6),
    ],
)
def test_clamp(bounds: tuple[Any, Any], expected: list[Any]) -> None:
    np.testing.assert_array_equal(aten.clamp(FLOATS, *bounds).numpy(), expected)


def test_clamp_by_tensors_propagates_their_nan() -> None:
    low = tensor([NAN, 0, 0, 0, 0, 0], "float32")
    result = aten.clamp.Tensor(FLOATS, low, tensor(1.0, "float32"))
    np.testing.assert_array_equal(result.numpy(), [NAN, 0, 0.5, 1, NAN, 0])


def test_clamp_bound_must_fit_the_dtype() -> None:
    with pytest.raises(RuntimeError, match=r"clamp: min 300 does not fit in dispatch\.int8"):
        aten.clamp(INTS, 300)


def test_hardtanh_cuts_its_bounds_beside_integers() -> None:
    assert aten.hardtanh(INTS, -1.7, 5.9).tolist() == [0, 1, -1, 5, -1]


def test_where_converts_to_the_common_dtype() -> None:
    condition = tensor([True, False, True, False, True], "bool")
    result = aten.where.self(condition, INTS, tensor(0.5, "float32"))
    assert (result.dtype, result.tolist()) == (dispatch.float32, [0, 0.5, -1, 0.5, -128])


def test_where_may_write_into_an_operand() -> None:
    x = tensor([1.0, 2.0], "float32")
    aten.where.self_out(tensor([True, False], "bool"), aten.neg(x), x, out=x)
    assert x.tolist() == [-1, 2]


@pytest.mark.parametrize(("op", "expected"), [("addcmul", [7, 1]), ("addcdiv", [2.5, 1])])
def test_products_and_quotients_are_added(op: str, expected: list[float]) -> None:
    x, y, z = (tensor(v, "float16") for v in ([1, 1], [3, 0], [2, 4]))
    assert getattr(aten, op)(x, y, z).tolist() == expected


@pytest.mark.parametrize(
    "call",
    [
        lambda: aten.gelu(INTS),
        lambda: aten.erf(tensor([1j], "complex64")),
        lambda: aten.bitwise_not(FLOATS),
        lambda: aten.ceil(tensor([True], "bool")),
        lambda: aten.clamp(tensor([1j], "complex64"), 0),
        lambda: aten.pow.Tensor_Tensor(tensor([True], "bool"), tensor([True], "bool")),
    ],
)
def test_dtypes_without_a_kernel(call: Any) -> None:
    with pytest.raises(NotImplementedError, match="no CPU kernel for dispatch"):
        call()


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_remainders_are_exact(kind: type) -> None:
    """Also where the quotient is large, next to a whole number, or not finite."""
    rng = np.random.default_rng(3)
    x = (rng.normal(size=4000) * 10.0 ** rng.integers(-6, 12, 4000)).astype(kind)
    y = (rng.normal(size=4000) * 10.0 ** rng.integers(-6, 6, 4000)).astype(kind)
    x[:1000] = y[:1000] * rng.integers(-50, 50, 1000)
    x[1000:1004], y[1000:1004] = [np.inf, 1, 0, 3], [1, np.inf, 2, 0]
    a, b = dispatch.from_numpy(x), dispatch.from_numpy(y)
    with np.errstate(all="ignore"):
        assert np.array_equal(dispatch.fmod(a, b).numpy(), np.fmod(x, y), equal_nan=True)


@pytest.mark.parametrize(
    ("kinds", "promoted"),
    [
        (("float32", "float64"), "float64"),
        (("bfloat16", "float32"), "float32"),
        (("int64", "float32"), "float32"),
        (("bool", "int64"), "int64"),
    ],
)
def test_a_weight_of_another_dtype_is_promoted_where_there_is_no_data(kinds, promoted):
    x, weight = (dispatch.ones(2, dtype=getattr(dispatch, kind)) for kind in kinds)
    with pytest.raises(RuntimeError, match=r"^aten::_prelu_kernel: expected weight"):
        dispatch.ops.aten._prelu_kernel(x, weight)
    with dispatch.FakeTensorMode() as mode:
        found = dispatch.ops.aten._prelu_kernel(mode.from_tensor(x), mode.from_tensor(weight))
    assert found.dtype is getattr(dispatch, promoted)


def test_numbers_that_are_used_in_float32_may_be_beyond_halves():
    x = dispatch.ones(2, dtype=dispatch.float16)
    assert dispatch.addcmul(x, x, x, value=1e9).tolist() == [float("inf")] * 2
    assert dispatch.lerp(x, x, 1e9).tolist() == [1, 1]
    assert dispatch.ops.aten.leaky_relu(x, 1e9).tolist() == [1, 1]
    for call in (lambda: dispatch.add(x, x, alpha=1e9), lambda: dispatch.hardshrink(x, 1e9)):
        with pytest.raises(RuntimeError, match="does not fit"):
            call()
