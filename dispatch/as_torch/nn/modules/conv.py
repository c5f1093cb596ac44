"""Convolutions and their transposes, of one to three dimensions."""

import math
from collections.abc import Callable
from typing import Any, ClassVar

import dispatch
from dispatch.as_torch.nn import functional as F, init
from dispatch.as_torch.nn.modules.applied import sizes
from dispatch.as_torch.nn.modules.module import Module
from dispatch.as_torch.nn.parameter import Parameter

__all__ = [
    "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d",
]  # fmt: skip


class _ConvNd(Module):
    """The sizes, the weight (out, in / groups, *kernel) and the bias of a convolution."""

    count: ClassVar[int]
    function: ClassVar[Callable[..., Any]]
    transposed: ClassVar[bool] = False

    def _setup(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any, padding: Any,
        dilation: Any, output_padding: Any, groups: int, bias: bool, padding_mode: str,
        place: dict[str, Any],
    ) -> None:  # fmt: skip
        super().__init__()
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        if in_channels % groups:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups:
            raise ValueError("out_channels must be divisible by groups")
        modes = ("zeros", "reflect", "replicate", "circular")
        if padding_mode not in modes:
            raise ValueError(
                f"padding_mode must be one of {set(modes)}, but got padding_mode='{padding_mode}'"
            )
        if self.transposed and padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        self.in_channels, self.out_channels = in_channels, out_channels
        self.kernel_size = sizes(kernel_size, self.count)
        self.stride, self.dilation = sizes(stride, self.count), sizes(dilation, self.count)
        self.padding = padding if isinstance(padding, str) else sizes(padding, self.count)
        self.output_padding = sizes(output_padding, self.count)
        self.groups, self.padding_mode = groups, padding_mode
        self._reversed_padding_repeated_twice = self._around()
        channels = (out_channels, in_channels)
        outer, inner = reversed(channels) if self.transposed else channels
        shape = (outer, inner // groups, *self.kernel_size)
        self.weight = Parameter(dispatch.empty(shape, **place))
        self.register_parameter(
            "bias", Parameter(dispatch.empty(out_channels, **place)) if bias else None
        )
        self.reset_parameters()

    def _around(self) -> list[int]:
        """What `pad` is given: the last dimension first, before and behind."""
        if isinstance(self.padding, str):
            if self.padding not in ("same", "valid"):
                raise ValueError(
                    f"Invalid padding string {self.padding!r}, should be one of {{'valid', 'same'}}"
                )
            if self.padding == "same" and any(s != 1 for s in self.stride):
                raise ValueError("padding='same' is not supported for strided convolutions")
            if self.padding == "valid":
                return [0, 0] * self.count
            totals = [
                d * (k - 1) for d, k in zip(self.dilation, self.kernel_size, strict=True)
            ]  # fmt: skip
            pairs = [(total // 2, total - total // 2) for total in reversed(totals)]
        else:
            pairs = [(p, p) for p in reversed(self.padding)]
        return [n for pair in pairs for n in pair]

    def reset_parameters(self) -> None:
        """Draw the parameters from a uniform distribution of width 1 / sqrt(inputs)."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan, _ = init._calculate_fan_in_and_fan_out(self.weight)
            if fan:
                bound = 1 / math.sqrt(fan)
                init.uniform_(self.bias, -bound, bound)

    def _conv_forward(self, input: Any, weight: Any, bias: Any) -> Any:
        padding = self.padding
        if self.padding_mode != "zeros":
            input = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
            padding = (0,) * self.count
        return self.function(input, weight, bias, self.stride, padding, self.dilation, self.groups)

    def extra_repr(self) -> str:
        """Channels, kernel, stride, and what differs from the defaults."""
        ones, nothing = (1,) * self.count, (0,) * self.count
        parts = [f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}",
                 f"stride={self.stride}"]  # fmt: skip
        if self.padding != nothing:
            parts.append(f"padding={self.padding}")
        if self.dilation != ones:
            parts.append(f"dilation={self.dilation}")
        if self.output_padding != nothing:
            parts.append(f"output_padding={self.output_padding}")
        if self.groups != 1:
            parts.append(f"groups={self.groups}")
        if self.bias is None:
            parts.append("bias=False")
        if self.padding_mode != "zeros":
            parts.append(f"padding_mode={self.padding_mode}")
        return ", ".join(parts)


class _Forward(_ConvNd):
    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1,
        padding: Any = 0, dilation: Any = 1, groups: int = 1, bias: bool = True,
        padding_mode: str = "zeros", device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        self._setup(
            in_channels, out_channels, kernel_size, stride, padding, dilation, 0, groups, bias,
            padding_mode, {"device": device, "dtype": dtype},
        )  # fmt: skip

    def forward(self, input: Any) -> Any:
        """The input of sizes (N, in_channels, *) or (in_channels, *), convolved."""
        return self._conv_forward(input, self.weight, self.bias)


class Conv1d(_Forward):
    """A convolution of sequences (torch.nn.Conv1d)."""

    function = F.conv1d
    count = 1


class Conv2d(_Forward):
    """A convolution of pictures (torch.nn.Conv2d)."""

    function = F.conv2d
    count = 2


class Conv3d(_Forward):
    """A convolution of volumes (torch.nn.Conv3d)."""

    function = F.conv3d
    count = 3


class _ConvTransposeNd(_ConvNd):
    transposed = True

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1,
        padding: Any = 0, output_padding: Any = 0, groups: int = 1, bias: bool = True,
        dilation: Any = 1, padding_mode: str = "zeros", device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        self._setup(
            in_channels, out_channels, kernel_size, stride, padding, dilation, output_padding,
            groups, bias, padding_mode, {"device": device, "dtype": dtype},
        )  # fmt: skip

    def _padding_for(self, input: Any, wanted: Any) -> Any:
        """The padding of the output that gives the wanted sizes.

        Raises: ValueError for sizes that no padding below the stride gives.
        """
        if wanted is None:
            return self.output_padding
        unbatched = input.dim() == self.count + 1
        channels = 1 if unbatched else 2
        if len(wanted) == channels + self.count:
            wanted = wanted[channels:]
        if len(wanted) != self.count:
            raise ValueError(
                f"{type(self).__name__}: for {input.dim()}D input, output_size must have "
                f"{self.count} or {channels + self.count} elements (got {len(wanted)})"
            )
        least = [
            (input.size(d + channels) - 1) * self.stride[d] - 2 * self.padding[d]
            + self.dilation[d] * (self.kernel_size[d] - 1) + 1
            for d in range(self.count)
        ]  # fmt: skip
        most = [n + s - 1 for n, s in zip(least, self.stride, strict=True)]
        if any(not low <= n <= high for low, n, high in zip(least, wanted, most, strict=True)):
            raise ValueError(
                f"requested an output size of {wanted}, but valid sizes range from {least} to "
                f"{most} (for an input of {tuple(input.size()[2:])})"
            )
        return [n - low for n, low in zip(wanted, least, strict=True)]

    def forward(self, input: Any, output_size: Any = None) -> Any:
        """The input, spread by the weight; `output_size` chooses among the sizes that fit."""
        return self.function(
            input, self.weight, self.bias, self.stride, self.padding,
            self._padding_for(input, output_size), self.groups, self.dilation,
        )  # fmt: skip


class ConvTranspose1d(_ConvTransposeNd):
    """The transpose of a convolution of sequences (torch.nn.ConvTranspose1d)."""

    function = F.conv_transpose1d
    count = 1


class ConvTranspose2d(_ConvTransposeNd):
    """The transpose of a convolution of pictures (torch.nn.ConvTranspose2d)."""

    function = F.conv_transpose2d
    count = 2


class ConvTranspose3d(_ConvTransposeNd):
    """The transpose of a convolution of volumes (torch.nn.ConvTranspose3d)."""

    function = F.conv_transpose3d
    count = 3
