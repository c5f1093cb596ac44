"""Matrix products on the CPU over numpy's BLAS: those that are not small.

Called by the bodies in `matmul` with an output of the right size and dtype. Where it can, BLAS
writes the output itself. 16- and 8-bit floats are multiplied in float32 and rounded once; integers
wrap. With beta 0, self is not read, so that its NaN does not reach the result.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dispatch._C.dtypes import (
    bool as bool_,
    float8_e8m0fnu,
)
from dispatch._C.errors import refused
from dispatch._C.generated.dtype_sets import FLOAT8, FLOATING_AND_COMPLEX, INTEGRAL
from dispatch._C.tensor import Tensor
from dispatch.kernels.cpu.arrays import (
    Array,
    check_dtype,
    compute,
    quiet,
    store,
    view,
)
from dispatch.kernels.cpu.matrix.gemm import matmul

__all__ = ["addmm", "addmv", "baddbmm", "bmm", "dot", "grouped_mm", "mm", "mv"]

_Number = bool | int | float | complex

_KINDS = INTEGRAL | FLOATING_AND_COMPLEX
_MANY = 1024  # elements from which it pays to multiply integers as float64
_EXACT = 1 << 53
_ADDMM_KINDS = _KINDS | FLOAT8 - {float8_e8m0fnu}


def _values(tensor: Tensor) -> Array:
    """What to compute with; these operators get lazily conjugated tensors as they are."""
    values = compute(tensor)
    return values.conj() if tensor.is_conj() else values


def _matrices(tensor: Tensor) -> Array:
    """Matrices that BLAS takes as they are: rows or columns without gaps between elements."""
    values = _values(tensor)
    item = values.itemsize
    if values.ndim > 1 and item not in values.strides[-2:]:
        return np.ascontiguousarray(values)
    return values


def _scalar(number: Any, kind: np.dtype) -> Array:
    """A factor in the dtype of computation; that of integers is cut to an integer.

    A negative one is taken modulo the range of unsigned ones, so that -1 subtracts.
    """
    if kind.kind != "c" and isinstance(number, complex):
        if number.imag:
            raise refused(f"beta or alpha {number} cannot be converted to {kind}")
        number = number.real
    if kind.kind in "iu":
        limits = np.iinfo(kind)
        lowest = limits.min if kind.kind == "i" else -limits.max
        if not lowest <= number <= limits.max:
            raise refused(f"beta or alpha {number} cannot be converted to {kind}")
        number = int(number)
    elif kind.kind == "f" and np.finfo(kind).max < abs(number) < math.inf:
        raise refused(f"beta or alpha {number} cannot be converted to {kind}")
    return np.asarray(number).astype(kind)


def _by_float64(left: Array, right: Array) -> Array | None:
    """The product of integers by BLAS, which is exact while sums are below 2**53; None: not sure.

    numpy has no BLAS for integers, and multiplies them one by one.
    """
    if left.dtype.kind not in "iu" or left.ndim < 2 or right.ndim < 2 or left.size < _MANY:
        return None
    most = [max(abs(int(values.min())), abs(int(values.max()))) for values in (left, right)]
    if most[0] * most[1] * left.shape[-1] >= _EXACT:
        return None
    product = matmul(left.astype(np.float64), right.astype(np.float64))
    return product.astype(np.int64)


def _product(out: Tensor, left: Array, right: Array) -> None:
    """left @ right into the output, which may be one of them."""
    whole = _by_float64(left, right)
    _store(out, matmul(left, right) if whole is None else whole)


def _store(out: Tensor, values: Array) -> None:
    store(out, values.conj() if out.is_conj() else values)


def _scaled_sum(
    out: Tensor, self: Tensor, left: Array, right: Array, beta: _Number, alpha: _Number
) -> None:
    """beta * self + alpha * (left @ right), rounded once."""
    kind = left.dtype
    factor = _scalar(beta, kind)
    whole = _by_float64(left, right)
    total = matmul(left, right) if whole is None else whole.astype(kind, copy=False)
    if alpha != 1:
        total = np.multiply(total, _scalar(alpha, kind), out=total)
    if factor:
        term = _values(self)
        total = np.add(total, term if beta == 1 else term * factor, out=total)
    _store(out, total)


def _scaled_self(out: Tensor, self: Tensor, beta: _Number) -> None:
    """What is left of a sum whose product has no terms."""
    if beta == 0:
        store(out, 0)
    else:
        values = _values(self)
        _store(out, values * _scalar(beta, values.dtype))


def _check_factor(self: Tensor, beta: _Number) -> None:
    """An empty product leaves self * beta, which must fit in self's dtype."""
    if not (self.dtype.is_floating_point or self.dtype.is_complex):
        fits = isinstance(beta, int) and (self.dtype is not bool_ or isinstance(beta, bool))
        if not fits and beta != 0:
            raise refused(f"{self.dtype} scaled by {beta!r} does not fit in self")


def addmm(
    out: Tensor, self: Tensor, mat1: Tensor, mat2: Tensor, beta: _Number, alpha: _Number
) -> None:
    """beta * self + alpha * (mat1 @ mat2)."""
    if out.numel() == 0:
        return
    with quiet():
        if mat1.numel() == 0:
            _check_factor(self, beta)
            _scaled_self(out, self, beta)
            return
        check_dtype(out.dtype, _ADDMM_KINDS)
        if alpha == 0:
            _scaled_self(out, self, beta)
            return
        _scaled_sum(out, self, _matrices(mat1), _matrices(mat2), beta, alpha)


def mm(out: Tensor, self: Tensor, mat2: Tensor) -> None:
    """The product of two matrices."""
    bmm(out, self, mat2)


def bmm(out: Tensor, self: Tensor, mat2: Tensor) -> None:
    """Products of the matrices of two batches."""
    if out.numel() == 0:
        return
    if self.numel() == 0:  # of any dtype: nothing is multiplied
        store(out, 0)
        return
    check_dtype(out.dtype, _KINDS)
    with quiet():
        _product(out, _matrices(self), _matrices(mat2))


def baddbmm(
    out: Tensor, self: Tensor, batch1: Tensor, batch2: Tensor, beta: _Number, alpha: _Number
) -> None:
    """beta * self + alpha * (batch1 @ batch2)."""
    if out.numel() == 0:
        return
    with quiet():
        if batch1.numel() == 0:
            _check_factor(self, beta)
            _scaled_self(out, self, beta)
            return
        check_dtype(out.dtype, _KINDS)
        _scaled_sum(out, self, _matrices(batch1), _matrices(batch2), beta, alpha)


def mv(out: Tensor, self: Tensor, vec: Tensor) -> None:
    """A matrix times a vector."""
    if out.numel() == 0:
        return
    if self.numel() == 0:
        store(out, 0)
        return
    check_dtype(out.dtype, _KINDS)
    with quiet():
        _product(out, _matrices(self), compute(vec))


def addmv(
    out: Tensor, self: Tensor, mat: Tensor, vec: Tensor, beta: _Number, alpha: _Number
) -> None:
    """beta * self + alpha * (mat @ vec)."""
    if out.numel() == 0:
        return
    with quiet():
        if mat.numel() == 0:
            _scaled_self(out, self, beta)
            return
        check_dtype(out.dtype, _KINDS)
        if alpha == 0:
            _scaled_self(out, self, beta)
            return
        _scaled_sum(out, self, _matrices(mat), compute(vec), beta, alpha)


def dot(out: Tensor, self: Tensor, tensor: Tensor) -> None:
    """The sum of the products of two vectors' elements."""
    check_dtype(out.dtype, _KINDS)
    with quiet():
        _store(out, np.dot(_values(self), _values(tensor)))


def grouped_mm(
    out: Tensor,
    self: Tensor,
    mat2: Tensor,
    offs: Tensor | None,
    bias: Tensor | None,
    out_dtype: object,
) -> None:
    """One product for each group; a flat operand's groups end where `offs` says.

    Groups are rows of self, columns of mat2, or, when both are flat, terms of the sum. What lies
    beyond the last group is 0.
    """
    left, right, target = compute(self), compute(mat2), view(out)
    if offs is None:
        store(out, matmul(left, right))
        return
    store(out, 0)
    start = 0
    for group, end in enumerate(view(offs).tolist()):
        part = slice(start, end)
        if left.ndim == 2 and right.ndim == 2:
            target[group] = left[:, part] @ right[part]
        elif left.ndim == 2:
            target[part] = left[part] @ right[group]
        else:
            target[:, part] = left[group] @ right[:, part]
        start = end
