"""`LinearCrossEntropyLoss`: a linear layer to classes, and the cross entropy of what it gives."""

import math
from dataclasses import dataclass
from typing import Any

import dispatch
from dispatch.as_torch.nn import functional as F
from dispatch.as_torch.nn.modules.module import Module
from dispatch.as_torch.nn.modules.weighted import Linear

__all__ = ["LinearCrossEntropyLoss", "LinearCrossEntropyOptions"]


@dataclass(slots=True, frozen=True)
class LinearCrossEntropyOptions:
    """How PyTorch splits the work for less memory. Checked and kept; results do not depend on it.

    Raises: ValueError for a policy, method, size or dtype that PyTorch does not know.
    """

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: str = "auto"
    acc_dtype: Any = None

    def __post_init__(self) -> None:
        name, colon, factor = (self.chunking_method or "auto").partition(":")
        by_ratio = name == "aspect_ratio" and (
            not colon or (factor.isdigit() and int(factor) > 0)
        )  # fmt: skip
        size = self.batch_chunk_size
        floats = dispatch.float16, dispatch.bfloat16, dispatch.float32, dispatch.float64
        checks = {
            "acc_policy": self.acc_policy in ("auto", "accurate", "balanced", "compact"),
            "chunking_method": self.chunking_method in (None, "auto") or by_ratio,
            "batch_chunk_size": size is None or (isinstance(size, int) and size > 0),
            "acc_dtype": self.acc_dtype is None or self.acc_dtype in floats,
        }
        for wrong in (name for name, good in checks.items() if not good):
            raise ValueError(f"invalid {wrong}: {getattr(self, wrong)!r}")


class LinearCrossEntropyLoss(Module):
    """`F.linear_cross_entropy` with the weights of `linear` (torch.nn.LinearCrossEntropyLoss).

    Args: in_features and num_classes; out_features, places that each have a class; bias, whether
    the layer has one; the others are those of the function.

    Raises: RuntimeError for a weight of other sizes, or a smoothing outside 0 to 1.
    """

    weight: Any

    def __init__(
        self, in_features: int, num_classes: int, *, out_features: tuple[int, ...] = (),
        bias: bool = False, device: Any = None, dtype: Any = None, reduction: str = "mean",
        weight: Any = None, ignore_index: int | None = None, label_smoothing: float = 0.0,
        options: LinearCrossEntropyOptions | None = None,
    ) -> None:  # fmt: skip
        if weight is not None and tuple(weight.shape) != (num_classes,):
            raise RuntimeError(
                f"LinearCrossEntropyLoss: expected weight shape to be {(num_classes,)}, got "
                f"{tuple(weight.shape)}"
            )
        if not 0 <= label_smoothing <= 1:
            raise RuntimeError(
                "LinearCrossEntropyLoss: expected label_smoothing to be in range [0, 1], got "
                f"{label_smoothing}"
            )
        super().__init__()
        self.register_buffer("weight", weight)
        self.reduction = reduction
        self.num_classes, self.out_features = num_classes, out_features
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing
        rows = math.prod(out_features, start=num_classes)
        self.linear = Linear(in_features, rows, bias=bias, device=device, dtype=dtype)
        self.options = options

    def forward(self, input: Any, target: Any) -> Any:
        """The loss of inputs of sizes (N, in_features) or (in_features,)."""
        shape = (self.num_classes, *self.out_features)
        bias = self.linear.bias
        return F.linear_cross_entropy(
            input, self.linear.weight.reshape(*shape, self.linear.in_features), target,
            linear_bias=None if bias is None else bias.reshape(shape), weight=self.weight,
            reduction=self.reduction, ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing, options=self.options,
        )  # fmt: skip

    def extra_repr(self) -> str:
        """The sizes and settings."""
        return (
            f"in_features={self.linear.in_features}, num_classes={self.num_classes}, "
            f"out_features={self.out_features}, bias={self.linear.bias is not None}, "
            f"reduction={self.reduction}, ignore_index={self.ignore_index}, "
            f"label_smoothing={self.label_smoothing}, options={self.options}"
        )
