"""`torch._refs.special`: the functions of `torch.special`."""

from typing import Any

from dispatch import special as _there


def __getattr__(name: str) -> Any:
    return getattr(_there, name)
