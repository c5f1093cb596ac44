"""Questions about fake tensors and their modes, and blocks that switch the mode.

Names and answers are those of torch._subclasses.fake_tensor.
"""

import contextlib
import functools
from collections.abc import Iterator
from typing import Any

from dispatch._C.dtypes import strided
from dispatch._C.guards import _DisableTorchDispatch, _PreserveDispatchKeyGuard
from dispatch._C.tensor import Tensor
from dispatch._C.tls import (
    _meta_in_tls_dispatch_include,
    _set_dispatch_mode,
    _set_meta_in_tls_dispatch_include,
    _TorchDispatchModeKey,
    _unset_dispatch_mode,
)
from dispatch.fake.fake_tensor import FakeTensor
from dispatch.modes.subclasses import is_traceable_wrapper_subclass

__all__ = [
    "IncrementRecursionCount",
    "_check_for_subclass",
    "_check_for_subclass_arg",
    "_device_handler",
    "_is_plain_tensor",
    "disable_fake_tensor_cache",
    "get_plain_tensors",
    "get_schema_info",
    "in_kernel_invocation_manager",
    "is_fake",
    "is_sparse_any",
    "is_sparse_compressed",
    "maybe_get_fake_mode",
    "recursion_count",
    "torch_decomp_decompositions",
    "tree_flatten_only",
    "unset_fake_temporarily",
]

_recursion = [0]


class IncrementRecursionCount:
    """Counts one level deeper as long as it lives: `dispatch.fake.RECURSION_COUNT`."""

    def __init__(self) -> None:
        _recursion[0] += 1

    def __del__(self) -> None:
        _recursion[0] -= 1


def recursion_count() -> int:
    """How many `IncrementRecursionCount` objects live."""
    return _recursion[0]


@contextlib.contextmanager
def unset_fake_temporarily() -> Iterator[Any]:
    """No fake mode in the block; gives the one that was active, or None."""
    previous = _unset_dispatch_mode(_TorchDispatchModeKey.FAKE)
    try:
        yield previous
    finally:
        if previous is not None:
            _set_dispatch_mode(previous)


@contextlib.contextmanager
def disable_fake_tensor_cache(fake_mode: Any) -> Iterator[None]:
    """In the block every call of the mode runs afresh."""
    enabled = fake_mode.cache_enabled
    fake_mode.cache_enabled = False
    try:
        yield
    finally:
        fake_mode.cache_enabled = enabled


@contextlib.contextmanager
def in_kernel_invocation_manager(fake_mode: Any) -> Iterator[None]:
    """In the block fake tensors say that they are on meta, and operators run their Meta kernels.

    Raises: AssertionError when the mode and the thread's state disagree about that.
    """
    previous = fake_mode.in_kernel_invocation
    if _meta_in_tls_dispatch_include() != previous:
        raise AssertionError("the mode is in a kernel, the thread is not")
    with _DisableTorchDispatch(), _PreserveDispatchKeyGuard():
        _set_meta_in_tls_dispatch_include(True)
        fake_mode.in_kernel_invocation = True
        try:
            yield
        finally:
            fake_mode.in_kernel_invocation = previous
            _set_meta_in_tls_dispatch_include(previous)


def _inner_tensors(t: Any) -> list[Tensor]:
    names, _ = t.__tensor_flatten__()
    inner = [getattr(t, name) for name in names]
    for value in inner:
        if not isinstance(value, Tensor):
            raise AssertionError(f"expected a Tensor, got {type(value).__name__}")
    return inner


def is_fake(x: object) -> bool:
    """Whether `x` is a fake tensor, or a wrapper of fake tensors only.

    Raises: AssertionError for a wrapper of fake and real tensors.
    """
    if isinstance(x, FakeTensor):
        return True
    if not is_traceable_wrapper_subclass(x):
        return False
    answers = {is_fake(t) for t in _inner_tensors(x)}
    if len(answers) > 1:
        raise AssertionError("a wrapper of both fake and real tensors")
    return answers == {True}


def maybe_get_fake_mode(t: object) -> Any:
    """The mode of a fake tensor or of a wrapper's fake tensors; None for anything else.

    Raises: AssertionError for a wrapper of several modes' tensors.
    """
    if isinstance(t, FakeTensor):
        return t.fake_mode
    if not is_traceable_wrapper_subclass(t):
        return None
    found = [maybe_get_fake_mode(inner) for inner in _inner_tensors(t)]
    if any(mode is not found[0] for mode in found[1:]):
        raise AssertionError("a wrapper of fake tensors of several modes")
    return found[0] if found else None


def get_plain_tensors(subclass: Any, *, out: list[Any]) -> list[Any]:
    """Append what a wrapper, or a wrapper in it, holds to `out`, in order; returns `out`."""
    if not is_traceable_wrapper_subclass(subclass):
        out.append(subclass)
        return out
    names, _ = subclass.__tensor_flatten__()
    for name in names:
        get_plain_tensors(getattr(subclass, name), out=out)
    return out


@functools.cache
def get_schema_info(func: Any) -> Any:
    """The `_SchemaInfo` of an operator, one for each."""
    from dispatch._C import _SchemaInfo

    return _SchemaInfo(func._schema)


def torch_decomp_decompositions(func: Any) -> bool:
    """Whether PyTorch's Python decomposition of an operator comes before its Meta kernel.

    Raises: KeyError: there are no Python decompositions here.
    """
    raise KeyError(func)


def tree_flatten_only(ty: Any, tree: Any) -> list[Any]:
    """The leaves of a tree that are instances of `ty`."""
    from dispatch.pytree import tree_leaves

    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, ty)]


def is_sparse_compressed(t: Any) -> bool:
    """Whether a tensor's layout is one of the compressed sparse ones."""
    return isinstance(t, Tensor) and str(t.layout).rpartition(".")[2] in (
        "sparse_csr",
        "sparse_csc",
        "sparse_bsr",
        "sparse_bsc",
    )


def is_sparse_any(t: Any) -> bool:
    """Whether a tensor's layout is a sparse one."""
    return is_sparse_compressed(t) or (
        isinstance(t, Tensor) and str(t.layout).endswith("sparse_coo")
    )


def _is_plain_tensor(t: object) -> bool:
    """Whether `t` is a strided tensor of exactly the class Tensor."""
    return type(t) is Tensor and t.layout == strided


def _check_for_subclass_arg(x: object) -> bool:
    """Whether `x` is a tensor of a class that the mode leaves to its own handler."""
    if isinstance(x, FakeTensor) or not isinstance(x, Tensor):
        return False
    return type(x) is not Tensor


def _check_for_subclass(flat_args: Any) -> bool:
    """Whether one of the arguments is such a tensor."""
    return any(_check_for_subclass_arg(x) for x in flat_args)


def _device_handler(args: Any) -> Any:
    """The answer to `prim.device` for one fake tensor. AssertionError for anything else."""
    if len(args) != 1 or not isinstance(args[0], FakeTensor):
        raise AssertionError("prim.device: expected exactly one fake tensor")
    return args[0].device
