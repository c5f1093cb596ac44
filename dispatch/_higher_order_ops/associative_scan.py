"""`associative_scan`: all sums of the first rows, and so for any function that is associative.

(torch._higher_order_ops.associative_scan.) Pairs of rows are combined first, then the rows between
them, as PyTorch does it: results are rounded the same way.
"""

from collections.abc import Callable
from typing import Any

from dispatch import pytree
from dispatch._C.tensor import Tensor
from dispatch._higher_order_ops.rules import stack
from dispatch._ops import ops

__all__ = ["associative_scan"]

_aten = ops.aten


def associative_scan(
    combine_fn: Callable[[Any, Any], Any], xs: Any, dim: int, reverse: bool = False,
    combine_mode: str = "pointwise",
) -> Any:  # fmt: skip
    """Row i of the result is what `combine_fn` makes of the rows 0 to i of `xs`.

    Args:
        combine_fn: of two rows; associative.
        xs: a tensor, or a nest of tensors, of sizes [..., n, ...].
        dim: where the rows are.
        reverse: begin with the last row.
        combine_mode: "generic"; "pointwise" is for other devices.

    Returns: like `xs`.

    Raises:
        ValueError: the arguments are not so.
        RuntimeError: `combine_fn` gives something else than rows.
    """
    flat, spec = pytree.tree_flatten(xs)
    dim = _checked(combine_fn, flat, dim, reverse, combine_mode)
    split = [_aten.unbind.int(x, dim) for x in flat]
    rows = [pytree.tree_unflatten(row, spec) for row in zip(*split, strict=True)]
    found = _scanned(combine_fn, rows[::-1] if reverse else rows)
    for row in found:
        kinds = [(t.shape, t.dtype) for t in pytree.tree_leaves(row)]
        if pytree.tree_structure(row) != spec or kinds != [(s[0].shape, s[0].dtype) for s in split]:
            raise RuntimeError(f"associative_scan: combine_fn: expected rows of xs, got {row}")
    whole = stack(found[::-1] if reverse else found)
    return pytree.tree_map(lambda t: _aten.movedim.int(t, 0, dim), whole)


def _checked(
    combine_fn: Any, flat: list[Any], dim: Any, reverse: Any, combine_mode: Any
) -> int:
    if not flat:
        raise IndexError("associative_scan: xs: expected at least one tensor")
    if not callable(combine_fn):
        raise ValueError(f"Combine_fn must be a callable, but got {combine_fn}")
    if combine_mode not in ("pointwise", "generic"):
        raise ValueError(f"combine_mode: expected 'pointwise' or 'generic', got {combine_mode}")
    if not all(isinstance(x, Tensor) for x in flat):
        raise ValueError("xs leaves must be a Tensor")
    if combine_mode == "pointwise" and any(x.device.type == "cpu" for x in flat):
        raise ValueError("combine_mode='pointwise' needs tensors of other devices than the CPU")
    ndim = flat[0].ndim
    if not isinstance(dim, int) or not isinstance(reverse, bool):
        raise ValueError(f"expected a number and a bool, got dim={dim}, reverse={reverse}")
    if not -ndim <= dim < ndim:
        raise IndexError(f"associative_scan: dim {dim} is out of range for {ndim} dimensions")
    dim %= ndim
    if any(x.ndim <= dim or x.shape[dim] == 0 for x in flat):
        raise ValueError(f"associative_scan: xs: no rows in dimension {dim}")
    if any(x.shape[dim] != flat[0].shape[dim] for x in flat):
        raise RuntimeError(f"associative_scan: xs: different numbers of rows in dimension {dim}")
    return dim


def _scanned(combine_fn: Callable[[Any, Any], Any], rows: list[Any]) -> list[Any]:
    if len(rows) < 2:
        return rows
    pairs = [combine_fn(a, b) for a, b in zip(rows[::2], rows[1::2], strict=False)]
    odd = _scanned(combine_fn, pairs)
    even = [combine_fn(a, b) for a, b in zip(odd, rows[2::2], strict=False)]
    found = [rows[0]]
    for i, row in enumerate(odd):
        found += [row, *even[i : i + 1]]
    return found
