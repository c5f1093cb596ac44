# Reached by the other compiled modules only, but for what `dispatch.registry` writes.
from collections.abc import Callable
from typing import Any

from dispatch._C.tensor import Tensor

_torch_dispatch_rules: dict[str, dict[type, Callable[..., Any]]]

def _seen_detach(t: Tensor) -> Tensor: ...
