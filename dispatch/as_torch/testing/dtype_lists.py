"""`torch.testing._internal.common_dtype`: dtypes by kind, as tuples; `..._and` adds to them."""

from typing import Any

import dispatch

__all__ = [
    "all_mps_types", "all_mps_types_and", "all_types", "all_types_and",
    "all_types_and_complex", "all_types_and_complex_and",
    "all_types_and_half", "all_types_complex_float8_and", "complex_types",
    "complex_types_and", "custom_types", "double_types", "empty_types", "float8_types",
    "float8_types_and", "float_to_corresponding_complex_type_map",
    "floating_and_complex_types", "floating_and_complex_types_and", "floating_types",
    "floating_types_and", "floating_types_and_half", "get_all_complex_dtypes", "get_all_dtypes",
    "get_all_fp_dtypes", "get_all_int_dtypes", "get_all_math_dtypes", "get_all_qint_dtypes",
    "highest_precision_complex", "highest_precision_float", "integral_types", "integral_types_and",
]  # fmt: skip

_FLOATING = (dispatch.float32, dispatch.float64)
_COMPLEX = (dispatch.complex64, dispatch.complex128)
_FLOAT8 = (
    dispatch.float8_e4m3fn, dispatch.float8_e5m2,
    dispatch.float8_e4m3fnuz, dispatch.float8_e5m2fnuz,
)  # fmt: skip
_INTEGRAL = (dispatch.uint8, dispatch.int8, dispatch.int16, dispatch.int32, dispatch.int64)


def _kinds(*dtypes: Any) -> Any:
    return lambda *more: (*dtypes, *(d for d in more if d not in dtypes))


_dispatch_dtypes = tuple  # what a list of dtypes is there

empty_types = custom_types = _kinds()
double_types = _kinds(dispatch.float64, dispatch.complex128)
floating_types = floating_types_and = _kinds(*_FLOATING)
floating_types_and_half = _kinds(*_FLOATING, dispatch.half)
complex_types = complex_types_and = _kinds(*_COMPLEX)
floating_and_complex_types = floating_and_complex_types_and = _kinds(*_FLOATING, *_COMPLEX)
integral_types = integral_types_and = _kinds(*_INTEGRAL)
all_types = all_types_and = _kinds(*_FLOATING, *_INTEGRAL)
all_types_and_half = _kinds(*_FLOATING, *_INTEGRAL, dispatch.half)
all_types_and_complex = all_types_and_complex_and = _kinds(*_FLOATING, *_INTEGRAL, *_COMPLEX)
float8_types = float8_types_and = _kinds(*_FLOAT8)
all_types_complex_float8_and = _kinds(*_FLOATING, *_INTEGRAL, *_COMPLEX, *_FLOAT8)
float_to_corresponding_complex_type_map = {
    dispatch.float16: dispatch.complex32,
    dispatch.float32: dispatch.complex64,
    dispatch.float64: dispatch.complex128,
}


all_mps_types = all_mps_types_and = _kinds(
    dispatch.bfloat16, dispatch.float32, dispatch.half, *_INTEGRAL, dispatch.bool
)


def get_all_int_dtypes() -> list[Any]:
    """Integers, bool not among them."""
    return [*_INTEGRAL]


def get_all_math_dtypes(device: str) -> list[Any]:
    """What arithmetic is tested with; on a GPU half too."""
    half = [dispatch.half] * device.startswith("cuda")
    return [*_INTEGRAL, *_FLOATING, *half, *_COMPLEX]


def get_all_complex_dtypes(include_complex32: bool = False) -> list[Any]:
    """Complex numbers, on request those of two halves too."""
    return [dispatch.complex32] * include_complex32 + [*_COMPLEX]


def get_all_fp_dtypes(include_half: bool = True, include_bfloat16: bool = True) -> list[Any]:
    """Floating-point numbers."""
    found = [*_FLOATING] + [dispatch.half] * include_half
    return found + [dispatch.bfloat16] * include_bfloat16


def highest_precision_complex(device: Any) -> Any:
    """The complex dtype of the most digits."""
    return float_to_corresponding_complex_type_map[highest_precision_float(device)]


def highest_precision_float(device: Any) -> Any:
    """The floating-point dtype of the most digits."""
    return dispatch.float32 if dispatch.device(device).type == "mps" else dispatch.float64


def get_all_dtypes(
    include_half: bool = True,
    include_bfloat16: bool = True,
    include_bool: bool = True,
    include_complex: bool = True,
    include_complex32: bool = False,
) -> list[Any]:
    """All dtypes that tests draw from."""
    found = [*integral_types(), *floating_types()]
    found += [dispatch.half] * include_half + [dispatch.bfloat16] * include_bfloat16
    found += [dispatch.bool] * include_bool + [dispatch.complex32] * include_complex32
    return found + [*complex_types()] * include_complex


def get_all_qint_dtypes() -> list[Any]:
    """Quantized integers."""
    kinds = "qint8 quint8 qint32 quint4x2 quint2x4"
    return [getattr(dispatch, kind) for kind in kinds.split()]
