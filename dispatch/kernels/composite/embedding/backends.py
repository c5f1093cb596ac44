"""What stands for look-ups in tables on a backend that has no kernel of its own for them.

The kernel for every backend (`elsewhere` in the YAML) calls this for tensors that are not on the
CPU. Source of the semantics: PyTorch's CompositeExplicitAutograd kernel of the same name.
"""

from __future__ import annotations

from typing import Any

from dispatch._ops import ops

__all__ = ["embedding"]

_aten = ops.aten


def embedding(
    weight: Any,
    indices: Any,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Any:
    """The rows of `weight` that `indices` name."""
    if indices.dim() == 1:
        return _aten.index_select(weight, 0, indices)
    rows = _aten.index_select(weight, 0, _aten.reshape(indices, [-1]))
    return _aten.view(rows, [*indices.shape, *weight.shape[1:]])
