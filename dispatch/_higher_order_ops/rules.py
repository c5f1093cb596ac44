"""What the built-in higher-order operators share: checks, rows, rules for grad and fakes.

Nobody here looks into a function: it runs, with whatever modes are on where it runs.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from inspect import isfunction
from typing import Any

from dispatch import pytree
from dispatch._C import _get_dispatch_mode, _TorchDispatchModeKey
from dispatch._C.grad_mode import is_grad_enabled
from dispatch._C.guards import _AutoDispatchBelowAutograd
from dispatch._C.tensor import Tensor
from dispatch._ops import HigherOrderOperator, ops
from dispatch.fake import FakeTensorMode
from dispatch.fake.mode import note_function_argument
from dispatch.symbolic import SymInt

__all__ = [
    "autograd_not_implemented",
    "check_operands",
    "first_rows",
    "inside_a_function",
    "mark_grad",
    "nested",
    "redirect_to_mode",
    "register_fake",
    "serve_fake",
    "serve_grad",
    "stack",
]

_aten = ops.aten


def check_operands(values: Iterable[Any]) -> None:
    """AssertionError unless all are tensors or ints."""
    kinds = [type(v).__name__ for v in values if not isinstance(v, (Tensor, int, SymInt))]
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


def nested(found: Any, spec: pytree.TreeSpec | None) -> Any:
    """Results in the structure that a function gave them; what a mode answered, as it is."""
    if spec is None or not isinstance(found, tuple | list) or len(found) != spec.num_leaves:
        return found
    return pytree.tree_unflatten(found, spec)


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


def autograd_not_implemented(op: HigherOrderOperator, deferred_error: bool) -> Callable[..., Any]:
    """What to register for Autograd where an operator has no formula.

    Args:
        deferred_error: the results require grad, and the error is that of `backward`; else a call
            with a tensor that requires grad is a RuntimeError.
    """

    def below(*args: Any, **kwargs: Any) -> Any:
        leaves = pytree.arg_tree_leaves(*args)
        asked = is_grad_enabled() and any(
            leaf.requires_grad for leaf in leaves if isinstance(leaf, Tensor)
        )
        with _AutoDispatchBelowAutograd():
            result = op(*args, **kwargs)
        if asked and not deferred_error:
            raise RuntimeError(f"Autograd not implemented for {op}")
        return mark_grad(result) if asked else result

    return below


def redirect_to_mode(hop: HigherOrderOperator, mode: type) -> Callable[..., Any]:
    """Let modes of a class handle an operator in `__torch_dispatch__`; what was registered."""

    def handle(active: Any, *args: Any, **kwargs: Any) -> Any:
        return active.__torch_dispatch__(hop, [], args, kwargs)

    registered: Callable[..., Any] = hop.py_impl(mode)(handle)
    return registered


registered_hop_fake_fns: dict[HigherOrderOperator, Callable[..., Any]] = {}


def register_fake(
    hop: HigherOrderOperator, fn: Callable[..., Any] | None = None, *, skip_cache: bool = False
) -> Any:
    """Register what runs for an operator on fake tensors, with the mode on.

    Args:
        fn: without it, this is a decorator.
        skip_cache: kept for programs that give it: calls of such operators are never kept here.

    Raises:
        AssertionError: there is such a function already.
    """
    if hop in registered_hop_fake_fns:
        raise AssertionError(f"register_fake: {hop} has a fake function already")

    def register(fn: Callable[..., Any]) -> Callable[..., Any]:
        serve_fake(hop)(fn)
        registered_hop_fake_fns[hop] = fn
        return fn

    return register if fn is None else register(fn)


@contextmanager
def inside_a_function() -> Iterator[None]:
    """Symbols of data that are made here belong to a function's graph: no result tells them."""
    mode = _get_dispatch_mode(_TorchDispatchModeKey.FAKE)
    env = None if mode is None else mode.shape_env
    with nullcontext() if env is None else env.ignore_fresh_unbacked_symbols():
        yield


def serve_fake(op: HigherOrderOperator) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function as what FakeTensorMode runs for `op`, with the mode on."""

    def register(fn: Callable[..., Any]) -> Callable[..., Any]:
        def under_mode(mode: FakeTensorMode, *args: Any, **kwargs: Any) -> Any:
            if any(map(isfunction, args)):
                note_function_argument(mode)
            with mode:
                return fn(*args, **kwargs)

        op.py_impl(FakeTensorMode)(under_mode)
        return fn

    return register
