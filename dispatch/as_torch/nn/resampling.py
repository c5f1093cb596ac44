"""Pools, resizing, padding, patches and grids of `torch.nn.functional`.

Sizes may be given as one number for all dimensions. A pool called with `return_indices` is another
function to handlers (`max_pool2d_with_indices`), as in PyTorch.
"""

import math
import warnings
from collections.abc import Sequence
from typing import Any

import dispatch
from dispatch import Tensor
from dispatch._C import _nn
from dispatch._C.advice import advise
from dispatch.as_torch.nn.asking import asks, asks_also

__all__ = [
    "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices", "adaptive_max_pool2d", "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d", "adaptive_max_pool3d_with_indices", "affine_grid", "fold",
    "fractional_max_pool2d", "fractional_max_pool2d_with_indices", "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices", "grid_sample", "interpolate", "lp_pool1d", "lp_pool2d",
    "lp_pool3d", "max_pool1d", "max_pool1d_with_indices", "max_pool2d", "max_pool2d_with_indices",
    "max_pool3d", "max_pool3d_with_indices", "max_unpool1d", "max_unpool2d", "max_unpool3d", "pad",
    "unfold", "upsample", "upsample_bilinear", "upsample_nearest",
]  # fmt: skip

Sizes = Any  # a number, or one for each dimension


def _each(sizes: Sizes, count: int) -> list[Any]:
    """One for each dimension."""
    return list(sizes) if isinstance(sizes, (list, tuple)) else [sizes] * count


def _steps(stride: Sizes) -> Sizes:
    """None is as wide as the window, which operators take for a list of none."""
    return [] if stride is None else stride


# ---- pools


@asks
def max_pool1d_with_indices(
    input: Tensor, kernel_size: Sizes, stride: Sizes = None, padding: Sizes = 0,
    dilation: Sizes = 1, ceil_mode: bool = False, return_indices: bool = False,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """`max_pool1d`, and where in the input its values stand."""
    return dispatch.max_pool1d_with_indices(
        input, kernel_size, _steps(stride), padding, dilation, ceil_mode
    )


@asks_also(return_indices=max_pool1d_with_indices)
def max_pool1d(
    input: Tensor, kernel_size: Sizes, stride: Sizes = None, padding: Sizes = 0,
    dilation: Sizes = 1, ceil_mode: bool = False, return_indices: bool = False,
) -> Any:  # fmt: skip
    """The largest elements of windows of (N, C, L); with `return_indices` where they stand too."""
    return dispatch.max_pool1d(input, kernel_size, _steps(stride), padding, dilation, ceil_mode)


@asks
def max_pool2d_with_indices(
    input: Tensor, kernel_size: Sizes, stride: Sizes = None, padding: Sizes = 0,
    dilation: Sizes = 1, ceil_mode: bool = False, return_indices: bool = False,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """`max_pool2d`, and where in the input its values stand."""
    return _nn.max_pool2d_with_indices(
        input, kernel_size, _steps(stride), padding, dilation, ceil_mode
    )


@asks_also(return_indices=max_pool2d_with_indices)
def max_pool2d(
    input: Tensor, kernel_size: Sizes, stride: Sizes = None, padding: Sizes = 0,
    dilation: Sizes = 1, ceil_mode: bool = False, return_indices: bool = False,
) -> Any:  # fmt: skip
    """The largest elements of windows of (N, C, H, W); with `return_indices` their places too."""
    return dispatch.max_pool2d(input, kernel_size, _steps(stride), padding, dilation, ceil_mode)


@asks
def max_pool3d_with_indices(
    input: Tensor, kernel_size: Sizes, stride: Sizes = None, padding: Sizes = 0,
    dilation: Sizes = 1, ceil_mode: bool = False, return_indices: bool = False,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """`max_pool3d`, and where in the input its values stand."""
    return _nn.max_pool3d_with_indices(
        input, kernel_size, _steps(stride), padding, dilation, ceil_mode
    )


@asks_also(return_indices=max_pool3d_with_indices)
def max_pool3d(
    input: Tensor, kernel_size: Sizes, stride: Sizes = None, padding: Sizes = 0,
    dilation: Sizes = 1, ceil_mode: bool = False, return_indices: bool = False,
) -> Any:  # fmt: skip
    """The largest elements of windows of (N, C, D, H, W); with `return_indices` their places."""
    return dispatch.max_pool3d(input, kernel_size, _steps(stride), padding, dilation, ceil_mode)


def _adapted(input: Tensor, output_size: Sizes, dims: int) -> list[int]:
    """Output sizes; None stands for the input's. ValueError for an input of too few dimensions."""
    if isinstance(output_size, (list, tuple)) and input.dim() <= len(output_size):
        raise ValueError(
            f"Input dimension should be at least {len(output_size) + 1}, got {input.dim()}"
        )
    wanted = _each(output_size, dims)
    have = list(input.size())[-len(wanted) :]  # the operator refuses more or fewer of them
    return [own if size is None else size for size, own in zip(wanted, have, strict=False)]


@asks
def adaptive_avg_pool2d(input: Tensor, output_size: Sizes) -> Tensor:
    """Means of as many windows as the output has places; None keeps a size."""
    return _nn.adaptive_avg_pool2d(input, _adapted(input, output_size, 2))


@asks
def adaptive_avg_pool3d(input: Tensor, output_size: Sizes) -> Tensor:
    """Means of as many windows as the output has places; None keeps a size."""
    return _nn.adaptive_avg_pool3d(input, _adapted(input, output_size, 3))


@asks
def adaptive_max_pool1d_with_indices(
    input: Tensor, output_size: Sizes, return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """`adaptive_max_pool1d`, and where in the input its values stand."""
    return dispatch.adaptive_max_pool1d(input, output_size)


@asks_also(return_indices=adaptive_max_pool1d_with_indices)
def adaptive_max_pool1d(input: Tensor, output_size: Sizes, return_indices: bool = False) -> Any:
    """The largest elements of as many windows as the output has places."""
    return adaptive_max_pool1d_with_indices(input, output_size)[0]


@asks
def adaptive_max_pool2d_with_indices(
    input: Tensor, output_size: Sizes, return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """`adaptive_max_pool2d`, and where in the input its values stand."""
    return _nn.adaptive_max_pool2d(input, _adapted(input, output_size, 2))


@asks_also(return_indices=adaptive_max_pool2d_with_indices)
def adaptive_max_pool2d(input: Tensor, output_size: Sizes, return_indices: bool = False) -> Any:
    """The largest elements of as many windows as the output has places; None keeps a size."""
    return adaptive_max_pool2d_with_indices(input, output_size)[0]


@asks
def adaptive_max_pool3d_with_indices(
    input: Tensor, output_size: Sizes, return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """`adaptive_max_pool3d`, and where in the input its values stand."""
    return _nn.adaptive_max_pool3d(input, _adapted(input, output_size, 3))


@asks_also(return_indices=adaptive_max_pool3d_with_indices)
def adaptive_max_pool3d(input: Tensor, output_size: Sizes, return_indices: bool = False) -> Any:
    """The largest elements of as many windows as the output has places; None keeps a size."""
    return adaptive_max_pool3d_with_indices(input, output_size)[0]


def _fractional(
    dims: int, input: Tensor, kernel: Sizes, size: Sizes, ratio: Sizes, samples: Tensor | None
) -> tuple[Tensor, Tensor]:
    if size is None and ratio is None:
        raise ValueError(f"fractional_max_pool{dims}d: give an output_size or an output_ratio")
    if size is None:
        pairs = zip(list(input.size())[-dims:], _each(ratio, dims), strict=True)
        size = [int(own * part) for own, part in pairs]
    if samples is None:
        batch = 1 if input.dim() == dims + 1 else input.size(0)
        samples = dispatch.rand(
            batch, input.size(-dims - 1), dims, dtype=input.dtype, device=input.device
        )
    function = _nn.fractional_max_pool2d if dims == 2 else _nn.fractional_max_pool3d
    return function(input, kernel, size, samples)


@asks
def fractional_max_pool2d_with_indices(
    input: Tensor, kernel_size: Sizes, output_size: Sizes = None, output_ratio: Sizes = None,
    return_indices: bool = False, _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """`fractional_max_pool2d`, and where in the input its values stand."""
    return _fractional(2, input, kernel_size, output_size, output_ratio, _random_samples)


@asks_also(return_indices=fractional_max_pool2d_with_indices)
def fractional_max_pool2d(
    input: Tensor, kernel_size: Sizes, output_size: Sizes = None, output_ratio: Sizes = None,
    return_indices: bool = False, _random_samples: Tensor | None = None,
) -> Any:  # fmt: skip
    """The largest elements of windows at random places. ValueError without size and ratio."""
    return _fractional(2, input, kernel_size, output_size, output_ratio, _random_samples)[0]


@asks
def fractional_max_pool3d_with_indices(
    input: Tensor, kernel_size: Sizes, output_size: Sizes = None, output_ratio: Sizes = None,
    return_indices: bool = False, _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """`fractional_max_pool3d`, and where in the input its values stand."""
    return _fractional(3, input, kernel_size, output_size, output_ratio, _random_samples)


@asks_also(return_indices=fractional_max_pool3d_with_indices)
def fractional_max_pool3d(
    input: Tensor, kernel_size: Sizes, output_size: Sizes = None, output_ratio: Sizes = None,
    return_indices: bool = False, _random_samples: Tensor | None = None,
) -> Any:  # fmt: skip
    """The largest elements of windows at random places. ValueError without size and ratio."""
    return _fractional(3, input, kernel_size, output_size, output_ratio, _random_samples)[0]


def _lp_pool(
    dims: int, input: Tensor, power: float, kernel: Sizes, stride: Sizes, ceil_mode: bool
) -> Tensor:
    pool = dispatch.avg_pool1d if dims == 1 else _nn.avg_pool2d if dims == 2 else _nn.avg_pool3d
    means = pool(input.pow(power), kernel, _steps(stride), 0, ceil_mode)
    sums = dispatch.sign(means) * dispatch.ops.aten.relu.default(dispatch.abs(means))
    return sums.mul(math.prod(_each(kernel, dims))).pow(1.0 / power)


@asks
def lp_pool1d(
    input: Tensor, norm_type: float, kernel_size: int, stride: Sizes = None, ceil_mode: bool = False
) -> Tensor:
    """Norms of windows of (N, C, L)."""
    return _lp_pool(1, input, norm_type, kernel_size, stride, ceil_mode)


@asks
def lp_pool2d(
    input: Tensor, norm_type: float, kernel_size: Sizes, stride: Sizes = None,
    ceil_mode: bool = False,
) -> Tensor:  # fmt: skip
    """Norms of windows of (N, C, H, W)."""
    return _lp_pool(2, input, norm_type, kernel_size, stride, ceil_mode)


@asks
def lp_pool3d(
    input: Tensor, norm_type: float, kernel_size: Sizes, stride: Sizes = None,
    ceil_mode: bool = False,
) -> Tensor:  # fmt: skip
    """Norms of windows of (N, C, D, H, W)."""
    return _lp_pool(3, input, norm_type, kernel_size, stride, ceil_mode)


def _unpooled(
    name: str, input: Tensor, kernel: list[int], stride: list[int], padding: list[int], size: Any
) -> list[int]:
    """The size that was pooled. ValueError for an `output_size` that no such pool had."""
    dims = len(kernel)
    have = list(input.size())[-dims:]
    rows = zip(have, stride, kernel, padding, strict=True)
    usual = [(n - 1) * s + k - 2 * p for n, s, k, p in rows]
    if size is None:
        return usual
    if len(size) not in (dims, dims + 2):
        raise ValueError(
            f"{name}: output_size should be a sequence containing {dims} or {dims + 2} elements, "
            f"got {list(size)}"
        )
    wanted = list(size)[-dims:]
    for at, (asked, default) in enumerate(zip(wanted, usual, strict=False)):
        if len(wanted) != dims or abs(asked - default) >= stride[at]:
            raise ValueError(f"{name}: invalid output_size {list(size)}, expected one near {usual}")
    return wanted


@asks
def max_unpool1d(
    input: Tensor, indices: Tensor, kernel_size: Sizes, stride: Sizes = None, padding: Sizes = 0,
    output_size: Any = None,
) -> Tensor:  # fmt: skip
    """Values back at their places in a larger tensor of zeros (N, C, L)."""
    kernel, pad = _each(kernel_size, 1), _each(padding, 1)
    step = kernel if stride is None else _each(stride, 1)
    size = _unpooled("max_unpool1d", input, kernel, step, pad, output_size)
    found = _nn.max_unpool2d(input.unsqueeze(-1), indices.unsqueeze(-1), [*size, 1])
    return found.squeeze(-1)


@asks
def max_unpool2d(
    input: Tensor, indices: Tensor, kernel_size: Sizes, stride: Sizes = None, padding: Sizes = 0,
    output_size: Any = None,
) -> Tensor:  # fmt: skip
    """Values back at their places in a larger tensor of zeros (N, C, H, W)."""
    kernel, pad = _each(kernel_size, 2), _each(padding, 2)
    step = kernel if stride is None else _each(stride, 2)
    size = _unpooled("max_unpool2d", input, kernel, step, pad, output_size)
    return _nn.max_unpool2d(input, indices, size)


@asks
def max_unpool3d(
    input: Tensor, indices: Tensor, kernel_size: Sizes, stride: Sizes = None, padding: Sizes = 0,
    output_size: Any = None,
) -> Tensor:  # fmt: skip
    """Values back at their places in a larger tensor of zeros (N, C, D, H, W)."""
    kernel, pad = _each(kernel_size, 3), _each(padding, 3)
    step = kernel if stride is None else _each(stride, 3)
    size = _unpooled("max_unpool3d", input, kernel, step, pad, output_size)
    return _nn.max_unpool3d(input, indices, size, step, pad)


# ---- padding and patches


@asks
def pad(
    input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None
) -> Tensor:
    """Borders of the last dimensions, two numbers each, from the last; filled as `mode` says."""
    return _nn.pad(input, pad, mode, value)


@asks
def unfold(
    input: Tensor, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0, stride: Sizes = 1
) -> Tensor:
    """Patches of (N, C, H, W) as the columns of (N, C * kernel, places)."""
    sizes = (_each(s, 2) for s in (kernel_size, dilation, padding, stride))
    return _nn.im2col(input, *sizes)


@asks
def fold(
    input: Tensor, output_size: Sizes, kernel_size: Sizes, dilation: Sizes = 1,
    padding: Sizes = 0, stride: Sizes = 1,
) -> Tensor:  # fmt: skip
    """Columns back to (N, C, H, W), where patches overlap they are added."""
    sizes = (_each(s, 2) for s in (output_size, kernel_size, dilation, padding, stride))
    return _nn.col2im(input, *sizes)


# ---- grids


@asks
def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Tensor:
    """Where each place of (N, C, H, W) reads, by affine matrices (N, 2, 3); 3-d likewise.

    Raises: ValueError for integers, for matrices of another shape, and for sizes below 1.
    """
    if align_corners is None:
        _say_align_corners("affine_grid")
        align_corners = False
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, got {theta.dtype}")
    shape = {4: (2, 3), 5: (3, 4)}.get(len(size))
    if shape is None:
        raise NotImplementedError(f"affine_grid: expected four or five sizes, got {len(size)}")
    if theta.dim() != 3 or tuple(theta.shape[-2:]) != shape:
        sizes = "x".join(map(str, shape))
        raise ValueError(
            f"Expected a batch of {shape[0]}D affine matrices of shape Nx{sizes}, got "
            f"{tuple(theta.shape)}"
        )
    if align_corners and min(size[2:]) == 1:
        advise(f"affine_grid: a size of 1 is at 0, not at -1, got {list(size)}")
    if min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size, got {list(size)}")
    return dispatch.affine_grid_generator(theta, size, align_corners)


def _say_align_corners(name: str) -> None:
    advise(
        f"{name}: Default grid_sample and affine_grid behavior has changed to align_corners=False"
    )


_MODES = {"bilinear": 0, "nearest": 1, "bicubic": 2}
_PADDINGS = {"zeros": 0, "border": 1, "reflection": 2}


@asks
def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """`input` read at the places of `grid`, which lie between -1 and 1. ValueError: modes."""
    for what, value, known in (("mode", mode, _MODES), ("padding_mode", padding_mode, _PADDINGS)):
        if value not in known:
            names = " or ".join(known)
            raise ValueError(f"grid_sample: expected {names} for {what}, but got: {value!r}")
    if align_corners is None:
        _say_align_corners("grid_sample")
        align_corners = False
    return dispatch.grid_sampler(input, grid, _MODES[mode], _PADDINGS[padding_mode], align_corners)


# ---- resizing

# (mode, spatial dimensions) -> the operator; those of the second row know align_corners.
_PLAIN = {"nearest": "upsample_nearest{}d", "nearest-exact": "_upsample_nearest_exact{}d"}
_SMOOTH = {
    ("linear", 1): "upsample_linear1d",
    ("bilinear", 2): "upsample_bilinear2d",
    ("trilinear", 3): "upsample_trilinear3d",
    ("bicubic", 2): "upsample_bicubic2d",
}
_SMOOTH_MODES = tuple(mode for mode, _ in _SMOOTH)


@asks
def interpolate(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """`input` (N, C, ...) at another size, or `scale_factor` times its own.

    `mode` is nearest, nearest-exact, area, linear, bilinear, bicubic or trilinear.
    Raises: ValueError for neither or both of size and scale, numbers that do not fit the
    dimensions, `align_corners` for a mode that has none; NotImplementedError for a mode and a rank
    that do not go together.
    """
    dims = input.dim() - 2
    if mode in _SMOOTH_MODES:
        align_corners = bool(align_corners)
    elif align_corners is not None:
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: "
            + ", ".join(_SMOOTH_MODES)
        )
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is None and scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    scales = None if scale_factor is None else _per_dim("scale_factor", scale_factor, dims)
    sizes = None if size is None else _per_dim("size", size, dims)
    if recompute_scale_factor and sizes is not None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size")
    have = list(input.size())[2:]
    if (mode == "area" and sizes is None) or recompute_scale_factor:
        assert scales is not None
        sizes = [dispatch.sym_int(n * s) for n, s in zip(have, scales, strict=True)]
        scales = None
    if antialias:
        if mode not in ("bilinear", "bicubic") or dims != 2:
            raise ValueError("interpolate: antialias goes with bilinear and bicubic, 4-d inputs")
        return getattr(_nn, f"_upsample_{mode}2d_aa")(input, sizes, align_corners, scales)
    if mode == "area" and dims in (1, 2, 3):
        one: Any = dispatch.adaptive_avg_pool1d
        pool = (one, adaptive_avg_pool2d, adaptive_avg_pool3d)[dims - 1]
        return pool(input, sizes)
    if mode in _PLAIN and dims in (1, 2, 3):
        return getattr(_nn, _PLAIN[mode].format(dims))(input, sizes, scales)
    if (mode, dims) in _SMOOTH:
        return getattr(_nn, _SMOOTH[mode, dims])(input, sizes, align_corners, scales)
    ranks = [dim + 2 for known, dim in _SMOOTH if known == mode]
    if ranks and dims in (1, 2, 3):
        raise NotImplementedError(
            f"Got {input.dim()}D input, but {mode} mode needs {ranks[0]}D input"
        )
    raise NotImplementedError(
        "Input Error: Only 3D, 4D and 5D input Tensors supported, with the modes nearest, "
        "nearest-exact and area, and linear, bilinear or bicubic, trilinear: "
        f"got {mode!r} for {input.dim()}D"
    )


def _per_dim(what: str, given: Any, dims: int) -> list[Any]:
    found = _each(given, dims)
    if len(found) != dims:
        named = "output" if what == "size" else what
        raise ValueError(
            f"Input and {named} must have the same number of spatial dimensions, got {dims} and "
            f"{list(given)}"
        )
    return found


def upsample(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:  # fmt: skip
    """The old name of `interpolate`."""
    warnings.warn("upsample is deprecated: interpolate", stacklevel=2)
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """`interpolate` with the nearest element."""
    warnings.warn("upsample_nearest is deprecated: interpolate", stacklevel=2)
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """`interpolate`, bilinear with `align_corners`."""
    warnings.warn("upsample_bilinear is deprecated: interpolate", stacklevel=2)
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)
