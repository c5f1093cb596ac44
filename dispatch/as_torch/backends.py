"""Devices of a program's own: `torch.utils.backend_registration`, `torch._register_device_module`.

The device is renamed in `_C`; its module (`torch.npy`) and methods (`x.is_npy`, `x.npy()`) are
attributes that programs expect on `torch` and `Tensor`.
"""

import sys
import warnings
from typing import Any

import dispatch
from dispatch import Tensor
from dispatch._C import _get_privateuse1_backend_name, _rename_privateuse1_backend
from dispatch._C.arrays import _new_strided
from dispatch._C.storage import _new_storage
from dispatch.library.autocast import autocast as _autocast

__all__ = [
    "DeviceGuard",
    "PrivateUse1Hooks",
    "autocast",
    "create_empty_tensor",
    "generate_methods_for_privateuse1_backend",
    "get_device_index",
    "get_device_module",
    "register_device_module",
    "register_python_privateuseone_device_guard",
    "register_python_privateuseone_hook",
    "rename_privateuse1_backend",
]


def rename_privateuse1_backend(backend_name: str) -> None:
    """The device `privateuseone` is called so from now on; RuntimeError for a second name."""
    _rename_privateuse1_backend(backend_name)


def register_device_module(device_type: str, module: Any) -> None:
    """`torch.NAME` is `module`. RuntimeError for a device that is none, and for a second module."""
    kind = dispatch.device(device_type).type
    torch = sys.modules["torch"]
    there = getattr(torch, kind, None)
    if there is not None:
        raise RuntimeError(
            f"The runtime module of '{kind}' has already been registered with '{there}'"
        )
    setattr(torch, kind, module)
    sys.modules[f"torch.{kind}"] = module


def get_device_index(device: Any, optional: bool = False, allow_cpu: bool = False) -> int:
    """The index of a device, given as one, as a string, or as an int; -1 for the CPU, if allowed.

    Args:
        optional: a device without an index is the current one.

    Raises:
        ValueError: there is no index.
    """
    if isinstance(device, int):
        return device
    place = dispatch.device(device) if isinstance(device, str) else device
    if isinstance(place, dispatch.device):
        if place.type == "cpu":
            if allow_cpu:
                return -1
            raise ValueError(f"Expected a non cpu device, but got: {place}")
        if place.index is not None:
            return place.index
    if optional:
        kind = place.type if isinstance(place, dispatch.device) else "cpu"
        module: Any = getattr(sys.modules["torch"], kind, None)
        return int(module.current_device()) if hasattr(module, "current_device") else 0
    raise ValueError(
        f"Expected a torch.device with a specified index or an integer, but got: {device}"
    )


class autocast(_autocast):
    """`dispatch.autocast`, which asks the module of a program's own device for its dtypes.

    AssertionError: the device has no module with `get_amp_supported_dtype()`.
    """

    def __init__(
        self,
        device_type: str,
        dtype: Any = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        if device_type == _get_privateuse1_backend_name():
            module: Any = getattr(sys.modules["torch"], device_type, None)
            if not hasattr(module, "get_amp_supported_dtype"):
                raise AssertionError(
                    f"Tried to use AMP with the `{device_type}` backend, which has no module with "
                    "`get_amp_supported_dtype()`: torch._register_device_module"
                )
            super().__init__(device_type, dtype, enabled, cache_enabled)
            if self._enabled and self.fast_dtype not in module.get_amp_supported_dtype():
                warnings.warn(
                    f"In {device_type} autocast, but the target dtype is not supported: "
                    f"{self.fast_dtype}. Disabling autocast",
                    stacklevel=2,
                )
                self._enabled = False
            return
        super().__init__(device_type, dtype, enabled, cache_enabled)


def get_device_module(device: Any = None) -> Any:
    """The module that was registered for a device. RuntimeError where there is none."""
    kind = dispatch.device("cpu" if device is None else device).type
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


# ---- a backend in Python: `torch._C._acc`


class PrivateUse1Hooks:
    """What a backend says of itself, for programs that ask; nobody here does."""

    def is_available(self) -> bool:
        return False

    def is_built(self) -> bool:
        return False

    def has_primary_context(self, device_index: int) -> bool:
        return False


class DeviceGuard:
    """Changes the current device of a backend; here a device has no state to change."""

    def type_(self) -> Any:
        raise NotImplementedError("DeviceGuard.type_: the backend's own guard says the type")


class _Module:
    """Stands for a backend's module where none is given: one device, which is there."""

    def is_initialized(self) -> bool:
        return True

    def is_available(self) -> bool:
        return True

    def current_device(self) -> int:
        return 0

    def device_count(self) -> int:
        return 1

    def _is_in_bad_fork(self) -> bool:
        return False

    def manual_seed_all(self, seed: int) -> None:
        pass


_registered: dict[type, Any] = {}


def _register(kind: type, value: Any) -> None:
    if not isinstance(value, kind):
        raise TypeError(f"expected a {kind.__name__}, got {type(value).__name__}")
    if kind in _registered:
        raise RuntimeError(f"a {kind.__name__} is registered already: {_registered[kind]!r}")
    _registered[kind] = value


def register_python_privateuseone_hook(hook: PrivateUse1Hooks) -> None:
    """Keep what a backend says of itself; RuntimeError for a second one."""
    _register(PrivateUse1Hooks, hook)


def register_python_privateuseone_device_guard(guard: DeviceGuard) -> None:
    """Keep a backend's guard; RuntimeError for a second one."""
    _register(DeviceGuard, guard)


def create_empty_tensor(size: Any, dtype: dispatch.dtype) -> Tensor:
    """A contiguous tensor of the backend's device 0 that holds no bytes: its kernels know them."""
    sizes = list(dispatch.Size(size))
    strides = list(dispatch.empty(sizes, device="meta").stride())
    place = f"{_get_privateuse1_backend_name()}:0"
    storage = _new_storage(dispatch.Size(sizes).numel() * dtype.itemsize, place)
    return _new_strided(storage, dtype, sizes, strides, 0)


def _setup_privateuseone_for_python_backend(
    rename: str | None = None,
    backend_module: Any = None,
    hook: PrivateUse1Hooks | None = None,
    device_guard: DeviceGuard | None = None,
) -> None:
    """Make the device `privateuseone` a backend whose kernels are Python functions.

    Args:
        rename: what the device is called from now on.
        backend_module: `torch.NAME`.
        hook, device_guard: kept for those who ask.

    Raises:
        RuntimeError: there is such a backend already.
    """
    if rename is not None:
        rename_privateuse1_backend(rename)
    generate_methods_for_privateuse1_backend()
    register_device_module(
        _get_privateuse1_backend_name(), _Module() if backend_module is None else backend_module
    )
    register_python_privateuseone_hook(PrivateUse1Hooks() if hook is None else hook)
    register_python_privateuseone_device_guard(
        DeviceGuard() if device_guard is None else device_guard
    )
