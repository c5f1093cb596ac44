"""Operators about `native_batch_norm`: its variants with a reserve, its gradient, instances.

Called for the composite operators; call operators through the dispatcher. The reserve is for other
backends: here it is always empty.
"""

from __future__ import annotations

from dispatch._C.dtypes import float32, uint8
from dispatch._C.errors import refused
from dispatch._C.generated.dtype_sets import REDUCED_FLOATING
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.meta import rules

__all__ = [
    "_batch_norm_impl_index_backward",
    "_batch_norm_no_update",
    "_batch_norm_with_update",
    "_batch_norm_with_update_functional",
    "_batch_norm_with_update_out",
    "batch_norm_backward",
    "instance_norm",
]

_aten = ops.aten
Optional = Tensor | None
Gradients = tuple[Optional, Optional, Optional]


def _reserve(input: Tensor) -> Tensor:
    return _aten.empty.memory_format([0], dtype=uint8, layout=input.layout, device=input.device)


def _batch_norm_with_update(
    input: Tensor,
    weight: Optional,
    bias: Optional,
    running_mean: Tensor,
    running_var: Tensor,
    momentum: float,
    eps: float,
) -> tuple[Tensor, ...]:
    """native_batch_norm in training, and a reserve."""
    results = _aten.native_batch_norm.default(
        input, weight, bias, running_mean, running_var, True, momentum, eps
    )
    return *results, _reserve(input)


def _batch_norm_with_update_out(
    input: Tensor,
    weight: Optional,
    bias: Optional,
    running_mean: Tensor,
    running_var: Tensor,
    momentum: float,
    eps: float,
    *,
    out: Tensor,
    save_mean: Tensor,
    save_invstd: Tensor,
    reserve: Tensor,
) -> tuple[Tensor, ...]:
    """The same into given tensors."""
    _aten.native_batch_norm.out(
        input,
        weight,
        bias,
        running_mean,
        running_var,
        True,
        momentum,
        eps,
        out=out,
        save_mean=save_mean,
        save_invstd=save_invstd,
    )
    return out, save_mean, save_invstd, reserve


def _batch_norm_with_update_functional(
    input: Tensor,
    weight: Optional,
    bias: Optional,
    running_mean: Tensor,
    running_var: Tensor,
    momentum: float,
    eps: float,
) -> tuple[Tensor, ...]:
    """The same on copies of the running statistics, which are returned too.

    PyTorch's Meta kernel returns them as they are computed, in float32 for 16-bit floats.
    """
    mean, var = _aten.clone.default(running_mean), _aten.clone.default(running_var)
    results = _aten._batch_norm_with_update.default(input, weight, bias, mean, var, momentum, eps)
    if input.dtype in REDUCED_FLOATING and not rules.is_eager(input):
        mean, var = _aten.to(mean, float32), _aten.to(var, float32)
    return *results, mean, var


def _batch_norm_no_update(
    input: Tensor,
    weight: Optional,
    bias: Optional,
    running_mean: Optional,
    running_var: Optional,
    momentum: float,
    eps: float,
) -> tuple[Tensor, ...]:
    """By the running statistics, or by input's own if there are none; and a reserve."""
    if running_mean is not None and running_var is not None:
        results = _aten.native_batch_norm.default(
            input, weight, bias, running_mean, running_var, False, momentum, eps
        )
    else:
        results = _aten._native_batch_norm_legit.no_stats(input, weight, bias, False, momentum, eps)
    return *results, _reserve(input)


def batch_norm_backward(
    grad_out: Tensor,
    input: Tensor,
    weight: Tensor,
    running_mean: Optional,
    running_var: Optional,
    save_mean: Optional,
    save_var: Optional,
    update: bool,
    eps: float,
    output_mask: list[bool],
    reserve: Tensor,
) -> Gradients:
    """native_batch_norm_backward; the reserve is not looked at."""
    saved = running_mean, running_var, save_mean, save_var
    result: Gradients = _aten.native_batch_norm_backward.default(
        grad_out, input, weight, *saved, update, eps, output_mask
    )
    return result


def _empty_batch_backward(
    input: Tensor, grad_output: Tensor, weight: Optional, output_mask: list[bool]
) -> Gradients:
    """Of an input without elements."""
    dims = [0, *range(2, input.ndim)]
    of_input = of_weight = of_bias = None
    if output_mask[2]:
        of_bias = _aten.sum.dim_IntList(grad_output, dims)
    if output_mask[1]:
        of_weight = _aten.sum.dim_IntList(_aten.mul.Tensor(grad_output, input), dims)
    if output_mask[0] and weight is not None:
        of_input = _aten.mul.Tensor(grad_output, _aten.select.int(weight, 0, 0))
    return of_input, of_weight, of_bias


def _batch_norm_impl_index_backward(
    impl_index: int,
    input: Tensor,
    grad_output: Tensor,
    weight: Optional,
    running_mean: Optional,
    running_var: Optional,
    save_mean: Optional,
    save_var_transform: Optional,
    train: bool,
    eps: float,
    output_mask: list[bool],
    reservedSpace: Tensor,
) -> Gradients:
    """The gradient of `_batch_norm_impl_index` by the implementation that it chose."""
    if input.numel() == 0:
        return _empty_batch_backward(input, grad_output, weight, output_mask)
    saved = running_mean, running_var, save_mean, save_var_transform
    if impl_index == 0:
        result: Gradients = _aten.native_batch_norm_backward.default(
            grad_output, input, weight, *saved, train, eps, output_mask
        )
        return result
    if impl_index == 1:
        other: Gradients = _aten.cudnn_batch_norm_backward.default(
            input, grad_output, weight, *saved, eps, reservedSpace
        )
        return other
    if impl_index == 2:
        third: Gradients = _aten.miopen_batch_norm_backward.default(
            input, grad_output, weight, *saved, eps
        )
        return third
    raise refused(f"expected impl_index to be 0, 1 or 2, got {impl_index}")


def _repeated(t: Optional, count: int) -> Optional:
    return None if t is None else _aten.repeat(t, [count])


def instance_norm(
    input: Tensor,
    weight: Optional,
    bias: Optional,
    running_mean: Optional,
    running_var: Optional,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Tensor:
    """batch_norm in which each sample's channels have statistics of their own."""
    if not use_input_stats and (running_mean is None or running_var is None):
        raise refused("expected running_mean and running_var unless use_input_stats")
    channels = input.shape[rules.wrap_dim(1, input.ndim)]
    batch = input.shape[0]
    sizes = [1, batch * channels, *input.shape[2:]]
    weight, bias = _repeated(weight, batch), _repeated(bias, batch)
    means, variances = _repeated(running_mean, batch), _repeated(running_var, batch)
    whole = _aten.view(_aten.contiguous(input), sizes)
    out = _aten.batch_norm(
        whole,
        weight,
        bias,
        means,
        variances,
        use_input_stats,
        momentum,
        eps,
        cudnn_enabled,
    )
    if use_input_stats:
        for running, each in ((running_mean, means), (running_var, variances)):
            if running is not None and each is not None:
                target = _aten.alias(running)
                mean = _aten.mean.dim(_aten.view(each, [batch, channels]), [0], False)
                _aten.copy_(target, mean)
    return _aten.view(out, list(input.shape))
