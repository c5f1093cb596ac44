"""`torch._refs.fft`: the functions of `torch.fft`."""

from typing import Any

from dispatch import fft as _there


def __getattr__(name: str) -> Any:
    return getattr(_there, name)
