"""What tables of refusals are made of: short names, and the check of a row."""

from collections.abc import Callable

import pytest

import dispatch
from dispatch import (
    bfloat16 as bf16,
    bool as b8,
    complex32 as c32,
    complex64 as c64,
    complex128 as c128,
    float16 as f16,
    float32 as f32,
    float64 as f64,
    int8 as i8,
    int16 as i16,
    int32 as i32,
    int64 as i64,
    ones as o,
    tensor,
    uint8 as u8,
    uint64 as u64,
    zeros as z,
)

__all__ = [
    "A", "P", "b8", "bf16", "c32", "c64", "c128", "check_refused", "f16", "f32", "f64", "i8",
    "i16", "i32", "i64", "inf", "nan", "o", "tensor", "u8", "u64", "z",
]  # fmt: skip

A, P = dispatch.ops.aten, dispatch.ops.prims
inf, nan = float("inf"), float("nan")


def check_refused(call: Callable[[], object], error: type[Exception], text: str) -> None:
    """The call raises an error of that very type, and its text holds `text`."""
    with pytest.raises(error) as raised:
        call()
    assert raised.type is error
    assert text in str(raised.value)
