# cython: annotation_typing=False
"""The `.vec` overloads of interpolation: sizes given, or worked out from scale factors.

Each calls the overload that takes sizes, with the factors as the scales to compute positions with
(None: the ratio of the sizes).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops

__all__ = [
    "bicubic2d_aa_vec",
    "bicubic2d_vec",
    "bilinear2d_aa_vec",
    "bilinear2d_vec",
    "lanczos2d_aa_vec",
    "linear1d_vec",
    "nearest1d_vec",
    "nearest2d_vec",
    "nearest3d_vec",
    "nearest_exact1d_vec",
    "nearest_exact2d_vec",
    "nearest_exact3d_vec",
    "trilinear3d_vec",
]

Ints = Sequence[int]
Floats = Sequence[float]

_bicubic2d = ops.aten.upsample_bicubic2d.default
_bicubic2d_aa = ops.aten._upsample_bicubic2d_aa.default
_bilinear2d = ops.aten.upsample_bilinear2d.default
_bilinear2d_aa = ops.aten._upsample_bilinear2d_aa.default
_lanczos2d_aa = ops.aten._upsample_lanczos2d_aa.default
_linear1d = ops.aten.upsample_linear1d.default
_nearest1d = ops.aten.upsample_nearest1d.default
_nearest2d = ops.aten.upsample_nearest2d.default
_nearest3d = ops.aten.upsample_nearest3d.default
_nearest_exact1d = ops.aten._upsample_nearest_exact1d.default
_nearest_exact2d = ops.aten._upsample_nearest_exact2d.default
_nearest_exact3d = ops.aten._upsample_nearest_exact3d.default
_trilinear3d = ops.aten.upsample_trilinear3d.default


def sizes_and_scales(
    dims: int, input: Tensor, output_size: Ints | None, scale_factors: Floats | None
) -> tuple[Ints, Sequence[float | None]]:
    """The output's sizes, and a scale to pass on for each."""
    if (output_size is None) == (scale_factors is None):
        raise refused("exactly one of output_size and scale_factors must be given")
    spatial = input.shape[2:]
    given = scale_factors if output_size is None else output_size
    if given is None or len(spatial) != dims or len(given) != dims:
        raise refused(
            f"input must have {dims + 2} dimensions and output_size or scale_factors {dims} "
            f"numbers, got {list(input.shape)} and {list(given or ())}"
        )
    if scale_factors is None:
        return output_size or (), (None,) * dims
    return [_scaled(n, by) for n, by in zip(spatial, scale_factors, strict=True)], scale_factors


def _scaled(size: int, factor: float) -> int:
    return size * int(factor) if factor.is_integer() else math.trunc(size * factor)


def linear1d_vec(
    input: Tensor, output_size: Ints | None, align_corners: bool, scale_factors: Floats | None
) -> Tensor:
    sizes, scales = sizes_and_scales(1, input, output_size, scale_factors)
    return _linear1d(input, sizes, align_corners, *scales)


def bilinear2d_vec(
    input: Tensor, output_size: Ints | None, align_corners: bool, scale_factors: Floats | None
) -> Tensor:
    sizes, scales = sizes_and_scales(2, input, output_size, scale_factors)
    return _bilinear2d(input, sizes, align_corners, *scales)


def bilinear2d_aa_vec(
    input: Tensor, output_size: Ints | None, align_corners: bool, scale_factors: Floats | None
) -> Tensor:
    sizes, scales = sizes_and_scales(2, input, output_size, scale_factors)
    return _bilinear2d_aa(input, sizes, align_corners, *scales)


def bicubic2d_vec(
    input: Tensor, output_size: Ints | None, align_corners: bool, scale_factors: Floats | None
) -> Tensor:
    sizes, scales = sizes_and_scales(2, input, output_size, scale_factors)
    return _bicubic2d(input, sizes, align_corners, *scales)


def bicubic2d_aa_vec(
    input: Tensor, output_size: Ints | None, align_corners: bool, scale_factors: Floats | None
) -> Tensor:
    sizes, scales = sizes_and_scales(2, input, output_size, scale_factors)
    return _bicubic2d_aa(input, sizes, align_corners, *scales)


def lanczos2d_aa_vec(
    input: Tensor, output_size: Ints | None, align_corners: bool, scale_factors: Floats | None
) -> Tensor:
    sizes, scales = sizes_and_scales(2, input, output_size, scale_factors)
    return _lanczos2d_aa(input, sizes, align_corners, *scales)


def trilinear3d_vec(
    input: Tensor, output_size: Ints | None, align_corners: bool, scale_factors: Floats | None
) -> Tensor:
    sizes, scales = sizes_and_scales(3, input, output_size, scale_factors)
    return _trilinear3d(input, sizes, align_corners, *scales)


def nearest1d_vec(input: Tensor, output_size: Ints | None, scale_factors: Floats | None) -> Tensor:
    sizes, scales = sizes_and_scales(1, input, output_size, scale_factors)
    return _nearest1d(input, sizes, *scales)


def nearest2d_vec(input: Tensor, output_size: Ints | None, scale_factors: Floats | None) -> Tensor:
    sizes, scales = sizes_and_scales(2, input, output_size, scale_factors)
    return _nearest2d(input, sizes, *scales)


def nearest3d_vec(input: Tensor, output_size: Ints | None, scale_factors: Floats | None) -> Tensor:
    sizes, scales = sizes_and_scales(3, input, output_size, scale_factors)
    return _nearest3d(input, sizes, *scales)


def nearest_exact1d_vec(
    input: Tensor, output_size: Ints | None, scale_factors: Floats | None
) -> Tensor:
    sizes, scales = sizes_and_scales(1, input, output_size, scale_factors)
    return _nearest_exact1d(input, sizes, *scales)


def nearest_exact2d_vec(
    input: Tensor, output_size: Ints | None, scale_factors: Floats | None
) -> Tensor:
    sizes, scales = sizes_and_scales(2, input, output_size, scale_factors)
    return _nearest_exact2d(input, sizes, *scales)


def nearest_exact3d_vec(
    input: Tensor, output_size: Ints | None, scale_factors: Floats | None
) -> Tensor:
    sizes, scales = sizes_and_scales(3, input, output_size, scale_factors)
    return _nearest_exact3d(input, sizes, *scales)
