"""What stands for mv on a backend that has no kernel of its own for them.

The kernels for every backend (`elsewhere` in the YAML) call these for tensors that are not on the
CPU. Source of the semantics: PyTorch's CompositeExplicitAutograd kernels of the same names.
"""

from __future__ import annotations

from typing import Any

from dispatch._ops import ops

__all__ = ["mv"]

_aten = ops.aten


def mv(self: Any, vec: Any) -> Any:
    """`addmv` onto nothing."""
    nothing = _aten.new_empty(vec, [self.shape[0]])
    return _aten.addmv(nothing, self, vec, beta=0)
