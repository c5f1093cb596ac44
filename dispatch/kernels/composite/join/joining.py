"""cat for calls that no backend serves: without tensors, or whose backend has only cat.out."""

from collections.abc import Sequence

from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops

__all__ = ["cat"]


def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """The out variant into a new tensor."""
    if not tensors:
        raise refused("expected a non-empty list of Tensors", ValueError)
    out: Tensor = ops.aten.new_empty(tensors[0], [0])
    return ops.aten.cat.out(tensors, dim, out=out)
