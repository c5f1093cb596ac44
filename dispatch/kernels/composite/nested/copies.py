"""Nested tensors' views as copies, and their padded form: as far as plain tensors go."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dispatch._C.tensor import Tensor
from dispatch._ops import ops

_aten: Any = ops.aten


def _copy_of(name: str) -> Callable[..., Tensor]:
    def kernel(self: Tensor, *rest: Any) -> Tensor:
        return _aten.clone(getattr(_aten, name)(self, *rest))

    kernel.__name__ = kernel.__qualname__ = f"{name.lstrip('_')}_copy"
    return kernel


nested_get_values_copy = _copy_of("_nested_get_values")
nested_view_from_buffer_copy = _copy_of("_nested_view_from_buffer")
nested_view_from_jagged_copy = _copy_of("_nested_view_from_jagged")


def nested_to_padded_tensor(
    self: Tensor, padding: float, output_size: Sequence[int] | None = None
) -> Tensor:
    """Every part in a box of the same size."""
    return _aten.to_padded_tensor(self, padding, output_size)
