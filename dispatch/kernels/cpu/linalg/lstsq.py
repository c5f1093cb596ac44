"""Least squares on the CPU: LAPACK's four drivers, and what PyTorch makes of their results.

LAPACK leaves the solution in the first rows of the right side, and in the others, if the system has
more rows than unknowns and full rank, what the sum of squared residuals is made of.
"""

from __future__ import annotations

import math

import numpy as np

from dispatch._C import dtypes
from dispatch._C.dtypes import can_cast
from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.cpu.arrays import Array, store, view
from dispatch.kernels.cpu.linalg import least_squares
from dispatch.kernels.meta import rules
from dispatch.kernels.meta.linalg.checks import is_vector_rhs
from dispatch.kernels.meta.outputs import resize_out

__all__ = ["lstsq_out"]

_aten = ops.aten
_DRIVERS = ("gels", "gelsy", "gelsd", "gelss")
_KINDS = (dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128)
_Four = tuple[Tensor, Tensor, Tensor, Tensor]
_Ints = tuple[int, ...]


def _blocks(t: Tensor, shape: _Ints) -> Array:
    """A copy expanded to `shape`: (batch, columns, rows), contiguous."""
    array = view(t)
    if array.shape != shape:
        array = np.broadcast_to(array, shape)
    columns = array.swapaxes(-1, -2)
    return np.array(columns, order="C").reshape(math.prod(shape[:-2]), *columns.shape[-2:])


def _check(self: Tensor, b: Tensor, driver: str) -> None:
    if self.ndim < 2:
        raise refused(f"input must have at least 2 dimensions, got {list(self.shape)}")
    if b.ndim < 1:
        raise refused("other must have at least 1 dimension, got none")
    if not 0 <= self.ndim - b.ndim <= 1:
        raise refused(
            "expected b of as many dimensions as self, or one less, got "
            f"{list(self.shape)} and {list(b.shape)}"
        )
    if self.dtype is not b.dtype:
        raise refused(
            "Expected input and other to have the same dtype, but got input's dtype "
            f"{self.dtype} and other's dtype {b.dtype}"
        )
    row = -1 if is_vector_rhs(self, b) else -2
    if self.shape[-2] != b.shape[row]:
        raise refused(
            f"input.size(-2) should match other.size({row}), {list(self.shape)} and {list(b.shape)}"
        )
    if driver not in _DRIVERS:
        raise refused(
            f"parameter `driver` should be one of ({', '.join(_DRIVERS)}), got {driver!r}"
        )


def _take(out: Tensor, result: Tensor) -> None:
    """`result` as it is, if `out` has nothing to keep, else a copy."""
    if out.numel() == 0 and out.dtype is result.dtype:
        _aten.set_.source_Tensor(out, result)
        return
    _aten.copy_(resize_out(out, result.shape), result)


def _filled(like: Tensor, values: Array, kind: dtypes.dtype) -> Tensor:
    out = _aten.new_empty(like, list(values.shape), dtype=kind)
    store(out, values)
    return out


def _residuals(x: Array, rows: int, ranks: Array | None) -> Array | None:
    """Sums of squares; none where a matrix may not have full rank."""
    unknowns = x.shape[-1] - rows
    if rows <= 0 or (ranks is not None and (ranks != unknowns).any()):
        return None
    rest = x[..., unknowns:]
    squares: Array = (rest * rest.conj()).real.sum(-1)
    return squares


def lstsq_out(
    self: Tensor,
    b: Tensor,
    rcond: float | None = None,
    *,
    driver: str | None = None,
    solution: Tensor,
    residuals: Tensor,
    rank: Tensor,
    singular_values: Tensor,
) -> _Four:
    """Solutions of the smallest residuals, and of the smallest norm if there are several."""
    name = "gelsy" if driver is None else driver
    _check(self, b, name)
    real = self.dtype.to_real()
    outs = (solution, residuals, rank, singular_values)
    for out, kind in zip(outs, (self.dtype, real, dtypes.int64, real), strict=True):
        if not can_cast(kind, out.dtype):
            raise refused(f"a result of {kind} cannot be cast to {out.dtype}")
    if self.dtype not in _KINDS:
        raise refused(f"expected self to be one of {list(_KINDS)}, got {self.dtype}")
    m, n = self.shape[-2:]
    if rcond is None:
        rcond = float(np.finfo(view(self).dtype).eps) * max(m, n)
    vector = is_vector_rhs(self, b)
    if vector:
        b = _aten.unsqueeze(b, -1)
    batch = rules.broadcast_shapes(b.shape[:-2], self.shape[:-2])
    rows, count, most = b.shape[-2], b.shape[-1], max(m, n)
    made = _aten.transpose.int(_aten.new_empty(self, [*batch, count, most]), -2, -1)
    a = _blocks(self, (*batch, m, n))
    x = np.zeros((a.shape[0], count, most), a.dtype)
    x[:, :, :m] = _blocks(b, (*batch, rows, count))
    ranks, numbers = np.zeros(a.shape[0], np.int32), np.zeros(a.shape[0], np.int32)
    values = np.zeros((a.shape[0], min(m, n)), a.real.dtype)
    if a.size and x.size:
        least_squares.solve(name, a, x, values, ranks, rcond, numbers)
    else:
        x[...] = 0
    store(made, x.reshape(*batch, count, most).swapaxes(-1, -2))
    result = _aten.narrow(made, -2, 0, n)
    _take(solution, _aten.squeeze.dim(result, -1) if vector else result)
    for out in outs[1:]:
        resize_out(out, [0])
    if name != "gelsy" and a.size:
        squares = _residuals(x, m - n, ranks if name in ("gelss", "gelsd") else None)
        if squares is not None:
            _take(residuals, _filled(self, squares.reshape(*batch, count), real))
    if name != "gels":
        _take(rank, _filled(self, ranks.reshape(batch), dtypes.int64))
    if name in ("gelss", "gelsd"):
        _take(singular_values, _filled(self, values.reshape(*batch, min(m, n)), real))
    if numbers.any():
        info = _aten.new_empty(self, [len(numbers)], dtype=dtypes.int32)
        store(info, numbers)
        _aten._linalg_check_errors(info, "torch.linalg.lstsq", is_matrix=info.numel() <= 1)
    return outs
