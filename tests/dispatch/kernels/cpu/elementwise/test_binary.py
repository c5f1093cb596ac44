"""Values of elementwise CPU kernels where PyTorch's arithmetic is its own; recorded from 2.13."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import dispatch
from dispatch import ops


def tensor(values: Any, dtype: str) -> dispatch.Tensor:
    return ops.aten._to_copy.default(
        dispatch.from_numpy(np.asarray(values)), dtype=getattr(dispatch, dtype)
    )


INTS = tensor([1, 44, -128], "int8")


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (ops.aten.add.Tensor(INTS, 300), [45, 88, -84]),
        (ops.aten.mul.Tensor(INTS, 300), [44, -112, 0]),
        (ops.aten.eq.Scalar(INTS, 300), [False, True, False]),
        (ops.aten.lt.Scalar(tensor([1, 255], "uint8"), -1), [True, False]),
        (ops.aten.add.Tensor(tensor([1, 44], "uint8"), tensor([1, 44], "uint8"), alpha=-1), [0, 0]),
        (ops.aten.add.Tensor(tensor([0, 1], "bool"), tensor([1, 1], "bool")), [True, True]),
        (ops.aten.mul.Tensor(tensor([0, 1], "bool"), tensor([1, 1], "bool")), [False, True]),
        (ops.aten.div.Tensor(tensor([1, -7], "int64"), 0), [math.inf, -math.inf]),
        (ops.aten.eq.Scalar(tensor([2**24 + 1], "int64"), float(2**24)), [True]),
    ],
)
def test_integers_wrap_around_and_take_the_dtype_of_computation(
    result: dispatch.Tensor, expected: list[Any]
) -> None:
    assert result.tolist() == expected


@pytest.mark.parametrize(
    ("mode", "ints", "floats"),
    [("trunc", [3, -3, 0], [3, -3, 0]), ("floor", [3, -4, 0], [3, -4, 0])],
)
def test_rounded_division(mode: str, ints: list[int], floats: list[float]) -> None:
    values = [7, -7, 1]
    by_two = ops.aten.div.Tensor_mode(tensor(values, "int64"), 2, rounding_mode=mode)
    assert by_two.tolist() == ints
    by_two = ops.aten.div.Tensor_mode(tensor(values, "float32"), 2, rounding_mode=mode)
    assert by_two.tolist() == floats


def test_integer_division_by_zero_is_an_error() -> None:
    x = tensor([1, 2], "int64")
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        ops.aten.floor_divide.default(x, 0)
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        ops.aten.div.Tensor_mode(x, x - 1, rounding_mode="trunc")
    no_elements = ops.aten.zeros.default([0], dtype=dispatch.int64)
    assert ops.aten.floor_divide.default(no_elements, 0).tolist() == []


def test_half_precision_is_rounded_once() -> None:
    x = tensor([1.0, 0.5], "bfloat16")
    tiny = tensor([2.0**-9, 2.0**-9], "bfloat16")
    assert ops.aten.add.Tensor(x, tiny, alpha=3).tolist() == [1.0078125, 0.5078125]


def test_half_precision_takes_a_factor_unrounded_and_a_summand_rounded() -> None:
    ones = tensor([1.0, 512.0], "float16")
    assert ops.aten.mul.Tensor(ones, 1e-4).tolist()[1] == 0.051208496093750
    assert ops.aten.eq.Scalar(ones, 1.0001).tolist() == [True, False]


def test_alpha_must_fit_the_integers() -> None:
    with pytest.raises(RuntimeError, match=r"aten::add\.Tensor: alpha 300"):
        ops.aten.add.Tensor(INTS, INTS, alpha=300)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda x: ops.aten.lt.Tensor(*[x("complex64")] * 2), r"aten::lt\.Tensor: .*complex64"),
        (lambda x: ops.aten.lt.Tensor(x("uint16"), x("uint16")), r"aten::lt\.Tensor: .*uint16"),
        (lambda x: ops.aten.add.Tensor(x("uint32"), x("uint32")), r"aten::add\.Tensor: .*uint32"),
        (lambda x: ops.aten.neg.default(x("uint64")), r"aten::neg: .*uint64"),
        (lambda x: ops.aten.floor_divide(x("bool"), x("bool")), r"aten::floor_divide: .*bool"),
        (lambda x: ops.aten.relu.default(x("complex64")), r"aten::relu: .*complex64"),
    ],
)
def test_dtypes_without_a_kernel(call: Any, words: str) -> None:
    with pytest.raises(NotImplementedError, match=words):
        call(lambda dtype: ops.aten.zeros.default([2], dtype=getattr(dispatch, dtype)))


def test_infinite_complex_summand_makes_nan() -> None:
    """PyTorch multiplies by alpha even when it is 1."""
    x = tensor([1 + 1j], "complex64")
    (value,) = ops.aten.add.Tensor(x, math.inf).tolist()
    assert value.real == math.inf
    assert math.isnan(value.imag)


def test_relu_keeps_nan() -> None:
    values = ops.aten.relu.default(tensor([-1.0, math.nan, 2.0], "float32")).tolist()
    assert values[0] == 0
    assert math.isnan(values[1])
    assert values[2] == 2


HALVES = tensor([1.5 + 2j, -3 + 0.25j, 65504, 1 + 1e-3j], "complex32")
TENTHS = tensor([0.1 + 1.7j, -0.3 + 2.25j, 3 + 7j, 1e-3 + 1j], "complex32")


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (HALVES[:2] + TENTHS[:2], [1.599609375 + 3.69921875j, -3.30078125 + 2.5j]),
        (HALVES[:2] - TENTHS[:2], [1.400390625 + 0.2998046875j, -2.69921875 - 2j]),
        (HALVES[:2] * TENTHS[:2], [-3.25 + 2.75j, 0.337646484375 - 6.82421875j]),
        (HALVES[:2] * 0.3, [0.4501953125 + 0.60009765625j, -0.900390625 + 0.07501220703125j]),
        (-HALVES[:2], [-1.5 - 2j, 3 - 0.25j]),
        (HALVES[:2].sgn(), [0.60009765625 + 0.7998046875j, -0.99658203125 + 0.08306884765625j]),
        (HALVES[2:] + (0.3 + 0.1j), [65504 + 0.0999755859375j, 1.2998046875 + 0.1009521484375j]),
        (HALVES == 1.5 + 2j, [True, False, False, False]),
        (HALVES != HALVES, [False] * 4),
    ],
)
def test_complex32_is_computed_in_complex64_and_rounded(result: Any, expected: list[Any]) -> None:
    wanted = dispatch.bool if isinstance(expected[0], bool) else dispatch.complex32
    assert result.dtype is wanted
    assert result.tolist() == expected


@pytest.mark.parametrize("op", ["div", "pow", "mm"])
def test_what_has_no_complex32_refuses_it(op: str) -> None:
    """PyTorch's kernels have no case for these either."""
    x = dispatch.ones(2, 2, dtype=dispatch.complex32)
    with pytest.raises(NotImplementedError, match="complex32"):
        getattr(dispatch, op)(x, x)


def test_quotients_of_int64_are_rounded_down_whatever_their_size():
    small = [0, 1, -1, 7, -7, 100, 2**31, 3**30, -(3**30) - 1]
    large = [2**51 - 1, 2**51, -(2**51), 2**52 + 1, 2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63)]
    for numbers in (small, small + large):
        first = np.array([a for a in numbers for b in numbers if b])
        second = np.array([b for a in numbers for b in numbers if b])
        with np.errstate(over="ignore"):
            wanted = first // second
        x, y = dispatch.from_numpy(first), dispatch.from_numpy(second)
        assert ops.aten.floor_divide.default(x, y).tolist() == wanted.tolist()
        assert ops.aten.floor_divide.default(x, 7).tolist() == (first // 7).tolist()
        assert x.clone().floor_divide_(y).tolist() == wanted.tolist()
        pairs = [(int(a), int(b)) for a, b in zip(first, second, strict=True)]
        rests = [abs(a) % abs(b) * (1 if a > 0 else -1) for a, b in pairs]
        quotients = [(a - rest) // b for (a, b), rest in zip(pairs, rests, strict=True)]
        wrapped = [(q + 2**63) % 2**64 - 2**63 for q in quotients]
        div = ops.aten.div.Tensor_mode
        assert div(x, y, rounding_mode="floor").tolist() == wanted.tolist()
        assert div(x, y, rounding_mode="trunc").tolist() == wrapped
        assert ops.aten.fmod.Tensor(x, y).tolist() == rests
        assert ops.aten.remainder.Tensor(x, y).tolist() == [a % b for a, b in pairs]


def test_nothing_is_a_common_multiple_of_zeros() -> None:
    assert dispatch.lcm(dispatch.tensor([0, 4, 0]), dispatch.tensor([0, 0, 6])).tolist() == [0] * 3


@pytest.mark.parametrize(
    ("dtype", "bits"),
    [(dispatch.uint8, 8), (dispatch.int8, 7), (dispatch.int16, 15), (dispatch.int32, 31),
     (dispatch.int64, 63)],
)  # fmt: skip
def test_bits_are_shifted_to_the_last_place_and_no_further(dtype: Any, bits: int) -> None:
    places = dispatch.arange(bits, dtype=dtype)
    assert (dispatch.ones(bits, dtype=dtype) << places).tolist() == [1 << k for k in range(bits)]
    for by in (8 * dtype.itemsize, 8 * dtype.itemsize + 3):
        assert (dispatch.ones(1, dtype=dtype) << dispatch.tensor([by], dtype=dtype)).tolist() == [0]


def test_a_zero_that_equals_a_bound_takes_the_bounds_sign() -> None:
    x, low = dispatch.tensor([0.0, -0.0]), dispatch.tensor([-0.0, 0.0])
    clamped = dispatch.clamp(x, low, dispatch.ones(2)).tolist()
    assert [math.copysign(1, v) for v in clamped] == [-1, 1]
