"""`torch._refs`: PyTorch's operators as written in Python there. Here each is the operator itself.

A name is that of a function of `torch`, or of a method of tensors. Tables of those who take
operators apart do not hold them: what is called is what would be taken apart.
"""

from collections.abc import Callable
from typing import Any

import dispatch
from dispatch.as_torch.refs import fft, linalg, special
from dispatch.as_torch.refs.nn import functional

__all__ = ["fft", "functional", "linalg", "special"]


def __getattr__(name: str) -> Callable[..., Any]:
    for place in (dispatch, dispatch.Tensor):
        found = getattr(place, name, None)
        if callable(found) and not name.startswith("__"):
            function: Callable[..., Any] = found
            return function
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
