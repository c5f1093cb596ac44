"""What stands for mv and grouped products on a backend that has no kernel of its own for them.

The kernels for every backend (`elsewhere` in the YAML) call these for tensors that are not on the
CPU. Source of the semantics: PyTorch's CompositeExplicitAutograd kernels of the same names.
"""

from __future__ import annotations

from typing import Any

from dispatch._ops import ops

__all__ = ["grouped_mm", "mv"]

_aten = ops.aten


def mv(self: Any, vec: Any) -> Any:
    """`addmv` onto nothing."""
    nothing = _aten.new_empty(vec, [self.shape[0]])
    return _aten.addmv(nothing, self, vec, beta=0)


def grouped_mm(
    self: Any, mat2: Any, offs: Any = None, bias: Any = None, out_dtype: Any = None
) -> Any:
    """One `mm` for each group; a flat operand's groups end where `offs` says."""
    if offs is None:
        return _aten.bmm(self, mat2)
    ends = offs.tolist()
    flat = self.dim() == 2, mat2.dim() == 2
    rows, columns = self.shape[-2], mat2.shape[-1]
    sizes = [len(ends), rows, columns] if all(flat) else [rows, columns]
    out = _aten.new_zeros(self, sizes, dtype=out_dtype)
    for group, (start, end) in enumerate(zip([0, *ends[:-1]], ends, strict=True)):
        length = end - start
        if all(flat):
            place = _aten.select(out, 0, group)
            left, right = (
                _aten.narrow(self, 1, start, length),
                _aten.narrow(mat2, 0, start, length),
            )
        elif flat[0]:
            place = _aten.narrow(out, 0, start, length)
            left, right = _aten.narrow(self, 0, start, length), _aten.select(mat2, 0, group)
        else:
            place = _aten.narrow(out, 1, start, length)
            left, right = _aten.select(self, 0, group), _aten.narrow(mat2, 1, start, length)
        _aten.copy_(place, _aten.mm(left, right))
    return out
