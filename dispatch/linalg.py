"""Linear algebra under PyTorch's names: `dispatch.linalg.inv` is the operator `linalg_inv`."""

from typing import Any

from dispatch._C.errors import LinAlgError
from dispatch._ops import ops

__all__ = ["LinAlgError"]


def __getattr__(name: str) -> Any:
    """The operator `linalg_NAME`, found when it is first asked for."""
    try:
        found = globals()[name] = getattr(ops.aten, f"linalg_{name}")
    except AttributeError:
        raise AttributeError(f"module 'dispatch.linalg' has no attribute {name!r}") from None
    return found
