"""`torch._refs.linalg`: the functions of `torch.linalg`."""

from typing import Any

from dispatch import linalg as _there


def __getattr__(name: str) -> Any:
    return getattr(_there, name)
