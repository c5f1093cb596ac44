"""Norms: over the batch, over layers, over groups and instances."""

from typing import Any, ClassVar

import dispatch
from dispatch._C.advice import advise
from dispatch.as_torch.nn import functional as F, init
from dispatch.as_torch.nn.modules.module import Module
from dispatch.as_torch.nn.parameter import Parameter

__all__ = [
    "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "CrossMapLRN2d", "GroupNorm", "InstanceNorm1d",
    "InstanceNorm2d", "InstanceNorm3d", "LayerNorm", "RMSNorm", "SyncBatchNorm",
]  # fmt: skip


def _scales(module: Any, shape: Any, weight: bool, bias: bool, place: dict[str, Any]) -> None:
    """Parameters `weight` and `bias`, or None; `reset_parameters` fills them."""
    for name, there in (("weight", weight), ("bias", bias)):
        made = Parameter(dispatch.empty(shape, **place)) if there else None
        module.register_parameter(name, made)


def _reset(module: Module) -> None:
    """`weight` ones and `bias` zeros."""
    for name, fill in (("weight", init.ones_), ("bias", init.zeros_)):
        if module._parameters.get(name) is not None:
            fill(module._parameters[name])


class _NormBase(Module):
    """What modules with running statistics share."""

    dims: ClassVar[tuple[int, ...]]

    def _setup(
        self, num_features: int, eps: float, momentum: float | None, affine: bool,
        track_running_stats: bool, place: dict[str, Any], bias: bool,
    ) -> None:  # fmt: skip
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        _scales(self, num_features, affine, affine and bias, place)
        counter = {"dtype": dispatch.long, "device": place["device"]}
        for name, made in (
            ("running_mean", lambda: dispatch.zeros(num_features, **place)),
            ("running_var", lambda: dispatch.ones(num_features, **place)),
            ("num_batches_tracked", lambda: dispatch.tensor(0, **counter)),
        ):
            self.register_buffer(name, made() if track_running_stats else None)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Forget the statistics."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Forget the statistics; scale by 1 and move by 0."""
        self.reset_running_stats()
        _reset(self)

    def _check_dim(self, input: Any) -> None:
        if input.dim() not in self.dims:
            wanted = " or ".join(f"{d}D" for d in self.dims)
            raise ValueError(f"expected {wanted} input (got {input.dim()}D input)")

    def extra_repr(self) -> str:
        """The sizes and settings."""
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )


class _BatchNorm(_NormBase):
    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1,
        affine: bool = True, track_running_stats: bool = True, device: Any = None,
        dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        place = {"device": device, "dtype": dtype}
        self._setup(num_features, eps, momentum, affine, track_running_stats, place, bias)

    def forward(self, input: Any) -> Any:
        """Each channel with mean 0 and variance 1: of the batch in training, else as tracked."""
        self._check_dim(input)
        share = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                share = 1.0 / float(self.num_batches_tracked)
        own = self.training or (self.running_mean is None and self.running_var is None)
        tracked = not self.training or self.track_running_stats
        return F.batch_norm(
            input, self.running_mean if tracked else None, self.running_var if tracked else None,
            self.weight, self.bias, own, share, self.eps,
        )  # fmt: skip


class BatchNorm1d(_BatchNorm):
    """Of (N, C) or (N, C, L) (torch.nn.BatchNorm1d)."""

    dims = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Of (N, C, H, W) (torch.nn.BatchNorm2d)."""

    dims = (4,)


class BatchNorm3d(_BatchNorm):
    """Of (N, C, D, H, W) (torch.nn.BatchNorm3d)."""

    dims = (5,)


class SyncBatchNorm(_BatchNorm):
    """Of any (N, C, ...) (torch.nn.SyncBatchNorm). There are no other processes here: it computes
    what it computes in one, the norm of its own batch."""

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1,
        affine: bool = True, track_running_stats: bool = True, process_group: Any = None,
        device: Any = None, dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias
        )
        self.process_group = process_group

    def _check_dim(self, input: Any) -> None:
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")
        if input.size(1) == 0:
            raise ValueError("SyncBatchNorm: the number of input channels must not be zero")

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: Any = None) -> Module:
        """The module with each batch norm in it as one of these, sharing its tensors; a batch norm
        itself gives a new module."""
        found = module
        if isinstance(module, _BatchNorm):
            made = SyncBatchNorm(
                module.num_features, module.eps, module.momentum, module.affine,
                module.track_running_stats, process_group, bias=module.bias is not None,
            )  # fmt: skip
            if module.affine:
                made.weight, made.bias = module.weight, module.bias
            for name in ("running_mean", "running_var", "num_batches_tracked", "training"):
                setattr(made, name, getattr(module, name))
            found = made
        for name, child in module.named_children():
            found.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return found


class _InstanceNorm(_NormBase):
    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = False,
        track_running_stats: bool = False, device: Any = None, dtype: Any = None, *,
        bias: bool = True,
    ) -> None:  # fmt: skip
        place = {"device": device, "dtype": dtype}
        self._setup(num_features, eps, momentum, affine, track_running_stats, place, bias)

    def forward(self, input: Any) -> Any:
        """Each channel of each sample with mean 0 and variance 1."""
        self._check_dim(input)
        unbatched = input.dim() == self.dims[0]
        self._check_channels(input, 0 if unbatched else 1)
        own = self.training or not self.track_running_stats
        found = F.instance_norm(
            input.unsqueeze(0) if unbatched else input, self.running_mean, self.running_var,
            self.weight, self.bias, own, 0.0 if self.momentum is None else self.momentum, self.eps,
        )  # fmt: skip
        return found.squeeze(0) if unbatched else found

    def _check_channels(self, input: Any, at: int) -> None:
        found = input.size(at)
        if found == self.num_features:
            return
        if self.affine:
            raise ValueError(
                f"expected input's size at dim={at} to match num_features ({self.num_features}), "
                f"but got: {found}."
            )
        advise(
            f"input's size at dim={at} does not match num_features: {found} and "
            f"{self.num_features}, which nothing uses without affine=True"
        )


class InstanceNorm1d(_InstanceNorm):
    """Of (N, C, L) or (C, L) (torch.nn.InstanceNorm1d)."""

    dims = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """Of (N, C, H, W) or (C, H, W) (torch.nn.InstanceNorm2d)."""

    dims = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """Of (N, C, D, H, W) or (C, D, H, W) (torch.nn.InstanceNorm3d)."""

    dims = (4, 5)


class _Layer(Module):
    """What norms over the last dimensions share."""

    def reset_parameters(self) -> None:
        """Make the weight ones and the bias zeros."""
        _reset(self)

    def _set_shape(self, shape: Any) -> None:
        self.normalized_shape = (shape,) if isinstance(shape, int) else tuple(shape)

    def extra_repr(self) -> str:
        """The sizes and settings."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}"
        )


class LayerNorm(_Layer):
    """Mean 0 and variance 1 over the last dimensions (torch.nn.LayerNorm)."""

    def __init__(
        self, normalized_shape: Any, eps: float = 1e-5, elementwise_affine: bool = True,
        bias: bool = True, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self._set_shape(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        place = {"device": device, "dtype": dtype}
        affine = elementwise_affine
        _scales(self, self.normalized_shape, affine, affine and bias, place)
        self.reset_parameters()

    def forward(self, input: Any) -> Any:
        """The input, normalised."""
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """The sizes and settings."""
        return f"{super().extra_repr()}, bias={self.bias is not None}"


class RMSNorm(_Layer):
    """A mean square of 1 over the last dimensions (torch.nn.RMSNorm)."""

    def __init__(
        self, normalized_shape: Any, eps: float | None = None, elementwise_affine: bool = True,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self._set_shape(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        place = {"device": device, "dtype": dtype}
        _scales(self, self.normalized_shape, elementwise_affine, False, place)
        self.reset_parameters()

    def forward(self, x: Any) -> Any:
        """The input, normalised."""
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)


class GroupNorm(Module):
    """Mean 0 and variance 1 over groups of channels (torch.nn.GroupNorm)."""

    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True,
        device: Any = None, dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(
                f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})"
            )
        self.num_groups, self.num_channels, self.eps = num_groups, num_channels, eps
        self.affine = affine
        _scales(self, num_channels, affine, affine and bias, {"device": device, "dtype": dtype})
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Make the weight ones and the bias zeros."""
        _reset(self)

    def forward(self, input: Any) -> Any:
        """The input, normalised."""
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """The sizes and settings."""
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


class CrossMapLRN2d(Module):
    """Of (N, C, H, W), by the squares of the channels around each (torch.nn.CrossMapLRN2d)."""

    def __init__(
        self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1
    ) -> None:
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input: Any) -> Any:
        """The input, normalised; ValueError for another number of dimensions."""
        if input.dim() != 4:
            raise ValueError(f"CrossMapLRN2d: Expected input to be 4D, got {input.dim()}D instead.")
        ahead = int((self.size - 1) / 2 + 1)        # the channel itself counts as one ahead
        squares = input.pow(2)
        padded = F.pad(squares, (0, 0, 0, 0, ahead - 1, ahead - 1))
        sums: Any = sum(padded[:, i : i + input.size(1)] for i in range(2 * ahead - 1))
        sums[:, ahead:] += squares[:, :1]  # PyTorch never takes the first channel out again
        return input * (sums * (self.alpha / self.size) + self.k).pow(-self.beta)

    def extra_repr(self) -> str:
        """The sizes and settings."""
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
