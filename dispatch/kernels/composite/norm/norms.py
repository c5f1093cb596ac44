"""Normalisation operators in terms of their native ones.

Called for the composite operators; call operators through the dispatcher. `batch_norm` goes
through `_batch_norm_impl_index`, which picks the implementation: here always the native one.
"""

from __future__ import annotations

from dispatch._C.dtypes import (
    contiguous_format,
    dtype,
    float32,
    float64,
    uint8,
)
from dispatch._C.errors import refused
from dispatch._C.generated.dtype_sets import REDUCED_FLOATING
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.meta import rules

__all__ = [
    "_batch_norm_impl_index",
    "_native_batch_norm_legit_functional",
    "_weight_norm",
    "_weight_norm_differentiable_backward",
    "batch_norm",
    "group_norm",
    "norm_except_dim",
]

_aten = ops.aten

# ---- batch normalisation


def batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Tensor:
    """The first result of `_batch_norm_impl_index`."""
    return _aten._batch_norm_impl_index.default(
        input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled
    )[0]


def _check_features(name: str, t: Tensor | None, features: int, training: bool = True) -> None:
    if t is None:
        if not training:
            raise refused(f"expected {name} unless training, got None")
    elif t.numel() != features:
        raise refused(
            f"expected {name} to have {features} elements, as many as input has"
            f" channels, got {t.numel()}"
        )


def _features(input: Tensor) -> int:
    return input.shape[1] if input.ndim > 1 else 0


def _accumulation(input: Tensor) -> dtype:
    """The dtype that sums of input are kept in: wider on CPU."""
    if input.dtype in REDUCED_FLOATING:
        return float32
    return float64 if input.dtype is float32 and input.device.type != "cuda" else input.dtype


def _empty(input: Tensor, sizes: list[int], dtype: dtype) -> Tensor:
    options = {"dtype": dtype, "layout": input.layout, "device": input.device}
    return _aten.empty.memory_format(sizes, **options)


def _empty_batch(input: Tensor, weight: Tensor | None, bias: Tensor | None) -> tuple[object, ...]:
    """For an input without elements; weight and bias are kept in the graph of gradients."""
    reserve = _empty(input, [0], uint8)
    saved = [_empty(input, [_features(input)], _accumulation(input)) for _ in range(2)]
    out = _aten.clone.default(input)
    if weight is not None:
        out = _aten.mul.Tensor(out, _aten.select.int(weight, 0, 0))
    if bias is not None:
        out = _aten.add.Tensor(out, _aten.select.int(bias, 0, 0))
    return out, *saved, reserve, 0


def _batch_norm_impl_index(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> tuple[object, ...]:
    """(out, saved mean, saved 1/deviation, reserve, 0): 0 is the native implementation."""
    features = _features(input)
    if input.numel() == 0:
        return _empty_batch(input, weight, bias)
    _check_features("running_mean", running_mean, features, training)
    _check_features("running_var", running_var, features, training)
    _check_features("weight", weight, features)
    _check_features("bias", bias, features)
    reserve = _empty(input, [0], uint8)
    results = _aten.native_batch_norm.default(
        input, weight, bias, running_mean, running_var, training, momentum, eps
    )
    return *results, reserve, 0


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


# ---- group normalisation


def _check_group(input: Tensor, num_groups: int, channels: int) -> None:
    if num_groups <= 0:
        raise refused(f"expected num_groups to be greater than 0, got {num_groups}")
    if channels % num_groups != 0:
        raise refused(
            "expected the number of channels to be a multiple of num_groups, got"
            f" input of shape {list(input.shape)} and num_groups {num_groups}"
        )


def _check_channels(name: str, t: Tensor | None, channels: int) -> None:
    if t is not None and (t.ndim != 1 or t.numel() != channels):
        raise refused(
            f"expected {name} to be a vector of {channels} elements, as many as"
            f" input has channels, got shape {list(t.shape)}"
        )


def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None,
    bias: Tensor | None,
    eps: float,
    cudnn_enabled: bool,
) -> Tensor:
    """native_group_norm of contiguous tensors; on CPU channels_last stays."""
    channels = input.shape[rules.wrap_dim(1, input.ndim)]
    batch, extent = input.shape[0], 1
    for size in input.shape[2:]:
        extent *= size
    _check_group(input, num_groups, channels)
    _check_channels("weight", weight, channels)
    _check_channels("bias", bias, channels)
    kept = contiguous_format
    if input.device.type == "cpu":
        kept = rules.suggest_memory_format(input)
    input = _aten.contiguous.default(input, memory_format=kept)
    weight = weight if weight is None else _aten.contiguous.default(weight)
    bias = bias if bias is None else _aten.contiguous.default(bias)
    return _aten.native_group_norm.default(
        input, weight, bias, batch, channels, extent, num_groups, eps
    )[0]


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
