"""The keys of a call that is dispatched in Python, as the dispatcher gathers them (torch._ops)."""

from collections.abc import Iterable
from typing import Any

from dispatch._C.arrays import _dispatch_keys
from dispatch._C.keys import DispatchKeySet
from dispatch._C.tensor import Tensor
from dispatch._C.tls import _dispatch_tls_local_exclude_set, _dispatch_tls_local_include_set

__all__ = ["_compute_keyset", "_get_tensors", "_to_flat_tuple", "key_extractor"]


def _to_flat_tuple(args: Any, kwargs: Any) -> list[Any]:
    """The leaves of the arguments."""
    from dispatch import pytree

    return pytree.tree_leaves((args, kwargs))


def _get_tensors(args: Any, kwargs: Any) -> tuple[Tensor, ...]:
    """The tensors among the arguments, in nested containers too."""
    return tuple(leaf for leaf in _to_flat_tuple(args, kwargs) if isinstance(leaf, Tensor))


def key_extractor(tensors: Iterable[Tensor], key_mask: DispatchKeySet) -> DispatchKeySet:
    """The tensors' keys and the thread's, without the excluded ones, within the mask."""
    keys = _dispatch_tls_local_include_set()
    for tensor in tensors:
        keys = keys | _dispatch_keys(tensor)
    return (keys - _dispatch_tls_local_exclude_set()) & key_mask


def _compute_keyset(args: Any, kwargs: Any, non_fallthrough_keys: DispatchKeySet) -> DispatchKeySet:
    """The keys of a call with these arguments."""
    return key_extractor(_get_tensors(args, kwargs), non_fallthrough_keys)
