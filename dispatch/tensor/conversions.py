"""What a tensor becomes: other dtypes and devices, lists (`frequent`), arrays.

`methods` enters the table `CONVERSIONS` into the type.
"""

from __future__ import annotations

from typing import Any

from dispatch._C import dtypes
from dispatch._C.arrays import _lent_array
from dispatch._C.generated.type_names import DTYPE_METHODS
from dispatch._C.grad_mode import is_grad_enabled
from dispatch._C.tensor import Tensor
from dispatch._C.wrapper import has_handler
from dispatch.tensor.data import as_tensor
from dispatch.tensor.frequent import cpu, device_method, dtype_method, to, tolist, type_of

__all__ = ["CONVERSIONS"]

# ---- arrays


def _numpy(self: Tensor, *, force: bool = False) -> Any:
    """The tensor's memory as an array; with `force`, a copy where it cannot be shared.

    Raises: TypeError for a tensor that is not on the CPU, RuntimeError for one that requires grad
    while gradients are recorded, whose conjugate or negative bit is set, or whose class has a
    `__torch_dispatch__`.
    """
    if has_handler(self):
        name = type(self).__name__
        raise RuntimeError(f".numpy() is not supported for tensor subclasses, got {name}")
    if force:
        return _lent_array(self.detach().cpu().resolve_conj().resolve_neg())
    if self.device.type != "cpu":
        raise TypeError(f"numpy: a tensor on {self.device} has no memory here, use cpu() first")
    if self.requires_grad and is_grad_enabled():
        raise RuntimeError(
            "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy()"
        )
    if self.is_conj():
        raise RuntimeError("numpy: the tensor has conjugate bit set, use resolve_conj() first")
    if self.is_neg():
        raise RuntimeError("numpy: the tensor has negative bit set, use resolve_neg() first")
    self.data_ptr()  # RuntimeError where nobody may have the address
    return _lent_array(self.detach())


def _array(self: Tensor, dtype: Any = None, copy: bool | None = None) -> Any:
    """For numpy."""
    found = self.numpy()
    if dtype is not None and found.dtype != dtype:
        if copy is False:
            raise ValueError(f"__array__: {self.dtype} cannot be shared as {dtype}")
        return found.astype(dtype)
    return found.copy() if copy else found


def _array_wrap(self: Tensor, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
    """What numpy's functions make of tensors is a tensor again."""
    return as_tensor(array)


def _format(self: Tensor, spec: str) -> str:
    """A 0-d tensor is formatted as its number."""
    if self.ndim == 0 and self.device.type != "meta" and type(self) is Tensor:
        return format(self.detach().item(), spec)
    return object.__format__(self, spec)


CONVERSIONS: dict[str, Any] = {
    "__array__": _array, "__array_priority__": 1000, "__array_wrap__": _array_wrap,
    "__format__": _format, "cpu": cpu, "numpy": _numpy, "to": to, "tolist": tolist, "type": type_of,
    **{name: dtype_method(name, getattr(dtypes, dt)) for name, dt in DTYPE_METHODS.items()},
    **{name: device_method(name) for name in ("cuda", "ipu", "mtia", "xpu")},
}  # fmt: skip
