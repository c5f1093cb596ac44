"""Covariance and correlation of variables (rows) over observations (columns), with operators.

Called for the composite operators. Observations may be counted several times (`fweights`) and
weigh more or less (`aweights`).
"""

from __future__ import annotations

from typing import Any

from dispatch._C import dtypes
from dispatch._C.advice import advise
from dispatch._C.errors import refused, scalar_type
from dispatch._C.generated.dtype_sets import INTEGRAL
from dispatch._C.tensor import Tensor
from dispatch._ops import ops

__all__ = ["corrcoef", "cov", "holds"]

_aten = ops.aten


def holds(truth: Tensor) -> bool:
    """Whether a bool without dimensions is true."""
    kind: dict[str, Any] = {"dtype": truth.dtype, "layout": truth.layout, "device": truth.device}
    return bool(_aten.equal(truth, _aten.new_ones(truth, [], **kind)))


def _check_weights(name: str, weights: Tensor, observations: int, integral: bool) -> None:
    kind = weights.dtype
    fits = kind in INTEGRAL if integral else kind.is_floating_point
    if weights.ndim > 1:
        raise refused(
            f"cov(): expected {name} to have one or fewer dimensions but got {name} with "
            f"{weights.ndim} dimensions"
        )
    if not fits:
        wanted = "integral" if integral else "floating point"
        raise refused(
            f"cov(): expected {name} to have {wanted} dtype but got {name} with "
            f"{scalar_type(kind)} dtype"
        )
    if weights.numel() != observations:
        raise refused(
            f"cov(): expected {name} to have the same numel as there are observations in the "
            f"input but got {weights.numel()} != {observations}"
        )
    if observations and not holds(_aten.ge.Scalar(_aten.min(weights), 0)):
        raise refused(f"cov(): {name} cannot be negative")


def _weights(fweights: Tensor | None, aweights: Tensor | None, observations: int) -> Tensor | None:
    if fweights is not None:
        _check_weights("fweights", fweights, observations, True)
    if aweights is not None:
        _check_weights("aweights", aweights, observations, False)
    if fweights is None or aweights is None:
        return aweights if fweights is None else fweights
    return _aten.mul.Tensor(fweights, aweights)


def cov(
    self: Tensor,
    *,
    correction: int = 1,
    fweights: Tensor | None = None,
    aweights: Tensor | None = None,
) -> Tensor:
    """The covariance matrix of the rows; a vector is one variable."""
    if self.ndim > 2:
        raise refused(
            "cov(): expected input to have two or fewer dimensions but got an input with "
            f"{self.ndim} dimensions"
        )
    if self.dtype is dtypes.bool:
        raise refused("self of dtype bool is not supported")
    data = _aten.view(self, [1, -1]) if self.ndim < 2 else self
    weights = _weights(fweights, aweights, data.shape[1])
    kind: dict[str, Any] = {"dtype": dtypes.int64, "layout": data.layout, "device": data.device}
    if weights is None:
        total = _aten.scalar_tensor(data.shape[1], **kind)
        mean = _aten.div.Tensor(_aten.sum.dim_IntList(data, [1]), total)
        freedom = _aten.scalar_tensor(data.shape[1] - correction, **kind)
    else:
        total = _aten.sum(weights)
        if not holds(_aten.ne.Scalar(total, 0)):
            raise refused("cov(): weights sum to zero, can't be normalized")
        weighed = _aten.mul.Tensor(data, weights)
        mean = _aten.div.Tensor(_aten.sum.dim_IntList(weighed, [1]), total)
        freedom = _freedom(total, weights, aweights, correction)
    if holds(_aten.le.Scalar(freedom, 0)):
        advise("cov(): degrees of freedom is <= 0")
        freedom = _aten.zero_(freedom)
    data = _aten.sub.Tensor(data, _aten.unsqueeze(mean, 1))
    other = data if weights is None else _aten.mul.Tensor(data, weights)
    product = _aten.mm(data, _aten.conj(_aten.t(other)))
    return _aten.squeeze(_aten.div.Tensor(product, freedom))


def _freedom(total: Tensor, weights: Tensor, aweights: Tensor | None, correction: int) -> Tensor:
    if correction == 0:
        return total
    if aweights is None:
        return _aten.sub.Scalar(total, correction)
    squares = _aten.mul.Scalar(_aten.sum(_aten.mul.Tensor(weights, aweights)), correction)
    return _aten.sub.Tensor(total, _aten.div.Tensor(squares, total))


def corrcoef(self: Tensor) -> Tensor:
    """The covariance matrix with each variable scaled to variance 1."""
    if self.ndim > 2:
        raise refused(
            "corrcoef(): expected input to have two or fewer dimensions but got an input with "
            f"{self.ndim} dimensions"
        )
    found = cov(self)
    if found.ndim == 0:
        return _aten.div.Tensor(found, found)
    variance = _aten.diagonal(found)
    deviation = _aten.sqrt(_aten.real(variance) if found.dtype.is_complex else variance)
    found = _aten.div.Tensor(found, _aten.view(deviation, [-1, 1]))
    found = _aten.div.Tensor(found, _aten.view(deviation, [1, -1]))
    if not found.dtype.is_complex:
        return _aten.clamp(found, -1, 1)
    imaginary = _aten.clamp(_aten.imag(found), -1, 1)
    return _aten.complex(_aten.clamp(_aten.real(found), -1, 1), imaginary)
