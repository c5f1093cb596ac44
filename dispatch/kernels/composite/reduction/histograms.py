"""histogramdd: the edges and the counts are an operator each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dispatch._C.tensor import Tensor
from dispatch._ops import ops

__all__ = ["histogramdd", "histogramdd_bins", "histogramdd_tensors"]

_aten = ops.aten
Result = tuple[Tensor, list[Tensor]]


def histogramdd(
    self: Tensor,
    bins: Sequence[int],
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> Result:
    """Counts in a grid of equal cells, and its edges along each coordinate."""
    options: dict[str, Any] = {"range": range, "weight": weight, "density": density}
    edges = _aten._histogramdd_bin_edges(self, list(bins), **options)
    return _aten._histogramdd_from_bin_cts(self, list(bins), **options), edges


def histogramdd_bins(
    self: Tensor,
    bins: int,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> Result:
    """The same, with as many bins along each coordinate."""
    return histogramdd(self, [bins] * self.shape[-1], range, weight, density)


def histogramdd_tensors(
    self: Tensor,
    bins: Sequence[Tensor],
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> Result:
    """The same with given edges."""
    options: dict[str, Any] = {"weight": weight, "density": density}
    return _aten._histogramdd_from_bin_tensors(self, list(bins), **options), list(bins)
