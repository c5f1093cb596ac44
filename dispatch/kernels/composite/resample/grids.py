"""Sampling on a grid by number of dimensions, and grids of affine maps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dispatch._C.dtypes import float32
from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.meta.rules import is_eager

__all__ = [
    "_grid_sampler_2d_cpu_fallback",
    "_grid_sampler_2d_cpu_fallback_backward",
    "affine_grid_generator",
    "affine_grid_generator_backward",
    "grid_sampler",
]

Ints = Sequence[int]

_bmm = ops.aten.bmm.default
_copy_ = ops.aten.copy_.default
_empty = ops.aten.empty.memory_format
_fill_ = ops.aten.fill_.Scalar
_linspace = ops.aten.linspace.default
_mul = ops.aten.mul.Scalar
_sampler_2d = ops.aten.grid_sampler_2d.default
_sampler_2d_backward = ops.aten.grid_sampler_2d_backward.default
_sampler_3d = ops.aten.grid_sampler_3d.default
_select = ops.aten.select.int
_transpose = ops.aten.transpose.int
_unsqueeze = ops.aten.unsqueeze.default
_reshape = ops.aten.reshape.default
_view = ops.aten.view.default
_zeros = ops.aten.zeros.default


def grid_sampler(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    sampler = _sampler_3d if input.ndim == 5 else _sampler_2d
    result: Tensor = sampler(input, grid, interpolation_mode, padding_mode, align_corners)
    return result


def check_single(**tensors: Tensor) -> None:
    """What PyTorch's way without vector instructions takes."""
    for name, t in tensors.items():
        if t.dtype is not float32:
            raise refused(f"expected {name} to be float32, got {t.dtype}")


def _grid_sampler_2d_cpu_fallback(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    check_single(input=input, grid=grid)
    return _sampler_2d(input, grid, interpolation_mode, padding_mode, align_corners)


def _grid_sampler_2d_cpu_fallback_backward(
    grad_output: Tensor,
    input: Tensor,
    grid: Tensor,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
) -> tuple[Tensor, Tensor]:
    check_single(grad_output=grad_output, input=input, grid=grid)
    modes = interpolation_mode, padding_mode, align_corners
    grads: tuple[Tensor, Tensor] = _sampler_2d_backward(
        grad_output, input, grid, *modes, [True, True]
    )
    return grads


# ---- affine maps -------------------------------------------------------------------------------


def places(like: Tensor, count: int, align_corners: bool) -> Tensor:
    """`count` coordinates between -1 and 1: of elements' centres, or of the outer ones' edges."""
    options: dict[str, Any] = {"dtype": like.dtype, "device": like.device}
    if not is_eager(like):
        return _empty([count], **options)    # a line of so many places, without asking how many
    if count <= 1:
        return _zeros([count], **options)
    line = _linspace(-1, 1, count, **options)
    return line if align_corners else _mul(line, (count - 1) / count)


def base_grid(theta: Tensor, size: Ints, align_corners: bool) -> Tensor:
    """(N, places, dimensions + 1): the coordinates of each place, x first, and a 1."""
    spatial = size[2:]
    dims = len(spatial)
    grid = _empty([size[0], *spatial, dims + 1], dtype=theta.dtype, device=theta.device)
    for d in range(dims):
        line = places(theta, spatial[dims - 1 - d], align_corners)
        for _ in range(d):
            line = _unsqueeze(line, -1)
        _copy_(_select(grid, -1, d), line)
    _fill_(_select(grid, -1, dims), 1)
    count = 1
    for length in spatial:
        count *= length
    return _view(grid, [size[0], count, dims + 1])


def affine_grid_generator(theta: Tensor, size: Ints, align_corners: bool) -> Tensor:
    if len(size) not in (4, 5):
        raise refused(f"expected size to have 4 or 5 numbers, got {list(size)}")
    base = base_grid(theta, size, align_corners)
    grid = _bmm(base, _transpose(theta, 1, 2))
    return _view(grid, [size[0], *size[2:], len(size) - 2])


def affine_grid_generator_backward(grad: Tensor, size: Ints, align_corners: bool) -> Tensor:
    if len(size) not in (4, 5):
        raise refused(f"expected size to have 4 or 5 numbers, got {list(size)}")
    base = base_grid(grad, size, align_corners)
    flat = _reshape(grad, [size[0], base.shape[1], len(size) - 2])
    return _transpose(_bmm(_transpose(base, 1, 2), flat), 1, 2)
