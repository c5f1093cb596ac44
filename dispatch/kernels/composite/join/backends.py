"""What stands for stack on a backend that has no kernel of its own for them.

The kernels for every backend (`elsewhere` in the YAML) call these for tensors that are not on the
CPU. Source of the semantics: PyTorch's CompositeExplicitAutograd kernels of the same names.
"""

from __future__ import annotations

from typing import Any

from dispatch._ops import ops

__all__ = ["stack"]

_aten = ops.aten


def stack(tensors: Any, dim: int = 0) -> Any:
    """`cat` of the tensors with a dimension more."""
    place = dim + tensors[0].dim() + 1 if dim < 0 else dim
    return _aten.cat([_aten.unsqueeze(t, place) for t in tensors], place)
