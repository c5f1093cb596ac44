"""TorchScript's questions about tensors, and arithmetic of sizes."""

from __future__ import annotations

from collections.abc import Sequence

from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch.kernels.meta import rules

__all__ = [
    "Size",
    "broadcast_shapes",
    "element_size",
    "is_cpu",
    "is_cuda",
    "is_meta",
    "len_Tensor",
    "nbytes",
    "requires_grad",
    "size_if_not_equal",
]

Ints = Sequence[int]


def Size(sizes: Ints) -> list[int]:
    """The sizes."""
    return list(sizes)


def broadcast_shapes(a: Ints, b: Ints) -> list[int]:
    """What both are broadcast to."""
    return list(rules.broadcast_shapes(a, b))


def size_if_not_equal(self_size: Ints, other_size: Ints) -> list[int] | None:
    """The first, unless they are the same."""
    return None if list(self_size) == list(other_size) else list(self_size)


def element_size(self: Tensor) -> int:
    """Bytes of an element."""
    return self.element_size()


def nbytes(a: Tensor) -> int:
    """Bytes of all elements."""
    return a.numel() * a.element_size()


def len_Tensor(t: Tensor) -> int:
    """The first size."""
    if not t.ndim:
        raise refused("a tensor without dimensions has no length")
    return t.size(0)


def is_cpu(a: Tensor) -> bool:
    """Whether it is on the CPU."""
    return a.device.type == "cpu"


def is_cuda(a: Tensor) -> bool:
    """Whether it is on cuda."""
    return a.device.type == "cuda"


def is_meta(a: Tensor) -> bool:
    """Whether it is on meta."""
    return a.device.type == "meta"


def requires_grad(a: Tensor) -> bool:
    """Whether gradients are wanted."""
    return bool(a.requires_grad)
