"""Shape functions of elementwise operators of two operands, on meta and CPU tensors.

Tables are recorded from PyTorch 2.13.
"""

from __future__ import annotations

from typing import Any

import pytest

import dispatch
from dispatch import ops


def meta(*sizes: int, dtype: str = "float32") -> dispatch.Tensor:
    return ops.aten.empty.memory_format(
        list(sizes), dtype=getattr(dispatch, dtype), device=dispatch.device("meta")
    )


def cpu(*sizes: int, dtype: str = "float32") -> dispatch.Tensor:
    return ops.aten.zeros.default(list(sizes), dtype=getattr(dispatch, dtype))


def transposed(*sizes: int) -> dispatch.Tensor:
    return ops.aten.permute.default(meta(*sizes[::-1]), [1, 0])


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (meta(2, 3), meta(2, 3), "float32"),
        (meta(2, dtype="int64"), meta(2, dtype="float16"), "float16"),
        (meta(2, dtype="int32"), meta(dtype="int64"), "int32"),
        (meta(2, dtype="int32"), meta(dtype="float64"), "float64"),
        (meta(2, dtype="uint8"), meta(2, dtype="int8"), "int16"),
        (meta(2, dtype="bfloat16"), 2.5, "bfloat16"),
        (meta(2, dtype="int64"), 2.5, "float32"),
        (meta(2, dtype="bool"), True, "bool"),
        (meta(2, dtype="float16"), 1j, "complex32"),
        (meta(dtype="int8"), 300, "int8"),
    ],
)
def test_promoted_dtype(a: dispatch.Tensor, b: Any, expected: str) -> None:
    assert ops.aten.add.Tensor(a, b).dtype.name == expected
    assert ops.aten.mul.Tensor(a, b).dtype.name == expected


def test_division_gives_floats() -> None:
    ints = meta(2, dtype="int64")
    assert ops.aten.div.Tensor(ints, ints).dtype.name == "float32"
    assert ops.aten.div.Tensor_mode(ints, 2, rounding_mode="trunc").dtype.name == "int64"
    assert ops.aten.floor_divide.default(ints, 2).dtype.name == "int64"


def test_comparisons_give_bool_and_keep_the_dtype_in_place() -> None:
    x = meta(2, 3)
    assert ops.aten.lt.Tensor(x, x).dtype.name == "bool"
    assert ops.aten.eq.Scalar(x, 1).dtype.name == "bool"
    assert ops.aten.eq_.Scalar(x, 1) is x


def test_powers_of_bool_are_integers_on_meta() -> None:
    bools = meta(2, dtype="bool")
    assert ops.aten.pow.Tensor_Tensor(bools, bools).dtype.name == "int64"
    assert ops.aten.pow.Tensor_Scalar(bools, True).dtype.name == "int64"
    assert ops.aten.pow.Scalar(2.0, meta(2, dtype="int64")).dtype.name == "float32"


def test_sizes_broadcast() -> None:
    assert ops.aten.add.Tensor(meta(2, 1, 4), meta(3, 1)).shape == (2, 3, 4)
    with pytest.raises(RuntimeError, match="do not broadcast"):
        ops.aten.add.Tensor(meta(2), meta(3))


def test_strides_follow_the_first_operand_with_an_opinion() -> None:
    x = transposed(2, 3)
    assert ops.aten.add.Tensor(x, x).stride() == (1, 2)
    assert ops.aten.add.Tensor(x, meta(2, 3)).stride() == (1, 2)
    assert ops.aten.add.Tensor(meta(2, 3), x).stride() == (3, 1)
    assert ops.aten.eq.Tensor(meta(), x).stride() == (1, 2)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("copysign", [(1, 2), (3, 1), (4, 8, 1), (12, 4, 1), (3, 1), (12, 3, 1)]),
        ("xlogy", [(1, 2), (3, 1), (4, 8, 1), (4, 8, 1), (1, 2), (12, 3, 1)]),
        ("heaviside", [(3, 1), (1, 2), (12, 4, 1), (4, 8, 1), (1, 2), (12, 1, 4)]),
        ("logaddexp", [(3, 1), (1, 2), (12, 4, 1), (4, 8, 1), (1, 2), (12, 1, 4)]),
        ("logaddexp2", [(3, 1), (1, 2), (12, 4, 1), (4, 8, 1), (1, 2), (12, 1, 4)]),
    ],
)
def test_a_choice_has_the_strides_of_what_was_asked_first(
    name: str, expected: list[tuple[int, ...]]
) -> None:
    x, row, turned = transposed(2, 3), meta(3, 4), meta(3, 2, 4).permute(1, 0, 2)
    pairs = [
        (meta(2, 3), x), (x, meta(2, 3)), (row, turned), (turned, row), (x, meta()),
        (meta(3, 4).t(), meta(2, 4, 3)),
    ]  # fmt: skip
    op = getattr(ops.aten, name)
    assert [op(a, b).stride() for a, b in pairs] == expected


def test_references_that_are_made_of_several_operators_have_their_strides() -> None:
    x = transposed(2, 3)
    assert ops.aten.logical_and.default(meta(), x).stride() == (3, 1)
    assert ops.aten.logical_and.default(x, meta()).stride() == (1, 2)
    assert ops.aten.floor_divide.default(x, meta()).stride() == (3, 1)
    assert ops.aten.floor_divide.default(x, 2).stride() == (1, 2)


def test_devices_must_agree_but_for_zero_dimensions_on_cpu() -> None:
    assert ops.aten.add.Tensor(meta(2), cpu()).shape == (2,)
    with pytest.raises(RuntimeError, match="one device"):
        ops.aten.add.Tensor(meta(2), cpu(2))


@pytest.mark.parametrize("op", [ops.aten.add.Tensor, ops.aten.sub.Tensor])
@pytest.mark.parametrize(
    ("dtype", "alpha"), [("int64", 2.5), ("float32", 1j), ("uint8", True), ("float32", True)]
)
def test_alpha_that_does_not_fit_is_refused(op: Any, dtype: str, alpha: Any) -> None:
    with pytest.raises(RuntimeError, match="alpha"):
        op(cpu(2, dtype=dtype), cpu(2, dtype=dtype), alpha=alpha)


def test_meta_kernels_refuse_alpha_with_a_value_error_and_take_bool() -> None:
    ints = meta(2, dtype="int64")
    with pytest.raises(ValueError, match=r"aten::add\.Tensor: alpha"):
        ops.aten.add.Tensor(ints, ints, alpha=2.5)
    assert ops.aten.add.Tensor(ints, ints, alpha=True).dtype.name == "int64"


def test_bool_subtraction_is_refused() -> None:
    bools = meta(2, dtype="bool")
    with pytest.raises(RuntimeError, match=r"aten::sub\.Tensor: "):
        ops.aten.sub.Tensor(bools, bools)
    with pytest.raises(RuntimeError, match=r"aten::sub\.Tensor: "):
        ops.aten.sub.Tensor(cpu(2), cpu(2, dtype="bool"))
    assert ops.aten.sub.Tensor(meta(2), bools).dtype.name == "float32"


def test_rounding_mode_is_checked() -> None:
    with pytest.raises(RuntimeError, match="rounding_mode"):
        ops.aten.div.Tensor_mode(cpu(2), cpu(2), rounding_mode="up")
    with pytest.raises(ValueError, match="rounding_mode"):
        ops.aten.div.Tensor_mode(meta(2), meta(2), rounding_mode="up")


def test_meta_kernels_order_complex_numbers_and_invert_integers() -> None:
    numbers, ints = meta(2, dtype="complex64"), meta(2, dtype="int64")
    assert ops.aten.maximum.default(numbers, meta(2)).dtype.name == "complex64"
    assert ops.aten.pow.Tensor_Scalar(ints, -1).dtype.name == "int64"


def test_failed_in_place_call_leaves_self_alone() -> None:
    x = cpu(2, dtype="int64")
    before = x._version
    with pytest.raises(RuntimeError, match="can't be cast"):
        ops.aten.add_.Tensor(x, 2.5)
    assert (x.tolist(), x._version) == ([0, 0], before)


@pytest.mark.parametrize(
    ("size", "stride", "expected"),
    [
        ((2, 1, 3), (3, 99, 1), (3, 6, 1)),
        ((1, 1, 5), (2, 9, 1), (5, 5, 1)),
        ((2, 3), (3, 1), (3, 1)),
    ],
)
def test_beside_a_number_strides_of_size_1_have_a_say_in_the_order(
    size: tuple[int, ...], stride: tuple[int, ...], expected: tuple[int, ...]
) -> None:
    """A number is a 0-d operand: the short cut of operands of one shape is not taken."""
    x = dispatch.empty_strided(size, stride).fill_(1.0)
    assert [y.stride() for y in (x * 2, 1 - x, x > 0, x // 2)] == [expected] * 4
