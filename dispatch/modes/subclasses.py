"""Wrapper subclasses: taking them apart and putting them together (torch.utils._python_dispatch).

Fake tensors ask these questions of every tensor that is converted; nothing here dispatches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeGuard, runtime_checkable

from dispatch._C.tensor import Tensor

__all__ = [
    "TraceableWrapperSubclass",
    "is_traceable_wrapper_subclass",
    "is_traceable_wrapper_subclass_type",
    "transform_subclass",
]


@runtime_checkable
class TraceableWrapperSubclass(Protocol):
    """A tensor subclass that can be taken apart into inner tensors and put together again."""

    def __tensor_flatten__(self) -> tuple[Sequence[str], object]:
        """Names of the attributes that hold tensors, and whatever else makes the instance."""
        ...

    @staticmethod
    def __tensor_unflatten__(
        inner_tensors: dict[str, Tensor], flatten_spec: Any, outer_size: Any, outer_stride: Any
    ) -> Any:
        """The instance of these parts."""
        ...


def _can_be_taken_apart(t: object) -> bool:
    return hasattr(t, "__tensor_flatten__") and hasattr(t, "__tensor_unflatten__")


def is_traceable_wrapper_subclass(t: object) -> TypeGuard[TraceableWrapperSubclass]:
    """Whether `t` is an instance of a Tensor subclass with both methods of the protocol."""
    return isinstance(t, Tensor) and _can_be_taken_apart(t)


def is_traceable_wrapper_subclass_type(t: type) -> TypeGuard[type[TraceableWrapperSubclass]]:
    """The same of a class. TypeError when `t` is none."""
    return issubclass(t, Tensor) and _can_be_taken_apart(t)


def transform_subclass(
    t: Any,
    callback: Callable[[str, Tensor], Tensor],
    outer_size: Any = None,
    outer_stride: Any = None,
) -> Any:
    """`t` put together again of what `callback(name, inner tensor)` gives for each part.

    AssertionError when the new instance does not have the size and stride that were asked for
    (those of `t` when they are None).
    """
    size = t.size() if outer_size is None else outer_size
    stride = t.stride() if outer_stride is None else outer_stride
    names, context = t.__tensor_flatten__()
    parts = {name: callback(name, getattr(t, name)) for name in names}
    made = type(t).__tensor_unflatten__(parts, context, size, stride)
    for what, wanted, found in (("size", size, made.shape), ("stride", stride, made.stride())):
        if found != wanted:
            raise AssertionError(
                f"{type(t).__name__}.__tensor_unflatten__: expected {what} {wanted}, got {found}"
            )
    return made
