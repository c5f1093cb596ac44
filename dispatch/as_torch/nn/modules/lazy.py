"""Modules that take the sizes of their input from the first call (torch.nn.modules.lazy).

A lazy module holds uninitialized parameters, which have a dtype and a device and no sizes. Its
first call asks `initialize_parameters`, which makes them whole, and turns the module into the class
that it stands for; a `state_dict` that is loaded before does the same to the parameters.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

import dispatch
from dispatch.as_torch.nn.modules import conv, norms, weighted
from dispatch.as_torch.nn.modules.module import Module
from dispatch.as_torch.nn.parameter import UninitializedBuffer, UninitializedParameter, is_lazy

__all__ = [
    "LazyBatchNorm1d", "LazyBatchNorm2d", "LazyBatchNorm3d", "LazyConv1d", "LazyConv2d",
    "LazyConv3d", "LazyConvTranspose1d", "LazyConvTranspose2d", "LazyConvTranspose3d",
    "LazyInstanceNorm1d", "LazyInstanceNorm2d", "LazyInstanceNorm3d", "LazyLinear",
    "LazyModuleMixin",
]  # fmt: skip


class LazyModuleMixin:
    """What a lazy module is besides its module: put it before the module among the bases.

    `initialize_parameters(*args, **kwargs)`, given what the first call is given, makes parameters
    and buffers whole; `cls_to_become` is the class from then on (None: it stays).
    """

    cls_to_become: ClassVar[type[Any] | None] = None

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._initialize_hook = self.register_forward_pre_hook(
            self._infer_parameters, with_kwargs=True
        )

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Make the parameters whole for this input."""
        raise NotImplementedError(
            f"initialize_parameters is not implemented for {type(self).__name__}"
        )

    def has_uninitialized_params(self: Any) -> bool:
        """Whether a parameter or buffer of the module itself has no sizes yet."""
        return any(map(is_lazy, (*self._parameters.values(), *self._buffers.values())))

    def _infer_parameters(self: Any, module: Any, args: Any, kwargs: Any = None) -> None:
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {module._get_name()} has not been fully initialized")
        module._initialize_hook.remove()
        del module._initialize_hook
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become


class LazyLinear(LazyModuleMixin, weighted.Linear):
    """A `Linear` whose `in_features` the first input says (torch.nn.LazyLinear)."""

    cls_to_become = weighted.Linear

    def __init__(
        self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(0, 0, False)
        place = {"device": device, "dtype": dtype}
        self.weight = UninitializedParameter(**place)
        self.out_features = out_features
        if bias:
            self.bias = UninitializedParameter(**place)

    def reset_parameters(self) -> None:
        """Draw the parameters, when there are any."""
        if not self.has_uninitialized_params() and self.in_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Any) -> None:
        """As many features as the last dimension has."""
        if self.has_uninitialized_params():
            self.in_features = input.shape[-1]
            self.weight.materialize((self.out_features, self.in_features))
            if self.bias is not None:
                self.bias.materialize((self.out_features,))
            self.reset_parameters()
        if self.in_features == 0:
            self.in_features = self.weight.shape[-1]


class _LazyConv(LazyModuleMixin):
    """Of `in_channels` that the first input says; everything else is given."""

    def __init__(
        self: Any, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
        *args: Any, **kwargs: Any,
    ) -> None:  # fmt: skip
        names: Sequence[str] = ("dilation", "groups", "bias", "padding_mode", "device", "dtype")
        if self.transposed:
            names = ("output_padding", "groups", "bias", "dilation", *names[3:])
        options = {**dict(zip(names, args, strict=False)), **kwargs}
        bias, groups = options.pop("bias", True), options.pop("groups", 1)
        place = {name: options.pop(name, None) for name in ("device", "dtype")}
        super().__init__(0, 0, kernel_size, stride, padding, bias=False, **options)
        self.out_channels, self.groups = out_channels, groups
        self.weight = UninitializedParameter(**place)
        if bias:
            self.bias = UninitializedParameter(**place)

    def reset_parameters(self: Any) -> None:
        """Draw the parameters, when there are any."""
        if not self.has_uninitialized_params() and self.in_channels != 0:
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self: Any, input: Any) -> None:
        """As many channels as the input has."""
        if not self.has_uninitialized_params():
            return
        dims = self.count
        if input.dim() not in (dims + 1, dims + 2):
            raise RuntimeError(
                f"Expected {dims + 1}D (unbatched) or {dims + 2}D (batched) input to "
                f"{type(self).__name__}, but got input of size: {input.shape}"
            )
        self.in_channels = input.shape[-dims - 1]
        if self.in_channels % self.groups:
            raise ValueError("in_channels must be divisible by groups")
        channels = (self.out_channels, self.in_channels)
        outer, inner = reversed(channels) if self.transposed else channels
        self.weight.materialize((outer, inner // self.groups, *self.kernel_size))
        if self.bias is not None:
            self.bias.materialize((self.out_channels,))
        self.reset_parameters()


class _LazyNorm(LazyModuleMixin):
    """Of `num_features` that the first input says."""

    def __init__(
        self: Any, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
        track_running_stats: bool = True, device: Any = None, dtype: Any = None, *,
        bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(0, eps, momentum, False, False)
        place = {"device": device, "dtype": dtype}
        self.affine, self.track_running_stats = affine, track_running_stats
        if affine:
            self.weight = UninitializedParameter(**place)
            if bias:
                self.bias = UninitializedParameter(**place)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(**place)
            self.running_var = UninitializedBuffer(**place)
            self.num_batches_tracked = dispatch.tensor(0, dtype=dispatch.long, device=device)

    def reset_parameters(self: Any) -> None:
        """Scale by 1, move by 0 and forget the statistics, when there are sizes."""
        if not self.has_uninitialized_params() and self.num_features != 0:
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self: Any, input: Any) -> None:
        """As many features as the input has channels."""
        if not self.has_uninitialized_params():
            return
        self.num_features = input.shape[1]
        for t in (self.weight, self.bias, self.running_mean, self.running_var):
            if is_lazy(t):
                t.materialize((self.num_features,))
        self.reset_parameters()


class _LazyInstanceNorm(_LazyNorm):
    def __init__(
        self: Any, eps: float = 1e-5, momentum: float = 0.1, affine: bool = True,
        track_running_stats: bool = True, *args: Any, **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__(eps, momentum, affine, track_running_stats, *args, **kwargs)


def _lazy(kind: type[Any], of: type[Module]) -> Any:
    """The lazy class of a module's."""
    name = f"Lazy{of.__name__}"
    text = f"A `{of.__name__}` whose sizes the first input says (torch.nn.{name})."
    return type(name, (kind, of), {"cls_to_become": of, "__doc__": text, "__module__": __name__})


LazyConv1d = _lazy(_LazyConv, conv.Conv1d)
LazyConv2d = _lazy(_LazyConv, conv.Conv2d)
LazyConv3d = _lazy(_LazyConv, conv.Conv3d)
LazyConvTranspose1d = _lazy(_LazyConv, conv.ConvTranspose1d)
LazyConvTranspose2d = _lazy(_LazyConv, conv.ConvTranspose2d)
LazyConvTranspose3d = _lazy(_LazyConv, conv.ConvTranspose3d)
LazyBatchNorm1d = _lazy(_LazyNorm, norms.BatchNorm1d)
LazyBatchNorm2d = _lazy(_LazyNorm, norms.BatchNorm2d)
LazyBatchNorm3d = _lazy(_LazyNorm, norms.BatchNorm3d)
LazyInstanceNorm1d = _lazy(_LazyNorm, norms.InstanceNorm1d)
LazyInstanceNorm2d = _lazy(_LazyNorm, norms.InstanceNorm2d)
LazyInstanceNorm3d = _lazy(_LazyNorm, norms.InstanceNorm3d)
