"""What stands for clone on a backend that has no kernel of its own for them.

The kernels for every backend (`elsewhere` in the YAML) call these for tensors that are not on the
CPU. Source of the semantics: PyTorch's CompositeExplicitAutograd kernels of the same names.
"""

from __future__ import annotations

from typing import Any

from dispatch._ops import ops

__all__ = ["clone"]

_aten = ops.aten


def clone(self: Any, *, memory_format: Any = None) -> Any:
    """A copy in memory like that of self; or as asked."""
    return _aten.copy_(_aten.empty_like(self, memory_format=memory_format), self)
