"""Shape functions of losses that ask for a margin between classes.

A row of classes has one target (`multi_margin`), or several, up to the first negative one
(`multilabel_margin`). `reduction`: 0 none, 1 the mean, 2 the sum.
"""

from __future__ import annotations

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.structured import TensorSpec
from dispatch._C.tensor import Tensor
from dispatch.kernels.meta import rules

__all__ = [
    "multi_margin_loss",
    "multi_margin_loss_backward",
    "multilabel_margin_loss_backward",
    "multilabel_margin_loss_forward",
]

_SUM = 2


def _rows(self: Tensor) -> tuple[int, int]:
    """Rows and classes; a batch may be empty, a row may not."""
    sizes = self.shape
    if len(sizes) > 2 or (len(sizes) > 0 and sizes[-1] == 0):
        raise refused(
            "Expected non-empty vector or matrix with optional 0-dim batch size, but got: "
            f"{list(sizes)}"
        )
    if len(sizes) == 2:
        return sizes[0], sizes[1]
    return 1, sizes[0] if sizes else 1


def _check_meta_target(target: Tensor) -> None:
    """On Meta alone: the body has its own words for it."""
    if not rules.is_eager(target) and target.dtype not in (dtypes.int64, dtypes.int32):
        raise refused(f"expected target to have dtype int64, got {target.dtype}")


def _check_one(self: Tensor, target: Tensor, p: float, weight: Tensor | None) -> int:
    if (int(p) if rules.is_eager(self) else p) not in (1, 2):
        raise refused(f"expected p to be 1 or 2, got {p}")
    rows, classes = _rows(self)
    if target.ndim > 1 or target.numel() != rows:
        raise refused(
            "target tensor should be 1-D with size equal to the number of input samples. "
            f"Expected target size [{rows}], but got {list(target.shape)}."
        )
    if weight is not None and (weight.ndim > 1 or weight.numel() != classes):
        raise refused(f"inconsistent weight size, expected {classes} but got {list(weight.shape)}")
    _check_meta_target(target)
    return rows


def multi_margin_loss(
    self: Tensor, target: Tensor, p: float, margin: float, weight: Tensor | None, reduction: int
) -> TensorSpec:
    """A loss for each row, or one number."""
    rows = _check_one(self, target, p, weight)
    if rules.is_eager(self):
        return TensorSpec((rows,) if reduction == 0 and target.ndim else (), self.dtype)
    kind = rules.result_type(self, margin)
    if not kind.is_floating_point and reduction != _SUM:
        raise refused(f"the mean of {kind} is not defined")
    return TensorSpec(() if reduction else (rows,), rules.float_type(kind))


def multi_margin_loss_backward(
    grad_output: Tensor,
    self: Tensor,
    target: Tensor,
    p: float,
    margin: float,
    weight: Tensor | None,
    reduction: int,
) -> TensorSpec:
    """self's sizes."""
    rows = _check_one(self, target, p, weight)
    _check_grads(grad_output, rows, reduction)
    return TensorSpec(self.shape, self.dtype)


def _check_grads(grad_output: Tensor, rows: int, reduction: int) -> None:
    if reduction != 0 or grad_output.ndim == 0:
        if grad_output.numel() != 1:
            raise refused(f"expected grad_output to be a number, got {list(grad_output.shape)}")
    elif grad_output.ndim != 1 or grad_output.shape[0] != rows:
        raise refused(f"expected grad_output of shape [{rows}], got {list(grad_output.shape)}")


def _check_many(self: Tensor, target: Tensor) -> int:
    rows, classes = _rows(self)
    if self.ndim <= 1:
        fits = target.ndim <= 1 and target.numel() == classes
    else:
        fits = tuple(target.shape) == (rows, classes)
    if not fits:
        raise refused(
            f"inconsistent target size: {list(target.shape)} for input of size: {list(self.shape)}"
        )
    _check_meta_target(target)
    return rows


def multilabel_margin_loss_forward(
    self: Tensor, target: Tensor, reduction: int
) -> tuple[TensorSpec, TensorSpec]:
    """The loss, and which classes are targets."""
    rows = _check_many(self, target)
    if not rules.is_eager(self):
        loss = TensorSpec(() if reduction else (rows,), rules.float_type(self.dtype))
        return loss, TensorSpec(target.shape, self.dtype)
    sizes = (rows,) if reduction == 0 and target.ndim > 1 else ()
    return TensorSpec(sizes, self.dtype), TensorSpec(target.shape, self.dtype)


def multilabel_margin_loss_backward(
    grad_output: Tensor, self: Tensor, target: Tensor, reduction: int, is_target: Tensor
) -> TensorSpec:
    """self's sizes."""
    rows = _check_many(self, target)
    if tuple(is_target.shape) != tuple(target.shape):
        raise refused(
            f"expected is_target of shape {list(target.shape)}, got {list(is_target.shape)}"
        )
    _check_grads(grad_output, rows, reduction)
    return TensorSpec(self.shape, self.dtype)
