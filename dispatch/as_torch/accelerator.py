"""`torch.accelerator`: which accelerator a machine has. None: other devices need kernels first.

A program asks first, and goes on with the CPU. What would act on one raises RuntimeError.
"""

from typing import Any, NoReturn

__all__ = [
    "current_accelerator",
    "current_device_idx",
    "current_device_index",
    "current_stream",
    "device_count",
    "is_available",
    "set_device_idx",
    "set_device_index",
    "set_stream",
    "synchronize",
]


def current_accelerator(check_available: bool = False) -> None:
    """None."""


def is_available() -> bool:
    """False."""
    return False


def device_count() -> int:
    """0."""
    return 0


def _absent(*args: Any, **kwargs: Any) -> NoReturn:
    """RuntimeError: there is no accelerator."""
    raise RuntimeError("Cannot access accelerator device when none is available.")


current_device_index = current_device_idx = set_device_index = set_device_idx = _absent
current_stream = set_stream = synchronize = _absent
