"""Meta kernels of steps of optimisers: in place there is nothing to say of sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dispatch._C.tensor import Tensor
from dispatch._ops import ops

__all__ = ["empty_copies", "nothing"]


def nothing(*lists: Sequence[Tensor], **options: Any) -> None:
    """Writes values only."""


def empty_copies(*lists: Sequence[Tensor], **options: Any) -> tuple[list[Tensor], ...]:
    """Of all lists but the steps."""
    return tuple([ops.aten.empty_like(t) for t in tensors] for tensors in lists[:-1])
