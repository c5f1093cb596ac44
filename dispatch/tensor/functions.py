"""Functions that are Python in PyTorch too (torch.functional): they take tensors one by one.

Called as `dispatch.meshgrid` and so on; each reads its arguments and calls one operator.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dispatch._C import dtypes
from dispatch._C.tensor import Tensor
from dispatch._ops import ops

__all__ = [
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "block_diag",
    "cartesian_prod",
    "meshgrid",
    "norm",
    "tensordot",
    "unique",
    "unique_consecutive",
]

_aten = ops.aten
Tensors = Sequence[Tensor]


def _given(tensors: Sequence[Any]) -> list[Tensor]:
    """Tensors one by one, or as one list."""
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tensors[0]
    return list(tensors)


def _at_least(name: str, tensors: Sequence[Any]) -> Any:
    if len(tensors) == 1 and isinstance(tensors[0], Tensor):
        return getattr(_aten, name)(tensors[0])
    return tuple(getattr(_aten, name)(_given(tensors)))


def atleast_1d(*tensors: Any) -> Any:
    """Tensors with one dimension at least (torch.atleast_1d)."""
    return _at_least("atleast_1d", tensors)


def atleast_2d(*tensors: Any) -> Any:
    """Tensors with two dimensions at least (torch.atleast_2d)."""
    return _at_least("atleast_2d", tensors)


def atleast_3d(*tensors: Any) -> Any:
    """Tensors with three dimensions at least (torch.atleast_3d)."""
    return _at_least("atleast_3d", tensors)


def block_diag(*tensors: Tensor) -> Tensor:
    """Matrices along the diagonal of one (torch.block_diag)."""
    return _aten.block_diag(list(tensors))


def cartesian_prod(*tensors: Tensor) -> Tensor:
    """All combinations of an element of each (torch.cartesian_prod)."""
    return _aten.cartesian_prod(list(tensors))


def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """The coordinates of a grid (torch.meshgrid)."""
    given = _given(tensors)
    if indexing is None:
        return tuple(_aten.meshgrid(given))
    return tuple(_aten.meshgrid.indexing(given, indexing=indexing))


def tensordot(a: Tensor, b: Tensor, dims: Any = 2, out: Tensor | None = None) -> Tensor:
    """Products summed over dimensions: the last of a and the first of b, or lists of them.

    Raises: RuntimeError for a number of dimensions that a or b has not (torch.tensordot).
    """
    if not isinstance(dims, (int, Tensor, tuple, list)):
        raise RuntimeError(f"tensordot: expected a number or two lists for dims, got {dims!r}")
    if isinstance(dims, Tensor):
        dims = dims.tolist() if dims.numel() > 1 else dims.view(()).tolist()
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot: expected dims of 0 or more, got {dims}")
        if dims > min(a.dim(), b.dim()):
            raise RuntimeError(f"tensordot: {dims} dimensions are more than a or b has")
        pairs: Any = (list(range(-dims, 0)), list(range(dims)))
    else:
        first, second = dims
        pairs = [[d] if isinstance(d, int) else list(d) for d in (first, second)]
    if out is None:
        return _aten.tensordot(a, b, *pairs)
    return _aten.tensordot.out(a, b, *pairs, out=out)


def _asked(values: Tensor, inverse: Any, counts: Any) -> Any:
    results = tuple(t for t in (values, inverse, counts) if t is not None)
    return results if len(results) > 1 else values


def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """Distinct elements, or slices along `dim` (torch.unique)."""
    if dim is None:
        found = _aten._unique2(input, sorted, return_inverse, return_counts)
    else:
        found = _aten.unique_dim(input, dim, sorted, return_inverse, return_counts)
    values, inverse, counts = found
    return _asked(values, inverse if return_inverse else None, counts if return_counts else None)


def unique_consecutive(
    input: Tensor,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """Elements that differ from the one before (torch.unique_consecutive)."""
    values, inverse, counts = _aten.unique_consecutive(input, return_inverse, return_counts, dim)
    return _asked(values, inverse if return_inverse else None, counts if return_counts else None)


def norm(
    input: Tensor,
    p: Any = "fro",
    dim: Any = None,
    keepdim: bool = False,
    out: Tensor | None = None,
    dtype: dtypes.dtype | None = None,
) -> Tensor:
    """The p-norm of a tensor, or of vectors along `dim` (torch.norm).

    Raises: RuntimeError for the nuclear norm, whose operator is not here.
    """
    if p == "nuc":
        raise RuntimeError("norm: there is no operator for the nuclear norm")
    order = 2 if p == "fro" or p is None else p
    dims = [dim] if isinstance(dim, int) else dim
    if dims is None and order == 2 and not keepdim:
        rest: tuple[Any, ...] = ()
    else:
        rest = (order, dims, keepdim)
    if isinstance(order, str):
        raise RuntimeError(f"norm: expected a number, 'fro' or 'nuc' for p, got {p!r}")
    if out is None:
        return _aten.linalg_vector_norm(input, *rest, dtype=dtype)
    return _aten.linalg_vector_norm.out(input, *rest, dtype=dtype, out=out)
