"""Shape functions of batch, group and weight normalisation, and of the backward operators.

Called by the structured kernels. Where PyTorch's Meta kernel is a chain of elementwise operators,
the result's strides are what the chain gives: it is followed on tensors without data (`_geometry`,
`_combined`), made without a dispatched call, so that no mode sees them.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from dispatch._C.arrays import _new_strided
from dispatch._C.dtypes import (
    bfloat16,
    complex64,
    complex128,
    dtype,
    float32,
    float64,
)
from dispatch._C.errors import refused
from dispatch._C.generated.dtype_sets import REDUCED_FLOATING
from dispatch._C.storage import _new_storage
from dispatch._C.structured import Shaped, TensorSpec
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.meta import rules

__all__ = [
    "batch_norm",
    "batch_norm_backward",
    "batch_norm_backward_out",
    "batch_norm_functional",
    "batch_norm_no_stats",
    "batch_norm_no_training",
    "batch_norm_no_training_out",
    "batch_norm_out",
    "group_norm",
    "group_norm_backward",
    "layer_norm_backward",
    "rms_norm_backward",
    "statistics_type",
    "weight_norm",
    "weight_norm_backward",
]

_REAL = {complex64: float32, complex128: float64}

# ---- chains of elementwise operators


def _geometry(sizes: Sequence[int], strides: Sequence[int], dtype: dtype) -> Tensor:
    extent = 0
    if not rules.has_zero(sizes):
        extent = 1 + sum((n - 1) * step for n, step in zip(sizes, strides, strict=True))
    storage = _new_storage(extent * dtype.itemsize, "meta")
    return _new_strided(storage, dtype, list(sizes), list(strides), 0)


def _packed(sizes: Sequence[int], dtype: dtype) -> Tensor:
    return _geometry(sizes, rules.contiguous_strides(sizes), dtype)


def _viewed(t: Tensor, sizes: Sequence[int]) -> Tensor:
    """`t.reshape(sizes)`."""
    sizes = rules.infer_size(sizes, t.numel())
    strides = rules.compute_view_strides(t.shape, t.stride(), sizes)
    return _packed(sizes, t.dtype) if strides is None else _geometry(sizes, strides, t.dtype)


def _combined(*tensors: Tensor) -> Tensor:
    """The result of an elementwise operator."""
    sizes = rules.broadcast_shapes(*(t.shape for t in tensors))
    code = rules.result_type(*tensors)
    return _geometry(sizes, rules.elementwise_strides_meta(sizes, tensors, code), code)


def _trailing(t: Tensor, ndim: int) -> Tensor:
    """`t` with dimensions of size 1 at the end, `ndim` in all."""
    more = ndim - t.ndim
    return _geometry((*t.shape, *[1] * more), (*t.stride(), *[1] * more), t.dtype)


def _converted(t: Tensor, dtype: dtype) -> Tensor:
    """`t.to(dtype)`: strides stay if they are dense."""
    return t if t.dtype is dtype else _geometry(t.shape, rules.dense_like_strides(t), dtype)


def _computation(dtype: dtype) -> dtype:
    return float32 if dtype in REDUCED_FLOATING else dtype


def _spec(t: Tensor, dtype: dtype, cast: str | None = None) -> TensorSpec:
    return TensorSpec(t.shape, dtype, t.stride(), cast=cast)


# ---- what the CPU kernels do otherwise


def statistics_type(input: Tensor, *parameters: Tensor | None) -> dtype:
    """The dtype of weights and statistics on CPU: half precision may have float32 ones."""
    given = next((t.dtype for t in parameters if t is not None), input.dtype)
    return float32 if given is float32 and input.dtype in REDUCED_FLOATING else input.dtype


def _dense(input: Tensor, dtype: dtype, cast: str | None = None) -> TensorSpec:
    """What empty_like in the suggested memory format gives."""
    strides = rules.strides_for(input.shape, rules.suggest_memory_format(input))
    return TensorSpec(input.shape, dtype, strides, cast=cast)


def _like_parameter(name: str, t: Tensor | None, asked: bool) -> TensorSpec | None:
    """The gradient of a weight or bias."""
    if not asked:
        return None
    if t is None:
        raise refused(f"expected {name} to be given for its gradient, got None")
    return TensorSpec(t.shape, t.dtype)


# ---- batch normalisation


def _check_features(name: str, t: Tensor | None, features: int, one: bool = True) -> None:
    if t is not None and t.numel() != features and not (one and t.numel() == 1):
        raise refused(
            f"expected {name} to have {features} elements, as many as"
            f" input has channels, got {t.numel()}"
        )


def _check_batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
) -> int:
    alone = input.ndim == 1 and not training and not rules.is_eager(input)
    features = input.shape[0] if alone else None
    if features is None:
        features = input.shape[rules.wrap_dim(1, input.ndim)]
    if not training and (running_mean is None or running_var is None):
        raise refused("expected running_mean and running_var unless training")
    _check_features("running_mean", running_mean, features, not training)
    _check_features("running_var", running_var, features, not training)
    _check_features("weight", weight, features)
    _check_features("bias", bias, features)
    return features


def _check_mean(input: Tensor) -> None:
    """What PyTorch's Meta kernels ask of an input whose mean they take, its CPU kernels not."""
    if not (input.dtype.is_floating_point or input.dtype.is_complex):
        raise refused(f"expected a floating or complex input, got {input.dtype}")


def batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[TensorSpec, ...]:
    """The result in input's order of dimensions, and the saved statistics: on CPU in input's dtype
    and without elements unless training, elsewhere as they are computed.
    """
    features = _check_batch_norm(input, weight, bias, running_mean, running_var, training)
    if rules.is_eager(input):
        kind = statistics_type(input, weight, bias, running_mean, running_var)
        saved = TensorSpec((features,) if training else (0,), kind)
        return _dense(input, input.dtype), saved, saved
    if training or running_mean is None:
        _check_mean(input)
    out = _combined(_converted(input, _computation(input.dtype)))
    sizes: Sequence[int] = (features,) if training or running_mean is None else running_mean.shape
    saved = _saved(input, sizes, training, rules.device_type(input))
    return _spec(out, input.dtype, cast="safe"), saved, saved


def _saved(input: Tensor, sizes: Sequence[int], training: bool, device_type: str) -> TensorSpec:
    if device_type != "cpu":
        return TensorSpec(sizes, _computation(input.dtype), cast="safe")
    return TensorSpec(sizes if training else (0,), input.dtype, cast="safe")


def batch_norm_out(*args: Any) -> tuple[TensorSpec | None, ...]:
    """batch_norm into given tensors: contiguous when they are resized.

    The CPU kernel leaves the saved statistics alone unless training.
    """
    out, *saved = batch_norm(*args)
    if not rules.is_eager(args[0]):
        return TensorSpec(out.sizes, out.dtype, cast="safe"), *saved
    return TensorSpec(out.sizes, out.dtype), *(saved if args[5] else (None, None))


def batch_norm_no_stats(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[TensorSpec, ...]:
    """batch_norm without running statistics."""
    return batch_norm(input, weight, bias, None, None, training, momentum, eps)


def batch_norm_no_training(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor,
    running_var: Tensor,
    momentum: float,
    eps: float,
) -> tuple[TensorSpec, ...]:
    """batch_norm with the running statistics as they are.

    Nothing is saved, on any device with a name: a program that was recorded on the CPU has the same
    shapes wherever it runs. PyTorch's accelerators repeat the running statistics here.
    """
    out, mean, rstd = batch_norm(
        input, weight, bias, running_mean, running_var, False, momentum, eps
    )
    if rules.device_type(input) in ("cpu", "meta"):
        return out, mean, rstd
    saved = _saved(input, running_mean.shape, False, "cpu")
    return out, saved, saved


def batch_norm_no_training_out(*args: Any) -> tuple[TensorSpec, ...]:
    """batch_norm_no_training into given tensors: PyTorch runs it as on the meta device."""
    out, _, _ = batch_norm_no_training(*args)
    input, running_mean = args[0], args[3]
    saved = _saved(input, running_mean.shape, False, "meta")
    return TensorSpec(out.sizes, out.dtype), saved, saved


def batch_norm_functional(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor,
    running_var: Tensor,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[TensorSpec, ...]:
    """batch_norm, and the running statistics that it would write, in the dtype of computation."""
    results = batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)
    statistics = _computation(input.dtype)
    running = []
    for t in (running_mean, running_var):
        code = rules.promote_types(statistics, t.dtype) if training else statistics
        running.append(TensorSpec(t.shape, code))
    return *results, *running


def batch_norm_backward(
    grad_out: Tensor,
    input: Tensor,
    weight: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    save_mean: Tensor | None,
    save_invstd: Tensor | None,
    train: bool,
    eps: float,
    output_mask: list[bool],
) -> tuple[TensorSpec | None, ...]:
    """Gradients of input, weight and bias; PyTorch's Meta kernel makes input's in any case."""
    features = input.shape[rules.wrap_dim(1, input.ndim)]
    given = (weight, running_mean, running_var, save_mean, save_invstd)
    if rules.is_eager(input):
        if grad_out.shape != input.shape:
            raise refused(
                f"expected grad_out to have input's shape {list(input.shape)}, got"
                f" {list(grad_out.shape)}"
            )
        if train and (save_mean is None or save_invstd is None):
            raise refused("expected save_mean and save_invstd in training")
        if not train and (running_mean is None or running_var is None):
            raise refused("expected running_mean and running_var unless training")
        kind = statistics_type(input, *given)
        of_channels = TensorSpec((features,), kind)
        of_input = _dense(input, input.dtype) if output_mask[0] else None
    else:
        code = _computation(input.dtype)
        chain = _combined(_converted(grad_out, code), _converted(input, code))
        of_input = _spec(_combined(chain), input.dtype)
        of_channels = TensorSpec((features,), input.dtype if weight is None else weight.dtype)
    wanted = (of_channels if asked else None for asked in output_mask[1:])
    return of_input, *wanted


def batch_norm_backward_out(
    *args: Any, out0: Tensor, out1: Tensor, out2: Tensor
) -> tuple[Tensor, ...]:
    """The same into given tensors, on the meta device."""
    outputs = (out0, out1, out2)
    for out, spec in zip(outputs, batch_norm_backward(*args), strict=True):
        if spec is None:
            continue
        if out.dtype is not spec.dtype:
            raise refused(f"expected outputs to be {spec.dtype}, got {out.dtype}")
        if tuple(out.shape) != tuple(spec.sizes):
            ops.aten.resize_(out, list(spec.sizes))
    return outputs


# ---- group normalisation


def _check_channels(input: Tensor, C: int, group: int) -> None:
    if group <= 0 or C % group != 0:
        raise refused(
            "expected the number of channels to be a multiple of group,"
            f" got input of shape {list(input.shape)} and group {group}"
        )


def _check_counts(input: Tensor, N: int, C: int, HxW: int) -> None:
    if N < 0 or C < 0 or HxW < 0 or input.numel() != N * C * HxW:
        raise refused(
            f"expected input to have N * C * HxW = {N} * {C} * {HxW} elements,"
            f" got shape {list(input.shape)}"
        )


def group_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    N: int,
    C: int,
    HxW: int,
    group: int,
    eps: float,
) -> tuple[TensorSpec, ...]:
    """The result in input's order of dimensions; mean and 1/deviation of each group."""
    if input.ndim < 2:
        raise refused(
            f"expected input to have at least 2 dimensions, got shape {list(input.shape)}"
        )
    _check_channels(input, C, group)
    for name, t in (("weight", weight), ("bias", bias)):
        if t is not None and t.numel() != C:
            raise refused(f"expected {name} to have {C} elements, got {t.numel()}")
    if rules.is_eager(input):
        _check_counts(input, N, C, HxW)
        saved = TensorSpec((N, group), statistics_type(input, weight, bias))
        return _dense(input, input.dtype), saved, saved
    _check_mean(input)
    computed = _converted(input, _computation(input.dtype))
    grouped = _viewed(computed, (N, group, C // group, HxW))
    out = _viewed(_combined(grouped), input.shape)
    saved = TensorSpec((N, group), input.dtype)
    return _spec(out, input.dtype), saved, saved


def _check_group_backward(
    grad_out: Tensor,
    input: Tensor,
    mean: Tensor,
    rstd: Tensor,
    weight: Tensor | None,
    N: int,
    C: int,
    HxW: int,
    group: int,
) -> None:
    if grad_out.shape != input.shape:
        raise refused(
            f"expected grad_out to have input's shape {list(input.shape)}, got"
            f" {list(grad_out.shape)}"
        )
    _check_counts(input, N, C, HxW)
    _check_channels(input, C, group)
    for what, t in (("mean", mean), ("rstd", rstd)):
        if tuple(t.shape) != (N, group):
            raise refused(f"expected {what} to have shape {[N, group]}, got {list(t.shape)}")
    if weight is not None and weight.numel() != C:
        raise refused(f"expected weight to have {C} elements, got {weight.numel()}")


def _check_viewable(name: str, t: Tensor, sizes: Sequence[int]) -> None:
    if rules.compute_view_strides(t.shape, t.stride(), sizes) is None:
        raise refused(
            f"expected {name} to be viewable as {list(sizes)},"
            f" got shape {list(t.shape)} with strides {list(t.stride())}",
            ValueError,
        )


def group_norm_backward(
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
) -> tuple[TensorSpec | None, ...]:
    """Gradients of input, weight and bias, those that `output_mask` asks for."""
    _check_group_backward(grad_out, input, mean, rstd, weight, N, C, HxW, group)
    if rules.is_eager(input):
        of_weight = _like_parameter("weight", weight, output_mask[1])
        of_bias = _like_parameter("weight", weight, output_mask[2])
        return _dense(input, input.dtype) if output_mask[0] else None, of_weight, of_bias
    given = [t for t in (grad_out, input, mean, rstd, weight) if t is not None]
    code = rules.result_type(*given)
    grad = _converted(grad_out, _computation(code))
    data = _converted(input, _computation(code))
    _check_viewable("grad_out * input", _combined(grad, data), (N, C, HxW))
    _check_viewable("grad_out", grad, (N, C, HxW))
    split = (N, group, C // group, HxW)
    total = _combined(_combined(_viewed(grad, split)), _combined(_viewed(data, split)))
    of_input = _spec(_viewed(total, input.shape), code)
    of_channels = TensorSpec((C,), code)
    wanted = zip((of_input, of_channels, of_channels), output_mask, strict=True)
    return tuple(spec if asked else None for spec, asked in wanted)


# ---- layer normalisation, backward


def _contiguous_copy(t: Tensor, dtype: dtype) -> Tensor:
    """`t.to(dtype, memory_format=contiguous_format)`: a copy only if dtype or format change."""
    if t.dtype is dtype and rules.suggest_memory_format(t).name == "contiguous_format":
        return t
    return _packed(t.shape, dtype)


def _check_layer_backward(grad_out: Tensor, input: Tensor, normalized_shape: list[int]) -> None:
    """What a loop over rows of `normalized_shape` takes for granted."""
    axis = input.ndim - len(normalized_shape)
    if axis < 0 or list(input.shape[axis:]) != list(normalized_shape):
        raise refused(f"expected input to end in {normalized_shape}, got {list(input.shape)}")
    if grad_out.shape != input.shape:
        raise refused(
            f"expected grad_out to have input's shape {list(input.shape)},"
            f" got {list(grad_out.shape)}"
        )


def layer_norm_backward(
    grad_out: Tensor,
    input: Tensor,
    normalized_shape: list[int],
    mean: Tensor,
    rstd: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    output_mask: list[bool],
) -> Shaped | tuple[TensorSpec | None, ...]:
    """Gradients of input, weight and bias, those that `output_mask` asks for.

    The body is handed how many elements are normalised together.
    """
    axis = input.ndim - len(normalized_shape)
    outer, inner = input.shape[:axis], input.shape[axis:]
    if rules.is_eager(input):
        _check_layer_backward(grad_out, input, normalized_shape)
        of_weight = _like_parameter("weight", weight, output_mask[1])
        of_bias = _like_parameter("bias", bias, output_mask[2])
        of_input = TensorSpec(input.shape, input.dtype) if output_mask[0] else None
        return Shaped((of_input, of_weight, of_bias), prod(inner))
    if prod(outer) == 0 or prod(inner) == 0:
        sizes = (input.shape, inner, inner)
        return tuple(
            TensorSpec(s, input.dtype) if asked else None
            for s, asked in zip(sizes, output_mask, strict=True)
        )
    code = _computation(input.dtype)
    grad = _contiguous_copy(grad_out, code)
    normalized, scale = _normalized(input, mean, rstd, code)
    of_input = of_weight = of_bias = None
    if output_mask[0]:
        scaled = grad if weight is None else _combined(grad, _contiguous_copy(weight, code))
        total = _combined(_layer_terms(scaled, normalized, axis))
        of_input = _spec(_combined(scale, total), input.dtype)
    if output_mask[1] and weight is not None:
        total = _packed(inner, code) if axis else _combined(grad, normalized)
        of_weight = _spec(total, weight.dtype)
    if output_mask[2] and bias is not None:
        total = _packed(inner, code) if axis else _converted_clone(grad)
        of_bias = _spec(total, bias.dtype)
    return of_input, of_weight, of_bias


def _normalized(input: Tensor, mean: Tensor, rstd: Tensor, code: dtype) -> tuple[Tensor, Tensor]:
    scale = _trailing(rstd, input.ndim)
    data = _contiguous_copy(input, code)
    return _combined(_combined(data, _trailing(mean, input.ndim)), scale), scale


def _layer_terms(scaled: Tensor, normalized: Tensor, axis: int) -> Tensor:
    """scaled * N - sum(scaled) - normalized * sum(scaled * normalized)."""
    sizes = [*scaled.shape[:axis], *[1] * (scaled.ndim - axis)]
    total = _packed(sizes, scaled.dtype)
    first = _combined(_combined(scaled), total)
    return _combined(first, _combined(normalized, total))


def _converted_clone(t: Tensor) -> Tensor:
    return _geometry(t.shape, rules.dense_like_strides(t), t.dtype)


# ---- weight normalisation


def weight_norm(v: Tensor, g: Tensor, dim: int) -> tuple[TensorSpec, TensorSpec]:
    """v * (g / norm), and the norm over all dimensions but `dim` (a negative one: over all)."""
    if rules.is_eager(v):
        half = v.dtype in REDUCED_FLOATING
        norm = TensorSpec(g.shape, float32 if half else v.dtype, g.stride())
        return TensorSpec(v.shape, v.dtype), norm
    norm_type = float32 if g.dtype is bfloat16 else _REAL.get(v.dtype, v.dtype)
    if g.dtype is bfloat16 and rules.promote_types(float32, v.dtype) is not float32:
        raise refused(
            f"expected v to fit in {norm_type}, the norm's dtype beside a bfloat16 g, got {v.dtype}"
        )
    kept = dim if v.ndim > 1 else None
    norms = _packed([v.shape[i] if i == kept else 1 for i in range(v.ndim)], norm_type)
    out = _combined(v, _combined(g, _converted(norms, g.dtype)))
    return _spec(out, out.dtype), _spec(norms, norm_type)


def weight_norm_backward(
    grad_w: Tensor, saved_v: Tensor, saved_g: Tensor, saved_norms: Tensor, dim: int
) -> tuple[TensorSpec, TensorSpec]:
    """Gradients of v and g."""
    if rules.is_eager(saved_v):
        given = {"saved_v": saved_v, "saved_g": saved_g, "saved_norms": saved_norms}
        for name, t in given.items():
            if not t.is_contiguous():
                raise refused(f"expected {name} to be contiguous, got strides {list(t.stride())}")
    specs = (TensorSpec(t.shape, t.dtype, rules.dense_like_strides(t)) for t in (saved_v, saved_g))
    of_v, of_g = specs
    return of_v, of_g


# ---- root mean squares, backward


def rms_norm_backward(
    grad_out: Tensor,
    input: Tensor,
    normalized_shape: list[int],
    rstd: Tensor,
    weight: Tensor | None,
    output_mask: list[bool],
) -> tuple[Tensor | None, ...]:
    """The Meta kernel of an operator that has no other here."""
    inner = input.shape[input.ndim - len(normalized_shape) :]
    of_input = of_weight = None
    if output_mask[0]:
        of_input = ops.aten.new_empty(input, list(input.shape))
    if output_mask[1] and (weight is not None or input.numel() == 0):
        kind = input.dtype if weight is None else weight.dtype
        of_weight = ops.aten.new_empty(input, list(inner), dtype=kind)
    return of_input, of_weight
