"""`torch._prims`: the operators of the namespace `prims`, each as the overload that it has."""

from collections.abc import Sequence
from typing import Any

from dispatch import OpOverload, Tensor, empty_like, ops, preserve_format
from dispatch.kernels.meta.rules import wrap_dim

__all__ = ["_clone_meta", "expand_dims"]

_RENAMED = {"view_element_type": "view_of_dtype", "_uniform_helper": "uniform"}


def __getattr__(name: str) -> OpOverload:
    packet = None if name.startswith("__") else getattr(ops.prims, _RENAMED.get(name, name), None)
    if packet is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: OpOverload = packet.default
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(ops.prims), *_RENAMED})


def expand_dims(a: Tensor, dimensions: Sequence[int], ndim: int | None = None) -> Any:
    """A view of `a` with dimensions of size 1 at these places of the result.

    ValueError: one place is named twice.
    """
    ndim = a.ndim + len(dimensions) if ndim is None else ndim
    places = sorted(wrap_dim(dim, ndim) for dim in dimensions)
    if len(set(places)) != len(places):
        raise ValueError(f"expand_dims: expected different dimensions, got {list(dimensions)}")
    kept = [dim for dim in range(ndim) if dim not in places]
    sizes = [1] * ndim
    for dim, size in zip(kept, a.shape, strict=True):
        sizes[dim] = size
    return ops.prims.broadcast_in_dim.default(a, sizes, kept)


def _clone_meta(input: Tensor, *, memory_format: Any = preserve_format) -> Any:
    """What a copy is like, without its values."""
    return empty_like(input, memory_format=memory_format)
