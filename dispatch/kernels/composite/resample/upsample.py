"""The `.vec` overloads of interpolation: sizes given, or worked out from scale factors."""

from __future__ import annotations

from collections.abc import Sequence

from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops

__all__ = ["bicubic2d_vec", "bilinear2d_vec", "nearest2d_vec"]

_bicubic2d = ops.aten.upsample_bicubic2d.default
_bilinear2d = ops.aten.upsample_bilinear2d.default
_nearest2d = ops.aten.upsample_nearest2d.default


def sizes_and_scales(
    input: Tensor,
    output_size: Sequence[int] | None,
    scale_factors: Sequence[float] | None,
) -> tuple[Sequence[int], float | None, float | None]:
    """Two output sizes and the scales to pass on (None: the ratio of the sizes)."""
    if (output_size is None) == (scale_factors is None):
        raise refused("exactly one of output_size and scale_factors must be given")
    spatial = input.shape[2:]
    given = output_size or scale_factors or ()
    if len(spatial) != 2 or len(given) != 2:
        raise refused(
            "input must have 4 dimensions and output_size or scale_factors 2 numbers, "
            f"got {list(input.shape)} and {list(given)}"
        )
    if scale_factors is None:
        return output_size or (), None, None
    sizes = [int(size * scale) for size, scale in zip(spatial, scale_factors, strict=True)]
    return sizes, scale_factors[0], scale_factors[1]


def bilinear2d_vec(
    input: Tensor,
    output_size: Sequence[int] | None,
    align_corners: bool,
    scale_factors: Sequence[float] | None,
) -> Tensor:
    sizes, h, w = sizes_and_scales(input, output_size, scale_factors)
    return _bilinear2d(input, sizes, align_corners, h, w)


def bicubic2d_vec(
    input: Tensor,
    output_size: Sequence[int] | None,
    align_corners: bool,
    scale_factors: Sequence[float] | None,
) -> Tensor:
    sizes, h, w = sizes_and_scales(input, output_size, scale_factors)
    return _bicubic2d(input, sizes, align_corners, h, w)


def nearest2d_vec(
    input: Tensor, output_size: Sequence[int] | None, scale_factors: Sequence[float] | None
) -> Tensor:
    sizes, h, w = sizes_and_scales(input, output_size, scale_factors)
    return _nearest2d(input, sizes, h, w)
