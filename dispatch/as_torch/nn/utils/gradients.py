"""`torch.nn.utils.clip_grad`: gradients kept small, by their common norm or each by its value.

Gradients are those that `x.grad` holds; parameters without one count for nothing.
"""

import warnings
from collections.abc import Iterable
from typing import Any

import dispatch
from dispatch import Tensor

__all__ = [
    "clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_",
    "get_total_norm",
]  # fmt: skip


def _gradients(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    given = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    return [p.grad for p in given if p.grad is not None]


def get_total_norm(
    tensors: Tensor | Iterable[Tensor],
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The norm of all tensors as if they were one vector; 0 of none.

    Args: norm_type, the order of the norm ("inf" too); error_if_nonfinite, RuntimeError for a norm
    that is infinite or no number; foreach, nothing here depends on it.
    """
    given = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    order = float(norm_type)
    if not given:
        return dispatch.tensor(0.0)
    with dispatch.no_grad():
        norms = [dispatch.linalg.vector_norm(t, order) for t in given]
        place = given[0].device
        total = dispatch.linalg.vector_norm(dispatch.stack([n.to(place) for n in norms]), order)
    if error_if_nonfinite and not bool(dispatch.isfinite(total)):
        raise RuntimeError(
            f"The total norm of order {order} for gradients from `parameters` is non-finite: "
            f"{total.item()}"
        )
    return total


def clip_grads_with_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    total_norm: Tensor,
    foreach: bool | None = None,
) -> None:
    """Scale the gradients by max_norm / total_norm, but never up."""
    gradients = _gradients(parameters)
    if gradients:
        with dispatch.no_grad():
            factor = dispatch.clamp(float(max_norm) / (total_norm + 1e-6), max=1.0)
            for gradient in gradients:
                gradient.mul_(factor.to(gradient.device))


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale the gradients so that their common norm is at most `max_norm`; returns the norm that
    they had.

    Args and errors: those of `get_total_norm`.
    """
    given = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    total = get_total_norm(_gradients(given), norm_type, error_if_nonfinite, foreach)
    clip_grads_with_norm_(given, max_norm, total, foreach)
    return total


def clip_grad_norm(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The old name of `clip_grad_norm_`."""
    text = "`torch.nn.utils.clip_grad_norm` is now `torch.nn.utils.clip_grad_norm_`"
    warnings.warn(text, FutureWarning, stacklevel=2)
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


def clip_grad_value_(
    parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None
) -> None:
    """Bring each value of the gradients between -clip_value and clip_value."""
    limit = float(clip_value)
    with dispatch.no_grad():
        for gradient in _gradients(parameters):
            gradient.clamp_(min=-limit, max=limit)


# The name that its own module has for it.
_get_total_norm: Any = get_total_norm
_clip_grads_with_norm_: Any = clip_grads_with_norm_
