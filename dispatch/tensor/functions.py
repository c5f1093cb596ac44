"""Functions that are Python in PyTorch too (torch.functional): they take tensors one by one.

Called as `dispatch.meshgrid` and so on; each reads its arguments and calls one operator. Modes and
the handlers of arguments are asked first (`asks`) and see the function under its own name.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from dispatch._C import dtypes
from dispatch._C.function import _find_function
from dispatch._C.tensor import Tensor
from dispatch._C.torch_function import _ask_torch_function, _has_torch_function
from dispatch._ops import ops

__all__ = [
    "asks",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "block_diag",
    "broadcast_tensors",
    "cartesian_prod",
    "einsum",
    "meshgrid",
    "norm",
    "split",
    "tensordot",
    "unique",
    "unique_consecutive",
]

_aten = ops.aten
Tensors = Sequence[Tensor]
F = TypeVar("F", bound=Callable[..., Any])
_VARARGS = 4  # of a code object: takes *args


def asks(function: F) -> F:
    """`function`, asking handlers first as PyTorch's functions in Python do.

    Who is asked: what stands where there is no default. Handlers get these by position, and all
    else by keyword, defaults too.
    """
    code, defaults = function.__code__, function.__defaults__ or ()
    names = code.co_varnames[: code.co_argcount]
    needed = len(names) - len(defaults)
    spread = bool(code.co_flags & _VARARGS)
    rest = {**dict(zip(names[needed:], defaults, strict=True)), **(function.__kwdefaults__ or {})}

    @functools.wraps(function)
    def asking(*args: Any, **kwargs: Any) -> Any:
        given = args if spread else args[:needed]
        given += tuple(kwargs[name] for name in names[len(args) : needed] if name in kwargs)
        if not _has_torch_function(given) or len(given) < needed:
            return function(*args, **kwargs)
        keywords = {**rest, **kwargs}
        if not spread:
            keywords.update(zip(names, args, strict=False))
            keywords = {name: v for name, v in keywords.items() if name not in names[:needed]}
        return _ask_torch_function(asking, given, given, keywords)

    return asking  # type: ignore[return-value]


def _given(tensors: Sequence[Any]) -> list[Tensor]:
    """Tensors one by one, or as one list."""
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tensors[0]
    return list(tensors)


def _at_least(name: str, tensors: Sequence[Any]) -> Any:
    if len(tensors) == 1 and isinstance(tensors[0], Tensor):
        return getattr(_aten, name)(tensors[0])
    return tuple(getattr(_aten, name)(_given(tensors)))


@asks
def atleast_1d(*tensors: Any) -> Any:
    """Tensors with one dimension at least (torch.atleast_1d)."""
    return _at_least("atleast_1d", tensors)


@asks
def atleast_2d(*tensors: Any) -> Any:
    """Tensors with two dimensions at least (torch.atleast_2d)."""
    return _at_least("atleast_2d", tensors)


@asks
def atleast_3d(*tensors: Any) -> Any:
    """Tensors with three dimensions at least (torch.atleast_3d)."""
    return _at_least("atleast_3d", tensors)


@asks
def block_diag(*tensors: Tensor) -> Tensor:
    """Matrices along the diagonal of one (torch.block_diag)."""
    return _aten.block_diag(list(tensors))


@asks
def cartesian_prod(*tensors: Tensor) -> Tensor:
    """All combinations of an element of each (torch.cartesian_prod)."""
    return _aten.cartesian_prod(list(tensors))


@asks
def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """The coordinates of a grid (torch.meshgrid)."""
    given = _given(tensors)
    if indexing is None:
        return tuple(_aten.meshgrid(given))
    return tuple(_aten.meshgrid.indexing(given, indexing=indexing))


@asks
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


@asks
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


@asks
def unique_consecutive(
    input: Tensor,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """Elements that differ from the one before (torch.unique_consecutive)."""
    values, inverse, counts = _aten.unique_consecutive(input, return_inverse, return_counts, dim)
    return _asked(values, inverse if return_inverse else None, counts if return_counts else None)


@asks
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


@asks
def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """The tensors expanded to the shape that they broadcast to."""
    return tuple(_aten.broadcast_tensors.default(list(tensors)))


@asks
def einsum(equation: str, *operands: Any) -> Tensor:
    """Sum of products, by the letters of `equation`; operands one by one or as one list."""
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = tuple(operands[0])
    function = _find_function("einsum", False)
    return function(equation, list(operands))  # type: ignore[misc]


@asks
def split(tensor: Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Views of `tensor` along `dim`: parts of one size, or of the sizes in a list."""
    return tuple(tensor.split(split_size_or_sections, dim))
