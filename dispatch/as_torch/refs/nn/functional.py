"""`torch._refs.nn.functional`: the functions of `torch.nn.functional`."""

from typing import Any

from dispatch.as_torch.nn import functional as _there


def __getattr__(name: str) -> Any:
    return getattr(_there, name)
