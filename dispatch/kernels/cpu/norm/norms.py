"""Bodies of batch, group, layer and weight normalisation on the CPU, over numpy.

Called by the structured kernels with outputs of the right sizes and dtypes. Statistics of rows
are summed in float32 (pairwise, by numpy); all others, and the gradients, in float64. Half
precision is computed in float32 and rounded once, and may come with float32 weights and running
statistics, as PyTorch's CPU kernels allow (`check_mixed`).
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from dispatch._C.dtypes import dtype
from dispatch._C.errors import refused
from dispatch._C.generated.dtype_sets import FLOATING
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.cpu.arrays import Array, check_dtype, compute, quiet, store, view
from dispatch.kernels.meta import rules
from dispatch.kernels.meta.norm.norms import statistics_type

__all__ = [
    "batch_norm",
    "batch_norm_no_stats",
    "batch_norm_no_training",
    "batch_norm_out",
    "group_norm",
    "group_norm_backward",
    "layer_norm",
    "layer_norm_backward",
    "legit_out",
    "weight_norm",
]

_BLOCK = 1 << 17  # elements that are taken through all steps at a time, at least one row
_native_batch_norm_out = ops.aten.native_batch_norm.out


def _check_mixed(input: Tensor, *parameters: Tensor | None) -> dtype:
    """The dtype of the parameters: input's, or float32 beside half precision."""
    kind = statistics_type(input, *parameters)
    for t in parameters:
        if t is not None and t.dtype is not kind:
            raise refused(
                f"expected weights and statistics to be {kind} beside an input of"
                f" {input.dtype}, got {t.dtype}"
            )
    return kind


def _wide(tensor: Tensor | None, default: float) -> Array:
    """A parameter in float64."""
    return np.float64(default) if tensor is None else view(tensor).astype(np.float64)


def _scale_and_shift(out: Tensor, values: Array, scale: Array, shift: Array) -> None:
    """values * scale + shift, in place where dtypes allow."""
    target = view(out)
    same = target.dtype == values.dtype and target.shape == values.shape
    result = np.multiply(values, scale.astype(values.dtype), out=target if same else None)
    np.add(result, shift.astype(values.dtype), out=result)
    if not same:
        store(out, result.reshape(out.shape))


# ---- batch normalisation


def _along(statistic: Array, axis: int, ndim: int) -> Array:
    """A vector of the channels that broadcasts against the input."""
    if statistic.ndim == 0:
        return statistic
    return statistic.reshape([-1 if i == axis else 1 for i in range(ndim)])


def _moments(values: Array, axis: int, mean: Array | None) -> tuple[Array, Array, int]:
    """Mean (or the one given) and sum of squared deviations from it of each channel; how many
    values a channel has.
    """
    axes = tuple(i for i in range(values.ndim) if i != axis)
    count = values.size // values.shape[axis]
    if mean is None:
        mean = np.add.reduce(values, axis=axes, dtype=np.float64) / count
    apart = values - _along(mean, axis, values.ndim)
    return mean, np.add.reduce(np.square(apart, out=apart), axis=axes), count


def _update(running: Tensor | None, value: Array, momentum: float) -> None:
    if running is not None:
        store(running, momentum * value + (1 - momentum) * _wide(running, 0))


def _check_batch_norm(
    input: Tensor,
    training: bool,
    running: tuple[Tensor | None, Tensor | None],
    *rest: Tensor | None,
) -> None:
    check_dtype(input.dtype, FLOATING)
    _check_mixed(input, *rest, *running)
    if (running[0] is None) != (running[1] is None):
        raise refused("expected running_mean and running_var both or neither", ValueError)
    if training and input.numel() == 0:
        raise refused(f"expected input to have at least one element, got shape {list(input.shape)}")


def batch_norm(
    out: Tensor,
    save_mean: Tensor,
    save_rstd: Tensor,
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    given_mean: Array | None = None,
) -> None:
    """Normalise each channel; training updates the running statistics, by the unbiased variance."""
    _check_batch_norm(input, training, (running_mean, running_var), weight, bias)
    values = compute(input)
    ndim, axis = values.ndim, min(1, values.ndim - 1)
    with quiet():
        if training:
            mean, squares, count = _moments(values, axis, given_mean)
            rstd = 1 / np.sqrt(squares / count + eps)
            store(save_mean, mean)
            store(save_rstd, rstd)
            _update(running_mean, mean, momentum)
            _update(running_var, squares / np.float64(count - 1), momentum)
        else:
            mean, rstd = _wide(running_mean, 0), 1 / np.sqrt(_wide(running_var, 1) + eps)
        scale = rstd * _wide(weight, 1)
        shift = _wide(bias, 0) - mean * scale
        _scale_and_shift(out, values, _along(scale, axis, ndim), _along(shift, axis, ndim))


def batch_norm_out(out: Tensor, save_mean: Tensor, save_rstd: Tensor, *args: Any) -> None:
    """batch_norm into given tensors.

    PyTorch computes no mean of an input that is not contiguous here: what is in save_mean counts.
    """
    input = args[0]
    packed = input.is_contiguous(memory_format=rules.suggest_memory_format(input))
    given = None if packed else _wide(save_mean, 0)
    batch_norm(out, save_mean, save_rstd, *args, given_mean=given)  # type: ignore[misc]


def legit_out(
    *args: Any, out: Tensor, save_mean: Tensor, save_invstd: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """native_batch_norm.out for `_native_batch_norm_legit`, with running statistics or without."""
    if len(args) == 6:
        args = (*args[:3], None, None, *args[3:])
    _native_batch_norm_out(*args, out=out, save_mean=save_mean, save_invstd=save_invstd)
    return out, save_mean, save_invstd


def batch_norm_no_stats(
    out: Tensor,
    save_mean: Tensor,
    save_rstd: Tensor,
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> None:
    """batch_norm without running statistics."""
    batch_norm(out, save_mean, save_rstd, input, weight, bias, None, None, training, momentum, eps)


def batch_norm_no_training(
    out: Tensor,
    save_mean: Tensor,
    save_rstd: Tensor,
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor,
    running_var: Tensor,
    momentum: float,
    eps: float,
) -> None:
    """batch_norm by the running statistics."""
    statistics = running_mean, running_var
    batch_norm(out, save_mean, save_rstd, input, weight, bias, *statistics, False, momentum, eps)


# ---- layer normalisation


def _normalise_rows(
    rows: Array, out: Array, eps: float, weight: Array | None, bias: Array | None
) -> tuple[Array, Array]:
    """Rows into `out`; their mean and 1/deviation as columns. Blocks of rows stay in a cache."""
    count, width = rows.shape
    kind = rows.dtype.type
    mean, rstd = np.empty((count, 1), kind), np.empty((count, 1), kind)
    step = max(1, _BLOCK // width)
    for start in range(0, count, step):
        at = slice(start, start + step)
        result = out[at]
        mean[at] = np.add.reduce(rows[at], axis=1, keepdims=True) / kind(width)
        np.subtract(rows[at], mean[at], out=result)
        squares = np.einsum("ij,ij->i", result, result)[:, None]
        rstd[at] = 1 / np.sqrt(squares / kind(width) + kind(eps))
        result *= rstd[at]
        if weight is not None:
            result *= weight
        if bias is not None:
            result += bias
    return mean, rstd


def _flat(parameter: Tensor | None) -> Array | None:
    return None if parameter is None else compute(parameter).reshape(-1)


def layer_norm(
    out: Tensor,
    mean: Tensor,
    rstd: Tensor,
    input: Tensor,
    normalized_shape: list[int],
    weight: Tensor | None,
    bias: Tensor | None,
    eps: float,
) -> None:
    """Normalise over the last dimensions; mean and 1/deviation of each row are kept."""
    _check_mixed(input, weight, bias)
    check_dtype(input.dtype, FLOATING)
    width = prod(normalized_shape)
    if width == 0:
        store(mean, 0)
        store(rstd, np.nan)
    if input.numel() == 0:
        return
    rows = compute(input).reshape(-1, width)
    target = view(out)
    direct = target.dtype == rows.dtype and target.flags.c_contiguous
    result = target.reshape(rows.shape) if direct else np.empty(rows.shape, rows.dtype)
    with quiet():
        average, inverse = _normalise_rows(rows, result, eps, _flat(weight), _flat(bias))
    store(mean, average.reshape(mean.shape))
    store(rstd, inverse.reshape(rstd.shape))
    if not direct:
        store(out, result.reshape(out.shape))


def layer_norm_backward(
    of_input: Tensor | None,
    of_weight: Tensor | None,
    of_bias: Tensor | None,
    grad_out: Tensor,
    input: Tensor,
    normalized_shape: list[int],
    mean: Tensor,
    rstd: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    output_mask: list[bool],
) -> None:
    """Gradients of input, weight and bias, those that were asked for."""
    width = prod(normalized_shape)
    if input.numel() == 0:
        _clear(of_input, of_weight, of_bias)
        return
    check_dtype(input.dtype, FLOATING)
    with quiet():
        grad = _wide(grad_out, 0).reshape(-1, width)
        scale = _wide(rstd, 0).reshape(-1, 1)
        values, average = _wide(input, 0).reshape(-1, width), _wide(mean, 0).reshape(-1, 1)
        if of_weight is not None:
            # x * rstd - mean * rstd, whose last product PyTorch rounds before it is taken off
            shift = (average * scale).astype(compute(mean).dtype)
            total = (grad * (values * scale - shift)).sum(axis=0)
            store(of_weight, total.reshape(of_weight.shape))
        if of_bias is not None:
            store(of_bias, grad.sum(axis=0).reshape(of_bias.shape))
        if of_input is not None:
            normal = (values - average) * scale
            if weight is not None:
                grad = grad * _wide(weight, 1).reshape(-1)
            store(of_input, _normalised_gradient(grad, normal, scale, 1).reshape(of_input.shape))


def _clear(*outputs: Tensor | None) -> None:
    for out in outputs:
        if out is not None:
            store(out, 0)


def _normalised_gradient(grad: Array, normal: Array, scale: Array, axes: object) -> Array:
    """The gradient through (x - mean) * scale, both of which depend on x."""
    along = normal * (grad * normal).mean(axis=axes, keepdims=True)
    return (grad - grad.mean(axis=axes, keepdims=True) - along) * scale


# ---- group normalisation


def _check_layout(name: str, t: Tensor) -> None:
    if not t.is_contiguous(memory_format=rules.suggest_memory_format(t)):
        raise refused(f"expected {name} to be contiguous, got strides {list(t.stride())}")


def _grouped(parameter: Tensor | None, group: int, default: float) -> Array:
    """A parameter of the channels as [1, group, channels of a group, 1]."""
    values = _wide(parameter, default)
    return values if parameter is None else values.reshape(1, group, -1, 1)


def _group_statistics(values: Array, eps: float) -> tuple[Array, Array]:
    """Mean and 1/deviation of each group of [N, group, channels of a group, extent]."""
    if values.flags.c_contiguous:
        rows = values.reshape(values.shape[0] * values.shape[1], -1)
        mean, rstd = _normalise_rows(rows, np.empty_like(rows), eps, None, None)
        shape = (*values.shape[:2], 1, 1)
        return mean.astype(np.float64).reshape(shape), rstd.astype(np.float64).reshape(shape)
    count = values.shape[2] * values.shape[3]
    mean = np.add.reduce(values, axis=(2, 3), dtype=np.float64, keepdims=True) / count
    squares = np.add.reduce(np.square(values - mean), axis=(2, 3), keepdims=True)
    return mean, 1 / np.sqrt(squares / count + eps)


def group_norm(
    out: Tensor,
    mean: Tensor,
    rstd: Tensor,
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    N: int,
    C: int,
    HxW: int,
    group: int,
    eps: float,
) -> None:
    """Normalise each sample's groups of channels; mean and 1/deviation of each are kept."""
    _check_mixed(input, weight, bias)
    _check_layout("input", input)
    check_dtype(input.dtype, FLOATING)
    if input.numel() == 0:
        store(mean, 0)
        store(rstd, np.nan)
        return
    with quiet():
        values = compute(input).reshape(N, group, C // group, HxW)
        average, inverse = _group_statistics(values, eps)
        scale = inverse * _grouped(weight, group, 1)
        shift = _grouped(bias, group, 0) - average * scale
        store(mean, average.reshape(N, group))
        store(rstd, inverse.reshape(N, group))
        _scale_and_shift(out, values, scale, shift)


def group_norm_backward(
    of_input: Tensor | None,
    of_weight: Tensor | None,
    of_bias: Tensor | None,
    grad_out: Tensor,
    input: Tensor,
    mean: Tensor,
    rstd: Tensor,
    weight: Tensor | None,
    N: int,
    C: int,
    HxW: int,
    group: int,
    output_mask: list[bool],
) -> None:
    """Gradients of input, weight and bias, those that were asked for."""
    if input.numel() == 0:
        _clear(of_input, of_weight, of_bias)
        return
    check_dtype(input.dtype, FLOATING)
    split = (N, group, C // group, HxW)
    with quiet():
        grad = _wide(grad_out, 0).reshape(split)
        scale = _wide(rstd, 0)[:, :, None, None]
        normal = (_wide(input, 0).reshape(split) - _wide(mean, 0)[:, :, None, None]) * scale
        if of_weight is not None:
            store(of_weight, (grad * normal).sum(axis=(0, 3)).reshape(of_weight.shape))
        if of_bias is not None:
            store(of_bias, grad.sum(axis=(0, 3)).reshape(of_bias.shape))
        if of_input is not None:
            grad = grad * _grouped(weight, group, 1)
            result = _normalised_gradient(grad, normal, scale, (2, 3))
            store(of_input, result.reshape(of_input.shape))


# ---- weight normalisation


def weight_norm(out: Tensor, norm: Tensor, v: Tensor, g: Tensor, dim: int) -> None:
    """v * (g / norm), and the 2-norm of v over all dimensions but the first or the last."""
    if dim != 0 and dim != v.ndim - 1:
        raise refused(f"expected dim to be 0 or {v.ndim - 1}, got {dim}")
    check_dtype(v.dtype, FLOATING)
    if g.dtype is not v.dtype:
        raise refused(f"expected g to be {v.dtype} as v is, got {g.dtype}")
    if v.numel() == 0:
        store(norm, 0)
        return
    values = compute(v)
    axes = tuple(i for i in range(v.ndim) if i != dim)
    with quiet():
        squares = np.square(values, dtype=np.float64)
        length = np.sqrt(np.add.reduce(squares, axis=axes, keepdims=True))
        store(norm, length.reshape(norm.shape))
        store(out, values * (_wide(g, 1).reshape(length.shape) / length).astype(values.dtype))
