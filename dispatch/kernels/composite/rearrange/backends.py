"""What stands for padding and repetition on a backend that has no kernel of its own for them.

The kernels for every backend (`elsewhere` in the YAML) call these for tensors that are not on the
CPU. Source of the semantics: PyTorch's CompositeExplicitAutograd kernels of the same names.
"""

from __future__ import annotations

from typing import Any

from dispatch._C.dtypes import contiguous_format
from dispatch._ops import ops

__all__ = ["constant_pad_nd", "repeat"]

_aten = ops.aten


def constant_pad_nd(self: Any, pad: list[int], value: Any = 0) -> Any:
    """A tensor of `value` with self in it; negative pads cut self."""
    ndim, n = self.dim(), len(pad) // 2
    shape, inner = list(self.shape), self
    for i in range(n):
        dim, before, after = ndim - 1 - i, pad[2 * i], pad[2 * i + 1]
        shape[dim] += before + after
        inner = _aten.narrow(inner, dim, max(-before, 0), inner.shape[dim] - max(-before, 0))
        inner = _aten.narrow(inner, dim, 0, inner.shape[dim] - max(-after, 0))
    out = _aten.new_full(self, shape, value)
    place = out
    for i in range(n):
        dim, before, after = ndim - 1 - i, max(pad[2 * i], 0), max(pad[2 * i + 1], 0)
        place = _aten.narrow(place, dim, before, place.shape[dim] - before - after)
    _aten.copy_(place, inner)
    return out


def repeat(self: Any, repeats: list[int]) -> Any:
    """Views of self, expanded between its dimensions, in one copy."""
    new = len(repeats) - self.dim()
    shape = [1] * new + list(self.shape)
    spread = [n for pair in zip(repeats, shape, strict=True) for n in pair]
    apart = [n for size in shape for n in (1, size)]
    wide = _aten.expand(_aten.view(_aten.contiguous(self), apart), spread)
    out = [n * size for n, size in zip(repeats, shape, strict=True)]
    return _aten.view(_aten.clone(wide, memory_format=contiguous_format), out)
