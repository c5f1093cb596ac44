"""What stands for writes by index on a backend that has no kernel of its own for them.

The kernels for every backend (`elsewhere` in the YAML) call these for tensors that are not on the
CPU. Source of the semantics: PyTorch's CompositeExplicitAutograd kernels of the same names.
"""

from __future__ import annotations

from typing import Any

from dispatch._ops import ops

__all__ = ["_index_put_impl_", "index_put_"]

_aten = ops.aten


def index_put_(self: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    """The kernel that every backend has for it: `_index_put_impl_`."""
    return _aten._index_put_impl_(self, indices, values, accumulate, False)


def _index_put_impl_(
    self: Any, indices: Any, values: Any, accumulate: bool = False, unsafe: bool = False
) -> Any:
    """`index_put_` where a structured kernel serves it: on the CPU and on meta."""
    return _aten.index_put_(self, indices, values, accumulate)
