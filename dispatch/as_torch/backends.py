"""Devices of a program's own: `torch.utils.backend_registration`, `torch._register_device_module`.

The device is renamed in `_C`; its module (`torch.npy`) and methods (`x.is_npy`, `x.npy()`) are
attributes that programs expect on `torch` and `Tensor`.
"""

import sys
from typing import Any

import dispatch
from dispatch import Tensor
from dispatch._C import _get_privateuse1_backend_name, _rename_privateuse1_backend

__all__ = [
    "generate_methods_for_privateuse1_backend",
    "get_device_module",
    "register_device_module",
    "rename_privateuse1_backend",
]

_modules: dict[str, Any] = {}


def rename_privateuse1_backend(backend_name: str) -> None:
    """The device `privateuseone` is called so from now on; RuntimeError for a second name."""
    _rename_privateuse1_backend(backend_name)


def register_device_module(device_type: str, module: Any) -> None:
    """`torch.NAME` is `module`. RuntimeError for a device that is none, and for a second module."""
    kind = dispatch.device(device_type).type
    if kind in _modules:
        raise RuntimeError(f"_register_device_module: {kind!r} has a module: {_modules[kind]}")
    _modules[kind] = module
    setattr(sys.modules["torch"], kind, module)
    sys.modules[f"torch.{kind}"] = module


def get_device_module(device: Any = None) -> Any:
    """The module that was registered for a device. RuntimeError where there is none."""
    kind = dispatch.device("cpu" if device is None else device).type
    if kind in _modules:
        return _modules[kind]
    found = getattr(sys.modules["torch"], kind, None)
    if found is None:
        raise RuntimeError(f"get_device_module: no module is registered for {kind!r}")
    return found


def generate_methods_for_privateuse1_backend(
    for_tensor: bool = True,
    for_module: bool = True,
    for_packed_sequence: bool = True,
    for_storage: bool = False,
    unsupported_dtype: Any = None,
) -> None:
    """`Tensor.is_NAME` and `Tensor.NAME()`; RuntimeError where they are there already.

    There are no modules and packed sequences to have such methods, and none are made for storages.
    """
    name = _get_privateuse1_backend_name()
    if not for_tensor:
        return
    if hasattr(Tensor, f"is_{name}"):
        raise RuntimeError(f"generate_methods_for_privateuse1_backend: Tensor has is_{name}")

    def is_there(self: Tensor) -> bool:
        return self.device.type == name

    def move(
        self: Tensor, device: Any = None, non_blocking: bool = False, **kwargs: Any
    ) -> Tensor:
        place = dispatch.device(name, device) if isinstance(device, int) else device or name
        return self.to(device=place, non_blocking=non_blocking, **kwargs)

    move.__name__ = name
    move.__doc__ = f"The tensor on the device {name} (Tensor.to)."
    is_there.__doc__ = f"Whether the tensor is on the device {name}."
    setattr(Tensor, f"is_{name}", property(is_there))
    setattr(Tensor, name, move)
