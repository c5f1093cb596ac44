"""Operators with kernels of their own that `decompose` takes apart all the same (torch._decomp).

`resolution.decompose` looks here for an operator without a CompositeImplicitAutograd kernel; calls
never do. What a mode sees of one are the operators that PyTorch's decomposition calls.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from dispatch._C.dtypes import channels_last, float32, int64
from dispatch._C.overload import OpOverload, _find_packet
from dispatch._C.tensor import Tensor

__all__ = ["DECOMPOSITIONS"]

_SCALES = {1: ("scales",), 2: ("scales_h", "scales_w"), 3: ("scales_d", "scales_h", "scales_w")}


def _op(name: str, overload: str = "default") -> OpOverload:
    packet = _find_packet(f"aten::{name}")
    assert packet is not None
    return getattr(packet, overload)


def _native_batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    affine = (input, weight, bias)
    if running_mean is None and running_var is None:
        return _op("_native_batch_norm_legit", "no_stats")(*affine, training, momentum, eps)
    if running_mean is None or running_var is None:
        raise RuntimeError(
            "aten::native_batch_norm: expected both of running_mean and running_var, or neither"
        )
    running = (running_mean, running_var)
    if training:
        return _op("_native_batch_norm_legit")(*affine, *running, True, momentum, eps)
    return _op("_native_batch_norm_legit_no_training")(*affine, *running, momentum, eps)


def _nearest(
    shift: float,
    input: Tensor,
    output_size: Sequence[int],
    *scales: float | None,
    **named: float | None,
) -> Tensor:
    """`upsample_nearest*` by an index for each dimension; `shift` is 0.5 for the exact ones."""
    places: list[Tensor | None] = [None, None]
    given = [*scales, *(named.get(name) for name in _SCALES[len(output_size)][len(scales) :])]
    for d, (size, scale) in enumerate(zip(output_size, given, strict=True)):
        ratio = input.shape[2 + d] / size if scale is None else 1.0 / scale
        steps = _op("arange")(size, dtype=float32, device=input.device)
        place = _op("_to_copy")((steps + shift) * ratio, dtype=int64)
        for _ in range(len(output_size) - 1 - d):
            place = _op("unsqueeze")(place, -1)
        places.append(place)
    result = _op("_unsafe_index", "Tensor")(input, places)
    if len(output_size) == 2 and _is_channels_last(input):
        return result.contiguous(memory_format=channels_last)
    return result.contiguous()


def _is_channels_last(t: Tensor) -> bool:
    return not t.is_contiguous() and t.is_contiguous(memory_format=channels_last)


def _dropout(input: Tensor, p: float, train: bool) -> Tensor:
    if train and p != 0:
        kept: Tensor = _op("native_dropout")(input, p, train)[0]
        return kept
    return input.clone()


DECOMPOSITIONS: dict[Any, Callable[..., Any]] = {
    _op("dropout"): _dropout,
    _op("native_batch_norm"): _native_batch_norm,
    **{
        _op(f"{name}{dims}d"): partial(_nearest, shift)
        for name, shift in (("upsample_nearest", 0.0), ("_upsample_nearest_exact", 0.5))
        for dims in (1, 2, 3)
    },
}
