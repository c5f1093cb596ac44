"""Body of renorm: slices whose norm is too large are scaled down to it."""

from __future__ import annotations

from typing import Any

from dispatch._C.dtypes import bfloat16, float16, float32
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.cpu.arrays import quiet, store, view
from dispatch.kernels.meta import rules

__all__ = ["renorm"]

_aten = ops.aten


def renorm(out: Tensor, self: Tensor, p: Any, dim: int, maxnorm: Any) -> None:
    """self times min(1, maxnorm / norm) for each index along `dim`."""
    dim = rules.wrap_dim(dim, self.ndim)
    dims = [i for i in range(self.ndim) if i != dim]
    wide = float32 if self.dtype in (float16, bfloat16) else None
    norms = _aten.linalg_vector_norm(self, float(p), dims, True, dtype=wide)
    values = view(norms)
    with quiet():
        factors = values.dtype.type(maxnorm) / (values + values.dtype.type(1e-7))
    factors[~(values > maxnorm)] = 1
    scale = _aten.empty(list(norms.shape), dtype=self.dtype)
    store(scale, factors)
    _aten.mul.out(self, scale, out=out)
