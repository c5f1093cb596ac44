"""Modules of windows and places: pools, borders, folds, other sizes, other forms."""

from typing import Any, ClassVar

import dispatch
from dispatch.as_torch.nn import functional as F
from dispatch.as_torch.nn.modules.applied import Applied, sizes

__all__ = [
    "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d", "AdaptiveMaxPool3d", "AvgPool1d", "AvgPool2d", "AvgPool3d",
    "ChannelShuffle", "CircularPad1d", "CircularPad2d", "CircularPad3d", "ConstantPad1d",
    "ConstantPad2d", "ConstantPad3d", "CosineSimilarity", "Flatten", "Fold",
    "FractionalMaxPool2d", "FractionalMaxPool3d", "LPPool1d", "LPPool2d", "LPPool3d",
    "LocalResponseNorm", "MaxPool1d", "MaxPool2d", "MaxPool3d", "MaxUnpool1d", "MaxUnpool2d",
    "MaxUnpool3d", "PairwiseDistance", "PixelShuffle", "PixelUnshuffle", "ReflectionPad1d",
    "ReflectionPad2d", "ReflectionPad3d", "ReplicationPad1d", "ReplicationPad2d",
    "ReplicationPad3d", "Unflatten", "Unfold", "Upsample", "UpsamplingBilinear2d",
    "UpsamplingNearest2d", "ZeroPad1d", "ZeroPad2d", "ZeroPad3d",
]  # fmt: skip

# ---- pools


class _Pool(Applied):
    """A stride of None is the size of the window."""

    kernel_size: Any
    stride: Any = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.stride is None:
            self.stride = self.kernel_size


class _MaxPoolNd(_Pool):
    shown = (
        "kernel_size={kernel_size}, stride={stride}, padding={padding}, dilation={dilation}, "
        "ceil_mode={ceil_mode}"
    )
    kernel_size: Any
    stride: Any = None
    padding: Any = 0
    dilation: Any = 1
    return_indices: bool = False
    ceil_mode: bool = False


class MaxPool1d(_MaxPoolNd):
    """The largest of each window (torch.nn.MaxPool1d)."""

    function = F.max_pool1d


class MaxPool2d(_MaxPoolNd):
    """The largest of each window (torch.nn.MaxPool2d)."""

    function = F.max_pool2d


class MaxPool3d(_MaxPoolNd):
    """The largest of each window (torch.nn.MaxPool3d)."""

    function = F.max_pool3d


class _MaxUnpoolNd(_Pool):
    shown = "kernel_size={kernel_size}, stride={stride}, padding={padding}"
    count: ClassVar[int]
    kernel_size: Any
    stride: Any = None
    padding: Any = 0

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in self._signature.parameters:
            setattr(self, name, sizes(getattr(self, name), self.count))

    def forward(  # type: ignore[override]
        self, input: Any, indices: Any, output_size: Any = None
    ) -> Any:
        """The values at their places."""
        places = [getattr(self, name) for name in self._signature.parameters]
        return self.function(input, indices, *places, output_size)


class MaxUnpool1d(_MaxUnpoolNd):
    """Values back to where `MaxPool1d` found them (torch.nn.MaxUnpool1d)."""

    function = F.max_unpool1d
    count = 1


class MaxUnpool2d(_MaxUnpoolNd):
    """Values back to where `MaxPool2d` found them (torch.nn.MaxUnpool2d)."""

    function = F.max_unpool2d
    count = 2


class MaxUnpool3d(_MaxUnpoolNd):
    """Values back to where `MaxPool3d` found them (torch.nn.MaxUnpool3d)."""

    function = F.max_unpool3d
    count = 3


class _AvgPoolNd(_Pool):
    in_order = True
    shown = "kernel_size={kernel_size}, stride={stride}, padding={padding}"


class AvgPool1d(_AvgPoolNd):
    """The mean of each window (torch.nn.AvgPool1d)."""

    function = F.avg_pool1d
    kernel_size: Any
    stride: Any = None
    padding: Any = 0
    ceil_mode: bool = False
    count_include_pad: bool = True

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("kernel_size", "stride", "padding"):
            setattr(self, name, sizes(getattr(self, name), 1))


class _AvgPoolDivided(_AvgPoolNd):
    """By a divisor of one's own, if there is one."""

    kernel_size: Any
    stride: Any = None
    padding: Any = 0
    ceil_mode: bool = False
    count_include_pad: bool = True
    divisor_override: int | None = None


class AvgPool2d(_AvgPoolDivided):
    """The mean of each window (torch.nn.AvgPool2d)."""

    function = F.avg_pool2d


class AvgPool3d(_AvgPoolDivided):
    """The mean of each window (torch.nn.AvgPool3d)."""

    function = F.avg_pool3d


class _LPPoolNd(Applied):
    shown = (
        "norm_type={norm_type}, kernel_size={kernel_size}, stride={stride}, ceil_mode={ceil_mode}"
    )
    norm_type: float
    kernel_size: Any
    stride: Any = None
    ceil_mode: bool = False


class LPPool1d(_LPPoolNd):
    """The norm of each window (torch.nn.LPPool1d)."""

    function = F.lp_pool1d


class LPPool2d(_LPPoolNd):
    """The norm of each window (torch.nn.LPPool2d)."""

    function = F.lp_pool2d


class LPPool3d(_LPPoolNd):
    """The norm of each window (torch.nn.LPPool3d)."""

    function = F.lp_pool3d


class _AdaptiveAvgPoolNd(Applied):
    in_order = True
    shown = "output_size={output_size}"
    output_size: Any


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """Means that give a size (torch.nn.AdaptiveAvgPool1d)."""

    function = F.adaptive_avg_pool1d


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """Means that give a size (torch.nn.AdaptiveAvgPool2d)."""

    function = F.adaptive_avg_pool2d


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """Means that give a size (torch.nn.AdaptiveAvgPool3d)."""

    function = F.adaptive_avg_pool3d


class _AdaptiveMaxPoolNd(Applied):
    shown = "output_size={output_size}"
    output_size: Any
    return_indices: bool = False


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """The largest of windows that give a size (torch.nn.AdaptiveMaxPool1d)."""

    function = F.adaptive_max_pool1d


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """The largest of windows that give a size (torch.nn.AdaptiveMaxPool2d)."""

    function = F.adaptive_max_pool2d


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """The largest of windows that give a size (torch.nn.AdaptiveMaxPool3d)."""

    function = F.adaptive_max_pool3d


class _FractionalMaxPool(Applied):
    count: ClassVar[int]
    kernel_size: Any
    output_size: Any = None
    output_ratio: Any = None
    return_indices: bool = False
    _random_samples: Any = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        what = type(self).__name__
        if (self.output_size is None) == (self.output_ratio is None):
            raise ValueError(f"{what}: one of output_size and output_ratio is needed, and not both")
        for name in ("kernel_size", "output_size", "output_ratio"):
            value = getattr(self, name)
            setattr(self, name, None if value is None else sizes(value, self.count))
        if self.output_ratio is not None and not all(0 < r < 1 for r in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {self.output_ratio})")


class FractionalMaxPool2d(_FractionalMaxPool):
    """The largest of windows at random places (torch.nn.FractionalMaxPool2d)."""

    function = F.fractional_max_pool2d
    count = 2


class FractionalMaxPool3d(_FractionalMaxPool):
    """The largest of windows at random places (torch.nn.FractionalMaxPool3d)."""

    function = F.fractional_max_pool3d
    count = 3


# ---- borders


class _Pad(Applied):
    """Rows and columns around the last dimensions."""

    count: ClassVar[int]
    mode: ClassVar[str]
    function = F.pad
    shown = "{padding}"
    padding: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.padding = sizes(self.padding, 2 * self.count)

    def _given(self) -> dict[str, Any]:
        return {"pad": self.padding, "mode": self.mode}


class _ReflectionPadNd(_Pad):
    mode = "reflect"


class ReflectionPad1d(_ReflectionPadNd):
    """Mirrored at the border (torch.nn.ReflectionPad1d)."""

    count = 1


class ReflectionPad2d(_ReflectionPadNd):
    """Mirrored at the border (torch.nn.ReflectionPad2d)."""

    count = 2


class ReflectionPad3d(_ReflectionPadNd):
    """Mirrored at the border (torch.nn.ReflectionPad3d)."""

    count = 3


class _ReplicationPadNd(_Pad):
    mode = "replicate"


class ReplicationPad1d(_ReplicationPadNd):
    """The border again (torch.nn.ReplicationPad1d)."""

    count = 1


class ReplicationPad2d(_ReplicationPadNd):
    """The border again (torch.nn.ReplicationPad2d)."""

    count = 2


class ReplicationPad3d(_ReplicationPadNd):
    """The border again (torch.nn.ReplicationPad3d)."""

    count = 3


class _CircularPadNd(_Pad):
    mode = "circular"

    def forward(self, input: Any) -> Any:
        """Padded; ValueError for other numbers of dimensions."""
        if input.dim() not in (self.count + 1, self.count + 2):
            wanted = f"{self.count + 1}D or {self.count + 2}D"
            raise ValueError(f"expected {wanted} input (got {input.dim()}D input)")
        return super().forward(input)


class CircularPad1d(_CircularPadNd):
    """The other end (torch.nn.CircularPad1d)."""

    count = 1


class CircularPad2d(_CircularPadNd):
    """The other end (torch.nn.CircularPad2d)."""

    count = 2


class CircularPad3d(_CircularPadNd):
    """The other end (torch.nn.CircularPad3d)."""

    count = 3


class _ConstantPadNd(_Pad):
    mode = "constant"
    shown = "padding={padding}, value={value}"
    padding: Any
    value: float

    def _given(self) -> dict[str, Any]:
        return {"pad": self.padding, "mode": self.mode, "value": self.value}


class ConstantPad1d(_ConstantPadNd):
    """One value (torch.nn.ConstantPad1d)."""

    count = 1


class ConstantPad2d(_ConstantPadNd):
    """One value (torch.nn.ConstantPad2d)."""

    count = 2


class ConstantPad3d(_ConstantPadNd):
    """One value (torch.nn.ConstantPad3d)."""

    count = 3


class _ZeroPad(_ConstantPadNd):
    shown = "{padding}"
    padding: Any
    value = 0.0


class ZeroPad1d(_ZeroPad, ConstantPad1d):
    """Zeros (torch.nn.ZeroPad1d)."""


class ZeroPad2d(_ZeroPad, ConstantPad2d):
    """Zeros (torch.nn.ZeroPad2d)."""


class ZeroPad3d(_ZeroPad, ConstantPad3d):
    """Zeros (torch.nn.ZeroPad3d)."""


# ---- other forms of the same values


class Flatten(Applied):
    """Dimensions as one (torch.nn.Flatten)."""

    function = dispatch.flatten
    in_order = True
    shown = "start_dim={start_dim}, end_dim={end_dim}"
    start_dim: int = 1
    end_dim: int = -1


class Unflatten(Applied):
    """One dimension as several (torch.nn.Unflatten)."""

    function = dispatch.unflatten
    in_order = True
    shown = "dim={dim}, unflattened_size={unflattened_size}"
    dim: int
    unflattened_size: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        wanted = self.unflattened_size
        if not isinstance(wanted, (tuple, list)) or not all(isinstance(n, int) for n in wanted):
            raise TypeError(
                f"unflattened_size must be a tuple of ints, but found {type(wanted).__name__}"
            )


class Fold(Applied):
    """Windows back to a picture, added where they overlap (torch.nn.Fold)."""

    function = F.fold
    shown = (
        "output_size={output_size}, kernel_size={kernel_size}, dilation={dilation}, "
        "padding={padding}, stride={stride}"
    )
    output_size: Any
    kernel_size: Any
    dilation: Any = 1
    padding: Any = 0
    stride: Any = 1


class Unfold(Applied):
    """The windows of a picture as columns (torch.nn.Unfold)."""

    function = F.unfold
    shown = "kernel_size={kernel_size}, dilation={dilation}, padding={padding}, stride={stride}"
    kernel_size: Any
    dilation: Any = 1
    padding: Any = 0
    stride: Any = 1


class PixelShuffle(Applied):
    """Channels as pixels (torch.nn.PixelShuffle)."""

    function = F.pixel_shuffle
    in_order = True
    shown = "upscale_factor={upscale_factor}"
    upscale_factor: int


class PixelUnshuffle(Applied):
    """Pixels as channels (torch.nn.PixelUnshuffle)."""

    function = F.pixel_unshuffle
    in_order = True
    shown = "downscale_factor={downscale_factor}"
    downscale_factor: int


class ChannelShuffle(Applied):
    """Channels of groups in turn (torch.nn.ChannelShuffle)."""

    function = F.channel_shuffle
    in_order = True
    shown = "groups={groups}"
    groups: int


class Upsample(Applied):
    """Pictures of another size (torch.nn.Upsample)."""

    function = F.interpolate
    size: Any = None
    scale_factor: Any = None
    mode: str = "nearest"
    align_corners: bool | None = None
    recompute_scale_factor: bool | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        factor = self.scale_factor
        if isinstance(factor, (tuple, list)):
            self.scale_factor = tuple(float(f) for f in factor)
        elif factor:
            self.scale_factor = float(factor)

    def extra_repr(self) -> str:
        """The factor, or the size, and how."""
        by_factor = self.scale_factor is not None
        what = f"scale_factor={self.scale_factor!r}" if by_factor else f"size={self.size!r}"
        return f"{what}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """The nearest pixel (torch.nn.UpsamplingNearest2d)."""

    size: Any = None
    scale_factor: Any = None
    mode = "nearest"

    def _given(self) -> dict[str, Any]:
        return {**super()._given(), "mode": self.mode}


class UpsamplingBilinear2d(Upsample):
    """Between pixels, corners on corners (torch.nn.UpsamplingBilinear2d)."""

    size: Any = None
    scale_factor: Any = None
    mode = "bilinear"
    align_corners = True

    def _given(self) -> dict[str, Any]:
        return {**super()._given(), "mode": self.mode, "align_corners": self.align_corners}


class LocalResponseNorm(Applied):
    """Values over those of channels nearby (torch.nn.LocalResponseNorm)."""

    function = F.local_response_norm
    shown = "{size}, alpha={alpha}, beta={beta}, k={k}"
    size: int
    alpha: float = 0.0001
    beta: float = 0.75
    k: float = 1.0


class CosineSimilarity(Applied):
    """The cosine between two tensors along a dimension (torch.nn.CosineSimilarity)."""

    function = F.cosine_similarity
    in_order = True
    dim: int = 1
    eps: float = 1e-8

    def forward(self, x1: Any, x2: Any) -> Any:  # type: ignore[override]
        """The function's result for both."""
        return self._result(x1, x2)


class PairwiseDistance(Applied):
    """The norm of the difference of rows (torch.nn.PairwiseDistance)."""

    function = F.pairwise_distance
    in_order = True
    p: float = 2.0
    eps: float = 1e-6
    keepdim: bool = False

    def forward(self, x1: Any, x2: Any) -> Any:  # type: ignore[override]
        """The function's result for both."""
        return self._result(x1, x2)

    @property
    def norm(self) -> float:
        """The norm's order."""
        return self.p
