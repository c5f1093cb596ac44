"""Functions that are Python in PyTorch too (torch.functional): they take tensors one by one.

Called as `dispatch.meshgrid` and so on; each reads its arguments and calls one operator. Modes and
the handlers of arguments are asked first (`asks`) and see the function under its own name.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Sequence
from string import ascii_lowercase, ascii_uppercase
from typing import Any, TypeVar

from dispatch._C import dtypes
from dispatch._C.advice import advise_once
from dispatch._C.function import _find_room_function
from dispatch._C.tensor import Tensor
from dispatch._C.torch_function import _ask_torch_function, _asks_nobody, _has_torch_function
from dispatch._ops import ops
from dispatch.tensor.data import tensor

__all__ = [
    "asks",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "block_diag",
    "broadcast_tensors",
    "cartesian_prod",
    "cdist",
    "chain_matmul",
    "dsmm",
    "einsum",
    "hsmm",
    "lu",
    "meshgrid",
    "norm",
    "saddmm",
    "split",
    "stft",
    "sym_fresh_size",
    "tensordot",
    "unique",
    "unique_consecutive",
    "unravel_index",
]

_aten = ops.aten
Tensors = Sequence[Tensor]
F = TypeVar("F", bound=Callable[..., Any])
_LETTERS = ascii_uppercase + ascii_lowercase  # of einsum, by number
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
        if _asks_nobody(args, kwargs):
            return function(*args, **kwargs)
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


def _check_flags(name: str, **flags: Any) -> None:
    for flag, value in flags.items():
        if not isinstance(value, bool):
            kind = type(value).__name__
            raise TypeError(f"{name}: argument '{flag}' must be bool, not {kind}")


@functools.cache
def _parsed(name: str) -> Callable[..., Any]:
    """The function `name` over its operator: arguments that do not fit are TypeErrors."""
    return _find_room_function(name)  # type: ignore[return-value]


def _given(tensors: Sequence[Any]) -> list[Tensor]:
    """Tensors one by one, or as one list."""
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tensors[0]
    return list(tensors)


def _at_least(name: str, tensors: Sequence[Any]) -> Any:
    if len(tensors) == 1 and isinstance(tensors[0], Tensor):
        return _parsed(name)(tensors[0])
    return tuple(_parsed(name)(_given(tensors)))


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
    return _parsed("block_diag")(list(tensors))


@asks
def cartesian_prod(*tensors: Tensor) -> Tensor:
    """All combinations of an element of each (torch.cartesian_prod)."""
    return _parsed("cartesian_prod")(list(tensors))


@asks
def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """The coordinates of a grid (torch.meshgrid); the first call without `indexing` warns."""
    given = _given(tensors)
    if indexing is None:
        grid = _parsed("meshgrid")(given)
        advise_once("meshgrid", "it will be required to pass the indexing argument: ij is meant")
        return tuple(grid)
    return tuple(_parsed("meshgrid")(given, indexing=indexing))


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
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a.dim(), b.dim()):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
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
    flags = {"return_inverse": return_inverse, "return_counts": return_counts}
    _check_flags("unique", sorted=sorted, **flags)
    if dim is None:
        found = _parsed("_unique2")(input, sorted, return_inverse, return_counts)
    else:
        found = _parsed("unique_dim")(input, dim, sorted, return_inverse, return_counts)
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
    flags = {"return_inverse": return_inverse, "return_counts": return_counts}
    _check_flags("unique_consecutive", **flags)
    find = _parsed("unique_consecutive")
    values, inverse, counts = find(input, return_inverse, return_counts, dim=dim)
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

    Raises: RuntimeError for another name than "fro" and "nuc", or no two dimensions for them.
    """
    of_vectors = dim is None or isinstance(dim, int) or len(dim) <= 2
    if isinstance(p, str) and not (p == "fro" and of_vectors):
        return _norm_by_name(input, p, dim, keepdim, out, dtype)
    order = 2 if p == "fro" or p is None else p
    dims = [dim] if isinstance(dim, int) else dim
    if dims is None and order == 2 and not keepdim:
        rest: tuple[Any, ...] = ()
    else:
        rest = (order, dims, keepdim)
    if out is None:
        return _aten.linalg_vector_norm(input, *rest, dtype=dtype)
    return _aten.linalg_vector_norm.out(input, *rest, dtype=dtype, out=out)


def _norm_by_name(
    input: Tensor, p: str, dim: Any, keepdim: bool, out: Tensor | None, dtype: Any
) -> Tensor:
    """A norm of matrices."""
    if p not in ("fro", "nuc"):
        raise RuntimeError(f"norm: expected a number, 'fro' or 'nuc' for p, got {p!r}")
    dims = range(input.ndim) if dim is None else [dim] if isinstance(dim, int) else dim
    given = (input, p, list(dims), keepdim)
    if out is None:
        return _aten.linalg_matrix_norm.str_ord(*given, dtype=dtype)
    return _aten.linalg_matrix_norm.str_ord_out(*given, dtype=dtype, out=out)


@asks
def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """The tensors expanded to the shape that they broadcast to."""
    return tuple(_parsed("broadcast_tensors")(list(tensors)))


def _letters(subscripts: Any) -> str:
    """Subscripts that are numbers, or an ellipsis, as part of an equation."""
    written = ""
    for n in subscripts:
        if n is not ... and not 0 <= n < len(_LETTERS):
            raise ValueError(f"einsum(): subscript {n} is not within the valid range [0, 52)")
        written += "..." if n is ... else _LETTERS[n]
    return written


def einsum(*args: Any) -> Tensor:
    """Sum of products, by the letters of an equation; operands one by one or as one list.

    Instead of the equation, a list of numbers may follow each operand, and one for the result.

    Raises: ValueError without operands, and for numbers beyond 51 (torch.einsum).
    """
    if len(args) > 1 and isinstance(args[0], Tensor):
        equation = ",".join(map(_letters, args[1::2]))
        if len(args) % 2:
            equation += "->" + _letters(args[-1])
        operands = args[: len(args) // 2 * 2 : 2]
    else:
        equation, operands = args[0] if args else "", args[1:]
        if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
            operands = tuple(operands[0])
    if not operands:
        raise ValueError("einsum(): must specify the equation string and at least one operand")
    if not _asks_nobody(operands, {}) and _has_torch_function(operands):
        return _ask_torch_function(einsum, operands, (equation, *operands), {})
    return _parsed("einsum")(equation, list(operands))


def _equation_and_operands(equation: str, *operands: Any) -> Any: ...


einsum.layout = _equation_and_operands  # type: ignore[attr-defined]  # what handlers see


@asks
def split(tensor: Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Views of `tensor` along `dim`: parts of one size, or of the sizes in a list."""
    return tuple(tensor.split(split_size_or_sections, dim))


_COMPUTE_MODES = {
    "use_mm_for_euclid_dist_if_necessary": None,
    "use_mm_for_euclid_dist": 1,
    "donot_use_mm_for_euclid_dist": 2,
}


@asks
def cdist(
    x1: Tensor,
    x2: Tensor,
    p: float = 2.0,
    compute_mode: str = "use_mm_for_euclid_dist_if_necessary",
) -> Tensor:
    """The p-norm distance of every row of x1 to every row of x2 (torch.cdist).

    Args: x1 (*, P, M), x2 (*, R, M); p from 0 to infinity; compute_mode, whether Euclidean
        distances are worked out by a matrix product. Raises ValueError for another mode.
    """
    if compute_mode not in _COMPUTE_MODES:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    return _parsed("cdist")(x1, x2, p, _COMPUTE_MODES[compute_mode])


@asks
def chain_matmul(*matrices: Tensor, out: Tensor | None = None) -> Tensor:
    """The product of matrices, in the cheapest order (torch.chain_matmul)."""
    product = _parsed("chain_matmul")(list(matrices), out=out)
    advise_once("chain_matmul", "deprecated, call linalg.multi_dot with a list")
    return product


@asks
def stft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Tensor:
    """Fourier transforms of windows that slide over a signal (torch.stft).

    Args: input (*, L); with `center` it is padded by half a window on both sides, as `pad_mode`
        says. Raises RuntimeError for `align_to_window` together with `center`.
    """
    if center and align_to_window is not None:
        raise RuntimeError("stft: align_to_window should only be set when center = false")
    if center:
        sizes = [1] * (3 - input.dim()) + list(input.shape)
        padded = _aten.pad(input.view(sizes), [n_fft // 2] * 2, pad_mode)
        input = padded.view(padded.shape[3 - input.dim() :])
    return _aten.stft(
        input, n_fft, hop_length, win_length, window, normalized, onesided, return_complex,
        align_to_window,
    )  # fmt: skip


@asks
def unravel_index(indices: Tensor, shape: Any) -> tuple[Tensor, ...]:
    """The coordinates, in an array of this shape, of indices into it laid flat.

    Raises: TypeError for indices or sizes that are no integers, ValueError for sizes below 0
        (torch.unravel_index).
    """
    if indices.is_complex() or indices.is_floating_point() or indices.dtype == dtypes.bool:
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    if not isinstance(shape, (int, Sequence)):
        raise TypeError(f"expected 'shape' to be int or sequence of ints, but got {type(shape)}")
    sizes = [shape] if isinstance(shape, int) else list(shape)
    for n in sizes:
        if not isinstance(n, int):
            raise TypeError(f"expected 'shape' sequence to only contain ints, but got {type(n)}")
    if any(n < 0 for n in sizes):
        raise ValueError(f"'shape' cannot have negative values, but got {tuple(sizes)}")
    steps = list(itertools.accumulate(reversed([*sizes[1:], 1]), operator.mul))[::-1]
    like: Any = {"dtype": dtypes.int64, "device": indices.device}
    places = _aten.unsqueeze(indices, -1)
    found = _aten.floor_divide(places, tensor(steps, **like))
    return tuple(_aten.unbind(_aten.remainder(found, tensor(sizes, **like)), -1))


@asks
def lu(A: Tensor, pivot: bool = True, get_infos: bool = False, out: Any = None) -> Any:
    """The LU factors in one matrix, pivots, and with `get_infos` whether it worked (torch.lu).

    Raises: TypeError for an `out` of another length; without `get_infos` the operator's error.
    """
    _check_flags("lu", pivot=pivot, get_infos=get_infos)
    found = tuple(_parsed("_lu_with_info")(A, pivot, not get_infos))[: 2 + get_infos]
    advise_once("lu", "deprecated, call linalg.lu_factor or linalg.lu_factor_ex")
    if out is None:
        return found
    if not isinstance(out, (tuple, list)) or len(out) != len(found):
        raise TypeError(f"lu: expected a tuple of {len(found)} tensors for out, got {out!r}")
    for given, value in zip(out, found, strict=True):
        given.resize_as_(value).copy_(value)
    return out


# ---- older names of products, which stood for sparse matrices


@asks
def dsmm(input: Tensor, mat2: Tensor) -> Tensor:
    """`mm` under its older name for a sparse `input` (torch.dsmm)."""
    found: Tensor = _aten.mm(input, mat2)
    return found


@asks
def hsmm(mat1: Tensor, mat2: Tensor) -> Tensor:
    """`hspmm` under its older name (torch.hsmm)."""
    found: Tensor = _aten.hspmm(mat1, mat2)
    return found


@asks
def saddmm(
    input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: complex = 1, alpha: complex = 1
) -> Tensor:
    """`sspaddmm` under its older name (torch.saddmm)."""
    found: Tensor = _aten.sspaddmm(input, mat1, mat2, beta=beta, alpha=alpha)
    return found


def sym_fresh_size(expr: Any) -> Any:
    """A size after its way through a tensor: an int, guarded on where it was symbolic."""
    return tensor(expr).item()
