"""functionalize: a function without views and writes inside (torch.func.functionalize)."""

import functools
from collections.abc import Callable
from typing import Any

from dispatch import _C, pytree
from dispatch._C.tensor import Tensor
from dispatch.functional import wrappers
from dispatch.functional.tensor import FunctionalTensor

__all__ = ["functionalize"]


def wrap_all(tree: Any, level: int) -> Any:
    """The tree with its tensors in functional wrappers."""

    def wrap(x: Tensor) -> Tensor:
        return wrappers._wrap_functional_tensor(x, level)

    return pytree.tree_map_only(Tensor, wrap, tree)


def unwrap_all(tree: Any) -> Any:
    """The tree with the values, up to date, of its functional tensors."""
    def unwrap(x: Tensor) -> Tensor:
        if isinstance(x, FunctionalTensor):
            x = x.elem
        if not wrappers._is_functional_tensor(x):
            return x
        wrappers._sync(x)
        return wrappers._from_functional_tensor(x)

    return pytree.tree_map_only(Tensor, unwrap, tree)


def _write_back(given: Any, wrapped: Any) -> None:
    pairs = zip(pytree.tree_leaves(given), pytree.tree_leaves(wrapped), strict=True)
    for x, wrapper in pairs:
        if isinstance(x, Tensor):
            wrappers._propagate_functional_input_mutation(x, wrapper)


def functionalize(func: Callable[..., Any], *, remove: str = "mutations") -> Callable[..., Any]:
    """`func` with the same results, run without in-place operators and, if wanted, without views.

    What `func` writes to its inputs is written once, at the end, with `copy_`.

    Args:
        func: takes and returns trees of tensors.
        remove: "mutations", or "mutations_and_views": views run as their `_copy` variants.

    Raises:
        RuntimeError: `remove` is something else; at the call: `func` writes something functional
            to a tensor that is not among its inputs.

    Example:
        >>> import dispatch
        >>> from dispatch.functional import functionalize
        >>> x = dispatch.zeros(2, 2)
        >>> functionalize(lambda t: t.view(-1).add_(1))(x).tolist()
        [1.0, 1.0, 1.0, 1.0]
        >>> x.tolist()
        [[1.0, 1.0], [1.0, 1.0]]
    """
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(
            f"functionalize: remove must be 'mutations' or 'mutations_and_views', got {remove!r}"
        )
    reapply = remove == "mutations"

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        before = wrappers._functionalize_enable_reapply_views(reapply)
        key = _C.DispatchKey.Functionalize
        outer = _C._dispatch_tls_is_dispatch_key_included(key)
        below = _C._dispatch_tls_is_dispatch_key_excluded(key)  # what runs a branch is off the key
        _C._dispatch_tls_set_dispatch_key_included(key, True)
        _C._dispatch_tls_set_dispatch_key_excluded(key, False)
        try:
            given, named = wrap_all(args, 0), wrap_all(kwargs, 0)
            with _C._AutoDispatchBelowADInplaceOrView():
                results = unwrap_all(func(*given, **named))
            with _C._ExcludeDispatchKeyGuard(_C.DispatchKeySet(key)):
                _write_back(args, given)
                _write_back(kwargs, named)
            return results
        finally:
            _C._dispatch_tls_set_dispatch_key_excluded(key, below)
            _C._dispatch_tls_set_dispatch_key_included(key, outer)
            wrappers._functionalize_enable_reapply_views(before)

    return wrapped
