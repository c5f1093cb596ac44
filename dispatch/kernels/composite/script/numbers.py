"""TorchScript's tensors out of numbers, and numbers out of tensors.

The overload's type decides: `tensor.bool(12.0)` holds True, in the dtype that is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops

__all__ = [
    "Bool",
    "Complex",
    "Float",
    "FloatImplicit",
    "Int",
    "IntImplicit",
    "NumToTensor",
    "ScalarImplicit",
    "tensor_bool",
    "tensor_complex",
    "tensor_float",
    "tensor_int",
]

_aten: Any = ops.aten
_COMPLEX_OF = {dtypes.float64: dtypes.complex128}


def _own_dtype(number: Any) -> dtypes.dtype:
    if isinstance(number, bool):
        return dtypes.bool
    if isinstance(number, int):
        return dtypes.int64
    default = dtypes.get_default_dtype()
    return _COMPLEX_OF.get(default, dtypes.complex64) if isinstance(number, complex) else default


def _tensor(convert: Callable[[Any], Any]) -> Callable[..., Tensor]:
    def kernel(
        t: Any,
        *,
        dtype: dtypes.dtype | None = None,
        device: dtypes.device | None = None,
        requires_grad: bool = False,
    ) -> Tensor:
        number = convert(t)
        made = _aten.empty.memory_format([], dtype=dtype or _own_dtype(number), device=device)
        made = _aten.fill_.Scalar(made, number)
        return made.requires_grad_() if requires_grad else made

    return kernel


tensor_bool = _tensor(bool)
tensor_int = _tensor(int)
tensor_float = _tensor(float)
tensor_complex = _tensor(complex)


def NumToTensor(a: Any) -> Tensor:
    """The number in a dtype of its own."""
    return _aten.scalar_tensor(a, dtype=dtypes.int64 if type(a) is int else _own_dtype(a))


def Bool(a: Tensor) -> bool:
    """The only element, as a bool."""
    return bool(_aten.item(a))


def Int(a: Tensor) -> int:
    """The only element, as an int."""
    return int(_aten.item(a))


def Float(a: Tensor) -> float:
    """The only element, as a float."""
    return float(_aten.item(a))


def Complex(a: Tensor) -> complex:
    """The only element, as a complex number."""
    _check_implicit(a)
    return complex(_aten.item(a))


def _check_implicit(a: Tensor) -> None:
    if a.requires_grad:
        raise refused("a tensor that requires grad does not become a number by itself")
    if a.ndim:
        raise refused(f"expected a tensor without dimensions, got shape {list(a.shape)}")


def ScalarImplicit(a: Tensor) -> Any:
    """The only element of a tensor without dimensions."""
    _check_implicit(a)
    return _aten.item(a)


def IntImplicit(a: Tensor) -> int:
    """The only element of a tensor of integers without dimensions."""
    _check_implicit(a)
    if a.dtype.is_floating_point or a.dtype.is_complex or a.dtype is dtypes.bool:
        raise refused(f"expected integers, got {a.dtype}")
    return int(_aten.item(a))


def FloatImplicit(a: Tensor) -> float:
    """The only element, a real one, of a tensor without dimensions."""
    _check_implicit(a)
    if a.dtype.is_complex:
        raise refused(f"expected a real dtype, got {a.dtype}")
    return float(_aten.item(a))
