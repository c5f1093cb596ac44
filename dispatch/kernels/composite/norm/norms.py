"""Normalisation operators in terms of their native ones.

Called for the composite operators; call operators through the dispatcher. `channels` has those by
channels.
"""

from __future__ import annotations

from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.meta import rules

__all__ = [
    "_native_batch_norm_legit_functional",
    "_weight_norm",
    "_weight_norm_differentiable_backward",
    "norm_except_dim",
]

_aten = ops.aten

# ---- batch normalisation


def _native_batch_norm_legit_functional(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor,
    running_var: Tensor,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Tensor, ...]:
    """_native_batch_norm_legit on copies of the running statistics, which are returned too."""
    mean, var = _aten.clone.default(running_mean), _aten.clone.default(running_var)
    results = _aten._native_batch_norm_legit.default(
        input, weight, bias, mean, var, training, momentum, eps
    )
    return *results, mean, var


# ---- weight normalisation


def norm_except_dim(v: Tensor, pow: int = 2, dim: int = 0) -> Tensor:
    """The norm over all dimensions but `dim`, kept with size 1; -1: over all, without any."""
    if dim == -1:
        return _aten.norm.Scalar(v, pow)
    kept = [1] * v.ndim
    if dim == 0:
        kept[0] = v.shape[rules.wrap_dim(0, v.ndim, False)]
        rows = _aten.view.default(_aten.contiguous.default(v), [kept[0], -1])
        return _aten.view.default(_aten.norm.ScalarOpt_dim(rows, pow, [1]), kept)
    if dim == v.ndim - 1:
        kept[-1] = v.shape[-1]
        rows = _aten.view.default(_aten.contiguous.default(v), [-1, kept[-1]])
        return _aten.view.default(_aten.norm.ScalarOpt_dim(rows, pow, [0]), kept)
    turned = norm_except_dim(_aten.transpose.int(v, 0, dim), pow, 0)
    return _aten.transpose.int(turned, 0, dim)


def _weight_norm_differentiable_backward(
    grad_w: Tensor, saved_v: Tensor, saved_g: Tensor, saved_norms: Tensor, dim: int
) -> tuple[Tensor, Tensor]:
    """Gradients of v and g, written with operators, so that they have gradients too."""
    last = saved_v.ndim - 1
    if dim not in (0, last):
        raise refused(f"expected dim to be 0 or {last}, got {dim}")
    if not (saved_v.is_contiguous() and saved_g.is_contiguous() and saved_norms.is_contiguous()):
        raise refused("expected saved_v, saved_g and saved_norms to be contiguous")
    rows, over = ([-1, saved_v.shape[-1]], [0]) if dim else ([saved_v.shape[0], -1], [1])
    kept = [n if i == dim else 1 for i, n in enumerate(saved_v.shape)]
    products = _aten.reshape(_aten.mul.Tensor(grad_w, saved_v), rows)
    sums = _aten.view.default(_aten.sum.dim_IntList(products, over), kept)
    cubes = _aten.div.Tensor(sums, _aten.mul.Tensor(saved_norms, saved_norms))
    along = _aten.sub.Tensor(grad_w, _aten.mul.Tensor(saved_v, cubes))
    of_v = _aten.mul.Tensor(_aten.div.Tensor(saved_g, saved_norms), along)
    return of_v, _aten.div.Tensor(sums, saved_norms)


def _weight_norm(v: Tensor, g: Tensor, dim: int) -> Tensor:
    """g * v / norm(v): one operator for the first and the last dimension."""
    v, g = _aten.contiguous.default(v), _aten.contiguous.default(g)
    if dim == 0 or dim == v.ndim - 1:
        return _aten._weight_norm_interface.default(v, g, dim)[0]
    return _aten.mul.Tensor(v, _aten.div.Tensor(g, _aten.norm_except_dim.default(v, 2, dim)))
