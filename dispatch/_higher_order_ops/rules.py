"""What the built-in higher-order operators share: checks, rows, rules for grad and fakes.

Nobody here looks into a function: it runs, with whatever modes are on where it runs.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from dispatch import pytree
from dispatch._C.guards import _AutoDispatchBelowAutograd
from dispatch._C.tensor import Tensor
from dispatch._ops import HigherOrderOperator, ops
from dispatch.fake import FakeTensorMode

__all__ = [
    "check_operands",
    "first_rows",
    "mark_grad",
    "serve_fake",
    "serve_grad",
    "stack",
]

_aten = ops.aten


def check_operands(values: Iterable[Any]) -> None:
    """AssertionError unless all are tensors or ints."""
    kinds = [type(v).__name__ for v in values if not isinstance(v, (Tensor, int))]
    if kinds:
        raise AssertionError(f"expected tensors and ints, got {', '.join(kinds)}")


def first_rows(values: Any) -> Any:
    """Copies of the first rows of tensors."""
    return pytree.tree_map(lambda t: _aten.clone.default(_aten.select.int(t, 0, 0)), values)


def stack(trees: Sequence[Any]) -> Any:
    """One tree with the tensors of all stacked; RuntimeError for leaves that are no tensors."""
    flat = [pytree.tree_flatten(t) for t in trees]
    return pytree.tree_unflatten(
        [_stacked(leaves) for leaves in zip(*(f[0] for f in flat), strict=True)], flat[-1][1]
    )


def _stacked(leaves: Sequence[Any]) -> Any:
    if all(leaf is None for leaf in leaves):
        return None
    if not all(isinstance(leaf, Tensor) for leaf in leaves):
        raise RuntimeError(f"only tensors are stacked, got {leaves}")
    return _aten.stack.default(list(leaves))


def mark_grad(result: Any) -> Any:
    """The result with its floating and complex tensors requiring grad."""

    def mark(t: Tensor) -> Tensor:
        if t.requires_grad or not (t.is_floating_point() or t.is_complex()):
            return t
        return t.detach().requires_grad_()

    return pytree.tree_map_only(Tensor, mark, result)


def serve_grad(op: HigherOrderOperator) -> None:
    """Calls with a tensor that requires grad run below autograd; the results require grad."""

    def below(*args: Any, **kwargs: Any) -> Any:
        with _AutoDispatchBelowAutograd():
            return mark_grad(op(*args, **kwargs))

    op.py_autograd_impl(below)


def serve_fake(op: HigherOrderOperator) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function as what FakeTensorMode runs for `op`, with the mode on."""

    def register(fn: Callable[..., Any]) -> Callable[..., Any]:
        def under_mode(mode: FakeTensorMode, *args: Any, **kwargs: Any) -> Any:
            with mode:
                return fn(*args, **kwargs)

        op.py_impl(FakeTensorMode)(under_mode)
        return fn

    return register
