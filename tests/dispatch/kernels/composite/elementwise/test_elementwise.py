"""Composite elementwise operators: the calls that a mode sees below them, recorded from 2.13."""

from __future__ import annotations

from typing import Any

import pytest

import dispatch
from dispatch import ops
from dispatch.modes import TorchDispatchMode


class Calls(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.append(str(func))
        return func(*args, **(kwargs or {}))


def meta(*sizes: int, dtype: str = "float32") -> dispatch.Tensor:
    return ops.aten.empty.memory_format(
        list(sizes), dtype=getattr(dispatch, dtype), device=dispatch.device("meta")
    )


FLOATS = meta(2, 3)
INTS = meta(2, 3, dtype="int64")
BOOLS = meta(2, 3, dtype="bool")
COMPLEX = meta(2, 3, dtype="complex64")
FINITE = ["aten.abs.default", "aten.ne.Scalar", "aten.eq.Tensor", "aten.mul.Tensor"]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: ops.aten.square.default(FLOATS), ["aten.pow.Tensor_Scalar"]),
        (lambda: ops.aten.max.other(FLOATS, FLOATS), ["aten.maximum.default"]),
        (lambda: ops.aten.__and__.Scalar(INTS, 1), ["aten.bitwise_and.Scalar"]),
        (lambda: ops.aten.__ior__.Tensor(INTS, INTS), ["aten.bitwise_or_.Tensor"]),
        (lambda: ops.aten.isfinite.default(FLOATS), FINITE),
        (lambda: ops.aten.isfinite.default(INTS), ["aten.ones_like.default"]),
        (
            lambda: ops.aten.where.ScalarSelf(BOOLS, 1.5, INTS),
            ["aten.scalar_tensor.default", "aten._to_copy.default", "aten.where.self"],
        ),
        (lambda: ops.aten.add.Scalar(FLOATS, 2), ["aten.add.Scalar"]),
        (lambda: ops.aten.conj_physical.default(FLOATS), []),
        (lambda: ops.aten.conj_physical.default(COMPLEX), ["aten._conj_physical.default"]),
    ],
)
def test_calls_below(call: Any, expected: list[str]) -> None:
    with Calls() as mode:
        call()
    assert mode.names == expected


def test_real_tensor_is_its_own_conjugate() -> None:
    assert ops.aten.conj_physical.default(FLOATS) is FLOATS


@pytest.mark.parametrize(
    ("op", "number", "expected"),
    [
        (ops.aten.add.Scalar, 2.5, "float32"),
        (ops.aten.sub.Scalar, 2, "int64"),
        (ops.aten.rsub.Scalar, 1j, "complex64"),
        (ops.aten.div.Scalar, 2, "float32"),
        (ops.aten.fmod.Scalar, 2, "int64"),
        (ops.aten.bitwise_xor.Scalar, True, "int64"),
    ],
)
def test_number_has_a_say_in_the_category_only(op: Any, number: Any, expected: str) -> None:
    assert op(INTS, number).dtype.name == expected


def test_in_place_overloads_return_self() -> None:
    x = ops.aten.zeros.default([2])
    assert ops.aten.add_.Scalar(x, 2) is x
    assert ops.aten.mul_.Scalar(x, 3) is x
    assert x.tolist() == [6.0, 6.0]


@pytest.mark.parametrize("name", ["complex", "polar"])
@pytest.mark.parametrize(
    ("kinds", "wrong"),
    [
        (("float32", "int64", None), "Half, Float or Double tensors but got Float and Long"),
        (("float32", "float64", None), "scalar type Float but got scalar type Double"),
        (("float32", "float32", "float64"), "scalar type ComplexFloat but got scalar type Double"),
        (("int64", "int64", None), "Half, Float or Double tensors but got Long and Long"),
    ],
)
def test_parts_of_a_complex_tensor_are_floats_of_one_dtype(name, kinds, wrong):
    *parts, out = (kind and dispatch.ones(2, dtype=getattr(dispatch, kind)) for kind in kinds)
    with pytest.raises(RuntimeError, match=wrong):
        getattr(dispatch, name)(*parts, **({"out": out} if out is not None else {}))
    with pytest.raises(RuntimeError, match="but got Long and Long"):
        dispatch.complex(*[dispatch.ones(2).long()] * 2, out=dispatch.ones(2).long())


def test_numbers_of_a_conjugate_or_negative_view_are_finite_as_they_are() -> None:
    x = dispatch.tensor([1 + 2j, complex("inf"), complex(0, float("nan"))])
    for view in (x, x.conj(), x._neg_view(), x.conj()._neg_view()):
        assert dispatch.isfinite(view).tolist() == [True, False, False]
